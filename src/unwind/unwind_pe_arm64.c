/* Unwind information of ARM64 Windows ("ARM64 exception handling" in Microsoft's documentation): codes of one to four bytes, in the
 * reverse order of the prologue, each for one instruction of 4 bytes. */
#include "base/core/cursor.h"
#include "object/pe/pe_layout.h"
#include "unwind/unwind_pe.h"

enum { CODES_MAX = 1024 };   /* 255 words */
enum { FP = 29, LR = 30, SP = 31, V0 = 64 };
enum { HEADER_VERSION_SHIFT = 18, HEADER_EPILOG_IN_HEADER = 1 << 21, HEADER_EPILOGS_SHIFT = 22, HEADER_WORDS_SHIFT = 27 };

enum arm64_op { ARM64_NOTHING, ARM64_ALLOC, ARM64_SAVE, ARM64_SAVE_NEXT, ARM64_SET_FP, ARM64_END, ARM64_UNKNOWN };
struct arm64_code {
    uint8_t op;              /* enum arm64_op */
    uint8_t first, second;   /* registers by DWARF's numbers; second 0: one register is saved */
    bool is_preindexed;      /* the stack grows by `offset` first */
    bool is_wide;            /* 16 bytes each */
    uint32_t offset;         /* from the stack pointer; of ARM64_ALLOC: how much it goes down */
};

/* ---- reading ---- */

static struct arm64_code save_code(unsigned first, bool is_pair, bool is_preindexed, uint32_t offset) {
    return (struct arm64_code){ .op = ARM64_SAVE, .first = (uint8_t)first, .second = is_pair ? (uint8_t)(first + 1) : 0,
                                .is_preindexed = is_preindexed, .offset = offset };
}

static struct arm64_code alloc_code(uint32_t size) { return (struct arm64_code){ .op = ARM64_ALLOC, .offset = size }; }

static struct arm64_code read_any_register(struct csni_cursor *c) {
    uint8_t b1 = csni_cursor_u8(c), b2 = csni_cursor_u8(c), kind = b2 >> 6;
    bool is_pair = b1 & 0x40, is_preindexed = b1 & 0x20, is_wide = kind == 2;
    uint32_t factor = is_pair || is_preindexed || is_wide ? 16 : 8, offset = (b2 & 0x3f) * factor;
    struct arm64_code code =
        save_code((b1 & 0x1f) + (kind ? V0 : 0u), is_pair, is_preindexed, is_preindexed ? offset + factor : offset);
    code.is_wide = is_wide;
    if ((b1 & 0x80) || kind == 3) code.op = ARM64_UNKNOWN;
    return code;
}

/* Codes of two bytes, by their high bits. */
static struct arm64_code read_two_bytes(uint8_t b0, struct csni_cursor *c) {
    uint32_t v = (uint32_t)b0 << 8 | csni_cursor_u8(c), z = (v & 0x3f) * 8, x4 = v >> 6 & 15, x3 = v >> 6 & 7;
    if (b0 < 0xc8) return alloc_code((v & 0x7ff) * 16);
    if (b0 < 0xcc) return save_code(19 + x4, true, false, z);
    if (b0 < 0xd0) return save_code(19 + x4, true, true, z + 8);
    if (b0 < 0xd4) return save_code(19 + x4, false, false, z);
    if (b0 < 0xd6) return save_code(19 + (v >> 5 & 15), false, true, (v & 0x1f) * 8 + 8);
    if (b0 < 0xd8) {
        struct arm64_code code = save_code(19 + 2 * x3, true, false, z);
        code.second = LR;
        return code;
    }
    if (b0 < 0xda) return save_code(V0 + 8 + x3, true, false, z);
    if (b0 < 0xdc) return save_code(V0 + 8 + x3, true, true, z + 8);
    if (b0 < 0xde) return save_code(V0 + 8 + x3, false, false, z);
    return save_code(V0 + 8 + (v >> 5 & 7), false, true, (v & 0x1f) * 8 + 8);
}

static struct arm64_code read_arm64_code(struct csni_cursor *c) {
    uint8_t b0 = csni_cursor_u8(c);
    if (b0 < 0x20) return alloc_code(b0 * 16u);
    if (b0 < 0x40) return save_code(19, true, true, (b0 & 0x1fu) * 8);
    if (b0 < 0x80) return save_code(FP, true, false, (b0 & 0x3fu) * 8);
    if (b0 < 0xc0) return save_code(FP, true, true, (b0 & 0x3fu) * 8 + 8);
    if (b0 < 0xdf) return read_two_bytes(b0, c);
    switch (b0) {
    case 0xe0: {
        uint32_t high = csni_cursor_u8(c), middle = csni_cursor_u8(c);
        return alloc_code((high << 16 | middle << 8 | csni_cursor_u8(c)) * 16);
    }
    case 0xe1: return (struct arm64_code){ .op = ARM64_SET_FP };
    case 0xe2: return (struct arm64_code){ .op = ARM64_SET_FP, .offset = csni_cursor_u8(c) * 8u };
    case 0xe3: return (struct arm64_code){ .op = ARM64_NOTHING };
    case 0xe4: case 0xe5: return (struct arm64_code){ .op = ARM64_END };
    case 0xe6: return (struct arm64_code){ .op = ARM64_SAVE_NEXT };
    case 0xe7: return read_any_register(c);
    case 0xfc: return (struct arm64_code){ .op = ARM64_NOTHING }; /* signs the return address: readers strip that */
    default: return (struct arm64_code){ .op = ARM64_UNKNOWN };
    }
}

/* False: damage, or something that is not known. */
static bool read_arm64_codes(struct csni_span bytes, struct arm64_code codes[CODES_MAX], unsigned *count) {
    struct csni_cursor c = csni_cursor_at(bytes, false);
    for (*count = 0; csni_cursor_left(&c) && *count < CODES_MAX; (*count)++) {
        struct arm64_code code = read_arm64_code(&c);
        if (c.failed || code.op == ARM64_UNKNOWN) return false;
        if (code.op == ARM64_END) break; /* what follows is for epilogues */
        codes[*count] = code;
    }
    return true;
}

/* The codes, and the function's size. */
static bool find_arm64_codes(struct csni_span xdata, uint64_t *size, struct csni_span *codes) {
    struct csni_cursor c = csni_cursor_at(xdata, false);
    uint32_t header = csni_cursor_u32(&c), epilogs = header >> HEADER_EPILOGS_SHIFT & 31, words = header >> HEADER_WORDS_SHIFT;
    *size = (uint64_t)(header & ARM_XDATA_LENGTH_MASK) * 4;
    if (header >> HEADER_VERSION_SHIFT & 3) return false;
    if (!epilogs && !words) {
        uint32_t extension = csni_cursor_u32(&c);
        epilogs = extension & 0xffff;
        words = extension >> 16 & 0xff;
    }
    if (!(header & HEADER_EPILOG_IN_HEADER)) csni_cursor_skip(&c, 4 * (uint64_t)epilogs);
    *codes = csni_cursor_bytes(&c, 4 * (uint64_t)words);
    return !c.failed;
}

/* ---- rules ---- */

struct arm64_state {
    struct csni_unwind_table *table;
    int64_t stack_size;      /* from the CFA down to the stack pointer */
    struct arm64_code last;  /* that saved a pair */
    bool has_frame_pointer;  /* the CFA is told from it, and the stack pointer may move */
    bool out_of_memory;
};

static void add_arm64_rule(struct arm64_state *s, struct csni_unwind_rule rule) {
    if (!csni_unwind_add_rule(s->table, rule)) s->out_of_memory = true;
}

static void add_arm64_cfa(struct arm64_state *s, uint16_t base, int64_t offset) {
    add_arm64_rule(
        s, (struct csni_unwind_rule){ .target = CSNI_UNWIND_CFA, .base = base, .kind = CSNI_UNWIND_VALUE, .offset = offset });
}

static void grow_stack(struct arm64_state *s, uint32_t size) {
    s->stack_size += size;
    if (!s->has_frame_pointer) add_arm64_cfa(s, SP, s->stack_size);
}

static void add_arm64_saved(struct arm64_state *s, uint8_t reg, int64_t offset) {
    uint16_t target = reg == LR ? CSNI_UNWIND_RETURN : reg;
    if (reg >= V0) return; /* readers do not follow vector registers */
    add_arm64_rule(
        s, (struct csni_unwind_rule){ .target = target, .base = CSNI_UNWIND_CFA, .kind = CSNI_UNWIND_SAVED, .offset = offset });
}

static void save_registers(struct arm64_state *s, struct arm64_code code) {
    if (code.is_preindexed) {
        grow_stack(s, code.offset);
        code.offset = 0;
    }
    int64_t at = (int64_t)code.offset - s->stack_size;
    add_arm64_saved(s, code.first, at);
    if (code.second) add_arm64_saved(s, code.second, at + (code.is_wide ? 16 : 8));
    s->last = code;
}

/* The pair after the one saved last, right above it. */
static bool save_next_pair(struct arm64_state *s) {
    struct arm64_code code = s->last;
    if (code.op != ARM64_SAVE || code.second != code.first + 1) return false;
    code.first += 2;
    code.second += 2;
    code.offset += code.is_wide ? 32 : 16;
    code.is_preindexed = false;
    save_registers(s, code);
    return true;
}

static bool run_arm64_code(struct arm64_state *s, const struct arm64_code *code) {
    switch (code->op) {
    case ARM64_ALLOC: grow_stack(s, code->offset); return true;
    case ARM64_SAVE: save_registers(s, *code); return true;
    case ARM64_SAVE_NEXT: return save_next_pair(s);
    case ARM64_SET_FP:
        s->has_frame_pointer = true;
        add_arm64_cfa(s, FP, s->stack_size - code->offset);
        return true;
    default: return true;
    }
}

/* Rules hold behind the instruction that makes them. */
static bool run_prologue(struct arm64_state *s, const struct arm64_code *codes, unsigned count) {
    struct csni_unwind_table *t = s->table;
    if (!csni_unwind_add_row(t, t->start)) s->out_of_memory = true;
    if (s->out_of_memory) return true;
    add_arm64_cfa(s, SP, 0);
    add_arm64_rule(s, (struct csni_unwind_rule){ .target = CSNI_UNWIND_RETURN, .base = LR, .kind = CSNI_UNWIND_REGISTER });
    for (unsigned i = 0; i < count && !s->out_of_memory && 4 * (uint64_t)(i + 1) < t->size; i++) {
        size_t rules = t->rules.count;
        if (!csni_unwind_add_row(t, t->start + 4 * (uint64_t)(i + 1))) s->out_of_memory = true;
        else if (!run_arm64_code(s, &codes[count - 1 - i])) return false;
        if (!s->out_of_memory && t->rules.count == rules) t->rows.count--;
    }
    return true;
}

bool csni_unwind_pe_arm64(const struct csni_unwind_pe *pe, const uint8_t *entry, struct csni_unwind_table *table,
                          enum csni_unwind_result *result) {
    uint32_t begin = csni_get32(entry, false), data = csni_get32(entry + 4, false);
    struct arm64_code codes[CODES_MAX];
    struct arm64_state s = { .table = table };
    struct csni_span xdata, bytes;
    uint64_t size;
    unsigned count;
    *result = CSNI_UNWIND_SKIPPED;
    if ((!begin && !data) || (data & ARM_FLAG_MASK) != ARM_FLAG_XDATA) return true; /* padding; packed data, which is not read */
    *result = CSNI_UNWIND_DAMAGED;
    csni_unwind_begin(table, pe->image_base + begin, 0);
    if (!pe->bytes_at(pe->context, data, &xdata) || !find_arm64_codes(xdata, &size, &bytes)) return true;
    if (!read_arm64_codes(bytes, codes, &count)) return true;
    csni_unwind_begin(table, pe->image_base + begin, size);
    if (run_prologue(&s, codes, count)) *result = CSNI_UNWIND_OK;
    else csni_unwind_begin(table, table->start, 0);
    return !s.out_of_memory;
}
