/* The images in a core dump, as elfutils' libdwfl finds them: those of the link map whose files are there, and what
 * begins with an ELF header in the memory of the process. */
#ifndef CALLSIGN_CLI_CORE_MODULES_H
#define CALLSIGN_CLI_CORE_MODULES_H

#include "stand_ins/core_dump/core_link_map.h"

enum core_origin {
    CORE_FROM_LINK_MAP,      /* the file at `path` */
    CORE_FROM_NOTE,          /* the same, by the note NT_FILE */
    CORE_FROM_MEMORY,        /* `bytes` are the file, or what is left of it */
    CORE_BY_ID               /* no file is known: there may be one by the build id, or the executable that was named */
};

struct core_module {
    enum core_origin origin;
    char *path;              /* NULL: none */
    char *bytes;
    size_t byte_count;
    uint64_t low, high, bias; /* CORE_BY_ID: the bias depends on the file */
    bool is_executable;
    unsigned char id[64];
    size_t id_size;          /* 0: none is known */
};

struct core_modules {
    struct core_module *items;
    size_t count, capacity;
};

enum core_result { CORE_FOUND, CORE_NOTHING_FOUND, CORE_BROKEN, CORE_BAD_ID };
/* CORE_BROKEN: no module, and the link map is damaged. CORE_BAD_ID: a build id is outside of its module. */
enum core_result core_modules_find(struct core_memory *memory, const char *executable, struct core_modules *out);
void core_modules_free(struct core_modules *modules);

#endif
