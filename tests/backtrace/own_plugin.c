/* A library that a program opens with dlopen(). */
__attribute__((noinline)) static int plugin_inner(int (*call)(int), int n) {
    int result = call(n) + 1;                              /* LINE plugin-inner */
    __asm__ volatile("");
    return result;
}

int plugin_call(int (*call)(int), int n);
int plugin_call(int (*call)(int), int n) {
    int result = plugin_inner(call, n) + 1;                /* LINE plugin-call */
    __asm__ volatile("");
    return result;
}
