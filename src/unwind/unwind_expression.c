/* A machine whose stack holds expressions: what is constant is computed, the rest is kept as tokens. */
#include "unwind/unwind_expression.h"

#include "base/core/cursor.h"

enum { DEPTH_MAX = 8 }; /* of the stack; real expressions use up to 4 */

enum {
    DW_OP_addr = 0x03, DW_OP_deref = 0x06, DW_OP_const1u = 0x08, DW_OP_const1s = 0x09, DW_OP_const2u = 0x0a,
    DW_OP_const2s = 0x0b, DW_OP_const4u = 0x0c, DW_OP_const4s = 0x0d, DW_OP_const8u = 0x0e, DW_OP_const8s = 0x0f,
    DW_OP_constu = 0x10, DW_OP_consts = 0x11, DW_OP_dup = 0x12, DW_OP_drop = 0x13, DW_OP_over = 0x14, DW_OP_swap = 0x16,
    DW_OP_and = 0x1a, DW_OP_minus = 0x1c, DW_OP_mul = 0x1e, DW_OP_neg = 0x1f, DW_OP_not = 0x20, DW_OP_or = 0x21,
    DW_OP_plus = 0x22, DW_OP_plus_uconst = 0x23, DW_OP_shl = 0x24, DW_OP_shr = 0x25, DW_OP_shra = 0x26, DW_OP_xor = 0x27,
    DW_OP_eq = 0x29, DW_OP_ge = 0x2a, DW_OP_gt = 0x2b, DW_OP_le = 0x2c, DW_OP_lt = 0x2d, DW_OP_ne = 0x2e,
    DW_OP_lit0 = 0x30, DW_OP_lit31 = 0x4f, DW_OP_breg0 = 0x70, DW_OP_breg31 = 0x8f, DW_OP_bregx = 0x92, DW_OP_nop = 0x96
};

struct value {
    struct csni_unwind_token tokens[CSNI_UNWIND_TOKENS_MAX];
    uint32_t count;
};

struct machine {
    const struct csni_unwind_expression_input *input;
    struct csni_cursor c;
    struct value stack[DEPTH_MAX];
    uint32_t depth;
    bool depends_on_pc, failed;
};

static bool is_constant(const struct value *v) { return v->count == 1 && v->tokens[0].op == CSNI_UNWIND_PUSH_CONSTANT; }

/* As a signed number of the machine's size. */
static int64_t wrap_constant(const struct machine *m, uint64_t v) {
    return m->input->address_size == 4 ? (int64_t)(int32_t)(uint32_t)v : (int64_t)v;
}

/* ---- the stack ---- */

static struct value *push_value(struct machine *m) {
    if (m->depth == DEPTH_MAX) m->failed = true;
    else m->depth++;
    struct value *v = &m->stack[m->depth - 1];
    v->count = 0;
    return v;
}

static void push_token(struct machine *m, enum csni_unwind_op op, int64_t value) {
    struct value *v = push_value(m);
    v->tokens[v->count++] = (struct csni_unwind_token){ (uint8_t)op, value };
}

static void push_constant(struct machine *m, uint64_t value) {
    push_token(m, CSNI_UNWIND_PUSH_CONSTANT, wrap_constant(m, value));
}

static bool has_depth(struct machine *m, uint32_t depth) {
    if (m->depth < depth) m->failed = true;
    return m->depth >= depth;
}

static void append_token(struct machine *m, struct value *v, struct csni_unwind_token token) {
    if (v->count == CSNI_UNWIND_TOKENS_MAX) m->failed = true;
    else v->tokens[v->count++] = token;
}

static void append_op(struct machine *m, enum csni_unwind_op op) {
    append_token(m, &m->stack[m->depth - 1], (struct csni_unwind_token){ (uint8_t)op, 0 });
}

/* ---- operations ---- */

static bool compute_constant(uint8_t op, int64_t a, int64_t b, uint64_t *out) {
    uint64_t ua = (uint64_t)a, ub = (uint64_t)b;
    switch (op) {
    case DW_OP_and: *out = ua & ub; return true;
    case DW_OP_or: *out = ua | ub; return true;
    case DW_OP_xor: *out = ua ^ ub; return true;
    case DW_OP_minus: *out = ua - ub; return true;
    case DW_OP_plus: *out = ua + ub; return true;
    case DW_OP_mul: *out = ua * ub; return true;
    case DW_OP_shl: *out = ub < 64 ? ua << ub : 0; return true;
    case DW_OP_eq: *out = a == b; return true;
    case DW_OP_ge: *out = a >= b; return true;
    case DW_OP_gt: *out = a > b; return true;
    case DW_OP_le: *out = a <= b; return true;
    case DW_OP_lt: *out = a < b; return true;
    case DW_OP_ne: *out = a != b; return true;
    default: return false; /* right shifts of narrow numbers: never seen */
    }
}

/* x AND -16 is x aligned down to 16. False: it is another mask. */
static bool turn_mask_to_alignment(struct value *mask) {
    int64_t v = mask->tokens[0].value;
    if (!is_constant(mask) || v >= 0 || v == INT64_MIN || (-v & (-v - 1))) return false;
    mask->tokens[0].value = -v;
    return true;
}

static bool token_of(uint8_t op, struct value *right, enum csni_unwind_op *out) {
    *out = op == DW_OP_plus ? CSNI_UNWIND_ADD : op == DW_OP_minus ? CSNI_UNWIND_SUBTRACT : CSNI_UNWIND_MULTIPLY;
    if (op == DW_OP_and) *out = CSNI_UNWIND_ALIGN;
    return op == DW_OP_and ? turn_mask_to_alignment(right) : op == DW_OP_plus || op == DW_OP_minus || op == DW_OP_mul;
}

/* x + 8 + 16 is x + 24, x + 0 is x. False: `left` has no such end. */
static bool fold_addition(struct machine *m, struct value *left, const struct value *right) {
    uint32_t n = left->count;
    bool ends_with_addition = n >= 3 && left->tokens[n - 1].op == CSNI_UNWIND_ADD &&
                              left->tokens[n - 2].op == CSNI_UNWIND_PUSH_CONSTANT;
    if (!is_constant(right) || (right->tokens[0].value && !ends_with_addition)) return false;
    if (!right->tokens[0].value) return true;
    uint64_t sum = (uint64_t)left->tokens[n - 2].value + (uint64_t)right->tokens[0].value;
    left->tokens[n - 2].value = wrap_constant(m, sum);
    if (!left->tokens[n - 2].value) left->count -= 2;
    return true;
}

static void run_binary(struct machine *m, uint8_t op) {
    if (!has_depth(m, 2)) return;
    struct value *left = &m->stack[m->depth - 2], *right = left + 1;
    enum csni_unwind_op token;
    uint64_t v;
    m->depth--;
    if (is_constant(left) && is_constant(right) && compute_constant(op, left->tokens[0].value, right->tokens[0].value, &v)) {
        left->tokens[0].value = wrap_constant(m, v);
    } else if (op == DW_OP_plus && fold_addition(m, left, right)) {
        return;
    } else if (token_of(op, right, &token)) {
        for (uint32_t i = 0; i < right->count; i++) append_token(m, left, right->tokens[i]);
        append_op(m, token);
    } else {
        m->failed = true;
    }
}

static void run_unary(struct machine *m, uint8_t op) {
    if (!has_depth(m, 1)) return;
    struct value *v = &m->stack[m->depth - 1];
    if (op == DW_OP_deref) {
        append_op(m, CSNI_UNWIND_LOAD);
    } else if (is_constant(v)) {
        uint64_t a = (uint64_t)v->tokens[0].value;
        v->tokens[0].value = wrap_constant(m, op == DW_OP_neg ? 0 - a : ~a);
    } else {
        m->failed = true;
    }
}

static void add_constant(struct machine *m, uint64_t value) {
    if (!value) return;
    push_constant(m, value);
    run_binary(m, DW_OP_plus);
}

static void push_register(struct machine *m, uint64_t number, int64_t offset) {
    if (number == m->input->pc_register) {
        m->depends_on_pc = true;
        push_constant(m, m->input->pc + (uint64_t)offset);
        return;
    }
    if (number >= CSNI_UNWIND_REGISTERS) m->failed = true;
    push_token(m, CSNI_UNWIND_PUSH_REGISTER, (int64_t)csni_unwind_register(number, m->input->swaps_esp_ebp));
    add_constant(m, (uint64_t)offset);
}

static void copy_value(struct machine *m, uint32_t below_top) {
    if (!has_depth(m, below_top + 1)) return;
    const struct value *from = &m->stack[m->depth - 1 - below_top];
    *push_value(m) = *from;
}

static void swap_values(struct machine *m) {
    if (!has_depth(m, 2)) return;
    struct value t = m->stack[m->depth - 1];
    m->stack[m->depth - 1] = m->stack[m->depth - 2];
    m->stack[m->depth - 2] = t;
}

/* ---- all ---- */

static void run_stack_op(struct machine *m, uint8_t op) {
    switch (op) {
    case DW_OP_nop: break;
    case DW_OP_dup: copy_value(m, 0); break;
    case DW_OP_over: copy_value(m, 1); break;
    case DW_OP_swap: swap_values(m); break;
    case DW_OP_drop: if (has_depth(m, 1)) m->depth--; break;
    case DW_OP_deref: case DW_OP_neg: case DW_OP_not: run_unary(m, op); break;
    default: run_binary(m, op);
    }
}

static void run_op(struct machine *m, uint8_t op) {
    struct csni_cursor *c = &m->c;
    if (op >= DW_OP_lit0 && op <= DW_OP_lit31) {
        push_constant(m, (uint64_t)op - DW_OP_lit0);
        return;
    }
    if (op >= DW_OP_breg0 && op <= DW_OP_breg31) {
        push_register(m, (uint64_t)op - DW_OP_breg0, csni_cursor_sleb(c));
        return;
    }
    switch (op) {
    case DW_OP_addr: push_constant(m, csni_cursor_uint(c, m->input->address_size)); break;
    case DW_OP_const1u: push_constant(m, csni_cursor_u8(c)); break;
    case DW_OP_const1s: push_constant(m, (uint64_t)(int64_t)(int8_t)csni_cursor_u8(c)); break;
    case DW_OP_const2u: push_constant(m, csni_cursor_u16(c)); break;
    case DW_OP_const2s: push_constant(m, (uint64_t)(int64_t)(int16_t)csni_cursor_u16(c)); break;
    case DW_OP_const4u: push_constant(m, csni_cursor_u32(c)); break;
    case DW_OP_const4s: push_constant(m, (uint64_t)(int64_t)(int32_t)csni_cursor_u32(c)); break;
    case DW_OP_const8u: case DW_OP_const8s: push_constant(m, csni_cursor_u64(c)); break;
    case DW_OP_constu: push_constant(m, csni_cursor_uleb(c)); break;
    case DW_OP_consts: push_constant(m, (uint64_t)csni_cursor_sleb(c)); break;
    case DW_OP_plus_uconst: if (has_depth(m, 1)) add_constant(m, csni_cursor_uleb(c)); break;
    case DW_OP_bregx: {
        uint64_t number = csni_cursor_uleb(c);
        push_register(m, number, csni_cursor_sleb(c));
        break;
    }
    default: run_stack_op(m, op);
    }
}

bool csni_unwind_expression_read(const struct csni_unwind_expression_input *input, struct csni_unwind_tokens *out) {
    struct machine m;
    m.input = input;
    m.c = csni_cursor_at(input->bytes, input->big_endian);
    m.depth = 0;
    m.depends_on_pc = m.failed = false;
    if (input->begins_with_cfa) push_token(&m, CSNI_UNWIND_PUSH_CFA, 0);
    while (csni_cursor_left(&m.c) && !m.failed) run_op(&m, csni_cursor_u8(&m.c));
    out->depends_on_pc = m.depends_on_pc;
    out->count = 0;
    if (m.failed || m.c.failed || !m.depth) return false;
    const struct value *result = &m.stack[m.depth - 1];
    out->count = result->count;
    memcpy(out->items, result->tokens, result->count * sizeof *result->tokens);
    return true;
}
