/* Functions from DWARF.
 *
 * Three parallel loops: inflate the sections that are needed, compile the abbreviation tables, convert the units. Very large
 * units go first, so that no worker is left with one at the end; the others go in file order, which disks and the kernel
 * like best. Each has its batch at its own index, so that the result does not depend on who did what when. What is done of
 * .debug_info is given back. */
#include <stdio.h>
#include <stdlib.h>

#include "base/fail.h"
#include "convert/split_units.h"
#include "convert/supplement.h"

enum { INFO, TYPES, ABBREV, LINE, STR, LINE_STR, STR_OFFSETS, ADDR, RANGES, RNGLISTS, SECTIONS };

static const char *const section_names[SECTIONS] = { "info",     "types",       "abbrev", "line",   "str",
                                                     "line_str", "str_offsets", "addr",   "ranges", "rnglists" };

struct unit_key {
    uint64_t size;   /* of a very large unit; 0: an ordinary one */
    uint32_t index;
};

/* Units that are done, so that their memory is given back in large pieces: each costs every core a look at its page tables. */
struct giving_back {
    pthread_mutex_t lock;
    uint8_t *done;       /* by unit */
    uint32_t next;       /* units before this one are given back */
    uint32_t behind;     /* units before this one are done */
};
enum { PIECE = 8 << 20 };

enum { EFFORT_A_BYTE = 8 };

/* One image's DWARF on its way. */
struct reading {
    struct csni_conversion *conversion;
    struct csni_object *object;
    const struct csni_address_map *map;
    struct csni_dwarf *dwarf;
    struct csni_supplement supplement;
    bool wants_supplement;
    uint32_t section[SECTIONS];        /* indexes in the object */
    struct csni_span bytes[SECTIONS];
    uint32_t read_order[SECTIONS], read_count;
    struct csni_unit_job *jobs;        /* one per worker */
    struct csni_split_units *split;    /* NULL: no unit is a skeleton */
    struct unit_key *unit_order;
    struct giving_back back;
    struct csni_batch *batches;
    atomic_uint failed_units;
    bool discard;                      /* .debug_info goes as units are done */
};

/* ---- sections ---- */

static csn_status read_one(void *context, uint32_t worker, size_t item, struct csn_error *err) {
    (void)worker;
    struct reading *r = context;
    uint32_t which = r->read_order[item];
    return csni_object_read_section(r->object, r->section[which], &r->bytes[which], err);
}

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
    return csni_pool_run(r->conversion->pool, r->read_count, read_one, r, err);
}

static csn_status open_dwarf(struct reading *r, struct csn_error *err) {
    const struct csni_span *b = r->bytes;
    const struct csni_dwarf_sections sections = {
        .info = b[INFO], .types = b[TYPES], .abbrev = b[ABBREV], .line = b[LINE], .str = b[STR],
        .line_str = b[LINE_STR], .str_offsets = b[STR_OFFSETS], .addr = b[ADDR], .ranges = b[RANGES],
        .rnglists = b[RNGLISTS], .big_endian = r->object->big_endian,
    };
    return csni_dwarf_open(&sections, r->conversion->alloc, &r->dwarf, err);
}

/* ---- the supplement ---- */

/* What its DIEs refer to in another file; unit DIEs do so, too. */
static csn_status open_supplement(struct reading *r, struct csn_error *err) {
    r->wants_supplement = csni_dwarf_has_supplement_references(r->dwarf);
    if (!r->wants_supplement) return CSN_OK;
    CSNI_TRY(csni_supplement_open(r->conversion, r->object, &r->supplement, err));
    r->dwarf->supplement = r->supplement.dwarf;
    return CSN_OK;
}

/* ---- units ---- */

static csn_status note_unprepared(struct reading *r, uint32_t worker, struct csni_unit *unit, struct csni_batch *out,
                                  struct csn_error *err) {
    struct csn_error damage = CSN_ERROR_INIT;
    struct csni_conversion *c = r->conversion;
    if (csni_unit_prepare(r->dwarf, unit, &damage) == CSN_E_MEMORY) return csni_fail_memory(err, 0);
    csni_batch_begin(&c->writers[worker], &c->arenas[worker]);
    csni_batch_note(&c->writers[worker], CSN_EVENT_DAMAGED_UNIT, "unit 0x%llx: %s", (unsigned long long)unit->off,
                    csn_error_text(&damage));
    atomic_fetch_add(&r->failed_units, 1);
    return csni_batch_finish(&c->writers[worker], out, err);
}

/* Gives back the units from the first that has not been, as far as all are done, if that makes a piece. */
static void give_back(struct reading *r, uint32_t index) {
    const struct csni_unit *units = r->dwarf->units;
    uint32_t count = r->dwarf->info_unit_count;
    pthread_mutex_lock(&r->back.lock);
    r->back.done[index] = 1;
    uint32_t first = r->back.next, behind = r->back.behind;
    while (behind < count && r->back.done[behind]) behind++;
    r->back.behind = behind;
    bool piece = behind > first && (behind == count || units[behind - 1].end - units[first].off >= PIECE);
    if (piece) r->back.next = behind;
    pthread_mutex_unlock(&r->back.lock);
    if (piece)
        csni_object_discard(r->object, r->section[INFO], units[first].off,
                            units[behind - 1].end - units[first].off);
}

static csn_status convert_unit(struct reading *r, uint32_t worker, uint32_t index, struct csn_error *err) {
    struct csni_unit *unit = &r->dwarf->units[index];
    struct csni_batch *out = &r->batches[index];
    if (unit->prepared && unit->is_skeleton && r->split)
        CSNI_TRY(csni_split_units_convert(r->split, &r->jobs[worker], worker, index, out, err));
    else if (unit->prepared && unit->tag != DW_TAG_type_unit)
        CSNI_TRY(csni_unit_convert(&r->jobs[worker], unit, out, err));
    else if (!unit->prepared)
        CSNI_TRY(note_unprepared(r, worker, unit, out, err));
    if (r->discard) give_back(r, index);
    return csni_progress(r->conversion, "units", unit->end - unit->off, err);
}

static csn_status convert_one(void *context, uint32_t worker, size_t item, struct csn_error *err) {
    struct reading *r = context;
    uint32_t index = r->unit_order[item].index;
    if (!r->split) return convert_unit(r, worker, index, err);
    if (!csni_split_units_is_first(r->split, index)) return CSN_OK; /* done with the first */
    for (; index != CSNI_NO_SKELETON; index = csni_split_units_next(r->split, index))
        CSNI_TRY(convert_unit(r, worker, index, err));
    return CSN_OK;
}

static int larger_first(const void *pa, const void *pb) {
    const struct unit_key *a = pa, *b = pb;
    if (a->size != b->size) return a->size > b->size ? -1 : 1;
    return a->index < b->index ? -1 : a->index > b->index;
}

static uint64_t size_of_unit(const struct reading *r, uint32_t index) {
    uint64_t size = r->dwarf->units[index].end - r->dwarf->units[index].off;
    return r->split ? size + csni_split_units_size(r->split, index) : size;
}

static csn_status order_units(struct reading *r, struct csn_error *err) {
    uint32_t count = r->dwarf->unit_count;
    r->unit_order = csni_alloc_zeroed(r->conversion->alloc, count, sizeof *r->unit_order);
    if (count && !r->unit_order) return csni_fail_memory(err, count * sizeof *r->unit_order);
    uint64_t total = 0;
    for (uint32_t i = 0; i < count; i++) {
        r->conversion->progress_total += r->dwarf->units[i].end - r->dwarf->units[i].off;
        total += size_of_unit(r, i);
    }
    uint64_t large = total / (8 * (uint64_t)r->conversion->workers);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t size = size_of_unit(r, i);
        r->unit_order[i] = (struct unit_key){ size > large ? size : 0, i };
    }
    if (count) qsort(r->unit_order, count, sizeof *r->unit_order, larger_first);
    return CSN_OK;
}

static csn_status make_jobs(struct reading *r, struct csn_error *err) {
    struct csni_conversion *c = r->conversion;
    r->jobs = csni_alloc_zeroed(c->alloc, c->workers, sizeof *r->jobs);
    if (!r->jobs) return csni_fail_memory(err, c->workers * sizeof *r->jobs);
    enum csni_lasting lasting = r->discard ? CSNI_LASTING_STRINGS : CSNI_LASTING_ALL;
    for (uint32_t i = 0; i < c->workers; i++) {
        CSNI_TRY(csni_unit_job_init(&r->jobs[i], c, r->dwarf, i, lasting, err));
        r->jobs[i].map = r->map;
    }
    return CSN_OK;
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

static csn_status convert_units(struct reading *r, struct csn_error *err) {
    struct csni_conversion *c = r->conversion;
    CSNI_TRY(csni_dwarf_compile_all(r->dwarf, c->pool, err));
    CSNI_TRY(open_supplement(r, err));
    CSNI_TRY(csni_dwarf_prepare_all(r->dwarf, c->pool, err));
    r->discard = may_discard(r);
    for (uint32_t i = 0; i < SECTIONS; i++) atomic_fetch_add(&c->effort_max, EFFORT_A_BYTE * (uint64_t)r->bytes[i].size);
    atomic_fetch_add(&c->effort_max, EFFORT_A_BYTE * r->supplement.size);
    CSNI_TRY(csni_split_units_create(c, r->dwarf, r->object, &r->split, err));
    r->back.done = csni_alloc_zeroed(c->alloc, r->dwarf->unit_count, 1);
    if (r->dwarf->unit_count && !r->back.done) return csni_fail_memory(err, r->dwarf->unit_count);
    CSNI_TRY(order_units(r, err));
    CSNI_TRY(make_jobs(r, err));
    r->batches = csni_add_batches(c, r->dwarf->unit_count);
    if (r->dwarf->unit_count && !r->batches)
        return csni_fail_memory(err, r->dwarf->unit_count * sizeof *r->batches);
    return csni_pool_run(c->pool, r->dwarf->unit_count, convert_one, r, err);
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

/* Batches of skeletons can have functions from symbols. */
static uint32_t count_from_dwarf(const struct csni_batch *batch) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < batch->function_count; i++) count += batch->functions[i].source == CSNI_SOURCE_DWARF;
    return count;
}

static void report(const struct reading *r) {
    struct csn_convert_report *out = r->conversion->report;
    out->units += r->dwarf->unit_count;
    out->units_failed += atomic_load(&r->failed_units);
    if (r->split) out->units_failed += csni_split_units_failed(r->split);
    for (uint32_t i = 0; i < r->dwarf->unit_count; i++) out->functions_from_dwarf += count_from_dwarf(&r->batches[i]);
    if (r->dwarf->damage.code) {
        csni_report_add(out, CSN_EVENT_DAMAGED_UNIT, 1, csni_str(csn_error_text(&r->dwarf->damage)));
        out->units_failed++;
    }
    report_relocations(r);
    if (r->wants_supplement) csni_supplement_report(&r->supplement);
}

static void release(struct reading *r) {
    struct csni_conversion *c = r->conversion;
    for (uint32_t i = 0; r->jobs && i < c->workers; i++) csni_unit_job_deinit(&r->jobs[i]);
    csni_free(c->alloc, r->jobs, c->workers * sizeof *r->jobs);
    if (r->dwarf) csni_free(c->alloc, r->unit_order, r->dwarf->unit_count * sizeof *r->unit_order);
    if (r->dwarf) csni_free(c->alloc, r->back.done, r->dwarf->unit_count);
    pthread_mutex_destroy(&r->back.lock);
    csni_split_units_destroy(r->split);
    csni_dwarf_close(r->dwarf);
    csni_supplement_close(&r->supplement);
}

/* Strings are views into .debug_str and .debug_line_str. Those in units are, too, but where .debug_info was to be given
 * back: then they were copied. */
static void release_sections(const struct reading *r) {
    for (uint32_t i = 0; i < SECTIONS; i++) {
        bool keep = i == STR || i == LINE_STR || ((i == INFO || i == TYPES) && !r->discard);
        if (!keep && r->section[i] != CSNI_NO_SECTION) csni_object_release_section(r->object, r->section[i]);
    }
}

csn_status csni_source_dwarf(struct csni_conversion *c, const struct csni_dwarf_input *input, struct csn_error *err) {
    struct reading r = { .conversion = c, .object = input->object, .map = input->map };
    pthread_mutex_init(&r.back.lock, NULL);
    csn_status status = read_sections(&r, err);
    if (status >= 0) status = open_dwarf(&r, err);
    if (status >= 0) status = convert_units(&r, err);
    if (status >= 0) {
        report(&r);
        release_sections(&r);
    }
    release(&r);
    return status;
}
