/* Indexes behind URLs: Python fetches a file, the store opens it. */
#include "native.h"

#include <string.h>

/* What UrlFolders.fetch() gives for each place: (whether the name is of a build id, URL, path of the copy or None,
 * failure or None). */
struct fetched {
    int is_by_id;
    const char *url, *path, *failure;
};

static csn_status record(struct csn_store_explanation *explanation, const struct fetched *f, csn_status status, const char *text,
                         struct csn_error *err) {
    const uint32_t place = f->is_by_id ? CSN_STORE_PLACE_FOLDER_BY_ID : CSN_STORE_PLACE_FOLDER_BY_NAME;
    const struct csn_store_location location = { .place = place, .status = status,
                                                 .path = { f->url, strlen(f->url) }, .text = { text, strlen(text) } };
    return csn_store_explanation_add(explanation, &location, err);
}

/* Ids may have been cut, as in GSYM files of version 1. An index without one serves by name only. */
static bool is_of_module(const struct csn_index *index, const struct csn_store_module *module, bool is_by_id) {
    struct csn_index_info info;
    csn_index_get_info(index, &info, sizeof info);
    size_t size = info.uuid_size < module->build_id_size ? info.uuid_size : module->build_id_size;
    if (!module->build_id_size) return true;
    return size ? memcmp(info.uuid, module->build_id, size) == 0 : !is_by_id;
}

/* CSN_OK: *out is open; CSN_NONE: there is none here, or it is refused. */
static csn_status take(const struct fetched *f, const struct csn_store_module *module, struct csn_index **out,
                       struct csn_store_explanation *explanation, struct csn_error *err) {
    struct csn_error why = CSN_ERROR_INIT;
    if (f->failure) return record(explanation, f, CSN_E_IO, f->failure, err) < 0 ? CSN_E_MEMORY : CSN_E_IO;
    if (!f->path) return record(explanation, f, CSN_NONE, "", err) < 0 ? CSN_E_MEMORY : CSN_NONE;
    csn_status status = csn_index_open_file(f->path, NULL, out, &why);
    const char *text = status < 0 ? csn_error_text(&why) : "";
    if (status == CSN_OK && !is_of_module(*out, module, f->is_by_id)) {
        csn_index_close(*out);
        *out = NULL;
        status = CSN_E_FORMAT;
        text = "has another build id than the module; not used";
    }
    if (record(explanation, f, status, text, err) < 0) {
        csn_index_close(*out);
        *out = NULL;
        return CSN_E_MEMORY;
    }
    return status < 0 && status != CSN_E_MEMORY ? CSN_NONE : status;
}

static csn_status take_first(PyObject *places, const struct csn_store_module *module, struct csn_index **out,
                             struct csn_store_explanation *explanation, struct csn_error *err) {
    csn_status result = CSN_NONE;
    Py_ssize_t count = PyList_Size(places);
    for (Py_ssize_t k = 0; k < count; k++) {
        struct fetched f;
        if (!PyArg_ParseTuple(PyList_GetItem(places, k), "pszz", &f.is_by_id, &f.url, &f.path, &f.failure)) return CSN_E_IO;
        csn_status status = take(&f, module, out, explanation, err);
        if (status == CSN_OK || status == CSN_E_MEMORY) return status;
        if (status == CSN_E_IO) result = status;
    }
    return result;
}

static csn_status fetch(struct store_object *self, const struct csn_store_module *module, struct csn_index **out,
                        struct csn_store_explanation *explanation, struct csn_error *err) {
    PyGILState_STATE gil = PyGILState_Ensure();
    PyObject *name = text_of(module->name);
    PyObject *id = PyBytes_FromStringAndSize((const char *)module->build_id,
                                             module->build_id ? (Py_ssize_t)module->build_id_size : 0);
    PyObject *places = name && id ? PyObject_CallFunctionObjArgs(self->fetch, name, id, NULL) : NULL;
    csn_status status = places && PyList_Check(places) ? take_first(places, module, out, explanation, err) : CSN_E_IO;
    if (PyErr_Occurred()) PyErr_WriteUnraisable(self->fetch);
    Py_XDECREF(places);
    Py_XDECREF(id);
    Py_XDECREF(name);
    PyGILState_Release(gil);
    return status;
}

csn_status fetch_index(void *context, const struct csn_store_module *module, struct csn_index **out,
                       struct csn_store_explanation *explanation, struct csn_error *err) {
    struct store_object *self = context;
    csn_status fetched = self->fetch ? fetch(self, module, out, explanation, err) : CSN_NONE;
    if (fetched == CSN_OK || fetched == CSN_E_MEMORY) return fetched;
    csn_status status = csn_opener_find(self->opener, module, out, explanation, err);
    return status == CSN_NONE ? fetched : status;
}
