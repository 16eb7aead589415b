/* Any bytes as a call-site file. Invariants: it is read, or fails with a message; what is read has functions and patterns that
 * are not empty, from within the bounds of the arrays; the same bytes give the same sites. */
#include <stdlib.h>

#include "base/core/span.h"
#include "base/hash.h"
#include "convert/call_sites/call_site_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition) {
    if (!condition) abort();
}

static uint64_t read_once(const uint8_t *data, size_t size) {
    struct csn_call_site_file file = { "fuzz", data, size };
    struct csni_arena arena;
    struct csni_given_sites given = { .arena = &arena };
    struct csn_error err = CSN_ERROR_INIT;
    uint64_t sum = 0;
    csni_arena_init(&arena, &csni_libc_allocator, 4096);
    given.sites.alloc = given.patterns.alloc = &csni_libc_allocator;
    csn_status status = csni_call_site_file_read(&file, 0, &given, &err);
    require(status == CSN_OK || (status < 0 && err.code == status && err.text[0]));
    for (size_t i = 0; status == CSN_OK && i < given.sites.count; i++) {
        const struct csni_given_site *s = &given.sites.items[i];
        require(s->function.len && s->first_pattern + s->pattern_count <= given.patterns.count && s->flags <= 3);
        sum = csni_hash_u64(sum ^ s->return_off ^ csni_hash_bytes(s->function.ptr, s->function.len));
        for (size_t k = 0; k < s->pattern_count; k++) {
            struct csn_str text = given.patterns.items[s->first_pattern + k].text;
            require(text.len);
            sum = csni_hash_u64(sum ^ csni_hash_bytes(text.ptr, text.len));
        }
    }
    csni_vec_deinit(&given.sites);
    csni_vec_deinit(&given.patterns);
    csni_arena_deinit(&arena);
    return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    require(read_once(data, size) == read_once(data, size));
    return 0;
}
