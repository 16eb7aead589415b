// Walks its own stack by libbacktrace's interface, and prints what every pc is: compiled with the real library and with Callsign's.
#include <backtrace.h>

#include <cstdio>
#include <cstring>

static backtrace_state *state;
int some_data[100];

static int on_frame(void *, uintptr_t, const char *file, int line, const char *function) {
    std::printf("%s at %s:%d\n", function ? function : "?", file ? file : "?", line);
    return function && std::strcmp(function, "main") == 0; // what is around it belongs to the C library
}

static int on_pc(void *, uintptr_t pc) {
    static int count;
    backtrace_pcinfo(state, pc, on_frame, nullptr, nullptr);
    return ++count == 3 ? 7 : 0;
}

static void on_symbol(void *, uintptr_t pc, const char *name, uintptr_t start, uintptr_t size) {
    std::printf("%s + %lu of %lu\n", name ? name : "?", name ? static_cast<unsigned long>(pc - start) : 0, static_cast<unsigned long>(size));
}

static void on_error(void *, const char *text, int number) { std::printf("error %s %d\n", text, number); }

template <class T> struct Deep {
    static inline __attribute__((always_inline)) int go(T t) {
        std::printf("result %d\n", backtrace_full(state, 0, on_frame, on_error, nullptr));
        std::printf("result %d\n", backtrace_simple(state, 0, on_pc, on_error, nullptr));
        return static_cast<int>(t);
    }
};

namespace outer_space {
__attribute__((noinline)) int middle(int n) {
    int result = Deep<long>::go(n) + 1;
    __asm__ volatile("");
    return result;
}
}

struct Shape {
    virtual ~Shape() {}
    virtual int run(int n) {
        int result = outer_space::middle(n) + 2;
        __asm__ volatile("");
        return result;
    }
};

extern "C" __attribute__((noinline)) int plain(int n) {
    Shape shape, *volatile p = &shape;
    int result = p->run(n) + 3;
    __asm__ volatile("");
    return result;
}

int main(int argc, char **argv) {
    state = backtrace_create_state(argc > 1 ? argv[1] : nullptr, 1, on_error, nullptr);
    plain(argc);
    backtrace_syminfo(state, reinterpret_cast<uintptr_t>(&some_data[5]), on_symbol, on_error, nullptr);
    backtrace_syminfo(state, reinterpret_cast<uintptr_t>(&plain) + 4, on_symbol, on_error, nullptr);
    backtrace_syminfo(state, reinterpret_cast<uintptr_t>(&state), on_symbol, on_error, nullptr);
    backtrace_syminfo(state, 16, on_symbol, on_error, nullptr);
    backtrace_pcinfo(state, 16, on_frame, on_error, nullptr);
    backtrace_print(state, 0, stdout);
}
