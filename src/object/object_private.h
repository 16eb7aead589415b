/* What the files of src/object/ share and nobody else sees. */
#ifndef CSNI_OBJECT_PRIVATE_H
#define CSNI_OBJECT_PRIVATE_H

#include <stdatomic.h>

#include "object/inflate.h"
#include "object/object.h"

/* A section's content once it was read. */
struct csni_section_content {
    struct csni_span bytes;
    bool is_read;
    bool is_owned; /* memory of csni_pages_alloc(), else a view into the file */
};

struct csni_object_private {
    struct csni_object object; /* first: a pointer to it is a pointer to all of this */
    const struct csn_allocator *alloc;
    uint64_t max_decompressed_bytes;
    bool file_is_mapped;
    struct csni_section *sections;          /* the writable side of object.sections */
    struct csni_section_content *contents;  /* one for each section */
    struct csni_segment *segments;
    _Atomic uint64_t held_bytes;            /* in owned contents, now */
    _Atomic uint64_t inflated_bytes;        /* ever */
    _Atomic uint64_t unknown_relocations, damaged_relocations;
    _Atomic uint64_t first_unknown_relocation; /* its type + 1; 0: none yet */
};

static inline struct csni_object_private *csni_object_priv(struct csni_object *object) {
    return (struct csni_object_private *)object;
}
static inline const struct csni_object_private *csni_object_priv_const(const struct csni_object *object) {
    return (const struct csni_object_private *)object;
}

/* The name of a section for an error's text, "section 7" where it has none. */
enum { CSNI_SECTION_LABEL_SIZE = 24 };
const char *csni_section_label(const struct csni_object *object, uint32_t section, char label[CSNI_SECTION_LABEL_SIZE]);

/* The bytes as they stand in the file: neither inflated nor relocated. Empty for NOBITS. CSN_E_TRUNCATED when they lie
 * outside of the file. Keeps no state: any thread. */
csn_status csni_section_stored(const struct csni_object *object, uint32_t section, struct csni_span *out,
                               struct csn_error *err);

/* Fills the object from its headers. On failure the caller closes the object. */
csn_status csni_elf_read(struct csni_object_private *priv, struct csn_error *err);

/* How the stored bytes of a section are compressed: the compressed data within `stored`, and the size that its header
 * promises. For a section without CSNI_SECTION_COMPRESSED: CSNI_COMPRESSION_NONE and the bytes themselves. */
struct csni_compressed {
    enum csni_compression compression;
    struct csni_span data;
    uint64_t size;
};
csn_status csni_elf_compressed(const struct csni_object *object, uint32_t section, struct csni_span stored,
                               struct csni_compressed *out, struct csn_error *err);

/* Whether reading this section means applying relocations to it. */
bool csni_elf_needs_relocation(const struct csni_object *object, uint32_t section);
/* Applies them to `bytes`, the inflated content of the section. */
csn_status csni_elf_relocate(struct csni_object_private *priv, uint32_t section, uint8_t *bytes, uint64_t size,
                             struct csn_error *err);

/* Sets up an iterator over the symbol table in section `table`, without its names. */
csn_status csni_elf_symbols_of(struct csni_symbol_iter *iter, struct csni_object *object, uint32_t table,
                               struct csn_error *err);
/* The address of symbol `index` as an iteration would give it; 0 for undefined and common ones. False when there is no such
 * symbol or its section does not exist. */
bool csni_elf_symbol_value(const struct csni_symbol_iter *iter, uint64_t index, uint64_t *value);

#endif
