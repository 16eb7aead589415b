/* The code of an inlined call: a small program that steps through offsets and lines. */
#include <inttypes.h>

#include "base/core/sort.h"
#include "pdb/pdb_private.h"

static const char SECTION[] = "S_INLINESITE";

struct machine {
    struct csni_cursor code;
    uint32_t size;       /* of the function */
    uint32_t off, file, line;
    uint32_t base;       /* which part of a function that is in several: this one is 0 */
    bool is_open;        /* the last run has no end yet */
};

/* Numbers of 7, 14 or 29 bits, the highest first. */
static uint32_t read_number(struct csni_cursor *c) {
    uint32_t first = csni_cursor_u8(c);
    if (!(first & 0x80)) return first;
    uint32_t second = csni_cursor_u8(c);
    if (!(first & 0x40)) return (first & 0x3f) << 8 | second;
    if (first & 0x20) csni_cursor_fail(c);
    uint32_t third = csni_cursor_u8(c), fourth = csni_cursor_u8(c);
    return (first & 0x1f) << 24 | second << 16 | third << 8 | fourth;
}

/* The sign stands in the lowest bit. */
static uint32_t signed_of(uint32_t number) { return number & 1 ? 0u - (number >> 1) : number >> 1; }

static void close_run(struct machine *m, csni_pdb_runs *out, uint32_t end) {
    if (!m->is_open) return;
    m->is_open = false;
    struct csni_pdb_run *run = &out->items[out->count - 1];
    run->end = end < m->size ? end : m->size;
    if (run->end <= run->start) out->count--;
}

/* A new line begins at m->off; it ends where the next one begins. */
static bool begin_run(struct machine *m, csni_pdb_runs *out) {
    close_run(m, out, m->off);
    if (m->base || m->off >= m->size) return true;
    m->is_open = true;
    return csni_vec_push(out, ((struct csni_pdb_run){ m->off, m->off, m->file, m->line }));
}

/* One step. False: out of memory. */
static bool step(struct machine *m, uint32_t opcode, csni_pdb_runs *out) {
    struct csni_cursor *c = &m->code;
    uint32_t operand = read_number(c), second = opcode == BA_CHANGE_CODE_LENGTH_AND_CODE_OFFSET ? read_number(c) : 0;
    if (c->failed) return true;
    switch (opcode) {
    case BA_CODE_OFFSET:
        m->off = operand;
        return true;
    case BA_CHANGE_CODE_OFFSET_BASE:
        m->base = operand;
        return true;
    case BA_CHANGE_CODE_OFFSET:
        m->off += operand;
        return begin_run(m, out);
    case BA_CHANGE_CODE_LENGTH:
        m->off += operand;
        close_run(m, out, m->off);
        return true;
    case BA_CHANGE_FILE:
        m->file = operand;
        return true;
    case BA_CHANGE_LINE_OFFSET:
        m->line += signed_of(operand);
        return true;
    case BA_CHANGE_CODE_OFFSET_AND_LINE_OFFSET:
        m->off += operand & 0xf;
        m->line += signed_of(operand >> 4);
        return begin_run(m, out);
    case BA_CHANGE_CODE_LENGTH_AND_CODE_OFFSET:
        m->off += second;
        if (!begin_run(m, out)) return false;
        close_run(m, out, operand < UINT32_MAX - m->off ? m->off + operand : UINT32_MAX);
        return true;
    default: /* line ends, columns, kinds of ranges */
        return true;
    }
}

static bool run_before(const void *context, const void *a, const void *b) {
    (void)context;
    const struct csni_pdb_run *x = a, *y = b;
    return x->start != y->start ? x->start < y->start : x->end < y->end;
}

/* Producers go up; where one does not, what overlaps is cut off. */
static void order_runs(csni_pdb_runs *runs) {
    if (csni_is_sorted(runs->items, runs->count, sizeof *runs->items, run_before, NULL)) {
        bool overlaps = false;
        for (size_t i = 1; i < runs->count; i++) overlaps |= runs->items[i].start < runs->items[i - 1].end;
        if (!overlaps) return;
    }
    csni_heap_sort(runs->items, runs->count, sizeof *runs->items, run_before, NULL);
    size_t kept = 0;
    for (size_t i = 0; i < runs->count; i++) {
        struct csni_pdb_run run = runs->items[i];
        if (kept && run.start < runs->items[kept - 1].end) run.start = runs->items[kept - 1].end;
        if (run.start < run.end) runs->items[kept++] = run;
    }
    runs->count = kept;
}

csn_status csni_pdb_read_annotations(struct csni_span annotations, const struct csni_pdb_inlinee *inlinee, uint32_t size,
                                     csni_pdb_runs *out, struct csn_error *err) {
    struct machine m = { .code = csni_cursor_at(annotations, false), .size = size };
    if (inlinee) m.file = inlinee->file, m.line = inlinee->line;
    out->count = 0;
    while (csni_cursor_left(&m.code)) {
        uint32_t opcode = read_number(&m.code);
        if (opcode == BA_END) break;
        if (opcode > BA_CHANGE_COLUMN_END) csni_cursor_fail(&m.code);
        if (!m.code.failed && !step(&m, opcode, out)) return csni_fail_memory(err, sizeof *out->items);
    }
    close_run(&m, out, m.off + 1); /* that it has no end is damage, or says that it ends somewhere */
    order_runs(out);
    if (!m.code.failed) return CSN_OK;
    return csni_fail(err, CSN_E_FORMAT, SECTION, m.code.failed_at, "annotations of %zu bytes cannot be read", annotations.size);
}
