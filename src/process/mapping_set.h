/* The mappings of processes, found by pc and by name in logarithmic time. Those of one process do not overlap. */
#ifndef CSNI_MAPPING_SET_H
#define CSNI_MAPPING_SET_H

#include <callsign/process.h>

#include "base/core/vec.h"
#include "process/live_file.h"

struct csni_mapping {
    uint64_t pid, start, end, file_off;
    uint64_t image_start;  /* of an image as a whole; the start may since have been mapped over */
    uint64_t sequence;     /* grows with each mapping that is added */
    uint64_t bias;         /* as the image's file has it, if `has_bias`: it does not depend on other mappings */
    struct csni_live_node node; /* of the file, where the process is running */
    char *path;            /* of path_len + 1 bytes; NULL: the slot is free */
    size_t path_len, name_at; /* where its base name begins */
    bool has_bias;
    bool is_image, is_executable;
    bool is_of_other_file; /* not of the one that is at the path by now */
    uint8_t build_id_size, build_id[CSN_BUILD_ID_MAX];
};

struct csni_mapping_set {
    const struct csn_allocator *alloc;
    CSNI_VEC(struct csni_mapping) slots;
    CSNI_VEC(uint32_t) free_slots;
    CSNI_VEC(uint32_t) by_start; /* slots by process and start */
    CSNI_VEC(uint32_t) by_name;  /* by base name, path, process, file offset, start */
    CSNI_VEC(uint64_t) scratch;
    uint64_t next_sequence;
    size_t max_count;            /* the oldest are dropped */
};

void csni_mapping_set_init(struct csni_mapping_set *set, const struct csn_allocator *alloc, size_t max_count);
void csni_mapping_set_deinit(struct csni_mapping_set *set);

/* Adds a copy, its path copied too. The bytes that it covers are taken away from other mappings of its process.
 * CSN_OK; CSN_E_MEMORY: nothing changed. Logarithmic, but for moving arrays of 4 bytes a mapping. */
csn_status csni_mapping_set_add(struct csni_mapping_set *set, const struct csni_mapping *mapping, struct csn_str path);

/* The part of a path behind its last slash. */
struct csn_str csni_path_base_name(struct csn_str path);

/* The mapping at a place in by_start or by_name. */
static inline struct csni_mapping *csni_mapping_set_at_start(const struct csni_mapping_set *set, size_t place) {
    return &set->slots.items[set->by_start.items[place]];
}
static inline struct csni_mapping *csni_mapping_set_at_name(const struct csni_mapping_set *set, size_t place) {
    return &set->slots.items[set->by_name.items[place]];
}
static inline struct csn_str csni_mapping_path(const struct csni_mapping *mapping) {
    return (struct csn_str){ mapping->path, mapping->path_len };
}

/* Of the process, the place in by_start of the first mapping that ends after pc. */
size_t csni_mapping_set_first_after(const struct csni_mapping_set *set, uint64_t pid, uint64_t pc);
/* The mapping that has the pc; NULL: none. */
struct csni_mapping *csni_mapping_set_find(const struct csni_mapping_set *set, uint64_t pid, uint64_t pc);
/* The place in by_name of the first mapping of that path in that process or a later one. */
size_t csni_mapping_set_first_of(const struct csni_mapping_set *set, struct csn_str path, uint64_t pid);
/* That of the first mapping whose path has this base name. */
size_t csni_mapping_set_first_named(const struct csni_mapping_set *set, struct csn_str base_name);

#endif
