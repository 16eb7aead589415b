/* What log daemons write before a line.
 *
 *     Nov 22 20:00:01 host orders[42]: #0 ...                            syslog, journalctl
 *     Wed 2026-11-22 20:00:01 UTC host orders[42]: #0 ...                the same, -o short-full and with-unit
 *     [12345.678901] host orders[42]: #0 ...                             the same, -o short-monotonic and short-delta
 *     1795377601.123456 host orders[42]: #0 ...                          the same, -o short-unix
 *     <11>Nov 22 20:00:01 host orders[42]: #0 ...                        syslog as it is sent (RFC 3164)
 *     <11>1 2026-11-22T20:00:01.123Z host orders 42 - - #0 ...           the same (RFC 5424)
 *     Wed Nov 22 20:00:01 2026 kern.warn kernel: #0 ...                  OpenWrt's logread
 *     2026-11-22T20:00:01.123456+00:00 host orders[42]: #0 ...           the same, -o short-iso and rsyslog
 *     11-22 20:00:01.123   612   612 F DEBUG   :       #00 pc ...        logcat -v threadtime
 *     11-22 20:00:01.123  1000   612   612 F DEBUG   :       #00 pc ...  the same with the user, of bug reports
 *     2026-11-22 20:00:01.123 612-612/? A/DEBUG:     #00 pc ...          Android Studio
 *     2026-11-22 20:00:01.123   612-612   DEBUG       pid-612       A        #00 pc ...         the same since 2022
 *     F/DEBUG   (  612):     #00 pc ...                                  logcat -v brief
 *     2026-11-22T20:00:01.123456789Z stderr F #0 ...                     Kubernetes
 *     2026-11-22T20:00:01.123456+00:00 app[web.1]: #0 ...                Heroku
 *     orders-1  | #0 ...                                                 docker compose
 *     MESSAGE=#0 ...                                                     journalctl -o export
 *
 * Colours of terminals ("\\033[31m") may stand before and after each of them, and at the end of the line. */
#include "stack/lines/line_marks.h"
#include "stack/lines/line_scan.h"
#include "ui/text_bytes.h"

/* "\\033[1;31m" and the like; "\\033[K" is grep's. */
static void skip_colours(struct line_scan *s) {
    while (scan_peek(s) == '\033') {
        struct line_scan at = { s->line, s->at + 1 };
        if (!scan_char(&at, '[')) return;
        while ((scan_peek(&at) >= '0' && scan_peek(&at) <= '9') || scan_peek(&at) == ';') at.at++;
        if (!scan_char(&at, 'm') && !scan_char(&at, 'K')) return;
        s->at = at.at;
    }
}

struct csn_str log_line_before_end(struct csn_str line) {
    for (;;) {
        while (line.len && is_blank_char(line.ptr[line.len - 1])) line.len--;
        if (line.len < 3 || (line.ptr[line.len - 1] != 'm' && line.ptr[line.len - 1] != 'K')) return line;
        size_t from = line.len - 1;
        while (from && ((line.ptr[from - 1] >= '0' && line.ptr[from - 1] <= '9') || line.ptr[from - 1] == ';')) from--;
        if (from < 2 || line.ptr[from - 1] != '[' || line.ptr[from - 2] != '\033') return line;
        line.len = from - 2;
    }
}

static bool skip_digits(struct line_scan *s, unsigned count) {
    for (unsigned i = 0; i < count; i++)
        if (s->line.len - s->at <= i || scan_digit_value(s->line.ptr[s->at + i]) > 9) return false;
    s->at += count;
    return true;
}

static bool skip_fraction(struct line_scan *s) {
    uint64_t number;
    if (scan_char(s, '.') || scan_char(s, ',')) return scan_number(s, 10, &number);
    return true;
}

/* "20:00:01", with a fraction or without. */
static bool skip_clock(struct line_scan *s) {
    return skip_digits(s, 2) && scan_char(s, ':') && skip_digits(s, 2) && scan_char(s, ':') && skip_digits(s, 2) &&
           skip_fraction(s);
}

static bool skip_month_day(struct line_scan *s) {
    static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    for (unsigned i = 0; i < 12; i++) {
        if (s->line.len - s->at < 4 || memcmp(s->line.ptr + s->at, months + 3 * i, 3) != 0) continue;
        uint64_t day;
        s->at += 3;
        return scan_blanks(s) && scan_number(s, 10, &day) && scan_char(s, ' ');
    }
    return false;
}

/* "2026-11-22T" */
static bool skip_date(struct line_scan *s) {
    return skip_digits(s, 4) && scan_char(s, '-') && skip_digits(s, 2) && scan_char(s, '-') && skip_digits(s, 2)
           && (scan_char(s, 'T') || scan_char(s, ' '));
}

static void skip_zone(struct line_scan *s) {
    struct line_scan zone = *s;
    if (scan_char(s, 'Z')) return;
    if (scan_char(&zone, ' ') && (scan_text(&zone, "UTC ") || scan_text(&zone, "GMT "))) {
        s->at = zone.at - 1;
        return;
    }
    if ((scan_char(&zone, '+') || scan_char(&zone, '-')) && skip_digits(&zone, 2)) {
        scan_char(&zone, ':');
        if (skip_digits(&zone, 2)) *s = zone;
    }
}

/* " host orders[42]: ", after one blank: "  * frame #0: 0x..." is neither. */
static bool skip_host_and_program(struct line_scan *s) {
    struct line_scan at = *s;
    struct csn_str host, program;
    scan_char(&at, ' ');
    if (!scan_word(&at, &host) || !scan_char(&at, ' ') || !scan_word(&at, &program)) return false;
    if (program.len < 2 || program.ptr[program.len - 1] != ':' || scan_digit_value(program.ptr[0]) < 10) return false;
    if (strchr("#@=>[", host.ptr[0]) || host.ptr[host.len - 1] == ':' || strchr("#*", program.ptr[0])) return false;
    scan_char(&at, ' ');
    *s = at;
    return true;
}

/* The same behind a time that looks like the kernel's: the program has its process, or is the kernel. "[   12.3]
 * Call Trace:" is no prefix. */
static bool skip_host_and_process(struct line_scan *s) {
    struct line_scan at = *s;
    struct csn_str host, program;
    if (!scan_blanks(&at) || !scan_word(&at, &host) || !scan_char(&at, ' ') || !scan_word(&at, &program)) return false;
    struct line_scan end = { program, program.len > 2 ? program.len - 2 : 0 };
    if (!scan_text(&end, "]:") && (end.at = 0, !scan_text(&end, "kernel:"))) return false;
    return scan_at_end(&end) && skip_host_and_program(s);
}

/* "[12345.678901]", "[12345.678901 <    0.000123>]" */
static bool skip_monotonic(struct line_scan *s) {
    uint64_t number;
    if (!scan_char(s, '[')) return false;
    scan_blanks(s);
    if (!scan_number(s, 10, &number) || !scan_char(s, '.') || !scan_number(s, 10, &number)) return false;
    if (scan_text(s, " <")) {
        scan_blanks(s);
        if (!scan_number(s, 10, &number) || !scan_char(s, '.') || !scan_number(s, 10, &number) || !scan_char(s, '>')) return false;
    }
    return scan_char(s, ']') && skip_host_and_process(s);
}

/* "1795377601.123456" */
static bool skip_unix_time(struct line_scan *s) {
    uint64_t number;
    return scan_number(s, 10, &number) && scan_char(s, '.') && scan_number(s, 10, &number) && skip_host_and_process(s);
}

static bool skip_container(struct line_scan *s) {
    struct line_scan at = *s;
    scan_blanks(&at);
    if (!scan_text(&at, "stdout ") && !scan_text(&at, "stderr ")) return false;
    if (!scan_text(&at, "F ") && !scan_text(&at, "P ")) return false;
    *s = at;
    return true;
}

static bool skip_level(struct line_scan *s) {
    if (!scan_peek(s) || !strchr("VDIWEFA", scan_peek(s))) return false;
    s->at++;
    return true;
}

/* "DEBUG   : " or "DEBUG   (  612): ": it ends at ": ". */
static bool skip_tag(struct line_scan *s) {
    enum { TAG_MAX = 64 };
    size_t end;
    struct line_scan part = { { s->line.ptr, s->line.len < s->at + TAG_MAX ? s->line.len : s->at + TAG_MAX }, s->at };
    if (!scan_find(&part, ": ", &end) || end == s->at) return false;
    s->at = end + 2;
    return true;
}

/* "/? A/DEBUG: " */
static bool skip_studio_package(struct line_scan *s) {
    struct csn_str package;
    if (!scan_char(s, '/') || !scan_word(s, &package)) return false;
    scan_blanks(s);
    return skip_level(s) && scan_char(s, '/') && skip_tag(s);
}

/* "   DEBUG       pid-612       A  " */
static bool skip_studio_columns(struct line_scan *s) {
    struct csn_str tag, package;
    return scan_blanks(s) && scan_word(s, &tag) && scan_blanks(s) && scan_word(s, &package) && scan_blanks(s) && skip_level(s)
           && scan_text(s, "  ");
}

/* "  612   612 F DEBUG   : ", also with the user before: "1000" or "u0_a123". */
static bool skip_threadtime(struct line_scan *s) {
    struct line_scan user = *s;
    struct csn_str word;
    uint64_t number;
    const char first = scan_peek(s);
    if (first != 'u' && (first < '0' || first > '9')) return false;
    if (scan_word(&user, &word) && scan_blanks(&user) && scan_number(&user, 10, &number) && scan_blanks(&user)
        && scan_number(&user, 10, &number) && scan_blanks(&user) && skip_level(&user) && scan_char(&user, ' ')) {
        *s = user;
        return skip_tag(s);
    }
    return scan_number(s, 10, &number) && scan_blanks(s) && scan_number(s, 10, &number) && scan_blanks(s) && skip_level(s)
           && scan_char(s, ' ') && skip_tag(s);
}

/* " 612  612 F DEBUG   : " or " 612-612/? A/DEBUG: " */
static bool skip_logcat(struct line_scan *s) {
    struct line_scan at = *s, studio;
    uint64_t pid, thread;
    scan_blanks(&at);
    studio = at;
    if (scan_number(&studio, 10, &pid) && scan_char(&studio, '-')) {
        if (!scan_number(&studio, 10, &thread)) return false;
        at = studio;
        if (!skip_studio_package(&at) && (at = studio, !skip_studio_columns(&at))) return false;
    } else if (!skip_threadtime(&at)) {
        return false;
    }
    *s = at;
    return true;
}

static bool skip_brief_logcat(struct line_scan *s) {
    return skip_level(s) && scan_char(s, '/') && skip_tag(s);
}

/* "Wed 2026-11-22 20:00:01 UTC host orders[42]: " */
static bool skip_short_full(struct line_scan *s) {
    struct csn_str zone;
    s->at = 4;
    return skip_date(s) && skip_clock(s) && scan_char(s, ' ') && scan_word(s, &zone) && skip_host_and_program(s);
}

/* "Wed Nov 22 20:00:01 2026 kern.warn kernel: ", and what journalctl begins with a day. */
static bool skip_from_weekday(struct line_scan *s) {
    static const char days[] = "MonTueWedThuFriSatSun";
    for (unsigned i = 0; i < 7; i++) {
        if (s->line.len < 4 || memcmp(s->line.ptr, days + 3 * i, 3) != 0 || s->line.ptr[3] != ' ') continue;
        struct line_scan full = *s;
        if (skip_short_full(&full)) {
            *s = full;
            return true;
        }
        s->at = 4;
        return skip_month_day(s) && skip_clock(s) && scan_char(s, ' ') && skip_digits(s, 4) && skip_host_and_program(s);
    }
    return false;
}

/* "[origin x="1"][more]" or "-": a ']' of a value has a backslash before it. */
static bool skip_structured_data(struct line_scan *s) {
    if (scan_char(s, '-')) return true;
    const size_t from = s->at;
    while (scan_char(s, '[')) {
        for (; scan_peek(s) && scan_peek(s) != ']'; s->at++)
            if (scan_peek(s) == '\\') s->at++;
        if (!scan_char(s, ']')) return false;
    }
    return s->at > from;
}

/* "1 2026-11-22T20:00:01.123Z host orders 42 - - " after the priority. */
static bool skip_rfc_5424(struct line_scan *s) {
    struct csn_str word;
    if (!scan_text(s, "1 ") || !skip_date(s) || !skip_clock(s)) return false;
    skip_zone(s);
    for (int i = 0; i < 4; i++) /* host, program, process, kind of message */
        if (!scan_char(s, ' ') || !scan_word(s, &word)) return false;
    if (!scan_char(s, ' ') || !skip_structured_data(s) || !scan_char(s, ' ')) return false;
    scan_text(s, "\xef\xbb\xbf");
    return true;
}

static bool skip_sent_syslog(struct line_scan *s) {
    uint64_t priority;
    if (!scan_char(s, '<') || !scan_number(s, 10, &priority) || !scan_char(s, '>')) return false;
    struct line_scan at = *s;
    if (skip_month_day(&at) && skip_clock(&at) && skip_host_and_program(&at)) {
        *s = at;
        return true;
    }
    return skip_rfc_5424(s);
}

static bool skip_compose(struct line_scan *s) {
    struct csn_str name;
    if (!scan_word(s, &name) || !scan_blanks(s) || !scan_char(s, '|')) return false;
    skip_colours(s);
    return scan_char(s, ' ');
}

/* " app[web.1]: " without a host */
static bool skip_process(struct line_scan *s) {
    struct line_scan at = *s;
    struct csn_str word;
    if (!scan_char(&at, ' ') || !scan_word(&at, &word) || word.len < 4 || !scan_char(&at, ' ')) return false;
    if (memcmp(word.ptr + word.len - 2, "]:", 2) != 0 || scan_digit_value(word.ptr[0]) < 10 ||
        strchr("#[", word.ptr[0]))
        return false;
    *s = at;
    return true;
}

/* After a date and a time. */
static size_t after_time(struct line_scan *s) {
    skip_zone(s);
    if (!skip_container(s) && !skip_logcat(s) && !skip_host_and_program(s) && !skip_process(s)) scan_char(s, ' ');
    return s->at;
}

static size_t prefix_size(struct csn_str line) {
    struct line_scan s = scan_on(line);
    char first = scan_peek(&s);
    if (first >= '0' && first <= '9') {
        if (skip_date(&s) && skip_clock(&s)) return after_time(&s);
        s.at = 0;
        if (skip_digits(&s, 2) && scan_char(&s, '-') && skip_digits(&s, 2) && scan_char(&s, ' ') && skip_clock(&s) &&
            skip_logcat(&s))
            return s.at;
        s.at = 0;
        return skip_unix_time(&s) ? s.at : 0;
    }
    if (first == '[') return skip_monotonic(&s) ? s.at : 0;
    if (first == '<') return skip_sent_syslog(&s) ? s.at : 0;
    if (first >= 'A' && first <= 'Z') {
        if (first == 'M' && scan_text(&s, "MESSAGE=")) return s.at;
        if (skip_month_day(&s)) return skip_clock(&s) && skip_host_and_program(&s) ? s.at : 0;
        s.at = 0;
        if (skip_from_weekday(&s)) return s.at;
        s.at = 0;
        if (skip_brief_logcat(&s)) return s.at;
        s.at = 0;
    }
    bool word = (first >= 'a' && first <= 'z') || (first >= 'A' && first <= 'Z');
    return word && skip_compose(&s) ? s.at : 0;
}

size_t log_prefix_size(struct csn_str line) {
    struct line_scan s = scan_on(line);
    if (scan_peek(&s) == '\033') skip_colours(&s);
    const size_t size = prefix_size(scan_rest(&s));
    s.at += size;
    if (size && scan_peek(&s) == '\033') skip_colours(&s);
    return s.at;
}
