/* Putting an index into an object file: what all containers share. */
#ifndef CSNI_EMBED_PRIVATE_H
#define CSNI_EMBED_PRIVATE_H

#include "embed/assembly.h"
#include "formats/gsection/write/gsection_strings.h"
#include "object/object.h"

/* An index on its way into an object. */
struct csni_payload {
    struct csni_gsection_pieces index; /* the section's bytes */
    struct csni_span strings;       /* of a section of their own; empty: there is none */
    struct csn_str strings_name;
    struct csni_object *from;       /* the object it was taken from; NULL: from a file of its own */
    struct csni_span uuid;          /* build id; empty: not known */
    struct csni_gsym tables;        /* as the index was before it was made to fit; no functions: not known */
    const struct csn_allocator *alloc;
    uint8_t *own;                   /* memory that `index` needs */
    size_t own_size;
};

static inline uint64_t csni_payload_size(const struct csni_payload *p) {
    uint64_t size = 0;
    for (unsigned i = 0; i < CSNI_GSECTION_PIECES; i++) size += p->index.pieces[i].size;
    return size;
}

/* Takes the index out of `file`: a GSYM file, or an object with an index in its section. Release with
 * csni_payload_release(). CSN_E_NOT_FOUND: there is none in it. */
csn_status csni_payload_open(struct csni_payload *p, struct csni_span file, const struct csn_allocator *alloc,
                             struct csn_error *err);
void csni_payload_release(struct csni_payload *p);
/* Makes it one for that object: the section of its strings, unless it is shared, gets the name that the container has. */
csn_status csni_payload_fit(struct csni_payload *p, const struct csni_object *object, struct csn_error *err);
/* Gives it the object's addresses if its own count from the image's first byte. CSN_E_ARGUMENT: no function lies in the
 * object's code, unless `force`. Call it after csni_payload_fit(), which reads the index in its file. */
csn_status csni_payload_place(struct csni_payload *p, const struct csni_object *object, bool force, struct csn_error *err);
/* Adds the section's bytes. */
void csni_payload_add(const struct csni_payload *p, struct csni_assembly *out);

/* Strings that are shared may stand in a compressed section. */
static const uint64_t CSNI_EMBED_INFLATE_MAX = (uint64_t)4 << 30;

/* What to do, for one image. */
struct csni_embed {
    struct csni_object *object;
    const struct csni_payload *payload;
    uint32_t flags;                 /* CSN_EMBED_ */
};

/* How the strings' section relates to what the object has. */
enum csni_strings_plan {
    CSNI_STRINGS_NONE,     /* the index has its strings inside */
    CSNI_STRINGS_NEW,      /* a new section */
    CSNI_STRINGS_REPLACE,  /* the section of that name gets another content */
    CSNI_STRINGS_THERE     /* the object has them already */
};
/* *out_section: the object's section of that name. CSN_E_FORMAT: it has one with other strings. */
csn_status csni_plan_strings(const struct csni_embed *e, enum csni_strings_plan *out, uint32_t *out_section,
                             struct csn_error *err);

/* For containers where nothing but new sections can be added. *out_adds_strings: one for the strings, too.
 * CSN_E_UNSUPPORTED: a section is there that had to get another content. */
csn_status csni_plan_added(const struct csni_embed *e, bool *out_adds_strings, struct csn_error *err);

/* Of a program: bytes from `end` on, where all that its headers tell of ends, are data that it finds by their place: from the end
 * of the file, or from where its sections end. Up to `file_end`; zeros are padding. CSN_E_UNSUPPORTED: there are such, unless
 * CSN_EMBED_FORCE. */
csn_status csni_check_appended(uint32_t flags, struct csni_span file, uint64_t end, uint64_t file_end, struct csn_error *err);

/* One for each container: assembles the image with the index inside. */
csn_status csni_embed_elf(const struct csni_embed *e, struct csni_assembly *out, struct csn_error *err);
csn_status csni_embed_macho(const struct csni_embed *e, struct csni_assembly *out, struct csn_error *err);
csn_status csni_embed_pe(const struct csni_embed *e, struct csni_assembly *out, struct csn_error *err);

/* A universal file in which image `idx` is replaced. The other images stay as they are, at new places. */
csn_status csni_assemble_universal(struct csni_span file, uint32_t idx, const struct csni_assembly *image,
                                   struct csni_assembly *out, struct csn_error *err);

#endif
