/* Fields of lines, and what to make of lines. */
#include "formats/symbols/text_lines.h"

#include "base/hex.h"

enum { HEAD_SIZE = 4096 };

struct csn_str csni_line_field(struct csn_str *line) {
    size_t at = 0;
    while (at < line->len && !csni_is_blank(line->ptr[at])) at++;
    struct csn_str field = { line->ptr, at };
    while (at < line->len && csni_is_blank(line->ptr[at])) at++;
    *line = (struct csn_str){ line->ptr + at, line->len - at };
    return field;
}

bool csni_text_hex(struct csn_str text, uint64_t *out) {
    uint64_t v = 0;
    if (text.len > 2 && text.ptr[0] == '0' && (text.ptr[1] == 'x' || text.ptr[1] == 'X'))
        text = (struct csn_str){ text.ptr + 2, text.len - 2 };
    for (size_t i = 0; i < text.len; i++) {
        unsigned d = csni_hex_digit(text.ptr[i]);
        if (d > 15 || v >> 60) return false;
        v = v << 4 | d;
    }
    if (!text.len) return false;
    *out = v;
    return true;
}

void csni_note_line(struct csni_batch_writer *w, uint64_t number, struct csn_str line, const char *what) {
    csni_batch_note(w, CSN_EVENT_DAMAGED_TEXT_LINE, "line %llu: %s: %.*s", (unsigned long long)number, what,
                    (int)(line.len < 80 ? line.len : 80), line.ptr);
}

bool csni_lines_look_like(struct csni_span file, bool (*is_kind)(struct csn_str line)) {
    bool cut = file.size > HEAD_SIZE;
    struct csni_lines lines = { { file.ptr, cut ? HEAD_SIZE : file.size }, 0 };
    struct csn_str line;
    size_t count = 0, of_kind = 0;
    while (csni_lines_next(&lines, &line)) {
        if (!line.len || (cut && !lines.rest.size)) continue; /* the last one may be cut */
        count++;
        if (is_kind(line)) of_kind++;
        if (!of_kind) return false;
    }
    return of_kind > count / 2;
}

struct csn_str csni_text_name(struct csn_str text) {
    const char *nul = text.len ? memchr(text.ptr, 0, text.len) : NULL;
    return (struct csn_str){ text.ptr, nul ? (size_t)(nul - text.ptr) : text.len };
}
