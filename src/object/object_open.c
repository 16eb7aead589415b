/* Opening and closing object files of any container, and finding sections by name. */
#include "object/object.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/fail.h"
#include "object/object_private.h"

static const uint8_t elf_magic[4] = { 0x7f, 'E', 'L', 'F' };

bool csni_object_recognize(struct csni_span file) {
    return file.size >= sizeof elf_magic && memcmp(file.ptr, elf_magic, sizeof elf_magic) == 0;
}

static csn_status fail_not_an_object(struct csni_span file, struct csn_error *err) {
    if (file.size < sizeof elf_magic)
        return csni_fail(err, CSN_E_UNSUPPORTED, NULL, 0, "not an object file: %zu bytes, an ELF header is longer",
                         file.size);
    return csni_fail(err, CSN_E_UNSUPPORTED, NULL, 0,
                     "not an object file: begins with %02x %02x %02x %02x, ELF with 7f 45 4c 46", file.ptr[0], file.ptr[1],
                     file.ptr[2], file.ptr[3]);
}

csn_status csni_object_open(struct csni_span file, const struct csni_object_options *options, struct csni_object **out,
                            struct csn_error *err) {
    if (!csni_object_recognize(file)) return fail_not_an_object(file, err);
    const struct csn_allocator *alloc = csni_allocator_or_default(options ? options->allocator : NULL);
    struct csni_object_private *priv = csni_alloc_zeroed(alloc, 1, sizeof *priv);
    if (!priv) return csni_fail_memory(err, sizeof *priv);
    priv->alloc = alloc;
    priv->max_decompressed_bytes = options ? options->max_decompressed_bytes : 0;
    priv->file_is_mapped = options && options->file_is_mapped;
    priv->object.container = CSNI_CONTAINER_ELF;
    priv->object.file = file;
    csn_status status = csni_elf_read(priv, err);
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

/* Whether `text` is prefix + name + suffix. */
static bool is_debug_name(struct csn_str text, const char *prefix, struct csn_str name, const char *suffix) {
    size_t prefix_len = strlen(prefix), suffix_len = strlen(suffix);
    return text.len == prefix_len + name.len + suffix_len && memcmp(text.ptr, prefix, prefix_len) == 0 &&
           memcmp(text.ptr + prefix_len, name.ptr, name.len) == 0 &&
           memcmp(text.ptr + prefix_len + name.len, suffix, suffix_len) == 0;
}

uint32_t csni_object_find_debug_section(const struct csni_object *object, const char *name, bool dwo) {
    struct csn_str wanted = csni_str(name);
    const char *suffix = dwo ? ".dwo" : "";
    uint32_t in_group = CSNI_NO_SECTION;
    for (uint32_t i = 1; i < object->section_count; i++) {
        struct csn_str text = object->sections[i].name;
        if (!is_debug_name(text, ".debug_", wanted, suffix) && !is_debug_name(text, ".zdebug_", wanted, suffix)) continue;
        /* A relocatable object with type units has a .debug_info of its own in each type's section group, in front of
         * that of the code. */
        if (!(object->sections[i].flags & CSNI_SECTION_GROUP)) return i;
        if (in_group == CSNI_NO_SECTION) in_group = i;
    }
    return in_group;
}

uint64_t csni_object_inflated_bytes(const struct csni_object *object) {
    return atomic_load_explicit(&csni_object_priv_const(object)->inflated_bytes, memory_order_relaxed);
}

const char *csni_section_label(const struct csni_object *object, uint32_t section, char label[CSNI_SECTION_LABEL_SIZE]) {
    struct csn_str name = object->sections[section].name;
    if (name.len) snprintf(label, CSNI_SECTION_LABEL_SIZE, "%.*s", (int)(name.len < 64 ? name.len : 64), name.ptr);
    else snprintf(label, CSNI_SECTION_LABEL_SIZE, "section %" PRIu32, section);
    return label;
}
