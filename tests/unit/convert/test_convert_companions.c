/* convert/: a stripped image with what is found for it: symbols of .gnu_debugdata joined with .dynsym, a debug file from a
 * resolver, what the report says when there is none; each allocation failing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <callsign/convert.h>

#include "base/core/fail.h"
#include "object/elf/elf_layout.h"
#include "support/object_sample.h"
#include "support/test_alloc.h"

#ifdef CSNI_HAVE_LIBLZMA
#include <lzma.h>
#endif

static const uint8_t code[32] = { 0xc3 };

/* A file with .text at 0x401000 and one function symbol. */
static void begin_elf(struct wire_elf *elf, uint32_t table, const char *name, uint64_t addr) {
    const struct wire_symbol symbol = { .name = name, .value = addr, .size = 4, .type = STT_FUNC, .bind = STB_GLOBAL,
                                        .section = 1 };
    wire_elf_init(elf, true, false, ET_EXEC, EM_X86_64);
    wire_elf_add(elf, ".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 0x401000, (struct csni_span){ code, sizeof code });
    wire_elf_add_symbols(elf, table, &symbol, 1);
}

static void end_elf(struct wire_elf *elf, struct wire *file) {
    wire_elf_build(elf, file, NULL);
    wire_elf_deinit(elf);
}

static void add_link(struct wire_elf *elf) {
    static const uint8_t link[] = "app.debug\0\0\0\1\2\3";
    wire_elf_add(elf, ".gnu_debuglink", SHT_PROGBITS, 0, 0, (struct csni_span){ link, sizeof link });
}

/* An image that exports `main`. */
static void put_image(struct wire *file, struct csni_span mini_debug, bool with_link) {
    struct wire_elf elf;
    wire_init(file, false);
    begin_elf(&elf, SHT_DYNSYM, "main", 0x401000);
    if (mini_debug.size) wire_elf_add(&elf, ".gnu_debugdata", SHT_PROGBITS, 0, 0, mini_debug);
    if (with_link) add_link(&elf);
    end_elf(&elf, file);
}

static struct csn_convert_report report;

static csn_status convert(struct wire *file, const struct csn_convert_options *options) {
    struct csn_bytes out;
    struct csni_span bytes = wire_span(file);
    csn_status status = csn_convert_memory(bytes.ptr, bytes.size, options, &out, &report, NULL);
    if (status == CSN_OK) csn_bytes_free(&out);
    return status;
}

/* ---- .gnu_debugdata ---- */

#ifdef CSNI_HAVE_LIBLZMA
static void put_mini_debug(struct wire *out) {
    struct wire_elf elf;
    struct wire file;
    wire_init(&file, false);
    begin_elf(&elf, SHT_SYMTAB, "hidden", 0x401010);
    end_elf(&elf, &file);
    struct csni_span text = wire_span(&file);
    size_t capacity = lzma_stream_buffer_bound(text.size), size = 0;
    wire_init(out, false);
    wire_fill(out, 0, capacity);
    assert_int_equal(lzma_easy_buffer_encode(1, LZMA_CHECK_CRC64, NULL, text.ptr, text.size, out->bytes, &size, capacity), LZMA_OK);
    out->size = size;
    wire_deinit(&file);
}

static csn_status mini_debug_step(void *context, const struct csn_allocator *alloc) {
    struct csn_convert_options options = CSN_CONVERT_OPTIONS_INIT;
    options.allocator = alloc;
    options.threads = 1;
    return convert(context, &options);
}

static void mini_debug(void **state) {
    (void)state;
    struct wire xz, file;
    put_mini_debug(&xz);
    put_image(&file, wire_span(&xz), false);
    assert_int_equal(mini_debug_step(&file, NULL), CSN_OK);
    assert_int_equal(report.functions_from_symbols, 2);
    assert_int_equal(report.functions_written, 2);
    assert_true(test_allocator_sweep(mini_debug_step, &file, 0) > 10);
    wire_deinit(&file);
    wire_deinit(&xz);
}
#else
static void mini_debug(void **state) {
    (void)state;
    skip();
}
#endif

static void damaged_mini_debug_is_noted(void **state) {
    (void)state;
    struct wire file;
    struct csn_convert_options options = CSN_CONVERT_OPTIONS_INIT;
    put_image(&file, (struct csni_span){ (const uint8_t *)"not an xz file", 14 }, false);
    assert_int_equal(convert(&file, &options), CSN_OK);
    assert_int_equal(report.functions_written, 1);
    assert_int_equal(report.events[CSN_EVENT_DAMAGED_SYMBOL].count, 1);
    options.flags = CSN_CONVERT_STRICT;
    assert_int_equal(convert(&file, &options), CSN_E_FORMAT);
    wire_deinit(&file);
}

/* ---- debug files ---- */

/* A resolver that gives a fixed file, or says why it gives none. */
struct answer {
    struct csni_span file;
    csn_status status;
    const char *text;
    struct csn_companion_request asked;
    char name[32];
    int released;
};

static void count_release(struct csn_companion *companion) { ((struct answer *)companion->context)->released++; }

static csn_status resolve(void *context, const struct csn_companion_request *request, struct csn_companion *out,
                          struct csn_error *err) {
    struct answer *answer = context;
    answer->asked = *request;
    strncpy(answer->name, request->name ? request->name : "", sizeof answer->name - 1);
    if (answer->text) csni_fail(err, answer->status, NULL, 0, "%s", answer->text);
    if (answer->status != CSN_OK) return answer->status;
    *out = (struct csn_companion){ .bytes = answer->file.ptr, .size = answer->file.size, .path = "found",
                                   .release = count_release, .context = answer };
    return CSN_OK;
}

static struct csn_convert_options options_with(struct answer *answer) {
    struct csn_convert_options options = CSN_CONVERT_OPTIONS_INIT;
    options.threads = 1;
    options.resolver = resolve;
    options.resolver_context = answer;
    return options;
}

static void debug_file_is_asked_for_by_link(void **state) {
    (void)state;
    struct wire file, debug;
    struct wire_elf elf;
    put_image(&file, (struct csni_span){ NULL, 0 }, true);
    wire_init(&debug, false);
    begin_elf(&elf, SHT_SYMTAB, "hidden", 0x401010);
    end_elf(&elf, &debug);
    struct answer answer = { .file = wire_span(&debug) };
    struct csn_convert_options options = options_with(&answer);
    assert_int_equal(convert(&file, &options), CSN_OK);
    assert_int_equal(answer.asked.kind, CSN_COMPANION_DEBUG_FILE);
    assert_string_equal(answer.name, "app.debug");
    assert_true(answer.asked.has_crc && !answer.asked.has_debug_info);
    assert_int_equal(answer.asked.crc, 0x00030201);
    assert_int_equal(answer.released, 1);
    assert_int_equal(report.functions_written, 1); /* of the debug file's table alone */
    assert_int_equal(report.events[CSN_EVENT_MISSING_DEBUG_FILE].count, 0);
    wire_deinit(&file);
    wire_deinit(&debug);
}

static void missing_debug_file_is_noted(void **state) {
    (void)state;
    struct wire file;
    put_image(&file, (struct csni_span){ NULL, 0 }, true);
    struct answer answer = { .status = CSN_NONE };
    struct csn_convert_options options = options_with(&answer);
    assert_int_equal(convert(&file, &options), CSN_OK);
    assert_int_equal(report.events[CSN_EVENT_MISSING_DEBUG_FILE].count, 0);
    answer.text = "app.debug is nowhere";
    assert_int_equal(convert(&file, &options), CSN_OK);
    assert_int_equal(report.events[CSN_EVENT_MISSING_DEBUG_FILE].count, 1);
    assert_string_equal(report.events[CSN_EVENT_MISSING_DEBUG_FILE].example, "app.debug is nowhere");
    options.flags = CSN_CONVERT_STRICT; /* that is no loss */
    assert_int_equal(convert(&file, &options), CSN_OK);
    wire_deinit(&file);
}

static void resolver_failure_fails(void **state) {
    (void)state;
    struct wire file;
    struct csn_bytes out;
    struct csn_error err = CSN_ERROR_INIT;
    put_image(&file, (struct csni_span){ NULL, 0 }, true);
    struct answer answer = { .status = CSN_E_FORMAT, .text = "another build" };
    struct csn_convert_options options = options_with(&answer);
    struct csni_span bytes = wire_span(&file);
    assert_int_equal(csn_convert_memory(bytes.ptr, bytes.size, &options, &out, NULL, &err), CSN_E_FORMAT);
    assert_string_equal(csn_error_text(&err), "another build");
    answer = (struct answer){ .file = { (const uint8_t *)"text", 4 } };
    assert_int_equal(csn_convert_memory(bytes.ptr, bytes.size, &options, &out, NULL, &err), CSN_E_UNSUPPORTED);
    assert_non_null(strstr(csn_error_text(&err), "found: not an object file"));
    assert_int_equal(answer.released, 1);
    wire_deinit(&file);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mini_debug),
        cmocka_unit_test(damaged_mini_debug_is_noted),
        cmocka_unit_test(debug_file_is_asked_for_by_link),
        cmocka_unit_test(missing_debug_file_is_noted),
        cmocka_unit_test(resolver_failure_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
