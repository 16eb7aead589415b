/* All dialects of text. */
#ifndef CALLSIGN_CLI_DIALECTS_H
#define CALLSIGN_CLI_DIALECTS_H

#include "stack/lines/stack_dialect.h"

extern const struct stack_dialect android_dialect, backward_dialect, boost_dialect, bpftrace_dialect, bsd_dialect,
    chromium_dialect, clickhouse_dialect, coredump_dialect, crash_dialect, elfutils_dialect, esp_dialect,
    failure_dialect, fault_dialect, folded_dialect, gdb_dialect, glibc_dialect, go_dialect, illumos_dialect,
    jvm_dialect, kernel_dialect, libunwind_dialect, lldb_dialect, minidump_dialect, mozilla_dialect, perf_dialect,
    plain_dialect, pprof_dialect, runtime_dialect, rust_dialect, sanitizer_dialect, segfault_dialect, strace_dialect, swift_dialect,
    valgrind_dialect, wasm_dialect, windbg_dialect, windows_dialect;

/* In the order in which they are tried. */
enum { DIALECT_COUNT = 37 };
extern const struct stack_dialect *const stack_dialects[DIALECT_COUNT];

/* stack_dialect.ends_list of Apple's reports. */
bool crash_ends_list(struct csn_str line, bool behind_list);

struct line_scan;
/* From behind a bracket: arguments, as gdb has them behind a name. */
bool gdb_begins_arguments(const struct line_scan *from);

struct profile_sample;
/* Of the state of perf_dialect: the sample that the line just read heads, of which no frame may follow. NULL: it heads none. */
const struct profile_sample *perf_headed_sample(const void *state);
/* That sample has no frames: a chain that follows is not of it. */
void perf_end_headed_sample(void *state);
/* The line heads a sample and has more behind the event: an address, where the sample is alone, or what -F addr, weight or
 * data_src print, where a chain follows. Then the chain is the sample's: perf_begin_chain(), with its first line. False: that is
 * no line of a chain. */
bool perf_may_head_chain(struct csn_str line);
bool perf_begin_chain(void *state, struct csn_str line, struct csn_str chain_line);
/* The line is one of -F brstackinsn: an instruction, or the function of those below. */
bool perf_is_instruction(struct csn_str line);
/* The line has branches and nothing before them: those of the sample above, if that has a chain. */
bool perf_has_branches_alone(struct csn_str line);
/* The line has one of perf's records, PERF_RECORD_MMAP2 or another. */
bool perf_has_record(struct csn_str line);
/* A number that changes where the same chain may mean something else from here on. */
uint64_t perf_meaning(const void *state);
/* The text is perf's without doubt. */
bool perf_is_certain(const void *state);

#endif
