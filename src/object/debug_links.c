/* Sections that name other files. */
#include "object/debug_links.h"

#include "base/fail.h"

csn_status csni_object_alt_link(struct csni_object *object, struct csn_str *name, struct csni_span *id,
                                struct csn_error *err) {
    static const char section_name[] = ".gnu_debugaltlink";
    uint32_t section = csni_object_find_section(object, section_name);
    if (section == CSNI_NO_SECTION) return CSN_NONE;
    struct csni_span bytes;
    struct csn_str path;
    CSNI_TRY(csni_object_read_section(object, section, &bytes, err));
    if (!csni_span_cstr(bytes, 0, &path))
        return csni_fail(err, CSN_E_TRUNCATED, section_name, 0, "file name has no NUL in the section's %zu bytes", bytes.size);
    *name = path;
    *id = csni_span_from(bytes, path.len + 1);
    return CSN_OK;
}
