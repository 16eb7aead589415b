/* What the tests of the Mach-O reader share: a small linked image with a bit of everything, and its debug map. */
#ifndef MACHO_SAMPLE_H
#define MACHO_SAMPLE_H

#include "object/object.h"
#include "wire/wire_macho.h"

enum { MACHO_SAMPLE_BASE = 0x10000, MACHO_SAMPLE_TEXT = 1, MACHO_SAMPLE_STUBS = 2, MACHO_SAMPLE_DATA = 3,
       MACHO_SAMPLE_BSS = 4, MACHO_SAMPLE_INFO = 5, MACHO_SAMPLE_STR_OFFSETS = 6 };
extern const uint8_t macho_sample_uuid[16];

/* Functions main (+0x100, 0x10 bytes), work (+0x110, private, 8 bytes), late (+0x118, weak); stubs at +0x120 and +0x128 for
 * puts and free; data counter (+0x200); a debug map that names main.o for main and libx.a(work.o) for work and late. */
void macho_sample(struct wire_macho *m, bool wide, bool big);

/* A file being made and opened. */
struct macho_sample_file {
    struct wire_macho macho;
    struct wire wire;
    struct csni_object *object;
    struct csn_error err;
};
void macho_sample_begin(struct macho_sample_file *f, bool wide, bool big);
csn_status macho_sample_open(struct macho_sample_file *f); /* builds and opens */
void macho_sample_end(struct macho_sample_file *f);

/* Reads all that can be read of a file, every byte of the results included. Gives what opening said. */
csn_status macho_sample_use(struct csni_span file, const struct csn_allocator *alloc, struct csn_error *err);

/* Opens and uses it with every truncation, and with each byte of every position (up to `flip_end`) damaged in turn. */
void macho_sample_damage(struct csni_span file, size_t flip_end);

#endif
