/* Other names for functions and inlined calls, as the caller of a conversion wants them. Each distinct name is asked for once. */
#include "base/core/fail.h"
#include "base/core/hash.h"
#include "model/distinct.h"

enum { FIRST_ROOM = 4096, ROOM_MAX = 1 << 24 };

struct room {
    const struct csn_allocator *alloc;
    char *bytes;
    size_t size;
};

static bool grow(struct room *room, size_t need) {
    char *larger = csni_realloc(room->alloc, room->bytes, room->size, need);
    if (!larger) return false;
    room->bytes = larger;
    room->size = need;
    return true;
}

/* CSN_NONE: the name stays. */
static csn_status ask(const struct csni_model *model, struct csn_str name, struct room *room, struct csn_str *out,
                      struct csn_error *err) {
    for (int attempt = 0; attempt < 3; attempt++) {
        size_t len = 0;
        csn_status status = model->rename(model->rename_context, name, room->bytes, room->size, &len);
        if (status == CSN_OK && len < room->size) {
            *out = (struct csn_str){ room->bytes, len };
            bool changed = len && !memchr(room->bytes, 0, len) && !csni_str_equal(*out, name);
            return changed ? CSN_OK : CSN_NONE;
        }
        if (status != CSN_E_LIMIT || len < room->size || len >= ROOM_MAX) return CSN_NONE;
        if (!grow(room, len + 1)) return csni_fail_memory(err, len + 1);
    }
    return CSN_NONE;
}

static csn_status rename_all(struct csni_distinct_strings *strings, const struct csni_model *model, struct room *room,
                             struct csni_arena *arena, struct csn_error *err) {
    for (size_t i = 0; i < strings->items.count; i++) {
        struct csni_distinct_string *d = &strings->items.items[i];
        struct csn_str name = { NULL, 0 };
        if (!(d->hash & CSNI_NAME_BIT)) continue;
        csn_status status = ask(model, d->text, room, &name, err);
        if (status < 0) return status;
        if (status != CSN_OK) continue;
        const char *copy = csni_arena_copy(arena, name.ptr, name.len);
        if (!copy) return csni_fail_memory(err, name.len);
        d->text = (struct csn_str){ copy, name.len };
    }
    return CSN_OK;
}

csn_status csni_distinct_strings_rename(struct csni_distinct_strings *strings, const struct csni_model *model,
                                        struct csni_arena *arena, struct csn_error *err) {
    struct room room = { .alloc = model->alloc };
    if (!grow(&room, FIRST_ROOM)) return csni_fail_memory(err, FIRST_ROOM);
    csn_status status = rename_all(strings, model, &room, arena, err);
    csni_free(room.alloc, room.bytes, room.size);
    return status;
}
