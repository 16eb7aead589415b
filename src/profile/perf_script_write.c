/* The text of perf script: a head and a chain for each sample. */
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

static void put_head(struct profile_out *out, const struct csn_profile *p, const struct profile_sample_row *row, int64_t value,
                     uint32_t type) {
    const struct profile_thread *thread = &p->threads.items[row->thread];
    const struct csn_str name = csni_profile_str(p, thread->name), event = csni_profile_str(p, p->value_types[type].type);
    const uint64_t time = row->time_ns < 0 ? 0 : (uint64_t)row->time_ns;
    char text[96];
    put_one_line(out, name.len ? name : CSN_STR("?"));
    csni_profile_put(out, text,
                     (size_t)snprintf(text, sizeof text, " %llu/%llu %llu.%09llu: %lld ",
                                      (unsigned long long)thread->pid, (unsigned long long)thread->tid,
                                      (unsigned long long)(time / 1000000000), (unsigned long long)(time % 1000000000),
                                      (long long)value));
    for (size_t i = 0; i < event.len; i++) csni_profile_put(out, event.ptr[i] > ' ' ? &event.ptr[i] : "_", 1);
    csni_profile_put_text(out, ":\n");
}

/* The value that counts events; that of samples where there is no other. */
static uint32_t event_value(const struct csn_profile *p, const int64_t *values) {
    for (uint32_t i = p->value_count; i-- > 1;)
        if (values[i]) return i;
    return 0;
}

csn_status csni_perf_script_write(struct csn_profile *p, struct profile_out *out, struct csn_error *err) {
    (void)err;
    for (size_t i = 0; i < p->samples.count && p->value_count; i++) {
        const struct profile_sample_row *row = &p->samples.items[i];
        const int64_t *values = p->values.items + i * p->value_stride;
        const uint32_t type = event_value(p, values);
        if (!values[type]) continue;
        put_head(out, p, row, values[type], type);
        bool is_first = true, in_kernel = false; /* the first frame after those of the kernel was interrupted */
        for (uint32_t node = row->stack; node; node = p->nodes.items[node].caller) {
            const struct profile_location *location = &p->locations.items[p->nodes.items[node].location];
            const bool was_in_kernel = in_kernel;
            in_kernel = location->value >> 63;
            put_chain_location(out, p, location, !is_first && !(was_in_kernel && !in_kernel));
            is_first = false;
        }
        csni_profile_put(out, "\n", 1);
    }
    return CSN_OK;
}
