/* Any bytes as an object file to embed an index into. Invariants: what was embedded comes out again byte for byte, is found by
 * a lookup, and the same is done to the same bytes; extracting from any bytes keeps to its bounds. */
#include <stdlib.h>
#include <string.h>

#include <callsign/embed.h>
#include <callsign/index.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* GSYM version 1: one function "f", [0x1000, 0x1010). */
static const uint8_t index_bytes[] = {
    0x4d, 0x59, 0x53, 0x47, 0x01, 0x00, 0x01, 0x00, 0x00, 0x10, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00,
    0x44, 0x00, 0x00, 0x00, 0x03, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x48, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x66, 0x00, 0x00, 0x10, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
};

static void require(int condition) {
    if (!condition) abort();
}

static void check(const struct csn_bytes *made) {
    struct csn_bytes back;
    struct csn_embed_options options = CSN_EMBED_OPTIONS_INIT;
    if (csn_extract_memory(made->ptr, made->size, &options, &back, NULL) < 0) return; /* of several images */
    require(back.size == sizeof index_bytes && !memcmp(back.ptr, index_bytes, sizeof index_bytes));
    csn_bytes_free(&back);
    struct csn_index *index;
    struct csn_frame frame;
    size_t count;
    require(csn_index_open_memory(made->ptr, made->size, NULL, &index, NULL) == CSN_OK);
    require(csn_index_lookup(index, 0x1008, &frame, 1, &count, NULL) == CSN_OK && frame.name.len == 1);
    csn_index_close(index);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct csn_embed_options options = CSN_EMBED_OPTIONS_INIT;
    struct csn_bytes once, again, taken;
    options.flags = CSN_EMBED_FORCE | (size & 1 ? CSN_EMBED_DROP_SIGNATURE : 0u);
    if (csn_extract_memory(data, size, &options, &taken, NULL) >= 0) {
        if (csn_embed_memory(taken.ptr, taken.size, data, size, &options, &once, NULL) >= 0) csn_bytes_free(&once);
        csn_bytes_free(&taken);
    }
    if (csn_embed_memory(index_bytes, sizeof index_bytes, data, size, &options, &once, NULL) < 0) return 0;
    require(csn_embed_memory(index_bytes, sizeof index_bytes, data, size, &options, &again, NULL) == CSN_OK);
    require(once.size == again.size && !memcmp(once.ptr, again.ptr, once.size));
    csn_bytes_free(&again);
    check(&once);
    csn_bytes_free(&once);
    return 0;
}
