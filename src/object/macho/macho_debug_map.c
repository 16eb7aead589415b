/* Reading the stabs of a Mach-O image into a debug map.
 *
 * An object file's part begins with N_OSO (its path; the time of its last change in n_value), within N_SO of its source
 * file. Each function is N_FUN with name and address and N_FUN without a name, whose value is the size. An N_SO without a
 * name ends the part. */
#include "object/macho/macho_debug_map.h"

#include "base/core/checked.h"
#include "base/core/fail.h"
#include "object/macho/macho_layout.h"
#include "object/macho/macho_private.h"

/* Names may be shared (static functions of one name in many files), but a hostile table must not take forever. */
enum { NAME_FACTOR = 4, NAME_BYTES_A_SYMBOL = 256 };

/* One reading on its way. */
struct map_reader {
    const struct csni_object *object;
    struct csni_span symbols, strings;
    struct csni_debug_map *map;
    uint64_t name_bytes_left;
    bool in_object, in_function;
};

static bool read_macho_name(struct map_reader *r, uint32_t off, struct csn_str *name) {
    *name = (struct csn_str){ "", 0 };
    if (!off) return true;
    struct csni_span rest = csni_span_from(r->strings, off);
    if (rest.size > r->name_bytes_left) rest.size = (size_t)r->name_bytes_left;
    if (!csni_span_cstr(rest, 0, name)) return false;
    r->name_bytes_left -= name->len;
    return true;
}

/* Splits `path/libx.a(member.o)`. */
static void split_path(struct csni_debug_map_object *object, struct csn_str path) {
    object->path = path;
    object->member = (struct csn_str){ "", 0 };
    if (!path.len || path.ptr[path.len - 1] != ')') return;
    for (size_t i = path.len - 1; i > 1 && path.ptr[i] != '/'; i--) {
        if (path.ptr[i - 1] != '(') continue;
        object->path.len = i - 1;
        object->member = (struct csn_str){ path.ptr + i, path.len - i - 1 };
        return;
    }
}

static csn_status begin_object(struct map_reader *r, const struct csni_nlist *s, struct csn_str path, struct csn_error *err) {
    struct csni_debug_map_object object = { .mtime = s->value, .first_function = (uint32_t)r->map->functions.count };
    split_path(&object, path);
    r->in_object = path.len != 0;
    if (!r->in_object) r->map->damaged++;
    else if (!csni_vec_push(&r->map->objects, object)) return csni_fail_memory(err, sizeof object);
    return CSN_OK;
}

static csn_status begin_function(struct map_reader *r, const struct csni_nlist *s, struct csn_str name, struct csn_error *err) {
    r->in_function = false;
    if (!r->in_object) return CSN_OK; /* of a compiler that wrote stabs for all there is */
    const struct csni_debug_map_function function = { csni_macho_plain_name(name), csni_macho_code_addr(r->object, s->value), 0 };
    if (!csni_vec_push(&r->map->functions, function)) return csni_fail_memory(err, sizeof function);
    r->map->objects.items[r->map->objects.count - 1].function_count++;
    r->in_function = true;
    return CSN_OK;
}

static void end_macho_function(struct map_reader *r, uint64_t size) {
    if (!r->in_function) return;
    r->in_function = false;
    struct csni_debug_map_function *function = &r->map->functions.items[r->map->functions.count - 1];
    uint64_t end;
    if (csni_add_u64(function->addr, size, &end)) function->size = size;
    else r->map->damaged++;
}

static csn_status read_stab(struct map_reader *r, const struct csni_nlist *s, struct csn_error *err) {
    if (s->type != N_SO && s->type != N_OSO && s->type != N_FUN) return CSN_OK;
    struct csn_str name;
    if (!read_macho_name(r, s->name, &name)) {
        r->map->damaged++;
        r->in_function = false;
        if (s->type != N_FUN) r->in_object = false;
        return CSN_OK;
    }
    if (s->type == N_OSO) return begin_object(r, s, name, err);
    if (s->type == N_SO) {
        if (!name.len) r->in_object = r->in_function = false;
        return CSN_OK;
    }
    if (name.len) return begin_function(r, s, name, err);
    end_macho_function(r, s->value);
    return CSN_OK;
}

csn_status csni_macho_debug_map(const struct csni_object *object, const struct csn_allocator *alloc,
                                struct csni_debug_map *out, struct csn_error *err) {
    *out = (struct csni_debug_map){ .objects = { .alloc = alloc }, .functions = { .alloc = alloc } };
    if (object->container != CSNI_CONTAINER_MACHO) return CSN_NONE;
    struct map_reader r = { .object = object, .map = out };
    csn_status status = csni_macho_symbol_table(object, &r.symbols, &r.strings, err);
    if (status != CSN_OK) return status;
    uint64_t entry_size = csni_macho_nlist_size(object);
    r.name_bytes_left = NAME_FACTOR * (uint64_t)r.strings.size + NAME_BYTES_A_SYMBOL * (r.symbols.size / entry_size);
    for (uint64_t off = 0; off < r.symbols.size && status == CSN_OK; off += entry_size) {
        struct csni_nlist s;
        csni_macho_decode_nlist(object, r.symbols.ptr + off, &s);
        if (s.type & N_STAB) status = read_stab(&r, &s, err);
    }
    if (status == CSN_OK && out->objects.count) return CSN_OK;
    csni_debug_map_deinit(out);
    return status < 0 ? status : CSN_NONE;
}

void csni_debug_map_deinit(struct csni_debug_map *map) {
    if (!map) return;
    csni_vec_deinit(&map->objects);
    csni_vec_deinit(&map->functions);
}
