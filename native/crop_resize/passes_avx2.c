/* The two passes with AVX2, to the same bytes as the plain ones.
 *
 * A 22-bit weight does not fit the 16-bit multiply-add, which is the fastest there is: it is split
 * into high * 2^11 + low, both parts are summed apart and joined at the end. Sums of low parts stay
 * below 2^31 up to 4096 taps.
 */
#include "crop_resize.h"

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#include <stdlib.h>
#include <string.h>

#define LOW_BITS 11 /* a weight is high * 2^11 + low, both in 16 bits */
#define AVX2 __attribute__((target("avx2")))

static int usable(void) { return __builtin_cpu_supports("avx2") != 0; }

/* For each four taps 4 high parts, then 4 low ones. */
static int pack(weights *axis) {
    size_t count = (size_t)axis->length * (size_t)axis->taps;
    int16_t *halves = malloc(count * 2 * sizeof *halves);
    if (halves == NULL)
        return -1;
    for (size_t i = 0; i < count; i++) {
        int16_t *four = halves + i / 4 * 8 + i % 4;
        four[0] = (int16_t)(axis->whole[i] >> LOW_BITS);
        four[4] = (int16_t)(axis->whole[i] & ((1 << LOW_BITS) - 1));
    }
    axis->packed = halves;
    return 0;
}

static inline AVX2 __m256i joined(__m256i high, __m256i low) {
    return _mm256_add_epi32(_mm256_slli_epi32(high, LOW_BITS), low);
}

/* Sums of both halves of a register, rounded back to whole 8-bit steps. */
static inline AVX2 __m128i folded(__m256i high, __m256i low) {
    __m256i sums = joined(high, low);
    __m128i sum = _mm_add_epi32(_mm256_castsi256_si128(sums), _mm256_extracti128_si256(sums, 1));
    sum = _mm_add_epi32(sum, _mm_set1_epi32(1 << (FRACTION_BITS - 1)));
    return _mm_srai_epi32(sum, FRACTION_BITS);
}

static AVX2 void across_four(const weights *axis, const uint8_t *const rows[4],
                             uint8_t *const out[4]) {
    /* 4 pixels of 3 bytes → 16-bit pairs of taps: lower half taps 0 and 1, upper half 2 and 3 */
    const __m256i spread = _mm256_setr_epi8(0, -1, 3, -1, 1, -1, 4, -1, 2, -1, 5, -1, -1, -1, -1,
                                            -1, 6, -1, 9, -1, 7, -1, 10, -1, 8, -1, 11, -1, -1, -1,
                                            -1, -1);
    /* 4 weights, in both halves of a register → the pair of each half, four times */
    const __m256i pairs = _mm256_setr_epi8(0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 4, 5, 6,
                                           7, 4, 5, 6, 7, 4, 5, 6, 7, 4, 5, 6, 7);
    const __m256i low_pairs = _mm256_add_epi8(pairs, _mm256_set1_epi8(8));
    for (int i = 0; i < axis->length; i++) {
        const int16_t *halves = (const int16_t *)axis->packed + (size_t)i * (size_t)axis->taps * 2;
        const ptrdiff_t at = (ptrdiff_t)axis->starts[i] * CHANNELS;
        __m256i high[4], low[4];
        for (int r = 0; r < 4; r++)
            high[r] = low[r] = _mm256_setzero_si256();
        for (int k = 0; k < axis->counts[i]; k += 4) {
            __m256i both = _mm256_broadcastsi128_si256(
                _mm_loadu_si128((const __m128i *)(const void *)(halves + (ptrdiff_t)k * 2)));
            __m256i high_weights = _mm256_shuffle_epi8(both, pairs);
            __m256i low_weights = _mm256_shuffle_epi8(both, low_pairs);
#pragma GCC unroll 4
            for (int r = 0; r < 4; r++) {
                const uint8_t *pixels = rows[r] + at + (ptrdiff_t)k * CHANNELS;
                __m256i taps = _mm256_shuffle_epi8(
                    _mm256_broadcastsi128_si256(
                        _mm_loadu_si128((const __m128i *)(const void *)pixels)),
                    spread);
                high[r] = _mm256_add_epi32(high[r], _mm256_madd_epi16(taps, high_weights));
                low[r] = _mm256_add_epi32(low[r], _mm256_madd_epi16(taps, low_weights));
            }
        }
        __m128i first = _mm_packs_epi32(folded(high[0], low[0]), folded(high[1], low[1]));
        __m128i second = _mm_packs_epi32(folded(high[2], low[2]), folded(high[3], low[3]));
        uint32_t four[4];
        _mm_storeu_si128((__m128i *)(void *)four, _mm_packus_epi16(first, second));
        for (int r = 0; r < 4; r++) /* the byte too much is the next pixel's */
            memcpy(out[r] + (ptrdiff_t)i * CHANNELS, &four[r], 4);
    }
}

static void across(const weights *axis, const uint8_t *const rows[ROWS_AT_ONCE],
                   uint8_t *const out[ROWS_AT_ONCE]) {
    for (int r = 0; r < ROWS_AT_ONCE; r += 4) /* as many as there are registers for */
        across_four(axis, rows + r, out + r);
}

static inline AVX2 __m256i finished(__m256i high, __m256i low) {
    __m256i sum = _mm256_add_epi32(joined(high, low), _mm256_set1_epi32(1 << (FRACTION_BITS - 1)));
    return _mm256_srai_epi32(sum, FRACTION_BITS);
}

static AVX2 void down(const weights *axis, int index, const uint8_t *const *rows, int bytes,
                      uint8_t *out) {
    const int16_t *halves = (const int16_t *)axis->packed + (size_t)index * (size_t)axis->taps * 2;
    const __m256i zero = _mm256_setzero_si256();
    for (int at = 0; at < bytes; at += 32) {
        __m256i high[4] = {zero, zero, zero, zero}, low[4] = {zero, zero, zero, zero};
        for (int k = 0; k < axis->counts[index]; k += 2) {
            int32_t pair[2]; /* two high parts, two low ones */
            memcpy(&pair[0], halves + k / 4 * 8 + k % 4, 4);
            memcpy(&pair[1], halves + k / 4 * 8 + k % 4 + 4, 4);
            __m256i high_pair = _mm256_set1_epi32(pair[0]), low_pair = _mm256_set1_epi32(pair[1]);
            __m256i one = _mm256_loadu_si256((const __m256i *)(const void *)(rows[k] + at));
            __m256i two = _mm256_loadu_si256((const __m256i *)(const void *)(rows[k + 1] + at));
            __m256i left = _mm256_unpacklo_epi8(one, two), right = _mm256_unpackhi_epi8(one, two);
            __m256i part[4] = {
                _mm256_unpacklo_epi8(left, zero), _mm256_unpackhi_epi8(left, zero),
                _mm256_unpacklo_epi8(right, zero), _mm256_unpackhi_epi8(right, zero)};
#pragma GCC unroll 4
            for (int i = 0; i < 4; i++) {
                high[i] = _mm256_add_epi32(high[i], _mm256_madd_epi16(part[i], high_pair));
                low[i] = _mm256_add_epi32(low[i], _mm256_madd_epi16(part[i], low_pair));
            }
        }
        __m256i left = _mm256_packs_epi32(finished(high[0], low[0]), finished(high[1], low[1]));
        __m256i right = _mm256_packs_epi32(finished(high[2], low[2]), finished(high[3], low[3]));
        _mm256_storeu_si256((__m256i *)(void *)(out + at), _mm256_packus_epi16(left, right));
    }
}

/* The 8 bytes at every third place are the indices. Reads 28 bytes of each 48. */
static inline AVX2 __m256i eight(const uint8_t *table, const uint8_t *pixels) {
    const __m128i every_third = _mm_setr_epi8(0, -1, -1, -1, 3, -1, -1, -1, 6, -1, -1, -1, 9, -1,
                                              -1, -1);
    __m128i one = _mm_loadu_si128((const __m128i *)(const void *)pixels);
    __m128i two = _mm_loadu_si128((const __m128i *)(const void *)(pixels + 12));
    __m256i index = _mm256_inserti128_si256(
        _mm256_castsi128_si256(_mm_shuffle_epi8(one, every_third)),
        _mm_shuffle_epi8(two, every_third), 1);
    return _mm256_i32gather_epi32((const int *)(const void *)table, index, 4);
}

AVX2 void look_up_avx2(uint8_t *out, const uint8_t *table, const uint8_t *pixels, size_t stride) {
    for (int y = 0; y < 16; y++, pixels += stride, out += 64) {
        _mm256_storeu_si256((__m256i *)(void *)out, eight(table, pixels));
        _mm256_storeu_si256((__m256i *)(void *)(out + 32), eight(table, pixels + 24));
    }
}

const passes avx2_passes = {"avx2", usable, 4096, pack, across, down, look_up_avx2};

#else

static int never(void) { return 0; }

const passes avx2_passes = {"avx2", never, 0, NULL, NULL, NULL, NULL};

#endif
