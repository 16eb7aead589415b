/* The functions of one chunk: FUNC with its line records and INLINE records; PUBLIC and STACK records are kept for later. */
#include <stdlib.h>

#include "base/core/fail.h"
#include "base/core/ranges.h"
#include "formats/breakpad/breakpad.h"
#include "formats/breakpad/breakpad_bits.h"

/* What a line record belongs to. */
enum owner { NO_OWNER, FUNCTION, LOST_FUNCTION };

struct job {
    struct csni_breakpad *b;
    struct csni_breakpad_worker *w;
    struct csni_breakpad_chunk *chunk;
    struct csni_batch_writer *out;
    uint32_t index;       /* of the chunk */
    uint32_t omitted;     /* string of the batch; 0: not added */
    enum owner owner;
    uint64_t start;       /* of the function */
    uint32_t size;
    struct csn_str name;
    bool lines_ascend;
    bool failed;          /* out of memory */
};

void csni_breakpad_worker_init(struct csni_breakpad_worker *w, const struct csn_allocator *alloc) {
    *w = (struct csni_breakpad_worker){ 0 };
    w->files.alloc = w->origins.alloc = w->lines.alloc = w->inlines.alloc = w->ranges.alloc = w->pieces.alloc =
        w->nodes.alloc = alloc;
}

void csni_breakpad_worker_deinit(struct csni_breakpad_worker *w) {
    csni_vec_deinit(&w->files);
    csni_vec_deinit(&w->origins);
    csni_vec_deinit(&w->lines);
    csni_vec_deinit(&w->inlines);
    csni_vec_deinit(&w->ranges);
    csni_vec_deinit(&w->nodes);
    csni_vec_deinit(&w->pieces);
}

/* ---- numbers of the batch ---- */

/* False: there is no such FILE. */
static bool find_breakpad_file(struct job *j, uint32_t number, uint32_t *out) {
    uint32_t at = csni_breakpad_find(&j->b->files, number);
    if (at == UINT32_MAX) return false;
    struct csni_breakpad_number *known = &j->w->files.items[at];
    if (known->chunk != j->index)
        *known = (struct csni_breakpad_number){ j->index, csni_batch_add_path(j->out, j->b->files.items.items[at].text) };
    *out = known->value;
    return true;
}

static uint32_t find_origin(struct job *j, uint32_t number) {
    uint32_t at = csni_breakpad_find(&j->b->origins, number);
    if (at == UINT32_MAX) {
        if (!j->omitted) j->omitted = csni_batch_add_string(j->out, csni_str("<name omitted>"));
        return j->omitted;
    }
    struct csni_breakpad_number *known = &j->w->origins.items[at];
    if (known->chunk != j->index)
        *known = (struct csni_breakpad_number){ j->index, csni_batch_add_string(j->out, j->b->origins.items.items[at].text) };
    return known->value;
}

/* ---- line records ---- */

static int breakpad_line_range_by_start(const void *pa, const void *pb) {
    const struct csni_breakpad_line_range *a = pa, *b = pb;
    if (a->start != b->start) return a->start < b->start ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

/* Whether a line that was kept, and so comes before in the file, overlaps the one at that place. */
static bool is_line_taken(const struct csni_breakpad_line_range *lines, const struct csni_bit_tree *kept, uint32_t at) {
    uint32_t below = csni_bit_tree_neighbour(kept, at, false), above = csni_bit_tree_neighbour(kept, at, true);
    return (below != UINT32_MAX && lines[below].end > lines[at].start) ||
           (above != UINT32_MAX && lines[above].start < lines[at].end);
}

/* Puts lines in order; of two that overlap the one that comes first in the file stays, unless it went for another one. */
static void sort_lines(struct job *j) {
    struct csni_breakpad_line_range *lines = j->w->lines.items;
    uint32_t count = (uint32_t)j->w->lines.count, left = 0;
    struct csni_bit_tree kept = { 0 };
    uint32_t *places = csni_alloc_zeroed(j->b->alloc, count, sizeof *places); /* by order */
    bool good = places && csni_bit_tree_init(&kept, count, j->b->alloc);
    qsort(lines, count, sizeof *lines, breakpad_line_range_by_start);
    for (uint32_t at = 0; good && at < count; at++) places[lines[at].order] = at;
    for (uint32_t k = 0; good && k < count; k++) {
        const struct csni_breakpad_line_range *line = &lines[places[k]];
        if (!is_line_taken(lines, &kept, places[k])) csni_bit_tree_add(&kept, places[k]);
        else
            csni_batch_note(j->out, CSN_EVENT_LINE_NOT_ASCENDING, "%.*s at 0x%llx: two line records overlap at 0x%llx",
                            (int)(j->name.len < 80 ? j->name.len : 80), j->name.ptr, (unsigned long long)j->start,
                            (unsigned long long)(j->start + line->start));
    }
    for (uint32_t at = 0; good && at < count; at++)
        if (csni_bit_tree_has(&kept, at)) lines[left++] = lines[at];
    j->w->lines.count = left;
    j->failed |= !good;
    csni_free(j->b->alloc, places, count * sizeof *places);
    csni_bit_tree_free(&kept, j->b->alloc);
}

/* Rows hold up to the next one, so that a gap between line records becomes a row without file and line. */
static void add_breakpad_rows(struct job *j) {
    if (!j->lines_ascend) sort_lines(j);
    const struct csni_breakpad_line_range *lines = j->w->lines.items;
    size_t count = j->w->lines.count, made = 0;
    if (!count) return;
    struct csni_row *rows = csni_batch_reserve_rows(j->out, 2 * count);
    if (!rows) return;
    for (size_t i = 0; i < count; i++) {
        const struct csni_breakpad_line_range *l = &lines[i];
        if (!made || rows[made - 1].file != l->file || rows[made - 1].line != l->line)
            rows[made++] = (struct csni_row){ .off = l->start, .file = l->file, .line = l->line };
        uint32_t next = i + 1 < count ? lines[i + 1].start : j->size;
        if (l->end < next && (l->file || l->line)) rows[made++] = (struct csni_row){ .off = l->end, .file = 0, .line = 0 };
    }
    csni_batch_commit_rows(j->out, made, made);
}

/* False: the line is no part of the function. */
static bool add_breakpad_line(struct job *j, const struct csni_breakpad_row *r) {
    if (!r->size) return true; /* holds nowhere */
    uint64_t end = r->addr > UINT64_MAX - r->size ? UINT64_MAX : r->addr + r->size, function_end = j->start + j->size;
    uint64_t start = r->addr < j->start ? j->start : r->addr;
    if (end > function_end) end = function_end;
    if (start >= end) return false;
    struct csni_breakpad_line_range l = { (uint32_t)(start - j->start), (uint32_t)(end - j->start), 0, r->line,
                                          (uint32_t)j->w->lines.count };
    if (!find_breakpad_file(j, r->file, &l.file)) {
        csni_batch_note(j->out, CSN_EVENT_LINE_BAD_FILE, "0x%llx: there is no FILE %u", (unsigned long long)r->addr, r->file);
        return true;
    }
    if (j->w->lines.count && l.start < j->w->lines.items[j->w->lines.count - 1].end) j->lines_ascend = false;
    j->failed |= !csni_vec_push(&j->w->lines, l);
    return true;
}

static void read_breakpad_row(struct job *j, const struct csni_breakpad_row *row, const char *whole) {
    if (j->owner == LOST_FUNCTION) return;
    if (j->owner == NO_OWNER) csni_breakpad_damage(j->chunk, whole, "a line record without a function");
    else if (!add_breakpad_line(j, row)) csni_breakpad_damage(j->chunk, whole, "a line record outside of its function");
}

/* ---- functions ---- */

static void end_breakpad_function(struct job *j) {
    if (j->owner == FUNCTION) {
        csni_batch_begin_function(j->out, j->start, j->size, csni_batch_add_string(j->out, j->name), CSNI_SOURCE_BREAKPAD);
        add_breakpad_rows(j);
        j->failed |= !csni_breakpad_add_inlines(j->w, j->out);
    }
    j->w->lines.count = j->w->inlines.count = j->w->ranges.count = 0;
    j->lines_ascend = true;
    j->owner = NO_OWNER;
}

static void add_breakpad_symbol(struct job *j, uint64_t addr, struct csn_str name) {
    struct csni_breakpad_symbol symbol = { addr, name };
    j->failed |= !csni_vec_push(&j->chunk->symbols, symbol);
}

static void read_breakpad_function(struct job *j, struct csni_breakpad_line line, const char *whole) {
    uint64_t start, size, parameters;
    struct csn_str name;
    j->owner = LOST_FUNCTION;
    csni_breakpad_multiple(&line);
    if (!csni_breakpad_hex(&line, &start) || !csni_breakpad_hex(&line, &size) || !csni_breakpad_hex(&line, &parameters) ||
        !csni_breakpad_rest(&line, &name)) {
        csni_breakpad_damage(j->chunk, whole, "no address, size, parameter size and name");
        return;
    }
    if (!size) {
        j->owner = NO_OWNER;
        add_breakpad_symbol(j, start, name);
        return;
    }
    j->owner = FUNCTION;
    j->start = start;
    j->size = csni_batch_clip_size(j->out, 0, start, size);
    j->name = name;
}

static void read_public(struct job *j, struct csni_breakpad_line line, const char *whole) {
    uint64_t addr, parameters;
    struct csn_str name;
    csni_breakpad_multiple(&line);
    if (csni_breakpad_hex(&line, &addr) && csni_breakpad_hex(&line, &parameters) && csni_breakpad_rest(&line, &name))
        add_breakpad_symbol(j, addr, name);
    else
        csni_breakpad_damage(j->chunk, whole, "no address, parameter size and name");
}

/* ---- INLINE ---- */

/* Sorts the ranges from `first` on and joins those that touch. */
static void join_ranges(struct job *j, uint32_t first) {
    struct csni_breakpad_inline_range *r = j->w->ranges.items + first;
    j->w->ranges.count = first + csni_join_ranges(r, j->w->ranges.count - first, start, end);
}

/* Adds the part of a range that lies in the function. */
static void add_inline_range(struct job *j, uint64_t addr, uint64_t size) {
    if (!size) return;
    uint64_t end = addr > UINT64_MAX - size ? UINT64_MAX : addr + size, function_end = j->start + j->size;
    bool clipped = addr < j->start || end > function_end;
    if (clipped)
        csni_batch_note(j->out, CSN_EVENT_INLINE_OUTSIDE_PARENT, "[0x%llx, 0x%llx) in the function at 0x%llx+0x%x",
                        (unsigned long long)addr, (unsigned long long)end, (unsigned long long)j->start, j->size);
    if (addr < j->start) addr = j->start;
    if (end > function_end) end = function_end;
    if (addr >= end) return;
    struct csni_breakpad_inline_range range = { (uint32_t)(addr - j->start), (uint32_t)(end - j->start),
                                                (uint32_t)j->w->inlines.count };
    j->failed |= !csni_vec_push(&j->w->ranges, range);
}

static bool read_breakpad_ranges(struct job *j, struct csni_breakpad_line line) {
    while (line.p < line.end) {
        uint64_t addr, size;
        if (!csni_breakpad_hex(&line, &addr) || !csni_breakpad_hex(&line, &size)) return false;
        add_inline_range(j, addr, size);
    }
    return true;
}

/* The file of the call, which only the current form has; -1: none. */
static bool read_call_file(struct job *j, struct csni_breakpad_line *line, struct csni_breakpad_inline *out) {
    uint32_t number;
    if (line->p < line->end && *line->p == '-') return csni_str_is(csni_breakpad_field(line), "-1");
    if (!csni_breakpad_dec(line, &number)) return false;
    if (!find_breakpad_file(j, number, &out->call_file))
        csni_batch_note(j->out, CSN_EVENT_INLINE_BAD_FILE, "in the function at 0x%llx: there is no FILE %u",
                        (unsigned long long)j->start, number);
    return true;
}

/* The older form has no call file, and so an odd number of fields. */
static bool parse_inline(struct job *j, struct csni_breakpad_line line, struct csni_breakpad_inline *out) {
    size_t fields = csni_breakpad_count_fields(line);
    bool is_current = fields % 2 == 0;
    uint32_t origin;
    if (fields < (is_current ? 6 : 5) || !csni_breakpad_dec(&line, &out->level) || !csni_breakpad_dec(&line, &out->call_line))
        return false;
    if (is_current && !read_call_file(j, &line, out)) return false;
    if (!csni_breakpad_dec(&line, &origin) || !read_breakpad_ranges(j, line)) return false;
    out->name = find_origin(j, origin);
    return true;
}

static void read_inline(struct job *j, struct csni_breakpad_line line, const char *whole) {
    if (j->owner != FUNCTION) {
        if (j->owner == NO_OWNER) csni_breakpad_damage(j->chunk, whole, "an INLINE record without a function");
        return;
    }
    uint32_t first = (uint32_t)j->w->ranges.count;
    struct csni_breakpad_inline record = { .first_range = first };
    if (j->w->ranges.count >= UINT32_MAX / 2 || !parse_inline(j, line, &record)) {
        j->w->ranges.count = first;
        csni_breakpad_damage(j->chunk, whole, "no level, line, file, origin and ranges");
        return;
    }
    if (j->w->ranges.count == first) return; /* ranges that are empty, or outside of the function */
    join_ranges(j, first);
    record.range_count = (uint32_t)(j->w->ranges.count - first);
    j->failed |= !csni_vec_push(&j->w->inlines, record);
}

/* ---- records ---- */

static void read_breakpad_other(struct job *j, struct csni_breakpad_line whole) {
    struct csni_breakpad_row row;
    if (whole.p == whole.end) return;
    if (csni_breakpad_row(whole, &row)) read_breakpad_row(j, &row, whole.p);
    else csni_breakpad_damage(j->chunk, whole.p, "no record that is known");
}

static void read_breakpad_record(struct job *j, struct csni_breakpad_line whole) {
    struct csni_breakpad_line line = whole;
    enum csni_breakpad_keyword keyword = csni_breakpad_keyword(&line);
    if (keyword == CSNI_BREAKPAD_FUNC || keyword == CSNI_BREAKPAD_PUBLIC || keyword == CSNI_BREAKPAD_STACK)
        end_breakpad_function(j);
    switch (keyword) {
    case CSNI_BREAKPAD_FUNC: read_breakpad_function(j, line, whole.p); break;
    case CSNI_BREAKPAD_PUBLIC: read_public(j, line, whole.p); break;
    case CSNI_BREAKPAD_INLINE: read_inline(j, line, whole.p); break;
    case CSNI_BREAKPAD_STACK: j->failed |= !csni_breakpad_keep(j->chunk, whole, 1); break;
    case CSNI_BREAKPAD_INFO: j->failed |= !csni_breakpad_keep(j->chunk, whole, 0); break;
    case CSNI_BREAKPAD_MODULE: csni_breakpad_damage(j->chunk, whole.p, "a MODULE that is not the first record"); break;
    case CSNI_BREAKPAD_FILE:
    case CSNI_BREAKPAD_INLINE_ORIGIN: j->chunk->defines |= !j->b->has_all_definitions; break;
    case CSNI_BREAKPAD_OTHER: read_breakpad_other(j, whole); break;
    }
}

static void read_chunk_lines(struct job *j) {
    const char *p = j->chunk->begin, *end = j->chunk->end;
    while (p < end && !j->failed && !j->chunk->defines) {
        struct csni_breakpad_row row;
        struct csni_breakpad_line line;
        const char *next = csni_breakpad_plain_row(p, end, &row);
        if (next) {
            read_breakpad_row(j, &row, p);
        } else {
            next = csni_breakpad_next_line(p, end, &line);
            read_breakpad_record(j, line);
        }
        p = next;
    }
    end_breakpad_function(j);
}

static bool reserve_numbers(struct csni_breakpad_worker *w, const struct csni_breakpad *b) {
    size_t files = b->files.items.count, origins = b->origins.items.count;
    if (!csni_vec_reserve(&w->files, files) || !csni_vec_reserve(&w->origins, origins)) return false;
    for (; w->files.count < files; w->files.count++) w->files.items[w->files.count].chunk = 0;
    for (; w->origins.count < origins; w->origins.count++) w->origins.items[w->origins.count].chunk = 0;
    return true;
}

csn_status csni_breakpad_read_chunk(struct csni_breakpad *b, struct csni_breakpad_worker *w, uint32_t index,
                                    struct csni_batch_writer *out, struct csn_error *err) {
    struct job j = { .b = b, .w = w, .chunk = &b->chunks.items[index], .out = out, .index = index, .lines_ascend = true };
    if (!reserve_numbers(w, b)) return csni_fail_memory(err, b->origins.items.count * sizeof *w->origins.items);
    read_chunk_lines(&j);
    return j.failed ? csni_fail_memory(err, 0) : CSN_OK;
}
