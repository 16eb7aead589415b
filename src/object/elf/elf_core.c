/* Core dumps: the note NT_FILE, permissions from the program headers, build ids from the images' first pages. */
#include "object/core_files.h"

#include <inttypes.h>

#include "base/core/cursor.h"
#include "base/core/fail.h"
#include "object/elf/elf_layout.h"

enum { FILES_MAX = 1 << 20, NOTES_MAX = 1 << 16, SEGMENTS_MAX = 1 << 16, IMAGE_SEGMENTS_MAX = 64, NOTE_ALIGN = 4,
       STEPS_MAX = 1 << 24 };

/* An ELF file in memory or on disk: a dump, or the image at some place in it. */
struct elf_view {
    struct csni_span bytes;
    bool is_64, big;
    uint16_t type, entry_size;
    uint32_t count;           /* program headers */
    uint64_t headers;         /* their offset */
};
struct elf_segment {
    uint32_t type, flags;
    uint64_t off, addr, file_size;
};

static bool open_view(struct csni_span bytes, struct elf_view *out) {
    if (bytes.size < EHDR32_SIZE || memcmp(bytes.ptr, "\177ELF", ELF_MAGIC_SIZE) != 0) return false;
    if (bytes.ptr[EI_CLASS] != ELFCLASS32 && bytes.ptr[EI_CLASS] != ELFCLASS64) return false;
    if (bytes.ptr[EI_DATA] != ELFDATA2LSB && bytes.ptr[EI_DATA] != ELFDATA2MSB) return false;
    *out =
        (struct elf_view){ .bytes = bytes, .is_64 = bytes.ptr[EI_CLASS] == ELFCLASS64, .big = bytes.ptr[EI_DATA] == ELFDATA2MSB };
    unsigned word = out->is_64 ? 8 : 4;
    struct csni_cursor c = csni_cursor_at(bytes, out->big);
    csni_cursor_skip(&c, EI_NIDENT);
    out->type = csni_cursor_u16(&c);
    csni_cursor_skip(&c, 2 + 4 + word);
    out->headers = csni_cursor_uint(&c, word);
    csni_cursor_skip(&c, word + 4 + 2);
    out->entry_size = csni_cursor_u16(&c);
    out->count = csni_cursor_u16(&c);
    return !c.failed && out->entry_size >= (out->is_64 ? PHDR64_SIZE : PHDR32_SIZE);
}

/* More segments than the header can count: the count is in section header 0 (sh_info). */
static void resolve_count(struct elf_view *view) {
    if (view->count != PN_XNUM) return;
    struct csni_cursor c = csni_cursor_at(view->bytes, view->big);
    csni_cursor_seek(&c, view->is_64 ? 40 : 32); /* e_shoff */
    uint64_t section = csni_cursor_uint(&c, view->is_64 ? 8 : 4);
    csni_cursor_seek(&c, section);
    csni_cursor_skip(&c, view->is_64 ? 44 : 28); /* sh_info */
    uint32_t count = csni_cursor_u32(&c);
    if (!c.failed) view->count = count;
}

static bool read_segment(const struct elf_view *view, uint32_t i, struct elf_segment *out) {
    struct csni_cursor c = csni_cursor_at(csni_span_from(view->bytes, view->headers), view->big);
    csni_cursor_seek(&c, (uint64_t)i * view->entry_size);
    out->type = csni_cursor_u32(&c);
    if (view->is_64) out->flags = csni_cursor_u32(&c);
    unsigned word = view->is_64 ? 8 : 4;
    out->off = csni_cursor_uint(&c, word);
    out->addr = csni_cursor_uint(&c, word);
    csni_cursor_skip(&c, word);
    out->file_size = csni_cursor_uint(&c, word);
    csni_cursor_skip(&c, word);
    if (!view->is_64) out->flags = csni_cursor_u32(&c);
    return !c.failed;
}

/* ---- notes ---- */

struct elf_note {
    uint32_t type;
    struct csni_span name, content;
};

static bool next_note(struct csni_cursor *c, struct elf_note *out) {
    uint32_t name_size = csni_cursor_u32(c), size = csni_cursor_u32(c);
    out->type = csni_cursor_u32(c);
    out->name = csni_cursor_bytes(c, name_size);
    csni_cursor_skip(c, (NOTE_ALIGN - name_size % NOTE_ALIGN) % NOTE_ALIGN);
    out->content = csni_cursor_bytes(c, size);
    if (c->failed) return false;
    uint32_t padding = (NOTE_ALIGN - size % NOTE_ALIGN) % NOTE_ALIGN;
    if (csni_cursor_left(c) >= padding) csni_cursor_skip(c, padding); /* the last one may lack it */
    return true;
}

/* The note of a type in the segment. */
static bool find_note(const struct elf_view *view, const struct elf_segment *segment, uint32_t type, const char *name,
                      struct csni_span *out) {
    struct csni_span notes = csni_span_from(view->bytes, segment->off);
    if (notes.size > segment->file_size) notes.size = (size_t)segment->file_size;
    struct csni_cursor c = csni_cursor_at(notes, view->big);
    struct elf_note note;
    for (unsigned i = 0; i < NOTES_MAX && csni_cursor_left(&c) && next_note(&c, &note); i++) {
        if (note.type != type || note.name.size < strlen(name) || memcmp(note.name.ptr, name, strlen(name)) != 0) continue;
        *out = note.content;
        return true;
    }
    return false;
}

/* ---- images in the dump ---- */

struct csni_span csni_elf_build_id_in_memory(struct csni_span memory) {
    struct elf_view image;
    struct elf_segment segment;
    struct csni_span id = { NULL, 0 };
    if (!open_view(memory, &image)) return id;
    for (uint32_t i = 0; i < image.count && i < IMAGE_SEGMENTS_MAX && read_segment(&image, i, &segment); i++)
        if (segment.type == PT_NOTE && find_note(&image, &segment, NT_GNU_BUILD_ID, "GNU", &id)) break;
    return id;
}

static struct csni_span headers_in_memory(struct csni_span memory) {
    struct elf_view image;
    struct csni_span headers = { NULL, 0 };
    if (!open_view(memory, &image) || image.headers > memory.size) return headers;
    csni_span_sub(memory, 0, image.headers + (uint64_t)image.count * image.entry_size, &headers);
    return headers;
}

/* Permissions and bytes of the memory at the mapping's start: segments of a dump are its mappings. Those are in the
 * same order as the
 * note, so that the search goes on where it ended: *at. */
static void take_memory(const struct elf_view *dump, uint32_t segments, uint32_t *at, uint64_t *budget,
                        struct csni_core_file *file) {
    struct elf_segment segment;
    for (uint32_t step = 0; step < segments && *budget; step++, --*budget) {
        uint32_t i = (*at + step) % segments;
        if (!read_segment(dump, i, &segment) || segment.type != PT_LOAD || segment.addr != file->start) continue;
        *at = i;
        file->exec = segment.flags & PF_X;
        struct csni_span memory = csni_span_from(dump->bytes, segment.off);
        if (memory.size > segment.file_size) memory.size = (size_t)segment.file_size;
        if (!file->file_off && memory.size) {
            file->build_id = csni_elf_build_id_in_memory(memory);
            file->headers = headers_in_memory(memory);
        }
        return;
    }
}

/* ---- the list ---- */

/* Count, page size, {start, end, offset in pages} of each, then the names. */
static csn_status read_files(const struct elf_view *dump, uint32_t segments, struct csni_span note, csni_core_files *out,
                             struct csn_error *err) {
    unsigned word = dump->is_64 ? 8 : 4;
    struct csni_cursor c = csni_cursor_at(note, dump->big), names = c;
    uint64_t count = csni_cursor_uint(&c, word), page_size = csni_cursor_uint(&c, word);
    if (count > FILES_MAX) return csni_fail(err, CSN_E_LIMIT, "NT_FILE", 0, "%" PRIu64 " files, the limit is %d", count, FILES_MAX);
    csni_cursor_seek(&names, 2 * word + count * 3 * word);
    uint32_t at = 0;
    /* In a hostile dump each search could look at all segments in vain. */
    uint64_t budget = STEPS_MAX;
    for (uint64_t i = 0; i < count && !names.failed; i++) {
        struct csni_core_file file = { .start = csni_cursor_uint(&c, word), .exec = true };
        file.end = csni_cursor_uint(&c, word);
        uint64_t page = csni_cursor_uint(&c, word);
        file.file_off = page_size && page > UINT64_MAX / page_size ? 0 : page * page_size;
        file.path = csni_cursor_cstr(&names);
        if (names.failed || file.start >= file.end) continue;
        take_memory(dump, segments, &at, &budget, &file);
        if (!csni_vec_push(out, file)) return csni_fail_memory(err, sizeof file);
    }
    if (c.failed || names.failed)
        return csni_fail(err, CSN_E_FORMAT, "NT_FILE", 0, "%zu bytes do not hold %" PRIu64 " files", note.size, count);
    return CSN_OK;
}

csn_status csni_elf_core_files(struct csni_span file, csni_core_files *out, struct csn_error *err) {
    struct elf_view dump;
    struct elf_segment segment;
    struct csni_span note;
    if (!open_view(file, &dump) || dump.type != ET_CORE) return csni_fail(err, CSN_E_UNSUPPORTED, NULL, 0, "not an ELF core dump");
    resolve_count(&dump);
    uint32_t segments = dump.count < SEGMENTS_MAX ? dump.count : SEGMENTS_MAX;
    for (uint32_t i = 0; i < segments; i++) {
        if (!read_segment(&dump, i, &segment))
            return csni_fail(err, CSN_E_TRUNCATED, NULL, dump.headers, "program header %u of %u is outside of the file",
                             i, segments);
        if (segment.type == PT_NOTE && find_note(&dump, &segment, NT_FILE, "CORE", &note))
            return read_files(&dump, segments, note, out, err);
    }
    return CSN_NONE;
}
