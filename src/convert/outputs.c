/* The formats that a conversion writes. */
#include "convert/outputs.h"

#include "convert/output_gsection.h"
#include "gsym/gsym_write.h"

static csn_status write_gsym_v1(const struct csni_model *model, const struct csn_convert_options *options,
                                struct csni_pool *pool, const struct csni_sink *sink, struct csn_convert_report *report,
                                struct csn_error *err) {
    (void)options;
    return csni_gsym_write_v1(model, pool, sink, report, err);
}

static const struct csni_output outputs[] = {
    { CSN_FORMAT_GSYM_V1, "gsym", write_gsym_v1 },
    { CSN_FORMAT_GSYM_SECTION, "gsym-section", csni_write_gsection },
};

const struct csni_output *csni_output_of(uint32_t format) {
    if (!format) return &outputs[0];
    for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++)
        if (outputs[i].format == format) return &outputs[i];
    return NULL;
}

const char *csn_output_name(size_t n) { return n < sizeof outputs / sizeof *outputs ? outputs[n].name : NULL; }

uint32_t csn_output_format(const char *name) {
    for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++)
        if (csni_str_is(csni_str(name), outputs[i].name)) return outputs[i].format;
    return 0;
}
