static inline __attribute__((always_inline)) int square(int x) {
    volatile int y = x * x;
    return y + 1;
}
__attribute__((noinline)) int sum(int a) {
    return square(a) +
           square(a + 1);
}
int main(int argc, char **argv) {
    (void)argv;
    return sum(argc);
}
