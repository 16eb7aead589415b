/* Writing a file with a stored accelerator: the file without one is written to memory and decoded; then it goes to the sink with
 * the accelerator's trailer between file table and strings, so that what an open looks at lies together, and the
 * accelerator after the records. */
#include "formats/gsym/write/gsym_write_accel.h"

#include "base/core/alloc.h"
#include "base/core/checked.h"
#include "base/core/fail.h"
#include "formats/gsym/gsym_accel_layout.h"
#include "formats/gsym/read/gsym_accel.h"
#include "formats/gsym/read/gsym_names.h"
#include "formats/gsym/write/gsym_write_names.h"

/* The file without an accelerator, cut in two. */
struct splice {
    struct csni_gsym plain;
    struct csn_bytes region;  /* the accelerator, and its trailer */
    const struct csni_sink *sink;
    const struct csn_allocator *alloc;
    uint64_t cut;             /* file offset of the address sample, the members or the strings */
    uint64_t grown;           /* bytes that the part before grows by: an entry of the directory */
    uint64_t moved;           /* what is after the cut moves by a multiple of 8 */
    uint64_t rest_end;        /* of the file, or where its name table begins, which stays the last */
    uint64_t region_at;
    struct csni_accel_form form;
};

static size_t region_size(const struct splice *s) { return s->region.size - CSNI_ACCEL_TRAILER; }

static uint64_t cut_of(const struct csni_gsym *g) {
    const uint8_t *cut = g->sample ? g->sample : g->members ? g->members : g->strings.ptr;
    return (uint64_t)(cut - g->bytes.ptr);
}

/* Opening reads the trailer and the address sample: the least move that brings both into one page, unless the sample is large. */
static uint64_t plan_move(const struct splice *s) {
    const struct csni_gsym *g = &s->plain;
    uint64_t moved = s->grown + CSNI_ACCEL_TRAILER, at = s->cut + s->grown;
    uint64_t sample = g->sample ? (uint64_t)g->sample_count * g->address_size + CSNI_GSYM_SAMPLE_TRAILER : 0;
    uint64_t next_page = csni_align_up(at, CSNI_ACCEL_PAGE);
    if (sample >= CSNI_ACCEL_PAGE / 2 + 16 ||
        at / CSNI_ACCEL_PAGE == (at + CSNI_ACCEL_TRAILER + sample - 1) / CSNI_ACCEL_PAGE)
        return moved;
    return csni_align_up(next_page - at + moved, 8);
}

static uint64_t find_rest_end(const struct csni_gsym *g) {
    struct csni_gsym_names names;
    return csni_gsym_find_names(g->bytes, g->big, &names) ? (uint64_t)(names.entries - g->bytes.ptr) : g->bytes.size;
}

static csn_status plan_splice(struct splice *s, struct csn_error *err) {
    enum { GROWN = (CSNI_GSYM_2_ENTRY_BYTES + 7) / 8 * 8 }; /* tables stay aligned */
    s->cut = cut_of(&s->plain);
    s->grown = s->plain.version == CSNI_GSYM_VERSION_1 ? 0 : GROWN;
    s->moved = plan_move(s);
    s->rest_end = find_rest_end(&s->plain);
    s->region_at = csni_align_up(s->rest_end + s->moved, CSNI_ACCEL_PAGE);
    return csni_gsym_accel_encode(&s->region, &s->plain, &s->form, s->alloc, err);
}

/* ---- the part before ---- */

static void move_v1_tables(const struct splice *s, uint8_t *front) {
    const struct csni_gsym *g = &s->plain;
    uint8_t *p = front + (g->infos - g->bytes.ptr);
    csni_put32(front + CSNI_GSYM_H_STRTAB_OFFSET, (uint32_t)(g->strings_offset + s->moved), g->big);
    for (uint32_t i = 0; i < g->address_count; i++, p += CSNI_GSYM_INFO_OFFSET_SIZE)
        csni_put32(p, (uint32_t)(csni_gsym_info_offset(g, i) + s->moved), g->big);
}

static uint8_t *put_directory_entry(const struct csni_gsym *g, uint8_t *p, uint32_t type, uint64_t offset, uint64_t size) {
    csni_put32(p + CSNI_GSYM_2_ENTRY_TYPE, type, g->big);
    csni_put64(p + CSNI_GSYM_2_ENTRY_OFFSET, offset, g->big);
    csni_put64(p + CSNI_GSYM_2_ENTRY_SIZE, size, g->big);
    return p + CSNI_GSYM_2_ENTRY_BYTES;
}

/* The end entry stays zero, as what is after it. */
static void move_v2_directory(const struct splice *s, uint8_t *front) {
    const struct csni_gsym *g = &s->plain;
    struct csni_gsym_entry entry;
    uint8_t *p = front + CSNI_GSYM_2_HEADER_SIZE;
    for (uint64_t i = 0; csni_gsym_directory_entry(g, i, &entry, NULL) == CSN_OK; i++)
        p = put_directory_entry(g, p, entry.type, entry.offset + (entry.offset < s->cut ? s->grown : s->moved), entry.size);
    put_directory_entry(g, p, CSNI_GSYM_SECTION_ACCEL, s->region_at, region_size(s));
}

/* Up to the end of the trailer, with the padding before it. */
static void fill_front(const struct splice *s, uint8_t *front) {
    const struct csni_gsym *g = &s->plain;
    uint64_t head = s->grown ? CSNI_GSYM_2_HEADER_SIZE : g->tables_end;
    memcpy(front, g->bytes.ptr, (size_t)head);
    if (s->grown) {
        memcpy(front + g->tables_end + s->grown, g->bytes.ptr + g->tables_end, (size_t)(s->cut - g->tables_end));
        move_v2_directory(s, front);
    } else {
        move_v1_tables(s, front);
    }
    uint8_t *trailer = front + s->cut + s->moved - CSNI_ACCEL_TRAILER;
    memcpy(trailer, s->region.ptr + region_size(s), CSNI_ACCEL_TRAILER);
    csni_put64(trailer + CSNI_ACCEL_T_REGION, s->region_at, false);
}

/* ---- all of it ---- */

/* Where the name table begins in the new file, or where that ends. */
static uint64_t names_at(const struct splice *s) {
    bool has_names = s->rest_end < s->plain.bytes.size;
    uint64_t end = s->region_at + region_size(s);
    return has_names ? csni_align_up(end, CSNI_GSYM_ALIGN) : end;
}

static uint64_t spliced_size(const struct splice *s) { return names_at(s) + s->plain.bytes.size - s->rest_end; }

static csn_status write_zeros(const struct splice *s, uint64_t at, uint64_t end, struct csn_error *err) {
    static const uint8_t zeros[CSNI_ACCEL_PAGE];
    return at < end ? s->sink->write(s->sink->context, at, zeros, (size_t)(end - at), err) : CSN_OK;
}

static csn_status write_parts(const struct splice *s, const uint8_t *front, struct csn_error *err) {
    const struct csni_sink *sink = s->sink;
    const uint8_t *plain = s->plain.bytes.ptr;
    uint64_t moved = s->cut + s->moved, moved_end = s->rest_end + s->moved, region_end = s->region_at + region_size(s);
    CSNI_TRY(sink->reserve(sink->context, spliced_size(s), err));
    CSNI_TRY(sink->write(sink->context, 0, front, (size_t)moved, err));
    CSNI_TRY(sink->write(sink->context, moved, plain + s->cut, (size_t)(s->rest_end - s->cut), err));
    CSNI_TRY(write_zeros(s, moved_end, s->region_at, err));
    CSNI_TRY(sink->write(sink->context, s->region_at, s->region.ptr, region_size(s), err));
    CSNI_TRY(write_zeros(s, region_end, names_at(s), err));
    return sink->write(sink->context, names_at(s), plain + s->rest_end, (size_t)(s->plain.bytes.size - s->rest_end), err);
}

static csn_status write_spliced(const struct splice *s, struct csn_error *err) {
    uint64_t size = s->rest_end + s->moved;
    if (!s->grown && size > UINT32_MAX)
        return csni_fail(err, CSN_E_LIMIT, NULL, 0, "with its accelerator the index needs %llu bytes, GSYM version 1 holds %u; "
                         "version 2 (--to gsym-v2) has room", (unsigned long long)size, UINT32_MAX);
    size_t front_size = (size_t)(s->cut + s->moved);
    uint8_t *front = csni_alloc_zeroed(s->alloc, 1, front_size);
    if (!front) return csni_fail_memory(err, front_size);
    fill_front(s, front);
    csn_status status = write_parts(s, front, err);
    csni_free(s->alloc, front, front_size);
    return status;
}

/* Nothing to accelerate: the file as it is. */
static csn_status write_unchanged(const struct csn_bytes *plain, const struct csni_sink *sink, struct csn_error *err) {
    CSNI_TRY(sink->reserve(sink->context, plain->size, err));
    return sink->write(sink->context, 0, plain->ptr, plain->size, err);
}

static csn_status accelerate(const struct csn_bytes *plain, bool remote_layout, const struct csni_sink *sink,
                             const struct csn_allocator *alloc, uint64_t *out_added, struct csn_error *err) {
    struct splice s = { .sink = sink, .alloc = alloc, .form = { .first_read = remote_layout ? CSNI_ACCEL_FIRST_READ : 0 } };
    *out_added = 0;
    CSNI_TRY(csni_gsym_parse(&s.plain, (struct csni_span){ plain->ptr, plain->size }, err));
    CSNI_TRY(plan_splice(&s, err));
    if (!s.region.size) return write_unchanged(plain, sink, err);
    csn_status status = write_spliced(&s, err);
    *out_added = spliced_size(&s) - s.plain.bytes.size;
    csn_bytes_free(&s.region);
    return status;
}

static csn_status write_once(const struct csni_model *m, enum csni_gsym_target target,
                             const struct csni_gsym_additions *additions, struct csni_pool *pool,
                             const struct csni_sink *sink, struct csn_convert_report *report, struct csn_error *err) {
    struct csn_bytes plain = { NULL, 0, m->alloc };
    struct csni_sink memory = csni_memory_sink(&plain);
    uint64_t added = 0;
    enum csni_gsym_target plainly = (enum csni_gsym_target)(target | CSNI_GSYM_WRITE_PLAIN);
    csn_status status = additions->names ? csni_gsym_write_with_names(m, plainly, pool, &memory, report, err)
                                         : csni_gsym_write(m, plainly, pool, &memory, report, err);
    if (status >= 0) status = accelerate(&plain, additions->remote_layout, sink, m->alloc, &added, err);
    csn_bytes_free(&plain);
    report->output_bytes += added;
    return status;
}

csn_status csni_gsym_write_accelerated(const struct csni_model *m, enum csni_gsym_target target,
                                       const struct csni_gsym_additions *additions, struct csni_pool *pool,
                                       const struct csni_sink *sink, struct csn_convert_report *report, struct csn_error *err) {
    struct csn_convert_report before = *report;
    csn_status status = write_once(m, target, additions, pool, sink, report, err);
    if (status != CSN_E_LIMIT || target != CSNI_GSYM_WRITE_ANY) return status;
    *report = before;
    return write_once(m, CSNI_GSYM_WRITE_V2, additions, pool, sink, report, err);
}
