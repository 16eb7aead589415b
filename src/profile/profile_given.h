/* What the inputs say of functions and lines that no index knows: where a function begins, and columns. It outlives the names that
 * an index gives: Go's compiler refuses profiles without first lines (-pgo). */
#ifndef CSNI_PROFILE_GIVEN_H
#define CSNI_PROFILE_GIVEN_H

#include "profile/profile_private.h"

/* A name of a function of the inputs. */
struct given_function {
    uint32_t name, file;     /* strings; 0: no file */
    uint32_t start_line;     /* 0: the inputs have several functions of that name in files called so */
};

struct given_lines {
    uint32_t first, count;
};

struct profile_given {
    const struct csn_profile *p;
    CSNI_VEC(struct given_function) functions;
    struct csni_profile_table table;
    struct given_lines *lines; /* by location */
    size_t location_count;
};

/* Before the profile gets names of an index. After a failure: csni_profile_given_deinit(), as always. */
csn_status csni_profile_given_init(struct profile_given *given, const struct csn_profile *profile, struct csn_error *err);
void csni_profile_given_deinit(struct profile_given *given);
/* Whether the location is in a line of the function by the inputs, inlined calls or not. */
bool csni_profile_given_line(const struct profile_given *given, uint32_t location, const struct profile_function *function);
/* Where the function begins that an index tells at a location. 0: no input knows. */
uint32_t csni_profile_given_start(const struct profile_given *given, uint32_t location, const struct profile_function *function);
/* The column that the inputs have at a location, in the same line of the same function. 0: none. */
uint32_t csni_profile_given_column(const struct profile_given *given, uint32_t location, const struct profile_function *function,
                                   uint32_t line);

#endif
