/* Names that an image has from others: what its symbol tables leave undefined. */
#include <stdlib.h>

#include "base/core/fail.h"
#include "base/core/hash.h"
#include "convert/call_sites/call_sites.h"

static int by_value(const void *pa, const void *pb) {
    uint64_t a = *(const uint64_t *)pa, b = *(const uint64_t *)pb;
    return a < b ? -1 : a > b;
}

/* The version that GNU ld puts behind a name is no part of it. */
static uint64_t hash_of(struct csn_str name) {
    const char *at = name.len ? memchr(name.ptr, '@', name.len) : NULL;
    return csni_hash_bytes(name.ptr, at ? (size_t)(at - name.ptr) : name.len);
}

static csn_status add_table(struct csni_undefined_names *names, struct csni_object *object, enum csni_symbol_table table,
                            struct csn_error *err) {
    struct csni_symbol_iter iter;
    struct csni_symbol s;
    csn_status status = csni_symbol_iter_init(&iter, object, table, err);
    if (status != CSN_OK) return status < 0 ? status : CSN_OK;
    while (csni_symbol_iter_next(&iter, &s) == CSN_OK)
        if (!s.defined && s.name.len && !csni_vec_push(&names->hashes, hash_of(s.name)))
            return csni_fail_memory(err, sizeof(uint64_t));
    return CSN_OK;
}

csn_status csni_undefined_names_read(struct csni_undefined_names *names, const struct csni_conversion *c,
                                     struct csn_error *err) {
    names->hashes.alloc = c->alloc;
    if (!c->object) return CSN_OK;
    CSNI_TRY(add_table(names, c->object, CSNI_SYMBOLS_STATIC, err));
    CSNI_TRY(add_table(names, c->object, CSNI_SYMBOLS_DYNAMIC, err));
    if (c->debug) CSNI_TRY(add_table(names, c->debug, CSNI_SYMBOLS_STATIC, err));
    if (names->hashes.count) qsort(names->hashes.items, names->hashes.count, sizeof *names->hashes.items, by_value);
    return CSN_OK;
}

bool csni_undefined_names_have(const struct csni_undefined_names *names, struct csn_str name) {
    uint64_t hash = csni_hash_bytes(name.ptr, name.len);
    return names->hashes.count &&
           bsearch(&hash, names->hashes.items, names->hashes.count, sizeof hash, by_value) != NULL;
}
