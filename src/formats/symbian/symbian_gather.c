/* From what the text files say to the model: which binaries there are, which symbols stay, where data goes. */
#include "formats/symbian/symbian_gather.h"

#include <stdlib.h>

#include "base/core/fail.h"

/* Data symbols further apart than this get binaries of their own: something else may lie between. */
enum { DATA_GAP_MAX = 64 };

void csni_symbian_gather_init(struct csni_symbian_gather *g, const struct csn_allocator *alloc) {
    *g = (struct csni_symbian_gather){ .symbols.alloc = alloc, .binaries.alloc = alloc };
}

void csni_symbian_gather_deinit(struct csni_symbian_gather *g) {
    csni_vec_deinit(&g->symbols);
    csni_vec_deinit(&g->binaries);
}

bool csni_symbian_begin_binary(struct csni_symbian_gather *g, struct csn_str name) {
    return csni_vec_push(&g->binaries, ((struct csni_symbian_binary){ .name = name, .first = g->symbols.count }));
}

bool csni_symbian_add_symbol(struct csni_symbian_gather *g, struct csn_str name, uint64_t address, uint64_t size, bool is_data) {
    struct csni_symbian_binary *b = &g->binaries.items[g->binaries.count - 1];
    struct csni_symbian_symbol s = { name, (uint32_t)address & ~1u, size < UINT32_MAX ? (uint32_t)size : UINT32_MAX, is_data };
    if (!s.address && !b->count) b->is_loaded = true;
    /* Labels and linker symbols have no size. The first of a binary may stand for the whole of it. */
    if (!s.size && b->count) return true;
    b->count++;
    return csni_vec_push(&g->symbols, s);
}

/* ---- the model's form ---- */

struct maker {
    struct csni_symbian_gather *g;
    struct csni_batch_writer *w;
    CSNI_VEC(struct csni_binary) binaries;
};

/* A binary whose only symbol has no size reaches up to the next one. 0: nothing tells. */
static uint32_t size_by_next(const struct csni_symbian_gather *g, size_t binary) {
    const struct csni_symbian_binary *b = &g->binaries.items[binary];
    if (binary + 1 == g->binaries.count || !b[1].count) return 0;
    uint32_t own = g->symbols.items[b->first].address, next = g->symbols.items[b[1].first].address;
    return next > own ? next - own : 0;
}

static bool begin_binary(struct maker *m, struct csn_str name, uint32_t address) {
    if (!csni_vec_push(&m->binaries, ((struct csni_binary){ name, address }))) return false;
    m->w->binary = (uint32_t)m->binaries.count;
    return true;
}

static void add_symbian_function(struct maker *m, const struct csni_symbian_symbol *s) {
    if (!s->name.len) {
        csni_batch_note(m->w, CSN_EVENT_FUNCTION_WITHOUT_NAME, "at 0x%x", s->address);
        return;
    }
    csni_batch_begin_function(m->w, s->address, s->size, csni_batch_add_string(m->w, s->name), CSNI_SOURCE_SYMBOL);
}

static int symbian_symbol_by_address(const void *pa, const void *pb) {
    const struct csni_symbian_symbol *a = pa, *b = pb;
    if (a->address != b->address) return a->address < b->address ? -1 : 1;
    if (a->size != b->size) return a->size < b->size ? -1 : 1;
    size_t len = a->name.len < b->name.len ? a->name.len : b->name.len;
    int by = len ? memcmp(a->name.ptr, b->name.ptr, len) : 0;
    return by ? by : a->name.len < b->name.len ? -1 : a->name.len > b->name.len;
}

/* Data stands in binaries of the same name after that of the code. Sorts the symbols it is given. */
static bool add_data(struct maker *m, struct csn_str name, struct csni_symbian_symbol *symbols, size_t count) {
    qsort(symbols, count, sizeof *symbols, symbian_symbol_by_address);
    uint64_t end = 0;
    for (size_t i = 0; i < count; i++) {
        if ((!i || symbols[i].address > end + DATA_GAP_MAX) && !begin_binary(m, name, symbols[i].address)) return false;
        add_symbian_function(m, &symbols[i]);
        if ((uint64_t)symbols[i].address + symbols[i].size > end) end = (uint64_t)symbols[i].address + symbols[i].size;
    }
    return true;
}

/* Moves data after code, both in their order; returns how many are code. */
static size_t part_data(struct csni_symbian_symbol *s, size_t count) {
    size_t code = 0;
    for (size_t i = 0; i < count; i++) {
        if (s[i].is_data) continue;
        struct csni_symbian_symbol moved = s[i];
        s[i] = s[code];
        s[code++] = moved;
    }
    return code;
}

static csn_status finish_binary(struct maker *m, size_t index, uint32_t *number, struct csn_error *err) {
    const struct csni_symbian_binary *b = &m->g->binaries.items[index];
    *number = 0;
    if (!b->count) return CSN_OK;
    struct csni_symbian_symbol *s = m->g->symbols.items + b->first;
    size_t count = b->count;
    if (!s->size) {
        if (count == 1) s->size = size_by_next(m->g, index);
        if (!s->size) {
            s++;
            count--;
        }
    }
    size_t code = part_data(s, count);
    uint32_t address = b->is_loaded ? 0 : UINT32_MAX;
    for (size_t i = 0; i < code; i++)
        if (s[i].address < address) address = s[i].address;
    bool good = true;
    if (code) {
        good = begin_binary(m, b->name, address);
        *number = (uint32_t)m->binaries.count;
        for (size_t i = 0; good && i < code; i++) add_symbian_function(m, &s[i]);
    }
    /* Beside code that runs anywhere, the addresses of data mean nothing. */
    bool placed = code ? address != 0 : true;
    if (good && placed && count > code) good = add_data(m, b->name, s + code, count - code);
    return good ? CSN_OK : csni_fail_memory(err, m->binaries.count * sizeof *m->binaries.items);
}

csn_status csni_symbian_finish(struct csni_symbian_gather *g, struct csni_batch_writer *w, struct csni_symbian_image *out,
                               uint32_t *numbers, struct csn_error *err) {
    struct maker m = { .g = g, .w = w, .binaries.alloc = g->binaries.alloc };
    csn_status status = CSN_OK;
    uint32_t ignored;
    for (size_t i = 0; i < g->binaries.count && status >= 0; i++)
        status = finish_binary(&m, i, numbers ? &numbers[i] : &ignored, err);
    if (status >= 0 && m.binaries.count) {
        size_t size = m.binaries.count * sizeof *m.binaries.items;
        struct csni_binary *binaries = csni_arena_alloc(w->arena, size);
        if (binaries) {
            memcpy(binaries, m.binaries.items, size);
            out->binaries = binaries;
            out->binary_count = (uint32_t)m.binaries.count;
        } else {
            status = csni_fail_memory(err, size);
        }
    }
    csni_vec_deinit(&m.binaries);
    return status;
}
