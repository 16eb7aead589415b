/* The modules of stacks: found by name in constant time. */
#ifndef CALLSIGN_CLI_MODULE_TABLE_H
#define CALLSIGN_CLI_MODULE_TABLE_H

#include "input/module_names.h"

enum { MODULES_MAX = 1 << 16, NO_MODULE = UINT32_MAX };

struct stack_module {
    char *name, *index_path;  /* NULL: not known */
    struct build_id id;
    uint64_t start, end, bias;
    const struct csn_index *index; /* once `resolved`; NULL: there is none */
    uint64_t base, first_byte;     /* of the index: its base address, and where its image begins */
    bool resolved;
    bool forgotten;           /* it had an index, which was closed: opened again where a frame needs it */
    uint32_t next;            /* module + 1 of the same slot that was added before; 0: none */
};

struct module_range {
    uint64_t start, end;
    uint64_t reach;           /* the largest end of this and those before, once they are sorted */
};

struct module_table {
    struct stack_module *items;
    uint32_t count, capacity;
    struct module_range *ranges; /* of the modules that have one, by start; `ranges_sorted` of them are in order */
    uint32_t range_count, ranges_sorted;
    size_t range_capacity;
    uint32_t *slots;          /* module + 1, the one added last, by hash of the base name; 0: none */
    uint32_t slot_count;
};

void module_table_clear(struct module_table *table);
void module_table_deinit(struct module_table *table);
/* The strings are copied. False: no memory, or too many. */
bool module_table_add(struct module_table *table, const struct module_names *names, uint64_t start, uint64_t end,
                      uint64_t bias, uint32_t *out);
/* By name, exactly or by its base name; NO_MODULE: there is none. */
uint32_t module_table_find(const struct module_table *table, struct csn_str name);
/* Whether a module's range has the address in it, in logarithmic time. */
bool module_table_covers(struct module_table *table, uint64_t addr);
/* The index of a module; NULL: there is none. The store is asked once. */
const struct csn_index *module_table_index(struct module_table *table, struct csn_store *store, uint32_t module, bool explain);
/* The indexes were closed. */
void module_table_forget_indexes(struct module_table *table);

#endif
