/* ELF: header, section and program headers, build id, image base. */
#include <inttypes.h>
#include <stdio.h>

#include "base/core/budget.h"
#include "base/core/checked.h"
#include "base/core/cursor.h"
#include "base/core/fail.h"
#include "object/elf/elf_layout.h"
#include "object/object_private.h"

struct elf_header {
    uint16_t type, machine, phentsize, shentsize;
    uint64_t phoff, shoff, phnum, shnum; /* phnum, shnum: with extended numbering resolved */
    uint64_t shstrndx;
};

/* An address, offset or size: as wide as the file's class. */
static uint64_t read_word(struct csni_cursor *c, const struct csni_object *object) {
    return csni_cursor_uint(c, object->address_size);
}

/* As other containers name their machines, else as LLVM does. */
static const char *arch_name(const struct csni_object *object) {
    bool is_64 = object->address_size == 8, big = object->big_endian;
    switch (object->machine) {
    case EM_386: return "i386";
    case EM_X86_64: return "x86_64";
    case EM_ARM: return "arm";
    case EM_AARCH64: return "arm64";
    case EM_MIPS: return is_64 ? "mips64" : "mips";
    case EM_PPC: return "ppc";
    case EM_PPC64: return "ppc64";
    case EM_S390: return is_64 ? "s390x" : "s390";
    case EM_RISCV: return is_64 ? "riscv64" : "riscv32";
    case EM_LOONGARCH: return is_64 ? "loongarch64" : "loongarch32";
    case EM_SPARC:
    case EM_SPARC32PLUS: return "sparc";
    case EM_SPARCV9: return "sparcv9";
    case EM_BPF: return big ? "bpfeb" : "bpfel";
    case EM_AMDGPU: return "amdgcn";
    case EM_HEXAGON: return "hexagon";
    case EM_68K: return "m68k";
    case EM_AVR: return "avr";
    case EM_MSP430: return "msp430";
    case EM_LANAI: return "lanai";
    case EM_VE: return "ve";
    case EM_XTENSA: return "xtensa";
    case EM_ALPHA: return "alpha";
    case EM_PARISC: return is_64 ? "hppa64" : "hppa";
    case EM_SH: return "sh";
    case EM_ARC_COMPACT:
    case EM_ARC_COMPACT2: return "arc";
    case EM_CSKY: return "csky";
    case EM_IA_64: return "ia64";
    case EM_CUDA: return "cuda";
    default: return "";
    }
}

static csn_status read_ident(struct csni_object *object, struct csn_error *err) {
    struct csni_span file = object->file;
    if (file.size < EI_NIDENT)
        return csni_fail(err, CSN_E_TRUNCATED, NULL, 0, "ELF header: %zu bytes, need %d", file.size, EHDR32_SIZE);
    if (file.ptr[EI_CLASS] != ELFCLASS32 && file.ptr[EI_CLASS] != ELFCLASS64)
        return csni_fail(err, CSN_E_UNSUPPORTED, NULL, EI_CLASS, "ELF header: class %u, need 1 (32-bit) or 2 (64-bit)",
                         file.ptr[EI_CLASS]);
    if (file.ptr[EI_DATA] != ELFDATA2LSB && file.ptr[EI_DATA] != ELFDATA2MSB)
        return csni_fail(err, CSN_E_UNSUPPORTED, NULL, EI_DATA,
                         "ELF header: byte order %u, need 1 (little-endian) or 2 (big-endian)", file.ptr[EI_DATA]);
    object->address_size = file.ptr[EI_CLASS] == ELFCLASS64 ? 8 : 4;
    object->big_endian = file.ptr[EI_DATA] == ELFDATA2MSB;
    size_t need = object->address_size == 8 ? EHDR64_SIZE : EHDR32_SIZE;
    if (file.size < need)
        return csni_fail(err, CSN_E_TRUNCATED, NULL, 0, "ELF header: %zu bytes, need %zu", file.size, need);
    return CSN_OK;
}

static void read_elf_header(const struct csni_object *object, struct elf_header *h) {
    struct csni_cursor c = csni_cursor_at(object->file, object->big_endian);
    csni_cursor_skip(&c, EI_NIDENT);
    h->type = csni_cursor_u16(&c);
    h->machine = csni_cursor_u16(&c);
    csni_cursor_skip(&c, 4u + object->address_size); /* e_version, e_entry */
    h->phoff = read_word(&c, object);
    h->shoff = read_word(&c, object);
    csni_cursor_skip(&c, 4 + 2); /* e_flags, e_ehsize */
    h->phentsize = csni_cursor_u16(&c);
    h->phnum = csni_cursor_u16(&c);
    h->shentsize = csni_cursor_u16(&c);
    h->shnum = csni_cursor_u16(&c);
    h->shstrndx = csni_cursor_u16(&c);
}

/* The raw fields of one section header. */
struct elf_section_header {
    uint32_t name, type, link, info;
    uint64_t flags, addr, off, size, align, entry_size;
};

/* `off` was checked: a whole header lies there. */
static void read_section_header(const struct csni_object *object, uint64_t off, struct elf_section_header *s) {
    struct csni_cursor c = csni_cursor_at(object->file, object->big_endian);
    csni_cursor_seek(&c, off);
    s->name = csni_cursor_u32(&c);
    s->type = csni_cursor_u32(&c);
    s->flags = read_word(&c, object);
    s->addr = read_word(&c, object);
    s->off = read_word(&c, object);
    s->size = read_word(&c, object);
    s->link = csni_cursor_u32(&c);
    s->info = csni_cursor_u32(&c);
    s->align = read_word(&c, object);
    s->entry_size = read_word(&c, object);
}

/* Whether a table of `count` entries of `entry_size` bytes, each at least `min_size`, lies in the file. */
static csn_status check_table(const struct csni_object *object, const char *what, const char *off_name, uint64_t off,
                              uint64_t count, uint64_t entry_size, uint64_t min_size, struct csn_error *err) {
    if (entry_size < min_size)
        return csni_fail(err, CSN_E_FORMAT, NULL, 0, "%s: entries of %" PRIu64 " bytes, need >= %" PRIu64, what, entry_size,
                         min_size);
    struct csni_span table;
    uint64_t size;
    if (csni_mul_u64(count, entry_size, &size) && csni_span_sub(object->file, off, size, &table)) return CSN_OK;
    return csni_fail(err, CSN_E_TRUNCATED, NULL, off,
                     "%s: %" PRIu64 " entries of %" PRIu64 " bytes at %s 0x%" PRIx64 ", but the file has 0x%zx bytes", what,
                     count, entry_size, off_name, off, object->file.size);
}

/* Checks that both tables lie in the file and puts the real counts in place of the escapes. */
static csn_status check_elf_tables(const struct csni_object *object, struct elf_header *h, struct csn_error *err) {
    bool wide = object->address_size == 8;
    uint64_t shdr_size = wide ? SHDR64_SIZE : SHDR32_SIZE, phdr_size = wide ? PHDR64_SIZE : PHDR32_SIZE;
    bool has_program_headers = h->phoff && h->phnum;
    if (!h->shoff) {
        h->shnum = h->shstrndx = 0;
    } else if (h->shnum == 0 || h->shstrndx == SHN_XINDEX || h->phnum == PN_XNUM) {
        CSNI_TRY(check_table(object, "section headers", "e_shoff", h->shoff, 1, h->shentsize, shdr_size, err));
        struct elf_section_header first;
        read_section_header(object, h->shoff, &first);
        if (h->shnum == 0) h->shnum = first.size;
        if (h->shstrndx == SHN_XINDEX) h->shstrndx = first.link;
        if (h->phnum == PN_XNUM) h->phnum = first.info;
    }
    if (h->shnum) {
        CSNI_TRY(check_table(object, "section headers", "e_shoff", h->shoff, h->shnum, h->shentsize, shdr_size, err));
        if (h->shnum >= CSNI_NO_SECTION)
            return csni_fail(err, CSN_E_LIMIT, NULL, h->shoff, "%" PRIu64 " sections, need < %u", h->shnum, CSNI_NO_SECTION);
    }
    if (!has_program_headers) h->phnum = 0;
    else
        CSNI_TRY(check_table(object, "program headers", "e_phoff", h->phoff, h->phnum, h->phentsize, phdr_size, err));
    if (h->phnum > UINT32_MAX)
        return csni_fail(err, CSN_E_LIMIT, NULL, h->phoff, "%" PRIu64 " program headers, need <= %u", h->phnum, UINT32_MAX);
    return CSN_OK;
}

static uint32_t elf_section_flags(const struct elf_section_header *s) {
    uint32_t flags = 0;
    if (s->flags & SHF_ALLOC) flags |= CSNI_SECTION_ALLOC;
    if (s->flags & SHF_EXECINSTR) flags |= CSNI_SECTION_EXEC;
    if (s->flags & SHF_WRITE) flags |= CSNI_SECTION_WRITE;
    if (s->flags & SHF_GROUP) flags |= CSNI_SECTION_GROUP;
    if (s->type == SHT_NOBITS || s->type == SHT_NULL) flags |= CSNI_SECTION_NOBITS;
    else if (s->flags & SHF_COMPRESSED) flags |= CSNI_SECTION_COMPRESSED;
    return flags;
}

static csn_status read_elf_sections(struct csni_object_private *priv, const struct elf_header *h,
                                    struct csn_error *err) {
    struct csni_object *object = &priv->object;
    if (!h->shnum) return CSN_OK;
    uint32_t count = (uint32_t)h->shnum;
    CSNI_TRY(csni_make_sections(priv, count, err));
    for (uint32_t i = 0; i < count; i++) {
        struct elf_section_header s;
        read_section_header(object, h->shoff + (uint64_t)i * h->shentsize, &s);
        priv->sections[i] = (struct csni_section){
            .name = { "", s.name }, /* the offset of the name, until name_sections() */
            .addr = s.addr, .size = s.size, .file_off = s.off,
            .flags = elf_section_flags(&s), .type = s.type, .link = s.link, .info = s.info,
            .align = s.align, .entry_size = s.entry_size,
        };
        if (!(priv->sections[i].flags & CSNI_SECTION_NOBITS)) priv->sections[i].file_size = s.size;
    }
    return CSN_OK;
}

/* A section whose name lies outside of the name table is left without a name: its type may be all that is needed. */
static csn_status name_sections(struct csni_object_private *priv, const struct elf_header *h, struct csn_error *err) {
    struct csni_object *object = &priv->object;
    struct csni_span names = { NULL, 0 };
    if (h->shstrndx != SHN_UNDEF && object->section_count) {
        if (h->shstrndx >= object->section_count)
            return csni_fail(err, CSN_E_FORMAT, NULL, 0, "ELF header: names in section %" PRIu64 " of %" PRIu32,
                             h->shstrndx, object->section_count);
        const struct csni_section *table = &object->sections[h->shstrndx];
        if (!(table->flags & CSNI_SECTION_NOBITS) && !csni_span_sub(object->file, table->file_off, table->file_size, &names))
            return csni_fail(err, CSN_E_TRUNCATED, NULL, table->file_off,
                             "section names: at 0x%" PRIx64 ", 0x%" PRIx64 " bytes long, but the file has 0x%zx bytes",
                             table->file_off, table->file_size, object->file.size);
    }
    for (uint32_t i = 0; i < object->section_count; i++) {
        struct csn_str *name = &priv->sections[i].name;
        if (!csni_span_cstr(names, name->len, name)) *name = (struct csn_str){ "", 0 };
    }
    return CSN_OK;
}

/* The raw fields of one program header. */
struct elf_program_header {
    uint32_t type, flags;
    uint64_t off, vaddr, filesz, memsz, align;
};

static void read_program_header(const struct csni_object *object, const struct elf_header *h, uint32_t index,
                                struct elf_program_header *p) {
    bool wide = object->address_size == 8;
    struct csni_cursor c = csni_cursor_at(object->file, object->big_endian);
    csni_cursor_seek(&c, h->phoff + (uint64_t)index * h->phentsize);
    p->type = csni_cursor_u32(&c);
    if (wide) p->flags = csni_cursor_u32(&c);
    p->off = read_word(&c, object);
    p->vaddr = read_word(&c, object);
    csni_cursor_skip(&c, object->address_size); /* p_paddr */
    p->filesz = read_word(&c, object);
    p->memsz = read_word(&c, object);
    if (!wide) p->flags = csni_cursor_u32(&c);
    p->align = read_word(&c, object);
}

static csn_status read_elf_segments(struct csni_object_private *priv, const struct elf_header *h,
                                    struct csn_error *err) {
    struct csni_object *object = &priv->object;
    uint32_t count = 0;
    struct elf_program_header p;
    for (uint32_t i = 0; i < h->phnum; i++) {
        read_program_header(object, h, i, &p);
        if (p.type == PT_LOAD) count++;
    }
    if (!count) return CSN_OK;
    priv->segments = csni_alloc_zeroed(priv->alloc, count, sizeof *priv->segments);
    if (!priv->segments) return csni_fail_memory(err, (uint64_t)count * sizeof *priv->segments);
    object->segments = priv->segments;
    object->segment_count = count;
    struct csni_segment *segment = priv->segments;
    for (uint32_t i = 0; i < h->phnum; i++) {
        read_program_header(object, h, i, &p);
        if (p.type != PT_LOAD) continue;
        *segment++ = (struct csni_segment){ p.vaddr, p.memsz, p.off, p.filesz, (p.flags & PF_X) != 0 };
    }
    object->image_base = object->segments[0].addr;
    object->has_image_base = true;
    return CSN_OK;
}

/* Looks for the GNU build id among notes. `align`: of the notes' parts, 4 or 8. */
static bool find_build_id(struct csni_span notes, uint64_t align, bool big, struct csni_span *out) {
    struct csni_cursor c = csni_cursor_at(notes, big);
    while (csni_cursor_left(&c) >= NHDR_SIZE) {
        uint32_t name_size = csni_cursor_u32(&c), desc_size = csni_cursor_u32(&c), type = csni_cursor_u32(&c);
        struct csni_span name = csni_cursor_bytes(&c, name_size);
        csni_cursor_seek(&c, csni_align_up(csni_cursor_off(&c), align));
        struct csni_span desc = csni_cursor_bytes(&c, desc_size);
        if (c.failed) return false;
        if (type == NT_GNU_BUILD_ID && desc.size && name.size == 4 && memcmp(name.ptr, "GNU", 4) == 0) {
            *out = desc;
            return true;
        }
        csni_cursor_seek(&c, csni_align_up(csni_cursor_off(&c), align));
    }
    return false;
}

/* Looks in `size` bytes of notes at `off`. `budget`: of bytes in the whole file, so that headers which all name the same bytes cost
 * no more than honest ones. */
static bool look_for_build_id(struct csni_object *object, uint64_t off, uint64_t size, uint64_t align,
                              struct csni_budget *budget) {
    struct csni_span notes;
    if (!csni_span_sub(object->file, off, size, &notes) || !csni_budget_charge(budget, size)) return false;
    return find_build_id(notes, align == 8 ? 8 : 4, object->big_endian, &object->build_id);
}

/* Notes of sections with `name`, or of all note sections when it is NULL. */
static bool find_build_id_in_sections(struct csni_object *object, const char *name, struct csni_budget *budget) {
    for (uint32_t i = 1; i < object->section_count; i++) {
        const struct csni_section *s = &object->sections[i];
        if (name ? !csni_str_is(s->name, name) : s->type != SHT_NOTE) continue;
        if (s->flags & (CSNI_SECTION_COMPRESSED | CSNI_SECTION_NOBITS)) continue;
        if (look_for_build_id(object, s->file_off, s->file_size, s->align, budget)) return true;
    }
    return false;
}

/* Sections first: in a debug-only file, program headers point to bytes that are not there. */
static void read_elf_build_id(struct csni_object *object, const struct elf_header *h) {
    struct csni_budget budget = csni_budget_for(0, object->file.size, 4);
    if (find_build_id_in_sections(object, ".note.gnu.build-id", &budget)) return;
    if (find_build_id_in_sections(object, NULL, &budget)) return;
    for (uint32_t i = 0; i < h->phnum; i++) {
        struct elf_program_header p;
        read_program_header(object, h, i, &p);
        if (p.type == PT_NOTE && look_for_build_id(object, p.off, p.filesz, p.align, &budget)) return;
    }
}

/* CUDA's cubins are marked as linked, but all their sections begin at 0, and debug sections wait for relocations. */
static enum csni_object_kind elf_object_kind(uint16_t type, uint16_t machine) {
    if (machine == EM_CUDA && type == ET_EXEC) return CSNI_OBJECT_RELOCATABLE;
    switch (type) {
    case ET_REL: return CSNI_OBJECT_RELOCATABLE;
    case ET_EXEC: return CSNI_OBJECT_EXECUTABLE;
    case ET_DYN: return CSNI_OBJECT_SHARED;
    case ET_CORE: return CSNI_OBJECT_CORE;
    default: return CSNI_OBJECT_OTHER;
    }
}

static csn_status elf_read(struct csni_object_private *priv, struct csn_error *err) {
    struct csni_object *object = &priv->object;
    struct elf_header header;
    CSNI_TRY(read_ident(object, err));
    read_elf_header(object, &header);
    object->kind = elf_object_kind(header.type, header.machine);
    object->machine = header.machine;
    snprintf(object->arch, sizeof object->arch, "%s", arch_name(object));
    if (object->kind == CSNI_OBJECT_CORE) return CSN_OK; /* refused by name, also where it was cut */
    CSNI_TRY(check_elf_tables(object, &header, err));
    CSNI_TRY(read_elf_sections(priv, &header, err));
    CSNI_TRY(name_sections(priv, &header, err));
    csni_size_compressed_sections(priv);
    if (object->kind == CSNI_OBJECT_RELOCATABLE) CSNI_TRY(csni_place_sections(priv, err));
    CSNI_TRY(read_elf_segments(priv, &header, err));
    read_elf_build_id(object, &header);
    return CSN_OK;
}

static bool elf_recognize(struct csni_span file) {
    static const uint8_t magic[ELF_MAGIC_SIZE] = { 0x7f, 'E', 'L', 'F' };
    return file.size >= sizeof magic && memcmp(file.ptr, magic, sizeof magic) == 0;
}

const struct csni_container_reader csni_elf_reader = {
    .container = CSNI_CONTAINER_ELF,
    .recognize = elf_recognize,
    .read = elf_read,
    .debug_prefix = ".debug_",
    .compressed_prefix = ".zdebug_",
    .symbols = csni_elf_symbols,
    .next_symbol = csni_elf_next_symbol,
    .needs_relocation = csni_elf_needs_relocation,
    .relocate = csni_elf_relocate,
    .stubs = csni_elf_stubs,
};
