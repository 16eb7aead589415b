/* Standard output, taken by a stream in memory. */
#define _GNU_SOURCE
#include "stand_ins/captured_output.h"

#include <stdlib.h>

#ifdef __GLIBC__ /* where stdout can be another file for a while */

void captured_output_begin(struct captured_output *c) {
    if (!c->stream) c->stream = open_memstream(&c->text, &c->size);
    if (!c->stream || fseek(c->stream, 0, SEEK_SET) != 0) return;
    c->real = stdout;
    stdout = c->stream;
}

size_t captured_output_end(struct captured_output *c) {
    if (!c->real) return 0;
    stdout = c->real;
    c->real = NULL;
    const long size = ftell(c->stream);
    if (fflush(c->stream) != 0 || size < 0 || (size_t)size > c->size) return 0;
    return fwrite(c->text, 1, (size_t)size, stdout);
}

#else

void captured_output_begin(struct captured_output *c) { (void)c; }

size_t captured_output_end(struct captured_output *c) {
    (void)c;
    return 0;
}

#endif

void captured_output_free(struct captured_output *c) {
    if (c->stream) fclose(c->stream);
    free(c->text);
    *c = (struct captured_output){ 0 };
}
