/* Telling equal strings and files apart from new ones, and numbering them in order of first appearance. */
#ifndef CSNI_DISTINCT_H
#define CSNI_DISTINCT_H

#include "model/model.h"

struct csni_distinct_string {
    struct csn_str text;
    uint64_t hash;
    uint32_t number; /* in the model; 0: none yet */
    union {
        uint32_t uses;   /* functions and inlined calls of this name, until the busy ones are chosen */
        uint32_t rank;   /* of the first functions that have it (model_names.c), from then on; 0: none are known */
    };
};

/* All zeros but for `items.alloc` at first. */
struct csni_distinct_strings {
    CSNI_VEC(struct csni_distinct_string) items;
    uint32_t *slots; /* hash table: index in items + 1; a power of two */
    size_t slot_count;
};

/* *out_index: of the string in `items`, there now if it was not before. False when out of memory. */
bool csni_distinct_strings_add(struct csni_distinct_strings *strings, struct csn_str text, uint64_t hash,
                               uint32_t *out_index);
void csni_distinct_strings_deinit(struct csni_distinct_strings *strings);

/* Calls model->rename once for each string whose hash has CSNI_NAME_BIT: names, not files. New names live in the arena. */
#define CSNI_NAME_BIT (UINT64_C(1) << 60) /* away from the bits that tables and shards use */
#define CSNI_USED_BIT (UINT64_C(1) << 59) /* the same */
csn_status csni_distinct_strings_rename(struct csni_distinct_strings *strings, const struct csni_model *model,
                                        struct csni_arena *arena, struct csn_error *err);

struct csni_distinct_file {
    struct csni_distinct_string *directory, *base; /* NULL: empty */
    uint64_t uses;
    uint32_t number; /* in order of first appearance, from 1 */
};

/* All zeros but for `items.alloc` at first. */
struct csni_distinct_files {
    CSNI_VEC(struct csni_distinct_file) items;
    uint32_t *slots;
    size_t slot_count;
};

/* The file's entry, which is new with 0 uses, valid until the next call; NULL when out of memory. */
struct csni_distinct_file *csni_distinct_files_add(struct csni_distinct_files *files,
                                                   struct csni_distinct_string *directory,
                                                   struct csni_distinct_string *base);
void csni_distinct_files_deinit(struct csni_distinct_files *files);

#endif
