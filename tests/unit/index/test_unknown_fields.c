/* base.h: reserved fields, flags without a name and modes that this version does not know are refused, and the message tells
 * field and value. A program that sets one was compiled for a newer library, which would have done something else. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <callsign/callsign.h>

#include "support/example_index.h"

static struct csn_error err;

static void expect_refused(csn_status status, const char *text) {
    if (status != CSN_E_UNSUPPORTED) fail_msg("status %d, need %d: %s", status, CSN_E_UNSUPPORTED, text);
    assert_string_equal(csn_error_text(&err), text);
    csn_error_init(&err);
}

/* ---- options ---- */

static void options_of_conversions(void **state) {
    (void)state;
    struct csn_bytes out;
    struct csn_builder *builder;
    struct csn_builder_options of_builder = CSN_BUILDER_OPTIONS_INIT;
    of_builder.reserved[1] = 1;
    expect_refused(csn_builder_create(&of_builder, &builder, &err), "csn_builder_options.reserved is 1, this version knows 0 only");

    struct csn_convert_options convert = CSN_CONVERT_OPTIONS_INIT;
    convert.reserved = 1;
    expect_refused(csn_convert_memory("", 0, &convert, &out, NULL, &err),
                   "csn_convert_options.reserved is 1, this version knows 0 only");
    convert.reserved = 0;
    struct csn_gsection_options gsection = CSN_GSECTION_OPTIONS_INIT;
    gsection.reserved = UINT32_MAX;
    convert.gsection = &gsection;
    expect_refused(csn_convert_memory("", 0, &convert, &out, NULL, &err),
                   "csn_gsection_options.reserved is 4294967295, this version knows 0 only");

    struct csn_embed_options embed = CSN_EMBED_OPTIONS_INIT;
    embed.reserved = 1;
    expect_refused(csn_extract_memory("", 0, &embed, &out, &err), "csn_embed_options.reserved is 1, this version knows 0 only");
}

static void options_of_stores(void **state) {
    (void)state;
    struct csn_cache *cache;
    struct csn_cache_options of_cache = CSN_CACHE_OPTIONS_INIT;
    of_cache.reserved = 1;
    expect_refused(csn_cache_open("/nonexistent", &of_cache, &cache, &err),
                   "csn_cache_options.reserved is 1, this version knows 0 only");

    struct csn_companion_search *search;
    struct csn_companion found;
    struct csn_companion_request request = { .struct_size = sizeof request, .reserved = 1 };
    assert_int_equal(csn_companion_search_create(NULL, &search, NULL), CSN_OK);
    expect_refused(csn_companion_search_resolve(search, &request, &found, &err),
                   "csn_companion_request.reserved is 1, this version knows 0 only");
    csn_companion_search_destroy(search);
}

static void options_of_arrow(void **state) {
    (void)state;
    static const uint64_t addr = 0;
    const void *buffers[] = { NULL, &addr };
    struct ArrowSchema schema = { .format = "L" }, out_schema;
    struct ArrowArray array = { .length = 1, .n_buffers = 2, .buffers = buffers }, out;
    struct csn_arrow_options options = CSN_ARROW_OPTIONS_INIT;
    options.index = example_index;
    options.reserved = 1;
    expect_refused(csn_symbolicate_arrow(NULL, &schema, &array, &options, &out_schema, &out, &err),
                   "csn_arrow_options.reserved is 1, this version knows 0 only");
}

/* ---- profiles ---- */

static void options_of_profiles(void **state) {
    (void)state;
    struct csn_profile *p;
    struct csn_bytes out;
    struct csn_profile_options options = CSN_PROFILE_OPTIONS_INIT;
    struct csn_profile_symbolicate_options symbolicate = CSN_PROFILE_SYMBOLICATE_OPTIONS_INIT;
    struct csn_profile_write_options write = CSN_PROFILE_WRITE_OPTIONS_INIT;
    options.reserved = symbolicate.reserved = write.reserved = 1;
    expect_refused(csn_profile_create(&options, &p, &err), "csn_profile_options.reserved is 1, this version knows 0 only");
    assert_int_equal(csn_profile_create(NULL, &p, NULL), CSN_OK);
    expect_refused(csn_profile_symbolicate(p, NULL, &symbolicate, NULL, &err),
                   "csn_profile_symbolicate_options.reserved is 1, this version knows 0 only");
    expect_refused(csn_profile_write(p, CSN_PROFILE_PPROF, &write, &out, &err),
                   "csn_profile_write_options.reserved is 1, this version knows 0 only");
    csn_profile_destroy(p);
}

static void parts_of_profiles(void **state) {
    (void)state;
    struct csn_profile *p;
    uint32_t number = 77;
    struct csn_profile_module module = { .path = CSN_STR("/app"), .reserved = { 0, 3 } };
    struct csn_profile_location location = { .module = CSN_PROFILE_NO_MODULE, .name = CSN_STR("f"), .reserved = { 3, 0 } };
    struct csn_profile_frame frame = { .function = CSN_STR("f"), .reserved = { 0, 3 } };
    struct csn_profile_sample sample = { .reserved = { 0, 3 } };
    assert_int_equal(csn_profile_create(NULL, &p, NULL), CSN_OK);
    expect_refused(csn_profile_add_module(p, &module, &number, &err),
                   "csn_profile_module.reserved is 3, this version knows 0 only");
    expect_refused(csn_profile_add_location(p, &location, &number, &err),
                   "csn_profile_location.reserved is 3, this version knows 0 only");
    location.name.len = 0;
    expect_refused(csn_profile_add_location_frames(p, &location, &frame, 1, &number, &err),
                   "csn_profile_location.reserved is 3, this version knows 0 only");
    location.reserved[0] = 0;
    expect_refused(csn_profile_add_location_frames(p, &location, &frame, 1, &number, &err),
                   "csn_profile_frame.reserved is 3, this version knows 0 only");
    location.flags = CSN_STACK_RETURN | CSN_STACK_UNRELIABLE; /* a location has no such flag */
    expect_refused(csn_profile_add_location(p, &location, &number, &err),
                   "csn_profile_location.flags is 0x24, this version does not know 0x20");
    expect_refused(csn_profile_add_sample(p, &sample, &err), "csn_profile_sample.reserved is 3, this version knows 0 only");
    assert_int_equal(number, 77);
    for (location.flags = CSN_STACK_EXACT; location.flags <= CSN_STACK_EITHER; location.flags *= 2)
        assert_int_equal(csn_profile_add_location(p, &location, &number, NULL), CSN_OK);
    csn_profile_destroy(p);
}

/* ---- processes and stacks ---- */

static void mappings(void **state) {
    (void)state;
    struct csn_process_maps *maps;
    struct csn_process_mapping m = CSN_PROCESS_MAPPING_INIT;
    m.start = 0x1000;
    m.end = 0x2000;
    m.path = CSN_STR("/app");
    m.flags = CSN_MAPPING_EXECUTABLE | 64;
    assert_int_equal(csn_process_maps_create(NULL, &maps, NULL), CSN_OK);
    expect_refused(csn_process_maps_add_mapping(maps, 1, &m, &err),
                   "csn_process_mapping.flags is 0x41, this version does not know 0x40");
    assert_int_equal(csn_process_maps_add_image(maps, 2, &m, NULL), CSN_OK); /* as the header says, `flags` do not count there */
    m.flags = CSN_MAPPING_EXECUTABLE;
    m.reserved = 1;
    expect_refused(csn_process_maps_add_mapping(maps, 1, &m, &err), "csn_process_mapping.reserved is 1, this version knows 0 only");
    expect_refused(csn_process_maps_add_image(maps, 1, &m, &err), "csn_process_mapping.reserved is 1, this version knows 0 only");
    m.reserved = 0;
    assert_int_equal(csn_process_maps_add_mapping(maps, 1, &m, NULL), CSN_OK);
    csn_process_maps_destroy(maps);
}

static void modules_and_frames(void **state) {
    (void)state;
    enum { FRAMES = 200 }; /* more than one block */
    struct csn_symbolicator *s;
    const struct csn_stack_answer *answers;
    struct csn_stack_frame frames[FRAMES];
    struct csn_module module = { .index = example_index, .start = 0x1000, .end = 0x9000, .reserved = { 0, 9 } };
    assert_int_equal(csn_symbolicator_create(NULL, &s, NULL), CSN_OK);
    expect_refused(csn_symbolicator_set_modules(s, &module, 1, &err), "csn_module.reserved is 9, this version knows 0 only");
    module.reserved[1] = 0;
    assert_int_equal(csn_symbolicator_set_modules(s, &module, 1, NULL), CSN_OK);
    for (size_t i = 0; i < FRAMES; i++) frames[i] = (struct csn_stack_frame){ 0x1000 + i, 0, 1u << i % 6 };
    assert_int_equal(csn_symbolicator_answer(s, frames, FRAMES, &answers, NULL), CSN_OK);
    frames[0].flags = 1 << 20 | CSN_STACK_EXACT;
    expect_refused(csn_symbolicator_answer(s, frames, FRAMES, &answers, &err),
                   "frame 0: csn_stack_frame.flags is 0x100002, this version does not know 0x100000");
    frames[0].flags = 0;
    frames[FRAMES - 1].flags = 64;
    expect_refused(csn_symbolicator_answer(s, frames, FRAMES, &answers, &err),
                   "frame 199: csn_stack_frame.flags is 0x40, this version does not know 0x40");
    frames[FRAMES - 1].flags = 0;
    assert_int_equal(csn_symbolicator_answer(s, frames, FRAMES, &answers, NULL), CSN_OK);
    csn_symbolicator_destroy(s);
}

/* ---- lookups ---- */

static void modes(void **state) {
    (void)state;
    struct csn_frame_ref refs[CSN_INLINE_DEPTH_MAX + 1];
    struct csn_batch_answer answer;
    struct csn_lookup_batch batch = CSN_LOOKUP_BATCH_INIT;
    uint64_t addr = 0;
    size_t done = 77;
    batch.addrs = &addr;
    batch.count = 1;
    batch.answers = &answer;
    batch.frames = refs;
    batch.frame_capacity = sizeof refs / sizeof *refs;
    batch.mode = 7;
    assert_int_equal(csn_index_function_start(example_index, 0, &addr, NULL), CSN_OK);
    assert_int_equal(csn_index_lookup_refs(example_index, addr, CSN_LOOKUP_DEFAULT, refs, 1, NULL, NULL), CSN_OK);
    expect_refused(csn_index_lookup_refs(example_index, addr, (enum csn_lookup_mode)7, refs, 1, NULL, &err),
                   "lookup mode 7 is not known, need <= 1");
    expect_refused(csn_index_lookup_batch(example_index, &batch, &done, &err), "lookup mode 7 is not known, need <= 1");
    batch.mode = CSN_LOOKUP_LLVM;
    batch.reserved = 1;
    expect_refused(csn_index_lookup_batch(example_index, &batch, &done, &err),
                   "csn_lookup_batch.reserved is 1, this version knows 0 only");
    batch.reserved = 0;
    assert_int_equal(done, 77);
    assert_int_equal(csn_index_lookup_batch(example_index, &batch, &done, NULL), CSN_OK);
    assert_int_equal(done, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_of_conversions), cmocka_unit_test(options_of_stores), cmocka_unit_test(options_of_arrow),
        cmocka_unit_test(options_of_profiles),    cmocka_unit_test(parts_of_profiles), cmocka_unit_test(mappings),
        cmocka_unit_test(modules_and_frames),     cmocka_unit_test(modes),
    };
    return cmocka_run_group_tests(tests, open_example, close_example);
}
