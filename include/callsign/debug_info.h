/* Callsign: read the debug information of an object file as it stands, one unit at a time: sections, symbols, units,
 * DIEs with any attribute, and line tables with columns and discriminators.
 *
 * An index holds what a stack trace needs. A program that prints more, or that must answer exactly as another tool does,
 * asks the object itself through this header. Nothing is converted: opening reads headers, and a unit, its line table and
 * its DIEs are read when they are asked for.
 *
 * A csn_debug_info belongs to one thread at a time. Everything that it gives, strings included, lives until
 * csn_debug_info_close(), if nothing else is said. */
#ifndef CALLSIGN_DEBUG_INFO_H
#define CALLSIGN_DEBUG_INFO_H

#include <callsign/companion.h>

#ifdef __cplusplus
extern "C" {
#endif

struct csn_debug_info;

struct csn_debug_info_options {
    size_t struct_size;                    /* set by CSN_DEBUG_INFO_OPTIONS_INIT */
    const struct csn_allocator *allocator; /* NULL: malloc; must outlive the result */
    const char *arch;                      /* the image that is wanted, as csn_image_list_memory() names it, also of a file that has only
                                            * one; NULL: the first */
    csn_companion_resolver *resolver;      /* finds the debug file, the supplement and split DWARF; NULL: nothing is looked for */
    void *resolver_context;
};
#define CSN_DEBUG_INFO_OPTIONS_INIT CSN_SIZED_INIT(csn_debug_info_options)
CSN_API void csn_debug_info_options_init(struct csn_debug_info_options *options);

/* Opens the object file at `path` (ELF, Mach-O, PE, COFF, WebAssembly) and, where it has no DWARF of its own, its debug
 * file. An object without any debug information opens, too: it has symbols and no units. `options` may be NULL. The
 * caller releases *out with csn_debug_info_close().
 * CSN_OK; CSN_E_IO; CSN_E_UNSUPPORTED: not an object file; CSN_E_NOT_FOUND: no image for options->arch (a machine
 * without a name fits any); CSN_E_FORMAT,
 * CSN_E_TRUNCATED: damaged headers; CSN_E_MEMORY.
 * Cost: reads headers, and inflates the DWARF sections that are compressed. */
CSN_API csn_status csn_debug_info_open_file(const char *path, const struct csn_debug_info_options *options,
                                            struct csn_debug_info **out, struct csn_error *err);
CSN_API void csn_debug_info_close(struct csn_debug_info *info); /* `info` may be NULL */

/* ---- the object ---- */

enum csn_container { CSN_CONTAINER_ELF = 1, CSN_CONTAINER_MACHO, CSN_CONTAINER_PE, CSN_CONTAINER_WASM };
enum csn_object_kind { CSN_OBJECT_EXECUTABLE, CSN_OBJECT_SHARED, CSN_OBJECT_RELOCATABLE, CSN_OBJECT_CORE, CSN_OBJECT_OTHER };

/* The image, as its headers describe it. Later versions may add fields at the end. */
struct csn_debug_object {
    uint32_t container;      /* enum csn_container */
    uint32_t kind;           /* enum csn_object_kind */
    uint32_t machine;        /* the container's own number, such as EM_X86_64 */
    char arch[16];           /* "x86_64", "arm64"; empty where this library has no name for the machine */
    uint8_t address_size;    /* 4 or 8 */
    uint8_t big_endian;
    uint8_t has_image_base;
    uint8_t has_debug_file;  /* its DWARF stands in another file */
    uint64_t image_base;     /* ELF: address of the first segment; Mach-O: that of __TEXT; PE: ImageBase */
    const uint8_t *build_id; /* GNU build id, UUID or CodeView GUID */
    size_t build_id_size;    /* 0: it has none */
    uint32_t section_count;
    uint32_t segment_count;
    uint32_t unit_count;     /* units of .debug_info and .debug_types, those of split DWARF not included */
    uint32_t info_unit_count; /* those of .debug_info, which come first */
    const char *debug_path;  /* of the debug file; NULL: there is none, or it came from memory */
};
/* Fills *out, of which the caller gives the size. */
CSN_API void csn_debug_info_get_object(const struct csn_debug_info *info, struct csn_debug_object *out, size_t out_size);

enum {
    CSN_SECTION_ALLOC = 1,   /* in memory at run time */
    CSN_SECTION_EXEC = 2,
    CSN_SECTION_WRITE = 4,
    CSN_SECTION_NOBITS = 8   /* no bytes in the file */
};
struct csn_debug_section {
    struct csn_str name;
    uint64_t addr;           /* image address; in a relocatable object, one that the reader gave it */
    uint64_t size;           /* bytes in memory, inflated */
    uint64_t file_offset;
    uint32_t flags;          /* CSN_SECTION_ */
    uint32_t type;           /* the container's own: sh_type, flags of a Mach-O section, characteristics of a PE section */
};
/* Section `idx` of the image, numbered as in the container; 0 is no section. CSN_E_ARGUMENT: idx >= section_count. */
CSN_API csn_status csn_debug_info_section(const struct csn_debug_info *info, uint32_t idx, struct csn_debug_section *out,
                                          struct csn_error *err);
/* The content of a DWARF section that this header has no words for, such as "aranges", of the file that has the DWARF:
 * inflated, and relocated where the object is relocatable. CSN_NONE: there is none. */
CSN_API csn_status csn_debug_info_dwarf_section(struct csn_debug_info *info, const char *name, struct csn_str *out,
                                                struct csn_error *err);
/* The same content without its relocations, as the file has it: what readers see that do not apply them to this section. Fills
 * `bytes` if it has room for all; *size is how many there are. */
CSN_API csn_status csn_debug_info_copy_unrelocated(struct csn_debug_info *info, const char *name, void *bytes, size_t capacity,
                                                   size_t *size, struct csn_error *err);
/* Gives back the memory of `size` bytes of that section from `offset` on, and of some around them, where they are
 * pages of a mapped file: they come back when they are read. For those who read a large section from one end to the
 * other. Never fails; what is outside the section does not count. */
CSN_API void csn_debug_info_forget_section(const struct csn_debug_info *info, const char *name, uint64_t offset, uint64_t size);

struct csn_debug_segment {
    uint64_t addr, size, file_offset, file_size;
    uint64_t is_executable;
};
CSN_API csn_status csn_debug_info_segment(const struct csn_debug_info *info, uint32_t idx, struct csn_debug_segment *out,
                                          struct csn_error *err);

enum csn_symbol_kind {
    CSN_SYMBOL_NONE, CSN_SYMBOL_FUNCTION, CSN_SYMBOL_DATA, CSN_SYMBOL_SECTION, CSN_SYMBOL_FILE, CSN_SYMBOL_TLS,
    CSN_SYMBOL_IFUNC, CSN_SYMBOL_OTHER
};
enum csn_symbol_bind { CSN_BIND_LOCAL, CSN_BIND_GLOBAL, CSN_BIND_WEAK };
#define CSN_NO_SECTION UINT32_MAX

struct csn_debug_symbol {
    struct csn_str name;
    uint64_t addr;           /* image address, Thumb and microMIPS bits removed */
    uint64_t size;           /* 0: unknown */
    uint32_t section;        /* CSN_NO_SECTION: undefined, absolute, common */
    uint8_t kind;            /* enum csn_symbol_kind */
    uint8_t bind;            /* enum csn_symbol_bind */
    uint8_t is_defined;
    uint8_t is_default_version; /* "@@" stands before `version` in listings, else "@" */
    uint8_t had_low_bit;     /* bit 0 of its value, as of Thumb code, was removed from `addr` */
    uint8_t is_hidden;       /* ELF: hidden from other modules */
    uint8_t has_aux;         /* COFF: how many auxiliary records follow it, as a symbol that defines a section */
    uint8_t reserved[5];
    struct csn_str version;  /* of a dynamic ELF symbol: GLIBC_2.2.5; empty: none */
};
enum csn_symbol_source {
    CSN_SYMBOLS_STATIC = 0,  /* of the image: .symtab, nlist, COFF symbols */
    CSN_SYMBOLS_DYNAMIC = 1, /* of the image: .dynsym, exports */
    CSN_SYMBOLS_DEBUG_FILE = 2 /* the static ones of the debug file */
};
/* All symbols of a table, in its order. CSN_NONE: the object has no such table. Cost: reads the table once. */
CSN_API csn_status csn_debug_info_symbols(struct csn_debug_info *info, enum csn_symbol_source source,
                                          const struct csn_debug_symbol **out, size_t *out_count, struct csn_error *err);

/* ---- units ---- */

struct csn_debug_unit {
    uint64_t offset, end;    /* of the unit in its section, header included */
    uint64_t root;           /* offset of the unit DIE */
    uint64_t low_pc;         /* 0 without has_low_pc */
    uint64_t line_offset;    /* of its line table in .debug_line, with has_lines */
    uint64_t dwo_id;
    struct csn_str name, comp_dir, producer, dwo_name; /* empty: absent */
    uint32_t idx;
    uint32_t tag;            /* DW_TAG_compile_unit, DW_TAG_partial_unit ... */
    uint32_t language;       /* DW_LANG_; 0: absent */
    uint16_t version;
    uint8_t address_size, offset_size;
    uint8_t unit_type;       /* DW_UT_ */
    uint8_t in_types;        /* in .debug_types */
    uint8_t is_skeleton, is_split;
    uint8_t has_lines, has_low_pc;
    uint8_t reserved[6];
    const void *priv[3];     /* private */
};

/* Unit `idx`. CSN_NONE: there are no more. CSN_E_FORMAT, CSN_E_UNSUPPORTED: its header or root DIE cannot be read; *out is
 * still given where the header could. */
CSN_API csn_status csn_debug_info_unit(struct csn_debug_info *info, uint32_t idx, const struct csn_debug_unit **out,
                                       struct csn_error *err);
/* The unit of .debug_info that holds an offset. CSN_NONE: none does. */
CSN_API csn_status csn_debug_info_unit_at(struct csn_debug_info *info, uint64_t offset, const struct csn_debug_unit **out,
                                          struct csn_error *err);
/* The number of that unit, which is not read, and where it begins. CSN_NONE: none does. */
CSN_API csn_status csn_debug_info_unit_index_at(const struct csn_debug_info *info, uint64_t offset, uint32_t *idx, uint64_t *begin);
/* Of a skeleton: the unit of split DWARF, whose file the resolver finds. CSN_NONE: it is no skeleton, or not found. */
CSN_API csn_status csn_debug_unit_split(const struct csn_debug_unit *skeleton, const struct csn_debug_unit **out,
                                        struct csn_error *err);

/* Gives back memory of a unit that will not be read again soon: its abbreviations, and the pages of .debug_info and
 * .debug_line that it has in a mapped file. What was read of it before no longer counts, but for strings and line
 * tables; it may be read anew. Other threads must not read the same `csn_debug_info` meanwhile, as always. `unit`
 * may be NULL. */
CSN_API void csn_debug_unit_release(const struct csn_debug_unit *unit);

/* ---- DIEs ---- */

struct csn_debug_die {
    const struct csn_debug_unit *unit;
    uint64_t offset;         /* in the unit's section */
    uint64_t next;           /* offset after its attributes: first child, or next sibling */
    uint64_t attributes;     /* private */
    const void *abbreviation; /* private */
    uint32_t tag;            /* DW_TAG_ */
    uint32_t has_children;
};
/* Reads the DIE at an offset: `root` of a unit, `next` of another DIE, or where a reference leads.
 * CSN_OK; CSN_NONE: the null entry that ends a list of children, of which only `next` is set; CSN_E_FORMAT: outside of the
 * unit's DIEs, or damaged.
 * Cost: one look at the abbreviation; the attributes are stepped over. */
CSN_API csn_status csn_debug_die_at(const struct csn_debug_unit *unit, uint64_t offset, struct csn_debug_die *out,
                                    struct csn_error *err);

enum csn_debug_value_kind {
    CSN_VALUE_NUMBER = 1,    /* constants and flags */
    CSN_VALUE_SIGNED,        /* DW_FORM_sdata, implicit_const: `number` in two's complement */
    CSN_VALUE_ADDRESS,
    CSN_VALUE_STRING,
    CSN_VALUE_BLOCK,         /* blocks and expressions */
    CSN_VALUE_REFERENCE,     /* for csn_debug_die_follow() */
    CSN_VALUE_LIST           /* offset or index of a list of ranges or locations, or another section offset */
};
struct csn_debug_value {
    uint32_t kind;           /* enum csn_debug_value_kind */
    uint32_t form;           /* DW_FORM_ */
    uint64_t number;         /* as stored; of an address, resolved through .debug_addr */
    struct csn_str bytes;    /* of strings, NUL-terminated, and of blocks */
};
/* The attribute `attribute` (DW_AT_) of a DIE. CSN_NONE: it has none, or the string or address cannot be read. */
CSN_API csn_status csn_debug_die_attribute(const struct csn_debug_die *die, uint32_t attribute, struct csn_debug_value *out);
/* The attributes of a DIE one after the other: *position is 0 before the first. CSN_NONE: there are no more. A string or
 * address that cannot be read has kind 0. */
CSN_API csn_status csn_debug_die_next_attribute(const struct csn_debug_die *die, uint64_t *position, uint32_t *attribute,
                                                struct csn_debug_value *out);
/* The DIE that a reference leads to. CSN_NONE: it leads into a file that is not there. */
CSN_API csn_status csn_debug_die_follow(const struct csn_debug_die *die, const struct csn_debug_value *reference,
                                        struct csn_debug_die *out, struct csn_error *err);
/* The address with an index in .debug_addr, as DW_OP_addrx has it. CSN_NONE: there is none. */
CSN_API csn_status csn_debug_unit_address(const struct csn_debug_unit *unit, uint64_t index, uint64_t *out);
/* The offset in .debug_rnglists (of split DWARF: of its file) of the list with an index, as DW_FORM_rnglistx has it.
 * CSN_NONE: there is none. */
CSN_API csn_status csn_debug_unit_range_list(const struct csn_debug_unit *unit, uint64_t index, uint64_t *out);
/* Stores up to `cap` address ranges of a DIE, by DW_AT_low_pc and DW_AT_high_pc or DW_AT_ranges, as they
 * stand, empty ones too, and gives their number. CSN_NONE: it has no addresses. CSN_E_FORMAT: the list is damaged. */
CSN_API csn_status csn_debug_die_ranges(const struct csn_debug_die *die, struct csn_range *out, size_t cap, size_t *out_count,
                                        struct csn_error *err);

/* ---- functions ---- */

#define CSN_NO_FUNCTION UINT32_MAX
struct csn_debug_function {
    uint64_t offset;         /* of its DIE */
    uint32_t tag;            /* DW_TAG_subprogram or DW_TAG_inlined_subroutine */
    uint32_t parent;         /* the innermost one around it; CSN_NO_FUNCTION */
    uint32_t first_range, range_count; /* of `ranges`; none where it has no addresses, or its list is damaged */
};
struct csn_debug_functions {
    const struct csn_debug_function *items; /* in document order: a parent comes first */
    size_t count;
    const struct csn_range *ranges; /* as they stand, empty ones too */
};
/* Subprograms, declarations too, and inlined calls of a unit, up to where it is damaged. The caller releases *out with
 * csn_debug_functions_free(). CSN_E_MEMORY.
 * Cost: steps over all DIEs of the unit, which is several times faster than csn_debug_die_at() for each. */
CSN_API csn_status csn_debug_unit_functions(const struct csn_debug_unit *unit, struct csn_debug_functions **out,
                                            struct csn_error *err);
CSN_API void csn_debug_functions_free(struct csn_debug_functions *functions); /* `functions` may be NULL */

/* ---- line tables ---- */

enum {
    CSN_LINE_STATEMENT = 1,
    CSN_LINE_END_SEQUENCE = 2,
    CSN_LINE_PROLOGUE_END = 4,
    CSN_LINE_BASIC_BLOCK = 16,
    CSN_LINE_EPILOGUE_BEGIN = 32,
    CSN_LINE_FILE_UNSET = 8  /* the program has not chosen the file: `file` is the machine's initial 1 */
};
struct csn_debug_row {
    uint64_t addr;
    uint32_t file, line;
    uint32_t column, discriminator;
    uint8_t op_index, flags; /* CSN_LINE_ */
    uint8_t reserved[6];
};

enum {
    CSN_LINES_END_EARLY = 1,   /* the program ends within an opcode */
    CSN_LINES_ODD = 2          /* extended opcodes are unknown or of another size than theirs, or its files cannot be read */
};
struct csn_debug_lines {
    const struct csn_debug_row *rows; /* in the order of the program: sequences end with CSN_LINE_END_SEQUENCE */
    size_t row_count;
    uint32_t file_count;     /* names in the table; numbers begin with 0 in version 5, else with 1 */
    uint16_t version;
    uint16_t is_damaged;     /* CSN_LINES_ bits */
    struct csn_str comp_dir; /* of the unit */
    const void *priv[2];     /* private */
};
/* Reads the line table of a unit. The caller releases *out with csn_debug_lines_free().
 * CSN_NONE: it has none. CSN_E_FORMAT, CSN_E_TRUNCATED, CSN_E_UNSUPPORTED: its header cannot be read.
 * Cost: runs the line program once; about 24 bytes a row. */
CSN_API csn_status csn_debug_unit_lines(const struct csn_debug_unit *unit, struct csn_debug_lines **out, struct csn_error *err);
CSN_API void csn_debug_lines_free(struct csn_debug_lines *lines); /* `lines` may be NULL */
/* A file of the table as it stands. *directory_index is that of the table. CSN_NONE: there is no such file. */
CSN_API csn_status csn_debug_lines_file(const struct csn_debug_lines *lines, uint64_t file, struct csn_str *directory,
                                        struct csn_str *name, uint64_t *directory_index);
/* Where the opcodes of the sequence that begins with row `row` stand in .debug_line, which DW_AT_LLVM_stmt_sequence names.
 * CSN_NONE: no sequence begins there. */
CSN_API csn_status csn_debug_lines_sequence(const struct csn_debug_lines *lines, size_t row, uint64_t *out);
/* Directory `idx` as the table numbers them: directory 0 before version 5 is the compilation directory, and not listed. */
CSN_API csn_status csn_debug_lines_directory(const struct csn_debug_lines *lines, uint64_t idx, struct csn_str *out);

#ifdef __cplusplus
}
#endif
#endif
