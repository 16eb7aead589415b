/* Sorting functions, and choosing among those of one range. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stand_ins/base/growth.h"
#include "stand_ins/gsymutil/gsym_build.h"

/* ---- comparing ---- */

static bool same_nodes(const struct gsym_function *a, const struct gsym_function *b) {
    if (a->nodes.count != b->nodes.count || a->ranges.count != b->ranges.count) return false;
    return !a->nodes.count || (memcmp(a->nodes.items, b->nodes.items, a->nodes.count * sizeof *a->nodes.items) == 0 &&
                               memcmp(a->ranges.items, b->ranges.items, a->ranges.count * sizeof *a->ranges.items) == 0);
}

static bool same_rows(const struct gsym_rows *a, const struct gsym_rows *b) {
    return a->count == b->count && (!a->count || memcmp(a->items, b->items, a->count * sizeof *a->items) == 0);
}

static bool same_function(const struct gsym_function *a, const struct gsym_function *b) {
    return a->start == b->start && a->end == b->end && a->name == b->name && same_rows(&a->rows, &b->rows) && same_nodes(a, b);
}

static int compare_sizes(size_t a, size_t b) { return a < b ? -1 : a > b; }

static int compare_rows(const struct gsym_rows *a, const struct gsym_rows *b) {
    if (a->count != b->count) return compare_sizes(a->count, b->count);
    for (size_t i = 0; i < a->count; i++)
        if (a->items[i].addr != b->items[i].addr) return a->items[i].addr < b->items[i].addr ? -1 : 1;
    return 0;
}

/* The one with the least information first. Calls count only by their number, and rows only where these are equal. */
static int by_range_and_wealth(const void *pa, const void *pb) {
    const struct gsym_function *a = pa, *b = pb;
    if (a->start != b->start) return a->start < b->start ? -1 : 1;
    if (a->end != b->end) return a->end < b->end ? -1 : 1;
    int order = same_nodes(a, b) ? compare_rows(&a->rows, &b->rows) : compare_sizes(a->nodes.count, b->nodes.count);
    return order ? order : compare_sizes(a->order, b->order);
}

static void sort_functions(struct gsym_build *build) {
    if (build->functions.count)
        qsort(build->functions.items, build->functions.count, sizeof *build->functions.items, by_range_and_wealth);
    for (size_t i = 0; i < build->functions.count; i++) build->functions.items[i].order = i;
}

/* ---- texts ---- */

static void put_function(const struct gsym_function *f) {
    printf("[0x%016" PRIx64 " - 0x%016" PRIx64 "): Name=0x%08" PRIx32 "\n", f->start, f->end, f->name);
    for (size_t i = 0; i < f->rows.count; i++) {
        const struct gsym_row *row = &f->rows.items[i];
        printf("addr=0x%016" PRIx64 ", file=%3" PRIu32 ", line=%3" PRIu32 "\n", row->addr, row->file, row->line);
    }
    if (f->rows.count) putchar('\n');
    for (size_t i = 0; i < f->nodes.count; i++) {
        const struct gsym_node *node = &f->nodes.items[i];
        for (uint32_t k = 0; k < node->range_count; k++) {
            const struct csn_range *range = &f->ranges.items[node->first_range + k];
            printf("%s[0x%016" PRIx64 " - 0x%016" PRIx64 ")", k ? " " : "", range->start, range->end);
        }
        printf(" Name = 0x%08" PRIx32 ", CallFile = %" PRIu32 ", CallLine = %" PRIu32 "\n", node->name, node->call_file,
               node->call_file);
    }
    if (f->nodes.count) putchar('\n');
    for (size_t i = 0; i < f->calls.count; i++) {
        const struct gsym_call *call = &f->calls.items[i];
        printf("  Return=0x%016" PRIx64 "  Flags=0x%02" PRIx32 "  RegEx=", call->return_offset, call->flags);
        for (uint32_t k = 0; k < call->pattern_count; k++)
            printf("%s%" PRIu32, k ? "," : "", f->patterns.items[call->first_pattern + k]);
        putchar('\n');
    }
    if (f->has_calls) putchar('\n');
}

static void report_duplicate(struct gsym_build *build, const struct gsym_function *removed, const struct gsym_function *kept) {
    build->report->counts[GSYM_DUPLICATE_RANGES]++;
    puts("warning: same address range contains different debug info. Removing:");
    put_function(removed);
    puts("\nIn favor of this one:");
    put_function(kept);
    putchar('\n');
}

static void report_overlap(struct gsym_build *build, const struct gsym_function *a, const struct gsym_function *b) {
    build->report->counts[GSYM_OVERLAP]++;
    puts("warning: function ranges overlap:");
    put_function(a);
    putchar('\n');
    put_function(b);
    putchar('\n');
}

/* ---- choosing ---- */

static void push_merged(struct gsym_function *top, struct gsym_function *f) {
    top->merged = grow_items(top->merged, top->merged_count + 1, &top->merged_capacity, sizeof *top->merged);
    top->merged[top->merged_count++] = *f;
}

void gsym_build_merge(struct gsym_build *build) {
    struct gsym_function *items = build->functions.items;
    const size_t before = build->functions.count;
    size_t kept = 0;
    if (before < 2) return;
    sort_functions(build);
    for (size_t i = 0; i < before; i++) {
        struct gsym_function *top = kept ? &items[kept - 1] : NULL, *f = &items[i];
        if (!top || top->start != f->start || top->end != f->end) items[kept++] = *f;
        else if (top->merged_count && same_function(&top->merged[top->merged_count - 1], f)) gsym_function_free(f);
        else push_merged(top, f);
    }
    build->functions.count = kept;
    for (size_t i = 0; i < kept; i++) items[i].order = i;
    if (before != kept) printf("Have %zu merged functions as children of other functions\n", before - kept);
}

static bool is_rich(const struct gsym_function *f) { return f->rows.count || f->nodes.count || f->has_calls; }

static void replace_function(struct gsym_function *old, struct gsym_function *with) {
    gsym_function_free(old);
    *old = *with;
}

/* What becomes of `f` behind `last`. True: it was taken care of; false: it stays. */
static bool is_settled(struct gsym_build *build, struct gsym_function *last, struct gsym_function *f) {
    const bool intersect = last->start < f->end && f->start < last->end;
    if (last->start == f->start && last->end == f->end) {
        if (same_function(last, f)) {
            gsym_function_free(f);
            return true;
        }
        if (is_rich(last) && is_rich(f)) report_duplicate(build, last, f);
        replace_function(last, f);
        return true;
    }
    if (intersect) {
        report_overlap(build, last, f);
        return false;
    }
    if (last->start != last->end || last->start < f->start || last->start >= f->end) return false;
    replace_function(last, f);
    return true;
}

/* The last function would answer for every higher address, if it had no size. */
static void bound_last(struct gsym_build *build) {
    if (!build->functions.count) return;
    struct gsym_function *last = &build->functions.items[build->functions.count - 1];
    for (size_t i = 0; last->start == last->end && i < build->text.count; i++)
        if (last->start >= build->text.items[i].start && last->start < build->text.items[i].end)
            last->end = build->text.items[i].end;
}

void gsym_build_finish(struct gsym_build *build) {
    struct gsym_function *items = build->functions.items;
    const size_t before = build->functions.count;
    size_t kept = 0;
    sort_functions(build);
    for (size_t i = 0; i < before; i++)
        if (!kept || !is_settled(build, &items[kept - 1], &items[i])) items[kept++] = items[i];
    build->functions.count = kept;
    bound_last(build);
    printf("Pruned %zu functions, ended with %zu total\n", before - kept, kept);
}
