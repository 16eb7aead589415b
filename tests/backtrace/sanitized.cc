// An error for a sanitizer to report: sanitized heap|global|stack|race|leak|undefined
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

volatile int sink;
int numbers[10];
long counter;

namespace orders {
template <class T> static inline __attribute__((always_inline)) T take(T *from, int at) {
    return from[at]; // LINE take
}

struct Shelf {
    __attribute__((noinline)) int read(int *from, int at) {
        sink = take(from, at); // LINE read
        __asm__ volatile("");
        return sink;
    }
};

__attribute__((noinline)) int *fresh(int count) {
    int *made = static_cast<int *>(std::malloc(sizeof(int) * static_cast<unsigned>(count))); // LINE fresh
    std::memset(made, 1, sizeof(int) * static_cast<unsigned>(count));
    return made;
}

__attribute__((noinline)) void count_up() {
    counter = counter + 1; // LINE count
    __asm__ volatile("");
}

__attribute__((noinline)) int overflow(int n) {
    int result = n + 1; // LINE overflow
    __asm__ volatile("");
    return result - n;
}

__attribute__((noinline)) int deep(volatile char *outer, int n) {
    volatile char bytes[4096];
    bytes[n & 15] = *outer;
    int result = deep(bytes, n + 1) + bytes[n & 7]; // LINE deep
    __asm__ volatile("");
    return result;
}
}

int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "heap";
    orders::Shelf shelf;
    if (!std::strcmp(what, "heap")) return shelf.read(orders::fresh(4), argc + 2); // LINE heap
    if (!std::strcmp(what, "global")) return shelf.read(numbers, argc + 8);        // LINE global
    if (!std::strcmp(what, "stack")) {
        volatile char first = 1;
        return orders::deep(&first, argc); // LINE stack
    }
    if (!std::strcmp(what, "race")) {
        std::thread other(orders::count_up);
        orders::count_up(); // LINE race
        other.join();
    }
    if (!std::strcmp(what, "undefined")) return orders::overflow(2147483645 + argc); // LINE undefined
    std::printf("done\n");
    return 0;
}
