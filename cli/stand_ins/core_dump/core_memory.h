/* The memory of a process in its core dump, by address, as elfutils' libdwfl reads it. */
#ifndef CALLSIGN_CLI_CORE_MEMORY_H
#define CALLSIGN_CLI_CORE_MEMORY_H

#include "stand_ins/core_dump/core_elf.h"

enum { CORE_NO_SEGMENT = -1 };

/* From an address up to the next one of the table. */
struct core_start {
    uint64_t addr;
    int segment;             /* index of the program header; CORE_NO_SEGMENT */
    int image;               /* what core_memory_add_image() was given; -1: none */
};

struct core_memory {
    struct core_elf elf;
    uint32_t count;          /* program headers that are there */
    int last_segment;        /* the last header of one */
    uint64_t align;          /* of segments: the least that was seen; 0: none */
    struct { struct core_start *items; size_t count, capacity; } starts;
    unsigned disorder;       /* segments that begin below one before them */
    size_t last_place;       /* that core_memory_place() found */
    struct core_notes notes; /* of the first note segment */
    uint64_t effort;         /* steps of searches that damaged dumps can make long; none is left: nothing more is found */
    uint64_t copies;         /* bytes of images that may yet be copied: in a sound dump few overlap */
};

/* Longer texts are no paths of files. */
enum { CORE_MAX_TEXT = 4096 };

enum core_state { CORE_GOOD, CORE_UNREADABLE, CORE_NO_ELF, CORE_CUT_ELF, CORE_DAMAGED };
/* CORE_UNREADABLE: see errno. CORE_CUT_ELF: a folder, or its header is cut. CORE_DAMAGED: the program headers are
 * outside of the file. */
enum core_state core_memory_open(struct core_memory *out, const char *path);
void core_memory_close(struct core_memory *memory);

bool core_memory_header(const struct core_memory *memory, uint64_t i, struct core_header *out);
/* The segment of an address. */
int core_memory_segment(const struct core_memory *memory, uint64_t addr);
/* Bytes from an address on, at least `least`, in segments from `segment` on that follow each other; *out has as many
 * as there are. `least` 0: a text of at most CORE_MAX_TEXT bytes that is not empty, with its NUL. `hoped` as libdwfl passes it: what is found
 * beyond a gap depends on it. */
bool core_memory_read(struct core_memory *memory, int segment, uint64_t addr, uint64_t least, uint64_t hoped,
                      struct core_bytes *out);

/* Whether an ELF header may begin at an address: does not look how many bytes follow. */
bool core_memory_has_elf(struct core_memory *memory, int segment, uint64_t addr);

/* False: no more effort is left. */
bool core_memory_step(struct core_memory *memory);
/* The same for many steps at once, and for bytes that are copied. */
bool core_memory_spend(struct core_memory *memory, uint64_t steps);
bool core_memory_may_copy(struct core_memory *memory, uint64_t size);

/* Where in the table the segment of a program header, or the next one after it, begins. False: nowhere. */
bool core_memory_place(struct core_memory *memory, uint32_t header, size_t *place);
/* The segment of the last start at or below an address, from a place of the table on. */
int core_memory_segment_before(struct core_memory *memory, size_t place, uint64_t addr);
/* The one of the first start at or above it, or after all. */
int core_memory_segment_after(struct core_memory *memory, size_t place, uint64_t addr);

/* An image takes its addresses, from those before it, too. */
void core_memory_add_image(struct core_memory *memory, int image, uint64_t low, uint64_t high);
/* The image at an address, or -1; *ends_here: it is one that ends there, and no other begins. */
int core_memory_image(const struct core_memory *memory, uint64_t addr, bool *ends_here);

#endif
