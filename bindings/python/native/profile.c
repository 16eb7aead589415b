/* _native.Profile. */
#include "native.h"

#include <stdlib.h>
#include <string.h>

struct profile_object {
    PyObject_HEAD
    struct guard guard; /* of the csn_profile */
    PyObject *lock;     /* threading.Lock: one thread at a time */
};

static void destroy_profile(void *handle) { csn_profile_destroy(handle); }

static struct native_state *state_of_profile(PyObject *self) { return PyType_GetModuleState(Py_TYPE(self)); }

static struct csn_profile *profile_enter(PyObject *object) {
    struct profile_object *self = (struct profile_object *)object;
    return locked_enter(&self->guard, self->lock, "profile");
}

static void profile_leave(PyObject *object) {
    struct profile_object *self = (struct profile_object *)object;
    locked_leave(&self->guard, self->lock);
}

static PyObject *profile_new(PyTypeObject *type, PyObject *args, PyObject *keywords) {
    static char *names[] = { "every_sample", "merge_inputs", NULL };
    int every = 0, merge = 0;
    struct csn_profile_options options = CSN_PROFILE_OPTIONS_INIT;
    struct csn_error err = CSN_ERROR_INIT;
    struct csn_profile *profile;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "|pp", names, &every, &merge)) return NULL;
    struct profile_object *self = PyObject_New(struct profile_object, type);
    if (!self) return NULL;
    guard_init(&self->guard, NULL, destroy_profile);
    self->lock = new_lock();
    options.flags = (every ? CSN_PROFILE_EVERY_SAMPLE : 0) | (merge ? CSN_PROFILE_MERGE_INPUTS : 0);
    csn_status status = self->lock ? csn_profile_create(&options, &profile, &err) : CSN_E_MEMORY;
    if (status >= 0) {
        guard_init(&self->guard, profile, destroy_profile);
        return (PyObject *)self;
    }
    if (self->lock) raise_error(((struct native_state *)PyType_GetModuleState(type))->error, status, &err, NULL);
    Py_DECREF(self);
    return NULL;
}

static void profile_dealloc(PyObject *object) {
    struct profile_object *self = (struct profile_object *)object;
    PyTypeObject *type = Py_TYPE(object);
    guard_close(&self->guard);
    Py_XDECREF(self->lock);
    PyObject_Free(object);
    Py_DECREF(type);
}

static PyObject *profile_close(PyObject *self, PyObject *unused) {
    (void)unused;
    guard_close(&((struct profile_object *)self)->guard);
    Py_RETURN_NONE;
}

static PyObject *profile_closed(PyObject *self, void *unused) {
    (void)unused;
    return PyBool_FromLong(guard_is_closed(&((struct profile_object *)self)->guard));
}

/* ---- reading ---- */

struct memory_source {
    const char *bytes;
    size_t size;
};

static csn_status read_memory(void *context, void *bytes, size_t capacity, size_t *out_size, struct csn_error *err) {
    struct memory_source *source = context;
    (void)err;
    *out_size = source->size < capacity ? source->size : capacity;
    if (*out_size) memcpy(bytes, source->bytes, *out_size);
    source->bytes += *out_size;
    source->size -= *out_size;
    return CSN_OK;
}

/* read(path, format) */
static PyObject *profile_read(PyObject *self, PyObject *args) {
    PyObject *path = NULL;
    unsigned format;
    struct csn_error err = CSN_ERROR_INIT;
    csn_status status = CSN_OK;
    if (!PyArg_ParseTuple(args, "O&I", PyUnicode_FSConverter, &path, &format)) return NULL;
    const char *text = PyBytes_AsString(path);
    struct csn_profile *profile = profile_enter(self);
    if (profile) {
        Py_BEGIN_ALLOW_THREADS
        status = csn_profile_read_file(profile, format, text, &err);
        Py_END_ALLOW_THREADS
        profile_leave(self);
        if (status < 0) raise_error(state_of_profile(self)->error, status, &err, text);
    }
    Py_DECREF(path);
    if (!profile || status < 0) return NULL;
    Py_RETURN_NONE;
}

/* read_bytes(name, bytes, format) */
static PyObject *profile_read_bytes(PyObject *self, PyObject *args) {
    struct csn_str name;
    Py_ssize_t name_size;
    Py_buffer bytes;
    unsigned format;
    struct csn_error err = CSN_ERROR_INIT;
    csn_status status = CSN_OK;
    if (!PyArg_ParseTuple(args, "s#y*I", &name.ptr, &name_size, &bytes, &format)) return NULL;
    name.len = (size_t)name_size;
    struct csn_profile *profile = profile_enter(self);
    if (profile) {
        struct memory_source source = { bytes.buf, (size_t)bytes.len };
        Py_BEGIN_ALLOW_THREADS
        status = csn_profile_read(profile, format, name, read_memory, &source, &err);
        Py_END_ALLOW_THREADS
        profile_leave(self);
        if (status < 0) raise_error(state_of_profile(self)->error, status, &err, name.len ? name.ptr : NULL);
    }
    PyBuffer_Release(&bytes);
    if (!profile || status < 0) return NULL;
    Py_RETURN_NONE;
}

/* ---- symbolicating ---- */

static PyObject *missing_modules(const struct csn_profile *profile, uint64_t count) {
    PyObject *list = PyList_New(0);
    for (uint64_t k = 0; list && k < count; k++) {
        const uint8_t *build_id;
        size_t size;
        const struct csn_str path = csn_profile_module_without(profile, (size_t)k, &build_id, &size);
        PyObject *item = Py_BuildValue("(Ny#)", text_of(path), (const char *)build_id, (Py_ssize_t)size);
        if (!item || PyList_Append(list, item)) Py_CLEAR(list);
        Py_XDECREF(item);
    }
    return list;
}

/* symbolicate(store, mangled): a dictionary of counts, and the modules without an index as (path, build id) */
static PyObject *profile_symbolicate(PyObject *self, PyObject *args) {
    struct csn_profile_symbolicate_options options = CSN_PROFILE_SYMBOLICATE_OPTIONS_INIT;
    struct csn_profile_counts counts = { 0 };
    struct csn_error err = CSN_ERROR_INIT;
    PyObject *store_object, *missing = NULL;
    csn_status status = CSN_OK;
    int mangled;
    if (!PyArg_ParseTuple(args, "O!p", state_of_profile(self)->store_type, &store_object, &mangled)) return NULL;
    struct store_object *owner = (struct store_object *)store_object;
    options.flags = mangled ? CSN_PROFILE_MANGLED : 0;
    struct csn_profile *profile = profile_enter(self);
    if (!profile) return NULL;
    struct csn_store *store = locked_enter(&owner->guard, owner->lock, "store");
    if (store) {
        Py_BEGIN_ALLOW_THREADS
        status = csn_profile_symbolicate(profile, store, &options, &counts, &err);
        Py_END_ALLOW_THREADS
        locked_leave(&owner->guard, owner->lock);
        if (status >= 0) missing = missing_modules(profile, counts.modules_without);
        else raise_error(state_of_profile(self)->error, status, &err, NULL);
    }
    profile_leave(self);
    if (!missing) return NULL;
    return Py_BuildValue("({s:K,s:K,s:K,s:K,s:K,s:K,s:K,s:K}N)", "locations", (unsigned long long)counts.locations, "named",
                         (unsigned long long)counts.named, "kept", (unsigned long long)counts.kept, "unknown",
                         (unsigned long long)counts.unknown, "merged", (unsigned long long)counts.merged, "chosen",
                         (unsigned long long)counts.chosen, "undecided", (unsigned long long)counts.undecided, "modules",
                         (unsigned long long)counts.modules, missing);
}

/* ---- writing ---- */

/* write(path, format, plain, title); path None: returns the bytes */
static PyObject *profile_write(PyObject *self, PyObject *args) {
    struct csn_profile_write_options options = CSN_PROFILE_WRITE_OPTIONS_INIT;
    struct csn_bytes bytes = { 0 };
    struct csn_error err = CSN_ERROR_INIT;
    PyObject *path = NULL, *given, *result = NULL;
    csn_status status;
    unsigned format;
    int plain;
    if (!PyArg_ParseTuple(args, "OIpz", &given, &format, &plain, &options.title)) return NULL;
    if (given != Py_None && !PyUnicode_FSConverter(given, &path)) return NULL;
    const char *text = path ? PyBytes_AsString(path) : NULL;
    options.flags = plain ? CSN_PROFILE_PLAIN : 0;
    struct csn_profile *profile = profile_enter(self);
    if (profile) {
        Py_BEGIN_ALLOW_THREADS
        status = text ? csn_profile_write_file(profile, format, text, &options, &err)
                      : csn_profile_write(profile, format, &options, &bytes, &err);
        Py_END_ALLOW_THREADS
        profile_leave(self);
        if (status < 0) raise_error(state_of_profile(self)->error, status, &err, text);
        else result = text ? Py_NewRef(Py_None) : PyBytes_FromStringAndSize((const char *)bytes.ptr, (Py_ssize_t)bytes.size);
        csn_bytes_free(&bytes);
    }
    Py_XDECREF(path);
    return result;
}

/* ---- looking inside ---- */

static PyObject *profile_sizes(PyObject *self, PyObject *unused) {
    struct csn_profile_sizes sizes;
    struct csn_profile *profile = profile_enter(self);
    (void)unused;
    if (!profile) return NULL;
    csn_profile_get_sizes(profile, &sizes);
    profile_leave(self);
    return Py_BuildValue("{s:K,s:K,s:K,s:K,s:K,s:K,s:K,s:K,s:K,s:K,s:K}", "samples", (unsigned long long)sizes.samples,
                         "distinct_samples", (unsigned long long)sizes.distinct_samples, "stacks",
                         (unsigned long long)sizes.stacks, "locations", (unsigned long long)sizes.locations, "modules",
                         (unsigned long long)sizes.modules, "inputs", (unsigned long long)sizes.inputs, "left_out",
                         (unsigned long long)sizes.left_out, "attributes_left_out",
                         (unsigned long long)sizes.attributes_left_out, "sums_cut", (unsigned long long)sizes.sums_cut, "lost_lines",
                         (unsigned long long)sizes.lost_lines, "weight_scale", (unsigned long long)sizes.weight_scale);
}

static PyObject *value_type_list(const struct csn_profile *profile) {
    struct csn_str type, unit;
    PyObject *list = PyList_New(0);
    for (uint32_t k = 0; list && csn_profile_get_value_type(profile, k, &type, &unit) == CSN_OK; k++) {
        PyObject *item = Py_BuildValue("(NN)", text_of(type), text_of(unit));
        if (!item || PyList_Append(list, item)) Py_CLEAR(list);
        Py_XDECREF(item);
    }
    return list;
}

static PyObject *profile_value_types(PyObject *self, PyObject *unused) {
    struct csn_profile *profile = profile_enter(self);
    (void)unused;
    if (!profile) return NULL;
    PyObject *list = value_type_list(profile);
    profile_leave(self);
    return list;
}

/* A bytes object of `count` elements, and where they are to be put. */
static void *new_column(PyObject **out, uint64_t count, size_t size) {
    *out = count <= PY_SSIZE_T_MAX / size ? PyBytes_FromStringAndSize(NULL, (Py_ssize_t)(count * size)) : PyErr_NoMemory();
    return *out ? PyBytes_AsString(*out) : NULL;
}

/* The names and ids of threads differ less than samples do. */
static PyObject *thread_tuple(const struct csn_profile_sample *sample) {
    return Py_BuildValue("(NKNK)", text_of(sample->process), (unsigned long long)sample->pid, text_of(sample->thread),
                         (unsigned long long)sample->tid);
}

/* samples(first, count): lists of (stack, values, time in ns, (process, pid, thread, tid)) */
static PyObject *profile_samples(PyObject *self, PyObject *args) {
    unsigned long long first, count;
    if (!PyArg_ParseTuple(args, "KK", &first, &count)) return NULL;
    struct csn_profile *profile = profile_enter(self);
    if (!profile) return NULL;
    PyObject *list = PyList_New(0);
    struct csn_profile_sample sample;
    for (unsigned long long i = 0; list && i < count && csn_profile_get_sample(profile, first + i, &sample) == CSN_OK; i++) {
        PyObject *values = PyTuple_New((Py_ssize_t)sample.value_count);
        for (uint32_t k = 0; values && k < sample.value_count; k++)
            PyTuple_SetItem(values, (Py_ssize_t)k, PyLong_FromLongLong(sample.values[k]));
        PyObject *item =
            values ? Py_BuildValue("(INLN)", (unsigned)sample.stack, values, (long long)sample.time_ns, thread_tuple(&sample))
                   : NULL;
        if (!item || PyList_Append(list, item)) Py_CLEAR(list);
        Py_XDECREF(item);
    }
    profile_leave(self);
    return list;
}

/* labels(sample): a list of (key, text or number, unit) */
static PyObject *profile_labels(PyObject *self, PyObject *args) {
    unsigned long long sample;
    struct csn_profile_label label;
    if (!PyArg_ParseTuple(args, "K", &sample)) return NULL;
    struct csn_profile *profile = profile_enter(self);
    if (!profile) return NULL;
    PyObject *list = PyList_New(0);
    for (uint32_t k = 0; list && csn_profile_get_label(profile, sample, k, &label) == CSN_OK; k++) {
        PyObject *item = Py_BuildValue("(NNN)", text_of(label.key),
                                       label.text.len ? text_of(label.text) : PyLong_FromLongLong(label.number),
                                       text_of(label.unit));
        if (!item || PyList_Append(list, item)) Py_CLEAR(list);
        Py_XDECREF(item);
    }
    profile_leave(self);
    return list;
}

/* stack(number): the numbers of its locations, innermost first */
static PyObject *profile_stack(PyObject *self, PyObject *args) {
    unsigned stack;
    uint32_t location, caller;
    if (!PyArg_ParseTuple(args, "I", &stack)) return NULL;
    struct csn_profile *profile = profile_enter(self);
    if (!profile) return NULL;
    PyObject *list = PyList_New(0);
    for (uint32_t node = stack; list && csn_profile_get_stack(profile, node, &location, &caller) == CSN_OK; node = caller) {
        PyObject *item = PyLong_FromUnsignedLong(location);
        if (!item || PyList_Append(list, item)) Py_CLEAR(list);
        Py_XDECREF(item);
    }
    profile_leave(self);
    return list;
}

static PyObject *frames_of_location(const struct csn_profile *profile, uint32_t location) {
    struct csn_profile_frame frame;
    PyObject *list = PyList_New(0);
    for (uint32_t k = 0; list && csn_profile_get_frame(profile, location, k, &frame) == CSN_OK; k++) {
        PyObject *item = Py_BuildValue("(NNNN)", text_of(frame.function), text_or_none(frame.file),
                                       frame.line ? PyLong_FromUnsignedLong(frame.line) : Py_NewRef(Py_None),
                                       PyBool_FromLong(frame.inlined));
        if (!item || PyList_Append(list, item)) Py_CLEAR(list);
        Py_XDECREF(item);
    }
    return list;
}

/* location(number): (module or None, kind, value, whether merged functions are undecided, [(function, file, line,
 * inlined), ...]) */
static PyObject *profile_location(PyObject *self, PyObject *args) {
    unsigned location;
    struct csn_profile_place place;
    PyObject *result = NULL;
    if (!PyArg_ParseTuple(args, "I", &location)) return NULL;
    struct csn_profile *profile = profile_enter(self);
    if (!profile) return NULL;
    if (csn_profile_get_place(profile, location, &place) == CSN_OK) {
        PyObject *module = place.module == CSN_PROFILE_NO_MODULE ? Py_NewRef(Py_None) : PyLong_FromUnsignedLong(place.module);
        result = Py_BuildValue("(NIKNN)", module, (unsigned)place.kind, (unsigned long long)place.value,
                               PyBool_FromLong(place.is_undecided), frames_of_location(profile, location));
    } else {
        PyErr_SetString(PyExc_IndexError, "no location has this number");
    }
    profile_leave(self);
    return result;
}

/* module(number): (path, build id, start, end, file offset) */
static PyObject *profile_module(PyObject *self, PyObject *args) {
    unsigned number;
    struct csn_profile_module module;
    PyObject *result = NULL;
    if (!PyArg_ParseTuple(args, "I", &number)) return NULL;
    struct csn_profile *profile = profile_enter(self);
    if (!profile) return NULL;
    if (csn_profile_get_module(profile, number, &module) == CSN_OK)
        result = Py_BuildValue("(Ny#KKK)", text_of(module.path), module.build_id ? (const char *)module.build_id : "",
                               (Py_ssize_t)module.build_id_size, (unsigned long long)module.start, (unsigned long long)module.end,
                               (unsigned long long)module.file_off);
    else PyErr_SetString(PyExc_IndexError, "no module has this number");
    profile_leave(self);
    return result;
}

/* ---- columns for Arrow ---- */

static void fill_sample_columns(const struct csn_profile *profile, uint64_t count, uint32_t types, uint32_t *stacks,
                                int64_t *times, uint64_t *tids, int64_t *values) {
    struct csn_profile_sample sample;
    for (uint64_t i = 0; i < count && csn_profile_get_sample(profile, i, &sample) == CSN_OK; i++) {
        stacks[i] = sample.stack;
        times[i] = sample.time_ns;
        tids[i] = sample.tid;
        for (uint32_t k = 0; k < types; k++) values[k * count + i] = sample.values[k];
    }
}

/* sample_columns(): stack: uint32, time: int64, tid: uint64, values: int64, a type behind the other */
static PyObject *profile_sample_columns(PyObject *self, PyObject *unused) {
    struct csn_profile_sizes sizes;
    PyObject *columns[4] = { NULL };
    struct csn_profile *profile = profile_enter(self);
    (void)unused;
    if (!profile) return NULL;
    csn_profile_get_sizes(profile, &sizes);
    const uint64_t count = sizes.distinct_samples;
    uint32_t *stacks = new_column(&columns[0], count, sizeof *stacks);
    int64_t *times = new_column(&columns[1], count, sizeof *times);
    uint64_t *tids = new_column(&columns[2], count, sizeof *tids);
    int64_t *values = new_column(&columns[3], count, sizeof *values * (sizes.value_types ? (size_t)sizes.value_types : 1));
    const bool good = stacks && times && tids && values;
    if (good) fill_sample_columns(profile, count, (uint32_t)sizes.value_types, stacks, times, tids, values);
    profile_leave(self);
    if (good) return Py_BuildValue("(NNNN)", columns[0], columns[1], columns[2], columns[3]);
    for (int k = 0; k < 4; k++) Py_XDECREF(columns[k]);
    return NULL;
}

static PyMethodDef profile_methods[] = {
    { "read", profile_read, METH_VARARGS, NULL },
    { "read_bytes", profile_read_bytes, METH_VARARGS, NULL },
    { "symbolicate", profile_symbolicate, METH_VARARGS, NULL },
    { "write", profile_write, METH_VARARGS, NULL },
    { "sizes", profile_sizes, METH_NOARGS, NULL },
    { "value_types", profile_value_types, METH_NOARGS, NULL },
    { "samples", profile_samples, METH_VARARGS, NULL },
    { "labels", profile_labels, METH_VARARGS, NULL },
    { "stack", profile_stack, METH_VARARGS, NULL },
    { "location", profile_location, METH_VARARGS, NULL },
    { "module", profile_module, METH_VARARGS, NULL },
    { "sample_columns", profile_sample_columns, METH_NOARGS, NULL },
    { "close", profile_close, METH_NOARGS, NULL },
    { NULL, NULL, 0, NULL },
};
static PyGetSetDef profile_properties[] = {
    { "closed", profile_closed, NULL, NULL, NULL }, { NULL, NULL, NULL, NULL, NULL },
};
static PyType_Slot profile_slots[] = {
    { Py_tp_new, profile_new },         { Py_tp_dealloc, profile_dealloc },       { Py_tp_methods, profile_methods },
    { Py_tp_getset, profile_properties }, { 0, NULL },
};
PyType_Spec profile_spec = { "callsign._native.Profile", sizeof(struct profile_object), 0, Py_TPFLAGS_DEFAULT, profile_slots };
