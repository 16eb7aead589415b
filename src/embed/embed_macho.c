/* Putting an index into a Mach-O image. Load commands stand before everything else.
 *
 * In a linked image the index becomes a segment of its own. There are unused bytes after the load commands, as much as the
 * linker was told to leave; and as __LINKEDIT has to be the last segment, in the file and in memory, it moves back, with all
 * that load commands tell of its inside. Chained fixups tell one segment more. In an object file all sections share one
 * segment without a name: there they are added, and what follows moves back. */
#include "base/core/checked.h"
#include "base/core/endian.h"
#include "base/core/fail.h"
#include "embed/embed_private.h"
#include "embed/macho_fixups.h"
#include "embed/macho_signature.h"
#include "object/macho/macho_layout.h"

#include <callsign/embed.h>

typedef unsigned long long ull; /* for %llx */

/* Load commands that hold file offsets, beside those of macho_layout.h. */
enum { LC_SYMSEG = 0x3, LC_TWOLEVEL_HINTS = 0x16, LC_CODE_SIGNATURE = 0x1d, LC_SEGMENT_SPLIT_INFO = 0x1e,
       LC_ENCRYPTION_INFO = 0x21, LC_DATA_IN_CODE = 0x29, LC_DYLIB_CODE_SIGN_DRS = 0x2b, LC_ENCRYPTION_INFO_64 = 0x2c,
       LC_LINKER_OPTIMIZATION_HINT = 0x2e, LC_NOTE = 0x31, LC_ATOM_INFO = 0x36, LC_FUNCTION_VARIANTS = 0x37,
       LC_FUNCTION_VARIANT_FIXUPS = 0x38 };
static const uint32_t LC_DYLD_CHAINED_FIXUPS = 0x80000034;

enum { PAGE = 0x4000, /* the largest of any machine */
       SECTION_ALIGN = 16, SECTION_ALIGN_BITS = 4, TAIL_ALIGN = 8, SIGNATURE_ALIGN = 16, HEADER_NCMDS = 16, HEADER_SIZEOFCMDS = 20, ADDED_MAX = 2 };

/* Where fields of segment commands stand, in both widths. */
struct fields {
    unsigned word, header_size, segment_size, section_size;
    unsigned vmaddr, vmsize, fileoff, filesize, nsects;
    unsigned s_addr, s_size, s_offset, s_reloff, s_flags;
};
static const struct fields fields32 = { 4, MACH_HEADER_SIZE, SEGMENT_COMMAND_SIZE, SECTION_SIZE, 24, 28, 32, 36, 48, 32, 36, 40, 48,
                                        56 };
static const struct fields fields64 = { 8, MACH_HEADER_64_SIZE, SEGMENT_COMMAND_64_SIZE, SECTION_64_SIZE,
                                        24, 32, 40, 48, 64, 32, 40, 48, 56, 64 };

struct section {
    struct csn_str name;
    bool is_strings;
    uint64_t size, off, addr;
};

struct macho {
    const struct csni_embed *e;
    const struct fields *f;
    struct csni_span file;
    bool big, is_object;
    uint32_t command_count, commands_size;
    struct section added[ADDED_MAX];
    unsigned added_count;
    uint32_t segment_count, linkedit_idx; /* number of __LINKEDIT among the segments */
    uint64_t linkedit;         /* place of its command; 0: none, or it is not the last in the file */
    uint64_t fixups_command;   /* place of that of chained fixups; 0: none */
    struct csni_macho_fixups fixups;
    uint64_t strings_end;      /* of the symbol table's; 0: none */
    uint64_t signature;        /* place of its command; 0: none */
    bool resigns;              /* it is made anew, else dropped */
    struct csni_macho_signature old;
    uint64_t sign_off, sign_size; /* of the new one */
    uint64_t only_segment;     /* of an object: place of its command */
    uint64_t free_end;         /* where the first bytes stand that load commands must not run into */
    uint64_t data_end, vm_end; /* of all segments */
    uint64_t end;              /* of what is kept of the file */
    /* What stands at `moved_from` and after moves back by `moved_by`; in an object, everything after the load commands by
     * `grown` besides. */
    uint64_t moved_from, moved_by, grown;
    uint64_t segment_off, segment_addr, segment_size; /* of the new segment */
};

static uint32_t get32(const struct macho *x, uint64_t at) { return csni_get32(x->file.ptr + at, x->big); }
static uint64_t get_word(const struct macho *x, uint64_t at) { return csni_get_sized(x->file.ptr + at, x->f->word, x->big); }
static bool is_segment(const struct macho *x, uint64_t at) {
    return get32(x, at) == (x->f->word == 8 ? LC_SEGMENT_64 : LC_SEGMENT);
}
static uint64_t commands_end(const struct macho *x) { return x->f->header_size + (uint64_t)x->commands_size; }

/* ---- what is there ---- */

static csn_status survey_segment(struct macho *x, uint64_t at, uint32_t size, struct csn_error *err) {
    const struct fields *f = x->f;
    if (size < f->segment_size) return csni_fail(err, CSN_E_FORMAT, NULL, at, "segment command of %u bytes", size);
    uint32_t sections = get32(x, at + f->nsects);
    if (sections > (size - f->segment_size) / f->section_size)
        return csni_fail(err, CSN_E_FORMAT, NULL, at, "%u sections in a segment command of %u bytes", sections, size);
    uint64_t off = get_word(x, at + f->fileoff), filesize = get_word(x, at + f->filesize);
    uint64_t vm_end = get_word(x, at + f->vmaddr) + get_word(x, at + f->vmsize);
    if (off > x->file.size || filesize > x->file.size - off)
        return csni_fail(err, CSN_E_TRUNCATED, NULL, at, "segment of 0x%llx bytes at 0x%llx, the file has 0x%zx", (ull)filesize,
                         (ull)off, x->file.size);
    if (vm_end > x->vm_end) x->vm_end = vm_end;
    if (memcmp(x->file.ptr + at + 8, "__LINKEDIT", 11) == 0) {
        x->linkedit = at;
        x->linkedit_idx = x->segment_count;
    }
    x->segment_count++;
    if (off + filesize > x->data_end) x->data_end = off + filesize;
    if (filesize && off && off < x->free_end) x->free_end = off;
    for (uint32_t i = 0; i < sections; i++) {
        uint64_t section = at + f->segment_size + (uint64_t)i * f->section_size;
        uint32_t kind = get32(x, section + f->s_flags) & SECTION_TYPE, data = get32(x, section + f->s_offset);
        bool has_bytes = kind != S_ZEROFILL && kind != S_GB_ZEROFILL && kind != S_THREAD_LOCAL_ZEROFILL;
        if (has_bytes && data && get_word(x, section + f->s_size) && data < x->free_end) x->free_end = data;
    }
    if (!x->is_object) return CSN_OK;
    if (x->only_segment) return csni_fail(err, CSN_E_UNSUPPORTED, NULL, at, "an object file with several segments");
    x->only_segment = at;
    return CSN_OK;
}

static csn_status survey(struct macho *x, struct csn_error *err) {
    uint64_t at = x->f->header_size;
    if (commands_end(x) > x->file.size)
        return csni_fail(err, CSN_E_TRUNCATED, NULL, 0, "load commands end at 0x%llx, the file has 0x%zx bytes",
                         (ull)commands_end(x), x->file.size);
    x->free_end = x->end = x->file.size;
    for (uint32_t i = 0; i < x->command_count; i++) {
        uint64_t left = commands_end(x) - at;
        uint32_t type = left >= LOAD_COMMAND_SIZE ? get32(x, at) : 0, size = left >= LOAD_COMMAND_SIZE ? get32(x, at + 4) : 0;
        if (size < LOAD_COMMAND_SIZE || size > left)
            return csni_fail(err, CSN_E_FORMAT, NULL, at, "load command %u of 0x%x bytes, 0x%llx are left", i, size, (ull)left);
        if (is_segment(x, at)) CSNI_TRY(survey_segment(x, at, size, err));
        if (type == LC_CODE_SIGNATURE && size >= LINKEDIT_DATA_COMMAND_SIZE) x->signature = at;
        if (type == LC_SYMTAB && size >= SYMTAB_COMMAND_SIZE) x->strings_end = (uint64_t)get32(x, at + 16) + get32(x, at + 20);
        if (type == LC_DYLD_CHAINED_FIXUPS && size >= LINKEDIT_DATA_COMMAND_SIZE) x->fixups_command = at;
        at += size;
    }
    return CSN_OK;
}

/* One without a certificate is made anew, as linkers and strip do. */
static csn_status read_signature(struct macho *x, uint64_t off, uint64_t size, struct csn_error *err) {
    struct csni_span bytes;
    if (!csni_span_sub(x->file, off, size, &bytes))
        return csni_fail(err, CSN_E_TRUNCATED, NULL, x->signature,
                         "signature of 0x%llx bytes at 0x%llx, the file has 0x%zx", (ull)size, (ull)off, x->file.size);
    csn_status status = csni_macho_signature_read(bytes, &x->old, err);
    if (status == CSN_NONE)
        return csni_fail(err, CSN_E_UNSUPPORTED, NULL, x->signature,
                         "the image is signed, and the signature would be void; embed before signing, or drop the signature");
    x->resigns = status == CSN_OK;
    return status;
}

/* Where what is kept ends if the signature, which begins at `off`, is dropped: codesign takes no image that has more bytes in
 * __LINKEDIT than its commands tell, as those that align the signature. */
static uint64_t end_without_signature(const struct macho *x, uint64_t off) {
    if (x->strings_end > off || off - x->strings_end >= SIGNATURE_ALIGN) return off;
    for (uint64_t i = x->strings_end; i < off; i++)
        if (x->file.ptr[i]) return off;
    return x->strings_end;
}

static csn_status check_macho_feasible(struct macho *x, struct csn_error *err) {
    if (get32(x, 12) == MH_FILESET) return csni_fail(err, CSN_E_UNSUPPORTED, NULL, 0, "a file set: embed into its members");
    if (x->is_object && !x->only_segment) return csni_fail(err, CSN_E_UNSUPPORTED, NULL, 0, "an object file without a segment");
    if (!x->signature) return CSN_OK;
    uint64_t off = get32(x, x->signature + 8), size = get32(x, x->signature + 12);
    if (!(x->e->flags & CSN_EMBED_DROP_SIGNATURE)) CSNI_TRY(read_signature(x, off, size, err));
    if (!x->linkedit || off < get_word(x, x->linkedit + x->f->fileoff) || off + size != x->file.size)
        return csni_fail(err, CSN_E_UNSUPPORTED, NULL, x->signature, "the signature, 0x%llx bytes at 0x%llx, does not end the file",
                         (ull)size, (ull)off);
    x->end = x->resigns ? off : end_without_signature(x, off);
    return CSN_OK;
}

static csn_status plan_sections(struct macho *x, struct csn_error *err) {
    const struct csni_payload *p = x->e->payload;
    bool adds_strings;
    CSNI_TRY(csni_plan_added(x->e, &adds_strings, err));
    x->added[x->added_count++] = (struct section){ .name = csni_str("__gsym"), .size = csni_payload_size(p) };
    if (adds_strings)
        x->added[x->added_count++] = (struct section){ .name = p->strings_name, .is_strings = true, .size = p->strings.size };
    return CSN_OK;
}

/* ---- places ---- */

/* Places of the new sections, from `off` in the new file on; returns the end. */
static uint64_t place_sections(struct macho *x, uint64_t off, uint64_t addr) {
    uint64_t begin = off;
    for (unsigned i = 0; i < x->added_count; i++) {
        struct section *s = &x->added[i];
        s->off = off;
        s->addr = addr + (off - begin);
        off += s->size;
    }
    return off;
}

/* Segments behind __LINKEDIT would have to move with what follows in it. */
static csn_status plan_fixups(struct macho *x, struct csn_error *err) {
    if (!x->fixups_command) return CSN_OK;
    uint64_t off = get32(x, x->fixups_command + 8), size = get32(x, x->fixups_command + 12);
    uint64_t begin = x->linkedit ? x->moved_from : x->free_end;
    if (size && (off < begin || off > x->end || size > x->end - off))
        return csni_fail(err, CSN_E_FORMAT, NULL, x->fixups_command, "chained fixups, 0x%llx bytes at 0x%llx, need 0x%llx..0x%llx",
                         (ull)size, (ull)off, (ull)begin, (ull)x->end);
    uint32_t added = x->linkedit ? x->linkedit_idx : x->segment_count;
    CSNI_TRY(csni_macho_fixups_plan(&x->fixups, x->file, off, size, x->big, x->segment_count, added, err));
    if (x->fixups.grown && !x->linkedit)
        return csni_fail(err, CSN_E_UNSUPPORTED, NULL, x->fixups_command,
                         "the image has chained fixups without room for a segment, and __LINKEDIT is not its last segment");
    return CSN_OK;
}

static csn_status macho_place_in_image(struct macho *x, struct csn_error *err) {
    uint64_t grown = x->f->segment_size + (uint64_t)x->added_count * x->f->section_size;
    uint64_t need = commands_end(x) + grown - (x->signature && !x->resigns ? LINKEDIT_DATA_COMMAND_SIZE : 0);
    bool is_free = need <= x->free_end;
    for (uint64_t i = commands_end(x); is_free && i < need; i++) is_free = x->file.ptr[i] == 0;
    if (!is_free)
        return csni_fail(err, CSN_E_UNSUPPORTED, NULL, commands_end(x),
                         "no room for a load command of %llu bytes: it would end at 0x%llx, and sections begin at 0x%llx; link "
                         "with -headerpad 0x100", (ull)grown, (ull)need, (ull)x->free_end);
    uint64_t size = csni_payload_size(x->e->payload) + (x->added_count > 1 ? x->added[1].size : 0);
    x->segment_size = csni_align_up(size, PAGE);
    uint64_t linkedit_off = x->linkedit ? get_word(x, x->linkedit + x->f->fileoff) : 0;
    bool is_last = x->linkedit && linkedit_off + get_word(x, x->linkedit + x->f->filesize) == x->data_end &&
                   get_word(x, x->linkedit + x->f->vmaddr) + get_word(x, x->linkedit + x->f->vmsize) == x->vm_end;
    if (is_last) {
        x->segment_off = x->moved_from = linkedit_off;
        x->segment_addr = get_word(x, x->linkedit + x->f->vmaddr);
        x->moved_by = x->segment_size;
    } else {
        if (x->resigns)
            return csni_fail(err, CSN_E_UNSUPPORTED, NULL, x->signature,
                             "the image is signed, and __LINKEDIT is not its last segment");
        x->linkedit = 0;
        x->segment_off = csni_align_up(x->end, PAGE);
        x->segment_addr = csni_align_up(x->vm_end, PAGE);
        x->moved_from = x->end;
    }
    place_sections(x, x->segment_off, x->segment_addr);
    CSNI_TRY(plan_fixups(x, err));
    if (!x->resigns) return CSN_OK;
    x->sign_off = csni_align_up(x->end + x->moved_by + x->fixups.grown, SIGNATURE_ALIGN);
    x->sign_size = csni_macho_signature_size(&x->old, x->sign_off);
    return CSN_OK;
}

static void macho_place_in_object(struct macho *x) {
    uint64_t at = x->only_segment, vmaddr = get_word(x, at + x->f->vmaddr);
    x->grown = csni_align_up((uint64_t)x->added_count * x->f->section_size, SECTION_ALIGN);
    x->moved_from = get_word(x, at + x->f->fileoff) + get_word(x, at + x->f->filesize);
    uint64_t off = csni_align_up(x->moved_from + x->grown, SECTION_ALIGN);
    /* A segment takes at least as much of memory as of the file. */
    uint64_t in_file = off - (get_word(x, at + x->f->fileoff) + x->grown), in_memory = get_word(x, at + x->f->vmsize);
    uint64_t addr = vmaddr + csni_align_up(in_file > in_memory ? in_file : in_memory, SECTION_ALIGN);
    uint64_t end = place_sections(x, off, addr);
    x->moved_by = csni_align_up(end - x->moved_from - x->grown, TAIL_ALIGN);
    x->segment_off = off;
    x->segment_addr = addr;
    x->segment_size = end - off;
}

/* ---- load commands ---- */

static uint64_t moved(const struct macho *x, uint64_t off) {
    if (!off) return 0;
    uint64_t by = off >= x->moved_from ? x->moved_by : 0;
    if (off >= x->fixups.off + x->fixups.old.size) by += x->fixups.grown;
    return off + by + (off >= commands_end(x) ? x->grown : 0);
}

static void move_field(const struct macho *x, uint8_t *field, unsigned size) {
    csni_put_sized(field, moved(x, csni_get_sized(field, size, x->big)), size, x->big);
}

/* File offsets in a command, each of 4 bytes: places within it, ended by 0. */
static const uint8_t *offsets_of(uint32_t type) {
    static const uint8_t symtab[] = { 8, 16, 0 }, dysymtab[] = { 32, 40, 48, 56, 64, 72, 0 },
                         dyld_info[] = { 8, 16, 24, 32, 40, 0 }, first[] = { 8, 0 }, none[] = { 0 };
    if (type == LC_DYLD_INFO_ONLY) return dyld_info;
    if (type == LC_DYLD_EXPORTS_TRIE || type == LC_DYLD_CHAINED_FIXUPS) return first;
    switch (type) {
    case LC_SYMTAB: return symtab;
    case LC_DYSYMTAB: return dysymtab;
    case LC_DYLD_INFO: return dyld_info;
    case LC_SYMSEG: case LC_TWOLEVEL_HINTS: case LC_CODE_SIGNATURE: case LC_SEGMENT_SPLIT_INFO: case LC_FUNCTION_STARTS:
    case LC_ENCRYPTION_INFO: case LC_ENCRYPTION_INFO_64: case LC_DATA_IN_CODE: case LC_DYLIB_CODE_SIGN_DRS:
    case LC_LINKER_OPTIMIZATION_HINT: case LC_ATOM_INFO: case LC_FUNCTION_VARIANTS: case LC_FUNCTION_VARIANT_FIXUPS:
        return first;
    default: return none;
    }
}

static void put_section(const struct macho *x, const struct section *s, uint8_t *p) {
    memset(p, 0, x->f->section_size);
    memcpy(p, s->name.ptr, s->name.len < MACHO_NAME_SIZE ? s->name.len : MACHO_NAME_SIZE);
    memcpy(p + MACHO_NAME_SIZE, "__GSYM", 6);
    csni_put_sized(p + x->f->s_addr, s->addr, x->f->word, x->big);
    csni_put_sized(p + x->f->s_size, s->size, x->f->word, x->big);
    csni_put32(p + x->f->s_offset, (uint32_t)s->off, x->big);
    csni_put32(p + x->f->s_offset + 4, s->is_strings ? 0 : SECTION_ALIGN_BITS, x->big);
}

static uint8_t *put_segment(const struct macho *x, uint8_t *p) {
    const struct fields *f = x->f;
    uint32_t size = f->segment_size + x->added_count * f->section_size;
    csni_put32(p, f->word == 8 ? LC_SEGMENT_64 : LC_SEGMENT, x->big);
    csni_put32(p + 4, size, x->big);
    memcpy(p + 8, "__GSYM", 6);
    csni_put_sized(p + f->vmaddr, x->segment_addr, f->word, x->big);
    csni_put_sized(p + f->vmsize, x->segment_size, f->word, x->big);
    csni_put_sized(p + f->fileoff, x->segment_off, f->word, x->big);
    csni_put_sized(p + f->filesize, x->segment_size, f->word, x->big);
    csni_put32(p + f->nsects - 8, 1, x->big); /* maxprot and initprot: to be read */
    csni_put32(p + f->nsects - 4, 1, x->big);
    csni_put32(p + f->nsects, x->added_count, x->big);
    for (unsigned i = 0; i < x->added_count; i++) put_section(x, &x->added[i], p + f->segment_size + i * f->section_size);
    return p + size;
}

static void change_segment(const struct macho *x, uint64_t at, uint8_t *p) {
    const struct fields *f = x->f;
    uint32_t sections = get32(x, at + f->nsects);
    for (uint32_t i = 0; i < sections; i++) {
        uint8_t *section = p + f->segment_size + (size_t)i * f->section_size;
        move_field(x, section + f->s_offset, 4);
        move_field(x, section + f->s_reloff, 4);
    }
    move_field(x, p + f->fileoff, f->word);
    if (at == x->linkedit) {
        uint64_t size = get_word(x, at + f->filesize) + x->fixups.grown, capacity = get_word(x, at + f->vmsize);
        if (x->end != x->file.size) size = x->end + x->fixups.grown - get_word(x, at + f->fileoff);
        if (x->resigns) size = x->sign_off + x->sign_size - moved(x, get_word(x, at + f->fileoff));
        csni_put_sized(p + f->vmaddr, get_word(x, at + f->vmaddr) + x->moved_by, f->word, x->big);
        csni_put_sized(p + f->filesize, size, f->word, x->big);
        if (x->resigns || size > capacity || (x->end != x->file.size && csni_align_up(size, PAGE) < capacity))
            csni_put_sized(p + f->vmsize, csni_align_up(size, PAGE), f->word, x->big);
    }
    if (at == x->only_segment) {
        uint32_t grown = x->added_count * f->section_size;
        csni_put32(p + 4, get32(x, at + 4) + grown, x->big);
        csni_put32(p + f->nsects, sections + x->added_count, x->big);
        csni_put_sized(p + f->vmsize, x->segment_addr + x->segment_size - get_word(x, at + f->vmaddr), f->word, x->big);
        csni_put_sized(p + f->filesize, x->segment_off + x->segment_size - moved(x, get_word(x, at + f->fileoff)), f->word, x->big);
        for (unsigned i = 0; i < x->added_count; i++)
            put_section(x, &x->added[i], p + f->segment_size + (size_t)(sections + i) * f->section_size);
    }
}

/* The commands, changed, after the header at `out`; returns the end. */
static uint8_t *put_commands(const struct macho *x, uint8_t *out) {
    uint8_t *p = out + x->f->header_size;
    uint64_t at = x->f->header_size;
    for (uint32_t i = 0; i < x->command_count; i++) {
        uint32_t type = get32(x, at), size = get32(x, at + 4);
        if (at == x->signature && x->resigns) {
            memcpy(p, x->file.ptr + at, size);
            csni_put32(p + 8, (uint32_t)x->sign_off, x->big);
            csni_put32(p + 12, (uint32_t)x->sign_size, x->big);
            p += size;
        } else if (at != x->signature) {
            if (at == x->linkedit && !x->is_object) p = put_segment(x, p);
            memcpy(p, x->file.ptr + at, size);
            if (is_segment(x, at)) change_segment(x, at, p);
            for (const uint8_t *field = offsets_of(type); *field && *field + 4u <= size; field++) move_field(x, p + *field, 4);
            if (at == x->fixups_command) csni_put32(p + 12, get32(x, at + 12) + x->fixups.grown, x->big);
            if (type == LC_NOTE && size >= 40) move_field(x, p + 24, 8);
            p += at == x->only_segment ? size + x->added_count * x->f->section_size : size;
        }
        at += size;
    }
    if (!x->linkedit && !x->is_object) p = put_segment(x, p);
    return p;
}

/* The file's bytes, with the changed fixups where they stand among them. */
static void add_kept(const struct macho *x, uint64_t from, uint64_t to, struct csni_assembly *out) {
    const struct csni_macho_fixups *f = &x->fixups;
    if (f->off && from <= f->off && f->off < to) {
        csni_assembly_add(out, (struct csni_span){ x->file.ptr + from, (size_t)(f->off - from) });
        csni_macho_fixups_add(f, out);
        from = f->off + f->old.size;
    }
    csni_assembly_add(out, (struct csni_span){ x->file.ptr + from, (size_t)(to - from) });
}

static csn_status put_macho_headers(const struct macho *x, struct csni_assembly *out, struct csn_error *err) {
    /* Room for everything that can be added; what is not used up stays zero, as the bytes there were before. */
    uint64_t size = x->is_object ? commands_end(x) + x->grown
                                 : commands_end(x) + x->f->segment_size + (uint64_t)x->added_count * x->f->section_size;
    uint64_t kept = x->is_object ? commands_end(x) : size;
    if (!x->is_object && x->signature) kept = size = size > x->free_end ? x->free_end : size;
    uint8_t *headers = csni_assembly_add_zeros(out, (size_t)size);
    if (!headers) return csni_fail_memory(err, size);
    memcpy(headers, x->file.ptr, x->f->header_size);
    const uint8_t *end = put_commands(x, headers);
    uint32_t count = x->command_count + !x->is_object - (x->signature && !x->resigns);
    csni_put32(headers + HEADER_NCMDS, count, x->big);
    csni_put32(headers + HEADER_SIZEOFCMDS, (uint32_t)(end - headers - (ptrdiff_t)x->f->header_size), x->big);
    if (x->moved_from < kept || x->moved_from > x->end)
        return csni_fail(err, CSN_E_FORMAT, NULL, x->moved_from,
                         "a segment at 0x%llx, need 0x%llx..0x%llx: after the load commands "
                         "and before a signature",
                         (ull)x->moved_from, (ull)kept, (ull)x->end);
    add_kept(x, kept, x->moved_from, out);
    return CSN_OK;
}

static csn_status assemble_macho(const struct macho *x, struct csni_assembly *out, struct csn_error *err) {
    CSNI_TRY(put_macho_headers(x, out, err));
    csni_assembly_add_zeros(out, (size_t)(x->segment_off - out->size));
    for (unsigned i = 0; i < x->added_count; i++) {
        if (x->added[i].is_strings) csni_assembly_add(out, x->e->payload->strings);
        else csni_payload_add(x->e->payload, out);
    }
    uint64_t tail = x->is_object || x->linkedit ? moved(x, x->moved_from) : x->segment_off + x->segment_size;
    csni_assembly_add_zeros(out, (size_t)(tail - out->size));
    add_kept(x, x->moved_from, x->end, out);
    if (out->size > UINT32_MAX)
        return csni_fail(err, CSN_E_LIMIT, NULL, 0, "the image would have 0x%llx bytes, its sections hold 0x%x", (ull)out->size,
                         UINT32_MAX);
    if (out->failed) return csni_fail_memory(err, out->size);
    if (!x->resigns) return CSN_OK;
    csni_assembly_add_zeros(out, (size_t)(x->sign_off - out->size));
    return csni_macho_signature_add(&x->old, out, err);
}

csn_status csni_embed_macho(const struct csni_embed *e, struct csni_assembly *out, struct csn_error *err) {
    struct macho x = { .e = e, .file = e->object->file, .big = e->object->big_endian };
    uint32_t magic = csni_get32(x.file.ptr, x.big);
    x.f = magic == MH_MAGIC_64 ? &fields64 : &fields32;
    x.is_object = get32(&x, 12) == MH_OBJECT;
    x.command_count = get32(&x, HEADER_NCMDS);
    x.commands_size = get32(&x, HEADER_SIZEOFCMDS);
    CSNI_TRY(survey(&x, err));
    CSNI_TRY(check_macho_feasible(&x, err));
    CSNI_TRY(plan_sections(&x, err));
    /* A signature ends the file: that was checked. */
    if (!x.is_object && !x.signature) CSNI_TRY(csni_check_appended(e->flags, x.file, x.data_end, x.file.size, err));
    if (x.is_object) macho_place_in_object(&x);
    else CSNI_TRY(macho_place_in_image(&x, err));
    return assemble_macho(&x, out, err);
}

/* ---- universal files ---- */

csn_status csni_assemble_universal(struct csni_span file, uint32_t idx, const struct csni_assembly *image,
                                   struct csni_assembly *out, struct csn_error *err) {
    bool wide = csni_get32(file.ptr, true) == FAT_MAGIC_64;
    unsigned word = wide ? 8 : 4;
    size_t entry_size = wide ? FAT_ARCH_64_SIZE : FAT_ARCH_SIZE;
    uint32_t count = csni_get32(file.ptr + MACHO_MAGIC_SIZE, true);
    struct csni_span head;
    if (!csni_span_sub(file, 0, FAT_HEADER_SIZE + count * entry_size, &head))
        return csni_fail(err, CSN_E_TRUNCATED, NULL, 0, "universal file: %u architectures, the file has 0x%zx bytes",
                         count, file.size);
    uint8_t *headers = csni_assembly_add_copy(out, head);
    uint64_t end = head.size;
    for (uint32_t i = 0; i < count && headers; i++) {
        uint8_t *entry = headers + FAT_HEADER_SIZE + i * entry_size;
        uint64_t off = csni_get_sized(entry + 8, word, true), size = csni_get_sized(entry + 8 + word, word, true);
        uint32_t align = csni_get32(entry + 8 + 2 * word, true);
        struct csni_span slice;
        if (!csni_span_sub(file, off, size, &slice) || align > 20)
            return csni_fail(err, CSN_E_FORMAT, NULL, off, "universal file: image %u at 0x%llx, aligned to 2^%u", i,
                             (ull)off, align);
        if (off + size > end) end = off + size;
        csni_assembly_align(out, (uint64_t)1 << align);
        csni_put_sized(entry + 8, out->size, word, true);
        csni_put_sized(entry + 8 + word, i == idx ? image->size : size, word, true);
        if (i != idx) csni_assembly_add(out, slice);
        for (size_t k = 0; i == idx && k < image->pieces.count; k++) csni_assembly_add(out, image->pieces.items[k].bytes);
    }
    csni_assembly_add(out, (struct csni_span){ file.ptr + end, (size_t)(file.size - end) });
    if (!wide && out->size > UINT32_MAX)
        return csni_fail(err, CSN_E_LIMIT, NULL, 0, "the file would have 0x%llx bytes, need < 4 GiB", (ull)out->size);
    return out->failed ? csni_fail_memory(err, out->size) : CSN_OK;
}
