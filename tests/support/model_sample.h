/* What the tests of the model and of the writer share: batches put together in few words. */
#ifndef MODEL_SAMPLE_H
#define MODEL_SAMPLE_H

#include "model/model.h"

enum { MODEL_SAMPLE_BATCHES = 16 };

struct model_sample {
    const struct csn_allocator *alloc;
    struct csni_arena arena;
    struct csni_batch_writer writer;  /* of the batch that is open */
    struct csni_batch batches[MODEL_SAMPLE_BATCHES];
    struct csni_model model;
    struct csn_convert_report report;
    struct csni_pool *pool;           /* finalizing happens on it; NULL: on the calling thread */
};

/* Opens the first batch. `alloc` may be NULL. */
void model_sample_init(struct model_sample *s, const struct csn_allocator *alloc);
void model_sample_deinit(struct model_sample *s);
/* Ends the batch that is open and opens another. */
void model_sample_next_batch(struct model_sample *s);

/* `text` must outlive the sample. */
uint32_t model_sample_string(struct model_sample *s, const char *text);
uint32_t model_sample_file(struct model_sample *s, const char *directory, const char *base);
/* A function; rows and the like are added to it by the calls of model.h on s->writer. */
void model_sample_function(struct model_sample *s, uint64_t start, uint32_t size, const char *name);
/* `count` rows at every byte, of lines `line`, `line` + 1, ... */
void model_sample_rows(struct model_sample *s, uint32_t file, uint32_t line, uint32_t count);
/* An inlined call without others in it. */
void model_sample_inline(struct model_sample *s, const char *name, uint32_t file, uint32_t line, uint32_t start,
                         uint32_t end);

/* Strings 1 to 5 and files 1 to 3 of the batch that is open, in an order that depends on `shift`. */
void model_sample_random_names(struct model_sample *s, int shift);
/* A function with rows, inlined calls and call sites as chance has it, of a batch with such names. */
void model_sample_random_function(struct model_sample *s, uint64_t start, uint64_t *seed);

/* Ends the last batch, then finalizes (and links, on the calling thread). The status is the first failure. */
csn_status model_sample_finalize(struct model_sample *s);
csn_status model_sample_link(struct model_sample *s);

/* "NAME@START+SIZE" of each entry, with a space between. Lives until the next call. */
const char *model_sample_entries(const struct model_sample *s);
/* "EVENT:COUNT" of each event of the report, with a space between. Lives until the next call. */
const char *model_sample_events(const struct csn_convert_report *report);

#endif
