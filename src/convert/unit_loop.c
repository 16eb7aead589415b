/* Converting units on all workers. Very large ones go first, so that no worker is left with one at the end; the others go in
 * file order, which disks and the kernel like best. Each has its batch at its own index, so that the result does not depend
 * on who did what when. What is done of .debug_info is given back. */
#include "convert/unit_loop.h"

#include <stdlib.h>

#include "base/fail.h"

struct unit_key {
    uint64_t size;   /* of a very large unit; 0: an ordinary one */
    uint32_t index;
};

enum { PIECE = 8 << 20 }; /* that is given back at once: each time costs every core a look at its page tables */

void csni_unit_loop_init(struct csni_unit_loop *loop, struct csni_conversion *c, const struct csni_dwarf_input *input) {
    *loop = (struct csni_unit_loop){ .conversion = c, .object = input->object, .map = input->map };
    pthread_mutex_init(&loop->lock, NULL);
}

static void free_run(struct csni_unit_loop *loop) {
    const struct csn_allocator *alloc = loop->conversion->alloc;
    csni_free(alloc, loop->order, loop->count * sizeof *loop->order);
    csni_free(alloc, loop->done, loop->count);
    loop->order = NULL;
    loop->done = NULL;
}

void csni_unit_loop_deinit(struct csni_unit_loop *loop) {
    struct csni_conversion *c = loop->conversion;
    for (uint32_t i = 0; loop->jobs && i < c->workers; i++) csni_unit_job_deinit(&loop->jobs[i]);
    csni_free(c->alloc, loop->jobs, c->workers * sizeof *loop->jobs);
    pthread_mutex_destroy(&loop->lock);
}

static csn_status note_unprepared(struct csni_unit_loop *loop, uint32_t worker, struct csni_unit *unit,
                                  struct csni_batch *out, struct csn_error *err) {
    struct csn_error damage = CSN_ERROR_INIT;
    struct csni_conversion *c = loop->conversion;
    if (csni_unit_prepare(loop->dwarf, unit, &damage) == CSN_E_MEMORY) return csni_fail_memory(err, 0);
    csni_batch_begin(&c->writers[worker], &c->arenas[worker]);
    csni_batch_note(&c->writers[worker], CSN_EVENT_DAMAGED_UNIT, "unit 0x%llx: %s", (unsigned long long)unit->off,
                    csn_error_text(&damage));
    atomic_fetch_add(&loop->failed, 1);
    return csni_batch_finish(&c->writers[worker], out, err);
}

/* Gives back the units from the first that has not been, as far as all are done, if that makes a piece. */
static void give_back(struct csni_unit_loop *loop, uint32_t index) {
    const struct csni_unit *units = loop->dwarf->units;
    uint32_t count = loop->dwarf->info_unit_count;
    pthread_mutex_lock(&loop->lock);
    loop->done[index - loop->first_unit] = 1;
    uint32_t first = loop->given_back, behind = loop->done_until;
    while (behind < count && loop->done[behind - loop->first_unit]) behind++;
    loop->done_until = behind;
    bool piece = behind > first && (behind == count || units[behind - 1].end - units[first].off >= PIECE);
    if (piece) loop->given_back = behind;
    pthread_mutex_unlock(&loop->lock);
    if (piece)
        csni_object_discard(loop->object, loop->info_section, units[first].off, units[behind - 1].end - units[first].off);
}

static csn_status convert_unit(struct csni_unit_loop *loop, uint32_t worker, uint32_t index, struct csn_error *err) {
    struct csni_unit *unit = &loop->dwarf->units[index];
    struct csni_batch *out = &loop->batches[index - loop->first_unit];
    if (unit->prepared && unit->is_skeleton && loop->split)
        CSNI_TRY(csni_split_units_convert(loop->split, &loop->jobs[worker], worker, index, out, err));
    else if (unit->prepared && unit->tag != DW_TAG_type_unit)
        CSNI_TRY(csni_unit_convert(&loop->jobs[worker], unit, out, err));
    else if (!unit->prepared)
        CSNI_TRY(note_unprepared(loop, worker, unit, out, err));
    if (loop->discard) give_back(loop, index);
    return csni_progress(loop->conversion, "units", unit->end - unit->off, err);
}

/* With several workers, what is done besides comes first, as the rest can be shared; else last, when its result is wanted. */
static csn_status convert_one(void *context, uint32_t worker, size_t item, struct csn_error *err) {
    struct csni_unit_loop *loop = context;
    if (loop->beside) {
        size_t beside = loop->conversion->workers > 1 ? 0 : loop->count;
        if (item == beside) return loop->beside(loop->beside_context, worker, 0, err);
        if (item > beside) item--;
    }
    uint32_t index = loop->order[item].index;
    if (!loop->split) return convert_unit(loop, worker, index, err);
    if (!csni_split_units_is_first(loop->split, index)) return CSN_OK; /* done with the first */
    for (; index != CSNI_NO_SKELETON; index = csni_split_units_next(loop->split, index))
        CSNI_TRY(convert_unit(loop, worker, index, err));
    return CSN_OK;
}

static int larger_first(const void *pa, const void *pb) {
    const struct unit_key *a = pa, *b = pb;
    if (a->size != b->size) return a->size > b->size ? -1 : 1;
    return a->index < b->index ? -1 : a->index > b->index;
}

static uint64_t size_of_unit(const struct csni_unit_loop *loop, uint32_t index) {
    uint64_t size = loop->dwarf->units[index].end - loop->dwarf->units[index].off;
    return loop->split ? size + csni_split_units_size(loop->split, index) : size;
}

static void order_units(struct csni_unit_loop *loop) {
    uint64_t total = 0;
    for (uint32_t i = 0; i < loop->count; i++) total += size_of_unit(loop, loop->first_unit + i);
    uint64_t large = total / (8 * (uint64_t)loop->conversion->workers);
    for (uint32_t i = 0; i < loop->count; i++) {
        uint64_t size = size_of_unit(loop, loop->first_unit + i);
        loop->order[i] = (struct unit_key){ size > large ? size : 0, loop->first_unit + i };
    }
    if (loop->count) qsort(loop->order, loop->count, sizeof *loop->order, larger_first);
}

static csn_status make_jobs(struct csni_unit_loop *loop, struct csn_error *err) {
    struct csni_conversion *c = loop->conversion;
    bool first = !loop->jobs;
    if (first) loop->jobs = csni_alloc_zeroed(c->alloc, c->workers, sizeof *loop->jobs);
    if (!loop->jobs) return csni_fail_memory(err, c->workers * sizeof *loop->jobs);
    for (uint32_t i = 0; i < c->workers; i++) {
        if (first) csni_unit_job_init(&loop->jobs[i], c, i);
        loop->jobs[i].map = loop->map;
        CSNI_TRY(csni_unit_job_turn_to(&loop->jobs[i], loop->dwarf, loop->lasting, err));
    }
    return CSN_OK;
}

csn_status csni_unit_loop_run(struct csni_unit_loop *loop, struct csn_error *err) {
    struct csni_conversion *c = loop->conversion;
    loop->count = loop->dwarf->unit_count - loop->first_unit;
    loop->given_back = loop->done_until = loop->first_unit;
    loop->order = csni_alloc_zeroed(c->alloc, loop->count, sizeof *loop->order);
    loop->done = csni_alloc_zeroed(c->alloc, loop->count, 1);
    loop->batches = csni_add_batches(c, loop->count);
    csn_status status = CSN_OK;
    if (loop->count && (!loop->order || !loop->done || !loop->batches))
        status = csni_fail_memory(err, loop->count * sizeof *loop->batches);
    if (status == CSN_OK) status = make_jobs(loop, err);
    if (status == CSN_OK) {
        order_units(loop);
        status = csni_pool_run(c->pool, loop->count + (loop->beside ? 1 : 0), convert_one, loop, err);
    }
    free_run(loop);
    return status;
}
