/* What the tests of the converter share: small ELF files with DWARF put together DIE by DIE, and indexes as text. */
#ifndef CONVERT_SAMPLE_H
#define CONVERT_SAMPLE_H

#include <callsign/convert.h>

#include "support/dwarf_sample.h"
#include "wire/wire_elf.h"

enum { CONVERT_SAMPLE_TEXT = 0x1000, CONVERT_SAMPLE_TEXT_SIZE = 0x1000, CONVERT_SAMPLE_SYMBOLS = 16 };

struct convert_sample {
    struct dwarf_sample dwarf;
    size_t unit;              /* offset of the unit that is open */
    size_t line_table;        /* the same of the line table */
    struct wire_symbol symbols[CONVERT_SAMPLE_SYMBOLS];
    size_t symbol_count;
    struct wire file;         /* what convert_sample_build() made */
};

/* `version`: 4 or 5. Executable memory is [0x1000, 0x2000). */
void convert_sample_init(struct convert_sample *s, uint16_t version, bool big);
void convert_sample_deinit(struct convert_sample *s);

/* ---- line tables: file 1 is /src/a.c, file 2 /src/include/b.h ---- */

struct line { uint64_t addr; uint32_t file, line; }; /* file LINE_END: the end of a sequence */
enum { LINE_END = UINT32_MAX };
/* A table for the next unit. `offsets`, unless NULL, gets where each sequence begins in .debug_line. */
void convert_sample_lines(struct convert_sample *s, const struct line *lines, size_t count, uint64_t *offsets);

/* ---- DIEs; each returns its offset in .debug_info ---- */

/* C, /src/a.c, with the last line table. */
void convert_sample_unit(struct convert_sample *s);
/* Another kind of unit DIE: C++17, without a line table. */
void convert_sample_unit_without_lines(struct convert_sample *s);
void convert_sample_unit_end(struct convert_sample *s);

size_t die_end(struct convert_sample *s); /* of the children of a DIE */
/* With children: end them with die_end(). */
size_t die_function(struct convert_sample *s, const char *name, uint64_t low, uint64_t size);
size_t die_nameless(struct convert_sample *s, uint64_t low, uint64_t size);
size_t die_function_ranges(struct convert_sample *s, const char *name, uint64_t list);
size_t die_function_sequence(struct convert_sample *s, const char *name, uint64_t low, uint64_t size, uint64_t sequence);
size_t die_inlined(struct convert_sample *s, size_t origin, uint64_t low, uint64_t size, unsigned call_file,
                   unsigned call_line);
size_t die_inlined_ranges(struct convert_sample *s, size_t origin, uint64_t list, unsigned call_file, unsigned call_line);
size_t die_parent_declared(struct convert_sample *s, const char *name, uint64_t low, uint64_t size, unsigned decl_file,
                           unsigned decl_line);
size_t die_block(struct convert_sample *s);
size_t die_class(struct convert_sample *s, const char *name);
/* Without. */
size_t die_abstract(struct convert_sample *s, const char *name);
size_t die_declaration(struct convert_sample *s, const char *name);
size_t die_function_declared(struct convert_sample *s, const char *name, uint64_t low, uint64_t size, unsigned decl_file,
                             unsigned decl_line);
size_t die_variable(struct convert_sample *s, const char *name);
/* As the sample's version has it: DW_TAG_call_site, or DW_TAG_GNU_call_site. origin 0: an indirect call. */
size_t die_call_site(struct convert_sample *s, size_t origin, uint64_t return_pc);

/* A list of ranges {low, high}; returns its offset. */
uint64_t convert_sample_ranges(struct convert_sample *s, const uint64_t (*ranges)[2], size_t count);

void convert_sample_symbol(struct convert_sample *s, const char *name, uint64_t addr, uint64_t size);

/* The ELF file: lives until the next build or convert_sample_deinit(). */
struct csni_span convert_sample_build(struct convert_sample *s);

/* A bit of everything, damage left out: two units with functions, inlined calls, ranges, call sites, sequences. */
void convert_sample_fill(struct convert_sample *s);

/* ---- indexes ---- */

/* Opens it, wants csn_index_verify() to find nothing, and tells all of it:
 *     NAME [1000,1010)
 *      1000 a.c:5
 *      >NAME [1004,1008) a.c:7       one '>' for each level
 *      call +9 PATTERN...
 * Lives until the next call. */
const char *index_text(const void *bytes, size_t size);
/* With the functions that have no name, too: rows that cover no function. */
const char *whole_index_text(const void *bytes, size_t size);

#endif
