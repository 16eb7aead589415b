/* Where modules lie: what lines of maps say, and the headers of the images that they name. */
#ifndef CALLSIGN_CLI_STACK_PLACES_H
#define CALLSIGN_CLI_STACK_PLACES_H

#include "stack/dialects/stack_dialect.h"

/* One mapping of a file into a process. */
struct process_map {
    uint64_t pid, start, end, file_offset;
    char *path;
    bool executable;
};

enum { MAPS_MAX = 1 << 13 };

/* Remembers a mapping; a later one of the same place takes over, and one too many the place of the oldest. */
void places_add_map(struct dialect_state *state, uint64_t pid, uint64_t start, uint64_t end, uint64_t file_offset,
                    bool executable, struct csn_str path);
void places_deinit(struct dialect_state *state);
/* Makes the mappings of a process the modules of the stacks that follow. */
void places_use_process(struct dialect_state *state, uint64_t pid);
/* A module whose first byte in memory is at `start`. */
void places_add_module(struct dialect_state *state, const struct module_names *names, uint64_t start, uint64_t end);

/* The address in the image of what stands at an offset of its file: by the image's program headers, or, where the
 * image cannot be read, by where its first bytes were mapped. */
uint64_t places_of_file_offset(struct dialect_state *state, struct csn_str path, uint64_t offset);

/* The address of the image's first byte, as its index has it; 0 where there is none. */
uint64_t places_image_base(struct dialect_state *state, uint32_t module);

/* Adds a frame to the session, as the line places it. False: no memory. */
bool places_add_frame(struct dialect_state *state, const struct line_frame *frame);

#endif
