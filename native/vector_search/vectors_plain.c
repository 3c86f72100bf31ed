/* Products without vector instructions: for any processor, and what the others are compared with. */
#include <string.h>

#include "vector_search.h"

#define SUMS 8

static int usable(void) { return 1; }

/* A half's bits moved into a single read as the value times 2^-112, subnormals included; infinity
 * and NaN have the highest exponent in both. */
float half_to_single(uint16_t half) {
    uint32_t bits = (uint32_t)(half & 0x7FFF) << 13;
    float value;
    memcpy(&value, &bits, sizeof value);
    value *= 0x1p112F;
    memcpy(&bits, &value, sizeof value);
    if ((half & 0x7C00) == 0x7C00)
        bits |= 0x7F800000;
    bits |= (uint32_t)(half & 0x8000) << 16;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static double dot(const uint16_t *row, const uint16_t *next, const double *query, size_t dim) {
    (void)next;
    double sums[SUMS] = {0}, sum = 0;
    for (size_t d = 0; d < dim; d++)
        sums[d % SUMS] += (double)half_to_single(row[d]) * query[d];
    for (int i = 0; i < SUMS; i++)
        sum += sums[i];
    return sum;
}

static void four(const uint16_t *const rows[FOUR], const uint16_t *const next[FOUR],
                 const float *query, size_t dim, float scores[FOUR]) {
    (void)next;
    for (int r = 0; r < FOUR; r++) {
        float sums[SUMS] = {0};
        for (size_t d = 0; d < dim; d++)
            sums[d % SUMS] += half_to_single(rows[r][d]) * query[d];
        scores[r] = ((sums[0] + sums[1]) + (sums[2] + sums[3])) +
                    ((sums[4] + sums[5]) + (sums[6] + sums[7]));
    }
}

static void widen(const uint16_t *row, size_t dim, float *out) {
    for (size_t d = 0; d < dim; d++)
        out[d] = half_to_single(row[d]);
}

static void products(const float *rows, const float *queries, size_t num_queries, size_t dim,
                     float *scores) {
    for (size_t q = 0; q < num_queries; q++)
        for (size_t r = 0; r < BLOCK_ROWS; r++) {
            const float *row = rows + r * dim, *query = queries + q * dim;
            float sums[SUMS] = {0};
            for (size_t d = 0; d < dim; d += SUMS)
                for (int i = 0; i < SUMS; i++)
                    sums[i] += row[d + (size_t)i] * query[d + (size_t)i];
            scores[q * BLOCK_ROWS + r] = ((sums[0] + sums[1]) + (sums[2] + sums[3])) +
                                         ((sums[4] + sums[5]) + (sums[6] + sums[7]));
        }
}

static uint64_t above(const float scores[BLOCK_ROWS], float limit) {
    uint64_t found = 0;
    for (int i = 0; i < BLOCK_ROWS; i++)
        found |= (uint64_t) !(scores[i] <= limit) << i;
    return found;
}

const vector_code plain_vectors = {"", usable, 1, dot, four, widen, products, above};
