/* Object files that hold an index and nothing else. */
#ifndef CSNI_NEW_OBJECT_H
#define CSNI_NEW_OBJECT_H

#include "base/sink.h"
#include "object/object.h"

/* A section to be written: its bytes are those of `head`, then those of `tail`. */
struct csni_new_section {
    struct csn_str name;
    struct csni_span head, tail;
    bool is_strings;
    uint64_t off;           /* in the file, set by csni_new_object_lay_out() */
};
static inline uint64_t csni_new_section_size(const struct csni_new_section *s) {
    return (uint64_t)s->head.size + s->tail.size;
}
enum { CSNI_INDEX_ALIGN = 16 }; /* of a section with an index; strings are not aligned */

enum { CSNI_NEW_SECTIONS_MAX = 2 };
struct csni_new_object {
    const struct csni_object *like; /* container, machine and byte order; NULL: ELF for no machine, of 64 bits */
    bool big_endian;                /* where `like` is NULL */
    struct csni_new_section sections[CSNI_NEW_SECTIONS_MAX];
    uint32_t section_count;
};

/* The names of an index's section and of its own string table, in objects like `like`. `late`: of revision C. */
const char *csni_index_section_name(const struct csni_object *like);
const char *csni_index_strings_name(const struct csni_object *like, bool late);

/* Gives each section its place. CSN_E_UNSUPPORTED: objects of that container cannot be written. CSN_E_LIMIT: too large for it. */
csn_status csni_new_object_lay_out(struct csni_new_object *object, struct csn_error *err);
/* Writes an object that was laid out. */
csn_status csni_new_object_write(const struct csni_new_object *object, const struct csn_allocator *alloc,
                                 const struct csni_sink *sink, struct csn_error *err);

#endif
