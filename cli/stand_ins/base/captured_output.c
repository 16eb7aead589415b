/* Standard output, taken by a stream in memory. open_memstream() does not say when it has no memory: answers would be lost. */
#define _GNU_SOURCE
#include "stand_ins/base/captured_output.h"

#ifdef __GLIBC__ /* where stdout can be another file for a while */

static void pass_on(const struct captured_output *c, FILE *to) {
    if (c->text.count) fwrite(c->text.bytes, 1, c->text.count, to);
}

static ssize_t take(void *context, const char *bytes, size_t size) {
    struct captured_output *c = context;
    if (!c->is_full && text_buffer_add(&c->text, (struct csn_str){ bytes, size })) return (ssize_t)size;
    if (!c->is_full && !c->holds_back) pass_on(c, c->real);
    c->is_full = true;
    if (!c->holds_back) fwrite(bytes, 1, size, c->real);
    return (ssize_t)size;
}

bool captured_output_begin(struct captured_output *c) {
    if (!c->stream) c->stream = fopencookie(c, "w", (cookie_io_functions_t){ .write = take });
    if (!c->stream) return false;
    c->text.count = 0;
    c->is_full = false;
    c->real = stdout;
    stdout = c->stream;
    return true;
}

size_t captured_output_size(const struct captured_output *c) {
    fflush(c->stream);
    return c->text.count;
}

size_t captured_output_end(struct captured_output *c) {
    if (!c->real) return 0;
    fflush(c->stream);
    stdout = c->real;
    c->real = NULL;
    if (c->is_full) return 0;
    if (!c->holds_back) pass_on(c, stdout);
    return c->text.count;
}

#else

bool captured_output_begin(struct captured_output *c) {
    (void)c;
    return false;
}

size_t captured_output_size(const struct captured_output *c) { return c->text.count; }
size_t captured_output_end(struct captured_output *c) { return c->text.count; }

#endif

void captured_output_free(struct captured_output *c) {
    if (c->stream) fclose(c->stream);
    text_buffer_deinit(&c->text);
    *c = (struct captured_output){ 0 };
}
