/* Measures the floors of a conversion from DWARF, on one thread: what no converter that reads all of it can go below.
 *
 *   bench_floor OBJECT [ROUNDS]   medians and minima, in ms, of
 *       inflating   the sections that a conversion reads, which takes none for those stored plainly; and, where this build
 *                   has it, the same with libdeflate, as far as they are zlib data
 *       touching    one read in every 8 bytes of them
 *       stepping    over the DIEs of all units by compiled plans, jumping where siblings are told, and keeping nothing;
 *                   the compiling of the plans stands beside it */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/file_map.h"
#include "dwarf/dwarf_private.h"
#include "object/object_private.h"
#include "timing.h"

#ifdef CSNI_HAVE_LIBDEFLATE
#include <libdeflate.h>
#endif

enum { ROUNDS_MAX = 100 };
enum phase { INFLATING, LIBDEFLATE, TOUCHING, COMPILING, STEPPING, PHASES };
static const char *const phase_names[PHASES] = { "inflating", "inflating with libdeflate", "touching", "compiling plans",
                                                 "stepping" };

struct floor {
    struct csn_error err;
    double ms[PHASES][ROUNDS_MAX];
    uint64_t bytes, inflated, units, checksum;
};

static void fail(const char *path, const struct csn_error *err) {
    fprintf(stderr, "bench_floor: %s: %s\n", path, csn_error_text(err));
    exit(2);
}

struct section {
    const char *name;
    struct csni_span bytes;
};
enum { SECTIONS = 10 };
static const struct section needed[SECTIONS] = { { .name = "info" },     { .name = "types" },       { .name = "abbrev" },
                                                 { .name = "line" },     { .name = "str" },         { .name = "line_str" },
                                                 { .name = "str_offsets" }, { .name = "addr" },     { .name = "ranges" },
                                                 { .name = "rnglists" } };

static csn_status read_sections(struct floor *f, struct csni_object *object, struct section *sections) {
    f->bytes = 0;
    for (int i = 0; i < SECTIONS; i++) {
        uint32_t section = csni_object_find_debug_section(object, sections[i].name, false);
        if (section == CSNI_NO_SECTION) continue;
        CSNI_TRY(csni_object_read_section(object, section, &sections[i].bytes, &f->err));
        f->bytes += sections[i].bytes.size;
    }
    return CSN_OK;
}

#ifdef CSNI_HAVE_LIBDEFLATE
/* Into memory of its own, given back afterwards: as a conversion that uses it would do. */
static csn_status inflate_by_library(struct floor *f, struct csni_object *object) {
    struct libdeflate_decompressor *decompressor = libdeflate_alloc_decompressor();
    enum libdeflate_result result = decompressor ? LIBDEFLATE_SUCCESS : LIBDEFLATE_BAD_DATA;
    for (int i = 0; i < SECTIONS && result == LIBDEFLATE_SUCCESS; i++) {
        struct csni_span stored;
        struct csni_compressed source;
        uint32_t section = csni_object_find_debug_section(object, needed[i].name, false);
        if (section == CSNI_NO_SECTION) continue;
        CSNI_TRY(csni_section_stored(object, section, &stored, &f->err));
        CSNI_TRY(csni_section_compressed(object, section, stored, &source, &f->err));
        if (source.compression != CSNI_COMPRESSION_ZLIB) continue;
        void *out = malloc(source.size);
        result = out ? libdeflate_zlib_decompress(decompressor, source.data.ptr, source.data.size, out, source.size, NULL)
                     : LIBDEFLATE_INSUFFICIENT_SPACE;
        free(out);
    }
    libdeflate_free_decompressor(decompressor);
    return result == LIBDEFLATE_SUCCESS ? CSN_OK : csni_fail(&f->err, CSN_E_FORMAT, NULL, 0, "libdeflate cannot inflate it");
}
#else
static csn_status inflate_by_library(struct floor *f, struct csni_object *object) {
    (void)f;
    (void)object;
    return CSN_OK;
}
#endif

static uint64_t touch(struct csni_span bytes) {
    uint64_t sum = 0, word;
    for (size_t i = 0; i + sizeof word <= bytes.size; i += sizeof word) {
        memcpy(&word, bytes.ptr + i, sizeof word);
        sum += word;
    }
    return sum;
}

static csn_status step_over(struct csni_dwarf *dwarf, struct csn_error *err) {
    for (uint32_t i = 0; i < dwarf->unit_count; i++) {
        struct csni_die_walk walk;
        if (!dwarf->units[i].prepared) continue;
        CSNI_TRY(csni_die_walk_init(&walk, dwarf, &dwarf->units[i], err));
        walk.options.jump_over_types = true;
        csn_status status = csni_walk_step(&walk, 0, 0, NULL, err);
        if (status < 0) return status;
    }
    return CSN_OK;
}

/* The time since `*from`, which becomes now. */
static void take(struct floor *f, enum phase phase, int round, double *from) {
    double now = now_ns();
    f->ms[phase][round] = (now - *from) / 1e6;
    *from = now;
}

static struct csni_dwarf_sections dwarf_sections(const struct section *s, bool big) {
    return (struct csni_dwarf_sections){ .info = s[0].bytes, .types = s[1].bytes, .abbrev = s[2].bytes, .line = s[3].bytes,
                                         .str = s[4].bytes, .line_str = s[5].bytes, .str_offsets = s[6].bytes,
                                         .addr = s[7].bytes, .ranges = s[8].bytes, .rnglists = s[9].bytes,
                                         .big_endian = big };
}

static csn_status measure(struct floor *f, struct csni_object *object, int round) {
    struct section sections[SECTIONS];
    struct csni_dwarf *dwarf = NULL;
    memcpy(sections, needed, sizeof sections);
    double time = now_ns();
    CSNI_TRY(inflate_by_library(f, object));
    take(f, LIBDEFLATE, round, &time);
    CSNI_TRY(read_sections(f, object, sections));
    f->inflated = csni_object_inflated_bytes(object);
    take(f, INFLATING, round, &time);
    f->checksum = 0;
    for (int i = 0; i < SECTIONS; i++) f->checksum += touch(sections[i].bytes);
    take(f, TOUCHING, round, &time);
    const struct csni_dwarf_sections found = dwarf_sections(sections, object->big_endian);
    CSNI_TRY(csni_dwarf_open(&found, NULL, &dwarf, &f->err));
    csn_status status = csni_dwarf_compile_all(dwarf, NULL, &f->err);
    if (status >= 0) status = csni_dwarf_prepare_all(dwarf, NULL, &f->err);
    take(f, COMPILING, round, &time);
    if (status >= 0) status = step_over(dwarf, &f->err);
    take(f, STEPPING, round, &time);
    f->units = dwarf->unit_count;
    csni_dwarf_close(dwarf);
    return status;
}

/* With a mapping of its own, so that each round's pages have to be found again. */
static void run_round(struct floor *f, const char *path, int round) {
    struct csni_file_map map;
    struct csni_object *object;
    if (csni_file_map_open(&map, path, &f->err) < 0) fail(path, &f->err);
    struct csni_object_options options = { .file_is_mapped = true };
    if (csni_object_open(map.bytes, &options, &object, &f->err) < 0 || measure(f, object, round) < 0)
        fail(path, &f->err);
    csni_object_close(object);
    csni_file_map_close(&map);
}

int main(int argc, char **argv) {
    int rounds = argc > 2 ? atoi(argv[2]) : 5;
    if (argc < 2 || argc > 3 || rounds < 1 || rounds > ROUNDS_MAX) {
        fputs("usage: bench_floor OBJECT [ROUNDS]\n", stderr);
        return 2;
    }
    static struct floor f = { .err = CSN_ERROR_INIT };
    for (int round = 0; round < rounds; round++) run_round(&f, argv[1], round);
    printf("%" PRIu64 " bytes, %" PRIu64 " of them inflated, %" PRIu64 " units (checksum %" PRIx64 ")\n", f.bytes,
           f.inflated, f.units, f.checksum);
    for (int phase = 0; phase < PHASES; phase++) {
        qsort(f.ms[phase], (size_t)rounds, sizeof f.ms[phase][0], compare_doubles);
        printf("%s: median %.1f ms, minimum %.1f ms\n", phase_names[phase], f.ms[phase][rounds / 2], f.ms[phase][0]);
    }
    return 0;
}
