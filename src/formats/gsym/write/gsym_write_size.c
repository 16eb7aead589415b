/* How large a GSYM file will be. */
#include "formats/gsym/write/gsym_write_size.h"

#include "base/core/checked.h"
#include "base/core/fail.h"
#include "formats/gsym/gsym_layout.h"

size_t csni_gsym_build_id_max(enum csni_gsym_target target) {
    return target == CSNI_GSYM_WRITE_V1 ? CSNI_GSYM_UUID_MAX : SIZE_MAX;
}

static uint64_t front_size(const struct csni_model *m, bool v2) {
    if (!v2) return CSNI_GSYM_HEADER_SIZE;
    uint64_t entries = m->image.uuid.size ? CSNI_GSYM_SECTION_KNOWN : CSNI_GSYM_SECTION_KNOWN - 1;
    return CSNI_GSYM_2_HEADER_SIZE + entries * CSNI_GSYM_2_ENTRY_BYTES + m->image.uuid.size;
}

csn_status csni_gsym_sizer_init(struct csni_gsym_sizer *s, const struct csni_model *m, enum csni_gsym_target target,
                                struct csn_error *err) {
    bool v2 = target == CSNI_GSYM_WRITE_V2;
    *s = (struct csni_gsym_sizer){ .front_size = front_size(m, v2) };
    s->scratch.records.alloc = s->scratch.ends.alloc = m->alloc;
    s->no_strps = csni_alloc_zeroed(m->alloc, m->string_count, sizeof *s->no_strps);
    s->encoder = (struct csni_gsym_encoder){ m, s->no_strps, v2 ? CSNI_GSYM_2_STRP_SIZE : CSNI_GSYM_STRP_SIZE,
                                             m->image.big_endian };
    return s->no_strps ? CSN_OK : csni_fail_memory(err, m->string_count * sizeof *s->no_strps);
}

void csni_gsym_sizer_deinit(struct csni_gsym_sizer *s) {
    const struct csni_model *m = s->encoder.model;
    csni_gsym_encoded_free(&s->scratch);
    csni_free(m->alloc, s->no_strps, m->string_count * sizeof *s->no_strps);
}

void csni_gsym_sizer_reset(struct csni_gsym_sizer *s) {
    s->record_bytes = s->first_start = s->last_start = 0;
    s->functions = 0;
}

csn_status csni_gsym_sizer_add(struct csni_gsym_sizer *s, const struct csni_entry *entry, struct csn_error *err) {
    uint64_t start = csni_model_function(s->encoder.model, entry)->start;
    s->scratch.records.size = 0;
    csni_gsym_encode_record(&s->encoder, entry, &s->scratch);
    if (s->scratch.records.failed) return csni_fail_memory(err, s->scratch.records.size);
    s->record_bytes += csni_align_up(s->scratch.records.size, CSNI_GSYM_ALIGN);
    if (!s->functions++) s->first_start = start;
    s->last_start = start;
    return CSN_OK;
}

uint64_t csni_gsym_sizer_estimate(const struct csni_gsym_sizer *s, uint64_t string_bytes, uint64_t file_count) {
    const struct csni_model *m = s->encoder.model;
    uint64_t base = csni_image_base_below(&m->image, s->first_start, s->first_start);
    uint64_t span = s->functions ? s->last_start - base : 0, strp_size = s->encoder.strp_size;
    uint64_t width = span <= UINT8_MAX ? 1 : span <= UINT16_MAX ? 2 : span <= UINT32_MAX ? 4 : 8;
    /* An info offset is as wide as a strp. */
    return s->front_size + s->functions * (width + strp_size) + CSNI_GSYM_FILE_COUNT_SIZE + file_count * 2 * strp_size +
           string_bytes + s->record_bytes;
}
