/* The kinds of files that convert reads. */
#include "convert/source.h"

static const struct csni_input_kind kinds[] = {
    { "object file", csni_object_recognize, csni_source_object },
};

const struct csni_input_kind *csni_input_kind_of(struct csni_span file) {
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (kinds[i].recognize(file)) return &kinds[i];
    return NULL;
}
