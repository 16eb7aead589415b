/* The walk: groups of functions at one address, matched by name. */
#include "diff/diff_walk.h"

#include <stdio.h>
#include <stdlib.h>

#include "input/read_budget.h"
#include "ui/growing.h"
#include "ui/sorting.h"
#include "ui/whole_names.h"

/* The functions of one index by ascending address. */
struct function_list {
    const struct csn_index *index;
    uint32_t count, next;
    uint32_t *order; /* NULL: the index has them in order, as every format but BSYM does */
    struct whole_names names;
};

/* The functions of one index at one address. */
struct group {
    struct diff_function *items;
    size_t count, capacity;
};

struct loose_list {
    struct diff_loose *items;
    size_t count, capacity;
};

struct walk {
    struct function_list lists[2];
    struct group groups[2];
    struct loose_list loose[2];
    struct diff_scratch capacity;
    const struct diff_listener *listener;
    struct diff_counts *counts;
};

/* ---- lists ---- */

struct place {
    uint64_t start;
    uint32_t idx;
};

static int by_place(const void *a, const void *b) {
    const struct place *left = a, *right = b;
    if (left->start != right->start) return left->start < right->start ? -1 : 1;
    return (left->idx > right->idx) - (left->idx < right->idx);
}

static bool is_in_order(const struct function_list *list) {
    uint64_t before = 0;
    for (uint32_t idx = 0; idx < list->count; idx++) {
        uint64_t start = before;
        (void)csn_index_function_start(list->index, idx, &start, NULL);
        if (start < before) return false;
        before = start;
    }
    return true;
}

static bool put_in_order(struct function_list *list) {
    struct place *places = calloc(list->count, sizeof(*places));
    list->order = calloc(list->count, sizeof(*list->order));
    for (uint32_t idx = 0; places && list->order && idx < list->count; idx++) {
        places[idx] = (struct place){ 0, idx };
        (void)csn_index_function_start(list->index, idx, &places[idx].start, NULL);
    }
    bool good = places && list->order;
    if (good) qsort(places, list->count, sizeof(*places), by_place);
    for (uint32_t i = 0; good && i < list->count; i++) list->order[i] = places[i].idx;
    free(places);
    return good;
}

static bool list_init(struct function_list *list, const struct csn_index *index) {
    struct csn_index_info info;
    csn_index_get_info(index, &info, sizeof(info));
    *list = (struct function_list){ .index = index, .count = info.function_count };
    whole_names_init(&list->names, index);
    return is_in_order(list) || put_in_order(list);
}

/* The next function; false at the end. */
static bool list_peek(const struct function_list *list, uint64_t *out_start, uint32_t *out_idx) {
    if (list->next >= list->count) return false;
    *out_idx = list->order ? list->order[list->next] : list->next;
    *out_start = 0;
    (void)csn_index_function_start(list->index, *out_idx, out_start, NULL);
    return true;
}

/* An empty name may be one that cannot be read; so may a part of one that is in pieces. */
static struct diff_function read_at(const struct function_list *list, uint32_t idx, uint64_t start) {
    struct csn_record record;
    struct diff_function function = { .record.start = start };
    function.status = csn_index_record(list->index, idx, &record, NULL);
    if (function.status >= 0) function = diff_function_read(list->index, &record);
    function.idx = idx;
    if (function.status >= 0 && (!function.function.name.len || list->names.in_pieces))
        function.status = csn_record_check(list->index, &record, NULL);
    return function;
}

/* ---- groups ---- */

/* Replaces the group by the functions at `start`, sorted by name. */
static bool gather(struct walk *walk, int side, uint64_t start) {
    struct function_list *list = &walk->lists[side];
    struct group *group = &walk->groups[side];
    uint64_t next = 0;
    uint32_t idx;
    group->count = 0;
    while (list_peek(list, &next, &idx) && next == start) {
        if (!reserve_items(&group->items, &group->capacity, group->count + 1, sizeof(*group->items))) return false;
        struct diff_function *function = &group->items[group->count++];
        *function = read_at(list, idx, start);
        if (function->status >= 0 && !whole_names_read(&list->names, idx, &function->function.name)) return false;
        if (!read_budget_spend(&walk->capacity.left[side], 1 + function->function.name.len + function->function.record_size))
            return false;
        list->next++;
    }
    /* A lookup takes size 0 for "up to the next function", which is how some formats write it. */
    for (size_t i = 0; list->next < list->count && i < group->count; i++)
        if (group->items[i].status >= 0 && !group->items[i].function.size)
            group->items[i].function.size = next - start;
    if (group->count > 1) qsort(group->items, group->count, sizeof(*group->items), diff_by_name);
    return true;
}

static void report_damaged(struct walk *walk, int side, const struct diff_function *function, struct csn_str name,
                           const struct csn_error *err) {
    walk->counts->damaged[side]++;
    struct diff_damaged damaged = { side, function->record.start, name, *err };
    if (!err->text[0]) snprintf(damaged.err.text, sizeof(damaged.err.text), "the record cannot be read");
    walk->listener->damaged(walk->listener->context, &damaged);
}

/* Whether a function cannot be read to its end, which is then reported. */
static bool is_damaged(struct walk *walk, int side, const struct diff_function *function, struct csn_str name) {
    const struct csn_index *index = walk->lists[side].index;
    struct csn_error err = CSN_ERROR_INIT;
    struct csn_record record;
    csn_status status = csn_index_record(index, function->idx, &record, &err);
    if (status >= 0) status = csn_record_check(index, &record, &err);
    if (status < 0) report_damaged(walk, side, function, name, &err);
    return status < 0;
}

static void report_pair(struct walk *walk, const struct diff_function *a, const struct diff_function *b,
                        const struct function_diff *diff) {
    struct csn_str name = a->status < 0 || !a->function.name.len ? b->function.name : a->function.name;
    bool first = is_damaged(walk, 0, a, name), second = is_damaged(walk, 1, b, name);
    if (!first && !second) report_damaged(walk, 0, a, name, &diff->err);
}

static bool compare(struct walk *walk, const struct diff_function *a, const struct diff_function *b) {
    struct function_diff diff;
    if (!diff_functions(&walk->capacity, a, b, &diff)) return false;
    if (diff.what & DIFF_DAMAGED) {
        report_pair(walk, a, b, &diff);
        return true;
    }
    if (diff.what & DIFF_ADDRESS) walk->counts->moved++;
    else if (diff.what) walk->counts->changed++;
    else walk->counts->same++;
    if (diff.what) walk->listener->changed(walk->listener->context, a, b, &diff);
    return true;
}

/* Compares the functions of equal names; the others go to the front of their groups. */
static bool match_names(struct walk *walk) {
    struct group *a = &walk->groups[0], *b = &walk->groups[1];
    size_t i = 0, j = 0, kept_a = 0, kept_b = 0;
    while (i < a->count || j < b->count) {
        int order = i == a->count ? 1 : j == b->count ? -1
                  : compare_strings(a->items[i].function.name, b->items[j].function.name);
        if (order < 0) {
            a->items[kept_a++] = a->items[i++];
        } else if (order > 0) {
            b->items[kept_b++] = b->items[j++];
        } else if (!compare(walk, &a->items[i++], &b->items[j++])) {
            return false;
        }
    }
    a->count = kept_a;
    b->count = kept_b;
    return true;
}

static bool add_loose(struct walk *walk, int side, const struct diff_function *function) {
    struct loose_list *list = &walk->loose[side];
    if (function->status < 0) return is_damaged(walk, side, function, function->function.name), true;
    if (!reserve_items(&list->items, &list->capacity, list->count + 1, sizeof(*list->items))) return false;
    list->items[list->count++] = (struct diff_loose){ function->idx, function->record.start, function->function.size,
                                                      function->function.name };
    return true;
}

/* The functions of the next address. One that cannot be read has no name, stands first, and is taken for what the other
 * index has in its place. */
static bool compare_groups(struct walk *walk) {
    struct group *groups = walk->groups;
    if (!match_names(walk)) return false;
    size_t i = 0;
    for (; i < groups[0].count && i < groups[1].count; i++) {
        if (groups[0].items[i].status >= 0 && groups[1].items[i].status >= 0) break;
        if (!compare(walk, &groups[0].items[i], &groups[1].items[i])) return false;
    }
    for (int side = 0; side < 2; side++)
        for (size_t k = i; k < groups[side].count; k++)
            if (!add_loose(walk, side, &groups[side].items[k])) return false;
    return true;
}

static bool compare_all(struct walk *walk) {
    for (;;) {
        uint64_t next[2];
        bool left[2];
        uint32_t idx;
        for (int side = 0; side < 2; side++) left[side] = list_peek(&walk->lists[side], &next[side], &idx);
        if (!left[0] && !left[1]) return true;
        uint64_t start = left[0] && (!left[1] || next[0] <= next[1]) ? next[0] : next[1];
        if (!gather(walk, 0, start) || !gather(walk, 1, start) || !compare_groups(walk)) return false;
    }
}

/* ---- what is left over ---- */

static int loose_by_name(const void *a, const void *b) {
    const struct diff_loose *left = a, *right = b;
    int order = compare_strings(left->name, right->name);
    if (order) return order;
    if (left->start != right->start) return left->start < right->start ? -1 : 1;
    return (left->idx > right->idx) - (left->idx < right->idx);
}

static int loose_by_place(const void *a, const void *b) {
    const struct diff_loose *left = a, *right = b;
    if (left->start != right->start) return left->start < right->start ? -1 : 1;
    return (left->idx > right->idx) - (left->idx < right->idx);
}

static bool compare_moved(struct walk *walk, const struct diff_loose *a, const struct diff_loose *b) {
    const struct diff_loose *loose[2] = { a, b };
    struct diff_function pair[2];
    for (int side = 0; side < 2; side++) {
        pair[side] = read_at(&walk->lists[side], loose[side]->idx, loose[side]->start);
        pair[side].function.size = loose[side]->size;
        pair[side].function.name = loose[side]->name;
    }
    return compare(walk, &pair[0], &pair[1]);
}

static void sort_loose(struct loose_list *list, int (*order)(const void *, const void *)) {
    if (list->count) qsort(list->items, list->count, sizeof(*list->items), order);
}

/* Functions of one name are taken for each other in the order of their addresses. */
static bool match_moved(struct walk *walk) {
    struct loose_list *a = &walk->loose[0], *b = &walk->loose[1];
    size_t i = 0, j = 0, kept_a = 0, kept_b = 0;
    sort_loose(a, loose_by_name);
    sort_loose(b, loose_by_name);
    while (i < a->count || j < b->count) {
        int order = i == a->count ? 1 : j == b->count ? -1 : compare_strings(a->items[i].name, b->items[j].name);
        if (order < 0) {
            a->items[kept_a++] = a->items[i++];
        } else if (order > 0) {
            b->items[kept_b++] = b->items[j++];
        } else if (!compare_moved(walk, &a->items[i++], &b->items[j++])) {
            return false;
        }
    }
    a->count = kept_a;
    b->count = kept_b;
    return true;
}

/* What cannot be read to its end is neither removed nor added. */
static bool drop_damaged(struct walk *walk, int side) {
    struct loose_list *list = &walk->loose[side];
    size_t kept = 0;
    for (size_t i = 0; i < list->count; i++) {
        const struct diff_loose loose = list->items[i];
        const struct diff_function function = read_at(&walk->lists[side], loose.idx, loose.start);
        if (!read_budget_spend(&walk->capacity.left[side], 1 + function.function.record_size)) return false;
        if (!is_damaged(walk, side, &function, loose.name)) list->items[kept++] = loose;
    }
    list->count = kept;
    return true;
}

static void report_unmatched(struct walk *walk, int side) {
    struct loose_list *list = &walk->loose[side];
    sort_loose(list, loose_by_place);
    walk->listener->between(walk->listener->context, side);
    for (size_t i = 0; i < list->count; i++) walk->listener->loose(walk->listener->context, side, &list->items[i]);
}

bool diff_walk(const struct csn_index *a, const struct csn_index *b, const struct diff_listener *listener,
               struct diff_counts *counts) {
    *counts = (struct diff_counts){ 0 };
    struct walk walk = { .listener = listener, .counts = counts };
    bool good = diff_scratch_init(&walk.capacity, a, b) && list_init(&walk.lists[0], a) && list_init(&walk.lists[1], b) &&
                compare_all(&walk) && match_moved(&walk) && drop_damaged(&walk, 0) && drop_damaged(&walk, 1);
    if (good) {
        counts->removed = walk.loose[0].count;
        counts->added = walk.loose[1].count;
        report_unmatched(&walk, 0);
        report_unmatched(&walk, 1);
    }
    for (int side = 0; side < 2; side++) {
        counts->shares_too_much[side] = !good && walk.capacity.equal_file && !walk.capacity.left[side];
        free(walk.lists[side].order);
        whole_names_deinit(&walk.lists[side].names);
        free(walk.groups[side].items);
        free(walk.loose[side].items);
    }
    diff_scratch_deinit(&walk.capacity);
    return good;
}
