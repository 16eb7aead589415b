/* Two file tables as sets of paths. */
#include <stdlib.h>

#include "diff/diff_out.h"
#include "input/read_budget.h"

struct path_list {
    struct diff_path *items;
    size_t count;
};

static int by_path(const void *a, const void *b) {
    return diff_paths_compare(*(const struct diff_path *)a, *(const struct diff_path *)b);
}

/* Sorted, each once. */
static bool gather(const struct diff_input *input, struct path_list *list, bool *shares_too_much) {
    uint64_t left = read_budget_of(input->index);
    list->items = calloc((size_t)input->info.file_count + 1, sizeof(*list->items));
    if (!list->items) return false;
    size_t count = 0, kept = 0;
    for (uint32_t idx = 1; idx < input->info.file_count; idx++) {
        struct diff_path path = diff_path_of(input->index, idx);
        *shares_too_much = !read_budget_spend(&left, 1 + path.directory.len + path.base.len);
        if (*shares_too_much) return false;
        if (path.directory.len || path.base.len) list->items[count++] = path;
    }
    qsort(list->items, count, sizeof(*list->items), by_path);
    for (size_t i = 0; i < count; i++)
        if (!kept || by_path(&list->items[i], &list->items[kept - 1]) != 0) list->items[kept++] = list->items[i];
    list->count = kept;
    return true;
}

static void report_missing(struct diff_out *diff, int side, const struct path_list lists[2], diff_file_callback *callback) {
    const struct path_list *own = &lists[side], *other = &lists[1 - side];
    for (size_t i = 0, j = 0; i < own->count; i++) {
        int order = 1;
        while (j < other->count && (order = by_path(&own->items[i], &other->items[j])) > 0) j++;
        if (order != 0) callback(diff, side, own->items[i]);
    }
}

bool diff_files(struct diff_out *diff, diff_file_callback *callback, bool shares_too_much[2]) {
    struct path_list lists[2] = { { NULL, 0 }, { NULL, 0 } };
    bool good =
        gather(&diff->inputs[0], &lists[0], &shares_too_much[0]) && gather(&diff->inputs[1], &lists[1], &shares_too_much[1]);
    for (int side = 0; good && side < 2; side++) report_missing(diff, side, lists, callback);
    free(lists[0].items);
    free(lists[1].items);
    return good;
}
