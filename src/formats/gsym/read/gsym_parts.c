/* GSYM call sites and merged functions: both are a count and entries that are read one after another. */
#include "base/core/cursor.h"
#include "formats/gsym/read/gsym.h"
#include "formats/gsym/gsym_layout.h"

static const char section_name[] = "FunctionInfo";

static csn_status fail_part_truncated(const struct csni_gsym_list *list, const struct csni_cursor *c, const char *what,
                                      struct csn_error *err) {
    return csni_fail(err, CSN_E_TRUNCATED, section_name, list->offset + c->failed_at,
                     "%s %u: %llu bytes left, need more", what, list->idx, (unsigned long long)(c->end - list->p));
}

csn_status csni_gsym_list_open(struct csni_gsym_list *list, const struct csni_gsym *gsym,
                               const struct csni_gsym_payload *payload, struct csn_error *err) {
    struct csni_cursor c = csni_cursor_at(payload->bytes, gsym->big);
    uint32_t count = csni_cursor_u32(&c);
    if (c.failed)
        return csni_fail(err, CSN_E_TRUNCATED, section_name, payload->offset,
                         "part of type %u holds %zu bytes, need a count of 4", payload->type, payload->bytes.size);
    uint64_t entry = payload->type == CSNI_GSYM_PART_CALL_SITES ? CSNI_GSYM_CALL_SITE_MIN : CSNI_GSYM_MERGED_MIN;
    if (count > csni_cursor_left(&c) / entry)
        return csni_fail(err, CSN_E_FORMAT, section_name, payload->offset, "count %u in %zu bytes, need <= %llu", count,
                         payload->bytes.size, (unsigned long long)(csni_cursor_left(&c) / entry));
    *list = (struct csni_gsym_list){ .begin = c.begin, .p = c.p, .end = c.end, .offset = payload->offset,
                                     .left = count };
    return CSN_OK;
}

static struct csni_cursor list_cursor(const struct csni_gsym_list *list, const struct csni_gsym *gsym) {
    return (struct csni_cursor){ list->begin, list->p, list->end, gsym->big, false, 0 };
}

static void list_step(struct csni_gsym_list *list, const struct csni_cursor *c) {
    list->p = c->p;
    list->left--;
    list->idx++;
}

csn_status csni_gsym_call_site_next(const struct csni_gsym *gsym, struct csni_gsym_list *list,
                                    struct csni_gsym_call_site *out, struct csn_error *err) {
    if (!list->left) return CSN_NONE;
    struct csni_cursor c = list_cursor(list, gsym);
    struct csni_gsym_call_site site;
    site.return_offset = csni_cursor_u64(&c);
    site.flags = csni_cursor_u8(&c);
    site.pattern_count = csni_cursor_u32(&c);
    site.patterns = csni_cursor_bytes(&c, (uint64_t)site.pattern_count * gsym->strp_size).ptr;
    if (c.failed) return fail_part_truncated(list, &c, "call site", err);
    list_step(list, &c);
    *out = site;
    return CSN_OK;
}

uint64_t csni_gsym_pattern(const struct csni_gsym *gsym, const uint8_t *patterns, uint32_t k) {
    return csni_gsym_strp(gsym, patterns + (size_t)k * gsym->strp_size);
}

csn_status csni_gsym_merged_next(const struct csni_gsym *gsym, struct csni_gsym_list *list, uint64_t start,
                                 struct csni_gsym_record *out, struct csn_error *err) {
    if (!list->left) return CSN_NONE;
    struct csni_cursor c = list_cursor(list, gsym);
    uint32_t size = csni_cursor_u32(&c);
    uint64_t offset = list->offset + csni_cursor_off(&c);
    struct csni_span bytes = csni_cursor_bytes(&c, size);
    if (c.failed) return fail_part_truncated(list, &c, "merged function", err);
    CSNI_TRY(csni_gsym_record_at(gsym, bytes, offset, start, out, err));
    list_step(list, &c);
    return CSN_OK;
}
