/* The rows of the caller's array: addresses with their modules, or lists of these. */
#ifndef CSNI_ARROW_INPUT_H
#define CSNI_ARROW_INPUT_H

#include "arrow/arrow_column.h"

struct csni_arrow_input {
    int64_t rows;
    const uint8_t *row_validity;     /* of the outer array: list or struct; NULL: none is null */
    int64_t row_offset;
    /* Of lists: frames [starts, ends) of a row within the frames below. */
    bool is_list;
    unsigned list_width;             /* bytes of an offset */
    const uint8_t *list_offsets;
    /* Addresses: of the rows, or of all frames of the lists. */
    int64_t count;
    const uint8_t *item_validity;    /* of the struct around module and address; NULL: none is null */
    int64_t item_offset;
    bool has_ids;
    struct csni_arrow_ids ids;
    struct csni_arrow_column addresses;
};

csn_status csni_arrow_input_open(const struct ArrowSchema *schema, const struct ArrowArray *array,
                                 const struct csn_arrow_options *options, struct csni_arrow_input *out,
                                 struct csn_error *err);

/* Frames [*start, *end) of a list; false: the list is null. */
bool csni_arrow_input_list(const struct csni_arrow_input *in, int64_t row, int64_t *start, int64_t *end);
bool csni_arrow_input_is_null(const struct csni_arrow_input *in, int64_t k);
/* The address of frame or row `k`; false: it is null, or does not fit 64 bits. */
bool csni_arrow_input_address(const struct csni_arrow_input *in, int64_t k, uint64_t *out);

#endif
