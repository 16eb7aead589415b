/* Opening a file with split DWARF. */
#include "convert/dwarf/split_file.h"

#include "base/core/fail.h"
#include "dwarf/dwarf_split.h"

enum { INFO, TYPES, ABBREV, STR, STR_OFFSETS, RNGLISTS, CU_INDEX, TU_INDEX, SECTIONS };

/* Those of packages have no suffix. */
static const struct {
    const char *name;
    bool dwo;
} section_names[SECTIONS] = { { "info", true },        { "types", true },    { "abbrev", true },    { "str", true },
                              { "str_offsets", true }, { "rnglists", true }, { "cu_index", false }, { "tu_index", false } };


struct opening {
    struct csni_object *object;
    struct csni_dwarf *dwarf;
    uint32_t sections[SECTIONS];
    struct csni_span bytes[SECTIONS];
};

static uint32_t find_split_file_section(const struct csni_object *object, uint32_t which) {
    uint32_t section = csni_object_find_debug_section(object, section_names[which].name, section_names[which].dwo);
    bool is_empty = section != CSNI_NO_SECTION && object->sections[section].flags & CSNI_SECTION_NOBITS;
    return is_empty ? CSNI_NO_SECTION : section;
}

bool csni_split_file_recognize(const struct csni_object *object) {
    return find_split_file_section(object, INFO) != CSNI_NO_SECTION;
}

static csn_status read_split_section(void *context, uint32_t worker, size_t item, struct csn_error *err) {
    (void)worker;
    struct opening *o = context;
    if (o->sections[item] == CSNI_NO_SECTION) return CSN_OK;
    return csni_object_read_section(o->object, o->sections[item], &o->bytes[item], err);
}

/* How many bytes all sections that are called like `first` have together; *count gets their number. */
static csn_status size_of_all(struct csni_object *object, uint32_t first, uint64_t *size, uint32_t *count,
                              struct csn_error *err) {
    uint64_t plain = 0;
    *size = *count = 0;
    for (uint32_t i = 1; i < object->section_count; i++) {
        const struct csni_section *section = &object->sections[i];
        if (section->flags & CSNI_SECTION_NOBITS || !csni_str_equal(section->name, object->sections[first].name)) continue;
        struct csni_span bytes;
        CSNI_TRY(csni_object_read_section(object, i, &bytes, err));
        *size += bytes.size;
        if (!(section->flags & CSNI_SECTION_COMPRESSED)) plain += bytes.size;
        ++*count;
        if (plain > object->file.size)
            return csni_fail(err, CSN_E_FORMAT, NULL, 0, "sections of one name have over 0x%zx bytes, the file's size",
                             object->file.size);
    }
    return CSN_OK;
}

/* GCC writes each type unit into a section of its own, before that of the code. They become one: their units do
 * not refer to each other by offset. *joined stays empty where there is but one. */
static csn_status join_sections(struct opening *o, uint32_t which, const struct csn_allocator *alloc,
                                struct csni_joined *joined, struct csn_error *err) {
    uint32_t first = o->sections[which], count;
    uint64_t size;
    if (first == CSNI_NO_SECTION) return CSN_OK;
    CSNI_TRY(size_of_all(o->object, first, &size, &count, err));
    if (count < 2 || !size) return CSN_OK;
    uint8_t *bytes = size <= SIZE_MAX ? csni_alloc_zeroed(alloc, (size_t)size, 1) : NULL, *to = bytes;
    if (!bytes) return csni_fail_memory(err, size);
    for (uint32_t i = 1; i < o->object->section_count; i++) {
        const struct csni_section *section = &o->object->sections[i];
        struct csni_span part;
        if (section->flags & CSNI_SECTION_NOBITS) continue;
        if (!csni_str_equal(section->name, o->object->sections[first].name)) continue;
        if (csni_object_read_section(o->object, i, &part, NULL) != CSN_OK || !part.size) continue; /* it was read before */
        memcpy(to, part.ptr, part.size);
        to += part.size;
    }
    *joined = (struct csni_joined){ bytes, (size_t)size };
    o->bytes[which] = (struct csni_span){ bytes, (size_t)size };
    return CSN_OK;
}

static csn_status open_split_file_dwarf(struct opening *o, const struct csni_dwarf *image,
                                        const struct csn_allocator *alloc,
                                        struct csn_error *err) {
    const struct csni_span *b = o->bytes;
    const struct csni_dwarf_sections sections = {
        .info = b[INFO], .types = b[TYPES], .abbrev = b[ABBREV], .str = b[STR], .str_offsets = b[STR_OFFSETS],
        .rnglists = b[RNGLISTS], .cu_index = b[CU_INDEX], .tu_index = b[TU_INDEX],
        .addr = image->sections.addr, .ranges = image->sections.ranges, .big_endian = o->object->big_endian,
    };
    if (o->object->big_endian != image->sections.big_endian)
        return csni_fail(err, CSN_E_FORMAT, NULL, 0, "the file is %s-endian, the image is not",
                         o->object->big_endian ? "big" : "little");
    return csni_dwarf_open(&sections, alloc, &o->dwarf, err);
}

csn_status csni_split_file_open(struct csni_split_file *file, struct csni_conversion *c, struct csni_pool *pool,
                                const struct csni_dwarf *image, struct csn_error *err) {
    struct opening o = { .object = file->object };
    uint64_t size = 0;
    for (uint32_t i = 0; i < SECTIONS; i++) o.sections[i] = find_split_file_section(o.object, i);
    if (o.sections[INFO] == CSNI_NO_SECTION)
        return csni_fail(err, CSN_E_FORMAT, NULL, 0, "the file has no section .debug_info.dwo");
    CSNI_TRY(csni_pool_run(pool, SECTIONS, read_split_section, &o, err));
    CSNI_TRY(join_sections(&o, INFO, c->alloc, &file->info, err));
    CSNI_TRY(join_sections(&o, TYPES, c->alloc, &file->types, err));
    CSNI_TRY(open_split_file_dwarf(&o, image, c->alloc, err));
    file->dwarf = o.dwarf;
    CSNI_TRY(csni_dwarf_compile_all(o.dwarf, pool, err));
    CSNI_TRY(csni_dwarf_prepare_all(o.dwarf, pool, err));
    CSNI_TRY(csni_split_index(o.dwarf, err));
    for (uint32_t i = 0; i < SECTIONS; i++) size += o.bytes[i].size;
    csni_shared_budget_init(&file->budget, CSNI_BUDGET_BASE);
    csni_shared_budget_raise(&file->budget, CSNI_BUDGET_A_BYTE * size);
    atomic_fetch_add(&c->split_bytes, size);
    return CSN_OK;
}

static void count_inflated(const struct csni_split_file *file, struct csni_conversion *c) {
    if (!file->companion || !file->object) return; /* the image's are counted elsewhere */
    pthread_mutex_lock(&c->lock);
    c->report->inflated_bytes += csni_object_inflated_bytes(file->object);
    pthread_mutex_unlock(&c->lock);
}

static void close_dwarf(struct csni_split_file *file, struct csni_conversion *c) {
    csni_dwarf_close(file->dwarf);
    file->dwarf = NULL;
    csni_free(c->alloc, file->info.bytes, file->info.size);
    csni_free(c->alloc, file->types.bytes, file->types.size);
    file->info = file->types = (struct csni_joined){ NULL, 0 };
}

void csni_split_file_close_later(struct csni_split_file *file, struct csni_conversion *c) {
    count_inflated(file, c);
    close_dwarf(file, c);
    for (uint32_t i = 0; file->object && i < SECTIONS; i++) {
        uint32_t section = find_split_file_section(file->object, i);
        if (i != STR && section != CSNI_NO_SECTION) csni_object_release_section(file->object, section);
    }
}

void csni_split_file_close(struct csni_split_file *file, struct csni_conversion *c) {
    close_dwarf(file, c);
    if (!file->companion) return;
    count_inflated(file, c);
    csni_companion_close(c, file->companion);
    *file = (struct csni_split_file){ 0 };
}
