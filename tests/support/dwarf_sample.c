/* Hand-made DWARF for the tests of the dwarf layer. */
#include "support/dwarf_sample.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

void dwarf_sample_init(struct dwarf_sample *s, bool big) {
    *s = (struct dwarf_sample){ .big = big, .version = 5, .address_size = 8, .offset_size = 4 };
    struct wire *wires[] = { &s->info, &s->types, &s->abbrev, &s->line, &s->str, &s->line_str, &s->str_offsets, &s->addr,
                             &s->ranges, &s->rnglists };
    for (size_t i = 0; i < sizeof wires / sizeof *wires; i++) wire_init(wires[i], big);
}

void dwarf_sample_deinit(struct dwarf_sample *s) {
    csni_dwarf_close(s->dwarf);
    struct wire *wires[] = { &s->info, &s->types, &s->abbrev, &s->line, &s->str, &s->line_str, &s->str_offsets, &s->addr,
                             &s->ranges, &s->rnglists };
    for (size_t i = 0; i < sizeof wires / sizeof *wires; i++) wire_deinit(wires[i]);
}

void dwarf_sample_address(struct dwarf_sample *s, struct wire *w, uint64_t v) { wire_uint(w, v, s->address_size); }
void dwarf_sample_offset(struct dwarf_sample *s, struct wire *w, uint64_t v) { wire_uint(w, v, s->offset_size); }

size_t dwarf_sample_unit(struct dwarf_sample *s) {
    size_t begun = wire_begin_length(&s->info, s->offset_size);
    wire_u16(&s->info, s->version);
    if (s->version >= 5) {
        wire_u8(&s->info, DW_UT_compile);
        wire_u8(&s->info, s->address_size);
    }
    dwarf_sample_offset(s, &s->info, s->abbrev_off);
    if (s->version < 5) wire_u8(&s->info, s->address_size);
    return begun;
}

void dwarf_sample_end(struct dwarf_sample *s, size_t begun) { wire_end_length(&s->info, begun); }

void dwarf_sample_abbrev(struct dwarf_sample *s, uint64_t code, unsigned tag, int children, ...) {
    wire_uleb(&s->abbrev, code);
    wire_uleb(&s->abbrev, tag);
    wire_u8(&s->abbrev, (uint64_t)children);
    va_list args;
    va_start(args, children);
    for (int at; (at = va_arg(args, int)) != 0;) {
        int form = va_arg(args, int);
        wire_uleb(&s->abbrev, (unsigned)at);
        wire_uleb(&s->abbrev, (unsigned)form);
        if (form == DW_FORM_implicit_const) wire_sleb(&s->abbrev, va_arg(args, int));
    }
    va_end(args);
    wire_u16(&s->abbrev, 0);
}

void dwarf_sample_abbrevs_end(struct dwarf_sample *s) { wire_u8(&s->abbrev, 0); }

struct csni_dwarf_sections dwarf_sample_sections(struct dwarf_sample *s) {
    return (struct csni_dwarf_sections){
        .info = wire_span(&s->info), .types = wire_span(&s->types), .abbrev = wire_span(&s->abbrev),
        .line = wire_span(&s->line), .str = wire_span(&s->str), .line_str = wire_span(&s->line_str),
        .str_offsets = wire_span(&s->str_offsets), .addr = wire_span(&s->addr), .ranges = wire_span(&s->ranges),
        .rnglists = wire_span(&s->rnglists), .big_endian = s->big, .is_supplement = s->is_supplement };
}

struct csni_dwarf *dwarf_sample_open(struct dwarf_sample *s) {
    struct csni_dwarf_sections sections = dwarf_sample_sections(s);
    struct csn_error err = CSN_ERROR_INIT;
    csni_dwarf_close(s->dwarf);
    s->dwarf = NULL;
    assert_int_equal(csni_dwarf_open(&sections, NULL, &s->dwarf, &err), CSN_OK);
    for (uint32_t i = 0; i < s->dwarf->abbrev_table_count; i++)
        if (csni_dwarf_compile_abbrevs(s->dwarf, i, &err) != CSN_OK) fail_msg("%s", err.text);
    if (s->supplement) s->dwarf->supplement = s->supplement->dwarf;
    for (uint32_t i = 0; i < s->dwarf->unit_count; i++)
        if (csni_unit_prepare(s->dwarf, &s->dwarf->units[i], &err) != CSN_OK) fail_msg("%s", err.text);
    return s->dwarf;
}

/* ---- a sample with a bit of everything ---- */

enum { UNIT = 1, NAMESPACE, CLASS, METHOD, DEFINITION, PLAIN, ABSTRACT, INLINED, MEMBER, ARRAY, SUBRANGE };

static void fill_abbrevs(struct dwarf_sample *s) {
    int offset_form = s->version >= 4 ? DW_FORM_sec_offset : DW_FORM_data4;
    int block_form = s->version >= 4 ? DW_FORM_exprloc : DW_FORM_block1;
    int flag_form = s->version >= 4 ? DW_FORM_flag_present : DW_FORM_flag;
    dwarf_sample_abbrev(s, UNIT, DW_TAG_compile_unit, true, DW_AT_producer, DW_FORM_strp, DW_AT_language, DW_FORM_data1,
                        DW_AT_name, DW_FORM_string, DW_AT_comp_dir, DW_FORM_string, DW_AT_low_pc, DW_FORM_addr,
                        DW_AT_stmt_list, offset_form, 0);
    dwarf_sample_abbrev(s, NAMESPACE, DW_TAG_namespace, true, DW_AT_name, DW_FORM_string, 0);
    dwarf_sample_abbrev(s, CLASS, DW_TAG_class_type, true, DW_AT_name, DW_FORM_string, DW_AT_sibling, DW_FORM_ref4, 0);
    dwarf_sample_abbrev(s, METHOD, DW_TAG_subprogram, false, DW_AT_name, DW_FORM_strp, DW_AT_declaration, flag_form, 0);
    dwarf_sample_abbrev(s, DEFINITION, DW_TAG_subprogram, true, DW_AT_specification, DW_FORM_ref4, DW_AT_low_pc,
                        DW_FORM_addr, DW_AT_high_pc, s->version >= 4 ? DW_FORM_data4 : DW_FORM_addr, 0x40 /* frame_base */,
                        block_form, 0);
    dwarf_sample_abbrev(s, PLAIN, DW_TAG_subprogram, false, DW_AT_linkage_name, DW_FORM_strp, DW_AT_ranges, offset_form,
                        0);
    dwarf_sample_abbrev(s, ABSTRACT, DW_TAG_subprogram, false, DW_AT_name, DW_FORM_string, DW_AT_inline, DW_FORM_data1, 0);
    dwarf_sample_abbrev(s, INLINED, DW_TAG_inlined_subroutine, false, DW_AT_abstract_origin, DW_FORM_ref_udata,
                        DW_AT_low_pc, DW_FORM_addr, DW_AT_high_pc, s->version >= 4 ? DW_FORM_udata : DW_FORM_addr,
                        DW_AT_call_file, DW_FORM_data1, DW_AT_call_line, DW_FORM_data2, 0);
    dwarf_sample_abbrev(s, MEMBER, 0x0d /* member */, false, DW_AT_name, DW_FORM_string, 0x38 /* location */, block_form,
                        0);
    dwarf_sample_abbrev(s, ARRAY, DW_TAG_array_type, true, DW_AT_sibling, DW_FORM_ref4, 0);
    dwarf_sample_abbrev(s, SUBRANGE, 0x21 /* subrange_type */, false, 0x2f /* upper_bound */, DW_FORM_sdata, 0);
    dwarf_sample_abbrevs_end(s);
}

static void fill_ranges(struct dwarf_sample *s) {
    struct wire *w = s->version >= 5 ? &s->rnglists : &s->ranges;
    wire_fill(w, 0xee, 12);
    if (s->version >= 5) {
        wire_u8(w, DW_RLE_offset_pair);
        wire_uleb(w, 0x200);
        wire_uleb(w, 0x240);
        wire_u8(w, DW_RLE_start_length);
        dwarf_sample_address(s, w, 0x5000);
        wire_uleb(w, 8);
        wire_u8(w, DW_RLE_end_of_list);
        return;
    }
    dwarf_sample_address(s, w, 0x200);
    dwarf_sample_address(s, w, 0x240);
    dwarf_sample_address(s, w, 0x4000);
    dwarf_sample_address(s, w, 0x4008);
    dwarf_sample_address(s, w, 0);
    dwarf_sample_address(s, w, 0);
}

static void fill_file_tables(struct dwarf_sample *s) {
    struct wire *w = &s->line;
    if (s->version < 5) {
        wire_cstr(w, "include");
        wire_u8(w, 0);
        wire_cstr(w, "a.cc");
        wire_fill(w, 0, 3);
        wire_cstr(w, "b.h");
        wire_u8(w, 1);
        wire_fill(w, 0, 3);
        return;
    }
    wire_u8(w, 1);
    wire_uleb(w, DW_LNCT_path);
    wire_uleb(w, DW_FORM_line_strp);
    wire_uleb(w, 2);
    dwarf_sample_offset(s, w, wire_cstr(&s->line_str, "/src"));
    dwarf_sample_offset(s, w, wire_cstr(&s->line_str, "include"));
    wire_u8(w, 2);
    wire_uleb(w, DW_LNCT_path);
    wire_uleb(w, DW_FORM_string);
    wire_uleb(w, DW_LNCT_directory_index);
    wire_uleb(w, DW_FORM_udata);
    wire_uleb(w, 2);
    wire_cstr(w, "a.cc");
    wire_uleb(w, 0);
    wire_cstr(w, "b.h");
    wire_uleb(w, 1);
}

static void fill_line(struct dwarf_sample *s) {
    struct wire *w = &s->line;
    size_t table = wire_begin_length(w, s->offset_size);
    wire_u16(w, s->version);
    if (s->version >= 5) {
        wire_u8(w, s->address_size);
        wire_u8(w, 0);
    }
    size_t header_length = wire_uint(w, 0, s->offset_size);
    wire_u8(w, 1);
    if (s->version >= 4) wire_u8(w, 1);
    static const uint8_t machine[] = { 1, (uint8_t)-5, 14, 13, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1 };
    wire_bytes(w, machine, sizeof machine);
    fill_file_tables(s);
    wire_patch(w, header_length, w->size - header_length - s->offset_size, s->offset_size);
    for (uint64_t addr = 0x1000; addr <= 0x5000; addr += 0x4000) {
        wire_u8(w, 0);
        wire_uleb(w, 1 + s->address_size);
        wire_u8(w, DW_LNE_set_address);
        dwarf_sample_address(s, w, addr);
        static const uint8_t opcodes[] = { DW_LNS_set_column, 3, DW_LNS_advance_line, 9, DW_LNS_copy, 0x4b, 0x83,
                                           DW_LNS_set_file, 2, DW_LNS_set_column, 9, DW_LNS_negate_stmt,
                                           DW_LNS_advance_line, 0xac, 0x02, 0x2e, DW_LNS_advance_pc, 4,
                                           0, 1, DW_LNE_end_sequence };
        wire_bytes(w, opcodes, sizeof opcodes);
    }
    wire_end_length(w, table);
}

void dwarf_sample_fill(struct dwarf_sample *s) {
    struct wire *w = &s->info;
    fill_abbrevs(s);
    fill_ranges(s);
    fill_line(s);
    size_t unit = dwarf_sample_unit(s);
    wire_uleb(w, UNIT);
    dwarf_sample_offset(s, w, wire_cstr(&s->str, "GNU C++17 12.2.0"));
    wire_u8(w, DW_LANG_C_plus_plus_14);
    wire_cstr(w, "a.cc");
    wire_cstr(w, "/src");
    dwarf_sample_address(s, w, 0x1000);
    dwarf_sample_offset(s, w, 0);
    wire_uleb(w, NAMESPACE);
    wire_cstr(w, "ns");
    wire_uleb(w, CLASS);
    wire_cstr(w, "S");
    size_t sibling = wire_u32(w, 0);
    size_t method = wire_uleb(w, METHOD);
    dwarf_sample_offset(s, w, wire_cstr(&s->str, "m"));
    if (s->version < 4) wire_u8(w, 1);
    wire_u8(w, 0);
    wire_patch(w, sibling, w->size - unit, 4);
    wire_u8(w, 0);
    size_t abstract = wire_uleb(w, ABSTRACT);
    wire_cstr(w, "inl");
    wire_u8(w, 1);
    wire_uleb(w, ARRAY);
    wire_u32(w, (uint32_t)(w->size + 4 + 3 - unit));
    wire_uleb(w, SUBRANGE);
    wire_sleb(w, -1);
    wire_u8(w, 0);
    wire_uleb(w, DEFINITION);
    wire_u32(w, (uint32_t)(method - unit));
    dwarf_sample_address(s, w, 0x1000);
    if (s->version >= 4) wire_u32(w, 0x20);
    else dwarf_sample_address(s, w, 0x1020);
    wire_uleb(w, 1);
    wire_u8(w, 0x9c);
    wire_uleb(w, MEMBER);
    wire_cstr(w, "member");
    wire_uleb(w, 2);
    wire_u16(w, 0x1234);
    wire_uleb(w, INLINED);
    wire_uleb(w, abstract - unit);
    dwarf_sample_address(s, w, 0x1004);
    if (s->version >= 4) wire_uleb(w, 4);
    else dwarf_sample_address(s, w, 0x1008);
    wire_u8(w, 1);
    wire_u16(w, 77);
    wire_u8(w, 0);
    wire_uleb(w, PLAIN);
    dwarf_sample_offset(s, w, wire_cstr(&s->str, "_Z5plainv"));
    dwarf_sample_offset(s, w, 12);
    wire_u8(w, 0);
    dwarf_sample_end(s, unit);
}

/* ---- doing everything ---- */

struct exercise {
    struct csni_dwarf *dwarf;
    struct csni_scopes *scopes;
    struct csni_arena arena;
    csni_address_ranges ranges;
    struct csni_line_table lines;
    size_t names;
    csn_status memory; /* CSN_E_MEMORY as soon as something says so */
};

static csn_status note(struct exercise *x, csn_status status) {
    if (status == CSN_E_MEMORY) x->memory = status;
    return status;
}

static void exercise_unit(struct exercise *x, struct csni_unit *unit) {
    struct csni_die_walk walk;
    struct csni_die die, other;
    struct csn_str name;
    if (note(x, csni_unit_prepare(x->dwarf, unit, NULL)) != CSN_OK) return;
    note(x, csni_die_walk_init(&walk, x->dwarf, unit, NULL));
    size_t count = 0;
    while (note(x, csni_die_walk_next(&walk, &die, NULL)) == CSN_OK) {
        assert_true(count++ <= unit->end - unit->off);
        assert_true(die.next <= unit->end);
        for (int at = 0; at < CSNI_AT_COUNT; at++) {
            note(x, csni_attr_string(x->dwarf, &die, (enum csni_at)at, &name, NULL));
            note(x, csni_die_follow(x->dwarf, &die, (enum csni_at)at, &other, NULL));
        }
        note(x, csni_die_ranges(x->dwarf, &die, &x->ranges, NULL));
        if (note(x, csni_scopes_name(x->scopes, unit, &die, &x->arena, &name, NULL)) == CSN_OK) x->names++;
        if (die.tag == DW_TAG_class_type) note(x, csni_die_walk_skip_children(&walk, &die, NULL));
    }
    note(x, csni_line_table_read(&x->lines, x->dwarf, unit, NULL));
}

csn_status dwarf_sample_exercise(const struct csni_dwarf_sections *sections, const struct csn_allocator *alloc,
                                 size_t *names) {
    struct exercise x = { .ranges = { .alloc = alloc } };
    csni_arena_init(&x.arena, alloc, 0);
    csni_line_table_init(&x.lines, alloc);
    csn_status status = csni_dwarf_open(sections, alloc, &x.dwarf, NULL);
    if (status == CSN_OK) status = csni_dwarf_compile_all(x.dwarf, NULL, NULL);
    if (status == CSN_OK) status = csni_scopes_create(x.dwarf, &x.scopes, NULL);
    for (uint32_t i = 0; status == CSN_OK && i < x.dwarf->unit_count; i++) exercise_unit(&x, &x.dwarf->units[i]);
    csni_scopes_destroy(x.scopes);
    csni_line_table_deinit(&x.lines);
    csni_vec_deinit(&x.ranges);
    csni_arena_deinit(&x.arena);
    csni_dwarf_close(x.dwarf);
    if (names) *names = x.names;
    return status < 0 ? status : x.memory;
}
