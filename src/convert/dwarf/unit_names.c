/* Names of functions and inlined calls of one unit.
 *
 * Many inlined calls share one origin, so names are found by the offset of the DIE that decides. What needs a reference to be
 * followed or a scope to be known waits until the whole unit has been walked. */
#include "base/core/fail.h"
#include "base/hash.h"
#include "convert/dwarf/unit_names.h"

enum { SLOTS_MIN = 1024, BYTES_A_SLOT = 256 }; /* hardly a unit has more than a name for 512 bytes */

/* Of the memory that a large unit needed, a small one uses a part that stays in the cache. */
void csni_unit_names_begin(struct csni_unit_job *job) {
    uint64_t wanted = (job->unit->end - job->unit->off) / BYTES_A_SLOT;
    uint32_t slots = job->name_capacity ? SLOTS_MIN : 0;
    while (slots < job->name_capacity && slots < wanted) slots *= 2;
    job->name_slots = slots;
    job->pending.count = 0;
    job->name_count = 0;
    job->stamp++;
}

/* The slot of `key`, or the free one where it belongs. */
static struct csni_name_slot *find_unit_slot(struct csni_name_slot *slots, uint32_t count, uint32_t stamp,
                                             uint64_t key) {
    size_t at = (size_t)csni_hash_u64(key) & (count - 1);
    while (slots[at].stamp == stamp && slots[at].key != key) at = (at + 1) & (count - 1);
    return &slots[at];
}

static bool grow_names(struct csni_unit_job *job) {
    const struct csn_allocator *alloc = job->conversion->alloc;
    uint32_t count = job->name_slots ? job->name_slots * 2 : SLOTS_MIN;
    uint32_t capacity = count > job->name_capacity ? count : job->name_capacity;
    struct csni_name_slot *slots = csni_alloc_zeroed(alloc, capacity, sizeof *slots);
    if (!slots) return false;
    for (uint32_t i = 0; i < job->name_slots; i++)
        if (job->names[i].stamp == job->stamp)
            *find_unit_slot(slots, count, job->stamp, job->names[i].key) = job->names[i];
    csni_free(alloc, job->names, job->name_capacity * sizeof *slots);
    job->names = slots;
    job->name_slots = count;
    job->name_capacity = capacity;
    return true;
}

/* A string of the batch whose text is filled in later. */
static csn_status reserve_string(struct csni_unit_job *job, const struct csni_unit *unit, uint64_t die_off,
                                 uint32_t *out) {
    *out = (uint32_t)job->writer->strings.count;
    struct csni_pending_name pending = { unit, die_off, *out };
    if (!csni_vec_push(&job->writer->strings, ((struct csn_str){ "", 0 })) || !csni_vec_push(&job->pending, pending))
        return CSN_E_MEMORY;
    return CSN_OK;
}

/* Offsets are below 2^62: sections are no larger than memory. */
static uint64_t name_key(const struct csni_unit_job *job, const struct csni_unit *unit, uint64_t die_off) {
    return die_off | (uint64_t)unit->in_types << 63 | (uint64_t)(unit->dwarf != job->dwarf) << 62;
}

/* The name of the DIE at `die_off`, asked for once per unit. */
static csn_status shared_name(struct csni_unit_job *job, const struct csni_unit *unit, uint64_t die_off, uint32_t *out) {
    if (job->name_count * 2 >= job->name_slots && !grow_names(job)) return CSN_E_MEMORY;
    uint64_t key = name_key(job, unit, die_off);
    struct csni_name_slot *slot = find_unit_slot(job->names, job->name_slots, job->stamp, key);
    if (slot->stamp != job->stamp) {
        uint32_t string;
        CSNI_TRY(reserve_string(job, unit, die_off, &string));
        *slot = (struct csni_name_slot){ key, string, job->stamp };
        job->name_count++;
    }
    *out = slot->string;
    return CSN_OK;
}

/* Views into sections that are given back while names are still needed must not be kept. */
static bool lasts(const struct csni_unit_job *job, struct csn_str s) {
    const struct csni_dwarf_sections *sections = &job->dwarf->sections;
    if (job->lifetime == CSNI_LIFETIME_NONE) return false;
    if (job->lifetime == CSNI_LIFETIME_ALL || csni_span_holds(sections->str, s.ptr)) return true;
    if (csni_span_holds(sections->line_str, s.ptr)) return true;
    return job->dwarf->supplement && csni_span_holds(job->dwarf->supplement->sections.str, s.ptr);
}

static csn_status keep_unit_string(struct csni_unit_job *job, struct csn_str *s) {
    CSNI_TRY(csni_unit_charge(job, s->len));
    if (lasts(job, *s)) return CSN_OK;
    const char *copy = csni_arena_copy(job->arena, s->ptr, s->len);
    if (!copy) return CSN_E_MEMORY;
    s->ptr = copy;
    return CSN_OK;
}

csn_status csni_unit_function_name(struct csni_unit_job *job, const struct csni_die *die, uint32_t *out) {
    struct csn_str name;
    if (csni_die_own_name(job->dwarf, job->unit, die, &name, NULL) == CSN_OK) {
        CSNI_TRY(keep_unit_string(job, &name));
        *out = csni_batch_add_string(job->writer, name);
        return CSN_OK;
    }
    return reserve_string(job, die->unit, die->off, out);
}

csn_status csni_unit_inlined_name(struct csni_unit_job *job, const struct csni_die *die, uint32_t *out) {
    const struct csni_unit *unit = die->unit;
    uint64_t off = die->off;
    if (!csni_die_has(die, CSNI_AT_LINKAGE_NAME) && !csni_die_has(die, CSNI_AT_NAME))
        (void)csni_die_target(die, CSNI_AT_ABSTRACT_ORIGIN, &unit, &off);
    return shared_name(job, unit, off, out);
}

/* ---- when the unit has been walked ---- */

static csn_status find_name(struct csni_unit_job *job, const struct csni_pending_name *pending, struct csn_str *out,
                            struct csn_error *err) {
    return csni_scopes_name_at(job->scopes, job->unit, pending->unit, pending->die_off, job->arena, out, err);
}

/* A name that cannot be read: whether the reason lies in the supplement. */
static CSNI_COLD void note_supplement(struct csni_unit_job *job, const struct csni_pending_name *pending) {
    struct csn_error damage = CSN_ERROR_INIT;
    struct csn_str ignored;
    if (find_name(job, pending, &ignored, &damage) < 0 && csni_name_is_in_supplement(pending->unit, pending->die_off))
        csni_batch_note(job->writer, CSN_EVENT_MISSING_SUPPLEMENT, "%s", csn_error_text(&damage));
}

static csn_status resolve_pending_name(struct csni_unit_job *job, const struct csni_pending_name *pending) {
    struct csn_str name;
    csn_status status = find_name(job, pending, &name, NULL);
    if (status == CSN_E_MEMORY) return status;
    if (status < 0 && job->dwarf->supplement) note_supplement(job, pending);
    CSNI_TRY(csni_unit_charge(job, csni_scopes_take_cost(job->scopes)));
    if (status != CSN_OK) return CSN_OK;
    CSNI_TRY(keep_unit_string(job, &name));
    job->writer->strings.items[pending->string] = name;
    return CSN_OK;
}

/* What has rows or inlined calls stays: a symbol may have its name. */
static void drop_nameless(struct csni_unit_job *job) {
    struct csni_batch_writer *w = job->writer;
    size_t kept = 0;
    bool any = false;
    for (size_t i = 0; i < w->functions.count; i++) {
        struct csni_function *f = &w->functions.items[i];
        bool named = w->strings.items[f->name].len > 0, nameless = !named && !f->unplaced && (f->row_count || f->inline_count);
        any |= f->nameless = nameless;
        if (named || nameless) w->functions.items[kept++] = *f;
        else if (!f->unplaced)
            csni_batch_note(w, CSN_EVENT_FUNCTION_WITHOUT_NAME, "function at 0x%llx of unit 0x%llx",
                            (unsigned long long)f->start, (unsigned long long)job->unit->off);
    }
    w->functions.count = kept;
    if (any) atomic_store(&job->conversion->has_nameless, true);
}

csn_status csni_unit_names_resolve(struct csni_unit_job *job) {
    for (size_t i = 0; i < job->pending.count; i++) CSNI_TRY(resolve_pending_name(job, &job->pending.items[i]));
    drop_nameless(job);
    return CSN_OK;
}

/* ---- call sites ---- */

csn_status csni_unit_callee(struct csni_unit_job *job, const struct csni_die *die, uint32_t *out) {
    const struct csni_unit *unit;
    uint64_t off;
    *out = 0;
    if (csni_die_target(die, CSNI_AT_CALL_ORIGIN, &unit, &off) != CSN_OK) return CSN_OK;
    return shared_name(job, unit, off, out);
}
