/* Mozilla's symbolication API: client-protocols 10. */
#define _GNU_SOURCE
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "http/server.h"
#include "routes/json_body.h"
#include "routes/lookup.h"
#include "routes/routes.h"

enum { WHY_SIZE = 256 };

enum dialect { DIALECT_V5, DIALECT_LEGACY, DIALECT_V4 };

enum module_state { MODULE_UNUSED, MODULE_FOUND, MODULE_ABSENT };

struct moz_module {
    const char *name, *id;
    struct symbols *symbols;
    enum module_state state;
    bool is_repeated;            /* the map has it before */
    char why[WHY_SIZE];
};

struct moz_job {
    const json_t *stacks;
    struct moz_module *modules;
    size_t module_count;
};

struct moz_request {
    struct http_request *http;
    enum dialect dialect;
    json_t *root;
    struct moz_job *jobs;
    size_t job_count;
    struct lookup *lookup;
    bool blocks, is_unreachable;
    char error[WHY_SIZE];
};

/* ---- checking ---- */

static bool is_good_name(const char *name) {
    for (; *name; name++)
        if (*name == '/' || *name == '\\' || (unsigned char)*name < 0x20) return false;
    return true;
}

static bool fail(struct moz_request *m, size_t job, const char *text) {
    snprintf(m->error, sizeof(m->error), "job %zu has invalid %s", job, text);
    return false;
}

static bool check_module(struct moz_request *m, size_t number, json_t *pair, struct moz_module *out) {
    const char *name = json_string_value(json_array_get(pair, 0)), *id = json_string_value(json_array_get(pair, 1));
    if (json_array_size(pair) != 2 || !name || !id) return fail(m, number, "memoryMap: a module is not [debug_filename, debug_id]");
    if (!is_good_name(name)) return fail(m, number, "memoryMap: a debug filename has characters that it must not have");
    if (strspn(id, "0123456789abcdefABCDEF") != strlen(id)) return fail(m, number, "memoryMap: a debug id is not hexadecimal");
    out->name = name;
    out->id = id;
    return true;
}

static bool check_frame(struct moz_request *m, const struct moz_job *job, size_t number, const json_t *frame) {
    const json_t *module = json_array_get(frame, 0), *offset = json_array_get(frame, 1);
    if (json_array_size(frame) != 2 || !json_is_integer(module) || !json_is_integer(offset))
        return fail(m, number, "stacks: a frame is not [module_index, module_offset]");
    json_int_t index = json_integer_value(module);
    if (index < -1 || index >= (json_int_t)job->module_count) return fail(m, number, "stacks: a module index is out of range");
    return json_integer_value(offset) >= -1 || fail(m, number, "stacks: a module offset is negative");
}

static bool check_stacks(struct moz_request *m, const struct moz_job *job, size_t number) {
    size_t i, j;
    const json_t *stack, *frame;
    if (!json_is_array(job->stacks)) return fail(m, number, "stacks: not an array");
    if (json_array_size(job->stacks) == 0) return fail(m, number, "stacks: no stacks specified");
    json_array_foreach(job->stacks, i, stack) {
        if (!json_is_array(stack)) return fail(m, number, "stacks: a stack is not an array");
        json_array_foreach(stack, j, frame)
            if (!check_frame(m, job, number, frame)) return false;
    }
    return true;
}

static bool check_job(struct moz_request *m, size_t number, const json_t *value, struct moz_job *job) {
    json_t *map = json_object_get(value, "memoryMap"), *pair;
    size_t i;
    if (!json_is_object(value)) return fail(m, number, "form: not an object");
    if (!json_is_array(map)) return fail(m, number, "memoryMap: not an array");
    job->stacks = json_object_get(value, "stacks");
    job->modules = calloc(json_array_size(map) + 1, sizeof(*job->modules));
    if (!job->modules) return fail(m, number, "size: out of memory");
    json_array_foreach(map, i, pair) {
        if (!check_module(m, number, pair, &job->modules[i])) return false;
        job->module_count++;
    }
    return check_stacks(m, job, number);
}

static bool check_request(struct moz_request *m) {
    const json_t *jobs = json_object_get(m->root, "jobs");
    size_t count = m->dialect != DIALECT_V4 && json_is_array(jobs) ? json_array_size(jobs) : 1;
    bool is_list = m->dialect != DIALECT_V4 && json_is_array(jobs);
    if (jobs && !json_is_array(jobs)) {
        snprintf(m->error, sizeof(m->error), "jobs is not an array");
        return false;
    }
    uint64_t max_jobs = atomic_load(&m->http->server->live.max_jobs);
    if (count > max_jobs || (is_list && count == 0)) {
        snprintf(m->error, sizeof(m->error), count ? "more jobs than %llu" : "no jobs specified",
                 (unsigned long long)max_jobs);
        return false;
    }
    m->jobs = calloc(count, sizeof(*m->jobs));
    if (!m->jobs) return false;
    for (m->job_count = 0; m->job_count < count;) {
        size_t number = m->job_count++;
        if (!check_job(m, number, is_list ? json_array_get(jobs, number) : m->root, &m->jobs[number])) return false;
    }
    return true;
}

/* ---- modules ---- */

static void open_module(struct moz_request *m, struct moz_module *module) {
    struct symbols_key key = { .name = "" };
    module->state = MODULE_ABSENT;
    if (!debug_id_canonical(module->id, key.debug_id)) {
        snprintf(module->why, sizeof(module->why), "this is no debug id");
        return;
    }
    if (artifact_name_is_safe(module->name)) snprintf(key.name, sizeof(key.name), "%s", module->name);
    switch (pool_acquire(m->http->server->pool, &key, m->http->may_block, &module->symbols, module->why, sizeof(module->why))) {
    case POOL_OK: module->state = MODULE_FOUND; break;
    case POOL_NONE: case POOL_FAILED: break;
    case POOL_UNREACHABLE: case POOL_BROKEN: m->is_unreachable = true; break;
    case POOL_WOULD_BLOCK: m->blocks = true; break;
    }
}

static void open_used_modules(struct moz_request *m, struct moz_job *job) {
    size_t i, j;
    json_t *stack, *frame;
    json_array_foreach((json_t *)(uintptr_t)job->stacks, i, stack) {
        json_array_foreach(stack, j, frame) {
            json_int_t index = json_integer_value(json_array_get(frame, 0));
            struct moz_module *module = index >= 0 ? &job->modules[index] : NULL;
            if (module && *module->id && module->state == MODULE_UNUSED && !m->blocks) open_module(m, module);
        }
    }
}

static void close_modules(struct moz_request *m) {
    for (size_t i = 0; i < m->job_count; i++) {
        for (size_t j = 0; j < m->jobs[i].module_count; j++) pool_release(m->http->server->pool, m->jobs[i].modules[j].symbols);
        free(m->jobs[i].modules);
    }
    free(m->jobs);
}

/* ---- version 5 ---- */

static void put_file(struct moz_request *m, size_t i, struct text *out) {
    struct csn_str path = lookup_path(m->lookup, i);
    if (!path.len) return;
    text_put(out, ",\"file\":");
    text_json(out, path.ptr, path.len);
    if (!m->lookup->frames[i].line) return;
    text_put(out, ",\"line\":");
    text_decimal(out, m->lookup->frames[i].line);
}

static void put_inlines(struct moz_request *m, struct symbols *symbols, size_t count, struct text *out) {
    if (!count) return;
    text_put(out, ",\"inlines\":[");
    for (size_t i = 0; i < count; i++) {
        struct csn_str name = lookup_name(m->lookup, symbols, i);
        text_put(out, i ? ",{\"function\":" : "{\"function\":");
        text_json(out, name.ptr, name.len);
        put_file(m, i, out);
        text_char(out, '}');
    }
    text_char(out, ']');
}

static void put_function(struct moz_request *m, struct symbols *symbols, uint64_t addr, struct text *out) {
    size_t outer = m->lookup->found.frame_count - 1;
    struct csn_str name = lookup_name(m->lookup, symbols, outer);
    if (!name.len) return;
    text_put(out, ",\"function\":");
    text_json(out, name.ptr, name.len);
    text_put(out, ",\"function_offset\":\"");
    text_hex(out, addr - m->lookup->found.function_start);
    text_char(out, '"');
    if (m->dialect == DIALECT_LEGACY) return;
    if (m->lookup->found.function_size) {
        text_put(out, ",\"function_size\":\"");
        text_hex(out, m->lookup->found.function_size);
        text_char(out, '"');
    }
    put_file(m, outer, out);
    put_inlines(m, symbols, outer, out);
}

static void put_frame_v5(struct moz_request *m, const struct moz_job *job, size_t number, const json_t *frame, struct text *out) {
    json_int_t index = json_integer_value(json_array_get(frame, 0));
    uint64_t offset = (uint64_t)json_integer_value(json_array_get(frame, 1));
    const struct moz_module *module = index >= 0 ? &job->modules[index] : NULL;
    const char *name = module ? module->name : "<unknown>";
    text_put(out, number ? ",{\"frame\":" : "{\"frame\":");
    text_decimal(out, number);
    text_put(out, ",\"module\":");
    text_json_cstr(out, name);
    text_put(out, ",\"module_offset\":\"");
    text_hex(out, offset);
    text_char(out, '"');
    m->http->frames++;
    if (module && module->symbols) {
        uint64_t addr = module->symbols->image_base + offset;
        if (lookup_address(m->lookup, module->symbols, addr) == CSN_OK && m->lookup->found.frame_count)
            put_function(m, module->symbols, addr, out);
    }
    text_char(out, '}');
}

/* A module of the map that comes again counts as one: what is known of any of them is. */
struct module_slots {
    uint32_t *numbers; /* by hash, + 1; 0: free */
    size_t mask;
};

static bool is_same_module(const struct moz_module *a, const struct moz_module *b) {
    return strcmp(a->name, b->name) == 0 && strcmp(a->id, b->id) == 0;
}

/* The first of the equal ones. */
static struct moz_module *first_of(const struct moz_job *job, const struct module_slots *slots, size_t i) {
    struct moz_module *module = &job->modules[i];
    size_t at = (size_t)((text_hash(module->name, strlen(module->name)) * 31 ^ text_hash(module->id, strlen(module->id))) >> 20) &
                slots->mask;
    for (; slots->numbers[at]; at = (at + 1) & slots->mask)
        if (is_same_module(&job->modules[slots->numbers[at] - 1], module)) return &job->modules[slots->numbers[at] - 1];
    slots->numbers[at] = (uint32_t)i + 1;
    return module;
}

/* Marks modules that come again, and gives the first one their state. False: no memory. */
static bool join_modules(struct moz_job *job) {
    struct module_slots slots = { .mask = 1 };
    while (slots.mask < 2 * job->module_count) slots.mask = 2 * slots.mask + 1;
    slots.numbers = calloc(slots.mask + 1, sizeof(*slots.numbers));
    if (!slots.numbers) return false;
    for (size_t i = 0; i < job->module_count; i++) {
        struct moz_module *module = &job->modules[i], *first = first_of(job, &slots, i);
        module->is_repeated = first != module;
        if (!module->is_repeated || first->state != MODULE_UNUSED) continue;
        first->state = module->state;
        memcpy(first->why, module->why, sizeof(first->why));
    }
    free(slots.numbers);
    return true;
}

static void put_module_key(const struct moz_module *module, struct text *out) {
    struct text key = { 0 };
    text_format(&key, "%s/%s", module->name, module->id);
    text_json(out, key.ptr, key.size);
    text_free(&key);
}

static void put_found_modules(const struct moz_job *job, struct text *out) {
    text_put(out, "\"found_modules\":{");
    for (size_t i = 0; i < job->module_count; i++) {
        const struct moz_module *module = &job->modules[i];
        if (module->is_repeated) continue;
        if (out->ptr[out->size - 1] != '{') text_char(out, ',');
        put_module_key(module, out);
        text_put(out, module->state == MODULE_FOUND ? ":true" : module->state == MODULE_ABSENT ? ":false" : ":null");
    }
    text_char(out, '}');
}

static void put_module_errors(const struct moz_job *job, struct text *out) {
    bool is_first = true;
    for (size_t i = 0; i < job->module_count; i++) {
        const struct moz_module *module = &job->modules[i];
        if (module->state != MODULE_ABSENT || module->is_repeated) continue;
        text_put(out, is_first ? ",\"module_errors\":{" : ",");
        put_module_key(module, out);
        text_put(out, ":[{\"name\":\"SymbolsNotFound\",\"message\":");
        text_json_cstr(out, module->why);
        text_put(out, "}]");
        is_first = false;
    }
    if (!is_first) text_char(out, '}');
}

static void put_job(struct moz_request *m, struct moz_job *job, struct text *out) {
    size_t i, j;
    if (!join_modules(job)) out->failed = true;
    const json_t *stack, *frame;
    text_put(out, "{\"stacks\":[");
    json_array_foreach(job->stacks, i, stack) {
        text_put(out, i ? ",[" : "[");
        json_array_foreach(stack, j, frame) put_frame_v5(m, job, j, frame, out);
        text_char(out, ']');
    }
    text_put(out, "],");
    put_found_modules(job, out);
    put_module_errors(job, out);
    text_char(out, '}');
}

static void put_debug(struct moz_request *m, struct text *out) {
    struct pool_counts counts;
    const char *wanted = request_header(m->http, "Debug");
    if (!wanted || strcasecmp(wanted, "true") != 0) return;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    double seconds = (double)(now.tv_sec - m->http->started.tv_sec) + 1e-9 * (double)(now.tv_nsec - m->http->started.tv_nsec);
    pool_get_counts(m->http->server->pool, &counts);
    text_format(out, ",\"debug\":{\"time\":%.6f,\"frames\":%llu,\"cache_lookups\":{\"hits\":%llu,\"misses\":%llu}}", seconds,
                (unsigned long long)m->http->frames, (unsigned long long)counts.hits, (unsigned long long)counts.misses);
}

static void put_v5(struct moz_request *m, struct text *out) {
    text_put(out, "{\"results\":[");
    for (size_t i = 0; i < m->job_count; i++) {
        if (i) text_char(out, ',');
        put_job(m, &m->jobs[i], out);
    }
    text_char(out, ']');
    put_debug(m, out);
    text_char(out, '}');
}

/* ---- version 4: names alone ---- */

static void put_frame_v4(struct moz_request *m, const struct moz_job *job, const json_t *frame, struct text *out) {
    json_int_t index = json_integer_value(json_array_get(frame, 0));
    uint64_t offset = (uint64_t)json_integer_value(json_array_get(frame, 1));
    const struct moz_module *module = index >= 0 ? &job->modules[index] : NULL;
    struct text name = { 0 };
    m->http->frames++;
    if (module && module->symbols && lookup_address(m->lookup, module->symbols, module->symbols->image_base + offset) == CSN_OK &&
        m->lookup->found.frame_count) {
        struct csn_str found = lookup_name(m->lookup, module->symbols, m->lookup->found.frame_count - 1);
        text_bytes(&name, found.ptr, found.len);
    }
    if (!name.size) text_hex(&name, offset);
    if (module) text_format(&name, " (in %s)", module->name);
    text_json(out, name.ptr, name.size);
    text_free(&name);
}

static void put_v4(struct moz_request *m, struct text *out) {
    size_t i, j;
    const json_t *stack, *frame;
    const struct moz_job *job = &m->jobs[0];
    text_put(out, "{\"symbolicatedStacks\":[");
    json_array_foreach(job->stacks, i, stack) {
        text_put(out, i ? ",[" : "[");
        json_array_foreach(stack, j, frame) {
            if (j) text_char(out, ',');
            put_frame_v4(m, job, frame, out);
        }
        text_char(out, ']');
    }
    text_put(out, "],\"knownModules\":[");
    for (size_t k = 0; k < job->module_count; k++) {
        enum module_state state = job->modules[k].state;
        text_put(out, k ? "," : "");
        text_put(out, state == MODULE_FOUND ? "true" : state == MODULE_ABSENT ? "false" : "null");
    }
    text_put(out, "]}");
}

/* ---- all versions ---- */

static enum http_done answer(struct moz_request *m) {
    struct http_request *request = m->http;
    json_error_t error;
    m->root = json_body_load(&request->body, &error);
    if (!m->root) return respond_error(request, 400, "the body is not JSON: %s at byte %d", error.text, error.position);
    if (!json_is_object(m->root)) return respond_error(request, 400, "the body is not a JSON object");
    if (!check_request(m)) return respond_error(request, 400, "%s", *m->error ? m->error : "out of memory");
    for (size_t i = 0; i < m->job_count && !m->blocks; i++) open_used_modules(m, &m->jobs[i]);
    if (m->blocks) return HTTP_BLOCKS;
    if (m->is_unreachable) return respond_error(request, 503, "the store cannot be reached");
    m->lookup = lookup_create();
    if (!m->lookup) return respond_error(request, 503, "out of memory");
    request->frames = 0;
    request->response.body.size = 0;
    if (m->dialect == DIALECT_V4) put_v4(m, &request->response.body);
    else put_v5(m, &request->response.body);
    return respond_json(request, 200);
}

static enum http_done symbolicate(struct http_request *request, enum dialect dialect) {
    struct moz_request m = { .http = request, .dialect = dialect };
    enum http_done done = answer(&m);
    close_modules(&m);
    lookup_destroy(m.lookup);
    json_decref(m.root);
    return done;
}

enum http_done symbolicate_v5(struct http_request *request) { return symbolicate(request, DIALECT_V5); }
enum http_done symbolicate_v5_legacy(struct http_request *request) { return symbolicate(request, DIALECT_LEGACY); }
enum http_done symbolicate_v4(struct http_request *request) { return symbolicate(request, DIALECT_V4); }
