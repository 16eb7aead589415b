/* Functions from DWARF and from symbols, as llvm-gsymutil takes them. */
#ifndef CALLSIGN_CLI_GSYM_DWARF_H
#define CALLSIGN_CLI_GSYM_DWARF_H

#include "stand_ins/gsymutil/gsym_build.h"
#include "stand_ins/llvm/llvm_module.h"

/* A DIE of a unit that has children or is a function. */
struct gsym_tree_node {
    uint64_t offset, parent; /* the root is its own */
    uint64_t after;          /* where its descendants end */
};

/* Ascending; read when it is asked for. */
struct gsym_tree {
    const struct csn_debug_unit *unit; /* NULL: not read yet */
    struct { struct gsym_tree_node *items; size_t count, capacity; } nodes;
};
/* Those of units that functions of other units refer to, kept to the end. */
struct gsym_forest {
    struct gsym_tree *items;
    size_t count, capacity;
    uint32_t *slots;         /* by unit: index in `items` + 1; 0: free */
    size_t slot_count;
};

/* A unit while its functions are read. */
struct gsym_unit {
    struct gsym_build *build;
    struct llvm_module *module;
    const struct csn_debug_unit *unit; /* of the image */
    const struct csn_debug_unit *code; /* that has the DIEs */
    struct llvm_lines *lines;          /* NULL: none */
    uint32_t *files;                   /* of the line table: files of the index; UINT32_MAX: not asked for yet */
    size_t file_count;
    uint64_t language;
    bool takes_call_sites;
    struct gsym_tree tree;             /* of `code` */
    struct gsym_forest *others;
};

/* Reads all functions of .debug_info, and prints how many. */
void gsym_read_dwarf(struct gsym_build *build, struct llvm_module *module, bool takes_call_sites);
/* Adds the symbols of functions, and prints how many. */
void gsym_read_symbols(struct gsym_build *build, struct llvm_module *module);

/* The name that a function or inlined call is stored with. False: it has none. */
bool gsym_die_name(struct gsym_unit *unit, const struct csn_debug_die *die, uint32_t *out);
/* The index's file for one of the line table. False: there is no such file. */
bool gsym_unit_file(struct gsym_unit *unit, uint64_t file, uint32_t *out);
/* Rows of the function's range, or the line of its declaration. */
void gsym_read_rows(struct gsym_unit *unit, const struct csn_debug_die *die, struct gsym_function *function);
/* Calls inlined into the part of a function. `all`: the ranges of all its parts. */
void gsym_read_inlined(struct gsym_unit *unit, const struct csn_debug_die *die, const struct gsym_ranges *all,
                       struct gsym_function *function);
bool gsym_has_inlined(struct gsym_unit *unit, const struct csn_debug_die *die);

/* An unsigned constant of a DIE, or of those that it stands for. */
bool gsym_die_constant(const struct csn_debug_die *die, uint32_t attribute, uint64_t *out);
/* Ranges of a DIE as the object has them. The caller frees *out. False: none, or damaged. */
bool gsym_die_ranges(const struct gsym_unit *unit, const struct csn_debug_die *die, struct csn_range **out, size_t *out_count);

/* One DIE as LLVM dumps it, on standard output. */
void gsym_put_die(const struct gsym_unit *unit, const struct csn_debug_die *die);

/* Walks the children of a DIE: *offset is die->next before the first. False: there are no more. */
bool gsym_next_child(struct gsym_unit *unit, const struct csn_debug_die *parent, uint64_t *offset, struct csn_debug_die *out);
/* Steps over a DIE's descendants. False: damaged. */
bool gsym_skip_children(struct gsym_unit *unit, const struct csn_debug_die *die, uint64_t *offset);
/* Of a DIE of any unit. False: it is the root, or neither a function nor a DIE with children. */
bool gsym_find_parent(struct gsym_unit *unit, const struct csn_debug_die *die, struct csn_debug_die *out);
void gsym_forest_free(struct gsym_forest *forest);

/* Compares every address of the file with what DWARF says. NULL, or why it failed. */
const char *gsym_verify(struct llvm_module *module, const char *path);

#endif
