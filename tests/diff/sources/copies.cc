// A function that two units have, compiled twice: with other lines, and more of them, the second time.
#include "inlines.h"
extern volatile int observed;
#ifdef SECOND
__attribute__((noinline)) inline int copied(int x) {
    observed =
        x * 3;
    observed = area(x, 3);

    observed =
        x + 5;
    return x;
}
int second(int x) { return copied(x) + 1; }
#else
__attribute__((noinline)) inline int copied(int x) {
    observed = x * 3; observed = area(x, 3); observed = x + 5; return x;
}
volatile int observed;
int second(int x);
int main(int argc, char **argv) { return copied(argc) + second(argc); }
#endif
