/* Products with AVX2, FMA and F16C: eight numbers at a time. */
#include "vector_search.h"

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>

#define AVX2 __attribute__((target("avx2,fma,f16c")))
#define LANES 8
#define TILE_ROWS FOUR
#define TILE_QUERIES 3 /* 12 sums, 3 queries and a row fill the 16 registers */

static int usable(void) {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
           __builtin_cpu_supports("f16c");
}

static inline AVX2 __m256 eight(const uint16_t *halves) {
    return _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(const void *)halves));
}

static AVX2 double dot(const uint16_t *row, const uint16_t *next, const double *query,
                         size_t dim) {
    __m256d sums[4] = {_mm256_setzero_pd(), _mm256_setzero_pd(), _mm256_setzero_pd(),
                       _mm256_setzero_pd()};
    size_t d = 0;
    for (; d + 2 * LANES <= dim; d += 2 * LANES) {
        __builtin_prefetch(next + d, 0, 3);
#pragma GCC unroll 2
        for (size_t half = 0; half < 2; half++) {
            const size_t at = d + half * LANES;
            const __m256 numbers = eight(row + at);
            const __m256d low = _mm256_cvtps_pd(_mm256_castps256_ps128(numbers));
            const __m256d high = _mm256_cvtps_pd(_mm256_extractf128_ps(numbers, 1));
            sums[2 * half] = _mm256_fmadd_pd(low, _mm256_loadu_pd(query + at), sums[2 * half]);
            sums[2 * half + 1] =
                _mm256_fmadd_pd(high, _mm256_loadu_pd(query + at + 4), sums[2 * half + 1]);
        }
    }
    double four[4], rest = 0;
    _mm256_storeu_pd(four, _mm256_add_pd(_mm256_add_pd(sums[0], sums[1]),
                                         _mm256_add_pd(sums[2], sums[3])));
    for (; d < dim; d++)
        rest += (double)half_to_single(row[d]) * query[d];
    return ((four[0] + four[1]) + (four[2] + four[3])) + rest;
}

static inline AVX2 __m128 halved(__m256 sums) {
    return _mm_add_ps(_mm256_castps256_ps128(sums), _mm256_extractf128_ps(sums, 1));
}

static inline AVX2 __m128 gathered(const __m256 sums[FOUR]) {
    return _mm_hadd_ps(_mm_hadd_ps(halved(sums[0]), halved(sums[1])),
                       _mm_hadd_ps(halved(sums[2]), halved(sums[3])));
}

static AVX2 void four(const uint16_t *const rows[FOUR], const uint16_t *const next[FOUR],
                      const float *query, size_t dim, float scores[FOUR]) {
    __m256 sums[FOUR] = {_mm256_setzero_ps(), _mm256_setzero_ps(), _mm256_setzero_ps(),
                         _mm256_setzero_ps()};
    size_t d = 0;
    for (; d + CACHE_LINE <= dim; d += CACHE_LINE)
#pragma GCC unroll 4
        for (int r = 0; r < FOUR; r++) {
            __builtin_prefetch(next[r] + d, 0, 3);
#pragma GCC unroll 4
            for (size_t at = d; at < d + CACHE_LINE; at += LANES)
                sums[r] = _mm256_fmadd_ps(eight(rows[r] + at), _mm256_loadu_ps(query + at), sums[r]);
        }
    _mm_storeu_ps(scores, gathered(sums));
    for (; d < dim; d++)
        for (int r = 0; r < FOUR; r++)
            scores[r] += half_to_single(rows[r][d]) * query[d];
}

static AVX2 void widen(const uint16_t *row, size_t dim, float *out) {
    size_t d = 0;
    for (; d + LANES <= dim; d += LANES)
        _mm256_storeu_ps(out + d, eight(row + d));
    for (; d < dim; d++)
        out[d] = half_to_single(row[d]);
}

static AVX2 void tile(const float *rows, const float *queries, size_t dim, float *scores) {
    __m256 sums[TILE_QUERIES][TILE_ROWS];
    for (int q = 0; q < TILE_QUERIES; q++)
        for (int r = 0; r < TILE_ROWS; r++)
            sums[q][r] = _mm256_setzero_ps();
    for (size_t d = 0; d < dim; d += LANES) {
        __m256 of[TILE_QUERIES];
#pragma GCC unroll 3
        for (size_t q = 0; q < TILE_QUERIES; q++)
            of[q] = _mm256_loadu_ps(queries + q * dim + d);
#pragma GCC unroll 4
        for (size_t r = 0; r < TILE_ROWS; r++) {
            const __m256 row = _mm256_loadu_ps(rows + r * dim + d);
#pragma GCC unroll 3
            for (size_t q = 0; q < TILE_QUERIES; q++)
                sums[q][r] = _mm256_fmadd_ps(row, of[q], sums[q][r]);
        }
    }
    for (int q = 0; q < TILE_QUERIES; q++)
        _mm_storeu_ps(scores + q * BLOCK_ROWS, gathered(sums[q]));
}

static AVX2 void products(const float *rows, const float *queries, size_t num_queries, size_t dim,
                          float *scores) {
    for (size_t q = 0; q < num_queries; q += TILE_QUERIES)
        for (size_t r = 0; r < BLOCK_ROWS; r += TILE_ROWS)
            tile(rows + r * dim, queries + q * dim, dim, scores + q * BLOCK_ROWS + r);
}

static AVX2 uint64_t above(const float scores[BLOCK_ROWS], float limit) {
    const __m256 limits = _mm256_set1_ps(limit);
    uint64_t found = 0;
    for (int i = 0; i < BLOCK_ROWS; i += LANES) {
        const __m256 over = _mm256_cmp_ps(_mm256_loadu_ps(scores + i), limits, _CMP_NLE_UQ);
        found |= (uint64_t)(uint32_t)_mm256_movemask_ps(over) << i;
    }
    return found;
}

const vector_code avx2_vectors = {"AVX2", usable, TILE_QUERIES, dot, four, widen, products, above};
#else
static int usable(void) { return 0; }
const vector_code avx2_vectors = {"AVX2", usable, 1, 0, 0, 0, 0, 0};
#endif
