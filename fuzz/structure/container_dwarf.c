/* fuzz_dwarf: a byte of flags, the bytes of ten sections, the sections. One unit or one line table, whose length
 * field follows; or a section without such fields; or a byte at the start. */
#include "mutate_part.h"

enum { SECTIONS = 10, LENGTHS = 1, HEADER = LENGTHS + 2 * SECTIONS, ESCAPE_64 = 0xffffffff };
enum { INFO = 0, TYPES = 1, LINE = 3, LENGTH_MAX = 0xffff };

struct range {
    size_t at, size;
};

static struct range find_section(const struct fuzz_input *in, unsigned section) {
    struct range found = { HEADER, 0 };
    for (unsigned i = 0; i <= section; i++) {
        size_t size = fuzz_number(in->data + LENGTHS + 2 * i, 2, false);
        found.at += found.size;
        found.size = i == SECTIONS - 1 || size > in->size - found.at ? in->size - found.at : size;
    }
    return found;
}

/* A contribution that begins with its length: width of that field, 0 where nothing sound is. */
static unsigned read_length(const struct fuzz_input *in, struct range left, bool big_endian, struct range *body) {
    if (left.size < 4) return 0;
    unsigned field = 4;
    uint64_t length = fuzz_number(in->data + left.at, 4, big_endian);
    if (length == ESCAPE_64 && left.size >= 12) {
        field = 8;
        length = fuzz_number(in->data + left.at + 4, 8, big_endian);
    }
    size_t skipped = field == 8 ? 12 : 4;
    if (length > left.size - skipped) return 0;
    *body = (struct range){ left.at + skipped, length };
    return field;
}

/* Mutates one of the contributions of a section; the change of size. */
static ptrdiff_t mutate_unit(struct fuzz_input *in, struct range section) {
    bool big_endian = in->data[0] & 1;
    struct range body, chosen = section;
    unsigned width = 0, field;
    uint32_t seen = 0;
    struct range left = section;
    while ((field = read_length(in, left, big_endian, &body)) != 0) {
        size_t end = body.at + body.size;
        if (fuzz_random(in, ++seen) == 0) {
            chosen = body;
            width = field;
        }
        left = (struct range){ end, section.at + section.size - end };
    }
    ptrdiff_t delta = fuzz_mutate_part(in, chosen.at, chosen.size, fuzz_random(in, 2), 1);
    if (width) fuzz_set_number(in->data + chosen.at - width, width, big_endian, chosen.size + (uint64_t)delta);
    return delta;
}

void fuzz_mutate_container(struct fuzz_input *in) {
    if (in->size <= HEADER || fuzz_random(in, 16) == 0) {
        fuzz_mutate_part(in, 0, in->size < HEADER ? in->size : HEADER, in->size < HEADER, 1);
        return;
    }
    unsigned section;
    struct range range = { 0, 0 };
    for (unsigned tries = 0; tries < SECTIONS && !range.size; tries++)
        range = find_section(in, section = fuzz_random(in, SECTIONS));
    if (!range.size) range = find_section(in, section = INFO);
    bool has_lengths = section == INFO || section == TYPES || section == LINE;
    ptrdiff_t delta = has_lengths ? mutate_unit(in, range) : fuzz_mutate_part(in, range.at, range.size, fuzz_random(in, 2), 1);
    size_t size = range.size + (size_t)delta;
    if (section < SECTIONS - 1 && size <= LENGTH_MAX) fuzz_set_number(in->data + LENGTHS + 2 * section, 2, false, size);
}
