/* Functions that nobody calls: the kernel or a runtime makes a frame of theirs, outside of which is what it interrupted. */
#include <callsign/symbolicate.h>

#include "base/core/span.h"

#define NAME(text) { text, sizeof(text) - 1 }

bool csn_is_signal_frame(struct csn_str function) {
    static const struct csn_str names[] = {
        NAME("__restore_rt"), NAME("__restore"), /* C libraries for x86 and ARM: a signal's handler returns there */
        NAME("__default_rt_sa_restorer"), NAME("__default_sa_restorer"), /* glibc for ARM */
        NAME("__kernel_rt_sigreturn"), NAME("__kernel_sigreturn"), /* in the kernel's vdso */
        NAME("__kernel_sigtramp_rt64"), NAME("__kernel_sigtramp_rt32"), NAME("__kernel_sigtramp32"), /* the same for POWER */
        NAME("__vdso_rt_sigreturn"), /* the same for RISC-V and LoongArch */
        NAME("_sigtramp"), /* Apple, BSD */
        NAME("KiUserExceptionDispatcher"), NAME("KiUserExceptionDispatch"), /* Windows */
        NAME("runtime.sigpanic"), NAME("runtime.sigreturn__sigaction"), /* Go */
    };
    enum { SHORTEST = 9, LONGEST = 28 };
    if (function.len < SHORTEST || function.len > LONGEST || !strchr("_Kr", function.ptr[0])) return false;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (csni_str_equal(function, names[i])) return true;
    return false;
}
