/* Callsign: symbolicate whole stacks, and choose among merged functions by the call sites of their callers. */
#ifndef CALLSIGN_SYMBOLICATE_H
#define CALLSIGN_SYMBOLICATE_H

#include <callsign/index.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Identical code folding leaves several functions at one address. The callers in a stack show which of them was
 * called: the record of the calling function may have a call site for the return address, with patterns for the
 * callee's name. csn_symbolicator_answer() finds all candidates of each frame. It chooses one only if a call site
 * decides; otherwise the frame stays ambiguous, and the answer lists the remaining names.
 *
 * A symbolicator holds the working memory: compiled patterns, a cache of addresses and the last answer. Only one
 * thread may use a symbolicator at a time; several symbolicators may share the same open indexes. */
struct csn_symbolicator;

struct csn_symbolicator_options {
    size_t struct_size;                    /* set by CSN_SYMBOLICATOR_OPTIONS_INIT */
    const struct csn_allocator *allocator; /* NULL: malloc; must outlive the symbolicator */
    uint64_t max_frames;                   /* limit for one stack; 0: 1048576 */
    uint64_t cache_bytes;                  /* size of the address cache; tail calls have another of this size. 0: 32 MiB. A single
                                            * stack may exceed it */
};
#define CSN_SYMBOLICATOR_OPTIONS_INIT CSN_SIZED_INIT(csn_symbolicator_options)
CSN_API void csn_symbolicator_options_init(struct csn_symbolicator_options *options);

/* Creates a symbolicator without modules. The caller releases it with csn_symbolicator_destroy(). */
CSN_API csn_status csn_symbolicator_create(const struct csn_symbolicator_options *options, struct csn_symbolicator **out,
                                           struct csn_error *err);
/* Releases the symbolicator and its answers. The indexes stay open. */
CSN_API void csn_symbolicator_destroy(struct csn_symbolicator *symbolicator); /* `symbolicator` may be NULL */

/* A loaded image, or just an index that frames refer to by module number. */
struct csn_module {
    struct csn_str name;           /* for the caller's use; ignored */
    const struct csn_index *index; /* NULL: there is none */
    uint64_t start, end;           /* covered pcs, half-open; empty if equal */
    uint64_t bias;                 /* address = pc - bias */
    uint64_t reserved[2];
};

/* Sets the modules for the stacks that follow. The array is copied, but not the strings and indexes that it points
 * to. Where modules overlap, a pc belongs to the module with the highest start; of two with the same start, to the
 * later one. Results from an index stay in the cache even when its module is replaced. Keep every index open until
 * csn_symbolicator_forget() or csn_symbolicator_destroy().
 * CSN_OK, CSN_E_LIMIT (too many modules), CSN_E_UNSUPPORTED (`reserved` is not 0), CSN_E_MEMORY. After a failure the
 * modules are those from before.
 * Cost: O(n log n). */
CSN_API csn_status csn_symbolicator_set_modules(struct csn_symbolicator *symbolicator, const struct csn_module *modules,
                                                size_t count, struct csn_error *err);
/* Sets one module for the stacks that follow, and leaves the others: the one with number `i`, or the next one where `i` is the
 * number of modules so far.
 * CSN_OK; CSN_E_ARGUMENT: `i` is larger; otherwise as csn_symbolicator_set_modules().
 * Cost: O(1) on average where it covers no pcs, or the same ones as before; else as csn_symbolicator_set_modules(). */
CSN_API csn_status csn_symbolicator_set_module(struct csn_symbolicator *symbolicator, size_t i, const struct csn_module *module,
                                               struct csn_error *err);
/* Discards the modules, the last answer and everything cached from the indexes, which may then be closed. */
CSN_API void csn_symbolicator_forget(struct csn_symbolicator *symbolicator);
/* Returns a number that changes when the cache is emptied: by csn_symbolicator_forget(), to stay within cache_bytes,
 * or after a stack that exhausted its work budget. While it stays the same, answers with the same non-NULL `frames`
 * pointer have the same frames and candidates, so the caller may cache what it derives from them. */
CSN_API uint64_t csn_symbolicator_generation(const struct csn_symbolicator *symbolicator);

enum {
    CSN_STACK_ADDRESS = 1, /* `pc` is an image address of modules[module] */
    CSN_STACK_EXACT = 2,   /* `pc` is the interrupted instruction, not a return address */
    CSN_STACK_RETURN = 4,  /* `pc` is a return address, even in frame 0 */
    CSN_STACK_BEFORE = 8,  /* `pc` is a return address minus 1, as sanitizers print it */
    CSN_STACK_EITHER = 16, /* `pc` is a return address or that minus 1: perf prints both without distinction */
    CSN_STACK_UNRELIABLE = 32 /* possibly not a frame (the kernel's "?"): looked up, but not part of the call chain */
};
/* Returns whether nobody calls a function of that name, because the kernel or a runtime makes its frame when it
 * interrupts a function: __restore_rt and __kernel_rt_sigreturn (Linux: a signal's handler returns there), _sigtramp
 * (Apple, BSD), KiUserExceptionDispatcher (Windows), runtime.sigpanic (Go). csn_symbolicator_answer() knows these by
 * the names in its indexes; this is for frames that only the caller's text names: the next frame is CSN_STACK_EXACT
 * then. Never fails; any thread. Cost: O(1). */
CSN_API bool csn_is_signal_frame(struct csn_str function);

/* One frame of a stack, as input. The frame behind a signal frame is taken as interrupted whatever its flags. If both have
 * CSN_STACK_BEFORE, and one was taken off the signal frame's first byte, the instruction is the byte after `pc`. */
struct csn_stack_frame {
    uint64_t pc;
    uint32_t module; /* with CSN_STACK_ADDRESS */
    uint32_t flags;  /* CSN_STACK_ */
};

/* How the name of a frame was chosen. */
enum csn_choice {
    CSN_CHOICE_NONE = 0,      /* no name is known for the address */
    CSN_CHOICE_ONLY = 1,      /* there is only one name */
    CSN_CHOICE_CALLER = 2,    /* the caller's call site names this function */
    CSN_CHOICE_OUTER = 3,     /* an external call site of an outer frame names it */
    CSN_CHOICE_PATTERN = 4,   /* the caller's call site allows several names, of which one is a candidate */
    CSN_CHOICE_AMBIGUOUS = 5  /* several candidates remain */
};
/* How reliable a choice is. */
enum csn_confidence {
    CSN_CONFIDENCE_NONE = 0,
    CSN_CONFIDENCE_LOW = 1,    /* a regular expression of an outer frame's call site */
    CSN_CONFIDENCE_MEDIUM = 2, /* several names allowed, an exact name in an outer frame, or tail calls in between */
    CSN_CONFIDENCE_HIGH = 3,   /* the caller's call site has exactly this name */
    CSN_CONFIDENCE_CERTAIN = 4 /* there is only one name */
};
/* What limited or prevented a choice. */
enum csn_stack_note {
    CSN_STACK_NOTE_NO_CALLER = 1 << 0,       /* there is no outer frame, or it has no function */
    CSN_STACK_NOTE_NO_CALL_SITE = 1 << 1,    /* the caller has no call site for the return address */
    CSN_STACK_NOTE_INDIRECT = 1 << 2,        /* the call site has no patterns: an indirect call */
    CSN_STACK_NOTE_CALLER_UNDECIDED = 1 << 3, /* the caller is ambiguous, and not all its candidates match */
    CSN_STACK_NOTE_OTHER_CALLEE = 1 << 4,    /* the call site names no candidate, possibly because of a tail call */
    CSN_STACK_NOTE_OTHER_IMAGE = 1 << 5,     /* the callee is in the caller's image, but this frame is not */
    CSN_STACK_NOTE_INTERRUPTED = 1 << 6,     /* the outer frame was interrupted; it made no call */
    CSN_STACK_NOTE_BAD_PATTERN = 1 << 7,     /* a pattern is not a valid regular expression, or is too long */
    CSN_STACK_NOTE_COSTLY_PATTERN = 1 << 8,  /* a pattern exceeded its limits */
    CSN_STACK_NOTE_NO_ENGINE = 1 << 9,       /* a pattern needs PCRE2, which this build does not have */
    CSN_STACK_NOTE_LIMIT = 1 << 10,          /* too many candidates, call sites or patterns: some were skipped */
    CSN_STACK_NOTE_TAIL_INDIRECT = 1 << 11   /* a function that the call site names or reaches by tail calls ends
                                              * in an indirect jump */
};
/* Returns one note in English: a static string, never NULL. `note` is a single CSN_STACK_NOTE_ bit. */
CSN_API const char *csn_stack_note_text(uint32_t note);

#define CSN_NOT_CHOSEN UINT32_MAX

/* The answer for one frame of a stack. */
struct csn_stack_answer {
    uint64_t addr;                   /* image address of the given pc, unadjusted; the pc if no module covers it */
    uint64_t function_start;         /* image address */
    uint32_t module;                 /* index of the module, or UINT32_MAX */
    csn_status status;               /* CSN_OK; CSN_NONE: see reason; below 0: the record is damaged, see error */
    uint32_t reason;                 /* enum csn_reason */
    uint32_t frame_count;
    const struct csn_frame *frames;  /* innermost first; of the chosen function, or of the first remaining one */
    const char *error;               /* NULL: none */
    const struct csn_str *candidates; /* the distinct names at the address, the index's primary name first */
    const uint32_t *remaining;       /* indexes in `candidates` that are still possible; NULL: all */
    uint32_t candidate_count, remaining_count;
    uint32_t chosen;                 /* index in `candidates`, or CSN_NOT_CHOSEN */
    uint32_t choice;                 /* enum csn_choice */
    uint32_t confidence;             /* enum csn_confidence */
    uint32_t evidence_frame;         /* index of the frame whose call site was used, or UINT32_MAX */
    struct csn_str evidence_pattern; /* the pattern that matches the chosen name */
    uint32_t notes;                  /* CSN_STACK_NOTE_ bits */
    uint32_t evidence_tail_calls;    /* number of tail calls from the function that the pattern names to the chosen one */
    uint32_t reserved[2];
};

/* Symbolicates all frames of a stack, innermost first. By default, frame 0 is an exact address and all others are
 * return addresses; flags override that. A return address is looked up at the byte before it. *out points to
 * frame_count answers. They, and everything they point to, stay valid until the next call with this symbolicator.
 * CSN_OK, also if frames are unknown; CSN_E_LIMIT: more frames than max_frames; CSN_E_ARGUMENT: a frame has a module
 * number that does not exist; CSN_E_UNSUPPORTED: unknown flags; CSN_E_MEMORY. The symbolicator remains usable after a failure.
 * Cost: one lookup for each address that is not in the cache. Pattern matching is limited, whatever the index
 * contains. */
CSN_API csn_status csn_symbolicator_answer(struct csn_symbolicator *symbolicator, const struct csn_stack_frame *frames,
                                           size_t frame_count, const struct csn_stack_answer **out, struct csn_error *err);

#ifdef __cplusplus
}
#endif
#endif
