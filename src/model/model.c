/* Life of a model. */
#include "model/model.h"

void csni_model_init(struct csni_model *model, const struct csn_allocator *alloc) {
    *model = (struct csni_model){ .alloc = alloc };
}

void csni_model_deinit(struct csni_model *m) {
    csni_free(m->alloc, m->entries, m->entry_room * sizeof *m->entries);
    csni_free(m->alloc, m->children, m->child_room * sizeof *m->children);
    csni_free(m->alloc, m->strings, m->string_room * sizeof *m->strings);
    csni_free(m->alloc, m->files, m->file_count * sizeof *m->files);
}
