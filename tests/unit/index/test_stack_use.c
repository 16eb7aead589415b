/* Lookups fit on the alternate stack of a crash handler: each runs on a painted stack of its own above a guard page, and what
 * it touched of it is measured. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <cmocka.h>

#include <callsign/callsign.h>

enum { STACK_SIZE = 256 << 10, GUARD = 64 << 10, PAINT = 0xa5, FRAMES = CSN_INLINE_DEPTH_MAX + 1 };
#ifdef __s390x__
enum { ALLOWED = 6144 }; /* each frame has 160 bytes for registers */
#else
enum { ALLOWED = 4096 };
#endif
enum { START = 0x1000, SIZE = 0x200, FUNCTIONS = 40, DEEP = 400 };

static uint8_t *stack;
static ucontext_t caller, callee;

/* What a lookup gets and gives, kept off the painted stack. */
static struct work {
    const struct csn_index *index;
    uint64_t addr;
    struct csn_error err;
    struct csn_frame frames[FRAMES];
    struct csn_frame_ref refs[FRAMES];
    struct csn_batch_answer answers[64];
    uint64_t addrs[64];
    char scratch[65536], text[512];
    size_t count;
    csn_status status;
} work;

static void nothing(void) {}

static void look_up(void) {
    work.status = csn_index_lookup(work.index, work.addr, work.frames, FRAMES, &work.count, &work.err);
}

static void look_up_refs(void) {
    struct csn_lookup found;
    work.status = csn_index_lookup_refs(work.index, work.addr, CSN_LOOKUP_DEFAULT, work.refs, FRAMES, &found, &work.err);
}

static void look_up_llvm(void) {
    struct csn_lookup found;
    work.status = csn_index_lookup_refs(work.index, work.addr, CSN_LOOKUP_LLVM, work.refs, FRAMES, &found, &work.err);
}

static void look_up_batch(void) {
    struct csn_lookup_batch batch = CSN_LOOKUP_BATCH_INIT;
    batch.addrs = work.addrs;
    batch.count = 64;
    batch.answers = work.answers;
    batch.frames = work.refs;
    batch.frame_capacity = FRAMES;
    work.status = csn_index_lookup_batch(work.index, &batch, &work.count, &work.err);
}

static void resolve(void) {
    struct csn_frame frame;
    csn_index_resolve_into(work.index, &work.refs[0], work.scratch, sizeof work.scratch, &frame);
    csn_frame_path(&frame, work.text, sizeof work.text);
    csn_index_frame_name(work.index, &frame, work.text, sizeof work.text);
}

static void look_up_by_name(void) {
    struct csn_lookup found;
    work.status = csn_index_lookup_in_named_binary(work.index, CSN_STR("C:\\sys\\bin\\euser.dll"), 4, work.refs, FRAMES, &found,
                                                   &work.err);
}

static size_t touched_by(void (*run)(void)) {
    memset(stack + GUARD, PAINT, STACK_SIZE);
    assert_int_equal(getcontext(&callee), 0);
    callee.uc_stack.ss_sp = stack + GUARD;
    callee.uc_stack.ss_size = STACK_SIZE;
    callee.uc_link = &caller;
    makecontext(&callee, run, 0);
    assert_int_equal(swapcontext(&caller, &callee), 0);
    uint64_t paint, word;
    memset(&paint, PAINT, sizeof paint);
    size_t left = 0;
    for (; left < STACK_SIZE; left += sizeof word) {
        memcpy(&word, stack + GUARD + left, sizeof word);
        if (word != paint) break;
    }
    return STACK_SIZE - left;
}

static size_t highest;

static void expect_little(const char *what, void (*run)(void)) {
    static size_t base; /* of a call that does nothing */
    if (!base) base = touched_by(nothing);
    size_t used = touched_by(run);
    if (used - base > highest) highest = used - base;
    if (used - base > ALLOWED)
        fail_msg("%s at 0x%llx takes %zu bytes of stack, allowed are %d", what, (unsigned long long)work.addr,
                 used - base, ALLOWED);
}

static void every_way(const struct csn_index *index, uint64_t addr) {
    work.index = index;
    work.addr = addr;
    expect_little("csn_index_lookup", look_up);
    expect_little("csn_index_lookup_refs", look_up_refs);
    if (work.status == CSN_OK) expect_little("resolving a frame", resolve);
    expect_little("csn_index_lookup_refs as LLVM", look_up_llvm);
}

/* ---- indexes ---- */

static csn_status add_function(struct csn_builder *b, uint64_t start, uint32_t file, uint32_t depth) {
    csn_status status = csn_builder_begin_function(b, start, SIZE, CSN_STR("function"), NULL);
    for (uint32_t k = 0; status >= 0 && k < 60; k++) status = csn_builder_add_row(b, start + 8 * k, file, 10 + k, NULL);
    const struct csn_range range = { start + 16, start + SIZE - 16 };
    for (uint32_t k = 0; status >= 0 && k < depth; k++)
        status = csn_builder_begin_inline(b, &range, 1, CSN_STR("inlined"), file, 100 + k, NULL);
    for (uint32_t k = 0; status >= 0 && k < depth; k++) status = csn_builder_end_inline(b, NULL);
    return status;
}

/* Many functions, one with inlined calls nested deeper than any compiler does. */
static struct csn_bytes build(uint32_t format) {
    struct csn_builder_options options = CSN_BUILDER_OPTIONS_INIT;
    struct csn_builder *b;
    struct csn_bytes out = { NULL, 0, NULL };
    uint32_t file;
    options.format = format;
    assert_int_equal(csn_builder_create(&options, &b, NULL), CSN_OK);
    assert_int_equal(csn_builder_add_file(b, CSN_STR("/source/folder"), CSN_STR("file.c"), &file, NULL), CSN_OK);
    for (uint32_t k = 0; k < FUNCTIONS; k++)
        assert_int_equal(add_function(b, START + (uint64_t)k * SIZE, file, k == 1 ? DEEP : k % 4), CSN_OK);
    assert_int_equal(csn_builder_save_memory(b, &out, NULL), CSN_OK);
    csn_builder_destroy(b);
    return out;
}

/* Two functions of one range, one of them merged into the other. */
static struct csn_bytes convert(const char *text, uint32_t format, uint32_t revision, uint32_t merge) {
    struct csn_convert_options options = CSN_CONVERT_OPTIONS_INIT;
    struct csn_gsection_options section = CSN_GSECTION_OPTIONS_INIT;
    struct csn_bytes out = { NULL, 0, NULL };
    section.revision = revision;
    options.threads = 1;
    options.format = format;
    options.gsection = &section;
    options.merged_functions = merge;
    struct csn_error err = CSN_ERROR_INIT;
    if (csn_convert_memory(text, strlen(text), &options, &out, NULL, &err) < 0) fail_msg("%s", csn_error_text(&err));
    return out;
}

static void check_bytes(const void *bytes, size_t size, uint64_t accelerator_bytes) {
    struct csn_index_options options = CSN_INDEX_OPTIONS_INIT;
    struct csn_index *index;
    options.accelerator_bytes = accelerator_bytes;
    if (csn_index_open_memory(bytes, size, &options, &index, NULL) < 0) return;
    for (uint64_t addr = START - 8; addr < START + FUNCTIONS * SIZE + 16; addr += 56) every_way(index, addr);
    every_way(index, UINT64_MAX);
    for (size_t k = 0; k < 64; k++) work.addrs[k] = START + 13 * k;
    expect_little("csn_index_lookup_batch", look_up_batch);
    for (size_t k = 0; k < 64; k++) work.addrs[k] = START + (k * 7919 % FUNCTIONS) * SIZE + 20;
    expect_little("csn_index_lookup_batch, unsorted", look_up_batch);
    expect_little("csn_index_lookup_in_named_binary", look_up_by_name);
    csn_index_close(index);
}

/* Damaged copies fail, with a text, in as little. */
static void check_damaged(const struct csn_bytes *file) {
    uint8_t *copy = malloc(file->size);
    assert_non_null(copy);
    for (size_t k = 1; k <= 40; k++) {
        memcpy(copy, file->ptr, file->size);
        for (size_t i = file->size * k / 41; i < file->size; i += 31) copy[i] = (uint8_t)(0xff - k);
        struct csn_index *index;
        if (csn_index_open_memory(copy, file->size, NULL, &index, NULL) < 0) continue;
        for (uint32_t f = 0; f < FUNCTIONS; f += 3) every_way(index, START + (uint64_t)f * SIZE + 24);
        csn_index_close(index);
    }
    free(copy);
}

static void check_file(struct csn_bytes file) {
    check_bytes(file.ptr, file.size, 0);
    check_bytes(file.ptr, file.size, UINT64_MAX);
    check_damaged(&file);
    csn_bytes_free(&file);
}

/* A sanitizer makes frames larger and knows nothing of this stack. First in each test, so that nothing is open yet. */
static void skip_under_sanitizers(void) {
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
    skip();
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    skip();
#endif
}

static void gsym_v1(void **state) {
    (void)state;
    skip_under_sanitizers();
    check_file(build(CSN_FORMAT_GSYM_V1));
}

static void gsym_v2(void **state) {
    (void)state;
    skip_under_sanitizers();
    check_file(build(CSN_FORMAT_GSYM_V2));
}

static const char breakpad[] = "MODULE Linux x86_64 0123456789ABCDEF0123456789ABCDEF0 app\n"
                               "FILE 0 /src/a.c\nFILE 1 /src/b.c\nINLINE_ORIGIN 0 inner()\n"
                               "FUNC 1000 200 0 outer()\nINLINE 0 11 0 0 1008 80\n1000 100 10 0\n1100 100 40 1\n"
                               "FUNC 1200 100 0 first()\n1200 100 10 0\nFUNC m 1200 100 0 second()\n1200 100 20 1\n";

static void section_revisions(void **state) {
    (void)state;
    skip_under_sanitizers();
    for (uint32_t revision = 'A'; revision <= 'G'; revision++)
        check_file(convert(breakpad, CSN_FORMAT_GSYM_SECTION, revision, CSN_MERGE_NONE));
}

static void merged_records(void **state) {
    (void)state;
    skip_under_sanitizers();
    check_file(convert(breakpad, CSN_FORMAT_GSYM_V1, 0, CSN_MERGE_ALL));
    check_file(convert(breakpad, CSN_FORMAT_GSYM_V2, 0, CSN_MERGE_ALL));
}

static void bsym(void **state) {
    (void)state;
    skip_under_sanitizers();
    check_file(convert(breakpad, CSN_FORMAT_BSYM, 0, CSN_MERGE_NONE));
    check_file(build(CSN_FORMAT_BSYM));
}

/* Depth and paint mean something: all frames of the deep function are found, and a large array is seen. */
static void use_much(void) {
    volatile uint8_t much[8192];
    for (size_t i = 0; i < sizeof much; i++) much[i] = (uint8_t)i;
}

static void the_measure_works(void **state) {
    (void)state;
    skip_under_sanitizers();
    struct csn_bytes file = build(CSN_FORMAT_GSYM_V1);
    struct csn_index *index;
    assert_int_equal(csn_index_open_memory(file.ptr, file.size, NULL, &index, NULL), CSN_OK);
    work.index = index;
    work.addr = START + SIZE + 32;
    look_up();
    assert_int_equal(work.status, CSN_OK);
    assert_int_equal(work.count, DEEP + 1);
    for (uint32_t k = 1; k <= DEEP; k++) assert_int_equal(work.frames[k].line, 100 + DEEP - k);
    assert_true(touched_by(use_much) >= 8192);
    csn_index_close(index);
    csn_bytes_free(&file);
}

static int make_stack(void **state) {
    (void)state;
    stack = mmap(NULL, GUARD + STACK_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return stack == MAP_FAILED || mprotect(stack, GUARD, PROT_NONE);
}

static int drop_stack(void **state) {
    (void)state;
    printf("lookups took at most %zu bytes of stack\n", highest);
    return munmap(stack, GUARD + STACK_SIZE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_measure_works), cmocka_unit_test(gsym_v1), cmocka_unit_test(gsym_v2),
        cmocka_unit_test(section_revisions), cmocka_unit_test(merged_records), cmocka_unit_test(bsym),
    };
    return cmocka_run_group_tests(tests, make_stack, drop_stack);
}
