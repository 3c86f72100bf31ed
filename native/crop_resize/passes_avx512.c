/* The two passes with AVX-512 (BW, VL, VNNI), to the same bytes as the plain ones.
 *
 * A 22-bit weight is three signed digits of 8 bits. One instruction multiplies four bytes by four
 * digits and adds them up; the three sums are joined at the end.
 */
#include "crop_resize.h"

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#include <stdlib.h>
#include <string.h>

#define AVX512 __attribute__((target("avx512f,avx512bw,avx512vl,avx512vnni")))
#define DIGITS 3

static int usable(void) {
    return __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512vnni");
}

/* For each four taps their lowest digits, then the middle ones, then the highest. */
static int pack(weights *axis) {
    size_t count = (size_t)axis->length * (size_t)axis->taps;
    int8_t *digits = malloc(count * DIGITS);
    if (digits == NULL)
        return -1;
    for (size_t i = 0; i < count; i++) {
        int8_t *four = digits + i / 4 * 4 * DIGITS + i % 4;
        int32_t rest = axis->whole[i];
        for (int digit = 0; digit < DIGITS; digit++) {
            int32_t low = ((rest + 128) & 255) - 128;
            four[4 * digit] = (int8_t)low;
            rest = (rest - low) / 256;
        }
    }
    axis->packed = digits;
    return 0;
}

static inline AVX512 __m512i weight(const int8_t *digits, int digit) {
    int32_t four;
    memcpy(&four, digits + 4 * digit, 4);
    return _mm512_set1_epi32(four);
}

/* The sums of three digits, rounded back to whole 8-bit steps. */
static inline AVX512 __m512i joined(__m512i low, __m512i middle, __m512i high) {
    __m512i sum = _mm512_add_epi32(low, _mm512_slli_epi32(middle, 8));
    sum = _mm512_add_epi32(sum, _mm512_slli_epi32(high, 16));
    return _mm512_srai_epi32(sum, FRACTION_BITS);
}

/* 16 bytes of each of four rows. */
static inline AVX512 __m512i gathered(const uint8_t *const rows[4], ptrdiff_t at) {
    __m128i quarter[4];
    for (int r = 0; r < 4; r++)
        quarter[r] = _mm_loadu_si128((const __m128i *)(const void *)(rows[r] + at));
    __m512i all = _mm512_inserti32x4(_mm512_castsi128_si512(quarter[0]), quarter[1], 1);
    return _mm512_inserti32x4(_mm512_inserti32x4(all, quarter[2], 2), quarter[3], 3);
}

/* Output i of eight rows: in quarter r the pixel of row r, then that of row r + 4, as bytes. */
static inline AVX512 __m512i column(const uint8_t *const rows[ROWS_AT_ONCE], const int8_t *digits,
                                    int start, int count) {
    /* 4 pixels of 3 bytes → the four bytes of each channel, the same in each quarter */
    const __m512i spread = _mm512_broadcast_i32x4(
        _mm_setr_epi8(0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8, 11, -1, -1, -1, -1));
    const __m512i half = _mm512_set1_epi32(1 << (FRACTION_BITS - 1)), zero = _mm512_setzero_si512();
    __m512i low[2] = {half, half}, middle[2] = {zero, zero}, high[2] = {zero, zero};
    ptrdiff_t at = (ptrdiff_t)start * CHANNELS;
    for (int k = count; k > 0; k -= 4, at += 4 * CHANNELS, digits += 4 * DIGITS) {
        __m512i weights[DIGITS] = {weight(digits, 0), weight(digits, 1), weight(digits, 2)};
#pragma GCC unroll 2
        for (int part = 0; part < 2; part++) {
            __m512i taps = _mm512_shuffle_epi8(gathered(rows + 4 * part, at), spread);
            low[part] = _mm512_dpbusd_epi32(low[part], taps, weights[0]);
            middle[part] = _mm512_dpbusd_epi32(middle[part], taps, weights[1]);
            high[part] = _mm512_dpbusd_epi32(high[part], taps, weights[2]);
        }
    }
    __m512i shorts = _mm512_packs_epi32(joined(low[0], middle[0], high[0]),
                                        joined(low[1], middle[1], high[1]));
    return _mm512_packus_epi16(shorts, shorts);
}

/* Four pixels of four bytes in each quarter → 12 bytes, and 4 that the next pixels overwrite. */
static inline AVX512 void store_four(__m512i pixels, uint8_t *const out[4], ptrdiff_t at) {
    const __m512i tight = _mm512_broadcast_i32x4(
        _mm_setr_epi8(0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, -1, -1, -1, -1));
    pixels = _mm512_shuffle_epi8(pixels, tight);
    _mm_storeu_si128((__m128i *)(void *)(out[0] + at), _mm512_castsi512_si128(pixels));
    _mm_storeu_si128((__m128i *)(void *)(out[1] + at), _mm512_extracti32x4_epi32(pixels, 1));
    _mm_storeu_si128((__m128i *)(void *)(out[2] + at), _mm512_extracti32x4_epi32(pixels, 2));
    _mm_storeu_si128((__m128i *)(void *)(out[3] + at), _mm512_extracti32x4_epi32(pixels, 3));
}

static AVX512 void across(const weights *axis, const uint8_t *const given_rows[ROWS_AT_ONCE],
                          uint8_t *const given_out[ROWS_AT_ONCE]) {
    const int *const starts = axis->starts, *const counts = axis->counts;
    const ptrdiff_t each = (ptrdiff_t)axis->taps * DIGITS;
    const int8_t *digits = axis->packed;
    const uint8_t *rows[ROWS_AT_ONCE]; /* of our own, so that no store can change them */
    uint8_t *out[ROWS_AT_ONCE];
    memcpy(rows, given_rows, sizeof rows);
    memcpy(out, given_out, sizeof out);
    for (int i = 0; i < axis->length; i += 4) {
        __m512i columns[4];
#pragma GCC unroll 4
        for (int j = 0; j < 4; j++) { /* behind the end the last one again */
            int of = i + j < axis->length ? i + j : axis->length - 1;
            columns[j] = column(rows, digits + of * each, starts[of], counts[of]);
        }
        __m512i left = _mm512_unpacklo_epi32(columns[0], columns[1]);
        __m512i right = _mm512_unpacklo_epi32(columns[2], columns[3]);
        ptrdiff_t at = (ptrdiff_t)i * CHANNELS;
        store_four(_mm512_unpacklo_epi64(left, right), out, at);
        store_four(_mm512_unpackhi_epi64(left, right), out + 4, at);
    }
}

static AVX512 void down(const weights *axis, int index, const uint8_t *const *rows, int bytes,
                        uint8_t *out) {
    const int8_t *all = (const int8_t *)axis->packed + (size_t)index * (size_t)axis->taps * DIGITS;
    const __m512i zero = _mm512_setzero_si512();
    const __m512i half = _mm512_set1_epi32(1 << (FRACTION_BITS - 1));
    for (int at = 0; at < bytes; at += 64) {
        __m512i low[4] = {half, half, half, half}, middle[4] = {zero, zero, zero, zero};
        __m512i high[4] = {zero, zero, zero, zero};
        const int8_t *digits = all;
        for (int k = 0; k < axis->counts[index]; k += 4, digits += 4 * DIGITS) {
            __m512i one = _mm512_loadu_si512(rows[k] + at);
            __m512i two = _mm512_loadu_si512(rows[k + 1] + at);
            __m512i three = _mm512_loadu_si512(rows[k + 2] + at);
            __m512i four = _mm512_loadu_si512(rows[k + 3] + at);
            __m512i left = _mm512_unpacklo_epi8(one, two), right = _mm512_unpackhi_epi8(one, two);
            __m512i left2 = _mm512_unpacklo_epi8(three, four);
            __m512i right2 = _mm512_unpackhi_epi8(three, four);
            __m512i part[4] = {
                _mm512_unpacklo_epi16(left, left2), _mm512_unpackhi_epi16(left, left2),
                _mm512_unpacklo_epi16(right, right2), _mm512_unpackhi_epi16(right, right2)};
#pragma GCC unroll 4
            for (int i = 0; i < 4; i++) {
                low[i] = _mm512_dpbusd_epi32(low[i], part[i], weight(digits, 0));
                middle[i] = _mm512_dpbusd_epi32(middle[i], part[i], weight(digits, 1));
                high[i] = _mm512_dpbusd_epi32(high[i], part[i], weight(digits, 2));
            }
        }
        __m512i left = _mm512_packs_epi32(joined(low[0], middle[0], high[0]),
                                          joined(low[1], middle[1], high[1]));
        __m512i right = _mm512_packs_epi32(joined(low[2], middle[2], high[2]),
                                           joined(low[3], middle[3], high[3]));
        _mm512_storeu_si512(out + at, _mm512_packus_epi16(left, right));
    }
}

const passes avx512_passes = {"avx512", usable, 65536, pack, across, down, look_up_avx2};

#else

static int never(void) { return 0; }

const passes avx512_passes = {"avx512", never, 0, NULL, NULL, NULL, NULL};

#endif
