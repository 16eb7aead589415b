/* When an index is made, and what it answers. */
#define _GNU_SOURCE
#include "stand_ins/llvm_symbolizer/llvm_index.h"

#include <stdlib.h>
#include <string.h>

#include "stand_ins/base/growth.h"
#include "stand_ins/llvm_symbolizer/llvm_index_private.h"

/* After so many requests units are kept in the form of the index. Long sessions make the index of all units; others leave it to a
 * process of its own, if they needed this part of .debug_info. */
enum { UNITS_REQUESTS = 16, INDEX_REQUESTS = 64, SESSION_REQUESTS = 4096, MIN_PART = 32 };
enum { MIN_EXPECTED = 32 }; /* units that are worth threads */

/* ---- opening ---- */

static bool is_served(const struct llvm_options *o) {
    return o->names != LLVM_NAME_SHORT && o->style != LLVM_STYLE_JSON && !o->verbose && !o->skip_line_zero && !o->dwp &&
           !o->fallback_debug_path && !o->debug_dirs.count && !o->dsym_hints.count;
}

struct llvm_index *llvm_index_open(const char *path, const struct llvm_options *o) {
    static const char *const path_words[] = { "absolute", "relative", "base" };
    struct kept_index kept;
    const char *const words[] = { "llvm", path_words[o->paths], o->untag ? "untag" : "" };
    if (!is_served(o) || !kept_index_open(&kept, path, words, 3)) return NULL;
    struct llvm_index *ix = zeroed_memory(1, sizeof *ix);
    ix->kept = kept;
    ix->paths = o->paths;
    return ix;
}

void llvm_index_close(struct llvm_index *ix) {
    if (!ix) return;
    kept_index_close(&ix->kept);
    llvm_index_units_free(&ix->units);
    free(ix);
}

bool llvm_index_exists(const struct llvm_index *ix) { return ix && ix->kept.index; }

/* ---- answers ---- */

static char *copy_or_null(const char *text) { return text ? copy_text(text, strlen(text)) : NULL; }

static struct llvm_frame row_frame(const struct address_place *place) {
    return (struct llvm_frame){ .file = copy_or_null(place->file), .line = place->line, .column = place->column,
                                .discriminator = place->discriminator };
}

static void name_frame(struct llvm_frame *f, const struct llvm_request *request, const char *name) {
    if (!name || request->names == LLVM_NAME_NONE) return;
    free(f->function);
    f->function = copy_text(name, strlen(name));
}

static bool find_place(struct llvm_index *ix, uint64_t addr, struct address_place *out) {
    return ix->kept.index ? address_index_find(ix->kept.index, addr, out) : llvm_index_units_find(&ix->units, addr, out);
}

static bool find_call(struct llvm_index *ix, uint64_t addr, uint32_t scope, struct address_call *out) {
    if (ix->kept.index) return address_index_scope(ix->kept.index, scope, out);
    address_part_scope(llvm_index_units_part(&ix->units, addr), &ix->units.texts, scope, out);
    return true;
}

/* Frames of DWARF, innermost first; with `one`, the innermost alone. *is_unknown: DWARF has none, and the one that *out has tells
 * nothing, or with `one` no unit. */
static bool find_frames(struct llvm_index *ix, const struct llvm_request *request, uint64_t addr, bool one,
                        struct llvm_frames *out, bool *is_unknown) {
    struct address_place place;
    struct address_call call;
    if (!find_place(ix, addr, &place)) return false;
    struct llvm_frame f = row_frame(&place);
    *is_unknown = one ? !place.has_unit : place.scope == ADDRESS_NONE && !f.file;
    for (uint32_t scope = place.scope; scope != ADDRESS_NONE; scope = call.parent) {
        if (!find_call(ix, addr, scope, &call)) {
            llvm_frame_free(&f);
            return false;
        }
        name_frame(&f, request, call.name);
        if (one || call.parent == ADDRESS_NONE) break;
        GROW_PUSH(out, f);
        f = (struct llvm_frame){
            .file = copy_or_null(call.file), .line = call.line, .column = call.column, .discriminator = call.discriminator
        };
    }
    GROW_PUSH(out, f);
    return true;
}

static bool find_symbol(struct llvm_index *ix, uint64_t addr, struct address_name *out) {
    if (ix->kept.index) return address_index_symbol(ix->kept.index, addr, out);
    const struct llvm_symbol *symbol = llvm_module_symbol(ix->units.module, addr);
    *out = (struct address_name){ symbol ? symbol->name : NULL, symbol && symbol->file && *symbol->file ? symbol->file : NULL };
    return true;
}

/* The symbol's name is better than that of DWARF, as in llvm_find_inlined() and llvm_find_code(). */
static bool name_by_symbol(struct llvm_index *ix, const struct llvm_request *request, uint64_t addr, bool may_have_file,
                           struct llvm_frame *f) {
    struct address_name symbol;
    if (request->names != LLVM_NAME_LINKAGE) return true;
    if (!find_symbol(ix, addr, &symbol)) return false;
    name_frame(f, request, symbol.name);
    if (symbol.name && may_have_file && !f->file) f->file = copy_or_null(symbol.file);
    return true;
}

bool llvm_index_find(struct llvm_index *ix, const struct llvm_request *request, uint64_t addr, bool one, struct llvm_frames *out) {
    *out = (struct llvm_frames){ 0 };
    if (!ix || (!ix->kept.index && !ix->units.module)) return false;
    bool is_unknown;
    const bool found = find_frames(ix, request, addr, one, out, &is_unknown) &&
                       name_by_symbol(ix, request, addr, is_unknown, &out->items[out->count - 1]);
    if (!found) {
        llvm_frames_free(out);
        *out = (struct llvm_frames){ 0 };
        if (!ix->kept.index && llvm_index_units_restart(ix)) return llvm_index_find(ix, request, addr, one, out);
        kept_index_drop_damaged(&ix->kept);
        return false;
    }
    for (size_t i = 0; i < out->count && request->demangle; i++) {
        char *mangled = out->items[i].function;
        if (mangled) out->items[i].function = llvm_demangle_name(mangled, false);
        free(mangled);
    }
    return true;
}

/* ---- making it ---- */

static bool is_worth_it(const struct llvm_index *ix) {
    const struct csn_debug_unit *last;
    const struct llvm_module *m = ix->units.module;
    if (!m || ix->kept.index || ix->kept.is_given_up || ix->requests < INDEX_REQUESTS) return false;
    if (csn_debug_info_unit(m->info, m->object.info_unit_count - 1, &last, NULL) != CSN_OK) return false;
    return m->bytes_read >= last->end / MIN_PART;
}

static struct address_index *make_index(void *context, const char *path) { return llvm_index_make(context, path); }

void llvm_index_count(struct llvm_index *ix, struct llvm_module *m) {
    if (!ix || ix->kept.index || ix->kept.is_given_up || !m) return;
    ix->requests++;
    if (ix->requests >= UNITS_REQUESTS && !ix->units.module) ix->kept.is_given_up = !llvm_index_units_begin(ix, m);
    if (ix->kept.path && ix->requests % SESSION_REQUESTS == 0 && is_worth_it(ix)) kept_index_make(&ix->kept, make_index, ix);
}

bool llvm_index_reads_units(const struct llvm_index *ix) { return ix && !ix->kept.index && ix->units.module; }

static int by_number(const void *pa, const void *pb) {
    const uint64_t a = *(const uint64_t *)pa, b = *(const uint64_t *)pb;
    return a < b ? -1 : a > b;
}

/* Of the units that are added, functions at these addresses alone are read. */
static void choose_addresses(struct llvm_index_units *u, const uint64_t *addrs, size_t count) {
    u->addrs = zeroed_memory(count, sizeof *u->addrs);
    u->addr_count = count;
    memcpy(u->addrs, addrs, count * sizeof *addrs);
    qsort(u->addrs, count, sizeof *u->addrs, by_number);
    u->is_partial = true;
}

void llvm_index_expect(struct llvm_index *ix, const uint64_t *addrs, size_t count) {
    struct llvm_index_units *u = ix && !ix->kept.index ? &ix->units : NULL;
    uint32_t wanted = 0;
    if (!u || !u->module || !count) return;
    (void)llvm_index_units_restart(ix); /* more than one batch: units are read as a whole */
    memset(u->wanted, 0, u->module->object.info_unit_count * sizeof *u->wanted);
    for (size_t i = 0; i < count; i++) {
        const struct llvm_unit_range *range = llvm_module_range(u->module, addrs[i]);
        if (!range || u->added_by[range->unit] || u->wanted[range->unit]) continue;
        u->wanted[range->unit] = true;
        wanted++;
    }
    if (wanted < MIN_EXPECTED) return;
    if (!ix->had_batch) choose_addresses(u, addrs, count);
    ix->had_batch = true;
    llvm_index_units_add(u);
    free(u->addrs);
    u->addrs = NULL;
    u->addr_count = 0;
}

void llvm_index_finish(struct llvm_index *ix) {
    if (ix && ix->kept.path && is_worth_it(ix)) kept_index_make_later(&ix->kept, make_index, ix);
}
