/* Names its own stack without libgcc's unwinder: linked with -nodefaultlibs, with neither libgcc_s nor libgcc_eh. */
#include <stdio.h>

#include <callsign/backtrace.h>

static struct csn_backtrace *here;

__attribute__((noinline)) static void inner(void) {
    uint64_t pcs[16];
    size_t count = csn_backtrace_capture_frame_pointers(0, pcs, sizeof pcs / sizeof pcs[0]); /* LINE capture */
    csn_backtrace_print(here, pcs, count, 1);
}

__attribute__((noinline)) static void outer(void) {
    inner(); /* LINE outer */
    puts("");
}

int main(void) {
    if (csn_backtrace_create(NULL, &here, NULL) < 0) return 1;
    outer(); /* LINE main */
    csn_backtrace_destroy(here);
    return 0;
}
