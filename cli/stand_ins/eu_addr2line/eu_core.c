/* Images of a core dump and their files. */
#define _GNU_SOURCE
#include "stand_ins/eu_addr2line/eu_core.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "stand_ins/base/growth.h"
#include "stand_ins/core_dump/core_modules.h"

struct eu_core {
    struct core_memory memory;
    struct core_modules modules;
    char *executable; /* NULL: not known */
};

static char *message_of_state(enum core_state state, const char *path) {
    if (state == CORE_UNREADABLE) return formatted_text("cannot open '%s': %s", path, strerror(errno));
    if (state == CORE_NO_ELF) return formatted_text("cannot read ELF core file: not a valid ELF file");
    if (state == CORE_CUT_ELF) return formatted_text("cannot read ELF core file: See elf_errno");
    return formatted_text("%s: invalid data", path);
}

static char *message_of_result(enum core_result result, const char *path) {
    if (result == CORE_BAD_ID) return formatted_text("%s: address out of range", path);
    if (result == CORE_BROKEN) return formatted_text("%s: no error", path);
    return formatted_text("No modules recognized in core file");
}

struct eu_core *eu_core_open(const char *path, const char *executable, char **message) {
    struct eu_core *core = zeroed_memory(1, sizeof *core);
    if (executable) core->executable = copy_text(executable, strlen(executable));
    const enum core_state state = core_memory_open(&core->memory, path);
    const enum core_result result =
        state == CORE_GOOD ? core_modules_find(&core->memory, executable, &core->modules) : CORE_NOTHING_FOUND;
    if (state != CORE_GOOD || result != CORE_FOUND) {
        *message = state != CORE_GOOD ? message_of_state(state, path) : message_of_result(result, path);
        eu_core_close(core);
        return NULL;
    }
    for (size_t i = 0; i < core->modules.count; i++)
        core_memory_add_image(&core->memory, (int)i, core->modules.items[i].low, core->modules.items[i].high);
    return core;
}

void eu_core_close(struct eu_core *core) {
    core_modules_free(&core->modules);
    core_memory_close(&core->memory);
    free(core->executable);
    free(core);
}

size_t eu_core_count(const struct eu_core *core) { return core->modules.count; }

void eu_core_bounds(const struct eu_core *core, size_t i, uint64_t *low, uint64_t *high) {
    *low = core->modules.items[i].low;
    *high = core->modules.items[i].high;
}

/* The end of an image belongs to it, if no other begins there. */
size_t eu_core_find(const struct eu_core *core, uint64_t addr) {
    bool ends_here;
    const int found = core_memory_image(&core->memory, addr, &ends_here);
    if (found < 0 || (ends_here && core->modules.items[found].high != addr)) return core->modules.count;
    return (size_t)found;
}

/* ---- files ---- */

/* "DIR/.build-id/XX/YYYY" */
static char *path_by_id(const char *dir, size_t dir_size, const struct core_module *module) {
    char digits[2 * sizeof module->id + 1];
    for (size_t i = 0; i < module->id_size; i++) snprintf(digits + 2 * i, 3, "%02x", module->id[i]);
    return formatted_text("%.*s/.build-id/%.2s/%s", (int)dir_size, dir, digits, digits + 2);
}

/* In the folders of debug files, of which absolute ones count; '+' and '-' before one are for checksums. NULL: none,
 * or the first that is there has another build id. */
static char *find_by_id(const struct core_module *module, const char *debuginfo_path) {
    const char *rest = debuginfo_path ? debuginfo_path : ":.debug:/usr/lib/debug";
    for (size_t size; module->id_size && rest; rest = rest[size] ? rest + size + 1 : NULL) {
        struct core_file file;
        size = strcspn(rest, ":");
        const size_t sign = *rest == '+' || *rest == '-';
        if (rest[sign] != '/') continue;
        char *path = path_by_id(rest + sign, size - sign, module);
        if (access(path, R_OK) == 0) {
            const bool is_it = core_file_read(path, &file) && file.id_size == module->id_size &&
                               memcmp(file.id, module->id, file.id_size) == 0;
            if (is_it) return path;
            rest = "";
            size = 0;
        }
        free(path);
    }
    return NULL;
}

static struct libdw_module *open_bytes(const struct core_module *module, const char *debuginfo_path) {
    char path[64];
    const char *message;
    struct libdw_module *opened = NULL;
    FILE *file = tmpfile();
    if (!file) return NULL;
    snprintf(path, sizeof path, "/dev/fd/%d", fileno(file));
    if (fwrite(module->bytes, 1, module->byte_count, file) == module->byte_count && fflush(file) == 0)
        opened = libdw_module_open(path, debuginfo_path, &message);
    fclose(file);
    return opened;
}

static struct libdw_module *open_found(const struct eu_core *core, const struct core_module *module, const char *debuginfo_path) {
    const char *message;
    if (module->is_executable && core->executable && access(core->executable, R_OK) == 0)
        return libdw_module_open(core->executable, debuginfo_path, &message);
    char *path = find_by_id(module, debuginfo_path);
    struct libdw_module *opened = path ? libdw_module_open(path, debuginfo_path, &message) : NULL;
    free(path);
    return opened;
}

struct libdw_module *eu_core_module(const struct eu_core *core, size_t i, const char *debuginfo_path, uint64_t *bias) {
    const char *message;
    struct libdw_module *opened;
    const struct core_module *module = &core->modules.items[i];
    switch (module->origin) {
    case CORE_FROM_LINK_MAP: opened = libdw_module_open(module->path, debuginfo_path, &message); break;
    case CORE_FROM_NOTE: opened = libdw_module_open_unnamed(module->path, debuginfo_path, &message); break;
    case CORE_FROM_MEMORY: opened = open_bytes(module, debuginfo_path); break;
    default: opened = open_found(core, module, debuginfo_path);
    }
    if (!opened) return NULL;
    *bias = module->origin == CORE_BY_ID ? module->low - opened->low : module->bias;
    opened->is_of_no_kind = module->origin == CORE_FROM_NOTE || module->origin == CORE_FROM_MEMORY;
    return opened;
}
