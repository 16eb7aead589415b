/* Lines and fields of a Breakpad symbol file, without a copy. */
#include "formats/breakpad/breakpad_text.h"

#include "base/hex.h"
#include "base/lines.h"


const char *csni_breakpad_next_line(const char *p, const char *end, struct csni_breakpad_line *out) {
    struct csn_str line;
    const char *next = csni_next_line(p, end, &line);
    *out = (struct csni_breakpad_line){ .p = p, .end = p + line.len };
    while (out->end > p && out->end[-1] == '\r') out->end--; /* any number of CRs, as Breakpad */
    return next;
}

static void skip_breakpad_blanks(struct csni_breakpad_line *line) {
    while (line->p < line->end && csni_is_blank(*line->p)) line->p++;
}

/* Ends a field at `p`: there must be a blank or the end. */
static bool end_field(struct csni_breakpad_line *line, const char *p) {
    if (p < line->end && !csni_is_blank(*p)) return false;
    line->p = p;
    skip_breakpad_blanks(line);
    return true;
}

enum csni_breakpad_keyword csni_breakpad_keyword(struct csni_breakpad_line *line) {
    static const struct {
        const char *text;
        size_t len;
        enum csni_breakpad_keyword keyword;
    } keywords[] = {
        { "FUNC", 4, CSNI_BREAKPAD_FUNC },     { "INLINE", 6, CSNI_BREAKPAD_INLINE },
        { "STACK", 5, CSNI_BREAKPAD_STACK },   { "PUBLIC", 6, CSNI_BREAKPAD_PUBLIC },
        { "FILE", 4, CSNI_BREAKPAD_FILE },     { "INLINE_ORIGIN", 13, CSNI_BREAKPAD_INLINE_ORIGIN },
        { "INFO", 4, CSNI_BREAKPAD_INFO },     { "MODULE", 6, CSNI_BREAKPAD_MODULE },
    };
    size_t len = (size_t)(line->end - line->p);
    /* Most lines are rows, whose addresses dumpers write with small letters. */
    if (!len || *line->p < 'F' || *line->p > 'S') return CSNI_BREAKPAD_OTHER;
    for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++) {
        if (len <= keywords[i].len || memcmp(line->p, keywords[i].text, keywords[i].len) != 0) continue;
        if (end_field(line, line->p + keywords[i].len)) return keywords[i].keyword;
    }
    return CSNI_BREAKPAD_OTHER;
}

bool csni_breakpad_hex(struct csni_breakpad_line *line, uint64_t *out) {
    uint64_t v = 0;
    const char *p = line->p;
    unsigned d;
    while (p < line->end && (d = csni_hex_digit(*p)) < 16) {
        if (p - line->p == 16) return false;
        v = v << 4 | d;
        p++;
    }
    if (p == line->p || !end_field(line, p)) return false;
    *out = v;
    return true;
}

bool csni_breakpad_dec(struct csni_breakpad_line *line, uint32_t *out) {
    uint64_t v = 0;
    const char *p = line->p;
    while (p < line->end && *p >= '0' && *p <= '9') {
        v = v * 10 + (uint64_t)(*p++ - '0');
        if (v > UINT32_MAX) return false;
    }
    if (p == line->p || !end_field(line, p)) return false;
    *out = (uint32_t)v;
    return true;
}

struct csn_str csni_breakpad_field(struct csni_breakpad_line *line) {
    const char *p = line->p;
    while (p < line->end && !csni_is_blank(*p)) p++;
    struct csn_str field = { line->p, (size_t)(p - line->p) };
    end_field(line, p);
    return field;
}

size_t csni_breakpad_count_fields(struct csni_breakpad_line line) {
    size_t count = 0;
    bool after_blank = true;
    for (const char *p = line.p; p < line.end; p++) {
        bool blank = csni_is_blank(*p);
        count += after_blank && !blank;
        after_blank = blank;
    }
    return count;
}

bool csni_breakpad_rest(struct csni_breakpad_line *line, struct csn_str *out) {
    size_t len = (size_t)(line->end - line->p);
    if (!len || memchr(line->p, 0, len)) return false;
    *out = (struct csn_str){ line->p, len };
    return true;
}

bool csni_breakpad_multiple(struct csni_breakpad_line *line) {
    return line->p < line->end && *line->p == 'm' && end_field(line, line->p + 1);
}

bool csni_breakpad_row(struct csni_breakpad_line line, struct csni_breakpad_row *out) {
    return csni_breakpad_hex(&line, &out->addr) && csni_breakpad_hex(&line, &out->size) &&
           csni_breakpad_dec(&line, &out->line) && csni_breakpad_dec(&line, &out->file) && line.p == line.end;
}

/* ---- the fast way ---- */

enum {
    HEX_MAX = 16,
    DEC_MAX = 9,                                      /* digits that surely fit 32 bits */
    PLAIN_ROW_MAX = 2 * (HEX_MAX + 1) + 2 * (DEC_MAX + 1) /* bytes that a plain row takes at most */
};

/* Digits and the one byte after them, which is `stop`; NULL: something else. Reads no more than HEX_MAX + 1 bytes. */
static inline const char *plain_hex(const char *p, uint64_t *out) {
    uint64_t v = 0;
    const char *begin = p;
    unsigned d;
    while ((d = csni_hex_digit(*p)) < 16 && p - begin < HEX_MAX) {
        v = v << 4 | d;
        p++;
    }
    *out = v;
    return p > begin && *p == ' ' ? p + 1 : NULL;
}

static inline const char *plain_dec(const char *p, char stop, uint32_t *out) {
    uint32_t v = 0;
    const char *begin = p;
    while (*p >= '0' && *p <= '9' && p - begin < DEC_MAX) v = v * 10 + (uint32_t)(*p++ - '0');
    *out = v;
    return p > begin && *p == stop ? p + 1 : NULL;
}

const char *csni_breakpad_plain_row(const char *p, const char *end, struct csni_breakpad_row *out) {
    if (end - p < PLAIN_ROW_MAX) return NULL; /* every read below stays within as many bytes */
    if ((p = plain_hex(p, &out->addr)) && (p = plain_hex(p, &out->size)) && (p = plain_dec(p, ' ', &out->line)))
        return plain_dec(p, '\n', &out->file);
    return NULL;
}
