/* Looking up addresses in the symbols of an image. */
#include "routes/lookup.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* They are large enough for malloc() to ask the system for each: some are kept. */
enum { MOST_KEPT = 32 };
static pthread_mutex_t kept_lock = PTHREAD_MUTEX_INITIALIZER;
static struct lookup *kept;
static int kept_count;

struct lookup *lookup_create(void) {
    pthread_mutex_lock(&kept_lock);
    struct lookup *lookup = kept;
    if (lookup) {
        kept = lookup->next;
        kept_count--;
    }
    pthread_mutex_unlock(&kept_lock);
    if (lookup) return lookup;
    lookup = malloc(sizeof(*lookup));
    if (lookup) lookup->scratch = (struct name_scratch){ 0 };
    return lookup;
}

void lookup_destroy(struct lookup *lookup) {
    if (!lookup) return;
    pthread_mutex_lock(&kept_lock);
    bool is_kept = kept_count < MOST_KEPT;
    if (is_kept) {
        lookup->next = kept;
        kept = lookup;
        kept_count++;
    }
    pthread_mutex_unlock(&kept_lock);
    if (is_kept) return;
    free(lookup->scratch.ptr);
    free(lookup);
}

csn_status lookup_address(struct lookup *lookup, const struct symbols *symbols, uint64_t addr) {
    lookup->found = (struct csn_lookup){ 0 };
    csn_error_init(&lookup->error);
    csn_status status = csn_index_lookup_refs(symbols->index, addr, CSN_LOOKUP_DEFAULT, lookup->refs,
                                              CSN_INLINE_DEPTH_MAX + 1, &lookup->found, &lookup->error);
    if (status != CSN_OK) lookup->found.frame_count = 0;
    for (size_t i = 0; i < lookup->found.frame_count; i++)
        csn_index_resolve_into(symbols->index, &lookup->refs[i], lookup->piece, sizeof(lookup->piece), &lookup->frames[i]);
    return status;
}

struct csn_str lookup_path(struct lookup *lookup, size_t i) {
    size_t size = csn_frame_path(&lookup->frames[i], lookup->path, sizeof(lookup->path));
    return (struct csn_str){ lookup->path, size < sizeof(lookup->path) ? size : 0 };
}

struct csn_str lookup_name(struct lookup *lookup, struct symbols *symbols, size_t i) {
    return symbols_name(symbols, &lookup->frames[i], &lookup->scratch);
}

static void put_frame(struct lookup *lookup, struct symbols *symbols, size_t i, struct text *out) {
    const struct csn_frame *frame = &lookup->frames[i];
    struct csn_str name = lookup_name(lookup, symbols, i), path = lookup_path(lookup, i);
    text_put(out, i ? ",{" : "{");
    if (name.len) {
        text_put(out, "\"function\":");
        text_json(out, name.ptr, name.len);
        text_char(out, ',');
    }
    text_put(out, "\"offset\":");
    text_decimal(out, frame->offset);
    if (path.len) {
        text_put(out, ",\"file\":");
        text_json(out, path.ptr, path.len);
        if (frame->line) text_format(out, ",\"line\":%u", frame->line);
    }
    text_put(out, frame->flags & CSN_FRAME_INLINED ? ",\"inlined\":true" : ",\"inlined\":false");
    if (frame->flags & CSN_FRAME_UNCERTAIN) text_put(out, ",\"uncertain\":true");
    text_char(out, '}');
}

void lookup_put_frames(struct lookup *lookup, struct symbols *symbols, struct text *out) {
    text_char(out, '[');
    for (size_t i = 0; i < lookup->found.frame_count; i++) put_frame(lookup, symbols, i, out);
    text_char(out, ']');
}

static uint32_t reason_to_show(const struct lookup *lookup) {
    uint32_t reason = lookup->found.reason;
    for (size_t i = 0; reason == CSN_REASON_COMPLETE && i < lookup->found.frame_count; i++) reason = lookup->frames[i].reason;
    return reason;
}

const char *lookup_reason(const struct lookup *lookup, csn_status status) {
    uint32_t reason = reason_to_show(lookup);
    if (status < 0) return csn_error_text(&lookup->error);
    return reason == CSN_REASON_COMPLETE ? NULL : csn_reason_text(reason);
}

void lookup_put_json(struct lookup *lookup, struct symbols *symbols, uint64_t addr, csn_status status, struct text *out) {
    text_put(out, "{\"address\":\"");
    text_hex(out, addr);
    text_put(out, "\",\"frames\":");
    lookup_put_frames(lookup, symbols, out);
    const char *reason = lookup_reason(lookup, status);
    if (reason) text_json_member(out, "reason", reason);
    text_char(out, '}');
}

bool symbols_key_of_id(const char *text, size_t size, struct symbols_key *out) {
    char copy[ID_TEXT_SIZE];
    *out = (struct symbols_key){ .name = "" };
    if (size == 0 || size >= sizeof(copy)) return false;
    memcpy(copy, text, size);
    copy[size] = 0;
    if ((size == 33 || strchr(copy, '-')) && debug_id_canonical(copy, out->debug_id)) return true;
    return build_id_canonical(copy, size, out->build_id);
}

enum pool_status symbols_acquire(struct index_pool *pool, const struct symbols_key *key, struct symbols **out,
                                 char *why, size_t why_size) {
    struct symbols_key by_debug_id = *key, by_build_id = *key;
    enum pool_status status = POOL_NONE;
    by_debug_id.build_id[0] = by_build_id.debug_id[0] = 0;
    if (*key->build_id) status = pool_acquire(pool, &by_build_id, true, out, why, why_size);
    if (status == POOL_NONE && *key->debug_id) status = pool_acquire(pool, &by_debug_id, true, out, why, why_size);
    return status;
}
