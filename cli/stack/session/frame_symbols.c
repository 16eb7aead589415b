/* A list of named frames, and their names one after the other. */
#include "stack/session/frame_symbols.h"

#include <stdlib.h>
#include <string.h>

void frame_symbols_clear(struct frame_symbols *symbols) { symbols->count = symbols->names.count = 0; }

void frame_symbols_deinit(struct frame_symbols *symbols) {
    free(symbols->items);
    text_buffer_deinit(&symbols->names);
    *symbols = (struct frame_symbols){ 0 };
}

bool frame_symbols_add(struct frame_symbols *symbols, const struct frame_symbol *symbol, struct csn_str name) {
    size_t at = symbols->names.count;
    if (!reserve_items(&symbols->items, &symbols->capacity, symbols->count + 1, sizeof(*symbols->items))) return false;
    if (!text_buffer_add(&symbols->names, name)) return false;
    struct frame_symbol *item = &symbols->items[symbols->count++];
    *item = *symbol;
    item->name_at = at;
    item->name_size = name.len;
    return true;
}

const struct frame_symbol *frame_symbols_find(const struct frame_symbols *symbols, size_t frame) {
    size_t low = 0, high = symbols->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (symbols->items[middle].frame < frame) low = middle + 1;
        else high = middle;
    }
    return low < symbols->count && symbols->items[low].frame == frame ? &symbols->items[low] : NULL;
}

struct csn_str frame_symbol_name(const struct frame_symbols *symbols, const struct frame_symbol *symbol) {
    return (struct csn_str){ symbols->names.bytes + symbol->name_at, symbol->name_size };
}
