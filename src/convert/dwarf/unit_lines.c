/* Line rows of one unit: which belong to a function. */
#include "base/core/fail.h"
#include "base/core/search.h"
#include "base/core/sort.h"
#include "convert/dwarf/unit_coverage.h"
#include "convert/dwarf/unit_files.h"
#include "convert/dwarf/unit_lines.h"
#include "convert/dwarf/unit_zero.h"

static bool fill_with_zeros(csni_numbers *v, size_t count) {
    if (!csni_vec_reserve(v, count)) return false;
    if (count) memset(v->items, 0, count * sizeof *v->items);
    v->count = count;
    return true;
}

static bool nothing_is_claimed(struct csni_unit_job *job) {
    size_t count = job->lines.rows.count;
    job->row_parts.count = 0;
    if (!csni_vec_reserve(&job->claimed, count)) return false;
    if (count) memset(job->claimed.items, 0, count);
    job->claimed.count = count;
    return true;
}

csn_status csni_unit_read_lines(struct csni_unit_job *job) {
    job->lines_read = true;
    job->by_offset.count = 0;
    struct csn_error err = CSN_ERROR_INIT;
    csn_status status = csni_line_table_read(&job->lines, job->line_dwarf, job->line_unit, &err);
    if (status == CSN_E_MEMORY) return status;
    if (status < 0) csni_batch_note(job->writer, CSN_EVENT_DAMAGED_LINE_TABLE, "%s", csn_error_text(&err));
    CSNI_TRY(csni_unit_charge(job, job->lines.size));
    job->has_lines = status != CSN_NONE && job->lines.version;
    if (job->has_lines) CSNI_TRY(csni_unit_drop_removed_lines(job));
    size_t files = job->has_lines ? job->lines.files.count + 1 : 0;
    size_t directories = job->has_lines ? job->lines.directories.count + 1 : 0;
    bool filled = fill_with_zeros(&job->file_numbers, files) && fill_with_zeros(&job->directories, directories);
    return filled && nothing_is_claimed(job) ? csni_unit_cover_lines(job) : CSN_E_MEMORY;
}

/* ---- which sequences a function's rows come from ---- */

/* Index of the first sequence whose end is above `addr`. */
static size_t first_above(const struct csni_line_table *t, uint64_t addr) {
    return csni_upper_bound(t->sequences.items, t->sequences.count, high, addr);
}

static bool offset_before(const void *context, const void *a, const void *b) {
    const struct csni_line_sequence *s = context;
    return s[*(const uint32_t *)a].off < s[*(const uint32_t *)b].off;
}

/* Mostly they ascend as they are. Cold, as it runs once for a unit, and what is inlined into csni_unit_add_rows() slows down
 * units that do not need it. */
static CSNI_COLD csn_status order_by_offset(struct csni_unit_job *job) {
    const struct csni_line_sequence *s = job->lines.sequences.items;
    size_t count = job->lines.sequences.count;
    if (!csni_vec_reserve(&job->by_offset, count)) return CSN_E_MEMORY;
    job->by_offset.count = count;
    for (uint32_t i = 0; i < count; i++) job->by_offset.items[i] = i;
    if (!csni_is_sorted(job->by_offset.items, count, sizeof *job->by_offset.items, offset_before, s))
        csni_heap_sort(job->by_offset.items, count, sizeof *job->by_offset.items, offset_before, s);
    return CSN_OK;
}

static inline bool is_offset_below(const void *context, size_t index, const void *key) {
    const struct csni_unit_job *job = context;
    return job->lines.sequences.items[job->by_offset.items[index]].off < *(const uint64_t *)key;
}

/* Index of the sequence that DW_AT_LLVM_stmt_sequence names, if it covers `addr`; else SIZE_MAX. */
static size_t sequence_named(const struct csni_unit_job *job, uint64_t off, uint64_t addr) {
    size_t at = csni_search_in(0, job->by_offset.count, is_offset_below, job, &off);
    if (at == job->by_offset.count) return SIZE_MAX;
    const struct csni_line_sequence *found = &job->lines.sequences.items[job->by_offset.items[at]];
    return found->off == off && found->low <= addr && addr < found->high ? job->by_offset.items[at] : SIZE_MAX;
}

/* File, by its number in the unit's line table, and line of a function's declaration. False: it has no file of this unit's. */
static bool find_declaration(const struct csni_unit_job *job, const struct csni_open_function *f, uint64_t *dwarf_file,
                             uint64_t *line, bool *has_line) {
    struct csni_die die, origin;
    bool has_file = false;
    *has_line = false;
    if (f->has_no_die || csni_die_at(job->dwarf, job->unit, f->die_off, &die, NULL) != CSN_OK) return false;
    for (int step = 0; step < 4; step++) {
        if (!has_file) has_file = csni_attr_unsigned(&die, CSNI_AT_DECL_FILE, dwarf_file) == CSN_OK;
        if (!*has_line) *has_line = csni_attr_unsigned(&die, CSNI_AT_DECL_LINE, line) == CSN_OK;
        if (csni_die_follow(job->dwarf, &die, CSNI_AT_ABSTRACT_ORIGIN, &origin, NULL) != CSN_OK &&
            csni_die_follow(job->dwarf, &die, CSNI_AT_SPECIFICATION, &origin, NULL) != CSN_OK)
            break;
        if (origin.unit != job->unit && !has_file) break; /* its file numbers are another table's */
        die = origin;
    }
    return has_file;
}

/* Of the sequences that cover the same code as sequence `first` and begin at `start`, the one that is the function's: linkers
 * leave those of all functions that were folded into one. That is the one which begins where the function is declared, or
 * closest after. */
static csn_status choose_folded_sequence(struct csni_unit_job *job, const struct csni_open_function *f, uint64_t start,
                                         size_t *first) {
    const struct csni_line_sequence *s = job->lines.sequences.items;
    size_t count = job->lines.sequences.count, end = *first + 1, best = *first;
    while (end < count && s[end].high == s[*first].high) end++;
    CSNI_TRY(csni_unit_charge(job, end - *first));
    uint64_t file, line, upper = UINT64_MAX;
    bool has_line;
    if (end == *first + 1 || !find_declaration(job, f, &file, &line, &has_line) || !has_line) return CSN_OK;
    for (size_t i = *first; i < end; i++) {
        if (s[i].low != start || s[i].first_file != file || s[i].first_line < line) continue;
        if (s[i].first_line - line >= upper) continue;
        upper = s[i].first_line - line;
        best = i;
    }
    *first = best;
    return CSN_OK;
}

/* The sequences to read, [*first, *last); false when none covers `start`: *first is then the next one. */
static bool find_sequences(const struct csni_unit_job *job, const struct csni_open_function *f, uint64_t start, size_t *first,
                           size_t *last, bool *bad_name) {
    const struct csni_line_table *t = &job->lines;
    *bad_name = false;
    if (f->has_stmt_sequence) {
        *first = sequence_named(job, f->stmt_sequence, start);
        *last = *first + 1;
        if (*first != SIZE_MAX) return true;
        *bad_name = true;
    }
    *first = first_above(t, start);
    *last = t->sequences.count;
    return *first < *last && t->sequences.items[*first].low <= start;
}

/* ---- rows ---- */

/* Index of the last row of a sequence at or below `addr`, which the sequence covers. */
static uint32_t row_at(const struct csni_line_table *t, const struct csni_line_sequence *s, uint64_t addr) {
    /* The first row is not above, the end row is. */
    return s->first_row + (uint32_t)csni_upper_bound(t->rows.items + s->first_row + 1, s->row_count - 2, addr, addr);
}

/* Where the copying of one function's rows stands. */
struct copying {
    struct csni_unit_job *job;
    uint64_t start, end;
    uint64_t previous;        /* address of the last row, of an earlier sequence too */
    uint32_t file, line;      /* of the last row written, as the batch numbers it */
    size_t given;             /* rows written and superseded */
    bool any;                 /* rows were seen, of whatever address */
    bool stop;                /* the rows from here on are of no use */
};
enum { NO_FILE = UINT32_MAX };

static void note_bad_file(const struct copying *c, const struct csni_line_row *row) {
    csni_batch_note(c->job->writer, CSN_EVENT_LINE_BAD_FILE, "row at 0x%llx of unit 0x%llx names file %u of %zu",
                    (unsigned long long)row->addr, (unsigned long long)c->job->unit->off, row->file,
                    c->job->lines.files.count);
}

static void note_clipped(const struct copying *c, uint64_t addr) {
    csni_batch_note(c->job->writer, CSN_EVENT_LINE_START_CLIPPED, "function at 0x%llx, row at 0x%llx",
                    (unsigned long long)c->start, (unsigned long long)addr);
}

static void note_not_ascending(const struct copying *c, uint64_t addr) {
    csni_batch_note(c->job->writer, CSN_EVENT_LINE_NOT_ASCENDING, "function at 0x%llx, row at 0x%llx after 0x%llx",
                    (unsigned long long)c->start, (unsigned long long)addr, (unsigned long long)c->previous);
}

/* The batch's number of a row's file; NO_FILE, with a note, where there is no such file. */
static csn_status file_of_row(const struct copying *c, const struct csni_line_row *row, uint32_t *out) {
    csn_status status = csni_unit_file(c->job, row->file, out);
    if (status != CSN_NONE) return status;
    note_bad_file(c, row);
    *out = NO_FILE;
    return CSN_OK;
}

/* Copies rows [from, stop) to `out`, which has room for them; returns where it ended. Whatever the rows are like. */
static struct csni_row *copy_any(struct copying *c, const struct csni_line_row *from, const struct csni_line_row *stop,
                                 struct csni_row *out, csn_status *status) {
    const struct csni_row *const first = out;
    for (; from < stop; from++) {
        if (from->file == CSNI_LINE_END) continue;
        uint32_t file;
        *status = file_of_row(c, from, &file);
        if (*status < 0) return out;
        if (file == NO_FILE) continue;
        uint64_t addr = from->addr;
        if (addr >= c->end) continue;
        if (addr < c->start) {
            note_clipped(c, addr);
            addr = c->start;
        }
        if (from->addr < c->previous && c->any) {
            note_not_ascending(c, from->addr);
            c->stop = true;
            break;
        }
        c->previous = from->addr;
        c->any = true;
        if (file == c->file && from->line == c->line) continue;
        c->file = file;
        c->line = from->line;
        c->given++;
        uint32_t off = (uint32_t)(addr - c->start), superseded = 0;
        if (out > first && out[-1].off == off && csni_row_superseded(out[-1]) < CSNI_ROW_SUPERSEDED_MAX)
            superseded = csni_row_superseded(*--out) + 1;
        *out++ = (struct csni_row){ off, file | superseded << CSNI_ROW_FILE_BITS, from->line };
    }
    return out;
}

/* The same for folded rows within the function, `changes` being what was counted before them: which row repeats the one
 * before it, and how many it supersedes, is known by counting. With room for one more: every row is written, and arithmetic
 * says where the next one goes. */
static struct csni_row *copy_folded(struct copying *c, const struct csni_line_row *from, const struct csni_line_row *stop,
                                    uint32_t changes, struct csni_row *out, csn_status *status) {
    const uint32_t *numbers = c->job->file_numbers.items;
    const size_t number_count = c->job->file_numbers.count;
    const uint64_t start = c->start;
    c->given += stop[-1].changes - changes;
    for (; from < stop; from++) {
        uint32_t file = from->file < number_count ? numbers[from->file] - 1 : NO_FILE;
        if (file == NO_FILE) {
            *status = file_of_row(c, from, &file);
            if (*status < 0) return out;
            if (file == NO_FILE) continue;
        }
        uint32_t now = from->changes - changes, off = (uint32_t)(from->addr - start);
        changes = from->changes;
        for (; now > CSNI_ROW_SUPERSEDED_MAX + 1; now -= CSNI_ROW_SUPERSEDED_MAX + 1)
            *out++ = (struct csni_row){ off, file | (uint32_t)CSNI_ROW_SUPERSEDED_MAX << CSNI_ROW_FILE_BITS, from->line };
        *out = (struct csni_row){ off, file | (now - 1) << CSNI_ROW_FILE_BITS, from->line };
        out += now > 0;
    }
    c->any = true;
    c->previous = stop[-1].addr;
    c->line = stop[-1].line;
    *status = file_of_row(c, stop - 1, &c->file);
    return out;
}

/* Rows of one sequence, to after those that the batch has. */
static csn_status copy_sequence(struct copying *c, const struct csni_line_sequence *s, uint32_t row, uint32_t stop) {
    struct csni_batch_writer *w = c->job->writer;
    const struct csni_line_row *rows = c->job->lines.rows.items;
    bool folded = s->folded && s->low >= c->previous;
    /* Of the rows at or before the function's start only the last counts. The first row of a sequence that begins
     * after it may supersede others, and the first of those may repeat the last row of the sequence before. */
    uint32_t one = folded && s->low > c->start ? row : row + 1, changes = rows[row].changes;
    if (one == row) {
        const struct csni_line_row first_row = { s->low, s->first_file, s->first_line, 1 };
        uint32_t file;
        CSNI_TRY(file_of_row(c, &first_row, &file));
        changes = file == c->file && s->first_line == c->line;
    }
    size_t many = folded ? (rows[stop - 1].changes - changes) / (CSNI_ROW_SUPERSEDED_MAX + 1) : 0;
    CSNI_TRY(csni_unit_charge(c->job, many));
    struct csni_row *out = csni_batch_reserve_rows(w, (size_t)(stop - row) + many + 1);
    if (!out) return CSN_E_MEMORY;
    size_t before = w->rows.count, given = c->given;
    csn_status status = CSN_OK;
    out = copy_any(c, rows + row, rows + (folded ? one : stop), out, &status);
    if (folded && status == CSN_OK && one < stop) out = copy_folded(c, rows + one, rows + stop, changes, out, &status);
    csni_batch_commit_rows(w, (size_t)(out - w->rows.items) - before, c->given - given);
    return status;
}

/* Of a function's first and last row it may have a part only. */
static bool claim_rows(struct csni_unit_job *job, uint32_t row, uint32_t stop, uint64_t start, uint64_t end) {
    const struct csni_line_row *rows = job->lines.rows.items;
    memset(job->claimed.items + row, 1, stop - row);
    return (rows[row].addr >= start ||
            csni_vec_push(&job->row_parts, ((struct csni_row_part){ rows[row].addr, start, row }))) &&
           (rows[stop].addr <= end ||
            csni_vec_push(&job->row_parts, ((struct csni_row_part){ end, rows[stop].addr, stop - 1 })));
}

static csn_status copy_unit_rows(struct csni_unit_job *job, size_t first, size_t last, uint64_t start, uint64_t end) {
    const struct csni_line_table *t = &job->lines;
    struct copying c = { .job = job, .start = start, .end = end, .file = NO_FILE };
    uint64_t covered = 0; /* up to here by the sequences before; removed code leaves sequences that overlap live ones */
    /* The reference reads them all, and which of folded functions it puts on top depends on how many rows each has. */
    bool all = job->conversion->options.merged_functions == CSN_MERGE_LLVM;
    for (size_t i = first; i < last && covered < end && t->sequences.items[i].low < end && !c.stop; i++) {
        const struct csni_line_sequence *s = &t->sequences.items[i];
        CSNI_TRY(csni_unit_charge(job, 1));
        if (s->low < covered) continue;
        if (!all) covered = s->high;
        uint32_t row = s->low <= start ? row_at(t, s, start) : s->first_row;
        uint32_t stop = end - 1 < s->high ? row_at(t, s, end - 1) + 1 : s->first_row + s->row_count;
        uint32_t end_row = s->first_row + s->row_count - 1;
        if (stop > end_row) stop = end_row;
        if (stop <= row) continue;
        CSNI_TRY(csni_unit_charge(job, stop - row));
        if (!claim_rows(job, row, stop, start, end)) return CSN_E_MEMORY;
        CSNI_TRY(copy_sequence(&c, s, row, stop));
    }
    return CSN_OK;
}

/* What has no rows still has the place of its declaration. */
csn_status csni_unit_add_declaration(struct csni_unit_job *job, const struct csni_open_function *f) {
    uint64_t dwarf_file, line;
    bool has_line;
    if (!find_declaration(job, f, &dwarf_file, &line, &has_line)) return CSN_OK;
    uint32_t file;
    csn_status status = csni_unit_file(job, dwarf_file, &file);
    if (status == CSN_OK && has_line) csni_batch_add_row(job->writer, 0, file, (uint32_t)line);
    if (status == CSN_NONE)
        csni_batch_note(job->writer, CSN_EVENT_DECL_BAD_FILE, "DIE 0x%llx names file %llu of %zu",
                        (unsigned long long)f->die_off, (unsigned long long)dwarf_file, job->lines.files.count);
    return status < 0 ? status : CSN_OK;
}

/* Whether a call is inlined there, of which the row at `addr` would tell the place, and not of the function. */
static bool is_inlined_at(const struct csni_unit_job *job, const struct csni_open_function *f, uint64_t addr) {
    for (size_t i = f->first_range + f->range_count; i < job->ranges.count; i++)
        if (addr >= job->ranges.items[i].low && addr < job->ranges.items[i].high) return true;
    return false;
}

/* Up to its first row a function has the line of its declaration; without one, line 0 of the first row's file, because
 * readers do not find a function at all before its first row. Where a call is
 * inlined, the declaration says nothing of the place. */
static csn_status add_first_row(struct csni_unit_job *job, const struct csni_open_function *f, size_t first, uint64_t start,
                                uint64_t end) {
    const struct csni_line_table *t = &job->lines;
    const bool has_rows = first != t->sequences.count && t->sequences.items[first].low < end;
    if (!has_rows || !is_inlined_at(job, f, start)) CSNI_TRY(csni_unit_add_declaration(job, f));
    bool declared = job->writer->functions.items[job->writer->functions.count - 1].row_count > 0;
    if (declared || !has_rows) return CSN_OK;
    uint32_t file;
    csn_status status = csni_unit_file(job, t->sequences.items[first].first_file, &file);
    if (status == CSN_OK) csni_batch_add_row(job->writer, 0, file, 0);
    return status < 0 ? status : CSN_OK;
}

csn_status csni_unit_add_rows(struct csni_unit_job *job, const struct csni_open_function *f, uint64_t start, uint64_t end) {
    if (job->writer->failed) return CSN_E_MEMORY;
    if (!job->has_lines) return CSN_OK;
    if (f->has_stmt_sequence && job->by_offset.count != job->lines.sequences.count) CSNI_TRY(order_by_offset(job));
    size_t first, last;
    bool bad_name;
    /* Rows that begin late are what GCC leaves for some cold parts. */
    bool merging = job->conversion->options.merged_functions == CSN_MERGE_ALL ||
                   job->conversion->options.merged_functions == CSN_MERGE_ALIASES;
    if (!find_sequences(job, f, start, &first, &last, &bad_name)) CSNI_TRY(add_first_row(job, f, first, start, end));
    else if (merging && last != first + 1) CSNI_TRY(choose_folded_sequence(job, f, start, &first));
    if (bad_name)
        csni_batch_note(job->writer, CSN_EVENT_LINE_BAD_SEQUENCE, "DIE 0x%llx names the sequence at .debug_line+0x%llx",
                        (unsigned long long)f->die_off, (unsigned long long)f->stmt_sequence);
    return copy_unit_rows(job, first, last, start, end);
}
