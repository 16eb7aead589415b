/* Where the bytes of image files are loaded: their program headers, read once for many questions. */
#ifndef CSNI_PROCESS_IMAGES_H
#define CSNI_PROCESS_IMAGES_H

#include "base/core/alloc.h"
#include "base/core/span.h"
#include "base/core/vec.h"

enum { CSNI_PROCESS_IMAGES_KEPT = 1 << 14, CSNI_PROCESS_ID_MAX = 32 };

struct csni_process_segment {
    uint64_t file_off, addr, file_size;
    bool exec;
};

/* A file of this machine that is the image of a name. */
struct csni_named_file {
    char *text; /* the name, a NUL, the path, a NUL */
    size_t name_len, path_len;
};

struct csni_process_image {
    struct csn_str key;                    /* its path; of a running process's file, which file it is */
    struct csni_process_segment *segments; /* NULL: the file cannot be read */
    uint32_t segment_count;
    bool has_code; /* false: segments have no bytes */
    uint64_t base;
    uint8_t build_id[CSNI_PROCESS_ID_MAX];
    uint8_t build_id_size; /* 0: it has none */
};

/* What a path led to. */
struct csni_image_memo {
    uint32_t image; /* number of the item + 1; 0: none that can be read */
    uint8_t path_len; /* 0: nothing is remembered */
    char path[123];
};
enum { CSNI_IMAGE_MEMOS = 16 };

/* A hash table, which is emptied when CSNI_PROCESS_IMAGES_KEPT are in it. Files that cannot be read are in it, too. */
struct csni_process_images {
    const struct csn_allocator *alloc;
    bool no_files;
    bool no_memory; /* an image was not read for want of memory */
    CSNI_VEC(struct csni_named_file) named; /* by length and bytes of their names */
    struct csni_image_memo memos[CSNI_IMAGE_MEMOS]; /* logs name few images over and over */
    CSNI_VEC(struct csni_process_image) items;
    CSNI_VEC(uint32_t) slots; /* number of the item + 1; 0: free; a power of two of them */
};

void csni_process_images_init(struct csni_process_images *images, const struct csn_allocator *alloc, bool no_files);
void csni_process_images_deinit(struct csni_process_images *images);

/* From here on, images of that path or base name are the file at `path`. Both are copied. False: no memory. */
bool csni_process_images_name(struct csni_process_images *images, struct csn_str name, const char *path);

/* The image of a path: the file that was named for it, or else the file there, but none with another build id (which may be cut, or
 * empty: unknown). NULL: it is no object file that can be read, or `no_memory` was set. Lives until the next call. */
const struct csni_process_image *csni_process_images_get(struct csni_process_images *images, struct csn_str path,
                                                         struct csni_span build_id);

/* The image that a running process has mapped. NULL: it is not known, or `no_memory` was set. Without segments: the file is not
 * to be had, but its build id may be known. Lives until the next call. */
struct csni_live_file;
const struct csni_process_image *csni_process_images_get_live(struct csni_process_images *images,
                                                              const struct csni_live_file *file);

/* Whether there is a file at the path that begins with other bytes. */
bool csni_process_images_file_differs(const struct csni_process_images *images, struct csn_str path, struct csni_span beginning);

/* The address of a byte of the file, and the byte at an address; false: no segment has it. */
bool csni_process_segments_addr(const struct csni_process_segment *segments, uint32_t count, uint64_t file_off, uint64_t *out);
bool csni_process_segments_file_off(const struct csni_process_segment *segments, uint32_t count, uint64_t addr, uint64_t *out);
bool csni_process_image_addr(const struct csni_process_image *image, uint64_t file_off, uint64_t *out);

/* The address of the first byte of an executable mapping of `size` bytes of the file. Mappings are of whole pages, so that
 * the byte may belong to the segment before, and a page may have parts of several executable segments: then that one is meant
 * which gives one of the addresses in `likely`, the first sooner than the second, or else has most of the bytes. */
bool csni_process_image_code_addr(const struct csni_process_image *image, uint64_t file_off, uint64_t size,
                                  const uint64_t likely[2], uint64_t *out);

#endif
