/* Arrow's IPC format with one column of strings, "result". */
#ifndef CALLSIGN_CLI_IPC_WRITE_H
#define CALLSIGN_CLI_IPC_WRITE_H

#include "ui/out_buffer.h"
#include "udf/udf_rows.h"

struct ipc_block {
    uint64_t offset, body_size;
    uint32_t metadata_size;
};

struct ipc_writer {
    struct out_buffer *out;
    bool is_file;             /* with magic numbers and a footer */
    uint64_t start;           /* bytes written before this file */
    struct ipc_block *blocks; /* of the file */
    size_t block_count;
    int32_t ends[UDF_ROWS_MAX + 1]; /* of the batch being made */
    uint32_t rows;
    char *text;
    size_t text_capacity;
    bool no_memory;           /* or a batch of more than 2 GiB */
};

void ipc_writer_deinit(struct ipc_writer *writer);

/* A stream or file: begin, batches, end. A batch: strings, then put. */
void ipc_writer_begin(struct ipc_writer *writer, bool is_file);
void ipc_writer_string(struct ipc_writer *writer, struct csn_str text);
void ipc_writer_put_batch(struct ipc_writer *writer);
void ipc_writer_end(struct ipc_writer *writer);

#endif
