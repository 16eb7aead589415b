/* fuzz_companions: files behind one another, each with its head (fuzz/companion_files.h). */
#include "mutate_part.h"

#include "../companion_files.h"

void fuzz_mutate_container(struct fuzz_input *in) {
    struct companion_file files[COMPANION_FILES_MAX];
    size_t count = companion_files_read(in->data, in->size, files);
    if (!count || fuzz_random(in, 16) == 0) {
        fuzz_mutate_part(in, 0, in->size, true, 1);
        return;
    }
    const struct companion_file *file = &files[fuzz_random(in, (uint32_t)count)];
    size_t at = (size_t)(file->bytes - in->data), head = at - COMPANION_HEAD;
    ptrdiff_t delta = fuzz_mutate_file(in, at, file->size, true);
    fuzz_set_number(in->data + head + COMPANION_SIZE_AT, COMPANION_SIZE_WIDTH, false, file->size + (uint64_t)delta);
}
