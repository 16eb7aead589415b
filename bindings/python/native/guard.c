/* Handles that are closed while other threads use them, and errors. */
#include "native.h"

#include <string.h>

enum { CLOSED = 1, USER = 2 };

void guard_init(struct guard *guard, void *handle, void (*release)(void *handle)) {
    atomic_init(&guard->state, 0);
    atomic_init(&guard->handle, handle);
    guard->release = release;
}

static void release_once(struct guard *guard) {
    void *handle = atomic_exchange(&guard->handle, NULL);
    if (handle) guard->release(handle);
}

void *guard_enter(struct guard *guard, const char *what) {
    if (!(atomic_fetch_add(&guard->state, USER) & CLOSED)) return atomic_load(&guard->handle);
    guard_leave(guard);
    PyErr_Format(PyExc_ValueError, "the %s is closed", what);
    return NULL;
}

void guard_leave(struct guard *guard) {
    if (atomic_fetch_sub(&guard->state, USER) == USER + CLOSED) release_once(guard);
}

void guard_close(struct guard *guard) {
    if (atomic_fetch_or(&guard->state, CLOSED) < USER) release_once(guard);
}

bool guard_is_closed(struct guard *guard) { return atomic_load(&guard->state) & CLOSED; }

PyObject *new_lock(void) {
    PyObject *threading = PyImport_ImportModule("threading");
    PyObject *lock = threading ? PyObject_CallMethod(threading, "Lock", NULL) : NULL;
    Py_XDECREF(threading);
    return lock;
}

static void unlock(PyObject *lock) {
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    Py_XDECREF(PyObject_CallMethod(lock, "release", NULL));
    PyErr_Restore(type, value, trace);
}

void *locked_enter(struct guard *guard, PyObject *lock, const char *what) {
    PyObject *got = PyObject_CallMethod(lock, "acquire", NULL);
    if (!got) return NULL;
    Py_DECREF(got);
    void *handle = guard_enter(guard, what);
    if (!handle) unlock(lock);
    return handle;
}

void locked_leave(struct guard *guard, PyObject *lock) {
    guard_leave(guard);
    unlock(lock);
}

static int set_attribute(PyObject *object, const char *name, PyObject *value) {
    int failed = value ? PyObject_SetAttrString(object, name, value) : -1;
    Py_XDECREF(value);
    return failed;
}

PyObject *raise_error(PyObject *error_type, csn_status status, const struct csn_error *err, const char *subject) {
    if (status == CSN_E_MEMORY) return PyErr_NoMemory();
    PyObject *text = subject ? PyUnicode_FromFormat("%s: %s", subject, csn_error_text(err))
                             : PyUnicode_FromString(csn_error_text(err));
    PyObject *error = text ? PyObject_CallFunctionObjArgs(error_type, text, NULL) : NULL;
    Py_XDECREF(text);
    if (!error) return NULL;
    const char *name = csn_status_name(status);
    if (!set_attribute(error, "code", PyLong_FromLong(status)) && !set_attribute(error, "status", PyUnicode_FromString(name)) &&
        !set_attribute(error, "section", PyUnicode_FromString(err->section)) &&
        !set_attribute(error, "offset", PyLong_FromUnsignedLongLong(err->offset)) &&
        !set_attribute(error, "os_error", PyLong_FromLong(err->os_error)))
        PyErr_SetObject(error_type, error);
    Py_DECREF(error);
    return NULL;
}

PyObject *text_of(struct csn_str text) { return PyUnicode_DecodeUTF8(text.ptr ? text.ptr : "", (Py_ssize_t)text.len, "replace"); }

PyObject *text_or_none(struct csn_str text) { return text.len ? text_of(text) : Py_NewRef(Py_None); }
