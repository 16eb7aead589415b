/* The module callsign._native. */
#include "native.h"

struct native_state *native_state_of(PyObject *module) { return PyModule_GetState(module); }

static PyObject *native_version(PyObject *module, PyObject *unused) {
    (void)module;
    (void)unused;
    return PyUnicode_FromString(csn_version());
}

static PyObject *native_demangle(PyObject *module, PyObject *name) {
    char small[1024];
    size_t size = 0;
    Py_ssize_t length;
    (void)module;
    if (!PyUnicode_Check(name)) return PyErr_Format(PyExc_TypeError, "a name is a str, not %R", (PyObject *)Py_TYPE(name));
    const char *text = PyUnicode_AsUTF8AndSize(name, &length);
    if (!text) return NULL;
    struct csn_str mangled = { text, (size_t)length };
    csn_status status = csn_demangle(mangled, small, sizeof small, &size, NULL);
    if (status == CSN_OK) return text_of((struct csn_str){ small, size });
    if (status != CSN_E_LIMIT || size < sizeof small) return Py_NewRef(name);
    PyObject *bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)size + 1);
    if (!bytes) return NULL;
    char *large = PyBytes_AsString(bytes);
    status = csn_demangle(mangled, large, size + 1, &size, NULL);
    PyObject *result = status == CSN_OK ? text_of((struct csn_str){ large, size }) : Py_NewRef(name);
    Py_DECREF(bytes);
    return result;
}

static PyMethodDef native_methods[] = {
    { "convert", (PyCFunction)(void (*)(void))native_convert, METH_VARARGS | METH_KEYWORDS, NULL },
    { "demangle", native_demangle, METH_O, NULL },
    { "version", native_version, METH_NOARGS, NULL },
    { NULL, NULL, 0, NULL },
};

static PyTypeObject *add_type(PyObject *module, PyType_Spec *spec, const char *name) {
    PyObject *type = PyType_FromModuleAndSpec(module, spec, NULL);
    if (type && PyModule_AddObjectRef(module, name, type)) Py_CLEAR(type);
    return (PyTypeObject *)type;
}

static int native_exec(PyObject *module) {
    struct native_state *state = native_state_of(module);
    state->error =
        PyErr_NewExceptionWithDoc("callsign.Error",
                                  "A failure of the library. Attributes: `status` (a name such as \"truncated\"), `code`,\n"
                                  "`section` and `offset` (where in the file; \"\" and 0 if nowhere), `os_error` (errno or 0).",
                                  NULL, NULL);
    if (!state->error || PyModule_AddObjectRef(module, "Error", state->error)) return -1;
    state->frame_type = frame_type_make();
    if (!state->frame_type || PyModule_AddObjectRef(module, "Frame", (PyObject *)state->frame_type)) return -1;
    state->index_type = add_type(module, &index_spec, "Index");
    state->store_type = add_type(module, &store_spec, "Store");
    state->symbolicator_type = add_type(module, &symbolicator_spec, "Symbolicator");
    state->answers_type = add_type(module, &answers_spec, "Answers");
    state->profile_type = add_type(module, &profile_spec, "Profile");
    const bool has_all = state->index_type && state->store_type && state->symbolicator_type && state->answers_type && state->profile_type;
    return has_all ? 0 : -1;
}

static void native_free(void *module) {
    struct native_state *state = native_state_of(module);
    Py_CLEAR(state->error);
    Py_CLEAR(state->frame_type);
    Py_CLEAR(state->index_type);
    Py_CLEAR(state->store_type);
    Py_CLEAR(state->symbolicator_type);
    Py_CLEAR(state->answers_type);
    Py_CLEAR(state->profile_type);
}

static PyModuleDef_Slot native_slots[] = {
    { Py_mod_exec, native_exec },
#ifdef Py_GIL_DISABLED
    { Py_mod_gil, Py_MOD_GIL_NOT_USED },
#endif
    { 0, NULL },
};

static struct PyModuleDef native_module = {
    PyModuleDef_HEAD_INIT, .m_name = "callsign._native", .m_size = sizeof(struct native_state), .m_methods = native_methods,
    .m_slots = native_slots, .m_free = native_free,
};

PyMODINIT_FUNC PyInit__native(void) { return PyModuleDef_Init(&native_module); }
