/* JPEG → RGB at n/8 of the size, or a part of it as a file of its own, for the files that cameras
 * write: 8 bits, Huffman codes, one scan.
 *
 * Owns the types that the files of this folder share. picture.c reads the markers, tables.c makes
 * look-up tables of the Huffman codes, walk.c goes over the scan with entropy.h, blocks.h and
 * samples.h, cut.c copies a part of it, module.c is the door to Python. Whatever is unusual or wrong is
 * refused with its reason: another decoder then says what there is to say. Source: ITU-T T.81.
 */
#ifndef PHOTOCRAFT_JPEG_SCALE_H
#define PHOTOCRAFT_JPEG_SCALE_H

#include <stddef.h>
#include <stdint.h>

#define MOST_COMPONENTS 3
#define MOST_BLOCKS 10 /* of one MCU, by the standard */
#define MOST_SIDE 65500 /* px, as libjpeg's */
#define MOST_TABLES 16 /* each takes far longer to make than to claim, 17 bytes */
#define LANES 8        /* blocks that are transformed at once */
#define FAST_BITS 11   /* longer codes are searched for */
#define PAIR_BITS 12
#define SKIP_BITS 12
#define SKIP_TOTAL 18 /* so that three look-ups go with 56 bits */
#define MOST_SIZE 10   /* bits of a coefficient of 8-bit pictures; 11 for differences of DC */
#define BLOCK_ENDS 64  /* `ahead` of the code that ends a block: beyond its last coefficient */

/* What one code says, 8 bits each. 0: no such code within FAST_BITS. */
typedef uint32_t code;
#define TOTAL(code) ((int)((code) & 63))         /* bits of the code and of the value behind it */
#define LENGTH(code) ((int)((code) >> 8 & 255))  /* bits of the code */
#define SIZE(code) ((int)((code) >> 16 & 255))   /* bits of the value */
#define AHEAD(code) ((int)((code) >> 24))        /* steps to its coefficient, or BLOCK_ENDS */

/* What all codes say that fit into SKIP_BITS: TOTAL up to the end of the last one's value, the
 * steps of all, and whether the last one ends the block. 0: none fits. */
typedef uint16_t codes;
#define STEPS(codes) ((codes) >> 8 & 127)
#define ENDS(codes) ((codes) >> 15)

/* One or two codes that fit into PAIR_BITS with their values: TOTAL of both, steps to the first
 * coefficient and, from the same start, to the second, and their values. Of a code that stands
 * alone the second is the same as the first. 0: it does not fit. */
typedef uint32_t pair;
#define FIRST_AHEAD(pair) ((int)((pair) >> 6 & 31))
#define SECOND_AHEAD(pair) ((int)((pair) >> 11 & 127)) /* BLOCK_ENDS or more: it ends the block */
#define FIRST_VALUE(pair) ((int16_t)((int32_t)((pair) << 7) >> 25))
#define SECOND_VALUE(pair) ((int16_t)((int32_t)(pair) >> 25))
#define PAIR_SIZE 6 /* the most bits of a value, so that it goes into 7 with its sign */
#define PAIRS_UNTIL 31 /* from a smaller k on, no pair goes beyond the last coefficient */

typedef struct {
    int given;
    code fast[1 << FAST_BITS];
    pair pairs[1 << PAIR_BITS]; /* this and the next: of AC tables only */
    codes skip[1 << SKIP_BITS];
    int32_t beyond[18];         /* first 16-bit pattern behind the codes of a length */
    int32_t offset[18];         /* of `symbols`, for the first code of a length */
    uint8_t symbols[256];
} huffman;

/* 0, or -1 for a table that no encoder may write. `counts` has 16 values. */
int make_huffman(huffman *made, const uint8_t *counts, const uint8_t *symbols, int ac);
/* The code at the top of 16 bits, of any length; length 0: there is none. */
code find_code(const huffman *table, uint32_t sixteen, int ac);

typedef struct {
    int id, across, down; /* blocks of one MCU */
    int quantizer, dc, ac;
    int wide, tall;       /* samples made of one block, 1 to 8 */
    float scale[64];      /* what a coefficient counts, in the order of `place` */
    uint16_t place[128];  /* LANES times, of the k-th coefficient: row * wide + column, or UNUSED */
    int last;             /* k of the last one that is used */
    float basis[2][8][8]; /* of sample x the share of coefficient u: down, across */
} component;

#define UNUSED 64
#define FEW 4
#define LAST_OF_FEW 9 /* the scan's first diagonals: 4 rows and columns */

typedef struct {
    int width, height; /* px of the whole picture */
    int count;
    component components[MOST_COMPONENTS];
    uint16_t quantizers[4][64];
    int quantizer_given[4];
    huffman dc[4], ac[4];
    int tables; /* made so far */
    int most_across, most_down;
    int columns, rows; /* MCUs */
    int interval;      /* MCUs from restart to restart, 0: none */
    int jfif, adobe;   /* adobe: its transform, -1 without */
    const uint8_t *scan, *end;
} picture;

/* Reads all up to the scan; NULL, or why the file is not for this decoder. */
const char *read_picture(picture *of, const uint8_t *data, size_t size);
/* What each component gives at eighths / 8; NULL, or why it cannot. */
const char *plan_scale(picture *of, int eighths);

/* Everything that the walk needs beside the picture, of one MCU row. */
typedef struct {
    uint8_t *planes[MOST_COMPONENTS];
    ptrdiff_t strides[MOST_COMPONENTS];
    int height, width; /* px of the result */
    uint8_t *out;      /* height * width * 3 bytes */
} target;

/* The whole scan → pixels; NULL, or why the file is not for this decoder. */
const char *walk(const picture *of, target *to);
/* In MCUs; right and bottom are outside. */
typedef struct {
    int left, top, right, bottom;
} part;

/* The part's own scan with its end mark: without restarts, its AC codes those of the file, its DC
 * table thirteen codes of four bits for the sizes 0 to 12. `size`: bytes that were written. NULL,
 * or why not. */
const char *cut(const picture *of, const part *wanted, uint8_t *out, size_t room, size_t *size);
/* Whether this processor has the instructions. */
int can_walk(void);

#endif
