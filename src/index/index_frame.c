/* Frames for people: names through the caller's demangler, whole paths. */
#include "index/index_private.h"

/* What a caller's buffer gets: as much of the text as fits, and a NUL. */
struct text_out {
    char *out;
    size_t cap, len;
};

static void put_text(struct text_out *text, const char *ptr, size_t len) {
    size_t left = text->len + 1 < text->cap ? text->cap - 1 - text->len : 0;
    if (left && len) memcpy(text->out + text->len, ptr, len < left ? len : left);
    text->len += len;
}

static size_t end_text(struct text_out *text) {
    if (text->cap) text->out[text->len < text->cap ? text->len : text->cap - 1] = 0;
    return text->len;
}

size_t csn_index_frame_name(const struct csn_index *index, const struct csn_frame *frame, char *out, size_t cap) {
    size_t len = 0;
    if (index->demangle) {
        csn_status status = index->demangle(index->demangle_context, frame->name, out, cap, &len);
        if (status == CSN_OK && len < cap) {
            out[len] = 0;
            return len;
        }
        /* Without the NUL it would have fitted, or it does not fit: the caller comes back with more. */
        if (status == CSN_OK || status == CSN_E_LIMIT) {
            if (cap) out[0] = 0;
            return len;
        }
    }
    struct text_out text = { out, cap, 0 };
    put_text(&text, frame->name.ptr, frame->name.len);
    return end_text(&text);
}

/* The character between directory and file name, 0: none. A directory with backslashes only is a Windows path. */
static char separator_of(struct csn_str directory, struct csn_str base) {
    if (!directory.len || !base.len) return 0;
    char last = directory.ptr[directory.len - 1];
    if (last == '/') return 0;
    if (memchr(directory.ptr, '/', directory.len) || !memchr(directory.ptr, '\\', directory.len)) return '/';
    return last == '\\' ? 0 : '\\';
}

size_t csn_frame_path(const struct csn_frame *frame, char *out, size_t cap) {
    struct text_out text = { out, cap, 0 };
    char separator = separator_of(frame->directory, frame->base);
    put_text(&text, frame->directory.ptr, frame->directory.len);
    put_text(&text, &separator, separator != 0);
    put_text(&text, frame->base.ptr, frame->base.len);
    return end_text(&text);
}
