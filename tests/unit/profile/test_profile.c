/* callsign/profile.h: building, adding samples up, every format there and back, limits, out of memory. Names and lines are
 * tests/cli/test_profile.py's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include <callsign/profile.h>

#include "support/test_alloc.h"

#define TRY(call)                          \
    do {                                   \
        csn_status status_ = (call);       \
        if (status_ < 0) return status_;   \
    } while (0)

/* Two stacks of a module, one seen twice, and a name without an address. */
static csn_status fill_profile(struct csn_profile *p) {
    static const uint8_t id[] = { 0xab, 0xcd, 0xef, 1, 2, 3, 4, 5 };
    struct csn_profile_module module = { .path = CSN_STR("/nowhere/app"), .build_id = id, .build_id_size = sizeof id };
    struct csn_profile_location at = {
        .kind = CSN_PROFILE_AT_ADDRESS, .value = 0x1139, .name = CSN_STR("area"), .file = CSN_STR("a.c"), .line = 7
    };
    struct csn_profile_location caller = { .kind = CSN_PROFILE_AT_ADDRESS, .value = 0x1200, .flags = CSN_STACK_RETURN };
    struct csn_profile_location named = { .module = CSN_PROFILE_NO_MODULE, .name = CSN_STR("start") };
    uint32_t locations[3], stack, other, type;
    TRY(csn_profile_add_value_type(p, CSN_STR("samples"), CSN_STR("count"), &type, NULL));
    TRY(csn_profile_add_module(p, &module, &at.module, NULL));
    caller.module = at.module;
    TRY(csn_profile_add_location(p, &at, &locations[0], NULL));
    TRY(csn_profile_add_location(p, &caller, &locations[1], NULL));
    TRY(csn_profile_add_location(p, &named, &locations[2], NULL));
    TRY(csn_profile_add_stack(p, locations, 3, &stack, NULL));
    TRY(csn_profile_add_stack(p, locations + 1, 2, &other, NULL));
    const int64_t one = 1, five = 5;
    struct csn_profile_sample sample = {
        .stack = stack, .value_count = 1, .values = &one, .pid = 4, .tid = 5, .thread = CSN_STR("t")
    };
    TRY(csn_profile_add_sample(p, &sample, NULL));
    sample.time_ns = 1500000;
    TRY(csn_profile_add_sample(p, &sample, NULL));
    sample.stack = other;
    sample.values = &five;
    return csn_profile_add_sample(p, &sample, NULL);
}

static csn_status create_filled(const struct csn_allocator *alloc, uint32_t flags, struct csn_profile **out) {
    struct csn_profile_options options = CSN_PROFILE_OPTIONS_INIT;
    options.allocator = alloc;
    options.flags = flags;
    TRY(csn_profile_create(&options, out, NULL));
    csn_status status = fill_profile(*out);
    if (status < 0) csn_profile_destroy(*out);
    return status;
}

static void equal_samples_are_one(void **state) {
    struct csn_profile *p;
    struct csn_profile_sizes sizes;
    (void)state;
    assert_int_equal(create_filled(NULL, 0, &p), CSN_OK);
    csn_profile_get_sizes(p, &sizes);
    assert_int_equal(sizes.samples, 3);
    assert_int_equal(sizes.distinct_samples, 2);
    assert_int_equal(sizes.locations, 3);
    csn_profile_destroy(p);
    assert_int_equal(create_filled(NULL, CSN_PROFILE_EVERY_SAMPLE, &p), CSN_OK);
    csn_profile_get_sizes(p, &sizes);
    assert_int_equal(sizes.distinct_samples, 3);
    csn_profile_destroy(p);
}

static void folded_text(void **state) {
    static const char wanted[] = "start;app+0x1200 5\nstart;app+0x1200;area 2\n";
    struct csn_profile *p;
    struct csn_bytes bytes;
    (void)state;
    assert_int_equal(create_filled(NULL, 0, &p), CSN_OK);
    assert_int_equal(csn_profile_write(p, CSN_PROFILE_FOLDED, NULL, &bytes, NULL), CSN_OK);
    assert_int_equal(bytes.size, sizeof wanted - 1);
    assert_memory_equal(bytes.ptr, wanted, bytes.size);
    csn_bytes_free(&bytes);
    csn_profile_destroy(p);
}

static void expect_text(struct csn_str text, const char *wanted) {
    assert_int_equal(text.len, strlen(wanted));
    assert_memory_equal(text.ptr, wanted, text.len);
}

/* Everything that fill_profile() added, by number. */
static void reading_by_number(void **state) {
    struct csn_profile *p;
    struct csn_profile_sample sample;
    struct csn_profile_place place;
    struct csn_profile_frame frame;
    struct csn_profile_module module;
    struct csn_profile_label label;
    struct csn_str type, unit;
    uint32_t location, caller, depth = 0;
    (void)state;
    assert_int_equal(create_filled(NULL, CSN_PROFILE_EVERY_SAMPLE, &p), CSN_OK);
    assert_int_equal(csn_profile_get_value_type(p, 0, &type, &unit), CSN_OK);
    expect_text(type, "samples");
    expect_text(unit, "count");
    assert_int_equal(csn_profile_get_value_type(p, 1, &type, &unit), CSN_NONE);
    assert_int_equal(csn_profile_get_sample(p, 1, &sample), CSN_OK);
    assert_int_equal(sample.value_count, 1);
    assert_int_equal(sample.values[0], 1);
    assert_int_equal(sample.time_ns, 1500000);
    assert_int_equal(sample.pid, 4);
    assert_int_equal(sample.tid, 5);
    expect_text(sample.thread, "t");
    assert_int_equal(csn_profile_get_sample(p, 3, &sample), CSN_NONE);
    assert_int_equal(csn_profile_get_label(p, 0, 0, &label), CSN_NONE);
    assert_int_equal(csn_profile_get_label(p, 3, 0, &label), CSN_NONE);
    assert_int_equal(csn_profile_get_stack(p, sample.stack, &location, &caller), CSN_OK);
    assert_int_equal(csn_profile_get_place(p, location, &place), CSN_OK);
    assert_int_equal(place.kind, CSN_PROFILE_AT_ADDRESS);
    assert_int_equal(place.value, 0x1139);
    assert_int_equal(place.frame_count, 1);
    assert_false(place.is_undecided);
    assert_int_equal(csn_profile_get_frame(p, location, 0, &frame), CSN_OK);
    expect_text(frame.function, "area");
    expect_text(frame.file, "a.c");
    assert_int_equal(frame.line, 7);
    assert_false(frame.inlined);
    assert_int_equal(csn_profile_get_frame(p, location, 1, &frame), CSN_NONE);
    assert_int_equal(csn_profile_get_frame(p, 3, 0, &frame), CSN_NONE);
    assert_int_equal(csn_profile_get_module(p, place.module, &module), CSN_OK);
    expect_text(module.path, "/nowhere/app");
    assert_int_equal(module.build_id_size, 8);
    assert_int_equal(module.build_id[1], 0xcd);
    assert_int_equal(csn_profile_get_module(p, 1, &module), CSN_NONE);
    assert_int_equal(csn_profile_get_place(p, 3, &place), CSN_NONE);
    for (uint32_t node = sample.stack; csn_profile_get_stack(p, node, &location, &caller) == CSN_OK; node = caller) {
        assert_true(caller < node);
        depth++;
    }
    assert_int_equal(depth, 3);
    assert_int_equal(csn_profile_get_place(p, location, &place), CSN_OK);
    assert_int_equal(place.module, CSN_PROFILE_NO_MODULE);
    csn_profile_destroy(p);
}

struct memory_input {
    const uint8_t *bytes;
    size_t size, step;
};

static csn_status read_memory(void *context, void *bytes, size_t capacity, size_t *out_size, struct csn_error *err) {
    struct memory_input *input = context;
    size_t size = input->size < input->step ? input->size : input->step;
    (void)err;
    if (size > capacity) size = capacity;
    if (size) memcpy(bytes, input->bytes, size);
    input->bytes += size;
    input->size -= size;
    *out_size = size;
    return CSN_OK;
}

static csn_status read_back(const struct csn_allocator *alloc, const struct csn_bytes *bytes, size_t step,
                            uint64_t limit, struct csn_profile **out, struct csn_error *err) {
    struct csn_profile_options options = CSN_PROFILE_OPTIONS_INIT;
    struct memory_input input = { bytes->ptr, bytes->size, step };
    options.allocator = alloc;
    options.max_input_bytes = limit;
    TRY(csn_profile_create(&options, out, err));
    csn_status status = csn_profile_read(*out, CSN_PROFILE_DETECT, CSN_STR("memory"), read_memory, &input, err);
    if (status < 0) csn_profile_destroy(*out);
    return status;
}

/* Through each format that is read and written, whatever the size of the pieces that the source gives. */
static void there_and_back(void **state) {
    static const uint32_t formats[] = { CSN_PROFILE_PPROF, CSN_PROFILE_OTLP, CSN_PROFILE_FIREFOX, CSN_PROFILE_OTLP_JSON };
    (void)state;
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        for (size_t step = 1; step < 100000; step *= 17) {
            struct csn_profile *p, *again;
            struct csn_bytes bytes, folded;
            assert_int_equal(create_filled(NULL, 0, &p), CSN_OK);
            assert_int_equal(csn_profile_write(p, formats[i], NULL, &bytes, NULL), CSN_OK);
            assert_int_equal(read_back(NULL, &bytes, step, 0, &again, NULL), CSN_OK);
            assert_int_equal(csn_profile_write(again, CSN_PROFILE_FOLDED, NULL, &folded, NULL), CSN_OK);
            assert_non_null(strstr((char *)folded.ptr, "area 2\n"));
            csn_bytes_free(&folded);
            csn_bytes_free(&bytes);
            csn_profile_destroy(again);
            csn_profile_destroy(p);
        }
    }
}

/* ---- legacy formats ---- */

#define MAPS "MAPPED_LIBRARIES:\n10000000-10002000 r-xp 00001000 08:01 123 /opt/app\n"

static const char *const legacy_texts[] = {
    "heap profile: 1: 4000 [2: 4000] @ heapprofile\n1: 4000 [2: 4000] @ 0x10000041 0x10000066\n" MAPS,
    "heap_v2/1\n  t*: 1: 4000 [2: 4000]\n@ 0x10000041 0x10000066\n  t*: 1: 4000 [2: 4000]\n  t0: 1: 4000 [2: 4000]\n" MAPS,
    "--- contention:\ncycles/second=2000000000\nsampling period = 2\n4000 1 @ 0x10000041 0x10000066\n" MAPS,
    "# Go\n\ngoroutine profile: total 4000\n4000 @ 0x10000041 0x10000066\n#\t0x10000040\tinner+0x4\t/a.go:3\n#\t0x10000040\tmain.f+0x4\t/b.go:5\n" MAPS,
};
enum { LEGACY_TEXTS = sizeof legacy_texts / sizeof legacy_texts[0] };

static csn_status read_legacy(const struct csn_allocator *alloc, const char *text, struct csn_profile **out) {
    struct csn_bytes bytes = { .ptr = (uint8_t *)(uintptr_t)text, .size = strlen(text) };
    return read_back(alloc, &bytes, 5, 0, out, NULL);
}

/* A line feed and a bracket begin JSON, or are a field of 123 bytes. */
static void kinds_of_input(void **state) {
    static const struct { const char *bytes; size_t size; uint32_t format; } inputs[] = {
#define INPUT(text, format) { text, sizeof(text) - 1, format }
        INPUT("\n{\x12\x79\x12\x77", CSN_PROFILE_OTLP),
        INPUT("\n{\n\"\n\x20", CSN_PROFILE_OTLP), /* the resource has 34 bytes: a quote */
        INPUT("\n{\n \n\x1e", CSN_PROFILE_OTLP),
        INPUT("\n{\n\"resourceProfiles\": []}", CSN_PROFILE_OTLP_JSON),
        INPUT(" \n{ \"dictionary\": {}}", CSN_PROFILE_OTLP_JSON),
        INPUT("\n{\"meta\": {}}", CSN_PROFILE_FIREFOX),
        INPUT("{}", CSN_PROFILE_FIREFOX),
        INPUT("\n{", CSN_PROFILE_FIREFOX),
        INPUT("{ meta }", CSN_PROFILE_FIREFOX), /* whose reader says what is wrong */
#undef INPUT
    };
    (void)state;
    for (size_t i = 0; i < sizeof inputs / sizeof inputs[0]; i++)
        assert_int_equal(csn_profile_detect(inputs[i].bytes, inputs[i].size), inputs[i].format);
}

static void legacy_values(void **state) {
    static const char *const types[LEGACY_TEXTS] = { "inuse_space", "inuse_space", "delay", "goroutine" };
    (void)state;
    for (size_t i = 0; i < LEGACY_TEXTS; i++) {
        struct csn_profile *p;
        struct csn_profile_sizes sizes;
        struct csn_profile_sample sample;
        struct csn_profile_place place;
        struct csn_profile_module module;
        struct csn_profile_frame frame;
        struct csn_str type, unit;
        uint32_t location, caller;
        assert_int_equal(csn_profile_detect(legacy_texts[i], strlen(legacy_texts[i])), CSN_PROFILE_LEGACY);
        assert_int_equal(read_legacy(NULL, legacy_texts[i], &p), CSN_OK);
        csn_profile_get_sizes(p, &sizes);
        assert_int_equal(sizes.distinct_samples, 1);
        assert_int_equal(csn_profile_get_value_type(p, (uint32_t)sizes.value_types - 1, &type, &unit), CSN_OK);
        expect_text(type, types[i]);
        assert_int_equal(csn_profile_get_sample(p, 0, &sample), CSN_OK);
        assert_int_equal(sample.values[sizes.value_types - 1], 4000);
        assert_int_equal(csn_profile_get_stack(p, sample.stack, &location, &caller), CSN_OK);
        assert_int_equal(csn_profile_get_place(p, location, &place), CSN_OK);
        assert_int_equal(place.value, 0x10000040); /* within the call */
        assert_int_equal(csn_profile_get_module(p, place.module, &module), CSN_OK);
        expect_text(module.path, "/opt/app");
        assert_int_equal(place.frame_count, i == LEGACY_TEXTS - 1 ? 2 : 0);
        if (place.frame_count) {
            assert_int_equal(csn_profile_get_frame(p, location, 1, &frame), CSN_OK);
            expect_text(frame.function, "main.f");
            expect_text(frame.file, "/b.go");
            assert_int_equal(frame.line, 5);
        }
        csn_profile_destroy(p);
    }
}

static csn_status read_legacy_one(void *context, const struct csn_allocator *alloc) {
    struct csn_profile *p;
    TRY(read_legacy(alloc, context, &p));
    csn_profile_destroy(p);
    return CSN_OK;
}

static void legacy_out_of_memory(void **state) {
    (void)state;
    for (size_t i = 0; i < LEGACY_TEXTS; i++)
        assert_true(test_allocator_sweep(read_legacy_one, (void *)(uintptr_t)legacy_texts[i], 0) > 10);
}

static csn_status add_inlined(struct csn_profile *p, const char *inner, uint32_t line, uint32_t *out) {
    const struct csn_profile_location at = { .module = CSN_PROFILE_NO_MODULE, .kind = CSN_PROFILE_AT_ADDRESS, .value = 0x1139 };
    const struct csn_profile_frame frames[] = {
        { .function = { inner, strlen(inner) }, .stored_name = CSN_STR("_Z5innerv"), .file = CSN_STR("a.c"), .line = line,
          .column = 3 },
        { .function = CSN_STR("outer"), .stored_name = CSN_STR("outer"), .function_line = 9, .inlined = true },
    };
    return csn_profile_add_location_frames(p, &at, frames, 2, out, NULL);
}

static csn_status add_some_inlined(void *context, const struct csn_allocator *alloc) {
    struct csn_profile_options options = CSN_PROFILE_OPTIONS_INIT;
    struct csn_profile *p;
    uint32_t number;
    (void)context;
    options.allocator = alloc;
    TRY(csn_profile_create(&options, &p, NULL));
    csn_status status = add_inlined(p, "inner()", 7, &number);
    csn_profile_destroy(p);
    return status;
}

static void locations_with_inlined_calls(void **state) {
    struct csn_profile *p;
    struct csn_error err = CSN_ERROR_INIT;
    struct csn_profile_place place;
    struct csn_profile_frame frame;
    struct csn_profile_location named = { .module = CSN_PROFILE_NO_MODULE, .kind = CSN_PROFILE_AT_ADDRESS, .value = 0x1139 };
    uint32_t first, second, other;
    (void)state;
    assert_int_equal(csn_profile_create(NULL, &p, &err), CSN_OK);
    assert_int_equal(add_inlined(p, "inner()", 7, &first), CSN_OK);
    assert_int_equal(add_inlined(p, "inner()", 8, &other), CSN_OK);
    assert_int_equal(add_inlined(p, "inner()", 7, &second), CSN_OK);
    assert_int_equal(first, second);
    assert_int_not_equal(first, other);
    /* Without frames, a location is what csn_profile_add_location() makes of it. */
    assert_int_equal(csn_profile_add_location_frames(p, &named, NULL, 0, &first, &err), CSN_OK);
    assert_int_equal(csn_profile_add_location(p, &named, &second, &err), CSN_OK);
    assert_int_equal(first, second);
    assert_int_equal(csn_profile_get_place(p, other, &place), CSN_OK);
    assert_int_equal(place.value, 0x1139);
    assert_int_equal(place.frame_count, 2);
    assert_int_equal(csn_profile_get_frame(p, other, 0, &frame), CSN_OK);
    assert_true(frame.inlined);
    assert_memory_equal(frame.function.ptr, "inner()", frame.function.len);
    assert_memory_equal(frame.stored_name.ptr, "_Z5innerv", frame.stored_name.len);
    assert_int_equal(frame.line, 8);
    assert_int_equal(frame.column, 3);
    assert_int_equal(csn_profile_get_frame(p, other, 1, &frame), CSN_OK);
    assert_false(frame.inlined);
    assert_int_equal(frame.stored_name.len, 0);
    assert_int_equal(frame.function_line, 9);
    named.name = CSN_STR("f");
    assert_int_equal(csn_profile_add_location_frames(p, &named, &frame, 1, &first, &err), CSN_E_ARGUMENT);
    assert_string_equal(csn_error_text(&err), "a location with frames, and a name, file or line of its own");
    csn_profile_destroy(p);
    assert_true(test_allocator_sweep(add_some_inlined, NULL, 0) > 10);
}

static bool stop_writing(void *context, const char *phase, uint64_t done, uint64_t total) {
    uint64_t *calls = context;
    assert_string_equal(phase, "writing");
    assert_int_equal(total, 0);
    assert_true(done > 0);
    return --*calls;
}

static void writing_can_be_stopped(void **state) {
    struct csn_profile *p;
    struct csn_profile_write_options options = CSN_PROFILE_WRITE_OPTIONS_INIT;
    struct csn_error err = CSN_ERROR_INIT;
    struct csn_bytes bytes;
    uint64_t calls = 1;
    (void)state;
    options.progress = stop_writing;
    options.progress_context = &calls;
    assert_int_equal(create_filled(NULL, 0, &p), CSN_OK);
    assert_int_equal(csn_profile_write(p, CSN_PROFILE_FOLDED, &options, &bytes, &err), CSN_E_CANCELLED);
    assert_string_equal(csn_error_text(&err), "stopped by the caller");
    calls = 2;
    assert_int_equal(csn_profile_write(p, CSN_PROFILE_FOLDED, &options, &bytes, &err), CSN_OK);
    assert_int_equal(calls, 1);
    csn_bytes_free(&bytes);
    csn_profile_destroy(p);
}

/* Gives its bytes one at a time. */
static csn_status give_byte(void *context, void *bytes, size_t capacity, size_t *out_size, struct csn_error *err) {
    struct csn_str *left = context;
    (void)err;
    *out_size = left->len && capacity ? 1 : 0;
    if (*out_size) memcpy(bytes, left->ptr, 1);
    *left = (struct csn_str){ left->ptr + *out_size, left->len - *out_size };
    return CSN_OK;
}

static csn_status inflate_text(const struct csn_allocator *alloc, struct csn_str packed, char *out, size_t capacity,
                               size_t *out_size) {
    struct csn_profile_inflater *inflater;
    size_t got = 1;
    *out_size = 0;
    TRY(csn_profile_inflater_create(alloc, give_byte, &packed, &inflater, NULL));
    csn_status status = CSN_OK;
    while (got && status == CSN_OK) {
        status = csn_profile_inflater_read(inflater, out + *out_size, capacity - *out_size, &got, NULL);
        if (status == CSN_OK) *out_size += got;
    }
    csn_profile_inflater_destroy(inflater);
    return status;
}

/* "main;leaf 3\n" */
static const char packed_text[] =
    "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\xcb\x4d\xcc\xcc\xb3\xce"
    "\x49\x4d\x4c\x53\x30\xe6\x02\x00\x42\x5c\x45\xbf\x0c\x00\x00\x00";

static csn_status inflate_one(void *context, const struct csn_allocator *alloc) {
    char text[64];
    size_t size;
    (void)context;
    return inflate_text(alloc, (struct csn_str){ packed_text, sizeof packed_text - 1 }, text, sizeof text, &size);
}

static void inflating_a_source(void **state) {
    char text[64];
    size_t size;
    (void)state;
    assert_int_equal(inflate_text(NULL, CSN_STR("main;leaf 3\n"), text, sizeof text, &size), CSN_OK);
    assert_int_equal(size, 12);
    assert_memory_equal(text, "main;leaf 3\n", 12);
    assert_int_equal(inflate_text(NULL, CSN_STR(""), text, sizeof text, &size), CSN_OK);
    assert_int_equal(size, 0);
    csn_profile_inflater_destroy(NULL);
    csn_status status = inflate_text(NULL, (struct csn_str){ packed_text, sizeof packed_text - 1 }, text, sizeof text, &size);
    if (status == CSN_E_UNSUPPORTED) return; /* a build without zlib */
    assert_int_equal(status, CSN_OK);
    assert_int_equal(size, 12);
    assert_memory_equal(text, "main;leaf 3\n", 12);
    for (size_t cut = 2; cut < sizeof packed_text - 1; cut++)
        assert_int_equal(inflate_text(NULL, (struct csn_str){ packed_text, cut }, text, sizeof text, &size), CSN_E_TRUNCATED);
    assert_true(test_allocator_sweep(inflate_one, NULL, 0) > 3);
}

static void arguments(void **state) {
    struct csn_profile *p;
    struct csn_error err = CSN_ERROR_INIT;
    struct csn_bytes bytes;
    uint32_t number, far = 77;
    const struct csn_profile_location lost = { .module = 9, .kind = CSN_PROFILE_AT_PC };
    const struct csn_profile_sample none = { .stack = 9 };
    (void)state;
    assert_int_equal(csn_profile_create(NULL, &p, &err), CSN_OK);
    assert_int_equal(csn_profile_add_location(p, &lost, &number, &err), CSN_E_ARGUMENT);
    assert_string_equal(csn_error_text(&err), "module 9 does not exist, there are 0");
    assert_int_equal(csn_profile_add_stack(p, &far, 1, &number, &err), CSN_E_ARGUMENT);
    assert_int_equal(csn_profile_add_sample(p, &none, &err), CSN_E_ARGUMENT);
    assert_int_equal(csn_profile_set_default_type(p, 0, &err), CSN_E_ARGUMENT);
    assert_int_equal(csn_profile_write(p, 99, NULL, &bytes, &err), CSN_E_ARGUMENT);
    for (char c = 'A'; c < 'A' + 32; c++)
        assert_int_equal(csn_profile_add_value_type(p, (struct csn_str){ &c, 1 }, CSN_STR(""), &number, &err), CSN_OK);
    assert_int_equal(csn_profile_add_value_type(p, CSN_STR("one more"), CSN_STR(""), &number, &err), CSN_E_LIMIT);
    assert_string_equal(csn_error_text(&err), "more than 32 types of values");
    /* Nothing is written of nothing: no input, no sample. */
    for (uint32_t format = CSN_PROFILE_PPROF; format <= CSN_PROFILE_OTLP_JSON; format++) {
        assert_int_equal(csn_profile_write(p, format, NULL, &bytes, &err), CSN_OK);
        assert_int_equal(bytes.size == 0, format == CSN_PROFILE_FOLDED || format == CSN_PROFILE_PERF_SCRIPT);
        csn_bytes_free(&bytes);
    }
    assert_int_equal(csn_profile_get_default_type(p, &number), CSN_NONE);
    assert_int_equal(csn_profile_set_default_type(p, 3, &err), CSN_OK);
    assert_int_equal(csn_profile_get_default_type(p, &number), CSN_OK);
    assert_int_equal(number, 3);
    csn_profile_destroy(p);
    csn_profile_destroy(NULL);
}

static void input_limit(void **state) {
    struct csn_profile *p, *again;
    struct csn_bytes bytes;
    struct csn_error err = CSN_ERROR_INIT;
    (void)state;
    assert_int_equal(create_filled(NULL, 0, &p), CSN_OK);
    assert_int_equal(csn_profile_write(p, CSN_PROFILE_FIREFOX, NULL, &bytes, NULL), CSN_OK);
    assert_int_equal(read_back(NULL, &bytes, 64, 100, &again, &err), CSN_E_LIMIT);
    assert_string_equal(csn_error_text(&err), "the input has more than 100 bytes, the limit");
    csn_bytes_free(&bytes);
    csn_profile_destroy(p);
}

/* ---- out of memory ---- */

static csn_status write_one(void *context, const struct csn_allocator *alloc) {
    const uint32_t *format = context;
    struct csn_profile *p, *again;
    struct csn_bytes bytes;
    const bool has_times = *format == CSN_PROFILE_FIREFOX || *format == CSN_PROFILE_OTLP;
    TRY(create_filled(alloc, has_times ? CSN_PROFILE_EVERY_SAMPLE : 0, &p));
    csn_status status = csn_profile_write(p, *format, NULL, &bytes, NULL);
    csn_profile_destroy(p);
    if (status < 0) return status;
    if (*format <= CSN_PROFILE_FIREFOX || *format == CSN_PROFILE_OTLP_JSON) {
        status = read_back(alloc, &bytes, 4096, 0, &again, NULL);
        if (status == CSN_OK) csn_profile_destroy(again);
    }
    csn_bytes_free(&bytes);
    return status;
}

static void out_of_memory(void **state) {
    (void)state;
    for (uint32_t format = CSN_PROFILE_PPROF; format <= CSN_PROFILE_OTLP_JSON; format++)
        for (int then_all = 0; then_all < 2; then_all++) assert_true(test_allocator_sweep(write_one, &format, then_all) > 10);
}

/* Weights with fractions, and a build id that is no number. */
static csn_status read_firefox(void *context, const struct csn_allocator *alloc) {
    static const char text[] =
        "{\"meta\":{\"preprocessedProfileVersion\":46,\"startTime\":1.5},\"libs\":[{\"path\":\"/a.so\",\"codeId\":\"a/b\"}],"
        "\"threads\":[{\"name\":\"t\",\"samples\":{\"stack\":[null,null],\"time\":[0,0.25],\"weight\":[0.5,2],"
        "\"weightType\":\"bytes\"}}]}";
    const struct csn_bytes bytes = { .ptr = (uint8_t *)(uintptr_t)text, .size = sizeof text - 1 };
    struct csn_profile_sizes sizes;
    struct csn_profile_sample sample;
    struct csn_str type, unit;
    struct csn_profile *p;
    const uint32_t *flags = context;
    struct csn_profile_options options = CSN_PROFILE_OPTIONS_INIT;
    struct memory_input input = { bytes.ptr, bytes.size, 7 };
    options.allocator = alloc;
    options.flags = *flags;
    TRY(csn_profile_create(&options, &p, NULL));
    csn_status status = csn_profile_read(p, CSN_PROFILE_DETECT, CSN_STR("memory"), read_memory, &input, NULL);
    if (status < 0) csn_profile_destroy(p);
    TRY(status);
    csn_profile_get_sizes(p, &sizes);
    assert_int_equal(sizes.weight_scale, 10);
    assert_int_equal(csn_profile_get_value_type(p, 0, &type, &unit), CSN_OK);
    expect_text(type, "bytes x10");
    expect_text(unit, "count");
    assert_int_equal(csn_profile_get_sample(p, sizes.distinct_samples - 1, &sample), CSN_OK);
    assert_int_equal(sizes.distinct_samples, *flags ? 2 : 1);
    assert_int_equal(sample.values[0], *flags ? 20 : 25);
    assert_int_equal(sample.time_ns, *flags == CSN_PROFILE_UNIX_TIMES ? 1750000 : *flags ? 250000 : 0);
    csn_profile_destroy(p);
    return CSN_OK;
}

static void weights_with_fractions(void **state) {
    static uint32_t flags[] = { 0, CSN_PROFILE_EVERY_SAMPLE, CSN_PROFILE_UNIX_TIMES };
    (void)state;
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++) assert_true(test_allocator_sweep(read_firefox, &flags[i], 0) > 10);
}

static bool holds(const struct csn_bytes *bytes, const char *text) {
    const size_t size = strlen(text);
    for (size_t i = 0; i + size <= bytes->size; i++)
        if (memcmp(bytes->ptr + i, text, size) == 0) return true;
    return false;
}

/* Attributes of a sample and of its resource, an attribute that nothing keeps, and a text that is no UTF-8. */
static csn_status attributes_one(void *context, const struct csn_allocator *alloc) {
    static const char text[] =
        "{\"resourceProfiles\":[{\"resource\":{\"attributes\":[{\"key\":\"service.name\",\"value\":{\"stringValue\":\"a\"}}]},"
        "\"scopeProfiles\":[{\"profiles\":[{\"sampleType\":{\"typeStrindex\":1},\"samples\":[{\"stackIndex\":1,"
        "\"attributeIndices\":[1,2],\"values\":[\"5\"]}]}]}]}],\"dictionary\":{\"stringTable\":[\"\",\"k\",\"f\xff\"],"
        "\"attributeTable\":[{},{\"keyStrindex\":1,\"value\":{\"doubleValue\":0.5}},{\"keyStrindex\":1,\"value\":{\"bytesValue\":\"AA==\"}}],"
        "\"functionTable\":[{},{\"nameStrindex\":2,\"startLine\":3}],\"locationTable\":[{},{\"lines\":[{\"functionIndex\":1}]}],"
        "\"stackTable\":[{},{\"locationIndices\":[1]}]}}";
    const uint32_t *format = context;
    struct csn_profile_options options = CSN_PROFILE_OPTIONS_INIT;
    struct memory_input input = { (const uint8_t *)text, sizeof text - 1, 4096 };
    struct csn_profile_sizes sizes;
    struct csn_profile_label label;
    struct csn_bytes bytes;
    struct csn_profile *p;
    options.allocator = alloc;
    options.flags = CSN_PROFILE_UNIX_TIMES;
    TRY(csn_profile_create(&options, &p, NULL));
    csn_status status = csn_profile_read(p, CSN_PROFILE_DETECT, CSN_STR("memory"), read_memory, &input, NULL);
    if (status == CSN_OK) status = csn_profile_write(p, *format, NULL, &bytes, NULL);
    if (status == CSN_OK) {
        csn_profile_get_sizes(p, &sizes);
        assert_int_equal(sizes.attributes_left_out, 1);
        assert_int_equal(csn_profile_get_label(p, 0, 0, &label), CSN_OK);
        expect_text(label.text, "0.5");
        assert_int_equal(label.number, 0);
        assert_int_equal(csn_profile_get_label(p, 0, 1, &label), CSN_OK);
        expect_text(label.key, "service.name");
        expect_text(label.text, "a");
        assert_int_equal(csn_profile_get_label(p, 0, 2, &label), CSN_NONE);
        if (*format != CSN_PROFILE_PPROF) assert_true(holds(&bytes, "f\xef\xbf\xbd"));
        csn_bytes_free(&bytes);
    }
    csn_profile_destroy(p);
    return status;
}

static void attributes_and_texts(void **state) {
    static uint32_t formats[] = { CSN_PROFILE_PPROF, CSN_PROFILE_OTLP, CSN_PROFILE_OTLP_JSON };
    (void)state;
    for (size_t i = 0; i < 3; i++) assert_true(test_allocator_sweep(attributes_one, &formats[i], 0) > 10);
}

/* What two inputs share is once. */
static csn_status merge_one(void *context, const struct csn_allocator *alloc) {
    const uint32_t *flags = context;
    struct csn_profile_options options = CSN_PROFILE_OPTIONS_INIT;
    struct csn_profile_sizes one, two;
    struct csn_profile_sample sample;
    struct csn_profile *p, *merged;
    struct csn_bytes bytes;
    options.allocator = alloc;
    options.flags = *flags;
    TRY(create_filled(alloc, 0, &p));
    csn_status status = csn_profile_write(p, CSN_PROFILE_PPROF, NULL, &bytes, NULL);
    csn_profile_destroy(p);
    TRY(status);
    status = csn_profile_create(&options, &merged, NULL);
    for (int i = 0; i < 3 && status == CSN_OK; i++) {
        struct memory_input input = { bytes.ptr, bytes.size, 64 };
        status = csn_profile_read(merged, CSN_PROFILE_DETECT, CSN_STR("memory"), read_memory, &input, NULL);
        if (status == CSN_OK) csn_profile_get_sizes(merged, i ? &two : &one);
        if (status < 0) csn_profile_destroy(merged);
    }
    csn_bytes_free(&bytes);
    TRY(status);
    assert_int_equal(one.distinct_samples, 2);
    assert_int_equal(two.distinct_samples, *flags & CSN_PROFILE_MERGE_INPUTS ? 2 : 6);
    assert_int_equal(two.samples, 3 * one.samples);
    assert_int_equal(two.locations, one.locations);
    assert_int_equal(two.stacks, one.stacks);
    assert_int_equal(csn_profile_get_sample(merged, 0, &sample), CSN_OK);
    assert_int_equal(sample.values[0], *flags & CSN_PROFILE_MERGE_INPUTS ? 6 : 2);
    csn_profile_destroy(merged);
    return CSN_OK;
}

static void inputs_share(void **state) {
    static uint32_t flags[] = { 0, CSN_PROFILE_MERGE_INPUTS, CSN_PROFILE_MERGE_INPUTS | CSN_PROFILE_UNIX_TIMES };
    (void)state;
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++) assert_true(test_allocator_sweep(merge_one, &flags[i], 0) > 10);
}

/* The page of two inputs, with all their samples. */
static void write_page_of_two(const struct csn_bytes *input, uint32_t flags, struct csn_bytes *page) {
    struct csn_profile_options options = CSN_PROFILE_OPTIONS_INIT;
    struct csn_profile *p;
    options.flags = flags;
    assert_int_equal(csn_profile_create(&options, &p, NULL), CSN_OK);
    for (int i = 0; i < 2; i++) {
        struct memory_input memory = { input->ptr, input->size, 64 };
        const struct csn_str name = i ? CSN_STR("second") : CSN_STR("first");
        assert_int_equal(csn_profile_read(p, CSN_PROFILE_DETECT, name, read_memory, &memory, NULL), CSN_OK);
    }
    assert_int_equal(csn_profile_write(p, CSN_PROFILE_HTML, NULL, page, NULL), CSN_OK);
    csn_profile_destroy(p);
}

/* Samples that are not added up stay those of their inputs. */
static void every_sample_keeps_its_input(void **state) {
    struct csn_bytes input, apart, merged;
    struct csn_profile *p;
    (void)state;
    assert_int_equal(create_filled(NULL, 0, &p), CSN_OK);
    assert_int_equal(csn_profile_write(p, CSN_PROFILE_PPROF, NULL, &input, NULL), CSN_OK);
    csn_profile_destroy(p);
    write_page_of_two(&input, CSN_PROFILE_EVERY_SAMPLE, &apart);
    write_page_of_two(&input, CSN_PROFILE_EVERY_SAMPLE | CSN_PROFILE_MERGE_INPUTS, &merged);
    assert_int_equal(merged.size, apart.size);
    assert_memory_equal(merged.ptr, apart.ptr, apart.size);
    csn_bytes_free(&input);
    csn_bytes_free(&apart);
    csn_bytes_free(&merged);
}

static csn_status symbolicate_one(void *context, const struct csn_allocator *alloc) {
    struct csn_store_options options = CSN_STORE_OPTIONS_INIT;
    struct csn_profile_counts counts;
    struct csn_profile *p;
    struct csn_store *store;
    (void)context;
    options.allocator = alloc;
    TRY(create_filled(alloc, 0, &p));
    csn_status status = csn_store_create(&options, &store, NULL);
    if (status == CSN_OK) {
        status = csn_profile_symbolicate(p, store, NULL, &counts, NULL);
        if (status == CSN_OK) {
            assert_int_equal(counts.modules_without, 1);
            assert_int_equal(counts.kept, 1);
            assert_int_equal(counts.unknown, 1);
        }
        csn_store_destroy(store);
    }
    csn_profile_destroy(p);
    return status;
}

static void out_of_memory_symbolicating(void **state) {
    (void)state;
    assert_true(test_allocator_sweep(symbolicate_one, NULL, 0) > 10);
}

/* No index is asked for a location whose names are right. */
static void locations_as_named(void **state) {
    const struct csn_profile_module module = { .path = CSN_STR("/nowhere/app") };
    (void)state;
    for (uint32_t flags = 0; flags <= CSN_PROFILE_AS_NAMED; flags += CSN_PROFILE_AS_NAMED) {
        struct csn_profile_location location = { .kind = CSN_PROFILE_AT_ADDRESS, .value = 0x1139, .flags = flags, .name = CSN_STR("f") };
        struct csn_profile_counts counts;
        struct csn_profile *p;
        struct csn_store *store;
        uint32_t number;
        assert_int_equal(csn_profile_create(NULL, &p, NULL), CSN_OK);
        assert_int_equal(csn_store_create(NULL, &store, NULL), CSN_OK);
        assert_int_equal(csn_profile_add_module(p, &module, &location.module, NULL), CSN_OK);
        assert_int_equal(csn_profile_add_location(p, &location, &number, NULL), CSN_OK);
        assert_int_equal(csn_profile_symbolicate(p, store, NULL, &counts, NULL), CSN_OK);
        assert_int_equal(counts.modules, flags ? 0 : 1);
        assert_int_equal(counts.kept, 1);
        location.flags = CSN_PROFILE_AS_NAMED << 1;
        assert_int_equal(csn_profile_add_location(p, &location, &number, NULL), CSN_E_UNSUPPORTED);
        csn_store_destroy(store);
        csn_profile_destroy(p);
    }
}

/* pprof refuses samples without a type of values. */
static void samples_without_types(void **state) {
    (void)state;
    for (uint32_t format = CSN_PROFILE_PPROF; format <= CSN_PROFILE_FOLDED; format++) {
        struct csn_profile *profile;
        struct csn_profile_location location = { .module = CSN_PROFILE_NO_MODULE, .name = CSN_STR("f") };
        struct csn_profile_sample sample = { .stack = 0 };
        struct csn_bytes out;
        struct csn_str type, unit;
        uint32_t number;
        assert_int_equal(csn_profile_create(NULL, &profile, NULL), CSN_OK);
        assert_int_equal(csn_profile_add_location(profile, &location, &number, NULL), CSN_OK);
        assert_int_equal(csn_profile_add_stack(profile, &number, 1, &sample.stack, NULL), CSN_OK);
        for (int i = 0; i < 3; i++) assert_int_equal(csn_profile_add_sample(profile, &sample, NULL), CSN_OK);
        assert_int_equal(csn_profile_get_value_type(profile, 0, &type, &unit), CSN_OK);
        assert_memory_equal(type.ptr, "samples", 8);
        assert_int_equal(csn_profile_get_sample(profile, 0, &sample), CSN_OK);
        assert_int_equal(sample.value_count, 1);
        assert_int_equal(sample.values[0], 3);
        assert_int_equal(csn_profile_write(profile, format, NULL, &out, NULL), CSN_OK);
        assert_true(out.size > 0);
        csn_bytes_free(&out);
        csn_profile_destroy(profile);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_samples_are_one), cmocka_unit_test(folded_text),
        cmocka_unit_test(reading_by_number),
        cmocka_unit_test(there_and_back),        cmocka_unit_test(arguments),
        cmocka_unit_test(input_limit),           cmocka_unit_test(out_of_memory),
        cmocka_unit_test(out_of_memory_symbolicating), cmocka_unit_test(legacy_values), cmocka_unit_test(kinds_of_input),
        cmocka_unit_test(legacy_out_of_memory), cmocka_unit_test(weights_with_fractions),
        cmocka_unit_test(locations_with_inlined_calls),
        cmocka_unit_test(attributes_and_texts), cmocka_unit_test(inputs_share),
        cmocka_unit_test(every_sample_keeps_its_input),
        cmocka_unit_test(writing_can_be_stopped),
        cmocka_unit_test(inflating_a_source), cmocka_unit_test(samples_without_types), cmocka_unit_test(locations_as_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
