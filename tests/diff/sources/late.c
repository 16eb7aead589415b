/* A function in a section of its own, whose first .loc directives the test takes away: its rows begin late. */
#include "inlines.h"

volatile int sink;

__attribute__((noinline, section(".text.late"))) int late(int a, int b) {
    int r = area(a, b);
    sink = r;
    return clamp(r, 1, 5);
}

int main(void) {
    return late(sink, 2);
}
