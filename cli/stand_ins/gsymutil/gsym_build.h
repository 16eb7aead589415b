/* The functions of an image on their way into a GSYM file, in llvm-gsymutil's order and by its rules. docs/stand-ins.md */
#ifndef CALLSIGN_CLI_GSYM_BUILD_H
#define CALLSIGN_CLI_GSYM_BUILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <callsign/base.h>

#include "stand_ins/gsymutil/gsym_report.h"

struct gsym_row {
    uint64_t addr;
    uint32_t file, line;
};
/* An inlined call, or the function itself (depth 0). Nodes stand before what is inlined into them. */
struct gsym_node {
    uint32_t depth, name, call_file, call_line;
    uint32_t first_range, range_count;
};
struct gsym_call {
    uint64_t return_offset;
    uint32_t flags, first_pattern, pattern_count;
};

struct gsym_rows { struct gsym_row *items; size_t count, capacity; };
struct gsym_nodes { struct gsym_node *items; size_t count, capacity; };
struct gsym_ranges { struct csn_range *items; size_t count, capacity; };
struct gsym_calls { struct gsym_call *items; size_t count, capacity; };
struct gsym_numbers { uint32_t *items; size_t count, capacity; };

struct gsym_function {
    uint64_t start, end;
    uint32_t name;
    size_t order;            /* of arrival */
    struct gsym_rows rows;
    struct gsym_nodes nodes; /* empty: no inlined calls */
    struct gsym_ranges ranges; /* of the nodes */
    struct gsym_calls calls;
    struct gsym_numbers patterns; /* of the calls: strings */
    bool has_calls;
    struct gsym_function *merged; /* the functions folded into this one */
    size_t merged_count, merged_capacity;
};

struct gsym_file { uint32_t directory, base; };

/* Strings with their offsets, each once. */
struct gsym_strings {
    char *items;             /* the table */
    size_t count, capacity;
    uint32_t *slots;         /* offset + 1; 0: free */
    size_t slot_count, used;
};

struct gsym_build {
    struct gsym_strings strings;
    struct { struct gsym_file *items; size_t count, capacity; } files;
    uint32_t *file_slots;    /* index in `files`; 0: free */
    size_t file_slot_count;
    struct { struct gsym_function *items; size_t count, capacity; } functions;
    struct { struct csn_range *items; size_t count, capacity; } text; /* ascending, apart */
    uint8_t uuid[64];
    size_t uuid_size;
    uint64_t base;
    bool has_base, is_quiet, big_endian;
    struct gsym_report *report;
};

void gsym_build_init(struct gsym_build *build, struct gsym_report *report, bool is_quiet);
void gsym_build_deinit(struct gsym_build *build);

uint32_t gsym_build_string(struct gsym_build *build, struct csn_str text);
const char *gsym_build_text(const struct gsym_build *build, uint32_t string);
/* The file of a path, split at its last separator. */
uint32_t gsym_build_file(struct gsym_build *build, const char *path, bool is_windows);
uint32_t gsym_build_file_parts(struct gsym_build *build, uint32_t directory, uint32_t base);
/* Takes over what `function` owns. */
void gsym_build_add(struct gsym_build *build, struct gsym_function *function);
/* Executable code; ranges that touch become one. */
void gsym_build_add_text(struct gsym_build *build, uint64_t start, uint64_t end);
bool gsym_build_is_text(const struct gsym_build *build, uint64_t addr);
/* Puts a range into an ascending set of ranges that are apart. */
void gsym_ranges_insert(struct gsym_ranges *set, size_t first, struct csn_range range);
void gsym_function_free(struct gsym_function *function);

/* Functions of one range become merged functions of the first of them. */
void gsym_build_merge(struct gsym_build *build);
/* Sorts, and keeps one function of each range. Prints what it removes and "Pruned N functions". */
void gsym_build_finish(struct gsym_build *build);

#endif
