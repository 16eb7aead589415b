/* What the files of the index store share: its open indexes, one search on its way, the record of it. */
#ifndef CSNI_INDEX_STORE_H
#define CSNI_INDEX_STORE_H

#include <callsign/store.h>

#include "base/arena.h"
#include "base/core/span.h"
#include "base/core/vec.h"

enum { CSNI_STORE_ID_MIN = 4, CSNI_STORE_ID_MAX = 32, CSNI_STORE_PATH_SIZE = 4096, CSNI_STORE_NAME_MAX = 256,
       CSNI_STORE_FILES_MAX = 1 << 16 /* of a folder are looked at */ };

struct csni_store_id {
    uint8_t bytes[CSNI_STORE_ID_MAX];
    size_t size; /* 0: not known */
};

/* What entries are found by, in the order in which they were added. */
enum csni_store_key {
    CSNI_KEY_PATH,   /* of the index, or of the image that it is in */
    CSNI_KEY_MODULE, /* that it was converted for: path of the image, and id */
    CSNI_KEY_ID,     /* its first bytes */
    CSNI_KEY_NAME,
    CSNI_KEY_LOOSE,  /* what all names that match the name begin with */
    CSNI_KEY_COUNT
};

/* A file that was opened, or cannot be: then it is kept so that nobody tries again. */
struct csni_store_entry {
    char *path;
    size_t path_len;
    char *name;              /* of the modules that it is for, as given; NULL: by the stem of the path */
    size_t name_size;
    struct csn_str stem;     /* the name, or the file name less its suffix, within `path` */
    struct csni_store_id id;
    struct csn_index *index; /* NULL: it cannot be opened */
    void *handle;            /* of the opener */
    csn_status status;       /* of opening it */
    char *error;             /* its text; NULL: none */
    size_t error_size;
    bool is_within_image;    /* opened by csn_index_open_embedded() */
    bool is_converted;       /* by the callback: `path` is that of the module's file, `id` the module's */
    uint32_t next[CSNI_KEY_COUNT]; /* entry + 1 of the same slot that was added behind it; 0: none */
};

struct csni_store_slot {
    uint32_t first, last; /* entry + 1; 0: none */
};

/* A file that was reported as having another build id, by its path. */
struct csni_store_reported {
    uint64_t hash;
};

/* The names of indexes in a folder, and the state of the folder that they were read in. */
struct csni_store_names {
    CSNI_VEC(char) bytes; /* each name with its NUL */
    bool is_kept;         /* they hold as long as the folder stays in that state, and for a short time */
    uint64_t device, inode;
    int64_t changed_s, changed_ns;
    int64_t read_ms;      /* by the clock that is never set */
};

struct csn_store {
    const struct csn_allocator *alloc;
    struct csni_arena arena; /* what the options point to */
    struct csn_store_options options;
    CSNI_VEC(struct csni_store_entry) entries;
    size_t given_count;      /* the first entries stay open */
    size_t open_count;       /* entries with an index, the given ones too */
    struct csni_store_slot *slots; /* `slot_count` for each key */
    uint32_t slot_count;     /* a power of two, or 0 */
    uint64_t generation;
    struct csni_store_names *folder_names; /* one for each folder; NULL: there is none */
    CSNI_VEC(struct csni_store_reported) reported; /* ascending; longer than their entries */
};

struct csni_location_record {
    uint32_t place;
    csn_status status;
    size_t path_at, path_len, text_at, text_len; /* in `bytes` */
};
struct csn_store_explanation {
    const struct csn_allocator *alloc;
    CSNI_VEC(struct csni_location_record) records;
    CSNI_VEC(char) bytes;
};

/* What the names in folders lead to, while it is not known whether a better one follows. Entry + 1; 0: there is none. */
struct csni_store_undecided {
    bool is_wanted;  /* an index without a build id may be put off */
    bool is_loose;   /* the name is not the one that is searched */
    size_t unproved; /* the first without a build id, where the module has one */
    size_t refused;  /* the first with another, of a loose name */
};

/* One search. */
struct csni_store_query {
    struct csn_store *store;
    struct csn_str name, base_name;
    struct csn_str image;       /* path of its file */
    bool is_own_path;           /* which leads this process elsewhere: nothing is searched there */
    struct csni_store_id id;
    struct csn_store_explanation *explanation; /* NULL: none is wanted */
    struct csni_store_undecided in_folders;
    const struct csn_index *found;
    struct csn_error *err;
};

struct csni_store_id csni_store_id_of(const uint8_t *bytes, size_t size);
/* Build ids may have been cut: GSYM files of version 1 keep 20 bytes. */
bool csni_store_id_equal(const struct csni_store_id *a, const struct csni_store_id *b);
struct csn_str csni_store_base_name(struct csn_str path);

/* Adds an entry, also for a file that cannot be opened. NULL: no memory. */
struct csni_store_entry *csni_store_open_entry(struct csn_store *store, struct csn_str path, bool within_image,
                                               struct csn_error *why);
/* Closes the entries from `first` on. */
void csni_store_close_from(struct csn_store *store, size_t first);
/* Forgets what was not found, if that is much. */
void csni_store_forget_misses(struct csn_store *store);

/* Room for one more entry, here and in the tables. False: no memory. */
bool csni_store_reserve_entry(struct csn_store *store);
/* The entry behind the last one is complete, and becomes one of the store. */
void csni_store_count_entry(struct csn_store *store);
/* Entries have changed or are gone. */
void csni_store_rebuild_tables(struct csn_store *store);
void csni_store_free_tables(struct csn_store *store);
uint32_t csni_store_path_hash(struct csn_str path);
uint32_t csni_store_module_hash(struct csn_str image, const struct csni_store_id *id);
uint32_t csni_store_id_hash(const struct csni_store_id *id); /* of one that is not too short to be compared */
uint32_t csni_store_name_hash(struct csn_str name);
uint32_t csni_store_loose_hash(struct csn_str name);
/* All entries with this hash, and others: whether it is the one is for the caller to see. NULL: there is no more. */
struct csni_store_entry *csni_store_first(const struct csn_store *store, enum csni_store_key key, uint32_t hash);
struct csni_store_entry *csni_store_next(const struct csn_store *store, enum csni_store_key key,
                                         const struct csni_store_entry *entry);
csn_status csni_store_find_open_by_id(struct csni_store_query *query);
/* Exactly that name, among the added indexes. */
csn_status csni_store_find_given_by_name(struct csni_store_query *query);
/* Those of them whose name matches otherwise, the best match first. */
csn_status csni_store_find_given_loosely(struct csni_store_query *query);
/* The only index that was added. */
csn_status csni_store_find_only_given(struct csni_store_query *query);
/* By the callback, once for each module. */
csn_status csni_store_find_by_converting(struct csni_store_query *query, const struct csn_store_module *module);

/* How well an index named `index` fits a module named `module`, both without folders: 0 not at all, CSNI_NAME_EXACT best. */
enum { CSNI_NAME_EXACT = 3 };
unsigned csni_module_name_match(struct csn_str module, struct csn_str index);
/* Length of what two names have in common if they match, except that one may have '-' where the other has '_'. */
size_t csni_module_name_root(struct csn_str name);
/* The file name less ".gsym", ".bsym" or ".sym". */
struct csn_str csni_store_stem(struct csn_str path);

/* Adds a location to the explanation. CSN_E_MEMORY or CSN_OK. */
csn_status csni_store_record(struct csni_store_query *query, uint32_t place, csn_status status, struct csn_str path,
                             const char *text);
void csni_explanation_clear(struct csn_store_explanation *explanation);

/* The index at a path, if it is not of another build. CSN_OK: query->found. CSN_NONE: it is not there, or not used. Below 0:
 * the search cannot go on. */
csn_status csni_store_try(struct csni_store_query *query, uint32_t place, struct csn_str path);
/* The same where a missing file is nothing to remember; `within_image`: only an index in a section of an object file. */
csn_status csni_store_try_if_there(struct csni_store_query *query, uint32_t place, const char *path, bool within_image);

/* The best of what was undecided; where there is none, what was refused is reported. */
csn_status csni_store_take_undecided(struct csni_store_query *query);

csn_status csni_store_make_names(struct csn_store *store, struct csn_error *err);
void csni_store_free_names(struct csn_store *store);
/* The names of indexes in a folder, each with its NUL, until the next call. Nothing where it cannot be read. */
csn_status csni_store_read_names(struct csn_store *store, size_t folder, struct csn_str *out, struct csn_error *err);
/* What a folder may have for the module. */
csn_status csni_store_find_in_folder_by_id(struct csni_store_query *query, const char *folder);
/* The same by name, in all folders. */
csn_status csni_store_find_in_folders_by_name(struct csni_store_query *query);

#endif
