/* formats/gsym/read/gsym_inline.c and its scan: random trees in which the calls found must be those that reading node after node
 * gives; damage; nesting. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

#include "formats/gsym/read/gsym.h"
#include "formats/gsym/gsym_layout.h"
#include "wire/wire_gsym.h"

enum { START = 0x100000, SIZE = 0x4000, NODES = 400 };

static uint64_t seed;

static uint32_t pick(uint32_t count) {
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (uint32_t)((seed >> 20) % count);
}

/* A tree as its writer sees it. */
struct tree {
    struct wire wire;
    uint32_t left; /* nodes that may still be added */
};

/* Children of a block of `size` bytes; names number the nodes. */
static void add_children(struct tree *t, uint32_t size, unsigned depth) {
    for (uint32_t count = pick(depth < 2 ? 9 : 4); count > 0 && t->left > 0; count--) {
        t->left--;
        uint32_t ranges[2 * 40], range_count = pick(4) ? 1 : pick(8) ? 1 + pick(4) : 1 + pick(40);
        uint32_t at = 0, first = 0;
        for (uint32_t k = 0; k < range_count; k++) {
            ranges[2 * k] = at + pick(size / (range_count * 2) + 1);
            ranges[2 * k + 1] = pick(12) ? 1 + pick(size / (range_count * 2) + 1) : 0;
            at = ranges[2 * k] + ranges[2 * k + 1] + 1;
            if (!first) first = ranges[2 * k + 1];
        }
        bool children = depth < 12 && pick(2);
        wire_gsym_node(&t->wire, range_count, ranges, children, NODES - t->left, pick(10) ? pick(200) : 0,
                       pick(20) ? pick(3000) : UINT32_MAX);
        if (!children) continue;
        add_children(t, first + 1, depth + 1);
        wire_u8(&t->wire, 0);
    }
}

/* The calls that cover an address, by reading all nodes: at each level the first that covers. */
static size_t expected_calls(const struct csni_gsym *gsym, const struct csni_gsym_payload *payload, uint64_t addr,
                             struct csni_gsym_inlined *out) {
    struct csni_gsym_inline_iter iter;
    struct csni_gsym_node node;
    uint64_t bases[CSN_INLINE_DEPTH_MAX];
    uint32_t depth, level = 0;
    size_t count = 0;
    bases[0] = START;
    csni_gsym_nodes(&iter, gsym, payload);
    csn_status status;
    while ((status = csni_gsym_node_next(&iter, bases, &node, &depth, NULL)) == CSN_OK) {
        if (depth > level) continue;
        if (depth < level) break;
        bool covers = false;
        struct csni_span ranges = node.ranges;
        for (uint32_t k = 0; k < node.range_count; k++) {
            struct csn_range range = csni_gsym_range(&ranges, node.base);
            covers |= addr >= range.start && addr < range.end;
        }
        if (!covers) continue;
        if (node.call_file || (depth && (node.name || node.call_line)))
            out[count++] = (struct csni_gsym_inlined){ node.first, node.name, node.call_file, node.call_line };
        if (!node.has_children) break;
        level++;
    }
    assert_true(status >= 0);
    return count;
}

static void random_trees(void **state) {
    (void)state;
    seed = 88172645463325252u;
    size_t found = 0;
    for (uint32_t n = 0; n < 1500; n++) {
        struct tree t = { .left = n % 3 ? 20 : NODES };
        bool big = n % 4 == 0;
        wire_init(&t.wire, big);
        wire_gsym_node(&t.wire, 1, (const uint32_t[]){ 0, SIZE }, true, 1, 0, 0);
        add_children(&t, SIZE, 0);
        wire_u8(&t.wire, 0);
        struct csni_span bytes = wire_span(&t.wire);
        uint8_t *exact = malloc(bytes.size);
        assert_non_null(exact);
        memcpy(exact, bytes.ptr, bytes.size);
        struct csni_gsym gsym = { .bytes = { exact, bytes.size }, .strp_size = 4, .big = big };
        struct csni_gsym_payload payload = { gsym.bytes, 0, CSNI_GSYM_PART_INLINE };
        for (uint32_t k = 0; k < 60; k++) {
            struct csni_gsym_inlined want[CSN_INLINE_DEPTH_MAX];
            struct csni_gsym_calls calls;
            uint64_t addr = START + pick(k % 2 ? SIZE : SIZE / 16);
            size_t count = 0, want_count = expected_calls(&gsym, &payload, addr, want);
            assert_int_equal(csni_gsym_calls_find(&gsym, &payload, START, addr, CSNI_GSYM_CALLS_ALL, &calls, NULL), CSN_OK);
            count = calls.count;
            assert_int_equal(count, want_count);
            assert_int_equal(calls.end, count);
            for (size_t i = 0; i < count; i++) {
                if (count > CSNI_GSYM_CALLS_HELD) csni_gsym_calls_hold(&gsym, &calls, i + 1);
                const struct csni_gsym_inlined *call = &calls.held[i % CSNI_GSYM_CALLS_HELD];
                assert_int_equal(call->first, want[i].first);
                assert_int_equal(call->name, want[i].name);
                assert_int_equal(call->call_file, want[i].call_file);
                assert_int_equal(call->call_line, want[i].call_line);
            }
            found += count;
        }
        free(exact);
        wire_deinit(&t.wire);
    }
    assert_true(found > 10000);
}

/* Nodes around one another, each with the whole range; the innermost has no children. */
static csn_status find_nested(uint32_t depth, size_t *count, struct csn_error *err) {
    struct wire w;
    wire_init(&w, false);
    for (uint32_t k = 0; k < depth; k++)
        wire_gsym_node(&w, 1, (const uint32_t[]){ 0, SIZE }, k + 1 < depth, 1 + k, k ? 1 : 0, k);
    for (uint32_t k = 1; k < depth; k++) wire_u8(&w, 0);
    struct csni_gsym gsym = { .bytes = wire_span(&w), .strp_size = 4 };
    struct csni_gsym_payload payload = { gsym.bytes, 0, CSNI_GSYM_PART_INLINE };
    struct csni_gsym_answer answer = { .addr = START, .start = START, .name = 7, .line = 3 };
    struct csni_gsym_calls *calls = &answer.calls;
    csn_status status = csni_gsym_calls_find(&gsym, &payload, START, START, CSNI_GSYM_CALLS_ALL, calls, err);
    *count = calls->count;
    /* Every frame of an answer that is deeper than what is held at once, forward and backward. */
    for (size_t k = 0; status == CSN_OK && k <= 2 * calls->count + 1; k++) {
        struct csn_frame_ref frame;
        size_t n = k <= calls->count ? k : 2 * calls->count + 1 - k;
        csni_gsym_frame(&gsym, &answer, n, &frame);
        assert_int_equal(frame.name, n == calls->count ? 7 : depth - n);
        assert_int_equal(frame.line, n ? depth - n : 3);
    }
    struct csni_gsym_inline_iter iter;
    struct csni_gsym_node node;
    uint64_t bases[CSN_INLINE_DEPTH_MAX] = { START };
    uint32_t nodes = 0, at;
    csni_gsym_nodes(&iter, &gsym, &payload);
    csn_status read;
    while ((read = csni_gsym_node_next(&iter, bases, &node, &at, NULL)) == CSN_OK) assert_int_equal(at, nodes++);
    assert_int_equal(read, depth <= CSN_INLINE_DEPTH_MAX ? CSN_NONE : CSN_E_LIMIT);
    wire_deinit(&w);
    return status;
}

static void nesting(void **state) {
    (void)state;
    size_t count;
    struct csn_error err = CSN_ERROR_INIT;
    assert_int_equal(find_nested(CSN_INLINE_DEPTH_MAX, &count, &err), CSN_OK);
    assert_int_equal(count, CSN_INLINE_DEPTH_MAX - 1);
    assert_int_equal(find_nested(100000, &count, &err), CSN_E_LIMIT);
    assert_non_null(strstr(err.text, "nested deeper than 512"));
}

/* Thousands of levels that do not cover the address are passed over. */
static void deep_elsewhere(void **state) {
    (void)state;
    struct wire w;
    wire_init(&w, false);
    enum { DEPTH = 20000 };
    wire_gsym_node(&w, 1, (const uint32_t[]){ 0, SIZE }, true, 1, 0, 0);
    for (uint32_t k = 0; k < DEPTH; k++) wire_gsym_node(&w, 1, (const uint32_t[]){ 0, 8 }, true, 2, 1, 1);
    for (uint32_t k = 0; k < DEPTH; k++) wire_u8(&w, 0);
    wire_gsym_node(&w, 1, (const uint32_t[]){ 8, 8 }, false, 3, 1, 9);
    wire_u8(&w, 0);
    struct csni_gsym gsym = { .bytes = wire_span(&w), .strp_size = 4 };
    struct csni_gsym_payload payload = { gsym.bytes, 0, CSNI_GSYM_PART_INLINE };
    struct csni_gsym_calls calls;
    assert_int_equal(csni_gsym_calls_find(&gsym, &payload, START, START + 9, CSNI_GSYM_CALLS_ALL, &calls, NULL), CSN_OK);
    assert_int_equal(calls.count, 1);
    assert_int_equal(calls.held[0].name, 3);
    wire_deinit(&w);
}

/* A tree that is not covered by its root has no calls; one whose count of ranges is impossible is an error. */
static void roots(void **state) {
    (void)state;
    struct wire w;
    wire_init(&w, false);
    wire_gsym_node(&w, 1, (const uint32_t[]){ 0, 4 }, false, 1, 0, 0);
    struct csni_gsym gsym = { .bytes = wire_span(&w), .strp_size = 4 };
    struct csni_gsym_payload payload = { gsym.bytes, 0x70, CSNI_GSYM_PART_INLINE };
    struct csni_gsym_calls calls;
    assert_int_equal(csni_gsym_calls_find(&gsym, &payload, START, START + 4, CSNI_GSYM_CALLS_ALL, &calls, NULL), CSN_OK);
    assert_int_equal(calls.count, 0);
    wire_deinit(&w);

    static const uint8_t huge[] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 1, 1, 0 };
    payload.bytes = gsym.bytes = (struct csni_span){ huge, sizeof huge };
    struct csn_error err = CSN_ERROR_INIT;
    assert_int_equal(csni_gsym_calls_find(&gsym, &payload, START, START, CSNI_GSYM_CALLS_ALL, &calls, &err), CSN_E_TRUNCATED);
    assert_string_equal(err.text, "FunctionInfo+0x79: inline tree of 12 bytes ends within a node");
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(random_trees), cmocka_unit_test(nesting),
                                        cmocka_unit_test(deep_elsewhere), cmocka_unit_test(roots) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
