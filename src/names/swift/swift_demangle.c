/* From a Swift name to its text. */
#include "names/swift/swift.h"
#include "names/swift/swift_print.h"
#include "names/swift/swift_read.h"

/* Mach-O puts an underscore before every name. */
static struct csn_str without_underscore(struct csn_str name) {
    bool extra = name.len > 1 && name.ptr[0] == '_' && name.ptr[1] == '_';
    return (struct csn_str){ name.ptr + extra, name.len - extra };
}

bool csni_swift_is_mangled(struct csn_str name) {
    name = without_underscore(name);
    if (name.len < 4) return false;
    if (name.ptr[0] == '@') return name.len > 14 && memcmp(name.ptr, "@__swiftmacro_", 14) == 0;
    if (name.ptr[0] == '$') return name.ptr[1] && strchr("sSe", name.ptr[1]);
    if (name.ptr[0] != '_') return false;
    return name.ptr[1] == 'T' || (name.ptr[1] == '$' && name.ptr[2] && strchr("sSe", name.ptr[2]));
}

bool csni_swift_demangle(struct csn_str name, struct csni_name_memory *memory, struct csni_name_text *out) {
    swift_printer printer = { .memory = memory, .out = out };
    swift_node *symbol = csni_swift_symbol(without_underscore(name), memory);
    return symbol && csni_swift_print_symbol(&printer, symbol) && out->len;
}
