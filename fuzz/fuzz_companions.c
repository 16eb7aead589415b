/* An image and the files that its debug information lies in besides it: debug file, supplement of dwz, package and units of split
 * DWARF, objects and archives of a debug map, linker's map, PDB. The resolver gives the input's files from memory,
 * whatever they are called. Invariants: every file that was given is released; the index is sound; a conversion that
 * fails says so and gives nothing; the same files give the same index with more threads. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include <callsign/convert.h>
#include <callsign/index.h>
#include <callsign/inspect.h>

#include "companion_files.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { GIVEN_MAX = 64, INFLATED_MAX = 4 << 20, SEVERAL_THREADS = 3 };

struct companions {
    struct companion_file files[COMPANION_FILES_MAX];
    size_t count, given;
    atomic_size_t open; /* any thread releases */
};

static void require(bool condition) {
    if (!condition) abort();
}

static void release(struct csn_companion *companion) {
    struct companions *companions = companion->context;
    require(atomic_fetch_sub(&companions->open, 1) > 0);
    free((void *)(uintptr_t)companion->bytes);
}

/* A copy of exactly the file's size, so that a sanitizer sees a read past it, or after its release. */
static void give(struct companions *companions, const struct companion_file *file, struct csn_companion *out) {
    uint8_t *copy = malloc(file->size ? file->size : 1);
    require(copy != NULL);
    memcpy(copy, file->bytes, file->size);
    *out =
        (struct csn_companion){ .bytes = copy, .size = file->size, .path = "companion", .release = release, .context = companions };
    atomic_fetch_add(&companions->open, 1);
    companions->given++;
}

static csn_status resolve(void *context, const struct csn_companion_request *request, struct csn_companion *out,
                          struct csn_error *err) {
    (void)err;
    struct companions *companions = context;
    uint32_t skip = request->skip;
    if (companions->given >= GIVEN_MAX) return CSN_NONE;
    for (size_t i = 1; i < companions->count; i++) {
        if (companions->files[i].kind != request->kind || skip--) continue;
        give(companions, &companions->files[i], out);
        return CSN_OK;
    }
    return CSN_NONE;
}

static csn_status convert(struct companions *companions, uint32_t threads, struct csn_bytes *out) {
    struct csn_convert_options options = CSN_CONVERT_OPTIONS_INIT;
    struct csn_error err = CSN_ERROR_INIT;
    options.threads = threads;
    options.resolver = resolve;
    options.resolver_context = companions;
    options.flags = CSN_CONVERT_CALL_SITES;
    options.max_decompressed_bytes = INFLATED_MAX;
    companions->given = 0;
    csn_status status = csn_convert_memory(companions->files[0].bytes, companions->files[0].size, &options, out, NULL, &err);
    require(companions->open == 0);
    require(status == CSN_OK || (status < 0 && err.code == status && err.text[0] && !out->ptr));
    return status;
}

static void check_index(const struct csn_bytes *bytes) {
    struct csn_index *index;
    struct csn_verify_counts counts;
    require(csn_index_open_memory(bytes->ptr, bytes->size, NULL, &index, NULL) == CSN_OK);
    require(csn_index_verify(index, NULL, NULL, &counts, NULL) == CSN_OK);
    csn_index_close(index);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct companions companions = { .count = 0 };
    struct csn_bytes one = { NULL, 0, NULL }, more = { NULL, 0, NULL };
    companions.count = companion_files_read(data, size, companions.files);
    if (!companions.count) return 0;
    if (convert(&companions, 1, &one) == CSN_OK) {
        check_index(&one);
        bool was_limited = companions.given >= GIVEN_MAX; /* which of the requests came first then decides */
        if (!was_limited) {
            require(convert(&companions, SEVERAL_THREADS, &more) == CSN_OK);
            require(more.size == one.size && memcmp(more.ptr, one.ptr, one.size) == 0);
        }
    }
    csn_bytes_free(&one);
    csn_bytes_free(&more);
    return 0;
}
