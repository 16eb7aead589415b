/* Functions from DWARF.
 *
 * Three parallel loops: inflate the sections that are needed, compile the abbreviation tables, convert the units. A compressed
 * .debug_info is read in portions of whole units: while the units of one are converted, the next one inflates, and of those
 * that are done nothing stays in memory. That takes units that refer to nothing beyond themselves; where others appear, what
 * is left is read as a whole. */
#include <stdio.h>

#include "base/fail.h"
#include "convert/supplement.h"
#include "convert/unit_loop.h"
#include "object/section_stream.h"

enum { INFO, TYPES, ABBREV, LINE, STR, LINE_STR, STR_OFFSETS, ADDR, RANGES, RNGLISTS, SECTIONS };

static const char *const section_names[SECTIONS] = { "info",     "types",       "abbrev", "line",   "str",
                                                     "line_str", "str_offsets", "addr",   "ranges", "rnglists" };

enum { EFFORT_A_BYTE = 8, PORTION_A_WORKER = 4 << 20 };

/* One image's DWARF on its way. */
struct reading {
    struct csni_conversion *conversion;
    struct csni_object *object;
    struct csni_supplement supplement;
    bool wants_supplement;
    uint32_t section[SECTIONS];        /* indexes in the object */
    struct csni_span bytes[SECTIONS];
    uint32_t read_order[SECTIONS], read_count;
    struct csni_section_stream *stream; /* of .debug_info; NULL: all of it is there */
    uint64_t from, to, next;           /* the portion at hand is [from, to) of .debug_info, the one after it ends at `next` */
    struct csni_dwarf *dwarf;          /* of the portion */
    struct csni_unit_loop loop;
};

/* ---- sections ---- */

/* Inflates the portion that begins at `from`: at least so many bytes that the workers have something to share, if there are
 * as many. A header that cannot be read makes a portion of all that is left: reading that tells what is wrong. */
static csn_status reach_portion(struct reading *r, uint64_t from, uint64_t *to, struct csn_error *err) {
    struct csni_span info = csni_section_stream_bytes(r->stream);
    uint64_t enough = from + (uint64_t)PORTION_A_WORKER * r->conversion->workers, end = from;
    CSNI_TRY(csni_section_stream_reach(r->stream, enough, err));
    while (end < info.size && end < enough) {
        CSNI_TRY(csni_section_stream_reach(r->stream, end + CSNI_UNIT_LENGTH_SIZE, err));
        if (!csni_dwarf_unit_end(info, end, r->object->big_endian, &end)) end = info.size;
    }
    *to = end;
    return csni_section_stream_reach(r->stream, end, err);
}

static csn_status reach_next(void *context, uint32_t worker, size_t item, struct csn_error *err) {
    (void)worker;
    (void)item;
    struct reading *r = context;
    return reach_portion(r, r->to, &r->next, err);
}

static csn_status read_one(void *context, uint32_t worker, size_t item, struct csn_error *err) {
    (void)worker;
    struct reading *r = context;
    uint32_t which = r->read_order[item];
    if (which == INFO && r->stream) return reach_portion(r, 0, &r->to, err);
    return csni_object_read_section(r->object, r->section[which], &r->bytes[which], err);
}

/* The longest first. */
static csn_status read_sections(struct reading *r, struct csn_error *err) {
    const struct csni_object *object = r->object;
    for (uint32_t i = 0; i < SECTIONS; i++) {
        r->section[i] = csni_object_find_debug_section(object, section_names[i], false);
        if (r->section[i] == CSNI_NO_SECTION || (object->sections[r->section[i]].flags & CSNI_SECTION_NOBITS)) continue;
        uint32_t at = r->read_count++;
        for (; at && object->sections[r->section[r->read_order[at - 1]]].size < object->sections[r->section[i]].size; at--)
            r->read_order[at] = r->read_order[at - 1];
        r->read_order[at] = i;
    }
    if (r->section[INFO] != CSNI_NO_SECTION && r->section[TYPES] == CSNI_NO_SECTION)
        CSNI_TRY(csni_object_stream_section(r->object, r->section[INFO], &r->stream, err));
    CSNI_TRY(csni_pool_run(r->conversion->pool, r->read_count, read_one, r, err));
    if (r->stream) r->bytes[INFO] = csni_section_stream_bytes(r->stream);
    else r->to = r->bytes[INFO].size;
    return CSN_OK;
}

/* No more portions: all of .debug_info is there at once, what has been given back once more. */
static csn_status read_whole(struct reading *r, struct csn_error *err) {
    uint32_t info = r->section[INFO];
    if (!r->from) CSNI_TRY(csni_section_stream_reach(r->stream, r->bytes[INFO].size, err));
    csni_section_stream_close(r->stream);
    r->stream = NULL;
    if (r->from) csni_object_release_section(r->object, info);
    CSNI_TRY(csni_object_read_section(r->object, info, &r->bytes[INFO], err));
    r->to = r->bytes[INFO].size;
    return CSN_OK;
}

/* ---- units ---- */

/* What its DIEs refer to in another file; unit DIEs do so, too. */
static csn_status open_supplement(struct reading *r, struct csn_error *err) {
    r->wants_supplement = csni_dwarf_has_supplement_references(r->dwarf);
    if (!r->wants_supplement) return CSN_OK;
    CSNI_TRY(csni_supplement_open(r->conversion, r->object, &r->supplement, err));
    r->dwarf->supplement = r->supplement.dwarf;
    atomic_fetch_add(&r->conversion->effort_max, EFFORT_A_BYTE * r->supplement.size);
    return CSN_OK;
}

/* Lists the units from `from` to `to`, and all before them where they may be referred to, and prepares them. */
static csn_status open_dwarf(struct reading *r, struct csn_error *err) {
    const struct csni_span *b = r->bytes;
    const struct csni_dwarf_sections sections = {
        .info = { b[INFO].ptr, (size_t)r->to }, .types = b[TYPES], .abbrev = b[ABBREV], .line = b[LINE], .str = b[STR],
        .line_str = b[LINE_STR], .str_offsets = b[STR_OFFSETS], .addr = b[ADDR], .ranges = b[RANGES],
        .rnglists = b[RNGLISTS], .info_from = r->stream ? r->from : 0, .big_endian = r->object->big_endian,
    };
    csni_dwarf_close(r->dwarf);
    r->dwarf = NULL;
    struct csni_pool *pool = r->conversion->pool;
    CSNI_TRY(csni_dwarf_open(&sections, r->conversion->alloc, &r->dwarf, err));
    CSNI_TRY(csni_dwarf_compile_all(r->dwarf, pool, err));
    if (!r->stream) CSNI_TRY(open_supplement(r, err));
    return csni_dwarf_prepare_all(r->dwarf, pool, err);
}

/* Whether no unit refers to anything outside of itself. */
static bool stands_alone(const struct csni_dwarf *dwarf) {
    if (csni_dwarf_has_cross_references(dwarf) || csni_dwarf_has_supplement_references(dwarf)) return false;
    for (uint32_t i = 0; i < dwarf->info_unit_count; i++)
        if (dwarf->units[i].is_skeleton) return false;
    return true;
}

/* Pages of a plain section come back from the file when touched; inflated ones are gone, so they are only given back when
 * no unit can refer to another. */
static bool may_discard(const struct reading *r) {
    uint32_t info = r->section[INFO];
    if (info == CSNI_NO_SECTION) return false;
    const struct csni_object *object = r->object;
    bool plain = !(object->sections[info].flags & CSNI_SECTION_COMPRESSED) && object->kind != CSNI_OBJECT_RELOCATABLE;
    return plain || !csni_dwarf_has_cross_references(r->dwarf);
}

/* Batches of skeletons can have functions from symbols. */
static uint32_t count_from_dwarf(const struct csni_batch *batch) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < batch->function_count; i++) count += batch->functions[i].source == CSNI_SOURCE_DWARF;
    return count;
}

static void report_portion(const struct reading *r) {
    struct csn_convert_report *out = r->conversion->report;
    const struct csni_unit_loop *loop = &r->loop;
    out->units += loop->count;
    if (loop->split) out->units_failed += csni_split_units_failed(loop->split);
    for (uint32_t i = 0; i < loop->count; i++) out->functions_from_dwarf += count_from_dwarf(&loop->batches[i]);
    if (r->dwarf->damage.code) {
        csni_report_add(out, CSN_EVENT_DAMAGED_UNIT, 1, csni_str(csn_error_text(&r->dwarf->damage)));
        out->units_failed++;
    }
}

static csn_status convert_portion(struct reading *r, struct csn_error *err) {
    struct csni_conversion *c = r->conversion;
    CSNI_TRY(open_dwarf(r, err));
    if (r->stream && !stands_alone(r->dwarf)) {
        CSNI_TRY(read_whole(r, err));
        CSNI_TRY(open_dwarf(r, err));
    }
    struct csni_unit_loop *loop = &r->loop;
    loop->dwarf = r->dwarf;
    loop->discard = may_discard(r);
    loop->first_unit = 0;
    while (loop->first_unit < r->dwarf->info_unit_count && r->dwarf->units[loop->first_unit].off < r->from) loop->first_unit++;
    loop->beside = r->stream && r->to < r->bytes[INFO].size ? reach_next : NULL;
    loop->beside_context = r;
    CSNI_TRY(csni_split_units_create(c, r->dwarf, r->object, &loop->split, err));
    csn_status status = csni_unit_loop_run(loop, err);
    if (status == CSN_OK) report_portion(r);
    csni_split_units_destroy(loop->split);
    loop->split = NULL;
    return status;
}

static csn_status convert_all(struct reading *r, struct csn_error *err) {
    struct csni_conversion *c = r->conversion;
    for (uint32_t i = 0; i < SECTIONS; i++) atomic_fetch_add(&c->effort_max, EFFORT_A_BYTE * (uint64_t)r->bytes[i].size);
    c->progress_total += r->bytes[INFO].size + r->bytes[TYPES].size;
    for (;;) {
        CSNI_TRY(convert_portion(r, err));
        if (r->to == r->bytes[INFO].size) return CSN_OK;
        r->from = r->to;
        r->to = r->next;
    }
}

/* ---- report ---- */

static void report_relocations(const struct reading *r) {
    struct csni_relocation_counts counts;
    csni_object_relocation_counts(r->object, &counts);
    if (!counts.unknown && !counts.damaged) return;
    char text[CSN_EXAMPLE_SIZE];
    int len = snprintf(text, sizeof text, "%llu of unknown type (first: %u), %llu with place or symbol out of range",
                       (unsigned long long)counts.unknown, counts.unknown_type, (unsigned long long)counts.damaged);
    csni_report_add(r->conversion->report, CSN_EVENT_RELOCATION, counts.unknown + counts.damaged,
                    (struct csn_str){ text, len > 0 ? (size_t)len : 0 });
}

static void report(const struct reading *r) {
    r->conversion->report->units_failed += atomic_load(&r->loop.failed);
    report_relocations(r);
    if (r->wants_supplement) csni_supplement_report(&r->supplement);
}

/* Strings are views into .debug_str and .debug_line_str. Those in units are, too, but where .debug_info was to be given
 * back: then they were copied. */
static void release_sections(const struct reading *r) {
    for (uint32_t i = 0; i < SECTIONS; i++) {
        bool keep = i == STR || i == LINE_STR || ((i == INFO || i == TYPES) && !r->loop.discard);
        if (!keep && r->section[i] != CSNI_NO_SECTION) csni_object_release_section(r->object, r->section[i]);
    }
}

csn_status csni_source_dwarf(struct csni_conversion *c, const struct csni_dwarf_input *input, struct csn_error *err) {
    struct reading r = { .conversion = c, .object = input->object };
    csni_unit_loop_init(&r.loop, c, input);
    csn_status status = read_sections(&r, err);
    r.loop.info_section = r.section[INFO];
    if (status >= 0) status = convert_all(&r, err);
    csni_section_stream_close(r.stream);
    if (status >= 0) {
        report(&r);
        release_sections(&r);
    }
    csni_unit_loop_deinit(&r.loop);
    csni_dwarf_close(r.dwarf);
    csni_supplement_close(&r.supplement);
    return status;
}
