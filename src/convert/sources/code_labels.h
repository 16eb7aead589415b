/* Names of code that no function has: labels of assembler source, stubs, parts of a section that are called after
 * their function. One becomes a function where nothing that is known better covers its place. */
#ifndef CSNI_CODE_LABELS_H
#define CSNI_CODE_LABELS_H

#include "convert/conversion.h"

struct csni_code_label {
    uint64_t addr, size;  /* size 0: not known */
    uint64_t limit;       /* the end of its section */
    struct csn_str name;
    uint8_t rank;         /* of several at one address, the highest counts; enum csni_label_rank */
    bool weak, local;
};
enum csni_label_rank { CSNI_LABEL_OF_SECTION, CSNI_LABEL_LOCAL, CSNI_LABEL_WEAK, CSNI_LABEL_GLOBAL, CSNI_LABEL_STUB };
typedef CSNI_VEC(struct csni_code_label) csni_code_labels;

/* Whether a symbol's name is one that only its assembler needs. `is_typed`: the symbol is marked as a function. */
bool csni_is_local_label(const struct csni_object *object, struct csn_str name, bool is_typed);

/* A label for a symbol of code. False: out of memory. */
bool csni_add_code_label(csni_code_labels *labels, const struct csni_object *object, const struct csni_symbol *symbol);
/* Labels for the stubs of the conversion's object: SYMBOL@plt. */
csn_status csni_add_stub_labels(csni_code_labels *labels, struct csni_conversion *c, struct csn_error *err);

/* Makes a batch of those that are the best name of their place, given all functions of the conversion and those of `symbols`, and
 * gives functions of `symbols` without a size the one that sections, bounds and neighbours tell. Sorts the labels. */
csn_status csni_place_code_labels(csni_code_labels *labels, struct csni_conversion *c, struct csni_batch *symbols,
                                  struct csni_batch *out, struct csn_error *err);

#endif
