/* What the dynamic linker of a process had loaded, from its core dump: the auxiliary vector leads to the program
 * headers, these to DT_DEBUG, and that to the list. */
#ifndef CALLSIGN_CLI_CORE_LINK_MAP_H
#define CALLSIGN_CLI_CORE_LINK_MAP_H

#include "stand_ins/core_dump/core_memory.h"

struct core_loaded {
    char *path;              /* as the list has it; empty: it has none */
    uint64_t dynamic;        /* where its dynamic section is in memory */
    bool has_file;           /* one that may be the one that was loaded */
    bool has_id;             /* the file, if there is one, has a build id */
    struct core_file file;
    uint64_t bias, low, high; /* of that file in memory; 0: it is not taken */
};

struct core_link_map {
    struct core_loaded *items; /* as in the list */
    size_t count, capacity;
    struct core_bytes files; /* the note NT_FILE; size 0: none */
    bool is_broken;          /* the list or what leads to it is not in the dump */
};

/* `executable`: the file that was run, for what the dump lacks; NULL: not known. The size of pages goes to memory->align. */
void core_link_map_read(struct core_memory *memory, const char *executable, struct core_link_map *out);
void core_link_map_free(struct core_link_map *map);

#endif
