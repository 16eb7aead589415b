/* Calls a function pointer that leads nowhere, and prints the stack in the signal handler. Without frame pointers only
 * the return address on top of the stack tells who called. Usage: bad_call ADDRESS, or
 * "data" for an address of data. A comment "LINE name" marks a line that the test looks for. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <callsign/backtrace.h>

static struct csn_backtrace *backtrace;
static char other_stack[1 << 18];

static void on_fault(int number, siginfo_t *info, void *context) {
    uint64_t pcs[64];
    (void)number, (void)info;
    csn_backtrace_print(backtrace, pcs, csn_backtrace_capture_context(context, pcs, 64), STDOUT_FILENO);
    _exit(0);
}

__attribute__((noinline)) static int call_it(int (*volatile *pointer)(int), int x) {
    return (*pointer)(x) + 1; /* LINE bad call */
}

int main(int argc, char **argv) {
    struct sigaction action = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK };
    stack_t stack = { .ss_sp = other_stack, .ss_size = sizeof other_stack };
    uintptr_t address =
        (uintptr_t)(argc > 1 && argv[1][0] == 'd' ? (void *)other_stack : (void *)(uintptr_t)strtoull(argv[argc - 1], NULL, 0));
    int (*volatile pointer)(int) = (int (*)(int))address;
    if (csn_backtrace_create(NULL, &backtrace, NULL) < 0 || sigaltstack(&stack, NULL) < 0) return 2;
    sigaction(SIGSEGV, &action, NULL);
    return call_it(&pointer, argc) + 1; /* LINE call */
}
