/* gsym/gsym_accel*.c and index/index_batch.c through callsign/index.h: whatever the file holds, an accelerated index and
 * a batch answer what the index itself answers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

#include <callsign/index.h>

#include "formats/gsym/read/gsym_accel.h"
#include "formats/gsym/gsym_layout.h"
#include "index/index_private.h"
#include "support/sweep.h"
#include "support/test_alloc.h"
#include "wire/wire_gsym.h"

enum { FRAMES = 8, BATCH = 100, BATCH_FRAMES = 2048 };

static csn_status open_with(struct csni_span file, uint64_t accelerator_bytes, const struct csn_allocator *alloc,
                            struct csn_index **out) {
    struct csn_index_options options = CSN_INDEX_OPTIONS_INIT;
    options.accelerator_bytes = accelerator_bytes;
    options.allocator = alloc;
    return csn_index_open_memory(file.ptr, file.size, &options, out, NULL);
}

static struct csn_index *open_all(struct csni_span file) {
    struct csn_index *index = NULL;
    assert_int_equal(open_with(file, UINT64_MAX, NULL, &index), CSN_OK);
    return index;
}

static uint32_t plain_functions(const struct csn_index *index) {
    struct csn_index_info info;
    csn_index_get_info(index, &info, sizeof(info));
    return info.accelerator_bytes ? info.unaccelerated_functions : info.function_count;
}

/* ---- the same answers ---- */

static void same_refs(const struct csn_index *plain, const struct csn_index *fast, uint64_t addr) {
    struct csn_frame_ref a[FRAMES], b[FRAMES];
    struct csn_frame full[FRAMES];
    struct csn_lookup x, y;
    struct csn_error ex = CSN_ERROR_INIT, ey = CSN_ERROR_INIT;
    size_t count = 0;
    for (int mode = CSN_LOOKUP_DEFAULT; mode <= CSN_LOOKUP_LLVM; mode++) {
        memset(&x, 0, sizeof x);
        memset(&y, 0, sizeof y);
        memset(a, 0, sizeof a);
        memset(b, 0, sizeof b);
        csn_status status = csn_index_lookup_refs(plain, addr, (enum csn_lookup_mode)mode, a, FRAMES, &x, &ex);
        assert_int_equal(csn_index_lookup_refs(fast, addr, (enum csn_lookup_mode)mode, b, FRAMES, &y, &ey), status);
        assert_memory_equal(&x, &y, sizeof x);
        assert_memory_equal(a, b, sizeof a);
        assert_string_equal(ex.text, ey.text);
        if (mode == CSN_LOOKUP_LLVM) continue;
        assert_int_equal(csn_index_lookup(fast, addr, full, FRAMES, &count, NULL), status);
        for (size_t k = 0; status == CSN_OK && k < x.frame_count && k < FRAMES; k++) {
            struct csn_frame want;
            csn_index_resolve(plain, &a[k], &want);
            assert_int_equal(count, x.frame_count);
            assert_memory_equal(&want, &full[k], sizeof want);
        }
    }
}

static void same_batch(const struct csn_index *plain, const struct csn_index *batched, const uint64_t *addrs, size_t count,
                       enum csn_lookup_mode mode) {
    static struct csn_batch_answer answers[BATCH];
    static struct csn_frame_ref frames[BATCH_FRAMES];
    for (size_t at = 0, done = 0; at < count; at += done) {
        struct csn_lookup_batch batch = CSN_LOOKUP_BATCH_INIT;
        batch.addrs = addrs + at;
        batch.count = count - at;
        batch.mode = (uint32_t)mode;
        batch.answers = answers;
        batch.frames = frames;
        batch.frame_capacity = BATCH_FRAMES;
        assert_int_equal(csn_index_lookup_batch(batched, &batch, &done, NULL), CSN_OK);
        assert_in_range(done, 1, count - at);
        for (size_t k = 0; k < done; k++) {
            struct csn_frame_ref want[FRAMES];
            struct csn_lookup found = { .frame_count = 0 };
            assert_int_equal(csn_index_lookup_refs(plain, addrs[at + k], mode, want, FRAMES, &found, NULL),
                             answers[k].status);
            assert_memory_equal(&found, &answers[k].found, sizeof found);
            size_t stored = found.frame_count < FRAMES ? found.frame_count : FRAMES;
            assert_memory_equal(want, frames + answers[k].first_frame, stored * sizeof *want);
        }
    }
}

/* Every address of [low, high), upwards one by one, and in batches of scattered ones. */
static void same_in(const struct csn_index *plain, const struct csn_index *fast, uint64_t low, uint64_t high) {
    uint64_t addrs[BATCH], state = 1;
    for (uint64_t addr = low; addr < high; addr++) same_refs(plain, fast, addr);
    for (uint64_t round = 0; round < 1 + (high - low) / BATCH; round++) {
        for (size_t k = 0; k < BATCH; k++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            addrs[k] = low + (state >> 33) % (high - low);
        }
        size_t count = (size_t)(round % BATCH) + 1;
        same_batch(plain, fast, addrs, count, CSN_LOOKUP_DEFAULT);
        same_batch(plain, plain, addrs, count, CSN_LOOKUP_DEFAULT);
        same_batch(plain, fast, addrs, count, CSN_LOOKUP_LLVM);
    }
    /* Runs upwards within a function and across, down again, and one address over and over. */
    for (uint64_t step = 0; step < 4; step++)
        for (uint64_t start = low; start < high && start - low < 1024; start += 149) {
            for (size_t k = 0; k < BATCH; k++) addrs[k] = low + (start - low + k * step / 2) % (high - low);
            for (size_t k = BATCH - 5; k < BATCH; k++) addrs[k] = addrs[BATCH - k];
            same_batch(plain, plain, addrs, BATCH, step % 2 ? CSN_LOOKUP_DEFAULT : CSN_LOOKUP_LLVM);
            same_batch(plain, fast, addrs, BATCH, CSN_LOOKUP_DEFAULT);
        }
    uint64_t edges[] = { 0, 1, low - 1, high, high + 1000000, UINT32_MAX, UINT64_MAX - 1, UINT64_MAX };
    for (size_t k = 0; k < sizeof edges / sizeof *edges; k++) same_refs(plain, fast, edges[k]);
    same_batch(plain, fast, edges, sizeof edges / sizeof *edges, CSN_LOOKUP_DEFAULT);
    same_batch(plain, plain, edges, sizeof edges / sizeof *edges, CSN_LOOKUP_DEFAULT);
}

/* Returns the number of functions left to the index. */
static uint32_t check_file(struct csni_span file, uint64_t low, uint64_t high) {
    struct csn_index *plain = NULL, *fast = open_all(file);
    assert_int_equal(open_with(file, 0, NULL, &plain), CSN_OK);
    same_in(plain, fast, low, high);
    fast->accel.direct = false; /* as without AVX2 */
    same_in(plain, fast, low, high);
    uint32_t left = plain_functions(fast);
    csn_index_close(fast);
    csn_index_close(plain);
    return left;
}

static uint32_t check(struct wire_gsym *g, uint64_t low, uint64_t high) {
    uint32_t left = check_file(wire_gsym_build(g), low, high);
    wire_gsym_deinit(g);
    return left;
}

static void example(void **state) {
    (void)state;
    for (int big = 0; big < 2; big++)
        for (unsigned width = 2; width <= 8; width *= 2) {
            struct wire_gsym g;
            wire_gsym_example(&g, big, width);
            assert_int_equal(check(&g, 0xf00, 0x1300), 0);
        }
}

static void equal_starts_and_empty_functions(void **state) {
    (void)state;
    struct wire_gsym g;
    wire_gsym_init(&g, false, 4, 0x1000);
    wire_gsym_function(&g, 0x1000, 8, "small");
    wire_gsym_function(&g, 0x1000, 0x20, "big");
    wire_gsym_function(&g, 0x1010, 4, "nested");
    wire_gsym_function(&g, 0x1018, 0, "label");
    wire_gsym_function(&g, 0x1040, 0, "first");
    wire_gsym_function(&g, 0x1040, 4, "second");
    wire_gsym_function(&g, 0x1048, 0x100, "overlapping");
    wire_gsym_function(&g, 0x1080, 4, "inside");
    wire_gsym_function(&g, 0x1100, 0, "last");
    assert_int_equal(check(&g, 0xff0, 0x1200), 5); /* the equal ones, and "last", which has no end */
}

/* A line table of `rows` rows one byte apart, each on a line of its own, and so as many segments. */
static void put_lines(struct wire_gsym_function *f, unsigned rows) {
    struct wire lines;
    wire_init(&lines, false);
    wire_sleb(&lines, 0);
    wire_sleb(&lines, 1);
    wire_uleb(&lines, 7);
    for (unsigned k = 0; k < rows; k++) wire_u8(&lines, CSNI_GSYM_LINE_FIRST_SPECIAL + (k ? 3 : 0));
    wire_u8(&lines, CSNI_GSYM_LINE_END);
    wire_gsym_part_wire(&f->parts, CSNI_GSYM_PART_LINES, &lines);
    wire_deinit(&lines);
}

/* A record may have any number of parts; what would take long to go through is left to the index. */
static void many_parts(void **state) {
    (void)state;
    for (unsigned count = CSNI_GSYM_PARTS_MAX - 1; count <= CSNI_GSYM_PARTS_MAX; count++) {
        struct wire_gsym g;
        wire_gsym_init(&g, false, 4, 0x1000);
        wire_gsym_file(&g, "/src", "a.c");
        struct wire_gsym_function *f = wire_gsym_function(&g, 0x1000, 16, "f");
        for (unsigned k = 0; k < count; k++) wire_gsym_part(&f->parts, 99, (struct csni_span){ NULL, 0 });
        put_lines(f, 16);
        assert_int_equal(check(&g, 0xff0, 0x1020), count == CSNI_GSYM_PARTS_MAX);
    }
}

/* Buckets with as many segments as a bucket has bytes, functions of one byte each, and far ones with nothing between. */
static void dense_and_sparse(void **state) {
    (void)state;
    struct wire_gsym g;
    wire_gsym_init(&g, false, 8, 0x1000);
    wire_gsym_file(&g, "/src", "a.c");
    put_lines(wire_gsym_function(&g, 0x1000, 600, "dense"), 600);
    for (unsigned k = 0; k < 8; k++) wire_gsym_function(&g, 0x2000 + k, 1, "one");
    wire_gsym_function(&g, 0x90000, 0x100, "far");
    put_lines(wire_gsym_function(&g, 0xa0000, 0x100, "farther"), 16);
    wire_gsym_function(&g, 0x7000000000000000, 0x100, "out of reach");
    struct csni_span file = wire_gsym_build(&g);
    assert_int_equal(check_file(file, 0xff0, 0x1300), 1);
    assert_int_equal(check_file(file, 0x1ff0, 0x2100), 1);
    assert_int_equal(check_file(file, 0x8fff0, 0x90200), 1);
    assert_int_equal(check_file(file, 0x9fff0, 0xa0200), 1);
    assert_int_equal(check_file(file, 0x6ffffffffffffff0, 0x7000000000000200), 1);
    wire_gsym_deinit(&g);
}

/* The address space ends within a function; and addresses that wrap around lie before the base. */
static void end_of_addresses(void **state) {
    (void)state;
    struct wire_gsym g;
    wire_gsym_init(&g, false, 8, 0xfffffffffffffe00);
    wire_gsym_file(&g, "/src", "a.c");
    put_lines(wire_gsym_function(&g, 0xffffffffffffff00, 0x40, "f"), 16);
    put_lines(wire_gsym_function(&g, 0xffffffffffffff80, 0x100, "last"), 16);
    struct csni_span file = wire_gsym_build(&g);
    check_file(file, 0xfffffffffffffef0, UINT64_MAX);
    check_file(file, 0, 0x100);
    wire_patch(&g.out, CSNI_GSYM_H_BASE_ADDRESS, 0xffffffffffffffa0, 8);
    assert_int_equal(check_file(wire_span(&g.out), 0, 0x200), 2);
    wire_gsym_deinit(&g);
}

struct test_node {
    unsigned range_count;
    uint32_t ranges[4];
    bool has_children;
    uint32_t call_file;
    int ends; /* end marks after it */
};

/* A function of 0x40 bytes with these nodes below its root. */
static uint32_t check_tree(const struct test_node *nodes, size_t count) {
    struct wire_gsym g;
    wire_gsym_init(&g, false, 4, 0x1000);
    uint32_t file = wire_gsym_file(&g, "/src", "a.c"), name = wire_gsym_string(&g, "inlined");
    struct wire_gsym_function *f = wire_gsym_function(&g, 0x1010, 0x40, "f");
    put_lines(f, 16);
    struct wire tree;
    wire_init(&tree, false);
    wire_gsym_node(&tree, 1, (const uint32_t[]){ 0, 0x40 }, true, name, 0, 0);
    for (size_t k = 0; k < count; k++) {
        wire_gsym_node(&tree, nodes[k].range_count, nodes[k].ranges, nodes[k].has_children, name,
                       nodes[k].call_file == 1 ? file : nodes[k].call_file, 3 + (uint32_t)k);
        for (int e = 0; e < nodes[k].ends; e++) wire_uleb(&tree, 0);
    }
    wire_gsym_part_wire(&f->parts, CSNI_GSYM_PART_INLINE, &tree);
    wire_deinit(&tree);
    wire_gsym_function(&g, 0x1080, 0x10, "after");
    return check(&g, 0x1000, 0x10a0);
}

static void trees(void **state) {
    (void)state;
    static const struct test_node nested[] = {
        { 2, { 4, 8, 0x20, 8 }, true, 1, 0 }, { 1, { 0, 4 }, false, 1, 1 }, { 1, { 0x10, 4 }, false, 1, 1 } };
    assert_int_equal(check_tree(nested, 3), 0);
    static const struct test_node backwards[] = { { 1, { 0x20, 8 }, false, 1, 0 }, { 1, { 4, 8 }, false, 1, 1 } };
    assert_int_equal(check_tree(backwards, 2), 0);
    static const struct test_node no_file[] = { { 1, { 4, 8 }, true, 0, 0 }, { 1, { 2, 2 }, false, 1, 2 } };
    assert_int_equal(check_tree(no_file, 2), 0);
    static const struct test_node bad_file[] = { { 1, { 4, 8 }, true, 77, 0 }, { 1, { 2, 2 }, false, 1, 2 } };
    assert_int_equal(check_tree(bad_file, 2), 0);
    static const struct test_node empty_range[] = { { 2, { 4, 0, 8, 4 }, false, 1, 1 } };
    assert_int_equal(check_tree(empty_range, 1), 0);
    static const struct test_node behind_end[] = { { 1, { 0x30, 0x40 }, false, 1, 1 } };
    assert_int_equal(check_tree(behind_end, 1), 0); /* longer than its parent, but only after the function's end */
    static const struct test_node overlapping[] = { { 1, { 4, 8 }, false, 1, 0 }, { 1, { 8, 8 }, false, 1, 1 } };
    assert_int_equal(check_tree(overlapping, 2), 1);
    static const struct test_node same_place[] = { { 1, { 4, 8 }, false, 1, 0 }, { 1, { 4, 8 }, false, 1, 1 } };
    assert_int_equal(check_tree(same_place, 2), 1);
    static const struct test_node outside[] = { { 1, { 4, 8 }, true, 1, 0 }, { 1, { 4, 8 }, false, 1, 2 } };
    assert_int_equal(check_tree(outside, 2), 1);
    static const struct test_node touching[] = { { 2, { 4, 4, 8, 4 }, true, 1, 0 }, { 1, { 2, 4 }, false, 1, 2 } };
    assert_int_equal(check_tree(touching, 2), 1);
    static const struct test_node unfinished[] = { { 1, { 4, 8 }, true, 1, 0 } };
    assert_int_equal(check_tree(unfinished, 1), 1);
}

/* Strings about as long as a byte of length can tell, longer ones, empty ones, and some after the end of their table: of
 * functions, inlined calls and files. */
static void lengths(void **state) {
    (void)state;
    enum { LONGEST = 700 };
    static const uint32_t sizes[] = { 0, 1, 253, 254, 255, 256, 257, 510, LONGEST, UINT32_MAX };
    char text[LONGEST + 1];
    for (size_t k = 0; k < LONGEST; k++) text[k] = (char)('a' + k % 26);
    text[LONGEST] = 0;
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        struct wire_gsym g;
        wire_gsym_init(&g, false, 4, 0x1000);
        uint32_t end = wire_gsym_string(&g, text) + LONGEST;
        uint32_t name = sizes[k] == UINT32_MAX ? UINT32_MAX : end - sizes[k];
        uint32_t file = wire_gsym_file(&g, "/src", "a.c"), other = wire_gsym_file(&g, "/src", "b.c");
        g.files[file].directory = name;
        g.files[other].base = name;
        struct wire_gsym_function *f = wire_gsym_function(&g, 0x1000, 0x20, "f");
        f->name = name;
        put_lines(f, 16);
        struct wire tree;
        wire_init(&tree, false);
        wire_gsym_node(&tree, 1, (const uint32_t[]){ 0, 0x20 }, true, name, 0, 0);
        wire_gsym_node(&tree, 1, (const uint32_t[]){ 4, 8 }, false, name, other, 3);
        wire_uleb(&tree, 0);
        wire_gsym_part_wire(&f->parts, CSNI_GSYM_PART_INLINE, &tree);
        wire_deinit(&tree);
        struct csn_index *fast = open_all(wire_gsym_build(&g));
        struct csn_frame frames[2];
        size_t count = 0;
        assert_int_equal(csn_index_lookup(fast, 0x1006, frames, 2, &count, NULL), CSN_OK);
        assert_int_equal(count, 2);
        size_t want = sizes[k] == UINT32_MAX ? 0 : sizes[k];
        assert_int_equal(frames[0].name.len, want);
        assert_int_equal(frames[0].directory.len, want);
        assert_int_equal(frames[1].base.len, want);
        assert_int_equal(frames[1].name.len, want);
        csn_index_close(fast);
        assert_int_equal(check(&g, 0xff0, 0x1030), 0);
    }
}

/* As deep as is allowed, and one deeper. */
static void deep(void **state) {
    (void)state;
    for (unsigned depth = CSN_INLINE_DEPTH_MAX - 2; depth <= CSN_INLINE_DEPTH_MAX + 1; depth++) {
        struct wire_gsym g;
        wire_gsym_init(&g, false, 4, 0x1000);
        uint32_t file = wire_gsym_file(&g, "/src", "a.c");
        struct wire_gsym_function *f = wire_gsym_function(&g, 0x1000, 8, "f");
        struct wire tree;
        wire_init(&tree, false);
        for (unsigned k = 0; k < depth; k++)
            wire_gsym_node(&tree, 1, (const uint32_t[]){ 0, 8 }, k + 1 < depth, 1, k ? file : 0, 1);
        for (unsigned k = 0; k < depth; k++) wire_uleb(&tree, 0);
        wire_gsym_part_wire(&f->parts, CSNI_GSYM_PART_INLINE, &tree);
        wire_deinit(&tree);
        check(&g, 0x1000, 0x1008);
    }
}

static void unusual_rows(void **state) {
    (void)state;
    static const uint8_t tables[][16] = {
        { 0, 1, 7, 1, 99, 4, 8, 0 },                /* a file that does not exist */
        { 0, 1, 7, 1, 0, 4, 1, 1, 8, 0 },           /* no file, then one */
        { 0, 1, 7, 2, 4, 8, 2, 0, 4, 0 },           /* the first row after the start; rows at one address */
        { 0, 1, 7, 4, 2, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 0 }, /* an address wraps around */
        { 1, 0, 7, 4, 0 },                          /* a window of no deltas */
        { 0, 1, 7, 4, 8, 3, 0x80 },                 /* no end */
        { 0, 1, 7, 0 },                             /* no rows */
    };
    for (size_t k = 0; k < sizeof tables / sizeof *tables; k++) {
        struct wire_gsym g;
        wire_gsym_init(&g, false, 2, 0x1000);
        wire_gsym_file(&g, "/src", "a.c");
        struct wire_gsym_function *f = wire_gsym_function(&g, 0x1000, 0x20, "f");
        size_t size = sizeof tables[k];
        while (size > 1 && tables[k][size - 1] == 0 && k != 5) size--;
        wire_gsym_part(&f->parts, CSNI_GSYM_PART_LINES, (struct csni_span){ tables[k], k == 5 ? 7 : size + 1 });
        wire_gsym_function(&g, 0x1030, 0x10, "next");
        check(&g, 0xff8, 0x1050);
    }
}

/* ---- limits, memory ---- */

static void limits(void **state) {
    (void)state;
    struct wire_gsym g;
    wire_gsym_example(&g, false, 4);
    struct csni_span file = wire_gsym_build(&g);
    struct csn_index *plain = NULL;
    assert_int_equal(open_with(file, 0, NULL, &plain), CSN_OK);
    uint32_t least = UINT32_MAX;
    for (uint64_t limit = 0; limit < 4000; limit += 17) {
        struct csn_index *fast = NULL;
        struct csn_index_info info;
        assert_int_equal(open_with(file, limit, NULL, &fast), CSN_OK);
        csn_index_get_info(fast, &info, sizeof(info));
        assert_true(info.accelerator_bytes <= limit);
        if (plain_functions(fast) < least) least = plain_functions(fast);
        same_in(plain, fast, 0x1000, 0x1240);
        csn_index_close(fast);
    }
    assert_int_equal(least, 0);
    csn_index_close(plain);
    wire_gsym_deinit(&g);
}

static csn_status open_and_close(void *context, const struct csn_allocator *alloc) {
    struct csni_span *file = context;
    struct csn_index *index;
    csn_status status = open_with(*file, UINT64_MAX, alloc, &index);
    if (status == CSN_OK) csn_index_close(index);
    return status;
}

static void memory(void **state) {
    (void)state;
    struct wire_gsym g;
    wire_gsym_example(&g, true, 4);
    struct csni_span file = wire_gsym_build(&g);
    assert_true(test_allocator_sweep(open_and_close, &file, 0) > 5);
    test_allocator_sweep(open_and_close, &file, 1);
    struct test_allocator t;
    test_allocator_init(&t);
    struct csn_index *plain = NULL, *fast = NULL;
    assert_int_equal(open_with(file, 0, &t.base, &plain), CSN_OK);
    assert_int_equal(open_with(file, UINT64_MAX, &t.base, &fast), CSN_OK);
    uint64_t calls = t.calls;
    same_in(plain, fast, 0xf00, 0x1300);
    assert_int_equal(t.calls, calls);
    csn_index_close(fast);
    csn_index_close(plain);
    test_allocator_check_empty(&t);
    wire_gsym_deinit(&g);
}

/* Frames that do not fit end a batch; the rest is asked for again. */
static void small_batches(void **state) {
    (void)state;
    struct wire_gsym g;
    wire_gsym_example(&g, false, 4);
    struct csni_span file = wire_gsym_build(&g);
    struct csn_index *indexes[] = { NULL, open_all(file) };
    assert_int_equal(open_with(file, 0, NULL, &indexes[0]), CSN_OK);
    enum { LEAST = CSN_INLINE_DEPTH_MAX + 1, COUNT = 40 };
    static struct csn_frame_ref frames[LEAST + 4];
    struct csn_batch_answer answers[COUNT];
    uint64_t addrs[COUNT];
    for (size_t k = 0; k < COUNT; k++) addrs[k] = 0x11f9;
    for (int which = 0; which < 2; which++) {
        size_t done = 99;
        struct csn_error err = CSN_ERROR_INIT;
        struct csn_lookup_batch batch = CSN_LOOKUP_BATCH_INIT;
        batch.addrs = addrs;
        batch.count = COUNT;
        batch.answers = answers;
        batch.frames = frames;
        batch.frame_capacity = LEAST - 1;
        assert_int_equal(csn_index_lookup_batch(indexes[which], &batch, &done, &err), CSN_E_ARGUMENT);
        assert_string_equal(err.text, "csn_index_lookup_batch: room for 512 frames, need >= 513");
        assert_int_equal(done, 99);
        batch.frame_capacity = LEAST;
        assert_int_equal(csn_index_lookup_batch(indexes[which], &batch, &done, NULL), CSN_OK);
        assert_int_equal(done, 1);
        batch.frame_capacity = LEAST + 4;
        assert_int_equal(csn_index_lookup_batch(indexes[which], &batch, &done, NULL), CSN_OK);
        assert_int_equal(done, 2);
        assert_int_equal(answers[1].first_frame, 3);
        batch.addrs = NULL;
        batch.count = 0;
        batch.answers = NULL;
        assert_int_equal(csn_index_lookup_batch(indexes[which], &batch, &done, NULL), CSN_OK);
        assert_int_equal(done, 0);
        csn_index_close(indexes[which]);
    }
    wire_gsym_deinit(&g);
}

/* ---- damage ---- */

static void check_damaged(struct csni_span file) {
    struct csn_index *plain = NULL, *fast = NULL;
    csn_status status = open_with(file, 0, NULL, &plain);
    assert_int_equal(open_with(file, UINT64_MAX, NULL, &fast), status);
    if (status != CSN_OK) return;
    static const uint64_t places[] = { 0xfff, 0x1000, 0x1018, 0x1022, 0x1023, 0x11e0, 0x11ef, 0x11f0, 0x11f5, 0x11f9,
                                       0x1202, 0x1205, 0x1210, 0x1226, 0x1227, 0x1228, 0x1230, 0x1231, 0x2000, 0 };
    size_t count = sizeof places / sizeof *places;
    for (int ways = 0; ways < 2; ways++) {
        for (size_t k = 0; k < count; k++) same_refs(plain, fast, places[k]);
        same_batch(plain, fast, places, count, CSN_LOOKUP_DEFAULT);
        fast->accel.direct = false;
    }
    same_batch(plain, plain, places, count, CSN_LOOKUP_DEFAULT);
    same_batch(plain, plain, places, count, CSN_LOOKUP_LLVM);
    csn_index_close(fast);
    csn_index_close(plain);
}

static void damage(void **state) {
    (void)state;
    for (int big = 0; big < 2; big++) {
        struct wire_gsym g;
        wire_gsym_example(&g, big, 2);
        struct csni_span file = wire_gsym_build(&g);
        /* In a block of its own, so that a read past the end is seen. */
        for (size_t size = 0; size <= file.size; size++) {
            uint8_t *copy = malloc(size + 1);
            assert_non_null(copy);
            memcpy(copy + 1, file.ptr, size);
            check_damaged((struct csni_span){ copy + 1, size });
            free(copy);
        }
        uint8_t *copy = malloc(file.size);
        assert_non_null(copy);
        uint64_t seed = 7;
        for (int round = 0; round < 20000 / SWEEP_STEP; round++) {
            memcpy(copy, file.ptr, file.size);
            for (int k = 0; k <= round % 3; k++) {
                seed = seed * 6364136223846793005u + 1442695040888963407u;
                copy[(seed >> 33) % file.size] ^= (uint8_t)(1u << (seed >> 29 & 7));
            }
            check_damaged((struct csni_span){ copy, file.size });
        }
        free(copy);
        wire_gsym_deinit(&g);
    }
}

static void counting(void **state) {
    (void)state;
    uint8_t lows[256 + CSNI_ACCEL_OVERREAD] = { 0 };
    for (unsigned gap = 1; gap <= 5; gap++)
        for (unsigned count = 0; count * gap < 256; count++) {
            memset(lows, (int)gap, sizeof lows);
            for (unsigned k = 0; k < count; k++) lows[k] = (uint8_t)((k + 1) * gap);
            for (unsigned low = 0; low < 256; low++) {
                unsigned want = low / gap < count ? low / gap : count;
                assert_int_equal(csni_accel_count(lows, count, low), want);
                assert_int_equal(csni_accel_count_portable(lows, count, low), want);
            }
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(example), cmocka_unit_test(equal_starts_and_empty_functions),
        cmocka_unit_test(many_parts), cmocka_unit_test(dense_and_sparse), cmocka_unit_test(end_of_addresses),
        cmocka_unit_test(trees), cmocka_unit_test(lengths), cmocka_unit_test(deep),
        cmocka_unit_test(unusual_rows), cmocka_unit_test(limits), cmocka_unit_test(memory),
        cmocka_unit_test(small_batches), cmocka_unit_test(damage), cmocka_unit_test(counting),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
