/* A .dwo file of an image: opened when it is first needed, closed when the last skeleton that names it is done. */
#ifndef CSNI_SPLIT_DWO_H
#define CSNI_SPLIT_DWO_H

#include <pthread.h>
#include <stdatomic.h>

#include "convert/dwarf/split_file.h"

/* Several skeletons name one file in a program that was optimised when it was linked. Starts as zeros with named_by and
 * users filled in; init makes the rest. */
struct csni_split_dwo {
    pthread_mutex_t lock;       /* while it is opened */
    struct csni_split_file file; /* file.dwarf is NULL where there is none that fits */
    const struct csni_unit *named_by; /* the first skeleton */
    atomic_uint users;          /* skeletons that are not done */
    bool asked;
    struct csn_error damage;    /* why there is none that fits; code 0: none was found at all */
};

void csni_split_dwo_init(struct csni_split_dwo *dwo, const struct csni_unit *named_by);
void csni_split_dwo_deinit(struct csni_split_dwo *dwo, struct csni_conversion *c);

/* Opens the file if no other thread has. What fails is left in `damage`, but for what ends the conversion. */
csn_status csni_split_dwo_take(struct csni_split_dwo *dwo, struct csni_conversion *c, const struct csni_dwarf *image,
                               struct csn_error *err);
/* One of the users is done. */
void csni_split_dwo_give_back(struct csni_split_dwo *dwo, struct csni_conversion *c);

/* Names longer than systems have them are not looked for. */
bool csni_split_dwo_has_name(const struct csni_unit *skeleton);

/* The failure of a file in which a skeleton's unit is not: shows both ids. */
csn_status csni_split_dwo_fail_other_id(const struct csni_split_file *file, const struct csni_unit *skeleton,
                                        struct csn_error *err);

#endif
