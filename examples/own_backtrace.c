/* A program that carries its own index and prints its own backtrace from it, inlined calls included.
 *
 *     cc -g -O2 own_backtrace.c $(pkg-config --cflags --libs callsign-lookup) -o own_backtrace
 *     callsign embed own_backtrace own_backtrace -o own_backtrace
 *     strip -g own_backtrace
 *     ./own_backtrace
 *
 * Nothing but the lookup-only library is needed in the program, and no debug information once the index is in. */
#define _GNU_SOURCE
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <unwind.h>

#include <callsign/index.h>

enum { MAX_STACK = 64, MAX_FRAMES = 16 };

/* ---- where the program is loaded ---- */

/* The first object is the program itself. Addresses of an index are those of its file; the load bias is the difference. */
static int take_bias(struct dl_phdr_info *info, size_t size, void *bias) {
    (void)size;
    *(uint64_t *)bias = info->dlpi_addr;
    return 1;
}

/* ---- the stack ---- */

struct stack {
    uint64_t addrs[MAX_STACK];
    size_t count;
};

static _Unwind_Reason_Code take_frame(struct _Unwind_Context *context, void *given) {
    struct stack *stack = given;
    int is_exact = 0; /* or a return address, which stands after its call: one byte less is inside of it */
    uint64_t pc = _Unwind_GetIPInfo(context, &is_exact);
    if (!pc || stack->count == MAX_STACK) return _URC_END_OF_STACK;
    stack->addrs[stack->count++] = is_exact ? pc : pc - 1;
    return _URC_NO_REASON;
}

static void print_frame(const struct csn_frame *frame) {
    printf("  %.*s", (int)frame->name.len, frame->name.ptr);
    if (frame->base.len) printf(" at %.*s:%u", (int)frame->base.len, frame->base.ptr, frame->line);
    printf("%s\n", frame->flags & CSN_FRAME_INLINED ? " [inlined]" : "");
}

/* Frames in other files, as in the C library, are not in this index. Nothing here allocates: a handler of a crash may do it,
 * if the index was opened before. */
static void print_backtrace(const struct csn_index *index) {
    struct stack stack = { .count = 0 };
    uint64_t bias = 0;
    dl_iterate_phdr(take_bias, &bias);
    _Unwind_Backtrace(take_frame, &stack);
    for (size_t i = 0; i < stack.count; i++) {
        struct csn_frame frames[MAX_FRAMES];
        size_t count = 0;
        if (csn_index_lookup(index, stack.addrs[i] - bias, frames, MAX_FRAMES, &count, NULL) != CSN_OK) continue;
        for (size_t k = 0; k < count && k < MAX_FRAMES; k++) print_frame(&frames[k]);
    }
}

/* ---- something to be in the middle of ---- */

static inline __attribute__((always_inline)) int weigh(const struct csn_index *index, int parcel) {
    print_backtrace(index);
    return parcel * 2;
}

static __attribute__((noinline)) int deliver(const struct csn_index *index, int parcels) {
    volatile int weight = 0;
    for (int i = 0; i < parcels; i++) weight += weigh(index, i);
    return weight;
}

int main(void) {
    struct csn_index *index;
    struct csn_error err = CSN_ERROR_INIT;
    csn_status status = csn_index_open_embedded("/proc/self/exe", NULL, &index, &err);
    if (status != CSN_OK) {
        fprintf(stderr, "own_backtrace: %s\n", status == CSN_NONE ? "carries no index: see callsign embed" : csn_error_text(&err));
        return 2;
    }
    printf("delivering\n");
    int weight = deliver(index, 1);
    csn_index_close(index);
    return weight;
}
