/* What is given to convert. */
#include "convert/sources/inputs.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>

#include "base/core/fail.h"
#include "convert/pdb/source_pdb.h"
#include "convert/sources/source.h"
#include "formats/breakpad/breakpad.h"
#include "formats/bsym/read/bsym.h"
#include "formats/gsection/read/gsection.h"
#include "formats/gsym/read/gsym.h"
#include "formats/symbian/symbian.h"
#include "formats/symbols/symbols_text.h"
#include "object/archive.h"
#include "pdb/pdb.h"

/* ---- kinds of files ---- */

static const struct csni_input_kind kinds[] = {
    { "GSYM file of 2017", csni_gsection_recognize_head, csni_source_gsection_file },
    { "program database", csni_pdb_recognize, csni_source_pdb_file }, /* before objects, which begin with almost anything */
    { "object file", csni_object_recognize, csni_source_object },
    { "archive", csni_archive_recognize, csni_source_archive },
    { "Breakpad symbol file", csni_breakpad_recognize, csni_source_breakpad },
    { "GSYM index", csni_gsym_recognize, csni_source_gsym },
    { "BSYM", csni_bsym_recognize, csni_source_bsym },
    { "Symbian symbol file", csni_symbol_file_recognize, csni_source_symbol_file },
    { "ROM build log", csni_rom_log_recognize, csni_source_rom_log },
    { "linker map", csni_linker_map_recognize, csni_source_linker_map },
    { "kernel symbol list", csni_kallsyms_recognize, csni_source_kallsyms },
    { "perf map", csni_perf_map_recognize, csni_source_perf_map },
    { "jitdump", csni_jitdump_recognize, csni_source_jitdump },
};

const struct csni_input_kind *csni_input_kind_of(struct csni_span file) {
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (kinds[i].recognize(file)) return &kinds[i];
    return NULL;
}

/* Kinds that have a name, and a reason why they are not read. */
static const struct {
    const char *magic;
    size_t size;
    const char *text;
} unread_kinds[] = {
    { "\x03\x02\x23\x07", 4, "SPIR-V module: this format is not read" },
    { "\x01\xdf", 2, "XCOFF object of AIX, 32 bits: this format is not read" },
    { "\x01\xf7", 2, "XCOFF object of AIX, 64 bits: this format is not read" },
    { "<bigaf>\n", 8, "archive of AIX: this format is not read" },
    { "<aiaff>\n", 8, "archive of AIX: this format is not read" },
    { "BC\xc0\xde", 4, "LLVM bitcode: it has no machine code; give the object file that is made of it" },
    { "\xde\xc0\x17\x0b", 4, "LLVM bitcode: it has no machine code; give the object file that is made of it" },
    { "\x50\xed\x55\xba", 4, "CUDA fat binary: code of GPUs is not read" },
    { "MDMP", 4,
      "minidump: it has no functions; give the program, and look the report of minidump-stackwalk up with `callsign stack`" },
};

const char *csni_unread_kind_of(struct csni_span file) {
    for (size_t i = 0; i < sizeof unread_kinds / sizeof *unread_kinds; i++)
        if (file.size >= unread_kinds[i].size && memcmp(file.ptr, unread_kinds[i].magic, unread_kinds[i].size) == 0)
            return unread_kinds[i].text;
    return NULL;
}

/* ---- dSYM bundles: folders with one DWARF file inside, named like the image ---- */

/* first + second in one string. */
static char *joined(const struct csn_allocator *alloc, const char *first, const char *second) {
    size_t a = strlen(first), b = strlen(second);
    char *out = csni_alloc(alloc, a + b + 1);
    if (!out) return NULL;
    memcpy(out, first, a);
    memcpy(out + a, second, b + 1);
    return out;
}

static void input_free_path(const struct csn_allocator *alloc, char *path) {
    if (path) csni_free(alloc, path, strlen(path) + 1);
}

/* The only visible file of a folder. */
static csn_status only_entry(const struct csn_allocator *alloc, const char *folder, char **out, struct csn_error *err) {
    DIR *dir = opendir(folder);
    if (!dir) {
        csni_fail(err, CSN_E_UNSUPPORTED, NULL, 0, "is a directory, and no dSYM bundle: there is no %s", folder);
        if (err) err->os_error = EISDIR;
        return CSN_E_UNSUPPORTED;
    }
    char *found = NULL;
    csn_status status = CSN_OK;
    const struct dirent *entry;
    while (status == CSN_OK && (entry = readdir(dir))) {
        if (entry->d_name[0] == '.') continue;
        if (found)
            status = csni_fail(err, CSN_E_ARGUMENT, NULL, 0, "the bundle holds several files, %s and %s; name one", found,
                               entry->d_name);
        else if (!(found = joined(alloc, entry->d_name, "")))
            status = csni_fail_memory(err, strlen(entry->d_name) + 1);
    }
    closedir(dir);
    if (status == CSN_OK && !found) status = csni_fail(err, CSN_E_NOT_FOUND, NULL, 0, "%s is empty", folder);
    if (status == CSN_OK) *out = found;
    else input_free_path(alloc, found);
    return status;
}

/* The path of the DWARF file in the bundle at `path`. */
static csn_status find_in_bundle(const struct csn_allocator *alloc, const char *path, char **out, struct csn_error *err) {
    char *folder = joined(alloc, path, "/Contents/Resources/DWARF/"), *name = NULL;
    csn_status status = folder ? only_entry(alloc, folder, &name, err) : csni_fail_memory(err, strlen(path));
    if (status == CSN_OK) *out = joined(alloc, folder, name);
    if (status == CSN_OK && !*out) status = csni_fail_memory(err, strlen(folder) + strlen(name));
    input_free_path(alloc, folder);
    input_free_path(alloc, name);
    return status;
}

csn_status csni_input_file_open(struct csni_input_file *file, const char *path, const struct csn_allocator *alloc,
                                struct csn_error *err) {
    struct csn_error inner = CSN_ERROR_INIT;
    *file = (struct csni_input_file){ .alloc = alloc };
    csn_status status = csni_file_map_open(&file->map, path, &inner);
    if (status == CSN_OK) {
        file->path = joined(alloc, path, "");
        if (!file->path) status = csni_fail_memory(err, strlen(path) + 1);
    } else if (inner.os_error == EISDIR) {
        status = find_in_bundle(alloc, path, &file->path, err);
        if (status == CSN_OK) status = csni_file_map_open(&file->map, file->path, err);
    } else if (err) {
        *err = inner;
    }
    if (status != CSN_OK) csni_input_file_close(file);
    return status;
}

void csni_input_file_close(struct csni_input_file *file) {
    csni_file_map_close(&file->map);
    input_free_path(file->alloc, file->path);
    file->path = NULL;
}
