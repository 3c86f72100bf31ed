/* The door to Python (stable ABI of 3.11): checks every size, then runs without the GIL. */
#define Py_LIMITED_API 0x030B0000
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <string.h>

#include "crop_resize.h"

#define MOST_SIDE (1 << 24)

static int wrong(const char *text) {
    PyErr_SetString(PyExc_ValueError, text);
    return -1;
}

static int read_source(const Py_buffer *view, source *from) {
    if (view->ndim != 3 || view->itemsize != 1 || view->shape[2] != CHANNELS)
        return wrong("pixels must be bytes of shape (height, width, 3)");
    if (view->strides[1] != CHANNELS || view->strides[2] != 1)
        return wrong("the pixels of a row must lie side by side");
    if (view->shape[0] < 1 || view->shape[0] > MOST_SIDE || view->shape[1] < 1 ||
        view->shape[1] > MOST_SIDE)
        return wrong("pixels must have 1 to 2^24 rows and columns");
    from->pixels = view->buf;
    from->stride = view->strides[0];
    from->height = (int)view->shape[0];
    from->width = (int)view->shape[1];
    return 0;
}

static int read_table(const Py_buffer *view, sink *to) {
    if (view->itemsize != 1 && view->itemsize != 2 && view->itemsize != 4)
        return wrong("a value of the table must have 1, 2 or 4 bytes");
    if (view->len != view->itemsize * CHANNELS * 256)
        return wrong("the table must have 3 * 256 values");
    to->table = view->buf;
    to->size = (int)view->itemsize;
    return 0;
}

static int read_sink(const Py_buffer *view, sink *to) {
    if (to->height < 1 || to->width < 1 || to->height > MOST_SIDE || to->width > MOST_SIDE)
        return wrong("height and width must be 1 to 2^24");
    if (to->patch < 0 || to->merge < 1 || to->copies < 1 || to->copies > 64)
        return wrong("patch, merge or copies are out of range");
    if (to->patch > 0 && (to->table == NULL || to->merge > MOST_SIDE / to->patch ||
                          to->height % (to->patch * to->merge) != 0 ||
                          to->width % (to->patch * to->merge) != 0))
        return wrong("patches need a table, and sides that are multiples of patch * merge");
    long long bytes = (long long)to->height * to->width * CHANNELS * to->size;
    bytes *= to->patch > 0 ? to->copies : 1;
    if (view->len != bytes)
        return wrong("out has the wrong number of bytes");
    to->out = view->buf;
    return 0;
}

/* Best first. */
static const passes *const known[] = {&avx512_passes, &avx2_passes, &plain_passes};

static const passes *passes_named(const char *name) {
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i]->name, name) == 0 && known[i]->usable())
            return known[i];
    wrong("this processor has no such vector instructions");
    return NULL;
}

/* The three buffers are held; `table` may be NULL. */
static int run(const Py_buffer *pixels, const Py_buffer *out, const Py_buffer *table, sink *to,
               int filter, const char *vectors) {
    source from;
    int failed;
    const passes *by = passes_named(vectors);
    if (by == NULL)
        return -1;
    if (filter != FILTER_BILINEAR && filter != FILTER_BICUBIC)
        return wrong("filter must be 0 (bilinear) or 1 (bicubic)");
    if (read_source(pixels, &from) != 0 || (table != NULL && read_table(table, to) != 0) ||
        read_sink(out, to) != 0)
        return -1;
    Py_BEGIN_ALLOW_THREADS
    failed = crop(&from, to, (enum filter)filter, by);
    Py_END_ALLOW_THREADS
    if (failed)
        PyErr_NoMemory();
    return failed;
}

static PyObject *crop_resize(PyObject *module, PyObject *arguments) {
    PyObject *pixels_given, *out_given, *table_given;
    Py_buffer pixels, out, table;
    sink to = {.size = 1};
    const char *vectors;
    int filter, failed;
    (void)module;
    if (!PyArg_ParseTuple(arguments, "OOOiiiiiis:crop_resize", &pixels_given, &out_given,
                          &table_given, &to.height, &to.width, &to.patch, &to.merge, &to.copies,
                          &filter, &vectors))
        return NULL;
    if (PyObject_GetBuffer(pixels_given, &pixels, PyBUF_STRIDES) != 0)
        return NULL;
    if (PyObject_GetBuffer(out_given, &out, PyBUF_CONTIG) != 0) {
        PyBuffer_Release(&pixels);
        return NULL;
    }
    if (table_given == Py_None) {
        failed = run(&pixels, &out, NULL, &to, filter, vectors);
    } else {
        failed = PyObject_GetBuffer(table_given, &table, PyBUF_CONTIG_RO);
        if (failed == 0) {
            failed = run(&pixels, &out, &table, &to, filter, vectors);
            PyBuffer_Release(&table);
        }
    }
    PyBuffer_Release(&pixels);
    PyBuffer_Release(&out);
    if (failed)
        return NULL;
    Py_RETURN_NONE;
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
    {"crop_resize", crop_resize, METH_VARARGS,
     "crop_resize(pixels, out, table, height, width, patch, merge, copies, filter, vectors)"},
    {"vectors", vectors, METH_NOARGS, "the best vector instructions that this processor has, or ''"},
    {NULL, NULL, 0, NULL}};

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "_native", NULL, 0, methods,
                                        NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__native(void) { return PyModule_Create(&definition); }
