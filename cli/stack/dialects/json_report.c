/* Reports of crashes in JSON: threads with frames, to be answered or written again with names in them.
 *
 * In place, frames get "function", "function_offset", "file" and "line", of the function that the call was compiled
 * into, and "inlined" with the names of the calls within it, innermost first. */
#define _GNU_SOURCE
#include "stack/dialects/json_report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stack/dialects/json_members.h"
#include "stack/lines/line_scan.h"

enum { INLINED_MAX = 1024 };

struct csn_str report_text_member(struct csn_str object, const char *key, char *scratch) {
    struct csn_str value;
    if (!json_span_find(object, key, &value) || value.len > REPORT_TEXT_MAX || value.ptr[0] != '"')
        return (struct csn_str){ "", 0 };
    return (struct csn_str){ scratch, json_span_text(value, scratch) };
}

bool report_hex_member(struct csn_str object, const char *key, uint64_t *out) {
    char scratch[REPORT_TEXT_MAX + 1];
    struct line_scan s = scan_on(report_text_member(object, key, scratch));
    return scan_hex(&s, out) && scan_at_end(&s);
}

/* ---- frames ---- */

/* "check, square" */
static struct csn_str inlined_names(struct stack_output *output, const struct csn_stack_answer *answer, char *scratch) {
    size_t used = 0;
    for (uint32_t k = 0; k + 1 < answer->frame_count; k++) {
        struct csn_str name = name_text(output->names, answer->frames[k].name);
        if (used + name.len + 2 > INLINED_MAX) break;
        if (k) scratch[used++] = ',', scratch[used++] = ' ';
        memcpy(scratch + used, name.ptr, name.len);
        used += name.len;
    }
    return (struct csn_str){ scratch, used };
}

static void fill_report_frame(struct json_writer *w, const struct report_shape *shape, struct csn_str object,
                              const struct csn_stack_answer *answer) {
    struct json_member members[JSON_MEMBERS_MAX];
    char inlined[INLINED_MAX], path[REPORT_TEXT_MAX];
    unsigned count = 0;
    bool undecided = answer->candidate_count > 1 && answer->chosen == CSN_NOT_CHOSEN;
    if (!answer->frame_count || undecided || object.ptr[0] != '{' || (shape->is_named && shape->is_named(object))) return;
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

bool report_answer_thread(struct stack_session *session, const struct report_shape *shape, struct csn_str thread,
                          struct json_writer *w, struct stack_output *output) {
    struct csn_error err = CSN_ERROR_INIT;
    struct csn_str frames, key, object;
    if (!json_span_find(thread, shape->frames, &frames) || !json_span_is_array(frames)) return true;
    session_begin_stack(session);
    struct json_items items = json_items_of(frames);
    while (json_items_next(&items, &key, &object))
        if (object.ptr[0] == '{' && !shape->add(session, object)) return false;
    if (!session->frame_count) return true;
    if (session_answer(session, &err) < 0) {
        if (!w) output_error(output, err.text[0] ? csn_error_text(&err) : "out of memory");
        return false;
    }
    if (!w) output_stack(output, session);
    items = json_items_of(frames);
    for (size_t i = 0; w && i < session->frame_count && json_items_next(&items, &key, &object);)
        if (object.ptr[0] == '{') fill_report_frame(w, shape, object, &session->answers[i++]);
    return true;
}

bool report_answer_threads(struct stack_session *session, const struct report_shape *shape, struct csn_str threads,
                           struct json_writer *w, struct stack_output *output) {
    struct json_items items = json_items_of(threads);
    struct csn_str key, thread;
    if (!json_span_is_array(threads)) return true;
    while (json_items_next(&items, &key, &thread))
        if (thread.ptr[0] == '{' && !report_answer_thread(session, shape, thread, w, output)) return false;
    return true;
}

/* ---- any report ---- */

void stack_report_fault(const char *what, struct csn_str text, const struct json_fault *fault, struct stack_json_error *error) {
    size_t line = 1;
    for (size_t i = 0; i < fault->at; i++) line += text.ptr[i] == '\n';
    snprintf(error->text, sizeof(error->text), "not %s: line %zu: %s", what, line, fault->text);
}

bool stack_report(struct stack_session *session, struct csn_str text, const char *format, bool in_place,
                  struct stack_output *output, struct stack_json_error *error) {
    struct csn_str root;
    struct json_fault fault;
    const bool is_json = !format && json_span_value(text, &root, &fault);
    const bool minidump = format ? strcmp(format, "minidump-json") == 0 : is_json && stack_minidump_recognize(root);
    const bool dotnet = format ? strcmp(format, "dotnet-json") == 0 : is_json && stack_dotnet_recognize(root);
    error->text[0] = 0;
    if (minidump) return stack_minidump_report(session, text, in_place, output, error);
    if (dotnet) return stack_dotnet_report(session, text, in_place, output, error);
    return stack_ips_report(session, text, in_place, output, error);
}
