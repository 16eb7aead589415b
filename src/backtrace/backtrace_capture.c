/* The own stack and an interrupted one, by unwind tables; where they end, by frame pointers. */
#define _GNU_SOURCE
#include <signal.h>
#include <ucontext.h>
#include <unwind.h>

#include <callsign/backtrace.h>

#include "backtrace/frame_pointers.h"

/* ---- unwind tables ---- */

struct unwinding {
    uint64_t *pcs;
    size_t cap, count, skip;
    uint64_t interrupted;    /* frames count from this pc on; 0: from the first on */
};

static _Unwind_Reason_Code take_frame(struct _Unwind_Context *context, void *given) {
    struct unwinding *walk = given;
    int is_exact = 0;        /* or a return address, after its call: one byte less is within */
    uint64_t pc = _Unwind_GetIPInfo(context, &is_exact);
    if (walk->interrupted) {
        if (pc != walk->interrupted) return _URC_NO_REASON;
        walk->interrupted = 0;
        is_exact = 1;
    }
    if (!pc || walk->count == walk->cap) return _URC_END_OF_STACK;
    if (walk->skip) walk->skip--;
    else walk->pcs[walk->count++] = is_exact ? pc : pc - 1;
    return _URC_NO_REASON;
}

__attribute__((noinline)) size_t csn_backtrace_capture(size_t skip, uint64_t *pcs, size_t cap) {
    struct unwinding walk = { .pcs = pcs, .cap = cap, .skip = skip + 1 };
    _Unwind_Backtrace(take_frame, &walk);
    return walk.count;
}

/* ---- an interrupted stack ---- */

struct interrupted {
    uint64_t pc;             /* 0: this machine's contexts are unknown */
    uintptr_t frame;
    uint64_t caller;         /* return address of a function that was called but has not begun; 0: unknown */
};

static struct interrupted read_context(const void *context) {
    const ucontext_t *user = context;
#if defined(__linux__) && defined(__x86_64__)
    const greg_t *regs = user->uc_mcontext.gregs;
    struct interrupted at = { .pc = (uint64_t)regs[REG_RIP], .frame = (uintptr_t)regs[REG_RBP] };
    uintptr_t stack = (uintptr_t)regs[REG_RSP];
    if (stack % sizeof stack == 0 && csni_is_readable(stack)) at.caller = *(const uintptr_t *)stack;
    return at;
#elif defined(__linux__) && defined(__i386__)
    const greg_t *regs = user->uc_mcontext.gregs;
    return (struct interrupted){ .pc = (uint32_t)regs[REG_EIP], .frame = (uintptr_t)regs[REG_EBP] };
#elif defined(__linux__) && defined(__aarch64__)
    return (struct interrupted){ .pc = user->uc_mcontext.pc, .frame = (uintptr_t)user->uc_mcontext.regs[29],
                                 .caller = csni_strip_signature((uintptr_t)user->uc_mcontext.regs[30]) };
#else
    (void)user;
    return (struct interrupted){ .pc = 0 };
#endif
}

/* After a call through a bad pointer no unwind table covers the pc: the return address that the call left leads on. */
static size_t walk_interrupted(const struct interrupted *at, uint64_t *pcs, size_t cap) {
    struct unwinding walk = { .pcs = pcs, .cap = cap, .interrupted = at->pc };
    if (at->pc) _Unwind_Backtrace(take_frame, &walk);
    if (walk.count > 1 || !cap) return walk.count;
    pcs[0] = at->pc;
    size_t count = 1;
    bool is_bad_call = at->pc < 4096 && at->caller;
    if (is_bad_call && count < cap) pcs[count++] = at->caller - 1;
    return count + csni_walk_frame_pointers(at->frame, true, 0, pcs + count, cap - count);
}

__attribute__((noinline)) size_t csn_backtrace_capture_context(const void *context, uint64_t *pcs, size_t cap) {
    struct interrupted at = read_context(context);
    if (!at.pc && !at.caller) return csn_backtrace_capture(1, pcs, cap);
    return walk_interrupted(&at, pcs, cap);
}
