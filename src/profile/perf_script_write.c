/* The text of perf script: a head and a chain for each sample, as perf writes it, where all samples are as perf's: one each, with
 * the number of one event. Else a head and a chain for each value, of an event that is named after type and unit. */
#include <stdio.h>

#include "profile/profile_out.h"
#include "profile/profile_places.h"

static const char UNKNOWN[] = "[unknown]";

static void put_one_line(struct profile_out *out, struct csn_str text) {
    for (size_t from = 0; from < text.len;) {
        size_t end = from;
        while (end < text.len && (unsigned char)text.ptr[end] >= 0x20) end++;
        csni_profile_put(out, text.ptr + from, end - from);
        if (end < text.len) csni_profile_put(out, " ", 1);
        from = end + 1;
    }
}

static void put_frame_line(struct profile_out *out, uint64_t addr, struct csn_str name, struct csn_str module) {
    char text[32];
    csni_profile_put(out, text, (size_t)snprintf(text, sizeof text, "\t%16llx ", (unsigned long long)addr));
    if (name.len) put_one_line(out, name);
    else csni_profile_put_text(out, UNKNOWN);
    csni_profile_put_text(out, " (");
    if (module.len) put_one_line(out, module);
    else csni_profile_put_text(out, UNKNOWN);
    csni_profile_put_text(out, ")\n");
}

/* Inlined calls stand above the function that they are in, with its address. */
static void put_chain_location(struct profile_out *out, const struct csn_profile *p,
                               const struct profile_location *location, bool is_caller) {
    const uint64_t addr = csni_profile_perf_place(p, location, is_caller);
    const struct csn_str module = location->module == CSN_PROFILE_NO_MODULE
                                      ? CSN_STR("")
                                      : csni_profile_str(p, p->modules.items[location->module].path);
    for (uint32_t k = 0; k < location->line_count; k++) {
        const struct profile_line *line = &p->lines.items[location->first_line + k];
        const struct csn_str name = csni_profile_str(p, p->functions.items[line->function].name);
        put_frame_line(out, addr, name, k + 1 < location->line_count ? CSN_STR("inlined") : module);
    }
    if (!location->line_count) put_frame_line(out, addr, CSN_STR(""), module);
}

/* ---- values ---- */

static const struct csn_str SAMPLES = { "samples", sizeof "samples" - 1 };

struct perf_writer {
    struct profile_out *out;
    const struct csn_profile *p;
    uint32_t samples;            /* the type "samples" in "count"; PROFILE_NONE: there is none */
    bool is_plain;               /* all samples are as perf's */
    int64_t first_ns;            /* the time that is written as 0: perf's are not negative */
};

static uint32_t samples_type(const struct csn_profile *p) {
    for (uint32_t i = 0; i < p->value_count; i++)
        if (csni_str_equal(csni_profile_str(p, p->value_types[i].type), SAMPLES) &&
            csni_str_equal(csni_profile_str(p, p->value_types[i].unit), CSN_STR("count")))
            return i;
    return PROFILE_NONE;
}

/* perf's events have no unit: those of its clocks are nanoseconds. */
static bool is_event_of_perf(const struct csn_profile *p, uint32_t type) {
    static const char clock[] = "-clock";
    const struct csn_str name = csni_profile_str(p, p->value_types[type].type);
    bool is_clock = false;
    for (size_t i = 0; !is_clock && i + sizeof clock - 1 <= name.len; i++)
        is_clock = memcmp(name.ptr + i, clock, sizeof clock - 1) == 0;
    const struct csn_str unit = is_clock ? CSN_STR("nanoseconds") : CSN_STR("count");
    return name.len && name.ptr[name.len - 1] != ']' && csni_str_equal(csni_profile_str(p, p->value_types[type].unit), unit);
}

static bool is_sample_of_perf(const struct perf_writer *w, const int64_t *values) {
    uint32_t others = 0;
    for (uint32_t i = 0; i < w->p->value_count; i++) {
        if (i == w->samples || !values[i]) continue;
        if (others++ || !is_event_of_perf(w->p, i)) return false;
    }
    return !others || values[w->samples] == 1;
}

static bool is_plain(const struct perf_writer *w) {
    if (w->samples == PROFILE_NONE) return false;
    for (size_t i = 0; i < w->p->samples.count; i++)
        if (!is_sample_of_perf(w, w->p->values.items + i * w->p->value_stride)) return false;
    return true;
}

/* ---- heads ---- */

static void put_event_part(struct profile_out *out, struct csn_str text, bool is_unit) {
    for (size_t i = 0; i < text.len; i++) {
        const bool is_kept = (unsigned char)text.ptr[i] > ' ' && !(is_unit && (text.ptr[i] == '[' || text.ptr[i] == ']'));
        csni_profile_put(out, is_kept ? &text.ptr[i] : "_", 1);
    }
}

static void put_event(const struct perf_writer *w, uint32_t type) {
    const bool is_perf = w->is_plain || type == w->samples;
    put_event_part(w->out, csni_profile_str(w->p, w->p->value_types[type].type), false);
    if (is_perf) return;
    csni_profile_put(w->out, "[", 1);
    put_event_part(w->out, csni_profile_str(w->p, w->p->value_types[type].unit), true);
    csni_profile_put(w->out, "]", 1);
}

static void put_head(const struct perf_writer *w, const struct profile_sample_row *row, int64_t value, uint32_t type) {
    const struct profile_thread *thread = &w->p->threads.items[row->thread];
    const struct csn_str name = csni_profile_str(w->p, thread->name);
    const uint64_t time = (uint64_t)row->time_ns - (uint64_t)w->first_ns;
    char text[96];
    put_one_line(w->out, name.len ? name : CSN_STR("[unknown]")); /* scripts want two characters at least */
    csni_profile_put(w->out, text,
                     (size_t)snprintf(text, sizeof text, " %llu/%llu %llu.%09llu: %lld ",
                                      (unsigned long long)thread->pid, (unsigned long long)thread->tid,
                                      (unsigned long long)(time / 1000000000), (unsigned long long)(time % 1000000000),
                                      (long long)value));
    if (type == PROFILE_NONE) put_event_part(w->out, SAMPLES, false);
    else put_event(w, type);
    csni_profile_put_text(w->out, ":\n");
}

/* ---- samples ---- */

static void put_value(const struct perf_writer *w, const struct profile_sample_row *row, int64_t value, uint32_t type) {
    const struct csn_profile *p = w->p;
    put_head(w, row, value, type);
    bool is_first = true, in_kernel = false; /* the first frame after those of the kernel was interrupted */
    for (uint32_t node = row->stack; node; node = p->nodes.items[node].caller) {
        const struct profile_location *location = &p->locations.items[p->nodes.items[node].location];
        const bool was_in_kernel = in_kernel;
        in_kernel = location->value >> 63;
        put_chain_location(w->out, p, location, !is_first && !(was_in_kernel && !in_kernel));
        is_first = false;
    }
    csni_profile_put(w->out, "\n", 1);
}

/* Of a sample of perf, the value that counts events; that of samples where there is no other. */
static void put_sample_of_perf(const struct perf_writer *w, const struct profile_sample_row *row, const int64_t *values) {
    uint32_t type = w->samples;
    for (uint32_t i = 0; i < w->p->value_count; i++)
        if (i != w->samples && values[i]) type = i;
    put_value(w, row, values[type], type);
}

/* The value that is shown comes first: readers that want one event take the first one. `with_zeros`: so that they meet all
 * types. */
static void put_all_values(const struct perf_writer *w, const struct profile_sample_row *row, const int64_t *values,
                           bool with_zeros) {
    const uint32_t first = w->p->value_count ? csni_profile_shown_value(w->p) : PROFILE_NONE;
    bool has_value = false;
    for (uint32_t i = 0; i < w->p->value_count; i++) has_value |= values[i] != 0;
    if (!has_value || with_zeros || values[first]) put_value(w, row, has_value ? values[first] : 0, first);
    for (uint32_t i = 0; i < w->p->value_count; i++)
        if (i != first && (with_zeros || values[i])) put_value(w, row, values[i], i);
}

csn_status csni_perf_script_write(struct csn_profile *p, struct profile_out *out, struct csn_error *err) {
    (void)err;
    struct perf_writer w = { .out = out, .p = p, .samples = samples_type(p) };
    w.is_plain = is_plain(&w);
    for (size_t i = 0; i < p->samples.count; i++)
        if (p->samples.items[i].time_ns < w.first_ns) w.first_ns = p->samples.items[i].time_ns;
    for (size_t i = 0; i < p->samples.count; i++) {
        const int64_t *values = p->values.items + i * p->value_stride;
        if (w.is_plain) put_sample_of_perf(&w, &p->samples.items[i], values);
        else put_all_values(&w, &p->samples.items[i], values, i == 0);
    }
    return CSN_OK;
}
