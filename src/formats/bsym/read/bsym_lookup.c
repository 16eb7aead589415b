/* One address, or one offset into a binary, to its symbol. */
#include "base/core/prefetch.h"
#include "base/core/search.h"
#include "formats/bsym/read/bsym_private.h"

enum { ZEROS_SKIPPED = 64 };

static inline bool is_start_up_to(const void *context, size_t index, const void *key) {
    return ((const uint32_t *)context)[index] <= *(const uint32_t *)key;
}

/* The last segment with an address that is at or below `a`; false: none. */
static bool find_segment(const struct csni_bsym *b, uint32_t a, uint32_t *out) {
    uint32_t left = b->segment_count - b->placed;
    if (!left) return false;
    const uint32_t *base = b->starts + b->placed;
    if (*base > a) return false;
    *out = b->placed + (uint32_t)csni_search_in(1, left, is_start_up_to, base, &a) - 1;
    return true;
}

static inline uint32_t address_at(const struct csni_bsym *b, const struct csni_bsym_segment *s, uint32_t k) {
    return csni_bsym_symbol_address(b, csni_bsym_in_order(b, s->first + k));
}

struct symbols_of {
    const struct csni_bsym *b;
    const struct csni_bsym_segment *segment;
};

static inline bool is_symbol_up_to(const void *context, size_t index, const void *key) {
    const struct symbols_of *symbols = context;
    return address_at(symbols->b, symbols->segment, (uint32_t)index) <= *(const uint32_t *)key;
}

/* Where the symbol of `a` is likely to be: functions are about as long as each other. */
static uint32_t guess(const struct csni_bsym_segment *s, uint32_t a) {
    uint32_t range = s->last_address - s->address;
    if (a <= s->address || s->last_address <= s->address) return 0;
    if (a >= s->last_address) return s->count - 1;
    return (uint32_t)((uint64_t)(a - s->address) * (s->count - 1) / range);
}

/* How many symbols of the segment are at or below `a`. From the guess outwards in growing steps, then by halves: two or three
 * cache lines where a plain search of the whole touches twice as many. */
static uint32_t count_bsym_below(const struct csni_bsym *b, const struct csni_bsym_segment *s, uint32_t a) {
    uint32_t g = guess(s, a), step = 4, low, high;
    if (address_at(b, s, g) <= a) {
        low = g + 1;
        while (s->count - low > step && address_at(b, s, low + step) <= a) {
            low += step + 1;
            step *= 2;
        }
        high = s->count - low > step ? low + step : s->count;
    } else {
        high = g;
        while (high > step && address_at(b, s, high - step) > a) {
            high -= step;
            step *= 2;
        }
        low = high > step ? high - step + 1 : 0;
    }
    struct symbols_of symbols = { b, s };
    return (uint32_t)csni_search_in(low, high, is_symbol_up_to, &symbols, &a);
}

/* A function longer than 16 bits stands as several symbols of one name, one after the other. */
static bool is_continuation(const struct csni_bsym *b, uint32_t before, uint32_t symbol) {
    const uint8_t *p = csni_bsym_symbol_record(b, before), *q = csni_bsym_symbol_record(b, symbol);
    uint32_t word = csni_bsym_word(b, p + CSNI_BSYM_Y_PREFIX);
    return (word & CSNI_BSYM_LENGTH_MAX) == CSNI_BSYM_SPLIT &&
           word >> 16 == csni_bsym_word(b, q + CSNI_BSYM_Y_PREFIX) >> 16 &&
           csni_bsym_word(b, p + CSNI_BSYM_Y_NAME) == csni_bsym_word(b, q + CSNI_BSYM_Y_NAME) &&
           csni_bsym_symbol_address(b, before) + CSNI_BSYM_SPLIT == csni_bsym_symbol_address(b, symbol);
}

/* Makes the answer that of the whole function. */
static void join_pieces(const struct csni_bsym *b, const struct csni_bsym_segment *s, uint32_t k,
                        struct csni_bsym_answer *out) {
    if (b->version >= CSNI_BSYM_3_0 || b->order) return;
    uint32_t first = k, last = k;
    while (first && is_continuation(b, s->first + first - 1, s->first + first)) first--;
    while (last + 1 < s->count && is_continuation(b, s->first + last, s->first + last + 1)) last++;
    if (first == last) return;
    out->symbol = s->first + first;
    out->start = address_at(b, s, first);
    out->size = address_at(b, s, last) + csni_bsym_symbol_length(b, s, s->first + last) - out->start;
}

static csn_status look_in(const struct csni_bsym *b, uint32_t segment, uint32_t a, bool by_offset,
                          struct csni_bsym_answer *out) {
    const struct csni_bsym_segment *s = &b->segments[segment];
    uint32_t k = count_bsym_below(b, s, a);
    *out = (struct csni_bsym_answer){ .segment = segment, .reason = CSN_REASON_GAP, .has_segment = by_offset };
    if (!k) return CSN_NONE;
    const bool is_last = k-- == s->count;
    /* Labels have no length; where one stands within a function, the function is meant. */
    for (unsigned n = 0; n < ZEROS_SKIPPED && k; n++, k--)
        if (csni_bsym_symbol_length(b, s, csni_bsym_in_order(b, s->first + k))) break;
    uint32_t symbol = csni_bsym_in_order(b, s->first + k), start = csni_bsym_symbol_address(b, symbol);
    uint32_t size = csni_bsym_symbol_length(b, s, symbol);
    if (a - start >= size && is_last) return CSN_NONE; /* labels at the end of the binary do not make it longer */
    *out = (struct csni_bsym_answer){ .segment = segment, .symbol = symbol, .start = start, .size = size,
                                      .has_segment = true, .uncertain = a - start >= size };
    if (size == CSNI_BSYM_SPLIT || (k && start - address_at(b, s, k - 1) == CSNI_BSYM_SPLIT)) join_pieces(b, s, k, out);
    return CSN_OK;
}

csn_status csni_bsym_lookup(const struct csni_bsym *b, uint64_t addr, struct csni_bsym_answer *out) {
    uint32_t segment;
    if (b->accel.data && addr <= UINT32_MAX && csni_bsym_accel_lookup(b, (uint32_t)addr & ~1u, out)) return CSN_OK;
    *out = (struct csni_bsym_answer){ .reason = CSN_REASON_BEFORE_FIRST };
    if (addr <= UINT32_MAX && find_segment(b, (uint32_t)addr & ~1u, &segment))
        return look_in(b, segment, (uint32_t)addr & ~1u, false, out);
    if (addr > UINT32_MAX) out->reason = CSN_REASON_GAP;
    return CSN_NONE;
}

csn_status csni_bsym_lookup_in(const struct csni_bsym *b, uint32_t segment, uint64_t off, struct csni_bsym_answer *out) {
    uint64_t a = b->segments[segment].address + off;
    if (off <= UINT32_MAX && a <= UINT32_MAX) return look_in(b, segment, (uint32_t)a & ~1u, true, out);
    *out = (struct csni_bsym_answer){ .segment = segment, .reason = CSN_REASON_GAP, .has_segment = true };
    return CSN_NONE;
}

void csni_bsym_prefetch(const struct csni_bsym *b, uint64_t addr) {
    uint32_t segment, a = (uint32_t)addr & ~1u;
    if (b->accel.data) {
        if (addr <= UINT32_MAX) csni_bsym_accel_prefetch(b, a);
        return;
    }
    if (addr > UINT32_MAX || !find_segment(b, a, &segment)) return;
    const struct csni_bsym_segment *s = &b->segments[segment];
    const uint8_t *p = csni_bsym_symbol_record(b, s->first + guess(s, a));
    csni_prefetch_lines(p - 64, 3 * 64);
}
