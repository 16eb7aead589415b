/* The C program of the matrix; also the freestanding one (-DFREESTANDING) for targets without a C library. */
#include "inlines.h"
#include "lib/util.h"

volatile int sink;

int util_fail(int code) {
    sink = code;
    return area(code, code) / 3;
}

static int recursive(int n) {
    return n <= 1 ? 1 : scale(n, 2) + recursive(n - 1) + recursive(n - 2);
}

/* GCC moves the unlikely path to program_hot.cold: a function of two ranges. */
__attribute__((noinline)) int hot(int x) {
    int r = clamp(x, 0, 100);
    if (__builtin_expect(x > 100000, 0)) {
        util_fail(x);
        r += area(r, x);
        if (r == 17)
            __builtin_trap();
    }
    return r + scale(r, x);
}

typedef int callback(int);
static int through(callback *f, int x) {
    return f(x) + area(x, f(x + 1));
}
static int twice(int x) { return scale(x, 2); }

int old_style(a, b) int a; int b; {
    return area(a, b);
}

#define BIG(n) case n: r += area(r, n); break;
__attribute__((noinline)) int many(int x) {
    int r = x;
    switch (x) {
        BIG(0) BIG(1) BIG(2) BIG(3) BIG(5) BIG(8)
        default:
            r = clamp(r, -5, 5);
    }
    return r;
}

#line 400 "generated/grammar.y"
__attribute__((noinline)) int generated(int x) {
#line 7 "/abs/generated/../lexer.l"
    int y = scale(x, 3);
#line 7 "./grammar.y"
    y += area(y, x);
#line 70000 "generated/grammar.y"
    return y;
}
#line 58 "program.c"

#ifdef FREESTANDING
void *memset(void *to, int c, unsigned long n) {
    volatile char *p = to;
    while (n--)
        *p++ = (char)c;
    return to;
}
#define MAIN _start
#else
#define MAIN main
#endif

int MAIN(void) {
    int values[4] = { sink, 2, 3, sink + 4 };
    sink = util_sum(values, 4) + recursive(sink) + hot(sink) + through(twice, sink) + many(sink) + generated(sink);
    sink += old_style(sink, 2) + (int)util_hash("callsign");
#ifdef ASSEMBLY
    extern int asm_add(int, int);
    sink += asm_add(sink, 1);
#endif
#ifdef FREESTANDING
    for (;;)
        sink++;
#endif
    return 0;
}
