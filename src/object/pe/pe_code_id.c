/* Two fields of the headers. */
#include "object/pe/pe_code_id.h"

#include "base/core/cursor.h"
#include "object/pe/pe_layout.h"

bool csni_pe_code_id_read(const struct csni_object *object, struct csni_pe_code_id *out) {
    struct csni_cursor c = csni_cursor_at(object->file, false);
    if (object->container != CSNI_CONTAINER_PE || object->kind == CSNI_OBJECT_RELOCATABLE) return false;
    csni_cursor_seek(&c, DOS_E_LFANEW);
    uint64_t coff = (uint64_t)csni_cursor_u32(&c) + PE_SIGNATURE_SIZE;
    csni_cursor_seek(&c, coff + COFF_TIME_STAMP);
    out->time_stamp = csni_cursor_u32(&c);
    csni_cursor_seek(&c, coff + COFF_HEADER_SIZE + OPTIONAL_IMAGE_SIZE);
    out->image_size = csni_cursor_u32(&c);
    return !c.failed;
}
