/* Images that begin in segments, and those of the link map. */
#include "stand_ins/core_dump/core_modules.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "stand_ins/base/growth.h"

/* ---- one image in memory ---- */

struct image {
    struct core_memory *memory;
    size_t place;            /* in the table of the memory */
    uint64_t start;          /* address of its ELF header */
    struct core_bytes bytes; /* from there on, as far as they follow each other */
    struct core_elf elf;
    struct core_bytes headers;
    struct core_bytes id;
    uint64_t id_addr;
    /* Offsets in the file: its end without and with what fills the last page, and what lies in memory as in the file. */
    uint64_t trimmed_end, end, contiguous;
    uint64_t low, high, bias; /* in memory */
    bool has_bias;
    uint64_t dynamic, dynamic_size;
    bool is_like_executable; /* it has DT_DEBUG */
    bool has_name;           /* from the link map */
    uint64_t names, names_size; /* DT_STRTAB, DT_STRSZ */
};

/* Bytes of the image at an address: those at hand, exactly, or others, as many as there are. */
static bool read_portion(const struct image *image, uint64_t addr, uint64_t size, struct core_bytes *out) {
    const uint64_t at = addr - image->start, there = image->bytes.size;
    if (size <= there && at <= there - size) {
        *out = (struct core_bytes){ image->bytes.at + at, (size_t)size };
        return true;
    }
    return core_memory_read(image->memory, core_memory_segment_before(image->memory, image->place, addr), addr, size, size, out);
}

static bool read_elf(struct image *image, int header) {
    enum { LEAST = 64, HOPED = 1024 };
    if (!core_memory_has_elf(image->memory, header, image->start)) return false;
    return core_memory_read(image->memory, header, image->start, LEAST, HOPED, &image->bytes) &&
           core_elf_read(image->bytes, &image->elf);
}

/* False: there are none, or no whole ones. */
static bool read_headers(struct image *image) {
    const struct core_elf *elf = &image->elf;
    const uint64_t size = core_header_size(elf->form);
    if (elf->entry_size != size || !elf->count ||
        !read_portion(image, image->start + elf->headers, elf->count * size, &image->headers))
        return false;
    return image->headers.size % size == 0;
}

static void take_id(struct image *image, const struct core_header *header) {
    struct core_bytes bytes;
    if (image->id.size || !header->file_size || !read_portion(image, image->start + header->off, header->file_size, &bytes)) return;
    image->id = core_build_id((struct core_notes){ bytes, image->elf.form, 0, header->align == 8 ? 8 : 4 });
    if (image->id.size) image->id_addr = image->start + header->off + (uint64_t)(image->id.at - bytes.at);
}

static void take_load(struct image *image, const struct core_header *header) {
    const uint64_t own = header->align ? header->align : 1, align = image->memory->align > 1 ? image->memory->align : own;
    const uint64_t end = (header->addr + header->memory_size + align - 1) & -align;
    const uint64_t file_end = header->file_size < header->memory_size ? header->addr + header->file_size : end;
    const uint64_t off_end = file_end - header->addr + header->off;
    if (image->trimmed_end < header->off + header->file_size) {
        image->trimmed_end = header->off + header->file_size;
        if (image->elf.sections_end <= off_end && image->elf.sections_end > image->trimmed_end)
            image->trimmed_end = image->elf.sections_end;
    }
    if (image->end < off_end) {
        image->end = off_end;
        if (file_end - image->start == off_end) image->contiguous = off_end;
    }
    if (!image->has_bias && !(header->off & -align) && off_end >= image->elf.headers + image->headers.size) {
        image->bias = image->start - header->addr;
        image->has_bias = true;
    }
    if ((header->addr & -align) < image->low) image->low = header->addr & -align;
    if (image->high < end) image->high = end;
}

/* False: the bytes at hand are not those that the headers tell of. */
static bool measure(struct image *image) {
    const size_t size = core_header_size(image->elf.form);
    image->low = UINT64_MAX;
    for (size_t i = 0; i < image->headers.size / size; i++) {
        struct core_header header;
        core_header_read(image->elf.form, image->headers.at + i * size, &header);
        if (header.type == CORE_DYNAMIC) image->dynamic = header.addr, image->dynamic_size = header.file_size;
        if (header.type == CORE_NOTE) take_id(image, &header);
        if (header.type == CORE_LOAD) take_load(image, &header);
    }
    image->low += image->bias;
    image->high += image->bias;
    image->dynamic += image->bias;
    return image->has_bias;
}

/* ---- what else tells of it ---- */

/* The link map knows where the dynamic section is; the headers may be of a mapping that was dumped alone. */
static void correct_place(struct image *image, const struct core_link_map *map) {
    for (size_t i = map->count; i-- > 0 && core_memory_step(image->memory);) {
        const uint64_t dynamic = map->items[i].dynamic, shift = dynamic - image->dynamic;
        if (dynamic < image->low || dynamic >= image->high) continue;
        if ((shift & (image->memory->align - 1)) || image->low + shift > dynamic || dynamic >= image->high + shift) continue;
        image->low += shift;
        image->high += shift;
        image->dynamic += shift;
        image->bias += shift;
        image->has_name = map->items[i].path[0];
        return;
    }
}

static bool is_same_id(struct core_bytes id, const struct core_file *file) {
    return !file->id_size || !id.size || (id.size == file->id_size && memcmp(id.at, file->id, id.size) == 0);
}

/* Whether a file of the link map stands for the image. One that has another build id, or none where the image has
 * one, is dropped. */
static bool is_in_link_map(const struct image *image, struct core_link_map *map) {
    bool is_there = false;
    for (size_t i = 0; i < map->count && core_memory_step(image->memory); i++) {
        struct core_loaded *loaded = &map->items[i];
        if (!(image->high > loaded->low && image->low < loaded->high) && image->dynamic != loaded->dynamic) continue;
        if (image->id.size && (!loaded->has_id || !is_same_id(image->id, &loaded->file))) loaded->has_file = false;
        is_there |= loaded->has_file;
    }
    return is_there;
}

/* The mappings of the note NT_FILE that an image has. */
struct mappings {
    struct core_bytes names;
    uint64_t first, last;
};

static bool find_mappings(const struct image *image, struct core_bytes note, struct mappings *out) {
    const struct core_form form = image->elf.form;
    const size_t word = core_word_size(form);
    if (note.size < 2 * word) return false;
    const uint64_t count = core_word(form, note.at);
    if (count > (note.size - 2 * word) / (3 * word)) return false;
    const size_t before = (2 + 3 * (size_t)count) * word;
    bool is_found = false;
    out->names = (struct core_bytes){ note.at + before, note.size - before };
    for (uint64_t i = 0; i < count && core_memory_step(image->memory); i++) {
        const unsigned char *at = note.at + (2 + 3 * (size_t)i) * word;
        const uint64_t start = core_word(form, at), end = core_word(form, at + word);
        if (start == image->low && !core_word(form, at + 2 * word)) out->first = out->last = i, is_found = true;
        if (is_found && start < image->high) out->last = i;
        if (end >= image->high) break;
    }
    return is_found;
}

/* The file of which all these mappings are; NULL: none. */
static const char *path_in_note(const struct image *image, struct core_bytes note) {
    struct mappings found;
    const char *path = NULL;
    if (!find_mappings(image, note, &found)) return NULL;
    for (uint64_t i = 0; i <= found.last; i++) {
        const char *at = (const char *)found.names.at;
        const unsigned char *end = memchr(found.names.at, 0, found.names.size);
        if (!end || !core_memory_step(image->memory)) return NULL;
        if (i == found.first) path = at;
        if (i > found.first && strcmp(at, path) != 0) return NULL;
        found.names.size -= (size_t)(end + 1 - found.names.at);
        found.names.at = end + 1;
    }
    return path;
}

static void take_dynamic_entry(struct image *image, uint64_t tag, uint64_t value, uint64_t *name) {
    enum { DT_STRTAB = 5, DT_STRSZ = 10, DT_SONAME = 14, DT_DEBUG = 21 };
    if (tag == DT_DEBUG) image->is_like_executable = true;
    if (tag == DT_SONAME) *name = value;
    if (tag == DT_STRTAB) image->names = value;
    if (tag == DT_STRSZ) image->names_size = value;
}

/* As far as to the name of the library, its table and that one's size. */
static void read_dynamic(struct image *image) {
    const struct core_form form = image->elf.form;
    const size_t word = core_word_size(form);
    struct core_bytes bytes;
    uint64_t name = 0;
    if (!image->dynamic_size || image->dynamic_size % (2 * word) ||
        !read_portion(image, image->dynamic, image->dynamic_size, &bytes))
        return;
    for (size_t i = 0; i < bytes.size / (2 * word) && bytes.size % (2 * word) == 0; i++) {
        take_dynamic_entry(image, core_word(form, bytes.at + 2 * i * word), core_word(form, bytes.at + (2 * i + 1) * word), &name);
        if (name && image->names && image->names_size) break;
    }
}

/* ---- the bytes of a file ---- */

static void copy_portion(const struct image *image, uint64_t addr, char *to, uint64_t size) {
    struct core_bytes bytes;
    const int segment = core_memory_segment_before(image->memory, image->place, addr);
    if (core_memory_read(image->memory, segment, addr, size, size, &bytes)) memcpy(to, bytes.at, (size_t)size);
}

static void copy_segments(const struct image *image, char *to, uint64_t all) {
    const size_t size = core_header_size(image->elf.form);
    for (size_t i = 0; i < image->headers.size / size; i++) {
        struct core_header header;
        core_header_read(image->elf.form, image->headers.at + i * size, &header);
        if (header.type != CORE_LOAD || header.off >= all) continue;
        const uint64_t left = all - header.off;
        copy_portion(image, header.addr + image->bias, to + header.off, header.file_size < left ? header.file_size : left);
    }
}

/* Small images, such as the vdso, and what lacks a build id are read from memory; others only where all of the file is there. */
static void take_bytes(const struct image *image, bool may_have_names, struct core_module *module) {
    enum { SMALL = 8192 };
    const uint64_t whole = image->trimmed_end > image->elf.sections_end ? image->trimmed_end : image->elf.sections_end,
                   most = image->memory->elf.bytes.size;
    if (whole > image->bytes.size && (!may_have_names || (whole > SMALL && image->id.size))) return;
    const uint64_t size = whole <= image->bytes.size ? whole : image->trimmed_end < most ? image->trimmed_end : most;
    if (!core_memory_may_copy(image->memory, size)) return;
    char *bytes = zeroed_memory(1, (size_t)size);
    const size_t there = image->bytes.size < size ? image->bytes.size : (size_t)size;
    if (whole > image->bytes.size && image->contiguous < size) copy_segments(image, bytes, size);
    else memcpy(bytes, image->bytes.at, there);
    if (whole > image->bytes.size && image->contiguous >= size && there < size)
        copy_portion(image, image->start + there, bytes + there, size - there);
    *module = (struct core_module){ .origin = CORE_FROM_MEMORY, .bytes = bytes, .byte_count = (size_t)size };
}

/* Whether the names of its symbols may be in memory. */
static bool may_have_names(const struct image *image, bool is_name_known) {
    uint64_t names = image->names;
    if (!names || !image->names_size || is_name_known) return names && image->names_size;
    if ((names < image->low || names >= image->high) && names + image->bias >= image->low &&
        names + image->bias < image->high)
        names += image->bias;
    return names + image->names_size <= image->high;
}

static struct core_module make_module(const struct image *image, struct core_bytes note) {
    struct core_module made = { .origin = CORE_BY_ID };
    struct core_file file;
    const char *path = path_in_note(image, note);
    if (path && core_file_read(path, &file) && is_same_id(image->id, &file))
        made = (struct core_module){ .origin = CORE_FROM_NOTE, .path = copy_text(path, strlen(path)) };
    else take_bytes(image, may_have_names(image, path || image->has_name), &made);
    made.low = image->low;
    made.high = image->high;
    made.bias = image->bias;
    made.is_executable = image->is_like_executable || image->elf.type == CORE_ELF_EXECUTABLE;
    made.id_size = image->id.size;
    if (made.id_size) memcpy(made.id, image->id.at, made.id_size);
    return made;
}

/* ---- all of them ---- */

static bool has_id_outside(const struct image *image) {
    return image->id.size && image->id_addr && (image->id_addr < image->low || image->id_addr + image->id.size > image->high);
}

/* *header goes on to the one after the image. False: its build id is outside of it. */
static bool find_module(struct core_memory *m, struct core_link_map *map, uint32_t *header, struct core_modules *out) {
    struct image image = { .memory = m };
    const uint32_t first = (*header)++;
    if (!core_memory_place(m, first, &image.place)) return true;
    image.start = m->starts.items[image.place].addr;
    if (!read_elf(&image, (int)first) || !read_headers(&image) || !measure(&image)) return true;
    correct_place(&image, map);
    if (is_in_link_map(&image, map)) return true;
    const int next = core_memory_segment_after(m, image.place, image.high);
    if (next > (int)first) *header = (uint32_t)next;
    read_dynamic(&image);
    if (has_id_outside(&image)) return false;
    GROW_PUSH(out, make_module(&image, map->files));
    return true;
}

static void add_loaded(const struct core_link_map *map, struct core_modules *out) {
    for (size_t i = map->count; i-- > 0;) {
        const struct core_loaded *loaded = &map->items[i];
        if (!loaded->has_file) continue;
        const struct core_module made = { .origin = CORE_FROM_LINK_MAP,
                                          .path = copy_text(loaded->path, strlen(loaded->path)), .low = loaded->low,
                                          .high = loaded->high, .bias = loaded->bias };
        GROW_PUSH(out, made);
    }
}

enum core_result core_modules_find(struct core_memory *m, const char *executable, struct core_modules *out) {
    struct core_link_map map;
    bool is_good = true;
    *out = (struct core_modules){ 0 };
    if (m->last_segment <= 0) return CORE_NOTHING_FOUND; /* as libdwfl has it, to which the first header is none */
    core_link_map_read(m, executable, &map);
    for (uint32_t header = 0; header < m->count && is_good;) is_good = find_module(m, &map, &header, out);
    if (is_good) add_loaded(&map, out);
    const bool is_broken = map.is_broken;
    core_link_map_free(&map);
    if (!is_good) return CORE_BAD_ID;
    return out->count ? CORE_FOUND : is_broken ? CORE_BROKEN : CORE_NOTHING_FOUND;
}

void core_modules_free(struct core_modules *modules) {
    for (size_t i = 0; i < modules->count; i++) {
        free(modules->items[i].path);
        free(modules->items[i].bytes);
    }
    free(modules->items);
    *modules = (struct core_modules){ 0 };
}
