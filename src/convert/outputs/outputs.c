/* The formats that a conversion writes. */
#include "convert/outputs/outputs.h"

#include <stdio.h>

#include <callsign/convert.h>

#include "formats/bsym/write/bsym_write.h"
#include "convert/outputs/output_breakpad.h"
#include "convert/outputs/output_gsection.h"
#include "formats/gsym/write/gsym_write_accel.h"
#include "formats/gsym/write/gsym_write_names.h"

static csn_status write_gsym(const struct csni_model *model, const struct csn_convert_options *options,
                             struct csni_pool *pool, const struct csni_sink *sink, struct csn_convert_report *report,
                             struct csn_error *err) {
    enum csni_gsym_target target = options->format == CSN_FORMAT_GSYM_V2     ? CSNI_GSYM_WRITE_V2
                                   : options->format == CSN_FORMAT_GSYM_AUTO ? CSNI_GSYM_WRITE_ANY
                                                                             : CSNI_GSYM_WRITE_V1;
    const struct csni_gsym_additions additions = { .names = options->flags & CSN_CONVERT_NAME_TABLE,
                                                   .remote_layout = options->flags & CSN_CONVERT_REMOTE_LAYOUT };
    if (options->flags & CSN_CONVERT_ACCELERATE)
        return csni_gsym_write_accelerated(model, target, &additions, pool, sink, report, err);
    if (additions.names) return csni_gsym_write_with_names(model, target, pool, sink, report, err);
    return csni_gsym_write(model, target, pool, sink, report, err);
}

static csn_status write_bsym(const struct csni_model *model, const struct csn_convert_options *options,
                             struct csni_pool *pool, const struct csni_sink *sink, struct csn_convert_report *report,
                             struct csn_error *err) {
    struct csn_str reference[CSNI_BSYM_REFERENCE_TOKENS];
    struct csni_bsym_write_options own = { .version = options->bsym->version,
                                           .own_tokens = options->bsym->tokens == CSN_BSYM_TOKENS_BEST };
    if (options->bsym->tokens == CSN_BSYM_TOKENS_REFERENCE) {
        for (size_t i = 0; i < CSNI_BSYM_REFERENCE_TOKENS; i++) reference[i] = csni_str(csni_bsym_reference_tokens[i]);
        own.tokens = reference;
        own.token_count = CSNI_BSYM_REFERENCE_TOKENS;
        own.all_prefixes = true;
    }
    return csni_bsym_write(model, &own, pool, sink, report, err);
}

static const struct csni_output outputs[] = {
    { CSN_FORMAT_GSYM_V1, "gsym", false, false, write_gsym },
    { CSN_FORMAT_GSYM_V2, "gsym-v2", false, false, write_gsym },
    { CSN_FORMAT_GSYM_AUTO, "gsym-auto", false, false, write_gsym },
    { CSN_FORMAT_GSYM_SECTION, "gsym-section", false, false, csni_write_gsection },
    { CSN_FORMAT_BSYM, "bsym", true, true, write_bsym },
    { CSN_FORMAT_BREAKPAD, "breakpad", false, true, csni_write_breakpad },
};

bool csni_is_gsym(uint32_t format) {
    return !format || format == CSN_FORMAT_GSYM_V1 || format == CSN_FORMAT_GSYM_V2 || format == CSN_FORMAT_GSYM_AUTO;
}

const struct csni_output *csni_output_of(uint32_t format) {
    if (!format) return &outputs[0];
    for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++)
        if (outputs[i].format == format) return &outputs[i];
    return NULL;
}

const char *csn_convert_format_name(size_t n) { return n < sizeof outputs / sizeof *outputs ? outputs[n].name : NULL; }

uint32_t csn_convert_format_find(const char *name) {
    for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++)
        if (csni_str_is(csni_str(name), outputs[i].name)) return outputs[i].format;
    return 0;
}

/* ---- what a format cannot hold ---- */

static void report_unrepresentable(struct csn_convert_report *report, uint64_t count, const char *what, struct csn_str name) {
    char text[CSN_EXAMPLE_SIZE];
    if (!count) return;
    int len = snprintf(text, sizeof text, "%s: %.*s", what, (int)(name.len < 120 ? name.len : 120), name.len ? name.ptr : "");
    csni_report_add(report, CSN_EVENT_NOT_REPRESENTABLE, count, (struct csn_str){ text, len > 0 ? (size_t)len : 0 });
}

/* Records that only their own format knows. */
static void report_foreign_records(const struct csni_model *m, uint32_t format, struct csn_convert_report *report) {
    for (uint32_t i = 0; i < m->image.extras.count; i++) {
        const struct csni_extra *e = &m->image.extras.items[i];
        const char *lf = e->records ? memchr(e->text.ptr, '\n', e->text.len) : NULL;
        struct csn_str first = { e->text.ptr, lf ? (size_t)(lf - e->text.ptr) : e->text.len };
        if (e->format != format) report_unrepresentable(report, e->records, "a record", first);
    }
}

static void report_unrepresentable_in_breakpad(const struct csni_model *m, struct csn_convert_report *report) {
    const struct csni_image *image = &m->image;
    for (uint32_t i = 0; i < m->entry_count; i++) {
        const struct csni_entry *e = &m->entries[i];
        const struct csni_function *f = csni_model_function(m, e);
        struct csn_str name = m->batches[e->batch].strings[f->name];
        report_unrepresentable(report, f->site_count, "call sites of", name);
        report_unrepresentable(report, e->child_count, "functions merged with", name);
        bool is_below = f->start < csni_image_first_byte(image);
        report_unrepresentable(report, is_below, "a function below the image's base", name);
    }
}

void csni_report_unrepresentable(const struct csni_model *m, uint32_t format, struct csn_convert_report *report) {
    report_foreign_records(m, format, report);
    if (format == CSN_FORMAT_BREAKPAD) report_unrepresentable_in_breakpad(m, report);
}
