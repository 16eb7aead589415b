/* Mapped files, and the vdso. */
#define _GNU_SOURCE
#include "stand_ins/eu_addr2line/eu_images.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "stand_ins/base/growth.h"

enum { MAX_LINE = 4096 + 128, MAX_VDSO = 1 << 20 };

#define BLANKS " \t\v\f\r"

struct mapping {
    uint64_t start, end, inode;
    uint32_t major, minor;
    char path[MAX_LINE]; /* empty: no file */
    bool is_vdso;
};

/* As of scanf(), blanks and a sign before it included; one that is too large is the largest. */
static bool take_number(const char **at, int base, uint64_t *out) {
    const char *begin = *at;
    char *end;
    *out = strtoull(begin, &end, base);
    *at = end;
    return end != begin;
}

static bool take_word(const char **at) {
    *at += strspn(*at, BLANKS);
    const size_t size = strcspn(*at, BLANKS);
    *at += size;
    return size;
}

/* "START-END PERMISSIONS OFFSET MAJOR:MINOR INODE PATH". */
static bool read_mapping(char *line, struct mapping *out) {
    const char *at = line;
    uint64_t offset, major, minor;
    line[strcspn(line, "\n")] = 0;
    if (!take_number(&at, 16, &out->start) || *at++ != '-' || !take_number(&at, 16, &out->end)) return false;
    if (!take_word(&at) || !take_number(&at, 16, &offset)) return false;
    if (!take_number(&at, 16, &major) || *at++ != ':' || !take_number(&at, 16, &minor) ||
        !take_number(&at, 10, &out->inode))
        return false;
    out->major = (uint32_t)major;
    out->minor = (uint32_t)minor;
    at += strspn(at, BLANKS);
    out->is_vdso = strcmp(at, "[vdso]") == 0;
    strcpy(out->path, *at == '/' && (out->inode || out->major || out->minor) ? at : "");
    return true;
}

static bool is_same_file(const struct mapping *a, const struct mapping *b) {
    return a->inode == b->inode && a->major == b->major && a->minor == b->minor && strcmp(a->path, b->path) == 0;
}

/* Mappings of one file that follow each other are one image. */
bool eu_images_read(struct eu_images *out, FILE *maps, long pid) {
    char line[MAX_LINE];
    static struct mapping m, last;
    *out = (struct eu_images){ .pid = pid };
    last = (struct mapping){ 0 };
    while (fgets(line, sizeof line, maps)) {
        if (!read_mapping(line, &m)) return false;
        const bool is_vdso = m.is_vdso && pid;
        if (!m.path[0] && !is_vdso) continue;
        const struct eu_image made = { .low = m.start, .high = m.end, .path = is_vdso ? NULL : copy_text(m.path, strlen(m.path)) };
        if (is_vdso || !out->count || !is_same_file(&m, &last)) GROW_PUSH(out, made);
        else free(made.path);
        out->items[out->count - 1].high = m.end;
        last = m;
    }
    return true;
}

void eu_images_of_core(struct eu_images *out, struct eu_core *core) {
    *out = (struct eu_images){ .core = core };
    for (size_t i = 0; i < eu_core_count(core); i++) {
        struct eu_image made = { 0 };
        eu_core_bounds(core, i, &made.low, &made.high);
        GROW_PUSH(out, made);
    }
}

void eu_images_free(struct eu_images *images) {
    for (size_t i = 0; i < images->count; i++) {
        if (images->items[i].module) libdw_module_close(images->items[i].module);
        free(images->items[i].path);
    }
    free(images->items);
    if (images->core) eu_core_close(images->core);
    *images = (struct eu_images){ 0 };
}

/* ---- the vdso ---- */

/* NULL: it cannot be read. */
static FILE *copy_memory(long pid, uint64_t low, size_t size) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%ld/mem", pid);
    const int memory = open(path, O_RDONLY | O_CLOEXEC);
    char *bytes = zeroed_memory(1, size);
    FILE *file = NULL;
    if (memory >= 0 && pread(memory, bytes, size, (off_t)low) == (ssize_t)size) file = tmpfile();
    if (memory >= 0) close(memory);
    if (file && (fwrite(bytes, 1, size, file) != size || fflush(file) != 0)) {
        fclose(file);
        file = NULL;
    }
    free(bytes);
    return file;
}

static struct libdw_module *open_vdso(const struct eu_images *images, const struct eu_image *image) {
    char path[64];
    const char *message;
    FILE *file = image->high - image->low <= MAX_VDSO
                     ? copy_memory(images->pid, image->low, (size_t)(image->high - image->low))
                     : NULL;
    if (!file) return NULL;
    snprintf(path, sizeof path, "/dev/fd/%d", fileno(file));
    struct libdw_module *module = libdw_module_open(path, images->debuginfo_path, &message);
    fclose(file);
    return module;
}

/* ---- lookup ---- */

bool eu_image_open(const struct eu_images *images, struct eu_image *image) {
    const char *message;
    if (!image->was_tried) {
        image->was_tried = true;
        if (images->core) {
            image->module = eu_core_module(images->core, (size_t)(image - images->items), images->debuginfo_path, &image->bias);
        } else {
            image->module = image->path ? libdw_module_open(image->path, images->debuginfo_path, &message)
                                        : open_vdso(images, image);
            if (image->module)
                image->bias = image->module->object.kind == CSN_OBJECT_EXECUTABLE ? 0 : image->low - image->module->low;
        }
        if (image->module) image->module->has_moved = image->bias;
    }
    return image->module;
}

/* The end of an image belongs to it, if no other begins there. NULL: there is none. */
static struct eu_image *find_image(struct eu_images *images, uint64_t addr) {
    struct eu_image *before = NULL;
    if (images->core) {
        const size_t found = eu_core_find(images->core, addr);
        return found < images->count ? &images->items[found] : NULL;
    }
    for (size_t i = 0; i < images->count; i++) {
        struct eu_image *image = &images->items[i];
        const bool is_last = images->pid && i + 1 == images->count;
        if (addr >= image->low && (addr < image->high || is_last)) return image;
        if (addr == image->high) before = image;
    }
    return before;
}

struct eu_image *eu_images_find(struct eu_images *images, uint64_t addr) {
    struct eu_image *image = find_image(images, addr);
    return image && eu_image_open(images, image) ? image : NULL;
}
