/* What a whole process that answers one address cannot do without: it opens an index, looks up and prints.
 *
 *   bench_one_address INDEX ADDRESS */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <callsign/index.h>

enum { FRAMES_MAX = 512 };

int main(int argc, char **argv) {
    struct csn_frame frames[FRAMES_MAX];
    struct csn_index *index;
    size_t count = 0;
    if (argc != 3) {
        fputs("usage: bench_one_address INDEX ADDRESS\n", stderr);
        return 2;
    }
    if (csn_index_open_file(argv[1], NULL, &index, NULL) < 0)
        return 2;
    csn_status status = csn_index_lookup(index, strtoull(argv[2], NULL, 16), frames, FRAMES_MAX, &count, NULL);
    for (size_t k = 0; status == CSN_OK && k < count && k < FRAMES_MAX; k++)
        printf("%.*s + %" PRIu64 " at %.*s/%.*s:%" PRIu32 "%s\n", (int)frames[k].name.len, frames[k].name.ptr, frames[k].offset,
               (int)frames[k].directory.len, frames[k].directory.ptr, (int)frames[k].base.len, frames[k].base.ptr,
               frames[k].line, frames[k].flags & CSN_FRAME_INLINED ? " (inlined)" : "");
    csn_index_close(index);
    return status == CSN_OK ? 0 : 1;
}
