/* Line programs: headers of all versions, every opcode, sequences, damage. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/dwarf_sample.h"

/* Parameters of the machine, as the header has them. */
struct machine {
    uint8_t min_inst_length, max_ops;
    int8_t line_base;
    uint8_t line_range, opcode_base;
};
static const struct machine usual = { 1, 1, -5, 14, 13 };

struct program {
    struct dwarf_sample s;
    struct csni_line_table table;
    struct csn_error err;
    size_t begun, header_length;
    csn_status status;
};

/* Everything up to the directories. */
static void begin_header(struct program *p, uint16_t version, bool big, const struct machine *m) {
    p->err = (struct csn_error)CSN_ERROR_INIT;
    struct dwarf_sample *s = &p->s;
    struct wire *w = &s->line;
    s->version = version;
    s->big = big;
    p->begun = wire_begin_length(w, s->offset_size);
    wire_u16(w, version);
    if (version >= 5) {
        wire_u8(w, s->address_size);
        wire_u8(w, 0);
    }
    p->header_length = wire_uint(w, 0, s->offset_size);
    wire_u8(w, m->min_inst_length);
    if (version >= 4) wire_u8(w, m->max_ops);
    wire_u8(w, 1);
    wire_u8(w, (uint8_t)m->line_base);
    wire_u8(w, m->line_range);
    wire_u8(w, m->opcode_base);
    static const uint8_t operands[12] = { 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1 };
    for (unsigned i = 1; i < m->opcode_base; i++) wire_u8(w, i <= 12 ? operands[i - 1] : i % 3);
}

static void end_header(struct program *p) {
    struct wire *w = &p->s.line;
    wire_patch(w, p->header_length, w->size - p->header_length - p->s.offset_size, p->s.offset_size);
}

static void no_files(struct program *p) {
    wire_fill(&p->s.line, 0, p->s.version >= 5 ? 4 : 2);
    end_header(p);
}

static void begin(struct program *p, uint16_t version, bool big, const struct machine *m) {
    dwarf_sample_init(&p->s, big);
    begin_header(p, version, big, m);
    no_files(p);
}

static void put(struct program *p, const void *bytes, size_t size) { wire_bytes(&p->s.line, bytes, size); }
#define PUT(p, ...) put((p), (const uint8_t[]){ __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ }))

static void set_address(struct program *p, uint64_t addr, unsigned size) {
    PUT(p, 0, (uint8_t)(size + 1), DW_LNE_set_address);
    wire_uint(&p->s.line, addr, size);
}
static void end_sequence(struct program *p) { PUT(p, 0, 1, DW_LNE_end_sequence); }

static void open_unit(struct program *p) {
    struct dwarf_sample *s = &p->s;
    dwarf_sample_abbrev(s, 1, DW_TAG_compile_unit, false, DW_AT_stmt_list, s->version >= 4 ? DW_FORM_sec_offset : DW_FORM_data4,
                        0);
    dwarf_sample_abbrevs_end(s);
    size_t unit = dwarf_sample_unit(s);
    wire_u8(&s->info, 1);
    wire_uint(&s->info, 0, s->version >= 4 ? s->offset_size : 4);
    dwarf_sample_end(s, unit);
    dwarf_sample_open(s);
    csni_line_table_init(&p->table, NULL);
}

static void read_table(struct program *p) {
    wire_end_length(&p->s.line, p->begun);
    open_unit(p);
    p->status = csni_line_table_read(&p->table, p->s.dwarf, &p->s.dwarf->units[0], &p->err);
}

static void close_program(struct program *p) {
    csni_line_table_deinit(&p->table);
    dwarf_sample_deinit(&p->s);
}

/* Rows of the only sequence; `end`, the last one, is the end row's address. */
struct row { uint64_t addr; uint32_t file, line; };
static void expect_rows(struct program *p, const struct row *rows, size_t count, uint64_t end) {
    if (p->status != CSN_OK) fail_msg("%s", p->err.text);
    assert_int_equal(p->table.sequences.count, 1);
    const struct csni_line_sequence *q = p->table.sequences.items;
    assert_int_equal(q->row_count, count + 1);
    const struct csni_line_row *got = p->table.rows.items + q->first_row;
    for (size_t i = 0; i < count; i++) {
        assert_true(got[i].addr == rows[i].addr);
        assert_int_equal(got[i].file, rows[i].file);
        assert_int_equal(got[i].line, rows[i].line);
    }
    assert_true(got[count].addr == end);
    assert_int_equal(got[count].file, CSNI_LINE_END);
    assert_true(q->low == rows[0].addr && q->high == end);
    close_program(p);
}
#define EXPECT_ROWS(p, end, ...) \
    expect_rows((p), (const struct row[]){ __VA_ARGS__ }, sizeof((const struct row[]){ __VA_ARGS__ }) / sizeof(struct row), (end))

static uint8_t special(const struct machine *m, int line, unsigned operations) {
    return (uint8_t)(m->opcode_base + (line - m->line_base) + (int)(m->line_range * operations));
}

/* ---- opcodes ---- */

static void every_standard_opcode(void **state) {
    (void)state;
    for (unsigned k = 0; k < 16; k++) {
        struct program p;
        dwarf_sample_init(&p.s, k & 1);
        p.s.offset_size = k & 2 ? 8 : 4;
        begin_header(&p, (uint16_t)(2 + k / 4), k & 1, &usual);
        no_files(&p);
        set_address(&p, 0x1000, 8);
        PUT(&p, DW_LNS_copy, DW_LNS_advance_pc, 0x84, 0x01, DW_LNS_advance_line, 0x7b + 0x80, 0x00, DW_LNS_set_file, 0x80, 0x02,
            DW_LNS_set_column, 0xff, 0x01, DW_LNS_negate_stmt, DW_LNS_set_basic_block, DW_LNS_set_prologue_end,
            DW_LNS_set_epilogue_begin, DW_LNS_set_isa, 0x85, 0x01, DW_LNS_copy);
        PUT(&p, DW_LNS_const_add_pc, DW_LNS_advance_line, 0x76, special(&usual, 3, 2), DW_LNS_fixed_advance_pc);
        wire_u16(&p.s.line, 0x1234);
        PUT(&p, special(&usual, -5, 0), DW_LNS_advance_pc, 1);
        end_sequence(&p);
        read_table(&p);
        uint64_t a = 0x1000 + 0x84 + 17 + 2;
        EXPECT_ROWS(&p, a + 0x1235, { 0x1000, 1, 1 }, { 0x1084, 256, 124 }, { a, 256, 117 }, { a + 0x1234, 256, 112 });
    }
}

static void all_special_opcodes(void **state) {
    (void)state;
    static const struct machine machines[] = { { 1, 1, -5, 14, 13 }, { 4, 1, -3, 12, 13 }, { 2, 1, 1, 4, 10 },
                                               { 1, 1, -1, 1, 1 }, { 3, 1, -10, 255, 4 }, { 1, 1, 0, 7, 255 } };
    for (size_t i = 0; i < sizeof machines / sizeof *machines; i++) {
        const struct machine *m = &machines[i];
        struct program p;
        static struct row rows[256];
        uint64_t addr = 0x400000;
        uint32_t line = 1;
        size_t count = 0;
        begin(&p, 4, i & 1, m);
        set_address(&p, addr, 8);
        for (unsigned op = m->opcode_base; op < 256; op++) {
            wire_u8(&p.s.line, op);
            addr += (op - m->opcode_base) / m->line_range * m->min_inst_length;
            line += (uint32_t)(m->line_base + (int)((op - m->opcode_base) % m->line_range));
            rows[count++] = (struct row){ addr, 1, line };
        }
        if (m->opcode_base > 2) {
            PUT(&p, DW_LNS_advance_pc, 3);
            addr += 3u * m->min_inst_length;
        }
        if (m->opcode_base == 1 || m->opcode_base == 4) assert_true(count > 200);
        end_sequence(&p);
        read_table(&p);
        if (m->opcode_base == 1) addr = rows[count - 1].addr;
        expect_rows(&p, rows, count, addr);
    }
}

/* Several operations in an instruction (DWARF 4, 6.2.5.1). */
static void vliw(void **state) {
    (void)state;
    static const struct machine m = { 8, 3, -5, 14, 13 };
    struct program p;
    begin(&p, 4, false, &m);
    set_address(&p, 0x1000, 8);
    PUT(&p, special(&m, 1, 1), special(&m, 1, 1), special(&m, 1, 2), DW_LNS_const_add_pc, DW_LNS_copy, DW_LNS_advance_pc, 4,
        DW_LNS_copy, DW_LNS_fixed_advance_pc, 5, 0, DW_LNS_copy, DW_LNS_advance_pc, 2, DW_LNS_copy, DW_LNS_advance_pc, 1);
    end_sequence(&p);
    read_table(&p);
    /* Operations: 1, 2, 4; + 17 = 21; + 4 = 25; fixed_advance_pc sets op_index to 0; 2; 3. */
    EXPECT_ROWS(&p, 0x1000 + 25 / 3 * 8 + 5 + 8, { 0x1000, 1, 2 }, { 0x1000, 1, 3 }, { 0x1008, 1, 4 }, { 0x1038, 1, 4 },
                { 0x1040, 1, 4 }, { 0x1045, 1, 4 }, { 0x1045, 1, 4 });
}

static void unknown_and_vendor_opcodes(void **state) {
    (void)state;
    static const struct machine m = { 1, 1, -5, 14, 20 };
    struct program p;
    begin(&p, 3, false, &m);
    set_address(&p, 0x1000, 8);
    /* Opcodes 13 to 19 have i % 3 operands. */
    PUT(&p, DW_LNS_copy, 13, 0x81, 0x01, 14, 1, 0x82, 0x02, 15, 19, 7, 0, 5, 0x80, 1, 2, 3, 4, 0, 2, 4, 9, 0, 0,
        0, 0x81, 0x00, 0x55, special(&m, 2, 3), 0, 2, 4, 1, special(&m, 1, 1), DW_LNS_advance_pc, 1);
    end_sequence(&p);
    read_table(&p);
    EXPECT_ROWS(&p, 0x1005, { 0x1000, 1, 1 }, { 0x1003, 1, 3 }, { 0x1004, 1, 4 });
}

static void addresses_of_every_size(void **state) {
    (void)state;
    static const unsigned sizes[] = { 1, 2, 4, 8 };
    for (size_t i = 0; i < 4; i++) {
        struct program p;
        begin(&p, 2, i & 1, &usual);
        set_address(&p, 0x71, sizes[i]);
        PUT(&p, DW_LNS_copy, DW_LNS_advance_pc, 1);
        end_sequence(&p);
        read_table(&p);
        EXPECT_ROWS(&p, 0x72, { 0x71, 1, 1 });
    }
    struct program p;
    begin(&p, 2, false, &usual);
    set_address(&p, 0x71, 3);
    read_table(&p);
    assert_int_equal(p.status, CSN_E_FORMAT);
    assert_string_equal(p.err.text, ".debug_line+0x20: DW_LNE_set_address has an address of 3 bytes, need 1, 2, 4 or 8");
    close_program(&p);
}

static void numbers_at_their_edges(void **state) {
    (void)state;
    struct program p;
    begin(&p, 4, false, &usual);
    set_address(&p, 0, 8);
    PUT(&p, DW_LNS_set_file, 0xff, 0xff, 0xff, 0xff, 0x1f, DW_LNS_copy);       /* more than 32 bits */
    PUT(&p, DW_LNS_set_file, 0, DW_LNS_advance_line, 0x7e, DW_LNS_copy);       /* line 1 - 2 */
    PUT(&p, DW_LNS_advance_line, 0x81, 0x80, 0x80, 0x80, 0x10, DW_LNS_copy);   /* + 2^32 + 1 */
    PUT(&p, DW_LNS_advance_line, 0xc0, 0x00, DW_LNS_copy, DW_LNS_advance_line, 0x40, DW_LNS_copy);
    PUT(&p, DW_LNS_advance_line, 0xff, 0x3f, DW_LNS_copy, DW_LNS_advance_line, 0x80, 0x40, DW_LNS_copy);
    PUT(&p, DW_LNS_advance_pc, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01);
    end_sequence(&p);
    read_table(&p);
    EXPECT_ROWS(&p, UINT64_MAX, { 0, CSNI_LINE_END - 1, 1 }, { 0, 0, UINT32_MAX }, { 0, 0, 0 }, { 0, 0, 64 }, { 0, 0, 0 },
                { 0, 0, 8191 }, { 0, 0, UINT32_MAX });
}

/* What precedes a row, in every combination and position. */
static size_t put_rows_of_every_shape(struct program *p, struct row *rows, uint64_t *end) {
    size_t count = 0;
    uint64_t addr = 0x1000;
    uint32_t file = 1, line = 1;
    set_address(p, addr, 8);
    for (unsigned k = 0; k < 3 * 3 * 3 * 2 * 4 * 3; k++) {
        unsigned x = k, with_file = x % 3, with_column = (x /= 3) % 3, with_extended = (x /= 3) % 3;
        unsigned negate = (x /= 3) % 2, with_line = (x /= 2) % 4, last = (x / 4) % 3;
        if (with_file == 1) { PUT(p, DW_LNS_set_file, 0x7f); file = 0x7f; }
        if (with_file == 2) { PUT(p, DW_LNS_set_file, 0x80 | 0x15, 0x03); file = 0x15 | 3 << 7; }
        if (with_column == 1) PUT(p, DW_LNS_set_column, DW_LNS_advance_line);
        if (with_column == 2) PUT(p, DW_LNS_set_column, 0x80 | DW_LNS_set_file, 0x01);
        if (with_extended == 1) PUT(p, 0, 2, 4, DW_LNS_copy);
        if (with_extended == 2) PUT(p, 0, 9, 0x80, 1, 1, 1, 1, 1, 1, 1, 1);
        if (negate) PUT(p, DW_LNS_negate_stmt);
        if (with_line == 1) { PUT(p, DW_LNS_advance_line, 0x3f); line += 63; }
        if (with_line == 2) { PUT(p, DW_LNS_advance_line, 0x80 | 0x56, 0x7f); line -= 42; }
        if (with_line == 3) { PUT(p, DW_LNS_advance_line, 0x80, 0x81, 0x00); line += 128; }
        if (last == 0) PUT(p, DW_LNS_copy);
        if (last == 1) { PUT(p, special(&usual, 4, 6)); line += 4; addr += 6; }
        if (last == 2) { PUT(p, DW_LNS_const_add_pc, special(&usual, -2, 0)); line -= 2; addr += 17; }
        rows[count++] = (struct row){ addr, file, line };
    }
    PUT(p, DW_LNS_advance_pc, 1);
    end_sequence(p);
    *end = addr + 1;
    return count;
}

/* The decoder of whole rows against what is expected. */
static void rows_of_every_shape(void **state) {
    (void)state;
    struct program p;
    static struct row rows[4096];
    uint64_t end;
    begin(&p, 5, false, &usual);
    size_t count = put_rows_of_every_shape(&p, rows, &end);
    read_table(&p);
    expect_rows(&p, rows, count, end);
}

/* A header with 512 nameless files. */
static void begin_with_files(struct program *p) {
    dwarf_sample_init(&p->s, false);
    begin_header(p, 5, false, &usual);
    PUT(p, 0, 0, 1, DW_LNCT_path, DW_FORM_string, 0x80, 0x04);
    wire_fill(&p->s.line, 0, 512);
    end_header(p);
}

static void read_folded(struct program *p) {
    wire_end_length(&p->s.line, p->begun);
    open_unit(p);
    p->table.fold = true;
    p->status = csni_line_table_read(&p->table, p->s.dwarf, &p->s.dwarf->units[0], &p->err);
}

/* Of each address the last row, and the count of rows up to there that differ from the one before. */
static void folded_rows(void **state) {
    (void)state;
    struct program p;
    static struct row rows[4096];
    uint64_t end;
    begin_with_files(&p);
    size_t count = put_rows_of_every_shape(&p, rows, &end), at = 0;
    read_folded(&p);
    assert_int_equal(p.status, CSN_OK);
    assert_int_equal(p.table.sequences.count, 1);
    const struct csni_line_sequence *q = p.table.sequences.items;
    assert_true(q->folded && q->first_file == rows[0].file && q->first_line == rows[0].line);
    uint32_t changes = 0;
    for (size_t i = 0; i < count; i++) {
        changes += !i || rows[i].file != rows[i - 1].file || rows[i].line != rows[i - 1].line;
        if (i + 1 < count && rows[i + 1].addr == rows[i].addr) continue;
        const struct csni_line_row *got = &p.table.rows.items[at++];
        assert_true(got->addr == rows[i].addr);
        assert_int_equal(got->file, rows[i].file);
        assert_int_equal(got->line, rows[i].line);
        assert_int_equal(got->changes, changes);
    }
    assert_true(at < count);
    assert_int_equal(q->row_count, at + 1);
    close_program(&p);
}

/* Rows of a file that there is not, and addresses that go back, keep a sequence from being folded: it is read as it stands. */
static void rows_that_cannot_be_folded(void **state) {
    (void)state;
    for (int back = 0; back < 2; back++) {
        struct program p;
        begin_with_files(&p);
        set_address(&p, 0x1000, 8);
        PUT(&p, DW_LNS_copy, DW_LNS_advance_line, 1, DW_LNS_copy, DW_LNS_advance_pc, 8);
        if (back) set_address(&p, 0x1004, 8);
        else PUT(&p, DW_LNS_set_file, 0x80, 0x04);
        PUT(&p, DW_LNS_copy, DW_LNS_advance_pc, 8);
        end_sequence(&p);
        read_folded(&p);
        assert_int_equal(p.status, CSN_OK);
        assert_false(p.table.sequences.items[0].folded);
        if (back) EXPECT_ROWS(&p, 0x100c, { 0x1000, 1, 1 }, { 0x1000, 1, 2 }, { 0x1004, 1, 2 });
        else EXPECT_ROWS(&p, 0x1010, { 0x1000, 1, 1 }, { 0x1000, 1, 2 }, { 0x1008, 512, 2 });
    }
}

/* Only that one: the sequences around it are folded. A file that it defines is not defined twice. */
static void one_sequence_that_cannot_be_folded(void **state) {
    (void)state;
    for (int which = 0; which < 3; which++) {
        struct program p;
        begin(&p, 4, false, &usual);
        for (int i = 0; i < 3; i++) {
            set_address(&p, 0x1000 + 0x100 * (unsigned)i, 8);
            PUT(&p, 0, 6, DW_LNE_define_file, 'x', 0, 0, 0, 0);
            PUT(&p, DW_LNS_copy, DW_LNS_advance_line, 1, DW_LNS_copy, DW_LNS_advance_pc, 8);
            if (i == which) PUT(&p, DW_LNS_set_file, 0x80, 0x04);
            PUT(&p, DW_LNS_copy, DW_LNS_advance_pc, 8);
            end_sequence(&p);
        }
        read_folded(&p);
        assert_int_equal(p.status, CSN_OK);
        assert_int_equal(p.table.files.count, 3);
        assert_int_equal(p.table.sequences.count, 3);
        for (int i = 0; i < 3; i++) {
            const struct csni_line_sequence *q = &p.table.sequences.items[i];
            assert_int_equal(q->folded, i != which);
            assert_int_equal(q->row_count, i == which ? 4 : 3);
            assert_true(q->low == 0x1000 + 0x100 * (unsigned)i && q->high == q->low + 0x10);
        }
        close_program(&p);
    }
}

/* More rows than are made room for at once. */
static void many_rows(void **state) {
    (void)state;
    enum { COUNT = 20000 };
    static struct row rows[COUNT];
    struct program p;
    begin(&p, 5, false, &usual);
    set_address(&p, 0x1000, 8);
    for (unsigned i = 0; i < COUNT; i++) {
        PUT(&p, special(&usual, 1, i % 3));
        rows[i] = (struct row){ i ? rows[i - 1].addr + i % 3 : 0x1000, 1, i + 2 };
    }
    PUT(&p, DW_LNS_advance_pc, 1);
    end_sequence(&p);
    read_table(&p);
    expect_rows(&p, rows, COUNT, rows[COUNT - 1].addr + 1);
}

/* ---- sequences ---- */

static void put_sequence(struct program *p, uint64_t low, uint8_t size, uint8_t line) {
    set_address(p, low, 8);
    PUT(p, DW_LNS_advance_line, line, DW_LNS_copy, DW_LNS_advance_pc, size);
    end_sequence(p);
}

static void sequences_by_end(void **state) {
    (void)state;
    struct program p;
    begin(&p, 5, false, &usual);
    size_t first = p.s.line.size;
    put_sequence(&p, 0x3000, 0x10, 1);
    put_sequence(&p, 0x1000, 0x20, 2);
    put_sequence(&p, 0x1010, 0x10, 3); /* the same end */
    put_sequence(&p, 0x2000, 0, 4);    /* covers nothing */
    set_address(&p, 0x2500, 8);
    end_sequence(&p);                  /* no row but the end */
    set_address(&p, UINT64_MAX, 8);    /* discarded by the linker */
    PUT(&p, DW_LNS_copy);
    end_sequence(&p);
    set_address(&p, UINT32_MAX, 4);
    PUT(&p, DW_LNS_copy, DW_LNS_advance_pc, 8);
    end_sequence(&p);
    size_t last = p.s.line.size;
    put_sequence(&p, 0x500, 0x10, 5);
    read_table(&p);
    assert_int_equal(p.status, CSN_OK);
    static const struct { uint64_t low, high; uint32_t line; } want[] = {
        { 0x500, 0x510, 6 }, { 0x1000, 0x1020, 3 }, { 0x1010, 0x1020, 4 }, { 0x3000, 0x3010, 2 },
    };
    assert_int_equal(p.table.sequences.count, 4);
    for (size_t i = 0; i < 4; i++) {
        const struct csni_line_sequence *q = &p.table.sequences.items[i];
        assert_true(q->low == want[i].low && q->high == want[i].high);
        assert_int_equal(q->row_count, 2);
        assert_int_equal(p.table.rows.items[q->first_row].line, want[i].line);
    }
    assert_int_equal(p.table.sequences.items[3].off, first);
    assert_int_equal(p.table.sequences.items[0].off, last);
    close_program(&p);
}

static void many_sequences_in_any_order(void **state) {
    (void)state;
    enum { COUNT = 700 };
    struct program p;
    begin(&p, 4, false, &usual);
    for (unsigned i = 0; i < COUNT; i++) put_sequence(&p, 0x1000 + (i * 7919u % 97) * 0x100, 0x10, 1);
    read_table(&p);
    assert_int_equal(p.status, CSN_OK);
    assert_int_equal(p.table.sequences.count, COUNT);
    for (size_t i = 1; i < COUNT; i++) {
        const struct csni_line_sequence *a = &p.table.sequences.items[i - 1], *b = a + 1;
        assert_true(a->high < b->high || (a->high == b->high && a->off < b->off));
    }
    close_program(&p);
}

static void sequence_without_end(void **state) {
    (void)state;
    struct program p;
    begin(&p, 5, false, &usual);
    put_sequence(&p, 0x1000, 0x20, 2);
    size_t off = p.s.line.size;
    set_address(&p, 0x2000, 8);
    PUT(&p, DW_LNS_copy, special(&usual, 1, 1));
    read_table(&p);
    assert_int_equal(p.status, CSN_E_TRUNCATED);
    assert_int_equal(p.err.offset, off);
    assert_non_null(strstr(p.err.text, "line sequence has no end before the end of the program at"));
    assert_int_equal(p.table.sequences.count, 1);
    assert_int_equal(p.table.rows.count, 2);
    close_program(&p);
}

/* ---- files ---- */

static void expect_file(struct program *p, uint32_t file, const char *directory, const char *name, bool relative) {
    struct csn_str d, n;
    bool r;
    assert_true(csni_line_table_file(&p->table, file, &d, &n, &r));
    assert_true(csni_str_is(d, directory));
    assert_true(csni_str_is(n, name));
    assert_int_equal(r, relative);
}

static void no_file(struct program *p, uint32_t file) {
    struct csn_str d, n;
    bool r;
    assert_false(csni_line_table_file(&p->table, file, &d, &n, &r));
}

static void files_before_version_5(void **state) {
    (void)state;
    for (uint16_t version = 2; version <= 4; version++) {
        struct program p;
        dwarf_sample_init(&p.s, false);
        begin_header(&p, version, false, &usual);
        struct wire *w = &p.s.line;
        wire_cstr(w, "include");
        wire_cstr(w, "/usr/include");
        wire_cstr(w, "C:\\inc");
        wire_u8(w, 0);
        static const struct { const char *name; unsigned directory; } files[] = {
            { "a.c", 0 }, { "b.h", 1 }, { "c.h", 2 }, { "/abs/d.h", 1 }, { "e.h", 3 }, { "f.h", 4 }, { "D:/g.h", 1 },
        };
        for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
            wire_cstr(w, files[i].name);
            wire_uleb(w, files[i].directory);
            wire_uleb_padded(w, 5, 3);
            wire_uleb(w, 6);
        }
        wire_u8(w, 0);
        wire_fill(w, 0xcc, 3); /* what a later version of the header may have */
        end_header(&p);
        PUT(&p, 0, 9, DW_LNE_define_file, 'd', 'e', 'f', 0, 2, 0, 0, 0);
        put_sequence(&p, 0x1000, 1, 1);
        read_table(&p);
        assert_int_equal(p.status, CSN_OK);
        no_file(&p, 0);
        expect_file(&p, 1, "", "a.c", true);
        expect_file(&p, 2, "include", "b.h", true);
        expect_file(&p, 3, "/usr/include", "c.h", false);
        expect_file(&p, 4, "", "/abs/d.h", false);
        expect_file(&p, 5, "C:\\inc", "e.h", false);
        expect_file(&p, 6, "", "f.h", true);
        expect_file(&p, 7, "", "D:/g.h", false);
        expect_file(&p, 8, "/usr/include", "def", false);
        no_file(&p, 9);
        no_file(&p, CSNI_LINE_END);
        close_program(&p);
    }
}

/* Of a header whose first files are /comp/a.c and sub/b.h. */
static void read_files(struct program *p) {
    end_header(p);
    put_sequence(p, 0x1000, 1, 1);
    read_table(p);
    assert_int_equal(p->status, CSN_OK);
    expect_file(p, 0, "/comp", "a.c", false);
    expect_file(p, 1, "sub", "b.h", true);
}

static void files_of_version_5(void **state) {
    (void)state;
    for (unsigned k = 0; k < 4; k++) {
        struct program p;
        dwarf_sample_init(&p.s, k & 1);
        p.s.offset_size = k & 2 ? 8 : 4;
        begin_header(&p, 5, k & 1, &usual);
        struct wire *w = &p.s.line;
        PUT(&p, 1, DW_LNCT_path, DW_FORM_string, 3);
        wire_cstr(w, "/comp");
        wire_cstr(w, "sub");
        wire_cstr(w, "/abs");
        wire_u8(w, 7);
        static const struct { unsigned content, form; } format[] = {
            { 5 /* MD5 */, DW_FORM_data16 }, { DW_LNCT_path, DW_FORM_line_strp }, { 4 /* size */, DW_FORM_block1 },
            { DW_LNCT_directory_index, DW_FORM_data2 }, { 0x2001 /* source */, DW_FORM_strp },
            { 3 /* timestamp */, DW_FORM_sdata }, { 0x3fff, DW_FORM_block },
        };
        for (size_t i = 0; i < 7; i++) {
            wire_uleb(w, format[i].content);
            wire_uleb(w, format[i].form);
        }
        wire_uleb(w, 4);
        static const char *const names[] = { "a.c", "b.h", "c.h", "far" };
        for (unsigned i = 0; i < 4; i++) {
            wire_fill(w, 0xdd, 16);
            dwarf_sample_offset(&p.s, w, i < 3 ? wire_cstr(&p.s.line_str, names[i]) : 1000);
            PUT(&p, 2, 9, 9);
            wire_u16(w, i);
            dwarf_sample_offset(&p.s, w, 0);
            PUT(&p, 0x80, 0x7f, 1, 0xee);
        }
        read_files(&p);
        expect_file(&p, 2, "/abs", "c.h", false);
        expect_file(&p, 3, "", "", true); /* no such string, no such directory */
        no_file(&p, 4);
        assert_int_equal(p.table.sequences.count, 1);
        close_program(&p);
    }
}

/* The usual columns in the usual order: the MD5 of clang is passed, and GCC has none. */
static void files_as_compilers_list_them(void **state) {
    (void)state;
    for (unsigned k = 0; k < 4; k++) {
        struct program p;
        bool has_md5 = k & 2;
        dwarf_sample_init(&p.s, k & 1);
        begin_header(&p, 5, k & 1, &usual);
        struct wire *w = &p.s.line;
        PUT(&p, 1, DW_LNCT_path, DW_FORM_string, 2);
        wire_cstr(w, "/comp");
        wire_cstr(w, "sub");
        PUT(&p, has_md5 ? 3 : 2, DW_LNCT_path, DW_FORM_line_strp, DW_LNCT_directory_index, DW_FORM_udata);
        if (has_md5) PUT(&p, 5, DW_FORM_data16);
        wire_uleb(w, 3);
        static const char *const names[] = { "a.c", "b.h", "c.h" };
        for (unsigned i = 0; i < 3; i++) {
            dwarf_sample_offset(&p.s, w, wire_cstr(&p.s.line_str, names[i]));
            wire_uleb(w, i & 1);
            if (has_md5) wire_fill(w, 0xdd, 16);
        }
        read_files(&p);
        expect_file(&p, 2, "/comp", "c.h", false);
        no_file(&p, 3);
        close_program(&p);
    }
}

/* ---- damage ---- */

static void expect_failure(struct program *p, csn_status code, const char *text) {
    open_unit(p);
    p->status = csni_line_table_read(&p->table, p->s.dwarf, &p->s.dwarf->units[0], &p->err);
    assert_string_equal(p->err.text, text);
    assert_int_equal(p->status, code);
    close_program(p);
}

static void damaged_headers(void **state) {
    (void)state;
    struct program p;
    begin(&p, 5, false, &usual);
    wire_end_length(&p.s.line, p.begun);
    wire_patch(&p.s.line, 4, 6, 2);
    expect_failure(&p, CSN_E_UNSUPPORTED, ".debug_line+0x0: line table has version 6, need 2 to 5");
    begin(&p, 4, false, &usual);
    wire_patch(&p.s.line, 0, 100, 4);
    expect_failure(&p, CSN_E_TRUNCATED, ".debug_line+0x0: line table has 0x64 bytes, 0x1a are left");
    begin(&p, 4, false, &usual);
    wire_patch(&p.s.line, 0, 0xfffffff0, 4);
    expect_failure(&p, CSN_E_FORMAT, ".debug_line+0x0: line table length 0xfffffff0 is reserved, need < 0xfffffff0");
    begin(&p, 4, false, &usual);
    wire_end_length(&p.s.line, p.begun);
    wire_patch(&p.s.line, 6, 99, 4);
    expect_failure(&p, CSN_E_TRUNCATED, ".debug_line+0x0: line table header has 0x63 bytes, 0x14 are left");
    static const struct machine no_base = { 1, 1, -5, 14, 0 }, no_range = { 1, 1, -5, 0, 13 };
    begin(&p, 4, false, &no_base);
    wire_end_length(&p.s.line, p.begun);
    expect_failure(&p, CSN_E_FORMAT, ".debug_line+0xf: opcode_base 0, need >= 1");
    begin(&p, 4, false, &no_range);
    wire_end_length(&p.s.line, p.begun);
    expect_failure(&p, CSN_E_FORMAT, ".debug_line+0xe: line_range 0, need >= 1");
    begin(&p, 5, false, &usual);
    wire_end_length(&p.s.line, p.begun);
    wire_patch(&p.s.line, 6, 9, 1);
    expect_failure(&p, CSN_E_UNSUPPORTED, ".debug_line+0x0: line table has addresses of 9 bytes, need <= 8");
}

/* The rows are read whatever the file table was like. */
static void damaged_file_tables(void **state) {
    (void)state;
    struct program p;
    dwarf_sample_init(&p.s, false);
    begin_header(&p, 5, false, &usual);
    PUT(&p, 1, DW_LNCT_path, 0x7f, 1, 1, 1);
    end_header(&p);
    put_sequence(&p, 0x1000, 1, 1);
    read_table(&p);
    assert_int_equal(p.status, CSN_E_UNSUPPORTED);
    assert_string_equal(p.err.text, ".debug_line+0x20: content type 0x1 has form 0x7f, which is not known here");
    assert_int_equal(p.table.sequences.count, 1);
    close_program(&p);
    dwarf_sample_init(&p.s, false);
    begin_header(&p, 5, false, &usual);
    PUT(&p, 1, DW_LNCT_path, DW_FORM_udata, 0xff, 0xff, 0x03, 1);
    end_header(&p);
    put_sequence(&p, 0x1000, 1, 1);
    read_table(&p);
    assert_int_equal(p.status, CSN_E_FORMAT);
    assert_string_equal(p.err.text, ".debug_line+0x21: 65535 directories are to follow, 1 bytes are left");
    assert_int_equal(p.table.sequences.count, 1);
    close_program(&p);
}

static void no_program(void **state) {
    (void)state;
    struct program p;
    begin(&p, 5, false, &usual);
    wire_end_length(&p.s.line, p.begun);
    open_unit(&p);
    struct csni_unit unit = p.s.dwarf->units[0];
    unit.has_stmt_list = false;
    assert_int_equal(csni_line_table_read(&p.table, p.s.dwarf, &unit, &p.err), CSN_NONE);
    unit.has_stmt_list = true;
    unit.stmt_list = 1000;
    assert_int_equal(csni_line_table_read(&p.table, p.s.dwarf, &unit, &p.err), CSN_E_FORMAT);
    assert_string_equal(p.err.text, ".debug_line+0x3e8: a line table is to be here, the section has 34 bytes");
    close_program(&p);
}

/* Buffers are used again, and nothing of the table before is left. */
static void second_table(void **state) {
    (void)state;
    struct program p;
    begin(&p, 5, false, &usual);
    put_sequence(&p, 0x1000, 1, 1);
    read_table(&p);
    assert_int_equal(p.status, CSN_OK);
    const struct csni_line_row *rows = p.table.rows.items;
    p.status = csni_line_table_read(&p.table, p.s.dwarf, &p.s.dwarf->units[0], &p.err);
    assert_ptr_equal(p.table.rows.items, rows);
    assert_int_equal(p.table.rows.count, 2);
    EXPECT_ROWS(&p, 0x1001, { 0x1000, 1, 2 });
}

/* Nor is what opcodes meant there: each machine here differs from the one before in one number. */
static void second_table_of_another_machine(void **state) {
    (void)state;
    static const struct machine machines[] = { { 1, 1, -5, 14, 13 }, { 1, 1, -5, 12, 13 }, { 4, 1, -5, 12, 13 },
                                               { 4, 1, -5, 12, 10 }, { 4, 1, -3, 12, 10 } };
    enum { MACHINES = sizeof machines / sizeof *machines };
    uint64_t off[MACHINES];
    struct program p;
    dwarf_sample_init(&p.s, false);
    for (size_t i = 0; i < MACHINES; i++) {
        off[i] = p.s.line.size;
        begin_header(&p, 5, false, &machines[i]);
        no_files(&p);
        set_address(&p, 0x1000, 8);
        PUT(&p, DW_LNS_copy, special(&machines[i], 2, 3), DW_LNS_const_add_pc, special(&machines[i], 1, 0));
        end_sequence(&p);
        wire_end_length(&p.s.line, p.begun);
    }
    open_unit(&p);
    struct csni_unit unit = p.s.dwarf->units[0];
    for (size_t i = 0; i < MACHINES; i++) {
        const struct machine *m = &machines[i];
        unit.stmt_list = off[i];
        assert_int_equal(csni_line_table_read(&p.table, p.s.dwarf, &unit, &p.err), CSN_OK);
        assert_int_equal(p.table.rows.count, 4);
        assert_int_equal(p.table.rows.items[1].addr, 0x1000 + 3 * m->min_inst_length);
        assert_int_equal(p.table.rows.items[1].line, 3);
        assert_int_equal(p.table.rows.items[2].addr, 0x1000 + (3 + (255 - m->opcode_base) / m->line_range) * m->min_inst_length);
        assert_int_equal(p.table.rows.items[2].line, 4);
    }
    close_program(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_standard_opcode),
        cmocka_unit_test(all_special_opcodes),
        cmocka_unit_test(vliw),
        cmocka_unit_test(unknown_and_vendor_opcodes),
        cmocka_unit_test(addresses_of_every_size),
        cmocka_unit_test(numbers_at_their_edges),
        cmocka_unit_test(rows_of_every_shape),
        cmocka_unit_test(folded_rows),
        cmocka_unit_test(rows_that_cannot_be_folded),
        cmocka_unit_test(one_sequence_that_cannot_be_folded), 
        cmocka_unit_test(rows_that_cannot_be_folded),
        cmocka_unit_test(many_rows),
        cmocka_unit_test(sequences_by_end),
        cmocka_unit_test(many_sequences_in_any_order),
        cmocka_unit_test(sequence_without_end),
        cmocka_unit_test(files_before_version_5),
        cmocka_unit_test(files_of_version_5),
        cmocka_unit_test(files_as_compilers_list_them),
        cmocka_unit_test(damaged_headers),
        cmocka_unit_test(damaged_file_tables),
        cmocka_unit_test(no_program),
        cmocka_unit_test(second_table),
        cmocka_unit_test(second_table_of_another_machine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
