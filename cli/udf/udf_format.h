/* The formats in which a database sends rows and takes answers. */
#ifndef CALLSIGN_CLI_UDF_FORMAT_H
#define CALLSIGN_CLI_UDF_FORMAT_H

#include "udf/udf_rows.h"
#include "ui/out_buffer.h"

/* The row at the beginning of some bytes. */
struct udf_row {
    size_t size;        /* bytes that it takes; 0: the bytes end before the row does */
    uint64_t skip;      /* bytes after these that belong to it, too */
    const char *fault;  /* static text: it is no row; NULL: the rest holds */
    struct csn_str module; /* in the bytes, or in the scratch memory */
    uint64_t address;
    bool has_module, has_address;
};

struct udf_format {
    const char *name;
    bool by_line;       /* a row that is too long ends at a newline */
    /* `scratch` has space for as many bytes as there are. */
    void (*read)(struct csn_str bytes, char *scratch, struct udf_row *out);
    void (*put)(struct out_buffer *out, struct csn_str answer);
};
extern const struct udf_format udf_row_binary, udf_tsv, udf_json_each_row;

#endif
