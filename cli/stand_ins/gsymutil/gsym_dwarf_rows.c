/* The rows of a function's range. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stand_ins/base/dwarf_words.h"
#include "stand_ins/base/growth.h"
#include "stand_ins/gsymutil/gsym_dwarf.h"

enum { DW_AT_LLVM_stmt_sequence = 0x3e0c };

struct row_numbers { size_t *items; size_t count, capacity; };

static bool holds(const struct llvm_sequence *s, uint64_t addr) { return !s->section && addr >= s->low && addr < s->high; }

/* The last row of a sequence at or before an address, its end left out. */
static size_t row_before(const struct gsym_unit *u, const struct llvm_sequence *s, uint64_t addr) {
    const struct csn_debug_row *rows = u->lines->lines->rows + s->first;
    size_t low = 1, high = s->count - 1;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (rows[middle].addr <= addr) low = middle + 1;
        else high = middle;
    }
    return s->first + low - 1;
}

/* The rows of [start, end). `only`: of this sequence; NULL: of all that hold it. */
static bool find_rows(const struct gsym_unit *u, uint64_t start, uint64_t end, const struct llvm_sequence *only,
                      struct row_numbers *out) {
    const struct llvm_sequence *s = u->lines->sequences, *limit = s + u->lines->sequence_count;
    out->count = 0;
    if (only) {
        s = only;
        limit = only + 1;
    } else {
        size_t low = 0, high = u->lines->sequence_count; /* by section and end; those of no section come first */
        while (low < high) {
            const size_t middle = low + (high - low) / 2;
            if (!s[middle].section && s[middle].high <= start) low = middle + 1;
            else high = middle;
        }
        s += low;
    }
    if (s == limit || !holds(s, start)) return false;
    for (const struct llvm_sequence *at = s; at < limit && at->low < end; at++) {
        size_t first = at == s ? row_before(u, at, start) : at->first;
        size_t last = holds(at, end - 1) ? row_before(u, at, end - 1) : at->first + at->count - 1;
        for (; first <= last; first++) GROW_PUSH(out, first);
    }
    return true;
}

/* The line of the declaration stands for the whole function. */
static void use_declaration(struct gsym_unit *u, const struct csn_debug_die *die, struct gsym_function *f) {
    uint64_t file, line;
    char *path = llvm_decl_file(u->module, die, LLVM_PATH_ABSOLUTE);
    if (!path) {
        if (!gsym_die_constant(die, DW_AT_decl_file, &file) || file == UINT32_MAX) return;
        u->build->report->counts[GSYM_BAD_DECL_FILE]++;
        printf("error: function DIE at 0x%08" PRIx64 " has an invalid file index %" PRIu64 " in its DW_AT_decl_file attribute, "
               "unable to create a single line entry from the DW_AT_decl_file/DW_AT_decl_line attributes.\n", die->offset, file);
        return;
    }
    if (gsym_die_constant(die, DW_AT_decl_line, &line)) {
        const struct gsym_row row = { f->start, gsym_build_file(u->build, path, u->module->object.container == CSN_CONTAINER_PE),
                                      (uint32_t)line };
        GROW_PUSH(&f->rows, row);
    }
    free(path);
}

static void put_row(const struct csn_debug_row *row) {
    printf("0x%016" PRIx64 " %6" PRIu32 " %6" PRIu32 " %6" PRIu32 " %3u %13" PRIu32 " %7u ", row->addr, row->line,
           row->column, row->file, 0u, row->discriminator, row->op_index);
    if (row->flags & CSN_LINE_STATEMENT) fputs(" is_stmt", stdout);
    if (row->flags & CSN_LINE_BASIC_BLOCK) fputs(" basic_block", stdout);
    if (row->flags & CSN_LINE_PROLOGUE_END) fputs(" prologue_end", stdout);
    if (row->flags & CSN_LINE_EPILOGUE_BEGIN) fputs(" epilogue_begin", stdout);
    if (row->flags & CSN_LINE_END_SEQUENCE) fputs(" end_sequence", stdout);
    putchar('\n');
}

static void report_bad_file(struct gsym_unit *u, const struct csn_debug_die *die, const struct csn_debug_row *row) {
    u->build->report->counts[GSYM_BAD_ROW_FILE]++;
    printf("error: function DIE at 0x%08" PRIx64 " has a line entry with invalid DWARF file index, this entry will be removed:\n",
           die->offset);
    puts("Address            Line   Column File   ISA Discriminator OpIndex Flags");
    puts("------------------ ------ ------ ------ --- ------------- ------- -------------");
    put_row(row);
    putchar('\n');
}

static void report_disorder(struct gsym_unit *u, const struct csn_debug_die *die, const struct gsym_function *f,
                            const struct gsym_row *row, const struct row_numbers *numbers) {
    const struct gsym_row *first = f->rows.count ? &f->rows.items[0] : NULL;
    if (first && memcmp(first, row, sizeof *row) == 0) {
        if (u->build->is_quiet) return;
        u->build->report->counts[GSYM_DUPLICATE_LINES]++;
        puts("warning: duplicate line table detected for DIE:");
    } else {
        u->build->report->counts[GSYM_NOT_ASCENDING]++;
        puts("error: line table has addresses that do not monotonically increase:");
        for (size_t i = 0; i < numbers->count; i++) put_row(&u->lines->lines->rows[numbers->items[i]]);
    }
    gsym_put_die(u, die);
}

static void take_rows(struct gsym_unit *u, const struct csn_debug_die *die, const struct row_numbers *numbers,
                      struct gsym_function *f) {
    uint64_t previous = 0;
    for (size_t i = 0; i < numbers->count; i++) {
        const struct csn_debug_row *from = &u->lines->lines->rows[numbers->items[i]];
        struct gsym_row row = { from->addr, 0, from->line };
        if (!gsym_unit_file(u, from->file, &row.file)) {
            report_bad_file(u, die, from);
            continue;
        }
        if (row.addr >= f->end) continue;
        if (row.addr < f->start) {
            u->build->report->counts[GSYM_START_BETWEEN_ROWS]++;
            printf("error: DIE has a start address whose LowPC is between the line table Row[%zu] with address 0x%016" PRIx64
                   " and the next one.\n", numbers->items[i], row.addr);
            gsym_put_die(u, die);
            row.addr = f->start;
        }
        if (i && from->addr < previous) {
            report_disorder(u, die, f, &row, numbers);
            break;
        }
        const struct gsym_row *last = f->rows.count ? &f->rows.items[f->rows.count - 1] : NULL;
        if (last && last->file == row.file && last->line == row.line) continue;
        previous = 0;
        if (from->flags & CSN_LINE_END_SEQUENCE) continue;
        GROW_PUSH(&f->rows, row);
        previous = from->addr;
    }
}

/* The sequence that DW_AT_LLVM_stmt_sequence names. */
static bool has_sequence(const struct csn_debug_die *die, uint64_t *out) {
    struct csn_debug_value value;
    if (csn_debug_die_attribute(die, DW_AT_LLVM_stmt_sequence, &value) != CSN_OK || value.kind != CSN_VALUE_LIST) return false;
    *out = value.number;
    return *out != (die->unit->offset_size == 8 ? UINT64_MAX : UINT32_MAX);
}

static const struct llvm_sequence *find_sequence(const struct gsym_unit *u, uint64_t offset) {
    for (size_t i = 0; i < u->lines->sequence_count; i++) {
        const struct llvm_sequence *s = &u->lines->sequences[i];
        uint64_t own;
        if (csn_debug_lines_sequence(u->lines->lines, s->first, &own) == CSN_OK && own == offset) return s;
    }
    return NULL;
}

void gsym_read_rows(struct gsym_unit *u, const struct csn_debug_die *die, struct gsym_function *f) {
    struct row_numbers numbers = { 0 };
    uint64_t offset = 0;
    const bool is_named = has_sequence(die, &offset);
    if (is_named && die->unit->is_split) offset += u->unit->line_offset;
    const struct llvm_sequence *only = is_named ? find_sequence(u, offset) : NULL;
    bool found = (!is_named || only) && find_rows(u, f->start, f->end, only, &numbers);
    if (is_named && !found && (found = find_rows(u, f->start, f->end, NULL, &numbers))) {
        u->build->report->counts[GSYM_BAD_SEQUENCE]++;
        printf("error: function DIE at 0x%08" PRIx64 " has a DW_AT_LLVM_stmt_sequence value 0x%08" PRIx64
               " which doesn't match any line table sequence offset but there are %zu matching line entries in other sequences.\n",
               die->offset, offset, numbers.count);
    }
    if (found) take_rows(u, die, &numbers, f);
    else use_declaration(u, die, f);
    free(numbers.items);
}
