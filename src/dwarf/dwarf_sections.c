/* Names of sections, and where their bytes go. */
#include <stddef.h>

#include "dwarf/dwarf.h"

const char *const csni_dwarf_section_names[CSNI_DWARF_SECTION_COUNT] = {
    [CSNI_DWARF_INFO] = "info",
    [CSNI_DWARF_TYPES] = "types",
    [CSNI_DWARF_ABBREV] = "abbrev",
    [CSNI_DWARF_LINE] = "line",
    [CSNI_DWARF_STR] = "str",
    [CSNI_DWARF_LINE_STR] = "line_str",
    [CSNI_DWARF_STR_OFFSETS] = "str_offsets",
    [CSNI_DWARF_ADDR] = "addr",
    [CSNI_DWARF_RANGES] = "ranges",
    [CSNI_DWARF_RNGLISTS] = "rnglists",
};

struct csni_span *csni_dwarf_section_bytes(struct csni_dwarf_sections *sections, enum csni_dwarf_section section) {
    static const size_t offsets[CSNI_DWARF_SECTION_COUNT] = {
        [CSNI_DWARF_INFO] = offsetof(struct csni_dwarf_sections, info),
        [CSNI_DWARF_TYPES] = offsetof(struct csni_dwarf_sections, types),
        [CSNI_DWARF_ABBREV] = offsetof(struct csni_dwarf_sections, abbrev),
        [CSNI_DWARF_LINE] = offsetof(struct csni_dwarf_sections, line),
        [CSNI_DWARF_STR] = offsetof(struct csni_dwarf_sections, str),
        [CSNI_DWARF_LINE_STR] = offsetof(struct csni_dwarf_sections, line_str),
        [CSNI_DWARF_STR_OFFSETS] = offsetof(struct csni_dwarf_sections, str_offsets),
        [CSNI_DWARF_ADDR] = offsetof(struct csni_dwarf_sections, addr),
        [CSNI_DWARF_RANGES] = offsetof(struct csni_dwarf_sections, ranges),
        [CSNI_DWARF_RNGLISTS] = offsetof(struct csni_dwarf_sections, rnglists),
    };
    return (struct csni_span *)((char *)sections + offsets[section]);
}
