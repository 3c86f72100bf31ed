/* The walk over the scan, one row of MCUs after the other, with AVX2 and BMI2. Without them the
 * library is quicker.
 */
#include "jpeg_scale.h"

#if defined(__x86_64__) && defined(__GNUC__)

#include <immintrin.h>
#include <string.h>

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,bmi,bmi2"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,bmi,bmi2")
#endif

#include "entropy.h"
#include "blocks.h"
#include "samples.h"

#define MOST_DOWN 4

typedef struct {
    reader from;
    int before[MOST_COMPONENTS];
    int until_restart, restarts;
    /* Eight blocks of each line of blocks of an MCU row; the last place takes what is not used. */
    int last[MOST_COMPONENTS][MOST_DOWN]; /* k behind which all of them are zero */
    int16_t waiting[MOST_COMPONENTS][MOST_DOWN][UNUSED + 1][LANES];
} state;

static const char *restart(const picture *of, state *now) {
    const char *why = pass_restart(&now->from, &now->restarts);
    if (why != NULL)
        return why;
    memset(now->before, 0, sizeof now->before);
    now->until_restart = of->interval;
    return NULL;
}

/* The blocks of one line that wait, of which `block` is the last. As `transform`. */
static int finish_blocks(const picture *of, target *to, state *now, int i, int y, int block) {
    const component *one = &of->components[i];
    uint8_t *out = to->planes[i] + y * one->tall * to->strides[i] +
                   (ptrdiff_t)(block - block % LANES) * one->wide;
    int last = now->last[i][y];
    now->last[i][y] = 0;
    return transform(one, last, now->waiting[i][y], out, to->strides[i]);
}

static int read_unit(const picture *of, target *to, state *now, int column) {
    for (int i = 0; i < of->count; i++) {
        const component *one = &of->components[i];
        const huffman *dc = &of->dc[one->dc], *ac = &of->ac[one->ac];
        for (int y = 0; y < one->down; y++)
            for (int x = 0; x < one->across; x++) {
                int block = column * one->across + x, lane = block % LANES;
                int last = read_block(&now->from, dc, ac, one, &now->before[i],
                                      now->waiting[i][y][0] + lane);
                if (last > now->last[i][y])
                    now->last[i][y] = last;
                if (last < 0 || (lane == LANES - 1 && finish_blocks(of, to, now, i, y, block) != 0))
                    return -1;
            }
    }
    return 0;
}

/* The blocks of an MCU row that did not come to eight. */
static int finish_row(const picture *of, target *to, state *now) {
    for (int i = 0; i < of->count; i++) {
        int blocks = of->columns * of->components[i].across;
        for (int y = 0; y < of->components[i].down && blocks % LANES != 0; y++)
            if (finish_blocks(of, to, now, i, y, blocks - 1) != 0)
                return -1;
    }
    return 0;
}

static NEVER_INLINE void put_rows(const picture *of, const target *to, int top) {
    int rows = of->components[0].down * of->components[0].tall;
    for (int y = 0; y < rows && top + y < to->height; y++) {
        uint8_t *out = to->out + (ptrdiff_t)(top + y) * to->width * 3;
        const uint8_t *light = to->planes[0] + y * to->strides[0];
        if (of->count == 1)
            put_grey(light, to->width, out);
        else
            put_colours(light, to->planes[1] + y * to->strides[1],
                        to->planes[2] + y * to->strides[2], to->width, out);
    }
}

const char *walk(const picture *of, target *to) {
    const char *why;
    state now = {.from = {.at = of->scan, .end = of->end}, .until_restart = of->interval};
    int rows = of->components[0].down * of->components[0].tall;
    for (int row = 0; row < of->rows; row++) {
        for (int column = 0; column < of->columns; column++) {
            if (of->interval != 0 && now.until_restart-- == 0) {
                if ((why = restart(of, &now)) != NULL)
                    return why;
                now.until_restart--;
            }
            if (read_unit(of, to, &now, column) != 0)
                return "damaged";
        }
        if (ran_out(&now.from))
            return "cut short";
        if (finish_row(of, to, &now) != 0)
            return "damaged";
        put_rows(of, to, row * rows);
    }
    if ((why = finish_codes(&now.from)) != NULL)
        return why;
    if (now.from.at[0] != 0xFF || now.from.at[1] != 0xD9)
        return "more behind its scan";
    return NULL;
}

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

int can_walk(void) {
    return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("bmi") != 0 &&
           __builtin_cpu_supports("bmi2") != 0;
}

#else

const char *walk(const picture *of, target *to) {
    (void)of;
    (void)to;
    return "another processor";
}

int can_walk(void) { return 0; }

#endif
