/* Object files that hold an index and nothing else: the headers of each container in front, then the sections. */
#include "embed/new_object.h"

#include "base/core/checked.h"
#include "base/core/endian.h"
#include "base/core/fail.h"
#include "object/elf/elf_layout.h"
#include "object/macho/macho_layout.h"
#include "object/pe/pe_layout.h"

typedef unsigned long long ull; /* for %llx */

/* Of COFF sections: initialized data that may be discarded and read; alignments. */
enum { SECTION_CHARACTERISTICS = 0x42000040, SECTION_ALIGN_16 = 0x00500000, SECTION_ALIGN_1 = 0x00100000 };

/* Where headers are put. Their size is known beforehand. */
struct headers {
    uint8_t *bytes;
    size_t size;
    bool big;
    unsigned word; /* bytes of an address */
};

static void put_new_number(struct headers *h, uint64_t value, unsigned size) {
    csni_put_sized(h->bytes + h->size, value, size, h->big);
    h->size += size;
}

static void put_new_bytes(struct headers *h, const void *bytes, size_t size) {
    memcpy(h->bytes + h->size, bytes, size);
    h->size += size;
}

/* A name in a field of that size, cut or filled with zeros. */
static void put_new_name(struct headers *h, struct csn_str name, size_t size) {
    memset(h->bytes + h->size, 0, size);
    memcpy(h->bytes + h->size, name.ptr, name.len < size ? name.len : size);
    h->size += size;
}

static enum csni_container container_of(const struct csni_new_object *o) {
    return o->like ? o->like->container : CSNI_CONTAINER_ELF;
}
static unsigned word_of(const struct csni_new_object *o) { return o->like ? o->like->address_size : 8; }
static bool is_big(const struct csni_new_object *o) { return o->like ? o->like->big_endian : o->big_endian; }

const char *csni_index_section_name(const struct csni_object *like) {
    return like && like->container == CSNI_CONTAINER_MACHO ? "__gsym" : ".gsym";
}

const char *csni_index_strings_name(const struct csni_object *like, bool late) {
    enum csni_container container = like ? like->container : CSNI_CONTAINER_ELF;
    if (container == CSNI_CONTAINER_MACHO) return "__gsym_strtab";
    if (container == CSNI_CONTAINER_PE) return ".gsymstr"; /* as long as a name can be there */
    return late ? ".gsym_strtab" : ".gsymstrtab";
}

/* ---- ELF: header, section headers, names ---- */

static const char shstrtab[] = ".shstrtab";

static size_t elf_names_size(const struct csni_new_object *o) {
    size_t size = 1 + sizeof shstrtab;
    for (uint32_t i = 0; i < o->section_count; i++) size += o->sections[i].name.len + 1;
    return size;
}

static size_t elf_names_off(const struct csni_new_object *o) {
    size_t count = 2 + o->section_count;
    return word_of(o) == 8 ? EHDR64_SIZE + count * SHDR64_SIZE : EHDR32_SIZE + count * SHDR32_SIZE;
}

static void put_shdr(struct headers *h, uint64_t name, uint32_t type, uint64_t off, uint64_t size, uint64_t align) {
    put_new_number(h, name, 4);
    put_new_number(h, type, 4);
    put_new_number(h, 0, h->word); /* sh_flags */
    put_new_number(h, 0, h->word); /* sh_addr */
    put_new_number(h, off, h->word);
    put_new_number(h, size, h->word);
    put_new_number(h, 0, 4); /* sh_link */
    put_new_number(h, 0, 4); /* sh_info */
    put_new_number(h, align, h->word);
    put_new_number(h, 0, h->word); /* sh_entsize */
}

static void put_elf(const struct csni_new_object *o, struct headers *h) {
    const struct csni_object *like = o->like;
    uint8_t ident[EI_NIDENT] = { 0x7f, 'E', 'L', 'F', ELFCLASS64, is_big(o) ? ELFDATA2MSB : ELFDATA2LSB, 1 };
    if (like) memcpy(ident, like->file.ptr, sizeof ident);
    put_new_bytes(h, ident, sizeof ident);
    put_new_number(h, like ? csni_get16(like->file.ptr + EI_NIDENT, h->big) : ET_REL, 2);
    put_new_number(h, like ? like->machine : 0, 2);
    put_new_number(h, 1, 4);       /* e_version */
    put_new_number(h, 0, h->word); /* e_entry */
    put_new_number(h, 0, h->word); /* e_phoff */
    put_new_number(h, h->word == 8 ? EHDR64_SIZE : EHDR32_SIZE, h->word);
    put_new_number(h, like ? csni_get32(like->file.ptr + h->size, h->big) : 0, 4); /* e_flags stand at the same place */
    put_new_number(h, h->word == 8 ? EHDR64_SIZE : EHDR32_SIZE, 2);
    put_new_number(h, 0, 2); /* e_phentsize */
    put_new_number(h, 0, 2); /* e_phnum */
    put_new_number(h, h->word == 8 ? SHDR64_SIZE : SHDR32_SIZE, 2);
    put_new_number(h, 2 + o->section_count, 2);
    put_new_number(h, 1 + o->section_count, 2); /* e_shstrndx */
    put_shdr(h, 0, SHT_NULL, 0, 0, 0);
    uint64_t name = 1 + sizeof shstrtab;
    for (uint32_t i = 0; i < o->section_count; i++) {
        const struct csni_new_section *s = &o->sections[i];
        /* Not SHT_STRTAB: llvm-objcopy and llvm-strip build such sections anew, from the symbols they know of. */
        put_shdr(h, name, SHT_PROGBITS, s->off, csni_new_section_size(s),
                 s->is_strings ? 1 : CSNI_INDEX_ALIGN);
        name += s->name.len + 1;
    }
    /* Last, as an index may share strings of a section of that name, and the first of a name is found. */
    put_shdr(h, 1, SHT_STRTAB, elf_names_off(o), elf_names_size(o), 1);
    put_new_number(h, 0, 1);
    put_new_bytes(h, shstrtab, sizeof shstrtab);
    for (uint32_t i = 0; i < o->section_count; i++) put_new_name(h, o->sections[i].name, o->sections[i].name.len + 1);
}

/* ---- Mach-O: header, one segment command without a name ---- */

static size_t macho_headers_size(const struct csni_new_object *o) {
    return word_of(o) == 8 ? MACH_HEADER_64_SIZE + SEGMENT_COMMAND_64_SIZE + o->section_count * (size_t)SECTION_64_SIZE
                           : MACH_HEADER_SIZE + SEGMENT_COMMAND_SIZE + o->section_count * (size_t)SECTION_SIZE;
}

static void put_macho_section(struct headers *h, const struct csni_new_section *s, uint64_t segment_off) {
    put_new_name(h, s->name, MACHO_NAME_SIZE);
    put_new_name(h, csni_str("__GSYM"), MACHO_NAME_SIZE);
    put_new_number(h, s->off - segment_off, h->word);
    put_new_number(h, csni_new_section_size(s), h->word);
    put_new_number(h, s->off, 4);
    put_new_number(h, s->is_strings ? 0 : 4, 4); /* power of two */
    put_new_number(h, 0, 4);                     /* reloff */
    put_new_number(h, 0, 4);                     /* nreloc */
    put_new_number(h, 0, 4);                     /* flags: regular */
    put_new_number(h, 0, 4);
    put_new_number(h, 0, 4);
    if (h->word == 8) put_new_number(h, 0, 4);
}

/* Code for 64-bit addresses alone has the wide header; 32-bit pointers of arm64_32 do not. */
static void put_macho(const struct csni_new_object *o, struct headers *h) {
    bool wide = h->word == 8;
    uint64_t begin = o->sections[0].off;
    const struct csni_new_section *last = &o->sections[o->section_count - 1];
    uint64_t size = last->off + csni_new_section_size(last) - begin;
    put_new_number(h, wide ? MH_MAGIC_64 : MH_MAGIC, 4);
    put_new_number(h, o->like->machine, 4);
    put_new_number(h, csni_get32(o->like->file.ptr + 8, h->big), 4); /* cpusubtype */
    put_new_number(h, MH_OBJECT, 4);
    put_new_number(h, 1, 4); /* ncmds */
    put_new_number(h, macho_headers_size(o) - (wide ? MACH_HEADER_64_SIZE : MACH_HEADER_SIZE), 4);
    put_new_number(h, 0, 4); /* flags */
    if (wide) put_new_number(h, 0, 4);
    put_new_number(h, wide ? LC_SEGMENT_64 : LC_SEGMENT, 4);
    const uint32_t section_size = wide ? SECTION_64_SIZE : SECTION_SIZE;
    put_new_number(h, (wide ? SEGMENT_COMMAND_64_SIZE : SEGMENT_COMMAND_SIZE) + o->section_count * section_size, 4);
    put_new_name(h, csni_str(""), MACHO_NAME_SIZE);
    put_new_number(h, 0, h->word); /* vmaddr */
    put_new_number(h, size, h->word);
    put_new_number(h, begin, h->word);
    put_new_number(h, size, h->word);
    put_new_number(h, 7, 4); /* maxprot and initprot, as in every object */
    put_new_number(h, 7, 4);
    put_new_number(h, o->section_count, 4);
    put_new_number(h, 0, 4); /* flags */
    for (uint32_t i = 0; i < o->section_count; i++) put_macho_section(h, &o->sections[i], begin);
}

/* ---- COFF: header, section headers; after the sections a string table for long names ---- */

static size_t coff_headers_size(const struct csni_new_object *o) {
    return COFF_HEADER_SIZE + o->section_count * (size_t)SECTION_HEADER_SIZE;
}

static uint64_t coff_strings_size(const struct csni_new_object *o) {
    uint64_t size = 0;
    for (uint32_t i = 0; i < o->section_count; i++)
        if (o->sections[i].name.len > SECTION_NAME_SIZE) size += o->sections[i].name.len + 1;
    return size ? size + 4 : 0;
}

static uint64_t sections_end(const struct csni_new_object *o) {
    const struct csni_new_section *last = &o->sections[o->section_count - 1];
    return last->off + csni_new_section_size(last);
}

static void put_coff(const struct csni_new_object *o, struct headers *h) {
    put_new_number(h, o->like->machine, 2);
    put_new_number(h, o->section_count, 2);
    put_new_number(h, 0, 4); /* TimeDateStamp: the same bytes for the same input */
    put_new_number(h, coff_strings_size(o) ? sections_end(o) : 0, 4);
    put_new_number(h, 0, 4); /* NumberOfSymbols */
    put_new_number(h, 0, 2); /* SizeOfOptionalHeader */
    put_new_number(h, 0, 2); /* Characteristics */
    for (uint32_t i = 0; i < o->section_count; i++) {
        const struct csni_new_section *s = &o->sections[i];
        /* There is one long name at most, that of the strings: it stands at offset 4 of the string table. */
        put_new_name(h, s->name.len <= SECTION_NAME_SIZE ? s->name : csni_str("/4"), SECTION_NAME_SIZE);
        put_new_number(h, 0, 4); /* VirtualSize */
        put_new_number(h, 0, 4);
        put_new_number(h, csni_new_section_size(s), 4);
        put_new_number(h, s->off, 4);
        put_new_number(h, 0, 4);
        put_new_number(h, 0, 4);
        put_new_number(h, 0, 4);
        put_new_number(h, SECTION_CHARACTERISTICS | (s->is_strings ? SECTION_ALIGN_1 : SECTION_ALIGN_16), 4);
    }
}

/* ---- all of them ---- */

static size_t headers_size(const struct csni_new_object *o) {
    switch (container_of(o)) {
    case CSNI_CONTAINER_MACHO: return macho_headers_size(o);
    case CSNI_CONTAINER_PE: return coff_headers_size(o);
    default: return elf_names_off(o) + elf_names_size(o);
    }
}

csn_status csni_new_object_lay_out(struct csni_new_object *o, struct csn_error *err) {
    if (container_of(o) == CSNI_CONTAINER_WASM)
        return csni_fail(err, CSN_E_UNSUPPORTED, NULL, 0, "a section GSYM stands in ELF, Mach-O or COFF files, not in WebAssembly");
    uint64_t at = headers_size(o);
    for (uint32_t i = 0; i < o->section_count; i++) {
        struct csni_new_section *s = &o->sections[i];
        if (!s->is_strings) at = csni_align_up(at, CSNI_INDEX_ALIGN);
        s->off = at;
        at += csni_new_section_size(s);
    }
    bool narrow = container_of(o) != CSNI_CONTAINER_ELF || word_of(o) == 4;
    if (narrow && at > UINT32_MAX)
        return csni_fail(err, CSN_E_LIMIT, NULL, 0, "the object needs 0x%llx bytes, this kind holds 0x%x", (ull)at, UINT32_MAX);
    return CSN_OK;
}

static csn_status write_padding(const struct csni_sink *sink, uint64_t from, uint64_t to, struct csn_error *err) {
    static const uint8_t zeros[CSNI_INDEX_ALIGN];
    return sink->write(sink->context, from, zeros, (size_t)(to - from), err);
}

static csn_status write_sections(const struct csni_new_object *o, const struct csni_sink *sink, uint64_t at,
                                 struct csn_error *err) {
    for (uint32_t i = 0; i < o->section_count; i++) {
        const struct csni_new_section *s = &o->sections[i];
        CSNI_TRY(write_padding(sink, at, s->off, err));
        CSNI_TRY(sink->write(sink->context, s->off, s->head.ptr, s->head.size, err));
        CSNI_TRY(sink->write(sink->context, s->off + s->head.size, s->tail.ptr, s->tail.size, err));
        at = s->off + csni_new_section_size(s);
    }
    return CSN_OK;
}

static csn_status write_coff_strings(const struct csni_new_object *o, const struct csni_sink *sink, struct csn_error *err) {
    uint64_t size = coff_strings_size(o), at = sections_end(o);
    if (container_of(o) != CSNI_CONTAINER_PE || !size) return CSN_OK;
    uint8_t field[4];
    csni_put32(field, (uint32_t)size, false);
    CSNI_TRY(sink->write(sink->context, at, field, sizeof field, err));
    at += sizeof field;
    for (uint32_t i = 0; i < o->section_count; i++) {
        struct csn_str name = o->sections[i].name;
        if (name.len <= SECTION_NAME_SIZE) continue;
        CSNI_TRY(sink->write(sink->context, at, name.ptr, name.len, err));
        CSNI_TRY(sink->write(sink->context, at + name.len, "", 1, err));
        at += name.len + 1;
    }
    return CSN_OK;
}

csn_status csni_new_object_write(const struct csni_new_object *o, const struct csn_allocator *alloc,
                                 const struct csni_sink *sink, struct csn_error *err) {
    size_t size = headers_size(o);
    struct headers h = { .bytes = csni_alloc(alloc, size), .big = is_big(o), .word = word_of(o) };
    if (!h.bytes) return csni_fail_memory(err, size);
    switch (container_of(o)) {
    case CSNI_CONTAINER_MACHO: put_macho(o, &h); break;
    case CSNI_CONTAINER_PE: put_coff(o, &h); break;
    default: put_elf(o, &h);
    }
    bool is_coff = container_of(o) == CSNI_CONTAINER_PE;
    csn_status status = sink->reserve(sink->context, sections_end(o) + (is_coff ? coff_strings_size(o) : 0), err);
    if (status >= 0) status = sink->write(sink->context, 0, h.bytes, size, err);
    if (status >= 0) status = write_sections(o, sink, size, err);
    if (status >= 0) status = write_coff_strings(o, sink, err);
    csni_free(alloc, h.bytes, size);
    return status;
}
