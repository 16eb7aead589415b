/* Unwind information of x86-64 Windows ("x64 exception handling" in Microsoft's documentation). The codes of a function stand in
 * the reverse order of its prologue, and those of a part that was moved elsewhere continue those of its parent. */
#include "base/core/cursor.h"
#include "object/pe/pe_layout.h"
#include "unwind/unwind_pe.h"

enum { PARENTS_MAX = 32, SLOTS_MAX = 256 };
enum { UWOP_PUSH_NONVOL, UWOP_ALLOC_LARGE, UWOP_ALLOC_SMALL, UWOP_SET_FPREG, UWOP_SAVE_NONVOL, UWOP_SAVE_NONVOL_FAR, UWOP_EPILOG,
       UWOP_SPARE_CODE, UWOP_SAVE_XMM128, UWOP_SAVE_XMM128_FAR, UWOP_PUSH_MACHFRAME };
enum { RSP = 7 };

/* By Windows' numbers. */
static const uint8_t dwarf_register[16] = { 0, 2, 1, 3, 7, 6, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15 };

struct x64_info {
    struct csni_span codes;  /* 2 bytes each */
    uint8_t version, frame_register;
    uint32_t frame_offset;   /* of the frame register from the stack pointer when it was set */
};

struct x64_code {
    uint8_t op, info;
    uint32_t operand;
};

struct x64_state {
    struct csni_unwind_table *table;
    int64_t stack_size;      /* from the CFA down to the stack pointer */
    struct csni_unwind_rule cfa;
    bool has_frame_register, has_machine_frame;
    bool out_of_memory;
};

/* ---- reading ---- */

/* The information of one entry and the entry it continues; `parent` NULL: none. False: damage. */
static bool read_x64_info(const struct csni_unwind_pe *pe, uint32_t rva, struct x64_info *out, const uint8_t **parent) {
    struct csni_span bytes, rest;
    *parent = NULL;
    if (!pe->bytes_at(pe->context, rva, &bytes) || bytes.size < UNWIND_HEADER_SIZE) return false;
    uint8_t count = bytes.ptr[2];
    *out = (struct x64_info){ .version = bytes.ptr[0] & 7, .frame_register = bytes.ptr[3] & 15,
                              .frame_offset = 16u * (bytes.ptr[3] >> 4) };
    if (!csni_span_sub(bytes, UNWIND_HEADER_SIZE, 2u * count, &out->codes) || out->version < 1 || out->version > 2) return false;
    if (!((bytes.ptr[0] >> UNWIND_FLAGS_SHIFT) & UNW_FLAG_CHAININFO)) return true;
    uint64_t codes = ((uint64_t)count + 1) / 2 * 4;
    if (!csni_span_sub(bytes, UNWIND_HEADER_SIZE + codes, RUNTIME_FUNCTION_SIZE, &rest)) return false;
    *parent = rest.ptr;
    return true;
}

/* Follows entries that stand for others. */
static bool find_x64_info(const struct csni_unwind_pe *pe, const uint8_t *entry, uint32_t *out) {
    *out = csni_get32(entry + 8, false);
    for (int i = 0; *out & RUNTIME_FUNCTION_INDIRECT; i++) {
        struct csni_span bytes;
        if (i == PARENTS_MAX || !pe->bytes_at(pe->context, *out - RUNTIME_FUNCTION_INDIRECT, &bytes)) return false;
        if (bytes.size < RUNTIME_FUNCTION_SIZE) return false;
        *out = csni_get32(bytes.ptr + 8, false);
    }
    return true;
}

/* Slots that follow the first one; 3: an operation that is not known. */
static unsigned operand_slots(const struct x64_info *info, uint8_t op, uint8_t op_info) {
    switch (op) {
    case UWOP_ALLOC_LARGE: return op_info < 2 ? op_info + 1u : 3;
    case UWOP_SAVE_NONVOL: case UWOP_SAVE_XMM128: return 1;
    case UWOP_SAVE_NONVOL_FAR: case UWOP_SAVE_XMM128_FAR: return 2;
    case UWOP_EPILOG: return info->version == 1; /* version 1: it saves the low half of an XMM register */
    case UWOP_SPARE_CODE: return info->version == 1 ? 2 : 1;
    case UWOP_PUSH_MACHFRAME: return op_info < 2 ? 0 : 3;
    default: return op < UWOP_EPILOG ? 0 : 3;
    }
}

/* In the order of the prologue. False: damage. */
static bool read_x64_codes(const struct x64_info *info, struct x64_code codes[SLOTS_MAX], unsigned *out_count) {
    struct csni_cursor c = csni_cursor_at(info->codes, false);
    unsigned count = 0;
    while (csni_cursor_left(&c)) {
        struct x64_code code;
        csni_cursor_skip(&c, 1);
        uint8_t byte = csni_cursor_u8(&c);
        code.op = byte & 15;
        code.info = byte >> 4;
        unsigned slots = operand_slots(info, code.op, code.info);
        if (slots == 3) return false;
        code.operand = (uint32_t)csni_cursor_uint(&c, 2 * slots);
        if (c.failed) return false;
        codes[count++] = code;
    }
    for (unsigned i = 0; i < count / 2; i++) {
        struct x64_code t = codes[i];
        codes[i] = codes[count - 1 - i];
        codes[count - 1 - i] = t;
    }
    *out_count = count;
    return true;
}

/* ---- rules ---- */

static void add_x64_rule(struct x64_state *s, uint16_t target, uint16_t base, int64_t offset) {
    struct csni_unwind_rule rule = { .target = target, .base = base, .kind = CSNI_UNWIND_SAVED, .offset = offset };
    if (!csni_unwind_add_rule(s->table, rule)) s->out_of_memory = true;
}

/* The CPU pushed SS, RSP, flags, CS, RIP and perhaps an error code; what the function's caller pushed is none of these. */
static void add_machine_frame(struct x64_state *s, bool has_error_code) {
    add_x64_rule(s, RSP, CSNI_UNWIND_CFA, -(s->stack_size + 16));
    add_x64_rule(s, CSNI_UNWIND_RETURN, CSNI_UNWIND_CFA, -(s->stack_size + 40));
    s->stack_size += has_error_code ? 48 : 40;
    s->has_machine_frame = true;
}

static void save_register(struct x64_state *s, const struct x64_info *info, uint8_t number, uint32_t offset) {
    uint8_t target = dwarf_register[number];
    if (!info->frame_register) add_x64_rule(s, target, CSNI_UNWIND_CFA, (int64_t)offset - s->stack_size);
    else add_x64_rule(s, target, dwarf_register[info->frame_register], (int64_t)offset - info->frame_offset);
}

static void run_x64_code(struct x64_state *s, const struct x64_info *info, const struct x64_code *code) {
    switch (code->op) {
    case UWOP_PUSH_NONVOL:
        s->stack_size += 8;
        add_x64_rule(s, dwarf_register[code->info], CSNI_UNWIND_CFA, -s->stack_size);
        break;
    case UWOP_ALLOC_LARGE: s->stack_size += code->info ? (int64_t)code->operand : 8 * (int64_t)code->operand; break;
    case UWOP_ALLOC_SMALL: s->stack_size += 8 * code->info + 8; break;
    case UWOP_SET_FPREG:
        s->cfa.base = dwarf_register[info->frame_register];
        s->cfa.offset = s->stack_size - info->frame_offset;
        s->has_frame_register = true;
        break;
    case UWOP_SAVE_NONVOL: save_register(s, info, code->info, 8 * code->operand); break;
    case UWOP_SAVE_NONVOL_FAR: save_register(s, info, code->info, code->operand); break;
    case UWOP_PUSH_MACHFRAME: add_machine_frame(s, code->info); break;
    default: break; /* XMM registers, epilogues */
    }
}

/* The codes of the outermost parent come first: it has the beginning of the prologue. */
static bool run_x64_chain(struct x64_state *s, const struct x64_info *infos, unsigned count) {
    while (count-- > 0) {
        struct x64_code codes[SLOTS_MAX];
        unsigned code_count;
        if (!read_x64_codes(&infos[count], codes, &code_count)) return false;
        for (unsigned i = 0; i < code_count; i++) run_x64_code(s, &infos[count], &codes[i]);
    }
    return true;
}

static bool read_x64_chain(const struct csni_unwind_pe *pe, const uint8_t *entry, struct x64_info infos[PARENTS_MAX],
                           unsigned *count) {
    for (*count = 0; entry; (*count)++) {
        uint32_t rva;
        if (*count == PARENTS_MAX || !find_x64_info(pe, entry, &rva) || !read_x64_info(pe, rva, &infos[*count], &entry))
            return false;
    }
    return true;
}

/* The CFA's rule is the first. */
static void finish_x64_rules(struct x64_state *s) {
    if (!s->has_frame_register) s->cfa.offset = s->stack_size;
    s->table->rules.items[0] = s->cfa;
    if (!s->has_machine_frame) add_x64_rule(s, CSNI_UNWIND_RETURN, CSNI_UNWIND_CFA, -8);
}

bool csni_unwind_pe_x64(const struct csni_unwind_pe *pe, const uint8_t *entry, struct csni_unwind_table *table,
                        enum csni_unwind_result *result) {
    uint32_t begin = csni_get32(entry, false), end = csni_get32(entry + 4, false);
    struct x64_info infos[PARENTS_MAX];
    unsigned count;
    struct x64_state s = { .table = table, .stack_size = 8 };
    s.cfa = (struct csni_unwind_rule){ .target = CSNI_UNWIND_CFA, .base = RSP, .kind = CSNI_UNWIND_VALUE };
    *result = CSNI_UNWIND_SKIPPED;
    if (!begin && !end) return true; /* padding */
    *result = CSNI_UNWIND_DAMAGED;
    csni_unwind_begin(table, pe->image_base + begin, 0);
    if (end <= begin || !read_x64_chain(pe, entry, infos, &count)) return true;
    table->size = end - begin;
    if (!csni_unwind_add_row(table, table->start) || !csni_unwind_add_rule(table, s.cfa)) return false;
    if (run_x64_chain(&s, infos, count)) {
        finish_x64_rules(&s);
        *result = CSNI_UNWIND_OK;
    } else {
        csni_unwind_begin(table, table->start, 0);
    }
    return !s.out_of_memory;
}
