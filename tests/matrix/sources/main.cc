#include "shapes.h"

using namespace geo;

static __attribute__((noinline)) int local(int v) {
    auto scale = [](int w) {
        sink = w;
        return w * 3;
    };
    return scale(v) + scale(v + 1);
}

extern "C" int entry(int argument) {
    Square square = { argument };
    int sum = perimeter(square);
    sum += square.area();
    sum += Square::count(argument);
    return sum + local(argument);
}

int main() {
    return entry(sink);
}
