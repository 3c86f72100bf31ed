/* Crop, antialiased resize, table look-up and patch order in one walk over the output rows.
 *
 * Owns the types that the files of this folder share. weights.c makes the filters, passes*.c apply
 * them, sink.c writes finished rows, crop.c is the walk, module.c the door to Python. Nothing but
 * module.c knows Python.
 */
#ifndef PHOTOCRAFT_CROP_RESIZE_H
#define PHOTOCRAFT_CROP_RESIZE_H

#include <stddef.h>
#include <stdint.h>

#define CHANNELS 3
#define FRACTION_BITS 22 /* of a weight: what Pillow keeps for 8-bit channels */
#define ROWS_AT_ONCE 8
#define READ_BEYOND 32 /* bytes that a pass may read behind a source row's end */
#define ROW_UNIT 64    /* rows of our own are padded to a multiple, and one more */

enum filter { FILTER_BILINEAR = 0, FILTER_BICUBIC = 1 };

/* The filter of one axis: output i is the sum of `counts[i]` inputs from starts[i] on. */
typedef struct {
    int length; /* outputs */
    int taps;   /* weights kept for an output, a multiple of 4; the surplus is zero */
    int span;   /* inputs that an output really touches, at most */
    int *starts, *counts;
    int32_t *whole; /* length * taps, fixed point */
    void *packed;   /* the same as the passes in use like them */
} weights;

int make_weights(weights *made, int before, int after, enum filter filter);
void free_weights(weights *made);

/* A way to apply filters. All ways give the same bytes. */
typedef struct {
    const char *name;
    int (*usable)(void);
    int most_taps; /* sums could overflow with more */
    /* Fills `packed`; 0, or -1 when memory ran out. NULL: not needed. */
    int (*pack)(weights *axis);
    /* Rows of bytes → `axis->length` pixels, several rows at a time, so that weights are read once. */
    void (*across)(const weights *axis, const uint8_t *const rows[ROWS_AT_ONCE],
                   uint8_t *const out[ROWS_AT_ONCE]);
    /* Output row `index`: the weighted sum of rows of `bytes` bytes, `axis->taps` pointers. */
    void (*down)(const weights *axis, int index, const uint8_t *const *rows, int bytes,
                 uint8_t *out);
    /* 16 lines of 16 pixels of one channel, `stride` bytes apart, through a table of 4-byte values.
     * NULL: no better way than one by one. */
    void (*look_up)(uint8_t *out, const uint8_t *table, const uint8_t *pixels, size_t stride);
} passes;

extern const passes plain_passes, avx2_passes, avx512_passes;
void look_up_avx2(uint8_t *out, const uint8_t *table, const uint8_t *pixels, size_t stride);

/* Where finished rows go. patch 0: one plane a channel; patch > 0: patch rows of a model. */
typedef struct {
    uint8_t *out;
    const uint8_t *table; /* CHANNELS * 256 values of `size` bytes; NULL: bytes as they are, HWC */
    int size;             /* bytes a value: 1, 2 or 4 */
    int height, width;
    int patch, merge, copies;
    const passes *by;
    uint8_t *band; /* room for the `patch` rows of one line of patches */
} sink;

/* Rows come from the top, each once. */
void write_row(const sink *to, int y, const uint8_t *row);

typedef struct {
    const uint8_t *pixels; /* first pixel of the box */
    ptrdiff_t stride;      /* bytes from row to row, may be negative */
    int height, width;
} source;

/* 0, or -1 when memory ran out. */
int crop(const source *from, sink *to, enum filter filter, const passes *by);

#endif
