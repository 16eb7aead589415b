/* Prints its own stack from a signal handler on an alternate stack, as many ways as there are:
 * own_stack [load] [plugin=PATH] [thread] [pointers] [jump] [deep]
 * load: modules without an index are converted; pointers: the chain of frame pointers; jump: the crash is a call of address 0;
 * plugin: the crash happens below a function of a library opened with dlopen(). */
#define _GNU_SOURCE
#include <callsign/backtrace.h>

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static struct csn_backtrace *backtrace;
static int use_pointers, use_jump;
static void (*nowhere)(void);

static void on_crash(int number, siginfo_t *info, void *context) {
    uint64_t pcs[64];
    size_t count = csn_backtrace_capture_context(context, pcs, 64);
    (void)number, (void)info;
    csn_backtrace_print(backtrace, pcs, count, 1);
    _exit(0);
}

static inline __attribute__((always_inline)) int inlined_crash(int n) {
    if (use_jump) nowhere();
    else *(volatile int *)8 = n;                          /* LINE crash */
    return n;
}

__attribute__((noinline)) int crash(int n) {
    int result = inlined_crash(n) + 1;                     /* LINE inlined */
    __asm__ volatile("");
    return result;
}

__attribute__((noinline)) int here(int n) {
    uint64_t pcs[64];
    size_t count = use_pointers ? csn_backtrace_capture_frame_pointers(0, pcs, 64) : csn_backtrace_capture(0, pcs, 64);
    csn_backtrace_print(backtrace, pcs, count, 1);         /* LINE after-here */
    fflush(stdout);
    return n + 1;
}

static void install(void) {
    /* 8 KB, as the documentation promises, with a page below that must not be touched. */
    size_t size = 8192 + (size_t)sysconf(_SC_MINSIGSTKSZ);
    char *memory = mmap(NULL, size + 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    stack_t stack = { .ss_sp = memory + 8192, .ss_size = size };
    struct sigaction action = { .sa_sigaction = on_crash, .sa_flags = SA_SIGINFO | SA_ONSTACK };
    mprotect(memory, 8192, PROT_NONE);
    sigaltstack(&stack, NULL);
    sigaction(SIGSEGV, &action, NULL);
}

static void *run(void *context) {
    int (*plugin)(int (*)(int), int) = *(int (**)(int (*)(int), int))context;
    install();
    here(1);                                               /* LINE here */
    return (void *)(size_t)(plugin ? plugin(crash, 2) : crash(2)); /* LINE call */
}

int main(int argc, char **argv) {
    struct csn_backtrace_options options = CSN_BACKTRACE_OPTIONS_INIT;
    struct csn_error err = CSN_ERROR_INIT;
    int load = 0, thread = 0;
    const char *plugin_path = NULL;
    int (*plugin)(int (*)(int), int) = NULL;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "load") == 0) load = 1;
        else if (strcmp(argv[i], "thread") == 0) thread = 1;
        else if (strcmp(argv[i], "pointers") == 0) use_pointers = 1;
        else if (strcmp(argv[i], "jump") == 0) use_jump = 1;
        else if (strncmp(argv[i], "plugin=", 7) == 0) plugin_path = argv[i] + 7;
    }
#ifdef WITH_CONVERTER
    options.convert = csn_backtrace_convert;
#endif
    if (csn_backtrace_create(&options, &backtrace, &err) < 0) {
        fprintf(stderr, "own_stack: %s\n", csn_error_text(&err));
        return 2;
    }
    if (plugin_path) {
        void *library = dlopen(plugin_path, RTLD_NOW);
        if (!library) return fprintf(stderr, "%s\n", dlerror()), 2;
        *(void **)&plugin = dlsym(library, "plugin_call");
    }
    if (load) csn_backtrace_load(backtrace, NULL, 0, NULL);
    else if (plugin_path) {
        const uint64_t none = 0;
        csn_backtrace_load(backtrace, &none, 0, NULL);
    }
    if (thread) {
        pthread_t other;
        pthread_create(&other, NULL, run, &plugin);
        pthread_join(other, NULL);
    } else {
        run(&plugin);
    }
    csn_backtrace_destroy(backtrace);
    return 1;
}
