/* Putting an index into an ELF file: sections, names and a new table of section headers are appended, and nothing that the
 * program loads moves. A section that is replaced, and the old table, are given up where they end the file. */
#include "base/core/checked.h"
#include "base/core/endian.h"
#include "base/core/fail.h"
#include "embed/embed_private.h"
#include "object/elf/elf_layout.h"

#include <callsign/embed.h>

typedef unsigned long long ull; /* for %llx */

enum { TABLE_ALIGN = 8, SECTION_ALIGN = 16, ADDED_MAX = 3 };

/* Where fields stand: in files of 32 and of 64 bits. */
struct fields {
    unsigned word, ehdr_size, e_shoff, e_shentsize, e_shnum, e_shstrndx, e_phoff, e_phnum;
    unsigned shdr_size, sh_flags, sh_offset, sh_size, sh_align;
};
static const struct fields fields32 = { 4, EHDR32_SIZE, 0x20, 0x2e, 0x30, 0x32, 0x1c, 0x2c, SHDR32_SIZE, 8, 0x10, 0x14, 0x20 };
static const struct fields fields64 = { 8, EHDR64_SIZE, 0x28, 0x3a, 0x3c, 0x3e, 0x20, 0x38, SHDR64_SIZE, 8, 0x18, 0x20, 0x30 };

/* A section that is new, or whose content is. */
struct change {
    uint32_t section;  /* CSNI_NO_SECTION: a new one */
    struct csn_str name;
    bool is_strings, is_names;
    uint64_t off, size;
};

struct elf {
    const struct csni_embed *e;
    const struct fields *f;
    bool big;
    uint64_t table_off, entry_size, count, names; /* of the object; names: section of their names */
    struct csni_span old_names;
    struct change changes[ADDED_MAX];
    unsigned change_count;
    uint64_t end;      /* of what is kept of the file */
};

static uint64_t field(const struct elf *x, unsigned at, unsigned size) {
    return csni_get_sized(x->e->object->file.ptr + at, size, x->big);
}

static struct change *add_elf_change(struct elf *x, uint32_t section, struct csn_str name) {
    struct change *c = &x->changes[x->change_count++];
    *c = (struct change){ .section = section, .name = name };
    return c;
}

/* ---- what is to be done ---- */

/* Names are added after the old ones: nothing that is damaged there may turn into a name by that. */
static csn_status check_names(const struct elf *x, struct csn_error *err) {
    const struct csni_object *o = x->e->object;
    if (x->old_names.size && x->old_names.ptr[x->old_names.size - 1])
        return csni_fail(err, CSN_E_FORMAT, NULL, o->sections[x->names].file_off + x->old_names.size - 1,
                         "the names of sections do not end in NUL");
    for (uint64_t i = 0; i < x->count; i++) {
        uint64_t at = x->table_off + i * x->entry_size;
        uint32_t name = csni_get32(o->file.ptr + at, o->big_endian);
        if (name && name >= x->old_names.size)
            return csni_fail(err, CSN_E_FORMAT, NULL, at, "section %llu: name at 0x%x of 0x%zx", (unsigned long long)i, name,
                             x->old_names.size);
    }
    return CSN_OK;
}

static csn_status read_elf_header(struct elf *x, struct csn_error *err) {
    const struct csni_object *o = x->e->object;
    x->table_off = field(x, x->f->e_shoff, x->f->word);
    x->entry_size = field(x, x->f->e_shentsize, 2);
    x->count = o->section_count;
    x->names = field(x, x->f->e_shstrndx, 2);
    if (!x->count) {
        x->entry_size = x->f->shdr_size;
        return CSN_OK;
    }
    if (x->names == SHN_XINDEX) x->names = o->sections[0].link;
    if (x->names == SHN_UNDEF || x->names >= x->count)
        return csni_fail(err, CSN_E_UNSUPPORTED, NULL, 0, "the object's sections have no names");
    const struct csni_section *names = &o->sections[x->names];
    if (names->flags & (CSNI_SECTION_COMPRESSED | CSNI_SECTION_NOBITS) ||
        !csni_span_sub(o->file, names->file_off, names->file_size, &x->old_names))
        return csni_fail(err, CSN_E_FORMAT, NULL, names->file_off, "the names of sections are not in the file as they are");
    return check_names(x, err);
}

static csn_status check_replaced(const struct elf *x, uint32_t section, struct csn_error *err) {
    const struct csni_section *s = &x->e->object->sections[section];
    if (!(s->flags & CSNI_SECTION_ALLOC)) return CSN_OK;
    return csni_fail(err, CSN_E_UNSUPPORTED, NULL, s->file_off,
                     "section %.*s is loaded with the program and cannot get another content", (int)s->name.len, s->name.ptr);
}

static csn_status check_elf_feasible(const struct elf *x, struct csn_error *err) {
    static const char signature[] = "~Module signature appended~\n";
    struct csni_span file = x->e->object->file;
    if ((x->e->flags & CSN_EMBED_LOADED) && x->e->object->kind != CSNI_OBJECT_RELOCATABLE)
        return csni_fail(err, CSN_E_UNSUPPORTED, NULL, 0,
                         "a section of a linked ELF file cannot become loaded; embed into an object file before it is linked");
    if (file.size >= sizeof signature &&
        memcmp(file.ptr + file.size - (sizeof signature - 1), signature, sizeof signature - 1) == 0)
        return csni_fail(err, CSN_E_UNSUPPORTED, NULL, 0, "a signature ends the file, and would be void; embed before signing");
    return CSN_OK;
}

static csn_status plan(struct elf *x, struct csn_error *err) {
    const struct csni_object *o = x->e->object;
    CSNI_TRY(check_elf_feasible(x, err));
    CSNI_TRY(read_elf_header(x, err));
    uint32_t section = csni_object_find_section(o, ".gsym");
    if (section != CSNI_NO_SECTION) CSNI_TRY(check_replaced(x, section, err));
    add_elf_change(x, section, csni_str(".gsym"));
    enum csni_strings_plan strings;
    CSNI_TRY(csni_plan_strings(x->e, &strings, &section, err));
    if (strings == CSNI_STRINGS_REPLACE) CSNI_TRY(check_replaced(x, section, err));
    if (strings == CSNI_STRINGS_NEW || strings == CSNI_STRINGS_REPLACE)
        add_elf_change(x, section, x->e->payload->strings_name)->is_strings = true;
    /* Names and the index's strings may be in one section. */
    bool shared = strings == CSNI_STRINGS_REPLACE && x->count && section == x->names;
    if (shared) {
        x->changes[x->change_count - 1].is_names = true;
        x->old_names = x->e->payload->strings;
    } else {
        add_elf_change(x, x->count ? (uint32_t)x->names : CSNI_NO_SECTION, csni_str(".shstrtab"))->is_names = true;
    }
    return CSN_OK;
}

/* ---- what is kept of the file ---- */

static bool is_changed(const struct elf *x, uint32_t section) {
    for (unsigned i = 0; i < x->change_count; i++)
        if (x->changes[i].section == section) return true;
    return false;
}

/* The end of everything that stays, as far as headers tell. */
static uint64_t end_of_kept(const struct elf *x) {
    const struct csni_object *o = x->e->object;
    uint64_t end = x->f->ehdr_size, phdrs = field(x, x->f->e_phoff, x->f->word), phnum = field(x, x->f->e_phnum, 2);
    if (phnum == PN_XNUM && x->count) phnum = o->sections[0].info;
    uint64_t phdrs_end = phdrs + field(x, x->f->e_phnum - 2, 2) * phnum;
    if (phdrs && phdrs_end > end) end = phdrs_end;
    for (uint32_t i = 0; i < o->segment_count; i++)
        if (o->segments[i].file_off + o->segments[i].file_size > end) end = o->segments[i].file_off + o->segments[i].file_size;
    for (uint32_t i = 1; i < o->section_count; i++)
        if (!is_changed(x, i) && o->sections[i].file_off + o->sections[i].file_size > end)
            end = o->sections[i].file_off + o->sections[i].file_size;
    return end;
}

/* Cuts [off, off + size) off the end of what is kept, with the zeros that align what stood after it. */
static bool cut_out(struct elf *x, uint64_t off, uint64_t size, uint64_t floor) {
    struct csni_span file = x->e->object->file;
    if (!size || off < floor || off > x->end || size > x->end - off || x->end - off - size >= SECTION_ALIGN) return false;
    for (uint64_t i = off + size; i < x->end; i++)
        if (file.ptr[i]) return false;
    x->end = off;
    return true;
}

/* What is given up stands at the end of most files. Bytes that no header tells of stay. */
static void find_end(struct elf *x) {
    const struct csni_object *o = x->e->object;
    uint64_t floor = end_of_kept(x);
    x->end = o->file.size;
    for (bool again = true; again;) {
        again = x->table_off && cut_out(x, x->table_off, x->count * x->entry_size, floor);
        for (unsigned i = 0; i < x->change_count; i++) {
            uint32_t section = x->changes[i].section;
            if (section != CSNI_NO_SECTION)
                again |= cut_out(x, o->sections[section].file_off, o->sections[section].file_size, floor);
        }
    }
}

static csn_status check_appended_to_elf(const struct elf *x, struct csn_error *err) {
    const struct csni_object *o = x->e->object;
    if (o->kind == CSNI_OBJECT_RELOCATABLE) return CSN_OK;
    uint64_t end = end_of_kept(x), table_end = x->table_off + x->count * x->entry_size;
    if (x->count && table_end > end) end = table_end;
    for (unsigned i = 0; i < x->change_count; i++) {
        uint32_t section = x->changes[i].section;
        uint64_t section_end = section == CSNI_NO_SECTION ? 0 : o->sections[section].file_off + o->sections[section].file_size;
        if (section_end > end) end = section_end;
    }
    return csni_check_appended(x->e->flags, o->file, end, o->file.size, err);
}

/* ---- the new file ---- */

static void put_names(struct elf *x, struct csni_assembly *out) {
    csni_assembly_add(out, x->old_names);
    if (!x->old_names.size) csni_assembly_add_zeros(out, 1);
    for (unsigned i = 0; i < x->change_count; i++) {
        const struct change *c = &x->changes[i];
        if (c->section != CSNI_NO_SECTION) continue;
        uint8_t *p = csni_assembly_add_zeros(out, c->name.len + 1);
        if (p) memcpy(p, c->name.ptr, c->name.len);
    }
}

static void put_contents(struct elf *x, struct csni_assembly *out) {
    csni_assembly_align(out, SECTION_ALIGN);
    for (unsigned i = 0; i < x->change_count; i++) {
        struct change *c = &x->changes[i];
        c->off = out->size;
        if (c->is_names) put_names(x, out);
        else if (c->is_strings) csni_assembly_add(out, x->e->payload->strings);
        else csni_payload_add(x->e->payload, out);
        c->size = out->size - c->off;
    }
}

static void set_header(const struct elf *x, uint8_t *shdr, const struct change *c) {
    csni_put_sized(shdr + x->f->sh_offset, c->off, x->f->word, x->big);
    csni_put_sized(shdr + x->f->sh_size, c->size, x->f->word, x->big);
}

static void put_elf_table(struct elf *x, struct csni_assembly *out, uint64_t added) {
    const struct csni_object *o = x->e->object;
    uint64_t old = x->count, total = (old ? old : 1) + added;
    uint8_t *table = csni_assembly_add_zeros(out, (size_t)(total * x->entry_size));
    if (!table) return;
    if (old) memcpy(table, o->file.ptr + x->table_off, (size_t)(old * x->entry_size));
    uint64_t next = old ? old : 1, name = x->old_names.size ? x->old_names.size : 1;
    for (unsigned i = 0; i < x->change_count; i++) {
        const struct change *c = &x->changes[i];
        uint8_t *shdr = table + (c->section == CSNI_NO_SECTION ? next++ : c->section) * x->entry_size;
        set_header(x, shdr, c);
        if (c->section != CSNI_NO_SECTION) continue;
        bool is_index = !c->is_strings && !c->is_names;
        bool loaded = (x->e->flags & CSN_EMBED_LOADED) && !c->is_names;
        csni_put32(shdr, (uint32_t)name, x->big);
        /* The index's strings are not SHT_STRTAB: llvm-strip builds such sections anew, from the symbols it knows of. */
        csni_put32(shdr + 4, c->is_names ? SHT_STRTAB : SHT_PROGBITS, x->big);
        csni_put_sized(shdr + x->f->sh_flags, loaded ? SHF_ALLOC : 0, x->f->word, x->big);
        csni_put_sized(shdr + x->f->sh_align, is_index ? SECTION_ALIGN : 1, x->f->word, x->big);
        name += c->name.len + 1;
    }
    if (total >= SHN_LORESERVE) csni_put_sized(table + x->f->sh_size, total, x->f->word, x->big);
}

static csn_status assemble_elf(struct elf *x, struct csni_assembly *out, struct csn_error *err) {
    struct csni_span file = x->e->object->file;
    uint8_t *header = csni_assembly_add_copy(out, (struct csni_span){ file.ptr, x->f->ehdr_size });
    csni_assembly_add(out, (struct csni_span){ file.ptr + x->f->ehdr_size, (size_t)(x->end - x->f->ehdr_size) });
    put_contents(x, out);
    csni_assembly_align(out, TABLE_ALIGN);
    uint64_t table = out->size, added = 0;
    for (unsigned i = 0; i < x->change_count; i++) added += x->changes[i].section == CSNI_NO_SECTION;
    put_elf_table(x, out, added);
    if (x->f->word == 4 && out->size > UINT32_MAX)
        return csni_fail(err, CSN_E_LIMIT, NULL, 0, "the file would have 0x%llx bytes, 32-bit ELF holds 0x%x", (ull)out->size,
                         UINT32_MAX);
    if (out->failed || !header) return csni_fail_memory(err, out->size);
    uint64_t total = (x->count ? x->count : 1) + added;
    csni_put_sized(header + x->f->e_shoff, table, x->f->word, x->big);
    csni_put16(header + x->f->e_shentsize, (uint16_t)x->entry_size, x->big);
    csni_put16(header + x->f->e_shnum, total >= SHN_LORESERVE ? 0 : (uint16_t)total, x->big);
    if (!x->count) csni_put16(header + x->f->e_shstrndx, (uint16_t)(total - 1), x->big); /* names are the last change */
    return CSN_OK;
}

csn_status csni_embed_elf(const struct csni_embed *e, struct csni_assembly *out, struct csn_error *err) {
    struct elf x = { .e = e, .f = e->object->address_size == 8 ? &fields64 : &fields32, .big = e->object->big_endian };
    CSNI_TRY(plan(&x, err));
    CSNI_TRY(check_appended_to_elf(&x, err));
    find_end(&x);
    return assemble_elf(&x, out, err);
}
