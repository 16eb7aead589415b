/* Object files of any container, as sections, segments, symbols and identity. Nothing here knows what a section's content
 * means. One folder, one file per container; object_open.c chooses. */
#ifndef CSNI_OBJECT_H
#define CSNI_OBJECT_H

#include "base/core/alloc.h"
#include "base/core/span.h"
#include "base/core/vec.h"

enum csni_container { CSNI_CONTAINER_ELF = 1, CSNI_CONTAINER_MACHO, CSNI_CONTAINER_PE, CSNI_CONTAINER_WASM };

/* What an object is for. */
enum csni_object_kind {
    CSNI_OBJECT_EXECUTABLE,  /* linked at fixed addresses */
    CSNI_OBJECT_SHARED,      /* linked, loaded anywhere: shared library, PIE */
    CSNI_OBJECT_RELOCATABLE, /* not linked: sections have no addresses of their own */
    CSNI_OBJECT_CORE,
    CSNI_OBJECT_OTHER
};

enum {
    CSNI_SECTION_ALLOC = 1,      /* in memory at run time */
    CSNI_SECTION_EXEC = 2,
    CSNI_SECTION_WRITE = 4,
    CSNI_SECTION_NOBITS = 8,     /* no bytes in this file (.bss; code sections of a debug-only file) */
    CSNI_SECTION_COMPRESSED = 16, /* SHF_COMPRESSED or .zdebug_: `size` is the size that its header promises */
    CSNI_SECTION_GROUP = 32      /* member of a section group (COMDAT) of a relocatable object */
};

struct csni_section {
    struct csn_str name;
    uint64_t addr;       /* image address; in a relocatable object, a place of its own given by the reader */
    uint64_t size;       /* bytes in memory, after inflating; for NOBITS too */
    uint64_t file_off;   /* of the stored bytes */
    uint64_t file_size;  /* of the stored bytes */
    uint32_t flags;      /* CSNI_SECTION_ */
    uint32_t type;       /* container's own: sh_type, flags of a Mach-O section, characteristics of a PE section */
    uint32_t link, info; /* container's own: sh_link, sh_info */
    uint64_t align, entry_size;
};

struct csni_segment {
    uint64_t addr, size;      /* in memory */
    uint64_t file_off, file_size;
    bool exec;
};

enum csni_symbol_kind { CSNI_SYMBOL_NONE, CSNI_SYMBOL_FUNCTION, CSNI_SYMBOL_DATA, CSNI_SYMBOL_SECTION,
                        CSNI_SYMBOL_FILE, CSNI_SYMBOL_TLS, CSNI_SYMBOL_IFUNC, CSNI_SYMBOL_OTHER };
enum csni_symbol_bind { CSNI_BIND_LOCAL, CSNI_BIND_GLOBAL, CSNI_BIND_WEAK };

struct csni_symbol {
    struct csn_str name;
    uint64_t addr;       /* image address: Thumb and microMIPS bits removed */
    uint64_t size;       /* 0 when unknown */
    uint32_t section;    /* index in sections, or CSNI_NO_SECTION (undefined, absolute, common) */
    uint8_t kind;        /* enum csni_symbol_kind */
    uint8_t bind;        /* enum csni_symbol_bind */
    bool defined;
    bool had_low_bit;    /* bit 0 of its value was removed from `addr` */
    bool is_hidden;      /* ELF: STV_HIDDEN or STV_INTERNAL */
    uint8_t has_aux;     /* COFF: how many records follow it, as one that defines a section */
};
enum { CSNI_NO_SECTION = UINT32_MAX };

struct csni_object {
    enum csni_container container;
    enum csni_object_kind kind;
    uint32_t machine;        /* the container's own number: EM_X86_64, CPU_TYPE_X86_64, IMAGE_FILE_MACHINE_AMD64 */
    char arch[16];           /* "x86_64", "arm64", "i386", ...; empty where this library has no name for the machine */
    uint8_t address_size;    /* 4 or 8 */
    bool big_endian;
    struct csni_span file;   /* the bytes that were opened, borrowed */
    const struct csni_section *sections; /* numbered as the container does; index 0 is no section */
    uint32_t section_count;
    const struct csni_segment *segments;
    uint32_t segment_count;
    uint64_t image_base;     /* ELF: p_vaddr of the first PT_LOAD in program-header order; Mach-O: vmaddr of __TEXT; PE:
                              * ImageBase; 0 without one */
    bool has_image_base;
    uint64_t moved_by;         /* objects that are not linked, of Mach-O and WebAssembly: what `place_at` added to addresses of
                                * sections and symbols; addresses in debug sections are without it */
    struct csni_span build_id; /* GNU build id, from section or program header; LC_UUID; the 16 bytes of CodeView's GUID;
                                * build_id section of wasm; empty without one */
    uint32_t build_id_age;     /* PE: counts builds with that GUID; else 0 */
    struct csn_str pdb_path;   /* PE: where its PDB was when it was linked, a NUL follows it; empty without one */
};

struct csni_object_options {
    const struct csn_allocator *allocator;   /* NULL: malloc */
    uint64_t max_decompressed_bytes;         /* held at one time, all sections together; 0: no limit */
    bool file_is_mapped;                     /* `file` is a file mapping: its pages may be forgotten and come back */
    uint64_t place_at;                       /* where sections of an object that is not linked begin */
};

/* Whether bytes begin like an object file this folder reads. */
bool csni_object_recognize(struct csni_span file);

/* Reads headers and section table, not content. The bytes of `file` stay borrowed until close.
 * CSN_E_UNSUPPORTED: not an object file of a known container. CSN_E_ARGUMENT: a universal file of several images, of which
 * csni_object_slices() gives one to open. Errors name header and values. */
csn_status csni_object_open(struct csni_span file, const struct csni_object_options *options, struct csni_object **out,
                            struct csn_error *err);
void csni_object_close(struct csni_object *object); /* NULL is fine */

/* Index of the first section of that exact name, or CSNI_NO_SECTION. */
uint32_t csni_object_find_section(const struct csni_object *object, const char *name);
/* The DWARF section "info", "line", "str", ...: .debug_info, .zdebug_info, and other containers' spellings.
 * With `dwo`, its split-DWARF twin (.debug_info.dwo). The first of several; in a relocatable object, one that is in no
 * section group comes before those that are (each type unit has a section of its own there). */
uint32_t csni_object_find_debug_section(const struct csni_object *object, const char *name, bool dwo);
/* Whether there is one, without `dwo`, that has bytes in the file: stripped images and debug files may keep a header alone. */
bool csni_object_has_debug_section(const struct csni_object *object, const char *name);

/* The content, inflated, and relocated where the object is relocatable. A section that is stored plainly is a view into the
 * file; one without bytes in the file (NOBITS) is empty. Bytes live until csni_object_release_section() or close.
 * Different sections may be read from different threads at once; the same section gives the same bytes again, but its first
 * reading must be over before another thread reads or releases it.
 * CSN_E_TRUNCATED: it lies outside of the file. CSN_E_FORMAT: it does not inflate to the size its header promises.
 * CSN_E_UNSUPPORTED names the compression this build lacks; CSN_E_LIMIT the limit. */
csn_status csni_object_read_section(struct csni_object *object, uint32_t section, struct csni_span *out,
                                    struct csn_error *err);

/* The content, inflated but not relocated, into `bytes` if it has room for all of it; *size is how much that is. The same
 * failures. */
csn_status csni_object_copy_unrelocated(struct csni_object *object, uint32_t section, uint8_t *bytes, size_t capacity, size_t *size,
                                        struct csn_error *err);

/* Whether a section's content is what the file has, and the file is mapped: pages come and go. */
bool csni_object_is_mapped_view(const struct csni_object *object, uint32_t section);

/* Gives back memory of a section's content: all of it. A view into the file only leaves memory (and can be read again);
 * inflated bytes are freed, and read_section would inflate them again. */
void csni_object_release_section(struct csni_object *object, uint32_t section);

/* Gives back the pages of a part [off, off + size) of a section that was read. Inflated bytes there are lost until the
 * section is released and read again. Any thread, for parts no thread reads any more. */
void csni_object_discard(struct csni_object *object, uint32_t section, uint64_t off, uint64_t size);

/* The same where the bytes are a view into a mapped file, from which they come back; other content stays. */
void csni_object_forget(const struct csni_object *object, uint32_t section, uint64_t off, uint64_t size);

/* Total of bytes inflated so far. */
uint64_t csni_object_inflated_bytes(const struct csni_object *object);

/* Relocations of a relocatable object that reading its sections left out, so far. None of them is a failure: the bytes they
 * name stay as they are in the file. */
struct csni_relocation_counts {
    uint64_t unknown;      /* of a type or machine that this library does not know */
    uint32_t unknown_type; /* the first of them */
    uint64_t damaged;      /* place outside of the section, or symbol outside of the symbol table */
};
void csni_object_relocation_counts(const struct csni_object *object, struct csni_relocation_counts *out);

enum csni_symbol_table { CSNI_SYMBOLS_STATIC, CSNI_SYMBOLS_DYNAMIC };

/* Static: .symtab, nlist (and symbol stubs), COFF symbols, the name section of wasm. Dynamic: .dynsym, a PE's export table, a
 * Mach-O image's export trie. */
struct csni_symbol_iter {
    struct csni_object *object;
    struct csni_span symbols, strings;
    struct csni_span extra; /* the container's own: SHT_SYMTAB_SHNDX */
    uint64_t entry_size, index, count;
    uint64_t damaged;    /* symbols left out: bad name offset or section index */
    enum csni_symbol_table table;
    bool only_functions; /* set after init: symbols of data need not be given their names, which costs a look at each */
};
/* CSN_NONE: the object has no such table. */
csn_status csni_symbol_iter_init(struct csni_symbol_iter *iter, struct csni_object *object, enum csni_symbol_table table,
                                 struct csn_error *err);
/* In table order; null symbols and records that only belong to another symbol are left out. CSN_NONE at the end. A damaged
 * symbol is counted and passed over. */
csn_status csni_symbol_iter_next(struct csni_symbol_iter *iter, struct csni_symbol *out);

/* Where functions are that need not have names: LC_FUNCTION_STARTS, .pdata. `end` is 0 where only the start is known. */
struct csni_function_bound {
    uint64_t start, end;
};
typedef CSNI_VEC(struct csni_function_bound) csni_function_bounds;
/* Appends them in ascending order; `out` needs its allocator. CSN_NONE: the object has no such table. Damage ends the list,
 * which then holds what stands before it. */
csn_status csni_object_function_bounds(struct csni_object *object, csni_function_bounds *out, struct csn_error *err);

/* Bytes of a module's memory that no section has an address for: WebAssembly. */
struct csni_data_segment {
    uint64_t addr;           /* addr + bytes.size does not overflow */
    struct csni_span bytes;  /* a view into the file */
};
typedef CSNI_VEC(struct csni_data_segment) csni_data_segments;
/* Appends them in file order; `out` needs its allocator. CSN_NONE: there are none. Damage ends the list. */
csn_status csni_object_data_segments(struct csni_object *object, csni_data_segments *out, struct csn_error *err);

/* Code that jumps to a function of another image: an entry of a procedure linkage table. */
struct csni_stub {
    uint64_t addr, size;
    struct csn_str target;   /* a view into the file; empty: the function that code at `addend` chooses */
    uint64_t addend;
};
typedef CSNI_VEC(struct csni_stub) csni_stubs;
/* Appends those of a linked ELF image; `out` needs its allocator. CSN_NONE: none, or no machine whose stubs are
 * known. Those of Mach-O images are among their symbols. */
csn_status csni_object_stubs(struct csni_object *object, csni_stubs *out, struct csn_error *err);

/* A pointer that the dynamic linker sets to `value` and the load bias; the bytes of its place tell nothing. */
struct csni_object_pointer {
    uint64_t place, value;
};
typedef CSNI_VEC(struct csni_object_pointer) csni_object_pointers;
/* Appends those of a shared ELF image, ascending by place; `out` needs its allocator. CSN_NONE: none of that kind. */
csn_status csni_object_relative_pointers(const struct csni_object *object, csni_object_pointers *out, struct csn_error *err);

/* Where symbols of functions name descriptors, and not code: .opd of 64-bit PowerPC's older ABI. */
struct csni_descriptors {
    uint64_t addr;
    struct csni_span bytes;
    bool big_endian;
    csni_object_pointers pointers;
};
/* CSN_NONE: symbols of functions name code. What was opened lives as long as the object. */
csn_status csni_object_descriptors(struct csni_object *object, struct csni_descriptors *out, struct csn_error *err);
void csni_descriptors_deinit(struct csni_descriptors *descriptors);
/* The code of the descriptor at `addr`. False: there is none. */
bool csni_descriptor_code(const struct csni_descriptors *descriptors, uint64_t addr, uint64_t *out);

/* One image of a universal file. */
struct csni_slice {
    char arch[16];         /* "x86_64", "arm64": NUL-terminated */
    struct csni_span file;
};
/* The images in `file`: itself alone, unless it is a universal Mach-O file. Memory of `alloc`: free with
 * csni_free(alloc, *out, *count * sizeof **out). */
csn_status csni_object_slices(struct csni_span file, const struct csn_allocator *alloc, struct csni_slice **out,
                              uint32_t *count, struct csn_error *err);

#endif
