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

static const struct report_kind *const kinds[] = { &minidump_report, &dotnet_report, &ips_report };
enum { KIND_COUNT = sizeof(kinds) / sizeof(kinds[0]) };

/* NULL: none is recognized. */
static const struct report_kind *kind_of_value(struct csn_str root, const char *format) {
    for (size_t i = 0; i < KIND_COUNT; i++)
        if ((!format || strcmp(format, kinds[i]->format) == 0) && kinds[i]->recognize(root)) return kinds[i];
    return NULL;
}

static const struct report_kind *kind_of_format(const char *format) {
    for (size_t i = 0; i < KIND_COUNT; i++)
        if (strcmp(format, kinds[i]->format) == 0) return kinds[i];
    return &ips_report;
}

/* What the text is read as, whether it is one or not. */
static const struct report_kind *kind_of_text(struct csn_str text, const char *format) {
    struct csn_str root;
    struct json_fault fault;
    if (format) return kind_of_format(format);
    const struct report_kind *kind = json_span_value(text, &root, &fault) ? kind_of_value(root, NULL) : NULL;
    return kind ? kind : &ips_report;
}

static void say_fault(const char *what, struct csn_str text, size_t at, const char *fault, struct stack_json_error *error) {
    snprintf(error->text, sizeof(error->text), "not %s: line %zu: %s", what, json_span_line(text, at), fault);
}

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

/* From the beginning of the line where a value is broken: another report may begin there, because the one before it was cut. If
 * that is the first line, from the next one. */
static struct csn_str text_after_fault(struct csn_str text, size_t at) {
    const char *end = memrchr(text.ptr, '\n', at);
    if (!end) end = memchr(text.ptr, '\n', text.len);
    return end ? report_rest(text, end + 1) : (struct csn_str){ "", 0 };
}

/* Blanks, and lines that begin no report, are passed. No line is read more than a few times. False: there is no other report. */
static bool find_next(struct csn_str rest, const char *format, struct csn_str *out, const struct report_kind **kind) {
    while (rest.len) {
        struct csn_str root;
        struct json_fault fault = { "", 0 };
        size_t blanks = 0;
        while (blanks < rest.len && is_blank(rest.ptr[blanks])) blanks++;
        rest = report_rest(rest, rest.ptr + blanks);
        if (rest.len && rest.ptr[0] == '{' && json_span_value(rest, &root, &fault)) {
            *kind = kind_of_value(root, format);
            *out = rest;
            if (*kind) return true;
            rest = report_rest(rest, root.ptr + root.len);
        }
        rest = text_after_fault(rest, fault.at);
    }
    return false;
}

bool stack_report(struct stack_session *session, struct csn_str text, const char *format, bool in_place,
                  struct stack_output *output, struct stack_json_error *error) {
    struct json_writer w = { output, text.ptr };
    struct csn_str part = text;
    const struct report_kind *kind = kind_of_text(text, format);
    bool good = true;
    error->text[0] = 0;
    do {
        struct csn_str report;
        struct json_fault fault = { "not an object", 0 };
        if (kind->find(part, &report, &fault)) {
            good &= kind->answer(session, report, in_place ? &w : NULL, output);
            part = report_rest(text, report.ptr + report.len);
        } else {
            if (!error->text[0]) say_fault(kind->what, text, (size_t)(part.ptr - text.ptr) + fault.at, fault.text, error);
            good = false;
            part = text_after_fault(part, fault.at);
        }
    } while (find_next(part, format, &part, &kind));
    if (in_place) json_copy_until(&w, text.ptr + text.len);
    return good;
}
