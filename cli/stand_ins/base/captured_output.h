/* What goes to standard output in between, also as text. Where standard output cannot be another file for a while,
 * there is no text. */
#ifndef CALLSIGN_CLI_CAPTURED_OUTPUT_H
#define CALLSIGN_CLI_CAPTURED_OUTPUT_H

#include <stdio.h>

#include "ui/growing.h"

struct captured_output {
    FILE *real, *stream;     /* real NULL: nothing is taken now */
    struct text_buffer text;
    bool holds_back;         /* what was printed is not printed to standard output */
    bool is_full;            /* there was no memory: the text is not whole */
};

/* False: nothing is taken. */
bool captured_output_begin(struct captured_output *output);
/* How much was printed since. */
size_t captured_output_size(const struct captured_output *output);
/* What was printed is printed to standard output, and is output->text until the next begin. Returns its size; 0: it
 * is not there. */
size_t captured_output_end(struct captured_output *output);
void captured_output_free(struct captured_output *output);

#endif
