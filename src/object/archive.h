/* Archives of object files (`ar`): GNU, BSD and System V spellings of long names. */
#ifndef CSNI_ARCHIVE_H
#define CSNI_ARCHIVE_H

#include "base/core/span.h"

struct csni_archive_member {
    struct csn_str name;   /* a view into the archive */
    uint64_t mtime;        /* seconds since 1970; 0 in archives that are made to be reproducible */
    struct csni_span bytes; /* empty in a thin archive, where `name` is the path of a file: absolute, or from the archive's folder */
    uint64_t nested_at;     /* not 0: of an archive that was put into a thin one: `name` is that archive's path, there is its header */
};

/* A walk over the members. */
struct csni_archive {
    struct csni_span file, long_names;
    uint64_t off;          /* of the next header */
    bool is_thin;          /* its members are files of their own */
};

/* Whether bytes begin like an archive, thin ones included. */
bool csni_archive_recognize(struct csni_span file);

/* CSN_E_UNSUPPORTED: not an archive. */
csn_status csni_archive_open(struct csni_span file, struct csni_archive *out, struct csn_error *err);

/* The next member, symbol and name tables left out. CSN_NONE at the end. After a failure the walk is over. */
csn_status csni_archive_next(struct csni_archive *archive, struct csni_archive_member *out, struct csn_error *err);

/* The member whose header is at `off`. CSN_NONE: none is there, or a table. */
csn_status csni_archive_at(struct csni_span file, uint64_t off, struct csni_archive_member *out, struct csn_error *err);

/* The member `name`; of several, the first with that time, else the first. CSN_NONE: there is none. Linear.
 * CSN_E_UNSUPPORTED: also a thin archive, which has no members' bytes. */
csn_status csni_archive_find(struct csni_span file, struct csn_str name, uint64_t mtime, struct csni_archive_member *out,
                             struct csn_error *err);

#endif
