// Functions with identical code, for a linker that folds them (--icf=all).
#include "inlines.h"
volatile int observed;

__attribute__((noinline)) int folded_one(int x) {
    observed = x;
    return area(x, 3);
}
__attribute__((noinline)) int folded_two(int x) {
    observed = x;

    return area(x, 3);
}
template <typename T> __attribute__((noinline)) T folded_template(T x) {
    observed = int(x);
    return T(scale(int(x), 9));
}
int main() {
    return folded_one(1) + folded_two(2) + folded_template<int>(3) + int(folded_template<unsigned>(4));
}
