/* Names put together in memory for one, or in chunks of memory that are freed all at once. */
#include "ui/whole_names.h"

#include <stdlib.h>

#include "ui/growing.h"

bool name_scratch_read(struct name_scratch *scratch, const struct csn_index *index, uint32_t idx, struct csn_str *name) {
    const struct csn_frame_ref ref = { .name = idx };
    struct csn_frame frame;
    const size_t need = csn_index_resolve_into(index, &ref, scratch->bytes, scratch->size, &frame);
    if (need > scratch->size) {
        if (!reserve_items(&scratch->bytes, &scratch->size, need, 1)) return false;
        csn_index_resolve_into(index, &ref, scratch->bytes, scratch->size, &frame);
    }
    *name = frame.name;
    return true;
}

enum { CHUNK_SIZE = 1 << 16 };

struct name_chunk {
    struct name_chunk *next;
    size_t size, used;
    char bytes[];
};

void whole_names_init(struct whole_names *names, const struct csn_index *index) {
    struct csn_index_info info;
    csn_index_get_info(index, &info, sizeof(info));
    *names = (struct whole_names){ .index = index, .in_pieces = info.format == CSN_FORMAT_BSYM };
}

void whole_names_deinit(struct whole_names *names) {
    struct name_chunk *next;
    for (struct name_chunk *chunk = names->chunks; chunk; chunk = next) {
        next = chunk->next;
        free(chunk);
    }
    names->chunks = NULL;
}

static bool add_chunk(struct whole_names *names, size_t need) {
    size_t size = need > CHUNK_SIZE ? need : CHUNK_SIZE;
    struct name_chunk *chunk = size < SIZE_MAX - sizeof(*chunk) ? malloc(sizeof(*chunk) + size) : NULL;
    if (!chunk) return false;
    chunk->next = names->chunks;
    chunk->size = size;
    chunk->used = 0;
    names->chunks = chunk;
    return true;
}

/* The name in what is left of the newest chunk; returns how many bytes it needs there. */
static size_t resolve(struct whole_names *names, uint32_t idx, struct csn_str *name) {
    const struct csn_frame_ref ref = { .name = idx };
    struct csn_frame frame;
    struct name_chunk *chunk = names->chunks;
    size_t need = csn_index_resolve_into(names->index, &ref, chunk ? chunk->bytes + chunk->used : NULL,
                                         chunk ? chunk->size - chunk->used : 0, &frame);
    *name = frame.name;
    return need;
}

bool whole_names_read(struct whole_names *names, uint32_t idx, struct csn_str *name) {
    if (!names->in_pieces || name->len) return true;
    size_t capacity = names->chunks ? names->chunks->size - names->chunks->used : 0, need = resolve(names, idx, name);
    if (need > capacity) {
        if (!add_chunk(names, need)) return false;
        need = resolve(names, idx, name);
    }
    if (need) names->chunks->used += need;
    return true;
}
