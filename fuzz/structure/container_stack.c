/* fuzz_symbolicate: a count, that many frames, an index. */
#include "mutate_part.h"

enum { FRAME_BYTES = 9 };

void fuzz_mutate_container(struct fuzz_input *in) {
    size_t index = 1 + (in->size ? (size_t)in->data[0] * FRAME_BYTES : 0);
    if (index >= in->size) {
        fuzz_mutate_part(in, 0, in->size, true, 1);
    } else if (fuzz_random(in, 3) == 0) {
        fuzz_mutate_part(in, 1, index - 1, false, 1);
    } else {
        fuzz_mutate_file(in, index, in->size - index, true);
    }
}
