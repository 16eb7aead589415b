/* Places: one lookup, the records folded together, call sites. */
#include "symbolicate/place.h"

#include <string.h>

#include "base/core/fail.h"
#include "base/core/hash.h"
#include "base/core/span.h"
#include "symbolicate/record_frames.h"

enum { FRAMES_MAX = CSN_INLINE_DEPTH_MAX + 1, LOOKUP_WORK = 16, WORK_PER_BYTES = 64 };

static csn_status keep_error(struct csni_place *place, csn_status status, const struct csn_error *err,
                             struct csni_arena *arena) {
    const char *text = err->text[0] ? csn_error_text(err) : csn_status_name(status);
    place->error = csni_arena_copy(arena, text, strlen(text));
    place->status = status;
    place->record_count = place->name_count = place->frame_count = 0;
    return place->error ? CSN_OK : CSN_E_MEMORY;
}

static csn_status keep_frames(struct csni_place *place, const struct csn_frame_ref *refs, size_t count,
                              struct csni_arena *arena) {
    place->frames = csni_arena_alloc(arena, count * sizeof(*place->frames));
    if (!place->frames) return CSN_E_MEMORY;
    for (size_t i = 0; i < count; i++) {
        /* A name that the index keeps in pieces is put together for as long as the place is known. */
        size_t need = csn_index_resolve_into(place->index, &refs[i], NULL, 0, &place->frames[i]);
        void *scratch = need ? csni_arena_alloc(arena, need) : NULL;
        if (need && !scratch) return CSN_E_MEMORY;
        if (need) csn_index_resolve_into(place->index, &refs[i], scratch, need, &place->frames[i]);
        place->frames[i].offset += place->shift;
    }
    place->frame_count = (uint32_t)count;
    return CSN_OK;
}

/* ---- the names of the records ---- */

/* Places of names by hash; a power of two, at most half full. */
struct name_table {
    uint32_t *slots; /* place + 1; 0: free */
    size_t mask;
};

static uint32_t name_place(struct csni_place *place, struct name_table *table, struct csn_str name) {
    size_t i = (size_t)csni_hash_bytes(name.ptr, name.len) & table->mask;
    for (; table->slots[i]; i = (i + 1) & table->mask)
        if (csni_str_equal(place->names[table->slots[i] - 1], name)) return table->slots[i] - 1;
    place->names[place->name_count++] = name;
    table->slots[i] = place->name_count;
    return place->name_count - 1;
}

static csn_status name_records(struct csni_place *place, struct csni_arena *arena, uint64_t *work, struct csn_error *err) {
    uint32_t count = place->record_count;
    place->names = csni_arena_alloc(arena, count * sizeof(*place->names));
    uint32_t *name_of = csni_arena_alloc(arena, count * sizeof(*name_of));
    if (!place->names || !name_of) return csni_fail_memory(err, count * sizeof(*place->names));
    struct name_table table = { .mask = 1 };
    while (table.mask < 2 * (size_t)count) table.mask = table.mask * 2 + 1;
    size_t size = (table.mask + 1) * sizeof(*table.slots);
    table.slots = csni_arena_alloc(arena, size);
    if (!table.slots) return csni_fail_memory(err, size);
    memset(table.slots, 0, size);
    for (uint32_t k = 0; k < count; k++) {
        struct csn_function function;
        CSNI_TRY(csn_record_function(place->index, &place->records[k], &function, err));
        if (!csni_spend(work, function.name.len / WORK_PER_BYTES) && k) {
            place->record_count = k;
            place->truncated = true;
            break;
        }
        name_of[k] = name_place(place, &table, function.name);
    }
    place->name_of = name_of;
    return CSN_OK;
}

/* ---- the records ---- */

static csn_status count_merged(struct csni_place *place, const struct csn_record *record, uint64_t *work,
                               uint32_t *out, struct csn_error *err) {
    struct csn_merged_iter iter;
    struct csn_record child;
    *out = 0;
    CSNI_TRY(csn_merged_iter_init(&iter, place->index, record, err));
    for (;;) {
        csn_status status = csn_merged_iter_next(&iter, &child, err);
        if (status < 0) return status;
        if (status == CSN_NONE) return CSN_OK;
        if (*out + 1 == CSNI_RECORDS_MAX || !csni_spend(work, 8)) {
            place->truncated = true;
            return CSN_OK;
        }
        ++*out;
    }
}

static csn_status keep_merged(struct csni_place *place, const struct csn_record *record, uint32_t count,
                              struct csni_arena *arena, struct csn_error *err) {
    place->records = csni_arena_alloc(arena, (count + (size_t)1) * sizeof(*place->records));
    if (!place->records) return csni_fail_memory(err, (count + (size_t)1) * sizeof(*place->records));
    place->records[0] = *record;
    place->record_count = 1;
    if (!count) return CSN_OK;
    struct csn_merged_iter iter;
    CSNI_TRY(csn_merged_iter_init(&iter, place->index, record, err));
    while (place->record_count <= count) {
        csn_status status = csn_merged_iter_next(&iter, &place->records[place->record_count], err);
        if (status != CSN_OK) return status;
        place->record_count++;
    }
    return CSN_OK;
}

/* A record does not know where it ends: writers put the next one behind it. */
static void spend_on_record(const struct csn_index *index, uint32_t idx, const struct csn_record *record,
                            uint64_t *work) {
    struct csn_record next;
    bool follows = csn_index_record(index, idx + 1, &next, NULL) == CSN_OK && next.offset > record->offset;
    csni_spend(work, (follows ? next.offset - record->offset : record->size) / WORK_PER_BYTES);
}

static csn_status find_records(struct csni_place *place, uint32_t idx, struct csni_arena *arena, uint64_t *work,
                               struct csn_error *err) {
    struct csn_record record;
    struct csn_function function;
    uint32_t merged = 0;
    CSNI_TRY(csn_index_record(place->index, idx, &record, err));
    spend_on_record(place->index, idx, &record, work);
    CSNI_TRY(csn_record_function(place->index, &record, &function, err));
    if (function.has_merged) CSNI_TRY(count_merged(place, &record, work, &merged, err));
    CSNI_TRY(keep_merged(place, &record, merged, arena, err));
    if (merged) return name_records(place, arena, work, err);
    static const uint32_t first[1] = { 0 };
    place->own_name = place->frames[place->frame_count - 1].name;
    place->names = &place->own_name;
    place->name_of = first;
    place->name_count = 1;
    return CSN_OK;
}

csn_status csni_place_find(const struct csn_index *index, uint64_t addr, unsigned shift, struct csni_arena *arena,
                           uint64_t *work, struct csni_place *out) {
    struct csn_frame_ref refs[FRAMES_MAX];
    struct csn_lookup found;
    struct csn_error err = CSN_ERROR_INIT;
    *out = (struct csni_place){ .index = index, .addr = addr, .shift = (uint8_t)shift };
    if (!csni_spend(work, LOOKUP_WORK)) {
        csni_fail(&err, CSN_E_LIMIT, NULL, 0, "this stack causes too much work: given up before this frame");
        return keep_error(out, CSN_E_LIMIT, &err, arena);
    }
    csn_status status = csn_index_lookup_refs(index, addr, CSN_LOOKUP_DEFAULT, refs, FRAMES_MAX, &found, &err);
    if (status < 0) return keep_error(out, status, &err, arena);
    out->status = status;
    out->reason = found.reason;
    if (status == CSN_NONE) return CSN_OK;
    out->start = found.function_start;
    CSNI_TRY(keep_frames(out, refs, found.frame_count < FRAMES_MAX ? found.frame_count : FRAMES_MAX, arena));
    status = find_records(out, found.function_index, arena, work, &err);
    if (status == CSN_E_MEMORY) return status;
    return status < 0 ? keep_error(out, status, &err, arena) : CSN_OK;
}

/* ---- functions folded away ---- */

const struct csni_sibling *csni_place_sibling(struct csni_place *place, uint32_t k, struct csni_arena *arena,
                                              uint64_t *work) {
    size_t size = place->record_count * sizeof(*place->siblings);
    if (!place->siblings) {
        place->siblings = csni_arena_alloc(arena, size);
        if (!place->siblings) return NULL;
        memset(place->siblings, 0, size);
    }
    struct csni_sibling *sibling = &place->siblings[k];
    if (sibling->frames || sibling->error) return sibling;
    struct csn_error err = CSN_ERROR_INIT;
    csni_spend(work, place->records[k].size / WORK_PER_BYTES);
    sibling->status = csni_record_frames(place->index, &place->records[k], place->addr, arena, &sibling->frames,
                                         &sibling->count, &err);
    if (sibling->status == CSN_E_MEMORY) return NULL;
    for (uint32_t i = 0; i < sibling->count; i++) sibling->frames[i].offset += place->shift;
    if (sibling->status >= 0) return sibling;
    const char *text = err.text[0] ? csn_error_text(&err) : csn_status_name(sibling->status);
    sibling->error = csni_arena_copy(arena, text, strlen(text));
    return sibling->error ? sibling : NULL;
}

/* ---- call sites ---- */

/* The call sites of one record that return to one address. */
struct site_walk {
    const struct csni_place *place;
    struct csn_call_site_iter iter;
    uint64_t offset;
    bool either;
};

/* CSN_OK, CSN_NONE at the end, CSN_E_LIMIT when the work is used up, or damage. */
static csn_status next_site(struct site_walk *walk, uint64_t *work, struct csn_call_site *out) {
    for (;;) {
        csn_status status = csn_call_site_iter_next(&walk->iter, out, NULL);
        if (status != CSN_OK) return status;
        if (!csni_spend(work, 1)) return CSN_E_LIMIT;
        if (out->flags & CSN_CALL_SITE_TAIL) continue;
        if (out->return_offset == walk->offset || (walk->either && out->return_offset == walk->offset + 1)) return CSN_OK;
    }
}

static csn_status begin_walk(const struct csni_place *place, uint32_t k, uint64_t ret, bool either,
                             struct site_walk *out) {
    const struct csn_record *record = &place->records[k];
    *out = (struct site_walk){ .place = place, .offset = ret - record->start, .either = either };
    return csn_call_site_iter_init(&out->iter, place->index, record, NULL);
}

static void keep_patterns(const struct csni_place *place, const struct csn_call_site *site, struct csn_str *patterns,
                          uint64_t *work, struct csni_say *out) {
    for (uint32_t k = 0; k < site->pattern_count; k++) {
        struct csn_str *pattern = &patterns[out->pattern_count];
        if (csn_call_site_pattern(place->index, site, k, pattern, NULL) != CSN_OK) {
            out->notes |= CSN_STACK_NOTE_BAD_PATTERN;
        } else if (csni_spend(work, pattern->len / WORK_PER_BYTES)) {
            out->pattern_count++;
        } else {
            out->notes |= CSN_STACK_NOTE_LIMIT;
            return;
        }
    }
}

/* Sites of one return address add up. Damage ends the list, and what stands behind it cannot be known. */
bool csni_place_say(const struct csni_place *place, uint32_t k, uint64_t ret, bool either, struct csni_arena *arena,
                    uint64_t *work, struct csni_say *out) {
    struct site_walk walk;
    struct csn_call_site site;
    uint64_t site_count = 0, pattern_count = 0;
    csn_status status = begin_walk(place, k, ret, either, &walk);
    while (status == CSN_OK && (status = next_site(&walk, work, &site)) == CSN_OK) {
        site_count++;
        pattern_count += site.pattern_count;
        out->flags |= site.flags;
    }
    if (status < 0 || !csni_spend(work, pattern_count)) {
        out->notes |= CSN_STACK_NOTE_LIMIT;
        return true;
    }
    if (!site_count) out->notes |= CSN_STACK_NOTE_NO_CALL_SITE;
    else if (!pattern_count) out->notes |= CSN_STACK_NOTE_INDIRECT;
    if (site_count) out->known = true;
    if (!pattern_count) return true;

    struct csn_str *patterns = csni_arena_alloc(arena, (out->pattern_count + pattern_count) * sizeof(*patterns));
    if (!patterns) return false;
    if (out->pattern_count) memcpy(patterns, out->patterns, out->pattern_count * sizeof(*patterns));
    out->patterns = patterns;
    status = begin_walk(place, k, ret, either, &walk);
    for (; site_count && status == CSN_OK && next_site(&walk, work, &site) == CSN_OK; site_count--)
        keep_patterns(place, &site, patterns, work, out);
    if (site_count) out->notes |= CSN_STACK_NOTE_LIMIT;
    return true;
}

static struct csni_say *say_of(struct csni_place *place, uint32_t k, struct csni_arena *kept) {
    if (k == 0) return &place->say;
    if (!place->says) {
        size_t size = place->record_count * sizeof(*place->says);
        place->says = csni_arena_alloc(kept, size);
        if (!place->says) return NULL;
        memset(place->says, 0, size);
    }
    return &place->says[k];
}

static bool keep_say(struct csni_place *place, const struct csni_say *found, struct csni_arena *kept,
                     struct csni_say *out) {
    bool one = out == &place->say && found->pattern_count == 1;
    size_t size = found->pattern_count * sizeof(*found->patterns);
    struct csn_str *patterns = one ? &place->own_pattern : csni_arena_alloc(kept, size);
    if (!patterns) return false;
    if (size) memcpy(patterns, found->patterns, size);
    *out = *found;
    out->patterns = patterns;
    out->kept = !(found->notes & CSN_STACK_NOTE_LIMIT);
    return true;
}

bool csni_place_ask(struct csni_place *place, uint32_t k, bool either, struct csni_arena *kept, struct csni_arena *arena,
                    uint64_t *work, struct csni_say *out) {
    uint64_t ret = place->addr + place->shift;
    *out = (struct csni_say){ 0 };
    /* Frames whose address was looked up as it came are asked for both addresses always, others only with `either`. */
    if (either && place->shift) return csni_place_say(place, k, ret, true, arena, work, out);
    struct csni_say *say = say_of(place, k, kept);
    if (!say) return false;
    if (!say->kept) {
        struct csni_say found = { 0 };
        if (!csni_place_say(place, k, ret, either, arena, work, &found)) return false;
        if (!keep_say(place, &found, kept, say)) return false;
    }
    *out = *say;
    return true;
}
