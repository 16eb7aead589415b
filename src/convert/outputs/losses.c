/* What a model holds and an output format cannot. */
#include <stdio.h>

#include "convert/outputs/outputs.h"

static void lose(struct csn_convert_report *report, uint64_t count, const char *what, struct csn_str name) {
    char text[CSN_EXAMPLE_SIZE];
    if (!count) return;
    int len = snprintf(text, sizeof text, "%s: %.*s", what, (int)(name.len < 120 ? name.len : 120), name.len ? name.ptr : "");
    csni_report_add(report, CSN_EVENT_NOT_REPRESENTABLE, count, (struct csn_str){ text, len > 0 ? (size_t)len : 0 });
}

/* Records that only their own format knows. */
static void lose_extras(const struct csni_model *m, uint32_t format, struct csn_convert_report *report) {
    for (uint32_t i = 0; i < m->image.extras.count; i++) {
        const struct csni_extra *e = &m->image.extras.items[i];
        const char *lf = e->records ? memchr(e->text.ptr, '\n', e->text.len) : NULL;
        struct csn_str first = { e->text.ptr, lf ? (size_t)(lf - e->text.ptr) : e->text.len };
        if (e->format != format) lose(report, e->records, "a record", first);
    }
}

static void lose_for_breakpad(const struct csni_model *m, struct csn_convert_report *report) {
    const struct csni_image *image = &m->image;
    for (uint32_t i = 0; i < m->entry_count; i++) {
        const struct csni_entry *e = &m->entries[i];
        const struct csni_function *f = csni_model_function(m, e);
        struct csn_str name = m->batches[e->batch].strings[f->name];
        lose(report, f->site_count, "call sites of", name);
        lose(report, e->child_count, "functions merged with", name);
        bool is_below = image->has_base_address && f->start < image->base_address;
        lose(report, is_below, "a function below the image's base", name);
    }
}

void csni_report_losses(const struct csni_model *m, uint32_t format, struct csn_convert_report *report) {
    lose_extras(m, format, report);
    if (format == CSN_FORMAT_BREAKPAD) lose_for_breakpad(m, report);
}
