/* The two passes in plain C: 32-bit sums of bytes times fixed-point weights.
 *
 * They give the same bytes as the vector passes; they run where there is no vector code, and for
 * filters of thousands of taps.
 */
#include <limits.h>

#include "crop_resize.h"

static uint8_t rounded(int32_t sum) {
    int32_t value = (sum + (1 << (FRACTION_BITS - 1))) >> FRACTION_BITS;
    return (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value);
}

static void across(const weights *axis, const uint8_t *const rows[ROWS_AT_ONCE],
                   uint8_t *const out[ROWS_AT_ONCE]) {
    for (int r = 0; r < ROWS_AT_ONCE; r++) {
        for (int i = 0; i < axis->length; i++) {
            const int32_t *weight = axis->whole + (size_t)i * (size_t)axis->taps;
            const uint8_t *pixel = rows[r] + (ptrdiff_t)axis->starts[i] * CHANNELS;
            int32_t red = 0, green = 0, blue = 0;
            for (int k = 0; k < axis->counts[i]; k++, pixel += CHANNELS) {
                red += pixel[0] * weight[k];
                green += pixel[1] * weight[k];
                blue += pixel[2] * weight[k];
            }
            out[r][i * CHANNELS] = rounded(red);
            out[r][i * CHANNELS + 1] = rounded(green);
            out[r][i * CHANNELS + 2] = rounded(blue);
        }
    }
}

static void down(const weights *axis, int index, const uint8_t *const *rows, int bytes,
                 uint8_t *out) {
    enum { BLOCK = ROW_UNIT };
    const int32_t *weight = axis->whole + (size_t)index * (size_t)axis->taps;
    for (int at = 0; at < bytes; at += BLOCK) { /* rows are padded to a multiple of it */
        int32_t sums[BLOCK] = {0};
        for (int k = 0; k < axis->counts[index]; k++)
            for (int i = 0; i < BLOCK; i++)
                sums[i] += rows[k][at + i] * weight[k];
        for (int i = 0; i < BLOCK; i++)
            out[at + i] = rounded(sums[i]);
    }
}

static int always(void) { return 1; }

const passes plain_passes = {"", always, INT_MAX, NULL, across, down, NULL};
