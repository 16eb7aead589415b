/* ELF program headers of either class and byte order; nothing else of the file is read. */
#define _GNU_SOURCE
#include "stack/image_segments.h"

#include <fcntl.h>
#include <unistd.h>

/* Offsets in the file header and in a program header (gABI, chapters 4 and 5), by class. */
struct elf_shape {
    unsigned word, header_size, phoff, phentsize, phnum, entry_size, p_offset, p_vaddr, p_filesz, p_flags;
};
static const struct elf_shape elf32 = { 4, 52, 28, 42, 44, 32, 4, 8, 16, 24 };
static const struct elf_shape elf64 = { 8, 64, 32, 54, 56, 56, 8, 16, 32, 4 };

static uint64_t get(const uint8_t *bytes, unsigned size, bool big) {
    uint64_t value = 0;
    for (unsigned i = 0; i < size; i++) value = value << 8 | bytes[big ? i : size - 1 - i];
    return value;
}

static bool read_headers(int fd, struct image_segments *out) {
    enum { PT_LOAD = 1, PF_X = 1, HEADERS_MAX = 512 };
    uint8_t head[64], entry[56];
    static const uint8_t magic[4] = { 0x7f, 'E', 'L', 'F' };
    ssize_t got = pread(fd, head, sizeof(head), 0);
    if (got < 52) return false;
    for (int i = 0; i < 4; i++)
        if (head[i] != magic[i]) return false;
    const struct elf_shape *shape = head[4] == 2 ? &elf64 : &elf32;
    bool big = head[5] == 2;
    if (got < (ssize_t)shape->header_size) return false;
    uint64_t offset = get(head + shape->phoff, shape->word, big);
    unsigned size = (unsigned)get(head + shape->phentsize, 2, big), count = (unsigned)get(head + shape->phnum, 2, big);
    if (size < shape->entry_size || offset > INT64_MAX / 2) return false;
    for (unsigned i = 0; i < count && i < HEADERS_MAX && out->count < SEGMENTS_MAX; i++) {
        if (pread(fd, entry, shape->entry_size, (off_t)(offset + (uint64_t)i * size)) != (ssize_t)shape->entry_size)
            return false;
        if (get(entry, 4, big) != PT_LOAD) continue;
        out->items[out->count++] = (struct image_segment){ get(entry + shape->p_offset, shape->word, big),
                                                           get(entry + shape->p_vaddr, shape->word, big),
                                                           get(entry + shape->p_filesz, shape->word, big),
                                                           get(entry + shape->p_flags, 4, big) & PF_X };
    }
    return out->count > 0;
}

bool image_segments_read(const char *path, struct image_segments *out) {
    out->count = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return false;
    bool good = read_headers(fd, out);
    close(fd);
    return good;
}

bool image_segments_addr(const struct image_segments *segments, uint64_t file_offset, uint64_t *out) {
    for (unsigned i = 0; i < segments->count; i++) {
        const struct image_segment *segment = &segments->items[i];
        if (file_offset < segment->file_offset || file_offset - segment->file_offset >= segment->file_size) continue;
        *out = file_offset - segment->file_offset + segment->addr;
        return true;
    }
    return false;
}

bool image_segments_code_addr(const struct image_segments *segments, uint64_t file_offset, uint64_t size, uint64_t *out) {
    for (unsigned i = 0; i < segments->count; i++) {
        const struct image_segment *segment = &segments->items[i];
        bool before = segment->file_offset + segment->file_size <= file_offset;
        if (!segment->executable || before || segment->file_offset >= file_offset + size) continue;
        *out = segment->addr - (segment->file_offset - file_offset);
        return true;
    }
    return false;
}
