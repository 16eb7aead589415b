/* Measures the first backtrace of a program with the debug information of a given file, by libbacktrace's interface.
 *
 *   first_backtrace FILE ADDRESS...   looks up the addresses of FILE (hexadecimal), the first one alone, and prints seconds
 *                                     and memory, and then each answer
 *
 * bench/run-backtrace links it with Callsign's library and with libbacktrace itself, without a build id. Both take FILE for the
 * program's own: an address of FILE is one of this process, since `cover` makes the program larger than FILE's code. So the debug
 * information of a program is read that does not run here. */
#define _GNU_SOURCE
#include <backtrace.h>

#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { COVER_BYTES = 256 << 20 };
char cover[COVER_BYTES];
static uintptr_t bias;

static double now_s(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static long peak_kb(void) {
    char line[256];
    long kb = 0;
    FILE *file = fopen("/proc/self/status", "r");
    while (file && fgets(line, sizeof line, file)) sscanf(line, "VmHWM: %ld", &kb);
    if (file) fclose(file);
    return kb;
}

static int take_bias(struct dl_phdr_info *info, size_t size, void *context) {
    (void)size, (void)context;
    bias = info->dlpi_addr;
    return 1;
}

static int print_frame(void *data, uintptr_t pc, const char *filename, int lineno, const char *function) {
    (void)data;
    printf("0x%lx %s %s:%d\n", (unsigned long)(pc - bias), function ? function : "?", filename ? filename : "?", lineno);
    return 0;
}

static int skip_frame(void *data, uintptr_t pc, const char *filename, int lineno, const char *function) {
    (void)data, (void)pc, (void)filename, (void)lineno, (void)function;
    return 0;
}

static void on_error(void *data, const char *msg, int errnum) {
    (void)data;
    fprintf(stderr, "first_backtrace: %s (%d)\n", msg, errnum);
    exit(2);
}

int main(int argc, char **argv) {
    if (argc < 3) {
        fputs("usage: first_backtrace FILE ADDRESS...\n", stderr);
        return 2;
    }
    dl_iterate_phdr(take_bias, NULL);
    long before_kb = peak_kb();
    double start = now_s();
    struct backtrace_state *state = backtrace_create_state(argv[1], 1, on_error, NULL);
    backtrace_pcinfo(state, bias + strtoul(argv[2], NULL, 16), skip_frame, on_error, NULL);
    double first = now_s();
    for (int i = 2; i < argc; i++) backtrace_pcinfo(state, bias + strtoul(argv[i], NULL, 16), skip_frame, on_error, NULL);
    double all = now_s();
    for (int i = 2; i < argc; i++) backtrace_pcinfo(state, bias + strtoul(argv[i], NULL, 16), skip_frame, on_error, NULL);
    double again = now_s();
    printf("first %.6f all %.6f again %.6f peak_kb %ld\n", first - start, all - start, again - all, peak_kb() - before_kb);
    for (int i = 2; i < argc; i++) backtrace_pcinfo(state, bias + strtoul(argv[i], NULL, 16), print_frame, on_error, NULL);
    return 0;
}
