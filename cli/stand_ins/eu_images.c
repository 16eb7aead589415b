/* Mapped files. */
#include "stand_ins/eu_images.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "stand_ins/growth.h"

enum { MAX_LINE = 4096 + 128 };

struct mapping {
    uint64_t start, end, inode;
    unsigned major, minor;
    char path[MAX_LINE];     /* empty: no file */
};

/* "START-END PERMISSIONS OFFSET MAJOR:MINOR INODE PATH". */
static bool read_mapping(char *line, struct mapping *out) {
    int size = 0;
    line[strcspn(line, "\n")] = 0;
    if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %*x %x:%x %" SCNu64 " %n", &out->start, &out->end, &out->major, &out->minor, &out->inode, &size) < 5 || !size)
        return false;
    strcpy(out->path, line[size] == '/' && (out->inode || out->major || out->minor) ? line + size : "");
    return true;
}

/* Mappings of one file that follow each other are one image. */
bool eu_images_read(struct eu_images *out, FILE *maps, bool is_process) {
    char line[MAX_LINE];
    static struct mapping m, last;
    *out = (struct eu_images){ .is_process = is_process };
    last.path[0] = 0;
    while (fgets(line, sizeof line, maps)) {
        if (!read_mapping(line, &m)) return false;
        if (!m.path[0]) continue;
        const bool goes_on = out->count && m.inode == last.inode && m.major == last.major && m.minor == last.minor && strcmp(m.path, last.path) == 0;
        const struct eu_image made = { .low = m.start, .high = m.end };
        if (!goes_on) {
            GROW_PUSH(out, made);
            out->items[out->count - 1].path = copy_text(m.path, strlen(m.path));
        }
        out->items[out->count - 1].high = m.end;
        last = m;
    }
    return true;
}

void eu_images_free(struct eu_images *images) {
    for (size_t i = 0; i < images->count; i++) {
        if (images->items[i].module) libdw_module_close(images->items[i].module);
        free(images->items[i].path);
    }
    free(images->items);
    *images = (struct eu_images){ 0 };
}

bool eu_image_open(const struct eu_images *images, struct eu_image *image) {
    const char *message;
    if (!image->was_tried) {
        image->was_tried = true;
        image->module = libdw_module_open(image->path, images->debuginfo_path, &message);
        if (image->module) image->bias = image->module->object.kind == CSN_OBJECT_EXECUTABLE ? 0 : image->low - image->module->low;
    }
    return image->module;
}

struct eu_image *eu_images_find(struct eu_images *images, uint64_t addr) {
    for (size_t i = 0; i < images->count; i++) {
        struct eu_image *image = &images->items[i];
        const bool is_last = images->is_process && i + 1 == images->count;
        if (addr >= image->low && (addr < image->high || is_last)) return eu_image_open(images, image) ? image : NULL;
    }
    return NULL;
}
