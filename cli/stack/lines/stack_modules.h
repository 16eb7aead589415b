/* The modules of a text: its mappings become the session's modules, its frames addresses in them. */
#ifndef CALLSIGN_CLI_STACK_MODULES_H
#define CALLSIGN_CLI_STACK_MODULES_H

#include "stack/lines/stack_dialect.h"
#include "stack/lines/stack_place.h"
#include "stack/session/stack_session.h"

struct stack_modules {
    struct stack_session *session;
    struct csn_process_maps *maps;
    uint64_t first_generation; /* of the maps when they were empty */
    uint64_t pid, generation; /* of the maps that the session's modules were made from */
    struct stack_places places;
    uint64_t line;            /* the number of the line that is read, of all lines of the text: dialects are not shown each */
    bool is_searched;         /* the lines after this one have been searched: see KIND_AHEAD */
    bool ends_in_blank;       /* the line that is read had a blank at its end, as perf writes it behind each field */
    bool no_memory;
};

bool stack_modules_init(struct stack_modules *modules, struct stack_session *session);
void stack_modules_deinit(struct stack_modules *modules);

/* What lines describe. It holds for the frames that follow: the stack before has the modules that it began with. */
void stack_modules_add_mapping(struct stack_modules *modules, uint64_t pid, const struct csn_process_mapping *mapping);
/* True: it is a line of /proc/PID/maps. */
bool stack_modules_add_maps_line(struct stack_modules *modules, struct csn_str line);
/* True: it is a line of gdb's `info proc mappings`. */
bool stack_modules_add_gdb_line(struct stack_modules *modules, struct csn_str line);
/* The same of these two, and of lists of images in reports. */
bool stack_modules_add_any_line(struct stack_modules *modules, struct csn_str line);
/* What was described holds for nothing that follows: another report begins. */
void stack_modules_forget(struct stack_modules *modules);
/* Whether anything was described. */
bool stack_modules_has_maps(const struct stack_modules *modules);
/* A module whose first byte in memory is at `start`. */
void stack_modules_add_image(struct stack_modules *modules, const struct module_names *names, uint64_t start, uint64_t end);
/* The module of that name or build id lies where its byte `offset` is at start + offset. Frames of the stack that is
 * held are placed by it, too. */
void stack_modules_add_place(struct stack_modules *modules, const struct module_names *names, uint64_t start, uint64_t offset);

/* The first index given that has a function of a demangled name, or several. */
bool stack_modules_demangled(struct stack_session *session, const struct symbol_site *site, struct csn_str *module);
/* Adds a frame that a dialect has read, with its state, to the session. False: no memory. */
bool stack_modules_add_frame(struct stack_modules *modules, const struct stack_dialect *dialect, void *state,
                             const struct line_frame *frame);

#endif
