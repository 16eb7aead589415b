/* Reading columns of the caller's Arrow arrays: addresses and module ids, whatever type they have. */
#ifndef CSNI_ARROW_COLUMN_H
#define CSNI_ARROW_COLUMN_H

#include <callsign/arrow.h>

#include "base/core/span.h"

enum csni_arrow_layout {
    CSNI_ARROW_NUMBER,       /* `width` bytes each */
    CSNI_ARROW_OFFSETS_32,   /* bytes between 32-bit offsets */
    CSNI_ARROW_OFFSETS_64,
    CSNI_ARROW_FIXED,        /* `width` bytes each */
    CSNI_ARROW_VIEW          /* 16 bytes each: short strings inside, others in one of several buffers */
};

/* One array, without its dictionary. */
struct csni_arrow_column {
    enum csni_arrow_layout layout;
    bool is_binary, is_signed;
    uint32_t width;
    int64_t offset, length;
    const uint8_t *validity; /* NULL: no value is null */
    const uint8_t *values;   /* numbers, offsets or views */
    const uint8_t *bytes;
    const struct ArrowArray *array;
};

/* Module ids: strings, or indices of a dictionary of strings. */
struct csni_arrow_ids {
    struct csni_arrow_column values;
    struct csni_arrow_column indices; /* where has_dictionary */
    bool has_dictionary;
};

/* `what` names the column in messages. CSN_E_UNSUPPORTED: another type, or an array that does not fit its type. */
csn_status csni_arrow_open_addresses(const struct ArrowSchema *schema, const struct ArrowArray *array, const char *what,
                                     struct csni_arrow_column *out, struct csn_error *err);
csn_status csni_arrow_open_ids(const struct ArrowSchema *schema, const struct ArrowArray *array, const char *what,
                               struct csni_arrow_ids *out, struct csn_error *err);

/* `row` counts from the start of the slice, here and below. `validity` may be NULL. */
bool csni_arrow_is_valid(const uint8_t *validity, int64_t offset, int64_t row);

bool csni_arrow_is_null(const struct csni_arrow_column *column, int64_t row);
/* False: the value is null, or does not fit 64 bits. */
bool csni_arrow_address(const struct csni_arrow_column *column, int64_t row, uint64_t *out);

/* The entry of the dictionary (without one: the row itself) that a row names. False: it is null. */
bool csni_arrow_id_entry(const struct csni_arrow_ids *ids, int64_t row, int64_t *out);
/* How many entries there are. */
int64_t csni_arrow_id_entries(const struct csni_arrow_ids *ids);
/* The bytes of an entry. False: it is null. */
bool csni_arrow_id(const struct csni_arrow_ids *ids, int64_t entry, struct csn_str *out);

#endif
