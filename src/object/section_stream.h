/* A compressed section that is read from its beginning, while it inflates. */
#ifndef CSNI_SECTION_STREAM_H
#define CSNI_SECTION_STREAM_H

#include "object/object.h"

struct csni_section_stream;

/* The size of the whole section counts against the limit while the stream is open. CSN_NONE: it is not compressed, must be
 * relocated, or this build lacks the library that inflates in pieces. The object must outlive the stream. */
csn_status csni_object_stream_section(struct csni_object *object, uint32_t section, struct csni_section_stream **out,
                                      struct csn_error *err);
/* How much is still to be read. */
uint64_t csni_section_stream_left(const struct csni_section_stream *stream);
/* The next `size` bytes, of which there must be as many. With the last byte the end of the data is checked. One thread at a
 * time. Errors as of csni_object_read_section(). */
csn_status csni_section_stream_read(struct csni_section_stream *stream, uint8_t *out, size_t size, struct csn_error *err);
void csni_section_stream_close(struct csni_section_stream *stream); /* NULL is fine */

#endif
