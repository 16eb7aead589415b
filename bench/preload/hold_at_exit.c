/* Preloaded: a program that comes to its end keeps what it has mapped and stops itself (SIGSTOP), so that its memory can be measured
 * (bench/run-stored). The one who measures ends it. */
#define _GNU_SOURCE
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

int munmap(void *address, size_t size) {
    (void)address;
    (void)size;
    return 0;
}

__attribute__((destructor)) static void hold(void) { kill(getpid(), SIGSTOP); }
