/* The order of functions. */
#include "base/core/sort.h"
#include "model/model_key.h"

static int compare_u64(uint64_t a, uint64_t b) { return a < b ? -1 : a > b; }

/* Orders by the offsets of all rows given, those superseded included. */
static int compare_model_rows(const struct csni_row *a, const struct csni_row *a_end, const struct csni_row *b,
                              const struct csni_row *b_end) {
    uint32_t left_a = 0, left_b = 0; /* rows still to come at the offset of a[-1], of b[-1] */
    for (;;) {
        if (!left_a && a < a_end) left_a = csni_row_superseded(*a++) + 1;
        if (!left_b && b < b_end) left_b = csni_row_superseded(*b++) + 1;
        if (!left_a || !left_b) return 0;
        if (a[-1].off != b[-1].off) return compare_u64(a[-1].off, b[-1].off);
        uint32_t both = left_a < left_b ? left_a : left_b;
        left_a -= both;
        left_b -= both;
    }
}

static int compare_known(const struct csni_model *m, const struct csni_key *ka, const struct csni_key *kb) {
    const struct csni_function *a = csni_key_function(m, ka), *b = csni_key_function(m, kb);
    int by = compare_u64(a->size, b->size);
    if (!by) by = compare_u64(a->inline_count, b->inline_count);
    if (!by) by = compare_u64(a->given_rows, b->given_rows);
    if (by) return by;
    const struct csni_row *ra = m->batches[ka->batch].rows + a->first_row;
    const struct csni_row *rb = m->batches[kb->batch].rows + b->first_row;
    by = compare_model_rows(ra, ra + a->row_count, rb, rb + b->row_count);
    if (by) return by;
    /* Or a symbol that comes later would replace a function of which nothing but its call sites is known. */
    return compare_u64(a->site_count > 0, b->site_count > 0);
}

static bool model_key_before(const void *context, const void *a, const void *b) {
    return compare_known(context, a, b) < 0;
}

/* Radix sort: digits that all keys share cost one look. */
void csni_sort_by_start(struct csni_key *keys, struct csni_key *spare, size_t count) {
    enum { BITS = 11, DIGITS = 1 << BITS };
    struct csni_key *from = keys, *to = spare;
    for (unsigned shift = 0; shift < 64; shift += BITS) {
        size_t place[DIGITS] = { 0 };
        for (size_t i = 0; i < count; i++) place[from[i].start >> shift & (DIGITS - 1)]++;
        if (count && place[from[0].start >> shift & (DIGITS - 1)] == count) continue;
        size_t sum = 0;
        for (size_t d = 0; d < DIGITS; d++) {
            size_t n = place[d];
            place[d] = sum;
            sum += n;
        }
        for (size_t i = 0; i < count; i++) to[place[from[i].start >> shift & (DIGITS - 1)]++] = from[i];
        struct csni_key *was = from;
        from = to;
        to = was;
    }
    if (from != keys && count) memcpy(keys, from, count * sizeof *keys);
}

/* Whether both are descriptions of one function, each with rows, and both with inlined calls or none. */
static bool is_copy(const struct csni_model *m, const struct csni_key *ka, const struct csni_key *kb) {
    const struct csni_function *a = csni_key_function(m, ka), *b = csni_key_function(m, kb);
    return a->source == CSNI_SOURCE_DWARF && b->source == CSNI_SOURCE_DWARF && a->row_count && b->row_count &&
           !a->inline_count == !b->inline_count &&
           csni_str_equal(m->batches[ka->batch].strings[a->name], m->batches[kb->batch].strings[b->name]);
}

static bool is_earlier(const struct csni_key *a, const struct csni_key *b) {
    return a->batch != b->batch ? a->batch < b->batch : a->function < b->function;
}

/* Of several units that describe one function, the linker kept the code of the first: GNU ld and gold let the debug information of
 * copies that they drop point to the one that they keep, when it has the same size. So the first one comes last here. */
static void prefer_first_copy(const struct csni_model *m, struct csni_key *keys, size_t count) {
    size_t first = count - 1;
    for (size_t i = 0; i + 1 < count; i++)
        if (is_copy(m, &keys[i], &keys[count - 1]) && is_earlier(&keys[i], &keys[first])) first = i;
    struct csni_key moved = keys[first];
    memmove(keys + first, keys + first + 1, (count - 1 - first) * sizeof *keys);
    keys[count - 1] = moved;
}

/* The keys have one start and are in order. */
static void prefer_first_copies(const struct csni_model *m, struct csni_key *keys, size_t count) {
    for (size_t low = 0, high; low < count; low = high) {
        uint32_t size = csni_key_function(m, &keys[low])->size;
        for (high = low + 1; high < count && csni_key_function(m, &keys[high])->size == size;) high++;
        prefer_first_copy(m, keys + low, high - low);
    }
}

void csni_sort_groups(const struct csni_model *m, struct csni_key *keys, struct csni_key *spare, size_t count) {
    for (size_t low = 0, high; low < count; low = high) {
        for (high = low + 1; high < count && keys[high].start == keys[low].start;) high++;
        if (high - low == 1) continue;
        csni_merge_sort(keys + low, spare + low, high - low, sizeof *keys, model_key_before, m);
        if (m->merge != CSN_MERGE_LLVM) prefer_first_copies(m, keys + low, high - low);
    }
}
