/* The walk over the rows, block by block. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "vector_search.h"

#define FEW_QUERIES 3   /* up to here a row is multiplied where it lies */
#define ROWS_AHEAD 12   /* rows that are fetched before they are widened */
#define APART (BLOCK_ROWS / FOUR)
#define STEPS_AHEAD 2
#define SPARE 64        /* candidates beyond twice k */
#define LONGEST_ROW 2.0 /* the rows are unit vectors, so this is plenty */

typedef struct {
    best *kept;          /* one a query */
    candidate *room;     /* theirs */
    double *queries;     /* (num_queries, dim) */
    float *padded, *rows, *scores; /* of a batch: queries, a block, its products */
    int64_t damaged;
} state;

static inline size_t least(size_t a, size_t b) { return a < b ? a : b; }

static inline size_t up_to(size_t number, size_t unit) { return (number + unit - 1) / unit * unit; }

static inline const uint16_t *numbers_at(const walk *over, size_t i) {
    return over->numbers + (size_t)row_at(over, i) * over->dim;
}

static inline void fetch(const walk *over, size_t i) {
    if (i >= over->count)
        return;
    const uint16_t *row = numbers_at(over, i);
    for (size_t d = 0; d < over->dim; d += CACHE_LINE)
        __builtin_prefetch(row + d, 0, 2);
}

static inline void take(state *s, const walk *over, size_t query, int64_t row, float score) {
    best *of = s->kept + query;
    if (!isfinite(score)) {
        s->damaged = row;
        return;
    }
    if (of->count == of->room)
        shrink(of, over, s->queries + query * over->dim);
    if (score > of->limit) {
        candidate one = {score, 0, row};
        of->kept[of->count++] = one;
    }
}

/* Scores of a block, above the limits or not, of one query. */
static inline void look(state *s, const walk *over, size_t query, size_t at, size_t count,
                        const float *scores) {
    const uint64_t real = count == BLOCK_ROWS ? ~UINT64_C(0) : (UINT64_C(1) << count) - 1;
    uint64_t found = over->by->above(scores, s->kept[query].limit) & real;
    for (; found != 0; found &= found - 1) {
        const size_t i = (size_t)__builtin_ctzll(found);
        take(s, over, query, row_at(over, at + i), scores[i]);
    }
}

/* A few queries: rows are multiplied where they lie. Four streams that are APART rows from each
 * other, since the processor follows one stream a page: side by side they take 1.6 times as long. */
static void in_place(state *s, const walk *over, size_t at, size_t count) {
    const uint16_t *rows[FOUR], *next[FOUR];
    float scores[FOUR];
    for (size_t i = 0; i < APART && i < count; i++) {
        for (size_t r = 0; r < FOUR; r++) {
            const size_t mine = i + r * APART;
            rows[r] = numbers_at(over, at + least(mine, count - 1));
            next[r] = numbers_at(over, least(at + mine + STEPS_AHEAD, over->count - 1));
        }
        for (size_t q = 0; q < over->num_queries; q++) {
            over->by->four(rows, next, over->queries + q * over->dim, over->dim, scores);
            for (size_t r = 0; r < FOUR; r++)
                s->scores[q * BLOCK_ROWS + i + r * APART] = scores[r];
        }
    }
}

/* Many queries: one widening serves them all. */
static void widened(state *s, const walk *over, size_t at, size_t count) {
    const size_t padded = up_to(over->dim, LANE_UNIT);
    for (size_t i = 0; i < count; i++) {
        fetch(over, at + i + ROWS_AHEAD);
        over->by->widen(numbers_at(over, at + i), over->dim, s->rows + i * padded);
    }
    over->by->products(s->rows, s->padded,
                       up_to(over->num_queries, (size_t)over->by->queries_at_once), padded,
                       s->scores);
}

static void in_blocks(state *s, const walk *over, int batch) {
    for (size_t at = 0; at < over->count; at += BLOCK_ROWS) {
        const size_t count = least(over->count - at, BLOCK_ROWS);
        (batch ? widened : in_place)(s, over, at, count);
        for (size_t q = 0; q < over->num_queries; q++)
            look(s, over, q, at, count, s->scores + q * BLOCK_ROWS);
    }
}

/* What a score in single precision may be off by, twice. Eight sums run side by side at least. */
static float margin_of(const float *query, size_t dim) {
    double square = 0;
    for (size_t d = 0; d < dim; d++)
        square += (double)query[d] * query[d];
    const double steps = (double)(dim / 8 + 16);
    /* No sum is finer than the least float, however short the query. */
    return (float)(2 * steps * ldexp(1, -24) * sqrt(square) * LONGEST_ROW +
                   2 * (double)dim * ldexp(1, -149));
}

static void *numbers(size_t count, size_t size) {
    void *made = NULL;
    const size_t bytes = count * size == 0 ? 64 : count * size;
    if (size != 0 && count > SIZE_MAX / size)
        return NULL;
    return posix_memalign(&made, 64, bytes) == 0 ? memset(made, 0, bytes) : NULL;
}

static int prepare(state *s, const walk *over, size_t k, int batch) {
    const size_t dim = over->dim, padded = up_to(dim, LANE_UNIT), many = over->num_queries;
    const size_t room = least(2 * k + SPARE, over->count);
    const size_t all = up_to(many, (size_t)over->by->queries_at_once);
    s->kept = numbers(many, sizeof *s->kept);
    s->room = malloc(many * room * sizeof *s->room); /* pages that are never reached cost nothing */
    s->queries = numbers(many * dim, sizeof *s->queries);
    s->scores = numbers(all * BLOCK_ROWS, sizeof *s->scores);
    if (batch) {
        s->padded = numbers(all * padded, sizeof *s->padded);
        s->rows = numbers(BLOCK_ROWS * padded, sizeof *s->rows);
    }
    if (!s->kept || !s->room || !s->queries || !s->scores || (batch && (!s->padded || !s->rows)))
        return NO_MEMORY;
    for (size_t q = 0; q < many; q++) {
        const float *query = over->queries + q * dim;
        for (size_t d = 0; d < dim; d++)
            s->queries[q * dim + d] = query[d];
        if (batch)
            memcpy(s->padded + q * padded, query, dim * sizeof *query);
        best of = {s->room + q * room, 0, room, k, -INFINITY, margin_of(query, dim)};
        s->kept[q] = of;
    }
    return FINE;
}

static void release(state *s) {
    free(s->kept);
    free(s->room);
    free(s->queries);
    free(s->padded);
    free(s->rows);
    free(s->scores);
}

int top_k(const walk *over, size_t k, float *scores, int64_t *rows, int64_t *damaged) {
    state s = {.damaged = -1};
    const int batch = over->num_queries > FEW_QUERIES;
    int outcome = prepare(&s, over, k, batch);
    if (outcome == FINE)
        in_blocks(&s, over, batch);
    for (size_t q = 0; outcome == FINE && q < over->num_queries; q++) {
        best *of = s.kept + q;
        finish(of, over, s.queries + q * over->dim);
        if (s.damaged >= 0 || of->count < k)
            outcome = NO_NUMBER;
        for (size_t i = 0; outcome == FINE && i < k; i++) {
            scores[q * k + i] = of->kept[i].score;
            rows[q * k + i] = of->kept[i].row;
        }
    }
    *damaged = s.damaged;
    release(&s);
    return outcome;
}

int all_scores(const walk *over, float *scores) {
    double *queries = numbers(over->num_queries * over->dim, sizeof *queries);
    if (queries == NULL)
        return NO_MEMORY;
    for (size_t i = 0; i < over->num_queries * over->dim; i++)
        queries[i] = over->queries[i];
    for (size_t at = 0; at < over->count; at += BLOCK_ROWS)
        for (size_t i = 0; i < BLOCK_ROWS; i++) { /* in four streams, as above */
            const size_t mine = at + i % FOUR * APART + i / FOUR;
            if (mine >= over->count)
                continue;
            const uint16_t *row = numbers_at(over, mine);
            const uint16_t *next = numbers_at(over, least(mine + STEPS_AHEAD, over->count - 1));
            for (size_t q = 0; q < over->num_queries; q++)
                scores[q * over->count + mine] =
                    (float)over->by->dot(row, next, queries + q * over->dim, over->dim);
        }
    free(queries);
    return FINE;
}
