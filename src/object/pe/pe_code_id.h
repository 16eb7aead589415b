/* How symbol servers name a PE image: by the time it was linked at and its size in memory. */
#ifndef CSNI_PE_CODE_ID_H
#define CSNI_PE_CODE_ID_H

#include "object/object.h"

struct csni_pe_code_id {
    uint32_t time_stamp, image_size;
};

/* False: it is no PE image. */
bool csni_pe_code_id_read(const struct csni_object *object, struct csni_pe_code_id *out);

#endif
