/* What the readers of stacks fill and the writers show: modules, the frames of one stack, their answers. */
#ifndef CALLSIGN_CLI_STACK_SESSION_H
#define CALLSIGN_CLI_STACK_SESSION_H

#include <callsign/symbolicate.h>

#include "stack/stack_indexes.h"

enum { MODULES_MAX = 1 << 16, NO_MODULE = UINT32_MAX, PLACED = UINT32_MAX };

struct stack_module {
    char *name, *index_path;  /* NULL: not known */
    struct build_id id;
    uint64_t start, end, bias;
    const struct csn_index *index; /* once `resolved`; NULL: there is none */
    bool resolved;
};

/* A list of modules, found by name in constant time. */
struct module_table {
    struct stack_module *items;
    uint32_t count, room;
    uint32_t *slots;          /* place + 1 by hash of the base name; 0: free */
    uint32_t slot_count;
};

struct stack_session {
    struct stack_indexes indexes;
    struct csn_symbolicator *symbolicator;
    struct module_table lasting, own; /* those that hold until others come; those of one stack */
    struct module_table *modules;     /* the ones in use */
    struct csn_module *placed;        /* the same as the symbolicator has them */
    uint32_t placed_room, placed_count;
    bool stale;                       /* the symbolicator does not have them yet */
    struct csn_stack_frame *frames;
    uint32_t *same_name;              /* of each frame; PLACED: it has an address */
    size_t frame_count, frame_room;
    uint64_t max_frames;
    bool too_many;                    /* frames that were not kept */
    const struct csn_stack_answer *answers;
    uint64_t placings;                /* how often modules were given to the symbolicator */
};

bool session_init(struct stack_session *session, const struct text_list *files, const struct text_list *folders,
                  uint64_t max_frames, uint64_t cache_bytes);
void session_deinit(struct stack_session *session);

/* Which list of modules is meant from here on; the stack's own one is emptied. */
void session_use(struct stack_session *session, bool own);
void session_clear_modules(struct stack_session *session);
/* The strings are copied. False: no memory, or too many. */
bool session_add_module(struct stack_session *session, const struct module_names *names, uint64_t start, uint64_t end,
                        uint64_t bias, uint32_t *out);
/* By name, exactly or by its base name; NO_MODULE: there is none. */
uint32_t session_find_module(const struct stack_session *session, struct csn_str name);
/* The same, added without a place where it is missing. */
uint32_t session_name_module(struct stack_session *session, struct csn_str name, const struct build_id *id);
/* The index of a module; NULL: there is none. */
const struct csn_index *session_index(struct stack_session *session, uint32_t module);

void session_begin_stack(struct stack_session *session);
bool session_add_frame(struct stack_session *session, uint64_t pc, uint32_t module, uint32_t flags);
/* A frame that has no address: its line names a function, of which the module has `same_name` (0: or it has no index). */
bool session_add_unplaced(struct stack_session *session, uint32_t same_name);
/* While this stays the same, answers with one `frames` and module have the same text. */
uint64_t session_epoch(const struct stack_session *session);
/* Fills session->answers, one for each frame. */
csn_status session_answer(struct stack_session *session, struct csn_error *err);

#endif
