/* The accelerator: start and length of every symbol in four bytes, by pages of the address space. A lookup reads the page's
 * entry and a line or two after it, where a search of the file's records touches three or four lines of a table three times
 * as large. */
#include "base/core/prefetch.h"
#include "base/core/search.h"
#include "formats/bsym/read/bsym_private.h"

enum { PAGE_BITS = 12, PAGE_MASK = (1 << PAGE_BITS) - 1, ASK_THE_FILE = 0xffff, PAGES_A_SYMBOL = 4 };

/* Whether the order of the file is one order of addresses, as every writer has it: binaries apart, each with its first symbol
 * at its start. *out_first: the first symbol that has an address. */
static bool is_regular(const struct csni_bsym *b, uint32_t *out_first) {
    if (b->order || b->placed == b->segment_count) return false;
    uint32_t next = b->segments[b->placed].first;
    *out_first = next;
    for (uint32_t i = b->placed; i < b->segment_count; i++) {
        const struct csni_bsym_segment *s = &b->segments[i];
        if (s->first != next || csni_bsym_symbol_address(b, s->first) != s->address) return false;
        if (i + 1 < b->segment_count && s->last_address >= s[1].address) return false;
        next = s->first + s->count;
    }
    return true;
}

/* Length of a symbol; ASK_THE_FILE for labels, for long ones, and for pieces of such. */
static uint16_t length_of(const struct csni_bsym *b, const struct csni_bsym_segment *s, uint32_t symbol) {
    uint32_t size = csni_bsym_symbol_length(b, s, symbol);
    if (!size || size >= CSNI_BSYM_SPLIT) return ASK_THE_FILE;
    bool follows = symbol > s->first &&
                   csni_bsym_symbol_address(b, symbol) - csni_bsym_symbol_address(b, symbol - 1) == CSNI_BSYM_SPLIT;
    return follows ? ASK_THE_FILE : (uint16_t)size;
}

static void fill_pages(const struct csni_bsym *b, struct csni_bsym_accel *a) {
    uint32_t k = 0, segment = b->placed;
    for (uint32_t p = 0; p <= a->page_count; p++) {
        uint64_t start = (uint64_t)a->base + ((uint64_t)p << PAGE_BITS);
        while (k < a->count && csni_bsym_symbol_address(b, a->first + k) < start) k++;
        while (segment + 1 < b->segment_count && b->starts[segment + 1] <= start) segment++;
        a->pages[p] = (struct csni_bsym_page){ k, segment };
    }
}

static void fill_data(const struct csni_bsym *b, struct csni_bsym_accel *a) {
    for (uint32_t p = 0; p < a->page_count; p++) {
        uint32_t low = a->pages[p].first, count = a->pages[p + 1].first - low;
        uint16_t *starts = a->data + 2 * (size_t)low, *lengths = starts + count;
        const struct csni_bsym_segment *s = count ? csni_bsym_owner(b, a->first + low) : NULL;
        for (uint32_t k = 0; k < count; k++) {
            uint32_t symbol = a->first + low + k;
            if (symbol >= s->first + s->count) s++;
            starts[k] = (uint16_t)((csni_bsym_symbol_address(b, symbol) & PAGE_MASK) >> 1);
            lengths[k] = length_of(b, s, symbol);
            if (lengths[k] == ASK_THE_FILE) a->plain_count++;
        }
    }
}

bool csni_bsym_accel_build(struct csni_bsym *b, uint64_t max_bytes, const struct csn_allocator *alloc) {
    struct csni_bsym_accel a = { .data = NULL };
    if (!max_bytes || !is_regular(b, &a.first)) return true;
    const struct csni_bsym_segment *last = &b->segments[b->segment_count - 1];
    a.count = last->first + last->count - a.first;
    a.base = b->starts[b->placed] & ~(uint32_t)PAGE_MASK;
    a.page_count = (last->last_address >> PAGE_BITS) - (a.base >> PAGE_BITS) + 1;
    a.memory_size = (a.page_count + 1ull) * sizeof *a.pages + 2ull * a.count * sizeof *a.data;
    if (a.page_count / PAGES_A_SYMBOL > a.count || a.memory_size > max_bytes || a.memory_size > SIZE_MAX) return true;
    a.pages = csni_alloc(alloc, (size_t)a.memory_size);
    if (!a.pages) return false;
    a.data = (uint16_t *)(a.pages + a.page_count + 1);
    fill_pages(b, &a);
    fill_data(b, &a);
    b->accel = a;
    return true;
}

void csni_bsym_accel_free(struct csni_bsym *b, const struct csn_allocator *alloc) {
    csni_free(alloc, b->accel.pages, (size_t)b->accel.memory_size);
}

static inline bool is_up_to(const void *context, size_t index, const void *key) {
    return ((const uint16_t *)context)[index] <= *(const uint32_t *)key;
}

/* How many of ascending values are at or below `v`. */
static uint32_t count_bsym_accel_below(const uint16_t *values, uint32_t count, uint32_t v) {
    /* A page has about sixty. Comparing all of so few is one run of vector instructions, without a branch to mispredict; the
     * rare page of many is halved first. */
    enum { FEW = 256 };
    struct csni_search s = csni_search_narrow((struct csni_search){ 0, count }, FEW, is_up_to, values, &v);
    const uint16_t *few = values + s.first;
    uint16_t below = 0, value = (uint16_t)v;
    uint32_t left = (uint32_t)s.left;
    for (uint32_t i = 0; i < left; i++) below = (uint16_t)(below + (few[i] <= value));
    return (uint32_t)s.first + below;
}

bool csni_bsym_accel_lookup(const struct csni_bsym *b, uint32_t addr, struct csni_bsym_answer *out) {
    const struct csni_bsym_accel *a = &b->accel;
    uint32_t p = (addr - a->base) >> PAGE_BITS;
    if (addr < a->base || p >= a->page_count) return false;
    struct csni_bsym_page page = a->pages[p];
    uint32_t count = a->pages[p + 1].first - page.first;
    const uint16_t *starts = a->data + 2 * (size_t)page.first;
    uint32_t k = count_bsym_accel_below(starts, count, (addr & PAGE_MASK) >> 1);
    if (!k) return false; /* the symbol starts on an earlier page */
    k--;
    uint32_t size = starts[count + k], start = (addr & ~(uint32_t)PAGE_MASK) + 2u * starts[k];
    if (size == ASK_THE_FILE) return false;
    uint32_t segment = page.segment;
    while (segment + 1 < b->segment_count && b->starts[segment + 1] <= addr) segment++;
    if (addr - start >= size) return false; /* a gap, or the end of a binary */
    *out = (struct csni_bsym_answer){ .segment = segment, .symbol = a->first + page.first + k, .start = start, .size = size,
                                      .has_segment = true };
    return true;
}

void csni_bsym_accel_prefetch(const struct csni_bsym *b, uint32_t addr) {
    const struct csni_bsym_accel *a = &b->accel;
    uint32_t p = (addr - a->base) >> PAGE_BITS;
    if (addr < a->base || p >= a->page_count) return;
    csni_prefetch_lines(a->data + 2 * (size_t)a->pages[p].first, 4 * 64);
}
