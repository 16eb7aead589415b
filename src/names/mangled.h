/* As much of mangled names as tells whether two names can be of one function, without a demangler. */
#ifndef CSNI_MANGLED_H
#define CSNI_MANGLED_H

#include "base/core/span.h"

/* The name that debug information has for a function of internal linkage: "ns::hidden" for "_ZN2ns12_GLOBAL__N_16hiddenEi",
 * "stat" for "_ZL4stati". Fills `out` and gives its length; 0: not such a name, or one of templates, or it does not fit. */
size_t csni_mangled_internal_name(struct csn_str mangled, char *out, size_t capacity);

/* Whether a mangled name has the last part of a plain one, such as "hidden" of "ns::hidden", as one of its own parts. */
bool csni_mangled_has_part(struct csn_str mangled, struct csn_str plain);

/* A name less what compilers put after it for their clones, ".isra.0" and the like: debug information has the name alone. */
struct csn_str csni_clone_base(struct csn_str name);

/* A hash that the clones of a function share, and that constructors and destructors for complete and for base
 * objects share: they are one function in the source. */
uint64_t csni_mangled_hash(struct csn_str name);

static inline bool csni_is_mangled(struct csn_str name) { return name.len > 2 && name.ptr[0] == '_' && name.ptr[1] == 'Z'; }

#endif
