static inline __attribute__((always_inline)) void check(int quantity) {
    if (quantity > 2) __builtin_trap();
}
__attribute__((noinline)) int parse_line(const char *line) {
    int quantity = *line - '0';
    check(quantity);
    return quantity + 1;
}
__attribute__((noinline, export_name("orders_load"))) int orders_load(int n) {
    char text[2] = { (char)('0' + n), 0 };
    return parse_line(text) + 1;
}
