/* Rows by meaning. */
#include "diff/diff_rows.h"

#include <string.h>

#include "input/read_budget.h"
#include "ui/path_text.h"

struct diff_path diff_path_of(const struct csn_index *index, uint32_t idx) {
    struct diff_path path = { { "", 0 }, { "", 0 } };
    if (idx) csn_index_file(index, idx, &path.directory, &path.base, NULL);
    return path;
}

/* A path as its pieces: directory, separator, base. */
struct pieces {
    struct csn_str at[3];
    char separator;
    unsigned k;
};

static void cut(struct pieces *pieces, struct diff_path path) {
    pieces->separator = path_separator(path.directory, path.base);
    pieces->at[0] = path.directory;
    pieces->at[1] = (struct csn_str){ &pieces->separator, pieces->separator != 0 };
    pieces->at[2] = path.base;
    pieces->k = 0;
}

/* The piece that is not used up; NULL at the end of the path. */
static struct csn_str *current(struct pieces *pieces) {
    while (pieces->k < 3 && !pieces->at[pieces->k].len) pieces->k++;
    return pieces->k < 3 ? &pieces->at[pieces->k] : NULL;
}

static void take(struct csn_str *piece, size_t size) {
    piece->ptr += size;
    piece->len -= size;
}

int diff_paths_compare(struct diff_path a, struct diff_path b) {
    struct pieces left, right;
    cut(&left, a);
    cut(&right, b);
    for (;;) {
        struct csn_str *x = current(&left), *y = current(&right);
        if (!x || !y) return (x != NULL) - (y != NULL);
        size_t size = x->len < y->len ? x->len : y->len;
        int order = memcmp(x->ptr, y->ptr, size);
        if (order) return order < 0 ? -1 : 1;
        take(x, size);
        take(y, size);
    }
}

bool diff_paths_equal(struct diff_path a, struct diff_path b) {
    return diff_paths_compare(a, b) == 0;
}

csn_status diff_rows_init(struct diff_rows *rows, const struct csn_index *index, const struct csn_record *record,
                          uint64_t size, uint64_t *left, struct csn_error *err) {
    *rows = (struct diff_rows){ .index = index, .left = left, .start = record->start, .size = size };
    csn_status status = csn_row_iter_init(&rows->iter, index, record, err);
    if (status < 0) return status;
    rows->status = csn_row_iter_next(&rows->iter, &rows->ahead, err);
    return rows->status < 0 ? rows->status : CSN_OK;
}

/* Comparing texts is that much faster than reading rows. */
enum { PATH_PIECE = 16 };

static bool repeats(const struct diff_rows *rows, const struct diff_row *row) {
    if (row->line != rows->last.line) return false;
    return row->file == rows->last.file ||
           (row->file && rows->last.file &&
            diff_paths_equal(diff_path_of(rows->index, row->file), diff_path_of(rows->index, rows->last.file)));
}

csn_status diff_rows_next(struct diff_rows *rows, struct diff_row *out, struct csn_error *err) {
    while (rows->status == CSN_OK) {
        struct csn_row row = rows->ahead;
        rows->status = csn_row_iter_next(&rows->iter, &rows->ahead, err);
        if (rows->status < 0) return rows->status;
        if (rows->status == CSN_OK && rows->ahead.addr == row.addr) continue;
        if (rows->size && row.addr - rows->start >= rows->size) continue;
        struct diff_row found = { row.addr - rows->start, row.file, row.line };
        struct diff_path path = diff_path_of(rows->index, row.file);
        if (!read_budget_spend(rows->left, 1 + (path.directory.len + path.base.len) / PATH_PIECE)) return CSN_E_LIMIT;
        *rows->suspect |= row.file && (!path.directory.len || !path.base.len);
        if (!path.directory.len && !path.base.len) found.file = found.line = 0;
        if (repeats(rows, &found)) continue;
        *out = rows->last = found;
        return CSN_OK;
    }
    return CSN_NONE;
}
