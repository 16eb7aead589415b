/* Sections that inflate bit by bit. */
#include "object/section_stream.h"

#include "base/core/fail.h"
#include "base/core/file_map.h"
#include "inflate/inflater.h"
#include "object/object_private.h"

enum { FORGET = 256 << 10 }; /* of compressed data, given back at once */

struct csni_section_stream {
    struct csni_object_private *priv;
    struct csni_inflater *inflater;
    struct csni_span stored;      /* compressed data */
    uint64_t size, done;
    size_t forgotten;             /* of `stored`: given back */
    char label[CSNI_SECTION_LABEL_SIZE];
};

csn_status csni_object_stream_section(struct csni_object *object, uint32_t section, struct csni_section_stream **out,
                                      struct csn_error *err) {
    struct csni_object_private *priv = csni_object_priv(object);
    if (section >= object->section_count || csni_section_is_relocated(object, section)) return CSN_NONE;
    struct csni_span stored;
    struct csni_compressed source;
    CSNI_TRY(csni_section_stored(object, section, &stored, err));
    CSNI_TRY(csni_section_compressed(object, section, stored, &source, err));
    if (source.compression == CSNI_COMPRESSION_NONE || !source.size) return CSN_NONE;
    struct csni_section_stream *s = csni_alloc_zeroed(priv->alloc, 1, sizeof *s);
    if (!s) return csni_fail_memory(err, sizeof *s);
    s->priv = priv;
    s->stored = source.data;
    csni_section_label(object, section, s->label);
    csn_status status = csni_inflate_check(source.compression, source.data, source.size, s->label, err);
    if (status == CSN_OK) status = csni_section_reserve(priv, source.size, s->label, err);
    if (status == CSN_OK) {
        s->size = source.size;
        status = csni_inflater_create(source.compression, source.data, (size_t)source.size, s->label, priv->alloc,
                                      &s->inflater, err);
    }
    if (status == CSN_OK) *out = s;
    else csni_section_stream_close(s);
    return status;
}

uint64_t csni_section_stream_left(const struct csni_section_stream *s) { return s->size - s->done; }

csn_status csni_section_stream_read(struct csni_section_stream *s, uint8_t *out, size_t size, struct csn_error *err) {
    if (size > s->size - s->done)
        return csni_fail(err, CSN_E_ARGUMENT, s->label, s->done, "0x%zx bytes wanted, 0x%llx are left", size,
                         (unsigned long long)(s->size - s->done));
    CSNI_TRY(csni_inflater_read(s->inflater, out, size, err));
    s->done += size;
    atomic_fetch_add_explicit(&s->priv->inflated_bytes, size, memory_order_relaxed);
    size_t passed = csni_inflater_consumed(s->inflater) - s->forgotten;
    if (s->priv->file_is_mapped && (passed >= FORGET || s->done == s->size)) {
        csni_file_map_forget(s->stored.ptr + s->forgotten, passed);
        s->forgotten += passed;
    }
    return CSN_OK;
}

void csni_section_stream_close(struct csni_section_stream *s) {
    if (!s) return;
    struct csni_object_private *priv = s->priv;
    csni_inflater_destroy(s->inflater);
    csni_section_unreserve(priv, s->size);
    csni_free(priv->alloc, s, sizeof *s);
}
