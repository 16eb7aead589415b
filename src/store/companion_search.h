/* What the files of src/store/ share: the search, one request on its way, and trying one candidate. */
#ifndef CSNI_COMPANION_SEARCH_H
#define CSNI_COMPANION_SEARCH_H

#include <limits.h>
#include <sys/stat.h>

#include "base/arena.h"
#include "base/core/span.h"

#include <callsign/companion.h>

struct csn_companion_search {
    const struct csn_allocator *alloc;
    struct csni_arena arena; /* what the options point to */
    struct csn_companion_search_options options;
};

enum { CSNI_SKIPPED_MAX = 32 };
struct csni_file_id {
    dev_t device;
    ino_t inode;
};

/* One request. Candidates are tried one by one until one fits. */
struct csni_locate_query {
    const struct csn_companion_search *search;
    const struct csn_companion_request *request;
    struct csn_companion *out;
    struct csn_error *err;
    uint32_t skip;                 /* of the request, less what was skipped */
    struct csni_file_id skipped[CSNI_SKIPPED_MAX]; /* so that another path to one of them does not count again */
    uint32_t skipped_count;
    bool has_image;
    struct stat image;             /* of image_path */
    struct csn_error wrong_id;     /* the first candidate with another build id that fails the request; code CSN_OK: none */
    struct csn_error passed_over;  /* the first candidate that did not fit for another reason */
};

/* What a candidate must prove. */
enum csni_proof {
    CSNI_PROOF_ID,   /* an object with the build id of the request: nothing else told that it belongs to the image */
    CSNI_PROOF_CRC,  /* an object that has the CRC of the request, if any, and no other build id */
    CSNI_PROOF_NAME, /* an object that has no other build id */
    CSNI_PROOF_TIME, /* a file last modified when the request says, if it says so */
    CSNI_PROOF_NONE  /* a file: who asked sees for himself */
};

enum { CSNI_PATH_SIZE = PATH_MAX };

/* CSN_OK: it fits, and *query->out is filled. CSN_NONE: it does not exist, is the image itself, or was passed over, which
 * wrong_id or passed_over tells. Below 0: stop. */
csn_status csni_locate_try(struct csni_locate_query *query, const char *path, enum csni_proof proof);
/* The same for a path put together as printf does; one that is too long is no candidate. */
csn_status csni_locate_tryf(struct csni_locate_query *query, enum csni_proof proof, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The build-id trees of all debug directories: DIR/.build-id/ab/cdef.debug. */
csn_status csni_locate_by_id(struct csni_locate_query *query);
/* The debuginfod servers. */
csn_status csni_locate_on_servers(struct csni_locate_query *query);

/* Each kind of request. */
csn_status csni_locate_debug_file(struct csni_locate_query *query);
csn_status csni_locate_supplement(struct csni_locate_query *query);
csn_status csni_locate_dwp(struct csni_locate_query *query);
csn_status csni_locate_dwo(struct csni_locate_query *query);
csn_status csni_locate_object(struct csni_locate_query *query);
csn_status csni_locate_map(struct csni_locate_query *query);
csn_status csni_locate_pdb(struct csni_locate_query *query);
csn_status csni_locate_image(struct csni_locate_query *query);

/* The file that the user chose with csn_companion_search_options.debug_file: it fits, or the request fails. */
csn_status csni_locate_chosen(struct csni_locate_query *query, const char *path);

#endif
