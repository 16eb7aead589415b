/* What the files of src/open/ share. */
#ifndef CSNI_OPENER_H
#define CSNI_OPENER_H

#include <callsign/open.h>

#include "object/object.h"
#include "store/index_cache.h"

struct csn_opener {
    const struct csn_allocator *alloc;
    struct csn_opener_options options;
    struct csn_companion_search *search;  /* with servers, if the options say so */
    struct csn_companion_search *local;   /* without */
    bool has_servers;
    uint64_t settings;                    /* hash of where debug files are searched */
};

/* An image on disk, on its way to an index. */
struct csni_image {
    struct csn_opener *opener;
    const char *path;
    const char *shown_path;               /* for the entry, where `path` lasts only as long as a process; else NULL */
    const struct csn_file *file;          /* NULL: a conversion opens the path again */
    struct csni_span whole;               /* bytes of the file */
    struct csni_span bytes;               /* of the image in a universal file */
    const char *arch;                     /* NULL: the only image */
    struct csni_cache_source source;
    struct csni_cache_key key;            /* size 0: it is not kept */
    uint32_t age;                         /* of a PE image; else 0 */
    bool has_debug_info;
    bool lacks_debug_file, lacks_pdb;     /* one was searched in vain */
    bool is_poor;                         /* the conversion found symbols only */
    struct csn_opened *opened;            /* never NULL */
    struct csn_convert_report *report;    /* never NULL */
    void (*before_disk)(void *context, uint64_t index_bytes); /* the conversion is done, and waits for the disk; may be NULL */
    void *disk_context;
};

/* Reads identity and signature of the image in image->bytes. A file that is no object is kept by its htlhash. */
csn_status csni_image_identify(struct csni_image *image, struct csn_error *err);
/* From the cache, or converted. `out` NULL: the entry alone is wanted, and its checksum is compared. */
csn_status csni_image_open(struct csni_image *image, const struct csn_index_options *options, struct csn_index **out,
                           struct csn_error *err);
/* Converts without a cache. */
csn_status csni_image_convert_to_memory(struct csni_image *image, struct csn_bytes *out, struct csn_error *err);
/* The debug file that an image without debug information names, on this machine. */
csn_status csni_image_debug_file(const struct csn_opener *opener, const char *path, struct csni_object *object,
                                 struct csn_companion *out);
csn_status csni_open_bytes(struct csn_bytes *bytes, const struct csn_index_options *options, struct csn_index **out,
                           struct csn_error *err);

#endif
