/* Runs the instructions of a CIE and an FDE (DWARF 5, 6.4.2). Each time the location advances, the rules that have changed since
 * the last row become a row.
 *
 * Rules of a state are kept in the order in which they came, which is that of the output: Mozilla's dump_syms has the same. */
#include "unwind/unwind_dwarf.h"

#include "base/core/fail.h"
#include "unwind/unwind_expression.h"

enum {
    DW_CFA_advance_loc = 0x40, DW_CFA_offset = 0x80, DW_CFA_restore = 0xc0, /* with an operand in the low 6 bits */
    DW_CFA_nop = 0x00, DW_CFA_set_loc = 0x01, DW_CFA_advance_loc1 = 0x02, DW_CFA_advance_loc2 = 0x03, DW_CFA_advance_loc4 = 0x04,
    DW_CFA_offset_extended = 0x05, DW_CFA_restore_extended = 0x06, DW_CFA_undefined = 0x07, DW_CFA_same_value = 0x08,
    DW_CFA_register = 0x09, DW_CFA_remember_state = 0x0a, DW_CFA_restore_state = 0x0b, DW_CFA_def_cfa = 0x0c,
    DW_CFA_def_cfa_register = 0x0d, DW_CFA_def_cfa_offset = 0x0e, DW_CFA_def_cfa_expression = 0x0f, DW_CFA_expression = 0x10,
    DW_CFA_offset_extended_sf = 0x11, DW_CFA_def_cfa_sf = 0x12, DW_CFA_def_cfa_offset_sf = 0x13, DW_CFA_val_offset = 0x14,
    DW_CFA_val_offset_sf = 0x15, DW_CFA_val_expression = 0x16, DW_CFA_MIPS_advance_loc8 = 0x1d,
    DW_CFA_AARCH64_negate_ra_state_with_pc = 0x2c, DW_CFA_AARCH64_negate_ra_state = 0x2d, DW_CFA_GNU_args_size = 0x2e,
    DW_CFA_GNU_negative_offset_extended = 0x2f
};
enum { SAVED_STATES_MAX = 64 }; /* nested; compilers use one or two */
enum { MOST_OPERAND = 0x3f };

enum rule_kind {
    RULE_NONE, RULE_UNDEFINED, RULE_SAME, RULE_OFFSET, RULE_VAL_OFFSET, RULE_REGISTER, RULE_EXPRESSION, RULE_VAL_EXPRESSION
};
struct frame_rule {
    uint8_t kind;            /* of the CFA: RULE_VAL_OFFSET (of `base`), RULE_EXPRESSION or RULE_NONE */
    uint16_t base;
    int64_t offset;
    struct csni_span expression;
};

struct frame_state {
    struct frame_rule cfa;
    struct frame_rule rules[CSNI_UNWIND_REGISTERS];
    uint8_t order[CSNI_UNWIND_REGISTERS]; /* registers that have a rule */
    uint32_t count;
};

struct saved_rule {
    uint16_t target;         /* CSNI_UNWIND_CFA is the last of its state */
    struct frame_rule rule;
};

struct csni_unwind_dwarf {
    const struct csn_allocator *alloc;
    const struct csni_frame_section *section;
    struct csni_frame_cie cie;
    struct frame_state now, written;
    struct frame_state initial;        /* after the instructions of the CIE at `initial_off` */
    uint64_t initial_off;
    bool is_initial_damaged;
    CSNI_VEC(struct saved_rule) saved; /* of all remembered states */
    uint32_t saved_states;
    struct csni_frame_fde fde;
    struct csni_unwind_table *table;
    uint64_t loc, end;
    uint64_t pc_left;                  /* steps that expressions may still take in this FDE, for each of many addresses */
    uint64_t work;                     /* see csni_unwind_dwarf_take_work() */
    bool in_cie, is_damaged, is_done;  /* is_done: the rest is behind the function's end */
    bool out_of_memory;
};

/* ---- states ---- */

static void clear_state(struct frame_state *s) {
    for (uint32_t i = 0; i < s->count; i++) s->rules[s->order[i]].kind = RULE_NONE;
    s->count = 0;
    s->cfa.kind = RULE_NONE;
}

static void set_frame_rule(struct frame_state *s, uint64_t target, struct frame_rule rule) {
    if (target >= CSNI_UNWIND_REGISTERS) return;
    if (s->rules[target].kind == RULE_NONE) s->order[s->count++] = (uint8_t)target;
    s->rules[target] = rule;
}

/* `target`: of one that is known. The last one takes its place in the order. */
static void clear_frame_rule(struct frame_state *s, uint64_t target) {
    if (s->rules[target].kind == RULE_NONE) return;
    s->rules[target].kind = RULE_NONE;
    uint32_t i = 0;
    while (s->order[i] != target) i++;
    s->order[i] = s->order[--s->count];
}

static void copy_state(struct frame_state *to, const struct frame_state *from) {
    clear_state(to);
    to->cfa = from->cfa;
    for (uint32_t i = 0; i < from->count; i++) set_frame_rule(to, from->order[i], from->rules[from->order[i]]);
}

static bool is_equal_rule(const struct frame_rule *a, const struct frame_rule *b) {
    if (a->kind != b->kind) return false;
    switch (a->kind) {
    case RULE_OFFSET: return a->offset == b->offset;
    case RULE_VAL_OFFSET: return a->base == b->base && a->offset == b->offset;
    case RULE_REGISTER: return a->base == b->base;
    case RULE_EXPRESSION:
    case RULE_VAL_EXPRESSION:
        return a->expression.size == b->expression.size &&
               (!a->expression.size || memcmp(a->expression.ptr, b->expression.ptr, a->expression.size) == 0);
    default: return true;
    }
}

static void push_saved(struct csni_unwind_dwarf *u, uint16_t target, const struct frame_rule *rule) {
    struct saved_rule saved = { target, *rule };
    if (!csni_vec_push(&u->saved, saved)) u->out_of_memory = true;
}

static void remember_state(struct csni_unwind_dwarf *u) {
    if (u->saved_states++ == SAVED_STATES_MAX) {
        u->is_damaged = true;
        return;
    }
    /* In reverse, so that taking them from the end restores the order. */
    push_saved(u, CSNI_UNWIND_CFA, &u->now.cfa);
    for (uint32_t i = u->now.count; i-- > 0;) push_saved(u, u->now.order[i], &u->now.rules[u->now.order[i]]);
}

static void restore_state(struct csni_unwind_dwarf *u) {
    if (!u->saved.count) {
        u->is_damaged = true;
        return;
    }
    clear_state(&u->now);
    while (u->saved.count) {
        struct saved_rule *r = &u->saved.items[--u->saved.count];
        if (r->target == CSNI_UNWIND_CFA) {
            u->now.cfa = r->rule;
            break;
        }
        set_frame_rule(&u->now, r->target, r->rule);
    }
    u->saved_states--;
}

/* ---- rows ---- */

static void add_frame_rule(struct csni_unwind_dwarf *u, struct csni_unwind_rule rule) {
    if (!csni_unwind_add_rule(u->table, rule)) u->out_of_memory = true;
}

static bool is_return_register(const struct csni_unwind_dwarf *u, uint16_t reg) { return reg == u->cie.return_register; }

static bool read_rule_expression(const struct csni_unwind_dwarf *u, const struct frame_rule *rule, bool is_cfa, uint64_t pc,
                                 struct csni_unwind_tokens *out) {
    const struct csni_unwind_expression_input input = {
        .bytes = rule->expression, .big_endian = u->section->big_endian, .address_size = u->cie.address_size,
        .begins_with_cfa = !is_cfa, .swaps_esp_ebp = u->section->swaps_esp_ebp, .pc = pc,
        .pc_register = u->cie.return_register < CSNI_UNWIND_REGISTERS ? (uint16_t)u->cie.return_register : UINT16_MAX
    };
    return csni_unwind_expression_read(&input, out);
}

static void add_tokens(struct csni_unwind_dwarf *u, struct csni_unwind_rule *rule, const struct csni_unwind_tokens *tokens) {
    rule->kind = CSNI_UNWIND_EXPRESSION;
    rule->first_token = (uint32_t)u->table->tokens.count;
    rule->token_count = tokens->count;
    for (uint32_t i = 0; i < tokens->count; i++)
        if (!csni_vec_push(&u->table->tokens, tokens->items[i])) u->out_of_memory = true;
}

/* Whether the CFA's expression gives the same at every address. */
static bool needs_pc(const struct csni_unwind_dwarf *u) {
    struct csni_unwind_tokens tokens;
    if (u->now.cfa.kind != RULE_EXPRESSION) return false;
    (void)read_rule_expression(u, &u->now.cfa, true, u->loc, &tokens);
    return tokens.depends_on_pc;
}

static void add_cfa_rule(struct csni_unwind_dwarf *u, const struct frame_rule *rule, uint64_t pc) {
    struct csni_unwind_tokens tokens;
    struct csni_unwind_rule out = {
        .target = CSNI_UNWIND_CFA, .kind = CSNI_UNWIND_VALUE, .base = rule->base, .offset = rule->offset
    };
    if (rule->kind != RULE_VAL_OFFSET) {
        out.kind = CSNI_UNWIND_UNKNOWN;
        if (rule->kind == RULE_EXPRESSION && read_rule_expression(u, rule, true, pc, &tokens)) add_tokens(u, &out, &tokens);
    }
    add_frame_rule(u, out);
}

static void add_expression_rule(struct csni_unwind_dwarf *u, struct csni_unwind_rule *out, const struct frame_rule *rule) {
    struct csni_unwind_tokens tokens;
    out->kind = CSNI_UNWIND_UNKNOWN;
    if (!read_rule_expression(u, rule, false, u->loc, &tokens) || tokens.depends_on_pc) return;
    if (rule->kind == RULE_EXPRESSION) {
        if (tokens.count == CSNI_UNWIND_TOKENS_MAX) return;
        tokens.items[tokens.count++] = (struct csni_unwind_token){ CSNI_UNWIND_LOAD, 0 };
    }
    add_tokens(u, out, &tokens);
}

static void add_register_rule(struct csni_unwind_dwarf *u, uint16_t reg, const struct frame_rule *rule) {
    struct csni_unwind_rule out = { .target = is_return_register(u, reg) ? CSNI_UNWIND_RETURN : reg, .base = CSNI_UNWIND_CFA,
                                    .offset = rule->offset };
    switch (rule->kind) {
    case RULE_NONE: /* restored */
    case RULE_SAME: out.kind = CSNI_UNWIND_REGISTER; out.base = reg; break;
    case RULE_OFFSET: out.kind = CSNI_UNWIND_SAVED; break;
    case RULE_VAL_OFFSET: out.kind = CSNI_UNWIND_VALUE; break;
    case RULE_REGISTER: out.kind = CSNI_UNWIND_REGISTER; out.base = rule->base; break;
    case RULE_UNDEFINED: out.kind = is_return_register(u, reg) ? CSNI_UNWIND_NONE : CSNI_UNWIND_UNKNOWN; break;
    default: add_expression_rule(u, &out, rule);
    }
    add_frame_rule(u, out);
}

static void add_changed_rules(struct csni_unwind_dwarf *u) {
    struct frame_state *now = &u->now, *written = &u->written;
    if (!is_equal_rule(&now->cfa, &written->cfa)) add_cfa_rule(u, &now->cfa, u->loc);
    written->cfa = now->cfa;
    for (uint32_t i = 0; i < now->count; i++) {
        uint8_t reg = now->order[i];
        if (is_equal_rule(&now->rules[reg], &written->rules[reg])) continue;
        add_register_rule(u, reg, &now->rules[reg]);
        set_frame_rule(written, reg, now->rules[reg]);
    }
    for (uint32_t i = 0; i < written->count;) {
        uint8_t reg = written->order[i];
        if (now->rules[reg].kind != RULE_NONE) {
            i++;
            continue;
        }
        add_register_rule(u, reg, &now->rules[reg]);
        clear_frame_rule(written, reg); /* another takes its place */
    }
}

/* Where nothing says otherwise the return address is still in its register, on machines that have one. */
static void add_default_return(struct csni_unwind_dwarf *u) {
    if (u->cie.return_register >= CSNI_UNWIND_REGISTERS) return;
    uint16_t reg = (uint16_t)u->cie.return_register;
    if (u->now.rules[reg].kind != RULE_NONE) return;
    struct csni_unwind_rule rule = { .target = CSNI_UNWIND_RETURN, .base = reg, .kind = CSNI_UNWIND_REGISTER };
    add_frame_rule(u, rule);
}

static bool is_equal_tokens(const struct csni_unwind_tokens *a, const struct csni_unwind_tokens *b) {
    if (a->count != b->count) return false;
    for (uint32_t i = 0; i < a->count; i++)
        if (a->items[i].op != b->items[i].op || a->items[i].value != b->items[i].value) return false;
    return true;
}

/* Of a CFA that depends on the address: a row for each address where it changes. */
static void add_pc_rows(struct csni_unwind_dwarf *u, uint64_t end) {
    struct csni_unwind_tokens tokens, before;
    bool has_before = read_rule_expression(u, &u->now.cfa, true, u->loc, &before);
    uint64_t cost_each = 1 + u->now.cfa.expression.size;
    if (end - u->loc > u->pc_left / cost_each) return;
    u->pc_left -= (end - u->loc) * cost_each;
    u->work += (end - u->loc) * cost_each;
    for (uint64_t pc = u->loc + 1; pc < end && !u->out_of_memory; pc++) {
        bool has_tokens = read_rule_expression(u, &u->now.cfa, true, pc, &tokens);
        if (has_tokens == has_before && (!has_tokens || is_equal_tokens(&tokens, &before))) continue;
        if (!csni_unwind_add_row(u->table, pc)) u->out_of_memory = true;
        else add_cfa_rule(u, &u->now.cfa, pc);
        before = tokens;
        has_before = has_tokens;
    }
    u->written.cfa.kind = RULE_NONE; /* not what the last row has */
}

/* What holds from u->loc to `next`. */
static void finish_row(struct csni_unwind_dwarf *u, uint64_t next) {
    struct csni_unwind_table *t = u->table;
    size_t rules = t->rules.count;
    if (next == u->loc || u->in_cie) return;
    if (!csni_unwind_add_row(t, u->loc)) {
        u->out_of_memory = true;
        return;
    }
    add_changed_rules(u);
    if (t->rows.count == 1) add_default_return(u);
    if (t->rules.count == rules) t->rows.count--;
    if (needs_pc(u)) add_pc_rows(u, next);
}

static void advance(struct csni_unwind_dwarf *u, uint64_t next) {
    if (u->in_cie || next < u->loc) {
        u->is_damaged = true;
        return;
    }
    if (next >= u->end) next = u->end;
    finish_row(u, next);
    u->loc = next;
    u->is_done = next == u->end;
}

static void advance_by(struct csni_unwind_dwarf *u, uint64_t factored) {
    uint64_t delta = factored * u->cie.code_align;
    if (u->cie.code_align && delta / u->cie.code_align != factored) delta = UINT64_MAX;
    advance(u, delta > u->end - u->loc ? u->end : u->loc + delta);
}

/* ---- instructions ---- */

static uint64_t own_register(const struct csni_unwind_dwarf *u, uint64_t reg) {
    return csni_unwind_register(reg, u->section->swaps_esp_ebp);
}

static uint64_t read_register(const struct csni_unwind_dwarf *u, struct csni_cursor *c) {
    return own_register(u, csni_cursor_uleb(c));
}

static int64_t multiply_offset(uint64_t factored, int64_t align) { return (int64_t)(factored * (uint64_t)align); }

static void set_cfa(struct csni_unwind_dwarf *u, uint64_t reg, int64_t offset) {
    u->now.cfa = (struct frame_rule){ .kind = RULE_VAL_OFFSET, .base = (uint16_t)reg, .offset = offset };
    if (reg >= CSNI_UNWIND_REGISTERS) u->now.cfa.kind = RULE_NONE;
}

static void change_cfa(struct csni_unwind_dwarf *u, const uint64_t *reg, const int64_t *offset) {
    struct frame_rule cfa = u->now.cfa;
    if (cfa.kind != RULE_VAL_OFFSET) u->is_damaged = true;
    else set_cfa(u, reg ? *reg : cfa.base, offset ? *offset : cfa.offset);
}

static void restore_rule(struct csni_unwind_dwarf *u, uint64_t reg) {
    if (reg >= CSNI_UNWIND_REGISTERS) return;
    if (u->initial.rules[reg].kind == RULE_NONE) clear_frame_rule(&u->now, reg);
    else set_frame_rule(&u->now, reg, u->initial.rules[reg]);
}

static void set_offset_rule(struct csni_unwind_dwarf *u, enum rule_kind kind, uint64_t reg, int64_t offset) {
    set_frame_rule(&u->now, reg, (struct frame_rule){ .kind = (uint8_t)kind, .base = CSNI_UNWIND_CFA, .offset = offset });
}

static void set_register_rule(struct csni_unwind_dwarf *u, uint64_t reg, uint64_t base) {
    if (base >= CSNI_UNWIND_REGISTERS) set_frame_rule(&u->now, reg, (struct frame_rule){ .kind = RULE_UNDEFINED });
    else set_frame_rule(&u->now, reg, (struct frame_rule){ .kind = RULE_REGISTER, .base = (uint16_t)base });
}

static struct csni_span read_block(struct csni_cursor *c) { return csni_cursor_bytes(c, csni_cursor_uleb(c)); }

static void run_register_instruction(struct csni_unwind_dwarf *u, struct csni_cursor *c, uint8_t op) {
    uint64_t reg = read_register(u, c);
    int64_t align = u->cie.data_align;
    switch (op) {
    case DW_CFA_offset_extended: set_offset_rule(u, RULE_OFFSET, reg, multiply_offset(csni_cursor_uleb(c), align)); break;
    case DW_CFA_offset_extended_sf:
        set_offset_rule(u, RULE_OFFSET, reg, multiply_offset((uint64_t)csni_cursor_sleb(c), align));
        break;
    case DW_CFA_GNU_negative_offset_extended:
        set_offset_rule(u, RULE_OFFSET, reg, multiply_offset(0 - csni_cursor_uleb(c), align));
        break;
    case DW_CFA_val_offset: set_offset_rule(u, RULE_VAL_OFFSET, reg, multiply_offset(csni_cursor_uleb(c), align)); break;
    case DW_CFA_val_offset_sf:
        set_offset_rule(u, RULE_VAL_OFFSET, reg, multiply_offset((uint64_t)csni_cursor_sleb(c), align));
        break;
    case DW_CFA_restore_extended: restore_rule(u, reg); break;
    case DW_CFA_undefined: set_frame_rule(&u->now, reg, (struct frame_rule){ .kind = RULE_UNDEFINED }); break;
    case DW_CFA_same_value: set_frame_rule(&u->now, reg, (struct frame_rule){ .kind = RULE_SAME }); break;
    case DW_CFA_register: set_register_rule(u, reg, read_register(u, c)); break;
    case DW_CFA_expression:
        set_frame_rule(&u->now, reg, (struct frame_rule){ .kind = RULE_EXPRESSION, .expression = read_block(c) });
        break;
    case DW_CFA_val_expression:
        set_frame_rule(&u->now, reg, (struct frame_rule){ .kind = RULE_VAL_EXPRESSION, .expression = read_block(c) });
        break;
    default: u->is_damaged = true; /* unknown, and so is where the next one begins */
    }
}

static void run_cfa_instruction(struct csni_unwind_dwarf *u, struct csni_cursor *c, uint8_t op) {
    uint64_t reg = 0;
    int64_t offset = 0;
    if (op == DW_CFA_def_cfa || op == DW_CFA_def_cfa_sf || op == DW_CFA_def_cfa_register) reg = read_register(u, c);
    if (op == DW_CFA_def_cfa || op == DW_CFA_def_cfa_offset) offset = (int64_t)csni_cursor_uleb(c);
    if (op == DW_CFA_def_cfa_sf || op == DW_CFA_def_cfa_offset_sf)
        offset = multiply_offset((uint64_t)csni_cursor_sleb(c), u->cie.data_align);
    switch (op) {
    case DW_CFA_def_cfa:
    case DW_CFA_def_cfa_sf: set_cfa(u, reg, offset); break;
    case DW_CFA_def_cfa_register: change_cfa(u, &reg, NULL); break;
    case DW_CFA_def_cfa_offset:
    case DW_CFA_def_cfa_offset_sf: change_cfa(u, NULL, &offset); break;
    default: u->now.cfa = (struct frame_rule){ .kind = RULE_EXPRESSION, .expression = read_block(c) };
    }
}

static void set_location(struct csni_unwind_dwarf *u, struct csni_cursor *c, uint64_t addr) {
    uint64_t loc = csni_frame_pointer_read(u->section, &u->cie, c, addr);
    if (!c->failed) advance(u, loc);
}

/* `addr`: of the first instruction. */
static void run_instruction(struct csni_unwind_dwarf *u, struct csni_cursor *c, uint64_t addr) {
    uint8_t byte = csni_cursor_u8(c), operand = byte & MOST_OPERAND, op = byte & (uint8_t)~MOST_OPERAND;
    if (op == DW_CFA_offset)
        set_offset_rule(u, RULE_OFFSET, own_register(u, operand), multiply_offset(csni_cursor_uleb(c), u->cie.data_align));
    else if (op == DW_CFA_restore) restore_rule(u, own_register(u, operand));
    else if (op == DW_CFA_advance_loc) advance_by(u, operand);
    else switch (byte) {
        case DW_CFA_nop:
        case DW_CFA_AARCH64_negate_ra_state:
        case DW_CFA_AARCH64_negate_ra_state_with_pc: break; /* readers strip signatures of pointers themselves */
        case DW_CFA_GNU_args_size: csni_cursor_uleb(c); break;
        case DW_CFA_set_loc: set_location(u, c, addr); break;
        case DW_CFA_advance_loc1: advance_by(u, csni_cursor_u8(c)); break;
        case DW_CFA_advance_loc2: advance_by(u, csni_cursor_u16(c)); break;
        case DW_CFA_advance_loc4: advance_by(u, csni_cursor_u32(c)); break;
        case DW_CFA_MIPS_advance_loc8: advance_by(u, csni_cursor_u64(c)); break;
        case DW_CFA_remember_state: remember_state(u); break;
        case DW_CFA_restore_state: restore_state(u); break;
        case DW_CFA_def_cfa: case DW_CFA_def_cfa_register: case DW_CFA_def_cfa_offset: case DW_CFA_def_cfa_expression:
        case DW_CFA_def_cfa_sf: case DW_CFA_def_cfa_offset_sf: run_cfa_instruction(u, c, byte); break;
        default: run_register_instruction(u, c, byte);
    }
}

static void run_instructions(struct csni_unwind_dwarf *u, struct csni_span bytes, uint64_t addr) {
    struct csni_cursor c = csni_cursor_at(bytes, u->section->big_endian);
    u->work += bytes.size;
    while (csni_cursor_left(&c) && !u->is_damaged && !u->is_done && !u->out_of_memory) {
        run_instruction(u, &c, addr);
        u->is_damaged |= c.failed;
    }
}

/* ---- functions ---- */

static void run_cie(struct csni_unwind_dwarf *u) {
    clear_state(&u->now);
    clear_state(&u->initial); /* nothing to restore to */
    u->in_cie = true;
    run_instructions(u, u->cie.instructions, 0);
    u->in_cie = false;
    copy_state(&u->initial, &u->now);
    u->initial_off = u->cie.off;
    u->is_initial_damaged = u->is_damaged;
}

static void run_fde(struct csni_unwind_dwarf *u) {
    u->saved.count = u->saved_states = 0;
    u->is_damaged = u->is_done = false;
    u->loc = u->fde.start;
    u->end = u->fde.start + u->fde.size;
    u->pc_left = CSNI_UNWIND_PC_STEPS_MAX;
    if (u->initial_off != u->cie.off) run_cie(u);
    u->is_damaged = u->is_initial_damaged;
    if (!u->is_damaged) {
        copy_state(&u->now, &u->initial);
        clear_state(&u->written);
        u->saved.count = u->saved_states = 0;
        run_instructions(u, u->fde.instructions, u->fde.instructions_addr);
    }
    if (!u->is_damaged) finish_row(u, u->end);
    /* What follows an instruction that cannot be read is not known. */
    if (u->is_damaged) u->table->size = u->loc - u->fde.start;
}

csn_status csni_unwind_dwarf_read(struct csni_unwind_dwarf *u, uint64_t off, uint64_t *next, struct csni_unwind_table *table,
                                  enum csni_unwind_result *result, struct csn_error *err) {
    struct csni_frame_record record;
    *result = CSNI_UNWIND_SKIPPED;
    CSNI_TRY(csni_frame_record_read(u->section, off, &record, next, err));
    if (record.ends_list || record.is_cie) return CSN_OK;
    csni_unwind_begin(table, 0, 0);
    bool is_readable = csni_frame_fde_read(u->section, &record, &u->cie, &u->fde);
    if (!is_readable && u->cie.is_usable && !record.body.failed) return CSN_OK;
    *result = CSNI_UNWIND_DAMAGED;
    if (!is_readable || !u->cie.has_instructions) return CSN_OK;
    u->table = table;
    csni_unwind_begin(table, u->fde.start, u->fde.size);
    run_fde(u);
    if (u->out_of_memory) return csni_fail_memory(err, 0);
    if (!u->is_damaged) *result = CSNI_UNWIND_OK;
    return CSN_OK;
}

csn_status csni_unwind_dwarf_create(const struct csni_frame_section *section, const struct csn_allocator *alloc,
                                    struct csni_unwind_dwarf **out, struct csn_error *err) {
    struct csni_unwind_dwarf *u = csni_alloc_zeroed(alloc, 1, sizeof *u);
    if (!u) return csni_fail_memory(err, sizeof *u);
    u->alloc = u->saved.alloc = alloc;
    csni_unwind_dwarf_use(u, section);
    *out = u;
    return CSN_OK;
}

void csni_unwind_dwarf_use(struct csni_unwind_dwarf *u, const struct csni_frame_section *section) {
    u->section = section;
    u->cie.off = u->initial_off = UINT64_MAX;
}

uint64_t csni_unwind_dwarf_take_work(struct csni_unwind_dwarf *u) {
    uint64_t work = u->work;
    u->work = 0;
    return work;
}

void csni_unwind_dwarf_destroy(struct csni_unwind_dwarf *u) {
    if (!u) return;
    csni_vec_deinit(&u->saved);
    csni_free(u->alloc, u, sizeof *u);
}
