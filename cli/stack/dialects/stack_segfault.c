/* The kernel's line about a process that a signal ended.
 *
 *     orders[12817]: segfault at 0 ip 0000561ae465727b sp 00007ffd8d018630 error 6 in orders[127b,561ae4657000+1000] likely on CPU 0
 *     orders[12817]: segfault at 0 ip 0000561ae465727b sp 00007ffd8d018630 error 6 in orders[561ae4657000+1000]     before Linux 6.6
 *     traps: orders[12817] general protection fault ip:561ae465727b sp:7ffd8d018630 error:0 in orders[561ae4657000+1000]
 *
 * The first number in the brackets is an offset in the file. Older kernels print the mapping alone: it is that of
 * the image's code, which begins at the page of the first function. */
#include "stack/dialects/dialects.h"
#include "stack/lines/line_scan.h"
#include "stack/lines/stack_fill.h"
#include "stack/session/stack_session.h"

#include <callsign/inspect.h>

enum { SEGFAULT_PAGE = 4096 };

static bool read_ip(struct line_scan *s, uint64_t *out) {
    size_t at;
    if (!scan_find(s, " ip", &at)) return false;
    s->at = at + 3;
    if (!scan_char(s, ':') && !scan_char(s, ' ')) return false;
    return scan_number(s, 16, out);
}

/* "orders[127b,561ae4657000+1000]" */
static bool read_image(struct line_scan *s, struct line_frame *out) {
    uint64_t start, size, first;
    size_t in, open;
    if (!scan_find(s, " in ", &in)) return false;
    s->at = in + 4;
    if (!scan_find(s, "[", &open) || open == s->at) return false;
    out->module = (struct csn_str){ s->line.ptr + s->at, open - s->at };
    s->at = open + 1;
    if (!scan_number(s, 16, &first)) return false;
    bool has_offset = scan_char(s, ',');
    start = first;
    if (has_offset && !scan_number(s, 16, &start)) return false;
    if (!scan_char(s, '+') || !scan_number(s, 16, &size) || !scan_char(s, ']')) return false;
    if (out->pc < start || out->pc - start >= size) return false;
    out->site = has_offset ? SITE_FILE_OFFSET : SITE_ADDRESS;
    out->value = has_offset ? first : out->pc - start;
    return true;
}

static enum line_kind read_segfault_line(void *state, struct stack_modules *modules, struct csn_str line, bool open,
                                         struct line_frame *out) {
    struct line_scan s = scan_on(line);
    (void)state, (void)modules, (void)open;
    if (!read_ip(&s, &out->pc) || !read_image(&s, out)) return KIND_NONE;
    out->flags = CSN_STACK_EXACT;
    out->fill_at = out->fill_end = s.at;
    return KIND_FIRST;
}

/* Of an offset in the mapping. */
static bool code_address(void *state, struct stack_session *session, const struct line_frame *frame, uint32_t module,
                         uint64_t *out) {
    const struct csn_index *index = session_index(session, module);
    uint64_t first = 0;
    (void)state;
    *out = frame->value;
    if (index && csn_index_function_start(index, 0, &first, NULL) >= 0) *out += first - first % SEGFAULT_PAGE;
    return true;
}

const struct stack_dialect segfault_dialect = { .name = "segfault", .marks = { MARK_REGISTER | MARK_MODULE },
                                                .read = read_segfault_line, .address = code_address,
                                                .fill = fill_line_in_brackets };
