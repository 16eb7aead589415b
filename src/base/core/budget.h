/* Work budgets: how much a hostile file may cost. Where many parts of a file can name the same long list, walking it each time
 * would take forever; so the steps are counted, and end at a limit that real files stay far below. */
#ifndef CSNI_BUDGET_H
#define CSNI_BUDGET_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/core/checked.h"

struct csni_budget {
    uint64_t limit, spent; /* spent <= limit */
};

/* `base`, and `factor` for each of `size`. */
static inline struct csni_budget csni_budget_for(uint64_t base, uint64_t size, uint64_t factor) {
    uint64_t limit;
    bool fits = csni_mul_u64(size, factor, &limit) && csni_add_u64(limit, base, &limit);
    return (struct csni_budget){ .limit = fits ? limit : UINT64_MAX };
}

static inline uint64_t csni_budget_left(const struct csni_budget *b) { return b->limit - b->spent; }

/* False: that much is not left. The budget is exhausted then, so that smaller amounts are refused too, and a caller may go on
 * to where it looks at the budget the next time. */
static inline bool csni_budget_charge(struct csni_budget *b, uint64_t amount) {
    bool enough = amount <= b->limit - b->spent;
    b->spent = enough ? b->spent + amount : b->limit;
    return enough;
}

static inline bool csni_budget_is_exhausted(const struct csni_budget *b) { return b->spent == b->limit; }

/* ---- shared by threads ---- */

/* Whether the sum of all charges is above the limit does not depend on their order: it goes on growing above it. */
struct csni_shared_budget {
    atomic_uint_least64_t limit, spent;
};

static inline void csni_shared_budget_init(struct csni_shared_budget *b, uint64_t limit) {
    atomic_init(&b->limit, limit);
    atomic_init(&b->spent, 0);
}

/* As more input is found. */
static inline void csni_shared_budget_raise(struct csni_shared_budget *b, uint64_t amount) {
    uint64_t before = atomic_load_explicit(&b->limit, memory_order_relaxed), after;
    do after = amount < UINT64_MAX - before ? before + amount : UINT64_MAX;
    while (!atomic_compare_exchange_weak(&b->limit, &before, after));
}

static inline uint64_t csni_shared_budget_limit(struct csni_shared_budget *b) {
    return atomic_load_explicit(&b->limit, memory_order_relaxed);
}

/* False: with this, more is spent than the limit. */
static inline bool csni_shared_budget_charge(struct csni_shared_budget *b, uint64_t amount) {
    uint64_t before = atomic_load_explicit(&b->spent, memory_order_relaxed), after;
    do after = amount < UINT64_MAX - before ? before + amount : UINT64_MAX;
    while (!atomic_compare_exchange_weak(&b->spent, &before, after));
    return after <= csni_shared_budget_limit(b);
}

#endif
