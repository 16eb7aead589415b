/* Microsoft's program databases: the container (MSF 7), identity, modules, sections, public symbols, and in a module functions,
 * inlined calls and lines. Bytes in, records out; knows no image and no model. docs/formats/pdb.md. */
#ifndef CSNI_PDB_H
#define CSNI_PDB_H

#include "base/core/alloc.h"
#include "base/core/budget.h"
#include "base/core/span.h"
#include "base/core/vec.h"

enum { CSNI_PDB_GUID_SIZE = 16 };

/* The bytes of a stream: a view into the file where its blocks are neighbours, else memory. */
struct csni_pdb_bytes {
    struct csni_span span;
    void *owned; /* NULL: a view */
};

/* A compiled object, or what the linker made itself. */
struct csni_pdb_module {
    struct csn_str name;
    uint16_t stream;      /* CSNI_PDB_NO_STREAM: no private symbols */
    uint32_t symbol_size, c11_size, c13_size;
};
enum { CSNI_PDB_NO_STREAM = 0xffff };

struct csni_pdb_section {
    uint32_t rva, size, flags; /* characteristics as in a PE image */
};

typedef CSNI_VEC(struct csni_pdb_section) csni_pdb_sections; /* [0] is section 1 */

/* Of a linker or tool that moved code after compilation: from `from` on, up to the next one, code stands at `to`; 0: removed. */
struct csni_pdb_move {
    uint32_t from, to;
};

struct csni_pdb_stream {
    uint32_t size;
    uint32_t first_block; /* in the directory, counted in words */
};

/* Records of types or ids by their number. */
struct csni_pdb_types {
    struct csni_pdb_bytes bytes;
    struct csni_span records;
    uint32_t first, count;
    uint32_t *offsets;    /* in records */
};

struct csni_pdb {
    const struct csn_allocator *alloc;
    struct csni_span file;
    uint32_t block_size, block_count;
    struct csni_pdb_bytes directory;
    CSNI_VEC(struct csni_pdb_stream) streams;
    uint8_t guid[CSNI_PDB_GUID_SIZE];
    uint32_t age;         /* that images and symbol servers name: the DBI stream's, which tools that add streams leave alone */
    bool has_debug_info;  /* false: types only; nothing below is set */
    bool is_stripped;     /* made by /PDBSTRIPPED: public symbols only */
    uint16_t machine;     /* as in a PE image; 0: not known */
    uint16_t symbol_stream;
    uint16_t fpo_stream, frame_stream; /* pdb_frames.h; CSNI_PDB_NO_STREAM: none */
    CSNI_VEC(struct csni_pdb_module) modules;
    csni_pdb_sections sections;           /* that symbols name: those before code was moved */
    csni_pdb_sections image_sections;
    CSNI_VEC(struct csni_pdb_move) moves; /* ascending by `from` */
    struct csni_pdb_bytes dbi, names_stream, symbols;
    struct csni_span names;  /* file names, at offsets that modules name */
    struct csni_pdb_types types, ids;
};

/* Whether bytes begin like a program database, also of a kind that csni_pdb_open() refuses by name. */
bool csni_pdb_recognize(struct csni_span file);

/* Reads directory, identity, modules and sections. The bytes of `file` stay borrowed until close.
 * CSN_E_UNSUPPORTED: a PDB of another kind (2.0, portable, /DEBUG:FASTLINK, types only). CSN_E_TRUNCATED, CSN_E_FORMAT. */
csn_status csni_pdb_open(struct csni_span file, const struct csn_allocator *alloc, struct csni_pdb **out,
                         struct csn_error *err);
void csni_pdb_close(struct csni_pdb *pdb); /* NULL is fine */

/* GUID and age as symbol servers spell them: hexadecimal digits, capitals, no dashes, the age without leading zeros. */
enum { CSNI_PDB_ID_SIZE = 32 + 8 + 1 };
void csni_pdb_id_text(const uint8_t guid[CSNI_PDB_GUID_SIZE], uint32_t age, char out[CSNI_PDB_ID_SIZE]);
/* The identity alone: as csni_pdb_open(), but a PDB that it refuses may have one. */
csn_status csni_pdb_identity(struct csni_span file, const struct csn_allocator *alloc, uint8_t guid[CSNI_PDB_GUID_SIZE],
                             uint32_t *age, struct csn_error *err);

/* Whether a PDB belongs to an image that wants this GUID and age; where the image has no id at all, every PDB does. `has`: the id
 * of the PDB. */
enum csni_pdb_fit { CSNI_PDB_FITS, CSNI_PDB_HAS_OTHER_ID };
csn_status csni_pdb_compare(struct csni_span file, const struct csn_allocator *alloc, const uint8_t *guid, size_t guid_size,
                            uint32_t age, enum csni_pdb_fit *fit, char has[CSNI_PDB_ID_SIZE], struct csn_error *err);

/* ---- streams ---- */

/* CSN_E_TRUNCATED: it lies outside of the file. */
csn_status csni_pdb_read_stream(const struct csni_pdb *pdb, uint32_t stream, struct csni_pdb_bytes *out,
                                struct csn_error *err);
void csni_pdb_free_bytes(const struct csni_pdb *pdb, struct csni_pdb_bytes *bytes);

/* ---- addresses ---- */

/* The RVA of an offset in a section; false: there is no such section, or the code was removed. */
bool csni_pdb_rva(const struct csni_pdb *pdb, uint32_t section, uint32_t offset, uint32_t *out);

/* A run of code that stayed together. */
struct csni_pdb_place {
    uint32_t off;  /* from the first byte asked for */
    uint32_t size, rva;
};
typedef CSNI_VEC(struct csni_pdb_place) csni_pdb_places;
/* Where `size` bytes from an offset in a section are, in order: one place, unless code was moved. Replaces what is in `out`.
 * False: out of memory. */
bool csni_pdb_places_of(const struct csni_pdb *pdb, uint32_t section, uint32_t offset, uint32_t size, csni_pdb_places *out);
/* The same of code that was at an RVA before it was moved. */
bool csni_pdb_places_of_rva(const struct csni_pdb *pdb, uint32_t rva, uint32_t size, csni_pdb_places *out);

/* ---- symbols ---- */

struct csni_pdb_symbol {
    uint16_t kind;
    uint32_t off;           /* of the record, in its stream */
    struct csni_span data;  /* after the kind */
};
struct csni_pdb_symbol_iter {
    struct csni_span records;
    uint64_t off;
    bool damaged;           /* the records do not end where they should */
};
bool csni_pdb_next_symbol(struct csni_pdb_symbol_iter *iter, struct csni_pdb_symbol *out);

struct csni_pdb_public {
    uint32_t section, offset, flags;
    struct csn_str name;
};
/* False: the record is damaged, or no public symbol. */
bool csni_pdb_read_public(const struct csni_pdb_symbol *symbol, struct csni_pdb_public *out);

enum csni_pdb_code_kind {
    CSNI_PDB_FUNCTION,
    CSNI_PDB_THUNK,    /* a jump to somewhere else */
    CSNI_PDB_SEPARATED /* a part of the function that begins at `parent`, which stands elsewhere; it has no name */
};
struct csni_pdb_code {
    enum csni_pdb_code_kind kind;
    uint32_t section, offset, size;
    uint32_t parent_section, parent_offset;
    bool is_local;
    uint32_t type;          /* of the function; 0: unknown */
    struct csn_str name;
};
/* False: the record is damaged, or is not of code. */
bool csni_pdb_read_code(const struct csni_pdb_symbol *symbol, struct csni_pdb_code *out);
/* A label outside of every function, which assembler code has: as a function without a size. */
bool csni_pdb_read_label(const struct csni_pdb_symbol *symbol, struct csni_pdb_code *out);

struct csni_pdb_inline_site {
    uint32_t inlinee;              /* an id */
    struct csni_span annotations;
};
bool csni_pdb_read_inline_site(const struct csni_pdb_symbol *symbol, struct csni_pdb_inline_site *out);

/* Whether a symbol opens a scope that another one ends, and whether it is such an end. */
bool csni_pdb_opens_scope(uint16_t kind);
bool csni_pdb_ends_scope(uint16_t kind);

/* ---- one module ---- */

/* It holds up to the next row of its fragment, or to the end of that. Code that the compiler made, which producers mark by a line
 * number of its own, belongs to the line before. */
struct csni_pdb_row {
    uint32_t off;   /* from the fragment's start */
    uint32_t file;  /* for csni_pdb_file_path() */
    uint32_t line;
};
/* A run of code with rows: of one function mostly, or of all that a section of an object holds. Where identical code was folded,
 * several stand at one place, one for each function, in the order of the functions. */
struct csni_pdb_fragment {
    uint64_t at;    /* section << 32 | offset */
    uint32_t size, order;
    uint32_t first_row, row_count;
};
struct csni_pdb_inlinee {
    uint32_t id, file, line; /* where the inlined function begins */
};
struct csni_pdb_lines {
    struct csni_span checksums, imports, exports;
    CSNI_VEC(struct csni_pdb_fragment) fragments; /* ascending by place, in the order of the file where equal */
    CSNI_VEC(struct csni_pdb_row) rows;         /* of each fragment ascending, in the order of the file where equal */
    CSNI_VEC(struct csni_pdb_row) spare;        /* for sorting */
    CSNI_VEC(struct csni_pdb_inlinee) inlinees; /* ascending by id */
};
/* Reads the C13 lines of a module; replaces what is in `out`, whose vectors need allocators. Damage ends the reading: what was read
 * before it stays. */
csn_status csni_pdb_read_lines(struct csni_span c13, struct csni_pdb_lines *out, struct csn_error *err);
/* The path at an offset in the module's checksums. False: there is none. */
bool csni_pdb_file_path(const struct csni_pdb *pdb, const struct csni_pdb_lines *lines, uint32_t file, struct csn_str *out);
/* NULL: none. */
const struct csni_pdb_inlinee *csni_pdb_find_inlinee(const struct csni_pdb_lines *lines, uint32_t id);

/* Link-time code generation inlines functions of other modules: their ids are numbers of an import, which lead to an
 * id that the other module has given to its own. */
bool csni_pdb_id_is_imported(uint32_t id);
/* The module (by its name) and its own id. False: the import is not there. */
bool csni_pdb_find_import(const struct csni_pdb *pdb, const struct csni_pdb_lines *lines, uint32_t id, struct csn_str *module,
                          uint32_t *own_id);
struct csni_pdb_export {
    uint32_t own_id, id;
};
typedef CSNI_VEC(struct csni_pdb_export) csni_pdb_exports;
/* What a module exports, ascending by its own ids: reads its stream. CSN_E_TRUNCATED, CSN_E_FORMAT. */
csn_status csni_pdb_read_exports(const struct csni_pdb *pdb, uint32_t module, csni_pdb_exports *out, struct csn_error *err);

/* Where in a module's stream its symbols (less their signature) and its C13 lines are. */
csn_status csni_pdb_cut_module(const struct csni_pdb_module *module, struct csni_span bytes, struct csni_span *symbols,
                               struct csni_span *c13, struct csn_error *err);

/* A run of code in a function, of one line. */
struct csni_pdb_run {
    uint32_t start, end; /* offsets from the function's start */
    uint32_t file, line;
};
typedef CSNI_VEC(struct csni_pdb_run) csni_pdb_runs;
/* The code of an inlined call, ascending and not overlapping, within a function of `size` bytes. Replaces what is in `out`.
 * CSN_E_FORMAT, CSN_E_TRUNCATED: damaged, and *out has what stands before that. */
csn_status csni_pdb_read_annotations(struct csni_span annotations, const struct csni_pdb_inlinee *inlinee, uint32_t size,
                                     csni_pdb_runs *out, struct csn_error *err);

/* ---- names of inlined functions ---- */

/* Makes csni_pdb_id_name() usable; does nothing where the PDB has no ids. */
csn_status csni_pdb_open_types(struct csni_pdb *pdb, struct csn_error *err);
/* The parts of a function's name: scope (namespace or class; may be empty), and name. False: no such id. */
bool csni_pdb_id_name(const struct csni_pdb *pdb, uint32_t id, struct csn_str *scope, struct csn_str *name);

/* ---- types ---- */

/* The types of a function's parameters in the words of undname, but without blanks and the keywords of classes:
 * "int,charconst*,A&". One that has no name here is "?". Returns the length; 0: there is no such function, or it
 * does not fit into `size`. */
size_t csni_pdb_parameters(const struct csni_pdb *pdb, uint32_t type, char *out, size_t size);

#endif
