/* An archive of object files as a source: each member's sections get places after those of the member before, so that one index has
 * the functions of all. */
#include <inttypes.h>
#include <stdio.h>

#include "base/core/checked.h"
#include "base/core/fail.h"
#include "convert/dwarf/source_dwarf.h"
#include "convert/sources/source.h"
#include "object/archive.h"

/* Members begin at multiples of it, the first one at this address: 0 would be that of what a linker left out. */
enum { MEMBER_ALIGN = 0x1000 };

struct archive_reading {
    struct csni_conversion *c;
    uint64_t end;              /* of the places that are taken */
    uint64_t left_out;         /* members that are no objects of the first one's kind */
    char first_left_out[CSN_EXAMPLE_SIZE];
};

static void leave_out_member(struct archive_reading *r, struct csn_str name, const char *why) {
    if (!r->left_out++)
        snprintf(r->first_left_out, sizeof r->first_left_out, "%.*s: %s", (int)(name.len < 100 ? name.len : 100), name.ptr, why);
}

/* Its code, and where its places end. Ranges of members that are next to each other never touch: there is a page's end between. */
static csn_status add_member_text(struct archive_reading *r, const struct csni_object *object, struct csn_error *err) {
    struct csni_image *image = &r->c->image;
    for (uint32_t i = 1; i < object->section_count; i++) {
        const struct csni_section *s = &object->sections[i];
        uint64_t end;
        if (!(s->flags & CSNI_SECTION_ALLOC) || !s->size) continue;
        if (s->addr < r->end || !csni_add_u64(s->addr, s->size, &end))
            return csni_fail(err, CSN_E_UNSUPPORTED, NULL, 0, "section %" PRIu32 " has an address of its own, 0x%" PRIx64, i, s->addr);
        if (!(s->flags & CSNI_SECTION_EXEC)) continue;
        struct csni_text_range range = { s->addr, end };
        struct csni_text_range *last = image->text.count ? &image->text.items[image->text.count - 1] : NULL;
        if (last && last->end == s->addr) last->end = end;
        else if (!csni_vec_push(&image->text, range)) return csni_fail_memory(err, sizeof range);
    }
    for (uint32_t i = 1; i < object->section_count; i++) {
        const struct csni_section *s = &object->sections[i];
        if ((s->flags & CSNI_SECTION_ALLOC) && s->addr + s->size > r->end) r->end = s->addr + s->size;
    }
    return CSN_OK;
}

/* What the first member is, all are. */
static void describe_archive(struct csni_conversion *c) {
    const struct csni_object *object = c->object;
    bool is_pe = object->container == CSNI_CONTAINER_PE;
    c->image.big_endian = object->big_endian;
    c->image.symbols_lack_sizes = is_pe;
    c->image.identity = (struct csni_identity){ .os = csni_str(is_pe ? "windows" : "Linux"), .arch = csni_str(object->arch),
                                                .name = c->image.file_name };
}

/* NULL: it is read. */
static const char *why_not(const struct csni_conversion *c, const struct csni_object *object) {
    if (object->container != CSNI_CONTAINER_ELF && object->container != CSNI_CONTAINER_PE) return "neither an ELF nor a COFF object";
    if (object->kind != CSNI_OBJECT_RELOCATABLE) return "linked, and no object file";
    const struct csni_object *first = c->members.count ? c->members.items[0] : object;
    bool same = first->container == object->container && first->machine == object->machine &&
                first->address_size == object->address_size && first->big_endian == object->big_endian;
    return same ? NULL : "of another machine than the first member";
}

static csn_status read_member_sources(struct archive_reading *r, struct csn_error *err) {
    struct csni_conversion *c = r->c;
    struct csni_dwarf_input input = { .object = c->object };
    struct csni_symbol_source symbols;
    c->first_batch = c->batch_count;
    csni_source_symbols_begin(&symbols, c, NULL);
    csn_status status = csni_source_dwarf(c, &input, err);
    if (status >= 0) status = csni_source_symbols(&symbols, err);
    csni_source_symbols_end(&symbols);
    c->report->inflated_bytes += csni_object_inflated_bytes(c->object);
    return status;
}

/* Takes the object over. */
static csn_status keep_member(struct archive_reading *r, struct csni_object *object, struct csn_str name, struct csn_error *err) {
    struct csni_conversion *c = r->c;
    struct csni_member member = { name, r->end };
    if (!csni_vec_push(&c->members, object)) {
        csni_object_close(object);
        return csni_fail_memory(err, sizeof object);
    }
    c->object = object;
    if (c->members.count == 1) describe_archive(c);
    if (!csni_vec_push(&c->image.members, member)) return csni_fail_memory(err, sizeof member);
    CSNI_TRY(add_member_text(r, object, err));
    return read_member_sources(r, err);
}

static csn_status read_one_member(struct archive_reading *r, const struct csni_archive_member *m, struct csn_error *err) {
    struct csni_object *object;
    struct csn_error damage = CSN_ERROR_INIT;
    if (!csni_object_recognize(m->bytes)) {
        leave_out_member(r, m->name, "no object file");
        return CSN_OK;
    }
    if (r->end > UINT64_MAX - MEMBER_ALIGN) return csni_fail(err, CSN_E_LIMIT, NULL, 0, "members need more than 64-bit addresses");
    r->end = csni_align_up(r->end + 1, MEMBER_ALIGN);
    struct csni_object_options options = csni_object_options_of(r->c, r->c->input.is_mapped);
    options.place_at = r->end;
    csn_status status = csni_object_open(m->bytes, &options, &object, &damage);
    if (status == CSN_E_MEMORY) return csni_fail_memory(err, 0);
    const char *why = status < 0 ? csn_error_text(&damage) : why_not(r->c, object);
    if (!why) return keep_member(r, object, m->name, err);
    leave_out_member(r, m->name, why);
    if (status >= 0) csni_object_close(object);
    return CSN_OK;
}

/* The error of a member begins with its name. */
static csn_status name_member(struct csn_str name, csn_status status, struct csn_error *err) {
    struct csn_error inner = CSN_ERROR_INIT;
    if (!err || status == CSN_E_CANCELLED || status == CSN_E_MEMORY) return status;
    inner = *err;
    return csni_fail(err, status, NULL, 0, "%.*s: %s", (int)(name.len < 100 ? name.len : 100), name.ptr, csn_error_text(&inner));
}

csn_status csni_source_archive(struct csni_conversion *c, struct csn_error *err) {
    struct archive_reading r = { .c = c };
    struct csni_archive archive;
    struct csni_archive_member member;
    csn_status status;
    CSNI_TRY(csni_archive_open(c->input.file, &archive, err));
    while ((status = csni_archive_next(&archive, &member, err)) == CSN_OK) {
        status = read_one_member(&r, &member, err);
        c->object = NULL; /* the list of members has it */
        if (status < 0) return name_member(member.name, status, err);
    }
    c->first_batch = 0;
    if (status < 0) return status;
    if (!c->members.count)
        return csni_fail(err, CSN_E_UNSUPPORTED, NULL, 0, "the archive has no object file that is read; %" PRIu64 " members%s%s",
                         r.left_out, r.left_out ? ", the first is " : "", r.first_left_out);
    csni_report_add(c->report, CSN_EVENT_MISSING_OBJECT, r.left_out, csni_str(r.first_left_out));
    return CSN_OK;
}
