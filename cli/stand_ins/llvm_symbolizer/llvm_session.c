/* Opening modules once. */
#define _GNU_SOURCE
#include "stand_ins/llvm_symbolizer/llvm_session.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "stand_ins/base/growth.h"
#include "stand_ins/base/spooled_input.h"

void llvm_session_init(struct llvm_session *s, const struct llvm_options *o) {
    *s = (struct llvm_session){ .options = o };
    s->printer = (struct llvm_printer){ .style = o->style, .print_address = o->addresses,
                                        .print_functions = o->names != LLVM_NAME_NONE,
                                        .pretty = o->pretty, .verbose = o->verbose, .context_lines = o->context_lines,
                                        .program = o->program };
    s->request =
        (struct llvm_request){ .names = o->names, .paths = o->paths, .demangle = o->demangle, .skip_line_zero = o->skip_line_zero };
}

/* What may follow a module's name: an architecture, as a target triple begins with one. */
static bool is_arch(const char *text) {
    static const char *const known[] = {
        "i386", "i486", "i586", "i686", "i786", "i886", "i986", "x86_64", "x86_64h", "amd64", "arm", "armeb",
        "xscale", "xscaleeb", "thumb", "thumbeb", "arm64", "arm64e", "arm64ec", "arm64_32", "aarch64", "aarch64_be",
        "aarch64_32", "powerpc", "powerpcspe", "powerpcle", "ppc", "ppc32", "ppcle", "ppc32le", "powerpc64",
        "powerpc64le", "ppu", "ppc64", "ppc64le", "mips", "mipseb", "mipsel", "mipsr6", "mipsr6el", "mipsn32",
        "mipsn32el", "mips64", "mips64eb", "mips64el", "mips64r6", "mips64r6el", "riscv32", "riscv64", "riscv32be",
        "riscv64be", "s390x", "systemz", "sparc", "sparcel", "sparcv9", "sparc64", "wasm32", "wasm64", "loongarch32",
        "loongarch64", "hexagon", "avr", "msp430", "m68k", "xtensa", "csky", "lanai", "ve", "arc", "bpf", "bpfel",
        "bpfeb", "bpf_le", "bpf_be", "amdgcn", "r600", "nvptx", "nvptx64", "spir", "spir64", "spirv", "spirv32",
        "spirv64", "dxil", "tce", "tcele", "xcore", "shave", "amdil", "amdil64", "hsail", "hsail64", "kalimba",
    };
    const size_t size = strcspn(text, "-");
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strlen(known[i]) == size && memcmp(text, known[i], size) == 0) return true;
    return (strncmp(text, "armv", 4) == 0 || strncmp(text, "thumbv", 6) == 0) && strpbrk(text, "456789");
}

/* That of the debug file, where the object has one. */
static void open_gsym(const struct llvm_session *s, struct llvm_open_module *found) {
    const char *debug_path = found->module->object.debug_path;
    char *path = llvm_gsym_path(debug_path ? debug_path : found->path, s->options);
    if (path) found->gsym = llvm_gsym_open(path);
    free(path);
}

struct llvm_module *llvm_session_open(struct llvm_session *s, struct llvm_open_module *found, const char **message) {
    const struct llvm_options *o = s->options;
    *message = NULL;
    if (found->is_opened) return found->module;
    const struct llvm_module_options options = { .arch = found->arch ? found->arch : o->arch, .dwp = o->dwp,
                                                 .debug_dirs = o->debug_dirs.items,
                                                 .debug_dir_count = o->debug_dirs.count,
                                                 .fallback_dir = o->fallback_debug_path, .untag = o->untag,
                                                 .dsym_hints = o->dsym_hints.items, .dsym_hint_count = o->dsym_hints.count };
    found->module = llvm_module_open(found->name, found->path, &options, message);
    found->is_opened = true;
    if (found->module && !llvm_index_exists(found->index)) open_gsym(s, found);
    return found->module;
}

static struct llvm_open_module *add_module(struct llvm_session *s, const char *name) {
    struct llvm_open_module *made = zeroed_memory(1, sizeof *made);
    const char *colon = strrchr(name, ':');
    const bool has_arch = colon && is_arch(colon + 1);
    made->name = copy_text(name, strlen(name));
    made->path = strcmp(name, "-") == 0 ? copy_text(spooled_input_path(), strlen(spooled_input_path()))
                                        : copy_text(name, has_arch ? (size_t)(colon - name) : strlen(name));
    if (has_arch) made->arch = copy_text(colon + 1, strlen(colon + 1));
    char *gsym = llvm_gsym_path(made->path, s->options);
    if (!gsym) made->index = llvm_index_open(made->path, s->options);
    free(gsym);
    GROW_PUSH(&s->modules, made);
    return made;
}

struct llvm_open_module *llvm_session_find(struct llvm_session *s, const char *name, const char **message) {
    struct llvm_open_module *found = NULL;
    *message = NULL;
    for (size_t i = 0; i < s->modules.count && !found; i++)
        if (strcmp(s->modules.items[i]->name, name) == 0) found = s->modules.items[i];
    if (!found) found = add_module(s, name);
    return llvm_index_exists(found->index) || llvm_session_open(s, found, message) ? found : NULL;
}

struct llvm_module *llvm_session_module(struct llvm_session *s, const char *name, const char **message) {
    struct llvm_open_module *found = llvm_session_find(s, name, message);
    return found ? llvm_session_open(s, found, message) : NULL;
}

char *llvm_build_id_text(const char *id) {
    char *text = formatted_text("%s%s", strlen(id) % 2 ? "0" : "", id); /* whole bytes */
    for (char *p = text; *p; p++) *p = (char)toupper((unsigned char)*p);
    return text;
}

struct llvm_open_module *llvm_session_find_build_id(struct llvm_session *s, const char *id, const char **message) {
    static const char *const usual[] = { "/usr/lib/debug" };
    const char *const *dirs = s->options->debug_dirs.count ? s->options->debug_dirs.items : usual;
    size_t count = s->options->debug_dirs.count ? s->options->debug_dirs.count : 1;
    struct llvm_open_module *m = NULL;
    *message = "could not find build ID";
    for (size_t i = 0; i < count; i++) {
        char *lower = copy_text(id, strlen(id));
        for (char *p = lower; *p; p++) *p = (char)tolower((unsigned char)*p);
        char *path = formatted_text("%s/.build-id/%.2s/%s.debug", dirs[i], lower, lower + 2);
        const bool is_there = access(path, R_OK) == 0;
        if (is_there) m = llvm_session_find(s, path, message);
        free(path);
        free(lower);
        if (is_there) break;
    }
    return m;
}

struct llvm_module *llvm_session_build_id(struct llvm_session *s, const char *id, const char **message) {
    struct llvm_open_module *found = llvm_session_find_build_id(s, id, message);
    return found ? llvm_session_open(s, found, message) : NULL;
}
