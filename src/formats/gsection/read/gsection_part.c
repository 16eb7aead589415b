/* Parts of a record: where each ends. Writers of different days counted the length field into the length, or padding, or
 * neither, and ended lists with 4 or 8 bytes of 0; only decoding a part tells which it was. */
#include "base/core/checked.h"
#include "formats/gsection/read/gsection.h"

static const char section_name[] = "FunctionInfo";

/* Bytes that a line table or inline tree takes; false where it cannot be decoded. */
static bool decoded_size(const struct csni_gsection *g, const struct csni_gsym_payload *payload, uint64_t *out) {
    csn_status status;
    if (payload->type == CSNI_GSYM_PART_LINES) {
        struct csni_gsym_row_iter rows;
        struct csn_row row;
        if (csni_gsection_rows(g, payload, 0, &rows, NULL) < 0) return false;
        while ((status = csni_gsym_row_next(&rows, &row, NULL)) == CSN_OK) {}
        *out = (uint64_t)(rows.p - rows.begin);
    } else {
        struct csni_gsym_inline_iter nodes;
        struct csni_gsym_node node;
        uint32_t depth;
        csni_gsym_nodes(&nodes, &g->gsym, payload);
        while ((status = csni_gsym_node_next(&nodes, NULL, &node, &depth, NULL)) == CSN_OK) {}
        *out = (uint64_t)(nodes.p - nodes.begin);
    }
    return status == CSN_NONE;
}

static bool is_zero(struct csni_span bytes, uint64_t from) {
    for (uint64_t i = from; i < bytes.size; i++)
        if (bytes.ptr[i]) return false;
    return true;
}

/* Holds the stored length against what was decoded, cuts the payload to that, and says where the part ends. */
static enum csni_gsection_length judge(const struct csni_gsection *g, struct csni_gsym_payload *payload, uint64_t length,
                                       uint64_t *out_used) {
    uint64_t used;
    *out_used = length;
    if (g->regular) return CSNI_LENGTH_REGULAR;
    if (payload->type != CSNI_GSYM_PART_LINES && payload->type != CSNI_GSYM_PART_INLINE) {
        if (g->self_counting && length >= CSNI_GSECTION_SELF_COUNT) *out_used = length - CSNI_GSECTION_SELF_COUNT;
        payload->bytes.size = (size_t)*out_used;
        return CSNI_LENGTH_UNKNOWN_TYPE;
    }
    if (decoded_size(g, payload, &used)) {
        if (used == length) return CSNI_LENGTH_REGULAR;
        if (used + CSNI_GSECTION_SELF_COUNT == length) {
            payload->bytes.size = (size_t)used;
            *out_used = used;
            return CSNI_LENGTH_SELF_COUNTING;
        }
        if (length % CSNI_GSYM_ALIGN == 0 && length - used < CSNI_GSYM_ALIGN && is_zero(payload->bytes, used)) {
            payload->bytes.size = (size_t)used;
            return CSNI_LENGTH_PADDED;
        }
    }
    /* Revision A writes a line table without rows as its end mark alone. */
    if (payload->type == CSNI_GSYM_PART_LINES && (length == 1 || length == 1 + CSNI_GSECTION_SELF_COUNT) &&
        payload->bytes.ptr[0] == 0) {
        payload->bytes.size = 1;
        *out_used = 1;
        return CSNI_LENGTH_EMPTY;
    }
    return CSNI_LENGTH_WRONG;
}

/* The type and length at `pos`; false where it is no part known to this format that fits. */
static bool is_plausible(const struct csni_gsection *g, const struct csni_gsym_record *record, uint64_t pos) {
    struct csni_span header;
    if (!csni_span_sub(record->bytes, pos, CSNI_GSYM_PART_HEADER_SIZE, &header)) return false;
    uint32_t type = csni_get32(header.ptr, g->gsym.big), length = csni_get32(header.ptr + 4, g->gsym.big);
    return type >= CSNI_GSYM_PART_LINES && type <= CSNI_GSYM_PART_MERGED &&
           length <= record->bytes.size - pos - CSNI_GSYM_PART_HEADER_SIZE;
}

/* Where the part after `pos` begins: there, or aligned, as the README has it. Where zeros stand there that could be an end
 * mark, a part at the aligned place proves that they are padding: after an end mark that place holds zeros, too. */
static uint64_t skip_padding(const struct csni_gsection *g, const struct csni_gsym_record *record, uint64_t pos) {
    uint64_t aligned = csni_align_up(record->offset + pos, CSNI_GSYM_ALIGN) - record->offset;
    struct csni_span type, aligned_type;
    if (aligned == pos || is_plausible(g, record, pos)) return pos;
    if (is_plausible(g, record, aligned)) return aligned;
    if (!csni_span_sub(record->bytes, pos, 4, &type) || csni_get32(type.ptr, g->gsym.big) == CSNI_GSYM_PART_END) return pos;
    bool ends = csni_span_sub(record->bytes, aligned, 4, &aligned_type) &&
                csni_get32(aligned_type.ptr, g->gsym.big) == CSNI_GSYM_PART_END;
    return ends ? aligned : pos;
}

csn_status csni_gsection_part_step(const struct csni_gsection *g, const struct csni_gsym_record *record, uint64_t pos,
                                   struct csni_gsection_part *out, struct csn_error *err) {
    struct csni_span field;
    struct csni_gsym_payload *payload = &out->payload;
    out->begin = pos;
    if (!csni_span_sub(record->bytes, pos, 4, &field)) {
        csni_gsym_fail_part(record, pos <= record->bytes.size ? pos : record->bytes.size, err);
        return CSN_E_TRUNCATED;
    }
    payload->type = csni_get32(field.ptr, g->gsym.big);
    /* Some end with a type alone. */
    if (payload->type == CSNI_GSYM_PART_END) return CSN_NONE;
    if (!csni_span_sub(record->bytes, pos + 4, 4, &field)) {
        csni_gsym_fail_part(record, pos, err);
        return CSN_E_TRUNCATED;
    }
    uint64_t length = csni_get32(field.ptr, g->gsym.big), at = pos + CSNI_GSYM_PART_HEADER_SIZE, used;
    payload->offset = record->offset + at;
    if (!csni_span_sub(record->bytes, at, length, &payload->bytes)) {
        csni_gsym_fail_length(record, at, payload->type, length, err);
        return CSN_E_TRUNCATED;
    }
    out->length = judge(g, payload, length, &used);
    out->next = at + used;
    bool packed = out->length == CSNI_LENGTH_SELF_COUNTING || out->length == CSNI_LENGTH_EMPTY;
    if (!packed && !g->regular) out->next = skip_padding(g, record, out->next);
    return CSN_OK;
}

csn_status csni_gsection_part_next(const struct csni_gsection *g, const struct csni_gsym_record *record, uint64_t *pos,
                                   struct csni_gsym_payload *out, struct csn_error *err) {
    struct csni_gsection_part part;
    do {
        csn_status status = csni_gsection_part_step(g, record, *pos, &part, err);
        if (status != CSN_OK) return status;
        *pos = part.next;
    } while (part.length == CSNI_LENGTH_EMPTY);
    *out = part.payload;
    return CSN_OK;
}

csn_status csni_gsection_part_find(const struct csni_gsection *g, const struct csni_gsym_record *record, uint32_t type,
                                   struct csni_gsym_payload *out, struct csn_error *err) {
    uint64_t pos = CSNI_GSYM_R_PARTS;
    struct csni_gsym_payload part;
    csn_status status;
    while ((status = csni_gsection_part_next(g, record, &pos, &part, err)) == CSN_OK)
        if (part.type == type) {
            *out = part;
            return CSN_OK;
        }
    return status;
}

csn_status csni_gsection_rows(const struct csni_gsection *g, const struct csni_gsym_payload *payload, uint64_t start,
                              struct csni_gsym_row_iter *out, struct csn_error *err) {
    struct csni_gsym_lines lines = { payload->bytes, start, section_name, payload->offset,
                                     payload->bytes.ptr + payload->bytes.size };
    CSNI_TRY(csni_gsym_rows(out, &lines, err));
    out->file_bias = g->gsym.file_bias;
    return CSN_OK;
}
