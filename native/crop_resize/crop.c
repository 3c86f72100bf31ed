/* The walk: eight output rows at a time from the top, source rows taken in just before they are
 * needed.
 *
 * Only the rows under the filter are kept, in a ring, so that they stay in the cache. As in
 * Pillow each axis is a pass of its own, the result between is rounded to bytes, and an axis that
 * keeps its length is left alone.
 */
#include <stdlib.h>
#include <string.h>

#include "crop_resize.h"

typedef struct {
    const source *from;
    weights across, down;
    int narrow, flatten; /* whether the axis changes */
    int down_first;      /* the order of the passes */
    const passes *across_by, *down_by;
    uint8_t *ring; /* `slots` rows of `stride` bytes: source row i lies in slot i % slots */
    size_t stride;
    int slots, ready; /* source rows below `ready` are in the ring, as far as it reaches */
    uint8_t *edge;    /* copies of rows behind which nothing may be read */
    uint8_t *between, *rows; /* ROWS_AT_ONCE rows each: between the passes, and finished */
    const uint8_t **under;
} walk;

/* Pillow 13 flattens first what loses more than twice as many rows as columns. The order shows in
 * the last bit, and in what is cut off at 0 and 255 between the passes. */
static int flattens_first(const source *from, const sink *to) {
    return to->height < from->height && from->height - to->height > 2 * (from->width - to->width);
}

static const uint8_t *source_row(const walk *at, int y) {
    const source *from = at->from;
    const uint8_t *row = from->pixels + from->stride * y;
    size_t bytes = (size_t)from->width * CHANNELS;
    /* Passes read a little beyond a row: the memory of another row, but for the last one. */
    int last = from->stride > 0 ? from->height - 1 : 0;
    size_t apart = (size_t)(from->stride > 0 ? from->stride : -from->stride);
    if (y != last && apart >= bytes && bytes >= READ_BEYOND)
        return row;
    uint8_t *copy = at->edge + (size_t)(y % ROWS_AT_ONCE) * (bytes + READ_BEYOND);
    memcpy(copy, row, bytes);
    return copy;
}

static const uint8_t *in_ring(const walk *at, int y) {
    return at->ring + (size_t)(y % at->slots) * at->stride;
}

static void fill_ring(walk *at, int until) {
    for (; at->ready < until; at->ready += ROWS_AT_ONCE) {
        const uint8_t *rows[ROWS_AT_ONCE];
        uint8_t *out[ROWS_AT_ONCE];
        for (int r = 0; r < ROWS_AT_ONCE; r++) {
            int y = at->ready + r, last = at->from->height - 1;
            rows[r] = source_row(at, y < last ? y : last);
            out[r] = at->ring + (size_t)(y % at->slots) * at->stride;
        }
        if (at->narrow && !at->down_first)
            at->across_by->across(&at->across, rows, out);
        else
            for (int r = 0; r < ROWS_AT_ONCE; r++)
                memcpy(out[r], rows[r], (size_t)at->from->width * CHANNELS);
    }
}

static void flatten_to(walk *at, int y, int width, uint8_t *out) {
    int first = at->down.starts[y], count = at->down.counts[y];
    fill_ring(at, first + count);
    for (int k = 0; k < at->down.taps; k++) /* rows behind the filter's end weigh nothing */
        at->under[k] = in_ring(at, first + (k < count ? k : count - 1));
    at->down_by->down(&at->down, y, at->under, width * CHANNELS, out);
}

/* Output rows y … y + 7; beyond the last one it is repeated. */
static void produce(walk *at, const sink *to, int y, const uint8_t *finished[ROWS_AT_ONCE]) {
    const uint8_t *tall[ROWS_AT_ONCE];
    uint8_t *out[ROWS_AT_ONCE];
    for (int r = 0; r < ROWS_AT_ONCE; r++) {
        int of = y + r < to->height ? y + r : to->height - 1;
        out[r] = at->rows + (size_t)r * at->stride;
        if (!at->flatten) {
            fill_ring(at, of + 1);
            finished[r] = in_ring(at, of);
        } else {
            uint8_t *flat = at->between + (size_t)r * at->stride;
            flatten_to(at, of, at->down_first ? at->from->width : to->width, flat);
            finished[r] = tall[r] = flat;
        }
    }
    if (at->narrow && at->down_first) {
        at->across_by->across(&at->across, tall, out);
        for (int r = 0; r < ROWS_AT_ONCE; r++)
            finished[r] = out[r];
    }
}

/* The filter of one axis, and the passes that can apply it; NULL when memory ran out. */
static const passes *prepare(weights *axis, int before, int after, enum filter filter,
                             const passes *by) {
    if (make_weights(axis, before, after, filter) != 0)
        return NULL;
    by = axis->taps > by->most_taps ? &plain_passes : by;
    return by->pack == NULL || by->pack(axis) == 0 ? by : NULL;
}

static int start(walk *at, const sink *to, enum filter filter, const passes *by) {
    const source *from = at->from;
    int widest = from->width > to->width ? from->width : to->width;
    at->narrow = from->width != to->width;
    at->flatten = from->height != to->height;
    at->down_first = flattens_first(from, to);
    if (at->narrow) {
        at->across_by = prepare(&at->across, from->width, to->width, filter, by);
        if (at->across_by == NULL)
            return -1;
    }
    if (at->flatten) {
        at->down_by = prepare(&at->down, from->height, to->height, filter, by);
        if (at->down_by == NULL)
            return -1;
    }
    at->stride = ((size_t)widest * CHANNELS / ROW_UNIT + 2) * ROW_UNIT;
    at->slots = (at->down.span / ROWS_AT_ONCE + 3) * ROWS_AT_ONCE;
    at->ring = calloc((size_t)at->slots + 2 * ROWS_AT_ONCE, at->stride);
    at->edge = calloc(ROWS_AT_ONCE, (size_t)from->width * CHANNELS + READ_BEYOND);
    at->under = malloc(((size_t)at->down.taps + 1) * sizeof *at->under);
    if (at->ring == NULL || at->edge == NULL || at->under == NULL)
        return -1;
    at->between = at->ring + (size_t)at->slots * at->stride;
    at->rows = at->between + ROWS_AT_ONCE * at->stride;
    return 0;
}

int crop(const source *from, sink *to, enum filter filter, const passes *by) {
    walk at = {.from = from};
    const uint8_t *rows[ROWS_AT_ONCE];
    to->by = by;
    to->band = malloc((size_t)to->patch * (size_t)(to->width * CHANNELS + to->patch * to->size) + 128);
    int failed = to->band == NULL ? -1 : start(&at, to, filter, by);
    for (int y = 0; y < to->height && !failed; y += ROWS_AT_ONCE) {
        produce(&at, to, y, rows);
        for (int r = 0; r < ROWS_AT_ONCE && y + r < to->height; r++)
            write_row(to, y + r, rows[r]);
    }
    free_weights(&at.across);
    free_weights(&at.down);
    free(at.ring);
    free(at.edge);
    free(to->band);
    free((void *)at.under);
    return failed;
}
