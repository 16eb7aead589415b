/* The names of most functions and inlined calls, such as those of standard libraries: they come together, before all others.
 *
 * Otherwise each lies where the first function has it that uses it, and a stack of inlined calls is scattered over
 * the whole table. How many there are depends on their sizes alone, and equal ones are ordered by their text, so
 * that neither threads nor the order in which they were met change the file. */
#include <stdlib.h>
#include <string.h>

#include "base/core/fail.h"
#include "model/model_link.h"

/* Names of so many bytes come first, if the index has strings of more than that many; and how many uses are told apart. */
enum { BUSY_BYTES = 40 << 10, BUSY_FROM = 1 << 20, USES_MOST = 4096, USES_LEAST = 2 };

static uint32_t capped(uint32_t uses) { return uses < USES_MOST ? uses : USES_MOST - 1; }

/* The fewest uses of a busy name; UINT32_MAX: there are none. */
static uint32_t choose_least_uses(const struct csni_link *link, uint64_t *bytes) {
    uint64_t all = 0, busy = 0;
    for (unsigned i = 0; i < CSNI_LINK_SHARDS; i++)
        for (size_t k = 0; k < link->shards[i].items.count; k++) {
            const struct csni_distinct_string *d = &link->shards[i].items.items[k];
            bytes[capped(d->uses)] += d->text.len + 1;
            all += d->text.len + 1;
        }
    uint32_t least = USES_MOST;
    while (least > USES_LEAST && busy + bytes[least - 1] <= BUSY_BYTES) busy += bytes[--least];
    return all > BUSY_FROM && busy ? least : UINT32_MAX;
}

static int by_uses(const void *pa, const void *pb) {
    const struct csni_distinct_string *a = *(struct csni_distinct_string *const *)pa,
                                      *b = *(struct csni_distinct_string *const *)pb;
    if (a->uses != b->uses) return a->uses > b->uses ? -1 : 1;
    size_t common = a->text.len < b->text.len ? a->text.len : b->text.len;
    int order = memcmp(a->text.ptr, b->text.ptr, common);
    return order ? order : a->text.len < b->text.len ? -1 : a->text.len > b->text.len;
}

static bool number_busy(struct csni_link *link, uint32_t least, struct csni_distinct_string **busy) {
    uint32_t count = 0, number;
    for (unsigned i = 0; i < CSNI_LINK_SHARDS; i++)
        for (size_t k = 0; k < link->shards[i].items.count; k++)
            if (link->shards[i].items.items[k].uses >= least) busy[count++] = &link->shards[i].items.items[k];
    if (count) qsort(busy, count, sizeof *busy, by_uses);
    for (uint32_t i = 0; i < count; i++)
        if (!csni_link_number_string(link, busy[i], &number)) return false;
    return true;
}

/* What it was counted in has another meaning from now on. */
static void forget_uses(struct csni_link *link) {
    for (unsigned i = 0; i < CSNI_LINK_SHARDS; i++)
        for (size_t k = 0; k < link->shards[i].items.count; k++) link->shards[i].items.items[k].rank = 0;
}

csn_status csni_link_number_busy_names(struct csni_link *link, struct csn_error *err) {
    enum { BUSY_MOST = BUSY_BYTES };
    const struct csn_allocator *alloc = link->model->alloc;
    uint64_t *bytes = csni_alloc_zeroed(alloc, USES_MOST, sizeof *bytes);
    struct csni_distinct_string **busy = csni_alloc(alloc, BUSY_MOST * sizeof *busy); /* a name has a byte at least */
    bool ok = bytes && busy;
    uint32_t least = ok ? choose_least_uses(link, bytes) : UINT32_MAX;
    if (least != UINT32_MAX) ok = number_busy(link, least, busy);
    forget_uses(link);
    csni_free(alloc, busy, BUSY_MOST * sizeof *busy);
    csni_free(alloc, bytes, USES_MOST * sizeof *bytes);
    return ok ? CSN_OK : csni_fail_memory(err, USES_MOST * sizeof *bytes + BUSY_MOST * sizeof *busy);
}
