/* Line programs: the rows of all sequences.
 *
 * The loop over opcodes decides how fast programs are read. Each byte of a program makes one row at most, so the room for
 * rows is checked once per stretch of bytes. What opcodes mean is looked up in a table of 256 that is made once;
 * it saves the division for special opcodes, and lets csni_line_run_rows() do without branches. */
#include "base/core/sort.h"
#include "dwarf/dwarf_line_rows.h"

#include <inttypes.h>

/* ---- sequences ---- */

enum { LEAP = 1 << 20 }; /* an advance, in operations or bytes, that no compiler makes within a function of usual size */

static void start_sequence(struct csni_line_program *pr, struct csni_line_machine *m) {
    *m = (struct csni_line_machine){ .file = 1, .line = 1, .sequence_off = (uint64_t)(pr->p - pr->base),
                                     .first_row = pr->table->rows.count };
    pr->sequence_files = pr->table->files.count;
}

/* Back to where the sequence begins that cannot be folded, to run it with all rows as they are. */
static void keep_rows(struct csni_line_program *pr, const struct csni_line_machine *m) {
    pr->p = pr->base + m->sequence_off;
    pr->table->rows.count = m->first_row;
    pr->table->files.count = pr->sequence_files;
    pr->fold = pr->repeats_first = false;
}

static void fold_again(struct csni_line_program *pr) {
    pr->fold = pr->table->fold;
    pr->repeats_first = pr->may_repeat_first;
}

/* DW_LNE_end_sequence: the end row has been pushed. Sequences that cover nothing are not listed, their rows are dropped. */
static csn_status end_sequence(struct csni_line_table *table, const struct csni_line_machine *m, bool fold,
                               struct csn_error *err) {
    size_t count = table->rows.count - m->first_row;
    const struct csni_line_row *rows = table->rows.items + m->first_row;
    if (m->dead || count < 2 || rows[0].addr >= m->addr) {
        table->rows.count = m->first_row;
        return CSN_OK;
    }
    /* Without leaps the advances of all opcodes that fit a section add up to less than 2^64: the end above the beginning
     * proves that nothing wrapped around in between. */
    struct csni_line_sequence s = { rows[0].addr, m->addr, m->sequence_off, (uint32_t)m->first_row, (uint32_t)count,
                                    fold ? m->first_file : rows[0].file, fold ? m->first_line : rows[0].line, fold };
    return csni_vec_push(&table->sequences, s) ? CSN_OK : csni_fail_memory(err, sizeof s);
}

static bool sequence_before(const void *context, const void *pa, const void *pb) {
    (void)context;
    const struct csni_line_sequence *a = pa, *b = pb;
    return a->high != b->high ? a->high < b->high : a->first_row < b->first_row;
}

/* Ascending by `high`; the row number, which is unique and ascends, makes it stable. Mostly they are in order already. */
static void sort_sequences(struct csni_line_sequence *s, size_t count) {
    if (!csni_is_sorted(s, count, sizeof *s, sequence_before, NULL)) csni_heap_sort(s, count, sizeof *s, sequence_before, NULL);
}

/* ---- the program ---- */

static void make_effects(struct csni_line_effects *e, const struct csni_line_header *h) {
    if (e->line_range == h->line_range && e->min_inst_length == h->min_inst_length && e->opcode_base == h->opcode_base &&
        e->line_base == h->line_base)
        return;
    e->line_range = h->line_range;
    e->min_inst_length = h->min_inst_length;
    e->opcode_base = h->opcode_base;
    e->line_base = h->line_base;
    memset(e->items, 0, sizeof e->items);
    /* Both are replaced where they are special opcodes. */
    e->items[DW_LNS_copy].row = 1;
    e->items[DW_LNS_const_add_pc].addr = (uint16_t)((255u - h->opcode_base) / h->line_range * h->min_inst_length);
    unsigned operation = 0, rest = 0;
    for (unsigned op = h->opcode_base; op < 256; op++) {
        e->items[op] = (struct csni_line_effect){ .addr = (uint16_t)(operation * h->min_inst_length),
                                                  .line = (uint32_t)h->line_base + rest, .row = 1 };
        if (++rest == h->line_range) {
            rest = 0;
            operation++;
        }
    }
}

static void choose_machine(struct csni_line_program *pr) {
    const struct csni_line_header *h = pr->h;
    pr->operation_max = (255u - h->opcode_base) / h->line_range;
    pr->fast = h->max_ops == 1 && h->opcode_base > DW_LNS_negate_stmt;
    /* Opcodes as DWARF 3 has them, or DWARF 2. */
    pr->blocks = pr->fast && CSNI_BYTE_BLOCKS && (h->opcode_base == 13 || h->opcode_base == 10) && csni_has_byte_blocks();
    pr->odd_opcode = h->opcode_base == 13 ? DW_LNS_set_isa : DW_LNS_fixed_advance_pc;
    make_effects(&pr->table->effects, h);
    pr->effects = pr->table->effects.items;
}

/* Address advance in operations (DWARF 4, 6.2.5.1), for machines with several operations in an instruction too. */
static void advance(const struct csni_line_header *h, struct csni_line_machine *m, uint64_t operations) {
    if (h->max_ops == 1) {
        m->addr += operations * h->min_inst_length;
        return;
    }
    uint64_t n = m->op_index + operations;
    m->addr += n / h->max_ops * h->min_inst_length;
    m->op_index = (uint32_t)(n % h->max_ops);
}

/* Makes room for the rows of the stretch of bytes that begins at p, and for one more, which the fast loop may scribble
 * on. The stretch's end, or NULL when out of memory. */
static const uint8_t *reserve_stretch(struct csni_line_table *table, const uint8_t *p, const uint8_t *end) {
    enum { STRETCH = 2048, FIRST = 1 << 14 };
    size_t left = (size_t)(end - p), capacity = table->rows.capacity - table->rows.count;
    if (capacity <= left && capacity <= STRETCH) {
        size_t want = table->rows.count + (left < STRETCH ? left : STRETCH) + 1;
        if (want < FIRST) want = FIRST;
        if (!csni_vec_reserve(&table->rows, want)) return NULL;
        capacity = table->rows.capacity - table->rows.count;
    }
    return p + (left < capacity - 1 ? left : capacity - 1);
}

static csn_status program_truncated(const struct csni_line_program *pr, const uint8_t *at, struct csn_error *err) {
    return csni_fail(err, CSN_E_TRUNCATED, csni_line_section, (uint64_t)(at - pr->base),
                     "an opcode's operands run beyond the end of the line program at 0x%" PRIx64, pr->h->end);
}

/* DW_LNE_set_address with an operand of `size` bytes at p. */
static csn_status set_address(const struct csni_line_program *pr, struct csni_line_machine *m, const uint8_t *p,
                              uint64_t size, struct csn_error *err) {
    if (size != 1 && size != 2 && size != 4 && size != 8)
        return csni_fail(err, CSN_E_FORMAT, csni_line_section, (uint64_t)(p - pr->base),
                         "DW_LNE_set_address has an address of %" PRIu64 " bytes, need 1, 2, 4 or 8", size);
    uint64_t addr = csni_get_sized(p, (unsigned)size, pr->big);
    if (pr->table->rows.count > m->first_row) m->leaps |= addr < m->addr || addr - m->addr >= LEAP;
    m->addr = addr;
    m->op_index = 0;
    m->dead = m->addr == UINT64_MAX >> (64 - 8 * size);
    return CSN_OK;
}

static csn_status define_file(struct csni_line_program *pr, const uint8_t *p, uint64_t size, struct csn_error *err) {
    struct csni_cursor c = { pr->base, p, p + size, pr->big, false, 0 };
    return csni_line_read_old_file(&c, pr->table, pr->h, err);
}

/* An extended opcode; p is after the 0 byte. Moves pr->p after it. CSN_NONE: the sequence cannot be folded. */
static csn_status extended(struct csni_line_program *pr, struct csni_line_machine *m, const uint8_t *p,
                           struct csn_error *err) {
    const uint8_t *at = p - 1;
    uint64_t size;
    p = csni_uleb(p, pr->end, &size);
    if (!p || size > (size_t)(pr->end - p)) return program_truncated(pr, at, err);
    pr->p = p + size;
    if (!size) return CSN_OK;
    switch (*p) {
    case DW_LNE_end_sequence: {
        struct csni_line_row row = { m->addr, CSNI_LINE_END, m->line, 0 };
        if (!csni_vec_push(&pr->table->rows, row)) return csni_fail_memory(err, sizeof row);
        if (pr->table->rows.count > UINT32_MAX)
            return csni_fail(err, CSN_E_LIMIT, csni_line_section, (uint64_t)(at - pr->base), "more than %u rows in one table",
                             UINT32_MAX);
        if (pr->fold && m->leaps) return CSN_NONE;
        CSNI_TRY(end_sequence(pr->table, m, pr->fold, err));
        fold_again(pr);
        start_sequence(pr, m);
        return CSN_OK;
    }
    case DW_LNE_set_address: return set_address(pr, m, p + 1, size - 1, err);
    case DW_LNE_define_file: return define_file(pr, p + 1, size - 1, err);
    default: return CSN_OK;
    }
}

/* A file number that fits; what does not is no file of any table, nor the mark of an end row. */
static uint32_t file_number(uint64_t v) { return v < CSNI_LINE_END ? (uint32_t)v : CSNI_LINE_END - 1; }

/* A SLEB128 in [p, end), as the 64 bits of its two's complement. */
static const uint8_t *read_program_sleb(const uint8_t *p, const uint8_t *end, uint64_t *out) {
    const uint8_t *past = csni_uleb(p, end, out);
    if (!past) return NULL;
    size_t bits = 7 * (size_t)(past - p);
    if (bits < 64 && past[-1] & 0x40) *out |= ~UINT64_C(0) << bits;
    return past;
}

/* Standard opcodes but DW_LNS_copy, p after the opcode. The byte after it, or NULL where it does not end. */
static inline const uint8_t *standard(const struct csni_line_program *pr, struct csni_line_machine *m, uint8_t op,
                                      const uint8_t *p) {
    const uint8_t *end = pr->end;
    uint64_t v;
    switch (op) {
    case DW_LNS_advance_pc:
        if ((p = csni_uleb(p, end, &v)) == NULL) return p;
        m->leaps |= v >= LEAP;
        advance(pr->h, m, v);
        return p;
    case DW_LNS_advance_line:
        if ((p = read_program_sleb(p, end, &v)) != NULL) m->line += (uint32_t)v;
        return p;
    case DW_LNS_set_file:
        if ((p = csni_uleb(p, end, &v)) != NULL) m->file = file_number(v) + (v == 0 && pr->repeats_first);
        return p;
    case DW_LNS_set_column: case DW_LNS_set_isa: return csni_uleb(p, end, &v);
    case DW_LNS_negate_stmt: case DW_LNS_set_basic_block: case DW_LNS_set_prologue_end: case DW_LNS_set_epilogue_begin:
        return p;
    case DW_LNS_const_add_pc: advance(pr->h, m, pr->operation_max); return p;
    case DW_LNS_fixed_advance_pc:
        if (end - p < 2) return NULL;
        m->addr += csni_get16(p, pr->big);
        m->op_index = 0;
        return p + 2;
    default:
        for (unsigned i = pr->h->operands[op - 1]; p && i > 0; i--) p = csni_uleb(p, end, &v);
        return p;
    }
}

/* Any row, at `row`. NULL: it cannot be folded, for it names no file. */
static inline struct csni_line_row *put_program_row(const struct csni_line_program *pr, struct csni_line_machine *m,
                                                    struct csni_line_row *row) {
    if (!pr->fold) {
        *row = (struct csni_line_row){ m->addr, m->file, m->line, 0 };
        return row + 1;
    }
    if (!csni_line_file_exists(pr->table, m->file)) return NULL;
    if (row > pr->table->rows.items + m->first_row) return csni_line_fold_row(row, m->addr, m->file, m->line);
    m->first_file = m->file;
    m->first_line = m->line;
    *row = (struct csni_line_row){ m->addr, m->file, m->line, 1 };
    return row + 1;
}

/* Rows are folded only after one of their sequence, of a file that there is. */
static inline bool may_run_rows(const struct csni_line_program *pr, const struct csni_line_machine *m,
                                const struct csni_line_row *row) {
    return !pr->fold || (row > pr->table->rows.items + m->first_row && csni_line_file_exists(pr->table, m->file));
}

/* Runs all opcodes. `vliw` is a constant where this is inlined: the usual machine pays nothing for op_index. */
static inline csn_status run_opcodes(struct csni_line_program *pr, const bool vliw, struct csn_error *err) {
    struct csni_line_table *table = pr->table;
    const uint8_t opcode_base = pr->h->opcode_base;
    struct csni_line_machine m;
    start_sequence(pr, &m);
    while (pr->p < pr->end) {
        const uint8_t *p = pr->p, *stretch = reserve_stretch(table, p, pr->end);
        if (!stretch) return csni_fail_memory(err, table->rows.capacity * sizeof(struct csni_line_row));
        struct csni_line_row *row = table->rows.items + table->rows.count;
        uint8_t op = 1;
        bool foldable = true;
        while (p < stretch) {
            if (pr->fast && may_run_rows(pr, &m, row)) {
                if (pr->fold && pr->blocks && stretch - p >= CSNI_LINE_BLOCK_MIN)
                    p = csni_line_run_blocks(pr, &m, p, stretch, &row);
                else p = csni_line_run_rows(pr, &m, p, stretch, &row);
                if (p == stretch) break;
            }
            op = *p++;
            if (op >= opcode_base) {
                if (vliw) advance(pr->h, &m, ((unsigned)op - opcode_base) / pr->h->line_range);
                else m.addr += pr->effects[op].addr;
                m.line += pr->effects[op].line;
            } else if (op == 0) {
                break;
            } else if (op != DW_LNS_copy) {
                const uint8_t *at = p - 1;
                p = standard(pr, &m, op, p);
                if (CSNI_UNLIKELY(!p)) return program_truncated(pr, at, err);
                continue;
            }
            struct csni_line_row *past = put_program_row(pr, &m, row);
            foldable = past != NULL;
            if (!foldable) break;
            row = past;
        }
        csn_status status = foldable ? CSN_OK : CSN_NONE;
        if (foldable) {
            table->rows.count = (size_t)(row - table->rows.items);
            pr->p = p;
            if (!op) status = extended(pr, &m, p, err);
        }
        if (status < 0) return status;
        if (status == CSN_NONE) {
            keep_rows(pr, &m);
            start_sequence(pr, &m);
        }
    }
    if (table->rows.count == m.first_row) return CSN_OK;
    table->rows.count = m.first_row;
    return csni_fail(err, CSN_E_TRUNCATED, csni_line_section, m.sequence_off,
                     "line sequence has no end before the end of the program at 0x%" PRIx64, pr->h->end);
}

static csn_status run_program(struct csni_line_table *table, const struct csni_dwarf *dwarf,
                         const struct csni_line_header *h, struct csn_error *err) {
    const uint8_t *base = dwarf->sections.line.ptr;
    struct csni_line_program pr;
    pr.table = table;
    pr.h = h;
    pr.base = base;
    pr.p = base + h->program;
    pr.end = base + h->end;
    pr.big = dwarf->sections.big_endian;
    pr.may_repeat_first = table->fold && csni_line_table_repeats_first(table);
    choose_machine(&pr);
    fold_again(&pr);
    return h->max_ops == 1 ? run_opcodes(&pr, false, err) : run_opcodes(&pr, true, err);
}

/* ---- the whole table ---- */

csn_status csni_line_table_read(struct csni_line_table *table, const struct csni_dwarf *dwarf,
                                const struct csni_unit *unit, struct csn_error *err) {
    table->directories.count = table->files.count = table->rows.count = table->sequences.count = 0;
    table->version = 0;
    table->size = 0;
    table->address_size = unit->address_size;
    table->line_str = dwarf->sections.line_str;
    if (!unit->has_stmt_list) return CSN_NONE;
    struct csni_span section = dwarf->sections.line;
    if (unit->stmt_list >= section.size)
        return csni_fail(err, CSN_E_FORMAT, csni_line_section, unit->stmt_list,
                         "a line table is to be here, the section has %zu bytes", section.size);
    struct csni_cursor c = csni_cursor_at(section, dwarf->sections.big_endian);
    csni_cursor_seek(&c, unit->stmt_list);
    struct csni_line_header h = { .off = unit->stmt_list };
    CSNI_TRY(csni_line_read_lengths(&c, table, &h, err));
    CSNI_TRY(csni_line_read_machine(&c, table, &h, err));
    csn_status files;
    if (table->version >= 5) {
        files = csni_line_read_entries(&c, table, dwarf, unit, &h, false, err);
        if (files == CSN_OK) files = csni_line_read_entries(&c, table, dwarf, unit, &h, true, err);
    } else {
        files = csni_line_read_old_tables(&c, table, &h, err);
    }
    if (files == CSN_E_MEMORY) return files;
    /* Rows are good without some file's name: the program is run whatever the tables were like. */
    csn_status rows = run_program(table, dwarf, &h, files < 0 ? NULL : err);
    sort_sequences(table->sequences.items, table->sequences.count);
    return files < 0 && rows != CSN_E_MEMORY ? files : rows;
}
