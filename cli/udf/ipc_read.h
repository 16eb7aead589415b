/* Messages of Arrow's IPC format: the schema, and the rows of record batches. */
#ifndef CALLSIGN_CLI_IPC_READ_H
#define CALLSIGN_CLI_IPC_READ_H

#include "udf/flat_read.h"

enum ipc_kind { IPC_NONE = 0, IPC_SCHEMA = 1, IPC_DICTIONARY = 2, IPC_BATCH = 3 };

struct ipc_message {
    int64_t kind;             /* enum ipc_kind, or another */
    uint64_t body_size;
    struct flat_table header;
};
/* False: no message. */
bool ipc_message_read(struct csn_str metadata, struct ipc_message *out);

/* What a column is, and where a batch has it. */
struct ipc_column {
    unsigned first_buffer, node;
    unsigned offset_size;     /* of strings: 4 or 8 */
    unsigned width;           /* of integers: 4 or 8 */
    bool is_signed;
};
struct ipc_schema {
    struct ipc_column module, address;
};
/* The columns "module" and "address", else the first two. False: one is missing or of another type; *fault says
 * which, in static text. */
bool ipc_schema_read(struct flat_table schema, struct ipc_schema *out, const char **fault);

/* A batch with its buffers, inflated. */
struct ipc_batch {
    size_t rows;
    struct csn_str module_validity, module_ends, module_text, address_validity, addresses;
    struct ipc_schema schema;
    char *inflated[5];        /* buffers that were compressed; freed by ipc_batch_release() */
};
/* False, with *fault: it is damaged, compressed in another way than by LZ4, or has a buffer of more than
 * `inflated_max` bytes then. */
bool ipc_batch_open(const struct ipc_schema *schema, struct flat_table header, struct csn_str body, size_t inflated_max,
                    struct ipc_batch *out, const char **fault);
void ipc_batch_release(struct ipc_batch *batch);
/* Row `i`; false for a null. */
bool ipc_batch_module(const struct ipc_batch *batch, size_t i, struct csn_str *out);
bool ipc_batch_address(const struct ipc_batch *batch, size_t i, uint64_t *out);

#endif
