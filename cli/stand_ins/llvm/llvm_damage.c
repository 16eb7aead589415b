/* Headers of units and sets of ranges, and what is wrong with them in LLVM's words. */
#include "stand_ins/llvm/llvm_damage.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "stand_ins/base/growth.h"
#include "stand_ins/llvm/llvm_bytes.h"

/* ---- ranges ---- */

/* A set as it is read. */
struct set {
    uint64_t offset, end, unit_offset;
    unsigned addr_size;
};

/* False: the header is damaged, which was printed. */
static bool read_set_header(struct llvm_bytes *b, struct set *set) {
    set->offset = b->at;
    const uint64_t length = llvm_take_length(b);
    const unsigned offset_size = b->is_64 ? 8 : 4, version = (unsigned)llvm_take(b, 2);
    (void)version;
    set->unit_offset = llvm_take(b, offset_size);
    set->addr_size = (unsigned)llvm_take(b, 1);
    const unsigned selector = (unsigned)llvm_take(b, 1);
    if (b->why[0]) {
        fprintf(stderr, "error: parsing address ranges table at offset 0x%" PRIx64 ": %s\n", set->offset, b->why);
        return false;
    }
    const uint64_t full = length + (b->is_64 ? 12 : 4);
    if (full < length || full > b->size - set->offset) {
        fprintf(stderr, "error: the length of address range table at offset 0x%" PRIx64 " exceeds section size\n", set->offset);
        return false;
    }
    if (set->addr_size != 2 && set->addr_size != 4 && set->addr_size != 8) {
        fprintf(stderr,
                "error: address range table at offset 0x%" PRIx64
                " has unsupported address size: %u (supported are 2, 4, 8)\n",
                set->offset, set->addr_size);
        return false;
    }
    if (selector) {
        fprintf(stderr, "error: non-zero segment selector size in address range table at offset 0x%" PRIx64 " is not supported\n",
                set->offset);
        return false;
    }
    const uint64_t tuple = 2 * set->addr_size, first = (b->at - set->offset + tuple - 1) / tuple * tuple;
    if (full % tuple) {
        fprintf(stderr, "error: address range table at offset 0x%" PRIx64 " has length that is not a multiple of the tuple size\n",
                set->offset);
        return false;
    }
    if (full <= first) {
        fprintf(stderr, "error: address range table at offset 0x%" PRIx64 " has an insufficient length to contain any entries\n",
                set->offset);
        return false;
    }
    b->at = set->offset + first;
    set->end = set->offset + full;
    return true;
}

/* Whether a null entry ends the set. Premature ones are printed in the first pass; nothing of a set without an end is taken. */
static bool ends_well(struct llvm_bytes b, const struct set *set) {
    while (b.at < set->end) {
        const uint64_t entry = b.at, low = llvm_take(&b, set->addr_size), length = llvm_take(&b, set->addr_size);
        if (low || length) continue;
        if (b.at == set->end) return true;
        fprintf(stderr,
                "warning: address range table at offset 0x%" PRIx64
                " has a premature terminator entry at offset 0x%" PRIx64 "\n",
                set->offset, entry);
    }
    fprintf(stderr, "error: address range table at offset 0x%" PRIx64 " is not terminated by null entry\n", set->offset);
    return false;
}

static void read_sets(struct llvm_bytes b, llvm_take_arange *take, void *context) {
    while (b.at < b.size) {
        struct set set;
        if (!read_set_header(&b, &set) || !ends_well(b, &set)) return;
        take(context, set.unit_offset, 0, 0);
        while (b.at < set.end) {
            const uint64_t low = llvm_take(&b, set.addr_size), length = llvm_take(&b, set.addr_size);
            take(context, set.unit_offset, low, low + length);
        }
    }
}

/* LLVM relocates most sections of objects that are not linked, but not this one. Where addends are in the relocations, all sets are
 * those of the unit at 0, and all ranges begin at 0; of RISC-V they are empty, since their lengths are differences of labels. */
void llvm_read_aranges(const struct llvm_module *m, llvm_take_arange *take, void *context) {
    struct llvm_bytes b = llvm_section_bytes(m, "aranges");
    size_t size = 0;
    if (!llvm_is_unlinked(m)) {
        read_sets(b, take, context);
        return;
    }
    unsigned char *copy = zeroed_memory((size_t)b.size, 1);
    const csn_status status = csn_debug_info_copy_unrelocated(m->info, "aranges", copy, (size_t)b.size, &size, NULL);
    if (status == CSN_OK && size == b.size) b.bytes = copy;
    read_sets(b, take, context);
    free(copy);
}

/* ---- units ---- */

/* False: LLVM cannot read it, which was printed. */
static bool read_unit_header(struct llvm_bytes *b) {
    enum { UNIT_TYPE = 2, UNIT_SKELETON = 4, UNIT_SPLIT = 5, UNIT_SPLIT_TYPE = 6 };
    const uint64_t offset = b->at, length = llvm_take_length(b);
    const unsigned version = (unsigned)llvm_take(b, 2), offset_size = b->is_64 ? 8 : 4;
    const unsigned kind = version >= 5 ? (unsigned)llvm_take(b, 1) : 1;
    unsigned addr_size = version >= 5 ? (unsigned)llvm_take(b, 1) : 0;
    llvm_take(b, offset_size);
    if (version < 5) addr_size = (unsigned)llvm_take(b, 1);
    if (kind == UNIT_TYPE || kind == UNIT_SPLIT_TYPE || kind == UNIT_SKELETON || kind == UNIT_SPLIT) llvm_take(b, 8);
    if (kind == UNIT_TYPE || kind == UNIT_SPLIT_TYPE) llvm_take(b, offset_size);
    if (b->why[0]) {
        fprintf(stderr, "warning: DWARF unit at 0x%08" PRIx64 " cannot be parsed:\nwarning: %s\n", offset, b->why);
        return false;
    }
    const uint64_t next = offset + (b->is_64 ? 12 : 4) + length;
    if (next > b->size || next < offset) {
        fprintf(stderr,
                "warning: DWARF unit from offset 0x%08" PRIx64 " incl. to offset  0x%08" PRIx64
                " excl. extends past section size 0x%08" PRIx64 "\n",
                offset, next, b->size);
        return false;
    }
    if (version < 2 || version > 5) {
        fprintf(stderr, "warning: DWARF unit at offset 0x%08" PRIx64 " has unsupported version %u, supported are 2-5\n",
                offset, version);
        return false;
    }
    if (addr_size != 2 && addr_size != 4 && addr_size != 8) {
        fprintf(stderr, "warning: DWARF unit at offset 0x%08" PRIx64 " has unsupported address size: %u (supported are 2, 4, 8)\n",
                offset, addr_size);
        return false;
    }
    b->at = next;
    return true;
}

bool llvm_report_units(const struct llvm_module *m) {
    enum { FORGOTTEN_AT_ONCE = 4 << 20 };
    struct llvm_bytes b = llvm_section_bytes(m, "info");
    uint64_t forgotten = 0;
    bool is_first = true, is_sound = true;
    if (!m->reports_damage) return false;
    for (; b.at < b.size && (is_sound = read_unit_header(&b)); is_first = false) {
        if (b.at - forgotten < FORGOTTEN_AT_ONCE) continue;
        csn_debug_info_forget_section(m->info, "info", forgotten, b.at - forgotten);
        forgotten = b.at;
    }
    csn_debug_info_forget_section(m->info, "info", forgotten, b.size - forgotten);
    return !is_sound && is_first;
}

/* ---- abbreviations ---- */

/* False: LLVM cannot read the table. */
static bool is_sound_table(struct llvm_bytes b) {
    enum { IMPLICIT_CONST = 0x21 };
    for (;;) {
        const uint64_t code = (uint32_t)llvm_take_leb(&b);
        if (b.why[0]) return false;
        if (!code) return true;
        if (!llvm_take_leb(&b)) return false; /* the tag */
        llvm_take(&b, 1);
        for (uint64_t name = 1; name;) {
            name = llvm_take_leb(&b);
            const uint64_t form = llvm_take_leb(&b);
            if (b.why[0] || !name != !form) return false;
            if (form == IMPLICIT_CONST) llvm_take_leb(&b);
        }
    }
}

void llvm_report_root(const struct llvm_module *m, const struct csn_debug_unit *unit) {
    struct llvm_bytes b = llvm_section_bytes(m, "info"), table = llvm_section_bytes(m, "abbrev");
    b.at = unit->offset;
    (void)llvm_take_length(&b);
    const unsigned offset_size = b.is_64 ? 8 : 4, version = (unsigned)llvm_take(&b, 2);
    if (version >= 5) llvm_take(&b, 2);
    table.at = llvm_take(&b, offset_size);
    if (!m->reports_damage || table.at >= table.size || is_sound_table(table)) return;
    fprintf(stderr,
            "warning: DWARF unit at offset 0x%08" PRIx64 " contains invalid abbreviation set offset 0x%" PRIx64
            "\nerror: No unit DIE\n",
            unit->offset, table.at);
}
