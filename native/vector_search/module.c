/* The door to Python (stable ABI of 3.11): checks every size, then runs without the GIL. */
#define Py_LIMITED_API 0x030B0000
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <string.h>

#include "vector_search.h"

#define MOST_DIM (1 << 20)

typedef struct {
    Py_buffer store, rows, queries, scores, found;
} buffers;

static int wrong(const char *text) {
    PyErr_SetString(PyExc_ValueError, text);
    return -1;
}

/* Best first. */
static const vector_code *const known[] = {&avx512_vectors, &avx2_vectors, &plain_vectors};

static const vector_code *code_named(const char *name) {
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i]->name, name) == 0 && known[i]->usable())
            return known[i];
    wrong("this processor has no such vector instructions");
    return NULL;
}

static int taken(PyObject *from, Py_buffer *view, int ndim, Py_ssize_t itemsize, int writable,
                 const char *text) {
    if (PyObject_GetBuffer(from, view, writable ? PyBUF_CONTIG : PyBUF_CONTIG_RO) != 0)
        return -1;
    if (view->ndim != ndim || view->itemsize != itemsize)
        return wrong(text);
    return 0;
}

static int rows_in_range(const walk *over, int ascending) {
    for (size_t i = 0; i < over->count; i++) {
        if (over->rows[i] < 0 || over->rows[i] >= (int64_t)over->n)
            return wrong("a row is out of range");
        if (ascending && i > 0 && over->rows[i] <= over->rows[i - 1])
            return wrong("the rows must ascend");
    }
    return 0;
}

/* Everything but `found`; scores has `columns` of each query, or as many as there are rows. */
static int open_walk(buffers *b, PyObject *store, PyObject *rows, PyObject *queries,
                     PyObject *scores, const char *vectors, walk *over) {
    over->by = code_named(vectors);
    if (over->by == NULL ||
        taken(store, &b->store, 2, 2, 0, "the store must be (n, dim) halves") != 0 ||
        taken(queries, &b->queries, 2, 4, 0, "queries must be (b, dim) singles") != 0 ||
        taken(scores, &b->scores, 2, 4, 1, "scores must be (b, m) singles") != 0)
        return -1;
    if (rows != Py_None && taken(rows, &b->rows, 1, 8, 0, "rows must be (m,) int64") != 0)
        return -1;
    over->numbers = b->store.buf;
    over->n = (size_t)b->store.shape[0];
    over->dim = (size_t)b->store.shape[1];
    over->rows = rows == Py_None ? NULL : b->rows.buf;
    over->count = rows == Py_None ? over->n : (size_t)b->rows.shape[0];
    over->queries = b->queries.buf;
    over->num_queries = (size_t)b->queries.shape[0];
    if (over->dim < 1 || over->dim > MOST_DIM || b->queries.shape[1] != b->store.shape[1])
        return wrong("queries and store must have the same dimension, 1 to 2^20");
    if (b->scores.shape[0] != b->queries.shape[0])
        return wrong("scores must have a line for each query");
    return 0;
}

static void close_walk(buffers *b) {
    Py_buffer *all[] = {&b->store, &b->rows, &b->queries, &b->scores, &b->found};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i]->obj != NULL)
            PyBuffer_Release(all[i]);
}

static PyObject *answer(int outcome, int64_t damaged) {
    if (outcome == NO_MEMORY)
        return PyErr_NoMemory();
    if (outcome == NO_NUMBER)
        return PyLong_FromLongLong(damaged);
    Py_RETURN_NONE;
}

static PyObject *best_rows(PyObject *module, PyObject *arguments) {
    PyObject *store, *rows, *queries, *scores, *found, *result = NULL;
    buffers b = {0};
    walk over = {0};
    const char *vectors;
    int64_t damaged = -1;
    int outcome;
    (void)module;
    if (!PyArg_ParseTuple(arguments, "OOOOOs:top_k", &store, &rows, &queries, &scores, &found,
                          &vectors))
        return NULL;
    if (open_walk(&b, store, rows, queries, scores, vectors, &over) == 0 &&
        taken(found, &b.found, 2, 8, 1, "found must be (b, k) int64") == 0 &&
        (over.rows == NULL || rows_in_range(&over, 1) == 0)) {
        const size_t k = (size_t)b.scores.shape[1];
        if (b.found.shape[0] != b.scores.shape[0] || b.found.shape[1] != b.scores.shape[1] ||
            k < 1 || k > over.count) {
            wrong("found must be as large as scores, with 1 to as many columns as there are rows");
        } else {
            Py_BEGIN_ALLOW_THREADS
            outcome = top_k(&over, k, b.scores.buf, b.found.buf, &damaged);
            Py_END_ALLOW_THREADS
            result = answer(outcome, damaged);
        }
    }
    close_walk(&b);
    return result;
}

static PyObject *products(PyObject *module, PyObject *arguments) {
    PyObject *store, *rows, *queries, *scores, *result = NULL;
    buffers b = {0};
    walk over = {0};
    const char *vectors;
    int outcome;
    (void)module;
    if (!PyArg_ParseTuple(arguments, "OOOOs:scores", &store, &rows, &queries, &scores, &vectors))
        return NULL;
    if (open_walk(&b, store, rows, queries, scores, vectors, &over) == 0 &&
        (over.rows == NULL || rows_in_range(&over, 0) == 0)) {
        if (b.scores.shape[1] != (Py_ssize_t)over.count) {
            wrong("scores must have a column for each row");
        } else {
            Py_BEGIN_ALLOW_THREADS
            outcome = all_scores(&over, b.scores.buf);
            Py_END_ALLOW_THREADS
            result = answer(outcome, -1);
        }
    }
    close_walk(&b);
    return result;
}

static PyObject *vectors(PyObject *module, PyObject *unused) {
    size_t best = 0;
    (void)module;
    (void)unused;
    while (!known[best]->usable())
        best++;
    return PyUnicode_FromString(known[best]->name);
}

static PyMethodDef methods[] = {
    {"top_k", best_rows, METH_VARARGS, "top_k(store, rows, queries, scores, found, vectors)"},
    {"scores", products, METH_VARARGS, "scores(store, rows, queries, scores, vectors)"},
    {"vectors", vectors, METH_NOARGS, "the best vector instructions that this processor has, or ''"},
    {NULL, NULL, 0, NULL}};

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "_native", NULL, 0, methods,
                                        NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__native(void) { return PyModule_Create(&definition); }
