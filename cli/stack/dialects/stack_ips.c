/* Apple's .ips reports: a line of JSON about the report, then the report as JSON. */
#include "stack/dialects/stack_json.h"

#include <stdio.h>
#include <string.h>

#if defined(CALLSIGN_HAVE_JANSSON)

#include "ui/jansson_in.h"


static struct csn_str text_of(const json_t *object, const char *key) {
    const json_t *value = json_object_get(object, key);
    if (!json_is_string(value)) return (struct csn_str){ "", 0 };
    return (struct csn_str){ json_string_value(value), json_string_length(value) };
}

static uint64_t number_of(const json_t *object, const char *key) {
    const json_t *value = json_object_get(object, key);
    return json_is_integer(value) ? (uint64_t)json_integer_value(value) : 0;
}

bool stack_ips_recognize(struct csn_str line) {
    json_t *root = json_loadb(line.ptr, line.len, 0, NULL);
    bool is = json_is_object(root) && json_object_get(root, "bug_type") && !json_object_get(root, "frames");
    json_decref(root);
    return is;
}

/* Offsets in an image count from its header; an index counts from where the image's file puts that header. */
static bool add_images(struct stack_session *session, const json_t *report) {
    const json_t *images = json_object_get(report, "usedImages");
    session_use(session, false);
    session_clear_modules(session);
    for (size_t i = 0; i < json_array_size(images); i++) {
        const json_t *image = json_array_get(images, i);
        struct module_names names = { .name = text_of(image, "path") };
        if (!names.name.len) names.name = text_of(image, "name");
        build_id_parse(text_of(image, "uuid"), &names.id);
        uint32_t module;
        uint64_t base = number_of(image, "base"), size = number_of(image, "size");
        if (!session_add_module(session, &names, base, base + size < base ? UINT64_MAX : base + size, 0, &module))
            return false;
        const struct csn_index *index = session_index(session, module);
        struct csn_index_info info = { .base_address = 0 };
        if (index) csn_index_get_info(index, &info, sizeof(info));
        session->modules->items[module].bias = base - info.base_address;
    }
    return true;
}

static bool add_frames(struct stack_session *session, const json_t *frames) {
    session_begin_stack(session);
    for (size_t i = 0; i < json_array_size(frames); i++) {
        const json_t *frame = json_array_get(frames, i);
        uint64_t offset = number_of(frame, "imageOffset"), image = number_of(frame, "imageIndex");
        bool known = json_is_integer(json_object_get(frame, "imageIndex")) && image < session->modules->count;
        uint64_t base = known ? session->modules->items[image].start - session->modules->items[image].bias : 0;
        if (!session_add_frame(session, base + offset, known ? (uint32_t)image : NO_MODULE, known ? CSN_STACK_ADDRESS : 0))
            return false;
    }
    return true;
}

static json_t *bytes_json(struct csn_str text) {
    json_t *value = json_stringn(text.ptr, text.len);
    return value ? value : json_stringn("?", 1);
}

/* The outermost function goes where Apple's tools put the symbol; the inlined ones before it, as they do. */
static void fill_frame(json_t *frame, const struct csn_stack_answer *answer, struct stack_output *output) {
    if (!answer->frame_count || (answer->candidate_count > 1 && answer->chosen == CSN_NOT_CHOSEN)) return;
    const struct csn_frame *own = &answer->frames[answer->frame_count - 1], *inner = &answer->frames[0];
    json_object_set_new(frame, "symbol", bytes_json(name_text(output->names, own->name)));
    json_object_set_new(frame, "symbolLocation", json_integer((json_int_t)own->offset));
    if (inner->base.len) json_object_set_new(frame, "sourceFile", bytes_json(inner->base));
    if (inner->line) json_object_set_new(frame, "sourceLine", json_integer(inner->line));
    if (answer->frame_count < 2) return;
    json_t *list = json_array();
    for (uint32_t i = 0; i + 1 < answer->frame_count; i++) {
        json_t *item = json_object();
        json_object_set_new(item, "symbol", bytes_json(name_text(output->names, answer->frames[i].name)));
        if (answer->frames[i].base.len) json_object_set_new(item, "sourceFile", bytes_json(answer->frames[i].base));
        if (answer->frames[i].line) json_object_set_new(item, "sourceLine", json_integer(answer->frames[i].line));
        json_array_append_new(list, item);
    }
    json_object_set_new(frame, "inlineFrames", list);
}

static bool answer_thread(struct stack_session *session, json_t *thread, bool in_place, struct stack_output *output) {
    json_t *frames = json_object_get(thread, "frames");
    struct csn_error err = CSN_ERROR_INIT;
    if (!json_is_array(frames)) return true;
    if (!add_frames(session, frames) || session_answer(session, &err) < 0) {
        if (!in_place) output_error(output, err.text[0] ? csn_error_text(&err) : "out of memory");
        return false;
    }
    if (!in_place) output_stack(output, session);
    for (size_t i = 0; in_place && i < session->frame_count; i++)
        fill_frame(json_array_get(frames, i), &session->answers[i], output);
    return true;
}

static int put_json(const char *text, size_t size, void *out) {
    out_bytes(out, text, size);
    return 0;
}

static bool answer_report(struct stack_session *session, json_t *report, bool in_place, struct stack_output *output) {
    json_t *threads = json_object_get(report, "threads"), *last = json_object_get(report, "lastExceptionBacktrace");
    bool good = add_images(session, report);
    for (size_t i = 0; good && i < json_array_size(threads); i++)
        good = answer_thread(session, json_array_get(threads, i), in_place, output);
    if (good && json_is_array(last)) {
        json_t *thread = json_pack("{s:O}", "frames", last);
        good = thread && answer_thread(session, thread, in_place, output);
        json_decref(thread);
    }
    return good;
}

bool stack_ips_report(struct stack_session *session, struct csn_str text, bool in_place, struct stack_output *output) {
    const char *newline = text.len ? memchr(text.ptr, '\n', text.len) : NULL;
    struct csn_str head = { text.ptr, newline ? (size_t)(newline + 1 - text.ptr) : text.len };
    struct csn_str body = { text.ptr + head.len, text.len - head.len };
    json_error_t fault;
    /* A report without its first line is one too. */
    json_t *report = json_loadb(body.ptr, body.len, JSON_ALLOW_NUL | JSON_DISABLE_EOF_CHECK, &fault);
    if (!report || !json_object_get(report, "threads")) {
        json_decref(report);
        report = json_loadb(text.ptr, text.len, JSON_ALLOW_NUL, &fault);
        head.len = 0;
    }
    bool good = json_is_object(report) && answer_report(session, report, in_place, output);
    if (!json_is_object(report)) {
        char message[200];
        snprintf(message, sizeof(message), "not an .ips report: line %d: %s", fault.line, fault.text);
        if (!in_place) output_error(output, message);
    }
    if (in_place) {
        if (good) {
            out_bytes(output->out, head.ptr, head.len);
            json_dump_callback(report, put_json, output->out, JSON_INDENT(2) | JSON_PRESERVE_ORDER);
            out_char(output->out, '\n');
        } else {
            out_bytes(output->out, text.ptr, text.len);
        }
    }
    json_decref(report);
    return good;
}

#else

bool stack_ips_recognize(struct csn_str line) {
    (void)line;
    return false;
}

bool stack_ips_report(struct stack_session *session, struct csn_str text, bool in_place, struct stack_output *output) {
    (void)session, (void)text, (void)in_place;
    output_error(output, "this build cannot read JSON: it was made without jansson");
    return false;
}

#endif
