/* BTF: types of an eBPF program, and of which function and line each of its instructions is. Section spans in, functions and
 * lines out. Knows no container. Source: Linux, Documentation/bpf/btf.rst. */
#ifndef CSNI_BTF_H
#define CSNI_BTF_H

#include "base/core/span.h"
#include "base/core/vec.h"

/* In a section of code. */
struct csni_btf_place {
    struct csn_str section; /* its name */
    uint32_t off;           /* in the section, bytes */
};

struct csni_btf_function {
    struct csni_btf_place place;
    struct csn_str name;
};

/* A line of the instructions from its place up to the next line's. */
struct csni_btf_line {
    struct csni_btf_place place;
    struct csn_str path;
    uint32_t line;
};

struct csni_btf {
    CSNI_VEC(struct csni_btf_function) functions; /* as the section lists them: by section, then ascending by offset */
    CSNI_VEC(struct csni_btf_line) lines;         /* the same */
};

/* Reads the sections .BTF and .BTF.ext, in the byte order that they say themselves. Names and paths are views into `btf`.
 * CSN_E_FORMAT: they are damaged; what was read up to there stays. CSN_E_UNSUPPORTED: a version or a kind of type that is not
 * known. Takes time in proportion to the sizes. */
csn_status csni_btf_read(struct csni_span btf, struct csni_span ext, const struct csn_allocator *alloc, struct csni_btf *out,
                         struct csn_error *err);
void csni_btf_deinit(struct csni_btf *btf);

#endif
