/* The indexes that a stack's modules are looked for in: files named on the command line, folders of them, and those that
 * an input names itself. */
#ifndef CALLSIGN_CLI_STACK_INDEXES_H
#define CALLSIGN_CLI_STACK_INDEXES_H

#include <stdbool.h>

#include "ui/open_index.h"

enum { BUILD_ID_MAX = 32, OPEN_INDEXES_MAX = 1024 };

struct build_id {
    uint8_t bytes[BUILD_ID_MAX];
    size_t size; /* 0: not known */
};
/* From hexadecimal digits, dashes between them ignored. False: it is none. */
bool build_id_parse(struct csn_str text, struct build_id *out);

struct stack_index;
struct stack_indexes {
    const struct text_list *folders;  /* --symbols */
    struct stack_index *items;
    size_t count, room, given_count;  /* the first ones are of --index and stay open */
};

/* Opens what --index names. False, with a message, where one cannot be opened. */
bool stack_indexes_init(struct stack_indexes *indexes, const struct text_list *files, const struct text_list *folders);
void stack_indexes_deinit(struct stack_indexes *indexes);
/* Whether so many have been opened that the caller should close them with stack_indexes_trim(), once nobody uses them. */
bool stack_indexes_full(const struct stack_indexes *indexes);
void stack_indexes_trim(struct stack_indexes *indexes);

/* How an input describes a module. Empty: not known. */
struct module_names {
    struct csn_str name;  /* may be a path */
    struct csn_str index; /* the index's own path */
    struct build_id id;
};
/* By its path, by build id, or by file name less ".gsym", in this order. NULL: there is none. A file that cannot be
 * opened, or has another build id, is complained about once. */
const struct csn_index *stack_indexes_find(struct stack_indexes *indexes, const struct module_names *module);

/* The name of the first index of --index, less .gsym; empty: there is none. */
struct csn_str stack_indexes_first_name(const struct stack_indexes *indexes);

/* The part of a path behind its last slash or backslash. */
struct csn_str base_name_of(struct csn_str path);

#endif
