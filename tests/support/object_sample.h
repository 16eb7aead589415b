/* What the tests of the object layer share: compressed sections, and a small ELF file with a bit of everything. */
#ifndef OBJECT_SAMPLE_H
#define OBJECT_SAMPLE_H

#include "object/object.h"
#include "wire/wire_elf.h"

enum sample_compression { SAMPLE_PLAIN, SAMPLE_ZLIB, SAMPLE_ZSTD, SAMPLE_ZDEBUG };

/* Whether this build can compress and inflate that way. */
bool sample_can_compress(enum sample_compression compression);

/* The content of a compressed section: header and data. `promised_size` stands in the header. */
void sample_compress(struct wire *out, enum sample_compression compression, bool wide, struct csni_span bytes,
                     uint64_t promised_size);

/* Adds .debug_NAME or .zdebug_NAME holding `bytes`. */
uint32_t sample_add_debug(struct wire_elf *elf, enum sample_compression compression, const char *name,
                          struct csni_span bytes);

/* 20,000 bytes that compress well and differ from each other. */
enum { SAMPLE_TEXT_SIZE = 20000 };
struct csni_span sample_text(void);

extern const uint8_t sample_build_id[20];

/* A linked executable: .text, a build id, both symbol tables, .debug_str plain and the sample text compressed in
 * .debug_info, two segments. */
void sample_elf(struct wire_elf *elf, bool wide, bool big);

/* The bytes of a file in a heap block of exactly their size, so that a sanitizer sees every read past them. */
struct csni_span sample_copy(struct csni_span bytes, size_t size);
void sample_free(struct csni_span copy);

#endif
