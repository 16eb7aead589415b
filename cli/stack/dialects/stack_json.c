/* Reading stacks from JSON lines. */
#include "stack/dialects/stack_json.h"

#include <stdio.h>
#include <string.h>

#include "lookup/address_text.h"
#include "ui/cli_message.h"

#if defined(CALLSIGN_HAVE_JANSSON)

#include "ui/jansson_in.h"

enum { ERROR_ROOM = JSON_ERROR_MAX };

/* What a line says wrong, for the answer in its place. */
struct line_error {
    char text[ERROR_ROOM];
};

static bool wrong(struct line_error *error, const char *what, const char *key) {
    snprintf(error->text, sizeof(error->text), "%s: %s", key, what);
    return false;
}

bool stack_json_available(void) { return true; }

static struct csn_str text_of(const json_t *value) {
    if (!json_is_string(value)) return (struct csn_str){ "", 0 };
    return (struct csn_str){ json_string_value(value), json_string_length(value) };
}

/* "0x1139", or a number. */
static bool read_address(const json_t *object, const char *key, uint64_t *out, struct line_error *error) {
    const json_t *value = json_object_get(object, key);
    if (json_is_integer(value) && json_integer_value(value) >= 0) {
        *out = (uint64_t)json_integer_value(value);
        return true;
    }
    if (json_is_string(value) && address_parse(text_of(value), out)) return true;
    return wrong(error, "no hexadecimal address", key);
}

static bool read_optional(const json_t *object, const char *key, uint64_t *out, bool *given, struct line_error *error) {
    *given = json_object_get(object, key) != NULL;
    return !*given || read_address(object, key, out, error);
}

static bool read_module(struct stack_session *session, const json_t *object, struct line_error *error) {
    struct module_names names = { .name = text_of(json_object_get(object, "name")),
                                  .index = text_of(json_object_get(object, "index")) };
    if (!json_is_object(object)) return wrong(error, "not an object", "modules");
    const json_t *id = json_object_get(object, "build_id");
    if (id && !json_is_null(id) && text_of(id).len && !build_id_parse(text_of(id), &names.id))
        return wrong(error, "no hexadecimal build id", "build_id");
    uint64_t start = 0, end = 0, bias = 0;
    bool has_start, has_end, has_bias;
    if (!read_optional(object, "start", &start, &has_start, error)) return false;
    if (!read_optional(object, "end", &end, &has_end, error)) return false;
    if (!read_optional(object, "bias", &bias, &has_bias, error)) return false;
    if (has_start != has_end) return wrong(error, "start and end go together", "modules");
    if (end < start) return wrong(error, "below start", "end");
    if (!has_bias) bias = start;
    uint32_t module;
    if (session_add_module(session, &names, start, end, bias, &module)) return true;
    return wrong(error, session->modules->count == MODULES_MAX ? "more than 65536" : "out of memory", "modules");
}

static bool read_modules(struct stack_session *session, const json_t *list, struct line_error *error) {
    if (!json_is_array(list)) return wrong(error, "not an array", "modules");
    for (size_t i = 0; i < json_array_size(list); i++)
        if (!read_module(session, json_array_get(list, i), error)) return false;
    return true;
}

static bool read_frame(struct stack_session *session, const json_t *object, struct line_error *error) {
    uint64_t value = 0;
    uint32_t module = NO_MODULE, flags = 0;
    if (!json_is_object(object)) return wrong(error, "not an object", "frames");
    bool by_pc = json_object_get(object, "pc") != NULL;
    if (!read_address(object, by_pc ? "pc" : "address", &value, error))
        return by_pc ? false : wrong(error, "needs pc, or module and address", "frames");
    struct csn_str name = text_of(json_object_get(object, "module"));
    if (!by_pc && !name.len) return wrong(error, "needs pc, or module and address", "frames");
    if (name.len) module = session_find_module(session, name);
    if (name.len && module == NO_MODULE && !by_pc) module = session_name_module(session, name, NULL);
    if (!by_pc && module == NO_MODULE) return wrong(error, "more than 65536", "modules");
    if (by_pc && module != NO_MODULE) value -= session->modules->items[module].bias;
    if (module != NO_MODULE) flags |= CSN_STACK_ADDRESS;
    if (json_is_true(json_object_get(object, "exact"))) flags |= CSN_STACK_EXACT;
    if (json_is_true(json_object_get(object, "unreliable"))) flags |= CSN_STACK_UNRELIABLE;
    if (session_add_frame(session, value, module, flags)) return true;
    return wrong(error, "out of memory", "frames");
}

static bool read_frames(struct stack_session *session, const json_t *list, struct line_error *error) {
    if (!json_is_array(list)) return wrong(error, "not an array", "frames");
    if (json_array_size(list) > session->max_frames) {
        snprintf(error->text, sizeof(error->text), "frames: %zu, limit %llu (--max-frames)", json_array_size(list),
                 (unsigned long long)session->max_frames);
        return false;
    }
    session_begin_stack(session);
    for (size_t i = 0; i < json_array_size(list); i++)
        if (!read_frame(session, json_array_get(list, i), error)) return false;
    return true;
}

/* Modules that stand with frames hold for them alone. */
static bool read_line(struct stack_session *session, const json_t *root, bool *has_frames, struct line_error *error) {
    const json_t *modules = json_object_get(root, "modules"), *frames = json_object_get(root, "frames");
    *has_frames = frames != NULL;
    if (!json_is_object(root)) return wrong(error, "not an object", "line");
    if (!modules && !frames) return wrong(error, "neither frames nor modules", "line");
    session_use(session, modules && frames);
    if (modules && !frames) session_clear_modules(session);
    if (modules && !read_modules(session, modules, error)) return false;
    return !frames || read_frames(session, frames, error);
}

/* Without a tree where the line is of the usual shape. */
static bool read_text(struct stack_session *session, struct csn_str line, bool *has_frames, struct line_error *error) {
    json_error_t fault;
    *has_frames = true;
    if (stack_json_plain_line(session, line)) return true;
    json_t *root = json_loadb(line.ptr, line.len, JSON_ALLOW_NUL, &fault);
    if (!root) snprintf(error->text, sizeof(error->text), "not JSON: column %d: %s", fault.column, fault.text);
    bool good = root && read_line(session, root, has_frames, error);
    json_decref(root);
    return good;
}

bool stack_json_read(struct stack_session *session, struct csn_str line, bool *has_frames, struct stack_json_error *error) {
    struct line_error fault = { "" };
    bool good = read_text(session, line, has_frames, &fault);
    snprintf(error->text, sizeof(error->text), "%s", fault.text);
    return good;
}

bool stack_json_line(struct stack_session *session, struct csn_str line, struct stack_output *output) {
    struct line_error error = { "" };
    bool has_frames;
    bool good = read_text(session, line, &has_frames, &error);
    struct csn_error err = CSN_ERROR_INIT;
    if (good && has_frames && session_answer(session, &err) < 0) {
        snprintf(error.text, sizeof(error.text), "%s", err.text[0] ? csn_error_text(&err) : "out of memory");
        good = false;
    }
    if (!good) output_error(output, error.text);
    else if (has_frames) output_stack(output, session);
    return good;
}

#else

bool stack_json_available(void) {
    cli_error(NULL, "this build cannot read JSON (built without jansson)");
    return false;
}

bool stack_json_read(struct stack_session *session, struct csn_str line, bool *has_frames, struct stack_json_error *error) {
    (void)session, (void)line, (void)has_frames;
    snprintf(error->text, sizeof(error->text), "this build cannot read JSON (built without jansson)");
    return false;
}

bool stack_json_line(struct stack_session *session, struct csn_str line, struct stack_output *output) {
    (void)session, (void)line;
    output_error(output, "this build cannot read JSON (built without jansson)");
    return false;
}

#endif
