/* Frames from a record's rows and inline nodes, by way of the iterators. */
#include "symbolicate/record_frames.h"

#include <stdbool.h>

#include "base/core/fail.h"

/* The inlined calls that hold the address: one for each depth from 1 on. */
struct inline_chain {
    uint32_t count;
    struct {
        struct csn_str name;
        uint64_t start;
        uint32_t call_file, call_line;
    } calls[CSN_INLINE_DEPTH_MAX];
};

/* The row for the address: the last one at or below it; `out` stays as it is where there is none. */
static csn_status find_row(const struct csn_index *index, const struct csn_record *record, uint64_t addr,
                           struct csn_row *out, struct csn_error *err) {
    struct csn_row_iter iter;
    struct csn_row row;
    CSNI_TRY(csn_row_iter_init(&iter, index, record, err));
    for (;;) {
        csn_status status = csn_row_iter_next(&iter, &row, err);
        if (status < 0) return status;
        if (status == CSN_NONE || row.addr > addr) return CSN_OK;
        *out = row;
    }
}

/* Whether a range of the node holds the address, and the lowest address of the node: of its ranges that are not empty. */
static csn_status node_holds(struct csn_inline_node *node, uint64_t addr, bool *holds, uint64_t *start,
                             struct csn_error *err) {
    bool any = false;
    *start = 0;
    *holds = false;
    for (uint32_t k = 0; k < node->range_count; k++) {
        struct csn_range range;
        CSNI_TRY(csn_inline_node_range(node, k, &range, err));
        if (range.start >= range.end) continue;
        if (!any || range.start < *start) *start = range.start;
        any = true;
        *holds |= addr >= range.start && addr < range.end;
    }
    return CSN_OK;
}

static csn_status find_chain(const struct csn_index *index, const struct csn_record *record, uint64_t addr,
                             struct inline_chain *chain, struct csn_error *err) {
    struct csn_inline_iter iter;
    struct csn_inline_node node;
    chain->count = 0;
    CSNI_TRY(csn_inline_iter_init(&iter, index, record, err));
    for (;;) {
        csn_status status = csn_inline_iter_next(&iter, &node, err);
        if (status < 0) return status;
        if (status == CSN_NONE) return CSN_OK;
        /* Nodes come with a parent before its children: the next link is a child of the last one. */
        if (node.depth != chain->count + 1 || chain->count == CSN_INLINE_DEPTH_MAX) continue;
        bool holds;
        uint64_t start;
        CSNI_TRY(node_holds(&node, addr, &holds, &start, err));
        if (!holds) continue;
        chain->calls[chain->count].name = node.name;
        chain->calls[chain->count].start = start;
        chain->calls[chain->count].call_file = node.call_file;
        chain->calls[chain->count].call_line = node.call_line;
        chain->count++;
    }
}

/* `why`: the reason where there is no file. */
static void set_file_line(const struct csn_index *index, uint32_t file, uint32_t line, uint32_t why, struct csn_frame *frame) {
    frame->line = line;
    if (!file) frame->reason = why;
    else if (csn_index_file(index, file, &frame->directory, &frame->base, NULL) != CSN_OK) frame->reason = CSN_REASON_BAD_FILE;
}

csn_status csni_record_frames(const struct csn_index *index, const struct csn_record *record, uint64_t addr,
                              struct csni_arena *arena, struct csn_frame **out, uint32_t *out_count,
                              struct csn_error *err) {
    struct csn_function function;
    struct csn_row row = { 0 };
    struct inline_chain chain;
    CSNI_TRY(csn_record_function(index, record, &function, err));
    CSNI_TRY(find_row(index, record, addr, &row, err));
    chain.count = 0;
    CSNI_TRY(find_chain(index, record, addr, &chain, err));
    uint32_t count = chain.count + 1;
    struct csn_frame *frames = csni_arena_alloc(arena, count * sizeof(*frames));
    if (!frames) return csni_fail_memory(err, count * sizeof(*frames));
    uint32_t file = row.file, line = row.file ? row.line : 0;
    uint32_t why = function.has_lines ? CSN_REASON_NO_ROW : CSN_REASON_NO_LINE_TABLE;
    for (uint32_t k = 0; k < count; k++) {
        uint32_t link = chain.count - k;
        frames[k] = (struct csn_frame){ .name = function.name, .offset = addr - record->start };
        if (link) {
            frames[k].name = chain.calls[link - 1].name;
            frames[k].offset = addr - chain.calls[link - 1].start;
            frames[k].flags = CSN_FRAME_INLINED;
        }
        set_file_line(index, file, line, why, &frames[k]);
        if (!link) continue;
        file = chain.calls[link - 1].call_file;
        line = chain.calls[link - 1].call_line;
        why = CSN_REASON_NO_CALL_FILE;
    }
    *out = frames;
    *out_count = count;
    return CSN_OK;
}
