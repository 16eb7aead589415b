/* Rows (module, address) that are answered together, as columns. */
#ifndef CALLSIGN_CLI_UDF_ROWS_H
#define CALLSIGN_CLI_UDF_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include <callsign/base.h>

enum { UDF_ROWS_MAX = 1 << 15, UDF_TEXT_MAX = 1 << 22, UDF_MODULE_MAX = 1 << 16 };

struct udf_rows {
    uint32_t count;
    uint32_t text_size;
    char *text;               /* the modules, one after the other: UDF_TEXT_MAX bytes */
    int32_t *module_ends;     /* [0] is 0, the module of row i ends at [i + 1] */
    uint64_t *addresses;
    uint8_t *has_module, *has_address; /* bits */
    const char **faults;      /* static text: why the row could not be read; NULL: it was */
};

bool udf_rows_init(struct udf_rows *rows); /* false: no memory */
void udf_rows_deinit(struct udf_rows *rows);
void udf_rows_clear(struct udf_rows *rows);
/* Whether there may be no capacity for a row with the longest module. */
bool udf_rows_full(const struct udf_rows *rows);

/* NULL for a null. A module longer than UDF_MODULE_MAX is a fault. */
void udf_rows_add(struct udf_rows *rows, const struct csn_str *module, const uint64_t *address);
void udf_rows_add_fault(struct udf_rows *rows, const char *fault);

#endif
