/* Flushing. */
#include "stand_ins/base/answer_output.h"

#include <errno.h>
#include <stdio.h>

static int output_error;

void flush_answers(void) {
    if (fflush(stdout) != 0) output_error = errno;
}

int answer_output_error(void) { return output_error; }
