#include "features.hh"

namespace {
// the same name as in features.cc, another function
__attribute__((noinline)) int hidden_function(int x) {
    return area(x, 13) - observed;
}
} // namespace

static int file_static(int x) __attribute__((noinline));
static int file_static(int x) {
    return [x]() __attribute__((noinline)) { return scale(x, 17) + observed; }();
}

namespace outer {
int second_unit(int x) {
    ring<int, 4> ints;
    for (int i = 0; i < 4; i++)
        ints.push(x + observed);
    ring<int, 4>::cursor cursor = { x };
    int sum = comdat(x) + hidden_function(x) + file_static(x) + cursor.advance(3);
    return sum + ints.fold([](int a, int b) { return a * 3 + area(b, a); });
}

int discarded_by_the_linker(int x) {
    return comdat(x) + clamp(x, 0, 9);
}
} // namespace outer
