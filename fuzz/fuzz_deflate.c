/* Any bytes as a zlib stream, in pieces of sizes that the first byte chooses. Invariants: what is accepted is what
 * libdeflate accepts and inflates to the same bytes; what is refused has a reason; the size of the pieces changes
 * nothing. */
#include <stdlib.h>
#include <string.h>

#ifdef CSNI_HAVE_LIBDEFLATE
#include <libdeflate.h>
#endif

#include "inflate/deflate.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ROOM = 1 << 18, ZLIB_HEADER = 2 };

static void require(bool condition) {
    if (!condition) abort();
}

/* Each piece into memory of its own size, so that a sanitizer sees what is written after it. */
static bool inflate_pieces(struct csni_span data, size_t piece, uint8_t *out, size_t *size, bool *only_sum_is_wrong) {
    struct csni_deflate *d = csni_deflate_create(data, NULL);
    require(d != NULL);
    bool good = true;
    *size = 0;
    for (size_t given = 1; good && given && *size < ROOM; *size += given) {
        size_t want = ROOM - *size < piece ? ROOM - *size : piece;
        uint8_t *bytes = malloc(want);
        require(bytes != NULL);
        good = csni_deflate_read(d, bytes, want, &given);
        require(given <= want);
        if (given) memcpy(out + *size, bytes, given);
        free(bytes);
    }
    require(good || csni_deflate_fault(d)[0]);
    *only_sum_is_wrong = !good && strcmp(csni_deflate_fault(d), "wrong checksum") == 0;
    require(csni_deflate_consumed(d) <= data.size);
    csni_deflate_destroy(d);
    return good;
}

#ifdef CSNI_HAVE_LIBDEFLATE
/* libdeflate takes some streams that zlib refuses, not the other way round. Checksums are left out: hardly any input
 * has a right one. */
static void compare(struct csni_span data, const uint8_t *bytes, size_t size) {
    struct libdeflate_decompressor *d = libdeflate_alloc_decompressor();
    uint8_t *theirs = malloc(ROOM);
    require(d && theirs);
    size_t their_size = 0;
    enum libdeflate_result result =
        libdeflate_deflate_decompress(d, data.ptr + ZLIB_HEADER, data.size - ZLIB_HEADER, theirs, ROOM, &their_size);
    require(result == LIBDEFLATE_SUCCESS && their_size == size && memcmp(theirs, bytes, size) == 0);
    free(theirs);
    libdeflate_free_decompressor(d);
}
#endif

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (!size) return 0;
    struct csni_span stream = { data + 1, size - 1 };
    uint8_t *whole = malloc(ROOM), *pieces = malloc(ROOM);
    require(whole && pieces);
    size_t whole_size, pieces_size;
    bool only_sum_is_wrong, again;
    bool good = inflate_pieces(stream, ROOM, whole, &whole_size, &only_sum_is_wrong);
    require(inflate_pieces(stream, 1 + 311u * data[0], pieces, &pieces_size, &again) == good);
    require(again == only_sum_is_wrong);
    require(!good || pieces_size == whole_size);
    require(memcmp(whole, pieces, pieces_size < whole_size ? pieces_size : whole_size) == 0);
#ifdef CSNI_HAVE_LIBDEFLATE
    if ((good || only_sum_is_wrong) && whole_size < ROOM) compare(stream, whole, whole_size);
#endif
    free(whole);
    free(pieces);
    return 0;
}
