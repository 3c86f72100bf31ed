/* Coefficients → samples → pixels, eight at a time. Included by walk.c.
 *
 * The lowest frequencies of a block, as many as samples are wanted, go through the inverse
 * transform of that size: what the block holds below the new limit, and nothing folded back from
 * above it.
 */

typedef float lanes __attribute__((vector_size(32)));
typedef int32_t whole __attribute__((vector_size(32)));
typedef int16_t halves __attribute__((vector_size(16)));

/* Compilers do not find these three instructions by themselves. */
static ALWAYS_INLINE whole widened(const uint8_t *from) {
    return (whole)_mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)(const void *)from));
}

static ALWAYS_INLINE whole cut_off(whole value) {
    __m256i low = _mm256_max_epi32((__m256i)value, _mm256_setzero_si256());
    return (whole)_mm256_min_epi32(low, _mm256_set1_epi32(255));
}

static ALWAYS_INLINE lanes even_or_odd(int used, int first, const lanes *in, int step,
                                       const float *shares) {
    lanes sum = in[first * step] * shares[first];
#pragma GCC unroll 4
    for (int u = first + 2; u < used; u += 2)
        sum += in[u * step] * shares[u];
    return sum;
}

/* `used` coefficients → n samples, both `step` apart. The second half mirrors the odd ones. */
static ALWAYS_INLINE void line(int n, int used, const lanes *in, int step, const float basis[8][8],
                               lanes *out) {
    if (n == 1) {
        out[0] = in[0];
        return;
    }
#pragma GCC unroll 4
    for (int x = 0; x < (n + 1) / 2; x++) {
        lanes even = even_or_odd(used, 0, in, step, basis[x]);
        lanes odd = even_or_odd(used, 1, in, step, basis[x]);
        out[x * step] = even + odd;
        out[(n - 1 - x) * step] = even - odd;
    }
}

#define LINES(n)                                                                                   \
    case n:                                                                                        \
        for (int i = 0; i < count; i++)                                                            \
            line(n, few && n > FEW ? FEW : n, in + i * next, step, basis, out + i * next);         \
        break;

static ALWAYS_INLINE void lines(int n, int few, int count, int next, const lanes *in, int step,
                                const float basis[8][8], lanes *out) {
    switch (n) {
        LINES(1) LINES(2) LINES(3) LINES(4) LINES(5) LINES(6) LINES(7) LINES(8)
    }
}

/* Rounded, moved to 0..255, cut off there. `wild` gathers what real pictures do not hold. */
static ALWAYS_INLINE whole rounded(lanes values, whole *wild) {
    whole sample = __builtin_convertvector(values + 512.5F, whole) - 384;
    *wild |= sample + 384;
    return cut_off(sample);
}

/* The samples of one row of eight blocks, side by side. Writes up to 7 bytes more. */
static ALWAYS_INLINE void put_row(int wide, const lanes *in, uint8_t *out, whole *wild) {
    whole words[2] = {{0}, {0}};
    for (int x = 0; x < wide; x++)
        words[x / 4] |= rounded(in[x], wild) << (x % 4 * 8);
    if (wide == 4) {
        memcpy(out, &words[0], sizeof words[0]);
        return;
    }
    uint32_t low[LANES], high[LANES];
    memcpy(low, &words[0], sizeof low);
    memcpy(high, &words[1], sizeof high);
    for (int i = 0; i < LANES; i++, out += wide) {
        uint8_t both[8];
        memcpy(both, &low[i], 4);
        memcpy(both + 4, &high[i], 4);
        memcpy(out, both, wide > 4 ? 8 : 4);
    }
}

#define ROWS(n)                                                                                    \
    case n:                                                                                        \
        for (int y = 0; y < of->tall; y++)                                                         \
            put_row(n, samples + y * n, out + y * stride, &wild);                                  \
        break;

static ALWAYS_INLINE void transform_used(const component *of, int few, int16_t coefficients[][LANES],
                                         lanes *samples) {
    lanes middle[64];
    const int wide = of->wide, tall = of->tall;
    const int columns = few && wide > FEW ? FEW : wide, rows = few && tall > FEW ? FEW : tall;
    for (int y = 0; y < rows; y++)
        for (int x = 0; x < columns; x++) {
            int at = y * wide + x;
            halves read;
            memcpy(&read, coefficients[at], sizeof read);
            samples[at] = __builtin_convertvector(__builtin_convertvector(read, whole), lanes);
            samples[at] *= of->scale[at];
        }
    lines(tall, few, columns, 1, samples, wide, of->basis[0], middle);
    lines(wide, few, tall, wide, middle, 1, of->basis[1], samples);
}

/* Eight blocks → samples; their coefficients, zero behind `last`, become all zero. 0, or -1 for
 * values out of range. */
static NEVER_INLINE int transform(const component *of, int last, int16_t coefficients[][LANES],
                                  uint8_t *out, ptrdiff_t stride) {
    lanes samples[64];
    whole wild = {0};
    if (last <= LAST_OF_FEW)
        transform_used(of, 1, coefficients, samples);
    else
        transform_used(of, 0, coefficients, samples);
    memset(coefficients, 0, (size_t)(of->wide * of->tall) * LANES * sizeof **coefficients);
    switch (of->wide) {
        ROWS(1) ROWS(2) ROWS(3) ROWS(4) ROWS(5) ROWS(6) ROWS(7) ROWS(8)
    }
    int32_t all = 0;
    for (int i = 0; i < LANES; i++)
        all |= wild[i];
    return all & ~1023 ? -1 : 0;
}

/* Eight pixels, 3 bytes each; 4 bytes more are written. JFIF's factors, rounded as in libjpeg. */
static ALWAYS_INLINE void put_pixels(const uint8_t *y, const uint8_t *cb, const uint8_t *cr,
                                     uint8_t *out) {
    whole light = widened(y), blue = widened(cb) - 128, red = widened(cr) - 128;
    whole r = cut_off(light + ((red * 91881 + 32768) >> 16));
    whole g = cut_off(light + ((blue * -22554 - red * 46802 + 32768) >> 16));
    whole b = cut_off(light + ((blue * 116130 + 32768) >> 16));
    whole words = r | g << 8 | b << 16;
    const __m256i three_of_four = _mm256_broadcastsi128_si256(
        _mm_setr_epi8(0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, -1, -1, -1, -1));
    __m256i packed = _mm256_shuffle_epi8((__m256i)words, three_of_four);
    _mm_storeu_si128((__m128i *)(void *)out, _mm256_castsi256_si128(packed));
    _mm_storeu_si128((__m128i *)(void *)(out + 12), _mm256_extracti128_si256(packed, 1));
}

static void put_grey(const uint8_t *y, int width, uint8_t *out) {
    for (int x = 0; x < width; x++)
        out[3 * x] = out[3 * x + 1] = out[3 * x + 2] = y[x];
}

static void put_colours(const uint8_t *y, const uint8_t *cb, const uint8_t *cr, int width,
                        uint8_t *out) {
    int x = 0;
    for (; x + LANES + 2 <= width; x += LANES)
        put_pixels(y + x, cb + x, cr + x, out + 3 * (ptrdiff_t)x);
    for (; x < width; x += LANES) { /* planes are padded, the result is not */
        uint8_t last[3 * LANES + 4];
        int count = width - x < LANES ? width - x : LANES;
        put_pixels(y + x, cb + x, cr + x, last);
        memcpy(out + 3 * (ptrdiff_t)x, last, 3 * (size_t)count);
    }
}
