/* Encoding one record: a function with its rows, inlined calls, merged functions and call sites. */
#include "formats/gsym/write/gsym_write_record.h"

#include "base/core/endian.h"
#include "base/leb128.h"
#include "formats/gsym/gsym_layout.h"
#include "formats/gsym/write/gsym_line_encode.h"

void csni_gsym_encoded_free(struct csni_gsym_encoded *out) {
    csni_buffer_deinit(&out->records);
    csni_buffer_deinit(&out->ends);
}

static void put_u32(const struct csni_gsym_encoder *e, struct csni_buffer *b, uint32_t v) {
    uint8_t *p = csni_buffer_reserve(b, 4);
    if (!p) return;
    csni_put32(p, v, e->big);
    b->size += 4;
}

/* Returns the byte after it. */
static uint8_t *put_string_at(const struct csni_gsym_encoder *e, uint8_t *p, const struct csni_batch *batch,
                              uint32_t string) {
    uint64_t strp = e->strps[batch->string_numbers[string]];
    if (e->strp_size == CSNI_GSYM_STRP_SIZE) csni_put32(p, (uint32_t)strp, e->big);
    else csni_put64(p, strp, e->big);
    return p + e->strp_size;
}

static void put_string(const struct csni_gsym_encoder *e, struct csni_buffer *b, const struct csni_batch *batch,
                       uint32_t string) {
    uint8_t *p = csni_buffer_reserve(b, e->strp_size);
    if (!p) return;
    put_string_at(e, p, batch, string);
    b->size += e->strp_size;
}

/* Name 0 is refused by readers, so a function without a name has another empty string: the end of the first that is not, or the one
 * that is added where all are. */
static void put_function_name(const struct csni_gsym_encoder *e, struct csni_buffer *b, const struct csni_batch *batch,
                              const struct csni_function *f) {
    if (batch->string_numbers[f->name]) {
        put_string(e, b, batch, f->name);
        return;
    }
    uint64_t end = e->model->string_count < 2 ? 1 : e->strps[1] + e->model->strings[1].len;
    uint8_t *p = csni_buffer_reserve(b, e->strp_size);
    if (!p) return;
    if (e->strp_size == CSNI_GSYM_STRP_SIZE) csni_put32(p, (uint32_t)end, e->big);
    else csni_put64(p, end, e->big);
    b->size += e->strp_size;
}

/* Begins a part of a record; end_gsym_part() fills in its length. */
static size_t begin_gsym_part(const struct csni_gsym_encoder *e, struct csni_buffer *b, enum csni_gsym_part type) {
    put_u32(e, b, type);
    put_u32(e, b, 0);
    return b->size;
}

static uint64_t end_gsym_part(const struct csni_gsym_encoder *e, struct csni_gsym_encoded *out,
                              enum csni_gsym_part type,
                              size_t start) {
    struct csni_buffer *b = &out->records;
    if (b->failed) return 0;
    uint64_t size = b->size - start;
    if (size > UINT32_MAX) {
        out->too_long = size;
        out->too_long_type = type;
    }
    csni_put32(b->bytes + start - 4, (uint32_t)size, e->big);
    return size;
}

static void put_gsym_lines(const struct csni_gsym_encoder *e, struct csni_gsym_encoded *out,
                           const struct csni_batch *batch,
                           const struct csni_function *f) {
    struct csni_buffer *b = &out->records;
    size_t part = begin_gsym_part(e, b, CSNI_GSYM_PART_LINES);
    uint8_t *p = csni_buffer_reserve(b, csni_gsym_line_bound(f->row_count));
    if (!p) return;
    b->size += csni_gsym_encode_lines(batch->rows + f->first_row, f->row_count, batch->file_numbers, p);
    out->line_bytes += end_gsym_part(e, out, CSNI_GSYM_PART_LINES, part);
    out->rows += f->row_count;
}

static void put_gsym_node(const struct csni_gsym_encoder *e, struct csni_buffer *b, const struct csni_batch *batch,
                          const struct csni_inline_node *node, uint32_t base) {
    uint8_t *p = csni_buffer_reserve(b, (2 * (size_t)node->part_count + 3) * CSNI_LEB_MAX + 1 + e->strp_size);
    if (!p) return;
    uint8_t *begin = p;
    p = csni_put_uleb(p, node->part_count);
    for (uint32_t i = 0; i < node->part_count; i++) {
        const struct csni_part *part = &batch->parts[node->first_part + i];
        p = csni_put_uleb(p, part->start - base);
        p = csni_put_uleb(p, part->end - part->start);
    }
    *p++ = node->descendants > 0;
    p = put_string_at(e, p, batch, node->name);
    p = csni_put_uleb(p, batch->file_numbers[node->call_file]);
    p = csni_put_uleb(p, node->call_line);
    b->size += (size_t)(p - begin);
}

/* The root, which stands for the function itself. */
static void put_root(const struct csni_gsym_encoder *e, struct csni_buffer *b, const struct csni_batch *batch,
                     const struct csni_function *f) {
    uint8_t *p = csni_buffer_reserve(b, 5 * CSNI_LEB_MAX + 1 + e->strp_size);
    if (!p) return;
    uint8_t *begin = p;
    *p++ = 1;
    *p++ = 0;
    p = csni_put_uleb(p, f->size);
    *p++ = 1;
    p = put_string_at(e, p, batch, f->name);
    *p++ = 0;
    *p++ = 0;
    b->size += (size_t)(p - begin);
}

/* The root, then all nodes in document order, each list of siblings closed by a 0. Where the lists end follows from
 * `descendants`; the open ones are kept in `ends`, of which there is one per level. */
static void put_gsym_inlines(const struct csni_gsym_encoder *e, struct csni_gsym_encoded *out,
                             const struct csni_batch *batch, const struct csni_function *f) {
    struct csni_buffer *b = &out->records, *ends = &out->ends;
    size_t part = begin_gsym_part(e, b, CSNI_GSYM_PART_INLINE);
    put_root(e, b, batch, f);
    struct level { uint32_t end, base; }; /* of the children: index after the last, offset they count from */
    ends->size = 0;
    struct level level = { f->inline_count, 0 };
    for (uint32_t i = 0; i < f->inline_count; i++) {
        const struct csni_inline_node *node = &batch->inlines[f->first_inline + i];
        put_gsym_node(e, b, batch, node, level.base);
        if (node->descendants) {
            uint8_t *slot = csni_buffer_reserve(ends, sizeof level);
            if (!slot) { b->failed = true; return; }
            memcpy(slot, &level, sizeof level);
            ends->size += sizeof level;
            level = (struct level){ i + 1 + node->descendants, batch->parts[node->first_part].start };
        }
        while (i + 1 == level.end) {
            uint8_t *close = csni_buffer_reserve(b, 1);
            if (!close) return;
            *close = 0;
            b->size++;
            if (!ends->size) break;
            ends->size -= sizeof level;
            memcpy(&level, ends->bytes + ends->size, sizeof level);
        }
    }
    out->inline_bytes += end_gsym_part(e, out, CSNI_GSYM_PART_INLINE, part);
    out->nodes += f->inline_count;
}

static void put_gsym_call_sites(const struct csni_gsym_encoder *e, struct csni_gsym_encoded *out,
                                const struct csni_batch *batch, const struct csni_function *f) {
    struct csni_buffer *b = &out->records;
    size_t part = begin_gsym_part(e, b, CSNI_GSYM_PART_CALL_SITES);
    put_u32(e, b, f->site_count);
    for (uint32_t i = 0; i < f->site_count; i++) {
        const struct csni_call_site *site = &batch->sites[f->first_site + i];
        uint8_t *p = csni_buffer_reserve(b, 9);
        if (!p) return;
        csni_put64(p, site->return_off, e->big);
        p[8] = (uint8_t)site->flags;
        b->size += 9;
        put_u32(e, b, site->pattern_count);
        for (uint32_t k = 0; k < site->pattern_count; k++)
            put_string(e, b, batch, batch->patterns[site->first_pattern + k]);
    }
    end_gsym_part(e, out, CSNI_GSYM_PART_CALL_SITES, part);
    out->sites += f->site_count;
}

void csni_gsym_encode_record(const struct csni_gsym_encoder *e, const struct csni_entry *entry,
                             struct csni_gsym_encoded *out) {
    const struct csni_batch *batch = &e->model->batches[entry->batch];
    const struct csni_function *f = &batch->functions[entry->function];
    struct csni_buffer *b = &out->records;
    put_u32(e, b, f->size);
    put_function_name(e, b, batch, f);
    if (f->row_count) put_gsym_lines(e, out, batch, f);
    if (f->inline_count) put_gsym_inlines(e, out, batch, f);
    if (entry->child_count) {
        size_t part = begin_gsym_part(e, b, CSNI_GSYM_PART_MERGED);
        put_u32(e, b, entry->child_count);
        for (uint32_t i = 0; i < entry->child_count; i++) {
            put_u32(e, b, 0);
            size_t child = b->size;
            csni_gsym_encode_record(e, &e->model->children[entry->first_child + i], out);
            end_gsym_part(e, out, CSNI_GSYM_PART_MERGED, child);
        }
        end_gsym_part(e, out, CSNI_GSYM_PART_MERGED, part);
    }
    if (f->site_count) put_gsym_call_sites(e, out, batch, f);
    put_u32(e, b, CSNI_GSYM_PART_END);
    put_u32(e, b, 0);
}
