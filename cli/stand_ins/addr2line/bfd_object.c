/* Sections and symbols. */
#define _GNU_SOURCE
#include "stand_ins/addr2line/bfd_object.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include <callsign/convert.h>
#include <callsign/names.h>

#include "stand_ins/base/coff_names.h"
#include "stand_ins/base/elf_ident.h"
#include "stand_ins/base/growth.h"
#include "stand_ins/gnu_names/gnu_demangle.h"
#include "ui/bounds.h"

static void read_sections(struct bfd_object *o) {
    o->sections = zeroed_memory(o->object.section_count, sizeof *o->sections);
    for (uint32_t i = 1; i < o->object.section_count; i++) {
        struct csn_debug_section section;
        if (csn_debug_info_section(o->info, i, &section, NULL) != CSN_OK) continue;
        struct bfd_section *to = &o->sections[o->section_count++];
        to->name = copy_text(section.name.ptr, section.name.len);
        to->addr = section.addr;
        to->vma = o->object.kind == CSN_OBJECT_RELOCATABLE ? 0 : section.addr;
        to->size = section.size;
        to->is_alloc = section.flags & CSN_SECTION_ALLOC;
        to->is_code = section.flags & CSN_SECTION_EXEC;
        to->idx = i;
    }
}

/* Of the name of a file in several records GNU takes the first; one in the string table has one record and is whole. */
enum { COFF_RECORD = 18 };

static char *symbol_name(const struct bfd_object *o, const struct csn_debug_symbol *symbol) {
    if (!o->is_elf && symbol->kind == CSN_SYMBOL_FILE && symbol->has_aux > 1 && symbol->name.len > COFF_RECORD)
        return copy_text(symbol->name.ptr, COFF_RECORD);
    const bool is_win32 = !o->is_elf && o->object.machine == 0x14c && symbol->kind != CSN_SYMBOL_FILE &&
                          symbol->kind != CSN_SYMBOL_SECTION;
    if (is_win32) return coff_table_name(symbol->name);
    if (!symbol->version.len) return copy_text(symbol->name.ptr, symbol->name.len);
    const char *at = symbol->is_default_version ? "@@" : "@";
    return formatted_text("%.*s%s%.*s", (int)symbol->name.len, symbol->name.ptr, at, (int)symbol->version.len, symbol->version.ptr);
}

static const struct csn_debug_symbol *read_table(struct bfd_object *o, enum csn_symbol_source source, size_t *count) {
    const struct csn_debug_symbol *symbols;
    *count = 0;
    return csn_debug_info_symbols(o->info, source, &symbols, count, NULL) == CSN_OK && *count ? symbols : NULL;
}

static struct bfd_symbol *name_symbols(const struct bfd_object *o, const struct csn_debug_symbol *symbols, size_t count) {
    struct bfd_symbol *named = zeroed_memory(count, sizeof *named);
    for (size_t i = 0; i < count; i++) {
        struct csn_debug_section section;
        const struct csn_debug_symbol *s = &symbols[i];
        bool is_section = s->kind == CSN_SYMBOL_SECTION && !s->name.len && s->section < o->object.section_count &&
                          csn_debug_info_section(o->info, s->section, &section, NULL) == CSN_OK;
        named[i] = (struct bfd_symbol){ is_section ? copy_text(section.name.ptr, section.name.len) : symbol_name(o, s), s };
    }
    return named;
}

static int by_value(const void *pa, const void *pb) {
    const struct bfd_function_symbol *a = pa, *b = pb;
    if (a->value != b->value) return a->value < b->value ? -1 : 1;
    if (a->size != b->size) return a->size > b->size ? -1 : 1;
    return a->order < b->order ? -1 : 1;
}

/* Of those at one address, the largest, and of several such, the first. */
static void keep_best(struct bfd_section_symbols *s) {
    size_t kept = 0;
    if (!s->count) return;
    qsort(s->items, s->count, sizeof *s->items, by_value);
    for (size_t i = 1; i < s->count; i++)
        if (s->items[i].value != s->items[kept].value) s->items[++kept] = s->items[i];
    s->count = kept + 1;
}

static bool is_mapping_symbol(const struct bfd_object *o, const struct csn_debug_symbol *symbol) {
    enum { EM_ARM = 40, EM_AARCH64 = 183, EM_RISCV = 243 };
    const char *name = symbol->name.ptr;
    if (symbol->kind != CSN_SYMBOL_NONE || symbol->name.len < 2 || name[0] != '$') return false;
    const bool is_plain = symbol->name.len == 2 || name[2] == '.';
    switch (o->object.machine) {
    case EM_ARM: return is_plain && name[1] >= 'a' && name[1] <= 'z';
    case EM_AARCH64: return is_plain && strchr("xdmfp", name[1]);
    case EM_RISCV: return symbol->bind == CSN_BIND_LOCAL && (name[1] == 'd' || name[1] == 'x');
    default: return false;
    }
}

static bool may_be_function(const struct bfd_object *o, const struct csn_debug_symbol *symbol) {
    if (o->knows_machine && is_mapping_symbol(o, symbol)) return false;
    switch (symbol->kind) {
    case CSN_SYMBOL_NONE: return symbol->size || symbol->bind != CSN_BIND_LOCAL || !symbol->is_hidden;
    case CSN_SYMBOL_FUNCTION: case CSN_SYMBOL_IFUNC: case CSN_SYMBOL_OTHER: return true;
    default: return false;
    }
}

/* As the symbol table has it: of Thumb code, odd. */
static uint64_t raw_addr(const struct csn_debug_symbol *symbol) { return symbol->addr + symbol->had_low_bit; }

/* A global symbol has a file only as long as all FILE symbols stand before the others. */
static void sort_functions(struct bfd_object *o, const struct bfd_symbol *symbols, size_t count) {
    const char *file = NULL;
    bool seen = false, file_after = false;
    o->by_section = zeroed_memory(o->object.section_count + 1, sizeof *o->by_section);
    for (size_t i = 0; i < count; i++) {
        const struct csn_debug_symbol *symbol = symbols[i].symbol;
        if (symbol->kind == CSN_SYMBOL_FILE) {
            file = symbols[i].name;
            file_after |= seen;
            continue;
        }
        seen = true;
        if (!may_be_function(o, symbol) || symbol->section >= o->object.section_count) continue;
        struct csn_debug_section section;
        if (csn_debug_info_section(o->info, symbol->section, &section, NULL) != CSN_OK) continue;
        bool has_file = symbol->bind == CSN_BIND_LOCAL || !file_after;
        const struct bfd_function_symbol made = { raw_addr(symbol) - section.addr, symbol->size ? symbol->size : 1, (uint32_t)i,
                                                  symbols[i].name, has_file ? file : NULL };
        GROW_PUSH(&o->by_section[symbol->section], made);
    }
    for (uint32_t i = 0; i < o->object.section_count; i++) keep_best(&o->by_section[i]);
}

static void read_symbols(struct bfd_object *o) {
    size_t count;
    const struct csn_debug_symbol *symbols = read_table(o, CSN_SYMBOLS_STATIC, &count);
    if (!symbols) symbols = read_table(o, CSN_SYMBOLS_DYNAMIC, &count);
    if (symbols) o->symbols = name_symbols(o, symbols, count);
    o->symbol_count = count;
    const struct csn_debug_symbol *debug = o->object.has_debug_file ? read_table(o, CSN_SYMBOLS_DEBUG_FILE, &count) : NULL;
    if (debug) sort_functions(o, name_symbols(o, debug, count), count);
    else sort_functions(o, o->symbols, o->symbol_count);
}

bool bfd_object_open(struct bfd_object *o, const char *path, bool knows_machine, const char **message) {
    struct csn_companion_search *search = NULL;
    struct csn_companion_search_options companions = CSN_COMPANION_SEARCH_OPTIONS_INIT;
    struct csn_debug_info_options options = CSN_DEBUG_INFO_OPTIONS_INIT;
    *o = (struct bfd_object){ .knows_machine = knows_machine };
    options.allocator = companions.allocator = &ending_allocator;
    if (csn_companion_search_create(&companions, &search, NULL) == CSN_OK) {
        options.resolver = csn_companion_search_resolve;
        options.resolver_context = search;
    }
    csn_status status = csn_debug_info_open_file(path, &options, &o->info, NULL);
    csn_companion_search_destroy(search);
    if (status == CSN_OK) {
        csn_debug_info_get_object(o->info, &o->object, sizeof o->object);
        o->is_elf = o->object.container == CSN_CONTAINER_ELF;
        const bool is_object = o->is_elf && o->object.kind != CSN_OBJECT_CORE && elf_ident_is_current(path); /* by BFD's measure */
        if (is_object || o->object.container == CSN_CONTAINER_PE) {
            read_sections(o);
            read_symbols(o);
            return true;
        }
        csn_debug_info_close(o->info);
    }
    *message = "file format not recognized";
    return false;
}

void bfd_object_close(struct bfd_object *o) { csn_debug_info_close(o->info); }

const struct bfd_function_symbol *bfd_find_function(struct bfd_object *o, const struct bfd_section *section, uint64_t offset) {
    const struct bfd_function_symbol *last = o->last.found;
    if (!o->is_elf || !o->symbols) return NULL;
    if (o->last.section == section && last && offset >= last->value && offset - last->value < last->size) return last;
    const struct bfd_section_symbols *s = &o->by_section[section->idx];
    size_t low = UPPER_BOUND(s->items, s->count, value, offset);
    o->last.section = section;
    o->last.found = low ? &s->items[low - 1] : NULL;
    return o->last.found;
}

/* From the start of the image; of its section, in an object that is not linked. */
static uint64_t value_of(const struct bfd_object *o, const struct csn_debug_symbol *symbol) {
    struct csn_debug_section section;
    uint64_t addr = raw_addr(symbol);
    const bool is_plain = symbol->section == CSN_NO_SECTION || symbol->kind == CSN_SYMBOL_TLS; /* offsets from the thread's own memory */
    if (o->object.kind != CSN_OBJECT_RELOCATABLE || is_plain) return addr;
    return csn_debug_info_section(o->info, symbol->section, &section, NULL) == CSN_OK ? addr - section.addr : addr;
}

/* COFF symbols come file by file: the last file with a symbol of the section at or before the address. */
const char *bfd_coff_file(const struct bfd_object *o, const struct bfd_section *section, uint64_t addr) {
    const char *found = NULL;
    for (size_t i = 0; i < o->symbol_count;) {
        if (o->symbols[i].symbol->kind != CSN_SYMBOL_FILE) {
            i++;
            continue;
        }
        const char *file = o->symbols[i].name;
        if (!found) found = file;
        for (i++; i < o->symbol_count; i++)
            if (o->symbols[i].symbol->section == section->idx || o->symbols[i].symbol->kind == CSN_SYMBOL_FILE) break;
        if (i == o->symbol_count || o->symbols[i].symbol->kind == CSN_SYMBOL_FILE) break;
        if (addr >= o->symbols[i].symbol->addr) found = file;
        while (i < o->symbol_count && o->symbols[i].symbol->kind != CSN_SYMBOL_FILE) i++;
    }
    return found;
}

/* What no name begins with: perf sends "," after each address, to which no name has to be demangled. */
static bool may_begin_name(char c) { return isalnum((unsigned char)c) || (c && strchr("_<({[*&~$.?@", c)); }

bool bfd_symbol_address(struct bfd_object *o, const char *name, uint64_t *addr) {
    if (*name && !may_begin_name(*name)) return false; /* symbols of files may have no name, and "+1" finds them */
    if (o->unknown_name && strcmp(o->unknown_name, name) == 0) return false;
    for (size_t i = 0; i < o->symbol_count; i++) {
        if (strcmp(o->symbols[i].name, name) != 0) continue;
        *addr = value_of(o, o->symbols[i].symbol);
        return true;
    }
    for (size_t i = 0; *name && i < o->symbol_count; i++) {
        char *demangled = gnu_demangle(o->symbols[i].name);
        bool found = demangled && strcmp(demangled, name) == 0;
        free(demangled);
        if (!found) continue;
        *addr = value_of(o, o->symbols[i].symbol);
        return true;
    }
    free(o->unknown_name);
    o->unknown_name = copy_text(name, strlen(name));
    return false;
}
