/* Lines of standard input, and those that have arrived already: a client that sends many at once is answered in several threads. */
#ifndef CALLSIGN_CLI_AHEAD_INPUT_H
#define CALLSIGN_CLI_AHEAD_INPUT_H

#include <stdbool.h>
#include <stddef.h>

struct ahead_input {
    size_t begin, end;       /* of what has not been taken, in `bytes` */
    bool has_new;            /* more arrived since the last call of ahead_input_lines() */
    char bytes[1 << 17];
};

/* As fgets() of standard input: up to `size` - 1 bytes of a line, which end with its '\n', and a NUL. Returns their number; 0: there are no more. */
size_t ahead_input_line(struct ahead_input *input, char *line, size_t size);
/* The whole lines that have arrived and were not seen by an earlier call; NULL: none. They are not taken. */
const char *ahead_input_lines(struct ahead_input *input, size_t *size);

#endif
