/* Makes lists of addresses from an index, for benchmarks and comparisons.
 *
 *   bench_addresses by-function INDEX COUNT [SEED]   random addresses with an answer, each function equally likely
 *   bench_addresses by-byte INDEX COUNT [SEED]       the same, each byte of code equally likely
 *   bench_addresses boundaries INDEX                 every start and end of a function, start of a row, start and end
 *                                                    of an inlined range, and the byte before each; ascending
 * One hexadecimal address a line on stdout. The same arguments give the same list on every machine. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <callsign/index.h>
#include <callsign/inspect.h>

struct list {
    uint64_t *values;
    size_t count, cap;
};

static void fail(const char *what, const char *why) {
    fprintf(stderr, "bench_addresses: %s: %s\n", what, why);
    exit(2);
}

static void list_add(struct list *list, uint64_t value) {
    if (list->count == list->cap) {
        list->cap = list->cap ? list->cap * 2 : 4096;
        uint64_t *grown = realloc(list->values, list->cap * sizeof *grown);
        if (!grown)
            fail("list", "out of memory");
        list->values = grown;
    }
    list->values[list->count++] = value;
}

/* SplitMix64: tiny, seedable and good enough to pick addresses. */
static uint64_t next_random(uint64_t *state) {
    uint64_t z = *state += 0x9e3779b97f4a7c15U;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
}

/* Only addresses that the reference reader answers too, so that both sides do the same work. */
static bool has_answer(const struct csn_index *index, uint64_t addr) {
    return csn_index_lookup_refs(index, addr, CSN_LOOKUP_LLVM, NULL, 0, NULL, NULL) == CSN_OK;
}

/* The functions as ranges; ends[i] is the weight of functions 0..i together. */
struct choice {
    uint64_t *starts, *sizes, *ends;
    uint32_t count;
};

static uint64_t *zeroed(uint32_t count) {
    uint64_t *values = calloc(count, sizeof *values);
    if (!values)
        fail("functions", "out of memory");
    return values;
}

static struct choice read_functions(const struct csn_index *index, uint32_t function_count, bool by_byte) {
    struct choice c = { zeroed(function_count), zeroed(function_count), zeroed(function_count), function_count };
    uint64_t weight = 0;
    for (uint32_t i = 0; i < function_count; i++) {
        struct csn_function function;
        struct csn_error err = CSN_ERROR_INIT;
        if (csn_index_function(index, i, &function, &err) != CSN_OK)
            fail("function", csn_error_text(&err));
        c.starts[i] = function.start;
        c.sizes[i] = function.size;
        weight += by_byte ? function.size : function.size > 0;
        c.ends[i] = weight;
    }
    if (weight == 0)
        fail("index", "no function has a size");
    return c;
}

static uint64_t pick_address(const struct choice *c, uint64_t *seed) {
    uint64_t place = next_random(seed) % c->ends[c->count - 1];
    uint32_t low = 0, high = c->count - 1;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (c->ends[middle] > place)
            high = middle;
        else
            low = middle + 1;
    }
    return c->starts[low] + next_random(seed) % c->sizes[low];
}

static void print_random(const struct csn_index *index, uint32_t function_count, bool by_byte, uint64_t wanted,
                         uint64_t seed) {
    struct choice c = read_functions(index, function_count, by_byte);
    uint64_t tries = wanted * 100;
    while (wanted > 0) {
        if (tries-- == 0)
            fail("index", "too few addresses have an answer");
        uint64_t addr = pick_address(&c, &seed);
        if (!has_answer(index, addr))
            continue;
        printf("0x%" PRIx64 "\n", addr);
        wanted--;
    }
    free(c.starts);
    free(c.sizes);
    free(c.ends);
}

static void add_edge(struct list *list, uint64_t addr) {
    list_add(list, addr);
    if (addr > 0)
        list_add(list, addr - 1);
}

static void add_record(const struct csn_index *index, const struct csn_record *record, struct list *list) {
    struct csn_error err = CSN_ERROR_INIT;
    struct csn_row_iter rows;
    if (csn_row_iter_init(&rows, index, record, &err) < 0)
        fail("rows", csn_error_text(&err));
    struct csn_row row;
    csn_status status;
    while ((status = csn_row_iter_next(&rows, &row, &err)) == CSN_OK)
        add_edge(list, row.addr);
    if (status < 0)
        fail("row", csn_error_text(&err));

    static struct csn_inline_iter nodes; /* several kilobytes */
    if (csn_inline_iter_init(&nodes, index, record, &err) < 0)
        fail("inline tree", csn_error_text(&err));
    struct csn_inline_node node;
    while ((status = csn_inline_iter_next(&nodes, &node, &err)) == CSN_OK) {
        for (uint32_t k = 0; k < node.range_count; k++) {
            struct csn_range range;
            if (csn_inline_node_range(&node, k, &range, &err) < 0)
                fail("inline range", csn_error_text(&err));
            add_edge(list, range.start);
            add_edge(list, range.end);
        }
    }
    if (status < 0)
        fail("inline node", csn_error_text(&err));
}

static int compare_values(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a;
    uint64_t y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void print_boundaries(const struct csn_index *index, uint32_t function_count) {
    struct list list = { NULL, 0, 0 };
    for (uint32_t i = 0; i < function_count; i++) {
        struct csn_record record;
        struct csn_function function;
        struct csn_error err = CSN_ERROR_INIT;
        if (csn_index_record(index, i, &record, &err) < 0 || csn_index_function(index, i, &function, &err) < 0)
            fail("function", csn_error_text(&err));
        add_edge(&list, function.start);
        add_edge(&list, function.start + function.size);
        add_record(index, &record, &list);
    }
    if (list.count > 0)
        qsort(list.values, list.count, sizeof list.values[0], compare_values);
    for (size_t i = 0; i < list.count; i++) {
        if (i == 0 || list.values[i] != list.values[i - 1])
            printf("0x%" PRIx64 "\n", list.values[i]);
    }
    free(list.values);
}

int main(int argc, char **argv) {
    bool by_byte = argc > 1 && strcmp(argv[1], "by-byte") == 0;
    bool random_mode = (argc == 4 || argc == 5) && (by_byte || strcmp(argv[1], "by-function") == 0);
    if (!random_mode && !(argc == 3 && strcmp(argv[1], "boundaries") == 0)) {
        fputs("usage: bench_addresses by-function|by-byte INDEX COUNT [SEED]\n"
              "       bench_addresses boundaries INDEX\n", stderr);
        return 2;
    }
    struct csn_error err = CSN_ERROR_INIT;
    struct csn_index *index;
    if (csn_index_open_file(argv[2], NULL, &index, &err) < 0)
        fail(argv[2], csn_error_text(&err));
    struct csn_index_info info;
    csn_index_get_info(index, &info, sizeof(info));
    if (info.function_count == 0)
        fail(argv[2], "no functions");
    if (random_mode)
        print_random(index, info.function_count, by_byte, strtoull(argv[3], NULL, 10),
                     argc == 5 ? strtoull(argv[4], NULL, 10) : 1);
    else
        print_boundaries(index, info.function_count);
    csn_index_close(index);
    return 0;
}
