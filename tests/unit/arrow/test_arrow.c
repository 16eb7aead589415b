/* callsign/arrow.h: types, slices, nulls, stacks, ownership, out of memory. Arrow's own validation is in tests/bindings. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include <callsign/arrow.h>

#include "support/example_index.h"
#include "support/test_alloc.h"

/* ---- arrays of the caller: all memory belongs to the test ---- */

static int released_arrays, released_schemas;

static void release_array(struct ArrowArray *array) {
    released_arrays++;
    array->release = NULL;
}

static void release_schema(struct ArrowSchema *schema) {
    released_schemas++;
    schema->release = NULL;
}

struct column {
    struct ArrowSchema schema;
    struct ArrowArray array;
    const void *buffers[3];
    struct ArrowSchema *item_schema; /* of a list */
    struct ArrowArray *item;
};

static void column_init(struct column *c, const char *format, const char *name, int64_t length, const void *validity,
                        const void *values, const void *bytes) {
    *c = (struct column){ .buffers = { validity, values, bytes } };
    c->schema = (struct ArrowSchema){ .format = format, .name = name, .flags = ARROW_FLAG_NULLABLE, .release = release_schema };
    c->array = (struct ArrowArray){ .length = length, .null_count = validity ? -1 : 0, .n_buffers = bytes ? 3 : 2,
                                    .buffers = c->buffers,
                                    .release = release_array };
}

static void list_of(struct column *list, struct column *item, int64_t length, const void *validity, const void *ends) {
    column_init(list, "+l", "", length, validity, ends, NULL);
    list->item_schema = &item->schema;
    list->item = &item->array;
    list->schema.n_children = list->array.n_children = 1;
    list->schema.children = &list->item_schema;
    list->array.children = &list->item;
}

/* struct<module, address>, or a list of it. */
struct nested {
    struct column outer, modules, addresses;
    struct ArrowSchema *schemas[2];
    struct ArrowArray *arrays[2];
};

static void nest(struct nested *n, int64_t length) {
    column_init(&n->outer, "+s", "", length, NULL, NULL, NULL);
    n->outer.array.n_buffers = 1;
    n->schemas[0] = &n->modules.schema;
    n->schemas[1] = &n->addresses.schema;
    n->arrays[0] = &n->modules.array;
    n->arrays[1] = &n->addresses.array;
    n->outer.schema.n_children = n->outer.array.n_children = 2;
    n->outer.schema.children = n->schemas;
    n->outer.array.children = n->arrays;
}

/* ---- answers as text ---- */

static bool is_null(const struct ArrowArray *a, int64_t row) {
    const uint8_t *bits = a->buffers[0];
    return a->null_count && !(bits[row / 8] >> row % 8 & 1);
}

static struct csn_str text_at(const struct ArrowArray *a, int64_t row) {
    if (is_null(a, row)) return CSN_STR("-");
    if (a->dictionary) return text_at(a->dictionary, ((const int32_t *)a->buffers[1])[row]);
    const int32_t *offsets = a->buffers[1];
    return (struct csn_str){ (const char *)a->buffers[2] + offsets[row], (size_t)(offsets[row + 1] - offsets[row]) };
}

/* "FUNCTION+OFFSET@FILE:LINE" of each frame, then "!REASON". */
static size_t put_row(const struct ArrowArray *frames, const struct ArrowArray *reasons, int64_t row, char *out, size_t size) {
    const int32_t *offsets = frames->buffers[1];
    struct ArrowArray **fields = frames->children[0]->children;
    size_t at = 0;
    if (is_null(frames, row)) at += (size_t)snprintf(out, size, "null");
    for (int32_t k = offsets[row]; k < offsets[row + 1]; k++) {
        struct csn_str name = text_at(fields[0], k), file = text_at(fields[2], k);
        bool inlined = ((const uint8_t *)fields[4]->buffers[1])[k / 8] >> k % 8 & 1;
        at += (size_t)snprintf(out + at, size - at, "%s%.*s+%llu@%.*s:%u", k > offsets[row] ? " < " : "", (int)name.len, name.ptr,
                               (unsigned long long)((const uint64_t *)fields[1]->buffers[1])[k], (int)file.len, file.ptr,
                               is_null(fields[3], k) ? 0 : ((const uint32_t *)fields[3]->buffers[1])[k]);
        if (inlined) at += (size_t)snprintf(out + at, size - at, "i");
    }
    struct csn_str reason = text_at(reasons, row);
    if (!is_null(reasons, row)) at += (size_t)snprintf(out + at, size - at, "!%.*s", (int)reason.len, reason.ptr);
    return at;
}

static const char *rows_text(const struct ArrowArray *answer) {
    static char text[4096];
    size_t at = 0;
    text[0] = 0;
    for (int64_t row = 0; row < answer->length; row++) {
        if (row) at += (size_t)snprintf(text + at, sizeof text - at, "; ");
        at += put_row(answer->children[0], answer->children[1], row, text + at, sizeof text - at);
    }
    return text;
}

/* ---- tests ---- */

static void expect_rows(struct ArrowSchema *schema, struct ArrowArray *array, const struct csn_arrow_options *options,
                        const char *want) {
    struct ArrowSchema out_schema;
    struct ArrowArray out;
    struct csn_error err = CSN_ERROR_INIT;
    released_arrays = released_schemas = 0;
    if (csn_symbolicate_arrow(NULL, schema, array, options, &out_schema, &out, &err) != CSN_OK)
        fail_msg("%s", csn_error_text(&err));
    assert_int_equal(released_arrays, 1);
    assert_int_equal(released_schemas, 1);
    assert_string_equal(out_schema.format, "+s");
    assert_string_equal(rows_text(&out), want);
    out.release(&out);
    out_schema.release(&out_schema);
    assert_null(out.release);
    assert_null(out_schema.release);
}

static void addresses_of_an_index(void **state) {
    (void)state;
    static const uint64_t addrs[] = { 7, 0x1018, 0x1000, 0x1018, 0, 0x1022, 0x1230 };
    static const uint8_t validity[] = { 0x6f };
    for (unsigned plain = 0; plain < 2; plain++) {
        struct csn_arrow_options options = CSN_ARROW_OPTIONS_INIT;
        struct column c;
        options.index = example_index;
        options.flags = plain ? CSN_ARROW_PLAIN_STRINGS : 0;
        column_init(&c, "L", "", 7, validity, addrs, NULL);
        expect_rows(&c.schema, &c.array, &options,
                    "!the address is below the first function of the index; die+24@/src/demo.c:11; die+0@/src/demo.c:10; "
                    "die+24@/src/demo.c:11; null!the address is null; die+34@/src/demo.c:12; "
                    "_fini+8@-:0!the function has no line table");
        /* A slice, and signed. */
        column_init(&c, "l", "", 2, validity, addrs, NULL);
        c.array.offset = 4;
        expect_rows(&c.schema, &c.array, &options, "null!the address is null; die+34@/src/demo.c:12");
        column_init(&c, "L", "", 0, NULL, NULL, NULL);
        expect_rows(&c.schema, &c.array, &options, "");
    }
}

static void return_addresses(void **state) {
    (void)state;
    static const uint64_t addrs[] = { 0x1019, 0x1023, 0x1000, 0 };
    struct csn_arrow_options options = CSN_ARROW_OPTIONS_INIT;
    struct column c;
    options.index = example_index;
    options.flags = CSN_ARROW_RETURN_ADDRESSES;
    column_init(&c, "L", "", 4, NULL, addrs, NULL);
    expect_rows(&c.schema, &c.array, &options,
                "die+25@/src/demo.c:11; die+35@/src/demo.c:12; !the address is below the first function of the index; "
                "!the address is below the first function of the index");
}

static void whole_decimals(void **state) {
    (void)state;
    const bool little = (union { uint16_t number; uint8_t byte; }){ .number = 1 }.byte == 1;
    uint64_t halves[] = { 0x1000, 0, 0x1000, 1 };
    for (size_t i = 0; !little && i < 4; i += 2) { /* the upper half comes first */
        uint64_t lower = halves[i];
        halves[i] = halves[i + 1];
        halves[i + 1] = lower;
    }
    struct csn_arrow_options options = CSN_ARROW_OPTIONS_INIT;
    struct column c;
    options.index = example_index;
    column_init(&c, "d:20,0", "", 2, NULL, halves, NULL);
    expect_rows(&c.schema, &c.array, &options, "die+0@/src/demo.c:10; null!the address has more than 64 bits");
}

static void expect_refused(struct ArrowSchema *schema, struct ArrowArray *array,
                           const struct csn_arrow_options *options, csn_status want, const char *text) {
    struct ArrowSchema out_schema;
    struct ArrowArray out;
    struct csn_error err = CSN_ERROR_INIT;
    released_arrays = released_schemas = 0;
    assert_int_equal(csn_symbolicate_arrow(NULL, schema, array, options, &out_schema, &out, &err), want);
    assert_string_equal(csn_error_text(&err), text);
    assert_int_equal(released_arrays, 1);
    assert_int_equal(released_schemas, 1);
    assert_null(out.release);
    assert_null(out_schema.release);
}

static void refused(void **state) {
    (void)state;
    static const uint64_t zero[2] = { 0 };
    struct csn_arrow_options options = CSN_ARROW_OPTIONS_INIT;
    struct column c;
    column_init(&c, "L", "pc", 1, NULL, zero, NULL);
    expect_refused(&c.schema, &c.array, &options, CSN_E_ARGUMENT, "need either a store or an index");
    options.index = example_index;
    column_init(&c, "g", "pc", 1, NULL, zero, NULL);
    expect_refused(&c.schema, &c.array, &options, CSN_E_UNSUPPORTED,
                   "column 'pc' has the Arrow type 'g', need uint64, int64, uint32 or a decimal without fraction");
    options.flags = 64;
    column_init(&c, "L", "pc", 1, NULL, zero, NULL);
    expect_refused(&c.schema, &c.array, &options, CSN_E_UNSUPPORTED, "unknown flags 0x40");
    options.flags = 0;
    column_init(&c, "L", "address", -1, NULL, zero, NULL);
    expect_refused(&c.schema, &c.array, &options, CSN_E_UNSUPPORTED,
                   "column 'address' has the length -1 and the offset 0, need >= 0");
    column_init(&c, "L", "address", 1, NULL, zero, NULL);
    c.array.offset = -3;
    expect_refused(&c.schema, &c.array, &options, CSN_E_UNSUPPORTED,
                   "column 'address' has the length 1 and the offset -3, need >= 0");
    column_init(&c, "L", "address", 1, NULL, zero, NULL);
    c.array.n_buffers = 1;
    expect_refused(&c.schema, &c.array, &options, CSN_E_UNSUPPORTED, "column 'address' has 1 buffers, need 2");
    struct nested n;
    struct column list;
    column_init(&c, "L", "item", 2, NULL, zero, NULL);
    list_of(&list, &c, -1, NULL, zero);
    expect_refused(&list.schema, &list.array, &options, CSN_E_UNSUPPORTED,
                   "the Arrow list has the length -1 and the offset 0, need >= 0");
    column_init(&n.modules, "u", "module", 1, NULL, zero, "");
    column_init(&n.addresses, "L", "address", 1, NULL, zero, NULL);
    nest(&n, -1);
    expect_refused(&n.outer.schema, &n.outer.array, &options, CSN_E_UNSUPPORTED,
                   "column 'address' has the length -1 and the offset 0, need >= 0");
    column_init(&n.modules, "u", "module", 1, NULL, zero, "");
    column_init(&n.addresses, "L", "pc", 1, NULL, zero, NULL);
    nest(&n, 1);
    expect_refused(&n.outer.schema, &n.outer.array, &options, CSN_E_ARGUMENT,
                   "the Arrow struct of 2 fields has no field 'address'");
}

/* A store with the example under the name "app". */
static csn_status open_for_store(void *context, const char *path, struct csn_index **out, void **out_handle,
                                 struct csn_error *err) {
    (void)context;
    (void)path;
    *out_handle = NULL;
    struct csni_span file = { example.out.bytes, example.out.size };
    return csn_index_open_memory(file.ptr, file.size, NULL, out, err);
}

static void close_for_store(void *context, struct csn_index *index, void *handle) {
    (void)context;
    (void)handle;
    csn_index_close(index);
}

static struct csn_store *store_of_app(void) {
    struct csn_store_options options = CSN_STORE_OPTIONS_INIT;
    struct csn_store *store;
    options.open = open_for_store;
    options.close = close_for_store;
    assert_int_equal(csn_store_create(&options, &store, NULL), CSN_OK);
    assert_int_equal(csn_store_add_index(store, "app.gsym", NULL, NULL), CSN_OK);
    return store;
}

static const char module_bytes[] = "appapplibother";
static const int32_t module_offsets[] = { 0, 3, 6, 9, 9, 14 };
static const uint64_t module_addrs[] = { 0x1000, 0x1019, 0x1000, 0x1000, 0x1000 };

static void modules_by_name(void **state) {
    (void)state;
    static const uint8_t indices[] = { 0, 0, 2, 9, 4 }, validity[] = { 0x17 };
    struct csn_arrow_options options = CSN_ARROW_OPTIONS_INIT;
    options.store = store_of_app();
    static const char want[] = "die+0@/src/demo.c:10; die+25@/src/demo.c:12; !there is no index for the module; "
                               "null!the module is null; !there is no index for the module";
    struct nested n;
    column_init(&n.modules, "u", "module", 5, validity, module_offsets, module_bytes);
    column_init(&n.addresses, "L", "address", 5, NULL, module_addrs, NULL);
    nest(&n, 5);
    expect_rows(&n.outer.schema, &n.outer.array, &options, want);
    /* The same through a dictionary, whose fourth index is outside of it. */
    struct column values;
    column_init(&values, "u", "", 5, NULL, module_offsets, module_bytes);
    column_init(&n.modules, "C", "module", 5, NULL, indices, NULL);
    column_init(&n.addresses, "L", "address", 5, NULL, module_addrs, NULL);
    n.modules.schema.dictionary = &values.schema;
    n.modules.array.dictionary = &values.array;
    nest(&n, 5);
    expect_rows(&n.outer.schema, &n.outer.array, &options, want);
    csn_store_destroy(options.store);
}

static csn_status rename_to_nothing(void *context, struct csn_str name, char *out, size_t size, size_t *used) {
    (void)context, (void)name, (void)out, (void)size;
    *used = 0;
    return CSN_OK;
}

/* The first strings of a column are empty: there are no bytes yet that they could point to. */
static void empty_names_first(void **state) {
    (void)state;
    static const uint64_t addrs[] = { 0x1018, 0x1230 };
    for (unsigned plain = 0; plain < 2; plain++) {
        struct csn_arrow_options options = CSN_ARROW_OPTIONS_INIT;
        struct column c;
        options.index = example_index;
        options.demangle = rename_to_nothing;
        options.flags = plain ? CSN_ARROW_PLAIN_STRINGS : 0;
        column_init(&c, "L", "", 2, NULL, addrs, NULL);
        expect_rows(&c.schema, &c.array, &options, "+24@/src/demo.c:11; +8@-:0!the function has no line table");
    }
}

/* No names at all, in which case a buffer may be missing, then names whose buffer is missing though they have bytes. */
static void missing_buffers(void **state) {
    (void)state;
    static const int32_t none[] = { 0, 0, 0 }, some[] = { 0, 90000, 180000 };
    static const uint32_t views[] = { 90000, 0, 0, 0, 90000, 0, 1, 0 };
    static const int64_t view_sizes[] = { 0 };
    static const struct {
        const char *format;
        const void *values;
        int64_t buffers;
        bool is_view;
    } cases[] = { { "u", none, 3, false }, { "u", some, 3, false }, { "vu", views, 4, true } };
    struct csn_arrow_options options = CSN_ARROW_OPTIONS_INIT;
    options.store = store_of_app();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct nested n;
        const void *buffers[] = { NULL, cases[i].values, NULL, view_sizes };
        column_init(&n.modules, cases[i].format, "module", 2, NULL, cases[i].values, NULL);
        column_init(&n.addresses, "L", "address", 2, NULL, module_addrs, NULL);
        n.modules.array.buffers = buffers;
        n.modules.array.n_buffers = cases[i].buffers;
        nest(&n, 2);
        expect_rows(&n.outer.schema, &n.outer.array, &options,
                    "!there is no index for the module; !there is no index for the module");
    }
    csn_store_destroy(options.store);
}

/* list<struct<module, address>>: two stacks, of which the second is null, and an empty one. */
static csn_status symbolicate_stacks(void *context, const struct csn_allocator *alloc) {
    static const int32_t ends[] = { 0, 3, 3, 3 };
    static const uint8_t validity[] = { 5 };
    struct csn_arrow_options options = CSN_ARROW_OPTIONS_INIT;
    struct csn_symbolicator *symbolicator = NULL;
    struct csn_symbolicator_options symbolicator_options = CSN_SYMBOLICATOR_OPTIONS_INIT;
    struct nested n;
    struct column list;
    struct ArrowSchema out_schema = { 0 };
    struct ArrowArray out = { 0 };
    column_init(&n.modules, "u", "module", 5, NULL, module_offsets, module_bytes);
    column_init(&n.addresses, "L", "address", 5, NULL, module_addrs, NULL);
    nest(&n, 5);
    list_of(&list, &n.outer, 3, validity, ends);
    options.allocator = symbolicator_options.allocator = alloc;
    options.store = context;
    csn_status status = csn_symbolicator_create(&symbolicator_options, &symbolicator, NULL);
    if (status == CSN_OK)
        status = csn_symbolicate_arrow(symbolicator, &list.schema, &list.array, &options, &out_schema, &out, NULL);
    if (status == CSN_OK) {
        const struct ArrowArray *frame = out.children[0];
        char text[512];
        size_t at = 0;
        assert_true(is_null(&out, 1));
        assert_int_equal(((const int32_t *)out.buffers[1])[1], 3);
        assert_int_equal(((const int32_t *)out.buffers[1])[3], 3);
        for (int64_t k = 0; k < 3; k++) {
            at += put_row(frame->children[0], frame->children[1], k, text + at, sizeof text - at);
            struct csn_str confidence = text_at(frame->children[3], k);
            at += (size_t)snprintf(text + at, sizeof text - at, " %.*s;", (int)confidence.len, confidence.ptr);
        }
        assert_string_equal(text,
                            "die+0@/src/demo.c:10 certain;die+25@/src/demo.c:11 certain;!there is no index for the module none;");
        out.release(&out);
        out_schema.release(&out_schema);
    }
    csn_symbolicator_destroy(symbolicator);
    return status;
}

static void stacks(void **state) {
    (void)state;
    struct csn_store *store = store_of_app();
    assert_int_equal(symbolicate_stacks(store, NULL), CSN_OK);
    assert_true(test_allocator_sweep(symbolicate_stacks, store, 0) > 10);
    csn_store_destroy(store);
}

/* ---- one store, several symbolicators ---- */

/* Each file is the example with another name of the function at 0x1000: "d00", "d01" ... by the module's number. */
static csn_status open_numbered(void *context, const struct csn_store_module *module, struct csn_index **out,
                                struct csn_store_explanation *explanation, struct csn_error *err) {
    static uint8_t copies[4][1 << 14];
    static unsigned next;
    uint8_t *copy = copies[next++ % 4];
    (void)context, (void)explanation;
    assert_true(example.out.size <= sizeof copies[0]);
    memcpy(copy, example.out.bytes, example.out.size);
    uint8_t *name = memmem(copy, example.out.size, "\0die", 5);
    assert_non_null(name);
    memcpy(name + 2, module->name.ptr + 1, 2);
    return csn_index_open_memory(copy, example.out.size, NULL, out, err);
}

static void expect_name(struct csn_symbolicator *symbolicator, struct csn_store *store, const char *module) {
    static const int32_t ends[] = { 0, 1 };
    const int32_t offsets[] = { 0, (int32_t)strlen(module) };
    struct csn_arrow_options options = CSN_ARROW_OPTIONS_INIT;
    struct nested n;
    struct column list;
    struct ArrowSchema out_schema;
    struct ArrowArray out;
    char text[128], want[128];
    options.store = store;
    column_init(&n.modules, "u", "module", 1, NULL, offsets, module);
    column_init(&n.addresses, "L", "address", 1, NULL, module_addrs, NULL);
    nest(&n, 1);
    list_of(&list, &n.outer, 1, NULL, ends);
    assert_int_equal(csn_symbolicate_arrow(symbolicator, &list.schema, &list.array, &options, &out_schema, &out, NULL), CSN_OK);
    put_row(out.children[0]->children[0], out.children[0]->children[1], 0, text, sizeof text);
    snprintf(want, sizeof want, "d%s+0@/src/demo.c:10", module + 1);
    assert_string_equal(text, want);
    out.release(&out);
    out_schema.release(&out_schema);
}

/* A batch of one closes indexes that the other one knows: it asks again, whatever lies at their addresses by now. */
static void symbolicators_take_turns(void **state) {
    (void)state;
    struct csn_store_options options = CSN_STORE_OPTIONS_INIT;
    struct csn_store *stores[2];
    struct csn_symbolicator *two[2];
    char module[4];
    options.convert = open_numbered;
    options.max_open = 1;
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(csn_store_create(&options, &stores[i], NULL), CSN_OK);
        assert_int_equal(csn_symbolicator_create(NULL, &two[i], NULL), CSN_OK);
    }
    uint32_t draw = 1;
    for (unsigned i = 0; i < 2000; i++) {
        draw = draw * 1664525 + 1013904223;
        snprintf(module, sizeof module, "m%02u", (draw >> 24) % 10);
        expect_name(two[draw >> 16 & 1], stores[i / 500 % 2], module);
    }
    for (unsigned i = 0; i < 2; i++) {
        csn_symbolicator_destroy(two[i]);
        csn_store_destroy(stores[i]);
    }
}

static csn_status symbolicate_column(void *context, const struct csn_allocator *alloc) {
    static const uint64_t addrs[] = { 0x1018, 0x11f0, 7 };
    struct csn_arrow_options options = CSN_ARROW_OPTIONS_INIT;
    struct ArrowSchema out_schema;
    struct ArrowArray out;
    struct column c;
    (void)context;
    options.allocator = alloc;
    options.index = example_index;
    column_init(&c, "L", "", 3, NULL, addrs, NULL);
    released_arrays = 0;
    csn_status status = csn_symbolicate_arrow(NULL, &c.schema, &c.array, &options, &out_schema, &out, NULL);
    assert_int_equal(released_arrays, 1);
    if (status != CSN_OK) return status;
    /* A child may be moved out and released by itself. */
    struct ArrowArray moved = *out.children[0];
    out.children[0]->release = NULL;
    out.release(&out);
    moved.release(&moved);
    out_schema.release(&out_schema);
    return CSN_OK;
}

static void out_of_memory(void **state) {
    (void)state;
    assert_true(test_allocator_sweep(symbolicate_column, NULL, 0) > 10);
    test_allocator_sweep(symbolicate_column, NULL, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses_of_an_index), cmocka_unit_test(return_addresses), cmocka_unit_test(whole_decimals),
        cmocka_unit_test(refused), cmocka_unit_test(modules_by_name), cmocka_unit_test(empty_names_first),
        cmocka_unit_test(missing_buffers), cmocka_unit_test(stacks), cmocka_unit_test(out_of_memory),
        cmocka_unit_test(symbolicators_take_turns),
    };
    return cmocka_run_group_tests(tests, open_example, close_example);
}
