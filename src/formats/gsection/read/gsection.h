/* Reading the section-embedded GSYM of 2017 in place, all its revisions: the contract between the files of this folder, of
 * src/lookup and of src/convert. Nothing here allocates. Line tables and inline trees are those of GSYM version 1. */
#ifndef CSNI_GSECTION_H
#define CSNI_GSECTION_H

#include "formats/gsection/gsection_layout.h"
#include "formats/gsym/read/gsym.h"

/* The object file around a section. */
struct csni_gsection_home {
    struct csni_span object; /* the image: of a universal file, one of its images */
    /* The bytes of a section of that name; CSN_NONE: there is none. */
    csn_status (*find)(struct csni_span object, struct csn_str name, struct csni_span *out, struct csn_error *err);
};

/* An index. Only the bounds of the tables have been checked, and what it took to tell the revisions apart. */
struct csni_gsection {
    /* The tables, as GSYM version 1 has them: `bytes` is the section, `strings` may stand elsewhere, `file_count` counts file
     * 0 whether or not the table has it. */
    struct csni_gsym gsym;
    struct csn_str strings_name; /* A, B: the section that holds the strings; else empty */
    char revision;               /* 'A' to 'G', as far as the bytes tell */
    bool has_file_0;             /* the table's first entry stands for no file */
    bool self_counting;          /* lengths that count their own field were seen */
    bool regular;                /* revisions F and G: lengths need no proof */
};

/* Whether bytes are a file of its own with the header of revisions C to E. Costs next to nothing for a GSYM file of
 * version 1 whose unused bytes of the UUID are 0; linear in the functions otherwise. */
bool csni_gsection_recognize(struct csni_span bytes);

/* The same by the header alone, for bytes that are the first of a file: true of some that are none. */
bool csni_gsection_recognize_head(struct csni_span head);

/* Whether a section holds a whole GSYM file, which needs nothing of the object around it: version 2, or version 1 with its
 * strings inside. */
bool csni_gsection_is_whole(struct csni_span section);

/* `home` NULL: the bytes are a file of their own. CSN_E_NOT_FOUND: the section with the strings is not in the object. */
csn_status csni_gsection_parse(struct csni_gsection *g, struct csni_span bytes, const struct csni_gsection_home *home,
                               struct csn_error *err);

/* The two strings of a file of the table that is not file 0. */
const uint8_t *csni_gsection_file_entry(const struct csni_gsection *g, uint32_t idx);
/* False, and two empty strings, for file 0 and for an index that the table does not have. */
bool csni_gsection_file(const struct csni_gsection *g, uint32_t idx, struct csn_str *directory, struct csn_str *base);

/* The part at *pos (CSNI_GSYM_R_PARTS for the first), moving *pos after it: payload without counted padding and without a
 * length that counts itself. A line table without rows (revision A) is passed over. CSN_NONE at the end of the list. Cost:
 * decodes the part, which is the only proof of its length. */
csn_status csni_gsection_part_next(const struct csni_gsection *g, const struct csni_gsym_record *record, uint64_t *pos,
                                   struct csni_gsym_payload *out, struct csn_error *err);
csn_status csni_gsection_part_find(const struct csni_gsection *g, const struct csni_gsym_record *record, uint32_t type,
                                   struct csni_gsym_payload *out, struct csn_error *err);
/* Adds every byte of the section to one of part_bytes (by enum csn_part); strings elsewhere are no part of it. */
csn_status csni_gsection_part_bytes(const struct csni_gsection *g, const struct csn_allocator *allocator, uint64_t *part_bytes,
                                    struct csn_error *err);
/* The size of a record and of its line table and inline tree, up to damage, which is returned. */
csn_status csni_gsection_record_sizes(const struct csni_gsection *g, const struct csni_gsym_record *record, uint64_t *out_all,
                                      uint64_t *out_lines, uint64_t *out_inlines);
/* How the length of a part relates to what was decoded of it. */
enum csni_gsection_length { CSNI_LENGTH_REGULAR, CSNI_LENGTH_SELF_COUNTING, CSNI_LENGTH_PADDED, CSNI_LENGTH_EMPTY,
                            CSNI_LENGTH_UNKNOWN_TYPE, CSNI_LENGTH_WRONG };
struct csni_gsection_part {
    struct csni_gsym_payload payload;
    enum csni_gsection_length length;
    uint64_t begin, next; /* of its type field and of what follows, within the record */
};
/* The same, told in full; parts of length CSNI_LENGTH_EMPTY too. At the end out->begin is the place of the end mark. */
csn_status csni_gsection_part_step(const struct csni_gsection *g, const struct csni_gsym_record *record, uint64_t pos,
                                   struct csni_gsection_part *out, struct csn_error *err);

/* Rows of a line table, with the file numbers that the table of files has. */
csn_status csni_gsection_rows(const struct csni_gsection *g, const struct csni_gsym_payload *payload, uint64_t start,
                              struct csni_gsym_row_iter *out, struct csn_error *err);

/* As csni_gsym_lookup(). A function without a size answers where no other covers the address. */
csn_status csni_gsection_lookup(const struct csni_gsection *g, uint64_t addr, enum csn_lookup_mode mode,
                                struct csni_gsym_answer *out, struct csn_error *err);

csn_status csni_gsection_verify(const struct csni_gsection *g, csn_verify_callback *callback, void *context,
                                struct csn_verify_counts *out);

#endif
