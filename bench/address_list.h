/* Files of addresses, one hexadecimal number a line: what the benchmark programs read. */
#ifndef CALLSIGN_BENCH_ADDRESS_LIST_H
#define CALLSIGN_BENCH_ADDRESS_LIST_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

struct address_list {
    uint64_t *addrs;
    size_t count;
};

/* Reads `path`; exits with a message where that fails. The caller frees `addrs`. */
static inline struct address_list address_list_read(const char *path) {
    struct address_list list = { NULL, 0 };
    FILE *in = fopen(path, "r");
    if (!in) {
        perror(path);
        exit(2);
    }
    size_t cap = 0;
    char line[64];
    while (fgets(line, sizeof line, in)) {
        if (list.count == cap) {
            cap = cap ? cap * 2 : 4096;
            uint64_t *grown = realloc(list.addrs, cap * sizeof *grown);
            if (!grown) {
                perror(path);
                exit(2);
            }
            list.addrs = grown;
        }
        list.addrs[list.count++] = strtoull(line, NULL, 16);
    }
    fclose(in);
    if (list.count == 0) {
        fprintf(stderr, "%s: no addresses\n", path);
        exit(2);
    }
    return list;
}

#endif
