/* A unit's line table as GNU's BFD library arranges it. */
#ifndef CALLSIGN_CLI_BFD_LINES_H
#define CALLSIGN_CLI_BFD_LINES_H

#include <stdbool.h>

#include <callsign/debug_info.h>

struct bfd_row {
    uint64_t addr;
    uint32_t file, line, discriminator;
    uint8_t op_index;
    bool file_unset;     /* the program has not chosen a file */
};

struct bfd_sequence {
    uint64_t low, end;   /* addresses that it answers for; `end` is that of its last row */
    uint64_t min, max;   /* of its rows */
    size_t first, count; /* of its rows, the end row included */
};

struct bfd_lines {
    const struct csn_debug_unit *unit;
    struct csn_debug_lines *lines;   /* NULL: not now; its rows are those below */
    uint32_t file_count;
    uint16_t version;
    bool is_damaged;                 /* the program ends early */
    struct bfd_row *rows;
    size_t row_count, row_capacity;
    struct bfd_sequence *sequences;  /* ascending, without overlaps */
    size_t sequence_count, sequence_capacity;
    struct bfd_sequence *all;        /* as the table has them */
    size_t all_count;
    bool has_odd_file;               /* rows name one that is not there */
    char **paths;                    /* by file number, made when asked for */
};

/* Reads a table. NULL: the unit has none, or it cannot be read. */
struct bfd_lines *bfd_lines_read(const struct csn_debug_unit *unit);
void bfd_lines_free(struct bfd_lines *lines);
/* The row that answers for an address, or NULL. */
const struct bfd_row *bfd_lines_find(const struct bfd_lines *lines, uint64_t addr);
/* The path of a file number; "<unknown>" where there is no such file, NULL where it is empty. */
const char *bfd_lines_path(struct bfd_lines *lines, uint32_t file, bool unset);

#endif
