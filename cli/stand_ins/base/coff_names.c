/* Underscores of 32-bit Windows. */
#include "stand_ins/base/coff_names.h"

#include <stdbool.h>
#include <string.h>

#include "stand_ins/base/growth.h"

/* Names of the C convention begin with an underscore; those of fastcall ('@foo@8'), of vectorcall ('foo@@8') and of
 * assemblers ('.text') have none, but C++ names have theirs. */
static bool had_underscore(struct csn_str name) {
    if (!name.len || name.ptr[0] == '@' || name.ptr[0] == '?' || name.ptr[0] == '.' || name.ptr[0] == '$') return false;
    for (size_t i = 0; i + 1 < name.len; i++)
        if (name.ptr[i] == '@' && name.ptr[i + 1] == '@') return name.ptr[0] == 'Z';
    return true;
}

char *coff_table_name(struct csn_str name) {
    if (!had_underscore(name)) return copy_text(name.ptr, name.len);
    char *made = zeroed_memory(name.len + 2, 1);
    made[0] = '_';
    memcpy(made + 1, name.ptr, name.len);
    return made;
}
