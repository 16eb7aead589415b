/* What the files of src/object/ share and nobody else sees. */
#ifndef CSNI_OBJECT_PRIVATE_H
#define CSNI_OBJECT_PRIVATE_H

#include <stdatomic.h>

#include "inflate/inflate.h"
#include "object/object.h"

struct csni_object_private;

/* A section's content once it was read. */
struct csni_section_content {
    struct csni_span bytes;
    bool is_read;
    bool is_owned; /* memory of csni_pages_alloc(), else a view into the file */
};

/* What a container's file gives object_open.c: a row of its table. Calls that a container has no use for are NULL. */
struct csni_container_reader {
    enum csni_container container;
    bool (*recognize)(struct csni_span file);
    /* Fills the object from its headers. On failure the caller closes the object. */
    csn_status (*read)(struct csni_object_private *priv, struct csn_error *err);
    /* What stands before "info" in the name of the section with DWARF's units; where sections are compressed by name, too. */
    const char *debug_prefix, *compressed_prefix;
    size_t name_max;   /* longest name of a section, longer ones are cut there; 0: no limit */
    /* Sets up `iter`, whose object is set. CSN_NONE: no such table. */
    csn_status (*symbols)(struct csni_symbol_iter *iter, struct csni_object *object, enum csni_symbol_table table,
                          struct csn_error *err);
    /* Reads symbol iter->index and moves on by at least one; false: damaged. */
    bool (*next_symbol)(struct csni_symbol_iter *iter, struct csni_symbol *out);
    /* Whether reading this section means applying relocations to it, and applying them to its inflated content. */
    bool (*needs_relocation)(const struct csni_object *object, uint32_t section);
    csn_status (*relocate)(struct csni_object_private *priv, uint32_t section, uint8_t *bytes, uint64_t size,
                           struct csn_error *err);
    csn_status (*function_bounds)(struct csni_object *object, csni_function_bounds *out, struct csn_error *err);
    csn_status (*data_segments)(struct csni_object *object, csni_data_segments *out, struct csn_error *err);
    csn_status (*stubs)(struct csni_object *object, csni_stubs *out, struct csn_error *err);
    /* Frees what `read` keeps in priv->own. */
    void (*close)(struct csni_object_private *priv);
};
extern const struct csni_container_reader csni_elf_reader, csni_macho_reader, csni_pe_reader, csni_wasm_reader;

struct csni_object_private {
    struct csni_object object; /* first: a pointer to it is a pointer to all of this */
    const struct csni_container_reader *reader;
    void *own;                              /* of the container's reader */
    const struct csn_allocator *alloc;
    uint64_t max_decompressed_bytes;
    bool file_is_mapped;
    uint64_t place_at;
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

/* How the stored bytes of a section are compressed: the compressed data within `stored`, and the size that its header
 * promises. For a section without CSNI_SECTION_COMPRESSED: CSNI_COMPRESSION_NONE and the bytes themselves. */
struct csni_compressed {
    enum csni_compression compression;
    struct csni_span data;
    uint64_t size;
};
csn_status csni_section_compressed(const struct csni_object *object, uint32_t section, struct csni_span stored,
                                   struct csni_compressed *out, struct csn_error *err);
/* For a container's `read`, once sections have names: marks .zdebug_ sections as compressed and gives compressed sections
 * their inflated size. One whose header is damaged keeps its stored size; reading it says what is wrong. */
void csni_size_compressed_sections(struct csni_object_private *priv);

/* Counts `size` bytes against the limit before they are allocated, and takes them off again. Any thread. */
csn_status csni_section_reserve(struct csni_object_private *priv, uint64_t size, const char *label, struct csn_error *err);
void csni_section_unreserve(struct csni_object_private *priv, uint64_t size);
/* Whether reading the section means applying relocations to it. */
bool csni_section_is_relocated(const struct csni_object *object, uint32_t section);

/* Memory for `count` sections, zeroed, and what goes with them. Section 0 of containers without one is left as it is: it
 * has no name and no bytes. */
csn_status csni_make_sections(struct csni_object_private *priv, uint32_t count, struct csn_error *err);

/* Sections of an object that is not linked all begin at 0. Those that will be in memory get places of their own, so that an
 * address means one thing: in section order, each at its alignment, from 0 on. So an object with a single code section,
 * which comes first, keeps the addresses that a disassembler shows. Sections that do have an address keep it; the others
 * are then placed after them. */
csn_status csni_place_sections(struct csni_object_private *priv, struct csn_error *err);

/* Counts of relocations left out, from any thread. */
void csni_add_relocation_counts(struct csni_object_private *priv, const struct csni_relocation_counts *counts);

/* ---- ELF ---- */

/* Whether reading this section means applying relocations to it. */
bool csni_elf_needs_relocation(const struct csni_object *object, uint32_t section);
/* Applies them to `bytes`, the inflated content of the section. */
csn_status csni_elf_relocate(struct csni_object_private *priv, uint32_t section, uint8_t *bytes, uint64_t size,
                             struct csn_error *err);

csn_status csni_elf_symbols(struct csni_symbol_iter *iter, struct csni_object *object, enum csni_symbol_table table,
                            struct csn_error *err);
bool csni_elf_next_symbol(struct csni_symbol_iter *iter, struct csni_symbol *out);
/* Sets up an iterator over the symbol table in section `table`, without its names. */
csn_status csni_elf_symbols_of(struct csni_symbol_iter *iter, struct csni_object *object, uint32_t table,
                               struct csn_error *err);
csn_status csni_elf_stubs(struct csni_object *object, csni_stubs *out, struct csn_error *err);
/* The address of symbol `index` as an iteration would give it; 0 for undefined and common ones. False when there is no such
 * symbol or its section does not exist. */
bool csni_elf_symbol_value(const struct csni_symbol_iter *iter, uint64_t index, uint64_t *value);

#endif
