/* One function of Go's table: its record, with the rows that the record's lists give. */
#include "go/go_private.h"

#include <inttypes.h>

static unsigned go_entry_size(const struct csni_go_table *t) {
    return t->version >= CSNI_GO_1_18 ? 4 : t->pointer_size;
}

/* A 4-byte field, GO_FUNC_ */
static bool record_field(const struct csni_go_table *t, const struct csni_go_record *record, unsigned field, uint32_t *out) {
    uint64_t v;
    if (!csni_go_number_at(record->bytes, go_entry_size(t) + 4 * (uint64_t)field, 4, t->big_endian, &v)) return false;
    *out = (uint32_t)v;
    return true;
}

/* Where function `index` begins, or the last one ends: entries are pairs of address and record. */
static bool entry_addr(const struct csni_go_table *t, uint64_t index, uint64_t *out) {
    unsigned size = go_entry_size(t);
    uint64_t off = 2 * index * size, v;
    if (t->version >= CSNI_GO_1_18) {
        if (!csni_go_number_at(t->functions, off, 4, t->big_endian, &v)) return false;
        *out = (t->text_start + v) << t->entry_shift;
        return true;
    }
    /* A pointer, which the dynamic linker may have to write. */
    uint64_t addr = t->addr + (uint64_t)(t->functions.ptr - t->bytes.ptr) + off;
    if (t->image.pointer_count) return csni_go_pointer_at(t, addr, out);
    return csni_go_number_at(t->functions, off, size, t->big_endian, out);
}

static csn_status open_record(const struct csni_go_table *t, uint64_t index, struct csni_go_record *out,
                              struct csn_error *err) {
    unsigned size = go_entry_size(t);
    uint64_t off = 0;
    bool found = csni_go_number_at(t->functions, (2 * index + 1) * size, size, t->big_endian, &off);
    struct csni_span base = t->version == CSNI_GO_1_2 ? t->bytes : t->functions;
    static const uint8_t words[] = { GO_FUNC_WORDS_1_2, GO_FUNC_WORDS_1_16, GO_FUNC_WORDS_1_18, GO_FUNC_WORDS_1_20 };
    uint64_t fixed = size + 4 * (uint64_t)words[t->version], place = (uint64_t)(base.ptr - t->bytes.ptr) + off;
    *out = (struct csni_go_record){ .bytes = found ? csni_span_from(base, off) : (struct csni_span){ NULL, 0 } };
    if (out->bytes.size < fixed)
        return csni_fail(err, CSN_E_TRUNCATED, CSNI_GO_SECTION, place,
                         "record of function %" PRIu64 ": %zu bytes left, need %" PRIu64, index, out->bytes.size, fixed);
    out->addr = t->addr + place;
    record_field(t, out, GO_FUNC_PC_DATA_COUNT, &out->pc_data_count);
    out->func_data_count = out->bytes.ptr[fixed - 1]; /* a byte since 1.12; before, a number whose low byte is elsewhere */
    out->pc_data = fixed;
    out->func_data = fixed + 4 * (uint64_t)out->pc_data_count;
    if (t->version < CSNI_GO_1_18) /* pointers stand aligned in memory */
        out->func_data += -(out->addr + out->func_data) & (t->pointer_size - 1u);
    return CSN_OK;
}

/* ---- rows ---- */

static bool add_go_row(struct csni_go_reader *r, uint32_t off, uint32_t file, int32_t line) {
    if (r->rows.count) {
        struct csni_go_row *last = &r->rows.items[r->rows.count - 1];
        if (last->file == file && last->line == (uint32_t)line) return true;
    }
    return csni_vec_push(&r->rows, ((struct csni_go_row){ off, file, line > 0 ? (uint32_t)line : 0 }));
}

/* Both lists ascend: a row wherever one of them changes. */
static bool make_rows(struct csni_go_reader *r, uint32_t unit) {
    size_t f = 0;
    for (size_t l = 0; l < r->lines.count; l++) {
        const struct csni_go_value *line = &r->lines.items[l];
        for (uint32_t at = line->start; at < line->end;) {
            while (f < r->files.count && r->files.items[f].end <= at) f++;
            const struct csni_go_value *file = f < r->files.count ? &r->files.items[f] : NULL;
            bool inside = file && file->start <= at;
            uint32_t number = inside ? csni_go_file_number(r->table, unit, file->value) : CSNI_GO_NO_FILE;
            if (!add_go_row(r, at, number, line->value)) return false;
            uint32_t next = !file ? line->end : inside ? file->end : file->start;
            at = next < line->end ? next : line->end;
        }
    }
    return true;
}

/* The lists of a function end where its code does, before the filling up to the next one. */
static csn_status read_go_rows(struct csni_go_reader *r, struct csni_go_record *record, uint32_t unit,
                               struct csn_error *err) {
    uint32_t pc_file, pc_line, end, file_end;
    record_field(r->table, record, GO_FUNC_PC_FILE, &pc_file);
    record_field(r->table, record, GO_FUNC_PC_LINE, &pc_line);
    csn_status lines = csni_go_read_values(r, pc_line, record->size, &r->lines, &end, err);
    if (lines == CSN_E_MEMORY || lines == CSN_E_LIMIT) return lines;
    csn_status files = csni_go_read_values(r, pc_file, record->size, &r->files, &file_end, lines < 0 ? NULL : err);
    if (files == CSN_E_MEMORY || files == CSN_E_LIMIT) return files;
    if (lines >= 0 && end && end < record->size) record->size = end;
    if (!make_rows(r, unit)) return csni_fail_memory(err, 1);
    return lines < 0 ? lines : files;
}

/* ---- function ---- */

static csn_status read_bounds(const struct csni_go_table *t, uint64_t index, struct csni_go_function *out,
                              struct csn_error *err) {
    uint64_t start, end;
    if (!entry_addr(t, index, &start) || !entry_addr(t, index + 1, &end))
        return csni_fail(err, CSN_E_TRUNCATED, CSNI_GO_SECTION, 0, "function %" PRIu64 " has no address", index);
    if (end < start || end - start > UINT32_MAX)
        return csni_fail(err, CSN_E_FORMAT, CSNI_GO_SECTION, 0, "function %" PRIu64 " at 0x%" PRIx64 ", the next at 0x%" PRIx64,
                         index, start, end);
    if (end == start) return CSN_NONE;
    out->start = start;
    out->end = end;
    return CSN_OK;
}

static csn_status read_go_record(struct csni_go_reader *r, uint64_t index, struct csni_go_function *out,
                                 struct csn_error *err) {
    struct csni_go_record record;
    uint32_t name, unit = 0;
    CSNI_TRY(open_record(r->table, index, &record, err));
    record_field(r->table, &record, GO_FUNC_NAME, &name);
    CSNI_TRY(csni_go_name(r, name, &out->name, err));
    record.size = (uint32_t)(out->end - out->start);
    if (r->table->version != CSNI_GO_1_2) record_field(r->table, &record, GO_FUNC_UNIT, &unit);
    CSNI_TRY(read_go_rows(r, &record, unit, err));
    out->end = out->start + record.size;
    return csni_go_read_calls(r, &record, unit, err);
}

csn_status csni_go_read_function(struct csni_go_reader *r, uint64_t index, struct csni_go_function *out,
                                 struct csn_error *err) {
    *out = (struct csni_go_function){ .name = { "", 0 } };
    r->rows.count = r->calls.count = r->parts.count = r->files.count = r->lines.count = 0;
    csn_status status = read_bounds(r->table, index, out, err);
    if (status != CSN_OK) return status;
    status = read_go_record(r, index, out, err);
    out->rows = r->rows.items;
    out->row_count = r->rows.count;
    out->calls = r->calls.items;
    out->call_count = r->calls.count;
    out->parts = r->parts.items;
    return status;
}
