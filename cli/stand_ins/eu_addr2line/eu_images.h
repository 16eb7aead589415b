/* The files that a process has or had mapped, as elfutils' libdwfl takes them from /proc/PID/maps or a core dump. */
#ifndef CALLSIGN_CLI_EU_IMAGES_H
#define CALLSIGN_CLI_EU_IMAGES_H

#include <stdio.h>

#include "stand_ins/eu_addr2line/eu_core.h"

struct eu_image {
    char *path;              /* NULL: the kernel's vdso, which stands in the memory of the process */
    uint64_t low, high;      /* addresses in the process */
    uint64_t bias;           /* of these against those of the file, once it is open */
    struct libdw_module *module; /* NULL: not open, or it cannot be */
    bool was_tried;
};

struct eu_images {
    struct eu_image *items;
    size_t count, capacity;
    long pid;                /* all that is above its last file belongs to that, as libdwfl has it; 0: of a file of mappings */
    struct eu_core *core;    /* the dump that they are of; NULL: none */
    const char *debuginfo_path; /* of options; NULL: none */
};

/* `pid` 0: of no process that is there. False: a line is none of such a file. */
bool eu_images_read(struct eu_images *out, FILE *maps, long pid);
/* Those of a core dump, which they keep. */
void eu_images_of_core(struct eu_images *out, struct eu_core *core);
void eu_images_free(struct eu_images *images);
/* The image at an address, with its file open; NULL: there is none, or it is no ELF file. */
struct eu_image *eu_images_find(struct eu_images *images, uint64_t addr);
/* Opens the file of an image. False: it cannot be opened. */
bool eu_image_open(const struct eu_images *images, struct eu_image *image);

#endif
