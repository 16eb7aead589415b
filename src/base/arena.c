/* Bump allocation in chunks.
 *
 * `chunks` holds every chunk in use, the newest first. A chunk is either bumped through (`p`..`end` of the arena are in
 * the newest of that sort) or holds one big object; each knows which bumped chunk was current when it was made, so a
 * release pops chunks and knows at once where to go on. */
#include "base/arena.h"

#include <string.h>

#include "base/core/checked.h"
#include "base/core/file_map.h"

#if defined(__SANITIZE_ADDRESS__)
#define ARENA_POISONS 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ARENA_POISONS 1
#endif
#endif

#ifdef ARENA_POISONS
#include <sanitizer/asan_interface.h>
#endif

enum { FIRST_CHUNK = 4096, LARGEST_CHUNK = 1 << 22, ALIGNMENT = 8 };
/* Pages of a large block are made present many at once, as far as it is used: an object of its own will be whole, a chunk not. */
enum { POPULATE_MIN = 1 << 17, POPULATE_STEP = 1 << 18, PAGE = 4096 };

struct csni_arena_chunk {
    _Alignas(ALIGNMENT) struct csni_arena_chunk *next; /* older, or the next spare one */
    struct csni_arena_chunk *bumped; /* the bumped chunk that is current while this one is the newest; NULL: none */
    size_t size;                     /* of the whole block */
};

static uint8_t *chunk_begin(struct csni_arena_chunk *chunk) { return (uint8_t *)(chunk + 1); }
static uint8_t *chunk_end(struct csni_arena_chunk *chunk) { return (uint8_t *)chunk + chunk->size; }

/* Address sanitizer sees use after release, and writes beyond an object into the free rest. */
static void poison(const void *ptr, size_t size) {
#ifdef ARENA_POISONS
    __asan_poison_memory_region(ptr, size);
#else
    (void)ptr;
    (void)size;
#endif
}

static void unpoison(const void *ptr, size_t size) {
#ifdef ARENA_POISONS
    __asan_unpoison_memory_region(ptr, size);
#else
    (void)ptr;
    (void)size;
#endif
}

void csni_arena_init(struct csni_arena *arena, const struct csn_allocator *alloc, size_t first_chunk_size) {
    if (!first_chunk_size) first_chunk_size = FIRST_CHUNK;
    if (first_chunk_size > LARGEST_CHUNK) first_chunk_size = LARGEST_CHUNK;
    if (first_chunk_size < 8 * sizeof(struct csni_arena_chunk)) first_chunk_size = 8 * sizeof(struct csni_arena_chunk);
    memset(arena, 0, sizeof *arena);
    arena->alloc = alloc;
    arena->chunk_size = (size_t)csni_align_up(first_chunk_size, ALIGNMENT);
}

static void free_chunk(struct csni_arena *arena, struct csni_arena_chunk *chunk) {
    arena->total -= chunk->size;
    unpoison(chunk_begin(chunk), chunk->size - sizeof *chunk);
    csni_free(arena->alloc, chunk, chunk->size);
}

static void free_chunks(struct csni_arena *arena, struct csni_arena_chunk *chunk) {
    while (chunk) {
        struct csni_arena_chunk *next = chunk->next;
        free_chunk(arena, chunk);
        chunk = next;
    }
}

void csni_arena_deinit(struct csni_arena *arena) {
    if (!arena) return;
    free_chunks(arena, arena->chunks);
    free_chunks(arena, arena->spare);
    arena->chunks = arena->spare = NULL;
    arena->p = arena->end = NULL;
}

static struct csni_arena_chunk *new_chunk(struct csni_arena *arena, size_t size) {
    struct csni_arena_chunk *chunk = csni_alloc(arena->alloc, size);
    if (!chunk) return NULL;
    if (size >= CSNI_HUGE_PAGE && arena->read_at_random) csni_pages_prefer_huge(chunk, size);
    chunk->size = size;
    arena->total += size;
    return chunk;
}

/* An object that would waste much of the current chunk gets a block of just its size; bumping goes on where it was. */
static void *alloc_big(struct csni_arena *arena, size_t size) {
    struct csni_arena_chunk *chunk = new_chunk(arena, size + sizeof *chunk);
    if (!chunk) return NULL;
    if (chunk->size >= POPULATE_MIN) csni_pages_populate(chunk, chunk->size);
    chunk->next = arena->chunks;
    chunk->bumped = arena->chunks ? arena->chunks->bumped : NULL;
    arena->chunks = chunk;
    return chunk_begin(chunk);
}

/* A chunk to bump through with room for `size`: a spare one, else a new one. Spare ones that are too small date from
 * when the arena was young, and go. */
static struct csni_arena_chunk *next_bumped(struct csni_arena *arena, size_t size) {
    while (arena->spare) {
        struct csni_arena_chunk *chunk = arena->spare;
        arena->spare = chunk->next;
        if (chunk->size - sizeof *chunk >= size) return chunk;
        free_chunk(arena, chunk);
    }
    struct csni_arena_chunk *chunk = new_chunk(arena, arena->chunk_size);
    if (!chunk) return NULL;
    if (arena->chunk_size < LARGEST_CHUNK)
        arena->chunk_size = arena->chunk_size < LARGEST_CHUNK / 2 ? arena->chunk_size * 2 : LARGEST_CHUNK;
    poison(chunk_begin(chunk), chunk->size - sizeof *chunk);
    return chunk;
}

/* Lets `end` move on by a step, or as far as an object of that size needs, to the end of the page. False: the chunk
 * has too little. */
static bool populate_more(struct csni_arena *arena, size_t size) {
    uint8_t *whole = arena->p ? chunk_end(arena->chunks->bumped) : NULL;
    if (arena->end == whole || size > (size_t)(whole - arena->p)) return false;
    size_t left = (size_t)(whole - arena->end), needed = size - (size_t)(arena->end - arena->p);
    size_t step = needed > POPULATE_STEP ? needed : POPULATE_STEP;
    step += (PAGE - ((uintptr_t)arena->end + step) % PAGE) % PAGE;
    if (step > left) step = left;
    csni_pages_populate(arena->end, step);
    arena->end += step;
    return true;
}

void *csni_arena_alloc(struct csni_arena *arena, size_t size) {
    if (size > SIZE_MAX - ALIGNMENT - sizeof(struct csni_arena_chunk)) return NULL;
    size_t step = (size_t)csni_align_up(size, ALIGNMENT);
    if ((!arena->p || step > (size_t)(arena->end - arena->p)) && !populate_more(arena, step)) {
        if (step > arena->chunk_size / 4) return alloc_big(arena, step);
        struct csni_arena_chunk *chunk = next_bumped(arena, step);
        if (!chunk) return NULL;
        chunk->next = arena->chunks;
        chunk->bumped = chunk;
        arena->chunks = chunk;
        arena->p = chunk_begin(chunk);
        arena->end = chunk->size < POPULATE_MIN ? chunk_end(chunk) : arena->p;
        if (arena->end == arena->p) (void)populate_more(arena, step);
    }
    uint8_t *ptr = arena->p;
    arena->p += step;
    unpoison(ptr, size);
    return ptr;
}

char *csni_arena_copy(struct csni_arena *arena, const void *bytes, size_t len) {
    if (len == SIZE_MAX) return NULL;
    char *copy = csni_arena_alloc(arena, len + 1);
    if (!copy) return NULL;
    if (len) memcpy(copy, bytes, len);
    copy[len] = 0;
    return copy;
}

struct csni_arena_mark csni_arena_get_mark(const struct csni_arena *arena) {
    return (struct csni_arena_mark){ arena->chunks, arena->p };
}

void csni_arena_release(struct csni_arena *arena, struct csni_arena_mark mark) {
    while (arena->chunks != mark.chunk) {
        struct csni_arena_chunk *chunk = arena->chunks;
        arena->chunks = chunk->next;
        if (chunk->bumped != chunk) {
            free_chunk(arena, chunk);
            continue;
        }
        poison(chunk_begin(chunk), chunk->size - sizeof *chunk);
        chunk->next = arena->spare;
        arena->spare = chunk;
    }
    struct csni_arena_chunk *bumped = mark.chunk ? mark.chunk->bumped : NULL;
    arena->p = bumped ? mark.p : NULL;
    arena->end = bumped ? chunk_end(bumped) : NULL;
    if (bumped) poison(arena->p, (size_t)(arena->end - arena->p));
}
