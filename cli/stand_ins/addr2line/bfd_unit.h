/* A unit as GNU's BFD library reads it: ranges first; line table and functions when an address is in them. */
#ifndef CALLSIGN_CLI_BFD_UNIT_H
#define CALLSIGN_CLI_BFD_UNIT_H

#include "stand_ins/addr2line/bfd_lines.h"

struct bfd_range {
    uint64_t low, high;
};

struct bfd_ranges {
    struct bfd_range *items;
    size_t count, capacity;
};

struct bfd_function {
    uint64_t offset;         /* of its DIE */
    uint32_t tag;
    uint32_t caller;         /* of an inlined one: the function around it; BFD_NO_FUNCTION */
    uint64_t low;            /* start of its first range; 0: it has none */
    char *name;
    bool name_known, is_linkage;
};
enum { BFD_NO_FUNCTION = UINT32_MAX };

/* A range of a function. */
struct bfd_span {
    uint64_t low, high;
    uint64_t reach;          /* highest `high` of this and all before it */
    uint32_t function;
};

/* A global or static variable. */
struct bfd_variable {
    uint64_t addr;
    uint64_t offset;
    char *name;
    uint32_t file, line;
    bool on_stack, has_file;
};

struct bfd_unit {
    const struct csn_debug_unit *unit;
    struct bfd_ranges ranges;
    bool has_error, is_decoded, has_variables;
    struct bfd_lines *lines;
    bool owns_lines;
    uint64_t steps;          /* of searches for functions */
    struct { struct bfd_function *items; size_t count, capacity; } functions;
    struct { struct bfd_span *items; size_t count, capacity; } spans;
    struct { struct bfd_variable *items; size_t count, capacity; } variables;
};

/* What BFD knows of the whole file while it reads units. */
struct bfd_file {
    struct csn_debug_info *info;
    struct csn_str range_section, rnglist_section;
    bool big_endian;
    struct bfd_lines *first_lines;   /* the table at offset 0, which all units there share */
    void (*add_range)(void *context, struct bfd_unit *unit, uint64_t low, uint64_t high);
    void *context;
    const char *program;             /* for messages */
    uint64_t missing_abbreviation;   /* the last one that was printed */
    bool has_missing;
    bool *is_damaged;                /* set in the place of messages; NULL: they are printed */
};

/* Reads the root DIE. False: the unit cannot be used, nor what follows it. */
bool bfd_unit_open(struct bfd_unit *out, struct bfd_file *file, const struct csn_debug_unit *unit);
/* Reads line table and functions, once. False: they cannot be read. */
bool bfd_unit_decode(struct bfd_unit *unit, struct bfd_file *file);
void bfd_unit_close(struct bfd_unit *unit);
bool bfd_unit_contains(const struct bfd_unit *unit, uint64_t addr);

/* The function with the smallest range around an address, or NULL. */
struct bfd_function *bfd_unit_function_at(struct bfd_unit *unit, uint64_t addr);
/* Its name, NULL: none. Sets is_linkage. */
const char *bfd_function_name(struct bfd_unit *unit, struct bfd_function *function);
/* Where it was inlined. */
void bfd_function_call(struct bfd_unit *unit, const struct bfd_function *function, const char **file, uint32_t *line);
/* The variable at an address whose name is a part of `symbol`. False: none. */
bool bfd_unit_variable(struct bfd_unit *unit, const struct bfd_file *of, const char *symbol, uint64_t addr, const char **file,
                       uint32_t *line);

#endif
