/* A file mapped read-only. */
#ifndef CSNI_FILE_MAP_H
#define CSNI_FILE_MAP_H

#include "base/core/span.h"

struct csni_file_map {
    struct csni_span bytes; /* empty for an empty file */
    void *address;
    size_t mapped;
};

/* Refuses directories and other things that are not regular files, with a text of its own. Pipes and the like are
 * refused too, without waiting for a writer. A file whose size is 0 but which has bytes (/proc) is copied. Error
 * texts do not name the file. */
csn_status csni_file_map_open(struct csni_file_map *map, const char *path, struct csn_error *err);
#ifndef _WIN32
/* The same, and which file it is. */
struct csni_file_node {
    uint64_t device, inode; /* as stat() has them */
};
csn_status csni_file_map_open_node(struct csni_file_map *map, const char *path, struct csni_file_node *node, struct csn_error *err);
#endif
void csni_file_map_close(struct csni_file_map *map); /* NULL, a zeroed one and a second time are fine */

/* The map as a file of the public interface, which then owns it. CSN_OK; CSN_E_MEMORY: the map stays the caller's. */
struct csn_file;
csn_status csni_file_of_map(struct csni_file_map *map, struct csn_file **out, struct csn_error *err);

/* The pages within [ptr, ptr + size) of a file mapping are not needed for now: they leave memory and come back from the
 * file when touched. Only for pointers into a file mapping. */
void csni_file_map_forget(const void *ptr, size_t size);

/* Anonymous memory in whole pages, zeroed, outside the csn_allocator because its pages can be given back one by one;
 * for sections of hundreds of megabytes. NULL when out of memory. */
void *csni_pages_alloc(size_t size);
void csni_pages_free(void *ptr, size_t size);
/* Makes all whole pages within [ptr, ptr + size) of writable memory present, at less cost than a fault for each. A hint:
 * where the kernel cannot, nothing happens. */
void csni_pages_populate(void *ptr, size_t size);
/* Memory about to be filled, and then read here and there for long: huge pages save a miss in the page tables with each
 * miss in the caches. A hint. */
enum { CSNI_HUGE_PAGE = 2 << 20 };
void csni_pages_prefer_huge(void *ptr, size_t size);
/* Gives back the whole pages within [ptr, ptr + size): their content is lost and reads as zero. */
void csni_pages_discard(void *ptr, size_t size);

#endif
