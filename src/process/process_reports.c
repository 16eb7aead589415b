/* Lists of loaded images in crash reports and debuggers.
 *
 *     00007f12'34560000-00007f12'34561fff r-x     0      2000  /system/lib64/libc.so (BuildId: 0123...)      Android tombstones
 *     0x104a28000 -        0x104a2ffff +MyApp arm64  <0102...> /path/MyApp                                   Apple's "Binary Images"
 *     __TEXT    104a28000-104a30000  [ 32K ...] r-x/r-x SM=COW  /path/MyApp                                  vmmap
 *     0x00005653fe210000–0x00005653fe215000 7505fee7  orders  /opt/app/orders                                Swift
 *     [  0] 01020304-0506-... 0x0000000104a28000 /path/MyApp                                                 lldb's "image list" */
#include "process/process_private.h"

#include "base/core/fail.h"
#include "base/core/span.h"
#include "base/hex.h"
#include "base/lines.h"

static bool take_char(struct csn_str *rest, char c) {
    if (!rest->len || rest->ptr[0] != c) return false;
    *rest = (struct csn_str){ rest->ptr + 1, rest->len - 1 };
    return true;
}

/* Hexadecimal, with or without 0x; Android puts an apostrophe in the middle. */
static bool take_hex(struct csn_str *rest, uint64_t *out) {
    uint64_t value = 0;
    size_t i = csni_str_starts(*rest, "0x") ? 2 : 0, first = i, digits = 0;
    for (; i < rest->len; i++) {
        unsigned digit = csni_hex_digit(rest->ptr[i]);
        if (rest->ptr[i] == '\'' && i > first) continue;
        if (digit > 15) break;
        if (++digits > 16) return false;
        value = value << 4 | digit;
    }
    if (!digits) return false;
    *rest = (struct csn_str){ rest->ptr + i, rest->len - i };
    *out = value;
    return true;
}

/* Hexadecimal digits, dashes between them ignored. */
static size_t parse_id(struct csn_str text, uint8_t out[CSN_BUILD_ID_MAX]) {
    size_t digits = 0;
    for (size_t i = 0; i < text.len; i++) {
        unsigned digit = csni_hex_digit(text.ptr[i]);
        if (text.ptr[i] == '-') continue;
        if (digit > 15 || digits == 2 * CSN_BUILD_ID_MAX) return 0;
        uint8_t *byte = &out[digits++ / 2];
        *byte = (uint8_t)(digits % 2 ? digit << 4 : *byte | digit);
    }
    return digits % 2 ? 0 : digits / 2;
}

/* From the first '/' on. */
static bool take_path(struct csn_str rest, struct csn_str *out) {
    const char *slash = rest.len ? memchr(rest.ptr, '/', rest.len) : NULL;
    if (!slash) return false;
    *out = (struct csn_str){ slash, rest.len - (size_t)(slash - rest.ptr) };
    while (out->len && csni_is_blank(out->ptr[out->len - 1])) out->len--;
    return out->len != 0;
}

static bool find_text(struct csn_str text, const char *what, size_t *out) {
    size_t len = strlen(what);
    for (size_t i = 0; i + len <= text.len; i++)
        if (memcmp(text.ptr + i, what, len) == 0) {
            *out = i;
            return true;
        }
    return false;
}

/* What a line describes. */
struct report_image {
    struct csn_process_mapping mapping;
    bool is_image; /* the whole image, not a part of a file */
    bool is_open;  /* it has no end: it reaches up to the next one, or to where `end` is */
    uint8_t id[CSN_BUILD_ID_MAX];
};

static void take_id(struct report_image *out, struct csn_str text) {
    out->mapping.build_id_size = parse_id(text, out->id);
    out->mapping.build_id = out->mapping.build_id_size ? out->id : NULL;
}

/* ---- Android ---- */

/* " (BuildId: 0123...) (load bias 0x1000)" after the path. */
static void cut_android_notes(struct report_image *out) {
    struct csn_str *path = &out->mapping.path;
    size_t at;
    if (find_text(*path, " (BuildId: ", &at)) {
        struct csn_str id = { path->ptr + at + 11, path->len - at - 11 };
        size_t end;
        if (find_text(id, ")", &end)) id.len = end;
        take_id(out, id);
        path->len = at;
    }
    if (find_text(*path, " (load", &at)) path->len = at;
    while (path->len && csni_is_blank(path->ptr[path->len - 1])) path->len--;
}

/* The end is that of the last byte; a mapping without a file has no path. */
static bool parse_android(struct csn_str rest, struct report_image *out) {
    struct csn_process_mapping *m = &out->mapping;
    uint64_t size;
    csni_skip_blanks(&rest);
    csni_skip_text(&rest, "--->"); /* at the fault */
    if (!take_hex(&rest, &m->start) || !take_char(&rest, '-') || !take_hex(&rest, &m->end) || m->end == UINT64_MAX) return false;
    m->end++;
    csni_skip_blanks(&rest);
    if (rest.len < 3 || !memchr("r-", rest.ptr[0], 2) || !memchr("w-", rest.ptr[1], 2) || !memchr("x-", rest.ptr[2], 2))
        return false;
    m->flags = rest.ptr[2] == 'x' ? CSN_MAPPING_EXECUTABLE : 0;
    rest = (struct csn_str){ rest.ptr + 3, rest.len - 3 };
    if (!rest.len || !csni_is_blank(rest.ptr[0])) return false; /* /proc has a fourth letter */
    csni_skip_blanks(&rest);
    if (!take_hex(&rest, &m->file_off)) return false;
    csni_skip_blanks(&rest);
    if (!take_hex(&rest, &size) || size != m->end - m->start) return false;
    if (!take_path(rest, &m->path)) m->path = (struct csn_str){ "", 0 };
    cut_android_notes(out);
    return true;
}

/* ---- Apple ---- */

static bool parse_binary_image(struct csn_str rest, struct report_image *out) {
    struct csn_process_mapping *m = &out->mapping;
    size_t open, close;
    csni_skip_blanks(&rest);
    if (!csni_str_starts(rest, "0x") || !take_hex(&rest, &m->start)) return false;
    csni_skip_blanks(&rest);
    if (!take_char(&rest, '-')) return false;
    csni_skip_blanks(&rest);
    if (!csni_str_starts(rest, "0x") || !take_hex(&rest, &m->end) || m->end == UINT64_MAX) return false;
    m->end++;
    if (!find_text(rest, "<", &open) || !find_text(rest, ">", &close) || close < open) return false;
    take_id(out, (struct csn_str){ rest.ptr + open + 1, close - open - 1 });
    out->is_image = true;
    return take_path((struct csn_str){ rest.ptr + close, rest.len - close }, &m->path);
}

static bool parse_vmmap(struct csn_str rest, struct report_image *out) {
    struct csn_process_mapping *m = &out->mapping;
    csni_skip_blanks(&rest);
    if (!csni_skip_text(&rest, "__TEXT ")) return false;
    csni_skip_blanks(&rest);
    if (!take_hex(&rest, &m->start) || !take_char(&rest, '-') || !take_hex(&rest, &m->end)) return false;
    csni_skip_blanks(&rest);
    size_t blank;
    if (!take_char(&rest, '[') || !find_text(rest, " /", &blank)) return false;
    out->is_image = true;
    return take_path((struct csn_str){ rest.ptr + blank, rest.len - blank }, &m->path);
}

/* The dash is U+2013. A build id may be missing: "<no build ID>". */
static bool parse_swift(struct csn_str rest, struct report_image *out) {
    struct csn_process_mapping *m = &out->mapping;
    size_t blank;
    if (!csni_str_starts(rest, "0x") || !take_hex(&rest, &m->start) || !csni_skip_text(&rest, "\xe2\x80\x93")) return false;
    if (!csni_str_starts(rest, "0x") || !take_hex(&rest, &m->end) || !take_char(&rest, ' ')) return false;
    if (find_text(rest, " ", &blank)) take_id(out, (struct csn_str){ rest.ptr, blank });
    out->is_image = true;
    return take_path(rest, &m->path);
}

/* The list has no sizes, and no order: an image reaches up to the next one, which may be known already. */
static bool parse_lldb(struct csn_str rest, struct report_image *out) {
    enum { IMAGE_MAX = 1 << 30 };
    struct csn_process_mapping *m = &out->mapping;
    size_t close, blank;
    csni_skip_blanks(&rest);
    if (!take_char(&rest, '[') || !find_text(rest, "] ", &close)) return false;
    for (size_t i = 0; i < close; i++)
        if (!csni_is_blank(rest.ptr[i]) && (rest.ptr[i] < '0' || rest.ptr[i] > '9')) return false;
    rest = (struct csn_str){ rest.ptr + close + 2, rest.len - close - 2 };
    if (!find_text(rest, " ", &blank)) return false;
    take_id(out, (struct csn_str){ rest.ptr, blank });
    if (!m->build_id_size) return false;
    rest = (struct csn_str){ rest.ptr + blank, rest.len - blank };
    csni_skip_blanks(&rest);
    if (!csni_str_starts(rest, "0x") || !take_hex(&rest, &m->start) || m->start > UINT64_MAX - IMAGE_MAX) return false;
    m->end = m->start + IMAGE_MAX;
    out->is_image = out->is_open = true;
    return take_path(rest, &m->path);
}

/* ---- any of them ---- */

csn_status csn_process_maps_add_report_line(struct csn_process_maps *maps, uint64_t pid, struct csn_str line,
                                            struct csn_error *err) {
    static bool (*const parsers[])(struct csn_str, struct report_image *) = { parse_android, parse_binary_image,
                                                                              parse_vmmap, parse_swift,
                                                                               parse_lldb };
    while (line.len && (line.ptr[line.len - 1] == '\n' || line.ptr[line.len - 1] == '\r')) line.len--;
    for (size_t i = 0; i < sizeof parsers / sizeof *parsers; i++) {
        struct report_image image = { .mapping = CSN_PROCESS_MAPPING_INIT };
        if (!parsers[i](line, &image)) continue;
        struct csn_process_mapping *m = &image.mapping;
        const uint64_t next = image.is_open ? csni_process_maps_next_start(maps, pid, m->start) : UINT64_MAX;
        if (next < m->end) m->end = next;
        if (!m->path.len || m->start >= m->end || memchr(m->path.ptr, 0, m->path.len)) return CSN_OK;
        return image.is_image ? csn_process_maps_add_image(maps, pid, m, err) : csn_process_maps_add_mapping(maps, pid, m, err);
    }
    return CSN_NONE;
}

csn_status csn_process_maps_add_text(struct csn_process_maps *maps, uint64_t pid, struct csn_str text, size_t *out_lines,
                                     struct csn_error *err) {
    struct csni_lines lines = { .rest = { (const uint8_t *)text.ptr, text.len } };
    struct csn_str line;
    size_t count = 0;
    while (csni_lines_next(&lines, &line)) {
        csn_status status = csn_process_maps_add_line(maps, pid, line, err);
        if (status == CSN_NONE) status = csn_process_maps_add_report_line(maps, pid, line, err);
        if (status < 0) return status;
        count += status == CSN_OK;
    }
    if (out_lines) *out_lines = count;
    return CSN_OK;
}
