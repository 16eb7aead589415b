/* The functions that a text names for frames without an address in an index: their module has none, or not one function of that name. */
#ifndef CALLSIGN_CLI_FRAME_SYMBOLS_H
#define CALLSIGN_CLI_FRAME_SYMBOLS_H

#include "ui/growing.h"

struct frame_symbol {
    size_t frame;             /* in its stack */
    size_t name_at, name_size;
    uint64_t offset;          /* in the function */
    uint64_t pc;              /* 0: the text has none, or the index has something else there */
    uint32_t module;          /* of the session */
    uint32_t same_name;       /* functions of that name in the module's index */
    bool has_index;
    bool is_offset_unknown;   /* the text names the function alone */
    bool is_elsewhere;        /* the index is not of the module's build, or nothing proves that it is: the name is all there is */
};

/* Of one stack, by frame. */
struct frame_symbols {
    struct frame_symbol *items;
    size_t count, capacity;
    struct text_buffer names;
};

void frame_symbols_clear(struct frame_symbols *symbols);
void frame_symbols_deinit(struct frame_symbols *symbols);
/* Frames ascend. The name is copied. False: no memory. */
bool frame_symbols_add(struct frame_symbols *symbols, const struct frame_symbol *symbol, struct csn_str name);
/* NULL: the frame has an address. */
const struct frame_symbol *frame_symbols_find(const struct frame_symbols *symbols, size_t frame);
struct csn_str frame_symbol_name(const struct frame_symbols *symbols, const struct frame_symbol *symbol);

#endif
