/* The index that is put into an object: taken from a file or from another object. */
#include "base/core/checked.h"
#include "base/core/endian.h"
#include "base/core/fail.h"
#include "embed/embed_private.h"
#include "formats/gsection/read/gsection.h"
#include "object/find/section_find.h"

enum { STRINGS_ALIGN = 4 };

/* Revisions C and D count the offset of their strings from the start of the object, which will be another one: the strings go
 * into the section, and the offset counts from its start, as every reader of these revisions takes it, too. */
static csn_status bring_strings_inside(struct csni_payload *p, const struct csni_gsection *g, struct csn_error *err) {
    struct csni_span section = g->gsym.bytes;
    static const uint8_t zeros[STRINGS_ALIGN];
    uint64_t at = csni_align_up(section.size, STRINGS_ALIGN);
    if (at > UINT32_MAX)
        return csni_fail(err, CSN_E_LIMIT, NULL, 0, "the index has 0x%zx bytes, its strings must begin below 4 GiB", section.size);
    memcpy(p->header, section.ptr, sizeof p->header);
    csni_put32(p->header + CSNI_GSECTION_H_STRTAB_OFFSET, (uint32_t)at, g->gsym.big);
    p->pieces[0] = (struct csni_span){ p->header, sizeof p->header };
    p->pieces[1] = csni_span_from(section, sizeof p->header);
    p->pieces[2] = (struct csni_span){ zeros, (size_t)(at - section.size) };
    p->pieces[3] = g->gsym.strings;
    return CSN_OK;
}

static csn_status open_object(struct csni_payload *p, struct csni_span file, const struct csn_allocator *alloc,
                              struct csn_error *err) {
    struct csni_object_options options = { .allocator = alloc, .max_decompressed_bytes = CSNI_EMBED_INFLATE_MAX };
    CSNI_TRY(csni_object_open(file, &options, &p->from, err));
    struct csni_span image = p->from->file, section;
    csn_status status = csni_section_find_index(image, &section, err);
    if (status < 0) return status;
    if (status == CSN_NONE) return csni_fail(err, CSN_E_NOT_FOUND, NULL, 0, "carries no index: there is no section .gsym");
    p->pieces[0] = section;
    if (csni_gsection_is_whole(section)) return CSN_OK;
    struct csni_gsection_home home = { image, csni_section_find };
    struct csni_gsection g;
    CSNI_TRY(csni_gsection_parse(&g, section, &home, err));
    if (g.strings_name.len) {
        p->strings_name = g.strings_name;
        p->strings = g.gsym.strings;
        return CSN_OK;
    }
    return csni_span_holds(section, g.gsym.strings.ptr) ? CSN_OK : bring_strings_inside(p, &g, err);
}

csn_status csni_payload_open(struct csni_payload *p, struct csni_span file, const struct csn_allocator *alloc,
                             struct csn_error *err) {
    *p = (struct csni_payload){ .from = NULL };
    if (file.size >= 4) {
        uint32_t magic = csni_get32(file.ptr, true);
        if (magic == CSNI_GSYM_MAGIC || magic == csni_swap32(CSNI_GSYM_MAGIC)) {
            p->pieces[0] = file;
            return CSN_OK;
        }
    }
    csn_status status = open_object(p, file, alloc, err);
    if (status < 0) csni_payload_release(p);
    return status;
}

void csni_payload_release(struct csni_payload *p) {
    csni_object_close(p->from);
    p->from = NULL;
}

void csni_payload_add(const struct csni_payload *p, struct csni_assembly *out) {
    for (unsigned i = 0; i < CSNI_PAYLOAD_PIECES; i++) csni_assembly_add(out, p->pieces[i]);
}

csn_status csni_plan_strings(const struct csni_embed *e, enum csni_strings_plan *out, uint32_t *out_section,
                             struct csn_error *err) {
    const struct csni_payload *p = e->payload;
    *out = CSNI_STRINGS_NONE;
    *out_section = CSNI_NO_SECTION;
    if (!p->strings_name.len) return CSN_OK;
    if (p->from->container != e->object->container)
        return csni_fail(err, CSN_E_UNSUPPORTED, NULL, 0,
                         "the index names section %.*s of another kind of object file; make it from one of this kind",
                         (int)p->strings_name.len, p->strings_name.ptr);
    *out = CSNI_STRINGS_NEW;
    for (uint32_t i = 1; i < e->object->section_count && *out_section == CSNI_NO_SECTION; i++)
        if (csni_str_equal(e->object->sections[i].name, p->strings_name)) *out_section = i;
    if (*out_section == CSNI_NO_SECTION) return CSN_OK;
    struct csni_span there;
    CSNI_TRY(csni_object_read_section(e->object, *out_section, &there, err));
    bool fits = there.size <= p->strings.size && (!there.size || memcmp(there.ptr, p->strings.ptr, there.size) == 0);
    bool is_own = p->strings_name.len > 5 && (memcmp(p->strings_name.ptr, ".gsym", 5) == 0 ||
                                              memcmp(p->strings_name.ptr, "__gsym", 6) == 0);
    *out = fits && there.size == p->strings.size ? CSNI_STRINGS_THERE : CSNI_STRINGS_REPLACE;
    if (fits || is_own) return CSN_OK;
    return csni_fail(err, CSN_E_FORMAT, NULL, 0,
                     "the index shares strings of a section %.*s that is not the object's; make it from this object",
                     (int)p->strings_name.len, p->strings_name.ptr);
}
