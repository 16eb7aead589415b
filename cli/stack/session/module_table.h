/* The modules of stacks: found by name, and by name and build id, in constant time. */
#ifndef CALLSIGN_CLI_MODULE_TABLE_H
#define CALLSIGN_CLI_MODULE_TABLE_H

#include "input/module_names.h"

enum { MODULES_MAX = 1 << 16, NO_MODULE = UINT32_MAX };

enum module_key { MODULE_BY_BASE, MODULE_BY_NAME, MODULE_BY_BUILD, MODULE_KEYS };

struct stack_module {
    char *name, *index_path;  /* NULL: not known */
    struct build_id id;
    uint64_t start, end, bias;
    const struct csn_index *index; /* once `resolved`; NULL: there is none */
    uint64_t base, first_byte;     /* of the index: its base address, and where its image begins */
    bool resolved;
    bool forgotten;           /* it had an index, which was closed: opened again where a frame needs it */
    bool is_searched;         /* the mappings of the process were asked for its name, which a line has */
    uint64_t named_in;        /* the stack whose line named it last; 0: a list of modules has it */
    uint64_t recency;         /* larger than that of modules that were added or named before */
    uint32_t next[MODULE_KEYS]; /* module + 1 of the same slot that was added before; 0: none */
};

struct module_range {
    uint64_t start, end;
    uint64_t reach;           /* the largest end of this and those before, once they are sorted */
};

struct module_table {
    struct stack_module *items;
    uint32_t count, capacity;
    uint32_t named_count;     /* of those that only lines have named */
    uint64_t recency;
    struct module_range *ranges; /* of the modules that have one, by start; `ranges_sorted` of them are in order */
    uint32_t range_count, ranges_sorted;
    size_t range_capacity;
    uint32_t *slots;          /* `slot_count` for each key: module + 1, the one added last; 0: none. MODULE_BY_NAME has only the one
                               * of a name that was named last */
    uint32_t slot_count;
};

void module_table_clear(struct module_table *table);
void module_table_deinit(struct module_table *table);
/* The strings are copied. False: no memory, or too many. */
bool module_table_add(struct module_table *table, const struct module_names *names, uint64_t start, uint64_t end,
                      uint64_t bias, uint32_t *out);
/* The one named last of that name, or else of its base name; NO_MODULE: there is none. Two different full paths are two modules. */
uint32_t module_table_find(const struct module_table *table, struct csn_str name);
/* Exactly that name and build id, which may be none. */
uint32_t module_table_find_build(const struct module_table *table, struct csn_str name, const struct build_id *id);
/* A line of that stack names the module. */
void module_table_name(struct module_table *table, uint32_t module, uint64_t stack);
/* The build id of a module that had none. */
void module_table_set_id(struct module_table *table, uint32_t module, const struct build_id *id);
/* Removes those that only lines have named; the others get new numbers. */
void module_table_drop_named(struct module_table *table);
/* Whether a module's range has the address in it, in logarithmic time. */
bool module_table_covers(struct module_table *table, uint64_t addr);
/* The index of a module; NULL: there is none. The store is asked once. */
const struct csn_index *module_table_index(struct module_table *table, struct csn_store *store, uint32_t module, bool explain);
/* The indexes were closed. */
void module_table_forget_indexes(struct module_table *table);

#endif
