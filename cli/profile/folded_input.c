/* Folded stacks as a profile: names stay, addresses become locations of modules. */
#include "profile/profile_input.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile/profile_frames.h"
#include "stack/dialects/dialects.h"
#include "ui/cli_message.h"
#include "ui/growing.h"
#include "ui/text_bytes.h"

/* A count, and how many billionths more, both of one sign: digits behind those are lost. */
enum { FRACTION_DIGITS = 9, FRACTION_WHOLE = 1000000000 };
struct folded_count {
    int64_t whole;
    int32_t fraction;
    uint32_t stack;
};

/* Profiles have whole numbers. Where counts have fractions, all are taken times a power of ten, once all are known. */
struct folded_counts {
    struct folded_count *items;
    size_t count, capacity;
    unsigned digits; /* behind the point, at most */
};

static bool read_digits(struct csn_str *text, int sign, int64_t *value) {
    for (; text->len && text->ptr[0] != '.'; *text = (struct csn_str){ text->ptr + 1, text->len - 1 })
        if (__builtin_mul_overflow(*value, 10, value) || __builtin_add_overflow(*value, sign * (text->ptr[0] - '0'), value))
            return false;
    return true;
}

/* False: it has more than 64 bits. */
static bool read_folded_count(struct csn_str text, struct folded_counts *counts, struct folded_count *out) {
    const int sign = text.ptr[0] == '-' ? -1 : 1;
    if (sign < 0) text = (struct csn_str){ text.ptr + 1, text.len - 1 };
    if (!read_digits(&text, sign, &out->whole)) return false;
    int32_t unit = FRACTION_WHOLE / 10;
    for (size_t i = 1; i < text.len && unit; i++, unit /= 10) {
        out->fraction += sign * (text.ptr[i] - '0') * unit;
        if (text.ptr[i] != '0' && i > counts->digits) counts->digits = (unsigned)i;
    }
    return true;
}

/* False, with a message. */
static bool read_count_of_line(struct csn_str line, uint64_t number, const char *path, struct folded_counts *counts,
                               struct folded_count *out) {
    const size_t at = folded_count_at(line);
    if (!at) {
        cli_error(path, "line %llu: no count after the stack: need NAME;NAME;... NUMBER", (unsigned long long)number);
        return false;
    }
    const struct csn_str text = { line.ptr + at, line.len - at };
    if (read_folded_count(text, counts, out)) return true;
    cli_error(path, "line %llu: count %.*s has more than 64 bits: need at least %lld and at most %lld", (unsigned long long)number,
              (int)(text.len < 64 ? text.len : 64), text.ptr, (long long)INT64_MIN, (long long)INT64_MAX);
    return false;
}

static bool add_names(struct profile_frames *frames, struct csn_str text) {
    while (text.len) {
        const char *end = memchr(text.ptr, ';', text.len);
        size_t size = end ? (size_t)(end - text.ptr) : text.len;
        const struct csn_str name = { text.ptr, size };
        if (size && !profile_frames_add_names(frames, &name, 1)) return false;
        size += end != NULL;
        text = (struct csn_str){ text.ptr + size, text.len - size };
    }
    return true;
}

/* As `callsign profile` writes a sample whose stack is empty. */
static bool has_no_frames(struct csn_str line, size_t end) {
    static const char no_frames[] = "[no frames]";
    return end == sizeof(no_frames) - 1 && memcmp(line.ptr, no_frames, end) == 0;
}

/* The elements of a line: the dialect finds those that are addresses, what lies between are names. */
static bool read_elements(struct profile_frames *frames, struct csn_str line, size_t end, uint32_t *out_stack) {
    struct line_frame frame;
    size_t from = has_no_frames(line, end) ? end : 0;
    profile_frames_begin(frames);
    while (from < end && folded_dialect.more(frames->state, line, from, &frame)) {
        if (!add_names(frames, (struct csn_str){ line.ptr + from, frame.fill_at - from })) return false;
        if (!profile_frames_add(frames, &frame) || !profile_frames_locate(frames)) return false;
        from = frame.end;
    }
    return add_names(frames, (struct csn_str){ line.ptr + from, end - from }) && profile_frames_end(frames, true, out_stack);
}

static bool read_folded_stack(struct profile_frames *frames, struct csn_str line, struct folded_counts *counts,
                              struct folded_count *count) {
    if (!read_elements(frames, line, folded_count_at(line) - 1, &count->stack)
        || !reserve_items(&counts->items, &counts->capacity, counts->count + 1, sizeof(*counts->items)))
        return false;
    counts->items[counts->count++] = *count;
    return true;
}

/* ---- the samples ---- */

static bool scaled_count(const struct folded_count *count, int64_t scale, int64_t *out) {
    const int64_t part = FRACTION_WHOLE / scale, half = count->fraction < 0 ? -(part / 2) : part / 2;
    return !__builtin_mul_overflow(count->whole, scale, out) &&
           !__builtin_add_overflow(*out, (count->fraction + half) / part, out);
}

/* The largest scale that is wanted and at which all counts have 64 bits. */
static int64_t scale_of(const struct folded_counts *counts) {
    int64_t scale = 1, value;
    for (unsigned i = 0; i < counts->digits; i++) scale *= 10;
    for (size_t i = 0; i < counts->count && scale > 1; i++)
        while (scale > 1 && !scaled_count(&counts->items[i], scale, &value)) scale /= 10;
    return scale;
}

static bool add_samples(struct csn_profile *profile, const struct folded_counts *counts, const char *path) {
    const int64_t scale = scale_of(counts);
    int64_t values[64] = { 0 };
    char type[32] = "samples";
    uint32_t value_type;
    if (scale > 1) {
        snprintf(type, sizeof(type), "samples x%lld", (long long)scale);
        cli_error(path, "counts have fractions: they are taken times %lld", (long long)scale);
    }
    const struct csn_str type_text = { type, strlen(type) };
    if (csn_profile_add_value_type(profile, type_text, CSN_STR("count"), &value_type, NULL) != CSN_OK) return false;
    struct csn_profile_sample sample = { .values = values, .value_count = value_type + 1 };
    for (size_t i = 0; i < counts->count; i++) {
        sample.stack = counts->items[i].stack;
        /* Rounded away from 0 at scale 1, it may have more than 64 bits. */
        if (!scaled_count(&counts->items[i], scale, &values[value_type]))
            values[value_type] = counts->items[i].whole < 0 ? INT64_MIN : INT64_MAX;
        if (csn_profile_add_sample(profile, &sample, NULL) != CSN_OK) return false;
    }
    return true;
}

/* Scripts for flame graphs know no comments: what they leave out has no count. */
static bool is_comment(struct csn_str line) { return line.ptr[0] == '#' && !folded_count_at(line); }

bool profile_read_folded(struct csn_profile *profile, struct stack_session *session, struct line_input *input, const char *path) {
    struct profile_frames frames;
    struct csn_str line;
    enum line_result result = LINE_FAILED;
    struct folded_counts counts = { .items = NULL };
    bool good = profile_frames_init(&frames, profile, session, &folded_dialect);
    while (good && (result = line_input_next(input, true, &line)) != LINE_END) {
        struct csn_str text = line_text(line);
        struct folded_count count = { .whole = 0 };
        if (result == LINE_FAILED) {
            cli_error(path, "%s", input->no_memory ? "out of memory" : strerror(input->os_error));
            break;
        }
        if (!text.len || (is_comment(text) && result == LINE_WHOLE)) continue;
        if (result == LINE_PART) {
            cli_error(path, "line %llu is too long: need at most %zu bytes", (unsigned long long)input->line + 1, input->max);
            result = LINE_FAILED;
            break;
        }
        if (!read_count_of_line(text, input->line, path, &counts, &count)) {
            result = LINE_FAILED;
            break;
        }
        good = read_folded_stack(&frames, text, &counts, &count);
    }
    if (good && result == LINE_END) good = add_samples(profile, &counts, path);
    free(counts.items);
    profile_frames_deinit(&frames);
    if (!good) cli_error_memory("stacks");
    return good && result == LINE_END;
}
