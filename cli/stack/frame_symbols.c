/* A list of named frames, and their names one after the other. */
#define _GNU_SOURCE
#include "stack/frame_symbols.h"

#include <stdlib.h>
#include <string.h>

void frame_symbols_clear(struct frame_symbols *symbols) { symbols->count = symbols->name_bytes = 0; }

void frame_symbols_deinit(struct frame_symbols *symbols) {
    free(symbols->items);
    free(symbols->names);
    *symbols = (struct frame_symbols){ 0 };
}

static bool reserve_name(struct frame_symbols *symbols, size_t size) {
    size_t need = symbols->name_bytes + size, capacity = symbols->name_capacity ? symbols->name_capacity : 256;
    if (need <= symbols->name_capacity) return true;
    while (capacity < need) capacity *= 2;
    char *names = realloc(symbols->names, capacity);
    if (!names) return false;
    symbols->names = names;
    symbols->name_capacity = capacity;
    return true;
}

bool frame_symbols_add(struct frame_symbols *symbols, const struct frame_symbol *symbol, struct csn_str name) {
    if (symbols->count == symbols->capacity) {
        size_t capacity = symbols->capacity ? symbols->capacity * 2 : 16;
        struct frame_symbol *items = reallocarray(symbols->items, capacity, sizeof(*items));
        if (!items) return false;
        symbols->items = items;
        symbols->capacity = capacity;
    }
    if (!reserve_name(symbols, name.len)) return false;
    struct frame_symbol *item = &symbols->items[symbols->count++];
    *item = *symbol;
    item->name_at = symbols->name_bytes;
    item->name_size = name.len;
    if (name.len) memcpy(symbols->names + symbols->name_bytes, name.ptr, name.len);
    symbols->name_bytes += name.len;
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
    return (struct csn_str){ symbols->names + symbol->name_at, symbol->name_size };
}
