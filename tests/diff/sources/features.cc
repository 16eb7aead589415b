#include "features.hh"

volatile int observed;

extern "C" int c_function(int x) {
    return scale(x, 4);
}
extern "C" {
static int c_static(int x) __attribute__((noinline));
static int c_static(int x) { return area(x, 5); }
}

static int file_static(int x) __attribute__((noinline));
static int file_static(int x) {
    struct local {
        int value;
        __attribute__((noinline)) int method(int y) const { return scale(value, y); }
        static int shared(int y) { return clamp(y, 1, 9); }
    };
    local l = { x };
    return l.method(observed) + local::shared(x);
}

namespace {
struct hidden {
    int a = 1;
    __attribute__((noinline)) int go(int x) { return a + area(x, a); }
    template <int N> __attribute__((noinline)) int times() { return a * N + observed; }
};
__attribute__((noinline)) int hidden_function(int x) {
    return scale(x, 11) + hidden().go(x);
}
namespace inner {
enum class kind { one, two };
template <kind K> __attribute__((noinline)) int by_kind(int x) { return x + (K == kind::one ? area(x, 1) : scale(x, 2)); }
}
} // namespace

namespace outer {
inline namespace v1 {
shape::shape(int w) : width(clamp(w, 1, 50)) {}
shape::~shape() { observed = width; }
colored::colored(int w, int c) : shape(w), color(scale(c, 2)) {}
colored::~colored() { observed = color; }
int colored::size() const { return area(width, color); }
deep::deep(int w) : shape(w), colored(w, 3) {}
deep::~deep() { observed = 3; }
int deep::size() const { return scale(color, width); }
} // namespace v1
namespace {
int in_namespace(int x) __attribute__((noinline));
int in_namespace(int x) { return area(x, 3); }
}
__attribute__((noinline)) int variadic_sum() { return 0; }
template <typename First, typename... Rest> __attribute__((noinline)) int variadic_sum(First first, Rest... rest) {
    return int(first) + variadic_sum(rest...);
}
} // namespace outer

struct guard {
    int *target;
    ~guard() { *target = area(*target, 2); }
};

__attribute__((noinline)) int may_throw(int x) {
    int result = x;
    guard g = { &result };
#ifndef NO_EXCEPTIONS
    if (__builtin_expect(x > 4000, 0))
        throw scale(x, 2);
#endif
    return result + hidden_function(x);
}

static int global_with_initializer = file_static(observed);
static outer::shape global_shape(4);

int main() {
    outer::ring<int, 4> ints;
    outer::ring<long, 3> longs;
    for (int i = 0; i < 4; i++) {
        ints.push(i + observed);
        longs.push(observed);
    }
    int local_factor = observed;
    int sum = ints.fold([local_factor](int a, int b) { return a + scale(b, local_factor); });
    sum += int(longs.fold([](long a, long b) {
        auto deepest = [a](long c) { return a - c; };
        return deepest(b) + deepest(a);
    }));
    outer::ring<int, 4>::cursor cursor = { 1 };
    sum += cursor.advance(observed);
    outer::deep d(observed);
    outer::shape plain(observed);
    plain += d;
    sum += d.size() + (plain | d) + plain;
    sum += c_function(sum) + c_static(sum) + global_with_initializer + hidden().times<3>();
    sum += inner::by_kind<inner::kind::one>(sum) + inner::by_kind<inner::kind::two>(sum);
    sum += outer::comdat(sum) + outer::second_unit(sum) + outer::in_namespace(sum);
    sum += outer::variadic_sum(1, 'x', 3L, sum > 0);
#ifndef NO_EXCEPTIONS
    try {
        sum += may_throw(sum);
    } catch (int code) {
        sum += area(code, 1);
    }
#else
    sum += may_throw(sum);
#endif
    observed = sum + global_shape.width;
    return 0;
}
