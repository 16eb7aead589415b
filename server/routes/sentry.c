/* Sentry's Symbolicator API: client-protocols 11. The sources of a request are not used: a server that fetches what a request names
 * can be made to reach what only it can reach. */
#define _GNU_SOURCE
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <callsign/symbolicate.h>

#include "http/server.h"
#include "routes/json_body.h"
#include "routes/json_number.h"
#include "routes/lookup.h"
#include "routes/poll.h"
#include "routes/routes.h"

enum { WHY_SIZE = 256, RETRY_AFTER_S = 5 };

enum debug_status { DEBUG_UNUSED, DEBUG_FOUND, DEBUG_MISSING, DEBUG_MALFORMED, DEBUG_FETCHING_FAILED };

struct sentry_module {
    const json_t *json;
    uint64_t addr, size;
    bool has_addr;
    struct symbols *symbols;
    enum debug_status status;
};
struct sentry_run {
    struct server *server;
    struct sentry_module *modules;
    size_t module_count;
    struct csn_symbolicator *places; /* which module has a pc: their ranges alone */
    struct lookup *lookup;
    bool is_caller_first;
    json_int_t signal;
    uint64_t frames;
};

static const char *text_of(const json_t *object, const char *key) {
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

/* ---- modules ---- */

/* From the last to the first: of several with one address, the first is meant. */
static bool place_modules(struct sentry_run *run) {
    struct csn_module *places = calloc(run->module_count + 1, sizeof(*places));
    for (size_t i = 0; places && i < run->module_count; i++) {
        const struct sentry_module *module = &run->modules[run->module_count - 1 - i];
        if (!module->has_addr) continue;
        places[i].start = module->addr;
        places[i].end = module->size && module->size <= UINT64_MAX - module->addr ? module->addr + module->size : UINT64_MAX;
    }
    bool worked = places && csn_symbolicator_create(NULL, &run->places, NULL) == CSN_OK &&
                  csn_symbolicator_set_modules(run->places, places, run->module_count, NULL) == CSN_OK;
    free(places);
    return worked;
}

/* False: no memory. */
static bool take_modules(struct sentry_run *run, json_t *list) {
    size_t i;
    json_t *value;
    run->modules = calloc(json_array_size(list) + 1, sizeof(*run->modules));
    if (!run->modules) return false;
    json_array_foreach(list, i, value) {
        struct sentry_module *module = &run->modules[run->module_count++];
        module->json = value;
        module->has_addr = json_number_read(json_object_get(value, "image_addr"), &module->addr) && module->addr;
        if (!json_number_read(json_object_get(value, "image_size"), &module->size)) module->size = 0;
    }
    return place_modules(run);
}

static struct sentry_module *module_at(struct sentry_run *run, uint64_t pc) {
    const struct csn_stack_frame frame = { .pc = pc, .flags = CSN_STACK_EXACT };
    const struct csn_stack_answer *answer;
    if (csn_symbolicator_answer(run->places, &frame, 1, &answer, NULL) < 0 || answer->module >= run->module_count) return NULL;
    return &run->modules[run->module_count - 1 - answer->module];
}

static void open_module(struct sentry_run *run, struct sentry_module *module) {
    struct symbols_key key = { .name = "" };
    char why[WHY_SIZE] = "";
    const char *code_id = text_of(module->json, "code_id"), *debug_id = text_of(module->json, "debug_id"),
               *type = text_of(module->json, "type");
    if (module->status != DEBUG_UNUSED) return;
    bool has_id = strcmp(type, "elf") == 0 && build_id_canonical(code_id, strlen(code_id), key.build_id) && strlen(code_id) >= 32;
    if (!has_id) key.build_id[0] = 0;
    if (!debug_id_canonical(debug_id, key.debug_id)) key.debug_id[0] = 0;
    if (!has_id && !*key.debug_id) {
        module->status = *debug_id ? DEBUG_MALFORMED : DEBUG_MISSING;
        return;
    }
    switch (symbols_acquire(run->server->pool, &key, &module->symbols, why, sizeof(why))) {
    case POOL_OK: module->status = DEBUG_FOUND; break;
    case POOL_NONE: case POOL_WOULD_BLOCK: module->status = DEBUG_MISSING; break;
    case POOL_FAILED: module->status = DEBUG_MALFORMED; break;
    case POOL_UNREACHABLE: case POOL_BROKEN: module->status = DEBUG_FETCHING_FAILED; break;
    }
}

static json_t *module_answer(const struct sentry_module *module) {
    static const char *const words[] = { "unused", "found", "missing", "malformed", "fetching_failed" };
    json_t *out = json_copy((json_t *)(uintptr_t)module->json), *features = json_object();
    bool is_found = module->status == DEBUG_FOUND;
    json_object_set_new(features, "has_debug_info", json_boolean(is_found && module->symbols->has_lines));
    json_object_set_new(features, "has_unwind_info", json_false());
    json_object_set_new(features, "has_symbols", json_boolean(is_found));
    json_object_set_new(features, "has_sources", json_false());
    json_object_set_new(out, "debug_status", json_string(words[module->status]));
    json_object_set_new(out, "features", features);
    json_object_set_new(out, "arch",
                        json_string(is_found && *module->symbols->artifact.arch ? module->symbols->artifact.arch : "unknown"));
    return out;
}

/* ---- frames ---- */

static json_t *new_frame(const json_t *given, const char *status, size_t index) {
    json_t *out = json_copy((json_t *)(uintptr_t)given);
    json_object_set_new(out, "status", json_string(status));
    json_object_set_new(out, "original_index", json_integer((json_int_t)index));
    return out;
}

static void set_str(json_t *object, const char *key, struct csn_str value) {
    json_t *text = value.len ? json_stringn(value.ptr, value.len) : NULL;
    if (text) json_object_set_new(object, key, text);
}

static void set_address(json_t *object, const char *key, uint64_t value) {
    char text[24];
    snprintf(text, sizeof(text), "0x%llx", (unsigned long long)value);
    json_object_set_new(object, key, json_string(text));
}

static void put_inline_frame(struct sentry_run *run, struct sentry_module *module, const json_t *given, size_t index,
                             size_t i, uint64_t sym_addr, json_t *out) {
    json_t *frame = new_frame(given, "symbolicated", index);
    const struct csn_frame *found = &run->lookup->frames[i];
    set_str(frame, "symbol", found->name);
    set_str(frame, "function", lookup_name(run->lookup, module->symbols, i));
    set_address(frame, "sym_addr", sym_addr);
    set_str(frame, "abs_path", lookup_path(run->lookup, i));
    set_str(frame, "filename", found->base);
    if (found->line) json_object_set_new(frame, "lineno", json_integer(found->line));
    json_object_set_new(frame, "package", json_string(text_of(module->json, "code_file")));
    json_array_append_new(out, frame);
}

struct placed { struct sentry_module *module; uint64_t offset, given; bool is_malformed; };

static struct placed place_frame(struct sentry_run *run, const json_t *frame) {
    struct placed placed = { .module = NULL };
    const char *mode = text_of(frame, "addr_mode");
    if (!json_number_read(json_object_get(frame, "instruction_addr"), &placed.given)) placed.is_malformed = true;
    if (strncmp(mode, "rel:", 4) == 0) {
        char *end;
        unsigned long index = strtoul(mode + 4, &end, 10);
        if (*end || index >= run->module_count) placed.is_malformed = true;
        else placed.module = &run->modules[index];
        placed.offset = placed.given;
    } else if (*mode && strcmp(mode, "abs") != 0) {
        placed.is_malformed = true;
    } else if ((placed.module = module_at(run, placed.given))) {
        placed.offset = placed.given - placed.module->addr;
    }
    return placed;
}

/* Whether the address is one behind a call. */
static bool is_adjusted(const struct sentry_run *run, const json_t *thread, const json_t *frame, size_t number, bool has_field) {
    static const json_int_t crashes[] = { 4, 5, 6, 7, 8, 11 };
    const json_t *given = json_object_get(frame, "adjust_instruction_addr"), *registers = json_object_get(thread, "registers");
    static const char *const names[] = { "rip", "eip", "pc" };
    if (json_is_boolean(given)) return json_is_true(given);
    if (has_field || number) return true;
    for (size_t i = 0; i < 6; i++)
        if (run->signal == crashes[i]) return false;
    for (size_t i = 0; i < 3; i++) {
        uint64_t ip, addr;
        if (json_number_read(json_object_get(registers, names[i]), &ip) &&
            json_number_read(json_object_get(frame, "instruction_addr"), &addr))
            return ip != addr;
    }
    return false;
}

static void put_frame(struct sentry_run *run, const json_t *given, size_t index, bool adjust, json_t *out) {
    struct placed placed = place_frame(run, given);
    run->frames++;
    if (placed.is_malformed || !placed.module) {
        json_array_append_new(out, new_frame(given, placed.is_malformed ? "malformed" : "unknown_image", index));
        return;
    }
    struct sentry_module *module = placed.module;
    open_module(run, module);
    uint64_t addr = placed.offset + (module->symbols ? module->symbols->image_base : 0) - (adjust && placed.offset ? 1 : 0);
    bool is_found = module->symbols && lookup_address(run->lookup, module->symbols, addr) == CSN_OK &&
                    run->lookup->found.frame_count;
    if (!is_found) {
        const char *status = module->symbols ? "missing_symbol" : module->status == DEBUG_MALFORMED ? "malformed" : "missing";
        json_t *frame = new_frame(given, status, index);
        json_object_set_new(frame, "package", json_string(text_of(module->json, "code_file")));
        json_array_append_new(out, frame);
        return;
    }
    size_t count = run->lookup->found.frame_count;
    uint64_t start = run->lookup->found.function_start - module->symbols->image_base + (module->has_addr ? module->addr : 0);
    for (size_t i = 0; i < count; i++)
        put_inline_frame(run, module, given, index, run->is_caller_first ? count - 1 - i : i, start, out);
}

static json_t *answer_thread(struct sentry_run *run, json_t *thread) {
    json_t *frames = json_object_get(thread, "frames"), *out = json_copy(thread), *list = json_array(), *frame;
    size_t i, count = json_array_size(frames);
    bool has_field = false;
    json_array_foreach(frames, i, frame) has_field = has_field || json_object_get(frame, "adjust_instruction_addr");
    for (i = 0; i < count; i++) {
        frame = json_array_get(frames, i);
        size_t number = run->is_caller_first ? count - 1 - i : i; /* from the innermost */
        put_frame(run, frame, i, is_adjusted(run, thread, frame, number, has_field), list);
    }
    json_object_set_new(out, "frames", list);
    return out;
}

/* ---- the answer ---- */

static json_t *stacks_of(const json_t *root) {
    json_t *stacks = json_object_get(root, "stacktraces");
    return stacks ? stacks : json_object_get(root, "threads");
}

static json_t *answer(struct sentry_run *run, const json_t *root) {
    json_t *out, *list, *thread;
    size_t i;
    if (!take_modules(run, json_object_get(root, "modules"))) return NULL;
    out = json_object();
    run->signal = json_integer_value(json_object_get(root, "signal"));
    run->is_caller_first = strcmp(text_of(json_object_get(root, "options"), "frame_order"), "caller_first") == 0;
    json_object_set_new(out, "status", json_string("completed"));
    if (json_object_get(root, "signal")) json_object_set(out, "signal", json_object_get(root, "signal"));
    json_object_set_new(out, "stacktraces", list = json_array());
    json_array_foreach(stacks_of(root), i, thread) json_array_append_new(list, answer_thread(run, thread));
    json_object_set_new(out, "modules", list = json_array());
    for (i = 0; i < run->module_count; i++) json_array_append_new(list, module_answer(&run->modules[i]));
    return out;
}

/* A request that is worked on, whether or not its client still waits. */
struct sentry_work {
    json_t *root;
    size_t body_size; /* counted among the bodies in memory until it is done */
};

static void compute_answer(struct server *server, void *context, struct poll_answer *out) {
    struct sentry_work *work = context;
    struct sentry_run run = { .server = server, .lookup = lookup_create() };
    json_t *json = run.lookup ? answer(&run, work->root) : NULL;
    char *text = json ? json_dumps(json, JSON_COMPACT) : NULL;
    *out = (struct poll_answer){ .status = text ? 200 : 503, .frames = run.frames };
    text_put(&out->body, text ? text : "{\"detail\":\"out of memory\",\"causes\":[]}");
    free(text);
    json_decref(json);
    for (size_t i = 0; i < run.module_count; i++) pool_release(server->pool, run.modules[i].symbols);
    free(run.modules);
    csn_symbolicator_destroy(run.places);
    lookup_destroy(run.lookup);
    json_decref(work->root);
    atomic_fetch_sub(&server->body_bytes, work->body_size);
    free(work);
}

/* ---- requests ---- */

static enum http_done respond_poll(struct http_request *request, enum poll_status status, const char *id,
                                   struct poll_answer *answer) {
    struct text *body = &request->response.body;
    switch (status) {
    case POLL_DONE:
        request->frames = answer->frames;
        text_free(body);
        *body = answer->body;
        return respond_json(request, answer->status);
    case POLL_PENDING:
        text_char(body, '{');
        text_json_member(body, "status", "pending");
        text_json_member(body, "request_id", id);
        text_format(body, ",\"retry_after\":%d}", RETRY_AFTER_S);
        return respond_json(request, 200);
    case POLL_UNKNOWN: return respond_error(request, 404, "no such request, or its answer was delivered");
    case POLL_FULL: return respond_error(request, 503, "too many requests are under way");
    }
    return respond_error(request, 500, "no answer");
}

/* The argument `timeout`, whole seconds. False, with an answer: it is something else. */
static bool take_timeout(struct http_request *request, bool *has_timeout, uint64_t *out) {
    const char *text = request_argument(request, "timeout");
    *has_timeout = text != NULL;
    *out = 0;
    if (!text) return true;
    size_t digits = strspn(text, "0123456789");
    if (digits && digits <= 18 && !text[digits]) {
        *out = strtoull(text, NULL, 10);
        return true;
    }
    respond_error(request, 400, "timeout is '%.40s', must be a number of seconds", text);
    return false;
}

/* Takes `root`: another thread may be the last that uses it. */
static enum http_done symbolicate(struct http_request *request, json_t *root, bool has_timeout, uint64_t timeout) {
    struct sentry_work *work = malloc(sizeof(*work));
    struct poll_answer out = { .status = 500 };
    char id[REQUEST_ID_SIZE] = "";
    if (!work) {
        json_decref(root);
        return respond_error(request, 503, "out of memory");
    }
    *work = (struct sentry_work){ root, request->body.size };
    atomic_fetch_add(&request->server->body_bytes, work->body_size);
    enum poll_status status = POLL_DONE;
    if (has_timeout && request->server->polls)
        status = polls_start(request->server->polls, request->server, compute_answer, work, request->tenant, timeout, id, &out);
    else compute_answer(request->server, work, &out);
    if (status == POLL_FULL) {
        atomic_fetch_sub(&request->server->body_bytes, work->body_size);
        json_decref(root);
        free(work);
    }
    return respond_poll(request, status, id, &out);
}

enum http_done sentry_symbolicate(struct http_request *request) {
    json_error_t error;
    json_t *root = json_body_load(&request->body, &error), *modules = json_object_get(root, "modules");
    bool has_timeout;
    uint64_t timeout;
    if (!json_is_object(root)) respond_error(request, 400, "the body is not a JSON object");
    else if (!json_is_array(stacks_of(root)) || (modules && !json_is_array(modules)))
        respond_error(request, 400, "stacktraces or modules is missing or not an array");
    else if (take_timeout(request, &has_timeout, &timeout)) return symbolicate(request, root, has_timeout, timeout);
    json_decref(root);
    return HTTP_DONE;
}

/* GET /requests/ID?timeout=S */
enum http_done sentry_request(struct http_request *request) {
    const char *id = request->path + strlen("/requests/");
    struct poll_answer out = { .status = 500 };
    bool has_timeout;
    uint64_t timeout;
    if (!take_timeout(request, &has_timeout, &timeout)) return HTTP_DONE;
    if (!has_timeout) timeout = UINT64_MAX; /* until it is done */
    enum poll_status status =
        !request->server->polls ? POLL_UNKNOWN : polls_wait(request->server->polls, id, request->tenant, timeout, &out);
    return respond_poll(request, status, id, &out);
}
