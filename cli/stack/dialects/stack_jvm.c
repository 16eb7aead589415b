/* The JVM's hs_err files and its message on a crash: native frames.
 *
 *     #  SIGSEGV (0xb) at pc=0x00007f1af12fe161, pid=42, tid=43
 *     # C  [liborders.so+0x1161]  orders_load+0x9
 *     C  [liborders.so+0x1161]  orders_load+0x9          C: native code
 *     V  [libjvm.so+0x8282d2]  JavaCalls::call_helper(JavaValue*)+0x302        V: the JVM itself
 *     C  0x0000000000000000                       in no library
 *     j  Orders.load(Ljava/lang/String;)V+0              interpreted and compiled Java, and stubs: no native addresses
 *
 * The first frame was interrupted if it is where the signal's pc is; where a call of no function went to, the caller
 * is the first one. Offsets count from the library's first byte. The list "Dynamic libraries:", lines of
 * /proc/PID/maps, comes after the frames: of a file it is read first (jvm_libraries.c). */
#include "stack/dialects/dialects.h"
#include "stack/lines/line_scan.h"
#include "stack/lines/stack_fill.h"
#include "stack/lines/stack_place.h"

struct jvm_state {
    uint64_t signal_pc;   /* of this report */
    bool has_signal_pc;
    bool is_no_signal;    /* the JVM itself gave up: all frames are callers */
};

/* "#  SIGSEGV (0xb) at pc=0x00007f1af12fe161, pid=42, tid=43", "#  Internal Error (os_linux.cpp:12), pid=42, tid=43" */
static bool read_event(struct jvm_state *jvm, struct line_scan s) {
    size_t at;
    uint64_t pc;
    if (!scan_text(&s, "#  ")) return false;
    struct line_scan title = s;
    const bool is_no_signal = scan_text(&title, "Internal Error (") || scan_text(&title, "Out of Memory Error (");
    const bool has_pc = !is_no_signal && scan_find(&s, " at pc=", &at) && (s.at = at + 7, scan_hex(&s, &pc));
    if (!is_no_signal && !has_pc) return false;
    *jvm = (struct jvm_state){ has_pc ? pc : 0, has_pc, is_no_signal };
    return true;
}

static bool is_caller(const struct jvm_state *jvm, uint64_t offset) {
    return jvm->is_no_signal || (jvm->has_signal_pc && !may_lie_at(offset, jvm->signal_pc));
}

/* "0x0000000000000000" alone */
static bool read_pc(struct line_scan *s, struct line_frame *out) {
    struct line_scan at = *s;
    if (!scan_hex(&at, &out->value)) return false;
    scan_blanks(&at);
    out->pc = out->value;
    return scan_at_end(&at);
}

/* "[liborders.so+0x1161]" */
static bool read_library(struct line_scan *s, struct line_frame *out) {
    size_t plus, close;
    if (!scan_char(s, '[') || !scan_find(s, "]", &close)) return false;
    struct line_scan part = { { s->line.ptr, close }, s->at };
    if (!scan_find_last(&part, '+', &plus) || plus == s->at) return false;
    struct line_scan number = { part.line, plus + 1 };
    if (!scan_hex(&number, &out->value) || !scan_at_end(&number)) return false;
    out->module = (struct csn_str){ s->line.ptr + s->at, plus - s->at };
    s->at = close + 1;
    return true;
}

static enum line_kind read_jvm_line(void *state, struct stack_modules *modules, struct csn_str line, bool open,
                                    struct line_frame *out) {
    struct line_scan s = scan_on(line);
    struct jvm_state *jvm = state;
    (void)modules;
    if (read_event(jvm, s)) return KIND_NONE; /* nothing that is shown */
    bool problematic = scan_text(&s, "# ");
    char kind = scan_peek(&s);
    if (!kind || !strchr("CVjJvA", kind) || s.line.len - s.at < 3 || s.line.ptr[s.at + 1] != ' ') return KIND_NONE;
    s.at++;
    scan_blanks(&s);
    if (kind != 'C' && kind != 'V') return open && !problematic ? KIND_INSIDE : KIND_NONE;
    const bool in_library = read_library(&s, out);
    if (!in_library && !((open || problematic) && read_pc(&s, out))) return KIND_NONE;
    out->site = in_library ? SITE_OFFSET : SITE_PC;
    out->by_maps = true;
    out->flags = problematic ? CSN_STACK_EXACT : 0;
    if ((problematic || !open) && is_caller(jvm, out->value)) out->flags = CSN_STACK_RETURN;
    out->fill_at = out->fill_end = line.len;
    return problematic ? KIND_FIRST : KIND_FRAME;
}

const struct stack_dialect jvm_dialect = { .name = "jvm", .is_flush = true, .marks = { MARK_OFFSET, MARK_HASH },
                                           .state_size = sizeof(struct jvm_state),
                                           .read = read_jvm_line, .fill = fill_line_in_brackets };
