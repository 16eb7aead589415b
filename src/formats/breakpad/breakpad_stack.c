/* Writing STACK records. */
#include "formats/breakpad/breakpad_stack.h"

#include <stdio.h>

#include "formats/breakpad/breakpad_put.h"

/* ---- names of registers ---- */

/* Registers from `first` on: the names of a list, separated by blanks ("-": none), or `count` of one name and a number. */
struct register_run {
    uint8_t first, count;    /* count 0: `names` is a list */
    const char *names;
};

static const struct register_run x86[] = {
    { 0, 0, "$eax $ecx $edx $ebx $esp $ebp $esi $edi $eip $eflags" }, { 11, 8, "$st" }, { 21, 8, "$xmm" }, { 29, 8, "$mm" },
    { 37, 0, "$fcw $fsw $mxcsr $es $cs $ss $ds $fs $gs - - $tr $ldtr" }, { 0 }
};
static const struct register_run x86_64[] = {
    { 0, 0, "$rax $rdx $rcx $rbx $rsi $rdi $rbp $rsp $r8 $r9 $r10 $r11 $r12 $r13 $r14 $r15 $rip" }, { 17, 16, "$xmm" },
    { 33, 8, "$st" }, { 41, 8, "$mm" },
    { 49, 0, "$rflags $es $cs $ss $ds $fs $gs - - $fs.base $gs.base - - $tr $ldtr $mxcsr $fcw $fsw" }, { 0 }
};
static const struct register_run arm[] = {
    { 0, 13, "r" }, { 13, 0, "sp lr pc" }, { 16, 8, "f" }, { 24, 0, "fps cpsr" }, { 64, 32, "s" }, { 96, 8, "f" }, { 0 }
};
static const struct register_run arm64[] = { { 0, 31, "x" }, { 31, 0, "sp" }, { 64, 32, "v" }, { 0 } };
static const struct register_run ppc[] = {
    { 0, 32, "r" }, { 32, 32, "f" }, { 65, 0, "lr ctr" }, { 68, 8, "cr" }, { 76, 0, "xer" }, { 77, 32, "vr" }, { 110, 0, "vscr" },
    { 114, 0, "tfhar tfiar texasr" }, { 0 }
};
static const struct register_run mips[] = {
    { 0, 0, "$zero $at $v0 $v1 $a0 $a1 $a2 $a3 $t0 $t1 $t2 $t3 $t4 $t5 $t6 $t7 $s0 $s1 $s2 $s3 $s4 $s5 $s6 $s7 $t8 $t9 $k0 $k1 "
            "$gp $sp $fp $ra $lo $hi $pc" }, { 0 }
};

static const struct {
    const char *arch; /* or how it begins */
    const struct register_run *runs;
    uint16_t pc;
} machines[] = { { "i386", x86, 8 },
                 { "x86_64", x86_64, 16 },
                 { "arm64", arm64, CSNI_UNWIND_REGISTERS },
                 { "aarch64", arm64, CSNI_UNWIND_REGISTERS },
                 { "arm", arm, CSNI_UNWIND_REGISTERS },
                 { "ppc", ppc, CSNI_UNWIND_REGISTERS },
                 { "mips", mips, CSNI_UNWIND_REGISTERS } };

static void set_register_name(struct csni_breakpad_register *r, const char *text, size_t len) {
    memcpy(r->text, text, len);
    r->len = (uint8_t)len;
}

static void name_register_list(struct csni_breakpad_register *r, const char *p) {
    for (; *p; r++) {
        size_t len = strcspn(p, " ");
        if (*p != '-') set_register_name(r, p, len);
        p += len + (p[len] == ' ');
    }
}

static void name_registers(struct csni_breakpad_registers *out, const struct register_run *run) {
    for (; run->names; run++) {
        struct csni_breakpad_register *r = &out->names[run->first];
        if (!run->count) name_register_list(r, run->names);
        for (unsigned i = 0; i < run->count; i++) {
            char text[CSNI_BREAKPAD_REGISTER_NAME_MAX + 1];
            int len = snprintf(text, sizeof text, "%s%u", run->names, i);
            if (len > 0) set_register_name(&r[i], text, (size_t)len);
        }
    }
}

bool csni_breakpad_registers_of(struct csn_str arch, struct csni_breakpad_registers *out) {
    *out = (struct csni_breakpad_registers){ .pc = CSNI_UNWIND_REGISTERS };
    for (size_t i = 0; i < sizeof machines / sizeof *machines; i++) {
        size_t len = strlen(machines[i].arch);
        if (arch.len < len || memcmp(arch.ptr, machines[i].arch, len) != 0) continue;
        name_registers(out, machines[i].runs);
        out->pc = machines[i].pc;
        return true;
    }
    return false;
}

/* ---- rules ---- */

struct stack_writer {
    struct csni_buffer *t;
    const struct csni_breakpad_registers *registers;
    const struct csni_unwind_table *table;
    bool subtracts;
};

static void put_signed(struct csni_buffer *t, int64_t v) {
    enum { MOST = 20 };
    char digits[MOST];
    unsigned at = MOST;
    uint64_t rest = v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
    do digits[--at] = (char)('0' + rest % 10);
    while (rest /= 10);
    if (v < 0) csni_buffer_put(t, "-", 1);
    csni_buffer_put(t, digits + at, MOST - at);
}

/* False: it has no name. */
static bool put_register(struct stack_writer *w, uint64_t reg) {
    if (reg == CSNI_UNWIND_CFA) csni_breakpad_put_literal(w->t, ".cfa");
    else if (reg == CSNI_UNWIND_RETURN) csni_breakpad_put_literal(w->t, ".ra");
    else if (reg >= CSNI_UNWIND_REGISTERS || !w->registers->names[reg].len) return false;
    else csni_buffer_put(w->t, w->registers->names[reg].text, w->registers->names[reg].len);
    return true;
}

static void put_offset(struct stack_writer *w, const struct csni_unwind_rule *rule) {
    bool subtracts = w->subtracts && rule->base == CSNI_UNWIND_CFA && rule->offset != INT64_MIN;
    csni_breakpad_put_literal(w->t, " ");
    put_signed(w->t, subtracts ? -rule->offset : rule->offset);
    csni_breakpad_put_literal(w->t, subtracts ? " -" : " +");
}

static bool put_tokens(struct stack_writer *w, const struct csni_unwind_rule *rule) {
    static const char *const texts[] = { [CSNI_UNWIND_PUSH_CFA] = ".cfa",   [CSNI_UNWIND_ADD] = "+",
                                         [CSNI_UNWIND_SUBTRACT] = "-",      [CSNI_UNWIND_MULTIPLY] = "*",
                                         [CSNI_UNWIND_ALIGN] = "@",         [CSNI_UNWIND_LOAD] = "^" };
    for (uint32_t i = 0; i < rule->token_count; i++) {
        const struct csni_unwind_token *token = &w->table->tokens.items[rule->first_token + i];
        if (i) csni_breakpad_put_literal(w->t, " ");
        if (token->op == CSNI_UNWIND_PUSH_CONSTANT) put_signed(w->t, token->value);
        else if (token->op != CSNI_UNWIND_PUSH_REGISTER) csni_breakpad_put_literal(w->t, texts[token->op]);
        else if (!put_register(w, (uint64_t)token->value)) return false;
    }
    return true;
}

static bool put_rule_value(struct stack_writer *w, const struct csni_unwind_rule *rule) {
    switch (rule->kind) {
    case CSNI_UNWIND_VALUE:
    case CSNI_UNWIND_SAVED:
        if (!put_register(w, rule->base)) return false;
        put_offset(w, rule);
        if (rule->kind == CSNI_UNWIND_SAVED) csni_breakpad_put_literal(w->t, " ^");
        return true;
    case CSNI_UNWIND_REGISTER: return put_register(w, rule->base);
    case CSNI_UNWIND_EXPRESSION: return put_tokens(w, rule);
    case CSNI_UNWIND_NONE: csni_breakpad_put_literal(w->t, "0"); return true; /* readers take it for the end of the stack */
    default: csni_breakpad_put_literal(w->t, ".undef"); return true;
    }
}

/* Where x86 keeps its return address has to be told; that it is in the program counter comes from a rule that is missing. A
 * register of which nothing is known is left out, as not all readers know what ".undef" is and refuse all of the record. */
static bool is_rule_useful(const struct stack_writer *w, const struct csni_unwind_rule *rule) {
    if (rule->target == CSNI_UNWIND_RETURN) return rule->kind != CSNI_UNWIND_REGISTER || rule->base != w->registers->pc;
    return rule->target == CSNI_UNWIND_CFA || rule->kind != CSNI_UNWIND_UNKNOWN;
}

static void put_rule(struct stack_writer *w, const struct csni_unwind_rule *rule) {
    size_t before = w->t->size;
    if (!is_rule_useful(w, rule)) return;
    csni_breakpad_put_literal(w->t, " ");
    bool is_good = put_register(w, rule->target);
    if (is_good) csni_breakpad_put_literal(w->t, ": ");
    size_t value = w->t->size;
    if (is_good && put_rule_value(w, rule)) return;
    w->t->size = before;
    if (!is_good || rule->target < CSNI_UNWIND_REGISTERS) return;
    w->t->size = value; /* the value of the row before would be wrong */
    csni_breakpad_put_literal(w->t, ".undef");
}

/* False: no rule of it can be told. */
static bool put_row(struct stack_writer *w, const struct csni_unwind_row *row, uint64_t base, uint64_t init_size) {
    size_t before = w->t->size;
    csni_breakpad_put_literal(w->t, init_size ? "STACK CFI INIT " : "STACK CFI ");
    csni_breakpad_put_hex(w->t, row->addr - base, ' ');
    if (init_size) csni_breakpad_put_hex(w->t, init_size, ' ');
    if (w->t->failed) return false;
    size_t head = --w->t->size; /* rules begin with a blank */
    for (uint32_t i = 0; i < row->rule_count; i++) put_rule(w, &w->table->rules.items[row->first_rule + i]);
    bool has_rules = w->t->size != head;
    if (has_rules) csni_breakpad_put_literal(w->t, "\n");
    else w->t->size = before;
    return has_rules;
}

void csni_breakpad_put_stack(struct csni_buffer *t, const struct csni_breakpad_registers *registers,
                             const struct csni_unwind_table *table, uint64_t base, bool subtracts) {
    struct stack_writer w = { t, registers, table, subtracts };
    const struct csni_unwind_row *rows = table->rows.items;
    uint64_t end = table->start + table->size;
    if (!table->rows.count || rows[0].addr >= end) return;
    if (!put_row(&w, &rows[0], base, end - rows[0].addr)) return;
    for (size_t i = 1; i < table->rows.count; i++) put_row(&w, &rows[i], base, 0);
}

/* ---- STACK WIN ---- */

static struct csn_str trim(struct csn_str s) {
    while (s.len && (unsigned char)*s.ptr <= ' ') s.ptr++, s.len--;
    while (s.len && (unsigned char)s.ptr[s.len - 1] <= ' ') s.len--;
    return s;
}

void csni_breakpad_put_stack_win(struct csni_buffer *t, const struct csni_breakpad_stack_win *r) {
    csni_breakpad_put_literal(t, "STACK WIN ");
    const uint32_t fields[] = { r->type, r->rva, r->code_size, r->prologue_size, 0 /* epilogue */, r->parameter_size,
                                r->saved_register_size, r->local_size, r->max_stack_size, r->has_program };
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) csni_breakpad_put_hex(t, fields[i], ' ');
    if (r->has_program) csni_breakpad_put_name(t, trim(r->program), NULL);
    else csni_breakpad_put_literal(t, r->allocates_base_pointer ? "1\n" : "0\n");
}
