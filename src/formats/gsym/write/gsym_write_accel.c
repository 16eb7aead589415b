/* Writing a file with a stored accelerator: the file without one is written to memory and decoded; then it goes to the sink with
 * the accelerator between file table and strings, so that what an open looks at lies together. */
#include "formats/gsym/write/gsym_write_accel.h"

#include "base/core/alloc.h"
#include "base/core/checked.h"
#include "base/core/fail.h"
#include "formats/gsym/gsym_accel_layout.h"
#include "formats/gsym/read/gsym_accel.h"
#include "formats/gsym/write/gsym_write_names.h"

/* The file without an accelerator, cut in two. */
struct splice {
    struct csni_gsym plain;
    struct csn_bytes region;  /* the accelerator */
    const struct csni_sink *sink;
    const struct csn_allocator *alloc;
    uint64_t cut;             /* file offset of the address sample, the members or the strings */
    uint64_t grown;           /* bytes that the part before grows by: an entry of the directory */
    uint64_t region_at, moved; /* what is after the cut moves by a multiple of 8 */
};

static uint64_t cut_of(const struct csni_gsym *g) {
    const uint8_t *cut = g->sample ? g->sample : g->members ? g->members : g->strings.ptr;
    return (uint64_t)(cut - g->bytes.ptr);
}

static csn_status plan_splice(struct splice *s, struct csn_error *err) {
    enum { GROWN = (CSNI_GSYM_2_ENTRY_BYTES + 7) / 8 * 8 }; /* tables stay aligned */
    s->cut = cut_of(&s->plain);
    s->grown = s->plain.version == CSNI_GSYM_VERSION_1 ? 0 : GROWN;
    s->region_at = csni_align_up(s->cut + s->grown, CSNI_ACCEL_PAGE);
    CSNI_TRY(csni_gsym_accel_encode(&s->region, &s->plain, csni_gsym_accel_end(&s->plain, s->cut), s->alloc, err));
    s->moved = s->region_at + s->region.size - s->cut;
    return CSN_OK;
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
    put_directory_entry(g, p, CSNI_GSYM_SECTION_ACCEL, s->region_at, s->region.size);
}

/* Up to the accelerator, with the padding before it. */
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
}

/* ---- all of it ---- */

static csn_status write_parts(const struct splice *s, const uint8_t *front, struct csn_error *err) {
    const struct csni_sink *sink = s->sink;
    uint64_t rest = s->plain.bytes.size - s->cut;
    CSNI_TRY(sink->reserve(sink->context, s->cut + s->moved + rest, err));
    CSNI_TRY(sink->write(sink->context, 0, front, (size_t)s->region_at, err));
    CSNI_TRY(sink->write(sink->context, s->region_at, s->region.ptr, s->region.size, err));
    return sink->write(sink->context, s->cut + s->moved, s->plain.bytes.ptr + s->cut, (size_t)rest, err);
}

static csn_status write_spliced(const struct splice *s, struct csn_error *err) {
    uint64_t size = s->plain.bytes.size + s->moved;
    if (!s->grown && size > UINT32_MAX)
        return csni_fail(err, CSN_E_LIMIT, NULL, 0, "with its accelerator the index needs %llu bytes, GSYM version 1 holds %u; "
                         "version 2 (--to gsym-v2) has room", (unsigned long long)size, UINT32_MAX);
    uint8_t *front = csni_alloc_zeroed(s->alloc, 1, (size_t)s->region_at);
    if (!front) return csni_fail_memory(err, s->region_at);
    fill_front(s, front);
    csn_status status = write_parts(s, front, err);
    csni_free(s->alloc, front, (size_t)s->region_at);
    return status;
}

/* Nothing to accelerate: the file as it is. */
static csn_status write_unchanged(const struct csn_bytes *plain, const struct csni_sink *sink, struct csn_error *err) {
    CSNI_TRY(sink->reserve(sink->context, plain->size, err));
    return sink->write(sink->context, 0, plain->ptr, plain->size, err);
}

static csn_status accelerate(const struct csn_bytes *plain, const struct csni_sink *sink, const struct csn_allocator *alloc,
                             uint64_t *out_added, struct csn_error *err) {
    struct splice s = { .sink = sink, .alloc = alloc };
    *out_added = 0;
    CSNI_TRY(csni_gsym_parse(&s.plain, (struct csni_span){ plain->ptr, plain->size }, err));
    CSNI_TRY(plan_splice(&s, err));
    if (!s.region.size) return write_unchanged(plain, sink, err);
    csn_status status = write_spliced(&s, err);
    csn_bytes_free(&s.region);
    *out_added = s.moved;
    return status;
}

static csn_status write_once(const struct csni_model *m, enum csni_gsym_target target, bool names, struct csni_pool *pool,
                             const struct csni_sink *sink, struct csn_convert_report *report, struct csn_error *err) {
    struct csn_bytes plain = { NULL, 0, m->alloc };
    struct csni_sink memory = csni_memory_sink(&plain);
    uint64_t added = 0;
    enum csni_gsym_target plainly = (enum csni_gsym_target)(target | CSNI_GSYM_WRITE_PLAIN);
    csn_status status = names ? csni_gsym_write_with_names(m, plainly, pool, &memory, report, err)
                              : csni_gsym_write(m, plainly, pool, &memory, report, err);
    if (status >= 0) status = accelerate(&plain, sink, m->alloc, &added, err);
    csn_bytes_free(&plain);
    report->output_bytes += added;
    return status;
}

csn_status csni_gsym_write_accelerated(const struct csni_model *m, enum csni_gsym_target target, bool names, struct csni_pool *pool,
                                       const struct csni_sink *sink, struct csn_convert_report *report, struct csn_error *err) {
    struct csn_convert_report before = *report;
    csn_status status = write_once(m, target, names, pool, sink, report, err);
    if (status != CSN_E_LIMIT || target != CSNI_GSYM_WRITE_ANY) return status;
    *report = before;
    return write_once(m, CSNI_GSYM_WRITE_V2, names, pool, sink, report, err);
}
