/* A dialect reads lines of text: which are frames of a stack, and what they say. */
#ifndef CALLSIGN_CLI_STACK_DIALECT_H
#define CALLSIGN_CLI_STACK_DIALECT_H

#include "stack/stack_output.h"

enum line_kind {
    KIND_NONE,    /* means nothing to this dialect; ends a stack of it */
    KIND_FRAME,   /* a frame of the stack that is open, or the first one */
    KIND_FIRST,   /* a frame with which a stack begins */
    KIND_INSIDE,  /* belongs to the stack that is open, without being a frame */
    KIND_CONTEXT  /* said something about modules or what follows; ends a stack */
};

enum frame_place {
    PLACE_PC,          /* of the process */
    PLACE_ADDRESS,     /* of the module's file */
    PLACE_OFFSET,      /* from the module's first byte in memory */
    PLACE_FILE_OFFSET, /* in the module's file */
    PLACE_SYMBOL       /* from a function of the module */
};

struct line_frame {
    enum frame_place place;
    uint64_t value, pc;     /* pc: where the line has that too, or 0 */
    struct csn_str module;  /* empty: found by pc */
    struct build_id id;
    struct csn_str symbol;  /* what the line calls the function, or what the place counts from */
    uint64_t symbol_size;   /* up to the next symbol; 0: not known */
    uint64_t symbol_offset; /* perf: of the address, in that function */
    bool has_symbol_offset;
    uint32_t flags;         /* CSN_STACK_ */
    size_t fill_at, fill_end; /* the part of the line that a name replaces */
};

/* What a stream has said so far, for the dialects. */
struct process_map;
struct symbol_table;
struct known_image;
struct dialect_state {
    struct stack_session *session;
    struct process_map *maps; /* of perf's lines and of /proc/PID/maps */
    size_t map_count, map_room, map_next;
    uint64_t pid;             /* of perf's sample; 0 of other text */
    uint64_t kernel_start;    /* where perf says that the kernel's text begins; 0: not known */
    char symbol[512];         /* Go: the function of the line before */
    size_t symbol_size;
    struct csn_str go_module; /* Go names no modules: the only index there is */
    bool in_kernel;           /* perf: the frame before is one of the kernel */
    bool inlined, after_head; /* Go: that one was inlined. perf: a sample's chain may follow */
    struct known_image *images; /* whose program headers were read */
    struct symbol_table *tables; /* names of indexes */
    size_t table_count;
    bool maps_changed;        /* since they were made modules; or the process did */
    bool by_maps;             /* the line's frame is found by them */
    bool no_memory;
};

enum fill_style { FILL_PLAIN, FILL_PERF, FILL_SANITIZER, FILL_KERNEL, FILL_GO, FILL_CRASH };

struct stack_dialect {
    const char *name;
    enum fill_style fill;
    enum line_kind (*read)(struct dialect_state *state, struct csn_str line, bool open, struct line_frame *out);
};

/* In the order in which they are tried. */
enum { DIALECT_COUNT = 6 };
extern const struct stack_dialect *const stack_dialects[DIALECT_COUNT];
extern const struct stack_dialect plain_dialect, perf_dialect, sanitizer_dialect, kernel_dialect, go_dialect,
    crash_dialect;

#endif
