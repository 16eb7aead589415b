/* _native.convert(): one conversion, with a progress callback. */
#include "native.h"

#include <string.h>

struct progress {
    PyObject *callback;
    PyObject *type, *value, *trace; /* what it raised; NULL: nothing */
    bool is_stopped;
};

/* Called by workers without the interpreter's lock. An exception of the callback stops the conversion and is raised
 * in the end; workers that have not noticed do not call it again. */
static bool report_progress(void *context, const char *phase, uint64_t done, uint64_t total) {
    struct progress *progress = context;
    if (progress->is_stopped) return false; /* one worker at a time is here */
    PyGILState_STATE gil = PyGILState_Ensure();
    PyObject *answer = PyObject_CallFunction(progress->callback, "sKK", phase, (unsigned long long)done, (unsigned long long)total);
    progress->is_stopped = !answer || answer == Py_False;
    if (!answer) PyErr_Fetch(&progress->type, &progress->value, &progress->trace);
    Py_XDECREF(answer);
    PyGILState_Release(gil);
    return !progress->is_stopped;
}

static PyObject *events_dict(const struct csn_convert_report *report) {
    PyObject *events = PyDict_New();
    for (uint32_t event = 0; events && event < CSN_EVENT_COUNT; event++) {
        if (!report->events[event].count) continue;
        struct csn_str example = { report->events[event].example, strlen(report->events[event].example) };
        PyObject *item = Py_BuildValue("(KN)", (unsigned long long)report->events[event].count, text_of(example));
        if (!item || PyDict_SetItemString(events, csn_event_name(event), item)) Py_CLEAR(events);
        Py_XDECREF(item);
    }
    return events;
}

static PyObject *report_dict(const struct csn_convert_report *r) {
    return Py_BuildValue("{s:K,s:K,s:K,s:K,s:K,s:K,s:K,s:K,s:N,s:N}", "functions", (unsigned long long)r->functions_written, "rows",
                         (unsigned long long)r->rows_written, "inlined_calls", (unsigned long long)r->inline_nodes_written,
                         "call_sites", (unsigned long long)r->call_sites_written, "merged_functions",
                         (unsigned long long)r->functions_merged, "files", (unsigned long long)r->files_written, "input_bytes",
                         (unsigned long long)r->input_bytes, "output_bytes", (unsigned long long)r->output_bytes, "build_id",
                         PyBytes_FromStringAndSize((const char *)r->uuid,
                                                   (Py_ssize_t)(r->uuid_size < sizeof r->uuid ? r->uuid_size : sizeof r->uuid)),
                         "events", events_dict(r));
}

static bool set_format(const char *name, uint32_t *out) {
    *out = name ? csn_convert_format_find(name) : 0;
    if (!name || *out) return true;
    PyErr_Format(PyExc_ValueError, "'%s' is not an output format", name);
    return false;
}

PyObject *native_convert(PyObject *module, PyObject *args, PyObject *keywords) {
    static char *names[] = { "input",      "output",           "format",     "threads",  "strict",
                             "call_sites", "merged_functions", "companions", "progress", NULL };
    struct native_state *state = native_state_of(module);
    struct csn_convert_options options = CSN_CONVERT_OPTIONS_INIT;
    struct csn_companion_search_options search_options = CSN_COMPANION_SEARCH_OPTIONS_INIT;
    struct csn_companion_search *search = NULL;
    struct csn_convert_report report;
    struct csn_error err = CSN_ERROR_INIT;
    struct progress progress = { .callback = NULL };
    PyObject *input = NULL, *output = NULL, *callback = NULL;
    const char *format = NULL;
    int strict = 0, call_sites = 0, merged = 0, companions = 1;
    unsigned threads = 0;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O&O&|$zIppppO", names, PyUnicode_FSConverter, &input,
                                     PyUnicode_FSConverter, &output, &format, &threads, &strict, &call_sites, &merged,
                                     &companions, &callback) ||
        !set_format(format, &options.format)) {
        Py_XDECREF(input);
        Py_XDECREF(output);
        return NULL;
    }
    options.threads = threads;
    options.flags = (strict ? CSN_CONVERT_STRICT : 0) | (call_sites ? CSN_CONVERT_CALL_SITES : 0);
    options.merged_functions = merged ? CSN_MERGE_ALL : CSN_MERGE_NONE;
    if (callback && callback != Py_None) {
        progress.callback = callback;
        options.progress = report_progress;
        options.progress_context = &progress;
    }
    const char *path = PyBytes_AsString(input), *out_path = PyBytes_AsString(output);
    csn_status status = companions ? csn_companion_search_create(&search_options, &search, &err) : CSN_OK;
    options.resolver = companions ? csn_companion_search_resolve : NULL;
    options.resolver_context = search;
    Py_BEGIN_ALLOW_THREADS
    if (status >= 0) status = csn_convert_file(path, out_path, &options, &report, &err);
    csn_companion_search_destroy(search);
    Py_END_ALLOW_THREADS
    if (progress.type) PyErr_Restore(progress.type, progress.value, progress.trace);
    PyObject *result = progress.type ? NULL : status < 0 ? raise_error(state->error, status, &err, path) : report_dict(&report);
    Py_DECREF(input);
    Py_DECREF(output);
    return result;
}
