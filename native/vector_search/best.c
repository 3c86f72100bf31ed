/* The best candidates of one query, in a buffer that is cut back when it is full. */
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "vector_search.h"

static inline int better(const candidate *a, const candidate *b) {
    return a->score > b->score || (a->score == b->score && a->row < b->row);
}

static int by_rank(const void *a, const void *b) {
    return better(a, b) ? -1 : better(b, a);
}

static inline void swap(candidate *a, candidate *b) {
    candidate kept = *a;
    *a = *b;
    *b = kept;
}

/* Moves the k best to the front, the worst of them to k - 1. No two candidates are alike. */
static void select_best(candidate *all, size_t count, size_t k) {
    size_t low = 0, high = count - 1;
    while (low < high) {
        swap(all + low + (high - low) / 2, all + high);
        size_t border = low;
        for (size_t i = low; i < high; i++)
            if (better(all + i, all + high))
                swap(all + i, all + border++);
        swap(all + border, all + high);
        if (border == k - 1)
            return;
        if (border < k - 1)
            low = border + 1;
        else
            high = border - 1;
    }
}

static const uint16_t *numbers_of(const candidate *one, const walk *over) {
    return over->numbers + (size_t)one->row * over->dim;
}

static void settle(best *of, const walk *over, const double *query) {
    for (size_t i = 0; i < of->count; i++) {
        candidate *one = of->kept + i, *next = i + 1 < of->count ? one + 1 : one;
        if (!one->exact) {
            one->score = (float)over->by->dot(numbers_of(one, over), numbers_of(next, over), query,
                                              over->dim);
            one->exact = 1;
        }
    }
}

/* Nothing behind the k best that could still be among them stays, so that room is made. */
void shrink(best *of, const walk *over, const double *query) {
    select_best(of->kept, of->count, of->k);
    float least = of->kept[of->k - 1].score - of->margin;
    size_t count = of->k;
    for (size_t i = of->k; i < of->count; i++)
        if (of->kept[i].score >= least)
            of->kept[count++] = of->kept[i];
    of->count = count;
    if (count > of->room / 2) { /* many near ties */
        settle(of, over, query);
        select_best(of->kept, of->count, of->k);
        of->count = of->k;
    }
    of->limit = nextafterf(of->kept[of->k - 1].score - of->margin, -FLT_MAX);
}

/* Leaves the k best, sorted and exact. */
void finish(best *of, const walk *over, const double *query) {
    if (of->count > of->k)
        shrink(of, over, query);
    settle(of, over, query);
    if (of->count > of->k)
        select_best(of->kept, of->count, of->k);
    of->count = of->count < of->k ? of->count : of->k;
    qsort(of->kept, of->count, sizeof *of->kept, by_rank);
}
