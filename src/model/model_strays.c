/* Strays are few, and lie over each other only in damaged or hostile files. */
#include "model/model_strays.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/core/fail.h"
#include "base/core/search.h"
#include "base/core/sort.h"

struct csni_stray {
    uint64_t start, end;
    uint64_t reach;        /* the largest end up to here */
    uint32_t batch, index;
    uint32_t first_placed; /* in `placed` */
};

enum { STEPS_PER_NODE = 64 };

/* ---- gathering ---- */

static const struct csni_function *function_of(const struct csni_strays *s, const struct csni_stray *stray) {
    return &s->model->batches[stray->batch].strays[stray->index];
}

static const struct csni_inline_node *nodes_of(const struct csni_strays *s, const struct csni_stray *stray) {
    return s->model->batches[stray->batch].inlines + function_of(s, stray)->first_inline;
}

static bool gather(struct csni_strays *s) {
    const struct csni_model *m = s->model;
    for (uint32_t b = 0; b < m->batch_count; b++)
        for (uint32_t i = 0; i < m->batches[b].stray_count; i++) {
            const struct csni_function *f = &m->batches[b].strays[i];
            struct csni_stray stray = { .start = f->start, .end = f->start + f->size, .batch = b, .index = i };
            if (!csni_vec_push(&s->items, stray)) return false;
        }
    return true;
}

static bool comes_before(const void *context, const void *a, const void *b) {
    const struct csni_stray *x = a, *y = b;
    (void)context;
    if (x->start != y->start) return x->start < y->start;
    return x->batch != y->batch ? x->batch < y->batch : x->index < y->index;
}

/* Parts of the outermost calls of all strays; sets where each stray's begin. */
static size_t number_parts(struct csni_strays *s) {
    size_t count = 0;
    for (size_t i = 0; i < s->items.count; i++) {
        const struct csni_function *f = function_of(s, &s->items.items[i]);
        const struct csni_inline_node *nodes = nodes_of(s, &s->items.items[i]);
        s->items.items[i].first_placed = (uint32_t)count;
        for (uint32_t n = 0; n < f->inline_count; n += 1 + nodes[n].descendants) count += nodes[n].part_count;
        s->steps += (uint64_t)f->inline_count * STEPS_PER_NODE;
    }
    return count;
}

csn_status csni_strays_init(struct csni_strays *s, const struct csni_model *model, struct csni_arena *arena,
                            struct csn_error *err) {
    *s = (struct csni_strays){ .model = model, .items.alloc = model->alloc };
    if (!gather(s)) return csni_fail_memory(err, sizeof *s->items.items);
    csni_heap_sort(s->items.items, s->items.count, sizeof *s->items.items, comes_before, NULL);
    uint64_t reach = 0;
    for (size_t i = 0; i < s->items.count; i++) {
        if (s->items.items[i].end > reach) reach = s->items.items[i].end;
        s->items.items[i].reach = reach;
    }
    size_t parts = number_parts(s);
    s->placed = csni_arena_alloc(arena, parts);
    if (!s->placed) return csni_fail_memory(err, parts);
    memset(s->placed, 0, parts);
    return CSN_OK;
}

void csni_strays_deinit(struct csni_strays *s) { csni_vec_deinit(&s->items); }

/* ---- copying ---- */

/* A copied node that is open until node `end` of the stray. */
struct open_node {
    uint32_t number, end;
};

struct copying {
    struct csni_strays *strays;
    struct csni_model_copier *copier;
    const struct csni_stray *stray;
    uint64_t start, low, end;
    struct open_node open[CSN_INLINE_DEPTH_MAX];
    uint32_t depth;
};

static void close_nodes(struct copying *c, uint32_t node) {
    while (c->depth && c->open[c->depth - 1].end <= node) csni_batch_end_inline(c->copier->writer, c->open[--c->depth].number);
}

/* Copies a node with what its parts have in [low, end); false: nothing. `placed` NULL: not of an outermost call. */
static bool copy_node(struct copying *c, const struct csni_inline_node *node, uint32_t *number, bool *placed) {
    const struct csni_part *parts = c->strays->model->batches[c->stray->batch].parts + node->first_part;
    bool has_begun = false;
    for (uint32_t k = 0; k < node->part_count; k++) {
        uint64_t low = c->stray->start + parts[k].start, end = c->stray->start + parts[k].end;
        if (low < c->low) low = c->low;
        if (end > c->end) end = c->end;
        if (low >= end) continue;
        if (!has_begun) *number = csni_copy_node(c->copier, c->stray->batch, node);
        has_begun = true;
        csni_batch_add_part(c->copier->writer, (uint32_t)(low - c->start), (uint32_t)(end - c->start));
        if (placed) placed[k] = true;
    }
    return has_begun;
}

static void copy_stray(struct copying *c) {
    const struct csni_function *f = function_of(c->strays, c->stray);
    const struct csni_inline_node *nodes = nodes_of(c->strays, c->stray);
    bool *placed = c->strays->placed + c->stray->first_placed;
    for (uint32_t n = 0; n < f->inline_count && c->strays->steps;) {
        uint32_t number, next = n + 1 + nodes[n].descendants;
        c->strays->steps--;
        close_nodes(c, n);
        bool is_outermost = !c->depth;
        bool is_there = c->depth < CSN_INLINE_DEPTH_MAX && copy_node(c, &nodes[n], &number, is_outermost ? placed : NULL);
        if (is_outermost) placed += nodes[n].part_count;
        if (is_there) c->open[c->depth++] = (struct open_node){ number, next };
        n = is_there ? n + 1 : next;
    }
    close_nodes(c, UINT32_MAX);
}

void csni_strays_copy(struct csni_strays *s, struct csni_model_copier *copier, uint32_t batch, uint64_t start, uint64_t low,
                      uint64_t end) {
    const struct csni_stray *items = s->items.items;
    size_t stop = csni_lower_bound(items, s->items.count, start, end), first = stop;
    while (first && items[first - 1].reach > low && s->steps) {
        first--;
        s->steps--;
    }
    if (first == stop) return;
    struct copying c = { .strays = s, .copier = copier, .start = start, .low = low, .end = end };
    if (c.end - start > UINT32_MAX) c.end = start + UINT32_MAX;
    for (size_t i = first; i < stop; i++) {
        c.stray = &items[i];
        if (c.stray->end > low && (batch == CSNI_STRAYS_OF_ALL || c.stray->batch == batch)) copy_stray(&c);
    }
}

/* ---- what is left ---- */

static void report_part(const struct csni_stray *stray, const struct csni_part *part, struct csn_convert_report *report) {
    char text[CSN_EXAMPLE_SIZE];
    int size = snprintf(text, sizeof text, "[0x%" PRIx64 ", 0x%" PRIx64 ")", stray->start + part->start, stray->start + part->end);
    csni_report_add(report, CSN_EVENT_INLINE_OUTSIDE_PARENT, 1, (struct csn_str){ text, (size_t)size });
}

void csni_strays_report(const struct csni_strays *s, struct csn_convert_report *report) {
    for (size_t i = 0; i < s->items.count; i++) {
        const struct csni_stray *stray = &s->items.items[i];
        const struct csni_function *f = function_of(s, stray);
        const struct csni_inline_node *nodes = nodes_of(s, stray);
        const bool *placed = s->placed + stray->first_placed;
        for (uint32_t n = 0; n < f->inline_count; n += 1 + nodes[n].descendants)
            for (uint32_t k = 0; k < nodes[n].part_count; k++)
                if (!*placed++) report_part(stray, &s->model->batches[stray->batch].parts[nodes[n].first_part + k], report);
    }
}
