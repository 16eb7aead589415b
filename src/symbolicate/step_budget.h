/* The steps that one stack may cost, some nanoseconds each. */
#ifndef CSNI_STEP_BUDGET_H
#define CSNI_STEP_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

/* Takes steps out of the budget. False: there were fewer; none are left then. */
static inline bool csni_budget_take(uint64_t *budget, uint64_t steps) {
    bool enough = *budget >= steps;
    *budget = enough ? *budget - steps : 0;
    return enough;
}

#endif
