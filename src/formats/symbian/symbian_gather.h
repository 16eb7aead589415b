/* Binaries and symbols as the text files have them, on their way to the model. */
#ifndef CSNI_SYMBIAN_GATHER_H
#define CSNI_SYMBIAN_GATHER_H

#include "base/hex.h"
#include "base/lines.h"
#include "formats/symbian/symbian.h"

struct csni_symbian_symbol {
    struct csn_str name;
    uint32_t address, size;
    bool is_data;         /* in RAM, away from the binary's code */
};

struct csni_symbian_binary {
    struct csn_str name;
    size_t first, count;  /* symbols */
    bool is_loaded;       /* anywhere: addresses count from the beginning of its code, where there need not be a function */
};

struct csni_symbian_gather {
    CSNI_VEC(struct csni_symbian_symbol) symbols;
    CSNI_VEC(struct csni_symbian_binary) binaries;
};

void csni_symbian_gather_init(struct csni_symbian_gather *g, const struct csn_allocator *alloc);
void csni_symbian_gather_deinit(struct csni_symbian_gather *g);
/* False: out of memory. Bit 0 of an address is the Thumb bit and is cleared. */
bool csni_symbian_begin_binary(struct csni_symbian_gather *g, struct csn_str name);
bool csni_symbian_add_symbol(struct csni_symbian_gather *g, struct csn_str name, uint64_t address, uint64_t size, bool is_data);

/* Drops what has no size, sorts data out, and fills batch and image. `numbers` (NULL, or room for a number per binary
 * gathered) gets 1 + the number of each one's code in the image; 0: it has none. */
csn_status csni_symbian_finish(struct csni_symbian_gather *g, struct csni_batch_writer *w, struct csni_symbian_image *out,
                               uint32_t *numbers, struct csn_error *err);

/* The symbols of a map, for the binary that was begun last. `load`: where its code runs, 0: anywhere; `data`: where its data
 * is, 0: unknown. CSN_NONE: no map of a kind that is known. */
csn_status csni_linker_map_symbols(struct csni_span file, uint32_t load, uint32_t data, struct csni_batch_writer *w,
                                   struct csni_symbian_gather *g, struct csn_error *err);

/* ---- text ---- */

struct csn_str csni_text_trim(struct csn_str text);
/* Takes `count` to `max` hexadecimal digits from the front. */
bool csni_text_take_hex(struct csn_str *text, unsigned min, unsigned max, uint64_t *out);
/* Takes blanks from the front; false: there are none. */
bool csni_text_take_blanks(struct csn_str *text);
struct csn_str csni_text_base_name(struct csn_str path);

#endif
