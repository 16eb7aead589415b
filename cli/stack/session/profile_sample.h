/* What a profiler's line says of a sample. */
#ifndef CALLSIGN_CLI_PROFILE_SAMPLE_H
#define CALLSIGN_CLI_PROFILE_SAMPLE_H

#include <stdbool.h>
#include <stdint.h>

/* Longer texts are cut: Linux has 15 bytes for a command. */
struct profile_sample {
    char command[64], time[32], event[256]; /* time: "12.345678", as it was printed */
    uint64_t pid, thread, period; /* period: events that it stands for; 0: not known */
    bool known;
};

#endif
