/* Callsign: make an index of one's own, function by function: for a JIT, a linker, a language runtime.
 *
 * A builder has one owner: one thread at a time. Strings are copied. Files, functions, rows and inline nodes may be
 * added in any order of functions; the output depends only on what was added, not on the host or the clock.
 * A call that adds and fails with CSN_E_MEMORY leaves a builder that can only be destroyed; after any other failure it is
 * as it was before the call. */
#ifndef CALLSIGN_BUILDER_H
#define CALLSIGN_BUILDER_H

#include <callsign/base.h>

#ifdef __cplusplus
extern "C" {
#endif

struct csn_builder;

struct csn_builder_options {
    size_t struct_size;                    /* set by CSN_BUILDER_OPTIONS_INIT */
    const struct csn_allocator *allocator; /* NULL: malloc */
    uint64_t base_address;                 /* image base; used when has_base_address */
    const uint8_t *uuid;                   /* build id, copied; at most 20 bytes in GSYM version 1 */
    size_t uuid_size;
    uint8_t has_base_address;              /* 0: the lowest function's start */
    uint8_t big_endian;                    /* byte order of the output */
    uint8_t reserved[2];
    uint32_t format;                       /* enum csn_format to save; 0: GSYM version 1 */
};
#define CSN_BUILDER_OPTIONS_INIT CSN_SIZED_INIT(csn_builder_options)
CSN_API void csn_builder_options_init(struct csn_builder_options *options);

CSN_API csn_status csn_builder_create(const struct csn_builder_options *options, struct csn_builder **out,
                                      struct csn_error *err);
CSN_API void csn_builder_destroy(struct csn_builder *builder); /* NULL is fine */

/* A file for rows and inline nodes; *out_file is never 0, which stands for "no file". */
CSN_API csn_status csn_builder_add_file(struct csn_builder *builder, struct csn_str directory, struct csn_str base,
                                        uint32_t *out_file, struct csn_error *err);

/* Starts a function [start, start + size); what follows belongs to it until the next one begins. size < 4 GiB. */
CSN_API csn_status csn_builder_begin_function(struct csn_builder *builder, uint64_t start, uint64_t size,
                                              struct csn_str name, struct csn_error *err);
/* Rows ascend by address and lie within the function. CSN_E_ARGUMENT otherwise. */
CSN_API csn_status csn_builder_add_row(struct csn_builder *builder, uint64_t addr, uint32_t file, uint32_t line,
                                       struct csn_error *err);
/* Begins an inlined call within the function or within the inlined call that is open. `ranges` (at least one) must lie
 * within the ranges of that parent. */
CSN_API csn_status csn_builder_begin_inline(struct csn_builder *builder, const struct csn_range *ranges,
                                            size_t range_count, struct csn_str name, uint32_t call_file,
                                            uint32_t call_line, struct csn_error *err);
CSN_API csn_status csn_builder_end_inline(struct csn_builder *builder, struct csn_error *err);
/* A call whose return address is start + return_offset; `patterns` are regular expressions for the callee's name. */
CSN_API csn_status csn_builder_add_call_site(struct csn_builder *builder, uint64_t return_offset, uint32_t flags,
                                             const struct csn_str *patterns, size_t pattern_count,
                                             struct csn_error *err);

/* Removes the functions that begin at `start`, with everything in them: a JIT's code that is freed or compiled anew. Another
 * function may begin there later. CSN_NONE: none does. CSN_E_ARGUMENT: an inlined call is open, or the index is saved.
 * Cost: constant. Memory is given back when the next function begins and more are removed than are there; that copies those that
 * are there, so that a function costs a constant time on the average and memory stays within about twice of what is needed
 * (files are never removed). */
CSN_API csn_status csn_builder_remove_function(struct csn_builder *builder, uint64_t start, struct csn_error *err);

/* The index of the functions that are there now, as csn_builder_save_memory() would give it; the builder goes on: the function that was
 * begun last may get more rows. csn_bytes_free() releases the bytes; csn_index_open_memory() opens them, and any thread may
 * look up in a snapshot while the builder changes. Failures leave the builder as it was.
 * Cost: linear in all that is there, as it is sorted and encoded anew; memory of the same order, given back before it returns.
 * Take snapshots now and then, not after each function. */
CSN_API csn_status csn_builder_snapshot(struct csn_builder *builder, struct csn_bytes *out, struct csn_error *err);

/* Sorts, removes duplicates, writes. After either call the builder accepts nothing more but the other call and
 * csn_builder_destroy().
 * save_file writes to a temporary name in the target's folder, syncs and renames: `path` is the old file or the whole new
 * one. save_memory gives bytes that csn_bytes_free() releases. CSN_E_LIMIT when the
 * format cannot hold the input. */
CSN_API csn_status csn_builder_save_file(struct csn_builder *builder, const char *path, struct csn_error *err);

CSN_API csn_status csn_builder_save_memory(struct csn_builder *builder, struct csn_bytes *out, struct csn_error *err);

#ifdef __cplusplus
}
#endif
#endif
