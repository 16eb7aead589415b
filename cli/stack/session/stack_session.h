/* What the readers of stacks fill and the writers show: modules, the frames of one stack, their answers. */
#ifndef CALLSIGN_CLI_STACK_SESSION_H
#define CALLSIGN_CLI_STACK_SESSION_H

#include <callsign/symbolicate.h>

#include "stack/session/frame_symbols.h"
#include "stack/session/module_table.h"
#include "stack/session/profile_sample.h"
#include "stack/session/stack_symbols.h"
#include "stack/session/stack_tally.h"

struct stack_session {
    struct symbol_search search;
    bool explain;                     /* show where symbols were searched in vain */
    struct csn_store *store;
    const struct text_list *files;    /* of --index; as long as the session */
    struct csn_symbolicator *symbolicator;
    struct symbol_tables symbols;
    struct module_table stream_modules, own_modules; /* those that hold until others come; those of one stack */
    struct module_table *modules;     /* the ones in use */
    struct csn_module *placed;        /* the same as the symbolicator has them */
    uint32_t placed_count, placed_capacity;
    char *own_text;                   /* the JSON that own_modules were read from */
    size_t own_text_size, own_text_capacity; /* a size of 0: not known */
    uint64_t stack;                   /* the number of the one that is read, from 2 */
    bool is_stale;                    /* the symbolicator does not have them yet */
    bool is_short;                    /* it lacks the last ones; the others are as it has them */
    bool has_new_range;               /* one of those has a range: it may cover pcs of stacks before */
    struct csn_stack_frame *frames;
    struct frame_symbols frame_symbols; /* of frames without an address */
    struct profile_sample sample;       /* of the stack; no event: it is no sample */
    size_t frame_count, frame_capacity;
    uint64_t max_frames;               /* of one stack; more are left out */
    const struct csn_stack_answer *answers;
    struct stack_tally tally;
    uint64_t placings;                /* how often modules were given to the symbolicator */
    bool has_forgotten;               /* modules may have lost their indexes */
    uint64_t opened, reopened;        /* modules that got an index since the last trim; those of them that had lost it */
    uint64_t spared;                  /* so many are opened before another trim */
};

/* `search` NULL: modules have no other indexes than those of the files and folders. */
bool session_init(struct stack_session *session, const struct text_list *files, const struct text_list *folders,
                  const struct search_values *search, uint64_t max_frames, uint64_t cache_bytes);
void session_deinit(struct stack_session *session);
/* Whether so many indexes are open that some should be closed; closes them. Everything that knows an index by its
 * address forgets it first, other threads' symbolicators too. What stacks still need is opened again where they do: if that is
 * much, more may be open before the next trim, so that an index is opened a few times at most. */
bool session_is_full(const struct stack_session *session);
void session_trim(struct stack_session *session);

/* Which list of modules is meant from here on; the stack's own one is emptied. */
void session_use(struct stack_session *session, bool own);
void session_clear_modules(struct stack_session *session);
/* The stack's own modules have been read from this text; without memory that is not remembered. */
void session_keep_text(struct stack_session *session, struct csn_str text);
/* Whether the stack's own modules are to be those of a text that begins here, because the last ones were; *size are its bytes. */
bool session_use_same(struct stack_session *session, struct csn_str text, size_t *size);
/* The strings are copied. False: no memory, or too many. */
bool session_add_module(struct stack_session *session, const struct module_names *names, uint64_t start, uint64_t end,
                        uint64_t bias, uint32_t *out);
/* By name, exactly or by its base name; NO_MODULE: there is none. Two different full paths are two modules. */
uint32_t session_find_module(const struct stack_session *session, struct csn_str name);
/* The same for a line of the stack that is read, added without a place where it is missing. A build id that only a line told holds
 * for its stack: other stacks may be of another build. */
uint32_t session_name_module(struct stack_session *session, struct csn_str name, const struct build_id *id);
/* The index of a module; NULL: there is none. */
const struct csn_index *session_index(struct stack_session *session, uint32_t module);
/* The module as symbolicators get it: without the index if that was closed and only frames that name the module need it. */
struct csn_module session_placed_module(struct stack_session *session, uint32_t module);
/* From frame *frame on, the next one whose module has another index than `placed` says; steps past the frame. False: there is
 * none. */
bool session_next_reopened(struct stack_session *session, const struct csn_module *placed, size_t *frame, uint32_t *module);
/* The same of a given index, by its number in the store: at most SESSION_GIVEN_MAX are looked through. */
enum { SESSION_GIVEN_MAX = 64 };
const struct csn_index *session_given_index(struct stack_session *session, size_t number);
enum { LOWEST_IMAGE = 1 << 16 }; /* no image is linked below, but at 0 */
/* The address of the image's first byte, as its index has it; 0: not known. */
uint64_t session_image_base(struct stack_session *session, uint32_t module);
/* The same, of what an offset counts from: the base that an index has may be its first function. */
uint64_t session_first_byte(struct stack_session *session, uint32_t module);
/* The address of the byte at an offset from the image's first one. */
uint64_t session_offset_address(struct stack_session *session, uint32_t module, uint64_t offset);

void session_begin_stack(struct stack_session *session);
bool session_add_frame(struct stack_session *session, uint64_t pc, uint32_t module, uint32_t flags);
/* A frame that has no address: its line names a function of a module. */
bool session_add_symbol(struct stack_session *session, const struct frame_symbol *symbol, struct csn_str name, uint32_t flags);
/* While this stays the same, answers with one `frames` and module have the same text. */
uint64_t session_epoch(const struct stack_session *session);
/* Fills session->answers, one for each frame. */
csn_status session_answer(struct stack_session *session, struct csn_error *err);

#endif
