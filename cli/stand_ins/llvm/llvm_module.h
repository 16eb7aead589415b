/* A module as LLVM's symbolizer sees it: symbols by address, units by range, the functions and rows of a unit. */
#ifndef CALLSIGN_CLI_LLVM_MODULE_H
#define CALLSIGN_CLI_LLVM_MODULE_H

#include <stdbool.h>

#include <callsign/debug_info.h>

#include "stand_ins/llvm/llvm_wasm.h"

/* A range of a function or inlined call; in the end, the part of it where none is further within. */
struct llvm_span {
    uint64_t low, high;
    uint32_t order;          /* in the unit: what is within comes later */
    uint32_t idx;            /* in `dies` */
};

struct llvm_die {
    uint64_t offset;
    uint32_t tag;
    uint32_t parent;         /* function or call around it */
};
#define LLVM_NO_PARENT UINT32_MAX

struct llvm_sequence {
    uint64_t low, high;
    uint32_t section;        /* of an object that is not linked; else 0 */
    size_t first, count;     /* rows, the end row included */
};

/* A line table with its sequences by end. */
struct llvm_lines {
    struct csn_debug_lines *lines;
    struct llvm_sequence *sequences;
    size_t sequence_count, sequence_capacity;
};

struct llvm_variable {
    uint64_t addr, size;
    struct csn_debug_die die;
};

struct llvm_unit {
    const struct csn_debug_unit *unit; /* of the image */
    const struct csn_debug_unit *code; /* that has the DIEs: the same, or that of split DWARF */
    bool has_functions, has_lines, has_variables;
    struct { struct llvm_die *items; size_t count, capacity; } dies;
    struct { struct llvm_span *items; size_t count, capacity; } spans; /* ascending, apart */
    struct { struct llvm_variable *items; size_t count, capacity; } variables; /* ascending */
    struct llvm_lines *lines;
};

struct llvm_symbol {
    uint64_t addr, size;
    const char *name;
    const char *file;        /* of a local ELF symbol; NULL: none */
    uint32_t section;
};

struct llvm_unit_range {
    uint64_t low, high;
    uint32_t unit;
};

/* Of an object that is not linked. */
struct llvm_section {
    uint64_t addr, size;
    uint32_t idx;
};

struct llvm_module {
    char *name;              /* as it was asked for */
    struct csn_debug_info *info;
    struct llvm_searches *searches; /* for as long as `info` */
    struct csn_debug_object object;
    uint64_t bytes_read;     /* of units whose functions were read */
    uint32_t locations_left; /* that may be read for variables */
    struct { struct llvm_symbol *items; size_t count, capacity; } symbols; /* ascending by address, one each */
    struct { struct llvm_symbol *items; size_t count, capacity; } all_symbols; /* with second names, in the same order */
    struct { struct llvm_unit_range *items; size_t count, capacity; } ranges; /* ascending, apart */
    bool has_ranges;
    struct { struct llvm_section *items; size_t count, capacity; } sections; /* with memory, if it is not linked: ascending, else in their order */
    bool sections_ascend;
    struct llvm_unit **units; /* by index */
    struct { char **items; size_t count, capacity; } file_names; /* of symbols of files */
    struct llvm_wasm_symbols wasm; /* of WebAssembly; in other containers empty */
    struct { unsigned char *bytes; uint64_t addr, size; } descriptors; /* of functions; size 0: none */
    bool untag;
    bool has_no_units;       /* the header of the first cannot be read */
    bool reports_damage;     /* to standard error */
};

struct llvm_module_options {
    const char *arch;
    const char *dwp;
    const char *const *debug_dirs; /* for build ids */
    size_t debug_dir_count;
    const char *fallback_dir; /* for names of debug links; NULL: the usual one */
    const char *const *dsym_hints; /* bundles to look into for Mach-O images without debug information */
    size_t dsym_hint_count;
    bool untag;
    bool only_split;         /* as llvm-gsymutil: no debug file of its own is looked for, and messages about damage are short */
};

/* Opens a module; NULL with *message: why not, in LLVM's words. */
struct llvm_module *llvm_module_open(const char *name, const char *path, const struct llvm_module_options *options,
                                     const char **message);

/* Opens the object at a path for its units alone, without symbols; NULL: it cannot be opened. For llvm_module_close(). */
struct llvm_module *llvm_module_open_units(const char *path);
void llvm_module_close(struct llvm_module *module); /* `module` may be NULL */

bool llvm_has_section(const struct llvm_module *module, const char *name);

/* An address with its section, which counts in objects that are not linked. */
struct llvm_place {
    uint64_t addr;
    uint32_t section;        /* 0: unknown */
};
struct llvm_place llvm_module_place(const struct llvm_module *module, uint64_t addr);

/* Whether a symbol of Mach-O was made for a stub of another library's function. LLVM 22 has none. */
bool llvm_is_stub(const struct llvm_module *module, const struct csn_debug_symbol *symbol);
/* The name of a symbol as the table has it, with the underscore of 32-bit Windows. The caller frees it. */
char *llvm_table_name(const struct llvm_module *module, struct csn_str name);
/* The symbol that covers an address; NULL: none. */
const struct llvm_symbol *llvm_module_symbol(const struct llvm_module *module, uint64_t addr);

/* The range of a unit that covers an address of code; NULL: none. */
const struct llvm_unit_range *llvm_module_range(struct llvm_module *module, uint64_t addr);
/* The unit that covers an address of code; NULL: none. */
struct llvm_unit *llvm_module_unit(struct llvm_module *module, uint64_t addr);
/* Unit `idx` of .debug_info; NULL: there is none, or it cannot be read. */
struct llvm_unit *llvm_module_unit_at(struct llvm_module *module, uint32_t idx);

/* Forgets what was read of a unit, and gives its memory back. */
void llvm_module_release_unit(struct llvm_module *module, uint32_t idx);
void llvm_unit_free(struct llvm_unit *unit); /* `unit` may be NULL */

/* The line table of a unit; NULL: none. */
struct llvm_lines *llvm_unit_lines(struct llvm_module *module, struct llvm_unit *unit);
/* That of the unit that has a DIE. */
struct llvm_lines *llvm_die_lines(struct llvm_module *module, const struct csn_debug_die *die);
/* The row that covers an address; NULL: none. skip_zero: a row with line 0 gives way to the last one before it that has a line;
 * *approximate tells. */
const struct csn_debug_row *llvm_lines_find(const struct llvm_lines *lines, struct llvm_place place, bool skip_zero,
                                            bool *approximate);

/* Indexes in unit->dies of the innermost function at an address; LLVM_NO_PARENT: none. */
uint32_t llvm_unit_function(struct llvm_module *module, struct llvm_unit *unit, uint64_t addr);
/* The variable at an address of the unit. */
const struct llvm_variable *llvm_unit_variable(struct llvm_module *module, struct llvm_unit *unit, uint64_t addr);

/* Takes the ranges of units away that LLVM has, but does not find. */
void llvm_drop_lost_units(struct llvm_module *module);

/* Fills `descriptors` from the file at `path`. */
void llvm_read_descriptors(struct llvm_module *module, const char *path);
/* Where the code of a symbol is that is at `addr`, which a descriptor may tell. */
uint64_t llvm_described_addr(const struct llvm_module *module, uint64_t addr);

/* Fills `sections`. */
void llvm_read_sections(struct llvm_module *module);
/* Whether all sections begin at 0, as in objects of ELF and COFF that are not linked: the reader put them one after the other. */
bool llvm_is_unlinked(const struct llvm_module *module);
/* Of an object that is not linked: the address in its section; others stay. */
uint64_t llvm_raw_addr(const struct llvm_module *module, uint64_t addr, uint32_t *section);

/* How many of a DIE's ranges LLVM reads. A list of DWARF before 5 ends with a range from 0 to 0: for LLVM, which counts from the
 * section, also an empty one where a section begins, as gcc has it of inlined calls. */
size_t llvm_listed_ranges(const struct llvm_module *module, const struct csn_debug_unit *unit, const struct csn_range *ranges,
                          size_t count);

/* ---- DIEs (llvm_die.c) ---- */

/* An attribute of the DIE, or of those that it stands for. *owner: the one that has it; may be NULL. */
bool llvm_find_attribute(const struct csn_debug_die *die, const uint32_t *names, size_t count, struct csn_debug_value *out,
                         struct csn_debug_die *owner);
enum llvm_name_kind { LLVM_NAME_NONE, LLVM_NAME_SHORT, LLVM_NAME_LINKAGE };
/* The name of a function. False: it has none. */
bool llvm_function_name(const struct csn_debug_die *die, enum llvm_name_kind kind, struct csn_str *out);

enum llvm_path_kind { LLVM_PATH_ABSOLUTE, LLVM_PATH_RELATIVE, LLVM_PATH_BASE };
/* The path of a file of a line table; NULL: there is no such file. The caller frees it. */
char *llvm_file_path(const struct llvm_lines *lines, uint64_t file, enum llvm_path_kind kind);
char *llvm_decl_file(struct llvm_module *module, const struct csn_debug_die *die, enum llvm_path_kind kind);
uint64_t llvm_decl_line(const struct csn_debug_die *die);
/* Bytes of the type that a DIE names. False: unknown. */
bool llvm_type_size(const struct csn_debug_die *die, uint64_t *out);

#endif
