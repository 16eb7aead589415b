/* Copies of functions, or of parts of them, from the batches of a model into a batch that is being written. */
#ifndef CSNI_MODEL_COPY_H
#define CSNI_MODEL_COPY_H

#include "model/model.h"

struct csni_model_copier {
    const struct csni_model *model;
    struct csni_batch_writer *writer;
    struct csni_arena *arena;
    uint32_t **file_numbers; /* by batch: the writer's file + 1 by file of the batch; NULL: none yet */
};

/* False when out of memory. Later failures are those of the writer. */
bool csni_copier_init(struct csni_model_copier *c, const struct csni_model *model, struct csni_batch_writer *writer,
                      struct csni_arena *arena);

/* The writer's number for a string, or a file, of a batch. */
uint32_t csni_copy_string(struct csni_model_copier *c, uint32_t batch, uint32_t string);
uint32_t csni_copy_file(struct csni_model_copier *c, uint32_t batch, uint32_t file);

/* To the function that the writer began last. */
void csni_copy_rows(struct csni_model_copier *c, uint32_t batch, const struct csni_function *f);
void csni_copy_inlines(struct csni_model_copier *c, uint32_t batch, const struct csni_function *f);
void csni_copy_sites(struct csni_model_copier *c, uint32_t batch, const struct csni_function *f);
/* Begins a node like this one, without parts; gives its number. */
uint32_t csni_copy_node(struct csni_model_copier *c, uint32_t batch, const struct csni_inline_node *node);

#endif
