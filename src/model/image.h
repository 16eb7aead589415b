/* What a source tells about the image that its functions belong to. */
#ifndef CSNI_IMAGE_H
#define CSNI_IMAGE_H

#include "base/core/span.h"
#include "base/core/vec.h"

struct csni_text_range {
    uint64_t start, end;
};

/* What the image is, in words that Breakpad and others use: "Linux", "x86_64", "libc.so.6"; empty: not known. */
struct csni_identity {
    struct csn_str os, arch, name;
    uint32_t age;     /* counts builds of one GUID: PE */
};

/* Records of a source that mean something to writers of its own format only. */
struct csni_extra {
    uint32_t format;  /* enum csn_format */
    uint32_t records; /* that are lost where another format is written; 0: it tells of the image or the producer */
    struct csn_str text;
};

/* One of many binaries in an image (a Symbian ROM). Where it has an address, those of its functions are as they run;
 * where it has none, they are offsets from its start, and addresses of different binaries mean nothing to each other. */
struct csni_binary {
    struct csn_str name;
    uint64_t address;     /* 0: none */
};

struct csni_rename {
    uint32_t binary;      /* its number in csni_image.binaries */
    struct csn_str name;  /* path on the device */
};

/* One of the object files of an archive: its functions have addresses from `start` up to the next one's. */
struct csni_member {
    struct csn_str name;
    uint64_t start;
};

/* Strings and arrays belong to whoever made the image and last as long as the model that has a copy of it. */
struct csni_image {
    uint64_t base_address;
    uint32_t base_off;                       /* of base_address from the image's first byte; not 0: an index's that is a function */
    bool has_base_address, big_endian;
    bool from_first_byte;                    /* addresses count from the image's first byte, wherever it is linked: base_address is 0 */
    struct csni_span uuid;
    struct csni_identity identity;
    struct csn_str file_name;                /* of the input, without its folder; may be empty */
    CSNI_VEC(struct csni_text_range) text;   /* executable ranges: ascending, not touching; none: not known */
    CSNI_VEC(struct csni_text_range) bounds; /* of functions, ascending, from tables without names; end 0: not known */
    bool symbols_lack_sizes;                 /* a function of size 0 reaches to the next one; else only the last does */
    CSNI_VEC(struct csni_extra) extras;      /* in input order */
    /* The one batch holds an index as it is: every function, row and file of it stays, files keep their numbers, and
     * merged functions stay where they were merged. */
    bool exact;
    /* An image of many binaries; others have none. */
    const struct csni_binary *binaries;
    const struct csni_rename *renames;       /* ascending by binary */
    uint32_t binary_count, rename_count;
    uint32_t checksum;                       /* 0: none */
    CSNI_VEC(struct csni_member) members;    /* ascending by start; none: the image is no archive */
};

/* Where the image's first byte is, as far as is known; else 0. */
static inline uint64_t csni_image_first_byte(const struct csni_image *image) {
    return image->has_base_address ? image->base_address - image->base_off : 0;
}

/* The image's base address if it has one at or below `addr`, else `otherwise`. */
static inline uint64_t csni_image_base_below(const struct csni_image *image, uint64_t addr, uint64_t otherwise) {
    return image->has_base_address && image->base_address <= addr ? image->base_address : otherwise;
}

#endif
