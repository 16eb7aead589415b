/* A compressed section that is read while it inflates. */
#ifndef CSNI_SECTION_STREAM_H
#define CSNI_SECTION_STREAM_H

#include "object/object.h"

struct csni_section_stream;

/* Reserves memory for the whole section, which counts against the limit like one that is read; pages come as they are
 * filled. CSN_NONE: it is not compressed, must be relocated, was read before, or this build lacks the library that inflates
 * in pieces. While the stream is open nobody else reads or releases the section; csni_object_discard() may give back what
 * was reached. After csni_section_stream_close() the section is as one that was read, if all of it was reached, else as one
 * that was not. The object must outlive the stream. */
csn_status csni_object_stream_section(struct csni_object *object, uint32_t section, struct csni_section_stream **out,
                                      struct csn_error *err);
/* The whole section; bytes that were not reached yet are zero. */
struct csni_span csni_section_stream_bytes(const struct csni_section_stream *stream);
/* Inflates until the first `end` bytes are there. Beyond the section: all. One thread at a time; others may read what was
 * reached before. Errors as of csni_object_read_section(). */
csn_status csni_section_stream_reach(struct csni_section_stream *stream, uint64_t end, struct csn_error *err);
void csni_section_stream_close(struct csni_section_stream *stream); /* NULL is fine */

#endif
