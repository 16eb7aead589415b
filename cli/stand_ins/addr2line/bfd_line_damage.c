/* Why line tables cannot be read, in BFD's words. */
#include <inttypes.h>

#include "stand_ins/addr2line/bfd_damage.h"

/* A table, as far as messages need it. */
struct table {
    const struct bfd_file *file;
    struct bfd_bytes b;
    struct bfd_widths widths; /* of the unit */
    unsigned version, offset_size, opcode_base;
    uint64_t file_count;
    unsigned char lengths[256]; /* of opcodes */
};

static bool is_too_large(struct table *t) {
    uint64_t length = bfd_take_number(&t->b, 4);
    t->offset_size = 4;
    if (length == UINT32_MAX || (!length && t->widths.address == 8)) {
        length = bfd_take_number(&t->b, length ? 8 : 4);
        t->offset_size = 8;
    }
    const uint64_t rest = (uint64_t)(t->b.end - t->b.p);
    if (length > rest) {
        bfd_print_damage(t->file, "line info data is bigger (%#" PRIx64 ") than the space remaining in the section (%#" PRIx64 ")",
                         length, rest);
        return true;
    }
    t->b.end = t->b.p + length;
    return false;
}

static bool has_known_version(struct table *t) {
    t->version = (unsigned)bfd_take_number(&t->b, 2);
    if (t->version < 2 || t->version > 5) bfd_print_damage(t->file, "unhandled .debug_line version %u", t->version);
    return t->version >= 2 && t->version <= 5;
}

/* What stands before the lists of folders and files. */
static bool read_prologue(struct table *t) {
    struct bfd_bytes *b = &t->b;
    if ((uint64_t)(b->end - b->p) <= t->offset_size + (t->version >= 5 ? 8 : t->version >= 4 ? 6 : 5)) {
        bfd_print_damage(t->file, "ran out of room reading prologue");
        return false;
    }
    if (t->version >= 5) {
        bfd_take_number(b, 1);
        const unsigned selector = (unsigned)bfd_take_number(b, 1);
        if (selector) bfd_print_damage(t->file, "line info unsupported segment selector size %u", selector);
        if (selector) return false;
    }
    bfd_take_number(b, t->offset_size);
    bfd_take_number(b, 1);
    if (t->version >= 4 && !bfd_take_number(b, 1)) {
        bfd_print_damage(t->file, "invalid maximum operations per instruction");
        return false;
    }
    bfd_take_number(b, 3);
    t->opcode_base = (unsigned)bfd_take_number(b, 1);
    if (t->opcode_base && (uint64_t)(b->end - b->p) <= t->opcode_base - 1) {
        bfd_print_damage(t->file, "ran out of room reading opcodes");
        return false;
    }
    for (unsigned i = 1; i < t->opcode_base; i++) t->lengths[i] = (unsigned char)bfd_take_number(b, 1);
    return true;
}

/* Folders or files of version 5. */
static bool read_entries(struct table *t, uint64_t *count) {
    struct bfd_bytes *b = &t->b;
    const unsigned formats = (unsigned)bfd_take_number(b, 1);
    const unsigned char *first_format = b->p;
    for (unsigned i = 0; i < 2 * formats; i++) bfd_take_leb(b);
    *count = bfd_take_leb(b);
    if (!formats && *count) {
        bfd_print_damage(t->file, "zero format count");
        return false;
    }
    if (*count > (uint64_t)(b->end - b->p)) {
        bfd_print_damage(t->file, "data count (%" PRIx64 ") larger than buffer size", *count);
        return false;
    }
    for (uint64_t k = 0; k < *count; k++) {
        struct bfd_bytes format = *b;
        format.p = first_format;
        for (unsigned i = 0; i < formats; i++) {
            const uint64_t content = bfd_take_leb(&format);
            if (!content || content > 5) {
                bfd_print_damage(t->file, "unknown format content type %" PRIu64, content);
                return false;
            }
            if (!bfd_skip_value(t->file, b, bfd_take_leb(&format), &t->widths)) return false;
        }
    }
    return true;
}

static bool read_lists(struct table *t) {
    uint64_t folders;
    if (t->version >= 5) return read_entries(t, &folders) && read_entries(t, &t->file_count);
    while (bfd_skip_string(&t->b)) continue;
    for (; bfd_skip_string(&t->b); t->file_count++)
        for (int i = 0; i < 3; i++) bfd_take_leb(&t->b);
    return true;
}

static void check_file(const struct table *t, uint32_t number) {
    if (t->version < 5 && !number) return;
    if (number - (t->version < 5) >= t->file_count) bfd_print_damage(t->file, "mangled line number section (bad file number)");
}

/* False: BFD reads no further. */
static bool skip_extended(struct table *t) {
    enum { END_SEQUENCE = 1, SET_ADDRESS, DEFINE_FILE, SET_DISCRIMINATOR, HP_SOURCE_FILE_CORRELATION = 0x80 };
    struct bfd_bytes *b = &t->b;
    const uint64_t length = (uint32_t)bfd_take_leb(b);
    switch (bfd_take_number(b, 1)) {
    case END_SEQUENCE: return true;
    case SET_ADDRESS: bfd_take_number(b, t->widths.address); return true;
    case DEFINE_FILE:
        (void)bfd_skip_string(b);
        for (int i = 0; i < 3; i++) bfd_take_leb(b);
        t->file_count++;
        return true;
    case SET_DISCRIMINATOR: bfd_take_leb(b); return true;
    case HP_SOURCE_FILE_CORRELATION:
        b->p = length - 1 > (uint64_t)(b->end - b->p) ? b->end : b->p + (length - 1);
        return true;
    default: bfd_print_damage(t->file, "mangled line number section"); return false;
    }
}

static bool read_program(struct table *t) {
    enum { EXTENDED, COPY, ADVANCE_PC, ADVANCE_LINE, SET_FILE, SET_COLUMN, NEGATE_STMT, SET_BASIC_BLOCK, CONST_ADD_PC, FIXED_ADVANCE_PC };
    struct bfd_bytes *b = &t->b;
    while (b->p < b->end) {
        const unsigned opcode = (unsigned)bfd_take_number(b, 1);
        if (opcode >= t->opcode_base) continue;
        switch (opcode) {
        case EXTENDED:
            if (!skip_extended(t)) return false;
            break;
        case COPY: case NEGATE_STMT: case SET_BASIC_BLOCK: case CONST_ADD_PC: break;
        case ADVANCE_PC: case ADVANCE_LINE: case SET_COLUMN: bfd_take_leb(b); break;
        case SET_FILE: check_file(t, (uint32_t)bfd_take_leb(b)); break;
        case FIXED_ADVANCE_PC: bfd_take_number(b, 2); break;
        default:
            for (unsigned i = 0; i < t->lengths[opcode]; i++) bfd_take_leb(b);
        }
    }
    return true;
}

bool bfd_report_lines(const struct bfd_file *file, const struct csn_debug_unit *unit) {
    struct table t = { .file = file, .b = bfd_section_bytes(file, "line") };
    const uint64_t size = (uint64_t)(t.b.end - t.b.begin);
    t.widths = (struct bfd_widths){ unit->version, unit->address_size, 4 };
    if (!unit->has_lines) return false;
    if (unit->line_offset && unit->line_offset >= size) {
        bfd_print_damage(file, "offset (%" PRIu64 ") greater than or equal to .debug_line size (%" PRIu64 ")",
                         unit->line_offset, size);
        return false;
    }
    if (size < 16) {
        bfd_print_damage(file, "line info section is too small (%" PRIu64 ")", size);
        return false;
    }
    t.b.p += unit->line_offset;
    return !is_too_large(&t) && has_known_version(&t) && read_prologue(&t) && read_lists(&t) && read_program(&t);
}
