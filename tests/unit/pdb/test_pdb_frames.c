/* FPO and frame data of a PDB: both kinds of records, their order, and what Breakpad has for them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "formats/breakpad/breakpad_stack.h"
#include "pdb/pdb_frames.h"
#include "wire/wire.h"

static void put_fpo(struct wire *w, uint32_t rva, uint16_t attributes) {
    wire_u32(w, rva);
    wire_u32(w, 0x40);
    wire_u32(w, 3); /* words of local variables */
    wire_u16(w, 2);
    wire_u16(w, attributes);
}

static void put_data(struct wire *w, uint32_t rva, uint32_t program) {
    wire_u32(w, rva);
    wire_u32(w, 0x30);
    wire_u32(w, 0x14);
    wire_u32(w, 8);
    wire_u32(w, 0x24);
    wire_u32(w, program);
    wire_u16(w, 5);
    wire_u16(w, 12);
    wire_u32(w, 4);
}

static void put_record(struct csni_buffer *t, const struct csni_pdb_frame *f) {
    const struct csni_breakpad_stack_win record = { f->type, f->rva, f->code_size, f->prologue_size, f->parameter_size,
                                                    f->saved_register_size, f->local_size, f->max_stack_size,
                                                    f->type == CSNI_PDB_FRAME_DATA, f->allocates_base_pointer, f->program };
    csni_breakpad_put_stack_win(t, &record);
}

/* The text of all frames of two streams, as far as they go. */
static char *frames_text(struct csni_span fpo, struct csni_span data) {
    static const char names[] = "\0 $T0 $ebp =\n\0unended";
    struct csni_pdb pdb = { .names = { (const uint8_t *)names, sizeof names - 1 } };
    struct csni_pdb_frames frames = { .pdb = &pdb, .fpo = { fpo, NULL }, .data = { data, NULL } };
    struct csni_buffer text = { .alloc = &csni_libc_allocator };
    struct csni_pdb_frame frame;
    while (csni_pdb_next_frame(&frames, &frame)) put_record(&text, &frame);
    char *out = calloc(1, text.size + 1);
    if (text.size) memcpy(out, text.bytes, text.size);
    csni_buffer_deinit(&text);
    return out;
}

static void both_streams(void **state) {
    (void)state;
    struct wire fpo, data;
    wire_init(&fpo, false);
    wire_init(&data, false);
    put_fpo(&fpo, 0x1000, 0x1323);          /* prologue of 0x23, 3 registers, uses ebp */
    put_fpo(&fpo, 0x1100, 0xc0ff);          /* also in the other stream */
    put_fpo(&fpo, 0x1200, 0x4000);          /* a kernel trap */
    put_data(&data, 0x1080, 1);
    put_data(&data, 0x1100, 15);            /* a name without an end */
    put_data(&data, 0x1300, 1000);
    char *text = frames_text(wire_span(&fpo), wire_span(&data));
    assert_string_equal(text, "STACK WIN 0 1000 40 23 0 8 c c 0 0 1\n"
                              "STACK WIN 4 1080 30 5 0 8 c 14 24 1 $T0 $ebp =\n"
                              "STACK WIN 4 1100 30 5 0 8 c 14 24 1 <name omitted>\n"
                              "STACK WIN 1 1200 40 0 0 8 0 c 0 0 0\n"
                              "STACK WIN 4 1300 30 5 0 8 c 14 24 1 <name omitted>\n");
    free(text);
    wire_deinit(&fpo);
    wire_deinit(&data);
}

static void truncated(void **state) {
    (void)state;
    struct wire w;
    wire_init(&w, false);
    put_data(&w, 0x1000, 1);
    for (size_t size = 0; size < w.size; size++) {
        uint8_t *copy = malloc(size ? size : 1);
        memcpy(copy, wire_span(&w).ptr, size);
        char *text = frames_text((struct csni_span){ NULL, 0 }, (struct csni_span){ copy, size });
        assert_string_equal(text, "");
        free(text);
        free(copy);
    }
    wire_deinit(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(both_streams), cmocka_unit_test(truncated) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
