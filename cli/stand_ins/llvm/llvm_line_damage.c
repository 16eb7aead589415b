/* What is odd in line tables, in LLVM's words. */
#include <inttypes.h>
#include <stdio.h>

#include "stand_ins/llvm/llvm_bytes.h"
#include "stand_ins/llvm/llvm_damage.h"

struct table {
    struct llvm_bytes b;     /* ends with the table */
    uint64_t offset, end_of_prologue, end;
    unsigned version, offset_size, opcode_base, min_length, max_operations, line_range, addr_size;
    unsigned char lengths[256];
    bool has_rows;           /* since the last end of a sequence */
    bool advance_reported, range_reported;
};

/* ---- lists of folders and files ---- */

/* False: LLVM does not know the form. */
static bool skip_value(struct table *t, uint64_t form) {
    bool empty;
    switch (form) {
    case 0x08: return llvm_skip_text(&t->b, &empty);
    case 0x0e: case 0x1f: case 0x17: llvm_skip(&t->b, t->offset_size); break;
    case 0x0b: case 0x0c: case 0x25: case 0x11: llvm_skip(&t->b, 1); break;
    case 0x05: case 0x26: case 0x12: llvm_skip(&t->b, 2); break;
    case 0x27: llvm_skip(&t->b, 3); break;
    case 0x06: case 0x28: case 0x13: llvm_skip(&t->b, 4); break;
    case 0x07: case 0x14: llvm_skip(&t->b, 8); break;
    case 0x1e: llvm_skip(&t->b, 16); break;
    case 0x0d: case 0x0f: case 0x1a: case 0x15: llvm_take_leb(&t->b); break;
    case 0x09: case 0x18: llvm_skip(&t->b, llvm_take_leb(&t->b)); break;
    case 0x0a: llvm_skip(&t->b, llvm_take(&t->b, 1)); break;
    case 0x03: llvm_skip(&t->b, llvm_take(&t->b, 2)); break;
    case 0x04: llvm_skip(&t->b, llvm_take(&t->b, 4)); break;
    default: return false;
    }
    return !t->b.why[0];
}

/* NULL: the entries are sound; else what is wrong with them. */
static const char *read_entries(struct table *t, bool is_files, char *text, size_t size) {
    enum { PATH = 1 };
    struct llvm_bytes *b = &t->b;
    const unsigned count = (unsigned)llvm_take(b, 1);
    struct { uint64_t content, form; } formats[256];
    bool has_path = false;
    for (unsigned i = 0; i < count && !b->why[0]; i++) {
        formats[i].content = llvm_take_leb(b);
        formats[i].form = llvm_take_leb(b);
        has_path |= formats[i].content == PATH;
    }
    if (b->why[0]) {
        snprintf(text, size, "failed to parse entry content descriptors: %s", b->why);
        return text;
    }
    if (!has_path) return "failed to parse entry content descriptions because no path was found";
    const uint64_t entries = llvm_take_leb(b);
    for (uint64_t k = 0; k < entries; k++)
        for (unsigned i = 0; i < count; i++) {
            if (skip_value(t, formats[i].form)) continue;
            if (is_files) return "failed to parse file entry because extracting the form value failed";
            return formats[i].content == PATH ? "failed to parse directory entry because extracting the form value failed"
                                              : "failed to parse directory entry because skipping the form value failed";
        }
    return NULL;
}

static const char *read_old_lists(struct table *t) {
    bool empty = false;
    while (!empty)
        if (!llvm_skip_text(&t->b, &empty))
            return "include directories table was not null terminated before the end of the prologue";
    for (;;) {
        if (llvm_skip_text(&t->b, &empty) && empty) return NULL;
        for (int i = 0; i < 3; i++) llvm_take_leb(&t->b);
        if (t->b.why[0]) return "file names table was not null terminated before the end of the prologue";
    }
}

static void check_lists(struct table *t) {
    char text[256];
    const char *why = t->version < 5 ? read_old_lists(t) : read_entries(t, false, text, sizeof text);
    if (t->version >= 5 && !why) why = read_entries(t, true, text, sizeof text);
    if (why)
        fprintf(stderr,
                "warning: parsing line table prologue at 0x%08" PRIx64
                " found an invalid directory or file table description at 0x%08" PRIx64 "\nwarning: %s\n",
                t->offset, t->b.at, why);
    else if (t->b.at != t->end_of_prologue)
        fprintf(stderr,
                "warning: unknown data in line table prologue at offset 0x%08" PRIx64 ": parsing ended (at offset 0x%08" PRIx64
                ") before reaching the prologue end at offset 0x%08" PRIx64 "\n",
                t->offset, t->b.at, t->end_of_prologue);
}

/* ---- the prologue ---- */

/* False: nothing of the table can be read. */
static bool read_prologue(struct table *t, unsigned unit_addr_size) {
    struct llvm_bytes *b = &t->b;
    const uint64_t size = b->size, length = llvm_take_length(b);
    t->offset_size = b->is_64 ? 8 : 4;
    t->end = b->at + length < b->at ? UINT64_MAX : b->at + length;
    if (t->end < b->size) b->size = t->end;
    t->version = (unsigned)llvm_take(b, 2);
    if (!b->why[0] && (t->version < 2 || t->version > 5)) {
        fprintf(stderr, "warning: parsing line table prologue at offset 0x%08" PRIx64 ": unsupported version %u\n",
                t->offset, t->version);
        return false;
    }
    t->addr_size = unit_addr_size;
    if (t->version >= 5) {
        const unsigned own = (unsigned)llvm_take(b, 1);
        if (!b->why[0] && own != unit_addr_size)
            fprintf(stderr,
                    "warning: parsing line table prologue at offset 0x%08" PRIx64
                    ": address size %u doesn't match architecture address size %u\n",
                    t->offset, own, unit_addr_size);
        llvm_take(b, 1);
    }
    const uint64_t prologue = llvm_take(b, t->offset_size);
    t->end_of_prologue = b->at + prologue;
    const uint64_t end = b->size;
    if (t->end_of_prologue < b->size) b->size = t->end_of_prologue;
    t->min_length = (unsigned)llvm_take(b, 1);
    t->max_operations = t->version >= 4 ? (unsigned)llvm_take(b, 1) : 1;
    llvm_take(b, 2);
    t->line_range = (unsigned)llvm_take(b, 1);
    t->opcode_base = (unsigned)llvm_take(b, 1);
    if (!b->why[0] && !t->opcode_base)
        fprintf(stderr, "warning: parsing line table prologue at offset 0x%08" PRIx64 " found opcode base of 0. Assuming no standard opcodes\n", t->offset);
    for (unsigned i = 1; i < t->opcode_base; i++) t->lengths[i] = (unsigned char)llvm_take(b, 1);
    if (b->why[0]) {
        fprintf(stderr, "warning: parsing line table prologue at offset 0x%08" PRIx64 ": %s\n", t->offset, b->why);
        return false;
    }
    check_lists(t);
    b->why[0] = 0;
    b->size = end;
    if (t->end > size) {
        const uint64_t rest = size - t->offset;
        fprintf(stderr,
                "warning: line table program with offset 0x%08" PRIx64 " has length 0x%08" PRIx64
                " but only 0x%08" PRIx64 " bytes are available\n",
                t->offset, t->end - t->offset, rest);
        b->size = size;
    }
    b->at = t->end_of_prologue;
    return true;
}

/* ---- the program ---- */

static const char *opcode_name(const struct table *t, unsigned opcode) {
    if (opcode >= t->opcode_base) return "special";
    return opcode == 2 ? "DW_LNS_advance_pc" : "DW_LNS_const_add_pc";
}

/* The first opcode that changes the address tells what of the prologue prevents it. */
static void check_advance(struct table *t, unsigned opcode, uint64_t at) {
    const bool is_first = !t->advance_reported;
    t->advance_reported = true;
    if (!is_first) return;
    if (t->version >= 4 && !t->max_operations)
        fprintf(
            stderr,
            "warning: line table program at offset 0x%08" PRIx64 " contains a %s opcode at offset 0x%08" PRIx64
            ", but the prologue maximum_operations_per_instruction value is 0, which is invalid. Assuming a value of 1 instead\n",
            t->offset, opcode_name(t, opcode), at);
    if (t->max_operations > 1)
        fprintf(stderr, "warning: line table program at offset 0x%08" PRIx64 " contains a %s opcode at offset 0x%08" PRIx64
                        ", but the prologue maximum_operations_per_instruction value is %u, which is experimentally supported, so line number "
                        "information may be incorrect\n", t->offset, opcode_name(t, opcode), at, t->max_operations);
    if (!t->min_length)
        fprintf(stderr, "warning: line table program at offset 0x%08" PRIx64 " contains a %s opcode at offset 0x%08" PRIx64
                        ", but the prologue minimum_instruction_length value is 0, which prevents any address advancing\n",
                t->offset, opcode_name(t, opcode), at);
}

static void check_special(struct table *t, unsigned opcode, uint64_t at) {
    if (!t->range_reported && !t->line_range) {
        fprintf(stderr,
                "warning: line table program at offset 0x%08" PRIx64 " contains a %s opcode at offset 0x%08" PRIx64
                ", but the prologue line_range value is 0. The address and line will not be adjusted\n",
                t->offset, opcode_name(t, opcode), at);
        t->range_reported = true;
    }
    check_advance(t, opcode, at);
}

static void check_address(struct table *t, uint64_t size, uint64_t at) {
    if (size != t->addr_size)
        fprintf(stderr,
                "warning: mismatching address size at offset 0x%08" PRIx64 " expected 0x%02x found 0x%02" PRIx64 "\n",
                at, t->addr_size, size);
    if (size != 1 && size != 2 && size != 4 && size != 8)
        fprintf(stderr,
                "warning: address size 0x%02" PRIx64 " of DW_LNE_set_address opcode at offset 0x%08" PRIx64 " is unsupported\n",
                size, at);
    llvm_skip(&t->b, size);
}

static void read_extended(struct table *t) {
    enum { END_SEQUENCE = 1, SET_ADDRESS, DEFINE_FILE, SET_DISCRIMINATOR };
    struct llvm_bytes *b = &t->b;
    const uint64_t length = llvm_take_leb(b), at = b->at;
    bool empty;
    if (!length) return;
    switch (llvm_take(b, 1)) {
    case END_SEQUENCE: t->has_rows = false; break;
    case SET_ADDRESS: check_address(t, length - 1, at); break;
    case DEFINE_FILE:
        (void)llvm_skip_text(b, &empty);
        for (int i = 0; i < 3; i++) llvm_take_leb(b);
        break;
    case SET_DISCRIMINATOR: llvm_take_leb(b); break;
    default: llvm_skip(b, length - 1); break;
    }
    if (!b->why[0] && b->at != at + length)
        fprintf(stderr,
                "warning: unexpected line op length at offset 0x%08" PRIx64 " expected 0x%02" PRIx64
                " found 0x%02" PRIx64 "\n",
                at, length, b->at - at);
    b->at = length > UINT64_MAX - at ? UINT64_MAX : at + length; /* LLVM goes back, and reads the same for ever */
}

static void read_standard(struct table *t, unsigned opcode, uint64_t at) {
    enum { COPY = 1, ADVANCE_PC, ADVANCE_LINE, SET_FILE, SET_COLUMN, NEGATE_STMT, SET_BASIC_BLOCK, CONST_ADD_PC, FIXED_ADVANCE_PC, SET_PROLOGUE_END,
           SET_EPILOGUE_BEGIN, SET_ISA };
    struct llvm_bytes *b = &t->b;
    switch (opcode) {
    case COPY: t->has_rows = true; break;
    case ADVANCE_PC:
        llvm_take_leb(b);
        if (!b->why[0]) check_advance(t, opcode, at);
        break;
    case ADVANCE_LINE: case SET_FILE: case SET_COLUMN: case SET_ISA: llvm_take_leb(b); break;
    case CONST_ADD_PC: check_special(t, opcode, at); break;
    case FIXED_ADVANCE_PC: llvm_take(b, 2); break;
    case NEGATE_STMT: case SET_BASIC_BLOCK: case SET_PROLOGUE_END: case SET_EPILOGUE_BEGIN: break;
    default:
        for (unsigned i = 0; i < t->lengths[opcode]; i++) llvm_take_leb(b);
    }
}

void llvm_report_lines(const struct llvm_module *m, const struct csn_debug_unit *unit) {
    struct table t = { .b = llvm_section_bytes(m, "line"), .offset = unit->line_offset };
    if (!unit->has_lines || t.offset >= t.b.size) return;
    t.b.at = t.offset;
    if (!read_prologue(&t, unit->address_size)) return;
    while (t.b.at < t.b.size) {
        const uint64_t at = t.b.at;
        const unsigned opcode = (unsigned)llvm_take(&t.b, 1);
        if (!opcode) {
            read_extended(&t);
        } else if (opcode < t.opcode_base) {
            read_standard(&t, opcode, at);
        } else {
            check_special(&t, opcode, at);
            t.has_rows = true;
        }
        if (!t.b.why[0]) continue;
        fprintf(stderr, "warning: %s\n", t.b.why);
        if (opcode) return;
        t.b.why[0] = 0;
    }
    if (t.has_rows)
        fprintf(stderr, "warning: last sequence in debug line table at offset 0x%08" PRIx64 " is not terminated\n",
                t.offset);
}
