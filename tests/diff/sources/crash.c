/* Crashes below several functions, one of them a library's, and writes down what a minidump of it needs: registers, the stack, the
 * memory map. The handler runs on a stack of its own. `crash handler` crashes again in a handler on the same stack. */
#define _GNU_SOURCE
#include <alloca.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

static char *stack_end;
static volatile int *volatile nowhere;
static volatile int sink;

static void write_stack(const ucontext_t *context) {
    static const int registers[] = { REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI, REG_R8,
                                     REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP };
    char line[512];
    FILE *maps = fopen("/proc/self/maps", "r");
    for (unsigned i = 0; i < sizeof registers / sizeof *registers; i++)
        printf("register %llx\n", (unsigned long long)context->uc_mcontext.gregs[registers[i]]);
    const unsigned char *p = (const unsigned char *)(context->uc_mcontext.gregs[REG_RSP] - 128);
    printf("stack %llx ", (unsigned long long)(uintptr_t)p);
    for (; (const char *)p < stack_end; p++) printf("%02x", *p);
    putchar('\n');
    while (maps && fgets(line, sizeof line, maps)) printf("map %s", line);
    fflush(stdout);
    _exit(0);
}

static void on_crash(int number, siginfo_t *info, void *context) {
    (void)number;
    (void)info;
    write_stack(context);
}

__attribute__((noinline)) static int fall(int depth) {
    char *room = alloca((size_t)depth * 64 + 16); /* a frame of unknown size */
    memset(room, depth, (size_t)depth * 64);
    sink = room[depth];
    if (depth > 2) *nowhere = depth;
    return fall(depth + 1) + sink;
}

__attribute__((noinline)) static int compare(const void *a, const void *b) {
    sink++;
    if (sink > 5) return fall(0) + sink;
    return *(const int *)a - *(const int *)b;
}

__attribute__((noinline)) static int aligned(int *items, size_t count) {
    __attribute__((aligned(64))) volatile int copy[16]; /* the stack is aligned in the prologue */
    for (size_t i = 0; i < 16; i++) copy[i] = items[i % count];
    qsort(items, count, sizeof *items, compare);
    return copy[sink % 16];
}

static void on_signal(int number) {
    int items[] = { 9, 8, 7, 6, 5, 4, 3, 2, 1, number };
    sink = aligned(items, sizeof items / sizeof *items);
}

int main(int argc, char **argv) {
    static char other_stack[1 << 16];
    stack_t stack = { .ss_sp = other_stack, .ss_size = sizeof other_stack };
    struct sigaction crash = { .sa_sigaction = on_crash, .sa_flags = SA_SIGINFO | SA_ONSTACK };
    stack_end = (char *)(argv + argc + 1);
    sigaltstack(&stack, NULL);
    sigaction(SIGSEGV, &crash, NULL);
    signal(SIGUSR1, on_signal);
    if (argc > 1) raise(SIGUSR1);
    else on_signal(argc);
    return sink;
}
