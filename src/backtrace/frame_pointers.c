/* Frame pointers. No unwinder is called here: a program that links this alone needs no libgcc_s or libgcc_eh. */
#define _GNU_SOURCE
#include "backtrace/frame_pointers.h"

#include <errno.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <callsign/backtrace.h>

/* The kernel reads the new signal mask before it refuses the first argument: EFAULT for memory that cannot be read. */
bool csni_is_readable(uintptr_t addr) {
#ifdef SYS_rt_sigprocmask
    int before = errno;
    long result = syscall(SYS_rt_sigprocmask, -1, addr & ~(uintptr_t)7, NULL, (size_t)8);
    bool is_fault = result == -1 && errno == EFAULT;
    errno = before;
    return !is_fault;
#else
    (void)addr;
    return false;
#endif
}

#if defined(__x86_64__) || defined(__i386__) || defined(__aarch64__)

enum { CHECK_UNIT = 1024 };  /* memory is mapped in pages, none of which is smaller */

/* Return addresses may be signed (pointer authentication). */
uintptr_t csni_strip_signature(uintptr_t addr) {
#ifdef __aarch64__
    register uintptr_t link __asm__("x30") = addr;
    __asm__("hint #7" : "+r"(link)); /* xpaclri */
    return link;
#else
    return addr;
#endif
}

/* A frame begins with the caller's frame pointer, then the return address. is_doubtful: the register may hold something else. */
size_t csni_walk_frame_pointers(uintptr_t frame, bool is_doubtful, size_t skip, uint64_t *pcs, size_t cap) {
    size_t count = 0;
    uintptr_t checked = 0;
    while (frame && frame % sizeof(uintptr_t) == 0 && count < cap) {
        uintptr_t last = frame + 2 * sizeof(uintptr_t) - 1;
        if (frame / CHECK_UNIT != checked && !csni_is_readable(frame)) break;
        if (last / CHECK_UNIT != frame / CHECK_UNIT && !csni_is_readable(last)) break;
        checked = last / CHECK_UNIT;
        uintptr_t above = ((const uintptr_t *)frame)[0], pc = csni_strip_signature(((const uintptr_t *)frame)[1]);
        if (!pc || (is_doubtful && !csni_is_readable(pc))) break;
        if (skip) skip--;
        else pcs[count++] = pc - 1;
        if (above <= frame) break;
        frame = above;
    }
    return count;
}

__attribute__((noinline)) size_t csn_backtrace_capture_frame_pointers(size_t skip, uint64_t *pcs, size_t cap) {
    size_t count = csni_walk_frame_pointers((uintptr_t)__builtin_frame_address(0), false, skip, pcs, cap);
    __asm__ volatile("" ::: "memory"); /* no tail call, which would write over the frame that is walked */
    return count;
}

#else

size_t csni_walk_frame_pointers(uintptr_t frame, bool is_doubtful, size_t skip, uint64_t *pcs, size_t cap) {
    (void)frame, (void)is_doubtful, (void)skip, (void)pcs, (void)cap;
    return 0;
}

size_t csn_backtrace_capture_frame_pointers(size_t skip, uint64_t *pcs, size_t cap) {
    return csni_walk_frame_pointers(0, false, skip, pcs, cap);
}

#endif
