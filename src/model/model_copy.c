/* Strings and files get new numbers on the way. */
#include "model/model_copy.h"

#include <string.h>

bool csni_copier_init(struct csni_model_copier *c, const struct csni_model *model, struct csni_batch_writer *writer,
                      struct csni_arena *arena) {
    *c = (struct csni_model_copier){ .model = model, .writer = writer, .arena = arena };
    c->file_numbers = csni_arena_alloc(arena, model->batch_count * sizeof *c->file_numbers);
    if (!c->file_numbers) return false;
    memset(c->file_numbers, 0, model->batch_count * sizeof *c->file_numbers);
    return true;
}

uint32_t csni_copy_string(struct csni_model_copier *c, uint32_t batch, uint32_t string) {
    return csni_batch_add_string(c->writer, c->model->batches[batch].strings[string]);
}

uint32_t csni_copy_file(struct csni_model_copier *c, uint32_t batch, uint32_t file) {
    const struct csni_batch *b = &c->model->batches[batch];
    uint32_t **numbers = &c->file_numbers[batch];
    if (!file) return 0;
    if (!*numbers) {
        *numbers = csni_arena_alloc(c->arena, b->file_count * sizeof **numbers);
        if (!*numbers) {
            c->writer->failed = true;
            return 0;
        }
        memset(*numbers, 0, b->file_count * sizeof **numbers);
    }
    uint32_t *number = &(*numbers)[file];
    if (!*number) {
        uint32_t directory = csni_copy_string(c, batch, b->files[file].directory);
        *number = csni_batch_add_file(c->writer, directory, csni_copy_string(c, batch, b->files[file].base)) + 1;
    }
    return *number - 1;
}

void csni_copy_rows(struct csni_model_copier *c, uint32_t batch, const struct csni_function *f) {
    const struct csni_row *rows = c->model->batches[batch].rows + f->first_row;
    for (uint32_t i = 0; i < f->row_count; i++)
        csni_batch_add_row(c->writer, rows[i].off, csni_copy_file(c, batch, csni_row_file(rows[i])), rows[i].line);
}

uint32_t csni_copy_node(struct csni_model_copier *c, uint32_t batch, const struct csni_inline_node *node) {
    uint32_t name = csni_copy_string(c, batch, node->name), file = csni_copy_file(c, batch, node->call_file);
    return csni_batch_begin_inline(c->writer, name, file, node->call_line);
}

void csni_copy_inlines(struct csni_model_copier *c, uint32_t batch, const struct csni_function *f) {
    const struct csni_batch *b = &c->model->batches[batch];
    struct csni_batch_writer *w = c->writer;
    for (uint32_t i = 0; i < f->inline_count; i++) {
        const struct csni_inline_node *node = &b->inlines[f->first_inline + i];
        uint32_t number = csni_copy_node(c, batch, node);
        for (uint32_t k = 0; k < node->part_count; k++)
            csni_batch_add_part(w, b->parts[node->first_part + k].start, b->parts[node->first_part + k].end);
        if (!w->failed) w->inlines.items[number].descendants = node->descendants;
    }
}

void csni_copy_sites(struct csni_model_copier *c, uint32_t batch, const struct csni_function *f) {
    const struct csni_batch *b = &c->model->batches[batch];
    for (uint32_t i = 0; i < f->site_count; i++) {
        const struct csni_call_site *site = &b->sites[f->first_site + i];
        csni_batch_add_call_site(c->writer, site->return_off, site->flags);
        for (uint32_t k = 0; k < site->pattern_count; k++)
            csni_batch_add_pattern(c->writer, csni_copy_string(c, batch, b->patterns[site->first_pattern + k]));
    }
}
