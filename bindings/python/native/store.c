/* _native.Store and _native.Symbolicator. */
#include "native.h"

#include <stdlib.h>
#include <string.h>

/* ---- lists of paths ---- */

/* A tuple of bytes, and pointers into them. */
struct paths {
    PyObject *bytes;
    const char **items;
    size_t count;
};

static void paths_deinit(struct paths *p) {
    Py_XDECREF(p->bytes);
    free(p->items);
}

static bool paths_init(struct paths *p, PyObject *sequence) {
    *p = (struct paths){ NULL, NULL, 0 };
    if (!sequence || sequence == Py_None) return true;
    PyObject *list = PySequence_List(sequence);
    if (!list) return false;
    Py_ssize_t count = PyList_Size(list);
    p->bytes = list;
    p->items = calloc((size_t)count + 1, sizeof *p->items);
    if (!p->items) return PyErr_NoMemory(), false;
    for (Py_ssize_t k = 0; k < count; k++) {
        PyObject *path = NULL;
        if (!PyUnicode_FSConverter(PyList_GetItem(list, k), &path)) return false;
        PyList_SetItem(list, k, path);
        p->items[p->count++] = PyBytes_AsString(path);
    }
    return true;
}

/* ---- store ---- */

static void destroy_store(void *handle) { csn_store_destroy(handle); }

static struct native_state *state_of_store(PyObject *self) { return PyType_GetModuleState(Py_TYPE(self)); }

/* The opener, its cache, then the store: whatever was made before a failure is left to dealloc. */
static csn_status open_store(struct store_object *self, struct csn_store_options *options,
                             const struct csn_companion_search_options *search, const char *cache_dir,
                             struct csn_error *err) {
    struct csn_opener_options opener = CSN_OPENER_OPTIONS_INIT;
    struct csn_store *store;
    csn_status status = cache_dir ? csn_cache_open(cache_dir, NULL, &self->cache, err) : CSN_OK;
    opener.cache = self->cache;
    opener.companions = search;
    if (status >= 0) status = csn_opener_create(&opener, &self->opener, err);
    options->convert = fetch_index;
    options->convert_context = self;
    options->flags = CSN_STORE_BESIDE;
    if (status >= 0) status = csn_store_create(options, &store, err);
    if (status >= 0) guard_init(&self->guard, store, destroy_store);
    return status;
}

static struct store_object *store_alloc(PyTypeObject *type) {
    struct store_object *self = PyObject_New(struct store_object, type);
    if (!self) return NULL;
    guard_init(&self->guard, NULL, destroy_store);
    self->cache = NULL;
    self->opener = NULL;
    self->fetch = NULL;
    self->lock = new_lock();
    if (self->lock) return self;
    Py_DECREF(self);
    return NULL;
}

static csn_status add_indexes(struct store_object *self, const struct paths *indexes, const char **failed, struct csn_error *err) {
    struct csn_store *store = atomic_load(&self->guard.handle);
    for (size_t k = 0; k < indexes->count; k++) {
        csn_status status = csn_store_add_index(store, indexes->items[k], NULL, err);
        *failed = indexes->items[k];
        if (status < 0) return status;
    }
    return CSN_OK;
}

static PyObject *store_new(PyTypeObject *type, PyObject *args, PyObject *keywords) {
    static char *names[] = { "folders", "indexes", "cache", "debug_dirs", "debuginfod", "fetch", NULL };
    PyObject *folder_list = NULL, *index_list = NULL, *debug_list = NULL, *cache = NULL, *fetch = NULL;
    int debuginfod = 0;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "|OOOOpO", names, &folder_list, &index_list, &cache, &debug_list,
                                     &debuginfod, &fetch))
        return NULL;
    struct paths folders = { 0 }, indexes = { 0 }, debug_dirs = { 0 };
    struct csn_store_options options = CSN_STORE_OPTIONS_INIT;
    struct csn_companion_search_options search = CSN_COMPANION_SEARCH_OPTIONS_INIT;
    struct csn_error err = CSN_ERROR_INIT;
    struct store_object *self = NULL;
    PyObject *cache_path = NULL;
    const char *failed = NULL;
    csn_status status = CSN_OK;
    if (!paths_init(&folders, folder_list) || !paths_init(&indexes, index_list) || !paths_init(&debug_dirs, debug_list) ||
        (cache && cache != Py_None && !PyUnicode_FSConverter(cache, &cache_path)) || !(self = store_alloc(type)))
        goto done;
    if (fetch && fetch != Py_None) self->fetch = Py_NewRef(fetch);
    options.folders = folders.items;
    options.folder_count = folders.count;
    search.debug_dirs = debug_dirs.items;
    search.debug_dir_count = debug_dirs.count;
    search.flags = debuginfod ? CSN_SEARCH_DEBUGINFOD : 0;
    Py_BEGIN_ALLOW_THREADS
    status = open_store(self, &options, &search, cache_path ? PyBytes_AsString(cache_path) : NULL, &err);
    if (status >= 0) status = add_indexes(self, &indexes, &failed, &err);
    Py_END_ALLOW_THREADS
    if (status < 0) {
        raise_error(((struct native_state *)PyType_GetModuleState(type))->error, status, &err, failed);
        Py_CLEAR(self);
    }
done:
    paths_deinit(&folders);
    paths_deinit(&indexes);
    paths_deinit(&debug_dirs);
    Py_XDECREF(cache_path);
    return (PyObject *)self;
}

static void store_dealloc(PyObject *object) {
    struct store_object *self = (struct store_object *)object;
    PyTypeObject *type = Py_TYPE(object);
    guard_close(&self->guard);
    csn_opener_destroy(self->opener);
    csn_cache_close(self->cache);
    Py_XDECREF(self->lock);
    Py_XDECREF(self->fetch);
    PyObject_Free(object);
    Py_DECREF(type);
}

static PyObject *store_close(PyObject *self, PyObject *unused) {
    (void)unused;
    guard_close(&((struct store_object *)self)->guard);
    Py_RETURN_NONE;
}

static PyObject *store_closed(PyObject *self, void *unused) {
    (void)unused;
    return PyBool_FromLong(guard_is_closed(&((struct store_object *)self)->guard));
}

static PyObject *location_tuple(const struct csn_store_explanation *explanation, size_t k) {
    struct csn_store_location location;
    csn_store_explanation_get(explanation, k, &location);
    const char *what = location.status == CSN_OK ? "used" : location.status == CSN_NONE ? "absent" : "rejected";
    return Py_BuildValue("(ssNN)", csn_store_place_text(location.place), what, text_of(location.path), text_of(location.text));
}

static PyObject *explanation_list(const struct csn_store_explanation *explanation) {
    size_t count = csn_store_explanation_count(explanation);
    PyObject *list = PyList_New((Py_ssize_t)count);
    for (size_t k = 0; list && k < count; k++) {
        PyObject *item = location_tuple(explanation, k);
        if (!item) Py_CLEAR(list);
        else PyList_SetItem(list, (Py_ssize_t)k, item);
    }
    return list;
}

/* (whether an index was found, places looked at) */
static PyObject *store_find(PyObject *object, PyObject *args) {
    struct store_object *self = (struct store_object *)object;
    struct csn_store_module module = CSN_STORE_MODULE_INIT;
    Py_ssize_t name_size, id_size;
    struct csn_store_explanation *explanation = NULL;
    struct csn_error err = CSN_ERROR_INIT;
    const struct csn_index *index;
    if (!PyArg_ParseTuple(args, "s#y#", &module.name.ptr, &name_size, &module.build_id, &id_size)) return NULL;
    module.name.len = (size_t)name_size;
    module.build_id_size = (size_t)id_size;
    struct csn_store *store = locked_enter(&self->guard, self->lock, "store");
    if (!store) return NULL;
    csn_status status = csn_store_explanation_create(NULL, &explanation, &err);
    Py_BEGIN_ALLOW_THREADS
    if (status >= 0) status = csn_store_find(store, &module, &index, explanation, &err);
    Py_END_ALLOW_THREADS
    PyObject *result = status < 0 ? raise_error(state_of_store(object)->error, status, &err, NULL)
                                  : Py_BuildValue("(NN)", PyBool_FromLong(status == CSN_OK), explanation_list(explanation));
    csn_store_explanation_destroy(explanation);
    locked_leave(&self->guard, self->lock);
    return result;
}

static PyMethodDef store_methods[] = {
    { "close", store_close, METH_NOARGS, NULL }, { "find", store_find, METH_VARARGS, NULL }, { NULL, NULL, 0, NULL },
};
static PyGetSetDef store_getters[] = { { "closed", store_closed, NULL, NULL, NULL }, { NULL, NULL, NULL, NULL, NULL } };
static PyType_Slot store_slots[] = {
    { Py_tp_new, store_new }, { Py_tp_dealloc, store_dealloc }, { Py_tp_methods, store_methods }, { Py_tp_getset, store_getters }, { 0, NULL },
};
PyType_Spec store_spec = { "callsign._native.Store", sizeof(struct store_object), 0, Py_TPFLAGS_DEFAULT, store_slots };

/* ---- symbolicator ---- */

struct symbolicator_object {
    PyObject_HEAD
    struct store_object *store;
    struct csn_symbolicator *handle;
    bool demangle;
};

static PyObject *symbolicator_new(PyTypeObject *type, PyObject *args, PyObject *keywords) {
    static char *names[] = { "store", "demangle", NULL };
    struct native_state *state = PyType_GetModuleState(type);
    PyObject *store;
    int demangle = 0;
    struct csn_error err = CSN_ERROR_INIT;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O!|p", names, state->store_type, &store, &demangle)) return NULL;
    struct symbolicator_object *self = PyObject_New(struct symbolicator_object, type);
    if (!self) return NULL;
    self->store = (struct store_object *)Py_NewRef(store);
    self->demangle = demangle;
    self->handle = NULL;
    csn_status status = csn_symbolicator_create(NULL, &self->handle, &err);
    if (status >= 0) return (PyObject *)self;
    raise_error(state->error, status, &err, NULL);
    Py_DECREF(self);
    return NULL;
}

static void symbolicator_dealloc(PyObject *object) {
    struct symbolicator_object *self = (struct symbolicator_object *)object;
    PyTypeObject *type = Py_TYPE(object);
    csn_symbolicator_destroy(self->handle);
    Py_DECREF(self->store);
    PyObject_Free(object);
    Py_DECREF(type);
}

/* The store's lock guards the symbolicator, too. */
static PyObject *symbolicator_run(PyObject *object, PyObject *args, PyObject *keywords) {
    static char *names[] = { "array", "module", "address", "return_addresses", "plain_strings", NULL };
    struct symbolicator_object *self = (struct symbolicator_object *)object;
    struct csn_arrow_options options = CSN_ARROW_OPTIONS_INIT;
    PyObject *array;
    int returns = 0, plain = 0;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|$zzpp", names, &array, &options.module_column,
                                     &options.address_column, &returns, &plain))
        return NULL;
    options.store = locked_enter(&self->store->guard, self->store->lock, "store");
    if (!options.store) return NULL;
    options.flags = (returns ? CSN_ARROW_RETURN_ADDRESSES : 0) | (plain ? CSN_ARROW_PLAIN_STRINGS : 0);
    options.demangle = self->demangle ? csn_rename_demangled : NULL;
    PyObject *result = symbolicate_array(PyType_GetModuleState(Py_TYPE(object)), self->handle, array, &options);
    locked_leave(&self->store->guard, self->store->lock);
    return result;
}

static PyMethodDef symbolicator_methods[] = {
    { "symbolicate", (PyCFunction)(void (*)(void))symbolicator_run, METH_VARARGS | METH_KEYWORDS, NULL }, { NULL, NULL, 0, NULL },
};
static PyType_Slot symbolicator_slots[] = {
    { Py_tp_new, symbolicator_new }, { Py_tp_dealloc, symbolicator_dealloc }, { Py_tp_methods, symbolicator_methods }, { 0, NULL },
};
PyType_Spec symbolicator_spec = { "callsign._native.Symbolicator", sizeof(struct symbolicator_object), 0, Py_TPFLAGS_DEFAULT,
                                  symbolicator_slots };
