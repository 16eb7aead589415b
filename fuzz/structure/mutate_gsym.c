/* GSYM of version 1 and 2: one part of one record (lines, inlined calls, merged functions, call sites), which may
 * change its size; or what lies before the records, which keeps it. */
#include "mutate_part.h"

#include "formats/gsym/gsym_layout.h"

struct gsym {
    bool big_endian, is_second;
    uint64_t functions, infos, records; /* number; where the record offsets are; what they count from */
    unsigned info_width, record_header;
};

static bool is_inside(const struct fuzz_input *in, uint64_t at, uint64_t size) { return at <= in->size && size <= in->size - at; }

static uint64_t number(const struct gsym *g, const struct fuzz_input *in, uint64_t at, unsigned width) {
    return fuzz_number(in->data + at, width, g->big_endian);
}

/* The directory entry of a type in version 2; 0: there is none. */
static uint64_t find_entry(const struct gsym *g, const struct fuzz_input *in, uint32_t type) {
    uint64_t at = CSNI_GSYM_2_HEADER_SIZE;
    for (; is_inside(in, at, CSNI_GSYM_2_ENTRY_BYTES); at += CSNI_GSYM_2_ENTRY_BYTES) {
        uint64_t found = number(g, in, at, 4);
        if (found == type) return at;
        if (found == CSNI_GSYM_SECTION_END) return 0;
    }
    return 0;
}

static bool read_first(struct gsym *g, const struct fuzz_input *in) {
    unsigned width = in->data[CSNI_GSYM_H_ADDR_OFF_SIZE];
    if (in->size < CSNI_GSYM_HEADER_SIZE || width == 0 || width > 8) return false;
    uint64_t end = (CSNI_GSYM_HEADER_SIZE + g->functions * width + 3) & ~(uint64_t)3;
    *g = (struct gsym){ g->big_endian, false, g->functions, end, 0, CSNI_GSYM_INFO_OFFSET_SIZE, CSNI_GSYM_R_PARTS };
    return true;
}

static bool read_second(struct gsym *g, const struct fuzz_input *in) {
    uint64_t infos = find_entry(g, in, CSNI_GSYM_SECTION_INFOS), records = find_entry(g, in, CSNI_GSYM_SECTION_RECORDS);
    if (!infos || !records) return false;
    g->infos = number(g, in, infos + CSNI_GSYM_2_ENTRY_OFFSET, 8);
    g->records = number(g, in, records + CSNI_GSYM_2_ENTRY_OFFSET, 8);
    g->info_width = CSNI_GSYM_2_INFO_OFFSET_SIZE;
    g->record_header = CSNI_GSYM_2_RECORD_PARTS;
    g->is_second = true;
    return true;
}

static bool read_header(struct gsym *g, const struct fuzz_input *in) {
    *g = (struct gsym){ 0 };
    if (in->size < CSNI_GSYM_2_HEADER_SIZE) return false;
    g->big_endian = in->data[0] == CSNI_GSYM_MAGIC >> 24;
    if (number(g, in, CSNI_GSYM_H_MAGIC, 4) != CSNI_GSYM_MAGIC) return false;
    uint64_t version = number(g, in, CSNI_GSYM_H_VERSION, 2);
    g->functions = number(g, in, CSNI_GSYM_H_NUM_ADDRESSES, 4);
    bool known = version == CSNI_GSYM_VERSION_1 ? read_first(g, in) : version == CSNI_GSYM_VERSION_2 && read_second(g, in);
    return known && g->functions && is_inside(in, g->infos, g->functions * g->info_width);
}

static void move_offsets(const struct gsym *g, struct fuzz_input *in, uint64_t end, ptrdiff_t delta) {
    for (uint64_t i = 0; i < g->functions; i++)
        fuzz_move_offset(in->data + g->infos + i * g->info_width, g->info_width, g->big_endian, end - g->records, delta);
    if (!g->is_second) {
        fuzz_move_offset(in->data + CSNI_GSYM_H_STRTAB_OFFSET, 4, g->big_endian, end, delta);
        return;
    }
    uint64_t at = CSNI_GSYM_2_HEADER_SIZE;
    for (; is_inside(in, at, CSNI_GSYM_2_ENTRY_BYTES) && number(g, in, at, 4); at += CSNI_GSYM_2_ENTRY_BYTES)
        fuzz_move_offset(in->data + at + CSNI_GSYM_2_ENTRY_OFFSET, 8, g->big_endian, end, delta);
    uint64_t records = find_entry(g, in, CSNI_GSYM_SECTION_RECORDS), size = records + CSNI_GSYM_2_ENTRY_SIZE;
    if (records) fuzz_set_number(in->data + size, 8, g->big_endian, number(g, in, size, 8) + (uint64_t)delta);
}

/* Chooses one of the parts of the record at `at`; 0: it has none. */
static uint64_t choose_part(const struct gsym *g, struct fuzz_input *in, uint64_t at) {
    uint64_t chosen = 0;
    uint32_t seen = 0;
    for (at += g->record_header; is_inside(in, at, CSNI_GSYM_PART_HEADER_SIZE) && seen < 16;) {
        uint64_t length = number(g, in, at + 4, 4);
        if (!number(g, in, at, 4) || !is_inside(in, at + CSNI_GSYM_PART_HEADER_SIZE, length)) break;
        if (length && fuzz_random(in, ++seen) == 0) chosen = at;
        at += CSNI_GSYM_PART_HEADER_SIZE + length;
    }
    return chosen;
}

static bool mutate_record(const struct gsym *g, struct fuzz_input *in, uint64_t function) {
    uint64_t at = g->records + number(g, in, g->infos + function * g->info_width, g->info_width);
    uint64_t part = at <= in->size ? choose_part(g, in, at) : 0;
    if (!part) return false;
    uint64_t length = number(g, in, part + 4, 4), bytes = part + CSNI_GSYM_PART_HEADER_SIZE;
    ptrdiff_t delta = fuzz_mutate_part(in, bytes, length, fuzz_random(in, 2), CSNI_GSYM_ALIGN);
    if (!delta) return true;
    fuzz_set_number(in->data + part + 4, 4, g->big_endian, length + (uint64_t)delta);
    if (g->infos < bytes) move_offsets(g, in, bytes + length, delta);
    return true;
}

bool fuzz_mutate_gsym(struct fuzz_input *in) {
    struct gsym g;
    if (!read_header(&g, in)) return false;
    if (fuzz_random(in, 4) == 0) {
        uint32_t at = fuzz_random(in, (uint32_t)in->size);
        size_t size = in->size - at < 16 ? in->size - at : 16;
        fuzz_mutate_part(in, at, size, false, 1);
        return true;
    }
    for (unsigned tries = 0; tries < 8; tries++)
        if (mutate_record(&g, in, fuzz_random(in, (uint32_t)g.functions))) return true;
    return false;
}
