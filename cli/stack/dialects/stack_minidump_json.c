/* The JSON of minidump-stackwalk: an object with "modules", "threads" and "crashing_thread".
 *
 *     {"frame":1,"function":null,"module":"liborders.so","module_offset":"0x00001161","offset":"0x00007f1af12fe161","trust":"frame_pointer"}
 *
 * In place, frames without a function are filled in (json_report.c). Offsets of callers are those of the byte before. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "stack/dialects/json_report.h"
#include "ui/json_span.h"

static bool recognize_minidump(struct csn_str root) {
    struct csn_str value;
    return json_span_find(root, "crash_info", &value) && json_span_find(root, "threads", &value);
}

/* ---- the modules ---- */

static bool is_pdb(struct csn_str path) { return path.len > 4 && strncasecmp(path.ptr + path.len - 4, ".pdb", 4) == 0; }

/* Of an image of Windows the code id is a time stamp and a size. Its build id is the GUID of its debug id. */
static bool add_minidump_module(struct stack_session *session, struct csn_str object) {
    char name[REPORT_TEXT_MAX + 1], id[REPORT_TEXT_MAX + 1], debug_file[REPORT_TEXT_MAX + 1];
    struct module_names names = { .name = report_text_member(object, "filename", name) };
    uint64_t start, end;
    uint32_t module;
    if (!names.name.len) names.name = report_text_member(object, "debug_file", name);
    if (!report_hex_member(object, "base_addr", &start) || !report_hex_member(object, "end_addr", &end) || end < start) return true;
    if (is_pdb(report_text_member(object, "debug_file", debug_file)))
        build_id_parse_guid(report_text_member(object, "debug_id", id), &names.id);
    else build_id_parse(report_text_member(object, "code_id", id), &names.id);
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

static bool add_minidump_frame(struct stack_session *session, struct csn_str object) {
    char name[REPORT_TEXT_MAX + 1];
    uint64_t pc = 0, offset;
    uint32_t flags = session->frame_count ? CSN_STACK_EITHER : CSN_STACK_EXACT, module = NO_MODULE;
    report_hex_member(object, "offset", &pc);
    struct csn_str module_name = report_text_member(object, "module", name);
    if (module_name.len && report_hex_member(object, "module_offset", &offset))
        module = session_name_module(session, module_name, NULL);
    if (module == NO_MODULE) return session_add_frame(session, pc, NO_MODULE, flags);
    return session_add_frame(session, session_offset_address(session, module, offset), module, flags | CSN_STACK_ADDRESS);
}

static bool has_function_name(struct csn_str object) {
    struct csn_str value;
    return json_span_find(object, "function", &value) && value.ptr[0] == '"';
}

static const struct report_shape minidump_shape = { .frames = "frames", .add = add_minidump_frame, .is_named = has_function_name };

static bool find_minidump(struct csn_str text, struct csn_str *out, struct json_fault *fault) {
    struct csn_str threads;
    if (!json_span_value(text, out, fault) || out->ptr[0] != '{') return false;
    if (json_span_find(*out, "threads", &threads)) return true;
    *fault = (struct json_fault){ "no member \"threads\"", (size_t)(out->ptr - text.ptr) };
    return false;
}

/* In place, in the order of the text. */
static bool answer_minidump(struct stack_session *session, struct csn_str report, struct json_writer *w,
                            struct stack_output *output) {
    struct csn_str threads = { "", 0 }, crashing = { "", 0 };
    json_span_find(report, "threads", &threads);
    json_span_find(report, "crashing_thread", &crashing);
    const bool has_crashing = crashing.len && crashing.ptr[0] == '{', crashing_first = !w || crashing.ptr < threads.ptr;
    if (!add_minidump_modules(session, report)) return false;
    if (has_crashing && crashing_first && !report_answer_thread(session, &minidump_shape, crashing, w, output)) return false;
    if (!report_answer_threads(session, &minidump_shape, threads, w, output)) return false;
    return !has_crashing || crashing_first || report_answer_thread(session, &minidump_shape, crashing, w, output);
}

const struct report_kind minidump_report = { .format = "minidump-json", .what = "the JSON of minidump-stackwalk",
                                             .recognize = recognize_minidump, .find = find_minidump, .answer = answer_minidump };
