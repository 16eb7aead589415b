/* What the words of compact unwind information mean. */
#include "base/core/endian.h"
#include "unwind/unwind_compact.h"

enum { UNWIND_X86_MODE_FRAME = 1, UNWIND_X86_MODE_STACK_IMMD = 2, UNWIND_X86_MODE_STACK_IND = 3 };
enum { UNWIND_ARM64_MODE_FRAMELESS = 2, UNWIND_ARM64_MODE_FRAME = 4, UNWIND_ARM64_PAIRS = 5 };
enum { SAVED_MAX = 6, FP_ARM64 = 29, LR_ARM64 = 30, SP_ARM64 = 31 };

struct compact_rules {
    const struct csni_unwind_compact *compact;
    struct csni_unwind_table *table;
    bool out_of_memory;
};

static void add_compact_rule(struct compact_rules *r, struct csni_unwind_rule rule) {
    if (!csni_unwind_add_rule(r->table, rule)) r->out_of_memory = true;
}

static void put_cfa(struct compact_rules *r, uint16_t base, int64_t offset) {
    add_compact_rule(
        r, (struct csni_unwind_rule){ .target = CSNI_UNWIND_CFA, .base = base, .kind = CSNI_UNWIND_VALUE, .offset = offset });
}

static void put_saved(struct compact_rules *r, uint16_t target, int64_t offset) {
    add_compact_rule(
        r, (struct csni_unwind_rule){ .target = target, .base = CSNI_UNWIND_CFA, .kind = CSNI_UNWIND_SAVED, .offset = offset });
}

/* ---- x86, x86-64 ---- */

struct x86_machine {
    int64_t word;              /* bytes of a pointer */
    uint16_t sp, bp;
    uint8_t registers[7];      /* by their numbers in a word, from 1 on */
};
static const struct x86_machine x86_32 = { 4, 4, 5, { 0, 3, 1, 2, 7, 6, 5 } }, x86_64 = { 8, 7, 6, { 0, 3, 12, 13, 14, 15, 6 } };

static bool put_bp_frame(struct compact_rules *r, const struct x86_machine *m, uint32_t word) {
    int64_t at = -2 * m->word - (int64_t)(word >> 16 & 0xff) * m->word;
    put_cfa(r, m->bp, 2 * m->word);
    put_saved(r, m->bp, -2 * m->word);
    put_saved(r, CSNI_UNWIND_RETURN, -m->word);
    for (unsigned i = 0; i < 5; i++, at += m->word) {
        uint32_t number = word >> 3 * i & 7;
        if (number == 7) return false;
        if (number) put_saved(r, m->registers[number], at);
    }
    return true;
}

/* Which registers are saved and in which order: a number to a mixed base, each digit the rank among those that are left. */
static void decode_permutation(uint32_t permutation, unsigned count, uint8_t numbers[SAVED_MAX]) {
    uint32_t digits[SAVED_MAX] = { 0 }, left = 7 - count; /* base of the last digit */
    bool used[7] = { false };
    for (unsigned i = count; i-- > 0; left++) {
        digits[i] = permutation % left;
        permutation /= left;
    }
    for (unsigned i = 0; i < count; i++) {
        uint32_t rank = 0;
        for (uint8_t u = 1; u < 7; u++) {
            if (used[u] || rank++ != digits[i]) continue;
            numbers[i] = u;
            used[u] = true;
            break;
        }
    }
}

static bool put_frameless(struct compact_rules *r, const struct x86_machine *m, uint32_t word, int64_t stack_size) {
    uint8_t numbers[SAVED_MAX] = { 0 };
    unsigned count = word >> 10 & 7;
    if (count > SAVED_MAX) return false;
    decode_permutation(word & 0x3ff, count, numbers);
    put_cfa(r, m->sp, stack_size);
    put_saved(r, CSNI_UNWIND_RETURN, -m->word);
    for (unsigned i = 0; i < count; i++) put_saved(r, m->registers[numbers[count - 1 - i]], -m->word * (int64_t)(i + 2));
    return true;
}

/* The size stands in the function's own code, in the instruction that makes the frame; pushes before it are added. */
static bool put_frameless_by_code(struct compact_rules *r, const struct x86_machine *m, uint32_t word) {
    struct csni_span code;
    uint64_t place = r->table->start + (word >> 16 & 0xff);
    if (!r->compact->code_at(r->compact->context, place, &code) || code.size < 4) return false;
    return put_frameless(r, m, word, (int64_t)csni_get32(code.ptr, false) + (int64_t)(word >> 13 & 7) * m->word);
}

static bool put_x86_rules(struct compact_rules *r, const struct x86_machine *m, uint32_t word) {
    switch (word >> 24 & 15) {
    case 0: /* not described: a function that has no stack of its own, at best. Code without any word is one */
        if (word & 0xffffff) return false;
        put_cfa(r, m->sp, m->word);
        put_saved(r, CSNI_UNWIND_RETURN, -m->word);
        return true;
    case UNWIND_X86_MODE_FRAME: return put_bp_frame(r, m, word);
    case UNWIND_X86_MODE_STACK_IMMD: return put_frameless(r, m, word, (int64_t)(word >> 16 & 0xff) * m->word);
    case UNWIND_X86_MODE_STACK_IND: return put_frameless_by_code(r, m, word);
    default: return false;
    }
}

/* ---- ARM64 ---- */

/* Pairs of registers below the frame pointer's, each if its bit is set; then pairs of vector registers, which
 * readers do not follow. */
static void put_arm64_frame(struct compact_rules *r, uint32_t word) {
    int64_t at = -24;
    put_cfa(r, FP_ARM64, 16);
    put_saved(r, FP_ARM64, -16);
    put_saved(r, CSNI_UNWIND_RETURN, -8);
    for (unsigned i = 0; i < UNWIND_ARM64_PAIRS; i++) {
        if (!(word >> i & 1)) continue;
        put_saved(r, (uint16_t)(19 + 2 * i), at);
        put_saved(r, (uint16_t)(20 + 2 * i), at - 8);
        at -= 16;
    }
}

static bool put_arm64_rules(struct compact_rules *r, uint32_t word) {
    unsigned mode = word >> 24 & 15;
    if (mode == UNWIND_ARM64_MODE_FRAME) {
        put_arm64_frame(r, word);
        return true;
    }
    if (mode != UNWIND_ARM64_MODE_FRAMELESS && (mode || (word & 0xffffff))) return false;
    uint8_t kind = mode ? CSNI_UNWIND_VALUE : CSNI_UNWIND_REGISTER; /* as dump_syms tells the two apart */
    int64_t stack_size = mode ? (int64_t)(word >> 12 & 0xfff) * 16 : 0;
    add_compact_rule(r,
                     (struct csni_unwind_rule){ .target = CSNI_UNWIND_CFA, .base = SP_ARM64, .kind = kind, .offset = stack_size });
    add_compact_rule(r, (struct csni_unwind_rule){ .target = CSNI_UNWIND_RETURN, .base = LR_ARM64, .kind = kind });
    return true;
}

bool csni_unwind_compact_rules(const struct csni_unwind_compact *c, uint32_t word, struct csni_unwind_table *table,
                               bool *out_of_memory) {
    struct compact_rules r = { .compact = c, .table = table };
    bool is_known = false;
    if (!csni_unwind_add_row(table, table->start)) r.out_of_memory = true;
    else if (c->machine == CSNI_COMPACT_ARM64) is_known = put_arm64_rules(&r, word);
    else is_known = put_x86_rules(&r, c->machine == CSNI_COMPACT_X86 ? &x86_32 : &x86_64, word);
    *out_of_memory = r.out_of_memory;
    if (!is_known) csni_unwind_begin(table, table->start, 0);
    return is_known;
}
