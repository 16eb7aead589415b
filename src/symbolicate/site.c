/* Sites: one lookup, and the records folded together. */
#include "symbolicate/site.h"

#include <string.h>

#include "base/core/fail.h"
#include "base/core/span.h"
#include "base/hash.h"
#include "symbolicate/record_frames.h"

enum { FRAMES_MAX = CSN_INLINE_DEPTH_MAX + 1, LOOKUP_COST = 16, BYTES_PER_STEP = 64 };

static csn_status keep_error(struct csni_site *site, csn_status status, const struct csn_error *err,
                             struct csni_arena *arena) {
    const char *text = err->text[0] ? csn_error_text(err) : csn_status_name(status);
    site->error = csni_arena_copy(arena, text, strlen(text));
    site->status = status;
    site->record_count = site->name_count = site->frame_count = 0;
    return site->error ? CSN_OK : CSN_E_MEMORY;
}

static csn_status keep_frames(struct csni_site *site, const struct csn_frame_ref *refs, size_t count,
                              struct csni_arena *arena) {
    site->frames = csni_arena_alloc(arena, count * sizeof(*site->frames));
    if (!site->frames) return CSN_E_MEMORY;
    for (size_t i = 0; i < count; i++) {
        /* A name that the index stores in pieces is joined, and kept for as long as the site is cached. */
        size_t need = csn_index_resolve_into(site->index, &refs[i], NULL, 0, &site->frames[i]);
        void *scratch = need ? csni_arena_alloc(arena, need) : NULL;
        if (need && !scratch) return CSN_E_MEMORY;
        if (need) csn_index_resolve_into(site->index, &refs[i], scratch, need, &site->frames[i]);
        site->frames[i].offset += site->shift;
    }
    site->frame_count = (uint32_t)count;
    return CSN_OK;
}

/* ---- the names of the records ---- */

/* Indexes of names by hash; a power of two, at most half full. */
struct name_table {
    uint32_t *slots; /* index + 1; 0: free */
    size_t mask;
};

static uint32_t intern_name(struct csni_site *site, struct name_table *table, struct csn_str name) {
    size_t i = (size_t)csni_hash_bytes(name.ptr, name.len) & table->mask;
    for (; table->slots[i]; i = (i + 1) & table->mask)
        if (csni_str_equal(site->names[table->slots[i] - 1], name)) return table->slots[i] - 1;
    site->names[site->name_count++] = name;
    table->slots[i] = site->name_count;
    return site->name_count - 1;
}

static csn_status name_records(struct csni_site *site, struct csni_arena *arena, struct csni_budget *budget,
                               struct csn_error *err) {
    uint32_t count = site->record_count;
    site->names = csni_arena_alloc(arena, count * sizeof(*site->names));
    uint32_t *name_of = csni_arena_alloc(arena, count * sizeof(*name_of));
    if (!site->names || !name_of) return csni_fail_memory(err, count * sizeof(*site->names));
    struct name_table table = { .mask = 1 };
    while (table.mask < 2 * (size_t)count) table.mask = table.mask * 2 + 1;
    size_t size = (table.mask + 1) * sizeof(*table.slots);
    table.slots = csni_arena_alloc(arena, size);
    if (!table.slots) return csni_fail_memory(err, size);
    memset(table.slots, 0, size);
    for (uint32_t k = 0; k < count; k++) {
        struct csn_function function;
        CSNI_TRY(csn_record_function(site->index, &site->records[k], &function, err));
        if (!csni_budget_charge(budget, function.name.len / BYTES_PER_STEP) && k) {
            site->record_count = k;
            site->truncated = true;
            break;
        }
        name_of[k] = intern_name(site, &table, function.name);
    }
    site->name_of = name_of;
    return CSN_OK;
}

/* ---- the records ---- */

static csn_status count_merged(struct csni_site *site, const struct csn_record *record, struct csni_budget *budget,
                               uint32_t *out, struct csn_error *err) {
    struct csn_merged_iter iter;
    struct csn_record child;
    *out = 0;
    CSNI_TRY(csn_merged_iter_init(&iter, site->index, record, err));
    for (;;) {
        csn_status status = csn_merged_iter_next(&iter, &child, err);
        if (status < 0) return status;
        if (status == CSN_NONE) return CSN_OK;
        if (*out + 1 == CSNI_RECORDS_MAX || !csni_budget_charge(budget, 8)) {
            site->truncated = true;
            return CSN_OK;
        }
        ++*out;
    }
}

static csn_status keep_merged(struct csni_site *site, const struct csn_record *record, uint32_t count,
                              struct csni_arena *arena, struct csn_error *err) {
    site->records = csni_arena_alloc(arena, (count + (size_t)1) * sizeof(*site->records));
    if (!site->records) return csni_fail_memory(err, (count + (size_t)1) * sizeof(*site->records));
    site->records[0] = *record;
    site->record_count = 1;
    if (!count) return CSN_OK;
    struct csn_merged_iter iter;
    CSNI_TRY(csn_merged_iter_init(&iter, site->index, record, err));
    while (site->record_count <= count) {
        csn_status status = csn_merged_iter_next(&iter, &site->records[site->record_count], err);
        if (status != CSN_OK) return status;
        site->record_count++;
    }
    return CSN_OK;
}

/* A record does not know where it ends: writers put the next one after it. */
static void charge_for_record(const struct csn_index *index, uint32_t idx, const struct csn_record *record,
                            struct csni_budget *budget) {
    struct csn_record next;
    bool follows = csn_index_record(index, idx + 1, &next, NULL) == CSN_OK && next.offset > record->offset;
    csni_budget_charge(budget, (follows ? next.offset - record->offset : record->size) / BYTES_PER_STEP);
}

static csn_status find_records(struct csni_site *site, uint32_t idx, struct csni_arena *arena, struct csni_budget *budget,
                               struct csn_error *err) {
    struct csn_record record;
    struct csn_function function;
    uint32_t merged = 0;
    CSNI_TRY(csn_index_record(site->index, idx, &record, err));
    charge_for_record(site->index, idx, &record, budget);
    CSNI_TRY(csn_record_function(site->index, &record, &function, err));
    if (function.has_merged) CSNI_TRY(count_merged(site, &record, budget, &merged, err));
    CSNI_TRY(keep_merged(site, &record, merged, arena, err));
    if (merged) return name_records(site, arena, budget, err);
    static const uint32_t first[1] = { 0 };
    site->own_name = site->frames[site->frame_count - 1].name;
    site->names = &site->own_name;
    site->name_of = first;
    site->name_count = 1;
    return CSN_OK;
}

csn_status csni_site_locate(const struct csn_index *index, uint64_t addr, unsigned shift, struct csni_arena *arena,
                            struct csni_budget *budget, struct csni_site *out) {
    struct csn_frame_ref refs[FRAMES_MAX];
    struct csn_lookup found;
    struct csn_error err = CSN_ERROR_INIT;
    *out = (struct csni_site){ .index = index, .addr = addr, .shift = (uint8_t)shift };
    if (!csni_budget_charge(budget, LOOKUP_COST)) {
        out->status = CSN_E_LIMIT;
        out->error = "the work budget of this stack is used up: this frame was not looked up";
        return CSN_OK;
    }
    csn_status status = csn_index_lookup_refs(index, addr, CSN_LOOKUP_DEFAULT, refs, FRAMES_MAX, &found, &err);
    if (status < 0) return keep_error(out, status, &err, arena);
    out->status = status;
    out->reason = found.reason;
    out->ends = status == CSN_NONE || addr - found.function_start + 1 >= found.function_size;
    if (status == CSN_NONE) return CSN_OK;
    out->start = found.function_start;
    CSNI_TRY(keep_frames(out, refs, found.frame_count < FRAMES_MAX ? found.frame_count : FRAMES_MAX, arena));
    status = find_records(out, found.function_index, arena, budget, &err);
    if (status == CSN_E_MEMORY) return status;
    out->is_signal_frame = status >= 0 && out->name_count == 1 && csn_is_signal_frame(out->names[0]);
    return status < 0 ? keep_error(out, status, &err, arena) : CSN_OK;
}

/* ---- functions folded away ---- */

const struct csni_folded_frames *csni_site_folded_frames(struct csni_site *site, uint32_t k, struct csni_arena *arena,
                                                         struct csni_budget *budget) {
    size_t size = site->record_count * sizeof(*site->folded_frames);
    if (!site->folded_frames) {
        site->folded_frames = csni_arena_alloc(arena, size);
        if (!site->folded_frames) return NULL;
        memset(site->folded_frames, 0, size);
    }
    struct csni_folded_frames *folded = &site->folded_frames[k];
    if (folded->frames || folded->error) return folded;
    struct csn_error err = CSN_ERROR_INIT;
    csni_budget_charge(budget, site->records[k].size / BYTES_PER_STEP);
    folded->status = csni_record_frames(site->index, &site->records[k], site->addr, arena, &folded->frames,
                                         &folded->count, &err);
    if (folded->status == CSN_E_MEMORY) return NULL;
    for (uint32_t i = 0; i < folded->count; i++) folded->frames[i].offset += site->shift;
    if (folded->status >= 0) return folded;
    const char *text = err.text[0] ? csn_error_text(&err) : csn_status_name(folded->status);
    folded->error = csni_arena_copy(arena, text, strlen(text));
    return folded->error ? folded : NULL;
}

/* ---- call sites ---- */

static struct csni_call_evidence *evidence_slot(struct csni_site *site, uint32_t k, struct csni_arena *kept) {
    if (k == 0) return &site->evidence;
    if (!site->folded_evidence) {
        size_t size = site->record_count * sizeof(*site->folded_evidence);
        site->folded_evidence = csni_arena_alloc(kept, size);
        if (!site->folded_evidence) return NULL;
        memset(site->folded_evidence, 0, size);
    }
    return &site->folded_evidence[k];
}

static bool cache_evidence(struct csni_site *site, const struct csni_call_evidence *found, struct csni_arena *kept,
                           struct csni_call_evidence *out) {
    bool one = out == &site->evidence && found->pattern_count == 1;
    size_t size = found->pattern_count * sizeof(*found->patterns);
    struct csn_str *patterns = one ? &site->own_pattern : csni_arena_alloc(kept, size);
    if (!patterns) return false;
    if (size) memcpy(patterns, found->patterns, size);
    *out = *found;
    out->patterns = patterns;
    out->cached = true;
    return true;
}

bool csni_site_evidence(struct csni_site *site, uint32_t k, bool either, struct csni_arena *kept, struct csni_arena *arena,
                        struct csni_budget *budget, struct csni_call_evidence *out) {
    const struct csn_record *record = &site->records[k];
    uint64_t ret = site->addr + site->shift;
    /* A frame looked up at its own address always has both return addresses; others only with `either`. */
    if (either && site->shift) return csni_call_evidence_read(site->index, record, ret, true, arena, budget, out);
    struct csni_call_evidence *slot = evidence_slot(site, k, kept);
    if (!slot) return false;
    if (!slot->cached) {
        if (!csni_call_evidence_read(site->index, record, ret, either, arena, budget, out)) return false;
        if (out->notes & CSN_STACK_NOTE_LIMIT) return true;
        if (!cache_evidence(site, out, kept, slot)) return false;
    }
    *out = *slot;
    return true;
}
