/* Apple's .ips reports: a line of JSON about the report, then the report as JSON. In place, only what is filled in
 * changes: the report is read as spans of its own text, and everything between the new members is copied. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "stack/dialects/json_report.h"
#include "ui/json_span.h"

static uint64_t find_number(struct csn_str object, const char *key, bool *found) {
    struct csn_str value;
    uint64_t number = 0;
    *found = json_span_find(object, key, &value) && json_span_u64(value, &number);
    return number;
}

/* ---- the images ---- */

/* Offsets in an image count from its header; an index counts from where the image's file puts that header. */
static bool add_image(struct stack_session *session, struct csn_str image, char *scratch) {
    struct module_names names = { .name = { "", 0 } };
    struct csn_str value;
    bool found;
    uint32_t module;
    size_t used = 0;
    if (json_span_find(image, "path", &value)) used = json_span_text(value, scratch);
    if (!used && json_span_find(image, "name", &value)) used = json_span_text(value, scratch);
    names.name = (struct csn_str){ scratch, used };
    if (json_span_find(image, "uuid", &value))
        build_id_parse((struct csn_str){ scratch + used, json_span_text(value, scratch + used) }, &names.id);
    uint64_t base = find_number(image, "base", &found), size = find_number(image, "size", &found);
    if (!session_add_module(session, &names, base, base + size < base ? UINT64_MAX : base + size, 0, &module)) return false;
    session->modules->items[module].bias = base - session_image_base(session, module);
    return true;
}

static bool add_images(struct stack_session *session, struct csn_str report) {
    struct csn_str images = { "", 0 }, key, image;
    session_use(session, false);
    session_clear_modules(session);
    if (!json_span_find(report, "usedImages", &images)) return true;
    char *scratch = malloc(images.len + 1); /* two strings of an image are shorter */
    bool good = scratch != NULL;
    struct json_items items = json_items_of(images);
    while (good && json_items_next(&items, &key, &image)) good = add_image(session, image, scratch);
    free(scratch);
    return good;
}

/* ---- writing frames ---- */

enum { MEMBERS_MAX = 5 };

/* Of frame `k` of the answer; the outermost function is the frame's own, as in reports that Apple symbolicated. */
static unsigned make_members(struct json_writer *w, const struct csn_stack_answer *answer, uint32_t k, struct json_member *out) {
    const struct csn_frame *frame = &answer->frames[k];
    unsigned count = 0;
    out[count++] = (struct json_member){ "symbol", MEMBER_TEXT, name_text(w->output->names, frame->name), 0 };
    out[count++] = (struct json_member){ "symbolLocation", MEMBER_NUMBER, { "", 0 }, frame->offset };
    if (frame->base.len) out[count++] = (struct json_member){ "sourceFile", MEMBER_TEXT, frame->base, 0 };
    if (frame->line) out[count++] = (struct json_member){ "sourceLine", MEMBER_NUMBER, { "", 0 }, frame->line };
    if (k + 1 < answer->frame_count) out[count++] = (struct json_member){ "inline", MEMBER_TRUE, { "", 0 }, 0 };
    return count;
}

static struct csn_str blanks_before(struct csn_str frame) {
    const char *from = frame.ptr;
    while (strchr(" \t\r\n", from[-1]) && from[-1]) from--;
    return (struct csn_str){ from, (size_t)(frame.ptr - from) };
}

/* An inlined call becomes a frame of its own before the one that it was inlined into; `own_only`: the report has them. */
static void fill_frame(struct json_writer *w, struct csn_str frame, const struct csn_stack_answer *answer, bool own_only) {
    if (!answer->frame_count || (answer->candidate_count > 1 && answer->chosen == CSN_NOT_CHOSEN)) return;
    struct csn_str blanks = blanks_before(frame);
    json_copy_until(w, frame.ptr);
    for (uint32_t k = own_only ? answer->frame_count - 1 : 0; k < answer->frame_count; k++) {
        struct json_member members[MEMBERS_MAX];
        unsigned count = make_members(w, answer, k, members);
        json_put_object(w, frame, members, count);
        if (k + 1 == answer->frame_count) break;
        out_char(w->output->out, ',');
        out_bytes(w->output->out, blanks.ptr, blanks.len);
    }
}

/* ---- the stacks ---- */

/* The frames of a report, without the inlined calls that Apple's tools and callsign have put before them. */
struct frame_items {
    struct json_items items;
    bool has_inlined; /* the last frame has some */
};

/* Whether the function was inlined into that of the next frame, which answers for both. */
static bool is_inlined_into_next(struct csn_str frame, struct json_items rest) {
    static const char *const places[] = { "imageOffset", "imageIndex" };
    struct csn_str key, next, value;
    if (!json_span_find(frame, "inline", &value) || value.ptr[0] != 't' || !json_items_next(&rest, &key, &next)) return false;
    for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
        bool found, next_found;
        uint64_t number = find_number(frame, places[i], &found);
        if (number != find_number(next, places[i], &next_found) || !found || !next_found) return false;
    }
    return true;
}

static struct frame_items frame_items_of(struct csn_str frames) { return (struct frame_items){ json_items_of(frames), false }; }

static bool frame_items_next(struct frame_items *items, struct csn_str *frame) {
    struct csn_str key;
    items->has_inlined = false;
    while (json_items_next(&items->items, &key, frame)) {
        if (!is_inlined_into_next(*frame, items->items)) return true;
        items->has_inlined = true;
    }
    return false;
}

static bool add_frames(struct stack_session *session, struct csn_str frames) {
    struct frame_items items = frame_items_of(frames);
    struct csn_str frame;
    session_begin_stack(session);
    while (frame_items_next(&items, &frame)) {
        bool has_offset, has_image;
        uint64_t offset = find_number(frame, "imageOffset", &has_offset), image = find_number(frame, "imageIndex", &has_image);
        bool known = has_image && image < session->modules->count;
        uint64_t base = known ? session->modules->items[image].start - session->modules->items[image].bias : 0;
        if (!session_add_frame(session, base + offset, known ? (uint32_t)image : NO_MODULE, known ? CSN_STACK_ADDRESS : 0))
            return false;
    }
    return true;
}

/* `w`: NULL where the stack is written on its own. */
static bool answer_frames(struct stack_session *session, struct csn_str frames, struct json_writer *w,
                          struct stack_output *output) {
    struct csn_error err = CSN_ERROR_INIT;
    if (!json_span_is_array(frames)) return true;
    if (!add_frames(session, frames) || session_answer(session, &err) < 0) {
        if (!w) output_error(output, err.text[0] ? csn_error_text(&err) : "out of memory");
        return false;
    }
    if (!w) output_stack(output, session);
    struct frame_items items = frame_items_of(frames);
    struct csn_str frame;
    for (size_t i = 0; w && i < session->frame_count && frame_items_next(&items, &frame); i++)
        if (frame.ptr[0] == '{') fill_frame(w, frame, &session->answers[i], items.has_inlined);
    return true;
}

static bool answer_threads(struct stack_session *session, struct csn_str threads, struct json_writer *w,
                           struct stack_output *output) {
    struct json_items items = json_items_of(threads);
    struct csn_str key, thread, frames;
    while (json_items_next(&items, &key, &thread))
        if (json_span_find(thread, "frames", &frames) && !answer_frames(session, frames, w, output)) return false;
    return true;
}

/* In place, in the order of the text. */
static bool answer_report(struct stack_session *session, struct csn_str report, struct json_writer *w,
                          struct stack_output *output) {
    struct csn_str threads = { "", 0 }, last = { "", 0 };
    json_span_find(report, "threads", &threads);
    json_span_find(report, "lastExceptionBacktrace", &last);
    if (!add_images(session, report)) return false;
    bool last_first = w && last.len && threads.len && last.ptr < threads.ptr;
    if (last_first && !answer_frames(session, last, w, output)) return false;
    if (!answer_threads(session, threads, w, output)) return false;
    return last_first || answer_frames(session, last, w, output);
}

/* The report after its first line; a report without that line is one too. */
static bool find_report(struct csn_str text, struct csn_str *out, struct json_fault *fault) {
    struct csn_str head, report, threads;
    if (!json_span_value(text, &head, fault)) return false;
    *out = head;
    if (json_span_find(head, "threads", &threads)) return true;
    struct csn_str rest = report_rest(text, head.ptr + head.len);
    if (!json_span_value(rest, &report, fault)) {
        fault->at += (size_t)(rest.ptr - text.ptr);
        return false;
    }
    *out = report;
    if (report.ptr[0] == '{') return true;
    *fault = (struct json_fault){ "not an object", (size_t)(report.ptr - text.ptr) };
    return false;
}

/* Stacks in JSON have "frames". */
static bool is_head(struct csn_str root) {
    struct csn_str value;
    return json_span_find(root, "bug_type", &value) && !json_span_find(root, "frames", &value);
}

bool stack_ips_recognize(struct csn_str line) {
    struct csn_str root;
    struct json_fault fault;
    return json_span_value(line, &root, &fault) && is_head(root);
}

static bool recognize_ips(struct csn_str root) {
    struct csn_str value;
    if (json_span_find(root, "bug_type", &value)) return is_head(root);
    return json_span_find(root, "usedImages", &value) && json_span_find(root, "threads", &value);
}

const struct report_kind ips_report = { .format = "ips", .what = "an .ips report", .recognize = recognize_ips, .find = find_report,
                                        .answer = answer_report };
