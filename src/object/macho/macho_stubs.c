/* Stubs of a Mach-O image: the few instructions that jump to a function of another image, one for each. No symbol names
 * them; the indirect symbol table says which function each one leads to. */
#include "base/core/checked.h"
#include "base/core/endian.h"
#include "base/core/fail.h"
#include "object/macho/macho_layout.h"
#include "object/macho/macho_private.h"

static const char prefix[] = "symbol stub for: ";
enum { PREFIX_LEN = sizeof prefix - 1, SPARE_NAME_BYTES = 65536 };

/* One making of stubs on its way. */
struct stub_maker {
    struct csni_object *object;
    struct csni_macho *own;
    struct csni_span symbols, strings, indirect;
    uint64_t name_bytes_left; /* else entries that all name one long string would take much of time and memory */
    uint64_t stubs_left;      /* each has its own entry */
};

/* The name of what entry `index` of the indirect table leads to, empty where that has none. False: damaged. */
static bool stub_target(const struct stub_maker *m, uint64_t index, struct csn_str *name) {
    *name = (struct csn_str){ "", 0 };
    struct csni_span entry, at;
    if (!csni_span_sub(m->indirect, index * INDIRECT_SYMBOL_SIZE, INDIRECT_SYMBOL_SIZE, &entry)) return false;
    uint32_t symbol = csni_get32(entry.ptr, m->object->big_endian);
    if (symbol & (INDIRECT_SYMBOL_LOCAL | INDIRECT_SYMBOL_ABS)) return true;
    uint64_t size = csni_macho_nlist_size(m->object);
    if (!csni_span_sub(m->symbols, symbol * size, size, &at)) return false;
    struct csni_nlist s;
    csni_macho_decode_nlist(m->object, at.ptr, &s);
    if (!s.name || s.name >= m->strings.size) return s.name == 0;
    struct csni_span rest = csni_span_from(m->strings, s.name);
    if (rest.size > m->name_bytes_left) rest.size = (size_t)m->name_bytes_left;
    if (!csni_span_cstr(rest, 0, name)) return false;
    *name = csni_macho_plain_name(*name);
    return true;
}

static csn_status add_stub(struct stub_maker *m, uint32_t section, uint64_t off, struct csn_str target, struct csn_error *err) {
    const struct csni_section *s = &m->object->sections[section];
    size_t len = PREFIX_LEN + target.len;
    char *name = csni_arena_alloc(&m->own->names, len);
    if (!name) return csni_fail_memory(err, len);
    memcpy(name, prefix, PREFIX_LEN);
    memcpy(name + PREFIX_LEN, target.ptr, target.len);
    struct csni_symbol symbol = { .name = { name, len }, .addr = s->addr + off, .size = s->info, .section = section,
                                  .kind = CSNI_SYMBOL_FUNCTION, .bind = CSNI_BIND_LOCAL, .defined = true };
    if (!csni_vec_push(&m->own->stubs.symbols, symbol)) return csni_fail_memory(err, sizeof symbol);
    return CSN_OK;
}

/* reserved1: the section's first entry in the indirect table; reserved2: bytes of a stub. */
static csn_status add_stubs_of(struct stub_maker *m, uint32_t section, struct csn_error *err) {
    const struct csni_section *s = &m->object->sections[section];
    uint64_t end, stub_size = s->info;
    if ((s->type & SECTION_TYPE) != S_SYMBOL_STUBS || !stub_size || !csni_add_u64(s->addr, s->size, &end)) return CSN_OK;
    for (uint64_t i = 0; i < s->size / stub_size && m->stubs_left; i++, m->stubs_left--) {
        struct csn_str target;
        if (!stub_target(m, s->link + i, &target)) {
            m->own->stubs.damaged++;
            continue;
        }
        if (!target.len) continue;
        m->name_bytes_left -= target.len;
        CSNI_TRY(add_stub(m, section, i * stub_size, target, err));
    }
    return CSN_OK;
}

csn_status csni_macho_make_stubs(struct csni_object *object, struct csni_span symbols, struct csni_span strings,
                                 struct csn_error *err) {
    struct csni_macho *own = csni_macho_own(object);
    if (own->stubs.is_made) return CSN_OK;
    struct stub_maker m = { .object = object, .own = own, .symbols = symbols, .strings = strings,
                            .name_bytes_left = 2 * (uint64_t)strings.size + SPARE_NAME_BYTES };
    own->stubs.symbols.count = 0; /* of an attempt that ran out of memory */
    own->stubs.damaged = 0;
    CSNI_TRY(csni_macho_part_bytes(object, "indirect symbols", own->indirect, INDIRECT_SYMBOL_SIZE, &m.indirect, err));
    m.stubs_left = own->indirect.count;
    for (uint32_t i = 1; i < object->section_count && m.stubs_left; i++) CSNI_TRY(add_stubs_of(&m, i, err));
    own->stubs.is_made = true;
    return CSN_OK;
}
