/* An archive of object files as a source: each member's sections get places after those of the member before, so that one index has
 * the functions of all. */
#include <inttypes.h>
#include <stdio.h>

#include "base/core/checked.h"
#include "base/core/fail.h"
#include "convert/companions.h"
#include "convert/dwarf/source_dwarf.h"
#include "convert/sources/source.h"
#include "object/address_map.h"
#include "object/archive.h"

/* Members begin at multiples of it, the first one at this address: 0 would be that of what a linker left out. */
enum { MEMBER_ALIGN = 0x1000 };

struct archive_reading {
    struct csni_conversion *c;
    uint64_t end;              /* of the places that are taken */
    struct left_out {
        uint64_t count;
        char first[CSN_EXAMPLE_SIZE];
    } unfit, lost;             /* members that are no objects of the first one's kind; that are missing or damaged */
    struct csni_companion_file *nested; /* the last archive in a thin one, and its path there */
    struct csn_str nested_name;
};

static void leave_out_member(struct left_out *out, struct csn_str name, const char *why) {
    if (!out->count++) snprintf(out->first, sizeof out->first, "%.*s: %s", (int)(name.len < 100 ? name.len : 100), name.ptr, why);
}

static void lose_member(struct archive_reading *r, struct csn_str name, const char *why) {
    if (r->lost.count++) return;
    struct csn_str archive = r->c->image.file_name;
    snprintf(r->lost.first, sizeof r->lost.first, "%.*s(%.*s): %s", (int)(archive.len < 100 ? archive.len : 100), archive.ptr,
             (int)(name.len < 100 ? name.len : 100), name.ptr, why);
}

/* Its code, and where its places end. Ranges of members that are next to each other never touch: there is a page's end between. */
static csn_status add_member_text(struct archive_reading *r, const struct csni_object *object, struct csn_error *err) {
    struct csni_image *image = &r->c->image;
    for (uint32_t i = 1; i < object->section_count; i++) {
        const struct csni_section *s = &object->sections[i];
        uint64_t end;
        if (!(s->flags & CSNI_SECTION_ALLOC) || !s->size) continue;
        if (s->addr < r->end || !csni_add_u64(s->addr, s->size, &end))
            return csni_fail(err, CSN_E_UNSUPPORTED, NULL, 0,
                             "section %" PRIu32 " has an address of its own, 0x%" PRIx64, i, s->addr);
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
    bool is_pe = object->container == CSNI_CONTAINER_PE, is_macho = object->container == CSNI_CONTAINER_MACHO;
    c->image.big_endian = object->big_endian;
    c->image.symbols_lack_sizes = is_pe || is_macho;
    c->image.identity = (struct csni_identity){ .os = csni_str(is_macho ? "mac" : is_pe ? "windows" : "Linux"),
                                                .arch = csni_str(object->arch),
                                                .name = c->image.file_name };
}

/* NULL: it is read. */
static const char *why_not(const struct csni_conversion *c, const struct csni_object *object) {
    const char *arch = c->options.arch;
    if (object->kind != CSNI_OBJECT_RELOCATABLE) return "linked, and no object file";
    const struct csni_object *first = c->members.count ? c->members.items[0] : object;
    if (arch && object->arch[0] && !csni_str_is(csni_str(arch), object->arch))
        return "of another machine than the one that was chosen";
    bool same = first->container == object->container && first->machine == object->machine &&
                first->address_size == object->address_size && first->big_endian == object->big_endian;
    return same ? NULL : "of another machine than the first member";
}

/* DWARF of Mach-O and WebAssembly has addresses as if the member stood alone: all of them are moved alike. */
static csn_status read_member_dwarf(struct csni_conversion *c, uint64_t end, struct csn_error *err) {
    uint64_t moved_by = c->object->moved_by;
    struct csni_dwarf_input input = { .object = c->object };
    struct csni_mapped_range all = { 0, end - moved_by, moved_by };
    struct csni_address_map map = { .ranges = { .alloc = c->alloc } };
    if (moved_by) {
        if (!csni_vec_push(&map.ranges, all)) return csni_fail_memory(err, sizeof all);
        input.map = &map;
    }
    csn_status status = csni_source_dwarf(c, &input, err);
    csni_address_map_deinit(&map);
    return status;
}

static csn_status read_member_sources(struct archive_reading *r, struct csn_error *err) {
    struct csni_conversion *c = r->c;
    struct csni_symbol_source symbols;
    c->first_batch = c->batch_count;
    csni_source_symbols_begin(&symbols, c, NULL);
    csn_status status = read_member_dwarf(c, r->end, err);
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

static csn_status read_one_member(struct archive_reading *r, const struct csni_archive_member *m, bool is_mapped,
                                  struct csn_error *err) {
    struct csni_object *object;
    struct csn_error damage = CSN_ERROR_INIT;
    if (!csni_object_recognize(m->bytes)) {
        leave_out_member(&r->unfit, m->name, "no object file");
        return CSN_OK;
    }
    if (r->end > UINT64_MAX - MEMBER_ALIGN) return csni_fail(err, CSN_E_LIMIT, NULL, 0, "members need more than 64-bit addresses");
    r->end = csni_align_up(r->end + 1, MEMBER_ALIGN);
    struct csni_object_options options = csni_object_options_of(r->c, is_mapped);
    options.place_at = r->end;
    csn_status status = csni_object_open(m->bytes, &options, &object, &damage);
    if (status == CSN_E_MEMORY) return csni_fail_memory(err, 0);
    if (status < 0) {
        lose_member(r, m->name, csn_error_text(&damage));
        return CSN_OK;
    }
    const char *why = why_not(r->c, object);
    if (!why) return keep_member(r, object, m->name, err);
    leave_out_member(&r->unfit, m->name, why);
    csni_object_close(object);
    return CSN_OK;
}

/* llvm-ar puts an archive as a whole into another one. Not deeper: an archive can contain itself. */
static csn_status read_member_or_archive(struct archive_reading *r, const struct csni_archive_member *m, bool is_mapped,
                                         struct csn_error *err) {
    struct csni_archive archive;
    struct csni_archive_member inner;
    struct csn_error damage = CSN_ERROR_INIT;
    csn_status status;
    if (!csni_archive_recognize(m->bytes)) return read_one_member(r, m, is_mapped, err);
    CSNI_TRY(csni_archive_open(m->bytes, &archive, err));
    if (archive.is_thin) {
        leave_out_member(&r->unfit, m->name, "a thin archive within an archive");
        return CSN_OK;
    }
    while ((status = csni_archive_next(&archive, &inner, &damage)) == CSN_OK) {
        CSNI_TRY(read_one_member(r, &inner, is_mapped, err));
        r->c->object = NULL;
    }
    if (status < 0) lose_member(r, m->name, csn_error_text(&damage));
    return CSN_OK;
}

/* ---- thin archives: members are files beside them ---- */

/* The path of the file: as ar reads it, from the archive's folder. */
static char *member_path(const struct csni_conversion *c, struct csn_str name, size_t *size) {
    const char *archive = c->input.path, *slash = archive ? strrchr(archive, '/') : NULL;
    size_t folder = slash && name.ptr[0] != '/' ? (size_t)(slash - archive) + 1 : 0;
    *size = folder + name.len + 1;
    char *path = csni_alloc(c->alloc, *size);
    if (!path) return NULL;
    if (folder) memcpy(path, archive, folder);
    memcpy(path + folder, name.ptr, name.len);
    path[folder + name.len] = 0;
    return path;
}

/* CSN_NONE: it is missing, or cannot be read, which was noted. */
static csn_status find_member_file(struct archive_reading *r, struct csn_str name, struct csni_companion_file **out,
                                   struct csn_error *err) {
    struct csni_conversion *c = r->c;
    struct csn_error inner = CSN_ERROR_INIT;
    size_t size;
    char *path = member_path(c, name, &size);
    if (!path) return csni_fail_memory(err, name.len);
    struct csn_companion_request request = { .struct_size = sizeof request, .kind = CSN_COMPANION_OBJECT,
                                             .image_path = c->input.path, .name = path };
    csn_status status = csni_companion_find(c, &request, out, &inner);
    csni_free(c->alloc, path, size);
    if (status == CSN_E_MEMORY || status == CSN_E_CANCELLED || status == CSN_E_ARGUMENT) {
        if (err) *err = inner;
        return status;
    }
    if (status == CSN_OK) return CSN_OK;
    lose_member(r, name, status == CSN_NONE ? "not found" : csn_error_text(&inner));
    return CSN_NONE;
}

/* A member of an archive that `ar` put into the thin one. */
static csn_status read_nested_member(struct archive_reading *r, const struct csni_archive_member *m, struct csn_error *err) {
    struct csn_error damage = CSN_ERROR_INIT;
    struct csni_archive_member nested = { .mtime = 0 };
    if (!r->nested || !csni_str_equal(r->nested_name, m->name)) {
        csn_status status = find_member_file(r, m->name, &r->nested, err);
        if (status != CSN_OK) {
            r->nested = NULL;
            return status < 0 ? status : CSN_OK;
        }
        r->nested_name = m->name;
    }
    csn_status status = csni_archive_at(r->nested->bytes, m->nested_at, &nested, &damage);
    if (status == CSN_OK && !csni_archive_recognize(nested.bytes))
        return read_one_member(r, &nested, r->nested->found.is_mapped, err);
    lose_member(r, m->name, status < 0 ? csn_error_text(&damage) : "has no such member");
    return CSN_OK;
}

static csn_status read_thin_member(struct archive_reading *r, struct csni_archive_member *m, struct csn_error *err) {
    struct csni_companion_file *file;
    if (memchr(m->name.ptr, 0, m->name.len)) {
        lose_member(r, m->name, "no path");
        return CSN_OK;
    }
    if (m->nested_at) return read_nested_member(r, m, err);
    csn_status status = find_member_file(r, m->name, &file, err);
    if (status != CSN_OK) return status < 0 ? status : CSN_OK;
    m->bytes = file->bytes;
    return read_member_or_archive(r, m, file->found.is_mapped, err);
}

/* ---- all members ---- */

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
        status = archive.is_thin ? read_thin_member(&r, &member, err)
                                 : read_member_or_archive(&r, &member, c->input.is_mapped, err);
        c->object = NULL; /* the list of members has it */
        if (status < 0) return name_member(member.name, status, err);
    }
    c->first_batch = 0;
    if (status < 0) return status;
    const struct left_out *first = r.lost.count ? &r.lost : &r.unfit;
    if (!c->members.count)
        return csni_fail(err, CSN_E_UNSUPPORTED, NULL, 0, "the archive has no object file that is read; %" PRIu64 " members%s%s",
                         r.lost.count + r.unfit.count, first->count ? ", the first is " : "", first->first);
    csni_report_add(c->report, CSN_EVENT_UNREAD_MEMBER, r.unfit.count, csni_str(r.unfit.first));
    csni_report_add(c->report, CSN_EVENT_DAMAGED_MEMBER, r.lost.count, csni_str(r.lost.first));
    return CSN_OK;
}
