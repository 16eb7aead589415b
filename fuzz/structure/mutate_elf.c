/* ELF: one section's bytes, one section header, or one program header. A section may change its size; the headers follow. */
#include "mutate_part.h"

#include <string.h>

struct elf {
    unsigned word;            /* bytes of an offset: 4 or 8 */
    bool big_endian;
    uint64_t sections, segments; /* offsets of their headers */
    uint64_t section_count, segment_count;
};

/* Where the fields are: in a file of 32 bits, in one of 64. */
static size_t pick(const struct elf *elf, size_t narrow, size_t wide) { return elf->word == 4 ? narrow : wide; }
static size_t section_bytes(const struct elf *elf) { return pick(elf, 40, 64); }
static size_t segment_bytes(const struct elf *elf) { return pick(elf, 32, 56); }

static bool is_inside(const struct fuzz_input *in, uint64_t at, uint64_t size) { return at <= in->size && size <= in->size - at; }

static bool read_header(struct elf *elf, const struct fuzz_input *in) {
    if (in->size < 64 || memcmp(in->data, "\177ELF", 4) != 0) return false;
    elf->word = in->data[4] == 1 ? 4 : 8;
    elf->big_endian = in->data[5] == 2;
    elf->segments = fuzz_number(in->data + pick(elf, 28, 32), elf->word, elf->big_endian);
    elf->sections = fuzz_number(in->data + pick(elf, 32, 40), elf->word, elf->big_endian);
    elf->segment_count = fuzz_number(in->data + pick(elf, 44, 56), 2, elf->big_endian);
    elf->section_count = fuzz_number(in->data + pick(elf, 48, 60), 2, elf->big_endian);
    if (!is_inside(in, elf->segments, elf->segment_count * segment_bytes(elf))) elf->segment_count = 0;
    return elf->section_count > 0 && is_inside(in, elf->sections, elf->section_count * section_bytes(elf));
}

static uint8_t *section_field(const struct elf *elf, struct fuzz_input *in, uint64_t section, size_t narrow, size_t wide) {
    return in->data + elf->sections + section * section_bytes(elf) + pick(elf, narrow, wide);
}

static void move_headers(struct elf *elf, struct fuzz_input *in, uint64_t end, ptrdiff_t delta) {
    fuzz_move_offset(in->data + pick(elf, 28, 32), elf->word, elf->big_endian, end, delta);
    fuzz_move_offset(in->data + pick(elf, 32, 40), elf->word, elf->big_endian, end, delta);
    if (elf->sections >= end) elf->sections += (uint64_t)delta;
    if (elf->segments >= end) elf->segments += (uint64_t)delta;
    for (uint64_t i = 0; i < elf->section_count; i++)
        fuzz_move_offset(section_field(elf, in, i, 16, 24), elf->word, elf->big_endian, end, delta);
    for (uint64_t i = 0; i < elf->segment_count; i++)
        fuzz_move_offset(in->data + elf->segments + i * segment_bytes(elf) + pick(elf, 4, 8), elf->word,
                         elf->big_endian, end, delta);
}

static bool mutate_section(struct elf *elf, struct fuzz_input *in, uint64_t section) {
    enum { NOBITS = 8, ALIGN = 8 };
    uint64_t type = fuzz_number(section_field(elf, in, section, 4, 4), 4, elf->big_endian);
    uint64_t at = fuzz_number(section_field(elf, in, section, 16, 24), elf->word, elf->big_endian);
    uint64_t size = fuzz_number(section_field(elf, in, section, 20, 32), elf->word, elf->big_endian);
    bool holds_headers = at < elf->sections + elf->section_count * section_bytes(elf) && elf->sections < at + size;
    if (type == NOBITS || !size || !is_inside(in, at, size) || holds_headers) return false;
    ptrdiff_t delta = fuzz_mutate_part(in, at, size, fuzz_random(in, 2), ALIGN);
    if (!delta) return true;
    move_headers(elf, in, at + size, delta);
    fuzz_set_number(section_field(elf, in, section, 20, 32), elf->word, elf->big_endian, size + (uint64_t)delta);
    return true;
}

bool fuzz_mutate_elf(struct fuzz_input *in) {
    struct elf elf;
    if (!read_header(&elf, in)) return false;
    uint32_t sections = (uint32_t)elf.section_count, segments = (uint32_t)elf.segment_count;
    switch (fuzz_random(in, 16)) {
    case 0:
        fuzz_mutate_part(in, elf.sections + fuzz_random(in, sections) * section_bytes(&elf), section_bytes(&elf), false, 1);
        return true;
    case 1:
        if (!segments) return false;
        fuzz_mutate_part(in, elf.segments + fuzz_random(in, segments) * segment_bytes(&elf), segment_bytes(&elf), false, 1);
        return true;
    default:
        for (unsigned tries = 0; tries < 8; tries++)
            if (mutate_section(&elf, in, fuzz_random(in, sections))) return true;
        return false;
    }
}
