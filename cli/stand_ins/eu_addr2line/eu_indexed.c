/* Answers from an address index. */
#include "stand_ins/eu_addr2line/eu_indexed.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "stand_ins/libdw/libdw_index.h"

bool eu_index_open(struct kept_index *out, const struct eu *e) {
    static const char *const words[] = { "elfutils" };
    if (e->section || e->debuginfo_path || e->symbols || e->no_comp_dir || e->flags) return false;
    return kept_index_open(out, e->path, words, 1);
}

/* What is printed is read before the first byte of it leaves. */
enum { MAX_CALLS = 256 };
struct indexed_answer {
    struct address_place place;
    struct address_call function, outer; /* name NULL: none */
    struct address_name symbol;
    struct address_call calls[MAX_CALLS]; /* functions and inlined calls around the row, innermost first */
    size_t call_count;
};

static unsigned kind_of(const struct address_call *call) { return call->discriminator & LIBDW_KIND_MASK; }

/* False: the index is damaged. */
static bool read_function(struct address_index *ix, uint32_t scope, struct indexed_answer *out) {
    out->function.name = out->outer.name = NULL;
    for (; scope != ADDRESS_NONE; scope = out->function.parent) {
        if (!address_index_scope(ix, scope, &out->function)) return false;
        if (kind_of(&out->function) == LIBDW_SUBPROGRAM || kind_of(&out->function) == LIBDW_INLINED) break;
    }
    if (scope == ADDRESS_NONE) {
        out->function.name = NULL;
        return true;
    }
    if (kind_of(&out->function) != LIBDW_INLINED || out->function.parent == ADDRESS_NONE) return true;
    if (!address_index_scope(ix, out->function.parent, &out->outer)) return false;
    if (kind_of(&out->outer) != LIBDW_OUTER) out->outer.name = NULL;
    return true;
}

static bool read_calls(struct address_index *ix, uint32_t scope, struct indexed_answer *out) {
    out->call_count = 0;
    while (scope != ADDRESS_NONE) {
        struct address_call *call = &out->calls[out->call_count];
        if (out->call_count == MAX_CALLS || !address_index_scope(ix, scope, call)) return false;
        out->call_count += kind_of(call) != LIBDW_OUTER;
        scope = call->parent;
    }
    return true;
}

static bool read_answer(struct address_index *ix, const struct eu *e, uint64_t addr, struct indexed_answer *out) {
    struct address_place at_row;
    if (!address_index_find(ix, addr, &out->place) || !address_index_symbol(ix, addr, &out->symbol)) return false;
    if (e->functions && !read_function(ix, out->place.scope, out)) return false;
    if (!e->inlines) return true;
    if (!out->place.file) return read_calls(ix, out->place.scope, out);
    return address_index_find(ix, out->place.row_addr, &at_row) && read_calls(ix, at_row.scope, out);
}

static const struct csn_str no_directory = { "", 0 };

static void put_text(const struct eu *e, const char *name) { eu_put_name(e, name, strlen(name)); }

static void put_call(const struct eu *e, const struct address_call *call) {
    if (!(call->discriminator & LIBDW_HAS_CALL_FILE)) return;
    fputs(call->line ? " at " : " from ", stdout);
    if (call->file) eu_put_path(e, call->file, no_directory);
    else fputs("???", stdout);
    if (call->line) eu_put_position(call->line, call->column);
}

static void put_function(const struct eu *e, const struct indexed_answer *a) {
    const bool is_inlined = a->function.name && kind_of(&a->function) == LIBDW_INLINED;
    if (a->function.name) put_text(e, a->function.name);
    if (is_inlined && !e->pretty) {
        fputs(" inlined", stdout);
        put_call(e, &a->function);
        fputs(" in ", stdout);
        if (a->outer.name) put_text(e, a->outer.name);
    }
    if (!a->function.name || (is_inlined && !e->pretty && !a->outer.name)) put_text(e, a->symbol.name ? a->symbol.name : "??");
    fputc(eu_separator(e), stdout);
}

static void put_calls(const struct eu *e, const struct indexed_answer *a) {
    for (size_t i = 0; i < a->call_count; i++) {
        const struct address_call *call = &a->calls[i];
        if (kind_of(call) != LIBDW_INLINED) continue;
        if (e->pretty) fputs(" (inlined by) ", stdout);
        if (e->functions && i + 1 < a->call_count) {
            put_text(e, a->calls[i + 1].name);
            fputs(e->pretty ? " at " : "\n", stdout);
        }
        if (call->file) {
            eu_put_path(e, call->file, no_directory);
            eu_put_position(call->line, call->column);
            fputc('\n', stdout);
        } else {
            fputs("??:0\n", stdout);
        }
    }
}

bool eu_index_put(struct kept_index *k, struct eu *e, uint64_t addr) {
    static struct indexed_answer a;
    if (!k->index) return false;
    if (!read_answer(k->index, e, addr, &a)) {
        kept_index_drop_damaged(k);
        return false;
    }
    if (e->addresses && !e->width) e->width = 16; /* of 64 bits, as all that are indexed */
    if (e->addresses) printf("0x%.*" PRIx64 "%s", e->width, addr, e->pretty ? ": " : "\n");
    if (e->functions) put_function(e, &a);
    if (e->functions && e->pretty) fputs("at ", stdout);
    if (a.place.file) {
        eu_put_path(e, a.place.file, no_directory);
        eu_put_position(a.place.line, a.place.column);
        fputc('\n', stdout);
    } else {
        fputs("??:0\n", stdout);
    }
    if (e->inlines) put_calls(e, &a);
    return true;
}
