/* ClickHouse's stacks, in messages of exceptions and in its log.
 *
 *     0. DB::Exception::Exception(int) @ 0x000000000c6b2b9b in /usr/bin/clickhouse
 *     3.1. inlined from ./src/Parsers/Lexer.h:12: DB::Lexer::peek()                    into the next frame
 *     3. ./src/Parsers/Lexer.cpp:120: DB::Lexer::next() @ 0x0000000012345678
 *     2026.11.22 20:03:23.780095 [ 42 ] {} <Fatal> BaseDaemon: 4. ? @ 0x0000000000094ac3 in /usr/lib/libc.so.6
 *
 * The addresses are those of the images' files. A line without an image is the program's: the first index that was given. */
#include "stack/dialects/dialects.h"
#include "stack/lines/line_scan.h"
#include "stack/lines/stack_fill.h"
#include "stack/session/stack_session.h"

struct clickhouse_state {
    struct csn_str program;
};

static void init_clickhouse(void *state, const struct stack_session *session) {
    struct clickhouse_state *clickhouse = state;
    if (csn_store_given_count(session->store)) clickhouse->program = csn_store_given_name(session->store, 0);
}

/* "4. ", at the start or behind the name of the logger; both are before `end`. */
static bool read_number(struct csn_str line, size_t end, uint64_t *out, struct line_scan *name) {
    struct line_scan s = { { line.ptr, end }, 0 };
    for (size_t colon;; s.at = colon + 2) {
        struct line_scan at = s;
        scan_blanks(&at);
        if (scan_number(&at, 10, out) && scan_text(&at, ". ")) {
            *name = at;
            return true;
        }
        if (!scan_find(&s, ": ", &colon)) return false;
    }
}

/* "3.1. inlined from ./src/Parsers/Lexer.h:12: DB::Lexer::peek()" */
static bool is_inlined(struct csn_str line) {
    const struct line_scan s = scan_on(line);
    size_t at;
    return scan_find(&s, ". inlined from ", &at) && at && scan_digit_value(line.ptr[at - 1]) < 10;
}

static enum line_kind read_clickhouse_line(void *state, struct stack_modules *modules, struct csn_str line, bool open,
                                           struct line_frame *out) {
    const struct clickhouse_state *clickhouse = state;
    struct line_scan s = scan_on(line), name;
    size_t at, colon;
    (void)modules;
    if (open && is_inlined(line)) return KIND_INSIDE;
    if (!scan_find(&s, " @ 0x", &at) || !read_number(line, at, &out->number, &name)) return KIND_NONE;
    s.at = at + 3;
    if (!scan_hex(&s, &out->value)) return KIND_NONE;
    out->fill_at = out->fill_end = line.len;
    out->module = clickhouse->program;
    if (scan_text(&s, " in ")) {
        if (!scan_word(&s, &out->module)) return KIND_NONE;
        out->fill_at = out->fill_end = s.at;
    }
    if (!scan_at_end(&s) && !scan_text(&s, " (")) return KIND_NONE;
    while (scan_find(&name, ": ", &colon)) name.at = colon + 2;
    if (scan_peek(&name) != '?') out->symbol = (struct csn_str){ line.ptr + name.at, at - name.at };
    out->site = SITE_ADDRESS;
    out->flags = CSN_STACK_RETURN;
    return out->number ? KIND_FRAME : KIND_FIRST;
}

const struct stack_dialect clickhouse_dialect = { .name = "clickhouse", .marks = { MARK_AT | MARK_HEX },
                                                  .state_size = sizeof(struct clickhouse_state), .init = init_clickhouse,
                                                  .read = read_clickhouse_line, .fill = fill_line_in_brackets };
