/* Filling in members. */
#include "stack/dialects/json_members.h"

#include "ui/json_out.h"
#include "ui/json_span.h"

void json_copy_until(struct json_writer *w, const char *end) {
    if (end > w->copied) out_bytes(w->output->out, w->copied, (size_t)(end - w->copied));
    w->copied = end;
}

static void put_member_value(struct json_writer *w, const struct json_member *member) {
    struct json_out json = json_on(w->output->out);
    switch (member->kind) {
    case MEMBER_TEXT: json_str(&json, member->text); break;
    case MEMBER_NUMBER: json_number(&json, member->number); break;
    case MEMBER_HEX:
        out_char(w->output->out, '"');
        out_hex(w->output->out, member->number);
        out_char(w->output->out, '"');
        break;
    case MEMBER_TRUE: json_bool(&json, true); break;
    }
}

void json_put_object(struct json_writer *w, struct csn_str object, const struct json_member *members, unsigned count) {
    struct out_buffer *out = w->output->out;
    struct json_items items = json_items_of(object);
    struct csn_str key, value, blanks = { "", 0 }, colon = { ":", 1 };
    const char *end = object.ptr + 1;
    bool first = true, done[JSON_MEMBERS_MAX] = { false };
    w->copied = object.ptr;
    while (json_items_next(&items, &key, &value)) {
        if (first) {
            blanks = (struct csn_str){ object.ptr + 1, (size_t)(key.ptr - object.ptr - 1) };
            colon = (struct csn_str){ key.ptr + key.len, (size_t)(value.ptr - (key.ptr + key.len)) };
        }
        first = false;
        end = value.ptr + value.len;
        for (unsigned i = 0; i < count; i++) {
            if (!json_span_equals(key, members[i].key)) continue;
            json_copy_until(w, value.ptr);
            put_member_value(w, &members[i]);
            w->copied = end;
            done[i] = true;
        }
    }
    json_copy_until(w, end);
    for (unsigned i = 0; i < count; i++) {
        if (done[i]) continue;
        if (!first) out_char(out, ',');
        first = false;
        out_bytes(out, blanks.ptr, blanks.len);
        out_char(out, '"');
        out_text(out, members[i].key);
        out_char(out, '"');
        out_bytes(out, colon.ptr, colon.len);
        put_member_value(w, &members[i]);
    }
    json_copy_until(w, object.ptr + object.len);
}
