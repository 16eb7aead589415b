#include <execinfo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
typedef void orders_hook(int quantity);
extern orders_hook *orders_on_check;
extern int orders_load(const char *text);
static const char *mode;

static void on_check(int quantity) {
    void *frames[16];
    int count = backtrace(frames, 16);
    if (strcmp(mode, "fd") == 0) backtrace_symbols_fd(frames, count, 1);
    else if (strcmp(mode, "symbols") == 0) {
        char **names = backtrace_symbols(frames, count);
        for (int i = 0; i < count; i++) puts(names[i]);
    } else if (strcmp(mode, "maps") == 0) {
        char line[512];
        FILE *maps = fopen("/proc/self/maps", "r");
        while (fgets(line, sizeof line, maps)) if (strstr(line, "r-xp")||strstr(line,"orders")) fputs(line, stdout);
        for (int i = 0; i < count; i++) printf("%p\n", frames[i]);
    } else if (strcmp(mode, "crash") == 0) *(volatile int *)0 = quantity;
    else if (strcmp(mode, "abort") == 0) abort();
    else if (strcmp(mode, "write") == 0) write(1, "five orders\n", 12);
    else if (strcmp(mode, "spin") == 0) { for (volatile unsigned long i = 0; i < 2000000000ul; i++) {} }
}
int main(int argc, char **argv) {
    mode = argc > 1 ? argv[1] : "fd";
    orders_on_check = on_check;
    return orders_load("5 boxes") == 0;
}
