/* C++ names: whole ones. */
#include "names/itanium/itanium.h"

#include <callsign/names.h>

#include "names/itanium/itanium_parse.h"
#include "names/itanium/itanium_print.h"

/* "_block_invoke", "_block_invoke2", "_block_invoke_2": the function of a block literal. */
static bool skip_block_invoke(parser *p) {
    static const char word[] = "_block_invoke";
    if ((size_t)(p->end - p->at) < sizeof(word) - 1 || memcmp(p->at, word, sizeof(word) - 1) != 0) return false;
    p->at += sizeof(word) - 1;
    bool needs_number = csni_take(p, '_');
    if (!csni_parse_number(p, false).len && needs_number) return false;
    if (csni_peek(p, 0) == '.') p->at = p->end;
    return true;
}

static node *parse_mangled(parser *p, size_t underscores) {
    node *n = csni_parse_encoding(p);
    if (!n) return NULL;
    if (underscores > 2) {
        n = skip_block_invoke(p) ? csni_make_word(p, NODE_PREFIXED, "invocation function for block in ", n) : NULL;
    } else if (csni_peek(p, 0) == '.') {
        n = csni_make_text(p, NODE_CLONE_SUFFIX, (struct csn_str){ p->at, (size_t)(p->end - p->at) }, n);
        p->at = p->end;
    }
    return p->at == p->end ? n : NULL;
}

/* What a way to read a name led to. */
struct reading {
    node *name;
    bool dialect_matters, dialect_wrong;
};

/* Where arguments are a conversion operator's or its type's, the first way that leads to a name. LLVM knows one way. */
static struct reading parse_dialect(struct csn_str name, size_t underscores, uint32_t flags, uint8_t dialect,
                                    struct csni_name_memory *memory) {
    static const uint8_t ours[ARGS_CHOICES] = { ARGS_OF_TEMPLATES, ARGS_OF_OPERATOR, ARGS_OF_TYPE };
    static const uint8_t llvms[ARGS_CHOICES] = { ARGS_OF_OPERATOR, ARGS_OF_TEMPLATES, ARGS_OF_TYPE };
    const uint8_t *choices = flags & CSN_DEMANGLE_AS_LLVM ? llvms : ours;
    struct reading reading = { 0 };
    for (unsigned i = 0; i < ARGS_CHOICES; i++) {
        parser p = { .at = name.ptr, .end = name.ptr + name.len, .memory = memory, .lambda_level = SIZE_MAX,
                     .last_param = name.ptr - 1, .dialect = dialect };
        p.args_choice = choices[i];
        p.as_llvm = flags & CSN_DEMANGLE_AS_LLVM;
        reading.name = parse_mangled(&p, underscores);
        reading.dialect_matters |= p.dialect_matters || p.may_be_split;
        reading.dialect_wrong = p.dialect_wrong;
        if (reading.name || !p.args_chosen) break;
    }
    return reading;
}

/* The first dialect in which the name makes sense, or else the first one in which it can be read. */
static node *parse_any(struct csn_str name, size_t underscores, uint32_t flags, struct csni_name_memory *memory) {
    node *found = NULL;
    for (unsigned dialect = 0; dialect < DIALECTS; dialect++) {
        struct reading reading = parse_dialect(name, underscores, flags, (uint8_t)dialect, memory);
        if (reading.name && !reading.dialect_wrong) return reading.name;
        if (!found) found = reading.name;
        if (!reading.dialect_matters || (found && flags & CSN_DEMANGLE_AS_LLVM)) break;
    }
    return found;
}

bool csni_itanium_demangle(struct csn_str name, uint32_t flags, struct csni_name_memory *memory, struct csni_name_text *out) {
    size_t underscores = 0;
    while (underscores < name.len && name.ptr[underscores] == '_') underscores++;
    if (!underscores || underscores > 4 || underscores == name.len || name.ptr[underscores] != 'Z') return false;
    name = (struct csn_str){ name.ptr + underscores + 1, name.len - underscores - 1 };
    node *n = parse_any(name, underscores, flags, memory);
    if (!n) return false;
    struct csni_itanium_printer printer = { .text = out, .pack_index = CSNI_NO_PACK, .pack_count = CSNI_NO_PACK, .enclosed = 1,
                                           .as_llvm = flags & CSN_DEMANGLE_AS_LLVM };
    csni_itanium_print(&printer, n);
    return !printer.failed && !out->too_long;
}
