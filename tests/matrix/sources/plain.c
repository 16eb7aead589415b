/* The same idea in C, for compilers whose names for C++ differ. */
volatile int sink;

static inline int twice(int v) {
    sink = v;
    return v + v;
}

static __attribute__((noinline)) int hidden(int v) {
    int half = twice(v);
    return twice(half) + 1;
}

int entry(int argument) {
    int sum = 0;
    for (int i = 0; i < argument; i++) {
        sum += hidden(i);
        sink = sum;
    }
    return twice(sum);
}

int main(void) {
    return entry(sink);
}
