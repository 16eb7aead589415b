/* Two orders over slots that stay where they are. */
#include "process/mapping_set.h"

#include "base/core/search.h"
#include "base/core/sort.h"
#include "base/core/span.h"

void csni_mapping_set_init(struct csni_mapping_set *set, const struct csn_allocator *alloc, size_t max_count) {
    *set = (struct csni_mapping_set){ .alloc = alloc, .max_count = max_count };
    set->slots.alloc = set->free_slots.alloc = set->by_start.alloc = set->by_name.alloc = set->scratch.alloc = alloc;
}

static void free_mapping_path(const struct csni_mapping_set *set, const struct csni_mapping *mapping) {
    csni_free(set->alloc, mapping->path, mapping->path_len + 1);
}

void csni_mapping_set_deinit(struct csni_mapping_set *set) {
    for (size_t i = 0; i < set->by_start.count; i++) free_mapping_path(set, csni_mapping_set_at_start(set, i));
    csni_vec_deinit(&set->slots);
    csni_vec_deinit(&set->free_slots);
    csni_vec_deinit(&set->by_start);
    csni_vec_deinit(&set->by_name);
    csni_vec_deinit(&set->scratch);
}

/* ---- orders ---- */

struct start_key {
    uint64_t pid, pc;
};

static bool ends_up_to(const void *context, size_t index, const void *key) {
    const struct csni_mapping *mapping = csni_mapping_set_at_start(context, index);
    const struct start_key *k = key;
    return mapping->pid != k->pid ? mapping->pid < k->pid : mapping->end <= k->pc;
}

static bool starts_before(const void *context, size_t index, const void *key) {
    const struct csni_mapping *mapping = csni_mapping_set_at_start(context, index);
    const struct start_key *k = key;
    return mapping->pid != k->pid ? mapping->pid < k->pid : mapping->start < k->pc;
}

size_t csni_mapping_set_first_after(const struct csni_mapping_set *set, uint64_t pid, uint64_t pc) {
    const struct start_key key = { pid, pc };
    return csni_search_in(0, set->by_start.count, ends_up_to, set, &key);
}

struct csni_mapping *csni_mapping_set_find(const struct csni_mapping_set *set, uint64_t pid, uint64_t pc) {
    size_t place = csni_mapping_set_first_after(set, pid, pc);
    if (place == set->by_start.count) return NULL;
    struct csni_mapping *mapping = csni_mapping_set_at_start(set, place);
    return mapping->pid == pid && mapping->start <= pc ? mapping : NULL;
}

struct csn_str csni_path_base_name(struct csn_str path) {
    size_t at = path.len;
    while (at && path.ptr[at - 1] != '/') at--;
    return (struct csn_str){ path.ptr + at, path.len - at };
}

static size_t base_name_start(struct csn_str path) { return path.len - csni_path_base_name(path).len; }

static int compare_strings(struct csn_str a, struct csn_str b) {
    size_t common = a.len < b.len ? a.len : b.len;
    int order = common ? memcmp(a.ptr, b.ptr, common) : 0;
    return order ? order : (a.len > b.len) - (a.len < b.len);
}

static int compare_numbers(uint64_t a, uint64_t b) { return (a > b) - (a < b); }

struct name_key {
    struct csn_str path;
    size_t name_at;
    uint64_t pid, file_off, start;
};

static struct csn_str base_name(const struct csni_mapping *mapping) {
    return (struct csn_str){ mapping->path + mapping->name_at, mapping->path_len - mapping->name_at };
}

static bool is_name_before(const void *context, size_t index, const void *key) {
    const struct csni_mapping *mapping = csni_mapping_set_at_name(context, index);
    const struct name_key *k = key;
    int order = compare_strings(base_name(mapping), (struct csn_str){ k->path.ptr + k->name_at, k->path.len - k->name_at });
    if (!order) order = compare_strings(csni_mapping_path(mapping), k->path);
    if (!order) order = compare_numbers(mapping->pid, k->pid);
    if (!order) order = compare_numbers(mapping->file_off, k->file_off);
    if (!order) order = compare_numbers(mapping->start, k->start);
    return order < 0;
}

static size_t place_by_name(const struct csni_mapping_set *set, const struct csni_mapping *mapping) {
    const struct name_key key = { csni_mapping_path(mapping), mapping->name_at, mapping->pid, mapping->file_off, mapping->start };
    return csni_search_in(0, set->by_name.count, is_name_before, set, &key);
}

size_t csni_mapping_set_first_of(const struct csni_mapping_set *set, struct csn_str path, uint64_t pid) {
    const struct name_key key = { path, base_name_start(path), pid, 0, 0 };
    return csni_search_in(0, set->by_name.count, is_name_before, set, &key);
}

static bool is_base_name_before(const void *context, size_t index, const void *key) {
    return compare_strings(base_name(csni_mapping_set_at_name(context, index)), *(const struct csn_str *)key) < 0;
}

size_t csni_mapping_set_first_named(const struct csni_mapping_set *set, struct csn_str name) {
    return csni_search_in(0, set->by_name.count, is_base_name_before, set, &name);
}

/* ---- changes ---- */

static void insert_place(uint32_t *places, size_t *count, size_t at, uint32_t slot) {
    memmove(&places[at + 1], &places[at], (*count - at) * sizeof *places);
    places[at] = slot;
    ++*count;
}

static void remove_places(uint32_t *places, size_t *count, size_t from, size_t to) {
    memmove(&places[from], &places[to], (*count - to) * sizeof *places);
    *count -= to - from;
}

static void insert_name(struct csni_mapping_set *set, uint32_t slot) {
    insert_place(set->by_name.items, &set->by_name.count, place_by_name(set, &set->slots.items[slot]), slot);
}

/* No two mappings of a process begin at the same pc: the place is that of this one. */
static void remove_name(struct csni_mapping_set *set, uint32_t slot) {
    size_t at = place_by_name(set, &set->slots.items[slot]);
    remove_places(set->by_name.items, &set->by_name.count, at, at + 1);
}

/* The slots are there: see reserve_two(). */
static void insert_mapping(struct csni_mapping_set *set, const struct csni_mapping *mapping) {
    uint32_t slot = set->free_slots.count ? set->free_slots.items[--set->free_slots.count] : (uint32_t)set->slots.count++;
    const struct start_key key = { mapping->pid, mapping->start };
    set->slots.items[slot] = *mapping;
    insert_place(set->by_start.items, &set->by_start.count, csni_search_in(0, set->by_start.count, starts_before, set, &key), slot);
    insert_name(set, slot);
}

/* Releases the mappings at the places [from, to) of by_start. free_slots has the capacity of slots. */
static void remove_mappings(struct csni_mapping_set *set, size_t from, size_t to) {
    for (size_t i = from; i < to; i++) {
        uint32_t slot = set->by_start.items[i];
        remove_name(set, slot);
        free_mapping_path(set, &set->slots.items[slot]);
        set->slots.items[slot].path = NULL;
        set->free_slots.items[set->free_slots.count++] = slot;
    }
    remove_places(set->by_start.items, &set->by_start.count, from, to);
}

/* Its place in by_start stays: it moves into bytes that were its own. */
static void cut_mapping_front(struct csni_mapping_set *set, size_t place, uint64_t start) {
    uint32_t slot = set->by_start.items[place];
    struct csni_mapping *mapping = &set->slots.items[slot];
    remove_name(set, slot);
    mapping->file_off += mapping->is_image ? 0 : start - mapping->start;
    mapping->start = start;
    mapping->has_bias = mapping->has_bias && mapping->is_image;
    insert_name(set, slot);
}

static bool reserve_two(struct csni_mapping_set *set) {
    size_t need = set->slots.count + 2;
    return csni_vec_reserve(&set->slots, need) && csni_vec_reserve(&set->free_slots, need) && csni_vec_reserve(&set->by_start, need)
           && csni_vec_reserve(&set->by_name, need);
}

static bool copy_path(const struct csni_mapping_set *set, struct csn_str path, struct csni_mapping *out) {
    out->path = csni_alloc(set->alloc, path.len + 1);
    out->path_len = path.len;
    out->name_at = base_name_start(path);
    if (!out->path) return false;
    memcpy(out->path, path.ptr, path.len);
    out->path[path.len] = 0;
    return true;
}

/* The part after `end` of a mapping that loses bytes in its middle. */
static struct csni_mapping tail_of(const struct csni_mapping *mapping, uint64_t end) {
    struct csni_mapping tail = *mapping;
    tail.file_off += mapping->is_image ? 0 : end - mapping->start;
    tail.start = end;
    tail.has_bias = mapping->has_bias && mapping->is_image;
    return tail;
}

/* Takes [start, end) away from the process's mappings; one that is split keeps its first part. */
static void unmap_range(struct csni_mapping_set *set, uint64_t pid, uint64_t start, uint64_t end) {
    size_t first = csni_mapping_set_first_after(set, pid, start), last;
    if (first < set->by_start.count) {
        struct csni_mapping *mapping = csni_mapping_set_at_start(set, first);
        if (mapping->pid == pid && mapping->start < start) {
            mapping->end = start;
            mapping->has_bias = mapping->has_bias && mapping->is_image;
            first++;
        }
    }
    for (last = first; last < set->by_start.count; last++) {
        struct csni_mapping *mapping = csni_mapping_set_at_start(set, last);
        if (mapping->pid != pid || mapping->start >= end) break;
        if (mapping->end <= end) continue;
        cut_mapping_front(set, last, end);
        break;
    }
    remove_mappings(set, first, last);
}

static bool is_smaller(const void *context, const void *a, const void *b) {
    (void)context;
    return *(const uint64_t *)a < *(const uint64_t *)b;
}

/* An eighth at once, so that finding them costs little each time. */
static csn_status drop_oldest(struct csni_mapping_set *set) {
    size_t have = set->by_start.count, count = set->max_count / 8;
    if (have + 2 <= set->max_count || !count || count > have) return CSN_OK;
    if (!csni_vec_reserve(&set->scratch, have)) return CSN_E_MEMORY;
    for (size_t i = 0; i < have; i++) set->scratch.items[i] = csni_mapping_set_at_start(set, i)->sequence;
    csni_heap_sort(set->scratch.items, have, sizeof *set->scratch.items, is_smaller, NULL);
    const uint64_t newest = set->scratch.items[count - 1];
    for (size_t i = have; i; i--)
        if (csni_mapping_set_at_start(set, i - 1)->sequence <= newest) remove_mappings(set, i - 1, i);
    return CSN_OK;
}

csn_status csni_mapping_set_add(struct csni_mapping_set *set, const struct csni_mapping *given, struct csn_str path) {
    struct csni_mapping mapping = *given, tail = { .path = NULL };
    /* First of all: the path may be that of a mapping which goes. */
    if (!reserve_two(set) || !copy_path(set, path, &mapping)) return CSN_E_MEMORY;
    csn_status status = drop_oldest(set);
    const struct csni_mapping *split = csni_mapping_set_find(set, mapping.pid, mapping.start);
    if (status == CSN_OK && split && split->start < mapping.start && split->end > mapping.end) {
        tail = tail_of(split, mapping.end);
        if (!copy_path(set, csni_mapping_path(split), &tail)) status = CSN_E_MEMORY;
    }
    if (status < 0) {
        free_mapping_path(set, &mapping);
        return status;
    }
    unmap_range(set, mapping.pid, mapping.start, mapping.end);
    tail.sequence = set->next_sequence++;
    mapping.sequence = set->next_sequence++;
    if (tail.path) insert_mapping(set, &tail);
    insert_mapping(set, &mapping);
    return CSN_OK;
}
