/* The own stack and an interrupted one, by unwind tables; where they end, by frame pointers. */
#define _GNU_SOURCE
#include <signal.h>
#include <string.h>
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
    bool is_no_code;         /* the processor may not run what is at the pc */
};

static struct interrupted read_context(const void *context) {
    const ucontext_t *user = context;
#if defined(__linux__) && defined(__x86_64__)
    enum { PAGE_FAULT = 14, OF_FETCHING_CODE = 16 };
    const greg_t *regs = user->uc_mcontext.gregs;
    struct interrupted at = { .pc = (uint64_t)regs[REG_RIP], .frame = (uintptr_t)regs[REG_RBP],
                              .is_no_code = regs[REG_TRAPNO] == PAGE_FAULT && (regs[REG_ERR] & OF_FETCHING_CODE) };
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

/* ---- after a call that led nowhere ---- */

#if defined(__linux__) && defined(__x86_64__)

/* Whether the kernel put the context there to call a handler: the address before it is that of the system call which
 * ends the handler. */
static bool is_of_kernel(const void *context) {
    static const uint8_t restorer[] = { 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05 }; /* mov $15, %rax; syscall */
    const uintptr_t *before = (const uintptr_t *)context - 1;
    return csni_is_readable((uintptr_t)before) && csni_is_readable(*before) && csni_is_readable(*before + sizeof restorer)
           && memcmp((const void *)*before, restorer, sizeof restorer) == 0;
}

/* The frames from the caller on. The unwinder takes the registers from the handler's context, which meanwhile has
 * those that the caller had. */
static size_t walk_from_caller(void *context, uint64_t caller, uint64_t *pcs, size_t cap) {
    greg_t *regs = ((ucontext_t *)context)->uc_mcontext.gregs, pc = regs[REG_RIP], stack = regs[REG_RSP];
    struct unwinding walk = { .pcs = pcs, .cap = cap, .interrupted = caller - 1 };
    if (!is_of_kernel(context)) return 0;
    regs[REG_RIP] = (greg_t)(caller - 1); /* within the call */
    regs[REG_RSP] = stack + (greg_t)sizeof caller;
    _Unwind_Backtrace(take_frame, &walk);
    regs[REG_RIP] = pc;
    regs[REG_RSP] = stack;
    return walk.count;
}

#else

static size_t walk_from_caller(void *context, uint64_t caller, uint64_t *pcs, size_t cap) {
    (void)context, (void)caller, (void)pcs, (void)cap;
    return 0;
}

#endif

/* After a call through a bad pointer no unwind table covers the pc, and the unwinder would read the code there: the
 * return address that the call left leads on. */
static size_t walk_interrupted(const struct interrupted *at, void *context, uint64_t *pcs, size_t cap) {
    struct unwinding walk = { .pcs = pcs, .cap = cap, .interrupted = at->pc };
    const bool is_nowhere = at->pc < 4096 || at->is_no_code || !csni_is_readable((uintptr_t)at->pc);
    if (!is_nowhere) _Unwind_Backtrace(take_frame, &walk);
    if (walk.count > 1 || !cap) return walk.count;
    pcs[0] = at->pc;
    size_t count = 1;
    if (is_nowhere && at->caller && csni_is_readable((uintptr_t)at->caller)) {
        count += walk_from_caller(context, at->caller, pcs + count, cap - count);
        if (count > 2) return count;
        if (count == 1 && count < cap) pcs[count++] = at->caller - 1;
    }
    return count + csni_walk_frame_pointers(at->frame, true, 0, pcs + count, cap - count);
}

__attribute__((noinline)) size_t csn_backtrace_capture_context(const void *context, uint64_t *pcs, size_t cap) {
    struct interrupted at = read_context(context);
    if (!at.pc && !at.caller) return csn_backtrace_capture(1, pcs, cap);
    return walk_interrupted(&at, (void *)(uintptr_t)context, pcs, cap);
}
