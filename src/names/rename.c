/* Calling a rename callback with as much memory as the new name takes. */
#include "names/rename.h"

#include "base/core/fail.h"

enum { FIRST_CAPACITY = 4096, CAPACITY_MAX = 1 << 24, ATTEMPTS = 3 };

static bool grow_scratch(struct csni_renamer *r, size_t capacity) {
    char *larger = csni_realloc(r->alloc, r->scratch, r->capacity, capacity);
    if (!larger) return false;
    r->scratch = larger;
    r->capacity = capacity;
    return true;
}

csn_status csni_renamer_init(struct csni_renamer *r, csn_name_callback *callback, void *context,
                             const struct csn_allocator *alloc, struct csn_error *err) {
    *r = (struct csni_renamer){ .callback = callback, .context = context, .alloc = alloc };
    return grow_scratch(r, FIRST_CAPACITY) ? CSN_OK : csni_fail_memory(err, FIRST_CAPACITY);
}

void csni_renamer_deinit(struct csni_renamer *r) {
    csni_free(r->alloc, r->scratch, r->capacity);
    r->scratch = NULL;
    r->capacity = 0;
}

csn_status csni_renamer_call(struct csni_renamer *r, struct csn_str name, struct csn_str *out, struct csn_error *err) {
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        size_t len = 0;
        csn_status status = r->callback(r->context, name, r->scratch, r->capacity, &len);
        if (status == CSN_OK && len < r->capacity) {
            *out = (struct csn_str){ r->scratch, len };
            bool changed = len && !memchr(r->scratch, 0, len) && !csni_str_equal(*out, name);
            return changed ? CSN_OK : CSN_NONE;
        }
        if (status != CSN_E_LIMIT || len < r->capacity || len >= CAPACITY_MAX) return CSN_NONE;
        if (!grow_scratch(r, len + 1)) return csni_fail_memory(err, len + 1);
    }
    return CSN_NONE;
}
