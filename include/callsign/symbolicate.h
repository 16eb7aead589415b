/* Callsign: whole stacks, with merged functions told apart by the call sites of their callers. */
#ifndef CALLSIGN_SYMBOLICATE_H
#define CALLSIGN_SYMBOLICATE_H

#include <callsign/index.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Identical code folding leaves one address with several names. Which of them a stack means is told by the callers: the
 * record of the function that made the call may have a call site for exactly this return address, with patterns for the
 * callee's name. csn_symbolicator_answer() finds all candidates of each frame and chooses among them where a call
 * site decides, and only there: a frame that nothing decides stays ambiguous, with the names that remain.
 *
 * A symbolicator is the working memory for that: compiled patterns, places seen before, the last answer. One thread at
 * a time uses it; any number of them work over the same open indexes. */
struct csn_symbolicator;

struct csn_symbolicator_options {
    size_t struct_size;                    /* set by CSN_SYMBOLICATOR_OPTIONS_INIT */
    const struct csn_allocator *allocator; /* NULL: malloc; must outlive the symbolicator */
    uint64_t max_frames;                   /* of one stack; 0: 1048576 */
    uint64_t cache_bytes;                  /* for addresses looked up before, and as much again for tail calls; 0: 32 MiB. One
                                            * stack may exceed it by what it needs */
};
#define CSN_SYMBOLICATOR_OPTIONS_INIT CSN_SIZED_INIT(csn_symbolicator_options)
CSN_API void csn_symbolicator_options_init(struct csn_symbolicator_options *options);

CSN_API csn_status csn_symbolicator_create(const struct csn_symbolicator_options *options, struct csn_symbolicator **out,
                                           struct csn_error *err);
CSN_API void csn_symbolicator_destroy(struct csn_symbolicator *symbolicator); /* NULL is fine */

/* An image in the process, or just an index that frames name by its number. */
struct csn_module {
    struct csn_str name;           /* for the caller; not looked at */
    const struct csn_index *index; /* NULL: there is none */
    uint64_t start, end;           /* pcs that it covers, half-open; equal: none */
    uint64_t bias;                 /* address = pc - bias */
    uint64_t reserved[2];
};

/* Sets the modules of the stacks that follow; they are copied, what they point to is not. Where modules overlap, the one
 * that starts last holds the pc, the later one of two with the same start. Cost: n log n.
 * What was found in their indexes is kept for other modules: an index must stay open until csn_symbolicator_forget() or
 * csn_symbolicator_destroy(). */
CSN_API csn_status csn_symbolicator_set_modules(struct csn_symbolicator *symbolicator, const struct csn_module *modules,
                                                size_t count, struct csn_error *err);
/* Forgets the modules, the last answer and everything found in indexes, which may be closed then. */
CSN_API void csn_symbolicator_forget(struct csn_symbolicator *symbolicator);
/* How often the cache was emptied, by csn_symbolicator_forget(), to stay within cache_bytes, or after a stack that used up its
 * work budget. While it stays the same, answers with the same `frames` pointer (not NULL) have the same frames and
 * candidates, so that a caller may cache what it makes of them. */
CSN_API uint64_t csn_symbolicator_generation(const struct csn_symbolicator *symbolicator);

enum {
    CSN_STACK_ADDRESS = 1, /* `pc` is an image address of modules[module] */
    CSN_STACK_EXACT = 2,   /* the very instruction: interrupted there, not calling */
    CSN_STACK_RETURN = 4,  /* a return address, although it is the first frame */
    CSN_STACK_BEFORE = 8,  /* a return address less 1, as sanitizers print them */
    CSN_STACK_EITHER = 16, /* a return address, or that less 1: perf prints both and does not say which */
    CSN_STACK_UNRELIABLE = 32 /* perhaps not a frame (the kernel's "?"): it is named, but is not part of the call chain */
};
struct csn_stack_frame {
    uint64_t pc;
    uint32_t module; /* with CSN_STACK_ADDRESS */
    uint32_t flags;
};

/* How a name was chosen among those of merged functions. */
enum csn_choice {
    CSN_CHOICE_NONE = 0,      /* nothing is known of the address */
    CSN_CHOICE_ONLY = 1,      /* there is only one name */
    CSN_CHOICE_CALLER = 2,    /* the caller's call site names it */
    CSN_CHOICE_OUTER = 3,     /* an outer frame's external call site names it */
    CSN_CHOICE_PATTERN = 4,   /* the caller's call site allows several names, by an expression or a list: one is a candidate */
    CSN_CHOICE_AMBIGUOUS = 5  /* several remain */
};
enum csn_confidence {
    CSN_CONFIDENCE_NONE = 0,
    CSN_CONFIDENCE_LOW = 1,    /* an outer call site's expression */
    CSN_CONFIDENCE_MEDIUM = 2, /* a call site that allows several names; an outer call site's exact name; tail calls in between */
    CSN_CONFIDENCE_HIGH = 3,   /* the caller's call site has exactly this name */
    CSN_CONFIDENCE_CERTAIN = 4 /* there is only one */
};
/* What limited the choice, or prevented one. */
enum csn_stack_note {
    CSN_STACK_NOTE_NO_CALLER = 1 << 0,       /* there is no outer frame, or it has no function */
    CSN_STACK_NOTE_NO_CALL_SITE = 1 << 1,    /* the caller has no call site for the return address */
    CSN_STACK_NOTE_INDIRECT = 1 << 2,        /* it has one without patterns: an indirect call */
    CSN_STACK_NOTE_CALLER_UNDECIDED = 1 << 3, /* the caller is itself undecided, and not all its candidates have a call site that fits */
    CSN_STACK_NOTE_OTHER_CALLEE = 1 << 4,    /* the call site names none of the candidates: a tail call in between? */
    CSN_STACK_NOTE_OTHER_IMAGE = 1 << 5,     /* the call site's callee is in the caller's image, this frame is not */
    CSN_STACK_NOTE_INTERRUPTED = 1 << 6,     /* the outer frame did not call: it was interrupted */
    CSN_STACK_NOTE_BAD_PATTERN = 1 << 7,     /* a pattern is no regular expression, or too long */
    CSN_STACK_NOTE_COSTLY_PATTERN = 1 << 8,  /* a pattern exceeded its limits */
    CSN_STACK_NOTE_NO_ENGINE = 1 << 9,       /* a pattern needs PCRE2, which this build does not have */
    CSN_STACK_NOTE_LIMIT = 1 << 10,          /* too many candidates, call sites or patterns: not all were looked at */
    CSN_STACK_NOTE_TAIL_INDIRECT = 1 << 11   /* a function named by the call site, or reached from it by tail calls, ends in an
                                              * indirect jump */
};
/* One note in English. Never NULL. */
CSN_API const char *csn_stack_note_text(uint32_t note);

#define CSN_NOT_CHOSEN UINT32_MAX

/* The answer to one frame of a stack. */
struct csn_stack_answer {
    uint64_t addr;                   /* image address as it came, not the byte before; the pc where no module is known */
    uint64_t function_start;         /* image address */
    uint32_t module;                 /* number of the module, or UINT32_MAX */
    csn_status status;               /* CSN_OK; CSN_NONE: see reason; below 0: the record is damaged, see error */
    uint32_t reason;                 /* enum csn_reason */
    uint32_t frame_count;
    const struct csn_frame *frames;  /* innermost first; of the chosen function, or of the first that remains */
    const char *error;               /* NULL: none */
    const struct csn_str *candidates; /* the names at the address, each once; the index's own first */
    const uint32_t *remaining;       /* indexes in `candidates` that are not ruled out; NULL: all */
    uint32_t candidate_count, remaining_count;
    uint32_t chosen;                 /* index in `candidates`, or CSN_NOT_CHOSEN */
    uint32_t choice;                 /* enum csn_choice */
    uint32_t confidence;             /* enum csn_confidence */
    uint32_t evidence_frame;         /* number of the frame whose call site was used, or UINT32_MAX */
    struct csn_str evidence_pattern; /* the pattern that holds for the chosen name */
    uint32_t notes;                  /* CSN_STACK_NOTE_ bits */
    uint32_t evidence_tail_calls;    /* the pattern names a function from which that many tail calls lead to the chosen one */
    uint32_t reserved[2];
};

/* Answers every frame of a stack, innermost first. Frame 0 is taken as exact, the others as return addresses, unless their
 * flags say otherwise: a return address is looked up at the byte before.
 * *out: frame_count answers; they, and what they point to, live until the next call on this symbolicator.
 * CSN_OK however many frames are unknown; CSN_E_LIMIT: more frames than the options allow; CSN_E_ARGUMENT: a frame
 * names a module that there is not; CSN_E_MEMORY. After a failure the symbolicator can be used again.
 * Cost: a lookup for each address not seen before; patterns run within limits, whatever the index says. */
CSN_API csn_status csn_symbolicator_answer(struct csn_symbolicator *symbolicator, const struct csn_stack_frame *frames,
                                           size_t frame_count, const struct csn_stack_answer **out, struct csn_error *err);

#ifdef __cplusplus
}
#endif
#endif
