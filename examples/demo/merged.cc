#include <cstdio>
#include <execinfo.h>

extern "C" char __executable_start;

__attribute__((noinline)) void report() {
    void *pcs[8];
    int count = backtrace(pcs, 8);
    for (int i = 0; i < count; i++) std::printf("merged+0x%tx\n", (char *)pcs[i] - &__executable_start);
}

struct Circle { int radius; };
struct Square { int side; };

__attribute__((noinline)) int size_of(Circle *c) { report(); return c->radius * 3; }
__attribute__((noinline)) int size_of(Square *s) { report(); return s->side * 3; }

int main(int argc, char **) {
    Circle circle{argc};
    Square square{argc};
    int sum = size_of(&square);
    if (argc > 1) sum += size_of(&circle);
    return sum == 0;
}
