/* Traces of the Linux kernel: a function's name, the offset in it and the bytes up to the next symbol.
 *
 *     [   12.345678] RIP: 0010:do_thing+0x1a/0x50 [driver]
 *     [   12.345678]  ? do_thing+0x1a/0x50 [driver 0102...]      found on the stack, perhaps no caller
 *     [   12.345678]  [<ffffffff81001139>] do_thing+0x1a/0x50    older kernels
 *     [   12.345678] lr : do_thing+0x1a/0x50                     arm64: where the interrupted function returns to, perhaps
 *     [   12.345678] BUG: KASAN: slab-out-of-bounds in do_thing+0x1a/0x50 [driver]
 *     [   12.345678] WARNING: CPU: 0 PID: 42 at drivers/driver.c:12 do_thing+0x1a/0x50 [driver]
 *     [   12.345678] WARNING: drivers/driver.c:12 at do_thing+0x1a/0x50 [driver], CPU#3: orders/42       newer kernels
 *     [   12.345678]  do_thing+0x1a/0x50 (P)                     arm64: P interrupted there, L perhaps returns there
 *     [   12.345678] NIP [c000000000a1b2c4] do_thing+0x1a/0x50   PowerPC; "LR [" too
 *     [   12.345678] [c000000003f3f9f0] [c000000000a1b2c4] do_thing+0x1a/0x50 (unreliable)     the stack's place, and the pc
 *     [   12.345678] Krnl PSW : 0404c00180000000 00000000001a2b3c (do_thing+0x1a/0x50)           s390
 *     [   12.345678] ([<00000000001a2b3c>] do_thing+0x1a/0x50)   s390: found on the stack
 *     [   12.345678] TPC: <do_thing+0x1a/0x50>                   SPARC; 32 bits: "PC: <"
 *     [   12.345678] I7: <do_thing+0x1a/0x50>                    SPARC: the call itself, not where it returns to; "RPC: <", perhaps
 *     [   12.345678]  [0000000000404208] do_thing+0x1a/0x50      SPARC, too; with 8 digits, older OpenRISC
 *     [   12.345678] Caller[0000000000404208]: do_thing+0x1a/0x50
 *
 *     [   12.345678] PC is at do_thing+0x1a/0x50                 ARM, SH; "LR", "PR", "pc", "ra" and "ip", too: Alpha, IA-64
 *     [   12.345678]  IAOQ[0]: do_thing+0x1a/0x50                PA-RISC; "RP(r2): "
 *     [   12.345678] PC: [<0000a1b2>] do_thing+0x1a/0x50         m68k
 *
 * Kernels without kallsyms print addresses alone, which KASLR has moved by what a panic prints last:
 *
 *     [   12.345678] RIP: 0010:0xffffffff81001139
 *     [   12.345678]  ? 0xffffffff81001139                       after "Call Trace:"
 *     [   12.345678]  [<ffffffff81001139>] 0xffffffff81001139    older kernels
 *     [   12.345678] [<80d84fcc>] 0x80d84fcc [driver@80d80000+0x60780]      OpenWrt: the module's base and size, the base perhaps hashed
 *     [   12.345678] epc   : 8072b128 0x8072b128                 MIPS, which has names there too
 *     [   12.345678] [<c030e5b4>] (do_thing) from [<c030a130>] (caller+0x14/0x20)      arm
 *     [   12.345678]  do_thing from caller+0x14/0x20             arm since 5.16
 *     [   12.345678] IP: [<ffffffff81001139>] do_thing+0x1a/0x50     x86 before 4.20; "RIP: do_thing+0x1a/0x50 RSP: ...", "EIP is at" too
 *     [   12.345678]   ERA: 9000000000221e2c do_thing+0x1a/0x50      LoongArch; "ra: " too
 *     [   12.345678] Function entered at [<c010aff0>] from [<c01092ec>]
 *     [   12.345678] Kernel Offset: 0x2a000000 from 0xffffffff81000000
 *
 * The functions of return addresses are those of the byte before (%pB): the offset may be the function's size. */
#include "stack/dialects/dialects.h"
#include "stack/lines/inlined_group.h"
#include "stack/lines/line_scan.h"
#include "stack/lines/stack_fill.h"
#include "stack/lines/stack_modules.h"

struct kernel_state {
    bool in_trace;    /* "Call Trace:" was read, and nothing but frames since */
    bool at_first;    /* of these frames none was read */
    bool in_callers;  /* the line before was one of SPARC's "Caller[" */
    bool at_register; /* it was "I7: <", which the trace has, too */
    bool has_pc;      /* a register's line told where the kernel was interrupted, and no trace has followed: */
    uint64_t pc_name, pc_value; /* hash of the function, and the offset in it; or the address alone */
};

/* What stands before the function or the address of a frame. */
struct frame_lead {
    bool exact, unreliable;
    bool titled;    /* the line says that it is a frame */
    bool is_call, is_caller, is_register; /* SPARC: the address is the call's; "Caller["; "I7: <" */
};

static const char kernel_name[] = "vmlinux";

/* "[   12.345678]", and of dmesg -T, -e and -H: "[Sun Nov 22 20:00:01 2026]", "[  +0.000012]", "[Nov22 20:00]". */
static bool skip_dmesg_time(struct line_scan *s) {
    enum { TIME_MAX = 32 };
    struct line_scan at = *s;
    bool has_mark = false;
    if (!scan_char(&at, '[')) return false;
    for (; scan_peek(&at) && scan_peek(&at) != ']'; at.at++) {
        const char c = scan_peek(&at);
        const bool mark = c == '.' || c == ':', letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (!mark && !letter && !(c >= '0' && c <= '9') && c != ' ' && c != '+') return false;
        if (at.at - s->at > TIME_MAX) return false;
        has_mark |= mark;
    }
    if (!has_mark || !scan_char(&at, ']')) return false;
    *s = at;
    return true;
}

/* "kern  :warn  : " of dmesg -x. */
static void skip_level(struct line_scan *s) {
    static const char *const levels[] = { "emerg", "alert", "crit", "err", "warn", "notice", "info", "debug" };
    struct line_scan at = *s;
    if (!scan_text(&at, "kern ")) return;
    scan_blanks(&at);
    if (!scan_char(&at, ':')) return;
    for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++) {
        struct line_scan level = at;
        if (!scan_text(&level, levels[i])) continue;
        scan_blanks(&level);
        if (scan_text(&level, ": ")) *s = level;
    }
}

/* "(2)[123:init]" of MediaTek's kernels, "[2:    init:    1]" and "I[2:    init:    1]" of Samsung's: processor,
 * name and process. */
static void skip_vendor_caller(struct line_scan *s) {
    struct line_scan at = *s;
    uint64_t number;
    if (scan_char(&at, '(')) {
        if (!scan_number(&at, 10, &number) || !scan_char(&at, ')')) return;
    } else if (scan_peek(&at) == 'I') {
        at.at++;
    }
    size_t close;
    if (!scan_char(&at, '[')) return;
    scan_blanks(&at);
    if (!scan_number(&at, 10, &number) || !scan_char(&at, ':') || !scan_find(&at, "]", &close)) return;
    s->at = close + 1;
}

static void skip_time(struct line_scan *s) {
    size_t from = s->at;
    uint64_t number;
    if (scan_blanks(s)) from = s->at; /* of a quotation */
    if (scan_peek(s) == 'k') skip_level(s);
    from = s->at;
    /* "<4>" of a raw log, the time, "[  T123]" */
    if (scan_char(s, '<') && scan_number(s, 10, &number) && scan_char(s, '>')) from = s->at;
    s->at = from;
    skip_dmesg_time(s);
    scan_blanks(s);
    from = s->at;
    if (scan_char(s, '[')) {
        scan_blanks(s);
        if ((scan_char(s, 'T') || scan_char(s, 'C')) && scan_number(s, 10, &number) && scan_char(s, ']')) from = s->at;
        s->at = from;
    }
    if (memchr("([I", scan_peek(s), 3)) skip_vendor_caller(s);
    scan_blanks(s);
}

/* "do_thing+0x1a/0x50" */
static bool read_symbol(struct line_scan *s, struct line_frame *out) {
    struct csn_str word;
    size_t plus, from = s->at;
    if (!scan_word(s, &word)) return false;
    size_t end = s->at;
    struct line_scan part = { { s->line.ptr, end }, from };
    if (!scan_find_last(&part, '+', &plus) || plus == from) return false;
    part.at = plus + 1;
    if (!scan_hex(&part, &out->value) || !scan_char(&part, '/') || !scan_hex(&part, &out->symbol_size)) return false;
    scan_text(&part, "()"); /* of warnings before 4.5 */
    if (!scan_at_end(&part) || out->value > out->symbol_size) return false;
    out->symbol = (struct csn_str){ s->line.ptr + from, plus - from };
    return true;
}

/* " (P)": where the arm64 unwinder has the address from. Letters of which nothing follows are passed over. */
static bool read_source(struct line_scan *s, bool *exact, bool *unreliable) {
    if (!scan_char(s, '(')) return true;
    if (scan_text(s, "unreliable)")) return *unreliable = true;
    for (; strchr("CFKLPTU", scan_peek(s)) && !scan_at_end(s); s->at++) {
        if (scan_peek(s) == 'P') *exact = true;
        if (scan_peek(s) == 'L') *unreliable = true;
    }
    return scan_char(s, ')');
}

/* "[driver]" or "[driver 0102...]" */
static bool read_kernel_module(struct line_scan *s, struct line_frame *out) {
    out->module = (struct csn_str){ kernel_name, sizeof(kernel_name) - 1 };
    out->is_unnamed = !scan_char(s, '[');
    if (out->is_unnamed) return true;
    size_t from = s->at;
    while (!scan_at_end(s) && scan_peek(s) != ']' && scan_peek(s) != ' ') s->at++;
    out->module = (struct csn_str){ s->line.ptr + from, s->at - from };
    if (scan_char(s, ' ')) {
        from = s->at;
        while (!scan_at_end(s) && scan_peek(s) != ']') s->at++;
        build_id_parse((struct csn_str){ s->line.ptr + from, s->at - from }, &out->id);
    }
    return out->module.len && scan_char(s, ']');
}

/* What follows the function is no part of the frame. */
static bool cut_line(struct line_scan *s, const char *text) {
    size_t at;
    if (!scan_find(s, text, &at)) return false;
    s->line.len = at;
    return true;
}

/* "do_thing+0x1a/0x50 [driver], CPU#3: orders/42" */
static bool take_cpu(struct line_scan *s) { return cut_line(s, ", CPU#"); }

/* "RIP: 0010:", and of older kernels "RIP: do_thing+0x1a/0x50 RSP: ffffc90000e0bd58", "RIP  [<...>] ", "IP: ", "EIP is at ". */
static bool skip_x86_register(struct line_scan *s) {
    enum { PRIVILEGE = 3 };
    struct line_scan at = *s;
    uint64_t segment;
    if (!scan_text(&at, "RIP: ") && !scan_text(&at, "RIP  ") && !scan_text(&at, "RSP: ") && !scan_text(&at, "EIP: ")
        && !scan_text(&at, "EIP is at ") && !scan_text(&at, "IP: ") && !scan_text(&at, "IP is at "))
        return false;
    *s = at;
    if (scan_number(&at, 16, &segment) && scan_char(&at, ':')) {
        if ((segment & PRIVILEGE) != PRIVILEGE) *s = at; /* else it is a program's */
    } else if (!cut_line(s, " RSP: ")) cut_line(s, " SS:ESP ");
    return true;
}

/* "[c000000000a1b2c4] " */
static bool skip_bracketed(struct line_scan *s) {
    enum { DIGITS_MIN = 8 };
    struct line_scan at = *s;
    uint64_t value;
    if (!scan_char(&at, '[') || !scan_number(&at, 16, &value) || at.at - s->at <= DIGITS_MIN || !scan_text(&at, "] ")) return false;
    *s = at;
    return true;
}

/* PowerPC has the address in brackets: "NIP [c000000000a1b2c4] ", "[c000000003f3f9f0] [c000000000a1b2c4] ". */
static bool skip_powerpc(struct line_scan *s, bool *exact, bool *unreliable) {
    struct line_scan at = *s;
    const bool nip = scan_text(&at, "NIP "), lr = !nip && scan_text(&at, "LR ");
    if (!nip && !lr && !skip_bracketed(&at)) return false;
    if (!skip_bracketed(&at)) return false;
    *exact |= nip;
    *unreliable |= lr;
    *s = at;
    return true;
}

/* SPARC keeps the address of a call, to which it returns 8 bytes further on. */
static bool skip_sparc(struct line_scan *s, struct frame_lead *lead) {
    enum { WIDE_DIGITS = 16 };
    struct line_scan at = *s, value;
    uint64_t pc;
    const bool is_pc = scan_text(&at, "TPC: <") || scan_text(&at, "PC: <"), is_maybe = !is_pc && scan_text(&at, "RPC: <");
    if (is_pc || is_maybe || scan_text(&at, "I7: <")) {
        if (at.line.ptr[at.line.len - 1] != '>') return false;
        at.line.len--;
        lead->exact |= is_pc;
        lead->unreliable |= is_maybe;
        lead->is_call = !is_pc;
        lead->is_register = !is_pc && !is_maybe;
    } else {
        lead->is_caller = scan_text(&at, "Caller");
        value = at;
        if (!scan_char(&value, '[') || !scan_number(&value, 16, &pc)) return false;
        const size_t digits = value.at - at.at - 1;
        if ((digits != WIDE_DIGITS && digits != WIDE_DIGITS / 2) || !scan_text(&value, lead->is_caller ? "]: " : "] "))
            return false;
        lead->is_call = lead->is_caller || digits == WIDE_DIGITS;
        at = value;
    }
    *s = at;
    return true;
}

/* s390 has the frame in brackets: "Krnl PSW : 0404c00180000000 00000000001a2b3c (", "([<00000000001a2b3c>] ". */
static bool skip_s390(struct line_scan *s, bool *exact, bool *unreliable) {
    struct line_scan at = *s;
    uint64_t value;
    const bool psw = scan_text(&at, "Krnl PSW : ");
    if (psw && (!scan_number(&at, 16, &value) || !scan_char(&at, ' ') || !scan_number(&at, 16, &value) ||
                !scan_char(&at, ' ')))
        return false;
    if (!scan_char(&at, '(') || at.line.ptr[at.line.len - 1] != ')') return false;
    struct line_scan address = at;
    if (!psw && !scan_text(&address, "[<")) return false;
    *exact |= psw;
    *unreliable |= !psw;
    at.line.len--;
    *s = at;
    return true;
}

/* "BUG: KASAN: slab-out-of-bounds in " and "WARNING: CPU: 0 PID: 42 at drivers/driver.c:12 ": a function follows. */
static bool skip_report_title(struct line_scan *s) {
    struct line_scan at = *s;
    struct csn_str file;
    size_t found;
    if (scan_text(&at, "BUG: ") && scan_find(&at, " in ", &found)) {
        s->at = found + 4;
        return true;
    }
    at = *s;
    if (!scan_text(&at, "WARNING:") || !scan_find(&at, " at ", &found)) return false;
    s->at = at.at = found + 4;
    if (scan_text(&at, "0x") || take_cpu(s)) return true;
    if (!scan_word(&at, &file) || !scan_blanks(&at)) return false;
    *s = at;
    return true;
}

/* "epc   : 8072b128 " of MIPS, "ERA: 9000000000221e2c " of LoongArch: the address is before the name. */
static bool skip_register_value(struct line_scan *s, const char *name) {
    struct line_scan at = *s;
    uint64_t value;
    if (!scan_text(&at, name)) return false;
    scan_blanks(&at);
    if (!scan_text(&at, ": ") || !scan_number(&at, 16, &value) || !scan_char(&at, ' '))
        return false;
    *s = at;
    return true;
}

static bool skip_one_of(struct line_scan *s, const char *const *names) {
    while (*names && !scan_text(s, *names)) names++;
    return *names != NULL;
}

/* "PC: [<0000a1b2>] " of m68k; SPARC's is another. */
static bool skip_m68k(struct line_scan *s) {
    struct line_scan at = *s;
    if (!scan_text(&at, "PC: ") || scan_peek(&at) != '[') return false;
    *s = at;
    return true;
}

/* Registers that hold a pc or a return address, and "?". False: the line is no frame. */
static bool read_register(struct line_scan *s, bool *exact, bool *unreliable) {
    static const char *const pcs[] = { "pc : ", "epc : ", "PC is at ", "pc is at ", "ip is at ", "IAOQ[0]: ", "IAOQ[1]: ", NULL };
    static const char *const returns[] = { "lr : ", "ra : ", "LR is at ", "ra is at ", "PR is at ", "RP(r2): ", NULL };
    if (skip_x86_register(s) || skip_report_title(s) || skip_register_value(s, "epc") || skip_register_value(s, "ERA"))
        *exact = true;
    else if (skip_register_value(s, "ra")) *unreliable = true;
    else if (skip_m68k(s) || skip_one_of(s, pcs)) *exact = true;
    else if (skip_one_of(s, returns)) *unreliable = true;
    return true;
}

/* "[<c030e5b4>] (do_thing) from ", which the caller follows, in brackets. */
static bool skip_callee(struct line_scan *s) {
    struct line_scan at = *s;
    uint64_t callee;
    size_t found;
    if (!scan_text(&at, "[<") || !scan_number(&at, 16, &callee) || !scan_text(&at, ">] (") ||
        !scan_find(&at, ") from [<", &found))
        return false;
    s->at = found + strlen(") from ");
    return true;
}

/* " do_thing from ", " do_thing [driver] from ": the caller follows. */
static void skip_bare_callee(struct line_scan *s) {
    struct line_scan at = *s;
    struct csn_str word;
    if (!scan_word(&at, &word) || !scan_char(&at, ' ')) return;
    if (scan_peek(&at) == '[' && (!scan_word(&at, &word) || !scan_char(&at, ' '))) return;
    if (scan_text(&at, "from ")) *s = at;
}

/* MIPS has the first frame on the title's line. */
static bool skip_trace_title(struct line_scan *s) { return scan_text(s, "Call Trace:") || scan_text(s, "Call trace:"); }

static bool is_trace_mark(const struct line_scan *s) {
    static const char *const marks[] = { "<TASK>", "</TASK>", "<IRQ>", "</IRQ>", "<NMI>", "</NMI>" };
    for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
        struct line_scan at = *s;
        if (scan_text(&at, marks[i])) return true;
    }
    return false;
}

/* The byte before a function's first one is another function's, and so is the byte at its size. */
static uint32_t frame_flags(const struct line_frame *frame, bool exact) {
    bool is_end = frame->value && frame->value == frame->symbol_size;
    return (exact && !is_end) || !frame->value ? CSN_STACK_EXACT : CSN_STACK_RETURN;
}

/* "do_thing+0x1a/0x50 [driver] (P)" up to the end of the line. */
static bool read_named_frame(struct line_scan *s, struct line_frame *out, const struct frame_lead *lead) {
    bool exact = lead->exact || lead->is_call, unreliable = lead->unreliable;
    if (!read_symbol(s, out)) return false;
    out->fill_at = out->fill_end = s->at;
    scan_blanks(s);
    if (!read_kernel_module(s, out)) return false;
    scan_blanks(s);
    if (!read_source(s, &exact, &unreliable)) return false;
    scan_blanks(s);
    if (!scan_at_end(s)) return false;
    out->site = SITE_SYMBOL;
    out->flags = frame_flags(out, exact);
    if (unreliable) out->flags |= CSN_STACK_UNRELIABLE;
    return true;
}

/* ---- addresses alone ---- */

/* Of the upper half, where kernels are. */
static bool is_kernel_address(uint64_t value) { return value >> 63 || (value >> 31) == 1; }

/* "[driver@80d80000+0x60780]": the module's base and size. A base that does not fit the address was hashed. */
static bool read_based_module(struct line_scan *s, struct line_frame *out) {
    size_t from, end;
    uint64_t base, size;
    if (!scan_char(s, '[')) return true;
    from = s->at;
    if (!scan_find(s, "@", &end) || end == from) return false;
    s->at = end + 1;
    out->module = (struct csn_str){ s->line.ptr + from, end - from };
    out->is_unnamed = false;
    if (!scan_number(s, 16, &base) || !scan_char(s, '+') || !scan_hex(s, &size) || !scan_char(s, ']')) return false;
    if (out->value < base || out->value - base >= size) return true;
    out->value -= base;
    out->site = SITE_OFFSET;
    return true;
}

/* "0xffffffff81001139" up to the end of the line, or nothing after "[<ffffffff81001139>]". */
static bool read_raw_frame(struct line_scan *s, struct line_frame *out, const struct frame_lead *lead) {
    bool exact = lead->exact, unreliable = lead->unreliable;
    *out = (struct line_frame){ .site = SITE_PC, .value = out->pc, .is_unnamed = true,
                                .module = { kernel_name, sizeof(kernel_name) - 1 } };
    size_t end = s->at;
    while (end && s->line.ptr[end - 1] == ' ') end--;
    if (scan_hex(s, &out->value)) end = s->at;
    else if (!out->value) return false;
    out->fill_at = out->fill_end = end;
    out->pc = out->value;
    scan_blanks(s);
    if (!read_based_module(s, out)) return false;
    scan_blanks(s);
    if (!read_source(s, &exact, &unreliable)) return false;
    scan_blanks(s);
    if (!scan_at_end(s) || !is_kernel_address(out->pc)) return false;
    out->flags = exact ? CSN_STACK_EXACT : CSN_STACK_RETURN;
    if (unreliable) out->flags |= CSN_STACK_UNRELIABLE;
    return true;
}

/* "Function entered at [<c010aff0>] from [<c01092ec>]": the caller is the frame. */
static bool read_entered_frame(struct line_scan *s, struct line_frame *out) {
    const struct frame_lead nothing = { .titled = false };
    uint64_t entry;
    if (!scan_text(s, "Function entered at [<") || !scan_number(s, 16, &entry) || !scan_text(s, ">] from [<")) return false;
    return scan_number(s, 16, &out->pc) && scan_text(s, ">]") && read_raw_frame(s, out, &nothing);
}

/* ---- where the kernel is ---- */

/* "Kernel Offset: 0x2a000000 from 0xffffffff81000000", or "disabled". */
static bool read_kernel_offset(struct line_scan s, uint64_t *out) {
    if (!scan_text(&s, "Kernel Offset: ")) return false;
    *out = 0;
    return scan_text(&s, "disabled") || scan_hex(&s, out);
}

static bool begins_boot(struct line_scan s) { return scan_text(&s, "Linux version "); }

static enum search_step search(void *state, struct csn_str line) {
    struct line_scan s = scan_on(line);
    uint64_t bias;
    (void)state;
    skip_time(&s);
    return read_kernel_offset(s, &bias) || begins_boot(s) ? STEP_ENDS : STEP_ON;
}

static void end_search(void *state, struct stack_modules *modules, struct csn_str found) {
    struct line_scan s = scan_on(found);
    uint64_t bias;
    (void)state;
    skip_time(&s);
    if (read_kernel_offset(s, &bias)) stack_place_kernel_at(&modules->places, bias);
}

static bool read_kernel_event(struct line_scan s, struct stack_modules *modules) {
    uint64_t bias;
    if (read_kernel_offset(s, &bias)) stack_place_kernel_at(&modules->places, bias);
    else if (begins_boot(s)) stack_place_kernel_unknown(&modules->places);
    else return false;
    return true;
}

/* ---- lines ---- */

/* False: the line is no frame. */
static bool read_lead(struct line_scan *s, struct frame_lead *lead, struct line_frame *out) {
    if (!read_register(s, &lead->exact, &lead->unreliable)) return false;
    if (!lead->exact && !lead->unreliable && !skip_powerpc(s, &lead->exact, &lead->unreliable) &&
        !skip_s390(s, &lead->exact, &lead->unreliable) && !skip_sparc(s, lead))
        lead->is_caller = lead->is_call = lead->is_register = false;
    lead->titled = lead->exact || lead->unreliable;
    bool has_callee = skip_callee(s);
    if (!has_callee && !lead->titled) skip_bare_callee(s);
    while (scan_text(s, "[<")) { /* twice before 4.10: "RIP: 0010:[<...>]  [<...>] ..." */
        if (!scan_number(s, 16, &out->pc) || !scan_text(s, ">]")) return false;
        scan_blanks(s);
        lead->titled = true;
    }
    lead->unreliable |= scan_text(s, "? ");
    if (!has_callee) return true;
    if (!scan_char(s, '(') || s->line.ptr[s->line.len - 1] != ')') return false;
    s->line.len--;
    return true;
}

/* "Call Trace:" and what may stand between it and the frames. */
static bool read_trace_mark(struct kernel_state *kernel, struct line_scan *s) {
    const bool is_title = skip_trace_title(s), is_mark = is_trace_mark(s);
    scan_blanks(s);
    kernel->in_trace = is_title || (kernel->in_trace && is_mark);
    kernel->at_first = is_title || (kernel->at_first && is_mark);
    return is_mark || (is_title && scan_at_end(s));
}

/* Most machines' traces begin with the frame that was interrupted; only newer ones of arm64 say so, by "(P)". The
 * registers' lines before have that place, too. */
static bool is_interrupted(struct kernel_state *kernel, const struct frame_lead *lead, const struct line_frame *out,
                           bool is_first) {
    const uint64_t name = inlined_name_hash(out->symbol);
    if (lead->exact) {
        kernel->has_pc = true;
        kernel->pc_name = name;
        kernel->pc_value = out->value;
        return true;
    }
    if (!is_first) return false;
    const bool is_same = kernel->has_pc && name == kernel->pc_name && out->value == kernel->pc_value;
    kernel->has_pc = false;
    return is_same && !(out->flags & CSN_STACK_UNRELIABLE);
}

static enum line_kind read_kernel_line(void *state, struct stack_modules *modules, struct csn_str line, bool open,
                                       struct line_frame *out) {
    struct kernel_state *kernel = state;
    struct line_scan s = scan_on(line);
    struct frame_lead lead = { .titled = false };
    const bool was_in_trace = kernel->in_trace, was_at_first = kernel->at_first, was_in_callers = kernel->in_callers,
               was_at_register = kernel->at_register;
    kernel->in_callers = kernel->at_register = false;
    skip_time(&s);
    if (read_trace_mark(kernel, &s)) return open && !was_at_register ? KIND_INSIDE : kernel->in_trace ? KIND_CONTEXT : KIND_NONE;
    if (read_kernel_event(s, modules)) return KIND_CONTEXT;
    struct line_scan raw = s;
    bool named = false, found = read_entered_frame(&raw, out);
    if (!found) {
        if (!read_lead(&s, &lead, out)) return KIND_NONE;
        raw = s;
        named = read_named_frame(&s, out, &lead);
        found = named || (!lead.is_call && (lead.titled || was_in_trace || kernel->in_trace) && read_raw_frame(&raw, out, &lead));
    }
    if (!found) return KIND_NONE;
    const bool is_first = was_at_first || kernel->at_first || !open; /* on the title's line, of MIPS; without a title, of RISC-V */
    kernel->in_trace |= was_in_trace;
    if (!named && !modules->is_searched && stack_place_has_kernel(modules->session)) return KIND_AHEAD;
    kernel->at_first = false;
    kernel->in_callers = lead.is_caller;
    kernel->at_register = lead.is_register;
    if (lead.is_caller && !was_in_callers) return KIND_FIRST;
    if (!is_interrupted(kernel, &lead, out, is_first)) return KIND_FRAME;
    if (!lead.exact) out->flags = frame_flags(out, true);
    return KIND_FIRST;
}

/* " (kernel/sched.c:12, inlined into kernel/core.c:40)" after the offset. */
static void fill_kernel(struct line_filler *f) {
    bool open = false;
    if (!f->at->symbol.len) {
        fill_line_in_brackets(f);
        return;
    }
    fill_part(f, 0, f->at->fill_at);
    for (uint32_t k = 0; k < f->answer->frame_count; k++) {
        if (!fill_has_file(f, k)) continue;
        out_text(f->out, open ? ", inlined into " : " (");
        fill_file(f, k, false);
        open = true;
    }
    if (open) out_char(f->out, ')');
    fill_part(f, f->at->fill_at, f->text.len);
    fill_ending(f);
}

const struct stack_dialect kernel_dialect = { .name = "kernel", .marks = { MARK_OFFSET, MARK_KERNEL, MARK_COLON },
                                              .state_size = sizeof(struct kernel_state),
                                              .read = read_kernel_line, .search = search, .end_search = end_search,
                                              .fill = fill_kernel };
