/* Line programs: folded rows with AVX2, 64 bytes of opcodes at a time.
 *
 * Masks of the bytes say where opcodes begin, what they are, and which of them can change a row: GCC writes a row for each
 * statement that it thinks of, and a third of all rows repeat the one before. Only special opcodes, changes of file, and the
 * first row after a change of file or line are looked at one by one. Columns, flags and small discriminators are
 * passed with the block. What the masks do not know (`odd`) is left to the caller. */
#include "dwarf/dwarf_line_rows.h"

#if CSNI_BYTE_BLOCKS

/* One bit a byte: the opcodes of a block. */
struct opcodes {
    uint64_t special, rows;  /* special opcodes; those and copies */
    uint64_t set_file, add;  /* `add` is DW_LNS_const_add_pc */
    uint64_t line1, line2;   /* DW_LNS_advance_line with an operand of one or two bytes, before a row or an `add` */
    uint64_t odd;
};

CSNI_AVX2_INLINE struct opcodes find_opcodes(const struct csni_line_program *pr, const uint8_t *p) {
    struct csni_block b = csni_block_load(p);
    uint64_t more = csni_block_bits(b.lo, b.hi), two = csni_block_equal(b, DW_LNS_advance_pc);
    uint64_t lines = csni_block_equal(b, DW_LNS_advance_line), files = csni_block_equal(b, DW_LNS_set_file);
    uint64_t all = csni_find_opcodes(lines | files | csni_block_equal(b, DW_LNS_set_column), more);
    struct opcodes o;
    o.special = all & csni_block_at_least(b, pr->h->opcode_base);
    o.rows = o.special | (all & csni_block_equal(b, DW_LNS_copy));
    o.add = all & csni_block_equal(b, DW_LNS_const_add_pc);
    /* The bytes of a discriminator below 128 are 0, 2, 4 and that: they were taken for an opcode without operand, another
     * one, and one with an operand, so that what follows is right. */
    uint64_t zeros = all & csni_block_equal(b, 0);
    uint64_t discriminators = zeros & two >> 1 & files >> 2 & ~(more >> 3);
    o.set_file = files & all & ~(discriminators << 2);
    uint64_t carriers = o.rows | o.add;
    lines &= all;
    o.line1 = lines & carriers >> 2;
    o.line2 = lines & carriers >> 3 & more >> 1;
    o.odd = (lines & ~(o.line1 | o.line2)) | (zeros & ~discriminators) | (two & all & ~(discriminators << 1)) |
            (o.set_file & more >> 1 & more >> 2) |
            (all & (csni_block_equal(b, DW_LNS_fixed_advance_pc) | csni_block_equal(b, pr->odd_opcode)));
    return o;
}

/* How many bytes of the block to run: to after its last row, or up to what is odd before that. 0: none. */
CSNI_AVX2_INLINE uint64_t usual_size(const struct opcodes *o) {
    uint64_t size = CSNI_BLOCK - csni_leading_zeros(o->rows), odd = _tzcnt_u64(o->odd);
    if (CSNI_UNLIKELY(odd < size || !size)) return odd & (CSNI_BLOCK - 1);
    return size;
}

/* The opcodes at which file, line, address or rows can change. The first row after each change of file or line is where the
 * carry ends that begins at the change and runs through what is no row. */
CSNI_AVX2_INLINE uint64_t find_events(const struct opcodes *o, bool pending) {
    uint64_t changes = o->set_file | o->add | o->line1 | o->line2;
    uint64_t past = (~o->rows + changes) & o->rows;
    return o->special | o->set_file | o->add | past | (o->rows & (0 - (uint64_t)pending) & (0 - o->rows));
}

/* The operand, of one byte or two, of a DW_LNS_advance_line that ends before p. Of one byte it is the upper half
 * of what two would make. */
CSNI_AVX2_INLINE int32_t line_operand(const uint8_t *p, bool two) {
    uint32_t v = csni_get16(p - 2, false);
    v = ((v & 0x7f) | (v >> 1 & 0x3f80)) << 18;
    return (int32_t)v >> (two ? 18 : 25);
}

CSNI_AVX2_INLINE uint32_t file_operand(const struct csni_line_program *pr, const uint8_t *p) {
    uint32_t number = p[0] & 0x7f;
    if (p[0] & 0x80) number |= (uint32_t)p[1] << 7;
    return number + (!number & pr->repeats_first);
}

CSNI_AVX2 const uint8_t *csni_line_run_blocks(const struct csni_line_program *pr, struct csni_line_machine *m,
                                              const uint8_t *p, const uint8_t *stretch, struct csni_line_row **rows) {
    const struct csni_line_effect *const effects = pr->effects;
    struct csni_line_row *row = *rows - 1; /* the last one */
    /* File and line as one number, the line above: as they stand in a row. */
    uint64_t addr = m->addr, place = m->file | (uint64_t)m->line << 32;
    uint64_t last_addr = row->addr, last_place = row->file | (uint64_t)row->line << 32;
    uint32_t changes = row->changes;
    while (stretch - p >= CSNI_LINE_BLOCK_MIN) {
        const struct opcodes o = find_opcodes(pr, p);
        uint64_t size = usual_size(&o);
        if (!size) break;
        uint64_t events = _bzhi_u64(find_events(&o, addr != last_addr || place != last_place), (unsigned)size);
        const uint64_t line2 = o.line2 << 3, lines = o.line1 << 2 | line2;
        for (; events; events = _blsr_u64(events)) {
            uint64_t i = _tzcnt_u64(events);
            const struct csni_line_effect *e = &effects[p[i]];
            if (lines >> i & 1) place += (uint64_t)(uint32_t)line_operand(p + i, line2 >> i & 1) << 32;
            addr += e->addr;
            place += (uint64_t)e->line << 32;
            if (CSNI_UNLIKELY(!e->row)) {
                if (p[i] == DW_LNS_const_add_pc) continue;
                uint32_t file = file_operand(pr, p + i + 1);
                if (!csni_line_file_exists(pr->table, file)) {
                    size = i;
                    break;
                }
                place = (place & ~(uint64_t)UINT32_MAX) | file;
                continue;
            }
            changes += place != last_place;
            row += addr != last_addr;
            *row = (struct csni_line_row){ addr, (uint32_t)place, (uint32_t)(place >> 32), changes };
            last_addr = addr;
            last_place = place;
        }
        p += size;
        if (CSNI_UNLIKELY(!size)) break;
    }
    m->addr = addr;
    m->file = (uint32_t)place;
    m->line = (uint32_t)(place >> 32);
    *rows = row + 1;
    return p;
}

#endif
