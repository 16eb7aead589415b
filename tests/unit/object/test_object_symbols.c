/* object: ELF symbol tables. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "object/elf/elf_layout.h"
#include "support/object_sample.h"

enum { MAX_SYMBOLS = 32 };

/* A file of `symbols` and what reading them back gave. */
struct read_back {
    struct wire_elf elf;
    struct wire file;
    struct csni_object *object;
    struct csni_symbol_iter iter;
    struct csni_symbol symbols[MAX_SYMBOLS];
    size_t count;
};

static void begin(struct read_back *r, bool wide, bool big, uint16_t type, uint16_t machine) {
    static const uint8_t code[0x40];
    memset(r, 0, sizeof *r);
    wire_elf_init(&r->elf, wide, big, type, machine);
    wire_init(&r->file, big);
    wire_elf_add(&r->elf, ".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, type == ET_REL ? 0 : 0x1000,
                 (struct csni_span){ code, sizeof code });
    wire_elf_add(&r->elf, ".data", SHT_PROGBITS, SHF_ALLOC | SHF_WRITE, type == ET_REL ? 0 : 0x2000,
                 (struct csni_span){ code, 8 });
}

static csn_status iterate(struct read_back *r, enum csni_symbol_table table, struct csn_error *err) {
    wire_elf_build(&r->elf, &r->file, NULL);
    assert_int_equal(csni_object_open(wire_span(&r->file), NULL, &r->object, NULL), CSN_OK);
    csn_status status = csni_symbol_iter_init(&r->iter, r->object, table, err);
    if (status != CSN_OK) return status;
    while (r->count < MAX_SYMBOLS && csni_symbol_iter_next(&r->iter, &r->symbols[r->count]) == CSN_OK) r->count++;
    assert_int_equal(csni_symbol_iter_next(&r->iter, &r->symbols[0]), CSN_NONE);
    return CSN_OK;
}

static void end(struct read_back *r) {
    csni_object_close(r->object);
    wire_elf_deinit(&r->elf);
    wire_deinit(&r->file);
}

static void check_symbol(const struct csni_symbol *s, const char *name, uint64_t addr, uint64_t size, uint32_t section,
                         enum csni_symbol_kind kind, enum csni_symbol_bind bind, bool defined) {
    assert_true(csni_str_is(s->name, name));
    assert_true(s->addr == addr && s->size == size);
    assert_int_equal(s->section, section);
    assert_int_equal(s->kind, kind);
    assert_int_equal(s->bind, bind);
    assert_int_equal(s->defined, defined);
}

static const struct wire_symbol all_kinds[] = {
    { .name = "a.c", .type = STT_FILE, .section = SHN_ABS },
    { .name = "", .value = 0x1000, .type = STT_SECTION, .section = 1 },
    { .name = "main", .value = 0x1001, .size = 0x10, .type = STT_FUNC, .bind = STB_GLOBAL, .section = 1 },
    { .name = "label", .value = 0x1011, .type = STT_NOTYPE, .section = 1 },
    { .name = "chosen", .value = 0x1021, .size = 1, .type = STT_GNU_IFUNC, .bind = STB_WEAK, .section = 1 },
    { .name = "value", .value = 0x2001, .size = 4, .type = STT_OBJECT, .bind = STB_GNU_UNIQUE, .section = 2 },
    { .name = "thread", .value = 0x11, .size = 4, .type = STT_TLS, .bind = STB_GLOBAL, .section = 2 },
    { .name = "import", .type = STT_FUNC, .bind = STB_GLOBAL, .section = SHN_UNDEF },
    { .name = "common", .value = 8, .size = 8, .type = STT_COMMON, .bind = STB_GLOBAL, .section = SHN_COMMON },
    { .name = "absolute", .value = 0x77, .type = STT_NOTYPE, .bind = STB_GLOBAL, .section = SHN_ABS },
    { .name = "processor", .value = 0x78, .type = 13, .bind = STB_GLOBAL, .section = 0xff02 },
    { .name = "far", .value = 0x1031, .size = 2, .type = STT_FUNC, .section = 1, .by_index_table = true },
};
enum { KIND_COUNT = sizeof all_kinds / sizeof *all_kinds };

static void check_all_kinds(bool wide, bool big) {
    struct read_back r;
    begin(&r, wide, big, ET_EXEC, EM_S390);
    wire_elf_add_symbols(&r.elf, SHT_SYMTAB, all_kinds, KIND_COUNT);
    assert_int_equal(iterate(&r, CSNI_SYMBOLS_STATIC, NULL), CSN_OK);
    assert_int_equal(r.count, KIND_COUNT);
    assert_int_equal(r.iter.damaged, 0);
    const struct csni_symbol *s = r.symbols;
    uint32_t none = CSNI_NO_SECTION;
    check_symbol(&s[0], "a.c", 0, 0, none, CSNI_SYMBOL_FILE, CSNI_BIND_LOCAL, true);
    check_symbol(&s[1], "", 0x1000, 0, 1, CSNI_SYMBOL_SECTION, CSNI_BIND_LOCAL, true);
    check_symbol(&s[2], "main", 0x1001, 0x10, 1, CSNI_SYMBOL_FUNCTION, CSNI_BIND_GLOBAL, true);
    check_symbol(&s[3], "label", 0x1011, 0, 1, CSNI_SYMBOL_NONE, CSNI_BIND_LOCAL, true);
    check_symbol(&s[4], "chosen", 0x1021, 1, 1, CSNI_SYMBOL_IFUNC, CSNI_BIND_WEAK, true);
    check_symbol(&s[5], "value", 0x2001, 4, 2, CSNI_SYMBOL_DATA, CSNI_BIND_GLOBAL, true);
    check_symbol(&s[6], "thread", 0x11, 4, 2, CSNI_SYMBOL_TLS, CSNI_BIND_GLOBAL, true);
    check_symbol(&s[7], "import", 0, 0, none, CSNI_SYMBOL_FUNCTION, CSNI_BIND_GLOBAL, false);
    check_symbol(&s[8], "common", 8, 8, none, CSNI_SYMBOL_DATA, CSNI_BIND_GLOBAL, false);
    check_symbol(&s[9], "absolute", 0x77, 0, none, CSNI_SYMBOL_NONE, CSNI_BIND_GLOBAL, true);
    check_symbol(&s[10], "processor", 0x78, 0, none, CSNI_SYMBOL_OTHER, CSNI_BIND_GLOBAL, false);
    check_symbol(&s[11], "far", 0x1031, 2, 1, CSNI_SYMBOL_FUNCTION, CSNI_BIND_LOCAL, true);
    end(&r);
}

static void reads_all_kinds(void **state) {
    (void)state;
    for (int shape = 0; shape < 4; shape++) check_all_kinds(shape & 1, shape & 2);
}

static void reads_dynamic_table(void **state) {
    (void)state;
    struct read_back r;
    begin(&r, true, false, ET_DYN, EM_X86_64);
    wire_elf_add_symbols(&r.elf, SHT_SYMTAB, all_kinds, 3);
    wire_elf_add_symbols(&r.elf, SHT_DYNSYM, all_kinds + 7, 1);
    assert_int_equal(iterate(&r, CSNI_SYMBOLS_DYNAMIC, NULL), CSN_OK);
    assert_int_equal(r.count, 1);
    assert_true(csni_str_is(r.symbols[0].name, "import"));
    end(&r);
    begin(&r, true, false, ET_DYN, EM_X86_64);
    assert_int_equal(iterate(&r, CSNI_SYMBOLS_DYNAMIC, NULL), CSN_NONE);
    end(&r);
}

/* Bit 0 of a function's value tells Thumb, microMIPS and MIPS16 code; elsewhere and on data it is part of the address. */
static void clears_mode_bits(void **state) {
    (void)state;
    static const struct { uint16_t machine; uint8_t type, other; uint64_t addr; } cases[] = {
        { EM_ARM, STT_FUNC, 0, 0x1000 },     { EM_ARM, STT_GNU_IFUNC, 0, 0x1000 },
        { EM_ARM, STT_OBJECT, 0, 0x1001 },   { EM_ARM, STT_NOTYPE, 0, 0x1001 },
        { EM_MIPS, STT_FUNC, 0, 0x1001 },    { EM_MIPS, STT_FUNC, STO_MICROMIPS, 0x1000 },
        { EM_MIPS, STT_FUNC, STO_MIPS16, 0x1000 }, { EM_MIPS, STT_OBJECT, STO_MICROMIPS, 0x1001 },
        { EM_X86_64, STT_FUNC, STO_MICROMIPS, 0x1001 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct read_back r;
        struct wire_symbol symbol = { .name = "f", .value = 0x1001, .type = cases[i].type, .other = cases[i].other,
                                      .section = 1 };
        begin(&r, false, false, ET_EXEC, cases[i].machine);
        wire_elf_add_symbols(&r.elf, SHT_SYMTAB, &symbol, 1);
        assert_int_equal(iterate(&r, CSNI_SYMBOLS_STATIC, NULL), CSN_OK);
        assert_true(r.symbols[0].addr == cases[i].addr);
        end(&r);
    }
}

static void relocatable_symbols_stand_behind_their_sections(void **state) {
    (void)state;
    static const struct wire_symbol symbols[] = {
        { .name = "f", .value = 4, .type = STT_FUNC, .section = 1 },
        { .name = "v", .value = 4, .type = STT_OBJECT, .section = 2 },
        { .name = "t", .value = 4, .type = STT_TLS, .section = 2 },
        { .name = "a", .value = 4, .section = SHN_ABS },
    };
    struct read_back r;
    begin(&r, true, true, ET_REL, EM_S390);
    wire_elf_add_symbols(&r.elf, SHT_SYMTAB, symbols, 4);
    assert_int_equal(iterate(&r, CSNI_SYMBOLS_STATIC, NULL), CSN_OK);
    assert_int_equal(r.symbols[0].addr, 4);
    assert_int_equal(r.symbols[1].addr, 0x44);
    assert_int_equal(r.symbols[2].addr, 4);
    assert_int_equal(r.symbols[3].addr, 4);
    end(&r);
}

static void passes_over_damaged_symbols(void **state) {
    (void)state;
    static const struct wire_symbol symbols[] = {
        { .name = "lost", .section = 1 },                          /* its name is made to lie outside, below */
        { .name = "nowhere", .section = 500 },
        { .name = "far", .section = 500, .by_index_table = true },
        { .name = "zero", .section = 0, .by_index_table = true },  /* SHN_UNDEF needs no table */
        { .name = "good", .value = 0x1001, .section = 1 },
    };
    struct read_back r;
    begin(&r, false, true, ET_EXEC, EM_S390);
    uint32_t table = wire_elf_add_symbols(&r.elf, SHT_SYMTAB, symbols, 5);
    uint8_t *bytes = (uint8_t *)(uintptr_t)r.elf.sections[table].bytes.ptr;
    memset(bytes + SYM32_ENTRY_SIZE + SYM32_NAME, 0x7f, 4);
    assert_int_equal(iterate(&r, CSNI_SYMBOLS_STATIC, NULL), CSN_OK);
    assert_int_equal(r.count, 1);
    assert_int_equal(r.iter.damaged, 4);
    end(&r);
}

static void name_without_an_end_is_damage(void **state) {
    (void)state;
    struct read_back r;
    begin(&r, true, false, ET_EXEC, EM_X86_64);
    uint32_t table = wire_elf_add_symbols(&r.elf, SHT_SYMTAB, all_kinds, 3);
    struct wire_section *strings = &r.elf.sections[r.elf.sections[table].link];
    strings->bytes.size--; /* the NUL after "main" */
    assert_int_equal(iterate(&r, CSNI_SYMBOLS_STATIC, NULL), CSN_OK);
    assert_int_equal(r.count, 2);
    assert_int_equal(r.iter.damaged, 1);
    end(&r);
}

static void extended_index_without_its_table_is_damage(void **state) {
    (void)state;
    struct read_back r;
    begin(&r, true, false, ET_EXEC, EM_X86_64);
    uint32_t table = wire_elf_add_symbols(&r.elf, SHT_SYMTAB, all_kinds, KIND_COUNT);
    r.elf.sections[table + 1].link = 1; /* the index table of another symbol table */
    assert_int_equal(iterate(&r, CSNI_SYMBOLS_STATIC, NULL), CSN_OK);
    assert_int_equal(r.count, KIND_COUNT - 1);
    assert_int_equal(r.iter.damaged, 1);
    end(&r);
}

static void check_refused(uint32_t link, uint64_t entry_size, uint64_t flags, csn_status status, const char *text) {
    struct read_back r;
    struct csn_error err = CSN_ERROR_INIT;
    begin(&r, true, false, ET_EXEC, EM_X86_64);
    uint32_t table = wire_elf_add_symbols(&r.elf, SHT_SYMTAB, all_kinds, 2);
    r.elf.sections[table].link = link;
    r.elf.sections[table].entry_size = entry_size;
    r.elf.sections[table].flags = flags;
    assert_int_equal(iterate(&r, CSNI_SYMBOLS_STATIC, &err), status);
    assert_string_equal(csn_error_text(&err), text);
    end(&r);
}

static void names_what_is_wrong_with_a_table(void **state) {
    (void)state;
    check_refused(0, 24, 0, CSN_E_FORMAT, ".symtab+0x0: names in section 0 of 6");
    check_refused(77, 24, 0, CSN_E_FORMAT, ".symtab+0x0: names in section 77 of 6");
    check_refused(3, 0, 0, CSN_E_FORMAT, ".symtab+0x0: symbols of 0 bytes, need >= 24");
    check_refused(3, 23, 0, CSN_E_FORMAT, ".symtab+0x0: symbols of 23 bytes, need >= 24");
    check_refused(3, 24, SHF_COMPRESSED, CSN_E_UNSUPPORTED, ".symtab+0x0: compressed symbol table");
}

static void reads_wider_entries(void **state) {
    (void)state;
    struct read_back r;
    begin(&r, true, false, ET_EXEC, EM_X86_64);
    uint32_t table = wire_elf_add_symbols(&r.elf, SHT_SYMTAB, all_kinds + 2, 3);
    r.elf.sections[table].entry_size = 48; /* every second one */
    assert_int_equal(iterate(&r, CSNI_SYMBOLS_STATIC, NULL), CSN_OK);
    assert_int_equal(r.count, 1);
    assert_true(csni_str_is(r.symbols[0].name, "label"));
    end(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_all_kinds),
        cmocka_unit_test(reads_dynamic_table),
        cmocka_unit_test(clears_mode_bits),
        cmocka_unit_test(relocatable_symbols_stand_behind_their_sections),
        cmocka_unit_test(passes_over_damaged_symbols),
        cmocka_unit_test(name_without_an_end_is_damage),
        cmocka_unit_test(extended_index_without_its_table_is_damage),
        cmocka_unit_test(names_what_is_wrong_with_a_table),
        cmocka_unit_test(reads_wider_entries),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
