/* Where elfutils looks for kernels. */
#include "stand_ins/eu_addr2line/eu_kernel.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "stand_ins/base/growth.h"

static bool is_there(const char *root, const char *path) {
    static const char *const ends[] = { "", ".debug", ".gz", ".bz2", ".xz" };
    bool is_found = false;
    for (size_t i = 0; i < sizeof ends / sizeof ends[0] && !is_found; i++) {
        char *whole = formatted_text("%s%s%s", root, path, ends[i]);
        is_found = access(whole, F_OK) == 0;
        free(whole);
    }
    return is_found;
}

/* A release may be a folder. */
static bool has_files(const char *release) {
    static const char *const of_release[] = { "/boot/vmlinux-%s", "/boot/vmlinuz-%s", "/lib/modules/%s/vmlinux",
                                              "/lib/modules/%s/vmlinuz", "/lib/modules/%s/debug.a" };
    static const char *const names[] = { "vmlinux", "vmlinuz", "debug.a" };
    const bool is_folder = release[0] == '/';
    const size_t count = is_folder ? sizeof names / sizeof names[0] : sizeof of_release / sizeof of_release[0];
    bool is_found = false;
    for (size_t i = 0; i < count && !is_found; i++) {
        const char *mark = is_folder ? NULL : strstr(of_release[i], "%s");
        char *path = is_folder ? formatted_text("%s/%s", release, names[i])
                               : formatted_text("%.*s%s%s", (int)(mark - of_release[i]), of_release[i], release, mark + 2);
        is_found = is_there("", path) || is_there("/usr/lib/debug", path);
        free(path);
    }
    return is_found;
}

static bool has_running_files(void) {
    struct utsname system;
    return uname(&system) == 0 && has_files(system.release);
}

void eu_kernel_refuse(const char *release, const char *program) {
    if (release ? has_files(release) : has_running_files()) fprintf(stderr, "%s: kernels are not read here\n", program);
    else fprintf(stderr, "%s: cannot find kernel or modules: %s\n", program, strerror(ENOENT));
}

/* The first address of code, up to where addresses no longer ascend: those of modules. An errno; 0: they are known. */
static int find_bounds(uint64_t *low, uint64_t *high) {
    enum { PAGE = 4096, LINE = 1024 };
    char line[LINE], *end;
    FILE *symbols = fopen("/proc/kallsyms", "r");
    if (!symbols) return errno;
    *low = *high = 0;
    bool has_low = false;
    while (fgets(line, sizeof line, symbols)) {
        const uint64_t addr = strtoull(line, &end, 16);
        if (end == line || end[0] != ' ' || !end[1]) break;
        if (!has_low && !strchr("TtRr", end[1])) continue;
        if (has_low && addr < *high) break;
        if (!has_low) *low = addr;
        *high = addr;
        has_low = true;
    }
    fclose(symbols);
    *low &= ~(uint64_t)(PAGE - 1);
    *high = (*high + PAGE - 1) & ~(uint64_t)(PAGE - 1);
    return *low < *high ? 0 : ENOEXEC;
}

bool eu_kernel_open(struct eu_images *out, const char *program) {
    struct eu_image kernel = { .was_tried = true };
    if (has_running_files() || access("/proc/modules", F_OK) == 0) {
        fprintf(stderr, "%s: kernels are not read here\n", program);
        return false;
    }
    const int reason = find_bounds(&kernel.low, &kernel.high);
    fprintf(stderr, "%s: %s: %s\n", program, reason ? "cannot load kernel symbols" : "cannot find kernel modules",
            strerror(reason ? reason : ENOENT));
    if (reason) return false;
    *out = (struct eu_images){ 0 };
    GROW_PUSH(out, kernel);
    return true;
}
