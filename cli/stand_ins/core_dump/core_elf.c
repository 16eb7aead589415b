/* Headers, notes, build ids. */
#define _GNU_SOURCE
#include "stand_ins/core_dump/core_elf.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "stand_ins/base/growth.h"

unsigned core_word_size(struct core_form form) { return form.is_64 ? 8 : 4; }

uint64_t core_number(struct core_form form, const unsigned char *at, unsigned size) {
    uint64_t value = 0;
    for (unsigned i = 0; i < size; i++) value |= (uint64_t)at[i] << 8 * (form.big ? size - 1 - i : i);
    return value;
}

uint64_t core_word(struct core_form form, const unsigned char *at) { return core_number(form, at, core_word_size(form)); }

/* ---- headers ---- */

enum { HEADER_32 = 52, HEADER_64 = 64, PROGRAM_32 = 32, PROGRAM_64 = 56, SECTION_32 = 40, SECTION_64 = 64, MANY_HEADERS = 0xffff };

size_t core_header_size(struct core_form form) { return form.is_64 ? PROGRAM_64 : PROGRAM_32; }

static bool has_bytes(struct core_bytes bytes, uint64_t at, uint64_t size) { return at <= bytes.size && bytes.size - at >= size; }

/* Whether all section headers are there; section 0 has their count if the header cannot. */
static bool has_sections(const struct core_elf *elf) {
    const uint64_t size = elf->form.is_64 ? SECTION_64 : SECTION_32;
    if (!elf->sections || !has_bytes(elf->bytes, elf->sections, size)) return false;
    const uint64_t first = core_word(elf->form, elf->bytes.at + elf->sections + (elf->form.is_64 ? 32 : 20)); /* sh_size */
    const uint64_t count = elf->section_count ? elf->section_count : first;
    return count && count <= (elf->bytes.size - elf->sections) / size;
}

/* More than the header can count: section 0 has the number. */
static void count_headers(struct core_elf *elf) {
    if (elf->count == MANY_HEADERS && has_sections(elf))
        elf->count = (uint32_t)core_number(elf->form, elf->bytes.at + elf->sections + (elf->form.is_64 ? 44 : 28), 4); /* sh_info */
}

enum { CLASS = 4, DATA = 5, VERSION = 6, NAME_SIZE = 16 };

bool core_elf_is_named(struct core_bytes bytes) {
    if (bytes.size < NAME_SIZE || memcmp(bytes.at, "\177ELF", 4) != 0) return false;
    return bytes.at[CLASS] >= 1 && bytes.at[CLASS] <= 2 && bytes.at[DATA] >= 1 && bytes.at[DATA] <= 2 && bytes.at[VERSION] == 1;
}

bool core_elf_read(struct core_bytes bytes, struct core_elf *out) {
    if (!core_elf_is_named(bytes)) return false;
    *out = (struct core_elf){ .bytes = bytes, .form = { .is_64 = bytes.at[CLASS] == 2, .big = bytes.at[DATA] == 2 } };
    const struct core_form form = out->form;
    const unsigned word = core_word_size(form);
    if (bytes.size < (form.is_64 ? HEADER_64 : HEADER_32)) return false;
    out->type = (uint16_t)core_number(form, bytes.at + 16, 2);
    out->headers = core_word(form, bytes.at + 24 + word);
    out->sections = core_word(form, bytes.at + 24 + 2 * word);
    const unsigned char *sizes = bytes.at + 24 + 3 * word + 6; /* after e_flags and e_ehsize */
    out->entry_size = (uint32_t)core_number(form, sizes, 2);
    out->count = (uint32_t)core_number(form, sizes + 2, 2);
    out->section_count = core_number(form, sizes + 6, 2);
    out->sections_end = out->sections + out->section_count * (form.is_64 ? SECTION_64 : SECTION_32);
    count_headers(out);
    return true;
}

void core_header_read(struct core_form form, const unsigned char *at, struct core_header *out) {
    const unsigned word = core_word_size(form);
    out->type = (uint32_t)core_number(form, at, 4);
    at += form.is_64 ? 8 : 4; /* flags come here in files of 64 bits */
    out->off = core_word(form, at);
    out->addr = core_word(form, at + word);
    out->file_size = core_word(form, at + 3 * word);
    out->memory_size = core_word(form, at + 4 * word);
    out->align = core_word(form, at + 5 * word + (form.is_64 ? 0 : 4));
}

/* ---- notes ---- */

static uint64_t rounded(uint64_t value, unsigned align) { return (value + align - 1) & ~(uint64_t)(align - 1); }

bool core_note_next(struct core_notes *notes, struct core_note *out) {
    enum { NOTE_HEADER = 12 };
    const unsigned char *at = notes->bytes.at + notes->at;
    if (!has_bytes(notes->bytes, notes->at, NOTE_HEADER)) return false;
    const uint64_t name_size = core_number(notes->form, at, 4), size = core_number(notes->form, at + 4, 4);
    const uint64_t name = notes->at + NOTE_HEADER, content = rounded(name + name_size, notes->align),
                   end = content + rounded(size, notes->align);
    if (name_size > notes->bytes.size || end > notes->bytes.size) return false;
    out->type = (uint32_t)core_number(notes->form, at + 8, 4);
    out->name = (struct core_bytes){ notes->bytes.at + name, (size_t)name_size };
    out->content = (struct core_bytes){ notes->bytes.at + content, (size_t)size };
    notes->at = (size_t)end;
    return true;
}

bool core_note_is(const struct core_note *note, uint32_t type, const char *name) {
    return note->type == type && note->name.size == strlen(name) + 1 && memcmp(note->name.at, name, note->name.size) == 0;
}

struct core_bytes core_build_id(struct core_notes notes) {
    enum { NT_GNU_BUILD_ID = 3, MIN_ID = 3, MAX_ID = 64 };
    struct core_note note;
    while (core_note_next(&notes, &note))
        if (core_note_is(&note, NT_GNU_BUILD_ID, "GNU") && note.content.size >= MIN_ID && note.content.size <= MAX_ID)
            return note.content;
    return (struct core_bytes){ NULL, 0 };
}

/* ---- files ---- */

struct core_bytes core_map_file(const char *path) {
    struct core_bytes out = { NULL, 0 };
    struct stat st;
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return out;
    errno = 0;
    if (fstat(fd, &st) == 0 && S_ISDIR(st.st_mode)) errno = EISDIR;
    if (!errno && S_ISREG(st.st_mode) && st.st_size > 0) {
        void *bytes = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (bytes != MAP_FAILED) out = (struct core_bytes){ bytes, (size_t)st.st_size };
    }
    const int reason = errno;
    close(fd);
    errno = reason;
    return out;
}

static void add_note_segment(struct core_file *file, const struct core_header *header) {
    if (file->id_size || !has_bytes(file->elf.bytes, header->off, header->file_size)) return;
    const struct core_bytes bytes = { file->elf.bytes.at + header->off, (size_t)header->file_size };
    const struct core_bytes id = core_build_id((struct core_notes){ bytes, file->elf.form, 0, header->align == 8 ? 8 : 4 });
    memcpy(file->id, id.at ? id.at : file->id, id.size);
    file->id_size = id.size;
    file->id_addr = header->addr + (id.at ? (uint64_t)(id.at - bytes.at) : 0);
}

static void add_load_segment(struct core_file *file, const struct core_header *header, bool is_first) {
    if (is_first) file->low = header->addr & -header->align;
    if (header->addr + header->memory_size) file->end = header->addr + header->memory_size;
}

static void read_headers(struct core_file *file) {
    const struct core_elf *elf = &file->elf;
    const size_t size = core_header_size(elf->form);
    bool is_first = true;
    for (uint32_t i = 0; i < elf->count && has_bytes(elf->bytes, elf->headers, (uint64_t)elf->count * size); i++) {
        struct core_header header;
        core_header_read(elf->form, elf->bytes.at + elf->headers + i * size, &header);
        if (header.type == CORE_NOTE) add_note_segment(file, &header);
        if (header.type == CORE_DYNAMIC && !file->has_dynamic) file->dynamic = header.addr, file->has_dynamic = true;
        if (header.type != CORE_LOAD) continue;
        add_load_segment(file, &header, is_first);
        is_first = false;
    }
}

bool core_file_read(const char *path, struct core_file *out) {
    const struct core_bytes bytes = core_map_file(path);
    *out = (struct core_file){ 0 };
    const bool is_elf = core_elf_read(bytes, &out->elf);
    if (is_elf) read_headers(out);
    if (bytes.size) munmap((void *)bytes.at, bytes.size);
    out->elf.bytes = (struct core_bytes){ NULL, 0 };
    return is_elf;
}

struct core_bytes core_file_headers(const char *path, uint64_t count, uint64_t entry_size) {
    const struct core_bytes bytes = core_map_file(path);
    struct core_bytes out = { NULL, 0 };
    struct core_elf elf;
    const bool is_elf = core_elf_read(bytes, &elf) && elf.count == count && elf.entry_size == entry_size;
    if (is_elf && has_bytes(bytes, elf.headers, count * entry_size)) {
        out.size = (size_t)(count * entry_size);
        out.at = memcpy(zeroed_memory(1, out.size), bytes.at + elf.headers, out.size);
    }
    if (bytes.size) munmap((void *)bytes.at, bytes.size);
    return out;
}
