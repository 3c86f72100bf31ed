/* A part of a picture, in whole MCUs, as the scan of a smaller one: codes are copied, nothing is
 * transformed. What stands before and beside the part costs the lengths of its codes alone.
 */
#include "jpeg_scale.h"

#if defined(__x86_64__) && defined(__GNUC__)

#include <string.h>

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("bmi,bmi2"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("bmi,bmi2")
#endif

#include "entropy.h"

#define DC_CODE 4 /* bits of each code of the part's own DC table: the sizes 0 to 12 */

typedef struct {
    uint64_t bits; /* the last `count` have still to be written, fewer than 8 between two calls */
    int count, is_full;
    uint8_t *at, *end;
} writer;

typedef struct {
    reader from;
    writer to;
    int before[MOST_COMPONENTS], written[MOST_COMPONENTS]; /* DC of the last block, read or copied */
    int until_restart, restarts;
} cutter;

/* Up to 26 bits. A 255 is followed by a 0. */
static ALWAYS_INLINE void put(writer *to, uint64_t value, int size) {
    to->bits = to->bits << size | value;
    to->count += size;
    while (to->count >= 8) {
        to->count -= 8;
        uint8_t byte = (uint8_t)(to->bits >> to->count);
        if (UNLIKELY(to->end - to->at < 2)) {
            to->is_full = 1;
            continue;
        }
        *to->at++ = byte;
        if (byte == 0xFF)
            *to->at++ = 0;
    }
}

static void put_dc(writer *to, int difference) {
    int size = 0;
    for (int rest = difference < 0 ? -difference : difference; rest != 0; rest >>= 1)
        size++;
    uint64_t value = (uint64_t)(difference < 0 ? difference - 1 : difference);
    put(to, (uint64_t)size, DC_CODE);
    put(to, value & ((1ULL << size) - 1), size);
}

/* 0, or -1 for what is no code. */
static NEVER_INLINE int copy_block(cutter *now, const huffman *dc, const huffman *ac, int i) {
    if (read_dc(&now->from, dc, &now->before[i]) != 0)
        return -1;
    put_dc(&now->to, now->before[i] - now->written[i]);
    now->written[i] = now->before[i];
    for (int k = 0; k < 63;) {
        code found;
        fill(&now->from);
        int ends = step(&now->from, ac, &k, &found);
        if (ends < 0)
            return -1;
        put(&now->to, now->from.bits >> (64 - TOTAL(found)), TOTAL(found));
        drop(&now->from, TOTAL(found));
        if (ends != 0)
            break;
    }
    return 0;
}

static NEVER_INLINE int pass_block(reader *of_scan, const huffman *dc, const huffman *ac,
                                   int *before) {
    reader from = *of_scan;
    int fault = read_dc(&from, dc, before);
    if (fault == 0)
        fault = skip_rest(&from, ac, 0);
    *of_scan = from;
    return fault;
}

static int take_unit(const picture *of, cutter *now, int is_part) {
    for (int i = 0; i < of->count; i++) {
        const component *one = &of->components[i];
        const huffman *dc = &of->dc[one->dc], *ac = &of->ac[one->ac];
        for (int block = one->across * one->down; block > 0; block--)
            if ((is_part ? copy_block(now, dc, ac, i)
                         : pass_block(&now->from, dc, ac, &now->before[i])) != 0)
                return -1;
    }
    return 0;
}

static const char *take_row(const picture *of, const part *wanted, cutter *now, int row) {
    for (int column = 0; column < of->columns; column++) {
        if (of->interval != 0 && now->until_restart-- == 0) {
            const char *why = pass_restart(&now->from, &now->restarts);
            if (why != NULL)
                return why;
            memset(now->before, 0, sizeof now->before);
            now->until_restart = of->interval - 1;
        }
        int is_part = row >= wanted->top && column >= wanted->left && column < wanted->right;
        if (take_unit(of, now, is_part) != 0)
            return "damaged";
    }
    return ran_out(&now->from) ? "cut short" : NULL;
}

const char *cut(const picture *of, const part *wanted, uint8_t *out, size_t room, size_t *size) {
    cutter now = {.from = {.at = of->scan, .end = of->end}, .to = {.at = out, .end = out + room},
                  .until_restart = of->interval};
    for (int row = 0; row < wanted->bottom; row++) {
        const char *why = take_row(of, wanted, &now, row);
        if (why != NULL)
            return why;
    }
    put(&now.to, (1U << (7 & -now.to.count)) - 1, 7 & -now.to.count);
    if (now.to.is_full || now.to.end - now.to.at < 2)
        return "no room for the part";
    *now.to.at++ = 0xFF;
    *now.to.at++ = 0xD9;
    *size = (size_t)(now.to.at - out);
    return NULL;
}

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

#else

const char *cut(const picture *of, const part *wanted, uint8_t *out, size_t room, size_t *size) {
    (void)of;
    (void)wanted;
    (void)out;
    (void)room;
    (void)size;
    return "another processor";
}

#endif
