/* How containers compress debug sections: SHF_COMPRESSED (ELF), and the older .zdebug_ names that any container may use. */
#include <inttypes.h>

#include "base/core/cursor.h"
#include "base/core/fail.h"
#include "object/elf/elf_layout.h"
#include "object/object_private.h"

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
