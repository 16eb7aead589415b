#include "support/unwind_sample.h"

#include <stdlib.h>
#include <string.h>

size_t unwind_sample_put(struct wire *w, const void *cie_code, size_t cie_size, const void *code, size_t size) {
    size_t cie = w->size, length = wire_begin_length(w, 4);
    wire_u32(w, 0);
    wire_u8(w, 1);
    wire_cstr(w, "zR");
    wire_uleb(w, 1);
    wire_sleb(w, -8);
    wire_u8(w, 16);
    wire_uleb(w, 1);
    wire_u8(w, 0x1b);
    wire_bytes(w, cie_code, cie_size);
    wire_end_length(w, length);
    size_t fde = w->size;
    length = wire_begin_length(w, 4);
    wire_u32(w, w->size - cie);
    wire_u32(w, UNWIND_SAMPLE_START - (UNWIND_SAMPLE_ADDR + w->size));
    wire_u32(w, UNWIND_SAMPLE_SIZE);
    wire_uleb(w, 0);
    wire_bytes(w, code, size);
    wire_end_length(w, length);
    return fde;
}

struct csni_frame_section unwind_sample_section(struct wire *w) {
    return (struct csni_frame_section){ .bytes = wire_span(w), .addr = UNWIND_SAMPLE_ADDR, .address_size = 8 };
}

static csn_status read_all(const struct csni_frame_section *section, struct csni_unwind_dwarf *unwind,
                           struct csni_unwind_table *table, const struct csni_breakpad_registers *registers,
                           struct csni_buffer *text, uint64_t *damaged) {
    for (uint64_t off = 0; off < section->bytes.size;) {
        enum csni_unwind_result result;
        csn_status status = csni_unwind_dwarf_read(unwind, off, &off, table, &result, NULL);
        if (status < 0) return status;
        *damaged += result == CSNI_UNWIND_DAMAGED;
        if (result != CSNI_UNWIND_SKIPPED) csni_breakpad_put_stack(text, registers, table, 0, false);
    }
    return text->failed ? CSN_E_MEMORY : CSN_OK;
}

char *unwind_sample_text(const struct csni_frame_section *section, const char *arch, const struct csn_allocator *alloc,
                         uint64_t *damaged, csn_status *status) {
    struct csni_breakpad_registers registers;
    struct csni_unwind_dwarf *unwind = NULL;
    struct csni_unwind_table table;
    struct csni_buffer text = { .alloc = alloc };
    *damaged = 0;
    csni_unwind_table_init(&table, alloc);
    if (!csni_breakpad_registers_of(csni_str(arch), &registers)) abort();
    *status = csni_unwind_dwarf_create(section, alloc, &unwind, NULL);
    if (*status >= 0) *status = read_all(section, unwind, &table, &registers, &text, damaged);
    char *out = calloc(1, text.size + 1);
    if (text.size) memcpy(out, text.bytes, text.size);
    csni_buffer_deinit(&text);
    csni_unwind_table_deinit(&table);
    csni_unwind_dwarf_destroy(unwind);
    return out;
}
