/* A target that takes what its input says: proof that fuzz/budget/budget.c tells (cmake/fuzz_budget_test.cmake). The first
 * byte: 't' takes 1 s of processor time, 'h' 4 MiB of heap, 'b' both, another one nothing. */
#include <stdlib.h>
#include <time.h>

#include "budget/budget.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void take_time(void) {
    const clock_t begin = clock();
    while (clock() - begin < CLOCKS_PER_SEC) {}
}

static void take_heap(void) {
    volatile char *block = malloc(4 << 20);
    if (!block) abort();
    block[0] = 1;
    free((void *)block);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (!size) return 0;
    if (data[0] == 't' || data[0] == 'b') take_time();
    if (data[0] == 'h' || data[0] == 'b') take_heap();
    return 0;
}
