/* An object as elfutils' libdw and libdwfl read it: units by .debug_aranges, rows of a unit by address, scopes, symbols. */
#ifndef CALLSIGN_CLI_LIBDW_MODULE_H
#define CALLSIGN_CLI_LIBDW_MODULE_H

#include <stdbool.h>

#include <callsign/debug_info.h>

/* A DIE that is a function, has ranges or children. */
struct libdw_die {
    struct csn_debug_die die;
    uint32_t parent;         /* LIBDW_NO_PARENT */
    uint32_t first_range, range_count;
    uint32_t end;            /* index after the last DIE within it */
};
#define LIBDW_NO_PARENT UINT32_MAX

struct libdw_unit {
    const struct csn_debug_unit *unit;
    struct libdw_module *module;
    bool has_rows, has_dies;
    uint64_t used;           /* when it was used last, by a count */
    struct csn_debug_lines *lines; /* NULL: none */
    struct { uint32_t *items; size_t count, capacity; } rows; /* of `lines`, by address */
    struct { struct libdw_die *items; size_t count, capacity; } dies; /* scopes and what holds them, in document order; items[0] is the root */
    struct { struct csn_range *items; size_t count, capacity; } ranges;
};

struct libdw_range {
    uint64_t addr, size;
    uint32_t unit, order;
};

struct libdw_section {
    uint64_t start, end;
    uint32_t idx;
};

struct libdw_sorted_symbol {
    uint64_t value;
    uint64_t reach;          /* highest end of this and all before it */
    uint32_t idx;            /* in the table */
};

struct libdw_module {
    struct csn_debug_info *info;
    struct csn_companion_search *search; /* for as long as `info`; NULL: none */
    struct csn_debug_object object;
    uint64_t low, high;      /* addresses of the module */
    bool has_moved;          /* in a process: symbols that do not move with it are outside */
    bool is_of_no_kind;      /* libdwfl was told where it is, and did not look what kind of file it is */
    struct { struct libdw_range *items; size_t count, capacity; } ranges; /* ascending, one for each run of a unit */
    uint64_t ranges_end;     /* of the last one */
    struct libdw_unit **units;
    uint64_t use_count, bytes_read; /* of units whose DIEs were read */
    struct { uint32_t *items; size_t count, capacity; } held; /* units that are read, by index */
    size_t held_bytes, held_budget; /* of what was read of them, and how much may be kept */
    const struct csn_debug_symbol *symbols;
    size_t symbol_count, first_global;
    struct { struct libdw_sorted_symbol *items; size_t count, capacity; } sorted_symbols; /* ascending; made when asked for */
    uint32_t whole_searches; /* of all symbols, one after the other */
    struct { struct libdw_section *items; size_t count, capacity; } sections; /* ascending */
};

/* NULL: it cannot be opened; *message tells why. */
struct libdw_module *libdw_module_open(const char *path, const char *debuginfo_path, const char **message);
/* The same for a file whose name libdwfl does not know: debug links are looked for in the current folder. */
struct libdw_module *libdw_module_open_unnamed(const char *path, const char *debuginfo_path, const char **message);
void libdw_module_close(struct libdw_module *module);

bool libdw_module_contains(const struct libdw_module *module, uint64_t addr);
/* The unit that .debug_aranges has for an address; NULL: none. */
struct libdw_unit *libdw_module_unit(struct libdw_module *module, uint64_t addr);
/* Its index; UINT32_MAX: none. */
uint32_t libdw_module_unit_index(const struct libdw_module *module, uint64_t addr);
/* Forgets the units that were used least recently, where all that were read take more than the budget. */
void libdw_module_trim(struct libdw_module *module);
/* A client sends one request after the other, and comes back to units: each lets more of them stay. */
void libdw_module_grow_budget(struct libdw_module *module);
/* The budget is as at first, and units beyond it are forgotten. */
void libdw_module_reset_budget(struct libdw_module *module);
/* The row for an address; NULL: none. */
const struct csn_debug_row *libdw_unit_row(struct libdw_unit *unit, uint64_t addr);
/* The place in unit->rows of the first row at or above an address; rows have been read. */
size_t libdw_unit_first_row(const struct libdw_unit *unit, uint64_t addr);
/* The row at a place in unit->rows. */
const struct csn_debug_row *libdw_unit_row_at(const struct libdw_unit *unit, size_t place);
/* The name of a file of the unit's line table, with its directory; NULL: there is no such file. The caller frees it. */
char *libdw_unit_file(struct libdw_unit *unit, uint64_t file);
/* The index of the innermost DIE that holds an address; LIBDW_NO_PARENT: none. */
uint32_t libdw_unit_scope(struct libdw_unit *unit, uint64_t addr);
/* The index of the function's DIE at an offset, or LIBDW_NO_PARENT. */
uint32_t libdw_unit_find(const struct libdw_unit *unit, uint64_t offset);

/* The value of a symbol as its table has it: of Thumb code, odd. */
uint64_t libdw_symbol_value(const struct csn_debug_symbol *symbol);
/* Whether its value is a place in the memory of the module, and no number. */
bool libdw_symbol_moves(const struct libdw_module *module, const struct csn_debug_symbol *symbol);
/* The symbol that covers an address, and how far it is from its start. NULL: none. */
const struct csn_debug_symbol *libdw_module_symbol(struct libdw_module *module, uint64_t addr, uint64_t *offset);
/* The section that holds an address; 0: none. */
uint32_t libdw_module_section(const struct libdw_module *module, uint64_t addr, struct csn_debug_section *out);

#endif
