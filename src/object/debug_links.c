/* .gnu_debuglink, .gnu_debugaltlink (both GNU) and .debug_sup (DWARF 5, 7.3.6). */
#include "object/debug_links.h"

#include "base/core/checked.h"
#include "base/core/cursor.h"
#include "base/core/fail.h"

enum { CRC_SIZE = 4, DEBUG_SUP_VERSION = 5 };

static csn_status fail_short(const char *section, const struct csni_cursor *c, size_t size, const char *what,
                             struct csn_error *err) {
    return csni_fail(err, CSN_E_TRUNCATED, section, c->failed_at, "%s reaches past the section's 0x%zx bytes", what, size);
}

/* CSN_NONE where there is no section of that index, or where it has no bytes here: a debug-only file keeps its header. */
static csn_status read_debug_link_section(struct csni_object *object, uint32_t section, struct csni_span *out,
                                          struct csn_error *err) {
    if (section == CSNI_NO_SECTION) return CSN_NONE;
    CSNI_TRY(csni_object_read_section(object, section, out, err));
    return out->size ? CSN_OK : CSN_NONE;
}

csn_status csni_object_debug_link(struct csni_object *object, struct csni_debug_link *out, struct csn_error *err) {
    static const char section[] = ".gnu_debuglink";
    struct csni_span bytes;
    csn_status status = read_debug_link_section(object, csni_object_find_section(object, section), &bytes, err);
    if (status != CSN_OK) return status;
    struct csni_cursor c = csni_cursor_at(bytes, object->big_endian);
    struct csni_debug_link link = { .name = csni_cursor_cstr(&c) };
    if (c.failed) return fail_short(section, &c, bytes.size, "the name", err);
    csni_cursor_seek(&c, csni_align_up(csni_cursor_off(&c), CRC_SIZE));
    link.crc = csni_cursor_u32(&c);
    if (c.failed) return fail_short(section, &c, bytes.size, "the CRC", err);
    if (!link.name.len) return csni_fail(err, CSN_E_FORMAT, section, 0, "an empty name");
    *out = link;
    return CSN_OK;
}

/* A name, then a build id up to the end. */
static csn_status gnu_alt_link(struct csni_object *object, struct csni_alt_link *out, struct csn_error *err) {
    static const char section[] = ".gnu_debugaltlink";
    struct csni_span bytes;
    csn_status status = read_debug_link_section(object, csni_object_find_section(object, section), &bytes, err);
    if (status != CSN_OK) return status;
    struct csni_cursor c = csni_cursor_at(bytes, object->big_endian);
    struct csni_alt_link link = { .name = csni_cursor_cstr(&c) };
    if (c.failed) return fail_short(section, &c, bytes.size, "the name", err);
    if (!link.name.len) return csni_fail(err, CSN_E_FORMAT, section, 0, "an empty name");
    link.id = csni_span_from(bytes, csni_cursor_off(&c));
    *out = link;
    return CSN_OK;
}

static csn_status dwarf_sup(struct csni_object *object, struct csni_alt_link *out, struct csn_error *err) {
    static const char section[] = ".debug_sup";
    struct csni_span bytes;
    csn_status status = read_debug_link_section(object, csni_object_find_debug_section(object, "sup", false), &bytes,
                                                err);
    if (status != CSN_OK) return status;
    struct csni_cursor c = csni_cursor_at(bytes, object->big_endian);
    uint16_t version = csni_cursor_u16(&c);
    if (!c.failed && version != DEBUG_SUP_VERSION)
        return csni_fail(err, CSN_E_UNSUPPORTED, section, 0, "version %u, need %d", version, DEBUG_SUP_VERSION);
    struct csni_alt_link link = { .is_supplementary = csni_cursor_u8(&c) != 0, .is_checksum = true };
    link.name = csni_cursor_cstr(&c);
    link.id = csni_cursor_bytes(&c, csni_cursor_uleb(&c));
    if (c.failed) return fail_short(section, &c, bytes.size, "a field", err);
    if (!link.is_supplementary && !link.name.len) return csni_fail(err, CSN_E_FORMAT, section, 3, "an empty name");
    *out = link;
    return CSN_OK;
}

csn_status csni_object_alt_link(struct csni_object *object, struct csni_alt_link *out, struct csn_error *err) {
    csn_status status = gnu_alt_link(object, out, err);
    return status == CSN_NONE ? dwarf_sup(object, out, err) : status;
}
