/* What the parts of a conversion share: its text, its batches, its progress. */
#include "convert/conversion.h"

#include "base/core/fail.h"
#include "base/core/search.h"

bool csni_in_text(const struct csni_conversion *c, uint64_t addr) {
    if (!c->image.text.count) return true;
    size_t above = csni_upper_bound(c->image.text.items, c->image.text.count, start, addr);
    return above && addr < c->image.text.items[above - 1].end;
}

csn_status csni_progress(struct csni_conversion *c, const char *phase, uint64_t amount, struct csn_error *err) {
    if (!c->options.progress) return CSN_OK;
    pthread_mutex_lock(&c->lock);
    c->progress_done += amount;
    bool go_on = c->options.progress(c->options.progress_context, phase, c->progress_done, c->progress_total);
    pthread_mutex_unlock(&c->lock);
    return go_on ? CSN_OK : csni_fail(err, CSN_E_CANCELLED, NULL, 0, "stopped by the caller");
}

csn_status csni_check_strict(const struct csni_conversion *c, struct csn_error *err) {
    if (!(c->options.flags & CSN_CONVERT_STRICT)) return CSN_OK;
    for (uint32_t e = 0; e < CSN_EVENT_COUNT; e++) {
        const struct csn_event_count *event = &c->report->events[e];
        if (event->count && csn_event_get_class(e) == CSN_CLASS_DROPPED)
            return csni_fail(err, CSN_E_FORMAT, NULL, 0, "strict: %s, %llu times; first: %.120s", csn_event_name(e),
                             (unsigned long long)event->count, event->example);
    }
    return CSN_OK;
}

struct csni_batch *csni_add_batches(struct csni_conversion *c, uint32_t count) {
    if (!count) return c->batches;
    uint32_t need = c->batch_count + count;
    if (need > c->batch_capacity) {
        uint32_t capacity = need > c->batch_capacity + c->batch_capacity / 2 ? need : c->batch_capacity + c->batch_capacity / 2;
        struct csni_batch *grown = csni_realloc(c->alloc, c->batches, c->batch_capacity * sizeof *grown, capacity * sizeof *grown);
        if (!grown) return NULL;
        c->batches = grown;
        c->batch_capacity = capacity;
    }
    struct csni_batch *added = c->batches + c->batch_count;
    memset(added, 0, count * sizeof *added);
    c->batch_count = need;
    return added;
}

static const uint64_t DEFAULT_MAX_DECOMPRESSED = (uint64_t)64 << 30;

struct csni_object_options csni_object_options_of(const struct csni_conversion *c, bool is_mapped) {
    uint64_t limit = c->options.max_decompressed_bytes;
    return (struct csni_object_options){ .allocator = c->alloc,
                                         .max_decompressed_bytes = limit ? limit : DEFAULT_MAX_DECOMPRESSED,
                                         .file_is_mapped = is_mapped };
}
