/* Universal Mach-O files: FAT and FAT64 headers. */
#include "object/macho/macho_universal.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/core/cursor.h"
#include "base/core/fail.h"
#include "object/find/macho_arch.h"
#include "object/macho/macho_layout.h"
#include "object/macho/macho_private.h"

/* Where a universal file has the number of its slices, a Java class has its version: minor, then major, which began at 45. */
enum { JAVA_FIRST_VERSION = 45, MAX_SLICES = JAVA_FIRST_VERSION - 1 };

struct fat_arch {
    uint32_t cpu_type, cpu_subtype;
    uint64_t off, size;
};

static bool is_wide(struct csni_span file) { return csni_get32(file.ptr, true) == FAT_MAGIC_64; }

static uint32_t slice_count(struct csni_span file) { return csni_get32(file.ptr + MACHO_MAGIC_SIZE, true); }

bool csni_macho_is_universal(struct csni_span file) {
    if (file.size < FAT_HEADER_SIZE) return false;
    uint32_t magic = csni_get32(file.ptr, true);
    return (magic == FAT_MAGIC || magic == FAT_MAGIC_64) && slice_count(file) <= MAX_SLICES;
}

static struct fat_arch read_arch(struct csni_span file, uint32_t index) {
    bool wide = is_wide(file);
    unsigned word = wide ? 8 : 4;
    struct csni_cursor c = csni_cursor_at(file, true);
    csni_cursor_seek(&c, FAT_HEADER_SIZE + (uint64_t)index * (wide ? FAT_ARCH_64_SIZE : FAT_ARCH_SIZE));
    struct fat_arch a = { .cpu_type = csni_cursor_u32(&c) };
    a.cpu_subtype = csni_cursor_u32(&c);
    a.off = csni_cursor_uint(&c, word);
    a.size = csni_cursor_uint(&c, word);
    return a;
}

static csn_status check_macho_header(struct csni_span file, struct csn_error *err) {
    uint32_t count = slice_count(file);
    uint64_t need = FAT_HEADER_SIZE + (uint64_t)count * (is_wide(file) ? FAT_ARCH_64_SIZE : FAT_ARCH_SIZE);
    if (!count) return csni_fail(err, CSN_E_FORMAT, NULL, MACHO_MAGIC_SIZE, "universal file: 0 architectures, need >= 1");
    if (need > file.size)
        return csni_fail(err, CSN_E_TRUNCATED, NULL, 0,
                         "universal file: %" PRIu32 " architectures take %" PRIu64 " bytes, but the file has %zu", count, need,
                         file.size);
    return CSN_OK;
}

static csn_status check_overlap(const struct csni_slice *slices, uint32_t index, struct csni_span file, struct csn_error *err) {
    const struct csni_slice *b = &slices[index];
    for (uint32_t i = 0; i < index; i++) {
        const struct csni_slice *a = &slices[i];
        if (!a->file.size || !b->file.size) continue;
        if (a->file.ptr >= b->file.ptr + b->file.size || b->file.ptr >= a->file.ptr + a->file.size) continue;
        return csni_fail(err, CSN_E_FORMAT, NULL, (uint64_t)(b->file.ptr - file.ptr),
                         "universal file: slices %s (0x%zx bytes at 0x%zx) and %s (0x%zx bytes at 0x%zx) overlap", a->arch,
                         a->file.size, (size_t)(a->file.ptr - file.ptr), b->arch, b->file.size,
                         (size_t)(b->file.ptr - file.ptr));
    }
    return CSN_OK;
}

static csn_status read_slices(struct csni_span file, struct csni_slice *slices, uint32_t count, struct csn_error *err) {
    for (uint32_t i = 0; i < count; i++) {
        struct fat_arch a = read_arch(file, i);
        const char *name = csni_macho_arch_name(a.cpu_type, a.cpu_subtype);
        if (*name) snprintf(slices[i].arch, sizeof slices[i].arch, "%s", name);
        else snprintf(slices[i].arch, sizeof slices[i].arch, "cpu0x%" PRIx32, a.cpu_type);
        if (!csni_span_sub(file, a.off, a.size, &slices[i].file))
            return csni_fail(err, CSN_E_TRUNCATED, NULL, a.off,
                             "universal file: slice %s: 0x%" PRIx64 " bytes at 0x%" PRIx64 ", but the file has 0x%zx bytes",
                             slices[i].arch, a.size, a.off, file.size);
        CSNI_TRY(check_overlap(slices, i, file, err));
    }
    return CSN_OK;
}

csn_status csni_macho_slices(struct csni_span file, const struct csn_allocator *alloc, struct csni_slice **out,
                             uint32_t *count, struct csn_error *err) {
    CSNI_TRY(check_macho_header(file, err));
    uint32_t n = slice_count(file);
    struct csni_slice *slices = csni_alloc_zeroed(alloc, n, sizeof *slices);
    if (!slices) return csni_fail_memory(err, n * sizeof *slices);
    csn_status status = read_slices(file, slices, n, err);
    if (status < 0) {
        csni_free(alloc, slices, n * sizeof *slices);
        return status;
    }
    *out = slices;
    *count = n;
    return CSN_OK;
}

static csn_status fail_choose(const struct csni_slice *slices, uint32_t count, struct csn_error *err) {
    char names[160] = "";
    size_t len = 0;
    for (uint32_t i = 0; i < count && len + sizeof slices[i].arch + 2 < sizeof names; i++)
        len += (size_t)snprintf(names + len, sizeof names - len, "%s%s", i ? ", " : "", slices[i].arch);
    return csni_fail(err, CSN_E_ARGUMENT, NULL, 0, "universal file of %" PRIu32 " architectures, choose one: %s", count, names);
}

csn_status csni_macho_only_slice(struct csni_span file, const struct csn_allocator *alloc, struct csni_span *out,
                                 struct csn_error *err) {
    struct csni_slice *slices;
    uint32_t count;
    CSNI_TRY(csni_macho_slices(file, alloc, &slices, &count, err));
    csn_status status = CSN_OK;
    if (count > 1) status = fail_choose(slices, count, err);
    else *out = slices[0].file;
    csni_free(alloc, slices, count * sizeof *slices);
    return status;
}
