/* Call-site files: which form one has, and the form of lines of text:
 *
 *     FUNCTION OFFSET [internal] [external] [NAME | /PATTERN/]...
 *
 * Fields are separated by white space; one that holds white space or begins with " or # stands in double quotes, with \" and \\.
 * A # that begins a field makes the rest of the line a comment. */
#include "convert/call_sites/call_site_file.h"

#include "base/core/fail.h"
#include "base/core/span.h"
#include "base/lines.h"
#include "convert/call_sites/call_site_yaml.h"

static const char byte_order_mark[] = "\xef\xbb\xbf"; /* that editors of Windows write */

struct line {
    const struct csn_call_site_file *file;
    const char *p, *begin, *end; /* p: after what has been read */
    uint32_t number;
    CSNI_VEC(char) text;         /* of a quoted field */
};

struct field {
    struct csn_str text;
    const char *at;
    bool quoted;
};

static csn_status fail_at(const struct line *line, const char *at, const char *what, struct csn_str text,
                          struct csn_error *err) {
    return csni_fail(err, CSN_E_FORMAT, NULL, 0, "%s:%u:%u: %s: '%.*s'", line->file->name, line->number,
                     (unsigned)(at - line->begin) + 1, what, (int)(text.len < 60 ? text.len : 60), text.ptr);
}

static csn_status read_quoted(struct line *line, struct field *out, struct csn_error *err) {
    line->text.count = 0;
    for (line->p++; line->p < line->end && *line->p != '"'; line->p++) {
        if (*line->p == '\\' && line->p + 1 < line->end && (line->p[1] == '"' || line->p[1] == '\\')) line->p++;
        if (!csni_vec_push(&line->text, *line->p)) return csni_fail_memory(err, line->text.count);
    }
    struct csn_str all = { out->at, (size_t)(line->end - out->at) };
    if (line->p == line->end) return fail_at(line, out->at, "a quote that does not end", all, err);
    line->p++;
    out->text = (struct csn_str){ line->text.items, line->text.count };
    out->quoted = true;
    return CSN_OK;
}

/* CSN_NONE: the line has no more. */
static csn_status next_field(struct line *line, struct field *out, struct csn_error *err) {
    while (line->p < line->end && (*line->p == ' ' || *line->p == '\t' || *line->p == '\r')) line->p++;
    if (line->p == line->end || *line->p == '#') return CSN_NONE;
    *out = (struct field){ .at = line->p };
    if (*line->p == '"') return read_quoted(line, out, err);
    while (line->p < line->end && *line->p != ' ' && *line->p != '\t' && *line->p != '\r') line->p++;
    out->text = (struct csn_str){ out->at, (size_t)(line->p - out->at) };
    return CSN_OK;
}

static csn_status read_callee(struct line *line, const struct field *f, struct csni_given_sites *out, struct csn_error *err) {
    struct csn_str text = f->text;
    uint32_t flag = f->quoted ? 0 : csni_call_site_flag(text, true);
    if (flag) {
        out->sites.items[out->sites.count - 1].flags |= flag;
        return CSN_OK;
    }
    bool is_pattern = text.len >= 2 && text.ptr[0] == '/' && text.ptr[text.len - 1] == '/';
    if (!f->quoted && !is_pattern && text.len > 1 && text.ptr[0] == '/')
        return fail_at(line, f->at, "a pattern that does not end; with spaces in it, put it in double quotes", text, err);
    if (is_pattern) text = (struct csn_str){ text.ptr + 1, text.len - 2 };
    if (!text.len) return fail_at(line, f->at, "a name or pattern is to be here", text, err);
    return csni_given_add_pattern(out, text, !is_pattern, err);
}

static csn_status read_call_site_line(struct line *line, uint32_t file, struct csni_given_sites *out,
                                      struct csn_error *err) {
    struct field f;
    csn_status status = next_field(line, &f, err);
    if (status != CSN_OK) return status < 0 ? status : CSN_OK;
    if (!f.text.len) return fail_at(line, f.at, "a function is to be here", f.text, err);
    struct csni_given_site site = { .function = f.text, .line = line->number, .file = file };
    CSNI_TRY(csni_given_add_site(out, &site, err));
    status = next_field(line, &f, err);
    if (status < 0) return status;
    struct csn_str nothing = { "", 0 };
    if (status == CSN_NONE) return fail_at(line, line->p, "a return offset is to be here", nothing, err);
    if (!csni_call_site_number(f.text, &out->sites.items[out->sites.count - 1].return_off))
        return fail_at(line, f.at, "this is no return offset, such as 0x20", f.text, err);
    while ((status = next_field(line, &f, err)) == CSN_OK) CSNI_TRY(read_callee(line, &f, out, err));
    return status < 0 ? status : CSN_OK;
}

static csn_status read_text_form(const struct csn_call_site_file *file, uint32_t number, struct csni_given_sites *out,
                                    struct csn_error *err) {
    struct line line = { .file = file, .text.alloc = out->sites.alloc };
    struct csn_str all = { file->bytes, file->size };
    if (csni_str_starts(all, byte_order_mark)) all.ptr += 3, all.len -= 3;
    const char *p = all.ptr, *end = p + all.len;
    csn_status status = CSN_OK;
    if (all.len && memchr(p, 0, all.len))
        return csni_fail(err, CSN_E_FORMAT, NULL, 0, "%s: is no text: it has NUL bytes", file->name);
    while (p < end && status >= 0) {
        struct csn_str whole;
        const char *next = csni_next_line(p, end, &whole);
        line.begin = line.p = p;
        line.end = p + whole.len;
        line.number++;
        status = read_call_site_line(&line, number, out, err);
        p = next;
    }
    csni_vec_deinit(&line.text);
    return status;
}

/* ---- which form ---- */

/* YAML and JSON by what stands first after white space and comments: "functions:", "{", "---" or "%YAML". */
static bool is_yaml(struct csni_span bytes) {
    static const char *const openings[] = { "functions:", "\"functions\":", "{", "---", "%YAML", "functions :" };
    struct csn_str text = { (const char *)bytes.ptr, bytes.size };
    if (csni_str_starts(text, byte_order_mark)) text.ptr += 3, text.len -= 3;
    while (text.len) {
        if (*text.ptr == '#') {
            while (text.len && *text.ptr != '\n') text.ptr++, text.len--;
        } else if (csni_is_blank(*text.ptr) || *text.ptr == '\r' || *text.ptr == '\n') {
            text.ptr++, text.len--;
        } else {
            break;
        }
    }
    for (size_t i = 0; i < sizeof openings / sizeof *openings; i++)
        if (csni_str_starts(text, openings[i])) return true;
    return false;
}

csn_status csni_call_site_file_read(const struct csn_call_site_file *file, uint32_t number, struct csni_given_sites *out,
                                    struct csn_error *err) {
    struct csni_span bytes = { file->bytes, file->size };
    if (bytes.size && is_yaml(bytes)) return csni_call_site_yaml_read(file, number, out, err);
    return read_text_form(file, number, out, err);
}
