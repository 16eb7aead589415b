/* The list of dialects. */
#include "stack/dialects/dialects.h"

/* What is recognized by more comes first: nearly every line of another dialect may be a plain frame, and a register of a dump. */
const struct stack_dialect *const stack_dialects[DIALECT_COUNT] = {
    &valgrind_dialect, &android_dialect, &elfutils_dialect, &coredump_dialect, &gdb_dialect, &bsd_dialect,
    &backward_dialect, &lldb_dialect, &mozilla_dialect, &sanitizer_dialect, &chromium_dialect, &wasm_dialect,
    &rust_dialect, &boost_dialect, &jvm_dialect, &segfault_dialect, &esp_dialect, &libunwind_dialect, &pprof_dialect,
    &clickhouse_dialect, &windbg_dialect, &illumos_dialect, &swift_dialect, &failure_dialect, &strace_dialect,
    &glibc_dialect, &kernel_dialect, &go_dialect, &perf_dialect, &crash_dialect, &minidump_dialect, &folded_dialect,
    &windows_dialect, &bpftrace_dialect, &runtime_dialect, &plain_dialect, &fault_dialect,
};
