/* Which segments and symbols a BSYM file gets. */
#include <stdio.h>

#include "base/core/fail.h"
#include "base/core/sort.h"
#include "formats/bsym/write/bsym_write_private.h"

/* ---- what gets lost ---- */

static void lose(struct csni_bsym_plan *plan, enum csn_event event, uint64_t count, struct csn_str example) {
    if (count) csni_report_add(plan->report, event, count, example);
}

static void report_bsym_losses(struct csni_bsym_plan *plan) {
    const struct csni_model *m = plan->model;
    uint64_t lines = 0, inlines = 0, sites = 0;
    struct csn_str line_example = { "", 0 }, inline_example = { "", 0 };
    for (uint32_t i = 0; i < m->entry_count; i++) {
        const struct csni_function *f = csni_model_function(m, &m->entries[i]);
        struct csn_str name = m->batches[m->entries[i].batch].strings[f->name];
        if (f->row_count && !lines++) line_example = name;
        if (f->inline_count && !inlines++) inline_example = name;
        sites += f->site_count;
    }
    lose(plan, CSN_EVENT_LINES_LOST, lines, line_example);
    lose(plan, CSN_EVENT_INLINES_LOST, inlines, inline_example);
    lose(plan, CSN_EVENT_PART_LOST, sites, csni_str("call sites"));
    const struct csni_image *image = &m->image;
    lose(plan, CSN_EVENT_PART_LOST, image->uuid.size > 0, csni_str("build id"));
    if (plan->version < CSNI_BSYM_2_1)
        lose(plan, CSN_EVENT_PART_LOST, image->rename_count, csni_str("names on the device"));
    if (plan->version < CSNI_BSYM_2_2)
        lose(plan, CSN_EVENT_PART_LOST, image->checksum != 0, csni_str("checksum of the ROM"));
}

static void note_function(struct csni_bsym_plan *plan, enum csn_event event, const struct csni_entry *e) {
    const struct csni_function *f = csni_model_function(plan->model, e);
    struct csn_str name = plan->model->batches[e->batch].strings[f->name];
    char text[CSN_EXAMPLE_SIZE];
    int len = snprintf(text, sizeof text, "%.*s at 0x%llx", (int)(name.len < 150 ? name.len : 150), name.ptr,
                       (unsigned long long)f->start);
    csni_report_add(plan->report, event, 1, (struct csn_str){ text, len > 0 ? (size_t)len : 0 });
}

/* ---- addresses ---- */

/* Addresses are words: an image that is linked higher gets them counted from its base. */
static csn_status find_rebase(struct csni_bsym_plan *plan, struct csn_error *err) {
    const struct csni_model *m = plan->model;
    uint64_t low = UINT64_MAX, high = 0;
    for (uint32_t i = 0; i < m->entry_count; i++) {
        const struct csni_function *f = csni_model_function(m, &m->entries[i]);
        uint64_t end = f->start > UINT64_MAX - f->size ? UINT64_MAX : f->start + f->size;
        if (f->start < low) low = f->start;
        if (end > high) high = end;
    }
    if (high <= UINT32_MAX) return CSN_OK;
    uint64_t base = csni_image_base_below(&m->image, low, low & ~(uint64_t)0xfff);
    if (m->image.binary_count || high - base > UINT32_MAX)
        return csni_fail(err, CSN_E_LIMIT, NULL, 0, "functions from 0x%llx to 0x%llx, BSYM has addresses of 32 bits",
                         (unsigned long long)low, (unsigned long long)high);
    plan->rebase = base;
    char text[64];
    int len = snprintf(text, sizeof text, "base address 0x%llx", (unsigned long long)base);
    lose(plan, CSN_EVENT_PART_LOST, 1, (struct csn_str){ text, len > 0 ? (size_t)len : 0 });
    return CSN_OK;
}

/* ---- symbols ---- */

/* Pieces of long functions in one file. A ROM has a few; a hostile file could ask for 65,538 in every 32 bytes. */
enum { SPLITS_MAX = 1 << 22 };

static csn_status add_bsym_symbol(struct csni_bsym_plan *plan, uint64_t start, uint64_t size, uint32_t name,
                                  struct csn_error *err) {
    struct csni_bsym_out_symbol symbol = { (uint32_t)start, (uint16_t)size, 0, name };
    return csni_vec_push(&plan->symbols, symbol) ? CSN_OK : csni_fail_memory(err, plan->symbols.count * sizeof symbol);
}

/* Lengths have 16 bits: a longer function becomes several symbols of its name, as far as no other one starts within. */
static csn_status split_function(struct csni_bsym_plan *plan, const struct csni_entry *e, uint64_t start, uint64_t size,
                                 uint64_t limit, struct csn_error *err) {
    uint32_t name = plan->model->batches[e->batch].string_numbers[csni_model_function(plan->model, e)->name];
    uint64_t end = start + size;
    if (end > limit) {
        note_function(plan, CSN_EVENT_FUNCTION_TOO_LARGE, e);
        end = limit > start + CSNI_BSYM_LENGTH_MAX ? limit : start + CSNI_BSYM_LENGTH_MAX;
    }
    while (end - start > CSNI_BSYM_LENGTH_MAX) {
        if (plan->symbols.count > (size_t)plan->model->entry_count + SPLITS_MAX)
            return csni_fail(err, CSN_E_LIMIT, NULL, 0, "functions longer than 65535 bytes make more than %d symbols", SPLITS_MAX);
        CSNI_TRY(add_bsym_symbol(plan, start, CSNI_BSYM_SPLIT, name, err));
        start += CSNI_BSYM_SPLIT;
    }
    return add_bsym_symbol(plan, start, end - start, name, err);
}

/* `next`: where the next function of the binary starts, maybe at the same place; UINT64_MAX: there is none. */
static csn_status add_bsym_function(struct csni_bsym_plan *plan, const struct csni_entry *e, uint64_t size,
                                    uint64_t next,
                                    struct csn_error *err) {
    const struct csni_function *f = csni_model_function(plan->model, e);
    uint64_t start = f->start - plan->rebase;
    if (start & 1) {
        note_function(plan, CSN_EVENT_ADDRESS_ROUNDED, e);
        start--;
        size++;
    }
    if (size > CSNI_BSYM_LENGTH_MAX)
        return split_function(plan, e, start, size, next == UINT64_MAX ? next : (next - plan->rebase) & ~(uint64_t)1, err);
    return add_bsym_symbol(plan, start, size, plan->model->batches[e->batch].string_numbers[f->name], err);
}

/* Entries [first, end) are of one binary. */
static csn_status add_bsym_segment(struct csni_bsym_plan *plan, uint32_t first, uint32_t end, struct csn_error *err) {
    const struct csni_model *m = plan->model;
    uint32_t number = csni_model_function(m, &m->entries[first])->binary, past = first;
    struct csni_bsym_out_segment s = { .first = (uint32_t)plan->symbols.count, .binary = number - 1 };
    for (uint32_t i = first; i < end; i++) {
        const struct csni_function *f = csni_model_function(m, &m->entries[i]);
        uint64_t next = i + 1 < end ? csni_model_function(m, &m->entries[i + 1])->start : UINT64_MAX, size = f->size;
        while (past < end && csni_model_function(m, &m->entries[past])->start <= f->start) past++;
        if (!size && past < end) size = csni_model_function(m, &m->entries[past])->start - f->start;
        if (size) CSNI_TRY(add_bsym_function(plan, &m->entries[i], size, next, err));
        else note_function(plan, CSN_EVENT_FUNCTION_WITHOUT_SIZE, &m->entries[i]);
    }
    if (plan->symbols.count >= UINT32_MAX) return csni_fail(err, CSN_E_LIMIT, NULL, 0, "more than 2^32 symbols");
    s.count = (uint32_t)plan->symbols.count - s.first;
    if (!s.count) return CSN_OK;
    const bool is_placed = !number || m->image.binaries[number - 1].address;
    if (is_placed) s.address = plan->symbols.items[s.first].address;
    /* The address of a binary that is not executed in place. */
    lose(plan, CSN_EVENT_PART_LOST, is_placed && !s.address,
         csni_str("addresses: code at 0 is found by the binary's name and an offset only"));
    return csni_vec_push(&plan->segments, s) ? CSN_OK : csni_fail_memory(err, sizeof s);
}

static bool address_before(const void *context, const void *pa, const void *pb) {
    (void)context;
    const struct csni_bsym_out_segment *a = pa, *b = pb;
    return a->address < b->address;
}

/* Stable, by address; symbols follow their segments. */
static csn_status sort_bsym_segments(struct csni_bsym_plan *plan, struct csn_error *err) {
    size_t count = plan->segments.count;
    struct csni_bsym_out_segment *segments = plan->segments.items;
    if (csni_is_sorted(segments, count, sizeof *segments, address_before, NULL)) return CSN_OK;
    struct csni_bsym_out_symbol *symbols = csni_alloc_zeroed(plan->alloc, plan->symbols.capacity, sizeof *symbols);
    struct csni_bsym_out_segment *spare = symbols ? csni_alloc_zeroed(plan->alloc, count, sizeof *spare) : NULL;
    if (!spare) {
        csni_free(plan->alloc, symbols, plan->symbols.capacity * sizeof *symbols);
        return csni_fail_memory(err, plan->symbols.capacity * sizeof *symbols);
    }
    csni_merge_sort(segments, spare, count, sizeof *segments, address_before, NULL);
    csni_free(plan->alloc, spare, count * sizeof *spare);
    uint32_t next = 0;
    for (size_t i = 0; i < count; i++) {
        memcpy(symbols + next, plan->symbols.items + segments[i].first, segments[i].count * sizeof *symbols);
        segments[i].first = next;
        next += segments[i].count;
    }
    csni_free(plan->alloc, plan->symbols.items, plan->symbols.capacity * sizeof *symbols);
    plan->symbols.items = symbols;
    return CSN_OK;
}

csn_status csni_bsym_plan_symbols(struct csni_bsym_plan *plan, struct csn_error *err) {
    const struct csni_model *m = plan->model;
    CSNI_TRY(find_rebase(plan, err));
    report_bsym_losses(plan);
    if (!csni_vec_reserve(&plan->symbols, (size_t)m->entry_count + 1))
        return csni_fail_memory(err, m->entry_count * sizeof *plan->symbols.items);
    for (uint32_t first = 0, end; first < m->entry_count; first = end) {
        uint32_t binary = csni_model_function(m, &m->entries[first])->binary;
        for (end = first + 1; end < m->entry_count; end++)
            if (csni_model_function(m, &m->entries[end])->binary != binary) break;
        CSNI_TRY(add_bsym_segment(plan, first, end, err));
    }
    if (!plan->segments.count) return csni_fail(err, CSN_E_NOT_FOUND, NULL, 0, "no functions");
    return sort_bsym_segments(plan, err);
}
