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

/* As fgets() of standard input: up to `size` - 1 bytes of a line, which end with its '\n', and a NUL. Returns their
 * number; 0: there are no more. */
size_t ahead_input_line(struct ahead_input *input, char *line, size_t size);

/* Whole lines that have arrived; `next` is NULL: none. */
struct ahead_lines { const char *next, *end; };

/* Those that were not seen by an earlier call. They are not taken, and stay until a line is. */
struct ahead_lines ahead_input_lines(struct ahead_input *input);
/* Copies the next line that fits into `size` bytes, without its '\n' and with a NUL; longer ones are passed over.
 * False: no line is left. */
bool ahead_lines_next(struct ahead_lines *lines, char *line, size_t size);

#endif
