/* Any bytes as an entry of the cache: an index, the path of its source, and a footer. The input is what comes before
 * the parts of the footer that say which library wrote it, and the sum, which are set as they must be; a first byte
 * that is odd leaves the sum as it is.
 * Invariant: an entry that is taken has all of its parts within the file, and is one that `check` takes too; its
 * index opens or fails, and the mapping is released once either way. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/core/endian.h"
#include "base/hash.h"
#include "store/index_cache.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { FOOTER_SIZE = 128, VERSION_AT = 8, LIBRARY_AT = 112, SUM_AT = 120, INPUT_MAX = 1 << 16 };

static void require(bool condition) {
    if (!condition) abort();
}

/* Magic, version, the hash of the library and the sum: no input would guess them. */
static void complete_footer(uint8_t *entry, size_t size, bool has_sum) {
    uint8_t *footer = entry + size - FOOTER_SIZE;
    memcpy(footer, "CSNCACHE", 8);
    csni_put32(footer + VERSION_AT, 1, false);
    csni_put64(footer + LIBRARY_AT, csni_hash_bytes(csni_source_hash, strlen(csni_source_hash)), false);
    if (has_sum) csni_put64(footer + SUM_AT, csni_cache_sum((struct csni_span){ entry, size }), false);
}

static bool is_within(struct csni_span part, struct csni_span whole) {
    return !part.size || (part.ptr >= whole.ptr && part.ptr + part.size <= whole.ptr + whole.size);
}

static void check_entry(const char *path) {
    struct csni_cache_read read, checked;
    struct csn_error err = CSN_ERROR_INIT;
    struct csn_index *index;
    csn_status status = csni_cache_read_path(path, true, &checked, &err);
    require(status == CSN_OK || status == CSN_NONE || csn_error_text(&err)[0]);
    if (status != CSN_OK) return;
    csni_cache_read_close(&checked);
    require(csni_cache_read_path(path, false, &read, NULL) == CSN_OK);
    require(read.meta.payload_size <= read.map.bytes.size && read.meta.id_size <= CSNI_CACHE_ID_MAX);
    require(is_within(read.meta.source, read.map.bytes));
    if (csni_cache_open_index(&read, NULL, &index, NULL) == CSN_OK) csn_index_close(index);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    int fd;
    if (size < 1 + FOOTER_SIZE || size > INPUT_MAX) return 0;
    uint8_t *entry = malloc(size - 1);
    require(entry);
    memcpy(entry, data + 1, size - 1);
    bool has_sum = !(data[0] & 1);
    complete_footer(entry, size - 1, has_sum);
    char path[] = "/tmp/fuzz_cache_entry_XXXXXX";
    fd = mkstemp(path);
    require(fd >= 0 && write(fd, entry, size - 1) == (ssize_t)(size - 1));
    free(entry);
    close(fd);
    check_entry(path);
    unlink(path);
    return 0;
}
