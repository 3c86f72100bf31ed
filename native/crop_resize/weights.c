/* Filter weights of one axis, in the fixed point that Pillow uses for 8-bit channels.
 *
 * A filter that shrinks is widened by the ratio (antialiasing); weights at the border are
 * normalised over the inputs that exist. Double precision, rounded once to 22 bits.
 */
#include <stdlib.h>

#include "crop_resize.h"

static double weight_at(enum filter filter, double distance) {
    double x = distance < 0 ? -distance : distance;
    if (filter == FILTER_BILINEAR)
        return x < 1.0 ? 1.0 - x : 0.0;
    if (x < 1.0) /* the cubic of Keys with a = -0.5 */
        return (1.5 * x - 2.5) * x * x + 1.0;
    return x < 2.0 ? ((-0.5 * x + 2.5) * x - 4.0) * x + 2.0 : 0.0;
}

static int allocate(weights *made, int after, int taps) {
    made->length = after;
    made->taps = taps;
    made->packed = NULL;
    made->starts = malloc((size_t)after * 2 * sizeof *made->starts);
    made->whole = calloc((size_t)after * (size_t)taps, sizeof *made->whole);
    if (made->starts == NULL || made->whole == NULL) {
        free_weights(made);
        return -1;
    }
    made->counts = made->starts + after;
    return 0;
}

void free_weights(weights *made) {
    free(made->starts);
    free(made->whole);
    free(made->packed);
    made->starts = NULL;
    made->whole = NULL;
    made->packed = NULL;
}

int make_weights(weights *made, int before, int after, enum filter filter) {
    double scale = (double)before / after;
    double widened = scale < 1.0 ? 1.0 : scale;
    double support = (filter == FILTER_BICUBIC ? 2.0 : 1.0) * widened;
    int most = 2 * (int)support + 3;
    double *exact = malloc((size_t)most * sizeof *exact);
    if (exact == NULL || allocate(made, after, (most + 3) / 4 * 4) != 0) {
        free(exact);
        return -1;
    }
    made->span = 0;
    for (int i = 0; i < after; i++) {
        double centre = (i + 0.5) * scale, sum = 0.0;
        int first = (int)(centre - support + 0.5), last = (int)(centre + support + 0.5);
        first = first < 0 ? 0 : first;
        last = last > before ? before : last;
        for (int j = first; j < last; j++)
            sum += exact[j - first] = weight_at(filter, (j - centre + 0.5) * (1.0 / widened));
        made->starts[i] = first;
        made->counts[i] = last - first;
        made->span = last - first > made->span ? last - first : made->span;
        for (int j = 0; j < last - first; j++) {
            double fixed = exact[j] / sum * (1 << FRACTION_BITS);
            made->whole[(size_t)i * (size_t)made->taps + (size_t)j] =
                (int32_t)(fixed < 0 ? fixed - 0.5 : fixed + 0.5);
        }
    }
    free(exact);
    return 0;
}
