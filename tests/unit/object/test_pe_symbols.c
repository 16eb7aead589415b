/* object: COFF symbols and export tables. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/pe_sample.h"

struct expected {
    const char *name;
    uint64_t addr, size;
    uint8_t kind, bind;
    bool defined;
};

static csn_status iterate(struct pe_sample *s, enum csni_symbol_table table, const struct expected *expected, size_t count) {
    struct csni_symbol_iter iter;
    struct csni_symbol symbol;
    csn_status status = csni_symbol_iter_init(&iter, s->object, table, &s->err);
    if (status != CSN_OK) return status;
    for (size_t i = 0; i < count; i++) {
        const struct expected *e = &expected[i];
        assert_int_equal(csni_symbol_iter_next(&iter, &symbol), CSN_OK);
        assert_int_equal(symbol.name.len, strlen(e->name));
        assert_memory_equal(symbol.name.ptr, e->name, symbol.name.len);
        assert_int_equal(symbol.addr, e->addr);
        assert_int_equal(symbol.size, e->size);
        assert_int_equal(symbol.kind, e->kind);
        assert_int_equal(symbol.bind, e->bind);
        assert_int_equal(symbol.defined, e->defined);
    }
    assert_int_equal(csni_symbol_iter_next(&iter, &symbol), CSN_NONE);
    assert_int_equal(iter.damaged, 0);
    return CSN_OK;
}

static void check_symbols(enum wire_pe_shape shape, uint16_t machine, const char *main_name, const char *other_name,
                          uint64_t text, uint64_t data, uint64_t second, uint8_t second_kind) {
    const struct expected expected[] = {
        { ".file", 0, 0, CSNI_SYMBOL_FILE, CSNI_BIND_LOCAL, false },
        { ".text", text, 0, CSNI_SYMBOL_SECTION, CSNI_BIND_LOCAL, true },
        { main_name, text + 0x10, 0x30, CSNI_SYMBOL_FUNCTION, CSNI_BIND_GLOBAL, true },
        { other_name, text + 0x40, 0, CSNI_SYMBOL_FUNCTION, CSNI_BIND_LOCAL, true },
        { "from_asm", text + 0x60, 0, CSNI_SYMBOL_FUNCTION, CSNI_BIND_GLOBAL, true },
        { "label", text + 0x64, 0, CSNI_SYMBOL_OTHER, CSNI_BIND_LOCAL, true },
        { "variable", data + 4, 0, CSNI_SYMBOL_DATA, CSNI_BIND_GLOBAL, true },
        { "nowhere", 0, 0, CSNI_SYMBOL_FUNCTION, CSNI_BIND_GLOBAL, false },
        { "weak", 0, 0, CSNI_SYMBOL_NONE, CSNI_BIND_WEAK, false },
        { "absolute", 0x55, 0, CSNI_SYMBOL_NONE, CSNI_BIND_LOCAL, true },
        { "second", second + 8, 0, second_kind, CSNI_BIND_GLOBAL, true },
    };
    struct pe_sample s;
    pe_sample_begin(&s, shape, machine);
    assert_int_equal(pe_sample_open(&s), CSN_OK);
    assert_int_equal(iterate(&s, CSNI_SYMBOLS_STATIC, expected, sizeof expected / sizeof *expected), CSN_OK);
    pe_sample_end(&s);
}

static void reads_symbols(void **state) {
    (void)state;
    uint64_t text = PE_BASE + PE_TEXT_RVA, data = PE_BASE + PE_DATA_RVA, rdata = PE_BASE + PE_RDATA_RVA;
    check_symbols(WIRE_PE_IMAGE64, IMAGE_FILE_MACHINE_AMD64, "_main", "a_static_function", text, data, rdata, CSNI_SYMBOL_DATA);
    check_symbols(WIRE_PE_IMAGE32, IMAGE_FILE_MACHINE_I386, "main", "a_static_function", text, data, rdata, CSNI_SYMBOL_DATA);
    check_symbols(WIRE_PE_OBJECT, IMAGE_FILE_MACHINE_ARM64, "_main", "a_static_function", 0, 0x50, 0x80, CSNI_SYMBOL_FUNCTION);
    check_symbols(WIRE_PE_BIGOBJ, IMAGE_FILE_MACHINE_AMD64, "_main", "a_static_function", 0, 0x50, 0x80, CSNI_SYMBOL_FUNCTION);
}

static void damaged_symbols_are_counted(void **state) {
    (void)state;
    static const struct wire_pe_symbol symbols[] = {
        { "long_enough_name", 0, PE_TEXT, 0x20, IMAGE_SYM_CLASS_EXTERNAL, 0, 0 },
        { "nowhere", 0, 99, 0x20, IMAGE_SYM_CLASS_EXTERNAL, 0, 0 },
        { "odd", 0, -3, 0x20, IMAGE_SYM_CLASS_EXTERNAL, 0, 0 },
        { "good", 0x21, PE_TEXT, 0x20, IMAGE_SYM_CLASS_EXTERNAL, 0, 0 },
        { "last", 0, PE_TEXT, 0, IMAGE_SYM_CLASS_STATIC, 1, 0 },
    };
    struct pe_sample s;
    pe_sample_begin(&s, WIRE_PE_IMAGE32, IMAGE_FILE_MACHINE_ARMNT);
    s.pe.symbols = symbols;
    s.pe.symbol_count = 5;
    pe_sample_build(&s);
    wire_patch(&s.file, s.places.symbols + 4, 0x7fffffff, 4); /* the first one's name */
    wire_patch(&s.file, s.places.symbols + 4 * SYMBOL_SIZE + 17, 200, 1); /* the last one's aux records */
    assert_int_equal(pe_sample_open(&s), CSN_OK);
    struct csni_symbol_iter iter;
    struct csni_symbol symbol;
    assert_int_equal(csni_symbol_iter_init(&iter, s.object, CSNI_SYMBOLS_STATIC, NULL), CSN_OK);
    assert_int_equal(csni_symbol_iter_next(&iter, &symbol), CSN_OK);
    assert_true(csni_str_is(symbol.name, "good"));
    assert_int_equal(symbol.addr, PE_BASE + PE_TEXT_RVA + 0x20); /* the Thumb bit is not part of it */
    assert_int_equal(csni_symbol_iter_next(&iter, &symbol), CSN_OK);
    assert_int_equal(csni_symbol_iter_next(&iter, &symbol), CSN_NONE);
    assert_int_equal(iter.damaged, 3);
    pe_sample_end(&s);
}

/* ---- exports ---- */

static void reads_exports(void **state) {
    (void)state;
    static const struct expected expected[] = {
        { "api_data", PE_BASE + PE_DATA_RVA + 4, 0, CSNI_SYMBOL_DATA, CSNI_BIND_GLOBAL, true },
        { "api_function", PE_BASE + PE_TEXT_RVA + 0x10, 0, CSNI_SYMBOL_FUNCTION, CSNI_BIND_GLOBAL, true },
        { "forwarded", 0, 0, CSNI_SYMBOL_NONE, CSNI_BIND_GLOBAL, false },
    };
    struct pe_sample s;
    pe_sample_begin(&s, WIRE_PE_IMAGE64, IMAGE_FILE_MACHINE_AMD64);
    s.pe.symbol_count = 0;
    assert_int_equal(pe_sample_open(&s), CSN_OK);
    assert_int_equal(iterate(&s, CSNI_SYMBOLS_STATIC, NULL, 0), CSN_NONE);
    assert_int_equal(iterate(&s, CSNI_SYMBOLS_DYNAMIC, expected, PE_EXPORT_NAMES), CSN_OK);
    pe_sample_end(&s);
}

static void damaged_exports(void **state) {
    (void)state;
    struct pe_sample s;
    struct csni_symbol_iter iter;
    struct csni_symbol symbol;
    pe_sample_begin(&s, WIRE_PE_IMAGE64, IMAGE_FILE_MACHINE_AMD64);
    wire_patch(&s.parts[PE_RDATA], EXPORT_NAME_COUNT, 0x10000, 4);
    assert_int_equal(pe_sample_open(&s), CSN_OK);
    assert_int_equal(iterate(&s, CSNI_SYMBOLS_DYNAMIC, NULL, 0), CSN_E_TRUNCATED);
    assert_string_equal(csn_error_text(&s.err), "export directory: 65536 names at RVA 0x3034, ordinals at 0x3040, do not lie "
                                                "in its section");
    pe_sample_end(&s);
    pe_sample_begin(&s, WIRE_PE_IMAGE64, IMAGE_FILE_MACHINE_AMD64);
    wire_patch(&s.parts[PE_RDATA], 0x34, 0, 4);     /* name */
    wire_patch(&s.parts[PE_RDATA], 0x40 + 2, 9, 2); /* ordinal */
    assert_int_equal(pe_sample_open(&s), CSN_OK);
    assert_int_equal(csni_symbol_iter_init(&iter, s.object, CSNI_SYMBOLS_DYNAMIC, NULL), CSN_OK);
    assert_int_equal(csni_symbol_iter_next(&iter, &symbol), CSN_OK);
    assert_true(csni_str_is(symbol.name, "forwarded"));
    assert_int_equal(csni_symbol_iter_next(&iter, &symbol), CSN_NONE);
    assert_int_equal(iter.damaged, 2);
    pe_sample_end(&s);
    pe_sample_begin(&s, WIRE_PE_IMAGE64, IMAGE_FILE_MACHINE_AMD64);
    s.pe.directories[IMAGE_DIRECTORY_ENTRY_EXPORT].rva = 0x9000000;
    assert_int_equal(pe_sample_open(&s), CSN_OK);
    assert_int_equal(iterate(&s, CSNI_SYMBOLS_DYNAMIC, NULL, 0), CSN_E_TRUNCATED);
    assert_string_equal(csn_error_text(&s.err), "export directory: no 40 bytes at RVA 0x9000000");
    pe_sample_end(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(reads_symbols), cmocka_unit_test(damaged_symbols_are_counted),
                                        cmocka_unit_test(reads_exports), cmocka_unit_test(damaged_exports) };
    return cmocka_run_group_tests_name("pe_symbols", tests, NULL, NULL);
}
