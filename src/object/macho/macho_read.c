/* Mach-O: header, load commands, segments and sections, UUID, image base. */
#include <inttypes.h>
#include <stdio.h>

#include "base/core/checked.h"
#include "base/core/cursor.h"
#include "base/core/fail.h"
#include "object/find/macho_arch.h"
#include "object/macho/macho_layout.h"
#include "object/macho/macho_private.h"

enum { NAMES_CHUNK = 4096 };

struct macho_header {
    uint32_t cpu_type, cpu_subtype, file_type, command_count, commands_size, flags;
    size_t size;
};

/* Where a walk over load commands is. */
struct macho_command {
    uint32_t type, index;
    uint64_t off;           /* in the file */
    struct csni_span bytes; /* all of it */
};

/* A segment command, of either width. */
struct macho_segment {
    struct csn_str name;
    uint64_t addr, size, file_off, file_size;
    uint32_t max_protection, protection, section_count;
    bool wide;
    struct csni_span sections;
};

/* ---- header and commands ---- */

static bool macho_recognize(struct csni_span file) {
    if (file.size < MACHO_MAGIC_SIZE) return false;
    uint32_t little = csni_get32(file.ptr, false), big = csni_get32(file.ptr, true);
    return little == MH_MAGIC || little == MH_MAGIC_64 || big == MH_MAGIC || big == MH_MAGIC_64;
}

static csn_status read_macho_header(struct csni_object *object, struct macho_header *h, struct csn_error *err) {
    uint32_t big = csni_get32(object->file.ptr, true);
    object->big_endian = big == MH_MAGIC || big == MH_MAGIC_64;
    object->address_size = csni_get32(object->file.ptr, object->big_endian) == MH_MAGIC_64 ? 8 : 4;
    struct csni_cursor c = csni_cursor_at(object->file, object->big_endian);
    csni_cursor_skip(&c, MACHO_MAGIC_SIZE);
    h->cpu_type = csni_cursor_u32(&c);
    h->cpu_subtype = csni_cursor_u32(&c);
    h->file_type = csni_cursor_u32(&c);
    h->command_count = csni_cursor_u32(&c);
    h->commands_size = csni_cursor_u32(&c);
    h->flags = csni_cursor_u32(&c);
    h->size = object->address_size == 8 ? MACH_HEADER_64_SIZE : MACH_HEADER_SIZE;
    if (object->file.size < h->size)
        return csni_fail(err, CSN_E_TRUNCATED, NULL, 0, "Mach-O header: %zu bytes, need %zu", object->file.size, h->size);
    if (h->commands_size > object->file.size - h->size)
        return csni_fail(err, CSN_E_TRUNCATED, NULL, h->size,
                         "Mach-O header: 0x%" PRIx32 " bytes of load commands, but 0x%zx follow", h->commands_size,
                         object->file.size - h->size);
    return CSN_OK;
}

/* Moves to the next command; CSN_NONE at the end. Begin with all of `command` zero. */
static csn_status next_command(const struct csni_object *object, const struct macho_header *h,
                               struct macho_command *command, struct csn_error *err) {
    if (!command->off) command->off = h->size;
    else command->index++;
    uint64_t off = command->off + command->bytes.size, end = h->size + (uint64_t)h->commands_size;
    if (command->index >= h->command_count) return CSN_NONE;
    if (end - off < LOAD_COMMAND_SIZE)
        return csni_fail(err, CSN_E_FORMAT, NULL, off,
                         "load command %" PRIu32 " of %" PRIu32 ": %" PRIu64 " bytes of sizeofcmds left, need %d", command->index,
                         h->command_count, end - off, LOAD_COMMAND_SIZE);
    uint32_t size = csni_get32(object->file.ptr + off + 4, object->big_endian);
    if (size < LOAD_COMMAND_SIZE || size > end - off)
        return csni_fail(err, CSN_E_FORMAT, NULL, off,
                         "load command %" PRIu32 ": cmdsize %" PRIu32 ", need >= %d and <= %" PRIu64, command->index, size,
                         LOAD_COMMAND_SIZE, end - off);
    command->type = csni_get32(object->file.ptr + off, object->big_endian);
    command->off = off;
    command->bytes = (struct csni_span){ object->file.ptr + off, size };
    return CSN_OK;
}

static csn_status need_size(const struct macho_command *command, uint32_t size, struct csn_error *err) {
    if (command->bytes.size >= size) return CSN_OK;
    return csni_fail(err, CSN_E_FORMAT, NULL, command->off,
                     "load command %" PRIu32 " (0x%" PRIx32 "): cmdsize %zu, need >= %" PRIu32, command->index, command->type,
                     command->bytes.size, size);
}

/* A name of 16 bytes, which has a NUL only when it is shorter. */
static struct csn_str fixed_name(struct csni_span bytes) {
    const uint8_t *nul = memchr(bytes.ptr, 0, MACHO_NAME_SIZE);
    return (struct csn_str){ (const char *)bytes.ptr, nul ? (size_t)(nul - bytes.ptr) : MACHO_NAME_SIZE };
}

static bool is_segment(const struct macho_command *command) {
    return command->type == LC_SEGMENT || command->type == LC_SEGMENT_64;
}

static csn_status read_macho_segment(const struct csni_object *object, const struct macho_command *command,
                                     struct macho_segment *out, struct csn_error *err) {
    bool wide = command->type == LC_SEGMENT_64;
    uint32_t header_size = wide ? SEGMENT_COMMAND_64_SIZE : SEGMENT_COMMAND_SIZE;
    CSNI_TRY(need_size(command, header_size, err));
    unsigned word = wide ? 8 : 4;
    struct csni_cursor c = csni_cursor_at(command->bytes, object->big_endian);
    csni_cursor_skip(&c, LOAD_COMMAND_SIZE);
    out->name = fixed_name(csni_cursor_bytes(&c, MACHO_NAME_SIZE));
    out->addr = csni_cursor_uint(&c, word);
    out->size = csni_cursor_uint(&c, word);
    out->file_off = csni_cursor_uint(&c, word);
    out->file_size = csni_cursor_uint(&c, word);
    out->max_protection = csni_cursor_u32(&c);
    out->protection = csni_cursor_u32(&c);
    out->section_count = csni_cursor_u32(&c);
    out->wide = wide;
    out->sections = csni_span_from(command->bytes, header_size);
    uint64_t size = (uint64_t)out->section_count * (wide ? SECTION_64_SIZE : SECTION_SIZE);
    if (size <= out->sections.size) return CSN_OK;
    return csni_fail(err, CSN_E_FORMAT, NULL, command->off,
                     "load command %" PRIu32 ": %" PRIu32 " sections take %" PRIu64 " bytes, cmdsize leaves %zu", command->index,
                     out->section_count, size, out->sections.size);
}

/* ---- sections and segments ---- */

/* Neither the space below a program that nothing can be read from, nor what only a debug file has. */
static bool is_in_memory(const struct macho_segment *s) {
    return s->max_protection && !csni_str_is(s->name, "__DWARF");
}

static csn_status count_macho_sections(struct csni_object_private *priv, const struct macho_header *h,
                                       struct csn_error *err) {
    struct csni_object *object = &priv->object;
    struct csni_macho *own = priv->own;
    struct macho_command command = { 0 };
    csn_status status;
    uint32_t sections = 1, segments = 0;
    while ((status = next_command(object, h, &command, err)) == CSN_OK) {
        if (!is_segment(&command)) continue;
        struct macho_segment s;
        CSNI_TRY(read_macho_segment(object, &command, &s, err));
        sections += s.section_count;
        if (is_in_memory(&s)) segments++;
    }
    if (status < 0) return status;
    /* No overflow: every section is SECTION_SIZE bytes of the 32-bit size of all commands. */
    CSNI_TRY(csni_make_sections(priv, sections, err));
    priv->sections[0].name = csni_str("");
    own->relocations = csni_alloc_zeroed(priv->alloc, sections, sizeof *own->relocations);
    if (!own->relocations) return csni_fail_memory(err, (uint64_t)sections * sizeof *own->relocations);
    own->relocation_capacity = sections;
    if (!segments) return CSN_OK;
    priv->segments = csni_alloc_zeroed(priv->alloc, segments, sizeof *priv->segments);
    if (!priv->segments) return csni_fail_memory(err, (uint64_t)segments * sizeof *priv->segments);
    object->segments = priv->segments;
    object->segment_count = segments;
    return CSN_OK;
}

static uint32_t macho_section_flags(const struct csni_object *object, const struct macho_segment *segment,
                                    struct csn_str segment_name,
                                    uint32_t own_flags, uint32_t file_off) {
    uint32_t type = own_flags & SECTION_TYPE, flags = 0;
    bool is_debug = (own_flags & S_ATTR_DEBUG) || csni_str_is(segment_name, "__DWARF");
    if (!is_debug) flags |= CSNI_SECTION_ALLOC;
    if (own_flags & (S_ATTR_PURE_INSTRUCTIONS | S_ATTR_SOME_INSTRUCTIONS)) flags |= CSNI_SECTION_EXEC;
    /* The one segment of a relocatable object has the protections of all its sections together. */
    bool writable = object->kind == CSNI_OBJECT_RELOCATABLE ? csni_str_starts(segment_name, "__DATA")
                                                            : (segment->protection & VM_PROT_WRITE) != 0;
    if (writable && !is_debug) flags |= CSNI_SECTION_WRITE;
    bool is_zerofill = type == S_ZEROFILL || type == S_GB_ZEROFILL || type == S_THREAD_LOCAL_ZEROFILL;
    /* A dSYM has the image's sections without their bytes: their offsets are 0, where the header is. */
    if (is_zerofill || file_off == 0 || (segment->file_size == 0 && !is_debug)) flags |= CSNI_SECTION_NOBITS;
    return flags;
}

/* The offset field has 32 bits in 64-bit files, too. What lies beyond 4 GB (debug information of large programs) is where
 * its address says: within a segment, bytes and addresses keep step. */
static uint64_t section_off(const struct macho_segment *segment, uint64_t addr, uint32_t off) {
    uint64_t by_addr = segment->file_off + (addr - segment->addr);
    return addr >= segment->addr && by_addr >> 32 && (uint32_t)by_addr == off ? by_addr : off;
}

static void read_macho_section(struct csni_object_private *priv, const struct macho_segment *segment,
                               struct csni_cursor *c,
                               uint32_t index) {
    struct csni_macho *own = priv->own;
    struct csni_section *s = &priv->sections[index];
    unsigned word = segment->wide ? 8 : 4;
    s->name = fixed_name(csni_cursor_bytes(c, MACHO_NAME_SIZE));
    struct csn_str segment_name = fixed_name(csni_cursor_bytes(c, MACHO_NAME_SIZE));
    uint64_t addr = csni_cursor_uint(c, word);
    s->size = csni_cursor_uint(c, word);
    uint32_t off = csni_cursor_u32(c), align = csni_cursor_u32(c);
    own->relocations[index].off = csni_cursor_u32(c);
    own->relocations[index].count = csni_cursor_u32(c);
    s->type = csni_cursor_u32(c);
    s->link = csni_cursor_u32(c); /* reserved1 */
    s->info = csni_cursor_u32(c); /* reserved2 */
    if (segment->wide) csni_cursor_skip(c, 4);
    s->flags = macho_section_flags(&priv->object, segment, segment_name, s->type, off);
    s->align = align < 64 ? (uint64_t)1 << align : 1;
    s->addr = s->flags & CSNI_SECTION_ALLOC ? addr + priv->object.moved_by : addr;
    if (s->flags & CSNI_SECTION_NOBITS) return;
    s->file_off = section_off(segment, addr, off);
    s->file_size = s->size;
}

/* `*section`, `*segment`: after what has been read. */
static csn_status add_macho_segment(struct csni_object_private *priv, const struct macho_command *command,
                                    uint32_t *section,
                                    uint32_t *segment, struct csn_error *err) {
    struct csni_object *object = &priv->object;
    struct macho_segment s;
    CSNI_TRY(read_macho_segment(object, command, &s, err));
    if (is_in_memory(&s))
        priv->segments[(*segment)++] = (struct csni_segment){ s.addr + object->moved_by, s.size, s.file_off, s.file_size,
                                                              (s.protection & VM_PROT_EXECUTE) != 0 };
    if (!object->has_image_base && csni_str_is(s.name, "__TEXT")) {
        object->image_base = s.addr;
        object->has_image_base = true;
    }
    struct csni_cursor c = csni_cursor_at(s.sections, object->big_endian);
    for (uint32_t i = 0; i < s.section_count; i++) read_macho_section(priv, &s, &c, (*section)++);
    return CSN_OK;
}

/* ---- other commands ---- */

/* Two fields of 32 bits at `at` in the command. */
static csn_status read_macho_part(const struct csni_object *object, const struct macho_command *command,
                                  uint32_t command_size,
                                  uint32_t at, struct csni_macho_part *out, struct csn_error *err) {
    CSNI_TRY(need_size(command, command_size, err));
    if (out->off || out->count) return CSN_OK; /* the first of several */
    out->off = csni_get32(command->bytes.ptr + at, object->big_endian);
    out->count = csni_get32(command->bytes.ptr + at + 4, object->big_endian);
    return CSN_OK;
}

static csn_status read_command(struct csni_object_private *priv, const struct macho_command *command, struct csn_error *err) {
    struct csni_object *object = &priv->object;
    struct csni_macho *own = priv->own;
    if (command->type == LC_SYMTAB) {
        if (own->has_symbols) return CSN_OK;
        CSNI_TRY(read_macho_part(object, command, SYMTAB_COMMAND_SIZE, LOAD_COMMAND_SIZE, &own->symbols, err));
        CSNI_TRY(read_macho_part(object, command, SYMTAB_COMMAND_SIZE, LOAD_COMMAND_SIZE + 8, &own->strings, err));
        own->has_symbols = true;
    } else if (command->type == LC_DYSYMTAB) {
        return read_macho_part(object, command, DYSYMTAB_COMMAND_SIZE, DYSYMTAB_INDIRECTSYMOFF, &own->indirect, err);
    } else if (command->type == LC_FUNCTION_STARTS) {
        return read_macho_part(object, command, LINKEDIT_DATA_COMMAND_SIZE, LOAD_COMMAND_SIZE, &own->function_starts,
                               err);
    } else if (command->type == LC_DYLD_EXPORTS_TRIE) {
        return read_macho_part(object, command, LINKEDIT_DATA_COMMAND_SIZE, LOAD_COMMAND_SIZE, &own->exports, err);
    } else if (command->type == LC_DYLD_INFO || command->type == LC_DYLD_INFO_ONLY) {
        return read_macho_part(object, command, DYLD_INFO_COMMAND_SIZE, DYLD_INFO_EXPORT_OFF, &own->exports, err);
    } else if (command->type == LC_UUID && !object->build_id.size) {
        CSNI_TRY(need_size(command, UUID_COMMAND_SIZE, err));
        object->build_id = (struct csni_span){ command->bytes.ptr + LOAD_COMMAND_SIZE, MACHO_UUID_SIZE };
    }
    return CSN_OK;
}

/* ---- the whole ---- */

/* A dSYM does not tell what kind of image it belongs to; what can be loaded anywhere is the usual one. */
static enum csni_object_kind macho_object_kind(const struct macho_header *h) {
    switch (h->file_type) {
    case MH_OBJECT: return CSNI_OBJECT_RELOCATABLE;
    case MH_EXECUTE: return h->flags & MH_PIE ? CSNI_OBJECT_SHARED : CSNI_OBJECT_EXECUTABLE;
    case MH_PRELOAD: return CSNI_OBJECT_EXECUTABLE;
    case MH_CORE: return CSNI_OBJECT_CORE;
    case MH_DYLIB:
    case MH_DYLINKER:
    case MH_BUNDLE:
    case MH_DSYM:
    case MH_KEXT_BUNDLE: return CSNI_OBJECT_SHARED;
    default: return CSNI_OBJECT_OTHER;
    }
}

static csn_status make_own(struct csni_object_private *priv, struct csn_error *err) {
    struct csni_macho *own = csni_alloc_zeroed(priv->alloc, 1, sizeof *own);
    if (!own) return csni_fail_memory(err, sizeof *own);
    csni_arena_init(&own->names, priv->alloc, NAMES_CHUNK);
    own->stubs.symbols.alloc = own->exported.symbols.alloc = priv->alloc;
    priv->own = own;
    return CSN_OK;
}

static csn_status macho_read(struct csni_object_private *priv, struct csn_error *err) {
    struct csni_object *object = &priv->object;
    struct macho_header header;
    CSNI_TRY(read_macho_header(object, &header, err));
    CSNI_TRY(make_own(priv, err));
    struct csni_macho *own = priv->own;
    own->file_type = header.file_type;
    own->cpu_subtype = header.cpu_subtype;
    object->machine = header.cpu_type;
    object->kind = macho_object_kind(&header);
    if (object->kind == CSNI_OBJECT_RELOCATABLE) object->moved_by = priv->place_at;
    snprintf(object->arch, sizeof object->arch, "%s", csni_macho_arch_name(header.cpu_type, header.cpu_subtype));
    CSNI_TRY(count_macho_sections(priv, &header, err));
    struct macho_command command = { 0 };
    csn_status status;
    uint32_t section = 1, segment = 0;
    while ((status = next_command(object, &header, &command, err)) == CSN_OK) {
        if (is_segment(&command)) CSNI_TRY(add_macho_segment(priv, &command, &section, &segment, err));
        else CSNI_TRY(read_command(priv, &command, err));
    }
    if (status < 0) return status;
    csni_size_compressed_sections(priv);
    return CSN_OK;
}

static void macho_close(struct csni_object_private *priv) {
    struct csni_macho *own = priv->own;
    if (!own) return;
    csni_vec_deinit(&own->stubs.symbols);
    csni_vec_deinit(&own->exported.symbols);
    csni_arena_deinit(&own->names);
    csni_free(priv->alloc, own->relocations, own->relocation_capacity * sizeof *own->relocations);
    csni_free(priv->alloc, own, sizeof *own);
}

const struct csni_container_reader csni_macho_reader = {
    .container = CSNI_CONTAINER_MACHO,
    .recognize = macho_recognize,
    .read = macho_read,
    .debug_prefix = "__debug_",
    .compressed_prefix = "__zdebug_",
    .name_max = MACHO_NAME_SIZE,
    .symbols = csni_macho_symbols,
    .next_symbol = csni_macho_next_symbol,
    .needs_relocation = csni_macho_needs_relocation,
    .relocate = csni_macho_relocate,
    .function_bounds = csni_macho_function_bounds,
    .close = macho_close,
};
