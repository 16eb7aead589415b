/* dwarf/dwarf_line_rows*.c: random line programs, decoded by the fast loops, against rows that were known when they were made,
 * and against each other: rows as they are, and folded. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "dwarf/dwarf.h"
#include "dwarf/dwarf_constants.h"
#include "wire/wire.h"

enum { FILES = 300, MAX_ROWS = 4000 };

static uint64_t seed;
static uint32_t pick(uint32_t count) {
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (uint32_t)((seed >> 12) % count);
}
static bool chance(uint32_t percent) { return pick(100) < percent; }

/* ---- reading a program ---- */

/* Parameters of the machine. */
struct machine {
    uint8_t min_inst_length;
    int8_t line_base;
    uint8_t line_range, opcode_base;
};
static const struct machine machines[] = {
    { 1, -5, 14, 13 }, { 1, -5, 14, 10 }, { 4, -3, 12, 13 }, { 1, 0, 4, 10 }, { 1, -10, 242, 13 }, { 1, -5, 14, 14 },
    { 255, 1, 1, 13 },
};
enum { MACHINES = sizeof machines / sizeof *machines };

/* A header of version 5 with FILES files without names, the first two of which are then the same, or are not. */
static size_t begin_table(struct wire *w, const struct machine *m, bool alike) {
    size_t begun = wire_begin_length(w, 4);
    wire_u16(w, 5);
    wire_u8(w, 8);
    wire_u8(w, 0);
    size_t length = wire_u32(w, 0);
    wire_u8(w, m->min_inst_length);
    wire_u8(w, 1);
    wire_u8(w, 1);
    wire_u8(w, (uint8_t)m->line_base);
    wire_u8(w, m->line_range);
    wire_u8(w, m->opcode_base);
    static const uint8_t operands[13] = { 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1, 2 };
    wire_bytes(w, operands, m->opcode_base - 1u);
    wire_u8(w, 0);
    wire_u8(w, 0);
    wire_u8(w, 1);
    wire_uleb(w, DW_LNCT_path);
    wire_uleb(w, DW_FORM_string);
    wire_uleb(w, FILES);
    wire_cstr(w, alike ? "" : "a");
    wire_fill(w, 0, FILES - 1);
    wire_patch(w, length, w->size - length - 4, 4);
    return begun;
}

/* From memory of exactly its size, so that a sanitizer sees reads past it. */
static csn_status read_bytes(const uint8_t *bytes, size_t size, bool fold, struct csni_line_table *table) {
    uint8_t *exact = malloc(size);
    assert_non_null(exact);
    memcpy(exact, bytes, size);
    static struct csni_dwarf dwarf;
    dwarf.sections.line = (struct csni_span){ exact, size };
    struct csni_unit unit = { .has_stmt_list = true, .address_size = 8 };
    csni_line_table_init(table, NULL);
    table->fold = fold;
    csn_status status = csni_line_table_read(table, &dwarf, &unit, NULL);
    for (size_t i = 0; i < table->files.count; i++) table->files.items[i].name = (struct csn_str){ "", 0 };
    free(exact);
    return status;
}

/* ---- comparing ---- */

static uint32_t folded_file(uint32_t file, bool alike) { return file == 0 && alike ? 1 : file; }

/* The folded rows of a sequence against all its rows; the last one, which ends it, not counted. */
static void expect_folded(const struct csni_line_row *got, size_t got_count, const struct csni_line_row *rows, size_t count,
                          bool alike) {
    size_t at = 0;
    uint32_t changes = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t file = folded_file(rows[i].file, alike);
        changes += !i || file != folded_file(rows[i - 1].file, alike) || rows[i].line != rows[i - 1].line;
        if (i + 1 < count && rows[i + 1].addr == rows[i].addr) continue;
        assert_true(at < got_count);
        if (got[at].addr != rows[i].addr || got[at].file != file || got[at].line != rows[i].line ||
            got[at].changes != changes)
            fail_msg("row %zu of %zu: {0x%llx, %u, %u, %u}, need {0x%llx, %u, %u, %u}", at, got_count,
                     (unsigned long long)got[at].addr, got[at].file, got[at].line, got[at].changes,
                     (unsigned long long)rows[i].addr, file, rows[i].line, changes);
        at++;
    }
    assert_int_equal(at, got_count);
}

/* Both ways of reading find the same sequences of the same rows. How many of them were folded. */
static size_t expect_same(const uint8_t *bytes, size_t size, bool alike) {
    struct csni_line_table plain, folded;
    csn_status status = read_bytes(bytes, size, false, &plain);
    assert_int_equal(read_bytes(bytes, size, true, &folded), status);
    assert_int_equal(folded.sequences.count, plain.sequences.count);
    size_t count = 0;
    for (size_t i = 0; i < plain.sequences.count; i++) {
        const struct csni_line_sequence *a = &plain.sequences.items[i], *b = &folded.sequences.items[i];
        assert_true(a->low == b->low && a->high == b->high && a->off == b->off);
        const struct csni_line_row *rows = plain.rows.items + a->first_row, *got = folded.rows.items + b->first_row;
        if (!b->folded) {
            assert_int_equal(a->row_count, b->row_count);
            for (uint32_t k = 0; k < a->row_count; k++)
                assert_true(rows[k].addr == got[k].addr && rows[k].file == got[k].file && rows[k].line == got[k].line);
            continue;
        }
        count++;
        assert_true(b->first_file == folded_file(rows->file, alike) && b->first_line == rows->line);
        expect_folded(got, b->row_count - 1, rows, a->row_count - 1, alike);
    }
    csni_line_table_deinit(&plain);
    csni_line_table_deinit(&folded);
    return count;
}

/* ---- programs as compilers write them ---- */

/* A program that is being made, and the rows it has. */
struct making {
    struct wire w;
    const struct machine *machine;
    struct csni_line_row state;
    struct csni_line_row rows[MAX_ROWS];
    size_t count;
};

static void put_extended(struct making *m, uint8_t op, const uint8_t *operand, uint8_t size) {
    wire_u8(&m->w, 0);
    wire_u8(&m->w, (uint8_t)(size + 1));
    wire_u8(&m->w, op);
    wire_bytes(&m->w, operand, size);
}

/* LEB128, at times of more bytes than are needed. */
static void put_number(struct making *m, uint64_t v) {
    if (chance(3)) wire_uleb_padded(&m->w, v, 2 + pick(3) + (v > 0x3fff));
    else wire_uleb(&m->w, v);
}

static void put_file(struct making *m) {
    m->state.file = chance(80) ? 1 + pick(20) : pick(FILES);
    wire_u8(&m->w, DW_LNS_set_file);
    put_number(m, m->state.file);
}

static void put_line(struct making *m) {
    int64_t delta = (int64_t)pick(100) - 50;
    if (chance(30)) delta *= chance(80) ? 100 : 30000;
    if ((int64_t)m->state.line + delta < 0) delta = -delta;
    m->state.line = (uint32_t)((int64_t)m->state.line + delta);
    wire_u8(&m->w, DW_LNS_advance_line);
    wire_sleb(&m->w, delta);
}

static void put_constant_advance(struct making *m) {
    const struct machine *x = m->machine;
    wire_u8(&m->w, DW_LNS_const_add_pc);
    m->state.addr += (255u - x->opcode_base) / x->line_range * x->min_inst_length;
}

static void put_discriminator(struct making *m) {
    static const uint8_t bytes[] = { 0x80, 0xff, 3, 4, 1 };
    uint8_t low = (uint8_t)pick(128);
    if (chance(80)) put_extended(m, 4, &low, 1);
    else put_extended(m, chance(50) ? 4 : 0x80, bytes + pick(3), (uint8_t)(chance(50) ? 2 : pick(3)));
}

/* What does not come before most rows. */
static void put_odd(struct making *m) {
    uint8_t address[8];
    switch (pick(7)) {
    case 0:
        wire_u8(&m->w, DW_LNS_advance_pc);
        uint32_t operations = chance(50) ? pick(100) : pick(3000);
        put_number(m, operations);
        m->state.addr += (uint64_t)operations * m->machine->min_inst_length;
        break;
    case 1:
        wire_u8(&m->w, DW_LNS_fixed_advance_pc);
        wire_u16(&m->w, 5);
        m->state.addr += 5;
        break;
    case 2:
        m->state.addr += pick(50);
        for (unsigned i = 0; i < 8; i++) address[i] = (uint8_t)(m->state.addr >> 8 * i);
        put_extended(m, DW_LNE_set_address, address, 8);
        break;
    case 3: put_line(m); break;
    case 4: put_constant_advance(m); break;
    case 5:
        if (m->machine->opcode_base <= DW_LNS_set_isa) break;
        wire_u8(&m->w, DW_LNS_set_isa);
        put_number(m, pick(1000));
        break;
    default:
        if (m->machine->opcode_base <= 13) break;
        wire_u8(&m->w, 13);
        put_number(m, pick(1000));
        put_number(m, pick(1000));
        break;
    }
}

static void put_row(struct making *m) {
    const struct machine *x = m->machine;
    if (chance(40)) {
        wire_u8(&m->w, DW_LNS_copy);
    } else {
        unsigned op = x->opcode_base + pick(256u - x->opcode_base), rest = op - x->opcode_base;
        if (chance(30)) rest %= x->line_range; /* at the same address */
        wire_u8(&m->w, (uint8_t)(x->opcode_base + rest));
        m->state.addr += (uint64_t)(rest / x->line_range) * x->min_inst_length;
        m->state.line += (uint32_t)x->line_base + rest % x->line_range;
    }
    m->rows[m->count++] = m->state;
}

/* One sequence of `count` rows; what precedes them is in the usual order, or at times in any. */
static size_t put_program(struct making *m, size_t count, uint32_t odd) {
    m->state = (struct csni_line_row){ 0x1000, 1, 1, 0 };
    put_extended(m, DW_LNE_set_address, (const uint8_t[]){ 0, 0x10, 0, 0, 0, 0, 0, 0 }, 8);
    while (m->count < count) {
        if (chance(20)) put_file(m);
        if (chance(50)) {
            wire_u8(&m->w, DW_LNS_set_column);
            put_number(m, chance(90) ? pick(128) : pick(20000));
        }
        if (chance(8)) put_discriminator(m);
        if (chance(30)) wire_u8(&m->w, DW_LNS_negate_stmt);
        if (chance(3) && m->machine->opcode_base >= 12)
            wire_u8(&m->w, chance(50) ? DW_LNS_set_prologue_end : DW_LNS_set_epilogue_begin);
        if (chance(2)) wire_u8(&m->w, DW_LNS_set_basic_block);
        if (chance(odd)) put_odd(m);
        if (chance(odd)) put_file(m);
        if (chance(25)) put_line(m);
        if (chance(4)) put_constant_advance(m);
        put_row(m);
    }
    wire_u8(&m->w, DW_LNS_advance_pc);
    wire_u8(&m->w, 1);
    m->state.addr += m->machine->min_inst_length;
    put_extended(m, DW_LNE_end_sequence, NULL, 0);
    return m->count;
}

static void random_programs(void **state) {
    (void)state;
    static struct making m;
    seed = 0x1234567890abcdef;
    for (unsigned round = 0; round < 700; round++) {
        bool alike = chance(50);
        m.machine = &machines[round % MACHINES];
        m.count = 0;
        wire_init(&m.w, false);
        size_t begun = begin_table(&m.w, m.machine, alike);
        size_t count = put_program(&m, 1 + pick(round % 5 ? 60 : MAX_ROWS - 1), round % 3 ? 1 : 10);
        wire_end_length(&m.w, begun);
        struct csni_span bytes = wire_span(&m.w);
        for (int fold = 0; fold < 2; fold++) {
            struct csni_line_table table;
            assert_int_equal(read_bytes(bytes.ptr, bytes.size, fold, &table), CSN_OK);
            assert_int_equal(table.sequences.count, 1);
            const struct csni_line_sequence *s = table.sequences.items;
            assert_true(s->low == m.rows[0].addr && s->high == m.state.addr && s->folded == fold);
            if (fold) expect_folded(table.rows.items, s->row_count - 1, m.rows, count, alike);
            else assert_int_equal(s->row_count - 1, count);
            for (size_t i = 0; i < count && !fold; i++) {
                const struct csni_line_row *got = &table.rows.items[i];
                assert_true(got->addr == m.rows[i].addr && got->file == m.rows[i].file && got->line == m.rows[i].line);
            }
            csni_line_table_deinit(&table);
        }
        wire_deinit(&m.w);
    }
}

/* The second byte of a column is 0: no extended opcode begins there. */
static void padded_column(void **state) {
    (void)state;
    static const uint8_t rows[] = { DW_LNS_set_column, 0x85, 0, DW_LNS_copy, DW_LNS_advance_line, 7, 60,
                                    DW_LNS_set_column, 0x81, 0, DW_LNS_negate_stmt, 61, 62, 63, 64, 65, 66, 67, 68, 69, 70,
                                    71, 72, 73, 74, 75 };
    for (int fold = 0; fold < 2; fold++) {
        struct wire w;
        wire_init(&w, false);
        size_t begun = begin_table(&w, &machines[0], true);
        for (int i = 0; i < 5; i++) wire_bytes(&w, rows, sizeof rows);
        wire_bytes(&w, (const uint8_t[]){ 0, 1, DW_LNE_end_sequence }, 3);
        wire_end_length(&w, begun);
        struct csni_line_table table;
        assert_int_equal(read_bytes(wire_span(&w).ptr, w.size, fold, &table), CSN_OK);
        assert_int_equal(table.sequences.count, 1);
        /* Copies repeat the row before but for the first, which the next special opcode leaves after. */
        assert_int_equal(table.sequences.items[0].row_count, fold ? 5 * 16 + 2 : 5 * 17 + 1);
        csni_line_table_deinit(&table);
        wire_deinit(&w);
    }
}

/* ---- any bytes ---- */

/* Bytes that are often opcodes with an operand, or operands that look like them. */
static uint8_t any_byte(void) {
    if (chance(70)) return (uint8_t)pick(15);
    return chance(70) ? (uint8_t)pick(128) : (uint8_t)pick(256);
}

static void any_bytes(void **state) {
    (void)state;
    seed = 99;
    size_t folded = 0;
    for (unsigned round = 0; round < 4000; round++) {
        bool alike = chance(50);
        struct wire w;
        wire_init(&w, false);
        size_t begun = begin_table(&w, &machines[round % MACHINES], alike);
        for (unsigned k = 1 + pick(4); k > 0; k--) {
            for (unsigned i = pick(300), quiet = pick(2); i > 0; i--) {
                /* Nothing that keeps rows from being folded, in half of the sequences. */
                uint8_t byte = any_byte();
                wire_u8(&w, quiet && (byte == 0 || byte == DW_LNS_advance_pc) ? DW_LNS_copy : byte);
            }
            static const uint8_t end[] = { 1, 1, 1, 1, 60, 60, DW_LNS_copy, DW_LNS_advance_pc, 9,
                                           0, 1, DW_LNE_end_sequence };
            wire_bytes(&w, end, sizeof end);
        }
        wire_end_length(&w, begun);
        struct csni_span bytes = wire_span(&w);
        folded += expect_same(bytes.ptr, bytes.size, alike);
        wire_deinit(&w);
    }
    assert_true(folded > 500);
}

/* Programs of compilers, cut at every byte, and with bits turned over. */
static void damaged_programs(void **state) {
    (void)state;
    static struct making m;
    seed = 7;
    m.machine = &machines[0];
    m.count = 0;
    wire_init(&m.w, false);
    size_t begun = begin_table(&m.w, m.machine, true), header = m.w.size;
    put_program(&m, 150, 5);
    wire_end_length(&m.w, begun);
    struct csni_span whole = wire_span(&m.w);
    uint8_t *bytes = malloc(whole.size);
    assert_non_null(bytes);
    memcpy(bytes, whole.ptr, whole.size);
    for (size_t size = header; size < whole.size; size++) {
        uint32_t length = (uint32_t)size - 4;
        for (unsigned i = 0; i < 4; i++) bytes[i] = (uint8_t)(length >> 8 * i);
        expect_same(bytes, size, true);
    }
    size_t folded = 0;
    for (unsigned round = 0; round < 3000; round++) {
        memcpy(bytes, whole.ptr, whole.size);
        for (unsigned k = 1 + pick(4); k > 0; k--)
            bytes[header + pick((uint32_t)(whole.size - header))] ^= (uint8_t)(1 << pick(8));
        folded += expect_same(bytes, whole.size, true);
    }
    assert_true(folded > 500);
    free(bytes);
    wire_deinit(&m.w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_programs),
        cmocka_unit_test(padded_column),
        cmocka_unit_test(any_bytes),
        cmocka_unit_test(damaged_programs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
