/* "(/path/app+0x1139) (BuildId: 0102...)": the module of a frame as sanitizers and LLVM's tools write it. */
#ifndef CALLSIGN_CLI_MODULE_OFFSET_H
#define CALLSIGN_CLI_MODULE_OFFSET_H

#include "stack/lines/line_scan.h"
#include "stack/lines/stack_dialect.h"

/* Behind a part of a frame: no more of a path, but the end of the line, a blank, or what quotes the frame: "<br>", "\"", "\\n". */
static inline bool scan_at_part_end(const struct line_scan *s) {
    const char c = scan_peek(s);
    return scan_at_end(s) || !((c >= '0' && c <= '9') || ((c | ' ') >= 'a' && (c | ' ') <= 'z') || strchr("/._-+:)", c));
}

/* "+0x1139)": where that is, and where the bracket ends. A path may hold the same: the first one that ends the part counts, or else
 * the last one. */
static inline bool find_module_offset(struct line_scan s, size_t *plus, size_t *end, uint64_t *value) {
    bool found = false;
    uint64_t number;
    size_t at;
    while (scan_find(&s, "+0x", &at)) {
        s.at = at + 1;
        if (!scan_hex(&s, &number) || !scan_char(&s, ')')) continue;
        *plus = at;
        *end = s.at;
        *value = number;
        found = true;
        if (scan_at_part_end(&s)) break;
    }
    return found;
}

/* " (BuildId: 0102...)" */
static inline void scan_build_id(struct line_scan *s, struct build_id *out) {
    struct line_scan id = *s;
    size_t end;
    if (!scan_text(&id, " (BuildId: ") || !scan_find(&id, ")", &end)) return;
    build_id_parse((struct csn_str){ s->line.ptr + id.at, end - id.at }, out);
    s->at = end + 1;
}

/* The module of a line, and the build id that may follow. The frame's parts end there. */
static inline bool find_module_part(const struct line_scan *s, struct line_frame *out) {
    size_t plus, end;
    if (!find_module_offset(*s, &plus, &end, &out->value)) return false;
    struct line_scan build = { s->line, end };
    scan_build_id(&build, &out->id);
    out->fill_end = build.at;
    /* The path may hold brackets: it begins after the first " (" that is followed by what ends here. */
    struct line_scan before = { { s->line.ptr, plus }, s->at };
    size_t open = 0, slash;
    if (!scan_find_last(&before, '(', &open)) return false;
    if (scan_find(&before, "(/", &slash)) open = slash;
    out->module = (struct csn_str){ s->line.ptr + open + 1, plus - open - 1 };
    out->site = SITE_LESS_BIAS;
    return out->module.len > 0;
}

#endif
