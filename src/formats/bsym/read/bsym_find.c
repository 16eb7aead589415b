/* A binary by its name: on the device, on the build PC, or by a guess. */
#include "formats/bsym/read/bsym_private.h"

#include <callsign/binaries.h>

/* Longer paths are not compared: devices have none, and reading them would let a small file cost much. */
enum { PATH_ROOM = 512, STORED_MAX = 1024 };
static const char DEVICE_DIRECTORY[] = "z:\\sys\\bin\\";

struct path {
    char bytes[PATH_ROOM];
    size_t size, base; /* where the file name begins */
};

static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c; }

/* Lower-case, slashes as the device has them. */
static bool set_path(struct path *path, const char *directory, struct csn_str name) {
    size_t before = strlen(directory);
    if (name.len > PATH_ROOM - before) return false;
    memcpy(path->bytes, directory, before);
    if (name.len) memcpy(path->bytes + before, name.ptr, name.len);
    path->size = before + name.len;
    path->base = 0;
    for (size_t i = 0; i < path->size; i++) {
        path->bytes[i] = path->bytes[i] == '/' ? '\\' : lower(path->bytes[i]);
        if (path->bytes[i] == '\\') path->base = i + 1;
    }
    return true;
}

static bool read_bsym_path(const struct csni_bsym *b, const char *directory, const struct csni_bsym_name *name,
                           struct path *out) {
    char capacity[PATH_ROOM];
    if (name->name.size > STORED_MAX) return false;
    uint64_t size = csni_bsym_expand(b, name, 0, capacity, sizeof capacity);
    return size <= sizeof capacity && set_path(out, directory, (struct csn_str){ capacity, (size_t)size });
}

static struct csn_str base_of(const struct path *path) {
    return (struct csn_str){ path->bytes + path->base, path->size - path->base };
}

static bool segment_of(const struct csni_bsym *b, uint32_t number, uint32_t *out) {
    for (uint32_t i = 0; i < b->segment_count; i++)
        if (b->segments[i].number == number) {
            *out = i;
            return true;
        }
    return false;
}

/* Files before 2.3 name the file alone. A question that names the file alone means any directory. */
static bool find_renamed(const struct csni_bsym *b, const struct path *wanted, uint32_t *out) {
    const char *directory = b->version < CSNI_BSYM_2_3 ? DEVICE_DIRECTORY : "";
    for (uint32_t i = 0; i < b->rename_count; i++) {
        uint32_t number;
        struct path path;
        struct csni_bsym_name name = csni_bsym_rename(b, i, &number);
        if (!read_bsym_path(b, directory, &name, &path)) continue;
        size_t from = wanted->base ? 0 : path.base;
        if (csni_str_equal((struct csn_str){ path.bytes + from, path.size - from },
                           (struct csn_str){ wanted->bytes, wanted->size }) &&
            segment_of(b, number, out))
            return true;
    }
    return false;
}

static bool find_device_path(const struct csni_bsym *b, const struct path *wanted, uint32_t *out) {
    for (uint32_t i = 0; i < b->segment_count; i++) {
        struct csni_bsym_name name = { .has_scope = false };
        struct path path;
        if (!b->segments[i].device_name || !csni_bsym_string(b, b->segments[i].device_name, &name.name)) continue;
        if (!read_bsym_path(b, "", &name, &path)) continue;
        size_t from = wanted->base ? 0 : path.base;
        if (csni_str_equal((struct csn_str){ path.bytes + from, path.size - from },
                           (struct csn_str){ wanted->bytes, wanted->size })) {
            *out = i;
            return true;
        }
    }
    return false;
}

/* "euser_variant.dll" and "_variant_euser.dll" are names on a build PC for euser.dll. */
static bool is_variant(struct csn_str name, struct csn_str wanted) {
    size_t stem = wanted.len;
    while (stem && wanted.ptr[stem - 1] != '.') stem--;
    stem = stem ? stem - 1 : wanted.len;
    if (stem && name.len > stem && memcmp(name.ptr, wanted.ptr, stem) == 0 && name.ptr[stem] == '_') return true;
    return wanted.len && name.len > wanted.len && name.ptr[name.len - wanted.len - 1] == '_' && name.ptr[0] == '_' &&
           memcmp(name.ptr + name.len - wanted.len, wanted.ptr, wanted.len) == 0;
}

/* ---- code and data ---- */

static bool is_same_binary(const struct csni_bsym *b, const struct csni_bsym_segment *x, const struct csni_bsym_segment *y) {
    struct csni_span name, other;
    if (b->version >= CSNI_BSYM_3_0) return x->number == y->number;
    csni_bsym_string(b, x->name, &name);
    csni_bsym_string(b, y->name, &other);
    return name.size == other.size && memcmp(name.ptr, other.ptr, name.size) == 0;
}

/* A binary's data in RAM stands in segments of its own, which may come first; an offset counts from its code. In version 3 that has
 * the first of its symbols. Before, nothing tells: data has the fewer symbols. */
static uint32_t code_of(const struct csni_bsym *b, uint32_t segment) {
    uint32_t best = segment;
    for (uint32_t i = 0; i < b->segment_count; i++) {
        const struct csni_bsym_segment *s = &b->segments[i], *known = &b->segments[best];
        const bool is_better = b->version >= CSNI_BSYM_3_0 ? s->first < known->first : s->count > known->count;
        if (is_better && is_same_binary(b, s, known)) best = i;
    }
    return best;
}

csn_status csni_bsym_find(const struct csni_bsym *b, struct csn_str name, uint32_t *out_segment, uint32_t *out_how) {
    struct path wanted, path;
    if (!set_path(&wanted, "", name) || !base_of(&wanted).len) return CSN_NONE;
    *out_how = CSN_BINARY_ALIAS;
    if (find_renamed(b, &wanted, out_segment)) return CSN_OK;
    if (find_device_path(b, &wanted, out_segment)) {
        *out_segment = code_of(b, *out_segment);
        return CSN_OK;
    }
    uint32_t candidates = 0, first = 0;
    for (uint32_t i = 0; i < b->segment_count; i++) {
        struct csni_bsym_name stored = csni_bsym_segment_name(b, &b->segments[i]);
        if (!read_bsym_path(b, "", &stored, &path)) continue;
        if (csni_str_equal(base_of(&path), base_of(&wanted))) {
            *out_segment = code_of(b, i);
            *out_how = CSN_BINARY_NAMED;
            return CSN_OK;
        }
        if (b->version > CSNI_BSYM_2_0 || !is_variant(base_of(&path), base_of(&wanted))) continue;
        if (candidates && is_same_binary(b, &b->segments[first], &b->segments[i])) continue;
        if (!candidates++) first = i;
    }
    if (!candidates) return CSN_NONE;
    *out_segment = code_of(b, first);
    *out_how = candidates > 1 ? CSN_BINARY_AMBIGUOUS : CSN_BINARY_GUESSED;
    return CSN_OK;
}
