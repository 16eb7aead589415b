/* An image of many binaries as one, for writers that know no others. */
#include <stdio.h>

#include "model/model.h"

static void note_binary(struct csn_convert_report *report, enum csn_event event, uint64_t count, const char *what,
                        struct csn_str name) {
    char text[CSN_EXAMPLE_SIZE];
    int len = snprintf(text, sizeof text, "%s%.*s", what, (int)(name.len < 150 ? name.len : 150), name.ptr);
    if (count) csni_report_add(report, event, count, (struct csn_str){ text, len > 0 ? (size_t)len : 0 });
}

/* Leaves out functions of binaries without an address. */
static void flatten_batch(struct csni_model *m, struct csni_batch *b, struct csn_convert_report *report) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < b->function_count; i++) {
        struct csni_function f = b->functions[i];
        const struct csni_binary *binary = f.binary ? &m->image.binaries[f.binary - 1] : NULL;
        if (binary && !binary->address && m->image.binary_count > 1) {
            note_binary(report, CSN_EVENT_FUNCTION_NOT_PLACED, 1, "of ", binary->name);
            continue;
        }
        f.binary = 0;
        b->functions[kept++] = f;
    }
    b->function_count = kept;
}

void csni_model_flatten(struct csni_model *m, struct csn_convert_report *report) {
    struct csni_image *image = &m->image;
    if (!image->binary_count) return;
    for (uint32_t i = 0; i < m->batch_count; i++) flatten_batch(m, &m->batches[i], report);
    if (image->binary_count > 1)
        note_binary(report, CSN_EVENT_BINARY_LOST, image->binary_count, "", image->binaries[0].name);
    if (image->rename_count)
        note_binary(report, CSN_EVENT_PART_LOST, image->rename_count, "name on the device ", image->renames[0].name);
    image->binaries = NULL;
    image->renames = NULL;
    image->binary_count = image->rename_count = 0;
}
