/* The JVM's hs_err files and its message on a crash: native frames.
 *
 *     # C  [liborders.so+0x1161]  orders_load+0x9
 *     C  [liborders.so+0x1161]  orders_load+0x9          C: native code
 *     V  [libjvm.so+0x8282d2]  JavaCalls::call_helper(JavaValue*)+0x302        V: the JVM itself
 *     j  Orders.load(Ljava/lang/String;)V+0              interpreted and compiled Java, and stubs: no native addresses
 *
 * Offsets count from the library's first byte. The list "Dynamic libraries:", lines of /proc/PID/maps, comes after the frames: of a file
 * it is read first (jvm_libraries.c). */
#include "stack/dialects/dialects.h"
#include "stack/lines/line_scan.h"
#include "stack/lines/stack_fill.h"

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
    (void)state, (void)modules;
    bool problematic = scan_text(&s, "# ");
    char kind = scan_peek(&s);
    if (!kind || !strchr("CVjJvA", kind) || s.line.len - s.at < 3 || s.line.ptr[s.at + 1] != ' ') return KIND_NONE;
    s.at++;
    scan_blanks(&s);
    if (kind != 'C' && kind != 'V') return open && !problematic ? KIND_INSIDE : KIND_NONE;
    if (!read_library(&s, out)) return KIND_NONE;
    out->site = SITE_OFFSET;
    out->by_maps = true;
    out->flags = problematic ? CSN_STACK_EXACT : 0;
    out->fill_at = out->fill_end = line.len;
    return problematic ? KIND_FIRST : KIND_FRAME;
}

const struct stack_dialect jvm_dialect = { .name = "jvm", .marks = { MARK_OFFSET }, .read = read_jvm_line,
                                           .fill = fill_line_in_brackets };
