/* Samples of a Firefox profile: stacks, times and weights. */
#include <stdio.h>

#include "profile/firefox_reader.h"

enum { SAMPLE_STACK, SAMPLE_TIME, SAMPLE_DELTA, SAMPLE_WEIGHT, SAMPLE_WEIGHT_TYPE, SAMPLE_MEMBERS };

static csn_status weight_name(struct firefox_reader *r, struct csni_span value, struct csn_str *out) {
    uint32_t name;
    CSNI_TRY(csni_firefox_text(r, value, &name));
    *out = name ? csni_profile_str(r->p, name) : CSN_STR("samples");
    return CSN_OK;
}

/* Times are fractions of a millisecond: kept in nanoseconds. Other weights with fractions are scaled, and their type says so. */
static csn_status weight_type(struct firefox_reader *r, struct csni_span value, uint32_t *out, unsigned *digits) {
    struct csn_str name;
    CSNI_TRY(weight_name(r, value, &name));
    *digits = r->weight_digits;
    if (csni_str_is(name, "tracing-ms")) {
        *digits = FIREFOX_NS_DIGITS;
        return csn_profile_add_value_type(r->p, name, CSN_STR("nanoseconds"), out, r->err);
    }
    if (!*digits)
        return csn_profile_add_value_type(r->p, name, csni_str_is(name, "bytes") ? name : CSN_STR("count"), out, r->err);
    char scale[24];
    const int size = snprintf(scale, sizeof scale, " x%llu", (unsigned long long)r->p->weight_scale);
    r->text.size = 0;
    csni_buffer_put(&r->text, name.ptr, name.len);
    csni_buffer_put(&r->text, scale, (size_t)size);
    if (r->text.failed) return csni_fail_memory(r->err, 0);
    const struct csn_str scaled = { (const char *)r->text.bytes, r->text.size };
    return csn_profile_add_value_type(r->p, scaled, CSN_STR("count"), out, r->err);
}

enum { SHOWN = 32 };             /* of a value in a message */

static csn_status fail_sample(struct firefox_reader *r, const char *what, struct csni_span item, const char *need) {
    return csni_fail(r->err, CSN_E_FORMAT, "JSON", (uint64_t)(item.ptr - r->scan.all.ptr), "a sample has %s %.*s, need %s", what,
                     (int)(item.size < SHOWN ? item.size : SHOWN), (const char *)item.ptr, need);
}

/* Stays as it is for null; anything else that is no number is an error. */
static csn_status number_of(struct firefox_reader *r, const char *what, struct csni_span item, struct json_decimal *out) {
    struct json_decimal number;
    if (item.ptr[0] == 'n') return CSN_OK;
    if (!csni_json_decimal(item, &number)) return fail_sample(r, what, item, "a number");
    *out = number;
    return CSN_OK;
}

static csn_status add_weight(struct firefox_reader *r, struct csni_span item, unsigned digits, int64_t *value) {
    struct json_decimal number = { .digits = { (const uint8_t *)"1", 1 }, .count = 1 };
    int64_t weight;
    if (item.size) CSNI_TRY(number_of(r, "weight", item, &number));
    if (!csni_json_decimal_value(&number, digits, &weight))
        return fail_sample(r, "weight", item,
                           digits == FIREFOX_NS_DIGITS ? "at most 9223372036854.775807" : "at most 9223372036854775807");
    r->p->sums_cut += !csni_profile_add_value(value, weight);
    return CSN_OK;
}

/* Where a sample is in time: a time of its own, or one after the last sample's. Deltas are added up before they are rounded. */
struct sample_clock {
    double ms;
    int64_t ns;
};

/* A column of samples, and what of it is not read yet. */
struct sample_column {
    const char *key;
    struct csni_span all, rest;
};

static csn_status fail_column(struct firefox_reader *r, const struct sample_column *column, const char *what) {
    return csni_fail(r->err, CSN_E_FORMAT, "JSON", (uint64_t)(column->all.ptr - r->scan.all.ptr),
                     "samples have %s items in '%s' than in 'stack'", what, column->key);
}

/* Of the next sample; empty if the column is not there. */
static csn_status next_item(struct firefox_reader *r, struct sample_column *column, struct csni_span *out) {
    *out = (struct csni_span){ NULL, 0 };
    if (!column->all.size || csni_json_item(&column->rest, out)) return CSN_OK;
    return fail_column(r, column, "fewer");
}

static csn_status check_end(struct firefox_reader *r, struct sample_column *column) {
    struct csni_span item;
    return column->all.size && csni_json_item(&column->rest, &item) ? fail_column(r, column, "more") : CSN_OK;
}

static csn_status next_time(struct firefox_reader *r, struct sample_column *column, bool is_delta, struct sample_clock *clock) {
    struct json_decimal number = { .count = 0 };
    struct csni_span item;
    double delta;
    CSNI_TRY(next_item(r, column, &item));
    if (!item.size || (!is_delta && item.ptr[0] == 'n')) return CSN_OK;
    CSNI_TRY(number_of(r, is_delta ? "time delta" : "time", item, &number));
    if (!is_delta) {
        if (!csni_json_decimal_value(&number, FIREFOX_NS_DIGITS, &clock->ns)) clock->ns = 0;
        return CSN_OK;
    }
    if (csni_json_number(item, &delta)) clock->ms += delta;
    const double ns = clock->ms * 1e6;
    clock->ns = ns > -9e18 && ns < 9e18 ? (int64_t)(ns < 0 ? ns - 0.5 : ns + 0.5) : 0;
    return CSN_OK;
}

/* Since the profile's start, or Unix time where only that is wanted. */
static int64_t sample_time(const struct firefox_reader *r, int64_t ns) {
    int64_t unix_ns;
    if (r->p->flags & CSN_PROFILE_EVERY_SAMPLE) return ns;
    return r->start_ns && !__builtin_add_overflow(r->start_ns, ns, &unix_ns) && unix_ns > 0 ? unix_ns : 0;
}

csn_status csni_firefox_samples(struct firefox_reader *r, struct csni_span samples, uint32_t thread) {
    struct json_member m[SAMPLE_MEMBERS] = { { .key = "stack" }, { .key = "time" }, { .key = "timeDeltas" }, { .key = "weight" },
                                             { .key = "weightType" } };
    struct profile_sample_row row = { .input = (uint32_t)r->p->inputs.count - 1, .thread = thread };
    struct sample_clock clock = { 0, 0 };
    struct csni_span stack;
    uint32_t type;
    unsigned digits;
    csni_json_members(samples, m, SAMPLE_MEMBERS);
    for (size_t i = 0; i < SAMPLE_WEIGHT_TYPE; i++) CSNI_TRY(csni_json_array(&r->scan, m[i].value));
    CSNI_TRY(weight_type(r, m[SAMPLE_WEIGHT_TYPE].value, &type, &digits));
    const bool has_deltas = !m[SAMPLE_TIME].value.size;
    const struct json_member *const clocked = &m[has_deltas ? SAMPLE_DELTA : SAMPLE_TIME];
    struct sample_column times = { clocked->key, clocked->value, clocked->value };
    struct sample_column weights = { m[SAMPLE_WEIGHT].key, m[SAMPLE_WEIGHT].value, m[SAMPLE_WEIGHT].value };
    while (csni_json_item(&m[SAMPLE_STACK].value, &stack)) {
        int64_t number = -1;
        struct csni_span weight;
        CSNI_TRY(next_time(r, &times, has_deltas, &clock));
        CSNI_TRY(next_item(r, &weights, &weight));
        if (stack.ptr[0] != 'n' && (!csni_json_integer(stack, &number) || number < 0 || number >= (int64_t)r->stacks.count))
            return csni_fail(r->err, CSN_E_FORMAT, "JSON", (uint64_t)(stack.ptr - r->scan.all.ptr),
                             "a sample has stack %.*s, there are %zu", (int)(stack.size < SHOWN ? stack.size : SHOWN),
                             (const char *)stack.ptr, r->stacks.count);
        row.stack = number >= 0 ? r->stacks.items[number].node : PROFILE_NO_STACK;
        row.time_ns = sample_time(r, clock.ns);
        int64_t *values = csni_profile_sample(r->p, &row, r->err);
        if (!values) return r->err ? r->err->code : CSN_E_MEMORY;
        CSNI_TRY(add_weight(r, weight, digits, &values[type]));
    }
    CSNI_TRY(check_end(r, &times));
    return check_end(r, &weights);
}

/* ---- weights with fractions ---- */

/* How many digits the weights of a thread need behind the point, and for how many all of them have room. */
static csn_status survey_weights(struct firefox_reader *r, struct csni_span thread, int64_t *needed, unsigned *room) {
    struct json_member samples = { .key = "samples" }, m[] = { { .key = "weight" }, { .key = "weightType" } };
    struct csni_span item;
    struct json_decimal number;
    struct csn_str name;
    int64_t value;
    csni_json_members(thread, &samples, 1);
    csni_json_members(samples.value, m, 2);
    CSNI_TRY(weight_name(r, m[1].value, &name));
    if (csni_str_is(name, "tracing-ms")) return CSN_OK;
    while (csni_json_item(&m[0].value, &item)) {
        if (!csni_json_decimal(item, &number)) continue;
        if (number.decimals > *needed) *needed = number.decimals;
        while (*room && !csni_json_decimal_value(&number, *room, &value)) --*room;
    }
    return CSN_OK;
}

/* One scale for all threads, as folded stacks have it. */
csn_status csni_firefox_survey_weights(struct firefox_reader *r, struct csni_span threads) {
    enum { DIGITS_MAX = 9 };
    struct csni_span item;
    int64_t needed = 0;
    unsigned room = DIGITS_MAX;
    while (csni_json_item(&threads, &item)) CSNI_TRY(survey_weights(r, item, &needed, &room));
    r->weight_digits = needed < room ? (unsigned)needed : room;
    r->p->weight_scale = 1;
    for (unsigned i = 0; i < r->weight_digits; i++) r->p->weight_scale *= 10;
    return CSN_OK;
}
