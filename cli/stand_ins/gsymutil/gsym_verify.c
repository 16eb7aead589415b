/* --verify: every address of the file, against DWARF. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stand_ins/base/growth.h"
#include "stand_ins/gsymutil/gsym_dwarf.h"
#include "stand_ins/gsymutil/gsym_lookup.h"
#include "stand_ins/llvm/llvm_answer.h"

static const char *text_or(const char *text, const char *other) { return text ? text : other; }

static void put_frame_lists(const struct llvm_frames *theirs, const struct gsym_frames *ours, uint64_t addr) {
    printf("error: address 0x%016" PRIx64 " has %zu DWARF inline frames and GSYM has %zu\n", addr, theirs->count, ours->count);
    printf("    %zu DWARF frames:\n", theirs->count);
    for (size_t i = 0; i < theirs->count; i++)
        printf("    [%zu]: %s @ %s:%" PRIu32 "\n", i, text_or(theirs->items[i].function, LLVM_INVALID),
               text_or(theirs->items[i].file, LLVM_INVALID), theirs->items[i].line);
    printf("    %zu GSYM frames:\n", ours->count);
    for (size_t i = 0; i < ours->count; i++) {
        const struct gsym_frame *f = &ours->items[i];
        printf("    [%zu]: ", i);
        gsym_put_str(f->name);
        fputs(" @ ", stdout);
        gsym_put_str(f->place.directory);
        fputc('/', stdout);
        gsym_put_str(f->place.base);
        printf(":%" PRIu32 "\n", f->place.line);
    }
}

/* LLVM joins the parts of a path so that no separator is doubled. */
static char *join(const struct gsym_place *p) {
    char *path = zeroed_memory(p->directory.len + p->base.len + 2, 1);
    size_t at = p->directory.len;
    if (at) memcpy(path, p->directory.ptr, at);
    const char separator = gsym_path_separator(p);
    if (separator && path[at - 1] != separator) path[at++] = separator;
    if (p->base.len) memcpy(path + at, p->base.ptr, p->base.len);
    return path;
}

static void compare_frame(const struct llvm_frame *theirs, const struct gsym_frame *ours, uint64_t addr) {
    const char *function = text_or(theirs->function, LLVM_INVALID), *file = text_or(theirs->file, LLVM_INVALID);
    char *path = join(&ours->place);
    if (strncmp(function, ours->name.ptr, ours->name.len) != 0) {
        printf("error: address 0x%016" PRIx64 " DWARF function \"%s\" doesn't match GSYM function \"", addr, function);
        gsym_put_str(ours->name);
        fputs("\"\n", stdout);
    }
    if (strcmp(file, path) != 0)
        printf("error: address 0x%016" PRIx64 " DWARF path \"%s\" doesn't match GSYM path \"%s\"\n", addr, file, path);
    if (theirs->line != ours->place.line)
        printf("error: address 0x%016" PRIx64 " DWARF line %" PRIu32 " != GSYM line %" PRIu32 "\n", addr, theirs->line,
               ours->place.line);
    free(path);
}

/* False: the address has no answer, which ends the verification. */
static bool verify_address(struct llvm_module *m, const struct csn_index *index, const struct csn_record *record, uint64_t addr,
                           char *why, size_t why_size) {
    static struct gsym_frames ours;
    const struct llvm_request request = { .names = LLVM_NAME_LINKAGE, .paths = LLVM_PATH_ABSOLUTE };
    const char *problem = gsym_find_frames(index, addr, &ours);
    if (problem) {
        snprintf(why, why_size, "address 0x%" PRIx64 " %s", addr, problem);
        return false;
    }
    const struct llvm_place place = { addr, 0 }; /* as LLVM: without a section */
    struct llvm_frames theirs = llvm_find_dwarf_frames(m, &request, place);
    const bool is_nothing = theirs.count == 1 && (!theirs.items[0].file || strcmp(theirs.items[0].file, LLVM_INVALID) == 0);
    if (theirs.count && !is_nothing) {
        if (theirs.count != ours.count) {
            put_frame_lists(&theirs, &ours, addr);
            gsym_put_record(index, record, 0);
        } else {
            for (size_t i = 0; i < ours.count; i++) compare_frame(&theirs.items[i], &ours.items[i], addr);
        }
    }
    llvm_frames_free(&theirs);
    return true;
}

const char *gsym_verify(struct llvm_module *m, const char *path) {
    static char why[256];
    struct csn_index *index;
    struct csn_index_info info;
    struct csn_error err = CSN_ERROR_INIT;
    printf("Verifying GSYM file \"%s\":\n", path);
    if (csn_index_open_file(path, NULL, &index, &err) != CSN_OK) {
        snprintf(why, sizeof why, "%s", err.os_error ? strerror(err.os_error) : csn_error_text(&err));
        return why;
    }
    csn_index_get_info(index, &info, sizeof info);
    bool good = true;
    for (uint32_t i = 0; i < info.function_count && good; i++) {
        struct csn_record record;
        struct csn_function f;
        uint64_t start;
        /* As LLVM: of functions with one start, the first each time. */
        if (csn_index_function_start(index, i, &start, NULL) != CSN_OK || !gsym_find_record(index, start, &record) ||
            csn_record_function(index, &record, &f, NULL) != CSN_OK)
            continue;
        for (uint64_t addr = f.start; addr < f.start + f.size && good; addr++)
            good = verify_address(m, index, &record, addr, why, sizeof why);
    }
    csn_index_close(index);
    return good ? NULL : why;
}
