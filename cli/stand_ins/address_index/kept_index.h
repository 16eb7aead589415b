/* The address index of one object in the cache folder: opened where an earlier run left it, made once by one process. */
#ifndef CALLSIGN_CLI_KEPT_INDEX_H
#define CALLSIGN_CLI_KEPT_INDEX_H

#include "stand_ins/address_index/address_index.h"

struct kept_index {
    char *object_path;
    char *path;              /* of the kept file; NULL: there is no cache folder */
    struct file_identity object;
    struct address_index *index; /* NULL: none */
    bool is_given_up;        /* it could not be made */
};

/* For the object at a path and the words that decide about answers, of which the first is the dialect. False: it is
 * no regular file. */
bool kept_index_open(struct kept_index *out, const char *object_path, const char *const *words, size_t count);
void kept_index_close(struct kept_index *index);
/* An index that is damaged is not used again, so that another one can be made. */
void kept_index_drop_damaged(struct kept_index *index);

/* Makes an index at a path, or in memory; NULL: it cannot be made. */
typedef struct address_index *kept_index_maker(void *context, const char *path);
/* Makes the index, if no other process does that now. */
void kept_index_make(struct kept_index *index, kept_index_maker *make, void *context);
/* Has another process make it, for which nobody waits. At the end of a run. */
void kept_index_make_later(struct kept_index *index, kept_index_maker *make, void *context);

#endif
