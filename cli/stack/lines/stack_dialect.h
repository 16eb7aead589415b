/* A dialect reads lines of text: which are frames of a stack, and what they say. Each keeps what it has to remember of
 * earlier lines in a state of its own; modules, which a text may describe in several dialects, are common to all. */
#ifndef CALLSIGN_CLI_STACK_DIALECT_H
#define CALLSIGN_CLI_STACK_DIALECT_H

#include "input/module_names.h"
#include "stack/lines/line_marks.h"

struct line_filler;
struct profile_sample;
struct stack_modules;
struct stack_session;

enum line_kind {
    KIND_NONE,    /* means nothing to this dialect; ends a stack of it */
    KIND_FRAME,   /* a frame of the stack that is open, or the first one */
    KIND_FIRST,   /* a frame with which a stack begins */
    KIND_INSIDE,  /* belongs to the stack that is open, without being a frame */
    KIND_CONTEXT, /* describes modules or what follows; ends a stack */
    KIND_AHEAD    /* a later line may tell what this one means: the line is read again when it was searched for */
};

/* What a line says that a search for a later one looks at. */
enum search_step {
    STEP_ON,         /* the next line may tell */
    STEP_ENDS,       /* this one told */
    STEP_ENDS_BEFORE /* the search is over, and this line is none of it */
};

/* What a frame's value counts from. */
enum frame_site {
    SITE_PC,          /* it is a pc of the process; without a mapping, `module` and `symbol` may place it */
    SITE_ADDRESS,     /* it is an address of the module's file */
    SITE_OFFSET,      /* from the module's first byte in memory */
    SITE_LESS_BIAS,   /* the same, but of a program that was not relocated the pc */
    SITE_FILE_OFFSET, /* from the beginning of the module's file */
    SITE_SYMBOL       /* from a function of the module */
};

struct line_frame {
    enum frame_site site;
    uint64_t value, pc;     /* pc: where the line has that too, or 0 */
    struct csn_str module;  /* empty: found by pc */
    struct csn_str image;   /* the module as the line has it, where that may differ: "[nf_tables]" */
    bool is_unnamed;        /* the line does not name the module: `module` is what it is usually called */
    struct build_id id;
    struct csn_str symbol;  /* what the line calls the function, or what the value counts from */
    uint64_t symbol_size;   /* up to the next symbol; 0: not known */
    uint64_t symbol_offset; /* of the address, in that function */
    bool has_symbol_offset;
    uint64_t interrupted_pc; /* if the frame lies there (its place in a page tells), it is no return address; 0: not known */
    bool may_be_pc;         /* of SITE_FILE_OFFSET: or else `value` is a pc; the symbol tells, if it is at one of the two */
    uint64_t usual_base;    /* where programs are loaded if nothing tells where this one is; 0: not known */
    bool by_maps;           /* the mappings of process `pid` hold for it */
    bool is_listed;         /* a list of modules, which may follow the stacks, tells the build id of `module` */
    uint64_t pid;           /* 0: the text names none */
    uint32_t flags;         /* CSN_STACK_ */
    size_t fill_at, fill_end; /* the part of the line that a name replaces */
    size_t number_at, number_end; /* the frame's number; equal: inlined calls do not count */
    uint64_t number;
    const struct profile_sample *sample; /* the sample that the stack begins; NULL: none */
    bool own_only;            /* lines of the calls inlined there stand before it: no name but the function's own is wanted */
    bool is_filled;           /* the line has the frame's name of an earlier run; set by who calls the dialect */
    size_t end;               /* of a line with several frames: where this one's part ends; 0: with the line */
    bool outermost_first;     /* the frames of the line stand in that order */
    bool is_complete;         /* nothing is to be filled in */
    bool ends_below;          /* further lines belong to the frame, the last of which has `is_rest` */
    bool is_rest;             /* with KIND_INSIDE: the frame of the lines before ends here, and may be filled in here, too */
};

/* A line is tried if it has all marks of one of the sets. */
enum { MARK_SETS = 8 };

struct stack_dialect {
    const char *name;
    uint32_t marks[MARK_SETS]; /* enum line_mark; 0 ends the sets. Lines without them come only while a stack is open, or after context */
    bool is_flush;          /* its lines begin with the line: blanks before all of them, as of a mail, are none of its form */
    bool ends_in_blank;     /* a line without text ends each stack: until then more of it comes, however long that takes */
    size_t state_size;      /* 0: it remembers nothing */
    /* Of a zeroed state; NULL: that is how it begins. */
    void (*init)(void *state, const struct stack_session *session);
    /* `line` has no newline and no prefix of a log daemon. `open`: a stack of this dialect is held. Mappings and
     * images of the line are added to `modules`. */
    enum line_kind (*read)(void *state, struct stack_modules *modules, struct csn_str line, bool open, struct line_frame *out);
    /* With KIND_AHEAD: looks at a line after it. The search is limited. The lines up to where it ended are read again, with
     * stack_modules.is_searched. */
    enum search_step (*search)(void *state, struct csn_str line);
    /* The line that ended it (empty: nothing was found). NULL: `search` has noted it. */
    void (*end_search)(void *state, struct stack_modules *modules, struct csn_str found);
    /* Of a line that comes while the list of modules of a stack is searched for: whether what follows has a list of its own.
     * `behind_list`: lines of one came before. NULL: no line tells. */
    bool (*ends_list)(struct csn_str line, bool behind_list);
    /* The next frame of the same line, from `from` on. False: there is none. NULL: lines have one frame. */
    bool (*more)(void *state, struct csn_str line, size_t from, struct line_frame *out);
    /* The address that a frame with SITE_ADDRESS stands for; UINT64_MAX: that is not known. NULL: its value. False: none, and the
     * line's own name is right. */
    bool (*address)(void *state, struct stack_session *session, const struct line_frame *frame, uint32_t module, uint64_t *out);
    /* What the symbol of a frame with may_be_pc told. */
    void (*learn_site)(void *state, enum frame_site site);
    /* Writes the frame's line with what is known of it. */
    void (*fill)(struct line_filler *filler);
};

#endif
