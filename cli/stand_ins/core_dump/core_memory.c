/* Segments, and the table of their addresses. */
#define _GNU_SOURCE
#include "stand_ins/core_dump/core_memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "stand_ins/base/growth.h"

enum { MAX_EFFORT = 1 << 26, MAX_DISORDER = 1 << 12, MORE_COPIES = 64 << 20 };

static bool take(uint64_t *from, uint64_t amount) {
    const bool has = *from >= amount;
    *from = has ? *from - amount : 0;
    return has;
}

bool core_memory_step(struct core_memory *m) { return take(&m->effort, 1); }
bool core_memory_spend(struct core_memory *m, uint64_t steps) { return take(&m->effort, steps); }
bool core_memory_may_copy(struct core_memory *m, uint64_t size) { return take(&m->copies, size); }

/* ---- the table ---- */

static uint64_t round_down(const struct core_memory *m, uint64_t addr) { return m->align > 1 ? addr & -m->align : addr; }
static uint64_t round_up(const struct core_memory *m, uint64_t addr) {
    return m->align > 1 ? (addr + m->align - 1) & -m->align : addr;
}

static void insert_start(struct core_memory *m, size_t at, struct core_start start) {
    GROW_PUSH(&m->starts, start);
    memmove(m->starts.items + at + 1, m->starts.items + at, (m->starts.count - 1 - at) * sizeof start);
    m->starts.items[at] = start;
}

/* A range before place `at`. A start that is there already takes the segment; whether its end is there is looked for
 * where it would stand if the start were new. */
static void insert_range(struct core_memory *m, size_t at, uint64_t low, uint64_t high, int segment) {
    const bool has_low = at && m->starts.items[at - 1].addr == low;
    const bool has_high = at + 1 < m->starts.count && m->starts.items[at + 1].addr == high;
    if (has_low && has_high) return;
    if (has_low) m->starts.items[at - 1].segment = segment;
    else insert_start(m, at++, (struct core_start){ low, segment, -1 });
    if (!has_high) insert_start(m, at, (struct core_start){ high, CORE_NO_SEGMENT, -1 });
}

/* The place of the last start at or below an address; -1: none. Starts of damaged dumps may be out of order. */
static ptrdiff_t place_of(const struct core_memory *m, uint64_t addr) {
    for (size_t low = 0, high = m->starts.count; low < high;) {
        const size_t mid = (low + high) / 2;
        if (addr < m->starts.items[mid].addr) high = mid;
        else if (mid + 1 == m->starts.count || addr < m->starts.items[mid + 1].addr) return (ptrdiff_t)mid;
        else low = mid + 1;
    }
    return -1;
}

int core_memory_segment(const struct core_memory *m, uint64_t addr) {
    const ptrdiff_t place = place_of(m, addr);
    return place < 0 ? CORE_NO_SEGMENT : m->starts.items[place].segment;
}

/* ---- opening ---- */

bool core_memory_header(const struct core_memory *m, uint64_t i, struct core_header *out) {
    if (i >= m->count) return false;
    core_header_read(m->elf.form, m->elf.bytes.at + m->elf.headers + i * core_header_size(m->elf.form), out);
    return true;
}

static void add_segment(struct core_memory *m, int segment, const struct core_header *header) {
    if (header->align > 1 && (m->align <= 1 || header->align < m->align)) m->align = header->align;
    const uint64_t low = round_down(m, header->addr), high = round_up(m, header->addr + header->memory_size);
    size_t at = m->starts.count;
    if (at && low < m->starts.items[at - 1].addr && ++m->disorder > MAX_DISORDER) return;
    while (at && low < m->starts.items[at - 1].addr) at--;
    insert_range(m, at, low, high, segment);
    m->last_segment = segment;
}

static void take_notes(struct core_memory *m, const struct core_header *header) {
    const struct core_bytes all = m->elf.bytes;
    if (header->off > all.size || all.size - header->off < header->file_size) return;
    m->notes =
        (struct core_notes){ { all.at + header->off, (size_t)header->file_size }, m->elf.form, 0, header->align == 8 ? 8 : 4 };
}

static void read_segments(struct core_memory *m) {
    struct core_header header;
    bool had_notes = false;
    for (uint32_t i = 0; core_memory_header(m, i, &header); i++) {
        if (header.type == CORE_LOAD) add_segment(m, (int)i, &header);
        if (header.type != CORE_NOTE || had_notes) continue;
        take_notes(m, &header);
        had_notes = true;
    }
}

/* libelf refuses a count of sections that 32 bits do not hold. */
static bool has_too_many_sections(const struct core_elf *elf) {
    enum { SECTION_64 = 64, SIZE = 32 };
    const uint64_t all = elf->bytes.size;
    if (!elf->form.is_64 || elf->section_count || !elf->sections || elf->sections >= all ||
        all - elf->sections < SECTION_64)
        return false;
    return core_word(elf->form, elf->bytes.at + elf->sections + SIZE) > UINT32_MAX;
}

enum core_state core_memory_open(struct core_memory *out, const char *path) {
    *out = (struct core_memory){ .effort = MAX_EFFORT };
    const struct core_bytes bytes = core_map_file(path);
    if (!bytes.size && errno) return errno == EISDIR ? CORE_CUT_ELF : CORE_UNREADABLE;
    if (!core_elf_read(bytes, &out->elf)) {
        const bool is_cut = core_elf_is_named(bytes);
        if (bytes.size) munmap((void *)bytes.at, bytes.size);
        return is_cut ? CORE_CUT_ELF : CORE_NO_ELF;
    }
    const uint64_t size = core_header_size(out->elf.form), headers = out->elf.headers;
    const uint64_t there = headers < bytes.size ? (bytes.size - headers) / size : 0;
    out->copies = 8 * (uint64_t)bytes.size + MORE_COPIES;
    out->count = !headers ? 0 : out->elf.count < there ? out->elf.count : (uint32_t)there;
    const bool is_cut = headers && (headers >= bytes.size || (out->count && out->count < out->elf.count));
    if (has_too_many_sections(&out->elf)) return CORE_CUT_ELF;
    if (is_cut) return CORE_DAMAGED;
    read_segments(out);
    return CORE_GOOD;
}

void core_memory_close(struct core_memory *m) {
    if (m->elf.bytes.size) munmap((void *)m->elf.bytes.at, m->elf.bytes.size);
    free(m->starts.items);
    *m = (struct core_memory){ 0 };
}

/* ---- reading ---- */

/* How far bytes of the file follow each other from a place on. */
struct reach {
    struct core_header header;
    uint64_t next;           /* header */
    uint64_t begin, end, end_addr;
};

static void take_end(const struct core_memory *m, struct reach *r) {
    r->end = round_up(m, r->header.off + r->header.file_size);
    r->end_addr = round_up(m, r->header.addr + r->header.memory_size);
}

static bool reach_for(struct core_memory *m, struct reach *r, uint64_t size) {
    while (r->end <= r->begin || r->end - r->begin < size) {
        if (r->header.file_size < r->header.memory_size || !core_memory_step(m) ||
            !core_memory_header(m, r->next++, &r->header))
            return false;
        if (r->header.type != CORE_LOAD) continue;
        if (r->header.off > r->end || r->header.addr > r->end_addr) return false;
        take_end(m, r);
    }
    return true;
}

static bool find_segment(struct core_memory *m, int segment, uint64_t addr, struct reach *r) {
    r->next = (uint64_t)segment;
    do {
        if (!core_memory_step(m) || !core_memory_header(m, r->next++, &r->header)) return false;
    } while (r->header.type != CORE_LOAD || round_up(m, r->header.addr + r->header.memory_size) <= addr);
    r->begin = addr - r->header.addr + r->header.off;
    take_end(m, r);
    return true;
}

/* False: fewer bytes. */
static bool take_reach(const struct core_memory *m, const struct reach *r, uint64_t least, struct core_bytes *out) {
    const uint64_t size = m->elf.bytes.size, end = r->end < size ? r->end : size;
    if (r->begin >= end || end - r->begin < least) return false;
    *out = (struct core_bytes){ m->elf.bytes.at + r->begin, (size_t)(end - r->begin) };
    return true;
}

bool core_memory_has_elf(struct core_memory *m, int segment, uint64_t addr) {
    enum { LEAST = 16 };
    struct reach r;
    struct core_bytes bytes;
    return segment >= 0 && find_segment(m, segment, addr, &r) && reach_for(m, &r, LEAST) &&
           take_reach(m, &r, LEAST, &bytes) && core_elf_is_named(bytes);
}

bool core_memory_read(struct core_memory *m, int segment, uint64_t addr, uint64_t least, uint64_t hoped, struct core_bytes *out) {
    struct reach r;
    const uint64_t size = m->elf.bytes.size;
    *out = (struct core_bytes){ NULL, 0 };
    if (segment < 0 || !find_segment(m, segment, addr, &r) || !reach_for(m, &r, least)) return false;
    (void)reach_for(m, &r, hoped);
    if (r.begin < size) (void)reach_for(m, &r, size - r.begin);
    if (!take_reach(m, &r, least, out)) return false;
    if (least) return true;
    const unsigned char *end = memchr(out->at, 0, out->size < CORE_MAX_TEXT ? out->size : CORE_MAX_TEXT);
    out->size = end ? (size_t)(end - out->at) + 1 : 0;
    return out->size > 1;
}

/* ---- from header to header ---- */

bool core_memory_place(struct core_memory *m, uint32_t header, size_t *place) {
    const struct core_start *starts = m->starts.items;
    if (!m->starts.count) return false;
    size_t at = header < m->starts.count ? header : m->starts.count - 1;
    if (!m->disorder) at = m->last_place; /* headers are asked for in their order: the same is found */
    while (at && (starts[at].segment > (int)header || starts[at].segment == CORE_NO_SEGMENT) && core_memory_step(m)) at--;
    while (starts[at].segment < (int)header)
        if (++at == m->starts.count || !core_memory_step(m)) return false;
    *place = m->last_place = at;
    return true;
}

/* Walks from a place to the first start at or above the address. False: the table ended before; *segment is the last
 * one that was passed. */
static bool walk(struct core_memory *m, size_t *place, uint64_t addr, int *segment) {
    *segment = CORE_NO_SEGMENT;
    do {
        if (m->starts.items[*place].segment >= 0) *segment = m->starts.items[*place].segment;
        if (++*place + 1 >= m->starts.count || !core_memory_step(m)) return false;
    } while (m->starts.items[*place].addr < addr);
    return true;
}

int core_memory_segment_before(struct core_memory *m, size_t place, uint64_t addr) {
    int segment;
    (void)walk(m, &place, addr, &segment);
    return segment;
}

int core_memory_segment_after(struct core_memory *m, size_t place, uint64_t addr) {
    int segment;
    if (!walk(m, &place, addr, &segment)) return segment + 1;
    while (m->starts.items[place].segment < 0)
        if (++place + 1 >= m->starts.count) return segment + 1;
    return m->starts.items[place].segment;
}

/* ---- images ---- */

/* The place where an image begins; the table gets its start and its end, where it has none. */
static size_t make_place(struct core_memory *m, uint64_t low, uint64_t high) {
    const ptrdiff_t found = place_of(m, low);
    size_t at = found < 0 ? 0 : (size_t)found;
    if (found < 0) insert_range(m, 0, low, high, CORE_NO_SEGMENT);
    else if (m->starts.items[at].addr < low) insert_range(m, ++at, low, high, CORE_NO_SEGMENT);
    if (at + 1 < m->starts.count && high < m->starts.items[at + 1].addr)
        insert_range(m, at + 1, high, m->starts.items[at + 1].addr, CORE_NO_SEGMENT);
    return at;
}

void core_memory_add_image(struct core_memory *m, int image, uint64_t low, uint64_t high) {
    enum { MOVED_AT_ONCE = 32 };
    const uint64_t end = round_up(m, high);
    if (!core_memory_spend(m, m->starts.count / MOVED_AT_ONCE)) return; /* what is put into the table moves what is behind */
    size_t at = make_place(m, round_down(m, low), end);
    do m->starts.items[at++].image = image;
    while (at < m->starts.count && m->starts.items[at].addr < end && core_memory_step(m));
}

int core_memory_image(const struct core_memory *m, uint64_t addr, bool *ends_here) {
    const ptrdiff_t place = place_of(m, addr);
    *ends_here = false;
    if (place < 0) return -1;
    if (m->starts.items[place].image >= 0 || !place || m->starts.items[place].addr != addr) return m->starts.items[place].image;
    *ends_here = true;
    return m->starts.items[place - 1].image;
}
