/* Any bytes as an unwind table: call frame information, exception data of PE, or compact unwind
 * information of Mach-O. The first byte chooses the kind. Invariants: rows
 * ascend and stay in their function, rules and tokens are in range; the text has only whole records, the first of a function with
 * its range; work is counted, so that a conversion can end it. */
#include <stdlib.h>
#include <string.h>

#include "formats/breakpad/breakpad_stack.h"
#include "unwind/unwind_compact.h"
#include "unwind/unwind_dwarf.h"
#include "unwind/unwind_pe.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { KIND_BIG_ENDIAN = 1, KIND_DEBUG_FRAME = 2, KIND_32_BITS = 4, KIND_PE = 8, KIND_ARM64 = 16, KIND_COMPACT = 32 };
enum { TEXT_MAX = 1 << 24, WORK_MAX = 1 << 21 };

static void require(bool condition) {
    if (!condition) abort();
}

static void check_rules(const struct csni_unwind_table *t, const struct csni_unwind_row *row) {
    require(row->first_rule + (uint64_t)row->rule_count <= t->rules.count);
    for (uint32_t i = 0; i < row->rule_count; i++) {
        const struct csni_unwind_rule *r = &t->rules.items[row->first_rule + i];
        require(r->kind <= CSNI_UNWIND_UNKNOWN);
        require(r->kind != CSNI_UNWIND_EXPRESSION || r->first_token + (uint64_t)r->token_count <= t->tokens.count);
    }
}

static void check_table(const struct csni_unwind_table *t) {
    require(t->size <= UINT64_MAX - t->start);
    for (size_t i = 0; i < t->rows.count; i++) {
        const struct csni_unwind_row *row = &t->rows.items[i];
        require(row->addr >= t->start && (!t->size || row->addr < t->start + t->size));
        require(!i || row->addr > row[-1].addr);
        check_rules(t, row);
    }
}

static void check_text(const struct csni_buffer *text, size_t before) {
    if (text->size == before) return;
    const char *p = (const char *)text->bytes + before, *end = (const char *)text->bytes + text->size;
    bool is_first = true;
    while (p < end) {
        const char *lf = memchr(p, '\n', (size_t)(end - p)), *head = is_first ? "STACK CFI INIT " : "STACK CFI ";
        require(lf && (size_t)(lf - p) > strlen(head) && memcmp(p, head, strlen(head)) == 0);
        require(memchr(p, ':', (size_t)(lf - p)) && lf[-1] != ' ');
        is_first = false;
        p = lf + 1;
    }
}

static void put_table(struct csni_buffer *text, const struct csni_breakpad_registers *registers,
                      const struct csni_unwind_table *t) {
    size_t before = text->size;
    check_table(t);
    csni_breakpad_put_stack(text, registers, t, 0, before & 1);
    check_text(text, before);
    if (text->size > TEXT_MAX) text->size = 0;
}

static void read_frames(const struct csni_frame_section *section, const struct csni_breakpad_registers *registers,
                        struct csni_unwind_table *table, struct csni_buffer *text) {
    struct csni_unwind_dwarf *unwind;
    uint64_t work = 0;
    require(csni_unwind_dwarf_create(section, &csni_libc_allocator, &unwind, NULL) == CSN_OK);
    for (uint64_t off = 0; off < section->bytes.size && work < WORK_MAX;) {
        enum csni_unwind_result result;
        uint64_t at = off;
        if (csni_unwind_dwarf_read(unwind, off, &off, table, &result, NULL) < 0) break;
        require(off > at);
        work += csni_unwind_dwarf_take_work(unwind);
        if (result != CSNI_UNWIND_SKIPPED) put_table(text, registers, table);
    }
    csni_unwind_dwarf_destroy(unwind);
}

static bool bytes_at(const void *context, uint64_t rva, struct csni_span *out) {
    const struct csni_span *image = context;
    return rva < image->size && csni_span_sub(*image, rva, image->size - rva, out);
}

/* The whole input is both the image and its entries. */
static void read_exceptions(struct csni_span bytes, bool is_arm64, const struct csni_breakpad_registers *registers,
                            struct csni_unwind_table *table, struct csni_buffer *text) {
    const struct csni_unwind_pe pe = { .entries = bytes, .bytes_at = bytes_at, .context = &bytes, .is_arm64 = is_arm64 };
    for (uint64_t off = 0; off < bytes.size && off < 4096; off += csni_unwind_pe_entry_size(&pe)) {
        enum csni_unwind_result result;
        require(csni_unwind_pe_read(&pe, off, table, &result));
        if (result != CSNI_UNWIND_SKIPPED) put_table(text, registers, table);
    }
}

/* The whole input is also __eh_frame and the code. */
static void read_compact(struct csni_span bytes, uint8_t kind, const struct csni_breakpad_registers *registers,
                         struct csni_unwind_table *table, struct csni_buffer *text) {
    const struct csni_frame_section frames = { .bytes = bytes, .address_size = kind & KIND_32_BITS ? 4 : 8 };
    const struct csni_unwind_compact compact = {
        .bytes = bytes, .code_at = bytes_at, .context = &bytes,
        .machine = kind & KIND_ARM64 ? CSNI_COMPACT_ARM64 : kind & KIND_32_BITS ? CSNI_COMPACT_X86 : CSNI_COMPACT_X86_64
    };
    struct csni_unwind_dwarf *unwind;
    uint64_t work = 0;
    require(csni_unwind_dwarf_create(&frames, &csni_libc_allocator, &unwind, NULL) == CSN_OK);
    for (uint32_t page = 0; page < csni_unwind_compact_pages(&compact) && work < WORK_MAX; page++) {
        bool is_last = false;
        for (uint32_t entry = 0; !is_last && work < WORK_MAX; entry++) {
            enum csni_unwind_result result;
            require(csni_unwind_compact_read(&compact, page, entry, unwind, table, &result, &is_last, NULL) == CSN_OK);
            work += 64 + csni_unwind_dwarf_take_work(unwind);
            if (result != CSNI_UNWIND_SKIPPED) put_table(text, registers, table);
        }
    }
    csni_unwind_dwarf_destroy(unwind);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char *const machines[] = { "x86_64", "arm64", "i386", "arm", "ppc64", "mips" };
    struct csni_breakpad_registers registers;
    struct csni_unwind_table table;
    struct csni_buffer text = { .alloc = &csni_libc_allocator };
    if (size < 2) return 0;
    uint8_t kind = data[0];
    struct csni_span bytes = { data + 2, size - 2 };
    require(csni_breakpad_registers_of(csni_str(machines[data[1] % 6]), &registers));
    csni_unwind_table_init(&table, &csni_libc_allocator);
    if (kind & KIND_COMPACT) {
        read_compact(bytes, kind, &registers, &table, &text);
    } else if (kind & KIND_PE) {
        read_exceptions(bytes, kind & KIND_ARM64, &registers, &table, &text);
    } else {
        const struct csni_frame_section section = { .bytes = bytes, .addr = 0x5000, .address_size = kind & KIND_32_BITS ? 4 : 8,
                                                    .big_endian = kind & KIND_BIG_ENDIAN,
                                                    .is_debug_frame = kind & KIND_DEBUG_FRAME };
        read_frames(&section, &registers, &table, &text);
    }
    csni_unwind_table_deinit(&table);
    csni_buffer_deinit(&text);
    return 0;
}
