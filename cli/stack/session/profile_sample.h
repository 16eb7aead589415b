/* What a profiler's line says of a sample. */
#ifndef CALLSIGN_CLI_PROFILE_SAMPLE_H
#define CALLSIGN_CLI_PROFILE_SAMPLE_H

#include <stdbool.h>
#include <stdint.h>

/* Longer texts are cut: Linux has 15 bytes for a command. What the text does not tell is empty. */
struct profile_sample {
    char command[64], time[32], event[256]; /* time: "12.345678", as it was printed */
    uint64_t pid, thread;
    int64_t period;               /* events that it stands for; of values that `callsign profile` wrote also 0 and less */
    bool has_period;
    bool is_period_cut;           /* it has more than 64 bits: period is the largest number of its sign */
    bool has_thread;              /* false: neither number is known, both are 0 */
    bool has_pid;                 /* false: pid is the thread's number, which is right for the first thread of a process */
    bool known;
    bool is_certain;              /* the line has a thread and a time: no other program's looks like it */
};

#endif
