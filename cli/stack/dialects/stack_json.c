/* Reading stacks from JSON lines. Members that are not read may hold anything. */
#include "stack/dialects/stack_json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lookup/address_text.h"
#include "ui/json_span.h"

enum { ERROR_ROOM = JSON_ERROR_MAX, NUMBER_SHOWN = 40 };

/* What a line says wrong, for the answer in its place. */
struct line_error {
    char text[ERROR_ROOM];
};

static bool wrong(struct line_error *error, const char *what, const char *key) {
    snprintf(error->text, sizeof(error->text), "%s: %s", key, what);
    return false;
}

/* A line whose strings become texts. Those of one object lie beside each other in `scratch`, which is as long as the line. */
struct line_reader {
    struct stack_session *session;
    struct line_error *error;
    size_t max;
    char *scratch; /* NULL: no string has needed it */
    size_t used;
};

static bool has_control_character(struct csn_str text) {
    for (size_t i = 0; i < text.len; i++)
        if ((unsigned char)text.ptr[i] < ' ') return true;
    return false;
}

/* Empty for what is no string. False: it cannot be read. */
static bool read_string(struct line_reader *r, struct csn_str value, const char *key, struct csn_str *out) {
    *out = (struct csn_str){ "", 0 };
    if (!value.len || value.ptr[0] != '"') return true;
    const struct csn_str inside = { value.ptr + 1, value.len - 2 };
    if (has_control_character(inside)) return wrong(r->error, "not JSON: a control character in a string", key);
    *out = inside;
    if (!inside.len || !memchr(inside.ptr, '\\', inside.len)) return true;
    if (!r->scratch && !(r->scratch = malloc(r->max))) return wrong(r->error, "out of memory", key);
    *out = (struct csn_str){ r->scratch + r->used, json_span_text(value, r->scratch + r->used) };
    r->used += out->len;
    return true;
}

/* "0x1139", or a number. */
static bool read_address(struct line_reader *r, struct csn_str value, const char *key, uint64_t *out) {
    struct csn_str text;
    if (json_span_u64(value, out)) return true;
    if (!read_string(r, value, key, &text)) return false;
    if (text.len && address_parse(text, out)) return true;
    if (!value.len || value.ptr[0] == '"') return wrong(r->error, "no hexadecimal address", key);
    snprintf(r->error->text, sizeof(r->error->text), "%s: no hexadecimal address, nor a number below 2^64: %.*s", key,
             value.len < NUMBER_SHOWN ? (int)value.len : NUMBER_SHOWN, value.ptr);
    return false;
}

/* Of a member that may be missing. */
static bool read_optional(struct line_reader *r, struct csn_str value, const char *key, uint64_t *out) {
    return !value.len || read_address(r, value, key, out);
}

enum { MODULE_NAME, MODULE_INDEX, MODULE_BUILD_ID, MODULE_START, MODULE_END, MODULE_BIAS, MODULE_MEMBERS };
static const char *const module_members[MODULE_MEMBERS] = { "name", "index", "build_id", "start", "end", "bias" };

static bool read_module_names(struct line_reader *r, const struct csn_str *values, struct module_names *out) {
    struct csn_str id;
    if (!read_string(r, values[MODULE_NAME], "name", &out->name)) return false;
    if (!read_string(r, values[MODULE_INDEX], "index", &out->index)) return false;
    if (!read_string(r, values[MODULE_BUILD_ID], "build_id", &id)) return false;
    return !id.len || build_id_parse(id, &out->id) || wrong(r->error, "no hexadecimal build id", "build_id");
}

static bool read_module(struct line_reader *r, struct csn_str object) {
    struct module_names names = { .name = { "", 0 } };
    struct csn_str values[MODULE_MEMBERS];
    uint64_t start = 0, end = 0, bias = 0;
    uint32_t module;
    if (!json_span_is_object(object)) return wrong(r->error, "not an object", "modules");
    json_span_members(object, module_members, MODULE_MEMBERS, values);
    r->used = 0;
    if (!read_module_names(r, values, &names)) return false;
    if (!read_optional(r, values[MODULE_START], "start", &start)) return false;
    if (!read_optional(r, values[MODULE_END], "end", &end)) return false;
    if (!read_optional(r, values[MODULE_BIAS], "bias", &bias)) return false;
    if (!values[MODULE_START].len != !values[MODULE_END].len) return wrong(r->error, "start and end go together", "modules");
    if (end < start) return wrong(r->error, "below start", "end");
    if (!values[MODULE_BIAS].len) bias = start;
    if (session_add_module(r->session, &names, start, end, bias, &module)) return true;
    return wrong(r->error, r->session->modules->count == MODULES_MAX ? "more than 65536" : "out of memory", "modules");
}

static bool read_modules(struct line_reader *r, struct csn_str list) {
    struct json_items items = json_items_of(list);
    struct csn_str key, object;
    if (!json_span_is_array(list)) return wrong(r->error, "not an array", "modules");
    while (json_items_next(&items, &key, &object))
        if (!read_module(r, object)) return false;
    return true;
}

enum { FRAME_PC, FRAME_MODULE, FRAME_ADDRESS, FRAME_EXACT, FRAME_UNRELIABLE, FRAME_MEMBERS };
static const char *const frame_members[FRAME_MEMBERS] = { "pc", "module", "address", "exact", "unreliable" };

/* NO_MODULE for a pc of which no module is named that is known. */
static bool find_frame_module(struct line_reader *r, struct csn_str name, bool by_pc, uint32_t *out) {
    *out = NO_MODULE;
    if (!by_pc && !name.len) return wrong(r->error, "needs pc, or module and address", "frames");
    if (name.len) *out = session_find_module(r->session, name);
    if (name.len && *out == NO_MODULE && !by_pc) *out = session_name_module(r->session, name, NULL);
    return by_pc || *out != NO_MODULE || wrong(r->error, "more than 65536", "modules");
}

static bool read_frame_address(struct line_reader *r, const struct csn_str *values, uint64_t *out) {
    if (values[FRAME_PC].len) return read_address(r, values[FRAME_PC], "pc", out);
    if (!values[FRAME_ADDRESS].len) return wrong(r->error, "needs pc, or module and address", "frames");
    return read_address(r, values[FRAME_ADDRESS], "address", out);
}

static bool read_frame(struct line_reader *r, struct csn_str object) {
    struct csn_str values[FRAME_MEMBERS], name;
    uint64_t value = 0;
    uint32_t module, flags = 0;
    if (!json_span_is_object(object)) return wrong(r->error, "not an object", "frames");
    json_span_members(object, frame_members, FRAME_MEMBERS, values);
    r->used = 0;
    bool by_pc = values[FRAME_PC].len > 0;
    if (!read_frame_address(r, values, &value) || !read_string(r, values[FRAME_MODULE], "module", &name)) return false;
    if (!find_frame_module(r, name, by_pc, &module)) return false;
    if (by_pc && module != NO_MODULE) value -= r->session->modules->items[module].bias;
    if (module != NO_MODULE) flags |= CSN_STACK_ADDRESS;
    if (json_span_is_true(values[FRAME_EXACT])) flags |= CSN_STACK_EXACT;
    if (json_span_is_true(values[FRAME_UNRELIABLE])) flags |= CSN_STACK_UNRELIABLE;
    return session_add_frame(r->session, value, module, flags) || wrong(r->error, "out of memory", "frames");
}

static bool read_frames(struct line_reader *r, struct csn_str list) {
    struct json_items items = json_items_of(list);
    struct csn_str key, object;
    if (!json_span_is_array(list)) return wrong(r->error, "not an array", "frames");
    const size_t count = json_span_count(list);
    if (count > r->session->max_frames) {
        snprintf(r->error->text, sizeof(r->error->text), "frames: %zu, limit %llu (--max-frames)", count,
                 (unsigned long long)r->session->max_frames);
        return false;
    }
    session_begin_stack(r->session);
    while (json_items_next(&items, &key, &object))
        if (!read_frame(r, object)) return false;
    return true;
}

/* Modules that stand with frames hold for them alone. */
static bool read_line(struct line_reader *r, struct csn_str root, bool *has_frames) {
    static const char *const members[] = { "modules", "frames" };
    struct csn_str values[2];
    json_span_members(root, members, 2, values);
    const bool has_modules = values[0].len > 0;
    *has_frames = values[1].len > 0;
    if (!json_span_is_object(root)) return wrong(r->error, "not an object", "line");
    if (!has_modules && !*has_frames) return wrong(r->error, "neither frames nor modules", "line");
    session_use(r->session, has_modules && *has_frames);
    if (has_modules && !*has_frames) session_clear_modules(r->session);
    if (has_modules && !read_modules(r, values[0])) return false;
    return !*has_frames || read_frames(r, values[1]);
}

static bool read_any_line(struct stack_session *session, struct csn_str line, bool *has_frames, struct line_error *error) {
    struct line_reader reader = { .session = session, .error = error, .max = line.len };
    struct csn_str root;
    struct json_fault fault;
    if (!json_span_only_value(line, &root, &fault)) {
        snprintf(error->text, sizeof(error->text), "not JSON: column %zu: %s", fault.at + 1, fault.text);
        return false;
    }
    bool good = read_line(&reader, root, has_frames);
    free(reader.scratch);
    return good;
}

/* At once where the line is of the usual shape. */
static bool read_text(struct stack_session *session, struct csn_str line, bool *has_frames, struct line_error *error) {
    *has_frames = true;
    return stack_json_plain_line(session, line) || read_any_line(session, line, has_frames, error);
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
