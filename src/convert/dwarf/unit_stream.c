/* Converting units while .debug_info inflates. Inflating is one long sequence, all else is not: whoever has nothing to do takes
 * the first of
 *   - the next portion to inflate (or to look for the ends of its units), if nobody is at it and there is memory for one more;
 *   - another section to read; as long as some are missing, no more than that can be done;
 *   - a portion that has been inflated, to list its units and compile their abbreviations;
 *   - the next unit, in the order of the file.
 * So no worker waits unless nothing of this is left. Each unit has its batch at its own index, and what fails first in the
 * order of the file is what is told, whoever did what when. */
#include "convert/dwarf/unit_stream.h"

#include "base/core/fail.h"

enum state { EMPTY, INFLATING, INFLATED, PREPARING, READY, CLOSING };

/* A portion on its way. */
struct slot {
    enum state state;
    uint32_t number;           /* of the portion */
    uint32_t worker;           /* that inflated it: its caches have the bytes */
    struct csni_portion portion;
    struct csni_dwarf *dwarf;
    uint32_t count, taken, done; /* units: all, those that workers have or had, those converted */
    uint64_t lines_from, lines_to; /* where the first and the last line table of its units begin; UINT64_MAX and 0: there is none */
};

/* What is left of a portion. */
struct outcome {
    struct csni_batch *batches; /* by unit */
    uint32_t count;
    uint64_t functions;        /* in them, from DWARF */
    uint32_t failed;           /* units that could not be read at all */
    struct csn_error damage;   /* of the list of units; code 0: none */
};

struct csni_unit_stream {
    struct csni_conversion *conversion;
    struct csni_info_portions *portions;
    struct csni_unit_workers *workers;
    const struct csni_other_sections *others;
    uint32_t slot_count;
    struct csni_shared_abbrevs **abbrevs; /* by worker, of the portions that it prepares; NULL: none yet */
    uint32_t *turned;          /* by worker: 1 + the number of the portion that it is turned to */

    pthread_mutex_t lock;      /* of what follows */
    pthread_cond_t changed;
    struct slot *slots;
    CSNI_VEC(struct outcome) outcomes; /* by number of the portion */
    uint32_t end;              /* portions from this number on do not count */
    uint64_t until;            /* offset where that one begins */
    size_t others_taken, others_done; /* of the other sections */
    bool inflating;            /* somebody is */
    bool is_late;              /* less memory is kept */
    bool at_end;               /* the last portion has been inflated */
    uint64_t lines_gone;       /* line tables that begin before this offset have been given back */
    uint32_t busy;             /* workers at something */
    struct csn_error failure;  /* code 0: nothing failed */
    uint64_t failed;           /* place of what did */
};

/* One worker inflates and converts in turn, in the same memory. Several have one portion each, and two ahead. */
enum { SLOTS_MAX = 24 };

/* A conversion needs most memory when all units are converted. Until half of them are, or three quarters by one worker, a portion's
 * memory stays for the next one, so that no page has to be given back and taken again; then little does, and one
 * slot less is used. */
enum { KEPT_EARLY = 8 << 20, KEPT_LATE = 2 << 20 };

/* .debug_line is given back in steps of so many bytes: whole pages on every system. */
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
enum { LINES_STEP = 4 << 10 };
#else
enum { LINES_STEP = 256 << 10 };
#endif

csn_status csni_unit_stream_create(struct csni_conversion *c, struct csni_info_portions *portions,
                                   struct csni_unit_stream **out, struct csn_error *err) {
    struct csni_unit_stream *s = csni_alloc_zeroed(c->alloc, 1, sizeof *s);
    if (!s) return csni_fail_memory(err, sizeof *s);
    s->conversion = c;
    s->portions = portions;
    s->outcomes.alloc = c->alloc;
    s->end = UINT32_MAX;
    s->slot_count = c->workers == 1 ? 1 : c->workers < SLOTS_MAX ? c->workers + 2 : SLOTS_MAX;
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->changed, NULL);
    s->slots = csni_alloc_zeroed(c->alloc, s->slot_count, sizeof *s->slots);
    s->turned = csni_alloc_zeroed(c->alloc, c->workers, sizeof *s->turned);
    s->abbrevs = csni_alloc_zeroed(c->alloc, c->workers, sizeof *s->abbrevs);
    if (!s->slots || !s->turned || !s->abbrevs) {
        csni_unit_stream_destroy(s);
        return csni_fail_memory(err, sizeof *s->slots);
    }
    *out = s;
    return CSN_OK;
}

void csni_unit_stream_destroy(struct csni_unit_stream *s) {
    if (!s) return;
    const struct csn_allocator *alloc = s->conversion->alloc;
    for (uint32_t i = 0; s->slots && i < s->slot_count; i++) {
        csni_dwarf_close(s->slots[i].dwarf);
        csni_portion_free(&s->slots[i].portion);
    }
    for (size_t i = 0; i < s->outcomes.count; i++)
        csni_free(alloc, s->outcomes.items[i].batches, s->outcomes.items[i].count * sizeof *s->outcomes.items[i].batches);
    csni_vec_deinit(&s->outcomes);
    for (uint32_t i = 0; s->abbrevs && i < s->conversion->workers; i++) csni_shared_abbrevs_destroy(s->abbrevs[i]);
    csni_free(alloc, s->abbrevs, s->conversion->workers * sizeof *s->abbrevs);
    csni_free(alloc, s->slots, s->slot_count * sizeof *s->slots);
    csni_free(alloc, s->turned, s->conversion->workers * sizeof *s->turned);
    pthread_mutex_destroy(&s->lock);
    pthread_cond_destroy(&s->changed);
    csni_free(alloc, s, sizeof *s);
}

/* ---- under the lock ---- */

/* Of two failures the one that comes first is told: `place` is that of another section, or a portion and its unit. */
static void fail_at(struct csni_unit_stream *s, uint64_t place, csn_status status, const struct csn_error *failure) {
    if (s->failure.code && s->failed <= place) return;
    s->failure = *failure;
    s->failure.code = status;
    s->failed = place;
}

static uint64_t place_of(const struct slot *slot, uint32_t unit) { return ((uint64_t)slot->number + 1) << 32 | unit; }

/* The slot's portion and those after it have to be read with the whole section. */
static void end_at(struct csni_unit_stream *s, const struct slot *slot) {
    if (slot->number >= s->end) return;
    s->end = slot->number;
    s->until = slot->portion.from;
}

static uint32_t usable_slots(const struct csni_unit_stream *s) {
    return s->is_late && s->slot_count > 1 ? s->slot_count - 1 : s->slot_count;
}

static struct slot *empty_slot(const struct csni_unit_stream *s) {
    for (uint32_t i = 0; i < usable_slots(s); i++)
        if (s->slots[i].state == EMPTY) return &s->slots[i];
    return NULL;
}

/* Slots that are not used any more lose their memory. */
static void free_unused(struct csni_unit_stream *s) {
    for (uint32_t i = usable_slots(s); i < s->slot_count; i++)
        if (s->slots[i].state == EMPTY) csni_portion_free(&s->slots[i].portion);
}

/* The slot of the first portion that is in this state, and has units to hand out if that is READY: of those that the
 * worker inflated where there is one, or else of all. */
static struct slot *next_slot(const struct csni_unit_stream *s, enum state state, uint32_t worker) {
    struct slot *first = NULL;
    for (uint32_t i = 0; i < s->slot_count; i++) {
        struct slot *slot = &s->slots[i];
        if (slot->state != state || slot->number >= s->end || (state == READY && slot->taken == slot->count)) continue;
        bool is_own = slot->worker == worker, is_better = first && first->worker == worker
                                                              ? is_own && slot->number < first->number
                                                              : !first || is_own || slot->number < first->number;
        if (is_better) first = slot;
    }
    return first;
}

/* Whether something comes before what failed: that might fail too, and be what is told. */
static bool counts(const struct csni_unit_stream *s, uint64_t place) { return !s->failure.code || place < s->failed; }

/* ---- what a worker does; called with the lock, which is open meanwhile ---- */

/* What cannot be inflated in portions is read as a whole, too, and by another library that has the last word: libzstd refuses
 * windows above 128 MiB where it is to keep them itself (zstd --long=28). */
static void inflate(struct csni_unit_stream *s, uint32_t worker, struct slot *slot) {
    struct csn_error failure = CSN_ERROR_INIT;
    slot->state = INFLATING;
    slot->number = (uint32_t)s->outcomes.count;
    slot->worker = worker;
    if (!csni_vec_push(&s->outcomes, (struct outcome){ 0 })) {
        fail_at(s, place_of(slot, 0), csni_fail_memory(&failure, sizeof(struct outcome)), &failure);
        return;
    }
    s->inflating = true;
    pthread_mutex_unlock(&s->lock);
    csn_status status = csni_info_portions_read(s->portions, &slot->portion, &failure);
    pthread_mutex_lock(&s->lock);
    s->inflating = false;
    s->at_end = csni_info_portions_at_end(s->portions);
    s->is_late = slot->portion.from > csni_info_portions_size(s->portions) / 4 * (s->slot_count > 1 ? 2 : 3);
    free_unused(s);
    slot->state = INFLATED;
    if (status == CSN_NONE || status == CSN_E_FORMAT) end_at(s, slot);
    else if (status < 0) fail_at(s, place_of(slot, 0), status, &failure);
}

/* Before any of them is given back. */
static csn_status find_line_tables(const struct csni_unit_stream *s, struct csn_error *err) {
    const struct csni_other_sections *o = s->others;
    if (csni_line_claims_find_tables(o->claims, o->sections->line, o->sections->big_endian)) return CSN_OK;
    return csni_fail_memory(err, 0);
}

static void read_stream_other(struct csni_unit_stream *s, uint32_t worker) {
    struct csn_error failure = CSN_ERROR_INIT;
    size_t item = s->others_taken++;
    pthread_mutex_unlock(&s->lock);
    csn_status status = s->others->read(s->others->context, worker, item, &failure);
    pthread_mutex_lock(&s->lock);
    if (status == CSN_OK && s->others_done + 1 == s->others->count) status = find_line_tables(s, &failure);
    s->others_done++;
    if (status < 0) fail_at(s, item, status, &failure);
}

/* Whether no unit refers to anything outside of itself. */
static bool stands_alone(const struct csni_dwarf *dwarf) {
    if (csni_dwarf_has_cross_references(dwarf) || csni_dwarf_has_supplement_references(dwarf)) return false;
    for (uint32_t i = 0; i < dwarf->info_unit_count; i++)
        if (dwarf->units[i].is_skeleton) return false;
    return true;
}

static void find_lines(struct slot *slot) {
    slot->lines_from = UINT64_MAX;
    for (uint32_t i = 0; i < slot->dwarf->unit_count; i++) {
        const struct csni_unit *unit = &slot->dwarf->units[i];
        if (!unit->prepared || !unit->has_stmt_list || unit->tag == DW_TAG_type_unit) continue;
        if (unit->stmt_list >= slot->dwarf->sections.line.size) continue;
        if (unit->stmt_list < slot->lines_from) slot->lines_from = unit->stmt_list;
        if (unit->stmt_list > slot->lines_to) slot->lines_to = unit->stmt_list;
    }
}

static csn_status open_portion(const struct csni_unit_stream *s, uint32_t worker, struct slot *slot, struct outcome *out,
                               struct csn_error *err) {
    const struct csn_allocator *alloc = s->conversion->alloc;
    struct csni_dwarf_sections sections = *s->others->sections;
    sections.info = (struct csni_span){ slot->portion.bytes, slot->portion.size };
    sections.info_from = slot->portion.from;
    CSNI_TRY(csni_dwarf_open(&sections, alloc, &slot->dwarf, err));
    if (!s->abbrevs[worker]) CSNI_TRY(csni_shared_abbrevs_create(sections.abbrev.size, alloc, &s->abbrevs[worker], err));
    CSNI_TRY(csni_dwarf_compile_shared(slot->dwarf, s->abbrevs[worker], err));
    CSNI_TRY(csni_dwarf_prepare_all(slot->dwarf, NULL, err));
    if (!stands_alone(slot->dwarf)) return CSN_NONE;
    find_lines(slot);
    out->count = slot->dwarf->unit_count;
    out->damage = slot->dwarf->damage;
    out->batches = csni_alloc_zeroed(alloc, out->count, sizeof *out->batches);
    return out->batches || !out->count ? CSN_OK : csni_fail_memory(err, out->count * sizeof *out->batches);
}

/* Line tables lie in the order of their units, as linkers write them: what begins before this is not needed again. A unit that
 * does not keep to that order makes its portion and those after it be read as a whole, with the line tables read again. 0: it
 * cannot be told, as the oldest portion has not listed its units. */
static uint64_t passed_lines(const struct csni_unit_stream *s, const struct slot *closing) {
    const struct slot *oldest = NULL;
    uint64_t from = UINT64_MAX;
    for (uint32_t i = 0; i < s->slot_count; i++) {
        const struct slot *slot = &s->slots[i];
        if (slot->state == EMPTY || slot->state == CLOSING) continue;
        if (!oldest || slot->number < oldest->number) oldest = slot;
        if (slot->state == READY && slot->lines_from < from) from = slot->lines_from;
    }
    if (!oldest) return closing->lines_to;
    return oldest->state == READY && from != UINT64_MAX ? from : 0;
}

/* Nobody reads a portion's units any more. A buffer that one large unit made large is not kept. */
static void clear_slot(struct csni_unit_stream *s, struct slot *slot) {
    size_t kept = s->is_late ? KEPT_LATE : KEPT_EARLY;
    slot->state = CLOSING;
    uint64_t gone = s->lines_gone, passed = s->others->forget_lines ? passed_lines(s, slot) / LINES_STEP * LINES_STEP : 0;
    if (passed > gone) s->lines_gone = passed;
    pthread_mutex_unlock(&s->lock);
    if (passed > gone) s->others->forget_lines(s->others->context, gone, passed);
    csni_dwarf_close(slot->dwarf);
    csni_portion_shrink(&slot->portion, kept);
    pthread_mutex_lock(&s->lock);
    *slot = (struct slot){ .portion = slot->portion };
    free_unused(s);
}

static void prepare(struct csni_unit_stream *s, uint32_t worker, struct slot *slot) {
    struct csn_error failure = CSN_ERROR_INIT;
    struct outcome outcome = { 0 };
    slot->state = PREPARING;
    pthread_mutex_unlock(&s->lock);
    csn_status status = open_portion(s, worker, slot, &outcome, &failure);
    pthread_mutex_lock(&s->lock);
    if (status == CSN_OK && slot->lines_from < s->lines_gone) status = CSN_NONE;
    if (status == CSN_OK && !csni_line_claims_add_units(s->others->claims, slot->dwarf)) status = csni_fail_memory(&failure, 0);
    s->outcomes.items[slot->number] = outcome;
    slot->state = READY;
    slot->count = status == CSN_OK ? outcome.count : 0;
    if (status == CSN_NONE) end_at(s, slot);
    else if (status < 0) fail_at(s, place_of(slot, 0), status, &failure);
    if (!slot->count) clear_slot(s, slot);
}

static csn_status convert_stream_unit(struct csni_unit_stream *s, uint32_t worker, const struct slot *slot,
                                      struct csni_unit *unit,
                                      struct csni_batch *out, struct csn_error *err) {
    if (s->turned[worker] != slot->number + 1) {
        s->turned[worker] = slot->number + 1;
        CSNI_TRY(csni_unit_job_rebind(&s->workers->jobs[worker], slot->dwarf, CSNI_LIFETIME_STRING_SECTIONS, err));
    }
    CSNI_TRY(csni_unit_workers_convert(s->workers, worker, slot->dwarf, unit, out, err));
    return csni_progress(s->conversion, "units", unit->end - unit->off, err);
}

static void take_unit(struct csni_unit_stream *s, uint32_t worker, struct slot *slot) {
    struct csn_error failure = CSN_ERROR_INIT;
    uint32_t index = slot->taken++;
    struct csni_batch *out = &s->outcomes.items[slot->number].batches[index];
    s->outcomes.items[slot->number].failed += !slot->dwarf->units[index].prepared;
    pthread_mutex_unlock(&s->lock);
    csn_status status = convert_stream_unit(s, worker, slot, &slot->dwarf->units[index], out, &failure);
    uint32_t functions = csni_count_from_dwarf(out); /* while they are in this worker's caches */
    pthread_mutex_lock(&s->lock);
    s->outcomes.items[slot->number].functions += functions;
    if (status < 0) fail_at(s, place_of(slot, 1 + index), status, &failure);
    if (++slot->done == slot->count) clear_slot(s, slot);
}

/* ---- all of it ---- */

/* False: there is nothing to do for now. */
static bool do_something(struct csni_unit_stream *s, uint32_t worker) {
    bool ended = s->failure.code || s->end != UINT32_MAX || s->at_end;
    struct slot *slot = s->inflating || ended ? NULL : empty_slot(s);
    if (slot) {
        inflate(s, worker, slot);
        return true;
    }
    if (s->others_taken < s->others->count && counts(s, s->others_taken)) {
        read_stream_other(s, worker);
        return true;
    }
    if (s->others_done < s->others->count) return false;
    slot = next_slot(s, INFLATED, worker);
    if (slot && counts(s, place_of(slot, 0))) {
        prepare(s, worker, slot);
        return true;
    }
    slot = next_slot(s, READY, worker);
    if (!slot || !counts(s, place_of(slot, 1 + slot->taken))) return false;
    take_unit(s, worker, slot);
    return true;
}

static csn_status work_on_stream(void *context, uint32_t worker, size_t item, struct csn_error *err) {
    (void)item;
    (void)err;
    struct csni_unit_stream *s = context;
    pthread_mutex_lock(&s->lock);
    for (;;) {
        s->busy++;
        bool done = do_something(s, worker);
        s->busy--;
        if (done || !s->busy) pthread_cond_broadcast(&s->changed);
        if (!done && !s->busy) break;
        if (!done) pthread_cond_wait(&s->changed, &s->lock);
    }
    pthread_mutex_unlock(&s->lock);
    return CSN_OK;
}

/* The batches that count, in the order of the file. */
static csn_status gather_units(struct csni_unit_stream *s, struct csn_error *err) {
    struct csni_conversion *c = s->conversion;
    uint64_t count = 0;
    uint32_t portions = s->end < s->outcomes.count ? s->end : (uint32_t)s->outcomes.count;
    for (uint32_t i = 0; i < portions; i++) count += s->outcomes.items[i].count;
    if (count > UINT32_MAX - c->batch_count)
        return csni_fail(err, CSN_E_LIMIT, ".debug_info", 0, "more than %u units", UINT32_MAX);
    struct csni_batch *to = csni_add_batches(c, (uint32_t)count);
    if (count && !to) return csni_fail_memory(err, count * sizeof *to);
    for (uint32_t i = 0; i < portions; i++) {
        const struct outcome *o = &s->outcomes.items[i];
        if (o->count) memcpy(to, o->batches, o->count * sizeof *to);
        to += o->count;
        csni_report_counted_units(c, o->count, o->functions, &o->damage);
        c->report->units_failed += o->failed;
    }
    return CSN_OK;
}

csn_status csni_unit_stream_run(struct csni_unit_stream *s, struct csni_unit_workers *workers,
                                const struct csni_other_sections *others, uint64_t *until, struct csn_error *err) {
    s->workers = workers;
    s->others = others;
    CSNI_TRY(csni_pool_run(s->conversion->pool, s->conversion->workers, work_on_stream, s, err));
    if (s->failure.code) {
        if (err) *err = s->failure;
        return s->failure.code;
    }
    *until = s->end == UINT32_MAX ? UINT64_MAX : s->until;
    return gather_units(s, err);
}
