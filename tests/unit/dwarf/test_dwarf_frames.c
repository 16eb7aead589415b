/* Ranges of functions from .eh_frame: encodings of pointers, augmentations, damage. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "dwarf/dwarf_frames.h"
#include "wire/wire.h"

enum { ADDR = 0x5000, TEXT = 0x100, DATA = 0x9000 };

/* A CIE whose FDEs have pointers of `encoding`; returns its offset. `letters`: the augmentation. */
static size_t put_cie(struct wire *w, const char *letters, uint8_t version, uint8_t encoding) {
    size_t at = w->size, length = wire_begin_length(w, 4);
    wire_u32(w, 0);
    wire_u8(w, version);
    wire_cstr(w, letters);
    if (version == 4) wire_u16(w, 8);
    wire_uleb(w, 1);
    wire_sleb(w, -8);
    wire_u8(w, 16);
    size_t size = 0;
    if (letters[0] == 'z') size = wire_u8(w, 0);
    for (const char *p = letters; *p; p++) {
        if (*p == 'R') wire_u8(w, encoding);
        if (*p == 'L') wire_u8(w, 0x1b);
        if (*p == 'P') wire_u8(w, 0x03), wire_u32(w, 0x1234);
    }
    if (size) wire_patch(w, size, w->size - size - 1, 1);
    wire_align(w, 4);
    wire_end_length(w, length);
    return at;
}

/* The start is stored as the encoding says for image address `start`. */
static void put_fde(struct wire *w, size_t cie, uint8_t encoding, uint64_t start, uint64_t size) {
    static const uint8_t sizes[16] = { 8, 0, 2, 4, 8, 0, 0, 0, 0, 0, 2, 4, 8, 0, 0, 0 };
    size_t length = wire_begin_length(w, 4);
    wire_u32(w, w->size - cie);
    if (encoding == 0x50) {
        while ((ADDR + w->size) % 8) wire_u8(w, 0);
    }
    uint64_t base = (encoding & 0x70) == 0x10 ? ADDR + w->size : (encoding & 0x70) == 0x20 ? TEXT
                  : (encoding & 0x70) == 0x30 ? DATA : 0;
    if ((encoding & 0xf) == 1) wire_uleb(w, start - base), wire_uleb(w, size);
    else if ((encoding & 0xf) == 9) wire_sleb(w, (int64_t)(start - base)), wire_sleb(w, (int64_t)size);
    else wire_uint(w, start - base, sizes[encoding & 0xf]), wire_uint(w, size, sizes[encoding & 0xf]);
    wire_align(w, 4);
    wire_end_length(w, length);
}

static csn_status read_bytes(struct csni_span bytes, bool big, csni_address_ranges *out, struct csn_error *err) {
    const struct csni_frame_section frame = { bytes, ADDR, TEXT, DATA, 8, big, false, false };
    *out = (csni_address_ranges){ .alloc = &csni_libc_allocator };
    return csni_dwarf_frame_ranges(&frame, out, err);
}

static void expect(struct wire *w, const uint64_t *want, size_t count) {
    csni_address_ranges got;
    struct csn_error err = CSN_ERROR_INIT;
    assert_int_equal(read_bytes(wire_span(w), w->big, &got, &err), CSN_OK);
    assert_int_equal(got.count, count);
    for (size_t i = 0; i < count; i++) {
        assert_true(got.items[i].low == want[2 * i]);
        assert_true(got.items[i].high == want[2 * i + 1]);
    }
    csni_vec_deinit(&got);
}

static void encodings(void **state) {
    (void)state;
    static const uint8_t all[] = { 0x00, 0x01, 0x02, 0x03, 0x04, 0x09, 0x0a, 0x0b, 0x0c, 0x10, 0x1a, 0x1b, 0x1c, 0x1, 0x23,
                                   0x2b, 0x33, 0x3b, 0x3c, 0x50 };
    for (size_t i = 0; i < sizeof all; i++)
        for (unsigned big = 0; big < 2; big++) {
            struct wire w;
            wire_init(&w, big);
            size_t cie = put_cie(&w, "zR", 1, all[i]);
            uint64_t low = (all[i] & 0x70) == 0x30 ? DATA + 0x40 : 0x4100;
            put_fde(&w, cie, all[i], low, 0x20);
            expect(&w, (const uint64_t[]){ low, low + 0x20 }, 1);
            wire_deinit(&w);
        }
}

/* x86 firmware ends at the last address. */
static void end_of_memory(void **state) {
    (void)state;
    for (unsigned wide = 0; wide < 2; wide++) {
        struct wire w;
        wire_init(&w, false);
        uint64_t last = wide ? UINT64_MAX : UINT32_MAX;
        uint8_t encoding = wide ? 0x04 : 0x03;
        size_t cie = put_cie(&w, "zR", 1, encoding);
        put_fde(&w, cie, encoding, last - 0x1f, 0x1f);
        put_fde(&w, cie, encoding, last - 0xf, 0x10);
        put_fde(&w, cie, encoding, last - 0x7, 0x9);
        const struct csni_frame_section frame = { wire_span(&w), ADDR, TEXT, DATA, wide ? 8 : 4, false, false, false };
        csni_address_ranges got = { .alloc = &csni_libc_allocator };
        assert_int_equal(csni_dwarf_frame_ranges(&frame, &got, NULL), CSN_OK);
        assert_int_equal(got.count, 2 - wide);
        assert_true(got.items[0].low == last - 0x1f && got.items[0].high == last);
        assert_true(wide || (got.items[1].low == last - 0xf && got.items[1].high == last + 1));
        csni_vec_deinit(&got);
        wire_deinit(&w);
    }
}

static void augmentations(void **state) {
    (void)state;
    static const char *const letters[] = { "zR", "zPLR", "zRS", "zRB", "zPR", "zLRX", "" };
    for (size_t i = 0; i < sizeof letters / sizeof *letters; i++)
        for (uint8_t version = 1; version <= 4; version++) {
            struct wire w;
            if (version == 2) continue;
            wire_init(&w, false);
            uint8_t encoding = letters[i][0] ? 0x1b : 0;
            put_fde(&w, put_cie(&w, letters[i], version, encoding), encoding, 0x4000, 8);
            expect(&w, (const uint64_t[]){ 0x4000, 0x4008 }, 1);
            wire_deinit(&w);
        }
}

/* Ascending, one for each start, the longest; lists joined by a linker; nothing for what was discarded. */
static void sorted(void **state) {
    (void)state;
    struct wire w;
    wire_init(&w, false);
    size_t absolute = put_cie(&w, "zR", 1, 0), relative = put_cie(&w, "zR", 1, 0x1b);
    put_fde(&w, relative, 0x1b, 0x4300, 0x10);
    put_fde(&w, absolute, 0, 0x4100, 0x10);
    put_fde(&w, absolute, 0, 0, 0x10);
    put_fde(&w, absolute, 0, 0x4700, 0);
    put_fde(&w, absolute, 0, UINT64_MAX - 4, 0x10);
    wire_u32(&w, 0);
    put_fde(&w, relative, 0x1b, 0x4200, 0x10);
    put_fde(&w, relative, 0x1b, 0x4100, 0x30);
    put_fde(&w, relative, 0x1b, 0x4100, 0x20);
    wire_u32(&w, 0);
    expect(&w, (const uint64_t[]){ 0x4100, 0x4130, 0x4200, 0x4210, 0x4300, 0x4310 }, 3);
    wire_deinit(&w);
}

/* What cannot be known is left out: pointers through memory, unknown versions, CIEs that are none. */
static void not_understood(void **state) {
    (void)state;
    struct wire w;
    wire_init(&w, false);
    put_fde(&w, put_cie(&w, "zR", 1, 0x9b), 0x1b, 0x4000, 8);
    put_fde(&w, put_cie(&w, "zR", 9, 0x1b), 0x1b, 0x4000, 8);
    put_fde(&w, put_cie(&w, "zR", 1, 0x45), 0x1b, 0x4000, 8);
    put_fde(&w, put_cie(&w, "zRRRRRRRRRRRRRRRRRRRR", 1, 0x1b), 0x1b, 0x4000, 8);
    size_t cie = put_cie(&w, "zR", 1, 0x1b);
    put_fde(&w, cie + 4, 0x1b, 0x4000, 8);
    put_fde(&w, cie, 0x1b, 0x4400, 8);
    expect(&w, (const uint64_t[]){ 0x4400, 0x4408 }, 1);
    wire_deinit(&w);
}

static void a_record_too_long(void **state) {
    (void)state;
    struct wire w;
    csni_address_ranges got;
    struct csn_error err = CSN_ERROR_INIT;
    wire_init(&w, false);
    put_fde(&w, put_cie(&w, "zR", 1, 0x1b), 0x1b, 0x4000, 8);
    size_t at = wire_u32(&w, 0x100);
    assert_int_equal(read_bytes(wire_span(&w), false, &got, &err), CSN_E_TRUNCATED);
    assert_int_equal(err.offset, at);
    assert_string_equal(csn_error_text(&err) + strlen(".eh_frame+0x28: "), "record of 0x100 bytes, 0x0 are left");
    assert_int_equal(got.count, 1);
    csni_vec_deinit(&got);
    wire_deinit(&w);
}

static void make(struct wire *w) {
    wire_init(w, false);
    size_t cie = put_cie(w, "zPLR", 1, 0x1b), old = put_cie(w, "", 3, 0);
    put_fde(w, cie, 0x1b, 0x4000, 8);
    put_fde(w, old, 0, 0x4010, 8);
    put_fde(w, cie, 0x1b, 0x4020, 8);
}

static void truncations_and_changes(void **state) {
    (void)state;
    struct wire w;
    csni_address_ranges got;
    make(&w);
    struct csni_span whole = wire_span(&w);
    for (size_t size = 0; size <= whole.size; size++) {
        uint8_t *copy = malloc(size ? size : 1);
        assert_non_null(copy);
        if (size) memcpy(copy, whole.ptr, size);
        csn_status status = read_bytes((struct csni_span){ copy, size }, false, &got, NULL);
        assert_true(status == CSN_OK || status == CSN_E_TRUNCATED);
        assert_true(got.count <= 3 && (size < whole.size || got.count == 3));
        csni_vec_deinit(&got);
        for (size_t at = 0; size == whole.size && at < size; at++)
            for (unsigned bit = 0; bit < 8; bit++) {
                copy[at] ^= (uint8_t)(1u << bit);
                read_bytes((struct csni_span){ copy, size }, false, &got, NULL);
                copy[at] ^= (uint8_t)(1u << bit);
                for (size_t i = 0; i < got.count; i++) assert_true(got.items[i].low < got.items[i].high);
                csni_vec_deinit(&got);
            }
        free(copy);
    }
    wire_deinit(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(encodings), cmocka_unit_test(end_of_memory),      cmocka_unit_test(augmentations),
            cmocka_unit_test(sorted),
        cmocka_unit_test(not_understood), cmocka_unit_test(a_record_too_long), cmocka_unit_test(truncations_and_changes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
