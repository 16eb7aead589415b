/* _native.Index: one open index. */
#include "native.h"

#include <stdlib.h>
#include <string.h>

struct index_object {
    PyObject_HEAD
    struct guard guard;
    bool demangle;
    bool is_remote; /* calls may wait for a server */
};

static PyThreadState *let_others_run(const struct index_object *self) { return self->is_remote ? PyEval_SaveThread() : NULL; }

static void run_again(PyThreadState *state) {
    if (state) PyEval_RestoreThread(state);
}

static struct native_state *state_of_type(PyObject *self) { return PyType_GetModuleState(Py_TYPE(self)); }

/* ---- frames ---- */

PyTypeObject *frame_type_make(void) {
    static PyStructSequence_Field fields[] = {
        { "function", "name as stored, or demangled; str" },
        { "offset", "bytes from the start of the function or inlined block; int" },
        { "file", "path of the source file; str, or None if unknown" },
        { "line", "line of the source file; int, or None if unknown" },
        { "inlined", "whether this is an inlined call; bool" },
        { NULL, NULL },
    };
    static PyStructSequence_Desc description = { "callsign.Frame", "One frame of an answer, innermost first.", fields, 5 };
    return PyStructSequence_NewType(&description);
}

static PyObject *demangled_text(struct csn_str name) {
    char small[1024];
    size_t size = 0;
    csn_status status = csn_rename_demangled(NULL, name, small, sizeof small, &size);
    if (status == CSN_OK) return text_of((struct csn_str){ small, size });
    if (status != CSN_E_LIMIT || size < sizeof small) return text_of(name);
    char *large = malloc(size + 1);
    if (!large) return PyErr_NoMemory();
    status = csn_rename_demangled(NULL, name, large, size + 1, &size);
    PyObject *text = text_of(status == CSN_OK ? (struct csn_str){ large, size } : name);
    free(large);
    return text;
}

static PyObject *path_text(const struct csn_frame *frame) {
    char path[4096];
    if (!frame->base.len) return Py_NewRef(Py_None);
    size_t size = csn_frame_path(frame, path, sizeof path);
    return text_of((struct csn_str){ path, size < sizeof path ? size : sizeof path - 1 });
}

/* The items are given to the frame, also where one of them could not be made. */
static PyObject *frame_make(PyTypeObject *type, const struct csn_frame *frame, bool demangle) {
    PyObject *items[] = {
        demangle ? demangled_text(frame->name) : text_of(frame->name),
        PyLong_FromUnsignedLongLong(frame->offset),
        path_text(frame),
        frame->line ? PyLong_FromUnsignedLong(frame->line) : Py_NewRef(Py_None),
        PyBool_FromLong(frame->flags & CSN_FRAME_INLINED),
    };
    PyObject *result = PyStructSequence_New(type);
    bool good = result;
    for (Py_ssize_t k = 0; k < 5; k++) {
        good = good && items[k];
        if (result && items[k]) PyStructSequence_SetItem(result, k, items[k]);
        else Py_XDECREF(items[k]);
    }
    if (good) return result;
    Py_XDECREF(result);
    return NULL;
}

/* A name that the index has in pieces (BSYM) is put together, in memory that the caller frees. */
static bool resolve_pieces(const struct csn_index *index, const struct csn_frame_ref *ref, struct csn_frame *out, void **memory) {
    size_t need = csn_index_resolve_into(index, ref, NULL, 0, out);
    *memory = need ? malloc(need) : NULL;
    if (need && !*memory) return PyErr_NoMemory(), false;
    if (need) csn_index_resolve_into(index, ref, *memory, need, out);
    return true;
}

static PyObject *frame_of_pieces(PyTypeObject *type, const struct csn_index *index, const struct csn_frame_ref *ref,
                                 bool demangle) {
    struct csn_frame frame;
    void *memory;
    PyObject *result = resolve_pieces(index, ref, &frame, &memory) ? frame_make(type, &frame, demangle) : NULL;
    free(memory);
    return result;
}

static PyObject *frames_list(PyTypeObject *frame_type, const struct csn_index *index, uint64_t addr,
                             const struct csn_frame *frames, size_t count, bool demangle) {
    struct csn_frame_ref refs[CSN_INLINE_DEPTH_MAX + 1];
    bool in_pieces = false;
    for (size_t k = 0; k < count; k++) in_pieces = in_pieces || frames[k].flags & CSN_FRAME_NAME_IN_PIECES;
    if (in_pieces) csn_index_lookup_refs(index, addr, CSN_LOOKUP_DEFAULT, refs, CSN_INLINE_DEPTH_MAX + 1, NULL, NULL);
    PyObject *list = PyList_New((Py_ssize_t)count);
    for (size_t k = 0; list && k < count; k++) {
        PyObject *frame = in_pieces ? frame_of_pieces(frame_type, index, &refs[k], demangle)
                                    : frame_make(frame_type, &frames[k], demangle);
        if (!frame) {
            Py_DECREF(list);
            return NULL;
        }
        PyList_SetItem(list, (Py_ssize_t)k, frame);
    }
    return list;
}

/* ---- the object ---- */

static void close_index_handle(void *handle) { csn_index_close(handle); }

static csn_status open_handle(const char *path, bool is_remote, struct csn_index_options *options, uint64_t timeout_ms,
                              struct csn_index **out, struct csn_error *err) {
    struct csn_remote_options remote = CSN_REMOTE_OPTIONS_INIT;
    remote.index = options;
    remote.timeout_ms = timeout_ms;
    return is_remote ? csn_index_open_remote(path, &remote, out, err) : csn_index_open_any(path, options, out, err);
}

static PyObject *index_new(PyTypeObject *type, PyObject *args, PyObject *keywords) {
    static char *names[] = { "path", "demangle", "accelerator_bytes", "arch", "is_remote", "timeout_ms", NULL };
    struct csn_index_options options = CSN_INDEX_OPTIONS_INIT;
    struct native_state *state = PyType_GetModuleState(type);
    PyObject *path = NULL;
    int demangle = 0, is_remote = 0;
    unsigned long long accelerator = 0, timeout_ms = 0;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O&|$pKzpK", names, PyUnicode_FSConverter, &path, &demangle,
                                     &accelerator, &options.arch, &is_remote, &timeout_ms))
        return NULL;
    struct csn_index *handle = NULL;
    struct csn_error err = CSN_ERROR_INIT;
    const char *text = PyBytes_AsString(path);
    csn_status status;
    options.accelerator_bytes = accelerator;
    Py_BEGIN_ALLOW_THREADS
    status = open_handle(text, is_remote, &options, timeout_ms, &handle, &err);
    Py_END_ALLOW_THREADS
    struct index_object *self = NULL;
    if (status != CSN_OK) raise_error(state->error, status, &err, text);
    else if (!(self = PyObject_New(struct index_object, type))) csn_index_close(handle);
    Py_DECREF(path);
    if (!self) return NULL;
    guard_init(&self->guard, handle, close_index_handle);
    self->demangle = demangle;
    self->is_remote = is_remote;
    return (PyObject *)self;
}

static void index_dealloc(PyObject *object) {
    struct index_object *self = (struct index_object *)object;
    PyTypeObject *type = Py_TYPE(object);
    guard_close(&self->guard);
    PyObject_Free(object);
    Py_DECREF(type);
}

static PyObject *index_close(PyObject *self, PyObject *unused) {
    (void)unused;
    guard_close(&((struct index_object *)self)->guard);
    Py_RETURN_NONE;
}

/* Any int below 2^64; a negative one is taken as two's complement. */
static bool address_of(PyObject *object, uint64_t *out) {
    PyObject *number = PyNumber_Index(object);
    if (!number) return false;
    *out = PyLong_AsUnsignedLongLong(number);
    if (PyErr_Occurred()) {
        PyErr_Clear();
        *out = (uint64_t)PyLong_AsLongLong(number);
    }
    Py_DECREF(number);
    return !PyErr_Occurred();
}

static PyObject *index_lookup(PyObject *object, PyObject *args) {
    struct index_object *self = (struct index_object *)object;
    struct native_state *state = state_of_type(object);
    struct csn_frame frames[CSN_INLINE_DEPTH_MAX + 1];
    struct csn_error err = CSN_ERROR_INIT;
    uint64_t addr;
    size_t count = 0;
    if (!address_of(args, &addr)) return NULL;
    struct csn_index *index = guard_enter(&self->guard, "index");
    if (!index) return NULL;
    PyThreadState *thread = let_others_run(self);
    csn_status status = csn_index_lookup(index, addr, frames, CSN_INLINE_DEPTH_MAX + 1, &count, &err);
    run_again(thread);
    PyObject *result = status < 0
                           ? raise_error(state->error, status, &err, NULL)
                           : frames_list(state->frame_type, index, addr, frames, status == CSN_OK ? count : 0, self->demangle);
    guard_leave(&self->guard);
    return result;
}

static PyObject *index_lookup_batch(PyObject *object, PyObject *args, PyObject *keywords) {
    static char *names[] = { "addresses", "return_addresses", "plain_strings", NULL };
    struct index_object *self = (struct index_object *)object;
    struct csn_arrow_options options = CSN_ARROW_OPTIONS_INIT;
    PyObject *array;
    int returns = 0, plain = 0;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|$pp", names, &array, &returns, &plain)) return NULL;
    options.index = guard_enter(&self->guard, "index");
    if (!options.index) return NULL;
    options.flags = (returns ? CSN_ARROW_RETURN_ADDRESSES : 0) | (plain ? CSN_ARROW_PLAIN_STRINGS : 0);
    options.demangle = self->demangle ? csn_rename_demangled : NULL;
    PyObject *result = symbolicate_array(state_of_type(object), NULL, array, &options);
    guard_leave(&self->guard);
    return result;
}

static PyObject *index_info(PyObject *object, PyObject *unused) {
    struct index_object *self = (struct index_object *)object;
    struct csn_index_info info;
    (void)unused;
    struct csn_index *index = guard_enter(&self->guard, "index");
    if (!index) return NULL;
    csn_index_get_info(index, &info, sizeof info);
    guard_leave(&self->guard);
    return Py_BuildValue("{s:I,s:N,s:N,s:K,s:K,s:I,s:I,s:K,s:K}", "format", info.format, "big_endian",
                         PyBool_FromLong(info.big_endian), "build_id",
                         PyBytes_FromStringAndSize((const char *)info.uuid, info.uuid_size), "base_address",
                         (unsigned long long)info.base_address, "bytes", (unsigned long long)info.file_size, "functions",
                         info.function_count, "files", info.file_count ? info.file_count - 1 : 0, "string_bytes",
                         (unsigned long long)info.string_bytes, "accelerator_bytes", (unsigned long long)info.accelerator_bytes);
}

static PyObject *function_name(const struct index_object *self, const struct csn_index *index, uint32_t idx,
                               const struct csn_function *function) {
    const struct csn_frame_ref ref = { .name = idx };
    struct csn_frame frame = { .name = function->name };
    struct csn_index_info info;
    void *memory = NULL;
    csn_index_get_info(index, &info, sizeof info);
    bool good = info.format != CSN_FORMAT_BSYM || frame.name.len || resolve_pieces(index, &ref, &frame, &memory);
    PyObject *text = !good ? NULL : self->demangle ? demangled_text(frame.name) : text_of(frame.name);
    free(memory);
    return text;
}

static PyObject *index_function(PyObject *object, PyObject *args) {
    struct index_object *self = (struct index_object *)object;
    struct csn_function function;
    struct csn_error err = CSN_ERROR_INIT;
    unsigned long idx = PyLong_AsUnsignedLong(args);
    if (PyErr_Occurred()) return NULL;
    struct csn_index *index = guard_enter(&self->guard, "index");
    if (!index) return NULL;
    PyThreadState *thread = let_others_run(self);
    csn_status status = idx <= UINT32_MAX ? csn_index_function(index, (uint32_t)idx, &function, &err) : CSN_E_ARGUMENT;
    run_again(thread);
    PyObject *result = NULL;
    if (status == CSN_E_ARGUMENT) PyErr_Format(PyExc_IndexError, "function %lu is not in the index", idx);
    else if (status < 0) raise_error(state_of_type(object)->error, status, &err, NULL);
    else result = Py_BuildValue("(NKK)", function_name(self, index, (uint32_t)idx, &function), (unsigned long long)function.start,
                                (unsigned long long)function.size);
    guard_leave(&self->guard);
    return result;
}

/* A dictionary, or None: the index is not remote. */
static PyObject *index_remote_state(PyObject *object, PyObject *unused) {
    struct index_object *self = (struct index_object *)object;
    struct csn_remote_state state = { 0 };
    struct csn_error err = CSN_ERROR_INIT;
    (void)unused;
    struct csn_index *index = guard_enter(&self->guard, "index");
    if (!index) return NULL;
    PyThreadState *thread = let_others_run(self);
    csn_status status = csn_index_remote_state(index, &state, sizeof state, &err);
    run_again(thread);
    guard_leave(&self->guard);
    if (status == CSN_NONE) Py_RETURN_NONE;
    return Py_BuildValue("{s:K,s:K,s:K,s:K,s:N}", "requests", (unsigned long long)state.requests, "received_bytes",
                         (unsigned long long)state.received_bytes, "file_bytes", (unsigned long long)state.file_bytes,
                         "kept_bytes", (unsigned long long)state.kept_bytes, "failure",
                         status < 0 ? PyUnicode_FromString(csn_error_text(&err)) : Py_NewRef(Py_None));
}

static PyObject *index_closed(PyObject *self, void *unused) {
    (void)unused;
    return PyBool_FromLong(guard_is_closed(&((struct index_object *)self)->guard));
}

static PyMethodDef index_methods[] = {
    { "close", index_close, METH_NOARGS, NULL },
    { "lookup", index_lookup, METH_O, NULL },
    { "lookup_batch", (PyCFunction)(void (*)(void))index_lookup_batch, METH_VARARGS | METH_KEYWORDS, NULL },
    { "info", index_info, METH_NOARGS, NULL },
    { "function", index_function, METH_O, NULL },
    { "remote_state", index_remote_state, METH_NOARGS, NULL },
    { NULL, NULL, 0, NULL },
};

static PyGetSetDef index_getters[] = { { "closed", index_closed, NULL, NULL, NULL }, { NULL, NULL, NULL, NULL, NULL } };

static PyType_Slot index_slots[] = {
    { Py_tp_new, index_new }, { Py_tp_dealloc, index_dealloc }, { Py_tp_methods, index_methods }, { Py_tp_getset, index_getters }, { 0, NULL },
};

PyType_Spec index_spec = { "callsign._native.Index", sizeof(struct index_object), 0, Py_TPFLAGS_DEFAULT, index_slots };
