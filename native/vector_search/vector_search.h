/* Exact inner products and top k over rows of half-precision numbers, where they lie.
 *
 * Owns the types that the files of this folder share. vectors_*.c multiply, best.c keeps the best,
 * search.c is the walk over the rows, module.c the door to Python. Nothing but module.c knows
 * Python.
 *
 * A score is the inner product summed in double precision and rounded once: products of a half and
 * a single are exact there, so every order of summation gives the same float but for a chance of
 * some 10^-8. Among equal scores the lower row is better. The search for the best multiplies in
 * single precision, and sums again whatever could be among them by the bound on its error.
 */
#ifndef PHOTOCRAFT_VECTOR_SEARCH_H
#define PHOTOCRAFT_VECTOR_SEARCH_H

#include <stddef.h>
#include <stdint.h>

#define LANE_UNIT 16  /* numbers: widened rows and queries are padded to a multiple */
#define FOUR 4
#define CACHE_LINE 32 /* numbers */
#define BLOCK_ROWS 64 /* rows that are multiplied with a batch at once: 128 KiB at 512 numbers */

/* A way to multiply. */
typedef struct {
    const char *name;
    int (*usable)(void);
    int queries_at_once; /* `products` takes multiples */
    /* A row where it lies, in double precision. `next` is fetched the while, a line at a time: asked
     * for at once the lines wait for one another. */
    double (*dot)(const uint16_t *row, const uint16_t *next, const double *query, size_t dim);
    /* The same for FOUR rows, in single precision. */
    void (*four)(const uint16_t *const rows[FOUR], const uint16_t *const next[FOUR],
                 const float *query, size_t dim, float scores[FOUR]);
    /* `dim` halves → singles; what pads them is left alone. */
    void (*widen)(const uint16_t *row, size_t dim, float *out);
    /* BLOCK_ROWS rows of `dim` singles (padded) by queries → scores[query * BLOCK_ROWS + row]. */
    void (*products)(const float *rows, const float *queries, size_t num_queries, size_t dim,
                     float *scores);
    /* Bit i: scores[i] is above the limit, or no number. */
    uint64_t (*above)(const float scores[BLOCK_ROWS], float limit);
} vector_code;

extern const vector_code plain_vectors, avx2_vectors, avx512_vectors;

float half_to_single(uint16_t half);

typedef struct {
    float score;
    int32_t exact; /* summed in double precision and rounded */
    int64_t row;
} candidate;

/* The best so far of one query. */
typedef struct {
    candidate *kept;
    size_t count, room, k;
    float limit;  /* what is not above it cannot be among the best */
    float margin; /* twice the error of a score that is not exact */
} best;

typedef struct {
    const uint16_t *numbers; /* (n, dim) */
    size_t n, dim;
    const int64_t *rows; /* those to look at, ascending; NULL: all */
    size_t count;
    const float *queries; /* (num_queries, dim) */
    size_t num_queries;
    const vector_code *by;
} walk;

static inline int64_t row_at(const walk *over, size_t i) {
    return over->rows == NULL ? (int64_t)i : over->rows[i];
}

void shrink(best *of, const walk *over, const double *query);
void finish(best *of, const walk *over, const double *query);

enum { FINE = 0, NO_MEMORY = -1, NO_NUMBER = -2 };

/* scores, rows: (num_queries, k), best first, k <= over->count. NO_NUMBER: `*damaged` is a row whose
 * score is no finite number. */
int top_k(const walk *over, size_t k, float *scores, int64_t *rows, int64_t *damaged);
/* scores: (num_queries, count); the rows may be in any order. */
int all_scores(const walk *over, float *scores);

#endif
