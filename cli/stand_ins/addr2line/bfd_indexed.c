/* Answers from an index. */
#include <stdlib.h>
#include <string.h>

#include "stand_ins/addr2line/bfd_index.h"
#include "stand_ins/base/growth.h"

struct bfd_indexed {
    struct address_index *index;
    const char **names;      /* by scope, that BFD remembers: of those that were asked for; NULL: not yet */
    bool *asked;             /* by unit: for an address that it has a range for */
    uint32_t unit_limit;     /* of `asked`: there are not more units than scopes */
    bool has_scanned;        /* all units, for an address of none */
    bool is_object_asked;    /* so that it knows more of what was asked */
    struct { uint64_t *items; size_t count, capacity; } changes; /* addresses */
    size_t next_change;
    struct address_nearest last; /* symbol that was found; name NULL: none */
};

/* A function without a name of its own, once it was asked for. */
static const char no_name[] = "";

struct bfd_indexed *bfd_indexed_open(struct address_index *index) {
    struct bfd_indexed *made = zeroed_memory(1, sizeof *made);
    made->index = index;
    made->unit_limit = address_index_scope_count(index) + 1;
    made->names = zeroed_memory(made->unit_limit, sizeof *made->names);
    made->asked = zeroed_memory(made->unit_limit, sizeof *made->asked);
    return made;
}

void bfd_indexed_close(struct bfd_indexed *x) {
    if (!x) return;
    free(x->names);
    free(x->asked);
    free(x->changes.items);
    free(x);
}

/* A symbol that was found answers for all that it covers, also where others begin. False: the index is damaged. */
static bool find_symbol(struct bfd_indexed *x, uint64_t addr) {
    if (x->last.name && addr >= x->last.addr && addr < x->last.end) return true;
    return address_index_nearest(x->index, addr, &x->last);
}

static const char *remembered(const struct bfd_indexed *x, uint32_t scope, const struct address_call *call) {
    const char *name = x->names[scope] ? x->names[scope] : call->name;
    return name == no_name ? NULL : name;
}

/* The name of the innermost function: that of the symbol, where DWARF has none of the linker's and it is asked for
 * the first time. */
static bool name_function(struct bfd_indexed *x, uint64_t addr, uint32_t scope, const struct address_call *call,
                          struct bfd_answer *out) {
    if (scope != ADDRESS_NONE && ((call->discriminator & BFD_SCOPE_LINKAGE) || x->names[scope])) {
        out->function = remembered(x, scope, call);
        return true;
    }
    if (!find_symbol(x, addr)) return false;
    out->function = x->last.name;
    if (x->last.name && !out->file) out->file = x->last.file;
    if (scope == ADDRESS_NONE) return true;
    if (!x->last.name) out->function = call->name;
    const bool is_start = x->last.name && call->column != BFD_INDEX_ELSEWHERE &&
                          x->last.addr == address_index_base(x->index) + call->column;
    x->names[scope] = is_start ? x->last.name : call->name ? call->name : no_name;
    return true;
}

struct chain {
    struct address_call calls[BFD_INDEXED_FRAMES + 2];
    uint32_t scopes[BFD_INDEXED_FRAMES + 2];
    size_t count;            /* of functions */
    bool is_later;
    uint32_t unit;           /* UINT32_MAX: none */
};

static bool read_chain(struct bfd_indexed *x, uint32_t scope, struct chain *out) {
    out->count = 0;
    out->is_later = false;
    out->unit = UINT32_MAX;
    for (size_t i = 0; scope != ADDRESS_NONE; i++) {
        struct address_call *call = &out->calls[out->count];
        if (i == BFD_INDEXED_FRAMES || !address_index_scope(x->index, scope, call)) return false;
        out->scopes[out->count] = scope;
        scope = call->parent;
        if (scope == ADDRESS_NONE) out->unit = call->line;
        switch (call->discriminator & BFD_SCOPE_KIND_MASK) {
        case BFD_SCOPE_FUNCTION: out->count++; break;
        case BFD_SCOPE_LATER: out->is_later = true; break;
        default: break;
        }
    }
    return out->unit == UINT32_MAX || out->unit < x->unit_limit;
}

static void set(bool *flag, bool *changes) {
    *changes |= !*flag;
    *flag = true;
}

enum bfd_indexed_result bfd_indexed_find(struct bfd_indexed *x, uint64_t addr, bool all, struct bfd_answer *frames, size_t *count) {
    struct address_place place;
    struct chain chain;
    bool changes = false;
    if (!address_index_find(x->index, addr, &place) || !read_chain(x, place.scope, &chain)) return BFD_INDEXED_UNKNOWN;
    if (chain.is_later && x->is_object_asked) return BFD_INDEXED_UNKNOWN;
    if (chain.is_later && !x->asked[chain.unit]) {
        chain.count = 0;
        chain.unit = UINT32_MAX;
        place = (struct address_place){ 0 };
    }
    const uint32_t scope = chain.count ? chain.scopes[0] : ADDRESS_NONE;
    const bool is_named = scope == ADDRESS_NONE || x->names[scope];
    frames[0] = (struct bfd_answer){ .file = place.file, .line = place.line, .discriminator = place.discriminator };
    if (!name_function(x, addr, scope, &chain.calls[0], &frames[0])) return BFD_INDEXED_UNKNOWN;
    set(chain.unit == UINT32_MAX ? &x->has_scanned : &x->asked[chain.unit], &changes);
    if (changes || (!is_named && x->names[scope])) GROW_PUSH(&x->changes, addr);
    *count = 1;
    for (size_t i = 1; i < chain.count && all; i++)
        frames[(*count)++] = (struct bfd_answer){ chain.calls[i - 1].file, remembered(x, chain.scopes[i], &chain.calls[i]),
                                                  chain.calls[i - 1].line, place.discriminator };
    return place.file || chain.count || frames[0].function ? BFD_INDEXED_FOUND : BFD_INDEXED_NOTHING;
}

bool bfd_indexed_next_change(struct bfd_indexed *x, uint64_t *addr) {
    x->is_object_asked = true;
    if (x->next_change == x->changes.count) return false;
    *addr = x->changes.items[x->next_change++];
    return true;
}
