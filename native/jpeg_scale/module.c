/* The door to Python (stable ABI of 3.11): checks every size, then runs without the GIL. */
#define Py_LIMITED_API 0x030B0000
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdlib.h>

#include "jpeg_scale.h"

#define PADDING 64 /* bytes of a row of samples that may be written or read beyond */

static int scaled_up(int length, int eighths) { return (length * eighths + 7) / 8; }

/* Room for one MCU row of each component; the widest is 65,536 samples with padding. */
static uint8_t *make_planes(const picture *of, target *to) {
    size_t sizes[MOST_COMPONENTS], size = 0;
    for (int i = 0; i < of->count; i++) {
        const component *one = &of->components[i];
        size_t blocks = ((size_t)of->columns * (size_t)one->across + LANES - 1) / LANES * LANES;
        to->strides[i] = (ptrdiff_t)(blocks * (size_t)one->wide + PADDING);
        sizes[i] = (size_t)to->strides[i] * (size_t)(one->down * one->tall);
        size += sizes[i];
    }
    uint8_t *room = calloc(size, 1), *at = room;
    for (int i = 0; room != NULL && i < of->count; at += sizes[i], i++)
        to->planes[i] = at;
    return room;
}

static const char *decode_with(picture *of, const Py_buffer *data, target *to, int eighths) {
    const char *why = read_picture(of, data->buf, (size_t)data->len);
    if (why != NULL)
        return why;
    if (to->width != scaled_up(of->width, eighths) || to->height != scaled_up(of->height, eighths))
        return "another size than its header was read to say";
    if ((why = plan_scale(of, eighths)) != NULL)
        return why;
    uint8_t *room = make_planes(of, to);
    if (room == NULL)
        return "out of memory";
    why = walk(of, to);
    free(room);
    return why;
}

/* Both buffers are held. NULL when the picture stands in `out`, else why not. */
static const char *run(const Py_buffer *data, target *to, int eighths) {
    picture *of;
    const char *why = "out of memory";
    Py_BEGIN_ALLOW_THREADS
    of = malloc(sizeof *of);
    if (of != NULL)
        why = decode_with(of, data, to, eighths);
    free(of);
    Py_END_ALLOW_THREADS
    return why;
}

static PyObject *decode(PyObject *module, PyObject *arguments) {
    PyObject *data_given, *out_given;
    Py_buffer data, out;
    target to = {0};
    int eighths;
    const char *why = NULL;
    (void)module;
    if (!PyArg_ParseTuple(arguments, "OOiii:decode", &data_given, &out_given, &to.height,
                          &to.width, &eighths))
        return NULL;
    if (PyObject_GetBuffer(data_given, &data, PyBUF_SIMPLE) != 0)
        return NULL;
    if (PyObject_GetBuffer(out_given, &out, PyBUF_WRITABLE) != 0) {
        PyBuffer_Release(&data);
        return NULL;
    }
    int fits = can_walk() && eighths >= 1 && eighths <= 8 && to.height >= 1 && to.height <= 65535 &&
               to.width >= 1 && to.width <= 65535 &&
               out.len == (Py_ssize_t)to.height * to.width * 3;
    if (fits) {
        to.out = out.buf;
        why = run(&data, &to, eighths);
    } else if (!can_walk()) {
        PyErr_SetString(PyExc_ValueError, "this processor has no such vector instructions");
    } else {
        PyErr_SetString(PyExc_ValueError, "out must have height * width * 3 bytes, eighths 1 to 8");
    }
    PyBuffer_Release(&out);
    PyBuffer_Release(&data);
    return fits ? PyUnicode_FromString(why == NULL ? "" : why) : NULL;
}

/* The box in px → the MCUs that hold it and one more on each side, on which smoothed colours lean;
 * in `box` then px of these. */
static part around(const picture *of, int *box) {
    int wide = 8 * of->most_across, tall = 8 * of->most_down;
    part found = {box[0] / wide - 1, box[1] / tall - 1, (box[2] - 1) / wide + 2,
                  (box[3] - 1) / tall + 2};
    found.left = found.left > 0 ? found.left : 0;
    found.top = found.top > 0 ? found.top : 0;
    found.right = found.right < of->columns ? found.right : of->columns;
    found.bottom = found.bottom < of->rows ? found.bottom : of->rows;
    box[0] = found.left * wide;
    box[1] = found.top * tall;
    box[2] = found.right == of->columns ? of->width : found.right * wide;
    box[3] = found.bottom == of->rows ? of->height : found.bottom * tall;
    return found;
}

/* `box`: left, top, right, bottom; becomes the box that was cut. */
static const char *cut_out(const Py_buffer *data, const Py_buffer *out, int *box, size_t *size) {
    picture *of;
    const char *why = "out of memory";
    Py_BEGIN_ALLOW_THREADS
    of = malloc(sizeof *of);
    if (of != NULL && (why = read_picture(of, data->buf, (size_t)data->len)) == NULL) {
        if (box[2] > of->width || box[3] > of->height) {
            why = "another size than its header was read to say";
        } else {
            part wanted = around(of, box);
            why = cut(of, &wanted, out->buf, (size_t)out->len, size);
        }
    }
    free(of);
    Py_END_ALLOW_THREADS
    return why;
}

static PyObject *cut_part(PyObject *module, PyObject *arguments) {
    PyObject *data_given, *out_given;
    Py_buffer data, out;
    int box[4];
    size_t size = 0;
    const char *why;
    (void)module;
    if (!PyArg_ParseTuple(arguments, "OOiiii:cut", &data_given, &out_given, &box[0], &box[1],
                          &box[2], &box[3]))
        return NULL;
    if (!can_walk() || box[0] < 0 || box[1] < 0 || box[2] <= box[0] || box[3] <= box[1]) {
        PyErr_SetString(PyExc_ValueError, "no such box, or no such vector instructions here");
        return NULL;
    }
    if (PyObject_GetBuffer(data_given, &data, PyBUF_SIMPLE) != 0)
        return NULL;
    if (PyObject_GetBuffer(out_given, &out, PyBUF_WRITABLE) != 0) {
        PyBuffer_Release(&data);
        return NULL;
    }
    why = cut_out(&data, &out, box, &size);
    PyBuffer_Release(&out);
    PyBuffer_Release(&data);
    if (why != NULL)
        return PyUnicode_FromString(why);
    return Py_BuildValue("niiii", (Py_ssize_t)size, box[0], box[1], box[2], box[3]);
}

static PyObject *vectors(PyObject *module, PyObject *unused) {
    (void)module;
    (void)unused;
    return PyUnicode_FromString(can_walk() ? "avx2" : "");
}

static PyMethodDef methods[] = {
    {"decode", decode, METH_VARARGS,
     "decode(data, out, height, width, eighths): '', or why the file is not for it"},
    {"cut", cut_part, METH_VARARGS,
     "cut(data, out, left, top, right, bottom): bytes of the scan in `out` and the box in whole "
     "units, or why the file is not for it"},
    {"vectors", vectors, METH_NOARGS, "the vector instructions in use; '' where it cannot run"},
    {NULL, NULL, 0, NULL}};

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "_native", NULL, 0, methods,
                                        NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__native(void) { return PyModule_Create(&definition); }
