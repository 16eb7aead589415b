/* Names that V8 gives functions of JavaScript: `JS:*fib /path/j.js:1:13`. */
#include "formats/symbols/v8_name.h"

/* A decimal number at the end of `text`, after a colon; takes both off. */
static bool take_number(struct csn_str *text, uint32_t *out) {
    size_t at = text->len;
    uint64_t v = 0, unit = 1;
    while (at && text->ptr[at - 1] >= '0' && text->ptr[at - 1] <= '9' && unit < (uint64_t)1 << 32) {
        v += (uint64_t)(text->ptr[--at] - '0') * unit;
        unit *= 10;
    }
    if (at == text->len || !at || text->ptr[at - 1] != ':' || v > UINT32_MAX) return false;
    text->len = at - 1;
    *out = (uint32_t)v;
    return true;
}

/* Whether a path or URL begins here: /x, C:\\x, file:///x, node:fs. */
static bool begins_place(struct csn_str text) {
    size_t at = 0;
    if (!text.len || text.ptr[0] == '/') return text.len > 0;
    while (at < text.len && ((text.ptr[at] | 32) >= 'a' && (text.ptr[at] | 32) <= 'z')) at++;
    return at && at + 1 < text.len && text.ptr[at] == ':';
}

bool csni_split_v8_name(struct csn_str text, struct csn_str *name, struct csn_str *path, uint32_t *line) {
    static const char *const kinds[] = { "JS:", "LazyCompile:", "Function:", "Script:", "Eval:" };
    bool known = false;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) known = known || csni_str_starts(text, kinds[i]);
    uint32_t column, number;
    if (!known || !take_number(&text, &number)) return false;
    *line = number;
    if (take_number(&text, &column)) { /* there were two: the first is the line */
        *line = column;
    }
    size_t space = 0, last = 0;
    for (size_t i = 1; i < text.len && !space; i++) {
        if (text.ptr[i] != ' ') continue;
        last = i;
        if (begins_place((struct csn_str){ text.ptr + i + 1, text.len - i - 1 })) space = i;
    }
    if (!space) space = last;
    if (!space || space + 1 >= text.len) return false;
    *name = (struct csn_str){ text.ptr, space };
    *path = (struct csn_str){ text.ptr + space + 1, text.len - space - 1 };
    return true;
}
