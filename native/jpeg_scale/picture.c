/* The markers before the scan, and what a scale asks of each component. */
#include <math.h>
#include <string.h>

#include "jpeg_scale.h"

typedef struct {
    const uint8_t *at;
    size_t left;
} segment;

static int sixteen(const uint8_t *at) { return at[0] << 8 | at[1]; }

/* k-th coefficient of the scan → row * 8 + column. */
static const uint8_t zigzag[64] = {
    0,  1,  8,  16, 9,  2,  3,  10, 17, 24, 32, 25, 18, 11, 4,  5,  12, 19, 26, 33, 40, 48,
    41, 34, 27, 20, 13, 6,  7,  14, 21, 28, 35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23,
    30, 37, 44, 51, 58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63};

static const char *read_quantizers(picture *of, segment in) {
    while (in.left > 0) {
        int which = in.at[0];
        if (which > 3 || in.left < 65)
            return "an unusual quantization table";
        for (int k = 0; k < 64; k++)
            of->quantizers[which][k] = in.at[1 + k];
        of->quantizer_given[which] = 1;
        in.at += 65;
        in.left -= 65;
    }
    return NULL;
}

static const char *read_huffman(picture *of, segment in) {
    while (in.left > 0) {
        size_t count = 0;
        int which = in.at[0];
        if (in.left < 17 || (which & 15) > 3 || which >> 4 > 1 || ++of->tables > MOST_TABLES)
            return "an unusual Huffman table";
        for (int i = 1; i <= 16; i++)
            count += in.at[i];
        if (count > 256 || in.left < 17 + count)
            return "a wrong Huffman table";
        huffman *made = which >> 4 ? &of->ac[which & 15] : &of->dc[which & 15];
        if (make_huffman(made, in.at + 1, in.at + 17, which >> 4) != 0)
            return "a wrong Huffman table";
        in.at += 17 + count;
        in.left -= 17 + count;
    }
    return NULL;
}

static const char *read_frame(picture *of, segment in) {
    if (of->count != 0 || in.left < 6 || in.at[0] != 8)
        return "an unusual frame";
    of->height = sixteen(in.at + 1);
    of->width = sixteen(in.at + 3);
    int count = in.at[5];
    if (of->height == 0 || of->height > MOST_SIDE || of->width == 0 || of->width > MOST_SIDE ||
        (count != 1 && count != 3) || in.left != 6 + 3 * (size_t)count)
        return "an unusual frame";
    for (int i = 0; i < count; i++) {
        component *one = &of->components[i];
        const uint8_t *said = in.at + 6 + 3 * i;
        one->id = said[0];
        one->across = count == 1 ? 1 : said[1] >> 4; /* alone, its MCU is one block */
        one->down = count == 1 ? 1 : said[1] & 15;
        one->quantizer = said[2];
        if (said[1] >> 4 < 1 || said[1] >> 4 > 4 || (said[1] & 15) < 1 || (said[1] & 15) > 4 ||
            one->quantizer > 3)
            return "unusual components";
        for (int j = 0; j < i; j++)
            if (of->components[j].id == one->id)
                return "unusual components";
    }
    of->count = count;
    return NULL;
}

static const char *read_scan(picture *of, segment in) {
    if (of->count == 0 || in.left != 4 + 2 * (size_t)of->count || in.at[0] != of->count)
        return "several scans";
    for (int i = 0; i < of->count; i++) {
        component *one = &of->components[i];
        int tables = in.at[2 + 2 * i];
        one->dc = tables >> 4;
        one->ac = tables & 15;
        if (in.at[1 + 2 * i] != one->id || one->dc > 3 || one->ac > 3 || !of->dc[one->dc].given ||
            !of->ac[one->ac].given || !of->quantizer_given[one->quantizer])
            return "a scan without its tables";
    }
    const uint8_t *rest = in.at + 1 + 2 * of->count;
    if (rest[0] != 0 || rest[1] != 63 || rest[2] != 0)
        return "not a baseline scan";
    return NULL;
}

static const char *check_colours(const picture *of) {
    const component *all = of->components;
    if (of->count == 1)
        return NULL;
    if (of->adobe >= 0 && of->adobe != 1)
        return "colours other than YCbCr";
    if (!of->jfif && of->adobe < 0 && (all[0].id != 1 || all[1].id != 2 || all[2].id != 3))
        return "colours other than YCbCr";
    return NULL;
}

static const char *count_units(picture *of) {
    int blocks = 0;
    of->most_across = of->most_down = 1;
    for (int i = 0; i < of->count; i++) {
        const component *one = &of->components[i];
        blocks += one->across * one->down;
        if (one->across > of->most_across)
            of->most_across = one->across;
        if (one->down > of->most_down)
            of->most_down = one->down;
    }
    if (blocks > MOST_BLOCKS)
        return "too many blocks in a unit";
    of->columns = (of->width + 8 * of->most_across - 1) / (8 * of->most_across);
    of->rows = (of->height + 8 * of->most_down - 1) / (8 * of->most_down);
    return NULL;
}

static const char *read_segment(picture *of, int marker, segment in) {
    if (marker == 0xC0 || marker == 0xC1)
        return read_frame(of, in);
    if (marker == 0xC4)
        return read_huffman(of, in);
    if (marker == 0xDB)
        return read_quantizers(of, in);
    if (marker == 0xDD) {
        if (in.left != 2)
            return "an unusual restart interval";
        of->interval = sixteen(in.at);
    } else if (marker == 0xE0) {
        if (in.left >= 14 && memcmp(in.at, "JFIF\0", 5) == 0) {
            if (in.at[5] != 1) /* libjpeg warns of it */
                return "an unknown JFIF version";
            of->jfif = 1;
        }
    } else if (marker == 0xEE) {
        if (in.left >= 12 && memcmp(in.at, "Adobe", 5) == 0)
            of->adobe = in.at[11];
    } else if ((marker < 0xE0 || marker > 0xEF) && marker != 0xFE) {
        return marker >= 0xC2 && marker <= 0xCF ? "not a baseline picture" : "an unusual marker";
    }
    return NULL;
}

const char *read_picture(picture *of, const uint8_t *data, size_t size) {
    const uint8_t *end = data + size;
    memset(of, 0, sizeof *of);
    of->adobe = -1;
    of->end = end;
    if (size < 4 || data[0] != 0xFF || data[1] != 0xD8)
        return "no start";
    for (data += 2;;) {
        const char *why;
        if (end - data < 4 || data[0] != 0xFF)
            return "no scan where markers end";
        int marker = data[1], length = sixteen(data + 2);
        if (length < 2 || end - data - 2 < length)
            return "a segment that is cut short";
        segment in = {data + 4, (size_t)length - 2};
        data += 2 + length;
        if (marker == 0xDA) {
            of->scan = data;
            if ((why = read_scan(of, in)) != NULL || (why = check_colours(of)) != NULL)
                return why;
            return count_units(of);
        }
        if ((why = read_segment(of, marker, in)) != NULL)
            return why;
    }
}

static void plan_basis(float basis[8][8], int samples) {
    const double pi = 3.14159265358979323846;
    for (int x = 0; x < samples; x++)
        for (int u = 0; u < samples; u++)
            basis[x][u] = (float)cos((2 * x + 1) * u * pi / (2 * samples));
}

/* The transform's own factors go into those of the quantizer. */
static void plan_component(const picture *of, component *one) {
    const double root = 1.4142135623730951;
    one->last = 0;
    plan_basis(one->basis[0], one->tall);
    plan_basis(one->basis[1], one->wide);
    for (int k = 0; k < 128; k++)
        one->place[k] = UNUSED * LANES;
    for (int k = 0; k < 64; k++) {
        int row = zigzag[k] / 8, column = zigzag[k] % 8;
        if (row >= one->tall || column >= one->wide)
            continue;
        double scale = of->quantizers[one->quantizer][k] / 8.0;
        scale *= (row ? root : 1) * (column ? root : 1);
        one->place[k] = (uint16_t)((row * one->wide + column) * LANES);
        one->scale[row * one->wide + column] = (float)scale;
        one->last = k;
    }
}

const char *plan_scale(picture *of, int eighths) {
    for (int i = 0; i < of->count; i++) {
        component *one = &of->components[i];
        if (of->most_across % one->across != 0 || of->most_down % one->down != 0)
            return "an unusual sampling";
        one->wide = eighths * (of->most_across / one->across);
        one->tall = eighths * (of->most_down / one->down);
        if (one->wide > 8 || one->tall > 8)
            return "colours that are too coarse for the scale";
        plan_component(of, one);
    }
    return NULL;
}
