/* Functions from DWARF.
 *
 * Three parallel loops: inflate the sections that are needed, compile the abbreviation tables, convert the units. A compressed
 * .debug_info is read in portions of whole units instead: while the units of one are converted, the next ones inflate, into the
 * memory of those before. A large one of a mapped file, too: listing all of its units first would bring it into
 * memory once more. That takes units that refer to nothing beyond themselves; where others appear, the section is
 * read as a whole. */
#include "convert/dwarf/source_dwarf.h"

#include <stdio.h>

#include "base/core/fail.h"
#include "convert/dwarf/lone_lines.h"
#include "convert/dwarf/supplement.h"
#include "convert/dwarf/unit_loop.h"
#include "convert/dwarf/unit_stream.h"

#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
enum { PORTION_MIN = 256, PORTION_MAX = 256 }; /* so that the small inputs of a fuzzer have several */
#else
enum { PORTION_MIN = 1 << 17, PORTION_MAX = 1 << 20 }; /* larger ones take more memory and no less time */
#endif
enum { PORTIONS_WANTED = 32 }; /* of a section that is small, so that workers begin early and end together */

/* One image's DWARF on its way. */
struct reading {
    struct csni_conversion *conversion;
    struct csni_object *object;
    struct csni_supplement supplement;
    bool wants_supplement;
    uint32_t section[CSNI_DWARF_SECTION_COUNT];        /* indexes in the object */
    struct csni_dwarf_sections sections;
    uint32_t read_order[CSNI_DWARF_SECTION_COUNT], read_count;
    struct csni_unit_workers workers;
    struct csni_info_portions *portions; /* NULL: .debug_info is read as a whole */
    struct csni_unit_stream *stream;   /* of these portions */
    uint64_t done;                     /* units before this offset are converted */
    struct csni_dwarf *dwarf;          /* of the whole */
    struct csni_unit_loop loop;
    struct csni_line_claims claims;
};

/* ---- sections ---- */

static csn_status read_section_bytes(struct reading *r, uint32_t which, struct csn_error *err) {
    return csni_object_read_section(r->object, r->section[which], csni_dwarf_section_bytes(&r->sections, which), err);
}

static csn_status read_dwarf_section(void *context, uint32_t worker, size_t item, struct csn_error *err) {
    (void)worker;
    struct reading *r = context;
    return read_section_bytes(r, r->read_order[item], err);
}

static size_t portion_size(const struct reading *r) {
    uint64_t size = r->object->sections[r->section[CSNI_DWARF_INFO]].size / PORTIONS_WANTED; /* compressed, perhaps: half of it */
    return size < PORTION_MIN ? PORTION_MIN : size > PORTION_MAX ? PORTION_MAX : (size_t)size;
}

static csn_status open_stream(struct reading *r, struct csn_error *err) {
    struct csni_conversion *c = r->conversion;
    if (r->section[CSNI_DWARF_INFO] == CSNI_NO_SECTION || r->section[CSNI_DWARF_TYPES] != CSNI_NO_SECTION) return CSN_OK;
    CSNI_TRY(csni_info_portions_open(r->object, r->section[CSNI_DWARF_INFO], portion_size(r), c->alloc, &r->portions, err));
    return r->portions ? csni_unit_stream_create(c, r->portions, &r->stream, err) : CSN_OK;
}

static void close_stream(struct reading *r) {
    csni_unit_stream_destroy(r->stream);
    csni_info_portions_close(r->portions);
    r->stream = NULL;
    r->portions = NULL;
}

static void find_sections(struct reading *r) {
    for (uint32_t i = 0; i < CSNI_DWARF_SECTION_COUNT; i++)
        r->section[i] = csni_object_find_debug_section(r->object, csni_dwarf_section_names[i], false);
}

/* The longest first. */
static void order_sections(struct reading *r) {
    const struct csni_section *sections = r->object->sections;
    for (uint32_t i = 0; i < CSNI_DWARF_SECTION_COUNT; i++) {
        uint32_t index = r->section[i];
        if (index == CSNI_NO_SECTION || (sections[index].flags & CSNI_SECTION_NOBITS) ||
            (i == CSNI_DWARF_INFO && r->stream))
            continue;
        uint32_t at = r->read_count++;
        for (; at && sections[r->section[r->read_order[at - 1]]].size < sections[index].size; at--)
            r->read_order[at] = r->read_order[at - 1];
        r->read_order[at] = i;
    }
}

/* What its DIEs refer to in another file; unit DIEs do so, too. */
static csn_status open_supplement(struct reading *r, struct csn_error *err) {
    r->wants_supplement = csni_dwarf_has_supplement_references(r->dwarf);
    if (!r->wants_supplement) return CSN_OK;
    CSNI_TRY(csni_supplement_open(r->conversion, r->object, &r->supplement, err));
    r->dwarf->supplement = r->supplement.dwarf;
    csni_shared_budget_raise(&r->conversion->budget, CSNI_BUDGET_A_BYTE * r->supplement.size);
    return CSN_OK;
}

/* The head of each unit is looked at before any is converted: pages of a mapped section need not stay until then. */
static void forget_passed(void *context, uint64_t begin, uint64_t end) {
    const struct reading *r = context;
    csni_object_forget(r->object, r->section[CSNI_DWARF_INFO], begin, end - begin);
}

/* All units, prepared, also those that are converted, which may be referred to. */
static csn_status open_dwarf(struct reading *r, struct csn_error *err) {
    struct csni_pool *pool = r->conversion->pool;
    r->sections.passed = forget_passed;
    r->sections.passed_context = r;
    CSNI_TRY(csni_dwarf_open(&r->sections, r->conversion->alloc, &r->dwarf, err));
    CSNI_TRY(csni_dwarf_compile_all(r->dwarf, pool, err));
    CSNI_TRY(open_supplement(r, err));
    return csni_dwarf_prepare_all(r->dwarf, pool, err);
}

/* Pages of a plain section come back from the file when touched; inflated ones are gone, so they are only given back when
 * no unit can refer to another. */
static bool may_discard(const struct reading *r) {
    uint32_t info = r->section[CSNI_DWARF_INFO];
    if (info == CSNI_NO_SECTION) return false;
    const struct csni_object *object = r->object;
    bool plain = !(object->sections[info].flags & CSNI_SECTION_COMPRESSED) && object->kind != CSNI_OBJECT_RELOCATABLE;
    return plain || !csni_dwarf_has_cross_references(r->dwarf);
}

static void set_up_loop(struct reading *r) {
    const struct csni_dwarf *dwarf = r->dwarf;
    bool discard = may_discard(r);
    r->loop = (struct csni_unit_loop){ .workers = &r->workers, .object = r->object, .info_section = r->section[CSNI_DWARF_INFO],
                                       .dwarf = r->dwarf, .discard = discard,
                                       .lifetime = discard ? CSNI_LIFETIME_STRING_SECTIONS : CSNI_LIFETIME_ALL };
    while (r->loop.first_unit < dwarf->info_unit_count && dwarf->units[r->loop.first_unit].off < r->done) r->loop.first_unit++;
}

/* Leaves in `claims` the tables of .debug_line that no unit names. All units have been added. */
static csn_status find_lone_lines(struct reading *r, struct csn_error *err) {
    if (!r->claims.has_tables && !csni_line_claims_find_tables(&r->claims, r->sections.line, r->sections.big_endian))
        return csni_fail_memory(err, 0);
    csni_line_claims_keep_lone(&r->claims);
    return CSN_OK;
}

static csn_status convert_whole(struct reading *r, struct csn_error *err) {
    struct csni_conversion *c = r->conversion;
    CSNI_TRY(open_dwarf(r, err));
    r->claims.named.count = r->claims.tables.count = 0;
    r->claims.has_tables = r->claims.is_incomplete = false;
    if (!csni_line_claims_add_units(&r->claims, r->dwarf)) return csni_fail_memory(err, 0);
    set_up_loop(r);
    struct csni_unit_loop *loop = &r->loop;
    CSNI_TRY(csni_split_units_create(c, r->dwarf, r->object, &loop->split, err));
    csn_status status = csni_unit_loop_run(loop, err);
    if (status == CSN_OK) csni_report_units(c, loop->batches, loop->count, &r->dwarf->damage);
    if (status == CSN_OK) c->report->units_failed += atomic_load(&loop->failed);
    if (status == CSN_OK && loop->split) c->report->units_failed += csni_split_units_failed(loop->split);
    csni_split_units_destroy(loop->split);
    loop->split = NULL;
    CSNI_TRY(status);
    CSNI_TRY(find_lone_lines(r, err));
    return r->claims.tables.count
               ? csni_lone_lines_convert(&r->workers, r->dwarf, &r->claims, r->object->address_size, err)
               : CSN_OK;
}

static void forget_lines(void *context, uint64_t begin, uint64_t end) {
    const struct reading *r = context;
    csni_object_discard(r->object, r->section[CSNI_DWARF_LINE], begin, end - begin);
}

static csn_status read_lines_again(struct reading *r, struct csn_error *err) {
    if (!r->sections.line.size) return CSN_OK;
    csni_object_release_section(r->object, r->section[CSNI_DWARF_LINE]);
    return read_section_bytes(r, CSNI_DWARF_LINE, err);
}

/* After all portions: of DWARF that has no units. */
static csn_status convert_lone_lines_alone(struct reading *r, bool is_mapped, struct csn_error *err) {
    if (!is_mapped) CSNI_TRY(read_lines_again(r, err));
    CSNI_TRY(csni_dwarf_open(&r->sections, r->conversion->alloc, &r->dwarf, err));
    for (uint32_t i = 0; i < r->conversion->workers; i++)
        CSNI_TRY(csni_unit_job_rebind(&r->workers.jobs[i], r->dwarf, CSNI_LIFETIME_STRING_SECTIONS, err));
    return csni_lone_lines_convert(&r->workers, r->dwarf, &r->claims, r->object->address_size, err);
}

/* As far as portions go; then .debug_info is read as a whole, for the rest and for what that refers to. */
static csn_status convert_stream(struct reading *r, struct csn_error *err) {
    bool is_mapped = csni_object_is_mapped_view(r->object, r->section[CSNI_DWARF_LINE]); /* the system takes such pages back by itself */
    const struct csni_other_sections others = { read_dwarf_section, r, r->read_count, &r->sections,
                                                 is_mapped ? NULL : forget_lines, &r->claims };
    CSNI_TRY(csni_unit_stream_run(r->stream, &r->workers, &others, &r->done, err));
    close_stream(r);
    if (r->done == UINT64_MAX) {
        CSNI_TRY(find_lone_lines(r, err));
        return r->claims.tables.count ? convert_lone_lines_alone(r, is_mapped, err) : CSN_OK;
    }
    CSNI_TRY(read_lines_again(r, err));
    CSNI_TRY(read_section_bytes(r, CSNI_DWARF_INFO, err));
    return convert_whole(r, err);
}

static void count_work(const struct reading *r) {
    struct csni_conversion *c = r->conversion;
    for (uint32_t i = 0; i < CSNI_DWARF_SECTION_COUNT; i++) {
        if (r->section[i] == CSNI_NO_SECTION) continue;
        uint64_t size = r->object->sections[r->section[i]].size;
        csni_shared_budget_raise(&c->budget, CSNI_BUDGET_A_BYTE * size);
        if (i == CSNI_DWARF_INFO || i == CSNI_DWARF_TYPES) c->progress_total += size;
    }
}

static csn_status convert_all(struct reading *r, struct csn_error *err) {
    find_sections(r);
    count_work(r);
    CSNI_TRY(open_stream(r, err));
    order_sections(r);
    if (r->stream) return convert_stream(r, err);
    CSNI_TRY(csni_pool_run(r->conversion->pool, r->read_count, read_dwarf_section, r, err));
    return convert_whole(r, err);
}

/* ---- report ---- */

/* Addresses and offsets that wait for a relocation mean nothing: an index of them would be wrong. */
static csn_status refuse_unknown_relocations(const struct reading *r, struct csn_error *err) {
    struct csni_relocation_counts counts;
    csni_object_relocation_counts(r->object, &counts);
    if (!counts.unknown || r->object->container == CSNI_CONTAINER_MACHO) return CSN_OK;
    return csni_fail(
        err, CSN_E_UNSUPPORTED, NULL, 0,
        "%llu relocations in debug sections are not known, the first of type %u of machine %u%s%s; link the object first",
        (unsigned long long)counts.unknown, counts.unknown_type, r->object->machine, r->object->arch[0] ? ", " : "",
        r->object->arch);
}

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
    report_relocations(r);
    if (r->wants_supplement) csni_supplement_report(&r->supplement);
}

/* Strings are views into .debug_str and .debug_line_str. Those in units are, too, but where .debug_info was to be given
 * back: then they were copied. */
static void release_sections(const struct reading *r, bool later) {
    struct csni_read_sections *list = &r->conversion->read_sections;
    list->object = r->object;
    for (uint32_t i = 0; i < CSNI_DWARF_SECTION_COUNT; i++) {
        bool keep = i == CSNI_DWARF_STR || i == CSNI_DWARF_LINE_STR ||
                    ((i == CSNI_DWARF_INFO || i == CSNI_DWARF_TYPES) && r->loop.lifetime == CSNI_LIFETIME_ALL);
        if (keep || r->section[i] == CSNI_NO_SECTION) continue;
        if (later) list->section[list->count++] = r->section[i];
        else csni_object_release_section(r->object, r->section[i]);
    }
}

csn_status csni_source_dwarf(struct csni_conversion *c, const struct csni_dwarf_input *input, struct csn_error *err) {
    struct reading r = { .conversion = c, .object = input->object, .sections.big_endian = input->object->big_endian,
                         .loop.lifetime = CSNI_LIFETIME_STRING_SECTIONS };
    csni_line_claims_init(&r.claims, c->alloc);
    csn_status status = csni_unit_workers_init(&r.workers, c, input->map, err);
    if (status >= 0) status = convert_all(&r, err);
    close_stream(&r);
    if (status >= 0) status = refuse_unknown_relocations(&r, err);
    if (status >= 0) {
        report(&r);
        release_sections(&r, input->releases_later && c->workers > 1);
    }
    csni_line_claims_deinit(&r.claims);
    csni_unit_workers_deinit(&r.workers);
    csni_dwarf_close(r.dwarf);
    csni_supplement_close(&r.supplement);
    return status;
}
