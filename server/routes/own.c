/* POST /v1/symbolicate: the stacks of `callsign stack`, one JSON object or one a line. Modules are found by build_id
 * or debug_id. */
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
#include "routes/own_arrow.h"
#include "routes/routes.h"

enum { WHY_SIZE = 256, MOST_MODULES = 100000 };

struct own_module {
    const char *name;
    struct symbols *symbols;
    char why[WHY_SIZE];
};
struct own_request {
    struct http_request *http;
    struct csn_symbolicator *symbolicator;
    json_t *modules_json;            /* of the last line that had modules */
    struct own_module *modules;
    size_t module_count;
    uint32_t *slots;                 /* modules by their names: number + 1, 0: free */
    size_t slot_mask;
    struct name_scratch scratch;
    bool is_unreachable;
};

/* Of an image that lies below the place where it was linked, the bias is negative. */
static bool take_bias(const json_t *value, uint64_t *out) {
    if (!json_is_integer(value)) return json_number_read(value, out);
    *out = (uint64_t)json_integer_value(value);
    return true;
}

static void close_modules(struct own_request *own) {
    csn_symbolicator_forget(own->symbolicator);
    for (size_t i = 0; i < own->module_count; i++) pool_release(own->http->server->pool, own->modules[i].symbols);
    free(own->modules);
    free(own->slots);
    json_decref(own->modules_json);
    own->modules = NULL;
    own->slots = NULL;
    own->modules_json = NULL;
    own->module_count = 0;
}

static void open_module(struct own_request *own, const json_t *value, struct own_module *out) {
    struct symbols_key key = { .name = "" };
    const char *build_id = json_string_value(json_object_get(value, "build_id")),
               *debug_id = json_string_value(json_object_get(value, "debug_id"));
    out->name = json_string_value(json_object_get(value, "name"));
    if (!out->name) out->name = "";
    if (artifact_name_is_safe(out->name)) snprintf(key.name, sizeof(key.name), "%s", out->name);
    if (!build_id || !build_id_canonical(build_id, strlen(build_id), key.build_id)) key.build_id[0] = 0;
    if (!debug_id || !debug_id_canonical(debug_id, key.debug_id)) key.debug_id[0] = 0;
    snprintf(out->why, sizeof(out->why), "the module has no build_id or debug_id");
    if (pool_status_is_passing(symbols_acquire(own->http->server->pool, &key, &out->symbols, out->why, sizeof(out->why))))
        own->is_unreachable = true;
}

/* The slot of a name, or the free one where it belongs. */
static uint32_t *slot_of(const struct own_request *own, const char *name) {
    size_t at = (size_t)(text_hash(name, strlen(name)) >> 20) & own->slot_mask;
    while (own->slots[at] && strcmp(own->modules[own->slots[at] - 1].name, name) != 0) at = (at + 1) & own->slot_mask;
    return &own->slots[at];
}

static bool make_slots(struct own_request *own, size_t count) {
    for (own->slot_mask = 1; own->slot_mask < 2 * count;) own->slot_mask = 2 * own->slot_mask + 1;
    own->slots = calloc(own->slot_mask + 1, sizeof(*own->slots));
    return own->slots;
}

/* False: one of the numbers is none. */
static bool place_module(const struct symbols *symbols, const json_t *value, struct csn_module *out) {
    const json_t *start = json_object_get(value, "start"), *end = json_object_get(value, "end"),
                 *bias = json_object_get(value, "bias");
    if (start && !json_is_null(start) && !json_number_read(start, &out->start)) return false;
    if (end && !json_is_null(end) && !json_number_read(end, &out->end)) return false;
    if (!bias || json_is_null(bias))
        out->bias = out->start - (symbols ? symbols->image_base : 0); /* its first byte is at `start` */
    else if (!take_bias(bias, &out->bias)) return false;
    else if (symbols) out->bias += symbols_image_address(symbols, 0);
    return true;
}

static const char *set_modules(struct own_request *own, json_t *list) {
    const char *why = NULL;
    size_t i, count = json_array_size(list);
    json_t *value;
    if (!json_is_array(list) || count > MOST_MODULES) return "modules is not an array, or too long";
    close_modules(own);
    own->modules = calloc(count + 1, sizeof(*own->modules));
    struct csn_module *modules = calloc(count + 1, sizeof(*modules));
    if (!own->modules || !modules || !make_slots(own, count)) {
        free(modules);
        return "out of memory";
    }
    own->modules_json = json_incref(list);
    json_array_foreach(list, i, value) {
        open_module(own, value, &own->modules[i]);
        own->module_count++;
        uint32_t *slot = slot_of(own, own->modules[i].name);
        if (!*slot) *slot = (uint32_t)i + 1; /* of several with one name, the first */
        modules[i].index = own->modules[i].symbols ? own->modules[i].symbols->index : NULL;
        if (!place_module(own->modules[i].symbols, value, &modules[i]))
            why = "the start, end or bias of a module is neither a number nor 0x and hexadecimal digits";
    }
    if (!why && csn_symbolicator_set_modules(own->symbolicator, modules, count, NULL) < 0) why = "too many modules";
    free(modules);
    return why;
}

static bool find_module(const struct own_request *own, const json_t *value, uint32_t *out) {
    const char *name = json_string_value(value);
    if (json_is_integer(value) && json_integer_value(value) >= 0 && (uint64_t)json_integer_value(value) < own->module_count) {
        *out = (uint32_t)json_integer_value(value);
        return true;
    }
    const uint32_t number = name && own->slots ? *slot_of(own, name) : 0;
    *out = number ? number - 1 : 0;
    return number > 0;
}

static const char *take_frame(const struct own_request *own, const json_t *value, struct csn_stack_frame *out) {
    const json_t *module = json_object_get(value, "module");
    *out = (struct csn_stack_frame){ .flags = json_is_true(json_object_get(value, "exact")) ? CSN_STACK_EXACT : 0 };
    if (!module && !json_number_read(json_object_get(value, "pc"), &out->pc))
        return "a frame has no module, and no pc that is a number or 0x and hexadecimal digits";
    if (!module) return NULL;
    if (!find_module(own, module, &out->module)) return "a frame names a module that is not in modules";
    out->flags |= CSN_STACK_ADDRESS;
    if (!json_number_read(json_object_get(value, "address"), &out->pc))
        return "a frame has a module, and no address that is a number or 0x and hexadecimal digits";
    const struct symbols *symbols = own->modules[out->module].symbols;
    if (symbols) out->pc = symbols_index_address(symbols, out->pc);
    return NULL;
}

/* ---- answers ---- */

static void put_str(struct text *out, const char *key, struct csn_str value) {
    if (!value.len) return;
    if (out->ptr[out->size - 1] != '{') text_char(out, ',');
    text_format(out, "\"%s\":", key);
    text_json(out, value.ptr, value.len);
}

static struct csn_str shown_name(struct own_request *own, struct symbols *symbols, struct csn_str name) {
    struct csn_frame frame = { .name = name };
    return symbols ? symbols_name(symbols, &frame, &own->scratch) : name;
}

static void put_frame(struct own_request *own, struct symbols *symbols, const struct csn_frame *frame, struct text *out) {
    char path[4096];
    size_t size = csn_frame_path(frame, path, sizeof(path));
    text_char(out, '{');
    put_str(out, "function", shown_name(own, symbols, frame->name));
    text_format(out, "%s\"offset\":%llu", out->ptr[out->size - 1] == '{' ? "" : ",", (unsigned long long)frame->offset);
    if (size && size < sizeof(path)) {
        put_str(out, "file", (struct csn_str){ path, size });
        if (frame->line) text_format(out, ",\"line\":%u", frame->line);
    }
    text_put(out, frame->flags & CSN_FRAME_INLINED ? ",\"inlined\":true}" : ",\"inlined\":false}");
}

static void put_names(struct own_request *own, struct symbols *symbols, const struct csn_stack_answer *a,
                      bool remaining_only, struct text *out) {
    uint32_t count = remaining_only && a->remaining ? a->remaining_count : a->candidate_count;
    text_char(out, '[');
    for (uint32_t i = 0; i < count; i++) {
        struct csn_str name = shown_name(own, symbols, a->candidates[remaining_only && a->remaining ? a->remaining[i] : i]);
        if (i) text_char(out, ',');
        text_json(out, name.ptr, name.len);
    }
    text_char(out, ']');
}

static void put_merged(struct own_request *own, struct symbols *symbols, const struct csn_stack_answer *a, struct text *out) {
    static const char *const confidences[] = { "none", "low", "medium", "high", "certain" };
    bool is_chosen = a->chosen != CSN_NOT_CHOSEN;
    text_put(out, ",\"merged\":{\"candidates\":");
    put_names(own, symbols, a, false, out);
    if (is_chosen) put_str(out, "chosen", shown_name(own, symbols, a->candidates[a->chosen]));
    text_json_member(out, "by", !is_chosen ? "ambiguous" : a->choice == CSN_CHOICE_OUTER ? "outer" : "caller");
    if (a->confidence < 5) text_json_member(out, "confidence", confidences[a->confidence]);
    if (!is_chosen) {
        text_put(out, ",\"remaining\":");
        put_names(own, symbols, a, true, out);
    }
    if (a->evidence_frame != UINT32_MAX) {
        text_format(out, ",\"evidence\":{\"frame\":%u", a->evidence_frame);
        put_str(out, "pattern", a->evidence_pattern);
        text_char(out, '}');
    }
    text_char(out, '}');
}

static const char *reason_of(const struct own_request *own, const struct csn_stack_answer *a) {
    uint32_t reason = a->reason;
    if (a->error) return a->error;
    if (a->module < own->module_count && !own->modules[a->module].symbols) return own->modules[a->module].why;
    for (uint32_t i = 0; reason == CSN_REASON_COMPLETE && i < a->frame_count; i++) reason = a->frames[i].reason;
    return reason == CSN_REASON_COMPLETE ? NULL : csn_reason_text(reason);
}

static void put_answer(struct own_request *own, const struct csn_stack_answer *a, struct text *out) {
    struct symbols *symbols = a->module < own->module_count ? own->modules[a->module].symbols : NULL;
    const char *reason = reason_of(own, a);
    text_char(out, '{');
    if (a->module < own->module_count) text_json_member(out, "module", own->modules[a->module].name);
    text_format(out, "%s\"address\":\"0x%llx\",\"frames\":[", out->ptr[out->size - 1] == '{' ? "" : ",",
                (unsigned long long)(symbols ? symbols_image_address(symbols, a->addr) : a->addr));
    for (uint32_t i = 0; i < a->frame_count; i++) {
        if (i) text_char(out, ',');
        put_frame(own, symbols, &a->frames[i], out);
    }
    text_char(out, ']');
    if (a->candidate_count > 1) put_merged(own, symbols, a, out);
    if (reason) text_json_member(out, "reason", reason);
    text_char(out, '}');
}

static const char *answer_stack(struct own_request *own, const json_t *list, struct text *out) {
    size_t i, count = json_array_size(list);
    const struct csn_stack_answer *answers;
    const json_t *value;
    const char *why = json_is_array(list) ? NULL : "frames is not an array";
    struct csn_stack_frame *frames = calloc(count + 1, sizeof(*frames));
    if (!frames) why = "out of memory";
    json_array_foreach(list, i, value) if (!why) why = take_frame(own, value, &frames[i]);
    if (!why && csn_symbolicator_answer(own->symbolicator, frames, count, &answers, NULL) < 0) why = "the stack is too long";
    free(frames);
    if (why) return why;
    own->http->frames += count;
    text_put(out, "{\"frames\":[");
    for (i = 0; i < count; i++) {
        if (i) text_char(out, ',');
        put_answer(own, &answers[i], out);
    }
    text_put(out, "]}\n");
    return NULL;
}

/* False: the answer is why there is none. */
static bool answer_value(struct own_request *own, const json_t *value, struct text *out) {
    json_t *modules = json_object_get(value, "modules");
    const json_t *frames = json_object_get(value, "frames");
    const char *why = json_is_object(value) && (modules || frames) ? NULL : "not an object with modules or frames";
    if (!why && modules) why = set_modules(own, modules);
    if (!why && frames) why = answer_stack(own, frames, out);
    if (!why) return true;
    text_char(out, '{');
    text_json_member(out, "error", why);
    text_put(out, "}\n");
    return false;
}

static enum http_done answer_body(struct own_request *own) {
    struct http_request *request = own->http;
    struct json_body body;
    size_t count = 0, answered = 0;
    json_body_begin(&body, &request->body);
    while (body.at < body.size) {
        json_error_t error;
        json_t *value = json_body_next(&body, &error);
        if (!value) {
            size_t rest = body.at + strspn(body.ptr + body.at, " \t\r\n"), at = body.at;
            if (rest >= body.size && count) break;
            const bool has_bytes = body.ptr == text_cstr(&request->body); /* and not of what was replaced before */
            json_body_end(&body);
            if (!has_bytes) return respond_error(request, 400, "the body is not JSON: %s in value %zu", error.text, count + 1);
            return respond_error(request, 400, "the body is not JSON: %s at byte %zu", error.text,
                                 at + (size_t)(error.position > 0 ? error.position : 0));
        }
        answered += answer_value(own, value, &request->response.body);
        json_decref(value);
        count++;
    }
    json_body_end(&body);
    if (own->is_unreachable) return respond_error(request, 503, "the store cannot be reached");
    return count ? respond_json(request, answered ? 200 : 400) : respond_error(request, 400, "the body is empty");
}

enum http_done own_symbolicate(struct http_request *request) {
    struct own_request own = { .http = request };
    if (is_arrow_request(request)) return own_symbolicate_arrow(request);
    if (csn_symbolicator_create(NULL, &own.symbolicator, NULL) < 0) return respond_error(request, 503, "out of memory");
    enum http_done done = answer_body(&own);
    close_modules(&own);
    csn_symbolicator_destroy(own.symbolicator);
    free(own.scratch.ptr);
    return done;
}
