/* The auxiliary vector, the program headers of the executable, the list. */
#include "stand_ins/core_dump/core_link_map.h"

#include <stdlib.h>
#include <string.h>

#include "stand_ins/base/growth.h"

/* ---- the auxiliary vector ---- */

enum { AT_HEADERS = 3, AT_ENTRY_SIZE = 4, AT_COUNT = 5, AT_PAGE_SIZE = 6 }; /* AT_PHDR, AT_PHENT, AT_PHNUM, AT_PAGESZ */

struct auxiliary {
    struct core_form form;
    uint64_t headers, count, entry_size;
};

static uint64_t aux_number(struct core_bytes vector, size_t i, struct core_form form) {
    return core_word(form, vector.at + i * core_word_size(form));
}

/* The size of program headers shows how numbers are written. */
static bool find_form(struct core_bytes vector, size_t entry, struct core_form *out) {
    for (unsigned part = 0; part < 4; part++) {
        *out = (struct core_form){ .is_64 = part < 2, .big = part % 2 };
        const struct core_bytes at = { vector.at + 16 * entry, 16 };
        for (size_t i = 0; i < (out->is_64 ? 1 : 2); i++)
            if (aux_number(at, 2 * i, *out) == AT_ENTRY_SIZE &&
                aux_number(at, 2 * i + 1, *out) == core_header_size(*out))
                return true;
    }
    return false;
}

static bool read_vector(struct core_memory *m, struct core_bytes vector, struct auxiliary *out) {
    bool is_found = false;
    *out = (struct auxiliary){ 0 };
    for (size_t i = 0; i < vector.size / 16 && !is_found; i++) is_found = find_form(vector, i, &out->form);
    if (!is_found) return false;
    for (size_t i = 0; i < vector.size / (2 * core_word_size(out->form)); i++) {
        const uint64_t type = aux_number(vector, 2 * i, out->form), value = aux_number(vector, 2 * i + 1, out->form);
        if (type == AT_HEADERS) out->headers = value;
        if (type == AT_COUNT) out->count = value;
        if (type == AT_ENTRY_SIZE) out->entry_size = value;
        if (type == AT_PAGE_SIZE && value > 1 && (!m->align || value < m->align)) m->align = value;
    }
    return true;
}

/* ---- the dynamic section of the executable ---- */

struct dynamic {
    uint64_t addr, size, bias;
    bool has_bias;
};

static struct dynamic find_dynamic(const struct core_memory *m, const struct auxiliary *aux, struct core_bytes headers) {
    struct dynamic found = { 0 };
    const size_t size = core_header_size(aux->form);
    for (size_t i = 0; i < headers.size / size && !(found.addr && found.has_bias); i++) {
        struct core_header header;
        core_header_read(aux->form, headers.at + i * size, &header);
        if (header.type == CORE_HEADERS && !found.has_bias && !((header.addr ^ aux->headers) & (m->align - 1)))
            found.bias = aux->headers - header.addr, found.has_bias = true;
        if (header.type == CORE_DYNAMIC) found.addr = header.addr, found.size = header.file_size;
    }
    return found;
}

static struct core_bytes first_bytes(struct core_bytes bytes, uint64_t size) {
    return (struct core_bytes){ bytes.at, bytes.size < size ? bytes.size : (size_t)size };
}

/* DT_DEBUG; 0: there is none. */
static uint64_t find_debug(struct core_form form, struct core_bytes dynamic) {
    enum { DT_DEBUG = 21 };
    const size_t word = core_word_size(form);
    for (size_t i = 0; i < dynamic.size / (2 * word) && dynamic.size % (2 * word) == 0; i++)
        if (core_word(form, dynamic.at + 2 * i * word) == DT_DEBUG) return core_word(form, dynamic.at + (2 * i + 1) * word);
    return 0;
}

/* Where the list's head is; 0: not known. */
static uint64_t find_head(struct core_memory *m, const struct auxiliary *aux, const char *executable) {
    struct core_bytes headers, dynamic;
    const uint64_t size = aux->count * aux->entry_size;
    if (!aux->headers || !aux->count || aux->entry_size != core_header_size(aux->form) ||
        size / aux->entry_size != aux->count)
        return 0;
    const bool is_there = core_memory_read(m, core_memory_segment(m, aux->headers), aux->headers, size, size, &headers);
    if (!is_there && executable) headers = core_file_headers(executable, aux->count, aux->entry_size);
    struct dynamic found = find_dynamic(m, aux, first_bytes(headers, size));
    if (!is_there) free((void *)headers.at);
    if (found.has_bias) found.addr += found.bias;
    if (!found.size ||
        !core_memory_read(m, core_memory_segment(m, found.addr), found.addr, found.size, found.size, &dynamic))
        return 0;
    return find_debug(aux->form, first_bytes(dynamic, found.size));
}

/* ---- the list ---- */

/* Bytes of memory that were read last. */
struct window {
    struct core_memory *memory;
    struct core_form form;
    struct core_bytes bytes;
    uint64_t addr;
};

static bool move_window(struct window *w, uint64_t addr, size_t least) {
    w->addr = addr;
    return core_memory_read(w->memory, core_memory_segment(w->memory, addr), addr, least, 0, &w->bytes);
}

static bool read_words(struct window *w, uint64_t addr, size_t count, uint64_t *out) {
    const unsigned word = core_word_size(w->form);
    const size_t size = count * word;
    const bool is_within = w->bytes.size >= size && addr >= w->addr && addr - w->addr <= w->bytes.size - size;
    if (!is_within && !move_window(w, addr, size)) return false;
    for (size_t i = 0; i < count; i++) out[i] = core_word(w->form, w->bytes.at + (addr - w->addr) + i * word);
    return true;
}

/* "": there is none. */
static const char *read_path(struct window *w, uint64_t addr) {
    const uint64_t at = addr - w->addr;
    const bool is_within = addr >= w->addr && at < w->bytes.size && at + 1 < w->bytes.size;
    const size_t most = is_within && w->bytes.size - at < CORE_MAX_TEXT ? w->bytes.size - (size_t)at : CORE_MAX_TEXT;
    if (is_within && memchr(w->bytes.at + at, 0, most)) return (const char *)w->bytes.at + at;
    return move_window(w, addr, 0) ? (const char *)w->bytes.at : "";
}

/* Whether the build id of a file is in memory where it would have been loaded. What is not in the dump may be as it should. */
static bool may_be_loaded(struct core_memory *m, const struct core_loaded *loaded) {
    struct core_bytes id;
    const struct core_file *file = &loaded->file;
    const uint64_t addr = file->id_addr - file->dynamic + loaded->dynamic;
    if (!loaded->has_id || !core_memory_read(m, core_memory_segment(m, addr), addr, file->id_size, file->id_size, &id)) return true;
    return memcmp(id.at, file->id, file->id_size) == 0;
}

static void take_file(struct core_memory *m, struct core_loaded *loaded) {
    struct core_file *file = &loaded->file;
    if (!loaded->path[0] || !core_file_read(loaded->path, file) || !file->has_dynamic) return;
    loaded->has_id = file->id_size && file->id_addr;
    if (!may_be_loaded(m, loaded)) return;
    loaded->bias = file->elf.type == CORE_ELF_EXECUTABLE ? 0 : loaded->dynamic - file->dynamic;
    loaded->low = loaded->bias + file->low;
    loaded->high = file->end ? loaded->bias + file->end : 0;
    loaded->has_file = loaded->high;
}

/* Of a list that goes in a circle no more are taken than there are segments. */
static bool read_list(struct core_memory *m, struct core_form form, uint64_t head, const char *executable,
                      struct core_link_map *out) {
    enum { NAME = 1, DYNAMIC, NEXT, FIELDS };
    struct window w = { .memory = m, .form = form };
    uint64_t next;
    if (!read_words(&w, head + core_word_size(form), 1, &next)) return false;
    for (size_t i = 1; next && i < m->starts.count; i++) {
        uint64_t fields[FIELDS];
        if (!read_words(&w, next, FIELDS, fields)) return false;
        next = fields[NEXT];
        if (!fields[DYNAMIC]) continue;
        const char *path = read_path(&w, fields[NAME]);
        if (i == 1 && executable) path = executable;
        struct core_loaded loaded = { .path = copy_text(path, strlen(path)), .dynamic = fields[DYNAMIC] };
        take_file(m, &loaded);
        GROW_PUSH(out, loaded);
    }
    return true;
}

void core_link_map_read(struct core_memory *m, const char *executable, struct core_link_map *out) {
    enum { NT_AUXV = 6, NT_FILE = 0x46494c45 };
    struct core_notes notes = m->notes;
    struct core_note note;
    struct core_bytes vector = { NULL, 0 };
    struct auxiliary aux;
    *out = (struct core_link_map){ 0 };
    while (core_note_next(&notes, &note)) {
        if (core_note_is(&note, NT_AUXV, "CORE")) vector = note.content;
        if (core_note_is(&note, NT_FILE, "CORE")) out->files = note.content;
    }
    const uint64_t head = read_vector(m, vector, &aux) ? find_head(m, &aux, executable) : 0;
    if (head) out->is_broken = !read_list(m, aux.form, head, executable, out);
}

void core_link_map_free(struct core_link_map *map) {
    for (size_t i = 0; i < map->count; i++) free(map->items[i].path);
    free(map->items);
    *map = (struct core_link_map){ 0 };
}
