/* GSYM has no columns, no lines of declarations, no variables. LLVM 22 leaves out the answer for --no-inlines and for names of
 * symbols; here they have one, as from DWARF. */
#define _GNU_SOURCE
#include "stand_ins/llvm_symbolizer/llvm_gsym.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "stand_ins/base/growth.h"
#include "stand_ins/gsymutil/gsym_lookup.h"

static bool is_file(const char *path) {
    struct stat st;
    return stat(path, &st) == 0 && !S_ISDIR(st.st_mode);
}

/* "DIR/NAME.gsym", or "NAME.gsym" without a directory; NULL: there is no such file. */
static char *try_path(const char *dir, const char *name) {
    char *path = formatted_text("%s%s%s.gsym", dir, *dir ? "/" : "", name);
    if (is_file(path)) return path;
    free(path);
    return NULL;
}

char *llvm_gsym_path(const char *object, const struct llvm_options *o) {
    const char *slash = strrchr(object, '/'), *base = slash ? slash + 1 : object;
    if (o->no_gsym) return NULL;
    char *found = try_path("", object);
    for (size_t i = 0; i < o->gsym_dirs.count && !found; i++) found = try_path(o->gsym_dirs.items[i], base);
    return found;
}

struct csn_index *llvm_gsym_open(const char *path) {
    struct csn_index_options options = CSN_INDEX_OPTIONS_INIT;
    struct csn_index *index;
    struct csn_index_info info;
    options.allocator = &ending_allocator;
    if (csn_index_open_file(path, &options, &index, NULL) != CSN_OK) return NULL;
    csn_index_get_info(index, &info, sizeof info);
    if (info.format == CSN_FORMAT_GSYM_V1) return index;
    csn_index_close(index);
    return NULL;
}

/* NULL: unknown. Of a base name alone LLVM makes an empty text where it has no file. */
static char *file_text(const struct gsym_place *place, enum llvm_path_kind paths) {
    const struct csn_str dir = place->directory, base = place->base;
    if (paths == LLVM_PATH_BASE) return copy_text(base.ptr, base.len);
    if (!dir.len) return base.len ? copy_text(base.ptr, base.len) : NULL;
    const bool has_end = dir.ptr[dir.len - 1] == '/';
    return formatted_text("%.*s%s%.*s", (int)dir.len, dir.ptr, has_end || !base.len ? "" : "/", (int)base.len, base.ptr);
}

struct llvm_frames llvm_gsym_find(const struct csn_index *gsym, const struct llvm_request *request, uint64_t addr, bool one) {
    struct llvm_frames out = { 0 };
    struct gsym_frames *found = zeroed_memory(1, sizeof *found);
    if (gsym_find_frames(gsym, addr, found) != NULL) found->count = 0;
    const size_t last = found->count ? found->count - 1 : 0;
    for (size_t i = 0; i < (one && found->count ? 1 : found->count); i++) {
        const struct gsym_frame *named = &found->items[one ? last : i];
        struct llvm_frame f = { .file = file_text(&found->items[i].place, request->paths), .line = found->items[i].place.line,
                                .start_address = addr - found->items[last].offset, .has_start_address = true };
        char *name = copy_text(named->name.ptr, named->name.len);
        if (request->names != LLVM_NAME_NONE)
            f.function = request->demangle ? llvm_demangle_name(name, request->is_win32) : copy_text(name, named->name.len);
        free(name);
        GROW_PUSH(&out, f);
    }
    if (!out.count) {
        const struct llvm_frame none = { 0 };
        GROW_PUSH(&out, none);
    }
    free(found);
    return out;
}
