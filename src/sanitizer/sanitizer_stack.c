/* Calling a function on another stack. */
#include "sanitizer/sanitizer_stack.h"

#include <stddef.h>
#include <stdint.h>

#include "base/core/file_map.h"

enum { STACK_BYTES = 8 << 20 };

#if defined(__x86_64__)

__attribute__((noinline)) static void call_on_stack(void run(void *), void *context, uintptr_t top) {
    __asm__ volatile("movq %%rsp, %%rbx\n\t"
                     "movq %[top], %%rsp\n\t"
                     "callq *%[run]\n\t"
                     "movq %%rbx, %%rsp"
                     : "+D"(context)
                     : [top] "r"(top), [run] "r"(run)
                     : "rax", "rbx", "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "xmm0", "xmm1", "xmm2", "xmm3",
                       "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14",
                       "xmm15", "memory", "cc");
}

#elif defined(__aarch64__)

__attribute__((noinline)) static void call_on_stack(void run(void *), void *context, uintptr_t top) {
    register void *x0 __asm__("x0") = context;
    __asm__ volatile("mov x19, sp\n\t"
                     "mov sp, %[top]\n\t"
                     "blr %[run]\n\t"
                     "mov sp, x19"
                     : "+r"(x0)
                     : [top] "r"(top), [run] "r"(run)
                     : "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14", "x15",
                       "x16", "x17", "x18", "x19", "x30", "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9",
                       "v10", "v11", "v12", "v13", "v14", "v15", "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23",
                       "v24", "v25", "v26", "v27", "v28", "v29", "v30", "v31", "memory", "cc");
}

#else
#define HAS_NO_OTHER_STACK
#endif

#ifdef HAS_NO_OTHER_STACK

void csni_sanitizer_run(void run(void *), void *context) { run(context); }

#else

/* Pages are present where they are touched: the size costs address space alone. Calls do not nest. */
void csni_sanitizer_run(void run(void *), void *context) {
    static char *memory;
    static int is_busy;
    if (!memory) memory = csni_pages_alloc(STACK_BYTES);
    if (!memory || is_busy) {
        run(context);
        return;
    }
    is_busy = 1;
    call_on_stack(run, context, (uintptr_t)memory + STACK_BYTES - 64);
    is_busy = 0;
}

#endif
