/* Frames of texts that do not tell where modules lie: a pc is placed by the function that its line names, as others
 * of its module were, or where loaders put a program. */
#ifndef CALLSIGN_CLI_STACK_PLACE_H
#define CALLSIGN_CLI_STACK_PLACE_H

#include "stack/lines/stack_dialect.h"
#include "stack/session/stack_session.h"

enum { PLACES_MAX = 16 };

/* Where modules were found to lie. */
struct stack_places {
    struct place {
        char name[64];        /* the end of the module's name */
        uint64_t bias;
        bool is_own;          /* a frame of this stack told it */
    } items[PLACES_MAX];
    uint32_t count, oldest;
    bool guessed;             /* the last pc was placed as in the stacks before */
    bool has_kernel_bias;
    uint64_t kernel_bias;
    struct unplaced *unplaced; /* frames of the stack so far that were not placed */
    size_t unplaced_count, unplaced_capacity;
};

/* Whether an address of an image may lie at `pc`: images are loaded at multiples of a page. */
static inline bool may_lie_at(uint64_t address, uint64_t pc) {
    enum { SMALLEST_PAGE = 4096 };
    return (address - pc) % SMALLEST_PAGE == 0;
}

void stack_places_deinit(struct stack_places *places);

/* True: *module and *addr are where the pc of `frame`, which no mapping covers, lies. A module that the line names is the only
 * candidate; otherwise those are the indexes that were given. */
bool stack_place_pc(struct stack_places *places, struct stack_session *session, const struct line_frame *frame, uint32_t *module,
                    uint64_t *addr);
/* Another frame tells where a module lies. */
void stack_place_known(struct stack_places *places, const struct stack_session *session, uint32_t module, uint64_t bias);
/* The kernel was moved by `bias`; it is not known by how much. */
void stack_place_kernel_at(struct stack_places *places, uint64_t bias);
void stack_place_kernel_unknown(struct stack_places *places);
/* Whether there is an index of the kernel, whatever it is called. */
bool stack_place_has_kernel(struct stack_session *session);
/* The frame that the session got last was not placed: a later one of its stack may tell where. False: no memory. */
bool stack_place_later(struct stack_places *places, struct stack_session *session, const struct line_frame *frame);
/* The frame that the session got last was placed by stack_place_pc(), perhaps as its module lay in the stacks before: a later frame
 * may tell that it lies elsewhere now. False: no memory. */
bool stack_place_guessed(struct stack_places *places, struct stack_session *session, const struct line_frame *frame,
                         uint32_t module, uint64_t addr);
/* The session's stack is complete: places what can be placed now. */
void stack_place_rest(struct stack_places *places, struct stack_session *session);
/* The first of the given indexes that has one such function, which is longer than the offset. */
bool stack_place_symbol(struct stack_session *session, const struct symbol_site *site, struct csn_str *module);
/* Whether the function that the line of `frame` names is the one at this address of the image, the offset in it included. */
bool stack_place_has_symbol(const struct csn_index *index, const struct line_frame *frame, uint64_t addr);
/* Whether the image has this address, on a page with a function or between two. */
bool stack_place_is_in_image(const struct csn_index *index, uint64_t addr);
/* Whether exactly one index was given, and has a function at this address of its image. */
bool stack_place_is_alone(struct stack_session *session, uint64_t addr, uint32_t flags);

#endif
