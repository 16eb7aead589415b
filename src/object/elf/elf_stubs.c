/* Stubs of linked ELF images: the few instructions in a procedure linkage table that jump through a pointer to a function of
 * another image. No symbol names them. The relocation that fills the pointer names the function. */
#include "object/elf/elf_stubs.h"

#include <stdlib.h>

#include "base/core/endian.h"
#include "base/core/fail.h"
#include "base/core/search.h"
#include "object/elf/elf_layout.h"
#include "object/elf/elf_relocation.h"

/* A pointer that a relocation fills. */
struct slot {
    uint64_t addr;
    uint32_t symbol;   /* of .dynsym; 0: the function that the one at `addend` chooses */
    uint64_t addend;
};

struct stub_maker {
    struct csni_object *object;
    const struct csni_stub_machine *machine;
    struct csni_symbol_iter symbols; /* .dynsym; no symbols where there is none */
    CSNI_VEC(struct slot) slots;     /* ascending */
    csni_stubs *out;
    uint64_t got;                    /* what position-independent i386 code has in %ebx */
    uint32_t word_section;           /* with the word that was read last */
    uint64_t visits_left;            /* of sections, in search of a word's */
    uint64_t slot_stubs_left;        /* a slot is one stub at most, however many sections cover it */
    uint64_t name_bytes_left;        /* else slots that all name one long string would take much of time and memory */
};

/* ---- pointers ---- */

static int slot_by_address(const void *pa, const void *pb) {
    const struct slot *a = pa, *b = pb;
    return a->addr < b->addr ? -1 : a->addr > b->addr;
}

static bool fills_slot(const struct csni_stub_machine *m, uint32_t type) {
    return type == m->jump_slot || (m->glob_dat && type == m->glob_dat) || (m->irelative && type == m->irelative);
}

static bool covers(const struct csni_section *s, uint64_t addr) {
    return (s->flags & CSNI_SECTION_ALLOC) && addr >= s->addr && addr - s->addr < s->size;
}

/* Words are mostly in one section. 0: none has it. */
static uint32_t section_of_word(struct stub_maker *m, uint64_t addr) {
    if (covers(&m->object->sections[m->word_section], addr)) return m->word_section;
    for (uint32_t i = 1; i < m->object->section_count && m->visits_left; i++, m->visits_left--)
        if (covers(&m->object->sections[i], addr)) return m->word_section = i;
    return 0;
}

/* 0 where no section of the file has it. */
static uint64_t stored_word(struct stub_maker *m, uint64_t addr) {
    const struct csni_object *object = m->object;
    struct csni_span bytes, word;
    uint32_t section = section_of_word(m, addr);
    if (!section || csni_section_stored(object, section, &bytes, NULL) < 0) return 0;
    return csni_span_sub(bytes, addr - object->sections[section].addr, object->address_size, &word)
               ? csni_get_sized(word.ptr, object->address_size, object->big_endian) : 0;
}

static csn_status add_slots_of(struct stub_maker *m, uint32_t section, struct csn_error *err) {
    struct csni_relocation_entries entries;
    if (csni_elf_relocation_entries(m->object, section, &entries, NULL) < 0) return CSN_OK;
    struct csni_relocation r;
    while (csni_elf_next_relocation(&entries, &r)) {
        if (!fills_slot(m->machine, r.type)) continue;
        bool chosen = m->machine->irelative && r.type == m->machine->irelative;
        struct slot slot = { r.off, chosen ? 0 : (uint32_t)r.symbol, r.has_addend ? r.addend : 0 };
        if (chosen && !r.has_addend) slot.addend = stored_word(m, r.off);
        if ((chosen || slot.symbol) && !csni_vec_push(&m->slots, slot)) return csni_fail_memory(err, sizeof slot);
    }
    return CSN_OK;
}

/* Sections that overlap must not give more than a file has. */
static bool take(uint64_t *left, uint64_t size) {
    if (size > *left) return false;
    *left -= size;
    return true;
}

static csn_status find_slots(struct stub_maker *m, struct csn_error *err) {
    uint64_t left = m->object->file.size;
    for (uint32_t i = 1; i < m->object->section_count; i++) {
        const struct csni_section *s = &m->object->sections[i];
        if ((s->type != SHT_RELA && s->type != SHT_REL) || !(s->flags & CSNI_SECTION_ALLOC)) continue;
        if (!take(&left, s->file_size)) break;
        CSNI_TRY(add_slots_of(m, i, err));
    }
    if (m->slots.count) qsort(m->slots.items, m->slots.count, sizeof *m->slots.items, slot_by_address);
    return CSN_OK;
}

static const struct slot *slot_at(const struct stub_maker *m, uint64_t addr) {
    size_t at = csni_lower_bound(m->slots.items, m->slots.count, addr, addr);
    return at < m->slots.count && m->slots.items[at].addr == addr ? &m->slots.items[at] : NULL;
}

/* ---- stubs ---- */

/* Empty: damaged, or of no symbol. */
static struct csn_str symbol_name(struct stub_maker *m, uint64_t index) {
    struct csn_str none = { "", 0 };
    struct csni_symbol symbol;
    if (!index || index >= m->symbols.count) return none;
    m->symbols.index = index;
    if (!csni_elf_next_symbol(&m->symbols, &symbol) || symbol.name.len > m->name_bytes_left) return none;
    m->name_bytes_left -= symbol.name.len;
    return symbol.name;
}

static csn_status add_stub(struct stub_maker *m, uint64_t addr, uint64_t size, uint64_t symbol, uint64_t addend,
                           struct csn_error *err) {
    struct csni_stub stub = { .addr = addr, .size = size, .target = symbol_name(m, symbol), .addend = addend };
    if (symbol && !stub.target.len) return CSN_OK;
    return csni_vec_push(m->out, stub) ? CSN_OK : csni_fail_memory(err, sizeof stub);
}

/* The stubs that were added last end where the next one begins, at most at `end`. */
static void end_stubs(const struct stub_maker *m, size_t first, uint64_t end) {
    for (size_t i = m->out->count; i > first; i--) {
        struct csni_stub *s = &m->out->items[i - 1];
        uint64_t left = end > s->addr ? end - s->addr : 0;
        if (left < s->size) s->size = left;
        end = s->addr;
    }
}

static bool instructions_are_big(const struct csni_object *object) {
    struct csni_span flags;
    if (object->machine == EM_AARCH64 || object->machine == EM_RISCV) return false;
    if (object->machine != EM_ARM || !object->big_endian) return object->big_endian;
    return !csni_span_sub(object->file, EHDR32_FLAGS, 4, &flags) || !(csni_get32(flags.ptr, true) & EF_ARM_BE8);
}

/* A word of .dynamic. */
static bool dynamic_value(const struct csni_object *object, uint64_t tag, uint64_t *out) {
    unsigned size = object->address_size;
    uint64_t left = object->file.size;
    struct csni_span bytes;
    for (uint32_t i = 1; i < object->section_count; i++) {
        if (object->sections[i].type != SHT_DYNAMIC || csni_section_stored(object, i, &bytes, NULL) < 0) continue;
        if (!take(&left, bytes.size)) break;
        for (size_t off = 0; 2 * size <= bytes.size - off; off += 2 * size) {
            if (csni_get_sized(bytes.ptr + off, size, object->big_endian) != tag) continue;
            *out = csni_get_sized(bytes.ptr + off + size, size, object->big_endian);
            return true;
        }
    }
    return false;
}

static uint64_t got_address(const struct csni_object *object) {
    uint64_t addr;
    if (dynamic_value(object, DT_PLTGOT, &addr)) return addr;
    uint32_t section = csni_object_find_section(object, ".got.plt");
    if (section == CSNI_NO_SECTION) section = csni_object_find_section(object, ".got");
    return section == CSNI_NO_SECTION ? 0 : object->sections[section].addr;
}

static csn_status find_stubs_in(struct stub_maker *m, uint32_t section, struct csn_error *err) {
    const struct csni_section *s = &m->object->sections[section];
    struct csni_stub_code code = { .addr = s->addr, .got = m->got, .wide = m->object->address_size == 8,
                                   .big_endian = instructions_are_big(m->object) };
    size_t first = m->out->count;
    if (csni_section_stored(m->object, section, &code.bytes, NULL) < 0) return CSN_OK;
    for (uint64_t off = 0; off < code.bytes.size;) {
        struct csni_stub_match match = { 0 };
        const struct slot *slot = NULL;
        if (m->machine->match(&code, off, &match)) slot = slot_at(m, match.slot);
        uint64_t size = match.length > m->machine->max_size ? match.length : m->machine->max_size;
        if (slot) CSNI_TRY(add_stub(m, s->addr + off, size, slot->symbol, slot->addend, err));
        else if (match.symbol) CSNI_TRY(add_stub(m, s->addr + off, match.length, match.symbol, 0, err));
        bool is_stub = slot || match.symbol;
        off += is_stub ? (match.length + m->machine->step - 1) / m->machine->step * m->machine->step : m->machine->step;
    }
    end_stubs(m, first, s->addr + s->size);
    return CSN_OK;
}

/* Where the "pointer" is the stub itself, which the dynamic linker writes: SPARC, old PowerPC. */
static csn_status find_stubs_as_slots(struct stub_maker *m, uint32_t section, struct csn_error *err) {
    const struct csni_section *s = &m->object->sections[section];
    size_t first = m->out->count;
    for (size_t i = csni_lower_bound(m->slots.items, m->slots.count, addr, s->addr); i < m->slots.count; i++) {
        const struct slot *slot = &m->slots.items[i];
        if (slot->addr - s->addr >= s->size || !take(&m->slot_stubs_left, 1)) break;
        CSNI_TRY(add_stub(m, slot->addr, m->machine->max_size, slot->symbol, slot->addend, err));
    }
    end_stubs(m, first, s->addr + s->size);
    return CSN_OK;
}

/* Alpha: nothing in a stub tells its pointer, but the pointer leads to the stub until the dynamic linker fills it. */
static csn_status find_alpha_stubs(struct stub_maker *m, uint32_t section, struct csn_error *err) {
    enum { SHORT_SIZE = 4, BRANCH_TO_FIRST = 0xc3e0 >> 5 };
    const struct csni_section *s = &m->object->sections[section];
    uint32_t got = csni_object_find_section(m->object, ".got");
    struct csni_span pointers, code, word;
    if (got == CSNI_NO_SECTION || csni_section_stored(m->object, got, &pointers, NULL) < 0 ||
        csni_section_stored(m->object, section, &code, NULL) < 0) return CSN_OK;
    for (size_t i = 0; i < m->slots.count; i++) {
        const struct slot *slot = &m->slots.items[i];
        if (!csni_span_sub(pointers, slot->addr - m->object->sections[got].addr, 8, &word)) continue;
        uint64_t addr = csni_get64(word.ptr, m->object->big_endian);
        if (!csni_span_sub(code, addr - s->addr, SHORT_SIZE, &word)) continue;
        bool is_short = csni_get32(word.ptr, m->object->big_endian) >> 21 == BRANCH_TO_FIRST;
        CSNI_TRY(add_stub(m, addr, is_short ? SHORT_SIZE : m->machine->max_size, slot->symbol, slot->addend, err));
    }
    return CSN_OK;
}

/* 64-bit PowerPC: behind 32 bytes from DT_PPC64_GLINK on, one branch for each pointer, in their order. The branches
 * of the older ABI (whose functions have descriptors in .opd) load the number of the pointer first: in one
 * instruction up to 0x8000, then in two. */
static csn_status find_glink_stubs(struct stub_maker *m, struct csn_error *err) {
    enum { FIRST_BRANCH = 32, ONE_LOAD_MAX = 0x8000 };
    uint64_t addr;
    if (!dynamic_value(m->object, DT_PPC64_GLINK, &addr)) return CSN_OK;
    bool has_numbers = csni_object_find_section(m->object, ".opd") != CSNI_NO_SECTION;
    uint32_t plt = csni_object_find_section(m->object, ".plt");
    if (plt == CSNI_NO_SECTION) return CSN_OK;
    addr += FIRST_BRANCH;
    uint64_t low = m->object->sections[plt].addr, number = 0;
    for (size_t i = csni_lower_bound(m->slots.items, m->slots.count, addr, low); i < m->slots.count; i++, number++) {
        const struct slot *slot = &m->slots.items[i];
        if (slot->addr - low >= m->object->sections[plt].size) break;
        uint64_t size = !has_numbers ? 4 : number < ONE_LOAD_MAX ? 8 : 12;
        CSNI_TRY(add_stub(m, addr, size, slot->symbol, slot->addend, err));
        addr += size;
    }
    return CSN_OK;
}

static bool holds_stubs(const struct csni_section *s) {
    static const char *const names[] = { ".plt", ".plt.got", ".plt.sec", ".plt.bnd", ".iplt", ".glink", ".MIPS.stubs" };
    if (!(s->flags & CSNI_SECTION_EXEC) || !(s->flags & CSNI_SECTION_ALLOC) || (s->flags & CSNI_SECTION_COMPRESSED)) return false;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (csni_str_is(s->name, names[i])) return s->size > 0;
    return false;
}

static csn_status find_stubs(struct stub_maker *m, struct csn_error *err) {
    CSNI_TRY(find_slots(m, err));
    if (m->object->machine == EM_PPC64) return find_glink_stubs(m, err);
    uint64_t left = m->object->file.size;
    m->slot_stubs_left = m->slots.count;
    m->got = got_address(m->object);
    for (uint32_t i = 1; i < m->object->section_count; i++) {
        const struct csni_section *s = &m->object->sections[i];
        if (!holds_stubs(s)) continue;
        if (!take(&left, s->size)) break;
        CSNI_TRY(find_stubs_as_slots(m, i, err));
        if (m->object->machine == EM_ALPHA) return find_alpha_stubs(m, i, err); /* there is one such section */
        if (m->machine->match && !(s->flags & CSNI_SECTION_NOBITS)) CSNI_TRY(find_stubs_in(m, i, err));
    }
    return CSN_OK;
}

static bool may_have_stubs(const struct csni_object *object) {
    if (object->kind != CSNI_OBJECT_EXECUTABLE && object->kind != CSNI_OBJECT_SHARED) return false;
    if (object->machine == EM_PPC64) return csni_object_find_section(object, ".plt") != CSNI_NO_SECTION;
    for (uint32_t i = 1; i < object->section_count; i++)
        if (holds_stubs(&object->sections[i])) return true;
    return false;
}

csn_status csni_elf_stubs(struct csni_object *object, csni_stubs *out, struct csn_error *err) {
    enum { SPARE_NAME_BYTES = 65536 };
    struct stub_maker m = { .object = object, .machine = csni_stub_machine_of(object->machine), .out = out,
                            .visits_left = object->file.size,
                            .slots.alloc = csni_object_priv(object)->alloc };
    if (!m.machine || !may_have_stubs(object)) return CSN_NONE;
    if (csni_elf_symbols(&m.symbols, object, CSNI_SYMBOLS_DYNAMIC, NULL) != CSN_OK)
        m.symbols = (struct csni_symbol_iter){ .object = object };
    m.name_bytes_left = 4 * (uint64_t)m.symbols.strings.size + SPARE_NAME_BYTES;
    csn_status status = find_stubs(&m, err);
    csni_vec_deinit(&m.slots);
    return status;
}
