/* Arrays in and out through the Arrow PyCapsule interface: no Arrow library, no copies. */
#include "native.h"

#include <stdlib.h>
#include <string.h>

/* ---- answers: an array of ours, to be taken once or read many times ---- */

struct answers_object {
    PyObject_HEAD
    struct ArrowSchema schema;
    struct ArrowArray array;
};

static void release_schema_capsule(PyObject *capsule) {
    struct ArrowSchema *schema = PyCapsule_GetPointer(capsule, "arrow_schema");
    if (schema->release) schema->release(schema);
    free(schema);
}

static void release_array_capsule(PyObject *capsule) {
    struct ArrowArray *array = PyCapsule_GetPointer(capsule, "arrow_array");
    if (array->release) array->release(array);
    free(array);
}

/* ---- views of an answer: a tree of structs of their own, each of which keeps the answer alive ---- */

struct array_view {
    PyObject *owner;
    struct ArrowArray *children, **child_pointers, *dictionary;
};

struct schema_view {
    PyObject *owner;
    struct ArrowSchema *children, **child_pointers, *dictionary;
};

static void drop_owner(PyObject *owner) {
    PyGILState_STATE gil = PyGILState_Ensure();
    Py_XDECREF(owner);
    PyGILState_Release(gil);
}

static void release_array_view(struct ArrowArray *array) {
    struct array_view *view = array->private_data;
    for (int64_t k = 0; k < array->n_children; k++)
        if (view->children[k].release) view->children[k].release(&view->children[k]);
    if (view->dictionary && view->dictionary->release) view->dictionary->release(view->dictionary);
    drop_owner(view->owner);
    free(view->children);
    free(view->child_pointers);
    free(view->dictionary);
    free(view);
    array->release = NULL;
}

static void release_schema_view(struct ArrowSchema *schema) {
    struct schema_view *view = schema->private_data;
    for (int64_t k = 0; k < schema->n_children; k++)
        if (view->children[k].release) view->children[k].release(&view->children[k]);
    if (view->dictionary && view->dictionary->release) view->dictionary->release(view->dictionary);
    drop_owner(view->owner);
    free(view->children);
    free(view->child_pointers);
    free(view->dictionary);
    free(view);
    schema->release = NULL;
}

/* False: out of memory; *to is released or can be. */
static bool view_array(const struct ArrowArray *from, PyObject *owner, struct ArrowArray *to) {
    size_t count = (size_t)from->n_children;
    struct array_view *view = calloc(1, sizeof *view);
    *to = *from;
    to->release = NULL;
    if (!view) return false;
    view->children = calloc(count + 1, sizeof *view->children);
    view->child_pointers = calloc(count + 1, sizeof *view->child_pointers);
    view->dictionary = from->dictionary ? calloc(1, sizeof *view->dictionary) : NULL;
    view->owner = Py_NewRef(owner);
    to->private_data = view;
    to->release = release_array_view;
    to->children = count ? view->child_pointers : NULL;
    to->dictionary = view->dictionary;
    if (!view->children || !view->child_pointers) to->n_children = 0;
    bool good = view->children && view->child_pointers && (view->dictionary || !from->dictionary);
    for (size_t k = 0; good && k < count; k++) {
        view->child_pointers[k] = &view->children[k];
        good = view_array(from->children[k], owner, &view->children[k]);
    }
    return good && (!from->dictionary || view_array(from->dictionary, owner, view->dictionary));
}

static bool view_schema(const struct ArrowSchema *from, PyObject *owner, struct ArrowSchema *to) {
    size_t count = (size_t)from->n_children;
    struct schema_view *view = calloc(1, sizeof *view);
    *to = *from;
    to->release = NULL;
    if (!view) return false;
    view->children = calloc(count + 1, sizeof *view->children);
    view->child_pointers = calloc(count + 1, sizeof *view->child_pointers);
    view->dictionary = from->dictionary ? calloc(1, sizeof *view->dictionary) : NULL;
    view->owner = Py_NewRef(owner);
    to->private_data = view;
    to->release = release_schema_view;
    to->children = count ? view->child_pointers : NULL;
    to->dictionary = view->dictionary;
    if (!view->children || !view->child_pointers) to->n_children = 0;
    bool good = view->children && view->child_pointers && (view->dictionary || !from->dictionary);
    for (size_t k = 0; good && k < count; k++) {
        view->child_pointers[k] = &view->children[k];
        good = view_schema(from->children[k], owner, &view->children[k]);
    }
    return good && (!from->dictionary || view_schema(from->dictionary, owner, view->dictionary));
}

static PyObject *answers_schema(PyObject *self, PyObject *unused) {
    (void)unused;
    struct ArrowSchema *schema = malloc(sizeof *schema);
    if (!schema) return PyErr_NoMemory();
    bool good = view_schema(&((struct answers_object *)self)->schema, self, schema);
    PyObject *capsule = good ? PyCapsule_New(schema, "arrow_schema", release_schema_capsule) : PyErr_NoMemory();
    if (capsule) return capsule;
    if (schema->release) schema->release(schema);
    free(schema);
    return NULL;
}

static PyObject *answers_array(PyObject *self, PyObject *args, PyObject *keywords) {
    static char *names[] = { "requested_schema", NULL };
    PyObject *requested; /* the interface lets a producer ignore it */
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "|O", names, &requested)) return NULL;
    struct ArrowArray *array = malloc(sizeof *array);
    if (!array) return PyErr_NoMemory();
    bool good = view_array(&((struct answers_object *)self)->array, self, array);
    PyObject *capsule = good ? PyCapsule_New(array, "arrow_array", release_array_capsule) : PyErr_NoMemory();
    if (!capsule) {
        if (array->release) array->release(array);
        free(array);
        return NULL;
    }
    PyObject *schema = answers_schema(self, NULL), *pair = schema ? PyTuple_Pack(2, schema, capsule) : NULL;
    Py_XDECREF(schema);
    Py_DECREF(capsule);
    return pair;
}

static Py_ssize_t answers_length(PyObject *self) { return (Py_ssize_t)((struct answers_object *)self)->array.length; }

static void answers_dealloc(PyObject *object) {
    struct answers_object *self = (struct answers_object *)object;
    PyTypeObject *type = Py_TYPE(object);
    if (self->array.release) self->array.release(&self->array);
    if (self->schema.release) self->schema.release(&self->schema);
    PyObject_Free(object);
    Py_DECREF(type);
}

static PyMethodDef answers_methods[] = {
    { "__arrow_c_schema__", answers_schema, METH_NOARGS, "The answers' Arrow type as a capsule." },
    { "__arrow_c_array__", (PyCFunction)(void (*)(void))answers_array, METH_VARARGS | METH_KEYWORDS,
      "The answers as a pair of Arrow capsules. Nothing is copied, and it may be called any number of times." },
    { NULL, NULL, 0, NULL },
};

static PyType_Slot answers_slots[] = {
    { Py_tp_dealloc, answers_dealloc },
    { Py_tp_methods, answers_methods },
    { Py_sq_length, answers_length },
    { Py_tp_doc, "Answers as an Arrow array: pass it to pyarrow.array(), polars.Series() or any other Arrow consumer." },
    { 0, NULL },
};

PyType_Spec answers_spec = { "callsign._native.Answers", sizeof(struct answers_object), 0,
                             Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, answers_slots };

/* ---- arrays of callers ---- */

/* Moves what the capsules hold out of them. */
static bool take_capsules(PyObject *array, struct ArrowSchema *schema, struct ArrowArray *out) {
    PyObject *pair = PyObject_CallMethod(array, "__arrow_c_array__", NULL);
    if (!pair) return false;
    bool good = PyTuple_Check(pair) && PyTuple_Size(pair) == 2;
    struct ArrowSchema *given_schema = good ? PyCapsule_GetPointer(PyTuple_GetItem(pair, 0), "arrow_schema") : NULL;
    struct ArrowArray *given = given_schema ? PyCapsule_GetPointer(PyTuple_GetItem(pair, 1), "arrow_array") : NULL;
    if (given && given->release && given_schema->release) {
        *schema = *given_schema;
        *out = *given;
        given_schema->release = NULL;
        given->release = NULL;
    } else if (!PyErr_Occurred()) {
        PyErr_SetString(PyExc_TypeError, "__arrow_c_array__() gave no pair of Arrow capsules");
    }
    Py_DECREF(pair);
    return !PyErr_Occurred();
}

/* A buffer of numbers as an array: it is held until the array is released. */
struct held_buffer {
    Py_buffer view;
    const void *buffers[2];
};

static void release_held_buffer(struct ArrowArray *array) {
    struct held_buffer *held = array->private_data;
    PyGILState_STATE gil = PyGILState_Ensure();
    PyBuffer_Release(&held->view);
    PyGILState_Release(gil);
    free(held);
    array->release = NULL;
}

static void release_nothing(struct ArrowSchema *schema) { schema->release = NULL; }

static bool is_native_64(const Py_buffer *view) {
    const char *format = view->format ? view->format : "B";
    if (*format == '@' || *format == '=') format++;
    return view->itemsize == 8 && strchr("QLqlNn", *format) && *format && !format[1];
}

static bool take_buffer(PyObject *array, struct ArrowSchema *schema, struct ArrowArray *out) {
    struct held_buffer *held = calloc(1, sizeof *held);
    if (!held) return PyErr_NoMemory(), false;
    if (PyObject_GetBuffer(array, &held->view, PyBUF_FORMAT | PyBUF_C_CONTIGUOUS)) {
        free(held);
        return false;
    }
    if (!is_native_64(&held->view) || held->view.ndim != 1) {
        PyErr_Format(PyExc_TypeError, "addresses have the buffer format '%s' in %d dimensions, need 64-bit integers in one",
                     held->view.format ? held->view.format : "B", held->view.ndim);
        PyBuffer_Release(&held->view);
        free(held);
        return false;
    }
    held->buffers[1] = held->view.buf;
    *schema = (struct ArrowSchema){ .format = "L", .name = "", .release = release_nothing };
    *out = (struct ArrowArray){
        .length = held->view.len / 8, .n_buffers = 2, .buffers = held->buffers, .release = release_held_buffer, .private_data = held
    };
    return true;
}

PyObject *symbolicate_array(struct native_state *state, struct csn_symbolicator *symbolicator, PyObject *array,
                            const struct csn_arrow_options *options) {
    struct ArrowSchema schema, out_schema;
    struct ArrowArray taken, out;
    struct csn_error err = CSN_ERROR_INIT;
    csn_status status;
    if (!(PyObject_HasAttrString(array, "__arrow_c_array__") ? take_capsules(array, &schema, &taken)
                                                             : take_buffer(array, &schema, &taken)))
        return NULL;
    Py_BEGIN_ALLOW_THREADS
    status = csn_symbolicate_arrow(symbolicator, &schema, &taken, options, &out_schema, &out, &err);
    Py_END_ALLOW_THREADS
    if (status == CSN_E_UNSUPPORTED || status == CSN_E_ARGUMENT)
        return PyErr_SetString(PyExc_TypeError, csn_error_text(&err)), NULL;
    if (status < 0) return raise_error(state->error, status, &err, NULL);
    struct answers_object *answers = PyObject_New(struct answers_object, state->answers_type);
    if (!answers) {
        out.release(&out);
        out_schema.release(&out_schema);
        return NULL;
    }
    answers->schema = out_schema;
    answers->array = out;
    return (PyObject *)answers;
}
