/* Mach-O symbol tables, decoded in place. After the entries of the table an iteration gives what is put together from other
 * tables (macho_stubs.c, macho_exports.c). */
#include <inttypes.h>

#include "base/core/endian.h"
#include "base/core/fail.h"
#include "object/macho/macho_layout.h"
#include "object/macho/macho_private.h"

static bool is_stab(const struct csni_symbol_iter *iter, uint64_t index) {
    return iter->symbols.ptr[index * iter->entry_size + NLIST_TYPE] & N_STAB;
}

csn_status csni_macho_symbols(struct csni_symbol_iter *iter, struct csni_object *object, enum csni_symbol_table table,
                              struct csn_error *err) {
    struct csni_macho *own = csni_macho_own(object);
    iter->entry_size = csni_macho_nlist_size(object);
    if (table == CSNI_SYMBOLS_DYNAMIC) {
        if (!own->exports.count) return CSN_NONE;
        CSNI_TRY(csni_macho_make_exports(object, err));
        iter->count = own->exported.symbols.count;
        iter->damaged = own->exported.damaged;
        return CSN_OK;
    }
    csn_status status = csni_macho_symbol_table(object, &iter->symbols, &iter->strings, err);
    if (status != CSN_OK) return status;
    CSNI_TRY(csni_macho_make_stubs(object, iter->symbols, iter->strings, err));
    uint64_t count = iter->symbols.size / iter->entry_size;
    while (count && is_stab(iter, count - 1)) count--; /* so that a symbol follows every stab: see below */
    iter->symbols.size = (size_t)(count * iter->entry_size);
    iter->count = count + own->stubs.symbols.count;
    iter->damaged = own->stubs.damaged;
    return CSN_OK;
}

static enum csni_symbol_bind macho_symbol_bind(const struct csni_nlist *s) {
    if (!(s->type & N_EXT) && !(s->type & N_PEXT)) return CSNI_BIND_LOCAL;
    if (s->desc & N_WEAK_DEF) return CSNI_BIND_WEAK;
    return s->type & N_EXT ? CSNI_BIND_GLOBAL : CSNI_BIND_LOCAL; /* a private one that was linked has become local */
}

/* ltmp0, ltmp1, ...: where LLVM's assembler for arm64 begins sections. */
static bool is_assembler_label(const struct csni_object *object, struct csn_str name) {
    if (object->kind != CSNI_OBJECT_RELOCATABLE || name.len < 5 || memcmp(name.ptr, "ltmp", 4) != 0) return false;
    for (size_t i = 4; i < name.len; i++)
        if (name.ptr[i] < '0' || name.ptr[i] > '9') return false;
    return true;
}

/* A symbol outside of its section is none of its functions: __mh_execute_header counts as one of __text. */
static enum csni_symbol_kind macho_symbol_kind(const struct csni_object *object, const struct csni_section *section,
                                               struct csn_str name, uint64_t addr) {
    uint32_t type = section->type & SECTION_TYPE;
    if (type >= S_THREAD_LOCAL_REGULAR && type <= S_THREAD_LOCAL_ZEROFILL) return CSNI_SYMBOL_TLS;
    if (!(section->flags & CSNI_SECTION_EXEC)) return CSNI_SYMBOL_DATA;
    if (!csni_macho_is_in_section(section, addr) || is_assembler_label(object, name)) return CSNI_SYMBOL_NONE;
    return CSNI_SYMBOL_FUNCTION;
}

/* False where the section does not exist. */
static bool place_symbol(const struct csni_object *object, const struct csni_nlist *s, struct csni_symbol *out) {
    out->addr = s->value;
    out->section = CSNI_NO_SECTION;
    switch (s->type & N_TYPE) {
    case N_ABS: out->defined = true; return true;
    case N_SECT: break;
    default: return true; /* undefined, common, or another name of one */
    }
    if (s->section == NO_SECT || s->section >= object->section_count) return false;
    const struct csni_section *section = &object->sections[s->section];
    bool is_code = section->flags & CSNI_SECTION_EXEC;
    if (is_code || (s->desc & N_ARM_THUMB_DEF)) out->addr = csni_macho_code_addr(object, s->value);
    out->addr += object->moved_by;
    out->section = s->section;
    out->kind = (uint8_t)macho_symbol_kind(object, section, out->name, out->addr);
    out->defined = true;
    return true;
}

/* Stabs describe what debug information they lead to (macho_debug_map.c), not symbols. */
bool csni_macho_next_symbol(struct csni_symbol_iter *iter, struct csni_symbol *out) {
    const struct csni_object *object = iter->object;
    const struct csni_macho *own = csni_macho_own(object);
    uint64_t plain_count = iter->symbols.size / iter->entry_size;
    while (iter->index < plain_count && is_stab(iter, iter->index)) iter->index++;
    uint64_t index = iter->index++;
    if (index >= plain_count) {
        const struct csni_macho_made *made = iter->table == CSNI_SYMBOLS_DYNAMIC ? &own->exported : &own->stubs;
        *out = made->symbols.items[index - plain_count];
        return true;
    }
    struct csni_nlist s;
    csni_macho_decode_nlist(object, iter->symbols.ptr + index * iter->entry_size, &s);
    struct csni_symbol symbol = { .name = { "", 0 }, .kind = CSNI_SYMBOL_NONE, .bind = (uint8_t)macho_symbol_bind(&s) };
    if (s.name && !csni_span_cstr(iter->strings, s.name, &symbol.name)) return false;
    symbol.name = csni_macho_plain_name(symbol.name);
    if (!place_symbol(object, &s, &symbol)) return false;
    *out = symbol;
    return true;
}
