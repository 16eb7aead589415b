/* The sample image, and using all of a damaged one. */
#include "support/macho_sample.h"

#include <stdlib.h>
#include <string.h>

#include "object/address_map.h"
#include "object/macho/macho_layout.h"
#include "support/object_sample.h"

const uint8_t macho_sample_uuid[16] = { 0xde, 0xad, 0xbe, 0xef, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 };

#define BASE MACHO_SAMPLE_BASE
static const struct wire_macho_symbol sample_symbols[] = {
    { "/src/main.c", N_SO, 0, 0, 0 },
    { "/build/main.o", N_OSO, 0, 1, 1700000000 },
    { "_main", N_FUN, 1, 0, BASE + 0x100 },
    { "", N_FUN, 0, 0, 0x10 },
    { "", N_SO, 1, 0, 0 },
    { "/src/work.c", N_SO, 0, 0, 0 },
    { "/build/libx.a(work.o)", N_OSO, 0, 1, 0 },
    { "_work", N_FUN, 1, 0, BASE + 0x110 },
    { "", N_FUN, 0, 0, 8 },
    { "_late", N_FUN, 1, 0, BASE + 0x118 },
    { "", N_FUN, 0, 0, 8 },
    { "", N_SO, 1, 0, 0 },
    { "_work", N_SECT | N_PEXT, 1, 0, BASE + 0x110 },
    { "_counter", N_SECT, 3, 0, BASE + 0x200 },
    { "__mh_execute_header", N_SECT | N_EXT, 1, 0, BASE },
    { "_main", N_SECT | N_EXT, 1, 0, BASE + 0x100 },
    { "_late", N_SECT | N_EXT, 1, N_WEAK_DEF, BASE + 0x118 },
    { "_absolute", N_ABS | N_EXT, 0, 0, 0x1234 },
    { "_puts", N_UNDF | N_EXT, 0, 0x100, 0 },
    { "_free", N_UNDF | N_EXT, 0, 0x100, 0 },
};
enum { PUTS = 18, FREE = 19 };
static const uint32_t sample_indirect[] = { 0x80000000 /* INDIRECT_SYMBOL_LOCAL */, PUTS, FREE };

/* Distances 0x100, 0x10, 8 and the end. */
static const uint8_t sample_starts[] = { 0x80, 0x02, 0x10, 0x08, 0, 0, 0, 0 };

/* `_` then `main` and `late`. */
static const uint8_t sample_exports[] = {
    0, 1, '_', 0, 5,                                   /* root */
    0, 2, 'm', 'a', 'i', 'n', 0, 19, 'l', 'a', 't', 'e', 0, 24, /* at 5 */
    3, 0, 0x80, 0x02, 0,                               /* at 19: flags, 0x100 */
    3, 4, 0x98, 0x02, 0,                               /* at 24: weak, 0x118 */
};

void macho_sample(struct wire_macho *m, bool wide, bool big) {
    static const uint8_t code[0x20] = { 0x90, 0x90, 0xc3 }, stubs[0x10] = { 0xff, 0x25 }, data[8] = { 1 };
    struct csni_span text = { code, sizeof code };
    uint32_t code_flags = S_ATTR_PURE_INSTRUCTIONS | S_ATTR_SOME_INSTRUCTIONS;
    uint32_t narrow = big ? CPU_TYPE_POWERPC : CPU_TYPE_I386;
    wire_macho_init(m, wide, big, wide ? (uint32_t)CPU_TYPE_X86_64 : narrow, MH_EXECUTE);
    m->cpu_subtype = 3;
    m->flags = MH_PIE;
    wire_macho_add_segment(m, "__PAGEZERO", 0, BASE, 0)->file_size = 0;
    wire_macho_add_segment(m, "__TEXT", BASE, 0x200, VM_PROT_EXECUTE | 1);
    wire_macho_add(m, "__TEXT", "__text", BASE + 0x100, code_flags, text)->align = 4;
    struct wire_macho_section *s = wire_macho_add(m, "__TEXT", "__stubs", BASE + 0x120, S_SYMBOL_STUBS | code_flags,
                                                  (struct csni_span){ stubs, sizeof stubs });
    s->reserved1 = 1;
    s->reserved2 = 8;
    wire_macho_add_segment(m, "__DATA", BASE + 0x200, 0x200, VM_PROT_WRITE | 1);
    wire_macho_add(m, "__DATA", "__data", BASE + 0x200, 0, (struct csni_span){ data, sizeof data });
    wire_macho_add(m, "__DATA", "__bss", BASE + 0x208, S_ZEROFILL, (struct csni_span){ NULL, 0 })->size = 0x100;
    wire_macho_add_segment(m, "__DWARF", BASE + 0x400, 0x200, 3);
    wire_macho_add(m, "__DWARF", "__debug_info", BASE + 0x400, S_ATTR_DEBUG, (struct csni_span){ (const uint8_t *)"info", 4 });
    wire_macho_add(m, "__DWARF", "__debug_str_offs", BASE + 0x404, S_ATTR_DEBUG,
                   (struct csni_span){ (const uint8_t *)"offs", 4 });
    m->symbols = sample_symbols;
    m->symbol_count = sizeof sample_symbols / sizeof *sample_symbols;
    m->indirect = sample_indirect;
    m->indirect_count = 3;
    m->function_starts = (struct csni_span){ sample_starts, sizeof sample_starts };
    m->exports = (struct csni_span){ sample_exports, sizeof sample_exports };
    m->uuid = macho_sample_uuid;
}

void macho_sample_begin(struct macho_sample_file *f, bool wide, bool big) {
    memset(f, 0, sizeof *f);
    macho_sample(&f->macho, wide, big);
    wire_init(&f->wire, big);
}

csn_status macho_sample_open(struct macho_sample_file *f) {
    wire_macho_build(&f->macho, &f->wire, NULL);
    f->err = (struct csn_error)CSN_ERROR_INIT;
    return csni_object_open(wire_span(&f->wire), NULL, &f->object, &f->err);
}

void macho_sample_end(struct macho_sample_file *f) {
    csni_object_close(f->object);
    wire_deinit(&f->wire);
}

/* ---- using everything ---- */

static volatile uint8_t touched; /* so that a sanitizer sees a bad view */

static void touch(const void *ptr, size_t size) {
    const uint8_t *p = ptr;
    for (size_t i = 0; i < size; i++) touched = (uint8_t)(touched + p[i]);
}

static csn_status use_symbols(struct csni_object *object, enum csni_symbol_table table) {
    struct csni_symbol_iter iter;
    struct csni_symbol symbol;
    uint64_t count = 0;
    csn_status status = csni_symbol_iter_init(&iter, object, table, NULL);
    if (status != CSN_OK) return status;
    while (csni_symbol_iter_next(&iter, &symbol) == CSN_OK) {
        if (symbol.section != CSNI_NO_SECTION && symbol.section >= object->section_count) abort();
        touch(symbol.name.ptr, symbol.name.len);
        count++;
    }
    if (count > iter.count) abort();
    return CSN_OK;
}

static csn_status use_debug_map(struct csni_object *object, const struct csn_allocator *alloc) {
    struct csni_debug_map map;
    struct csni_address_map addresses;
    csn_status status = csni_macho_debug_map(object, alloc, &map, NULL);
    if (status != CSN_OK) return status;
    uint32_t functions = 0;
    for (size_t i = 0; i < map.objects.count; i++) {
        const struct csni_debug_map_object *o = &map.objects.items[i];
        if (o->first_function != functions) abort();
        functions += o->function_count;
        touch(o->path.ptr, o->path.len);
        touch(o->member.ptr, o->member.len);
    }
    if (functions != map.functions.count) abort();
    for (uint32_t i = 0; i < functions; i++) touch(map.functions.items[i].name.ptr, map.functions.items[i].name.len);
    status = csni_address_map_make(object, map.functions.items, functions, alloc, &addresses, NULL);
    csni_debug_map_deinit(&map);
    if (status != CSN_OK) return status;
    for (size_t i = 1; i < addresses.ranges.count; i++)
        if (addresses.ranges.items[i - 1].object_end > addresses.ranges.items[i].object_start) abort();
    csni_address_map_deinit(&addresses);
    return CSN_OK;
}

static csn_status use_bounds(struct csni_object *object, const struct csn_allocator *alloc) {
    csni_function_bounds bounds = { .alloc = alloc };
    csn_status status = csni_object_function_bounds(object, &bounds, NULL);
    for (size_t i = 1; i < bounds.count; i++)
        if (bounds.items[i - 1].start >= bounds.items[i].start) abort();
    csni_vec_deinit(&bounds);
    return status;
}

static csn_status worse(csn_status a, csn_status b) { return a == CSN_E_MEMORY || b == CSN_E_MEMORY ? CSN_E_MEMORY : CSN_OK; }

csn_status macho_sample_use(struct csni_span file, const struct csn_allocator *alloc, struct csn_error *err) {
    struct csni_object_options options = { .allocator = alloc, .max_decompressed_bytes = 1 << 20 };
    struct csni_object *object = NULL;
    csn_status status = csni_object_open(file, &options, &object, err);
    if (status < 0) return status;
    for (uint32_t i = 0; i < object->section_count; i++) {
        struct csni_span bytes;
        touch(object->sections[i].name.ptr, object->sections[i].name.len);
        if (csni_object_read_section(object, i, &bytes, NULL) == CSN_OK) touch(bytes.ptr, bytes.size);
    }
    status = worse(status, use_symbols(object, CSNI_SYMBOLS_STATIC));
    status = worse(status, use_symbols(object, CSNI_SYMBOLS_DYNAMIC));
    status = worse(status, use_bounds(object, csni_allocator_or_default(alloc)));
    status = worse(status, use_debug_map(object, csni_allocator_or_default(alloc)));
    csni_object_close(object);
    return status;
}

void macho_sample_damage(struct csni_span file, size_t flip_end) {
    static const uint8_t masks[] = { 1, 0x80, 0xff };
    for (size_t size = 0; size < file.size; size++) {
        struct csni_span copy = sample_copy(file, size);
        struct csn_error err = CSN_ERROR_INIT;
        csn_status status = macho_sample_use(copy, NULL, &err);
        if (status != err.code || (status < 0 && !err.text[0])) abort();
        sample_free(copy);
    }
    struct csni_span copy = sample_copy(file, file.size);
    uint8_t *bytes = (uint8_t *)(uintptr_t)copy.ptr;
    for (size_t i = 0; i < file.size && i < flip_end; i++) {
        for (size_t k = 0; k < sizeof masks; k++) {
            bytes[i] ^= masks[k];
            (void)macho_sample_use(copy, NULL, NULL);
            bytes[i] ^= masks[k];
        }
    }
    sample_free(copy);
}
