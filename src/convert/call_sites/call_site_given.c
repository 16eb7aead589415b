/* What call-site files tell, gathered; and the words that their forms share. */
#include "convert/call_sites/call_site_given.h"

#include "base/core/fail.h"
#include "base/core/span.h"
#include "base/hex.h"

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
        unsigned digit = csni_hex_digit(text.ptr[at]);
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
