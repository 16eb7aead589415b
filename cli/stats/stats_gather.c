/* Gathering. The largest functions are kept in a heap whose root is the smallest of them. */
#include "stats/stats_gather.h"

#include <stdlib.h>
#include <string.h>

#include "ui/sorting.h"

/* Whether `a` is the smaller one; of equal ones, the later one is. */
static bool is_smaller(const struct csn_function_stats *a, const struct csn_function_stats *b) {
    return a->record_bytes != b->record_bytes ? a->record_bytes < b->record_bytes : a->idx > b->idx;
}

static void swap(struct csn_function_stats *a, struct csn_function_stats *b) {
    struct csn_function_stats held = *a;
    *a = *b;
    *b = held;
}

static void sift_up(struct csn_function_stats *heap, size_t at) {
    for (size_t parent; at && is_smaller(&heap[at], &heap[parent = (at - 1) / 2]); at = parent)
        swap(&heap[at], &heap[parent]);
}

static void sift_down(struct csn_function_stats *heap, size_t count) {
    size_t at = 0;
    for (size_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && is_smaller(&heap[child + 1], &heap[child])) child++;
        if (!is_smaller(&heap[child], &heap[at])) return;
        swap(&heap[at], &heap[child]);
    }
}

static void keep(struct stats *stats, const struct csn_function_stats *function) {
    if (stats->largest_count < stats->largest_max) {
        stats->largest[stats->largest_count] = *function;
        sift_up(stats->largest, stats->largest_count++);
    } else if (stats->largest_count && is_smaller(&stats->largest[0], function)) {
        stats->largest[0] = *function;
        sift_down(stats->largest, stats->largest_count);
    }
}

static void add(struct stats_sum *sum, const struct stats_sum *other) {
    sum->functions += other->functions;
    sum->bytes += other->bytes;
    sum->code_bytes += other->code_bytes;
}

static bool count(void *context, const struct csn_function_stats *function) {
    struct stats *stats = context;
    const struct stats_sum one = { 1, function->record_bytes, function->code_bytes };
    add(&stats->by_file[function->file < stats->info.file_count ? function->file : 0], &one);
    keep(stats, function);
    return true;
}

static int largest_first(const void *a, const void *b) {
    return is_smaller(a, b) ? 1 : is_smaller(b, a) ? -1 : 0;
}

static bool read_names(struct stats *stats) {
    for (size_t i = 0; i < stats->largest_count; i++)
        if (!whole_names_read(&stats->names, stats->largest[i].idx, &stats->largest[i].function.name)) return false;
    return true;
}

csn_status stats_init(struct stats *stats, const struct csn_index *index, size_t largest_max, struct csn_error *err) {
    *stats = (struct stats){ .index = index };
    csn_index_get_info(index, &stats->info, sizeof(stats->info));
    whole_names_init(&stats->names, index);
    stats->largest_max = largest_max < stats->info.function_count ? largest_max : stats->info.function_count;
    stats->by_file = calloc((size_t)stats->info.file_count + 1, sizeof(*stats->by_file));
    stats->largest = calloc(stats->largest_max + 1, sizeof(*stats->largest));
    csn_status status = CSN_E_MEMORY;
    if (stats->by_file && stats->largest) status = csn_index_stats(index, count, stats, &stats->sums, err);
    if (status >= 0 && !read_names(stats)) status = CSN_E_MEMORY;
    if (status < 0) stats_deinit(stats);
    else qsort(stats->largest, stats->largest_count, sizeof(*stats->largest), largest_first);
    return status;
}

void stats_deinit(struct stats *stats) {
    free(stats->by_file);
    free(stats->largest);
    whole_names_deinit(&stats->names);
    *stats = (struct stats){ 0 };
}

/* ---- places ---- */

struct stats_place stats_place_of(const struct stats *stats, uint32_t file) {
    struct stats_place place = { .directory = { "", 0 }, .base = { "", 0 } };
    if (file) csn_index_file(stats->index, file, &place.directory, &place.base, NULL);
    return place;
}

/* Orders by path alone: 0 for files that stand as one. */
static int compare_places(const struct stats_place *a, const struct stats_place *b) {
    int order = compare_strings(a->directory, b->directory);
    return order ? order : compare_strings(a->base, b->base);
}

static int by_path(const void *a, const void *b) { return compare_places(a, b); }

static int by_size(const void *a, const void *b) {
    const struct stats_place *left = a, *right = b;
    if (left->sum.bytes != right->sum.bytes) return left->sum.bytes > right->sum.bytes ? -1 : 1;
    return by_path(a, b);
}

static bool gather(const struct stats *stats, bool whole_paths, struct stats_places *out) {
    struct stats_place *items = calloc((size_t)stats->info.file_count + 1, sizeof(*items));
    if (!items) return false;
    size_t found = 0, kept = 0;
    for (uint32_t file = 0; file == 0 || file < stats->info.file_count; file++) {
        if (!stats->by_file[file].functions) continue;
        items[found] = stats_place_of(stats, file);
        if (!whole_paths) items[found].base = (struct csn_str){ "", 0 };
        items[found++].sum = stats->by_file[file];
    }
    qsort(items, found, sizeof(*items), by_path);
    for (size_t i = 0; i < found; i++) {
        if (kept && by_path(&items[i], &items[kept - 1]) == 0) add(&items[kept - 1].sum, &items[i].sum);
        else items[kept++] = items[i];
    }
    qsort(items, kept, sizeof(*items), by_size);
    *out = (struct stats_places){ items, kept };
    return true;
}

bool stats_by_file(const struct stats *stats, struct stats_places *out) { return gather(stats, true, out); }
bool stats_by_directory(const struct stats *stats, struct stats_places *out) { return gather(stats, false, out); }
