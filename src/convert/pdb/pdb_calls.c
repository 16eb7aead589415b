/* Inlined calls of one function: which code is of which call, of which line. */
#include "base/core/fail.h"
#include "base/core/search.h"
#include "convert/pdb/pdb_job.h"

/* ---- files ---- */

/* The batch's number of a file of the module; 0: there is none. File names outlive the module. */
static uint32_t batch_file(struct csni_pdb_job *job, uint32_t file) {
    struct csn_str path;
    uint32_t at = file / 4;
    if (at >= job->files.count) return 0;
    if (job->files.items[at]) return job->files.items[at] - 1;
    uint32_t number = 0;
    if (csni_pdb_file_path(job->reading->pdb, &job->lines, file, &path) && csni_pdb_charge(job, path.len))
        number = csni_batch_add_path(job->writer, path);
    else
        csni_batch_note(job->writer, CSN_EVENT_LINE_BAD_FILE, "file 0x%x", file);
    job->files.items[at] = number + 1;
    return number;
}

/* ---- the function's own lines ---- */

static bool push_piece(struct csni_pdb_job *job, struct csni_pdb_piece piece) {
    if (piece.start >= piece.end) return true;
    return csni_vec_push(&job->pieces, piece);
}

/* Of fragments that begin where a function does, which are those of functions that were folded: fragments stand in the order of
 * functions, of which some have none. So the one after the last that was found is the function's own; else any will do. */
static const struct csni_pdb_fragment *take_fragment(struct csni_pdb_job *job, size_t first) {
    const struct csni_pdb_fragment *fragments = job->lines.fragments.items;
    const size_t end = csni_upper_bound(fragments, job->lines.fragments.count, at, fragments[first].at);
    const size_t own = first + csni_lower_bound(fragments + first, end - first, order, job->next_fragment);
    if (own < end && fragments[own].order == job->next_fragment) {
        job->next_fragment++;
        return &fragments[own];
    }
    if (end == first + 1) job->next_fragment = fragments[first].order + 1;
    return &fragments[first];
}

/* The fragment that `at` is in, or else the next one; NULL: there is none. `begins`: a function begins there. */
static const struct csni_pdb_fragment *find_fragment(struct csni_pdb_job *job, uint64_t at, bool begins) {
    const struct csni_pdb_fragment *fragments = job->lines.fragments.items;
    size_t count = job->lines.fragments.count, first = csni_lower_bound(fragments, count, at, at);
    if (first < count && fragments[first].at == at) return begins ? take_fragment(job, first) : &fragments[first];
    if (first && at - fragments[first - 1].at < fragments[first - 1].size) return &fragments[first - 1];
    return first < count ? &fragments[first] : NULL;
}

/* Pieces of the function itself from a fragment's rows, up to `end`. */
static csn_status add_fragment(struct csni_pdb_job *job, const struct csni_pdb_fragment *f, uint64_t begin,
                               uint64_t end, uint32_t *done, struct csn_error *err) {
    const struct csni_pdb_row *rows = job->lines.rows.items + f->first_row;
    size_t i = begin > f->at ? csni_upper_bound(rows, f->row_count, off, begin - f->at) : 0;
    for (i -= i > 0; i < f->row_count && f->at + rows[i].off < end; i++) {
        uint64_t start = f->at + rows[i].off, stop = f->at + (i + 1 < f->row_count ? rows[i + 1].off : f->size);
        if (!csni_pdb_charge(job, 1)) return CSN_E_LIMIT;
        if (start < begin) start = begin;
        if (stop > end) stop = end;
        if (start - begin < *done) start = begin + *done;
        if (stop <= start) continue;
        struct csni_pdb_piece piece = { (uint32_t)(start - begin), (uint32_t)(stop - begin), batch_file(job, rows[i].file),
                                        rows[i].line, 0, 0 };
        if (!push_piece(job, (struct csni_pdb_piece){ .start = *done, .end = piece.start }) || !push_piece(job, piece))
            return csni_fail_memory(err, sizeof piece);
        *done = piece.end;
    }
    return CSN_OK;
}

/* Pieces of the function itself, from its start to its end without gaps: where no row is, the line is not known. */
static csn_status find_own_pieces(struct csni_pdb_job *job, struct csn_error *err) {
    const struct csni_pdb_code *code = &job->function;
    uint64_t begin = (uint64_t)code->section << 32 | code->offset, end = begin + code->size, at = begin;
    uint32_t done = 0;
    while (at < end) {
        const struct csni_pdb_fragment *f = find_fragment(job, at, at == begin);
        if (!f || f->at >= end) break;
        CSNI_TRY(add_fragment(job, f, begin, end, &done, err));
        if (!csni_pdb_charge(job, 1)) return CSN_E_LIMIT;
        uint64_t next = f->at + f->size;
        at = next > at ? next : at + 1;
    }
    return push_piece(job, (struct csni_pdb_piece){ .start = done, .end = code->size }) ? CSN_OK : csni_fail_memory(err, 0);
}

static csn_status begin_calls(struct csni_pdb_job *job, struct csn_error *err) {
    job->pieces.count = job->calls.count = 0;
    CSNI_TRY(find_own_pieces(job, err));
    struct csni_pdb_call self = { .piece_count = (uint32_t)job->pieces.count, .parent = CSNI_PDB_NO_PARENT };
    return csni_vec_push(&job->calls, self) ? CSN_OK : csni_fail_memory(err, sizeof self);
}

/* ---- inlined calls ---- */

/* The first of pieces [low, high), which ascend, that ends after an offset. */
static uint32_t first_piece_after(const struct csni_pdb_job *job, uint32_t low, uint32_t high, uint32_t off) {
    return (uint32_t)csni_search_field(CSNI_SEARCH_FIELD(job->pieces.items, end), low, high, true, off);
}

/* Adds what a run and a piece of the call around it have in common, as a pair: the piece, and the run's own. */
static csn_status cut_run(struct csni_pdb_job *job, const struct csni_pdb_run *run, const struct csni_pdb_piece *outer,
                          uint32_t depth, struct csn_error *err) {
    struct csni_pdb_piece own = { .start = run->start > outer->start ? run->start : outer->start,
                                  .end = run->end < outer->end ? run->end : outer->end,
                                  .line = run->line, .depth = depth };
    if (own.start >= own.end) return CSN_OK;
    own.file = batch_file(job, run->file);
    return csni_vec_push(&job->cuts, *outer) && csni_vec_push(&job->cuts, own) ? CSN_OK : csni_fail_memory(err, sizeof own);
}

/* Where runs of a site lie in pieces of the call around it. Fills job->cuts. */
static csn_status cut_runs(struct csni_pdb_job *job, const struct csni_pdb_call *around, uint32_t depth, struct csn_error *err) {
    uint32_t at = around->first_piece, stop = at + around->piece_count;
    job->cuts.count = 0;
    for (size_t r = 0; r < job->runs.count && at < stop; r++) {
        const struct csni_pdb_run *run = &job->runs.items[r];
        if (job->pieces.items[at].end <= run->start) at = first_piece_after(job, at, stop, run->start);
        for (; at < stop && job->pieces.items[at].start < run->end; at++) {
            if (!csni_pdb_charge(job, 1)) return CSN_E_LIMIT;
            CSNI_TRY(cut_run(job, run, &job->pieces.items[at], depth, err));
            if (job->pieces.items[at].end >= run->end) break; /* it may go on after the run */
        }
    }
    return CSN_OK;
}

static void link_child(struct csni_pdb_job *job, uint32_t parent, uint32_t child) {
    struct csni_pdb_call *p = &job->calls.items[parent];
    if (p->last_child) job->calls.items[p->last_child].next_sibling = child;
    else p->first_child = child;
    p->last_child = child;
}

/* The lines that a site is called from are few. The number of the call for one; a line that is not known is of the last one. */
enum { LINES_MAX = 32 };
static csn_status call_for(struct csni_pdb_job *job, const struct csni_pdb_site *site, uint32_t parent, uint32_t first,
                           const struct csni_pdb_piece *outer, uint32_t *out, struct csn_error *err) {
    uint32_t count = (uint32_t)job->calls.count;
    for (uint32_t i = first; i < count; i++) {
        struct csni_pdb_call *call = &job->calls.items[i];
        bool fits = call->call_file == outer->file && call->call_line == outer->line;
        bool unknown = !outer->line || !call->call_line;
        if (!fits && !unknown && count - first < LINES_MAX) continue;
        if (!call->call_line) call->call_file = outer->file, call->call_line = outer->line;
        *out = i;
        return CSN_OK;
    }
    struct csni_pdb_call call = { .call_file = outer->file, .call_line = outer->line, .depth = site->depth,
                                  .parent = parent };
    *out = count;
    if (!csni_vec_push(&job->calls, call)) return csni_fail_memory(err, sizeof call);
    link_child(job, parent, count);
    return CSN_OK;
}

/* Calls of a site within one call around it, from what job->cuts holds. */
static csn_status add_calls_within(struct csni_pdb_job *job, const struct csni_pdb_site *site, uint32_t parent, uint32_t name,
                                   struct csn_error *err) {
    uint32_t first = (uint32_t)job->calls.count;
    for (size_t i = 0; i + 1 < job->cuts.count; i += 2) {
        uint32_t call;
        CSNI_TRY(call_for(job, site, parent, first, &job->cuts.items[i], &call, err));
        job->cuts.items[i].order = call;
    }
    for (uint32_t call = first; call < job->calls.count; call++) {
        struct csni_pdb_call *made = &job->calls.items[call];
        made->name = name;
        made->first_piece = (uint32_t)job->pieces.count;
        for (size_t i = 0; i + 1 < job->cuts.count; i += 2)
            if (job->cuts.items[i].order == call && !csni_vec_push(&job->pieces, job->cuts.items[i + 1]))
                return csni_fail_memory(err, sizeof *job->pieces.items);
        made->piece_count = (uint32_t)job->pieces.count - made->first_piece;
        if (!csni_pdb_charge(job, job->cuts.count / 2)) return CSN_E_LIMIT;
    }
    return CSN_OK;
}

/* SCOPE::NAME in the arena, or NAME alone; 0: there is none. */
static uint32_t add_site_name(struct csni_pdb_job *job, uint32_t id) {
    struct csn_str scope = { "", 0 }, name = scope;
    csn_status status = csni_pdb_imports_resolve(&job->reading->imports, &job->lines, id, &id, NULL);
    if (status == CSN_E_MEMORY) job->writer->failed = true;
    if (status != CSN_OK || !csni_pdb_id_name(job->reading->pdb, id, &scope, &name)) return 0;
    if (!scope.len) return csni_batch_add_string(job->writer, name); /* outlives the module */
    if (!csni_pdb_charge(job, scope.len + name.len)) return 0;
    char *text = csni_arena_alloc(job->arena, scope.len + 2 + name.len);
    if (!text) {
        job->writer->failed = true;
        return 0;
    }
    memcpy(text, scope.ptr, scope.len);
    memcpy(text + scope.len, "::", 2);
    memcpy(text + scope.len + 2, name.ptr, name.len);
    return csni_batch_add_string(job->writer, (struct csn_str){ text, scope.len + 2 + name.len });
}

/* How well lines fit: none may be negative, and line 0 is code that the compiler made. */
enum fit { FIT_NONE, FIT_LINES, FIT_LINE_0 };
static enum fit fit_of(const csni_pdb_runs *runs) {
    enum fit found = FIT_LINES;
    for (size_t i = 0; i < runs->count; i++) {
        if (runs->items[i].line > INT32_MAX) return FIT_NONE;
        if (!runs->items[i].line) found = FIT_LINE_0;
    }
    return found;
}

static csn_status read_runs_from(struct csni_pdb_job *job, const struct csni_pdb_site *site, const struct csni_pdb_inlinee *inlinee,
                                 struct csn_error *err) {
    return csni_pdb_read_annotations(site->record.annotations, inlinee, job->function.size, &job->runs, err);
}

/* Functions of one name may share an id (`drop` of two types in Rust), and each has its own place. Of several the
 * first that fits is taken. Fills job->runs. */
enum { PLACES_MAX = 64 };
static csn_status find_runs(struct csni_pdb_job *job, const struct csni_pdb_site *site, struct csn_error *err) {
    const struct csni_pdb_inlinee *first = csni_pdb_find_inlinee(&job->lines, site->record.inlinee), *best = first;
    const struct csni_pdb_inlinee *end = first ? job->lines.inlinees.items + job->lines.inlinees.count : NULL;
    size_t count = 1;
    while (first && first + count < end && first[count].id == first->id && count < PLACES_MAX) count++;
    enum fit found = FIT_NONE;
    for (size_t i = 0; count > 1 && i < count && found != FIT_LINE_0; i++) {
        csn_status status = read_runs_from(job, site, &first[i], err);
        if (status == CSN_E_MEMORY || !csni_pdb_charge(job, job->runs.count)) return status == CSN_E_MEMORY ? status : CSN_E_LIMIT;
        if (fit_of(&job->runs) > found) best = &first[i], found = fit_of(&job->runs);
    }
    csn_status status = read_runs_from(job, site, best, err);
    for (size_t i = 0; i < job->runs.count; i++)
        if (job->runs.items[i].line > INT32_MAX) job->runs.items[i].line = 0; /* no place fits */
    return status;
}

static csn_status read_runs(struct csni_pdb_job *job, const struct csni_pdb_site *site, struct csn_error *err) {
    struct csn_error damage = CSN_ERROR_INIT;
    csn_status status = find_runs(job, site, &damage);
    if (status == CSN_E_MEMORY) return csni_fail_memory(err, 0);
    if (status == CSN_E_LIMIT) return status;
    if (status < 0)
        csni_batch_note(job->writer, CSN_EVENT_DAMAGED_RANGES, "%.*s: %s",
                        (int)(job->function.name.len < 80 ? job->function.name.len : 80), job->function.name.ptr,
                        csn_error_text(&damage));
    return csni_pdb_charge(job, job->runs.count + site->record.annotations.size / 16) ? CSN_OK : CSN_E_LIMIT;
}

/* A call without a name, or nested too deeply, is left out with all within it. */
static csn_status add_site(struct csni_pdb_job *job, struct csni_pdb_site *site, struct csn_error *err) {
    uint32_t parent = 0, end = 1;
    site->first_call = site->call_end = (uint32_t)job->calls.count;
    if (site->parent != CSNI_PDB_NO_PARENT) {
        parent = job->sites.items[site->parent].first_call;
        end = job->sites.items[site->parent].call_end;
    }
    if (parent == end) return CSN_OK;
    if (site->depth >= CSN_INLINE_DEPTH_MAX) {
        csni_batch_note(job->writer, CSN_EVENT_INLINE_TOO_DEEP, "%.*s",
                        (int)(job->function.name.len < 80 ? job->function.name.len : 80), job->function.name.ptr);
        return CSN_OK;
    }
    CSNI_TRY(read_runs(job, site, err));
    uint32_t name = job->runs.count ? add_site_name(job, site->record.inlinee) : 0;
    if (job->runs.count && !name)
        csni_batch_note(job->writer, CSN_EVENT_DAMAGED_RANGES, "inlined function 0x%x has no name",
                        site->record.inlinee);
    for (; name && parent < end; parent++) {
        struct csni_pdb_call around = job->calls.items[parent];
        CSNI_TRY(cut_runs(job, &around, site->depth, err));
        CSNI_TRY(add_calls_within(job, site, parent, name, err));
    }
    site->call_end = (uint32_t)job->calls.count;
    return CSN_OK;
}

csn_status csni_pdb_find_calls(struct csni_pdb_job *job, struct csn_error *err) {
    CSNI_TRY(begin_calls(job, err));
    for (size_t i = 0; i < job->sites.count; i++) CSNI_TRY(add_site(job, &job->sites.items[i], err));
    return CSN_OK;
}
