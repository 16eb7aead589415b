/* Records of 16 bytes (FPO_DATA of the PE format) and of 32 bytes (FRAMEDATA of microsoft-pdb). */
#include "pdb/pdb_frames.h"

#include "pdb/pdb_private.h"

enum { FPO_RECORD_SIZE = 16, FRAME_RECORD_SIZE = 32, FPO_USES_BASE_POINTER = 1 << 12, FPO_TYPE_SHIFT = 14 };

static csn_status read_optional_stream(const struct csni_pdb *pdb, uint32_t stream, struct csni_pdb_bytes *out,
                                       struct csn_error *err) {
    return stream == PDB_NO_STREAM ? CSN_OK : csni_pdb_read_stream(pdb, stream, out, err);
}

csn_status csni_pdb_frames_open(const struct csni_pdb *pdb, struct csni_pdb_frames *out, struct csn_error *err) {
    *out = (struct csni_pdb_frames){ .pdb = pdb };
    CSNI_TRY(read_optional_stream(pdb, pdb->fpo_stream, &out->fpo, err));
    return read_optional_stream(pdb, pdb->frame_stream, &out->data, err);
}

void csni_pdb_frames_close(struct csni_pdb_frames *frames) {
    csni_pdb_free_bytes(frames->pdb, &frames->fpo);
    csni_pdb_free_bytes(frames->pdb, &frames->data);
}

static struct csni_pdb_frame read_fpo(const uint8_t *p) {
    uint16_t attributes = csni_get16(p + 14, false);
    return (struct csni_pdb_frame){ .rva = csni_get32(p, false), .code_size = csni_get32(p + 4, false),
                                    .local_size = csni_get32(p + 8, false) * 4, .parameter_size = csni_get16(p + 12, false) * 4u,
                                    .prologue_size = attributes & 0xff,
                                    .saved_register_size = (uint16_t)((attributes >> 8 & 7) * 4),
                                    .type = (uint8_t)(attributes >> FPO_TYPE_SHIFT),
                                    .allocates_base_pointer = attributes & FPO_USES_BASE_POINTER };
}

static struct csni_pdb_frame read_frame_data(const struct csni_pdb *pdb, const uint8_t *p) {
    struct csni_pdb_frame frame = { .rva = csni_get32(p, false), .code_size = csni_get32(p + 4, false),
                                    .local_size = csni_get32(p + 8, false), .parameter_size = csni_get32(p + 12, false),
                                    .max_stack_size = csni_get32(p + 16, false), .prologue_size = csni_get16(p + 24, false),
                                    .saved_register_size = csni_get16(p + 26, false), .type = CSNI_PDB_FRAME_DATA };
    if (!csni_span_cstr(pdb->names, csni_get32(p + 20, false), &frame.program)) frame.program = (struct csn_str){ "", 0 };
    return frame;
}

bool csni_pdb_next_frame(struct csni_pdb_frames *f, struct csni_pdb_frame *out) {
    struct csni_span fpo, data;
    bool has_fpo = csni_span_sub(f->fpo.span, f->fpo_off, FPO_RECORD_SIZE, &fpo);
    bool has_data = csni_span_sub(f->data.span, f->data_off, FRAME_RECORD_SIZE, &data);
    if (!has_fpo && !has_data) return false;
    uint32_t fpo_rva = has_fpo ? csni_get32(fpo.ptr, false) : UINT32_MAX;
    uint32_t data_rva = has_data ? csni_get32(data.ptr, false) : UINT32_MAX;
    bool takes_data = has_data && (!has_fpo || data_rva <= fpo_rva);
    *out = takes_data ? read_frame_data(f->pdb, data.ptr) : read_fpo(fpo.ptr);
    if (takes_data) f->data_off += FRAME_RECORD_SIZE;
    if (!takes_data || (has_fpo && data_rva == fpo_rva)) f->fpo_off += FPO_RECORD_SIZE;
    return true;
}
