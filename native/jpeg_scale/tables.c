/* Huffman codes → tables that one look at the next bits is enough for. */
#include <string.h>

#include "jpeg_scale.h"

static code meaning(int symbol, int length, int ac) {
    uint32_t size = (uint32_t)(ac ? symbol & 15 : symbol), ahead = 0;
    if (ac)
        ahead = symbol == 0 ? BLOCK_ENDS : (uint32_t)(symbol >> 4) + 1;
    return ((uint32_t)length + size) | (uint32_t)length << 8 | size << 16 | ahead << 24;
}

/* Sizes beyond what 8-bit pictures need, and ends of bands, which only progressive ones have. */
static int forbidden(int symbol, int ac) {
    if (!ac)
        return symbol > MOST_SIZE + 1;
    return (symbol & 15) > MOST_SIZE || ((symbol & 15) == 0 && symbol != 0 && symbol != 0xF0);
}

static void make_skip(huffman *made) {
    for (uint32_t bits = 0; bits < 1 << SKIP_BITS; bits++) {
        int at = 0, steps = 0, ends = 0;
        while (at < SKIP_BITS && !ends) {
            uint32_t rest = bits << at & ((1 << SKIP_BITS) - 1);
            code next = made->fast[rest >> (SKIP_BITS - FAST_BITS)];
            if (next == 0 || LENGTH(next) > SKIP_BITS - at || at + TOTAL(next) > SKIP_TOTAL)
                break;
            if (AHEAD(next) == BLOCK_ENDS)
                ends = 1;
            else if (steps + AHEAD(next) > 63)
                break;
            else
                steps += AHEAD(next);
            at += TOTAL(next);
        }
        made->skip[bits] = (codes)(at | steps << 8 | ends << 15);
    }
}

/* The signed value in the last `size` of `bits`: T.81, F.12. */
static int signed_value(uint32_t bits, int size) {
    int value = (int)(bits & ((1U << size) - 1));
    return size > 0 && value < 1 << (size - 1) ? value + 1 - (1 << size) : value;
}

static void make_pairs(huffman *made) {
    for (uint32_t bits = 0; bits < 1 << PAIR_BITS; bits++) {
        int at = 0, ahead[2], value[2], found = 0, steps = 0;
        for (; found < 2; found++) {
            uint32_t rest = bits << at & ((1 << PAIR_BITS) - 1);
            code next = made->fast[rest >> (PAIR_BITS - FAST_BITS)];
            if (next == 0 || TOTAL(next) > PAIR_BITS - at || SIZE(next) > PAIR_SIZE)
                break;
            at += TOTAL(next);
            steps += AHEAD(next);
            ahead[found] = steps;
            value[found] = signed_value(bits >> (PAIR_BITS - at), SIZE(next));
            if (steps >= BLOCK_ENDS) {
                found++;
                break;
            }
        }
        if (found == 0)
            continue;
        if (found == 1)
            ahead[1] = ahead[0], value[1] = value[0];
        if (ahead[0] >= BLOCK_ENDS) /* nothing is written ahead: any place takes its 0 */
            ahead[0] = 0x1F;
        made->pairs[bits] = (uint32_t)at | (uint32_t)ahead[0] << 6 | (uint32_t)ahead[1] << 11 |
                            (uint32_t)(value[0] & 127) << 18 | (uint32_t)(value[1] & 127) << 25;
    }
}

int make_huffman(huffman *made, const uint8_t *counts, const uint8_t *symbols, int ac) {
    uint32_t next = 0; /* code, in the bits of the length at hand */
    int index = 0;
    memset(made, 0, sizeof *made);
    for (int length = 1; length <= 16; length++, next <<= 1) {
        made->offset[length] = index - (int32_t)next;
        /* a code of ones alone is kept free: T.81, C.2 */
        if (counts[length - 1] > 0 && next + counts[length - 1] >= 1U << length)
            return -1;
        for (int i = 0; i < counts[length - 1]; i++, index++, next++) {
            if (index > 255 || forbidden(symbols[index], ac))
                return -1;
            made->symbols[index] = symbols[index];
            if (length > FAST_BITS)
                continue;
            code found = meaning(symbols[index], length, ac);
            for (uint32_t tail = 0; tail < 1U << (FAST_BITS - length); tail++)
                made->fast[(next << (FAST_BITS - length)) + tail] = found;
        }
        made->beyond[length] = (int32_t)(next << (16 - length));
    }
    if (ac) {
        make_pairs(made);
        make_skip(made);
    }
    made->given = 1;
    return 0;
}

code find_code(const huffman *table, uint32_t sixteen, int ac) {
    for (int length = 1; length <= 16; length++)
        if ((int32_t)sixteen < table->beyond[length]) {
            int32_t index = (int32_t)(sixteen >> (16 - length)) + table->offset[length];
            if (index < 0 || index > 255)
                break;
            return meaning(table->symbols[index], length, ac);
        }
    return 0;
}
