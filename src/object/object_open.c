/* Opening and closing object files of any container, and finding sections by name. */
#include "object/object.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/core/checked.h"
#include "base/core/fail.h"
#include "object/macho/macho_universal.h"
#include "object/object_private.h"

static const struct csni_container_reader *const readers[] = { &csni_elf_reader, &csni_macho_reader, &csni_pe_reader,
                                                              &csni_wasm_reader };

static const struct csni_container_reader *reader_of(struct csni_span file) {
    for (size_t i = 0; i < sizeof readers / sizeof *readers; i++)
        if (readers[i]->recognize(file)) return readers[i];
    return NULL;
}

bool csni_object_recognize(struct csni_span file) { return reader_of(file) || csni_macho_is_universal(file); }

static csn_status fail_not_an_object(struct csni_span file, struct csn_error *err) {
    if (file.size < 4)
        return csni_fail(err, CSN_E_UNSUPPORTED, NULL, 0, "not an object file: %zu bytes, any header is longer", file.size);
    return csni_fail(err, CSN_E_UNSUPPORTED, NULL, 0,
                     "not an object file: begins with %02x %02x %02x %02x, unlike ELF, Mach-O, PE, COFF and WebAssembly",
                     file.ptr[0], file.ptr[1], file.ptr[2], file.ptr[3]);
}

csn_status csni_object_open(struct csni_span file, const struct csni_object_options *options, struct csni_object **out,
                            struct csn_error *err) {
    const struct csn_allocator *alloc = csni_allocator_or_default(options ? options->allocator : NULL);
    if (csni_macho_is_universal(file)) CSNI_TRY(csni_macho_only_slice(file, alloc, &file, err));
    const struct csni_container_reader *reader = reader_of(file);
    if (!reader) return fail_not_an_object(file, err);
    struct csni_object_private *priv = csni_alloc_zeroed(alloc, 1, sizeof *priv);
    if (!priv) return csni_fail_memory(err, sizeof *priv);
    priv->alloc = alloc;
    priv->max_decompressed_bytes = options ? options->max_decompressed_bytes : 0;
    priv->file_is_mapped = options && options->file_is_mapped;
    priv->place_at = options ? options->place_at : 0;
    priv->reader = reader;
    priv->object.container = reader->container;
    priv->object.file = file;
    csn_status status = reader->read(priv, err);
    if (status < 0) {
        csni_object_close(&priv->object);
        return status;
    }
    *out = &priv->object;
    return CSN_OK;
}

void csni_object_close(struct csni_object *object) {
    if (!object) return;
    struct csni_object_private *priv = csni_object_priv(object);
    if (priv->reader->close) priv->reader->close(priv);
    for (uint32_t i = 0; priv->contents && i < object->section_count; i++)
        if (priv->contents[i].is_owned) csni_object_release_section(object, i);
    csni_free(priv->alloc, priv->contents, object->section_count * sizeof *priv->contents);
    csni_free(priv->alloc, priv->sections, object->section_count * sizeof *priv->sections);
    csni_free(priv->alloc, priv->segments, object->segment_count * sizeof *priv->segments);
    csni_free(priv->alloc, priv, sizeof *priv);
}

uint32_t csni_object_find_section(const struct csni_object *object, const char *name) {
    struct csn_str wanted = csni_str(name);
    for (uint32_t i = 1; i < object->section_count; i++)
        if (csni_str_equal(object->sections[i].name, wanted)) return i;
    return CSNI_NO_SECTION;
}

csn_status csni_make_sections(struct csni_object_private *priv, uint32_t count, struct csn_error *err) {
    struct csni_object *object = &priv->object;
    priv->sections = csni_alloc_zeroed(priv->alloc, count, sizeof *priv->sections);
    if (count && !priv->sections) return csni_fail_memory(err, (uint64_t)count * sizeof *priv->sections);
    object->sections = priv->sections;
    object->section_count = count;
    priv->contents = csni_alloc_zeroed(priv->alloc, count, sizeof *priv->contents);
    if (count && !priv->contents) return csni_fail_memory(err, (uint64_t)count * sizeof *priv->contents);
    return CSN_OK;
}

/* prefix + name + suffix, cut where names of the container are. Empty without a prefix. */
struct debug_name {
    char text[64];
    size_t len;
};

static struct debug_name debug_name(const char *prefix, const char *name, const char *suffix, size_t max) {
    struct debug_name out = { .len = 0 };
    if (!prefix) return out;
    int len = snprintf(out.text, sizeof out.text, "%s%s%s", prefix, name, suffix);
    out.len = max && (size_t)len > max ? max : (size_t)len;
    return out;
}

static bool is_debug_name(struct csn_str text, const struct debug_name *wanted) {
    return wanted->len && text.len == wanted->len && memcmp(text.ptr, wanted->text, wanted->len) == 0;
}

uint32_t csni_object_find_debug_section(const struct csni_object *object, const char *name, bool dwo) {
    const struct csni_container_reader *reader = csni_object_priv_const(object)->reader;
    const char *suffix = dwo ? ".dwo" : "";
    struct debug_name plain = debug_name(reader->debug_prefix, name, suffix, reader->name_max);
    struct debug_name compressed = debug_name(reader->compressed_prefix, name, suffix, reader->name_max);
    uint32_t in_group = CSNI_NO_SECTION;
    for (uint32_t i = 1; i < object->section_count; i++) {
        struct csn_str text = object->sections[i].name;
        if (!is_debug_name(text, &plain) && !is_debug_name(text, &compressed)) continue;
        /* A relocatable object with type units has a .debug_info of its own in each type's section group, before
         * that of the code. */
        if (!(object->sections[i].flags & CSNI_SECTION_GROUP)) return i;
        if (in_group == CSNI_NO_SECTION) in_group = i;
    }
    return in_group;
}

bool csni_object_has_debug_section(const struct csni_object *object, const char *name) {
    const uint32_t section = csni_object_find_debug_section(object, name, false);
    return section != CSNI_NO_SECTION && !(object->sections[section].flags & CSNI_SECTION_NOBITS);
}

/* ---- symbols and bounds ---- */

csn_status csni_symbol_iter_init(struct csni_symbol_iter *iter, struct csni_object *object, enum csni_symbol_table table,
                                 struct csn_error *err) {
    const struct csni_container_reader *reader = csni_object_priv(object)->reader;
    struct csni_symbol_iter set_up = { .object = object, .table = table };
    csn_status status = reader->symbols ? reader->symbols(&set_up, object, table, err) : CSN_NONE;
    if (status != CSN_OK) return status;
    *iter = set_up;
    iter->table = table; /* readers may set up all of it */
    return CSN_OK;
}

csn_status csni_symbol_iter_next(struct csni_symbol_iter *iter, struct csni_symbol *out) {
    const struct csni_container_reader *reader = csni_object_priv(iter->object)->reader;
    while (iter->index < iter->count) {
        if (reader->next_symbol(iter, out)) return CSN_OK;
        iter->damaged++;
    }
    return CSN_NONE;
}

csn_status csni_object_data_segments(struct csni_object *object, csni_data_segments *out, struct csn_error *err) {
    const struct csni_container_reader *reader = csni_object_priv(object)->reader;
    return reader->data_segments ? reader->data_segments(object, out, err) : CSN_NONE;
}

csn_status csni_object_function_bounds(struct csni_object *object, csni_function_bounds *out, struct csn_error *err) {
    const struct csni_container_reader *reader = csni_object_priv(object)->reader;
    return reader->function_bounds ? reader->function_bounds(object, out, err) : CSN_NONE;
}

csn_status csni_object_stubs(struct csni_object *object, csni_stubs *out, struct csn_error *err) {
    const struct csni_container_reader *reader = csni_object_priv(object)->reader;
    return reader->stubs ? reader->stubs(object, out, err) : CSN_NONE;
}

csn_status csni_object_slices(struct csni_span file, const struct csn_allocator *alloc, struct csni_slice **out,
                              uint32_t *count, struct csn_error *err) {
    if (csni_macho_is_universal(file)) return csni_macho_slices(file, alloc, out, count, err);
    struct csni_slice *slices = csni_alloc_zeroed(alloc, 1, sizeof *slices);
    if (!slices) return csni_fail_memory(err, sizeof *slices);
    slices->file = file;
    *out = slices;
    *count = 1;
    return CSN_OK;
}

uint64_t csni_object_inflated_bytes(const struct csni_object *object) {
    return atomic_load_explicit(&csni_object_priv_const(object)->inflated_bytes, memory_order_relaxed);
}

/* ---- addresses for sections of objects that are not linked ---- */

static uint64_t sane_align(uint64_t align) { return align && (align & (align - 1)) == 0 ? align : 1; }

/* The end of a section in memory, its beginning moved to its alignment; false when that is beyond 64 bits. */
static bool place_at_end(uint64_t *end, uint64_t align, uint64_t size, uint64_t *addr) {
    uint64_t padded;
    if (!csni_add_u64(*end, align - 1, &padded)) return false;
    *addr = padded & ~(align - 1);
    return csni_add_u64(*addr, size, end);
}

csn_status csni_place_sections(struct csni_object_private *priv, struct csn_error *err) {
    uint64_t end = priv->place_at;
    for (uint32_t i = 1; i < priv->object.section_count; i++) {
        const struct csni_section *s = &priv->sections[i];
        uint64_t section_end;
        if ((s->flags & CSNI_SECTION_ALLOC) && s->addr && csni_add_u64(s->addr, s->size, &section_end) && section_end > end)
            end = section_end;
    }
    for (uint32_t i = 1; i < priv->object.section_count; i++) {
        struct csni_section *s = &priv->sections[i];
        if (!(s->flags & CSNI_SECTION_ALLOC) || s->addr) continue;
        if (!place_at_end(&end, sane_align(s->align), s->size, &s->addr))
            return csni_fail(err, CSN_E_FORMAT, NULL, 0,
                             "section %" PRIu32 ": 0x%" PRIx64 " bytes after 0x%" PRIx64 " exceed 64-bit addresses", i,
                             s->size, end);
    }
    return CSN_OK;
}

/* ---- relocations that reading sections left out ---- */

void csni_add_relocation_counts(struct csni_object_private *priv, const struct csni_relocation_counts *counts) {
    uint64_t none = 0;
    if (counts->unknown)
        atomic_compare_exchange_strong(&priv->first_unknown_relocation, &none, (uint64_t)counts->unknown_type + 1);
    atomic_fetch_add(&priv->unknown_relocations, counts->unknown);
    atomic_fetch_add(&priv->damaged_relocations, counts->damaged);
}

void csni_object_relocation_counts(const struct csni_object *object, struct csni_relocation_counts *out) {
    const struct csni_object_private *priv = csni_object_priv_const(object);
    uint64_t first = atomic_load(&priv->first_unknown_relocation);
    out->unknown = atomic_load(&priv->unknown_relocations);
    out->unknown_type = first ? (uint32_t)(first - 1) : 0;
    out->damaged = atomic_load(&priv->damaged_relocations);
}
