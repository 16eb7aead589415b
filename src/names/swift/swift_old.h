/* Reading a Swift name of the scheme before Swift 4 ("_TF4main3fooFT_T_"): operators in prefix order. Classes and
 * protocols still have such names in the metadata of Objective-C ("_TtC4main3Foo"). */
#ifndef CSNI_SWIFT_OLD_H
#define CSNI_SWIFT_OLD_H

#include "names/swift/swift_read.h"

enum { CSNI_SWIFT_OLD_DEPTH_MAX = 512 };

struct csni_swift_old_reader {
    const char *at, *end;
    struct csni_name_memory *memory;
    struct csni_swift_list substitutions;
    uint32_t depth;
};

typedef struct csni_swift_old_reader swift_old_reader;

static inline char csni_swift_old_peek(const swift_old_reader *r) { return r->at < r->end ? *r->at : 0; }
static inline char csni_swift_old_next(swift_old_reader *r) { return r->at < r->end ? *r->at++ : 0; }

static inline bool csni_swift_old_take(swift_old_reader *r, char c) {
    if (r->at == r->end || *r->at != c) return false;
    r->at++;
    return true;
}

static inline bool csni_swift_old_take_text(swift_old_reader *r, const char *text) {
    size_t len = strlen(text);
    if ((size_t)(r->end - r->at) < len || memcmp(r->at, text, len) != 0) return false;
    r->at += len;
    return true;
}

static inline swift_node *csni_swift_old_substitute(swift_old_reader *r, swift_node *node) {
    return node && csni_swift_push(r->memory, &r->substitutions, node) ? node : NULL;
}

/* swift_old_name.c */
bool csni_swift_old_natural(swift_old_reader *r, uint64_t *out);
bool csni_swift_old_index(swift_old_reader *r, uint64_t *out);
swift_node *csni_swift_old_index_node(swift_old_reader *r);
swift_node *csni_swift_old_identifier(swift_old_reader *r, enum csni_swift_kind kind);
swift_node *csni_swift_old_decl_name(swift_old_reader *r);
swift_node *csni_swift_old_substitution(swift_old_reader *r);
swift_node *csni_swift_old_module(swift_old_reader *r);
swift_node *csni_swift_old_builtin(swift_old_reader *r);

/* swift_old_type.c: contexts, types and entities stand within each other. */
swift_node *csni_swift_old_type(swift_old_reader *r);
swift_node *csni_swift_old_entity(swift_old_reader *r);
swift_node *csni_swift_old_protocol(swift_old_reader *r);
swift_node *csni_swift_old_conformance(swift_old_reader *r);
swift_node *csni_swift_old_signature(swift_old_reader *r, bool is_pseudogeneric);

#endif
