/* From an object file to its GSYM file, with what llvm-gsymutil prints on the way. */
#define _GNU_SOURCE
#include "stand_ins/gsymutil/gsym_convert.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <callsign/convert.h>

#include "stand_ins/base/answer_output.h"
#include "stand_ins/base/growth.h"
#include "stand_ins/base/spooled_input.h"
#include "stand_ins/gsymutil/gsym_call_site_file.h"
#include "stand_ins/gsymutil/gsym_dwarf.h"
#include "stand_ins/gsymutil/gsym_encode.h"
#include "stand_ins/llvm/llvm_arch.h"
#include "stand_ins/llvm/llvm_number.h"

/* ---- one image ---- */

static bool is_code(const struct llvm_module *m, const struct csn_debug_section *s) {
    enum { S_ATTR_PURE_INSTRUCTIONS = (int)0x80000000, IMAGE_SCN_CNT_CODE = 0x20 };
    switch (m->object.container) {
    case CSN_CONTAINER_MACHO: return s->type & (uint32_t)S_ATTR_PURE_INSTRUCTIONS;
    case CSN_CONTAINER_PE: return s->type & IMAGE_SCN_CNT_CODE;
    default: return s->flags & CSN_SECTION_EXEC;
    }
}

static void take_code(struct gsym_build *build, const struct llvm_module *m) {
    if (m->object.container == CSN_CONTAINER_WASM) {
        gsym_build_add_text(build, m->wasm.code_start, m->wasm.code_end);
        return;
    }
    for (uint32_t i = 0; i < m->object.section_count; i++) {
        struct csn_debug_section s;
        if (csn_debug_info_section(m->info, i, &s, NULL) != CSN_OK || !s.size || !is_code(m, &s)) continue;
        const uint64_t addr = llvm_is_unlinked(m) ? 0 : s.addr;
        gsym_build_add_text(build, addr, addr + s.size);
    }
}

/* LLVM goes by the section's name, which kernels have not (".notes"), and reads it in the byte order that it takes for the machine's. */
static void take_uuid(struct gsym_build *build, const struct llvm_module *m) {
    const uint32_t container = m->object.container;
    const bool is_there = container == CSN_CONTAINER_MACHO ||
                          (container == CSN_CONTAINER_ELF && build->big_endian == m->object.big_endian &&
                           llvm_has_section(m, ".note.gnu.build-id"));
    build->uuid_size = is_there && m->object.build_id_size <= sizeof build->uuid ? m->object.build_id_size : 0;
    if (build->uuid_size) memcpy(build->uuid, m->object.build_id, build->uuid_size);
}

static void take_identity(struct gsym_build *build, const struct llvm_module *m) {
    const uint32_t container = m->object.container;
    /* LLVM asks the name of the machine, and takes one that it does not know for big-endian. */
    build->big_endian = m->object.big_endian || strcmp(llvm_arch_name(m), "unknown") == 0;
    build->has_base = (container == CSN_CONTAINER_ELF || container == CSN_CONTAINER_MACHO) &&
                      m->object.has_image_base && m->object.segment_count;
    build->base = m->object.image_base;
    take_uuid(build, m);
}

static int fail_conversion(char *why) {
    flush_answers();
    fprintf(stderr, "DWARF conversion failed: : %s\n", why);
    free(why);
    return 1;
}

/* Symbols and build id may be those of another file, of LLVM 23's --symtab-file. */
static struct llvm_module *open_symbol_file(const struct gsym_conversion *c, const struct llvm_module *image, char **why) {
    const struct llvm_module_options options = { .only_split = true };
    const char *message;
    printf("Using symbol table file: %s\n", c->symbol_file);
    struct llvm_module *m = llvm_module_open(c->symbol_file, c->symbol_file, &options, &message);
    int length = 0;
    if (!m && strcmp(message, strerror(ENOENT)) == 0)
        length = asprintf(why, "failed to open symbol table file '%s'", c->symbol_file);
    else if (!m) length = asprintf(why, "symbol table file '%s' is not a valid object file", c->symbol_file);
    else if (m->object.container != image->object.container || m->object.machine != image->object.machine)
        length = asprintf(why, "architecture mismatch: input file is %s but symbol table file '%s' is %s",
                          llvm_arch_name(image), c->symbol_file, llvm_arch_name(m));
    if (length < 0) *why = copy_text("out of memory", 13);
    return m;
}

static int convert_module(const struct gsym_conversion *c, struct llvm_module *m, const char *out, struct gsym_report *report) {
    struct gsym_build build;
    struct llvm_module *symbols = m;
    char *why = NULL;
    gsym_build_init(&build, report, c->quiet);
    take_code(&build, m);
    take_identity(&build, m);
    if (c->symbol_file && (symbols = open_symbol_file(c, m, &why)) && !why) take_uuid(&build, symbols);
    if (!why) {
        gsym_read_dwarf(&build, m, c->call_sites);
        if (c->merged) gsym_build_merge(&build);
        gsym_read_symbols(&build, symbols);
        if (c->call_site_yaml) why = gsym_add_call_sites(&build, c->call_site_yaml);
    }
    if (!why) {
        gsym_build_finish(&build);
        flush_answers();
        why = gsym_save(&build, out, c->segment_size);
    }
    if (!why && c->verify) {
        const char *message = gsym_verify(m, out);
        if (message) why = copy_text(message, strlen(message));
    }
    gsym_build_deinit(&build);
    return why ? fail_conversion(why) : 0;
}

static int convert_image(const struct gsym_conversion *c, const char *path, const char *arch, const char *out,
                         struct gsym_report *report) {
    const struct llvm_module_options options = { .arch = arch, .only_split = true };
    const char *message;
    struct llvm_module *m = llvm_module_open(path, input_path(path), &options, &message);
    if (!m) {
        flush_answers();
        fprintf(stderr, "%s: %s\n", path, message);
        return 1;
    }
    printf("Output file (%s): %s\n", arch ? arch : llvm_arch_name(m), out);
    return convert_module(c, m, out, report);
}

/* ---- files ---- */

enum { MAX_IMAGES = 32 };

static bool is_wanted(const struct gsym_conversion *c, const char *arch) {
    uint64_t number;
    for (size_t i = 0; i < c->arch_count; i++)
        if (strcmp(c->archs[i], arch) == 0 ||
            (llvm_read_number(c->archs[i], strlen(c->archs[i]), false, &number) && number == macho_cpu_type(arch)))
            return true;
    return !c->arch_count;
}

static int convert_universal(const struct gsym_conversion *c, const char *path, const char *out,
                             const struct csn_image_info *images, size_t count, struct gsym_report *report) {
    size_t wanted = 0;
    int code = 0;
    for (size_t i = 0; i < count; i++) wanted += is_wanted(c, images[i].arch);
    if (!wanted) {
        flush_answers();
        fprintf(stderr, "%s: no matching architectures found\n", path);
        return 1;
    }
    for (size_t i = 0; i < count && !code; i++) {
        char *name = NULL;
        if (!is_wanted(c, images[i].arch)) continue;
        if (wanted == 1 || asprintf(&name, "%s.%s", out, images[i].arch) < 0) name = copy_text(out, strlen(out));
        code = convert_image(c, path, images[i].arch, name, report);
        free(name);
    }
    return code;
}

enum file_kind { FILE_OBJECT, FILE_ARCHIVE, FILE_UNIVERSAL };

/* By its first bytes; FILE_OBJECT: anything else, too. */
static enum file_kind kind_of(const char *path) {
    static const struct { const char *magic; size_t size; enum file_kind kind; } known[] = {
        { "!<arch>\n", 8, FILE_ARCHIVE }, { "!<thin>\n", 8, FILE_ARCHIVE },
        { "\xca\xfe\xba\xbe", 4, FILE_UNIVERSAL }, { "\xca\xfe\xba\xbf", 4, FILE_UNIVERSAL }
    };
    char bytes[8] = { 0 };
    struct stat st;
    FILE *file = stat(path, &st) == 0 && S_ISREG(st.st_mode) ? fopen(path, "rb") : NULL;
    const size_t got = file ? fread(bytes, 1, sizeof bytes, file) : 0;
    if (file) fclose(file);
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (got >= known[i].size && memcmp(bytes, known[i].magic, known[i].size) == 0) return known[i].kind;
    return FILE_OBJECT;
}

static int convert_file(const struct gsym_conversion *c, const char *path, const char *out, struct gsym_report *report) {
    struct csn_image_info images[MAX_IMAGES];
    size_t count = 0;
    const enum file_kind kind = kind_of(input_path(path));
    if (kind == FILE_ARCHIVE) return 0; /* as LLVM: nothing */
    if (kind == FILE_UNIVERSAL && csn_image_list_file(input_path(path), images, MAX_IMAGES, &count, NULL) == CSN_OK && count)
        return convert_universal(c, path, out, images, count < MAX_IMAGES ? count : MAX_IMAGES, report);
    return convert_image(c, path, NULL, out, report);
}

/* ---- bundles ---- */

static bool ends_with(const char *text, const char *end) {
    const size_t size = strlen(text), end_size = strlen(end);
    return size >= end_size && strcmp(text + size - end_size, end) == 0;
}

/* -1: it is no bundle with files of DWARF. */
static int convert_bundle(const struct gsym_conversion *c, const char *out, struct gsym_report *report) {
    char *folder = NULL;
    int code = -1;
    size_t size = strlen(c->input);
    while (size && c->input[size - 1] == '/') size--;
    char *trimmed = copy_text(c->input, size);
    if (ends_with(trimmed, ".dSYM") && asprintf(&folder, "%s/Contents/Resources/DWARF", trimmed) >= 0) {
        struct dirent **entries = NULL;
        const int count = scandir(folder, &entries, NULL, alphasort);
        for (int i = 0; i < count; i++) {
            char *path = NULL;
            if (entries[i]->d_name[0] != '.' && code < 1 && asprintf(&path, "%s/%s", folder, entries[i]->d_name) >= 0)
                code = convert_file(c, path, out, report);
            free(path);
            free(entries[i]);
        }
        free(entries);
    }
    free(folder);
    free(trimmed);
    return code;
}

int gsym_convert(const struct gsym_conversion *c) {
    struct gsym_report report = { 0 };
    char *out = NULL;
    printf("Input file: %s\n", c->input);
    flush_answers();
    if (c->out) out = copy_text(c->out, strlen(c->out));
    else if (asprintf(&out, "%s.gsym", c->input) < 0) out = copy_text("", 0);
    int code = convert_bundle(c, out, &report);
    if (code < 0) code = convert_file(c, c->input, out, &report);
    if (!code) {
        gsym_report_put_counts(&report);
        if (c->json_summary && c->json_summary[0]) code = !gsym_report_write_json(&report, c->json_summary);
    }
    free(out);
    return code;
}
