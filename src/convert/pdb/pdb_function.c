/* Writing one function of a PDB: rows of the innermost inlined call at each place, and a tree of calls. */
#include "base/core/fail.h"
#include "base/core/sort.h"
#include "convert/pdb/pdb_job.h"

/* ---- rows ---- */

static bool piece_before(const void *context, const void *pa, const void *pb) {
    (void)context;
    const struct csni_pdb_piece *a = pa, *b = pb;
    if (a->start != b->start) return a->start < b->start;
    return a->depth != b->depth ? a->depth < b->depth : a->order < b->order;
}

/* A later row of one offset is of a deeper call. Line 0 in a file is code that the compiler made. */
static bool set_row(struct csni_pdb_job *job, uint32_t off, const struct csni_pdb_piece *piece) {
    struct csni_row row = { off, piece->file, piece->line };
    if (job->rows.count && job->rows.items[job->rows.count - 1].off == off) {
        job->rows.items[job->rows.count - 1] = row;
        return true;
    }
    return csni_vec_push(&job->rows, row);
}

/* What ends at or before `off` is over; what it interrupted goes on. */
static bool end_pieces(struct csni_pdb_job *job, uint32_t off) {
    while (job->stack.count && job->stack.items[job->stack.count - 1].end <= off) {
        uint32_t end = job->stack.items[--job->stack.count].end;
        while (job->stack.count && job->stack.items[job->stack.count - 1].end <= end) job->stack.count--;
        if (job->stack.count && !set_row(job, end, &job->stack.items[job->stack.count - 1])) return false;
    }
    return true;
}

static bool sort_pieces(struct csni_pdb_job *job) {
    size_t count = job->pieces.count, size = sizeof *job->pieces.items;
    job->sorted.count = 0;
    if (!count) return true; /* a label */
    for (size_t i = 0; i < count; i++) job->pieces.items[i].order = (uint32_t)i;
    if (!csni_vec_reserve(&job->sorted, 2 * count)) return false;
    memcpy(job->sorted.items, job->pieces.items, count * size);
    csni_merge_sort(job->sorted.items, job->sorted.items + count, count, size, piece_before, NULL);
    job->sorted.count = count;
    return true;
}

csn_status csni_pdb_find_rows(struct csni_pdb_job *job, struct csn_error *err) {
    bool ok = sort_pieces(job);
    job->rows.count = job->stack.count = 0;
    for (size_t i = 0; ok && i < job->sorted.count; i++) {
        const struct csni_pdb_piece *piece = &job->sorted.items[i];
        ok = end_pieces(job, piece->start) && set_row(job, piece->start, piece) && csni_vec_push(&job->stack, *piece);
    }
    ok = ok && end_pieces(job, job->function.size ? job->function.size - 1 : 0);
    return ok ? CSN_OK : csni_fail_memory(err, 0);
}

/* Those in [low, high) of the function, from `low` on. */
static void write_rows(struct csni_pdb_job *job, uint32_t low, uint32_t high) {
    size_t count = job->rows.count;
    bool begun = false;
    for (size_t i = 0; i < count; i++) {
        struct csni_row row = job->rows.items[i];
        if (row.off >= high) break;
        if (i + 1 < count && job->rows.items[i + 1].off <= low) continue;
        if (!row.line && !row.file && !begun) continue; /* before the first row that is known there is none */
        begun = true;
        csni_batch_add_row(job->writer, row.off > low ? row.off - low : 0, row.file, row.line);
    }
}

/* ---- the tree ---- */

/* Parts of a call in [low, high): neighbours are joined. False: it has none there. */
static bool write_call(struct csni_pdb_job *job, struct csni_pdb_call *call, uint32_t low, uint32_t high) {
    const struct csni_pdb_piece *p = job->pieces.items + call->first_piece;
    bool begun = false;
    for (uint32_t i = 0; i < call->piece_count;) {
        uint32_t start = p[i].start, end = p[i].end;
        for (i++; i < call->piece_count && p[i].start == end; i++) end = p[i].end;
        if (start < low) start = low;
        if (end > high) end = high;
        if (start >= end) continue;
        if (!begun) call->node = csni_batch_begin_inline(job->writer, call->name, call->call_file, call->call_line);
        begun = true;
        csni_batch_add_part(job->writer, start - low, end - low);
    }
    return begun;
}

/* Parents before their children, by way of the links between calls. */
static void write_calls(struct csni_pdb_job *job, uint32_t low, uint32_t high) {
    struct csni_pdb_call *calls = job->calls.items;
    uint32_t at = calls[0].first_child;
    while (at) {
        bool is_open = write_call(job, &calls[at], low, high);
        if (is_open && calls[at].first_child) {
            at = calls[at].first_child;
            continue;
        }
        if (is_open) csni_batch_end_inline(job->writer, calls[at].node);
        while (at && !calls[at].next_sibling) {
            at = calls[at].parent;
            if (at) csni_batch_end_inline(job->writer, calls[at].node);
        }
        if (at) at = calls[at].next_sibling;
    }
}

/* ---- the function ---- */

static bool is_usable(struct csni_pdb_job *job, uint64_t start) {
    if (csni_in_text(job->reading->conversion, start)) return true;
    csni_batch_note(job->writer, CSN_EVENT_FUNCTION_OUTSIDE_TEXT, "%.*s at 0x%llx",
                    (int)(job->function.name.len < 80 ? job->function.name.len : 80), job->function.name.ptr,
                    (unsigned long long)start);
    return false;
}

/* Where linkers or tools moved parts of a function, each becomes a function of its name. */
static csn_status write_place(struct csni_pdb_job *job, const struct csni_pdb_place *place, uint32_t name) {
    uint64_t start = job->reading->base + place->rva;
    if (!is_usable(job, start)) return CSN_OK;
    if (!csni_pdb_charge(job, job->rows.count + job->pieces.count)) return CSN_E_LIMIT;
    bool is_known = job->function.size > 0;
    csni_batch_begin_function(job->writer, start, place->size, name, is_known ? CSNI_SOURCE_PDB : CSNI_SOURCE_SYMBOL);
    write_rows(job, place->off, place->off + place->size);
    write_calls(job, place->off, place->off + place->size);
    return CSN_OK;
}

/* Of a separated part the name of its function, which only a public symbol tells here. */
static struct csn_str name_of(const struct csni_pdb_job *job, uint64_t *work) {
    struct csni_pdb_code code = job->function;
    if (code.kind == CSNI_PDB_SEPARATED) {
        code.section = code.parent_section;
        code.offset = code.parent_offset;
    }
    return csni_pdb_function_name(&job->reading->publics, &code, work);
}

csn_status csni_pdb_write_function(struct csni_pdb_job *job, struct csn_error *err) {
    uint64_t work = 0;
    struct csn_str name = name_of(job, &work);
    if (!csni_pdb_charge(job, work)) return CSN_E_LIMIT;
    if (!name.len) {
        csni_batch_note(job->writer, CSN_EVENT_FUNCTION_WITHOUT_NAME, "code at %04x:%08x", job->function.section,
                        job->function.offset);
        return CSN_OK;
    }
    if (!csni_pdb_places_of(job->reading->pdb, job->function.section, job->function.offset, job->function.size, &job->places))
        return csni_fail_memory(err, sizeof *job->places.items);
    if (!job->places.count) {
        csni_batch_note(job->writer, CSN_EVENT_FUNCTION_DISCARDED, NULL);
        return CSN_OK;
    }
    if (!csni_pdb_charge(job, 1 + job->places.count)) return CSN_E_LIMIT;
    CSNI_TRY(csni_pdb_find_calls(job, err));
    CSNI_TRY(csni_pdb_find_rows(job, err));
    uint32_t number = csni_pdb_add_string(job, name);
    for (size_t i = 0; i < job->places.count; i++) CSNI_TRY(write_place(job, &job->places.items[i], number));
    return CSN_OK;
}
