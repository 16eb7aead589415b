/* Parses orders: the code whose frames are in the samples of tests/data/stacks. */
#include <stddef.h>

typedef void orders_hook(int quantity);
orders_hook *orders_on_check;
volatile int orders_total;

static inline __attribute__((always_inline)) void check(int quantity) {
    if (quantity > 2) orders_on_check(quantity);
    orders_total += quantity;
}

static __attribute__((noinline)) int parse_line(const char *line) {
    int quantity = 0;
    for (; *line >= '0' && *line <= '9'; line++) quantity = quantity * 10 + (*line - '0');
    check(quantity);
    return quantity + 1;
}

__attribute__((noinline)) int orders_load(const char *text) {
    int count = parse_line(text);
    orders_total += count;
    return count;
}
