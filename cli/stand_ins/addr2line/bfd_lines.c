/* Line tables: of rows at one address the last counts; sequences are cut where others cover the same code. */
#define _GNU_SOURCE
#include "stand_ins/addr2line/bfd_lines.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stand_ins/base/growth.h"

static bool sorts_after(const struct bfd_row *a, const struct bfd_row *b) {
    return a->addr > b->addr || (a->addr == b->addr && a->op_index > b->op_index);
}

static void push_row(struct bfd_lines *l, const struct bfd_row *row) {
    l->rows = grow_items(l->rows, l->row_count + 1, &l->row_capacity, sizeof *l->rows);
    l->rows[l->row_count++] = *row;
}

enum { MAX_MOVES = 1 << 24 }; /* of rows of one table, before those that are out of order are sorted at the end */

/* A sequence that is read. */
struct reading {
    struct bfd_lines *lines;
    size_t first, highest;   /* rows */
    size_t head;             /* BFD's: the row above the one that was put in last; it finds the place of the next one sooner */
    uint64_t low;            /* as BFD has it: rows that it puts in by `head` do not count */
    uint64_t moves;          /* of all sequences */
    bool is_disordered;
};

/* The first row of the sequence that the row does not sort after. */
static size_t find_place(const struct reading *r, const struct bfd_row *row) {
    const struct bfd_lines *l = r->lines;
    size_t at = r->first;
    for (size_t end = l->row_count; at < end;) {
        const size_t middle = at + (end - at) / 2;
        if (sorts_after(row, &l->rows[middle])) at = middle + 1;
        else end = middle;
    }
    return at;
}

static void put_in_place(struct reading *r, const struct bfd_row *row) {
    struct bfd_lines *l = r->lines;
    const bool is_by_head =
        !sorts_after(row, &l->rows[r->head]) && (r->head == r->first || sorts_after(row, &l->rows[r->head - 1]));
    const size_t at = is_by_head ? r->head : find_place(r, row);
    r->moves += l->row_count - at;
    push_row(l, row);
    memmove(l->rows + at + 1, l->rows + at, (l->row_count - 1 - at) * sizeof *row);
    l->rows[at] = *row;
    r->head = at + 1;
    r->highest++;
    if (!is_by_head && row->addr < r->low) r->low = row->addr;
}

/* Appends a row to the sequence, or puts it where its address belongs. */
static void add_row(struct reading *r, const struct bfd_row *row, bool is_end) {
    struct bfd_lines *l = r->lines;
    struct bfd_row *highest = l->row_count > r->first ? &l->rows[r->highest] : NULL;
    if (highest && !is_end && highest->addr == row->addr && highest->op_index == row->op_index) {
        *highest = *row;
        return;
    }
    const bool is_highest = !highest || sorts_after(row, highest);
    if (!is_highest && !is_end && !r->is_disordered && r->moves < MAX_MOVES) {
        put_in_place(r, row);
        return;
    }
    push_row(l, row);
    if (!highest) r->low = row->addr, r->head = r->first;
    if (is_highest) r->highest = l->row_count - 1;
    else if (!is_end) r->is_disordered = true;
    if (r->is_disordered && row->addr < r->low) r->low = row->addr;
}

static int by_place(const void *pa, const void *pb) {
    const struct bfd_row *const *a = pa, *const *b = pb;
    if (sorts_after(*a, *b) || sorts_after(*b, *a)) return sorts_after(*a, *b) ? 1 : -1;
    return *a < *b ? 1 : -1;
}

/* Rows ascend; of several at one address those that came later are first, but for one that was the highest of all when it came. */
static void sort_rows(struct bfd_row *rows, size_t count) {
    const struct bfd_row **order = zeroed_memory(count, sizeof *order);
    struct bfd_row *sorted = zeroed_memory(count, sizeof *sorted);
    for (size_t i = 0; i < count; i++) order[i] = &rows[i];
    qsort(order, count, sizeof *order, by_place);
    for (size_t i = 0; i < count; i++) sorted[i] = *order[i];
    memcpy(rows, sorted, count * sizeof *rows);
    free(sorted);
    free(order);
}

static void end_sequence(struct bfd_lines *l, size_t first, uint64_t low) {
    struct bfd_sequence made = { .first = first, .count = l->row_count - first, .min = UINT64_MAX };
    for (size_t i = first; i < l->row_count; i++) {
        if (l->rows[i].addr < made.min) made.min = l->rows[i].addr;
        if (l->rows[i].addr > made.max) made.max = l->rows[i].addr;
    }
    made.low = low;
    made.end = l->rows[l->row_count - 1].addr;
    l->sequences = grow_items(l->sequences, l->sequence_count + 1, &l->sequence_capacity, sizeof *l->sequences);
    l->sequences[l->sequence_count++] = made;
}

static void end_reading(struct reading *r, bool has_end) {
    struct bfd_lines *l = r->lines;
    if (r->is_disordered) sort_rows(l->rows + r->first, l->row_count - r->first - has_end);
    end_sequence(l, r->first, r->low);
    *r = (struct reading){ .lines = l, .first = l->row_count, .moves = r->moves };
}

static void read_rows(struct bfd_lines *l) {
    struct reading reading = { .lines = l };
    const struct csn_debug_row *rows = l->lines->rows;
    const uint32_t file_end = l->lines->file_count + (l->lines->version < 5);
    for (size_t i = 0; i < l->lines->row_count; i++) {
        const struct csn_debug_row *r = &rows[i];
        l->has_odd_file |= r->file >= file_end && !(r->flags & CSN_LINE_FILE_UNSET);
        const struct bfd_row row = { r->addr, r->file, r->line, r->discriminator, r->op_index, r->flags & CSN_LINE_FILE_UNSET };
        bool is_end = r->flags & CSN_LINE_END_SEQUENCE;
        add_row(&reading, &row, is_end);
        if (is_end) end_reading(&reading, true);
    }
    if (reading.first < l->row_count) end_reading(&reading, false);
}

/* By start, the longer first; of equal ones, the later in the table first. */
static int by_start(const void *pa, const void *pb) {
    const struct bfd_sequence *a = pa, *b = pb;
    if (a->low != b->low) return a->low < b->low ? -1 : 1;
    if (a->end != b->end) return a->end > b->end ? -1 : 1;
    return a->first > b->first ? -1 : 1;
}

static void cut_overlaps(struct bfd_lines *l) {
    if (!l->sequence_count) return;
    struct bfd_sequence *s = l->sequences;
    size_t kept = 1;
    qsort(s, l->sequence_count, sizeof *s, by_start);
    uint64_t end = s[0].end;
    for (size_t i = 1; i < l->sequence_count; i++) {
        if (s[i].low < end) {
            if (s[i].end <= end) continue;
            s[i].low = end;
        }
        end = s[i].end;
        s[kept++] = s[i];
    }
    l->sequence_count = kept;
}

/* ---- paths ---- */

static bool is_absolute(struct csn_str path) { return path.len && path.ptr[0] == '/'; }

/* "MACHINE.:/dir", as IRIX's compiler has it. */
static struct csn_str plain_comp_dir(struct csn_str dir) {
    const char *colon = dir.len ? memchr(dir.ptr, ':', dir.len) : NULL;
    if (!colon || colon == dir.ptr || colon[-1] != '.' || colon + 1 == dir.ptr + dir.len || colon[1] != '/') return dir;
    return (struct csn_str){ colon + 1, (size_t)(dir.ptr + dir.len - colon - 1) };
}

static char *make_path(struct bfd_lines *l, uint32_t file) {
    struct csn_str directory, name;
    uint64_t idx;
    if (!l->lines && csn_debug_unit_lines(l->unit, &l->lines, NULL) != CSN_OK) return copy_text("", 0);
    if ((l->lines->version < 5 && !file) || csn_debug_lines_file(l->lines, file, &directory, &name, &idx) != CSN_OK)
        return copy_text("<unknown>", 9);
    if (is_absolute(name)) return copy_text(name.ptr, name.len);
    struct csn_str around = { "", 0 };
    bool has_directory = csn_debug_lines_directory(l->lines, idx, &directory) == CSN_OK && (l->lines->version >= 5 || idx);
    if (!has_directory || !is_absolute(directory)) around = plain_comp_dir(l->lines->comp_dir);
    if (!around.len && has_directory) {
        around = directory;
        has_directory = false;
    }
    if (!around.len) return copy_text(name.ptr, name.len);
    if (!has_directory) return formatted_text("%.*s/%.*s", (int)around.len, around.ptr, (int)name.len, name.ptr);
    return formatted_text("%.*s/%.*s/%.*s", (int)around.len, around.ptr, (int)directory.len, directory.ptr,
                          (int)name.len, name.ptr);
}

const char *bfd_lines_path(struct bfd_lines *l, uint32_t file, bool unset) {
    if (unset && l->version >= 5) file = 0;
    size_t slot = file <= l->file_count ? file : (size_t)l->file_count + 1;
    if (unset && !l->file_count) return NULL;
    if (!l->paths[slot]) l->paths[slot] = make_path(l, file);
    return l->paths[slot][0] ? l->paths[slot] : NULL;
}

/* Those of all rows, after which the table is not needed: its rows are as large as ours. */
static void make_paths(struct bfd_lines *l) {
    for (size_t i = 0; i < l->row_count; i++) (void)bfd_lines_path(l, l->rows[i].file, l->rows[i].file_unset);
    csn_debug_lines_free(l->lines);
    l->lines = NULL;
}

/* ---- reading and finding ---- */

struct bfd_lines *bfd_lines_read(const struct csn_debug_unit *unit) {
    struct csn_debug_lines *lines;
    if (csn_debug_unit_lines(unit, &lines, NULL) != CSN_OK) return NULL;
    struct bfd_lines *l = zeroed_memory(1, sizeof *l);
    l->unit = unit;
    l->lines = lines;
    l->file_count = lines->file_count;
    l->version = lines->version;
    l->is_damaged = lines->is_damaged;
    l->paths = zeroed_memory((size_t)l->file_count + 2, sizeof *l->paths);
    read_rows(l);
    l->rows = fit_items(l->rows, l->row_count, &l->row_capacity, sizeof *l->rows);
    l->all_count = l->sequence_count;
    l->all = zeroed_memory(l->all_count, sizeof *l->all);
    if (l->all_count) memcpy(l->all, l->sequences, l->all_count * sizeof *l->all);
    cut_overlaps(l);
    make_paths(l);
    return l;
}

void bfd_lines_free(struct bfd_lines *l) {
    if (!l) return;
    for (size_t i = 0; i < (size_t)l->file_count + 2; i++) free(l->paths[i]);
    free(l->paths);
    free(l->rows);
    free(l->sequences);
    free(l->all);
    csn_debug_lines_free(l->lines);
    free(l);
}

/* The sequence of an address, or NULL. One that ends before it begins is in the way of others, as in BFD. */
static const struct bfd_sequence *find_sequence(const struct bfd_lines *l, uint64_t addr) {
    for (size_t begin = 0, end = l->sequence_count; begin < end;) {
        const size_t middle = begin + (end - begin) / 2;
        const struct bfd_sequence *s = &l->sequences[middle];
        if (addr < s->low) end = middle;
        else if (addr >= s->end) begin = middle + 1;
        else return s;
    }
    return NULL;
}

const struct bfd_row *bfd_lines_find(const struct bfd_lines *l, uint64_t addr) {
    const struct bfd_sequence *s = find_sequence(l, addr);
    if (!s) return NULL;
    const struct bfd_row *rows = l->rows + s->first;
    size_t begin = 0, middle = 0;
    for (size_t end = s->count; begin < end;) { /* the end of a sequence may lie below other rows: what is found depends on the way */
        middle = begin + (end - begin) / 2;
        if (addr < rows[middle].addr) end = middle;
        else if (middle + 1 < s->count && addr >= rows[middle + 1].addr) begin = middle + 1;
        else break;
    }
    const bool is_found = middle + 1 < s->count && addr >= rows[middle].addr && addr < rows[middle + 1].addr;
    return is_found ? &rows[middle] : NULL;
}
