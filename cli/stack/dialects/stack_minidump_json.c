/* The JSON of minidump-stackwalk: an object with "modules", "threads" and "crashing_thread".
 *
 *     {"frame":1,"function":null,"module":"liborders.so","module_offset":"0x00001161","offset":"0x00007f1af12fe161","trust":"frame_pointer"}
 *
 * In place, frames without a function get "function", "function_offset", "file" and "line", of the function that the
 * call was compiled into, and "inlined" with the names of the calls within it, innermost first. Offsets of callers
 * are those of the byte before. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "stack/dialects/json_members.h"
#include "stack/dialects/stack_json.h"
#include "stack/lines/line_scan.h"
#include "ui/json_span.h"

enum { TEXT_MAX = 4096, INLINED_MAX = 1024 };

bool stack_minidump_recognize(struct csn_str root) {
    struct csn_str value;
    return json_span_find(root, "crash_info", &value) && json_span_find(root, "threads", &value);
}

/* A text of the object, without a NUL. Empty: it has none, or a long one. */
static struct csn_str text_member(struct csn_str object, const char *key, char *scratch) {
    struct csn_str value;
    if (!json_span_find(object, key, &value) || value.len > TEXT_MAX || value.ptr[0] != '"') return (struct csn_str){ "", 0 };
    return (struct csn_str){ scratch, json_span_text(value, scratch) };
}

static bool hex_member(struct csn_str object, const char *key, uint64_t *out) {
    char scratch[TEXT_MAX + 1];
    struct line_scan s = scan_on(text_member(object, key, scratch));
    return scan_hex(&s, out) && scan_at_end(&s);
}

/* ---- the modules ---- */

static bool is_pdb(struct csn_str path) { return path.len > 4 && strncasecmp(path.ptr + path.len - 4, ".pdb", 4) == 0; }

/* Of an image of Windows the code id is a time stamp and a size. Its build id is the GUID of its debug id, of which the first three
 * fields are numbers. All zeros: the dump has none. */
static bool parse_guid(struct csn_str debug_id, struct build_id *out) {
    static const uint8_t order[16] = { 3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15 };
    char digits[32];
    bool is_known = false;
    if (debug_id.len < sizeof(digits)) return false;
    for (size_t i = 0; i < sizeof(digits); i++) {
        digits[i] = debug_id.ptr[2 * order[i / 2] + i % 2];
        is_known |= digits[i] != '0';
    }
    return is_known && build_id_parse((struct csn_str){ digits, sizeof(digits) }, out);
}

static bool add_minidump_module(struct stack_session *session, struct csn_str object) {
    char name[TEXT_MAX + 1], id[TEXT_MAX + 1], debug_file[TEXT_MAX + 1];
    struct module_names names = { .name = text_member(object, "filename", name) };
    uint64_t start, end;
    uint32_t module;
    if (!names.name.len) names.name = text_member(object, "debug_file", name);
    if (!hex_member(object, "base_addr", &start) || !hex_member(object, "end_addr", &end) || end < start) return true;
    if (is_pdb(text_member(object, "debug_file", debug_file))) parse_guid(text_member(object, "debug_id", id), &names.id);
    else build_id_parse(text_member(object, "code_id", id), &names.id);
    if (!session_add_module(session, &names, start, end, 0, &module)) return false;
    session->modules->items[module].bias = start;
    return true;
}

static bool add_minidump_modules(struct stack_session *session, struct csn_str root) {
    struct csn_str list = { "", 0 }, key, object;
    session_use(session, false);
    session_clear_modules(session);
    if (!json_span_find(root, "modules", &list) || !json_span_is_array(list)) return true;
    struct json_items items = json_items_of(list);
    while (json_items_next(&items, &key, &object))
        if (object.ptr[0] == '{' && !add_minidump_module(session, object)) return false;
    return true;
}

/* ---- frames ---- */

/* Offsets count from the first byte; those of an index of an image that is not relocated, from where it lies. */
static uint64_t offset_in_image(struct stack_session *session, uint32_t module, uint64_t offset) {
    uint64_t base = session_image_base(session, module);
    return offset < base ? offset + base : offset;
}

static bool add_minidump_frame(struct stack_session *session, struct csn_str object) {
    char name[TEXT_MAX + 1];
    uint64_t pc = 0, offset;
    uint32_t flags = session->frame_count ? CSN_STACK_EITHER : CSN_STACK_EXACT, module = NO_MODULE;
    hex_member(object, "offset", &pc);
    struct csn_str module_name = text_member(object, "module", name);
    if (module_name.len && hex_member(object, "module_offset", &offset)) module = session_name_module(session, module_name, NULL);
    if (module == NO_MODULE) return session_add_frame(session, pc, NO_MODULE, flags);
    return session_add_frame(session, offset_in_image(session, module, offset), module, flags | CSN_STACK_ADDRESS);
}

static bool has_function_name(struct csn_str object) {
    struct csn_str value;
    return json_span_find(object, "function", &value) && value.ptr[0] == '"';
}

/* "check, square" */
static struct csn_str inlined_names(struct stack_output *output, const struct csn_stack_answer *answer, char *scratch) {
    size_t used = 0;
    for (uint32_t k = 0; k + 1 < answer->frame_count; k++) {
        struct csn_str name = name_text(output->names, answer->frames[k].name);
        if (used + name.len + 2 > INLINED_MAX) break;
        if (k) used = (size_t)((char *)mempcpy(scratch + used, ", ", 2) - scratch);
        memcpy(scratch + used, name.ptr, name.len);
        used += name.len;
    }
    return (struct csn_str){ scratch, used };
}

static void fill_minidump_frame(struct json_writer *w, struct csn_str object, const struct csn_stack_answer *answer) {
    struct json_member members[JSON_MEMBERS_MAX];
    char inlined[INLINED_MAX], path[TEXT_MAX];
    unsigned count = 0;
    bool undecided = answer->candidate_count > 1 && answer->chosen == CSN_NOT_CHOSEN;
    if (!answer->frame_count || undecided || object.ptr[0] != '{' || has_function_name(object)) return;
    const struct csn_frame *own = &answer->frames[answer->frame_count - 1];
    struct csn_str names = inlined_names(w->output, answer, inlined);
    members[count++] = (struct json_member){ "function", MEMBER_TEXT, name_text(w->output->names, own->name), 0 };
    members[count++] = (struct json_member){ "function_offset", MEMBER_HEX, { "", 0 }, own->offset };
    size_t size = csn_frame_path(own, path, sizeof(path));
    if (own->base.len && size < sizeof(path)) members[count++] = (struct json_member){ "file", MEMBER_TEXT, { path, size }, 0 };
    if (own->line) members[count++] = (struct json_member){ "line", MEMBER_NUMBER, { "", 0 }, own->line };
    if (names.len) members[count++] = (struct json_member){ "inlined", MEMBER_TEXT, names, 0 };
    json_copy_until(w, object.ptr);
    json_put_object(w, object, members, count);
}

/* `w`: NULL where the stack is written on its own. */
static bool answer_minidump_thread(struct stack_session *session, struct csn_str thread, struct json_writer *w,
                                   struct stack_output *output) {
    struct csn_error err = CSN_ERROR_INIT;
    struct csn_str frames, key, object;
    if (!json_span_find(thread, "frames", &frames) || !json_span_is_array(frames)) return true;
    session_begin_stack(session);
    struct json_items items = json_items_of(frames);
    while (json_items_next(&items, &key, &object))
        if (object.ptr[0] == '{' && !add_minidump_frame(session, object)) return false;
    if (!session->frame_count) return true;
    if (session_answer(session, &err) < 0) {
        if (!w) output_error(output, err.text[0] ? csn_error_text(&err) : "out of memory");
        return false;
    }
    if (!w) output_stack(output, session);
    items = json_items_of(frames);
    for (size_t i = 0; w && i < session->frame_count && json_items_next(&items, &key, &object);)
        if (object.ptr[0] == '{') fill_minidump_frame(w, object, &session->answers[i++]);
    return true;
}

static bool answer_minidump_threads(struct stack_session *session, struct csn_str threads, struct json_writer *w,
                                    struct stack_output *output) {
    struct json_items items = json_items_of(threads);
    struct csn_str key, thread;
    if (!json_span_is_array(threads)) return true;
    while (json_items_next(&items, &key, &thread))
        if (thread.ptr[0] == '{' && !answer_minidump_thread(session, thread, w, output)) return false;
    return true;
}

bool stack_minidump_report(struct stack_session *session, struct csn_str text, bool in_place, struct stack_output *output,
                           struct stack_json_error *error) {
    struct csn_str root, threads = { "", 0 }, crashing = { "", 0 };
    struct json_fault fault = { "not an object", 0 };
    struct json_writer w = { output, text.ptr };
    bool good = json_span_value(text, &root, &fault) && root.ptr[0] == '{';
    if (good && !json_span_find(root, "threads", &threads)) {
        fault = (struct json_fault){ "no member \"threads\"", (size_t)(root.ptr - text.ptr) };
        good = false;
    }
    if (!good) stack_report_fault("the JSON of minidump-stackwalk", text, &fault, error);
    if (good) {
        json_span_find(root, "crashing_thread", &crashing);
        if (crashing.len && crashing.ptr[0] != '{') crashing.len = 0;
        bool crashing_first = !in_place || crashing.ptr < threads.ptr;
        struct json_writer *writer = in_place ? &w : NULL;
        good = add_minidump_modules(session, root);
        if (good && crashing.len && crashing_first) good = answer_minidump_thread(session, crashing, writer, output);
        if (good) good = answer_minidump_threads(session, threads, writer, output);
        if (good && crashing.len && !crashing_first) good = answer_minidump_thread(session, crashing, writer, output);
    }
    if (in_place) json_copy_until(&w, text.ptr + text.len);
    return good;
}

void stack_report_fault(const char *what, struct csn_str text, const struct json_fault *fault, struct stack_json_error *error) {
    size_t line = 1;
    for (size_t i = 0; i < fault->at; i++) line += text.ptr[i] == '\n';
    snprintf(error->text, sizeof(error->text), "not %s: line %zu: %s", what, line, fault->text);
}

bool stack_report(struct stack_session *session, struct csn_str text, const char *format, bool in_place,
                  struct stack_output *output, struct stack_json_error *error) {
    struct csn_str root;
    struct json_fault fault;
    const bool minidump = format ? strcmp(format, "minidump-json") == 0
                                 : json_span_value(text, &root, &fault) && stack_minidump_recognize(root);
    error->text[0] = 0;
    if (minidump) return stack_minidump_report(session, text, in_place, output, error);
    return stack_ips_report(session, text, in_place, output, error);
}
