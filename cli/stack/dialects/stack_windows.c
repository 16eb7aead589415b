/* Addresses of Windows programs within a line, the stacks of Wine, and those of .NET's native programs of any system.
 *
 *     [3] orders.dll+0x1161                                    from the module's first byte
 *     0x00007ff612341161 orders.dll + 0x1161
 *     #1 orders_load+0x5ca7 (0x76ff1161 <orders.dll+0x1161>)   Dr. Memory
 *     Faulting module name: orders.dll, version: 1.0.0.0       of the event log: the offset stands in a later line
 *     Fault offset: 0x0000000000001161
 *     =>0 0x0000000140001161 in orders (+0x1161) (0x000000000021fe30)      Wine
 *        at orders!<BaseAddress>+0x1161                        .NET Native and NativeAOT: the file without its ending
 *        at Orders.Program.Main(String[]) + 0x21               the same, where the program has names: there is no index that does
 */
#include "stack/dialects/dialects.h"
#include "stack/lines/frame_numbers.h"
#include "stack/lines/line_scan.h"
#include "stack/lines/stack_fill.h"

enum { WINDOWS_NAME = 128 };
struct windows_state {
    char faulting[WINDOWS_NAME]; /* the module of the event log's record */
    struct frame_numbers numbers;
};

static bool is_module_end(struct csn_str text) {
    static const char *const extensions[] = { ".dll", ".exe", ".sys", ".ocx", ".drv", ".pyd", ".node" };
    for (size_t i = 0; i < sizeof(extensions) / sizeof(extensions[0]); i++) {
        size_t size = strlen(extensions[i]), k = 0;
        if (text.len <= size) continue;
        const char *end = text.ptr + text.len - size;
        while (k < size && (end[k] == extensions[i][k] || (k && end[k] == extensions[i][k] - 'a' + 'A'))) k++;
        if (k == size) return true;
    }
    return false;
}

/* "[3] ", "#1 ", "# 1 " or "3: " at the beginning. */
static bool read_number(struct csn_str line, uint64_t *out) {
    struct line_scan s = scan_on(line);
    scan_blanks(&s);
    const bool in_brackets = scan_char(&s, '['), hash = !in_brackets && scan_char(&s, '#');
    if (hash) scan_blanks(&s);
    if (!scan_number(&s, 10, out)) return false;
    return (hash || scan_char(&s, in_brackets ? ']' : ':')) && scan_blanks(&s);
}

/* "orders.dll+0x1161", "orders.dll + 0x1161": the last of the line. */
static bool read_module_offset(struct csn_str line, struct line_frame *out) {
    struct line_scan s = scan_on(line);
    size_t plus;
    if (!scan_find_last(&s, '+', &plus)) return false;
    struct line_scan number = { line, plus + 1 };
    scan_char(&number, ' ');
    if (!scan_hex(&number, &out->value)) return false;
    size_t end = plus && line.ptr[plus - 1] == ' ' ? plus - 1 : plus, from = end;
    while (from && !strchr(" \t[(<\"'", line.ptr[from - 1])) from--;
    out->module = (struct csn_str){ line.ptr + from, end - from };
    scan_text(&number, ">)");
    out->fill_at = out->fill_end = number.at;
    out->site = SITE_OFFSET;
    return is_module_end(out->module);
}

/* "=>0 0x0000000140001161 in orders (+0x1161) (0x000000000021fe30)" */
static bool read_wine(struct csn_str line, struct line_frame *out) {
    struct line_scan s = scan_on(line);
    size_t in, open;
    scan_blanks(&s);
    scan_text(&s, "=>");
    if (!scan_number(&s, 10, &out->number) || !scan_char(&s, ' ') || !scan_hex(&s, &out->pc) ||
        !scan_find(&s, " in ", &in))
        return false;
    s.at = in + 4;
    if (!scan_find(&s, " (+0x", &open)) return false;
    out->module = (struct csn_str){ line.ptr + s.at, open - s.at };
    s.at = open + 3;
    if (!out->module.len || !scan_hex(&s, &out->value) || !scan_char(&s, ')')) return false;
    out->fill_at = out->fill_end = line.len;
    out->site = SITE_OFFSET;
    out->flags = out->number ? CSN_STACK_RETURN : CSN_STACK_EXACT; /* also if the lines before it are missing */
    return true;
}

/* "   at orders!<BaseAddress>+0x1161", "orders!<BaseAddress>+0x1161 at offset 283 in file:line:column <filename unknown>:0:0" */
static bool read_dotnet_native(struct csn_str line, struct line_frame *out) {
    static const char mark[] = "!<BaseAddress>+";
    struct line_scan s = scan_on(line);
    size_t end, from;
    if (!scan_find(&s, mark, &end)) return false;
    s.at = end + sizeof(mark) - 1;
    for (from = end; from && !strchr(" \t\"'", line.ptr[from - 1]);) from--;
    if (from == end || !scan_hex(&s, &out->value)) return false;
    out->module = (struct csn_str){ line.ptr + from, end - from };
    out->fill_at = out->fill_end = s.at;
    out->site = SITE_OFFSET;
    out->flags = CSN_STACK_RETURN;
    return true;
}

static bool is_managed_frame(struct csn_str line) {
    struct line_scan s = scan_on(line);
    return scan_blanks(&s) && scan_text(&s, "at ");
}

/* The event log names the module first. */
static enum line_kind read_event(struct windows_state *windows, struct csn_str line, struct line_frame *out) {
    struct line_scan s = scan_on(line);
    struct csn_str name;
    scan_blanks(&s);
    if (scan_text(&s, "Faulting module name: ") && scan_word(&s, &name)) {
        if (name.len && name.ptr[name.len - 1] == ',') name.len--;
        if (name.len >= WINDOWS_NAME) return KIND_NONE;
        memcpy(windows->faulting, name.ptr, name.len);
        windows->faulting[name.len] = 0;
        return KIND_CONTEXT;
    }
    if (!windows->faulting[0] || !scan_text(&s, "Fault offset: ") || !scan_hex(&s, &out->value)) return KIND_NONE;
    out->module = (struct csn_str){ windows->faulting, strlen(windows->faulting) };
    out->site = SITE_OFFSET;
    out->flags = CSN_STACK_EXACT;
    out->fill_at = out->fill_end = line.len;
    return KIND_FIRST;
}

static enum line_kind read_windows_line(void *state, struct stack_modules *modules, struct csn_str line, bool open,
                                        struct line_frame *out) {
    struct windows_state *windows = state;
    (void)modules;
    enum line_kind event = read_event(windows, line, out);
    if (event != KIND_NONE) return event;
    if (read_wine(line, out)) return out->number ? KIND_FRAME : KIND_FIRST;
    *out = (struct line_frame){ .site = SITE_PC };
    if (read_dotnet_native(line, out)) return KIND_FRAME;
    if (read_module_offset(line, out)) {
        if (!read_number(line, &out->number)) return KIND_FRAME;
        windows->numbers.from_zero |= out->module.ptr > line.ptr && out->module.ptr[-1] == '<'; /* Dr. Memory does */
        out->flags = frame_numbers_flags(&windows->numbers, out->number);
        return out->number ? KIND_FRAME : KIND_FIRST;
    }
    return open && is_managed_frame(line) ? KIND_INSIDE : KIND_NONE;
}

const struct stack_dialect windows_dialect = { .name = "windows", .marks = { MARK_OFFSET, MARK_EVENT },
                                               .state_size = sizeof(struct windows_state), .read = read_windows_line,
                                               .fill = fill_line_in_brackets };
