/* The indexes of a package of split DWARF. */
#include "dwarf/dwarf_package.h"

#include <inttypes.h>

#include "base/core/cursor.h"
#include "base/core/fail.h"
#include "base/core/search.h"
#include "base/core/sort.h"
#include "dwarf/dwarf.h"

/* Numbers of sections in column heads. */
enum { SECT_INFO = 1, SECT_TYPES = 2, SECT_ABBREV = 3, SECT_STR_OFFSETS = 6, SECT_RNGLISTS = 8 };

/* Tables are at most two thirds full, so that real ones need a few steps. */
enum { MAX_PROBES = 1024 };

/* Where a unit's parts begin. */
struct row {
    uint64_t unit_off, unit_size;
    uint64_t abbrev, str_offsets, rnglists;
};

/* One index; offsets are in its section. */
struct index {
    const char *name;
    struct csni_span section;
    bool big;
    uint32_t version, columns, units, slots;
    uint64_t signatures, row_numbers, offsets, sizes;
    uint32_t unit_column, abbrev_column, str_offsets_column, rnglists_column; /* NO_COLUMN: there is none */
    uint64_t unit_section, abbrev_section, str_offsets_section, rnglists_section; /* sizes of what offsets are in */
    uint64_t *unit_offs;      /* by number of row, where 32 bits do not tell them; NULL: they do */
    struct row *rows;         /* by unit_off */
    uint32_t row_count;
};
enum { NO_COLUMN = UINT32_MAX };

struct csni_package {
    const struct csn_allocator *alloc;
    struct index cu, tu;
};

static uint64_t get(const struct index *x, uint64_t off, unsigned size) {
    return csni_get_sized(x->section.ptr + off, size, x->big);
}

static uint32_t cell(const struct index *x, uint64_t table, uint32_t row, uint32_t column) {
    if (column == NO_COLUMN) return 0;
    return (uint32_t)get(x, table + 4 * ((uint64_t)row * x->columns + column), 4);
}

/* ---- reading ---- */

/* Heads of columns; of a section that stands twice, the first counts. */
static void read_columns(struct index *x, bool of_types) {
    uint64_t heads = x->offsets - 4 * (uint64_t)x->columns;
    uint32_t unit_section = of_types && x->version == 2 ? SECT_TYPES : SECT_INFO;
    x->unit_column = x->abbrev_column = x->str_offsets_column = x->rnglists_column = NO_COLUMN;
    for (uint32_t i = x->columns; i-- > 0;) {
        uint64_t section = get(x, heads + 4 * (uint64_t)i, 4);
        if (section == unit_section) x->unit_column = i;
        else if (section == SECT_ABBREV) x->abbrev_column = i;
        else if (section == SECT_STR_OFFSETS) x->str_offsets_column = i;
        else if (section == SECT_RNGLISTS && x->version == 5) x->rnglists_column = i;
    }
}

static csn_status read_package_header(struct index *x, struct csn_error *err) {
    struct csni_cursor c = csni_cursor_at(x->section, x->big);
    x->version = csni_cursor_u32(&c);
    if (x->version != 2) { /* version 5 has two bytes for it, and two of padding */
        csni_cursor_seek(&c, 0);
        x->version = csni_cursor_u16(&c);
        csni_cursor_u16(&c);
    }
    x->columns = csni_cursor_u32(&c);
    x->units = csni_cursor_u32(&c);
    x->slots = csni_cursor_u32(&c);
    if (c.failed)
        return csni_fail(err, CSN_E_TRUNCATED, x->name, 0, "header has 16 bytes, the section %zu", x->section.size);
    if (x->version != 2 && x->version != 5)
        return csni_fail(err, CSN_E_UNSUPPORTED, x->name, 0, "index has version %" PRIu32 ", need 2 or 5", x->version);
    if (x->slots & (x->slots - 1))
        return csni_fail(err, CSN_E_FORMAT, x->name, 12, "hash table has %" PRIu32 " slots, need a power of two", x->slots);
    x->signatures = 16;
    x->row_numbers = x->signatures + 8 * (uint64_t)x->slots;
    uint64_t heads = x->row_numbers + 4 * (uint64_t)x->slots;
    x->offsets = heads + 4 * (uint64_t)x->columns;
    uint64_t left = x->offsets < x->section.size ? x->section.size - x->offsets : 0;
    if (x->offsets > x->section.size || (x->columns && x->units > left / 8 / x->columns))
        return csni_fail(err, CSN_E_TRUNCATED, x->name, 0,
                         "index of %" PRIu32 " slots, %" PRIu32 " units and %" PRIu32 " columns, the section has %zu bytes",
                         x->slots, x->units, x->columns, x->section.size);
    x->sizes = x->offsets + 4 * (uint64_t)x->units * x->columns;
    return CSN_OK;
}

static bool row_before(const void *context, const void *pa, const void *pb) {
    (void)context;
    const struct row *a = pa, *b = pb;
    return a->unit_off != b->unit_off ? a->unit_off < b->unit_off : a->abbrev < b->abbrev;
}

/* Mostly they ascend already. */
static void sort_rows(struct row *rows, size_t count) {
    if (!csni_is_sorted(rows, count, sizeof *rows, row_before, NULL)) csni_heap_sort(rows, count, sizeof *rows, row_before, NULL);
}

/* A column of offsets into `size` bytes, by number of row. */
struct offset_column {
    const struct index *x;
    uint64_t size, high, last, last_size;
    uint32_t column;
    bool is_wrong;
};

static struct offset_column column_of(const struct index *x, uint32_t column, uint64_t size) {
    return (struct offset_column){ .x = x, .column = column, .size = size };
}

/* Parts that stand in the order of the rows: an offset that is less than the one before is one of the next 4 GiB.
 * Rows of one file may share a part. */
static uint64_t next_offset(struct offset_column *c, uint32_t row) {
    const uint64_t off = cell(c->x, c->x->offsets, row, c->column), size = cell(c->x, c->x->sizes, row, c->column);
    if (c->size <= UINT32_MAX) return off;
    if (row && (off < c->last || (off == c->last && size != c->last_size))) c->high += UINT64_C(1) << 32;
    c->last = off;
    c->last_size = size;
    c->is_wrong |= c->high + off > c->size;
    return c->high + off;
}

static csn_status read_package_rows(struct index *x, const struct csn_allocator *alloc, struct csn_error *err) {
    if (!x->units) return CSN_OK;
    if (x->unit_column == NO_COLUMN || x->abbrev_column == NO_COLUMN)
        return csni_fail(err, CSN_E_FORMAT, x->name, 4, "none of the %" PRIu32 " columns is for %s", x->columns,
                         x->unit_column == NO_COLUMN ? "units" : "abbreviations");
    x->rows = csni_alloc_zeroed(alloc, x->units, sizeof *x->rows);
    if (!x->rows) return csni_fail_memory(err, (uint64_t)x->units * sizeof *x->rows);
    x->row_count = x->units;
    if (x->unit_section > UINT32_MAX) x->unit_offs = csni_alloc_zeroed(alloc, x->units, sizeof *x->unit_offs);
    if (x->unit_section > UINT32_MAX && !x->unit_offs) return csni_fail_memory(err, (uint64_t)x->units * sizeof *x->unit_offs);
    struct offset_column unit = column_of(x, x->unit_column, x->unit_section),
                         abbrev = column_of(x, x->abbrev_column, x->abbrev_section),
                         strings = column_of(x, x->str_offsets_column, x->str_offsets_section),
                         lists = column_of(x, x->rnglists_column, x->rnglists_section);
    for (uint32_t i = 0; i < x->units; i++) {
        x->rows[i] = (struct row){ next_offset(&unit, i), cell(x, x->sizes, i, x->unit_column), next_offset(&abbrev, i),
                                   next_offset(&strings, i), next_offset(&lists, i) };
        if (x->unit_offs) x->unit_offs[i] = x->rows[i].unit_off;
    }
    if (unit.is_wrong || abbrev.is_wrong || strings.is_wrong || lists.is_wrong)
        return csni_fail(err, CSN_E_LIMIT, x->name, 0,
                         "offsets of 32 bits do not ascend, and do not tell where units are in %" PRIu64 " bytes", x->unit_section);
    sort_rows(x->rows, x->row_count);
    return CSN_OK;
}

static csn_status read_package_index(struct index *x, bool of_types, const struct csn_allocator *alloc,
                                     struct csn_error *err) {
    CSNI_TRY(read_package_header(x, err));
    read_columns(x, of_types);
    return read_package_rows(x, alloc, err);
}

static void set_section_sizes(struct index *x, const struct csni_dwarf_sections *sections, bool in_types) {
    x->unit_section = in_types ? sections->types.size : sections->info_from + sections->info.size;
    x->abbrev_section = sections->abbrev.size;
    x->str_offsets_section = sections->str_offsets.size;
    x->rnglists_section = sections->rnglists.size;
}

csn_status csni_package_create(const struct csni_dwarf_sections *sections, const struct csn_allocator *alloc,
                               struct csni_package **out, struct csn_error *damage, struct csn_error *err) {
    struct csni_package *package = csni_alloc_zeroed(alloc, 1, sizeof *package);
    const struct csni_span cu_index = sections->cu_index, tu_index = sections->tu_index;
    const bool big_endian = sections->big_endian;
    if (!package) return csni_fail_memory(err, sizeof *package);
    package->alloc = alloc;
    package->cu = (struct index){ .name = ".debug_cu_index", .section = cu_index, .big = big_endian };
    package->tu = (struct index){ .name = ".debug_tu_index", .section = tu_index, .big = big_endian };
    set_section_sizes(&package->cu, sections, false);
    set_section_sizes(&package->tu, sections, sections->types.size != 0);
    csn_status status = read_package_index(&package->cu, false, alloc, err);
    if (status >= 0 && tu_index.size) {
        status = read_package_index(&package->tu, true, alloc, damage);
        if (status == CSN_E_MEMORY) csni_fail_memory(err, 0);
        else status = CSN_OK;
    }
    if (status < 0) csni_package_destroy(package);
    else *out = package;
    return status;
}

void csni_package_destroy(struct csni_package *package) {
    if (!package) return;
    csni_free(package->alloc, package->cu.rows, package->cu.row_count * sizeof *package->cu.rows);
    csni_free(package->alloc, package->tu.rows, package->tu.row_count * sizeof *package->tu.rows);
    csni_free(package->alloc, package->cu.unit_offs, package->cu.row_count * sizeof *package->cu.unit_offs);
    csni_free(package->alloc, package->tu.unit_offs, package->tu.row_count * sizeof *package->tu.unit_offs);
    csni_free(package->alloc, package, sizeof *package);
}

/* ---- asking ---- */

/* The row with the contribution that a unit begins in, or NULL. */
static const struct row *row_of(const struct index *x, uint64_t unit_off) {
    size_t upper = csni_upper_bound(x->rows, x->row_count, unit_off, unit_off);
    const struct row *row = upper ? &x->rows[upper - 1] : NULL;
    return row && unit_off - row->unit_off < row->unit_size ? row : NULL;
}

bool csni_package_place(const struct csni_package *package, struct csni_unit *unit) {
    bool is_type = unit->unit_type == DW_UT_type || unit->unit_type == DW_UT_split_type;
    const struct row *row = row_of(is_type ? &package->tu : &package->cu, unit->off);
    if (!row) return false;
    unit->abbrev_off += row->abbrev;
    unit->str_offsets_at = row->str_offsets;
    unit->rnglists_at = row->rnglists;
    return true;
}

bool csni_package_find(const struct csni_package *package, uint64_t dwo_id, uint64_t *info_off) {
    const struct index *x = &package->cu;
    uint32_t mask = x->slots - 1, slot = (uint32_t)dwo_id & mask, step = ((uint32_t)(dwo_id >> 32) & mask) | 1;
    for (uint32_t i = 0; i < x->slots && i < MAX_PROBES; i++, slot = (slot + step) & mask) {
        uint64_t row = get(x, x->row_numbers + 4 * (uint64_t)slot, 4);
        if (!row) return false;
        if (get(x, x->signatures + 8 * (uint64_t)slot, 8) != dwo_id) continue;
        if (row > x->units) return false;
        *info_off = x->unit_offs ? x->unit_offs[row - 1] : cell(x, x->offsets, (uint32_t)row - 1, x->unit_column);
        return true;
    }
    return false;
}
