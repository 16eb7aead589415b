/* The index that is put into an object: taken from a file or from another object. */
#include "base/core/fail.h"
#include "embed/embed_private.h"
#include "embed/new_object.h"
#include "formats/gsection/read/gsection.h"
#include "formats/gsym/read/gsym.h"
#include "object/find/section_find.h"

/* Records are not looked at: the index goes in as it is. One that no reader opens would only be found out in the program. */
static csn_status read_index(struct csni_payload *p, struct csni_span file, struct csn_error *err) {
    struct csni_gsym gsym;
    struct csni_gsection section;
    csn_status status = csni_gsym_parse(&gsym, file, err);
    bool is_of_2017 = (status < 0 || csni_gsection_recognize(file)) && csni_gsection_parse(&section, file, NULL, NULL) == CSN_OK;
    if (status == CSN_OK) p->uuid = gsym.uuid;
    if (is_of_2017) p->tables = section.gsym;
    else if (status == CSN_OK) p->tables = gsym;
    return is_of_2017 ? CSN_OK : status;
}

static csn_status open_object(struct csni_payload *p, struct csni_span file, const struct csn_allocator *alloc,
                              struct csn_error *err) {
    struct csni_object_options options = { .allocator = alloc, .max_decompressed_bytes = CSNI_EMBED_INFLATE_MAX };
    CSNI_TRY(csni_object_open(file, &options, &p->from, err));
    struct csni_span image = p->from->file, section;
    csn_status status = csni_section_find_index(image, &section, err);
    if (status < 0) return status;
    if (status == CSN_NONE) return csni_fail(err, CSN_E_NOT_FOUND, NULL, 0, "carries no index: there is no section .gsym");
    p->index.pieces[0] = section;
    if (csni_gsection_is_whole(section)) {
        (void)read_index(p, section, NULL); /* what is extracted comes out as it is */
        return CSN_OK;
    }
    struct csni_gsection_home home = { image, csni_section_find };
    struct csni_gsection g;
    CSNI_TRY(csni_gsection_parse(&g, section, &home, err));
    p->tables = g.gsym;
    if (g.strings_name.len) {
        p->strings_name = g.strings_name;
        p->strings = g.gsym.strings;
        return CSN_OK;
    }
    /* The offset of the strings counts from the start of this object, not of the one that the index will be in. */
    return csni_span_holds(section, g.gsym.strings.ptr) ? CSN_OK : csni_gsection_append_strings(&g, &p->index, err);
}

csn_status csni_payload_open(struct csni_payload *p, struct csni_span file, const struct csn_allocator *alloc,
                             struct csn_error *err) {
    *p = (struct csni_payload){ .from = NULL, .alloc = alloc };
    if (csni_gsym_recognize(file)) {
        p->index.pieces[0] = file;
        return read_index(p, file, err);
    }
    csn_status status = open_object(p, file, alloc, err);
    if (status < 0) csni_payload_release(p);
    return status;
}

void csni_payload_release(struct csni_payload *p) {
    csni_object_close(p->from);
    csni_free(p->alloc, p->own, p->own_size);
    p->from = NULL;
    p->own = NULL;
}

static bool is_own_section(struct csn_str name) {
    return name.len > 6 && (memcmp(name.ptr, ".gsym", 5) == 0 || memcmp(name.ptr, "__gsym", 6) == 0);
}

csn_status csni_payload_fit(struct csni_payload *p, const struct csni_object *object, struct csn_error *err) {
    if (!p->strings_name.len || p->from->container == object->container || !is_own_section(p->strings_name)) return CSN_OK;
    struct csni_gsection_home home = { p->from->file, csni_section_find };
    struct csni_gsection g;
    struct csn_str name = csni_str(csni_index_strings_name(object, false));
    CSNI_TRY(csni_gsection_parse(&g, p->index.pieces[0], &home, err));
    CSNI_TRY(csni_gsection_rename_strings(&g, name, p->alloc, &p->index, &p->own, &p->own_size, err));
    p->strings_name = name;
    return CSN_OK;
}

void csni_payload_add(const struct csni_payload *p, struct csni_assembly *out) {
    for (unsigned i = 0; i < CSNI_GSECTION_PIECES; i++) csni_assembly_add(out, p->index.pieces[i]);
}

csn_status csni_plan_strings(const struct csni_embed *e, enum csni_strings_plan *out, uint32_t *out_section,
                             struct csn_error *err) {
    const struct csni_payload *p = e->payload;
    *out = CSNI_STRINGS_NONE;
    *out_section = CSNI_NO_SECTION;
    if (!p->strings_name.len) return CSN_OK;
    bool is_own = is_own_section(p->strings_name);
    if (p->from->container != e->object->container && !is_own)
        return csni_fail(err, CSN_E_UNSUPPORTED, NULL, 0,
                         "the index shares strings of a section %.*s of another kind of object file; make it from this object",
                         (int)p->strings_name.len, p->strings_name.ptr);
    *out = CSNI_STRINGS_NEW;
    for (uint32_t i = 1; i < e->object->section_count && *out_section == CSNI_NO_SECTION; i++)
        if (csni_str_equal(e->object->sections[i].name, p->strings_name)) *out_section = i;
    if (*out_section == CSNI_NO_SECTION) return CSN_OK;
    struct csni_span there;
    CSNI_TRY(csni_object_read_section(e->object, *out_section, &there, err));
    bool fits = there.size <= p->strings.size && (!there.size || memcmp(there.ptr, p->strings.ptr, there.size) == 0);
    *out = fits && there.size == p->strings.size ? CSNI_STRINGS_THERE : CSNI_STRINGS_REPLACE;
    if (fits || is_own) return CSN_OK;
    return csni_fail(err, CSN_E_FORMAT, NULL, 0,
                     "the index shares strings of a section %.*s that is not the object's; make it from this object",
                     (int)p->strings_name.len, p->strings_name.ptr);
}

/* What was added with an index has to go before another one comes. */
static csn_status fail_carried(const struct csni_embed *e, const char *what, struct csn_str section, struct csn_error *err) {
    bool is_pe = e->object->container == CSNI_CONTAINER_PE;
    return csni_fail(err, CSN_E_UNSUPPORTED, NULL, 0,
                     "the object carries %s already, in section %.*s; embed into the object as it was before%s", what,
                     (int)section.len, section.ptr, is_pe ? " (or use objcopy -R .gsym -R .gsymstr)" : "");
}

csn_status csni_plan_added(const struct csni_embed *e, bool *out_adds_strings, struct csn_error *err) {
    enum csni_strings_plan strings;
    uint32_t there;
    struct csn_str index = csni_str(csni_index_section_name(e->object)), name = e->payload->strings_name;
    CSNI_TRY(csni_plan_strings(e, &strings, &there, err));
    *out_adds_strings = strings == CSNI_STRINGS_NEW;
    if (csni_object_find_section(e->object, index.ptr) != CSNI_NO_SECTION) return fail_carried(e, "an index", index, err);
    if (strings != CSNI_STRINGS_REPLACE) return CSN_OK;
    if (is_own_section(name)) return fail_carried(e, "strings of an index", name, err);
    return csni_fail(err, CSN_E_UNSUPPORTED, NULL, 0,
                     "section %.*s lacks strings that the index needs, and only in ELF files can they be added to it; make the "
                     "index with strings of its own (without --strings-in)",
                     (int)name.len, name.ptr);
}
