/* Measures, or prints, what the library answers for many addresses, in process.
 *
 *   bench_lookup time  INDEX ADDRESSES [REPEATS]   median and minimum ns a lookup, twice: "views only" finds the
 *                                                  frames and touches no string, "strings read" reads every byte of
 *                                                  every name and path
 *   bench_lookup print INDEX ADDRESSES [--llvm]    one line an address: frames innermost first; --llvm answers as the
 *                                                  reference reader would
 * ADDRESSES: a file with one hexadecimal address a line.
 * Printed form: ADDR<TAB>NAME+OFFSET@PATH:LINE[ | NAME+OFFSET@PATH:LINE ...], or ADDR<TAB>- where there is no
 * answer. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include <callsign/index.h>

#include "address_list.h"

enum { FRAMES_MAX = 512, REPEATS_MAX = 1000 };

static double now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int compare_doubles(const void *a, const void *b) {
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

/* A pass answers every address and returns a checksum, which keeps the work from being optimised away. */
typedef uint64_t pass_function(const struct csn_index *index, const struct address_list *list);

static uint64_t pass_views(const struct csn_index *index, const struct address_list *list) {
    struct csn_frame_ref frames[FRAMES_MAX];
    uint64_t sum = 0;
    for (size_t i = 0; i < list->count; i++) {
        struct csn_lookup found;
        csn_status status = csn_index_lookup_refs(index, list->addrs[i], CSN_LOOKUP_DEFAULT, frames, FRAMES_MAX, &found,
                                                  NULL);
        if (status == CSN_OK)
            sum += found.frame_count + frames[0].line;
    }
    return sum;
}

static uint64_t sum_bytes(struct csn_str s) {
    uint64_t sum = s.len;
    for (size_t i = 0; i < s.len; i++)
        sum += (uint8_t)s.ptr[i];
    return sum;
}

static uint64_t pass_strings(const struct csn_index *index, const struct address_list *list) {
    struct csn_frame frames[FRAMES_MAX];
    uint64_t sum = 0;
    for (size_t i = 0; i < list->count; i++) {
        size_t count;
        if (csn_index_lookup(index, list->addrs[i], frames, FRAMES_MAX, &count, NULL) != CSN_OK)
            continue;
        for (size_t k = 0; k < count && k < FRAMES_MAX; k++)
            sum += sum_bytes(frames[k].name) + sum_bytes(frames[k].directory) + sum_bytes(frames[k].base);
        sum += frames[0].line;
    }
    return sum;
}

static void measure(const char *what, pass_function *pass, const struct csn_index *index,
                    const struct address_list *list, size_t repeats) {
    double ns[REPEATS_MAX];
    uint64_t checksum = 0;
    for (size_t k = 0; k < repeats; k++) {
        double start = now_ns();
        checksum = pass(index, list);
        ns[k] = (now_ns() - start) / (double)list->count;
    }
    qsort(ns, repeats, sizeof ns[0], compare_doubles);
    printf("%s: %zu addresses: median %.1f ns, minimum %.1f ns a lookup (checksum %" PRIu64 ")\n", what, list->count,
           ns[repeats / 2], ns[0], checksum);
}

static void print_frame(const struct csn_frame *frame) {
    fwrite(frame->name.ptr, 1, frame->name.len, stdout);
    printf("+%" PRIu64 "@", frame->offset);
    if (frame->directory.len > 0) {
        fwrite(frame->directory.ptr, 1, frame->directory.len, stdout);
        putchar('/');
    }
    fwrite(frame->base.ptr, 1, frame->base.len, stdout);
    printf(":%" PRIu32, frame->line);
}

static void print_answers(const struct csn_index *index, const struct address_list *list, enum csn_lookup_mode mode) {
    for (size_t i = 0; i < list->count; i++) {
        struct csn_frame_ref refs[FRAMES_MAX];
        struct csn_lookup found;
        csn_status status = csn_index_lookup_refs(index, list->addrs[i], mode, refs, FRAMES_MAX, &found, NULL);
        printf("0x%" PRIx64 "\t", list->addrs[i]);
        if (status != CSN_OK) {
            puts("-");
            continue;
        }
        for (size_t k = 0; k < found.frame_count && k < FRAMES_MAX; k++) {
            struct csn_frame frame;
            csn_index_resolve(index, &refs[k], &frame);
            if (k > 0)
                fputs(" | ", stdout);
            print_frame(&frame);
        }
        putchar('\n');
    }
}

static int usage(void) {
    fputs("usage: bench_lookup time INDEX ADDRESSES [REPEATS]\n"
          "       bench_lookup print INDEX ADDRESSES [--llvm]\n", stderr);
    return 2;
}

int main(int argc, char **argv) {
    if (argc < 4 || argc > 5)
        return usage();
    bool time_mode = strcmp(argv[1], "time") == 0;
    if (!time_mode && strcmp(argv[1], "print") != 0)
        return usage();
    enum csn_lookup_mode mode = CSN_LOOKUP_DEFAULT;
    size_t repeats = 5;
    if (argc == 5 && time_mode)
        repeats = strtoul(argv[4], NULL, 10);
    else if (argc == 5 && strcmp(argv[4], "--llvm") == 0)
        mode = CSN_LOOKUP_LLVM;
    else if (argc == 5)
        return usage();
    if (repeats < 1 || repeats > REPEATS_MAX)
        return usage();

    struct csn_error err = CSN_ERROR_INIT;
    struct csn_index *index;
    if (csn_index_open_file(argv[2], NULL, &index, &err) < 0) {
        fprintf(stderr, "bench_lookup: %s: %s\n", argv[2], csn_error_text(&err));
        return 2;
    }
    struct address_list list = address_list_read(argv[3]);
    if (time_mode) {
        measure("views only", pass_views, index, &list, repeats);
        measure("strings read", pass_strings, index, &list, repeats);
    } else {
        print_answers(index, &list, mode);
    }
    free(list.addrs);
    csn_index_close(index);
    return 0;
}
