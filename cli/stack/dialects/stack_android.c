/* Android's tombstones, the same in logcat, and native frames of ART's thread dumps.
 *
 *           #00 pc 0000000000001139  /system/lib64/liborders.so (orders_load+25) (BuildId: 0102...)
 *           #01 pc 00001139  /data/app/base.apk!liborders.so (offset 0x3000) (orders_load+25)
 *       native: #02 pc 00001139  /system/lib/liborders.so (orders_load+25)
 *
 * Addresses are those of the image, and for callers that of the call, not of the return. */
#include "stack/dialects/dialects.h"
#include "stack/lines/line_scan.h"
#include "stack/lines/stack_fill.h"

/* "(orders_load+25)" between the path and the build id. */
static void read_android_symbol(struct csn_str rest, struct line_frame *out) {
    struct line_scan s = scan_on(rest);
    size_t open, close = rest.len, plus;
    scan_find(&s, " (BuildId: ", &close);
    struct line_scan part = { { rest.ptr, close }, 0 };
    if (!close || rest.ptr[close - 1] != ')' || !scan_find(&part, " (", &open)) return;
    size_t next;
    part.at = open + 2;
    if (scan_text(&part, "offset 0x") && scan_find(&part, " (", &next)) open = next;
    part.at = open + 2;
    if (!scan_find_last(&part, '+', &plus)) return;
    struct line_scan number = { part.line, plus + 1 };
    if (!scan_number(&number, 10, &out->symbol_offset)) return;
    out->symbol = (struct csn_str){ rest.ptr + part.at, plus - part.at };
    out->has_symbol_offset = true;
}

/* A library within an archive is known by its own name. */
static struct csn_str module_of_path(struct csn_str path) {
    struct line_scan s = scan_on(path);
    size_t mark;
    if (!scan_find_last(&s, '!', &mark) || mark + 1 == path.len) return path;
    return (struct csn_str){ path.ptr + mark + 1, path.len - mark - 1 };
}

static enum line_kind read_android_line(void *state, struct stack_modules *modules, struct csn_str line, bool open,
                                        struct line_frame *out) {
    struct line_scan s = scan_on(line);
    size_t id, end;
    (void)state, (void)modules, (void)open;
    scan_blanks(&s);
    if (scan_text(&s, "native: ")) scan_blanks(&s);
    if (!scan_char(&s, '#') || !scan_number(&s, 10, &out->number) || !scan_blanks(&s) || !scan_text(&s, "pc ")) return KIND_NONE;
    if (!scan_hex(&s, &out->value) && !scan_number(&s, 16, &out->value)) return KIND_NONE;
    if (!scan_blanks(&s) || scan_at_end(&s)) return KIND_NONE;
    struct csn_str rest = scan_rest(&s);
    struct line_scan path = scan_on(rest);
    if (!scan_find(&path, " (", &end)) end = rest.len;
    out->module = module_of_path((struct csn_str){ rest.ptr, end });
    read_android_symbol(rest, out);
    if (scan_find(&path, " (BuildId: ", &id)) {
        size_t from = id + strlen(" (BuildId: ");
        struct line_scan digits = { rest, from };
        if (scan_find(&digits, ")", &end)) build_id_parse((struct csn_str){ rest.ptr + from, end - from }, &out->id);
    }
    out->site = SITE_ADDRESS;
    out->flags = out->number ? CSN_STACK_BEFORE : CSN_STACK_EXACT;
    out->fill_at = out->fill_end = line.len;
    return out->number ? KIND_FRAME : KIND_FIRST;
}

const struct stack_dialect android_dialect = { .name = "android", .marks = { MARK_REGISTER }, .read = read_android_line,
                                               .fill = fill_line_in_brackets };
