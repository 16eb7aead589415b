/* Measures, or prints, what the library answers for many addresses, in process.
 *
 *   bench_lookup time INDEX ADDRESSES [REPEATS]   median and minimum ns a lookup: "views only" finds the frames and
 *                                                 touches no string, "names" takes the name of every frame with its
 *                                                 length, no path, "strings read" reads every byte of every name and path,
 *                                                 "batch" is csn_index_lookup_batch(), "two threads" is views only, wall
 *                                                 time over all addresses; then with the accelerator
 *   bench_lookup once INDEX ADDRESSES             reads the strings of each address once, and no more: for measuring memory
 *   bench_lookup print INDEX ADDRESSES [--llvm | --accelerator]
 *                                                 one line an address: frames innermost first; --llvm answers as the
 *                                                 reference reader would
 * ADDRESSES: a file with one hexadecimal address a line.
 * Printed form: ADDR<TAB>NAME+OFFSET@PATH:LINE[ | NAME+OFFSET@PATH:LINE ...], or ADDR<TAB>- where there is no
 * answer. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <pthread.h>
#include <string.h>

#include <callsign/index.h>
#include <callsign/inspect.h>

#include "address_list.h"
#include "timing.h"

enum { FRAMES_MAX = 512, REPEATS_MAX = 1000 };

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

/* Names as views whose ends are known: by whole frames where the ends of strings are known already, else by name alone. */
static uint64_t pass_names(const struct csn_index *index, const struct address_list *list) {
    struct csn_frame_ref refs[FRAMES_MAX];
    struct csn_frame frames[FRAMES_MAX];
    uint64_t sum = 0;
    struct csn_index_info info;
    csn_index_get_info(index, &info, sizeof(info));
    for (size_t i = 0; i < list->count; i++) {
        struct csn_lookup found;
        size_t count;
        if (info.accelerator_bytes || info.stored_accelerator_bytes) {
            if (csn_index_lookup(index, list->addrs[i], frames, FRAMES_MAX, &count, NULL) != CSN_OK)
                continue;
            for (size_t k = 0; k < count && k < FRAMES_MAX; k++)
                sum += frames[k].name.len + frames[k].line;
            continue;
        }
        if (csn_index_lookup_refs(index, list->addrs[i], CSN_LOOKUP_DEFAULT, refs, FRAMES_MAX, &found, NULL) != CSN_OK)
            continue;
        for (size_t k = 0; k < found.frame_count && k < FRAMES_MAX; k++)
            sum += csn_index_string(index, refs[k].name).len + refs[k].line;
    }
    return sum;
}

/* Reads every byte of a string, eight at a time: what is measured is the lookup. The rivals' harnesses do the same. */
static uint64_t read_bytes(struct csn_str s) {
    uint64_t sum = s.len, word;
    uint32_t half[2];
    if (s.len >= sizeof word) {
        for (size_t at = 0; at + sizeof word < s.len; at += sizeof word) {
            memcpy(&word, s.ptr + at, sizeof word);
            sum += word;
        }
        memcpy(&word, s.ptr + s.len - sizeof word, sizeof word);
        return sum + word;
    }
    if (s.len >= sizeof half[0]) {
        memcpy(&half[0], s.ptr, sizeof half[0]);
        memcpy(&half[1], s.ptr + s.len - sizeof half[1], sizeof half[1]);
        return sum + half[0] + half[1];
    }
    for (size_t at = 0; at < s.len; at++)
        sum += (uint8_t)s.ptr[at];
    return sum;
}

/* Names that an index of many binaries keeps in pieces are put together. */
static uint64_t pass_pieces(const struct csn_index *index, const struct address_list *list) {
    char scratch[1 << 14]; /* generated names are shorter */
    uint64_t sum = 0;
    for (size_t i = 0; i < list->count; i++) {
        struct csn_frame_ref ref;
        struct csn_frame frame;
        if (csn_index_lookup_refs(index, list->addrs[i], CSN_LOOKUP_DEFAULT, &ref, 1, NULL, NULL) != CSN_OK)
            continue;
        csn_index_resolve_into(index, &ref, scratch, sizeof scratch, &frame);
        sum += read_bytes(frame.name);
    }
    return sum;
}

static uint64_t pass_strings(const struct csn_index *index, const struct address_list *list) {
    struct csn_frame frames[FRAMES_MAX];
    uint64_t sum = 0;
    struct csn_index_info info;
    csn_index_get_info(index, &info, sizeof(info));
    if (info.binary_count)
        return pass_pieces(index, list);
    for (size_t i = 0; i < list->count; i++) {
        size_t count;
        if (csn_index_lookup(index, list->addrs[i], frames, FRAMES_MAX, &count, NULL) != CSN_OK)
            continue;
        for (size_t k = 0; k < count && k < FRAMES_MAX; k++)
            sum += read_bytes(frames[k].name) + read_bytes(frames[k].directory) + read_bytes(frames[k].base) +
                   frames[k].line;
    }
    return sum;
}

static uint64_t pass_batch(const struct csn_index *index, const struct address_list *list) {
    enum { BATCH = 1024, FRAMES = 8192 };
    static struct csn_batch_answer answers[BATCH];
    static struct csn_frame_ref frames[FRAMES];
    uint64_t sum = 0;
    for (size_t i = 0, done; i < list->count; i += done) {
        size_t count = list->count - i < BATCH ? list->count - i : BATCH;
        struct csn_lookup_batch batch = CSN_LOOKUP_BATCH_INIT;
        batch.addrs = list->addrs + i;
        batch.count = count;
        batch.answers = answers;
        batch.frames = frames;
        batch.frame_capacity = FRAMES;
        if (csn_index_lookup_batch(index, &batch, &done, NULL) < 0)
            exit(2);
        for (size_t k = 0; k < done; k++)
            if (answers[k].status == CSN_OK)
                sum += answers[k].found.frame_count + frames[answers[k].first_frame].line;
    }
    return sum;
}

/* Half of the addresses each for two threads at once. */
struct half {
    const struct csn_index *index;
    struct address_list list;
    uint64_t sum;
};

static void *run_half(void *context) {
    struct half *half = context;
    half->sum = pass_views(half->index, &half->list);
    return NULL;
}

static uint64_t pass_two_threads(const struct csn_index *index, const struct address_list *list) {
    size_t middle = list->count / 2;
    struct half first = { index, { list->addrs, middle }, 0 };
    struct half second = { index, { list->addrs + middle, list->count - middle }, 0 };
    pthread_t thread;
    if (pthread_create(&thread, NULL, run_half, &first) != 0)
        exit(2);
    run_half(&second);
    pthread_join(thread, NULL);
    return first.sum + second.sum;
}

/* Addresses that have an answer. Rivals' harnesses count theirs: a rival that finds fewer is not faster. */
static size_t count_found(const struct csn_index *index, const struct address_list *list) {
    struct csn_frame_ref frame;
    size_t found = 0;
    for (size_t i = 0; i < list->count; i++)
        found += csn_index_lookup_refs(index, list->addrs[i], CSN_LOOKUP_DEFAULT, &frame, 1, NULL, NULL) == CSN_OK;
    return found;
}

static void measure(const char *kind, const char *what, pass_function *pass, const struct csn_index *index,
                    const struct address_list *list, size_t repeats) {
    double ns[REPEATS_MAX];
    uint64_t checksum = 0;
    for (size_t k = 0; k < repeats; k++) {
        double start = now_ns();
        checksum = pass(index, list);
        ns[k] = (now_ns() - start) / (double)list->count;
    }
    qsort(ns, repeats, sizeof ns[0], compare_doubles);
    printf("%s%s: %zu addresses, %zu found: median %.1f ns, minimum %.1f ns a lookup (checksum %" PRIu64 ")\n", kind,
           what, list->count, count_found(index, list), ns[repeats / 2], ns[0], checksum);
}

static int compare_addresses(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a;
    uint64_t y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void measure_all(const char *kind, const struct csn_index *index, const struct address_list *list,
                        size_t repeats) {
    measure(kind, "views only", pass_views, index, list, repeats);
    struct csn_index_info info;
    csn_index_get_info(index, &info, sizeof(info));
    if (!info.binary_count) /* such names are in pieces: reading them puts them together */
        measure(kind, "names", pass_names, index, list, repeats);
    measure(kind, "strings read", pass_strings, index, list, repeats);
    measure(kind, "batch", pass_batch, index, list, repeats);
    measure(kind, "two threads", pass_two_threads, index, list, repeats);
    struct address_list sorted = { malloc(list->count * sizeof *sorted.addrs), list->count };
    if (!sorted.addrs)
        exit(2);
    memcpy(sorted.addrs, list->addrs, list->count * sizeof *sorted.addrs);
    qsort(sorted.addrs, sorted.count, sizeof *sorted.addrs, compare_addresses);
    measure(kind, "sorted", pass_views, index, &sorted, repeats);
    measure(kind, "sorted batch", pass_batch, index, &sorted, repeats);
    free(sorted.addrs);
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
          "       bench_lookup once INDEX ADDRESSES\n"
          "       bench_lookup print INDEX ADDRESSES [--llvm | --accelerator]\n", stderr);
    return 2;
}

static struct csn_index *open_index(const char *path, bool accelerator) {
    struct csn_error err = CSN_ERROR_INIT;
    struct csn_index_options options = CSN_INDEX_OPTIONS_INIT;
    options.accelerator_bytes = accelerator ? UINT64_MAX : 0;
    struct csn_index *index;
    if (csn_index_open_file(path, &options, &index, &err) < 0) {
        fprintf(stderr, "bench_lookup: %s: %s\n", path, csn_error_text(&err));
        exit(2);
    }
    return index;
}

static void time_lookups(const char *path, const struct address_list *list, size_t repeats) {
    struct csn_index *index = open_index(path, false);
    measure_all("", index, list, repeats);
    csn_index_close(index);
    double start = now_ns();
    index = open_index(path, true);
    double ms = (now_ns() - start) / 1e6;
    struct csn_index_info info;
    csn_index_get_info(index, &info, sizeof(info));
    printf("accelerator: %.1f ms to open, %" PRIu64 " bytes, %.1f a function, %.2f of the file; %u functions left out\n",
           ms, info.accelerator_bytes, (double)info.accelerator_bytes / (info.function_count ? info.function_count : 1),
           (double)info.accelerator_bytes / (double)info.file_size, info.unaccelerated_functions);
    measure_all("accelerator ", index, list, repeats);
    csn_index_close(index);
}

int main(int argc, char **argv) {
    if (argc < 4 || argc > 5)
        return usage();
    struct address_list list = address_list_read(argv[3]);
    if (strcmp(argv[1], "time") == 0) {
        size_t repeats = argc == 5 ? strtoul(argv[4], NULL, 10) : 5;
        if (repeats < 1 || repeats > REPEATS_MAX)
            return usage();
        time_lookups(argv[2], &list, repeats);
    } else if (strcmp(argv[1], "once") == 0 && argc == 4) {
        struct csn_index *index = open_index(argv[2], false);
        printf("checksum %" PRIu64 "\n", pass_strings(index, &list));
        csn_index_close(index);
    } else if (strcmp(argv[1], "print") == 0) {
        bool llvm = argc == 5 && strcmp(argv[4], "--llvm") == 0;
        bool accelerator = argc == 5 && strcmp(argv[4], "--accelerator") == 0;
        if (argc == 5 && !llvm && !accelerator)
            return usage();
        struct csn_index *index = open_index(argv[2], accelerator);
        print_answers(index, &list, llvm ? CSN_LOOKUP_LLVM : CSN_LOOKUP_DEFAULT);
        csn_index_close(index);
    } else {
        return usage();
    }
    free(list.addrs);
    return 0;
}
