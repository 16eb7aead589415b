/* Opens an index and prints the frames of addresses, innermost first.
 *
 *     cc lookup.c $(pkg-config --cflags --libs callsign) -o lookup
 *     ./lookup app.gsym 0x1139 0x1155
 *
 * (A program that does nothing else can link the smaller callsign-lookup.) */
#include <stdio.h>
#include <stdlib.h>

#include <callsign/callsign.h>

enum { MAX_FRAMES = 16 };

static void print_frame(const struct csn_frame *f) {
    printf("  %.*s+%llu", (int)f->name.len, f->name.ptr, (unsigned long long)f->offset);
    if (f->base.len)
        printf(" at %.*s/%.*s:%u", (int)f->directory.len, f->directory.ptr, (int)f->base.len, f->base.ptr, f->line);
    if (f->reason != CSN_REASON_COMPLETE) printf(" (%s)", csn_reason_text(f->reason));
    printf("%s\n", f->flags & CSN_FRAME_INLINED ? " [inlined]" : "");
}

/* Nothing here allocates; any number of threads may look up in one index at once. */
static int print_frames(const struct csn_index *index, unsigned long long addr) {
    struct csn_frame frames[MAX_FRAMES];
    struct csn_error err = CSN_ERROR_INIT;
    size_t count = 0;
    csn_status status = csn_index_lookup(index, addr, frames, MAX_FRAMES, &count, &err);
    if (status < 0) {
        fprintf(stderr, "0x%llx: %s\n", addr, csn_error_text(&err));
        return 1;
    }
    printf("0x%llx\n", addr);
    if (status == CSN_NONE) printf("  no function\n");
    /* More frames than there is room for are counted but not stored. */
    for (size_t i = 0; status == CSN_OK && i < count && i < MAX_FRAMES; i++) print_frame(&frames[i]);
    return 0;
}

int main(int argc, char **argv) {
    if (argc < 2) {
        fprintf(stderr, "usage: lookup INDEX ADDRESS...\n");
        return 2;
    }
    struct csn_error err = CSN_ERROR_INIT;
    struct csn_index *index;
    if (csn_index_open_file(argv[1], NULL, &index, &err) < 0) {
        fprintf(stderr, "%s: %s\n", argv[1], csn_error_text(&err));
        return 2;
    }
    int failed = 0;
    for (int i = 2; i < argc; i++) failed |= print_frames(index, strtoull(argv[i], NULL, 0));
    csn_index_close(index);
    return failed;
}
