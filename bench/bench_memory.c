/* Measures what one dependent read from memory costs on this machine: the floor of a lookup is that, times the reads that
 * wait for each other.
 *
 *   bench_memory [MEGABYTES...]   median ns of a read that the one before it named, at random places of a region of that
 *                                 size, in pages as they come and in huge pages (where the kernel gives them) */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "timing.h"

enum { LINE = 64, ROUNDS = 7, READS = 1 << 20 };

/* One cycle through all lines of the region, in random order (Sattolo). */
static void link_lines(char *region, size_t lines) {
    uint64_t seed = 1;
    for (size_t k = 0; k < lines; k++)
        *(size_t *)(void *)(region + k * LINE) = k;
    for (size_t k = lines - 1; k > 0; k--) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        size_t *a = (size_t *)(void *)(region + k * LINE), *b = (size_t *)(void *)(region + (seed >> 16) % k * LINE);
        size_t kept = *a;
        *a = *b;
        *b = kept;
    }
}

static double measure(size_t size, int advice) {
    char *region = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (region == MAP_FAILED) {
        perror("bench_memory: mmap");
        exit(2);
    }
    (void)madvise(region, size, advice);
    link_lines(region, size / LINE);
    double ns[ROUNDS];
    size_t at = 0;
    for (int round = 0; round < ROUNDS; round++) {
        double start = now_ns();
        for (int k = 0; k < READS; k++)
            at = *(volatile size_t *)(void *)(region + at * LINE);
        ns[round] = (now_ns() - start) / (double)READS;
    }
    munmap(region, size);
    qsort(ns, ROUNDS, sizeof ns[0], compare_doubles);
    return ns[ROUNDS / 2];
}

int main(int argc, char **argv) {
    static char *defaults[] = { "1", "4", "16", "64", "256" };
    char **sizes = argc > 1 ? argv + 1 : defaults;
    int count = argc > 1 ? argc - 1 : (int)(sizeof defaults / sizeof *defaults);
    for (int k = 0; k < count; k++) {
        size_t megabytes = strtoul(sizes[k], NULL, 10);
        if (megabytes == 0 || megabytes > 65536) {
            fputs("usage: bench_memory [MEGABYTES...]\n", stderr);
            return 2;
        }
        double small = measure(megabytes << 20, MADV_NOHUGEPAGE), huge = measure(megabytes << 20, MADV_HUGEPAGE);
        printf("%zu MB: %.1f ns, in huge pages %.1f ns a dependent read\n", megabytes, small, huge);
    }
    return 0;
}
