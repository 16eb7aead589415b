/* What the tests of Breakpad's symbol files share: reading a text into a model, and writing a model as text. */
#ifndef BREAKPAD_SAMPLE_H
#define BREAKPAD_SAMPLE_H

#include "formats/breakpad/breakpad.h"

/* A text that was read, finalized and linked. */
struct breakpad_sample {
    const struct csn_allocator *alloc;
    char *text;                     /* a copy of exactly `size` bytes */
    size_t size;
    struct csni_arena arena;
    struct csni_batch_writer writer;
    struct csni_breakpad breakpad;
    struct csni_breakpad_worker worker;
    struct csni_batch *batches;
    struct csni_model model;
    struct csn_convert_report report;
};

/* Needs breakpad_sample_close() whatever it returns. `chunk_size` as in csni_breakpad_open(). */
csn_status breakpad_sample_open(struct breakpad_sample *s, const char *text, size_t size, size_t chunk_size,
                                const struct csn_allocator *alloc);
void breakpad_sample_close(struct breakpad_sample *s);

/* The model as text; free with csn_bytes_free(). Fails the test when that fails. */
struct csn_bytes breakpad_sample_write(const struct csni_model *model);

/* All functions with rows and inlined calls in words: "f@10+20 [0 /d/a.c:3][8 -] {g /d/a.c:5 4+4 {h - 4+2}}; ...". Directory and
 * base as a lookup shows them. Lives until the next call. */
const char *breakpad_sample_tell(const struct csni_model *model);

#endif
