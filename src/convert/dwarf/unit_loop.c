/* Converting units on all workers. Very large ones go first, so that no worker is left with one at the end; the others go in
 * file order, which disks and the kernel like best. Each has its batch at its own index, so that the result does not depend
 * on who did what when. What is done of .debug_info is given back. */
#include "convert/dwarf/unit_loop.h"

#include <stdlib.h>

#include "base/core/fail.h"

struct unit_key {
    uint64_t size;   /* of a very large unit; 0: an ordinary one */
    uint32_t index;
};

enum { PIECE = 8 << 20 }; /* that is given back at once: each time costs every core a look at its page tables */

/* Gives back the units from the first that has not been, as far as all are done, if that makes a piece. */
static void give_back(struct csni_unit_loop *loop, uint32_t index) {
    const struct csni_unit *units = loop->dwarf->units;
    uint32_t count = loop->dwarf->info_unit_count;
    pthread_mutex_lock(&loop->lock);
    loop->done[index - loop->first_unit] = 1;
    uint32_t first = loop->given_back, upper = loop->done_until;
    while (upper < count && loop->done[upper - loop->first_unit]) upper++;
    loop->done_until = upper;
    bool piece = upper > first && (upper == count || units[upper - 1].end - units[first].off >= PIECE);
    if (piece) loop->given_back = upper;
    pthread_mutex_unlock(&loop->lock);
    if (piece)
        csni_object_discard(loop->object, loop->info_section, units[first].off, units[upper - 1].end - units[first].off);
}

static csn_status convert_loop_unit(struct csni_unit_loop *loop, uint32_t worker, uint32_t index,
                                    struct csn_error *err) {
    struct csni_unit_workers *workers = loop->workers;
    struct csni_unit *unit = &loop->dwarf->units[index];
    struct csni_batch *out = &loop->batches[index - loop->first_unit];
    if (!unit->prepared) atomic_fetch_add(&loop->failed, 1);
    if (unit->prepared && unit->is_skeleton && loop->split)
        CSNI_TRY(csni_split_units_convert(loop->split, &workers->jobs[worker], worker, index, out, err));
    else
        CSNI_TRY(csni_unit_workers_convert(workers, worker, loop->dwarf, unit, out, err));
    if (loop->discard) give_back(loop, index);
    return csni_progress(workers->conversion, "units", unit->end - unit->off, err);
}

static csn_status convert_one(void *context, uint32_t worker, size_t item, struct csn_error *err) {
    struct csni_unit_loop *loop = context;
    uint32_t index = loop->order[item].index;
    if (!loop->split) return convert_loop_unit(loop, worker, index, err);
    if (!csni_split_units_is_first(loop->split, index)) return CSN_OK; /* done with the first */
    for (; index != CSNI_NO_SKELETON; index = csni_split_units_next(loop->split, index))
        CSNI_TRY(convert_loop_unit(loop, worker, index, err));
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
    uint64_t large = total / (8 * (uint64_t)loop->workers->conversion->workers);
    for (uint32_t i = 0; i < loop->count; i++) {
        uint64_t size = size_of_unit(loop, loop->first_unit + i);
        loop->order[i] = (struct unit_key){ size > large ? size : 0, loop->first_unit + i };
    }
    if (loop->count) qsort(loop->order, loop->count, sizeof *loop->order, larger_first);
}

static csn_status run_loop(struct csni_unit_loop *loop, struct csn_error *err) {
    struct csni_conversion *c = loop->workers->conversion;
    for (uint32_t i = 0; i < c->workers; i++)
        CSNI_TRY(csni_unit_job_rebind(&loop->workers->jobs[i], loop->dwarf, loop->lifetime, err));
    order_units(loop);
    return csni_pool_run(c->pool, loop->count, convert_one, loop, err);
}

csn_status csni_unit_loop_run(struct csni_unit_loop *loop, struct csn_error *err) {
    struct csni_conversion *c = loop->workers->conversion;
    loop->count = loop->dwarf->unit_count - loop->first_unit;
    loop->given_back = loop->done_until = loop->first_unit;
    loop->order = csni_alloc_zeroed(c->alloc, loop->count, sizeof *loop->order);
    loop->done = csni_alloc_zeroed(c->alloc, loop->count, 1);
    loop->batches = csni_add_batches(c, loop->count);
    pthread_mutex_init(&loop->lock, NULL);
    bool ok = !loop->count || (loop->order && loop->done && loop->batches);
    csn_status status = ok ? run_loop(loop, err) : csni_fail_memory(err, loop->count * sizeof *loop->batches);
    pthread_mutex_destroy(&loop->lock);
    csni_free(c->alloc, loop->order, loop->count * sizeof *loop->order);
    csni_free(c->alloc, loop->done, loop->count);
    loop->order = NULL;
    loop->done = NULL;
    return status;
}
