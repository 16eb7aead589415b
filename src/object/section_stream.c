/* Sections that inflate bit by bit, into the place where a section that was read as a whole would be. */
#include "object/section_stream.h"

#include "base/fail.h"
#include "base/file_map.h"
#include "object/inflater.h"
#include "object/object_private.h"

enum { POPULATE = 512 << 10, FORGET = 4 << 20 };

struct csni_section_stream {
    struct csni_object_private *priv;
    struct csni_inflater *inflater;
    struct csni_span stored;      /* compressed data */
    uint8_t *bytes;
    size_t size, reached;
    size_t forgotten;             /* of `stored`: given back */
    uint32_t section;
    char label[CSNI_SECTION_LABEL_SIZE];
};

static csn_status open_stream(struct csni_section_stream *s, const struct csni_compressed *source, struct csn_error *err) {
    csni_section_label(&s->priv->object, s->section, s->label);
    CSNI_TRY(csni_inflate_check(source->compression, source->data, source->size, s->label, err));
    CSNI_TRY(csni_section_reserve(s->priv, source->size, s->label, err));
    s->size = (size_t)source->size;
    s->stored = source->data;
    s->bytes = csni_pages_alloc(s->size);
    if (!s->bytes) {
        csni_section_unreserve(s->priv, source->size);
        return csni_fail_memory(err, s->size);
    }
    s->priv->contents[s->section] = (struct csni_section_content){ { s->bytes, s->size }, true, true };
    return csni_inflater_create(source->compression, source->data, s->bytes, s->size, s->label, s->priv->alloc,
                                &s->inflater, err);
}

csn_status csni_object_stream_section(struct csni_object *object, uint32_t section, struct csni_section_stream **out,
                                      struct csn_error *err) {
    struct csni_object_private *priv = csni_object_priv(object);
    if (section >= object->section_count || priv->contents[section].is_read || csni_section_is_relocated(object, section))
        return CSN_NONE;
    struct csni_span stored;
    struct csni_compressed source;
    CSNI_TRY(csni_section_stored(object, section, &stored, err));
    CSNI_TRY(csni_section_compressed(object, section, stored, &source, err));
    if (source.compression == CSNI_COMPRESSION_NONE || !source.size) return CSN_NONE;
    struct csni_section_stream *s = csni_alloc_zeroed(priv->alloc, 1, sizeof *s);
    if (!s) return csni_fail_memory(err, sizeof *s);
    s->priv = priv;
    s->section = section;
    csn_status status = open_stream(s, &source, err);
    if (status == CSN_OK) *out = s;
    else csni_section_stream_close(s);
    return status;
}

struct csni_span csni_section_stream_bytes(const struct csni_section_stream *s) {
    return (struct csni_span){ s->bytes, s->size };
}

/* In steps, whose pages are made present just before, so that they are still in the cache when they are filled. */
csn_status csni_section_stream_reach(struct csni_section_stream *s, uint64_t end, struct csn_error *err) {
    if (end > s->size) end = s->size;
    while (s->reached < end) {
        size_t step = (size_t)end - s->reached < POPULATE ? (size_t)end - s->reached : POPULATE;
        csni_pages_populate(s->bytes + s->reached, step);
        CSNI_TRY(csni_inflater_reach(s->inflater, s->reached + step, err));
        s->reached += step;
        atomic_fetch_add_explicit(&s->priv->inflated_bytes, step, memory_order_relaxed);
        size_t behind = csni_inflater_consumed(s->inflater) - s->forgotten;
        if (s->priv->file_is_mapped && (behind >= FORGET || s->reached == s->size)) {
            csni_file_map_forget(s->stored.ptr + s->forgotten, behind);
            s->forgotten += behind;
        }
    }
    return CSN_OK;
}

void csni_section_stream_close(struct csni_section_stream *s) {
    if (!s) return;
    struct csni_object_private *priv = s->priv;
    csni_inflater_destroy(s->inflater);
    if (s->reached < s->size) csni_object_release_section(&priv->object, s->section);
    csni_free(priv->alloc, s, sizeof *s);
}
