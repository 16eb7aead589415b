/* Line tables: of rows at one address the last counts; sequences are cut where others cover the same code. */
#define _GNU_SOURCE
#include "stand_ins/addr2line/bfd_lines.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stand_ins/base/growth.h"
#include "ui/bounds.h"

static bool sorts_after(const struct bfd_row *a, const struct bfd_row *b) {
    return a->addr > b->addr || (a->addr == b->addr && a->op_index > b->op_index);
}

static void push_row(struct bfd_lines *l, const struct bfd_row *row) {
    l->rows = grow_items(l->rows, l->row_count + 1, &l->row_capacity, sizeof *l->rows);
    l->rows[l->row_count++] = *row;
}

/* Appends a row to the sequence that begins at `first`, or puts it where its address belongs. */
static void add_row(struct bfd_lines *l, size_t first, const struct bfd_row *row, bool is_end, bool last_is_end) {
    struct bfd_row *last = l->row_count > first ? &l->rows[l->row_count - 1] : NULL;
    if (last && last->addr == row->addr && last->op_index == row->op_index && is_end == last_is_end) {
        *last = *row;
        return;
    }
    push_row(l, row);
    if (!last || is_end || sorts_after(row, &l->rows[l->row_count - 2])) return;
    size_t at = l->row_count - 1;
    for (; at > first && !sorts_after(row, &l->rows[at - 1]); at--) l->rows[at] = l->rows[at - 1];
    l->rows[at] = *row;
}

static void end_sequence(struct bfd_lines *l, size_t first) {
    struct bfd_sequence made = { .first = first, .count = l->row_count - first, .min = UINT64_MAX };
    for (size_t i = first; i < l->row_count; i++) {
        if (l->rows[i].addr < made.min) made.min = l->rows[i].addr;
        if (l->rows[i].addr > made.max) made.max = l->rows[i].addr;
    }
    made.low = l->rows[first].addr;
    made.end = l->rows[l->row_count - 1].addr;
    l->sequences = grow_items(l->sequences, l->sequence_count + 1, &l->sequence_capacity, sizeof *l->sequences);
    l->sequences[l->sequence_count++] = made;
}

static void read_rows(struct bfd_lines *l) {
    size_t first = 0;
    const struct csn_debug_row *rows = l->lines->rows;
    const uint32_t file_end = l->lines->file_count + (l->lines->version < 5);
    for (size_t i = 0; i < l->lines->row_count; i++) {
        const struct csn_debug_row *r = &rows[i];
        l->has_odd_file |= r->file >= file_end && !(r->flags & CSN_LINE_FILE_UNSET);
        const struct bfd_row row = { r->addr, r->file, r->line, r->discriminator, r->op_index, r->flags & CSN_LINE_FILE_UNSET };
        bool is_end = r->flags & CSN_LINE_END_SEQUENCE;
        add_row(l, first, &row, is_end, false);
        if (!is_end) continue;
        end_sequence(l, first);
        first = l->row_count;
    }
    if (first < l->row_count) end_sequence(l, first);
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

const struct bfd_row *bfd_lines_find(const struct bfd_lines *l, uint64_t addr) {
    size_t low = UPPER_BOUND(l->sequences, l->sequence_count, end, addr);
    if (low == l->sequence_count || addr < l->sequences[low].low) return NULL;
    const struct bfd_row *rows = l->rows + l->sequences[low].first;
    size_t count = l->sequences[low].count, at = UPPER_BOUND(rows, count, addr, addr);
    return at && at < count ? &rows[at - 1] : NULL;
}

