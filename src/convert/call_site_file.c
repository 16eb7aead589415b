/* Which form a call-site file has, and what the forms share. */
#include "convert/call_site_file.h"

#include "base/fail.h"
#include "base/span.h"

csn_status csni_given_add_site(struct csni_given_sites *out, const struct csni_given_site *site, struct csn_error *err) {
    struct csni_given_site copy = *site;
    copy.function.ptr = csni_arena_copy(out->arena, site->function.ptr, site->function.len);
    copy.first_pattern = out->patterns.count;
    copy.pattern_count = 0;
    if (!copy.function.ptr || !csni_vec_push(&out->sites, copy)) return csni_fail_memory(err, sizeof copy);
    return CSN_OK;
}

csn_status csni_given_add_pattern(struct csni_given_sites *out, struct csn_str text, bool is_name, struct csn_error *err) {
    struct csni_given_pattern pattern = { { csni_arena_copy(out->arena, text.ptr, text.len), text.len }, is_name };
    if (!pattern.text.ptr || !csni_vec_push(&out->patterns, pattern)) return csni_fail_memory(err, sizeof pattern);
    out->sites.items[out->sites.count - 1].pattern_count++;
    return CSN_OK;
}

static unsigned digit_of(char c) {
    if (c >= '0' && c <= '9') return (unsigned)(c - '0');
    if (c >= 'a' && c <= 'f') return (unsigned)(c - 'a') + 10;
    return c >= 'A' && c <= 'F' ? (unsigned)(c - 'A') + 10 : 99;
}

bool csni_call_site_number(struct csn_str text, uint64_t *out) {
    unsigned base = 10;
    size_t at = 0;
    if (text.len > 2 && text.ptr[0] == '0') {
        char c = text.ptr[1];
        base = c == 'x' || c == 'X' ? 16 : c == 'b' || c == 'B' ? 2 : c == 'o' ? 8 : 10;
        if (base != 10) at = 2;
    }
    if (base == 10 && text.len > 1 && text.ptr[0] == '0') {
        base = 8;
        at = 1;
    }
    if (at == text.len) return false;
    uint64_t value = 0;
    for (; at < text.len; at++) {
        unsigned digit = digit_of(text.ptr[at]);
        if (digit >= base || value > (UINT64_MAX - digit) / base) return false;
        value = value * base + digit;
    }
    *out = value;
    return true;
}

uint32_t csni_call_site_flag(struct csn_str text, bool plain) {
    if (csni_str_is(text, plain ? "internal" : "InternalCall")) return CSN_CALL_SITE_INTERNAL;
    if (csni_str_is(text, plain ? "external" : "ExternalCall")) return CSN_CALL_SITE_EXTERNAL;
    return 0;
}

static bool begins_with(const char *p, size_t left, const char *word) {
    size_t len = strlen(word);
    return left >= len && memcmp(p, word, len) == 0;
}

/* YAML and JSON by what stands first behind white space and comments: "functions:", "{", "---" or "%YAML". */
static bool is_yaml(struct csni_span bytes) {
    const char *p = (const char *)bytes.ptr;
    size_t left = bytes.size;
    if (begins_with(p, left, "\xef\xbb\xbf")) p += 3, left -= 3;
    while (left) {
        if (*p == '#') {
            while (left && *p != '\n') p++, left--;
        } else if (*p == ' ' || *p == '\t' || *p == '\r' || *p == '\n') {
            p++, left--;
        } else {
            break;
        }
    }
    return begins_with(p, left, "functions:") || begins_with(p, left, "\"functions\":") || begins_with(p, left, "{") ||
           begins_with(p, left, "---") || begins_with(p, left, "%YAML") || begins_with(p, left, "functions :");
}

csn_status csni_call_site_file_read(const struct csn_call_site_file *file, uint32_t number, struct csni_given_sites *out,
                                    struct csn_error *err) {
    struct csni_span bytes = { file->bytes, file->size };
    if (bytes.size && is_yaml(bytes)) return csni_call_site_yaml_read(file, number, out, err);
    return csni_call_site_text_read(file, number, out, err);
}
