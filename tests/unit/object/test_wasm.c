/* object: WebAssembly modules, linked and not, and damaged ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "object/object.h"
#include "object/wasm/wasm_layout.h"
#include "support/object_damage.h"
#include "wire/wire.h"

enum { ROUNDS = 20000 };
enum { PARAMS_64 = 1, PARAMS_NAMES = 2, PARAMS_LINKING = 4, PARAMS_DYLINK = 8, PARAMS_MEMORY_SECTION = 16 };
static const uint8_t id[4] = { 1, 2, 3, 4 };

struct sample {
    struct wire file;
    struct csni_object *object;
    struct csn_error err;
};

static void put_name(struct wire *w, const char *text) {
    wire_uleb(w, strlen(text));
    wire_bytes(w, text, strlen(text));
}

static void put_section(struct wire *file, uint8_t section, const char *custom, struct wire *content) {
    struct wire whole;
    wire_init(&whole, false);
    if (section == WASM_SEC_CUSTOM) put_name(&whole, custom);
    wire_append(&whole, content);
    wire_u8(file, section);
    wire_uleb_padded(file, whole.size, 5); /* as LLVM does */
    wire_append(file, &whole);
    wire_deinit(&whole);
    wire_deinit(content);
    wire_init(content, false);
}

/* One import of each kind, functions last: two of them. */
static void put_imports(struct wire *w, bool wide) {
    wire_uleb(w, 7);
    for (unsigned i = 0; i < 7; i++) {
        put_name(w, "env");
        put_name(w, "thing");
        wire_u8(w, i < 5 ? (i + 1) % 5 : 0);
        switch (i) {
        case 0: wire_bytes(w, "\x63\xff\x00\x01\x05\x0a", 6); break; /* table: nullable type, 5 to 10 */
        case 1: wire_bytes(w, wide ? "\x0c\x03\x10" : "\x08\x03\x10", 3); break; /* memory: of 3 pages, with their size */
        case 2: wire_bytes(w, "\x7f\x01", 2); break; /* global: i32, mutable */
        case 3: wire_bytes(w, "\x00\x02", 2); break; /* tag */
        case 4: wire_u8(w, 0); break;
        default: wire_uleb(w, 300); break;
        }
    }
}

static void put_names(struct wire *w) {
    struct wire names;
    wire_init(&names, false);
    wire_uleb(&names, 4);
    wire_uleb(&names, 0), put_name(&names, "imported");
    wire_uleb(&names, 3), put_name(&names, "first");
    wire_uleb(&names, 4), put_name(&names, "second");
    wire_uleb(&names, 99), put_name(&names, "nowhere");
    wire_u8(w, 0), wire_uleb(w, 4), wire_bytes(w, "\x03mod", 4); /* the module's own name */
    wire_u8(w, WASM_NAMES_FUNCTION), wire_uleb(w, names.size), wire_append(w, &names);
    wire_deinit(&names);
}

static void put_symbol(struct wire *w, uint8_t type, uint32_t flags, uint32_t index, const char *name) {
    wire_u8(w, type), wire_uleb(w, flags), wire_uleb(w, index);
    if (name) put_name(w, name);
}

static void put_linking(struct wire *w) {
    struct wire symbols;
    wire_init(&symbols, false);
    wire_uleb(&symbols, 6);
    put_symbol(&symbols, 0, WASM_SYMBOL_UNDEFINED, 0, NULL);
    put_symbol(&symbols, 0, WASM_SYMBOL_UNDEFINED | WASM_SYMBOL_EXPLICIT_NAME, 1, "renamed");
    wire_u8(&symbols, WASM_SYMBOL_TYPE_DATA), wire_uleb(&symbols, 0), put_name(&symbols, "data");
    wire_uleb(&symbols, 0), wire_uleb(&symbols, 8), wire_uleb(&symbols, 4);
    put_symbol(&symbols, WASM_SYMBOL_TYPE_SECTION, WASM_SYMBOL_BINDING_LOCAL, 4, NULL);
    put_symbol(&symbols, 0, WASM_SYMBOL_BINDING_LOCAL, 3, "first");
    put_symbol(&symbols, 0, WASM_SYMBOL_BINDING_WEAK, 4, "second");
    wire_uleb(w, WASM_METADATA_VERSION);
    wire_u8(w, 5), wire_uleb(w, 1), wire_u8(w, 0);
    wire_u8(w, WASM_SYMBOL_TABLE), wire_uleb(w, symbols.size), wire_append(w, &symbols);
    wire_deinit(&symbols);
}

/* Two segments with addresses, a passive one between them, and one of another memory. */
static void put_data(struct wire *w) {
    wire_uleb(w, 4);
    wire_bytes(w, "\0\x41\x80\x20\x0b\3abc", 9);
    wire_bytes(w, "\1\2xy", 4);
    wire_bytes(w, "\0\x42\x7f\x0b\0", 5);
    wire_bytes(w, "\2\1\x41\x70\x0b\1z", 7);
}

/* Functions 3 and 4 have bodies of 5 and 200 bytes. */
static void begin(struct sample *s, unsigned params) {
    struct wire w;
    *s = (struct sample){ .err = CSN_ERROR_INIT };
    wire_init(&s->file, false);
    wire_init(&w, false);
    wire_bytes(&s->file, "\0asm\1\0\0\0", 8);
    if (params & PARAMS_DYLINK) wire_u8(&w, 0), put_section(&s->file, WASM_SEC_CUSTOM, "dylink.0", &w);
    put_imports(&w, (params & PARAMS_64) && !(params & PARAMS_MEMORY_SECTION));
    put_section(&s->file, WASM_SEC_IMPORT, NULL, &w);
    wire_uleb(&w, 1), wire_u8(&w, params & PARAMS_64 ? 5 : 1), wire_uleb(&w, 2), wire_uleb(&w, 4);
    put_section(&s->file, WASM_SEC_MEMORY, NULL, &w);
    wire_uleb(&w, 2), put_name(&w, "memory"), wire_u8(&w, 2), wire_uleb(&w, 0);
    put_name(&w, "api"), wire_u8(&w, 0), wire_uleb(&w, 4);
    put_section(&s->file, WASM_SEC_EXPORT, NULL, &w);
    wire_uleb(&w, 2), wire_uleb(&w, 5), wire_fill(&w, 0x0b, 5), wire_uleb(&w, 200), wire_fill(&w, 0x0b, 200);
    put_section(&s->file, WASM_SEC_CODE, NULL, &w);
    put_data(&w), put_section(&s->file, WASM_SEC_DATA, NULL, &w);
    wire_fill(&w, 0x77, 30), put_section(&s->file, WASM_SEC_CUSTOM, ".debug_info", &w);
    if (params & PARAMS_NAMES) put_names(&w), put_section(&s->file, WASM_SEC_CUSTOM, "name", &w);
    if (params & PARAMS_LINKING) put_linking(&w), put_section(&s->file, WASM_SEC_CUSTOM, "linking", &w);
    wire_uleb(&w, sizeof id), wire_bytes(&w, id, sizeof id), put_section(&s->file, WASM_SEC_CUSTOM, "build_id", &w);
    wire_deinit(&w);
}

static csn_status open_file(struct sample *s) { return csni_object_open(wire_span(&s->file), NULL, &s->object, &s->err); }

static void end(struct sample *s) {
    csni_object_close(s->object);
    wire_deinit(&s->file);
}

static void check_module(unsigned params, enum csni_object_kind kind) {
    struct sample s;
    struct csni_span bytes;
    begin(&s, params);
    assert_int_equal(open_file(&s), CSN_OK);
    const struct csni_object *o = s.object;
    assert_int_equal(o->container, CSNI_CONTAINER_WASM);
    assert_int_equal(o->kind, kind);
    assert_string_equal(o->arch, params & PARAMS_64 ? "wasm64" : "wasm32");
    assert_int_equal(o->address_size, params & PARAMS_64 ? 8 : 4);
    assert_false(o->has_image_base || o->big_endian);
    assert_true(o->build_id.size == sizeof id && memcmp(o->build_id.ptr, id, sizeof id) == 0);
    const struct csni_section *code = &o->sections[csni_object_find_section(o, "code")];
    assert_int_equal(code->flags, CSNI_SECTION_ALLOC | CSNI_SECTION_EXEC);
    assert_true(code->addr == 1 && code->size == 1 + 5 + 2 + 200);
    uint32_t info = csni_object_find_debug_section(o, "info", false);
    assert_int_equal(csni_object_read_section(s.object, info, &bytes, NULL), CSN_OK);
    assert_true(bytes.size == 30 && bytes.ptr[0] == 0x77 && bytes.ptr[29] == 0x77);
    end(&s);
}

static void reads_modules(void **state) {
    (void)state;
    check_module(0, CSNI_OBJECT_EXECUTABLE);
    check_module(PARAMS_NAMES | PARAMS_64, CSNI_OBJECT_EXECUTABLE);
    check_module(PARAMS_NAMES | PARAMS_64 | PARAMS_MEMORY_SECTION, CSNI_OBJECT_EXECUTABLE);
    check_module(PARAMS_LINKING, CSNI_OBJECT_RELOCATABLE);
    check_module(PARAMS_DYLINK, CSNI_OBJECT_SHARED);
}

struct expected {
    const char *name;
    uint64_t addr, size;
    uint8_t kind, bind;
    bool defined;
};

static void check_symbols(struct sample *s, enum csni_symbol_table table, const struct expected *expected, size_t count,
                          uint64_t damaged) {
    struct csni_symbol_iter iter;
    struct csni_symbol symbol;
    uint32_t code = csni_object_find_section(s->object, "code");
    assert_int_equal(csni_symbol_iter_init(&iter, s->object, table, NULL), CSN_OK);
    for (size_t i = 0; i < count; i++) {
        const struct expected *e = &expected[i];
        assert_int_equal(csni_symbol_iter_next(&iter, &symbol), CSN_OK);
        assert_true(csni_str_is(symbol.name, e->name));
        assert_true(symbol.addr == e->addr && symbol.size == e->size);
        assert_int_equal(symbol.kind, e->kind);
        assert_int_equal(symbol.bind, e->bind);
        assert_int_equal(symbol.defined, e->defined);
        assert_int_equal(symbol.section, e->defined ? code : CSNI_NO_SECTION);
    }
    assert_int_equal(csni_symbol_iter_next(&iter, &symbol), CSN_NONE);
    assert_int_equal(iter.damaged, damaged);
}

static void reads_symbols(void **state) {
    (void)state;
    static const struct expected names[] = { { "imported", 0, 0, CSNI_SYMBOL_FUNCTION, CSNI_BIND_LOCAL, false },
                                             { "first", 2, 5, CSNI_SYMBOL_FUNCTION, CSNI_BIND_LOCAL, true },
                                             { "second", 9, 200, CSNI_SYMBOL_FUNCTION, CSNI_BIND_LOCAL, true } };
    static const struct expected exports[] = { { "memory", 0, 0, CSNI_SYMBOL_OTHER, CSNI_BIND_GLOBAL, false },
                                               { "api", 9, 200, CSNI_SYMBOL_FUNCTION, CSNI_BIND_GLOBAL, true } };
    static const struct expected linking[] = { { "", 0, 0, CSNI_SYMBOL_FUNCTION, CSNI_BIND_GLOBAL, false },
                                               { "renamed", 0, 0, CSNI_SYMBOL_FUNCTION, CSNI_BIND_GLOBAL, false },
                                               { "data", 0, 0, CSNI_SYMBOL_DATA, CSNI_BIND_GLOBAL, false },
                                               { "", 0, 0, CSNI_SYMBOL_SECTION, CSNI_BIND_LOCAL, false },
                                               { "first", 2, 5, CSNI_SYMBOL_FUNCTION, CSNI_BIND_LOCAL, true },
                                               { "second", 9, 200, CSNI_SYMBOL_FUNCTION, CSNI_BIND_WEAK, true } };
    struct csni_symbol_iter iter;
    struct sample s;
    begin(&s, PARAMS_NAMES);
    assert_int_equal(open_file(&s), CSN_OK);
    check_symbols(&s, CSNI_SYMBOLS_STATIC, names, 3, 1);
    check_symbols(&s, CSNI_SYMBOLS_DYNAMIC, exports, 2, 0);
    end(&s);
    begin(&s, PARAMS_LINKING | PARAMS_NAMES);
    assert_int_equal(open_file(&s), CSN_OK);
    check_symbols(&s, CSNI_SYMBOLS_STATIC, linking, 6, 0);
    end(&s);
    begin(&s, 0);
    assert_int_equal(open_file(&s), CSN_OK);
    assert_int_equal(csni_symbol_iter_init(&iter, s.object, CSNI_SYMBOLS_STATIC, NULL), CSN_NONE);
    end(&s);
}

static void bounds_are_bodies(void **state) {
    (void)state;
    struct sample s;
    csni_function_bounds bounds = { .alloc = &csni_libc_allocator };
    begin(&s, 0);
    assert_int_equal(open_file(&s), CSN_OK);
    assert_int_equal(csni_object_function_bounds(s.object, &bounds, NULL), CSN_OK);
    assert_int_equal(bounds.count, 2);
    assert_true(bounds.items[0].start == 2 && bounds.items[0].end == 7);
    assert_true(bounds.items[1].start == 9 && bounds.items[1].end == 209);
    csni_vec_deinit(&bounds);
    end(&s);
}

static void data_has_addresses(void **state) {
    (void)state;
    struct sample s;
    csni_data_segments found = { .alloc = &csni_libc_allocator };
    begin(&s, 0);
    assert_int_equal(open_file(&s), CSN_OK);
    assert_int_equal(csni_object_data_segments(s.object, &found, NULL), CSN_OK);
    assert_int_equal(found.count, 3);
    assert_true(found.items[0].addr == 0x1000 && found.items[0].bytes.size == 3 && memcmp(found.items[0].bytes.ptr, "abc", 3) == 0);
    assert_true(found.items[1].addr == UINT64_MAX && found.items[1].bytes.size == 0);
    assert_true(found.items[2].addr == 0xfffffff0 && found.items[2].bytes.size == 1);
    csni_vec_deinit(&found);
    end(&s);
}

/* ---- errors ---- */

static void check_error(struct csni_span file, csn_status code, const char *text) {
    struct csni_object *object = NULL;
    struct csn_error err = CSN_ERROR_INIT;
    assert_int_equal(csni_object_open(file, NULL, &object, &err), code);
    assert_string_equal(csn_error_text(&err), text);
}

#define BYTES(text) ((struct csni_span){ (const uint8_t *)(text), sizeof(text) - 1 })

static void names_what_is_wrong(void **state) {
    (void)state;
    check_error(BYTES("\0asm\1"), CSN_E_TRUNCATED, "wasm header: 5 bytes, need 8");
    check_error(BYTES("\0asm\x0d\0\1\0"), CSN_E_UNSUPPORTED, "wasm header: version 0x1000d, need 1 (a module)");
    check_error(BYTES("\0asm\1\0\0\0\1\0\1\5abc"), CSN_E_TRUNCATED, "section 2: at 0xc, exceeds the file's 0xf bytes");
    check_error(BYTES("\0asm\1\0\0\0\1\x80\x80"), CSN_E_TRUNCATED, "section 1: at 0x9, exceeds the file's 0xb bytes");
    check_error(BYTES("\0asm\1\0\0\0\x0a\1\0\x0a\1\0"), CSN_E_FORMAT, "code+0x0: there are two of it");
}

static void odd_modules(void **state) {
    (void)state;
    struct csni_object *object;
    /* nothing; a custom section without a name; one whose name is longer than it; an unknown section */
    assert_int_equal(csni_object_open(BYTES("\0asm\1\0\0\0"), NULL, &object, NULL), CSN_OK);
    assert_int_equal(object->section_count, 1);
    csni_object_close(object);
    assert_int_equal(csni_object_open(BYTES("\0asm\1\0\0\0\0\1\0\0\1\5\x63\0"), NULL, &object, NULL), CSN_OK);
    assert_int_equal(object->section_count, 4);
    for (uint32_t i = 1; i < 4; i++) assert_int_equal(object->sections[i].name.len, 0);
    object_use_everything(object);
    csni_object_close(object);
    /* more functions promised than there are; a body that exceeds its section; an empty one */
    assert_int_equal(csni_object_open(BYTES("\0asm\1\0\0\0\x0a\5\x09\1\x0b\5\x0b"), NULL, &object, NULL), CSN_OK);
    csni_function_bounds bounds = { .alloc = &csni_libc_allocator };
    assert_int_equal(csni_object_function_bounds(object, &bounds, NULL), CSN_OK);
    assert_int_equal(bounds.count, 1);
    csni_vec_deinit(&bounds);
    csni_object_close(object);
    assert_int_equal(csni_object_open(BYTES("\0asm\1\0\0\0\x0a\2\1\0"), NULL, &object, NULL), CSN_OK);
    assert_int_equal(csni_object_function_bounds(object, &bounds, NULL), CSN_NONE);
    csni_object_close(object);
    /* data: more segments promised than there are; an address that is no constant; one that ends past its section */
    csni_data_segments data = { .alloc = &csni_libc_allocator };
    assert_int_equal(csni_object_open(BYTES("\0asm\1\0\0\0\x0b\x07\x09\0\x41\1\x0b\1a"), NULL, &object, NULL), CSN_OK);
    assert_int_equal(csni_object_data_segments(object, &data, NULL), CSN_OK);
    assert_int_equal(data.count, 1);
    csni_vec_deinit(&data);
    csni_object_close(object);
    assert_int_equal(csni_object_open(BYTES("\0asm\1\0\0\0\x0b\x07\x01\0\x23\1\x0b\1a"), NULL, &object, NULL), CSN_OK);
    assert_int_equal(csni_object_data_segments(object, &data, NULL), CSN_NONE);
    csni_object_close(object);
    assert_int_equal(csni_object_open(BYTES("\0asm\1\0\0\0\x0b\x07\x01\0\x41\1\x0b\2a"), NULL, &object, NULL), CSN_OK);
    assert_int_equal(csni_object_data_segments(object, &data, NULL), CSN_NONE);
    csni_object_close(object);
}

static void damage(void **state) {
    (void)state;
    for (unsigned params = 0; params < 16; params += 2) {
        struct sample s;
        begin(&s, params);
        struct csni_span file = wire_span(&s.file);
        assert_in_range(object_damage_truncate(file), 6, 10); /* between sections */
        assert_in_range(object_damage_flip(file, ROUNDS / 8), ROUNDS / 16, ROUNDS / 8);
        object_damage_memory(file);
        end(&s);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(reads_modules),     cmocka_unit_test(reads_symbols),
                                        cmocka_unit_test(bounds_are_bodies), cmocka_unit_test(names_what_is_wrong),
                                        cmocka_unit_test(odd_modules),       cmocka_unit_test(damage),
                                        cmocka_unit_test(data_has_addresses) };
    return cmocka_run_group_tests_name("wasm", tests, NULL, NULL);
}
