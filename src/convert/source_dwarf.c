/* Functions from DWARF.
 *
 * Three parallel loops: inflate the sections that are needed, compile the abbreviation tables, convert the units. A compressed
 * .debug_info is read in portions of whole units: while the units of one are converted, the next one inflates, into the memory
 * of the one before. That takes units that refer to nothing beyond themselves; where others appear, the section is read as a
 * whole. */
#include <stdio.h>

#include "base/fail.h"
#include "convert/info_portions.h"
#include "convert/supplement.h"
#include "convert/unit_loop.h"

enum { INFO, TYPES, ABBREV, LINE, STR, LINE_STR, STR_OFFSETS, ADDR, RANGES, RNGLISTS, SECTIONS };

static const char *const section_names[SECTIONS] = { "info",     "types",       "abbrev", "line",   "str",
                                                     "line_str", "str_offsets", "addr",   "ranges", "rnglists" };

#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
enum { PORTION_A_WORKER = 256 }; /* so that the small inputs of a fuzzer have several */
#else
enum { PORTION_A_WORKER = 4 << 20 };
#endif
enum { EFFORT_A_BYTE = 8 };

/* One image's DWARF on its way. */
struct reading {
    struct csni_conversion *conversion;
    struct csni_object *object;
    struct csni_supplement supplement;
    bool wants_supplement;
    uint32_t section[SECTIONS];        /* indexes in the object */
    struct csni_span bytes[SECTIONS];
    uint32_t read_order[SECTIONS], read_count;
    struct csni_info_portions *portions; /* NULL: .debug_info is there as a whole */
    struct csni_portion now, next;     /* of .debug_info: being converted, being read */
    bool broken;                       /* what comes next is no unit, or cannot be inflated so */
    uint64_t done;                     /* units before this offset are converted */
    struct csni_dwarf *dwarf;          /* of the portion at hand */
    struct csni_unit_loop loop;
};

/* ---- sections ---- */

/* What cannot be inflated in portions is read as a whole, too, and by another library that has the last word: libzstd refuses
 * windows above 128 MiB where it is to keep them itself (zstd --long=28). */
static csn_status read_next_portion(void *context, uint32_t worker, size_t item, struct csn_error *err) {
    (void)worker;
    (void)item;
    struct reading *r = context;
    struct csn_error damage = CSN_ERROR_INIT;
    csn_status status = csni_info_portions_read(r->portions, &r->next, &damage);
    r->broken = status == CSN_NONE || status == CSN_E_FORMAT;
    if (r->broken || status >= 0) return CSN_OK;
    if (err) *err = damage;
    return status;
}

static csn_status read_one(void *context, uint32_t worker, size_t item, struct csn_error *err) {
    struct reading *r = context;
    uint32_t which = r->read_order[item];
    if (which == INFO && r->portions) return read_next_portion(r, worker, item, err);
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
        CSNI_TRY(csni_info_portions_open(r->object, r->section[INFO], (size_t)PORTION_A_WORKER * r->conversion->workers,
                                         r->conversion->alloc, &r->portions, err));
    return csni_pool_run(r->conversion->pool, r->read_count, read_one, r, err);
}

/* No more portions: all of .debug_info at once, what has been converted once more. */
static csn_status read_whole(struct reading *r, struct csn_error *err) {
    csni_info_portions_close(r->portions);
    r->portions = NULL;
    return csni_object_read_section(r->object, r->section[INFO], &r->bytes[INFO], err);
}

/* What its DIEs refer to in another file; unit DIEs do so, too. */
static csn_status open_supplement(struct reading *r, struct csn_error *err) {
    r->wants_supplement = csni_dwarf_has_supplement_references(r->dwarf);
    if (!r->wants_supplement) return CSN_OK;
    CSNI_TRY(csni_supplement_open(r->conversion, r->object, &r->supplement, err));
    r->dwarf->supplement = r->supplement.dwarf;
    atomic_fetch_add(&r->conversion->effort_max, EFFORT_A_BYTE * r->supplement.size);
    return CSN_OK;
}

/* The units of the portion at hand, prepared; or all, also those that are done, which may be referred to. */
static csn_status open_dwarf(struct reading *r, struct csn_error *err) {
    const struct csni_span *b = r->bytes;
    const struct csni_dwarf_sections sections = {
        .info = r->portions ? r->now.bytes : b[INFO], .types = b[TYPES], .abbrev = b[ABBREV], .line = b[LINE],
        .str = b[STR], .line_str = b[LINE_STR], .str_offsets = b[STR_OFFSETS], .addr = b[ADDR], .ranges = b[RANGES],
        .rnglists = b[RNGLISTS], .info_from = r->portions ? r->now.from : 0, .big_endian = r->object->big_endian,
    };
    csni_dwarf_close(r->dwarf);
    r->dwarf = NULL;
    struct csni_pool *pool = r->conversion->pool;
    CSNI_TRY(csni_dwarf_open(&sections, r->conversion->alloc, &r->dwarf, err));
    CSNI_TRY(csni_dwarf_compile_all(r->dwarf, pool, err));
    if (!r->portions) CSNI_TRY(open_supplement(r, err));
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

static void set_up_loop(struct reading *r) {
    struct csni_unit_loop *loop = &r->loop;
    const struct csni_dwarf *dwarf = r->dwarf;
    loop->dwarf = r->dwarf;
    loop->discard = !r->portions && may_discard(r);
    loop->lasting = r->portions || loop->discard ? CSNI_LASTING_STRINGS : CSNI_LASTING_ALL;
    loop->first_unit = 0;
    while (loop->first_unit < dwarf->info_unit_count && dwarf->units[loop->first_unit].off < r->done) loop->first_unit++;
    bool more = r->portions && !csni_info_portions_at_end(r->portions);
    loop->beside = more ? read_next_portion : NULL;
    loop->beside_context = r;
}

static csn_status convert_portion(struct reading *r, struct csn_error *err) {
    if (r->portions && r->broken) CSNI_TRY(read_whole(r, err));
    r->now = r->next;
    CSNI_TRY(open_dwarf(r, err));
    if (r->portions && !stands_alone(r->dwarf)) {
        CSNI_TRY(read_whole(r, err));
        CSNI_TRY(open_dwarf(r, err));
    }
    set_up_loop(r);
    struct csni_unit_loop *loop = &r->loop;
    CSNI_TRY(csni_split_units_create(r->conversion, r->dwarf, r->object, &loop->split, err));
    csn_status status = csni_unit_loop_run(loop, err);
    if (status == CSN_OK) report_portion(r);
    csni_split_units_destroy(loop->split);
    loop->split = NULL;
    return status;
}

static csn_status convert_all(struct reading *r, struct csn_error *err) {
    struct csni_conversion *c = r->conversion;
    for (uint32_t i = 0; i < SECTIONS; i++) {
        if (r->section[i] == CSNI_NO_SECTION) continue;
        uint64_t size = r->object->sections[r->section[i]].size;
        atomic_fetch_add(&c->effort_max, EFFORT_A_BYTE * size);
        if (i == INFO || i == TYPES) c->progress_total += size;
    }
    do {
        CSNI_TRY(convert_portion(r, err));
        r->done = r->now.from + r->now.bytes.size;
    } while (r->loop.beside);
    return CSN_OK;
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
        bool keep = i == STR || i == LINE_STR || ((i == INFO || i == TYPES) && r->loop.lasting == CSNI_LASTING_ALL);
        if (!keep && r->section[i] != CSNI_NO_SECTION) csni_object_release_section(r->object, r->section[i]);
    }
}

csn_status csni_source_dwarf(struct csni_conversion *c, const struct csni_dwarf_input *input, struct csn_error *err) {
    struct reading r = { .conversion = c, .object = input->object };
    csni_unit_loop_init(&r.loop, c, input);
    csn_status status = read_sections(&r, err);
    r.loop.info_section = r.section[INFO];
    if (status >= 0) status = convert_all(&r, err);
    csni_info_portions_close(r.portions);
    if (status >= 0) {
        report(&r);
        release_sections(&r);
    }
    csni_unit_loop_deinit(&r.loop);
    csni_dwarf_close(r.dwarf);
    csni_supplement_close(&r.supplement);
    return status;
}
