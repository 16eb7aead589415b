/* Strings, files, functions and ranges of a GSYM file that is being made. */
#include "stand_ins/gsymutil/gsym_build.h"

#include <stdlib.h>
#include <string.h>

#include "stand_ins/base/growth.h"
#include "ui/bounds.h"

/* ---- strings ---- */

static uint64_t hash_text(const char *text, size_t size) {
    uint64_t hash = UINT64_C(0xcbf29ce484222325); /* FNV-1a */
    for (size_t i = 0; i < size; i++) hash = (hash ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3);
    return hash ^ hash >> 32;
}

static void place_string(struct gsym_strings *s, uint32_t offset) {
    const char *text = s->items + offset;
    size_t at = (size_t)hash_text(text, strlen(text)) & (s->slot_count - 1);
    while (s->slots[at]) at = (at + 1) & (s->slot_count - 1);
    s->slots[at] = offset + 1;
}

static void grow_slots(struct gsym_strings *s) {
    uint32_t *old = s->slots;
    size_t count = s->slot_count;
    s->slot_count = count ? 2 * count : 1024;
    s->slots = zeroed_memory(s->slot_count, sizeof *s->slots);
    for (size_t i = 0; i < count; i++)
        if (old[i]) place_string(s, old[i] - 1);
    free(old);
}

uint32_t gsym_build_string(struct gsym_build *build, struct csn_str text) {
    struct gsym_strings *s = &build->strings;
    const char *nul = text.len ? memchr(text.ptr, 0, text.len) : NULL;
    if (nul) text.len = (size_t)(nul - text.ptr);
    if (!text.len) return 0;
    if (2 * s->used >= s->slot_count) grow_slots(s);
    size_t at = (size_t)hash_text(text.ptr, text.len) & (s->slot_count - 1);
    for (; s->slots[at]; at = (at + 1) & (s->slot_count - 1)) {
        const char *there = s->items + s->slots[at] - 1;
        if (strncmp(there, text.ptr, text.len) == 0 && !there[text.len]) return s->slots[at] - 1;
    }
    const size_t offset = s->count;
    s->items = grow_items(s->items, offset + text.len + 1, &s->capacity, 1);
    memcpy(s->items + offset, text.ptr, text.len);
    s->items[offset + text.len] = 0;
    s->count = offset + text.len + 1;
    s->slots[at] = (uint32_t)offset + 1;
    s->used++;
    return (uint32_t)offset;
}

const char *gsym_build_text(const struct gsym_build *build, uint32_t string) { return build->strings.items + string; }

/* ---- files ---- */

static size_t file_slot(const struct gsym_build *build, uint32_t directory, uint32_t base) {
    const uint64_t key = ((uint64_t)directory << 32 | base) * UINT64_C(0x9e3779b97f4a7c15);
    size_t at = (size_t)(key >> 20) & (build->file_slot_count - 1);
    for (; build->file_slots[at]; at = (at + 1) & (build->file_slot_count - 1)) {
        const struct gsym_file *there = &build->files.items[build->file_slots[at]];
        if (there->directory == directory && there->base == base) break;
    }
    return at;
}

static void grow_file_slots(struct gsym_build *build) {
    free(build->file_slots);
    build->file_slot_count = build->file_slot_count ? 2 * build->file_slot_count : 256;
    build->file_slots = zeroed_memory(build->file_slot_count, sizeof *build->file_slots);
    for (size_t i = 1; i < build->files.count; i++)
        build->file_slots[file_slot(build, build->files.items[i].directory, build->files.items[i].base)] = (uint32_t)i;
}

uint32_t gsym_build_file_parts(struct gsym_build *build, uint32_t directory, uint32_t base) {
    if (!directory && !base) return 0;
    if (2 * build->files.count >= build->file_slot_count) grow_file_slots(build);
    const size_t at = file_slot(build, directory, base);
    if (build->file_slots[at]) return build->file_slots[at];
    const struct gsym_file made = { directory, base };
    GROW_PUSH(&build->files, made);
    build->file_slots[at] = (uint32_t)build->files.count - 1;
    return build->file_slots[at];
}

static bool is_separator(char c, bool is_windows) { return c == '/' || (is_windows && c == '\\'); }

uint32_t gsym_build_file(struct gsym_build *build, const char *path, bool is_windows) {
    size_t size = strlen(path), base = size;
    while (base && !is_separator(path[base - 1], is_windows)) base--;
    size_t end = base;
    while (end > 1 && is_separator(path[end - 1], is_windows)) end--;
    const struct csn_str directory = { path, end }, name = { path + base, size - base };
    const uint32_t first = gsym_build_string(build, directory);
    return gsym_build_file_parts(build, first, gsym_build_string(build, name));
}

/* ---- ranges ---- */

void gsym_ranges_insert(struct gsym_ranges *set, size_t first, struct csn_range range) {
    size_t at = first;
    if (range.start >= range.end) return;
    if (set->count > first) at += LOWER_BOUND(set->items + first, set->count - first, end, range.start);
    size_t last = at;
    for (; last < set->count && set->items[last].start <= range.end; last++) {
        if (set->items[last].start < range.start) range.start = set->items[last].start;
        if (set->items[last].end > range.end) range.end = set->items[last].end;
    }
    if (last == at) {
        GROW_PUSH(set, range);
        memmove(set->items + at + 1, set->items + at, (set->count - 1 - at) * sizeof range);
    } else {
        memmove(set->items + at + 1, set->items + last, (set->count - last) * sizeof range);
        set->count -= last - at - 1;
    }
    set->items[at] = range;
}

void gsym_build_add_text(struct gsym_build *build, uint64_t start, uint64_t end) {
    struct gsym_ranges set = { build->text.items, build->text.count, build->text.capacity };
    gsym_ranges_insert(&set, 0, (struct csn_range){ start, end });
    build->text.items = set.items;
    build->text.count = set.count;
    build->text.capacity = set.capacity;
}

bool gsym_build_is_text(const struct gsym_build *build, uint64_t addr) {
    const size_t at = UPPER_BOUND(build->text.items, build->text.count, end, addr);
    return !build->text.count || (at < build->text.count && addr >= build->text.items[at].start);
}

/* ---- functions ---- */

void gsym_build_add(struct gsym_build *build, struct gsym_function *function) {
    function->order = build->functions.count;
    GROW_PUSH(&build->functions, *function);
}

void gsym_function_free(struct gsym_function *f) {
    for (size_t i = 0; i < f->merged_count; i++) gsym_function_free(&f->merged[i]);
    free(f->merged);
    free(f->rows.items);
    free(f->nodes.items);
    free(f->ranges.items);
    free(f->calls.items);
    free(f->patterns.items);
}

void gsym_build_init(struct gsym_build *build, struct gsym_report *report, bool is_quiet) {
    *build = (struct gsym_build){ .report = report, .is_quiet = is_quiet };
    const struct gsym_file none = { 0, 0 };
    GROW_PUSH(&build->strings, '\0');
    GROW_PUSH(&build->files, none);
}

void gsym_build_deinit(struct gsym_build *build) {
    for (size_t i = 0; i < build->functions.count; i++) gsym_function_free(&build->functions.items[i]);
    free(build->functions.items);
    free(build->files.items);
    free(build->file_slots);
    free(build->text.items);
    free(build->strings.items);
    free(build->strings.slots);
}
