/* Walking the rows and inlined calls of the functions in a range. */
#define _GNU_SOURCE
#include "lookup/address_range.h"

#include <stdlib.h>

static const uint64_t NO_ADDRESS = UINT64_MAX;

static uint64_t start_of(const struct range_steps *steps, uint32_t function) {
    uint64_t start = 0;
    csn_index_function_start(steps->index, function, &start, NULL);
    return start;
}

/* The last function that starts at or before the range: it may cover its first address. Functions of equal start count from the
 * first of them. */
static uint32_t first_function(const struct range_steps *steps) {
    uint32_t low = 0, high = steps->function_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (start_of(steps, middle) <= steps->start) low = middle + 1;
        else high = middle;
    }
    uint32_t first = low ? low - 1 : 0;
    while (first && start_of(steps, first - 1) == start_of(steps, first)) first--;
    return first;
}

void range_steps_init(struct range_steps *steps, const struct csn_index *index, uint64_t start, uint64_t end) {
    struct csn_index_info info;
    csn_index_get_info(index, &info, sizeof(info));
    *steps = (struct range_steps){
        .index = index, .start = start, .end = end, .function_count = info.function_count, .last = NO_ADDRESS
    };
    steps->function = info.binary_count ? 0 : first_function(steps);
}

void range_steps_deinit(struct range_steps *steps) {
    free(steps->addrs);
    steps->addrs = NULL;
}

static void add_step(struct range_steps *steps, uint64_t addr) {
    if (addr < steps->start || addr >= steps->end || addr > steps->most || steps->no_memory) return;
    if (steps->count == steps->capacity) {
        size_t capacity = steps->capacity ? steps->capacity * 2 : 64;
        uint64_t *addrs = reallocarray(steps->addrs, capacity, sizeof(*addrs));
        if (!addrs) {
            steps->no_memory = true;
            return;
        }
        steps->addrs = addrs;
        steps->capacity = capacity;
    }
    steps->addrs[steps->count++] = addr;
}

static void add_rows(struct range_steps *steps, const struct csn_record *record) {
    struct csn_row_iter iter;
    struct csn_row row;
    if (csn_row_iter_init(&iter, steps->index, record, NULL) != CSN_OK) return;
    while (csn_row_iter_next(&iter, &row, NULL) == CSN_OK) add_step(steps, row.addr);
}

static void add_inlines(struct range_steps *steps, const struct csn_record *record) {
    struct csn_inline_iter iter;
    struct csn_inline_node node;
    struct csn_range range;
    if (csn_inline_iter_init(&iter, steps->index, record, NULL) != CSN_OK) return;
    while (csn_inline_iter_next(&iter, &node, NULL) == CSN_OK)
        for (uint32_t k = 0; k < node.range_count && csn_inline_node_range(&node, k, &range, NULL) == CSN_OK; k++) {
            add_step(steps, range.start);
            add_step(steps, range.end);
        }
}

static int compare_addrs(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* Lookups know nothing of a function from the next one's start on: its steps would hide those of functions within
 * it. Functions of one start share what was found. */
static void limit_steps(struct range_steps *steps, uint32_t function, uint64_t start) {
    if (steps->has_limit && steps->limited == start) return;
    steps->has_limit = true;
    steps->limited = start;
    steps->most = NO_ADDRESS;
    for (uint32_t i = function + 1; i < steps->function_count && steps->most == NO_ADDRESS; i++) {
        const uint64_t next = start_of(steps, i);
        if (next > start) steps->most = next - 1;
    }
}

static void add_function(struct range_steps *steps, uint32_t i, uint64_t start) {
    struct csn_function function;
    struct csn_record record;
    add_step(steps, start);
    if (start < steps->start) add_step(steps, steps->start);
    if (csn_index_function(steps->index, i, &function, NULL) != CSN_OK) return;
    add_step(steps, start + function.size);
    if (csn_index_record(steps->index, i, &record, NULL) != CSN_OK) return;
    add_rows(steps, &record);
    add_inlines(steps, &record);
}

/* The steps of the next function that has some. False: there is none. */
static bool load_function(struct range_steps *steps) {
    steps->count = steps->next = 0;
    while (!steps->count && !steps->no_memory && steps->function < steps->function_count) {
        const uint32_t i = steps->function++;
        const uint64_t start = start_of(steps, i);
        if (start >= steps->end && steps->start < start) {
            steps->function = steps->function_count;
            break;
        }
        limit_steps(steps, i, start);
        add_function(steps, i, start);
    }
    if (steps->count) qsort(steps->addrs, steps->count, sizeof(*steps->addrs), compare_addrs);
    return steps->count && !steps->no_memory;
}

/* Functions of one start have steps that were given already. */
bool range_steps_next(struct range_steps *steps, uint64_t *out) {
    for (;;) {
        if (steps->next == steps->count && !load_function(steps)) return false;
        uint64_t addr = steps->addrs[steps->next++];
        if (steps->last != NO_ADDRESS && addr <= steps->last) continue;
        *out = steps->last = addr;
        return true;
    }
}
