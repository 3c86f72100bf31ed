/* Products with AVX-512: sixteen numbers at a time. */
#include "vector_search.h"

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>

#define AVX512 __attribute__((target("avx512f,avx512dq,avx2,fma,f16c")))
#define LANES 16
#define TILE_ROWS FOUR
#define TILE_QUERIES 6 /* 24 sums, 6 queries and a row: 31 of the 32 registers */

static int usable(void) {
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
           avx2_vectors.usable();
}

static inline AVX512 __m512 sixteen(const uint16_t *halves) {
    return _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)(const void *)halves));
}

static AVX512 double dot(const uint16_t *row, const uint16_t *next, const double *query,
                         size_t dim) {
    __m512d sums[4] = {_mm512_setzero_pd(), _mm512_setzero_pd(), _mm512_setzero_pd(),
                       _mm512_setzero_pd()};
    size_t d = 0;
    for (; d + 2 * LANES <= dim; d += 2 * LANES) {
        __builtin_prefetch(next + d, 0, 3);
#pragma GCC unroll 2
        for (size_t half = 0; half < 2; half++) {
            const size_t at = d + half * LANES;
            const __m512 numbers = sixteen(row + at);
            const __m512d low = _mm512_cvtps_pd(_mm512_castps512_ps256(numbers));
            const __m512d high = _mm512_cvtps_pd(_mm512_extractf32x8_ps(numbers, 1));
            sums[2 * half] = _mm512_fmadd_pd(low, _mm512_loadu_pd(query + at), sums[2 * half]);
            sums[2 * half + 1] =
                _mm512_fmadd_pd(high, _mm512_loadu_pd(query + at + 8), sums[2 * half + 1]);
        }
    }
    double rest = 0;
    for (; d < dim; d++)
        rest += (double)half_to_single(row[d]) * query[d];
    return _mm512_reduce_add_pd(_mm512_add_pd(_mm512_add_pd(sums[0], sums[1]),
                                              _mm512_add_pd(sums[2], sums[3]))) +
           rest;
}

static inline AVX512 __m128 quartered(__m512 sums) {
    const __m256 half =
        _mm256_add_ps(_mm512_castps512_ps256(sums), _mm512_extractf32x8_ps(sums, 1));
    return _mm_add_ps(_mm256_castps256_ps128(half), _mm256_extractf128_ps(half, 1));
}

static inline AVX512 __m128 gathered(const __m512 sums[FOUR]) {
    return _mm_hadd_ps(_mm_hadd_ps(quartered(sums[0]), quartered(sums[1])),
                       _mm_hadd_ps(quartered(sums[2]), quartered(sums[3])));
}

static AVX512 void four(const uint16_t *const rows[FOUR], const uint16_t *const next[FOUR],
                      const float *query, size_t dim, float scores[FOUR]) {
    __m512 sums[FOUR] = {_mm512_setzero_ps(), _mm512_setzero_ps(), _mm512_setzero_ps(),
                         _mm512_setzero_ps()};
    size_t d = 0;
    for (; d + CACHE_LINE <= dim; d += CACHE_LINE)
#pragma GCC unroll 4
        for (int r = 0; r < FOUR; r++) {
            __builtin_prefetch(next[r] + d, 0, 3);
#pragma GCC unroll 4
            for (size_t at = d; at < d + CACHE_LINE; at += LANES)
                sums[r] = _mm512_fmadd_ps(sixteen(rows[r] + at), _mm512_loadu_ps(query + at), sums[r]);
        }
    _mm_storeu_ps(scores, gathered(sums));
    for (; d < dim; d++)
        for (int r = 0; r < FOUR; r++)
            scores[r] += half_to_single(rows[r][d]) * query[d];
}

static AVX512 void widen(const uint16_t *row, size_t dim, float *out) {
    size_t d = 0;
    for (; d + LANES <= dim; d += LANES)
        _mm512_storeu_ps(out + d, sixteen(row + d));
    for (; d < dim; d++)
        out[d] = half_to_single(row[d]);
}

static AVX512 void tile(const float *rows, const float *queries, size_t dim, float *scores) {
    __m512 sums[TILE_QUERIES][TILE_ROWS];
    for (int q = 0; q < TILE_QUERIES; q++)
        for (int r = 0; r < TILE_ROWS; r++)
            sums[q][r] = _mm512_setzero_ps();
    for (size_t d = 0; d < dim; d += LANES) {
        __m512 of[TILE_QUERIES];
#pragma GCC unroll 6
        for (size_t q = 0; q < TILE_QUERIES; q++)
            of[q] = _mm512_loadu_ps(queries + q * dim + d);
#pragma GCC unroll 4
        for (size_t r = 0; r < TILE_ROWS; r++) {
            const __m512 row = _mm512_loadu_ps(rows + r * dim + d);
#pragma GCC unroll 6
            for (size_t q = 0; q < TILE_QUERIES; q++)
                sums[q][r] = _mm512_fmadd_ps(row, of[q], sums[q][r]);
        }
    }
    for (int q = 0; q < TILE_QUERIES; q++)
        _mm_storeu_ps(scores + q * BLOCK_ROWS, gathered(sums[q]));
}

static AVX512 void products(const float *rows, const float *queries, size_t num_queries,
                            size_t dim, float *scores) {
    for (size_t q = 0; q < num_queries; q += TILE_QUERIES)
        for (size_t r = 0; r < BLOCK_ROWS; r += TILE_ROWS)
            tile(rows + r * dim, queries + q * dim, dim, scores + q * BLOCK_ROWS + r);
}

static AVX512 uint64_t above(const float scores[BLOCK_ROWS], float limit) {
    const __m512 limits = _mm512_set1_ps(limit);
    uint64_t found = 0;
    for (int i = 0; i < BLOCK_ROWS; i += LANES)
        found |= (uint64_t)_mm512_cmp_ps_mask(_mm512_loadu_ps(scores + i), limits, _CMP_NLE_UQ)
                 << i;
    return found;
}

const vector_code avx512_vectors = {"AVX-512", usable, TILE_QUERIES, dot, four, widen, products, above};
#else
static int usable(void) { return 0; }
const vector_code avx512_vectors = {"AVX-512", usable, 1, 0, 0, 0, 0, 0};
#endif
