/* Heads of samples: forward from the command where a number and a time mark them, else backward from the last field. */
#define _GNU_SOURCE
#include "stack/dialects/perf_head.h"

/* "12.345678:" */
static bool is_time(struct csn_str word) {
    struct line_scan s = scan_on(word);
    uint64_t number;
    return scan_number(&s, 10, &number) && scan_char(&s, '.') && scan_number(&s, 10, &number) && scan_char(&s, ':') &&
           scan_at_end(&s);
}

static void copy_word(char *out, size_t size, struct csn_str text) {
    size_t len = text.len < size ? text.len : size - 1;
    memcpy(out, text.ptr, len);
    out[len] = 0;
}

/* Of a name that is too long, the unit stays that `callsign profile` writes at its end: "space[bytes]". */
static void copy_event(struct csn_str word, struct profile_sample *out) {
    const size_t size = sizeof(out->event);
    const char *unit = word.len >= size && word.ptr[word.len - 1] == ']' ? memrchr(word.ptr, '[', word.len) : NULL;
    const size_t unit_size = unit ? (size_t)(word.ptr + word.len - unit) : 0;
    if (!unit || unit_size >= size) {
        copy_word(out->event, size, word);
        return;
    }
    size_t kept = size - 1 - unit_size;
    while (kept && ((unsigned char)word.ptr[kept] & 0xc0) == 0x80) kept--; /* whole characters */
    memcpy(out->event, word.ptr, kept);
    copy_word(out->event + kept, size - kept, (struct csn_str){ unit, unit_size });
}

static void copy_time(struct csn_str word, struct profile_sample *out) {
    while (word.len > 1 && word.ptr[0] == '0' && word.ptr[1] != '.') word = (struct csn_str){ word.ptr + 1, word.len - 1 };
    copy_word(out->time, sizeof(out->time), (struct csn_str){ word.ptr, word.len - 1 });
}

/* "-1/-1", or "-1" behind the name that perf gives to a thread that it does not know, ":-1". */
static bool is_unknown_thread(struct csn_str word, struct csn_str before) {
    return is_word(word, "-1/-1") || (is_word(word, "-1") && is_word(before, ":-1"));
}

/* "4243" of a thread, or "4242/4243" with its process. */
static bool read_thread(struct csn_str word, struct profile_sample *out) {
    struct line_scan s = scan_on(word);
    uint64_t first, second;
    if (!scan_number(&s, 10, &first)) return false;
    const bool has_process = scan_char(&s, '/');
    if (has_process && !scan_number(&s, 10, &second)) return false;
    if (!scan_at_end(&s)) return false;
    out->has_thread = true;
    out->has_pid = has_process;
    out->pid = has_process ? first : 0;
    out->thread = has_process ? second : first;
    return true;
}

static bool ends_in_colon(struct csn_str word) { return word.len > 1 && word.ptr[word.len - 1] == ':'; }

static bool read_period(struct line_scan *s, struct profile_sample *out) {
    const int sign = scan_char(s, '-') ? -1 : 1;
    const size_t from = s->at;
    int64_t period = 0;
    bool is_cut = false;
    for (int digit; (digit = scan_digit_value(scan_peek(s))) < 10; s->at++)
        is_cut |= __builtin_mul_overflow(period, 10, &period) || __builtin_add_overflow(period, sign * digit, &period);
    if (s->at == from) return false;
    out->period = !is_cut ? period : sign < 0 ? INT64_MIN : INT64_MAX;
    out->is_period_cut = is_cut;
    return true;
}

/* "250000 cycles:u:" after the time; the period may be missing. */
static void read_event(struct line_scan s, struct profile_sample *out) {
    struct csn_str word;
    scan_blanks(&s);
    struct line_scan before = s;
    if (read_period(&s, out) && scan_blanks(&s)) {
        before = s;
        out->has_period = true;
    }
    if (scan_word(&before, &word) && ends_in_colon(word))
        copy_event((struct csn_str){ word.ptr, word.len - 1 }, out);
}

/* The last number before the processor and the time is the thread, what stands before it is the command. */
bool perf_head_read(struct line_scan *s, struct profile_sample *out) {
    struct csn_str word;
    *out = (struct profile_sample){ .known = true, .is_certain = true };
    scan_blanks(s);
    size_t from = s->at;
    bool is_headed = false;
    while (scan_blanks(s), scan_word(s, &word)) {
        if (is_time(word)) {
            copy_time(word, out);
            if (is_headed) read_event(*s, out);
            return is_headed;
        }
        size_t end = (size_t)(word.ptr - s->line.ptr);
        while (end > from && (s->line.ptr[end - 1] == ' ' || s->line.ptr[end - 1] == '\t')) end--;
        const struct csn_str before = { s->line.ptr + from, end - from };
        if (is_unknown_thread(word, before)) out->has_thread = out->has_pid = false, out->thread = out->pid = 0;
        else if (!read_thread(word, out)) continue;
        is_headed = true;
        copy_word(out->command, sizeof(out->command), before);
    }
    return false;
}

/* ---- backward ---- */

/* The last word of what is left, and the columns that it has with the blanks before it; one blank separates fields. */
struct field {
    struct csn_str word;
    size_t columns;
};

static struct field last_field(struct csn_str text) {
    while (text.len && text.ptr[text.len - 1] == ' ') text.len--;
    size_t from = text.len;
    while (from && text.ptr[from - 1] != ' ') from--;
    size_t blanks = from;
    while (blanks && text.ptr[blanks - 1] == ' ') blanks--;
    return (struct field){ { text.ptr + from, text.len - from }, text.len - blanks - (blanks != 0) };
}

static struct field field_before(struct csn_str line, const struct field *field) {
    return last_field((struct csn_str){ line.ptr, (size_t)(field->word.ptr - line.ptr) });
}

/* perf writes a period in ten columns, a thread in five or seven: else a number is the end of a command. */
static bool is_period(const struct field *field, struct profile_sample *out) {
    enum { COLUMNS = 10 };
    struct line_scan s = scan_on(field->word);
    out->has_period = field->columns >= COLUMNS && read_period(&s, out) && scan_at_end(&s);
    return out->has_period;
}

static bool is_thread(const struct field *field, struct profile_sample *out) {
    enum { COLUMNS = 5 };
    if (is_word(field->word, "-1/-1") || is_word(field->word, "-1")) return true; /* perf does not know the thread */
    return (field->columns >= COLUMNS || memchr(field->word.ptr, '/', field->word.len)) && read_thread(field->word, out);
}

/* "[001]" */
static bool is_processor(struct csn_str word) {
    struct line_scan s = scan_on(word);
    uint64_t number;
    return scan_char(&s, '[') && scan_number(&s, 10, &number) && scan_char(&s, ']') && scan_at_end(&s);
}

/* Of Linux, 15 bytes at most; its own workers have longer ones without blanks. Sentences of a log have neither. */
static bool read_command(struct csn_str text, struct profile_sample *out) {
    enum { BYTES_MAX = 15 };
    while (text.len && text.ptr[text.len - 1] == ' ') text.len--;
    while (text.len && text.ptr[0] == ' ') text = (struct csn_str){ text.ptr + 1, text.len - 1 };
    if (text.len >= sizeof(out->command)) return false;
    if (text.len > BYTES_MAX && memchr(text.ptr, ' ', text.len)) return false;
    if (memchr(text.ptr, '\t', text.len)) return false;
    copy_word(out->command, sizeof(out->command), text);
    return true;
}

bool perf_head_read_part(struct csn_str line, bool ends_in_blank, struct profile_sample *out) {
    *out = (struct profile_sample){ .known = true };
    struct field field = last_field(line);
    ends_in_blank |= line.len && line.ptr[line.len - 1] == ' '; /* perf leaves one behind each field */
    if (ends_in_colon(field.word) && !is_time(field.word)) {
        copy_event((struct csn_str){ field.word.ptr, field.word.len - 1 }, out);
        field = field_before(line, &field);
    }
    if (is_period(&field, out)) field = field_before(line, &field);
    if (is_time(field.word)) {
        copy_time(field.word, out);
        field = field_before(line, &field);
    }
    if (is_processor(field.word)) field = field_before(line, &field);
    if (is_thread(&field, out)) field = field_before(line, &field);
    size_t end = (size_t)(field.word.ptr - line.ptr) + field.word.len;
    if (!ends_in_blank && !out->time[0]) return false;
    if (!read_command((struct csn_str){ line.ptr, end }, out)) return false;
    return out->command[0] || out->has_thread || out->time[0] || out->event[0];
}
