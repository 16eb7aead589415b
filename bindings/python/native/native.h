/* The extension module callsign._native: the library's handles as Python objects. Everything that users see and read about is in
 * the Python files beside it; here is what needs C. Built for the limited API of 3.11, or for a free-threaded interpreter. */
#ifndef CALLSIGN_PYTHON_NATIVE_H
#define CALLSIGN_PYTHON_NATIVE_H

#include <pyconfig.h> /* defines Py_GIL_DISABLED, before Python.h needs to know */

#ifndef Py_GIL_DISABLED
#define Py_LIMITED_API 0x030b0000
#endif
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <callsign/callsign.h>

/* What the module owns. */
struct native_state {
    PyTypeObject *index_type, *store_type, *symbolicator_type, *answers_type, *frame_type, *profile_type;
    PyObject *error; /* callsign.Error */
};
struct native_state *native_state_of(PyObject *module);

/* ---- handles that may be closed while other threads use them ---- */

/* The handle is released by whoever is last: close(), or the call that was under way. */
struct guard {
    atomic_uint_least64_t state; /* twice the users, plus 1 once it is closed */
    _Atomic(void *) handle;
    void (*release)(void *handle);
};
void guard_init(struct guard *guard, void *handle, void (*release)(void *handle));
/* The handle, for guard_leave() to give back; NULL with ValueError: it was closed. */
void *guard_enter(struct guard *guard, const char *what);
void guard_leave(struct guard *guard);
void guard_close(struct guard *guard);
bool guard_is_closed(struct guard *guard);

/* The same for handles that work for one thread at a time: `lock` is a threading.Lock. */
PyObject *new_lock(void);
void *locked_enter(struct guard *guard, PyObject *lock, const char *what);
void locked_leave(struct guard *guard, PyObject *lock);

/* ---- errors and texts ---- */

/* Raises callsign.Error (MemoryError for CSN_E_MEMORY); `subject`, such as a path, may be NULL. Returns NULL. */
PyObject *raise_error(PyObject *error_type, csn_status status, const struct csn_error *err, const char *subject);
/* A str; bytes that are no UTF-8 are replaced. */
PyObject *text_of(struct csn_str text);
/* The same, None where it is empty. */
PyObject *text_or_none(struct csn_str text);

/* ---- the types ---- */

extern PyType_Spec index_spec, store_spec, symbolicator_spec, answers_spec, profile_spec;
PyTypeObject *frame_type_make(void);

struct store_object {
    PyObject_HEAD
    struct guard guard; /* of the csn_store */
    struct csn_cache *cache;
    struct csn_opener *opener;
    PyObject *lock;     /* threading.Lock: one thread at a time */
    PyObject *fetch;    /* UrlFolders.fetch, or NULL */
};
/* A csn_store_convert callback of a store_object: the folders behind its URLs, then csn_opener_find(). */
csn_status fetch_index(void *store_object, const struct csn_store_module *module, struct csn_index **out,
                       struct csn_store_explanation *explanation, struct csn_error *err);

/* Calls csn_symbolicate_arrow() on `array`, anything that has __arrow_c_array__ or a buffer of 64-bit numbers.
 * `options` has everything but the strings' flag. Returns Answers. */
PyObject *symbolicate_array(struct native_state *state, struct csn_symbolicator *symbolicator, PyObject *array,
                            const struct csn_arrow_options *options);

PyObject *native_convert(PyObject *module, PyObject *args, PyObject *keywords);

#endif
