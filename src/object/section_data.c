/* The content of sections: reading, inflating, giving back. */
#include <inttypes.h>
#include <stdio.h>

#include "base/core/cursor.h"
#include "base/core/fail.h"
#include "base/core/file_map.h"
#include "inflate/inflater.h"
#include "object/elf/elf_layout.h"
#include "object/object.h"
#include "object/object_private.h"

enum { LIKELY_RATIO = 16 }; /* debug information is compressed to a half or a fourth */
enum { STEP = 1 << 20 };     /* bytes */

const char *csni_section_label(const struct csni_object *object, uint32_t section, char label[CSNI_SECTION_LABEL_SIZE]) {
    struct csn_str name = object->sections[section].name;
    if (name.len) snprintf(label, CSNI_SECTION_LABEL_SIZE, "%.*s", (int)(name.len < 64 ? name.len : 64), name.ptr);
    else snprintf(label, CSNI_SECTION_LABEL_SIZE, "section %" PRIu32, section);
    return label;
}

csn_status csni_section_stored(const struct csni_object *object, uint32_t section, struct csni_span *out,
                               struct csn_error *err) {
    const struct csni_section *s = &object->sections[section];
    if (s->flags & CSNI_SECTION_NOBITS) {
        *out = (struct csni_span){ NULL, 0 };
        return CSN_OK;
    }
    if (csni_span_sub(object->file, s->file_off, s->file_size, out)) return CSN_OK;
    char label[CSNI_SECTION_LABEL_SIZE];
    return csni_fail(err, CSN_E_TRUNCATED, csni_section_label(object, section, label), 0,
                     "at 0x%" PRIx64 ", 0x%" PRIx64 " bytes long, but the file has 0x%zx bytes", s->file_off, s->file_size,
                     object->file.size);
}

/* ---- compression: SHF_COMPRESSED (ELF), and the older .zdebug_ names that any container may use ---- */

static bool is_zdebug(const struct csni_object *object, uint32_t section) {
    const char *prefix = csni_object_priv_const(object)->reader->compressed_prefix;
    return prefix && csni_str_starts(object->sections[section].name, prefix);
}

static csn_status zdebug_compressed(const struct csni_object *object, uint32_t section, struct csni_span stored,
                                    struct csni_compressed *out, struct csn_error *err) {
    char label[CSNI_SECTION_LABEL_SIZE];
    csni_section_label(object, section, label);
    if (stored.size < ZDEBUG_HEADER_SIZE)
        return csni_fail(err, CSN_E_TRUNCATED, label, 0, "compression header: %zu bytes, need %d", stored.size,
                         ZDEBUG_HEADER_SIZE);
    if (memcmp(stored.ptr, "ZLIB", ZDEBUG_MAGIC_SIZE) != 0)
        return csni_fail(err, CSN_E_FORMAT, label, 0, "begins with %02x %02x %02x %02x, need 5a 4c 49 42 (ZLIB)",
                         stored.ptr[0], stored.ptr[1], stored.ptr[2], stored.ptr[3]);
    out->compression = CSNI_COMPRESSION_ZLIB;
    out->data = csni_span_from(stored, ZDEBUG_HEADER_SIZE);
    out->size = csni_get64(stored.ptr + ZDEBUG_MAGIC_SIZE, true);
    return CSN_OK;
}

static csn_status chdr_compressed(const struct csni_object *object, uint32_t section, struct csni_span stored,
                                  struct csni_compressed *out, struct csn_error *err) {
    char label[CSNI_SECTION_LABEL_SIZE];
    csni_section_label(object, section, label);
    bool wide = object->address_size == 8;
    struct csni_cursor c = csni_cursor_at(stored, object->big_endian);
    uint32_t type = csni_cursor_u32(&c);
    if (wide) csni_cursor_skip(&c, 4); /* ch_reserved */
    uint64_t size = csni_cursor_uint(&c, object->address_size);
    csni_cursor_skip(&c, object->address_size); /* ch_addralign */
    if (c.failed)
        return csni_fail(err, CSN_E_TRUNCATED, label, 0, "compression header: %zu bytes, need %d", stored.size,
                         wide ? CHDR64_SIZE : CHDR32_SIZE);
    if (type != ELFCOMPRESS_ZLIB && type != ELFCOMPRESS_ZSTD)
        return csni_fail(err, CSN_E_UNSUPPORTED, label, 0, "compression type %" PRIu32 ", need 1 (zlib) or 2 (zstd)", type);
    out->compression = type == ELFCOMPRESS_ZLIB ? CSNI_COMPRESSION_ZLIB : CSNI_COMPRESSION_ZSTD;
    out->data = csni_span_from(stored, csni_cursor_off(&c));
    out->size = size;
    return CSN_OK;
}

csn_status csni_section_compressed(const struct csni_object *object, uint32_t section, struct csni_span stored,
                                   struct csni_compressed *out, struct csn_error *err) {
    if (!(object->sections[section].flags & CSNI_SECTION_COMPRESSED)) {
        *out = (struct csni_compressed){ CSNI_COMPRESSION_NONE, stored, stored.size };
        return CSN_OK;
    }
    if (is_zdebug(object, section)) return zdebug_compressed(object, section, stored, out, err);
    return chdr_compressed(object, section, stored, out, err);
}

void csni_size_compressed_sections(struct csni_object_private *priv) {
    for (uint32_t i = 0; i < priv->object.section_count; i++) {
        struct csni_section *s = &priv->sections[i];
        if (is_zdebug(&priv->object, i) && !(s->flags & CSNI_SECTION_NOBITS)) s->flags |= CSNI_SECTION_COMPRESSED;
        if (!(s->flags & CSNI_SECTION_COMPRESSED)) continue;
        struct csni_span stored;
        struct csni_compressed compressed;
        if (csni_section_stored(&priv->object, i, &stored, NULL) == CSN_OK &&
            csni_section_compressed(&priv->object, i, stored, &compressed, NULL) == CSN_OK)
            s->size = compressed.size;
    }
}

/* ---- inflating ---- */

static bool is_within_limit(const struct csni_object_private *priv, uint64_t held, uint64_t size) {
    return !priv->max_decompressed_bytes ||
           (held <= priv->max_decompressed_bytes && size <= priv->max_decompressed_bytes - held);
}

csn_status csni_section_reserve(struct csni_object_private *priv, uint64_t size, const char *label, struct csn_error *err) {
    if (size > PTRDIFF_MAX) return csni_fail(err, CSN_E_LIMIT, label, 0, "0x%" PRIx64 " bytes do not fit in memory", size);
    uint64_t held = atomic_load_explicit(&priv->held_bytes, memory_order_relaxed);
    do {
        if (!is_within_limit(priv, held, size))
            return csni_fail(err, CSN_E_LIMIT, label, 0,
                             "needs 0x%" PRIx64 " bytes inflated besides 0x%" PRIx64 " held, limit 0x%" PRIx64, size, held,
                             priv->max_decompressed_bytes);
    } while (!atomic_compare_exchange_weak_explicit(&priv->held_bytes, &held, held + size, memory_order_relaxed,
                                                    memory_order_relaxed));
    return CSN_OK;
}

void csni_section_unreserve(struct csni_object_private *priv, uint64_t size) {
    atomic_fetch_sub_explicit(&priv->held_bytes, size, memory_order_relaxed);
}

bool csni_section_is_relocated(const struct csni_object *object, uint32_t section) {
    const struct csni_container_reader *reader = csni_object_priv_const(object)->reader;
    return reader->needs_relocation && reader->needs_relocation(object, section);
}

/* All of it will be written, so the faults of many pages are taken at once; of few enough that other threads do not
 * wait for long for the page tables. A size that only a hostile file would tell is not believed before it is seen. */
static void populate_likely(const struct csni_compressed *source, uint8_t *bytes) {
    size_t size = (size_t)source->size;
    if (size / LIKELY_RATIO > source->data.size) return;
    for (size_t done = 0; done < size; done += STEP) csni_pages_populate(bytes + done, size - done < STEP ? size - done : STEP);
}

/* Pages that are written right after they have been made present are still in the processor's cache. */
static csn_status inflate_in_steps(const struct csni_compressed *source, uint8_t *bytes, const char *label,
                                   const struct csn_allocator *alloc, struct csn_error *err) {
    struct csni_inflater *inflater;
    size_t size = (size_t)source->size;
    CSNI_TRY(csni_inflater_create(source->compression, source->data, size, label, alloc, &inflater, err));
    csn_status status = CSN_OK;
    for (size_t done = 0, step; status == CSN_OK && done < size; done += step) {
        step = size - done < STEP ? size - done : STEP;
        csni_pages_populate(bytes + done, step);
        status = csni_inflater_read(inflater, bytes + done, step, err);
    }
    csni_inflater_destroy(inflater);
    return status;
}

static csn_status inflate_section(const struct csni_compressed *source, uint8_t *bytes, const char *label,
                                  const struct csn_allocator *alloc, struct csn_error *err) {
    if (source->compression == CSNI_COMPRESSION_ZLIB) return inflate_in_steps(source, bytes, label, alloc, err);
    populate_likely(source, bytes);
    return csni_inflate(source->compression, source->data, bytes, (size_t)source->size, label, alloc, err);
}

/* Inflated or copied into `bytes`. */
static csn_status fill_unrelocated(struct csni_object_private *priv, const struct csni_compressed *source, uint8_t *bytes,
                                   const char *label, struct csn_error *err) {
    if (source->compression != CSNI_COMPRESSION_NONE) {
        CSNI_TRY(inflate_section(source, bytes, label, priv->alloc, err));
        atomic_fetch_add_explicit(&priv->inflated_bytes, source->size, memory_order_relaxed);
    } else if (source->size) {
        populate_likely(source, bytes);
        memcpy(bytes, source->data.ptr, (size_t)source->size);
    }
    return CSN_OK;
}

/* Relocated, too. */
static csn_status fill_section(struct csni_object_private *priv, uint32_t section, const struct csni_compressed *source,
                               uint8_t *bytes, const char *label, struct csn_error *err) {
    CSNI_TRY(fill_unrelocated(priv, source, bytes, label, err));
    if (!csni_section_is_relocated(&priv->object, section)) return CSN_OK;
    return priv->reader->relocate(priv, section, bytes, source->size, err);
}

/* Content that differs from what the file has: in memory of its own. */
static csn_status read_owned(struct csni_object_private *priv, uint32_t section, const struct csni_compressed *source,
                             struct csni_section_content *content, struct csn_error *err) {
    char label[CSNI_SECTION_LABEL_SIZE];
    csni_section_label(&priv->object, section, label);
    CSNI_TRY(csni_inflate_check(source->compression, source->data, source->size, label, err));
    CSNI_TRY(csni_section_reserve(priv, source->size, label, err));
    size_t size = (size_t)source->size;
    uint8_t *bytes = csni_pages_alloc(size);
    csn_status status = bytes ? fill_section(priv, section, source, bytes, label, err) : csni_fail_memory(err, size);
    if (status < 0) {
        if (bytes) csni_pages_free(bytes, size);
        csni_section_unreserve(priv, size);
        return status;
    }
    *content = (struct csni_section_content){ { bytes, size }, true, true };
    if (priv->file_is_mapped) csni_file_map_forget(source->data.ptr, source->data.size);
    return CSN_OK;
}

csn_status csni_object_read_section(struct csni_object *object, uint32_t section, struct csni_span *out,
                                    struct csn_error *err) {
    if (section >= object->section_count)
        return csni_fail(err, CSN_E_ARGUMENT, NULL, 0, "section %" PRIu32 " of %" PRIu32, section, object->section_count);
    struct csni_object_private *priv = csni_object_priv(object);
    struct csni_section_content *content = &priv->contents[section];
    if (!content->is_read) {
        struct csni_span stored;
        CSNI_TRY(csni_section_stored(object, section, &stored, err));
        struct csni_compressed source;
        CSNI_TRY(csni_section_compressed(object, section, stored, &source, err));
        bool is_view = source.compression == CSNI_COMPRESSION_NONE && !csni_section_is_relocated(object, section);
        if (!source.size) *content = (struct csni_section_content){ .is_read = true };
        else if (is_view) *content = (struct csni_section_content){ .bytes = stored, .is_read = true };
        else CSNI_TRY(read_owned(priv, section, &source, content, err));
    }
    *out = content->bytes;
    return CSN_OK;
}

csn_status csni_object_copy_unrelocated(struct csni_object *object, uint32_t section, uint8_t *bytes, size_t capacity, size_t *size,
                                        struct csn_error *err) {
    struct csni_span stored;
    struct csni_compressed source;
    char label[CSNI_SECTION_LABEL_SIZE];
    *size = 0;
    if (section >= object->section_count)
        return csni_fail(err, CSN_E_ARGUMENT, NULL, 0, "section %" PRIu32 " of %" PRIu32, section, object->section_count);
    csni_section_label(object, section, label);
    CSNI_TRY(csni_section_stored(object, section, &stored, err));
    CSNI_TRY(csni_section_compressed(object, section, stored, &source, err));
    CSNI_TRY(csni_inflate_check(source.compression, source.data, source.size, label, err));
    if (source.size > PTRDIFF_MAX) return csni_fail(err, CSN_E_LIMIT, label, 0, "0x%" PRIx64 " bytes do not fit in memory", source.size);
    *size = (size_t)source.size;
    return *size && *size <= capacity ? fill_unrelocated(csni_object_priv(object), &source, bytes, label, err) : CSN_OK;
}

bool csni_object_is_mapped_view(const struct csni_object *object, uint32_t section) {
    return section < object->section_count && csni_object_priv_const(object)->file_is_mapped &&
           !(object->sections[section].flags & CSNI_SECTION_COMPRESSED) && !csni_section_is_relocated(object, section);
}

void csni_object_release_section(struct csni_object *object, uint32_t section) {
    if (section >= object->section_count) return;
    struct csni_object_private *priv = csni_object_priv(object);
    struct csni_section_content *content = &priv->contents[section];
    if (!content->is_read) return;
    if (content->is_owned) {
        csni_pages_free((uint8_t *)content->bytes.ptr, content->bytes.size);
        csni_section_unreserve(priv, content->bytes.size);
    } else if (priv->file_is_mapped) {
        csni_file_map_forget(content->bytes.ptr, content->bytes.size);
    }
    *content = (struct csni_section_content){ { NULL, 0 }, false, false };
}

void csni_object_discard(struct csni_object *object, uint32_t section, uint64_t off, uint64_t size) {
    if (section >= object->section_count) return;
    struct csni_object_private *priv = csni_object_priv(object);
    const struct csni_section_content *content = &priv->contents[section];
    struct csni_span part;
    if (!content->is_read || !csni_span_sub(content->bytes, off, size, &part)) return;
    if (content->is_owned) csni_pages_discard((uint8_t *)part.ptr, part.size);
    else if (priv->file_is_mapped) csni_file_map_forget(part.ptr, part.size);
}

void csni_object_forget(const struct csni_object *object, uint32_t section, uint64_t off, uint64_t size) {
    if (section >= object->section_count) return;
    const struct csni_object_private *priv = csni_object_priv((struct csni_object *)(uintptr_t)object);
    const struct csni_section_content *content = &priv->contents[section];
    struct csni_span part;
    if (!content->is_read || content->is_owned || !priv->file_is_mapped || !csni_span_sub(content->bytes, off, size, &part)) return;
    csni_file_map_forget(part.ptr, part.size);
}
