/* Where `callsign udf` finds the indexes of modules, and how it answers rows from them. */
#ifndef CALLSIGN_CLI_UDF_SYMBOLS_H
#define CALLSIGN_CLI_UDF_SYMBOLS_H

#include <callsign/arrow.h>

#include "udf/udf_rows.h"
#include "ui/option_table.h"

/* An index of --index that cannot be opened: rows of its modules get the reason. */
struct udf_failure {
    struct csn_str name; /* of the modules */
    char *text;
};

struct udf_symbols {
    struct csn_store *store;
    struct csn_arrow_options options;
    struct udf_failure *failures;
    size_t failure_count;
    char *answer;        /* the one being made */
    size_t capacity;
};

/* False, with a message: no memory. What cannot be opened is reported, too, but is no failure. */
bool udf_symbols_init(struct udf_symbols *symbols, const struct text_list *indexes, const struct text_list *folders, bool demangle,
                      bool return_addresses);
void udf_symbols_deinit(struct udf_symbols *symbols);

/* Calls `put` for each row in order with the names joined by ';', or with a reason in brackets. False, with a
 * message: no memory. */
bool udf_answer_rows(struct udf_symbols *symbols, const struct udf_rows *rows,
                     void (*put)(void *context, struct csn_str answer), void *context);

#endif
