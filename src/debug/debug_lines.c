/* Line tables with everything that a row has. The converter's reader keeps addresses, files and lines only. */
#include <callsign/debug_info.h>

#include <inttypes.h>

#include "base/core/fail.h"
#include "base/core/search.h"
#include "debug/debug_private.h"
#include "dwarf/dwarf_line.h"

enum { DW_LNE_set_discriminator = 0x04 };

/* Where the opcodes of the sequence that begins with a row stand in .debug_line. */
struct sequence_start {
    uint64_t row;
    uint64_t off;
};

/* What csn_debug_unit_lines() gives, with what it owns. */
struct owned_lines {
    struct csn_debug_lines lines; /* first: it is what the caller has */
    const struct csn_allocator *alloc;
    struct csni_line_table table;
    CSNI_VEC(struct csn_debug_row) rows;
    CSNI_VEC(struct sequence_start) sequences; /* ascending by row */
};

/* A line program that is being run. */
struct program {
    struct owned_lines *to;
    struct csni_line_header h;
    struct csni_cursor c;
    bool default_is_stmt, is_odd;
    struct csn_debug_row row; /* the machine's registers */
};

static void reset_row(struct program *pr) {
    pr->row = (struct csn_debug_row){ .file = 1, .line = 1, .flags = CSN_LINE_FILE_UNSET };
    if (pr->default_is_stmt) pr->row.flags |= CSN_LINE_STATEMENT;
}

/* The next opcode begins a sequence. */
static bool begin_sequence(struct program *pr) {
    const struct sequence_start made = { pr->to->rows.count, csni_cursor_off(&pr->c) };
    reset_row(pr);
    return csni_vec_push(&pr->to->sequences, made);
}

static bool emit(struct program *pr) {
    if (!csni_vec_push(&pr->to->rows, pr->row)) return false;
    pr->row.discriminator = 0;
    pr->row.flags &= CSN_LINE_STATEMENT | CSN_LINE_FILE_UNSET;
    return true;
}

static void advance(struct program *pr, uint64_t operations) {
    const struct csni_line_header *h = &pr->h;
    if (h->max_ops == 1) {
        pr->row.addr += operations * h->min_inst_length;
        return;
    }
    uint64_t op = pr->row.op_index + operations;
    pr->row.addr += op / h->max_ops * h->min_inst_length;
    pr->row.op_index = (uint8_t)(op % h->max_ops);
}

static bool run_special(struct program *pr, uint8_t opcode) {
    unsigned adjusted = (unsigned)opcode - pr->h.opcode_base;
    advance(pr, adjusted / pr->h.line_range);
    pr->row.line += (uint32_t)pr->h.line_base + adjusted % pr->h.line_range;
    return emit(pr);
}

/* Of an extended opcode that is known. */
static bool has_usual_size(const struct program *pr, uint8_t opcode, uint64_t size) {
    enum { MAX_LEB = 10 };
    switch (opcode) {
    case DW_LNE_end_sequence: return size == 1;
    case DW_LNE_set_address: return size == 1u + pr->to->table.address_size;
    case DW_LNE_set_discriminator: return size <= 1 + MAX_LEB;
    default: return opcode == DW_LNE_define_file;
    }
}

/* False: no memory. */
static bool run_extended(struct program *pr) {
    struct csni_cursor *c = &pr->c;
    uint64_t size = csni_cursor_uleb(c);
    struct csni_cursor op = *c;
    csni_cursor_skip(c, size);
    if (c->failed || !size) {
        pr->is_odd = true;
        return true;
    }
    op.end = c->p;
    const uint8_t opcode = csni_cursor_u8(&op);
    pr->is_odd |= !has_usual_size(pr, opcode, size);
    switch (opcode) {
    case DW_LNE_end_sequence: {
        pr->row.flags |= CSN_LINE_END_SEQUENCE;
        return emit(pr) && begin_sequence(pr);
    }
    case DW_LNE_set_address: {
        uint64_t addr_size = size - 1;
        if (addr_size == 1 || addr_size == 2 || addr_size == 4 || addr_size == 8)
            pr->row.addr = csni_cursor_uint(&op, (unsigned)addr_size);
        pr->row.op_index = 0;
        return true;
    }
    case DW_LNE_define_file:
        return csni_line_read_old_file(&op, &pr->to->table, &pr->h, NULL) != CSN_E_MEMORY;
    case DW_LNE_set_discriminator: pr->row.discriminator = (uint32_t)csni_cursor_uleb(&op); return true;
    default: return true;
    }
}

/* False: no memory. */
static bool run_standard(struct program *pr, uint8_t opcode) {
    struct csni_cursor *c = &pr->c;
    switch (opcode) {
    case DW_LNS_copy: return emit(pr);
    case DW_LNS_advance_pc: advance(pr, csni_cursor_uleb(c)); return true;
    case DW_LNS_advance_line: pr->row.line += (uint32_t)csni_cursor_sleb(c); return true;
    case DW_LNS_set_file:
        pr->row.file = (uint32_t)csni_cursor_uleb(c);
        pr->row.flags &= (uint8_t)~CSN_LINE_FILE_UNSET;
        return true;
    case DW_LNS_set_column: pr->row.column = (uint32_t)csni_cursor_uleb(c); return true;
    case DW_LNS_negate_stmt: pr->row.flags ^= CSN_LINE_STATEMENT; return true;
    case DW_LNS_set_basic_block: pr->row.flags |= CSN_LINE_BASIC_BLOCK; return true;
    case DW_LNS_set_epilogue_begin: pr->row.flags |= CSN_LINE_EPILOGUE_BEGIN; return true;
    case DW_LNS_const_add_pc: advance(pr, (255u - pr->h.opcode_base) / pr->h.line_range); return true;
    case DW_LNS_fixed_advance_pc:
        pr->row.addr += csni_cursor_u16(c);
        pr->row.op_index = 0;
        return true;
    case DW_LNS_set_prologue_end: pr->row.flags |= CSN_LINE_PROLOGUE_END; return true;
    default: /* DW_LNS_set_isa, and what is not known */
        for (unsigned i = 0; i < pr->h.operands[opcode - 1]; i++) csni_cursor_uleb(c);
        return true;
    }
}

static csn_status run_program(struct program *pr, struct csn_error *err) {
    struct csni_cursor *c = &pr->c;
    enum { BYTES_OF_ROW = 4 }; /* on average, at least */
    if (!csni_vec_reserve(&pr->to->rows, (size_t)csni_cursor_left(c) / BYTES_OF_ROW))
        return csni_fail_memory(err, sizeof(struct csn_debug_row));
    if (!begin_sequence(pr)) return csni_fail_memory(err, sizeof(struct sequence_start));
    while (csni_cursor_left(c)) {
        uint8_t opcode = csni_cursor_u8(c);
        bool has_memory = opcode >= pr->h.opcode_base ? run_special(pr, opcode)
                          : opcode == 0                ? run_extended(pr)
                                                       : run_standard(pr, opcode);
        if (!has_memory) return csni_fail_memory(err, sizeof(struct csn_debug_row));
    }
    pr->to->lines.is_damaged = (uint16_t)((c->failed ? CSN_LINES_END_EARLY : 0) | (pr->is_odd ? CSN_LINES_ODD : 0));
    return CSN_OK;
}

static csn_status read_header(struct program *pr, const struct csni_dwarf *dwarf, const struct csni_unit *unit,
                              struct csn_error *err) {
    struct csni_line_table *table = &pr->to->table;
    struct csni_span section = dwarf->sections.line;
    if (unit->stmt_list >= section.size)
        return csni_fail(err, CSN_E_FORMAT, csni_line_section, unit->stmt_list,
                         "a line table is to be here, the section has %zu bytes", section.size);
    table->address_size = unit->address_size;
    table->line_str = dwarf->sections.line_str;
    pr->h.off = unit->stmt_list;
    pr->c = csni_cursor_at(section, dwarf->sections.big_endian);
    csni_cursor_seek(&pr->c, unit->stmt_list);
    CSNI_TRY(csni_line_read_lengths(&pr->c, table, &pr->h, err));
    struct csni_cursor machine = pr->c;
    csni_cursor_skip(&machine, 1);
    if (table->version >= 4) pr->is_odd |= !csni_cursor_u8(&machine); /* operations in an instruction */
    pr->default_is_stmt = csni_cursor_u8(&machine) != 0;
    CSNI_TRY(csni_line_read_machine(&pr->c, table, &pr->h, err));
    csn_status status = CSN_OK;
    if (table->version >= 5) {
        status = csni_line_read_entries(&pr->c, table, dwarf, unit, &pr->h, false, NULL);
        if (status == CSN_OK) status = csni_line_read_entries(&pr->c, table, dwarf, unit, &pr->h, true, NULL);
    } else {
        status = csni_line_read_old_tables(&pr->c, table, &pr->h, NULL);
    }
    if (status == CSN_E_MEMORY) return csni_fail_memory(err, 0);
    /* Rows are good without some file's name. */
    const unsigned end_byte = table->version < 5; /* of the files, which was not taken */
    pr->is_odd |= status != CSN_OK || csni_cursor_off(&pr->c) + end_byte != pr->h.program;
    pr->c = csni_cursor_at((struct csni_span){ section.ptr, (size_t)pr->h.end }, dwarf->sections.big_endian);
    csni_cursor_seek(&pr->c, pr->h.program);
    return CSN_OK;
}

csn_status csn_debug_unit_lines(const struct csn_debug_unit *unit, struct csn_debug_lines **out, struct csn_error *err) {
    const struct csn_debug_unit *from = unit->is_split && unit->priv[2] ? unit->priv[2] : unit;
    const struct csni_unit *of = csni_debug_dwarf_unit(from);
    struct csni_debug_file *file = csni_debug_unit_file(from);
    if (!from->has_lines) return CSN_NONE;
    const struct csn_allocator *alloc = file->info->alloc;
    struct owned_lines *made = csni_alloc_zeroed(alloc, 1, sizeof *made);
    if (!made) return csni_fail_memory(err, sizeof *made);
    made->alloc = made->rows.alloc = made->sequences.alloc = alloc;
    csni_line_table_init(&made->table, alloc);
    struct program pr = { .to = made };
    csn_status status = read_header(&pr, file->dwarf, of, err);
    if (status == CSN_OK) status = run_program(&pr, err);
    if (status < 0) {
        csn_debug_lines_free(&made->lines);
        return status;
    }
    made->lines.rows = made->rows.items;
    made->lines.row_count = made->rows.count;
    made->lines.file_count = (uint32_t)made->table.files.count;
    made->lines.version = made->table.version;
    made->lines.comp_dir = from->comp_dir;
    made->lines.priv[0] = made;
    *out = &made->lines;
    return CSN_OK;
}

void csn_debug_lines_free(struct csn_debug_lines *lines) {
    if (!lines) return;
    struct owned_lines *owned = (struct owned_lines *)lines;
    csni_vec_deinit(&owned->rows);
    csni_vec_deinit(&owned->sequences);
    csni_line_table_deinit(&owned->table);
    csni_free(owned->alloc, owned, sizeof *owned);
}

csn_status csn_debug_lines_sequence(const struct csn_debug_lines *lines, size_t row, uint64_t *out) {
    const struct owned_lines *owned = (const struct owned_lines *)lines;
    const size_t low = csni_lower_bound(owned->sequences.items, owned->sequences.count, row, row);
    if (low == owned->sequences.count || owned->sequences.items[low].row != row || row >= lines->row_count) return CSN_NONE;
    *out = owned->sequences.items[low].off;
    return CSN_OK;
}

csn_status csn_debug_lines_directory(const struct csn_debug_lines *lines, uint64_t idx, struct csn_str *out) {
    const struct csni_line_table *table = &((const struct owned_lines *)lines)->table;
    if (table->version < 5) idx--;
    if (idx >= table->directories.count) return CSN_NONE;
    *out = table->directories.items[idx];
    return CSN_OK;
}

csn_status csn_debug_lines_file(const struct csn_debug_lines *lines, uint64_t file, struct csn_str *directory,
                                struct csn_str *name, uint64_t *directory_index) {
    const struct csni_line_table *table = &((const struct owned_lines *)lines)->table;
    if (table->version < 5) file--;
    if (file >= table->files.count) return CSN_NONE;
    *name = csni_line_file_name(table, (size_t)file);
    *directory_index = table->files.items[file].directory;
    if (csn_debug_lines_directory(lines, *directory_index, directory) != CSN_OK) *directory = (struct csn_str){ "", 0 };
    return CSN_OK;
}
