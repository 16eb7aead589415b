/* Callsign: build an index function by function, for a JIT, a linker or a language runtime.
 *
 * Only one thread at a time may use a builder. It copies all strings. Functions may be added in any order of addresses.
 * The output depends only on what was added, not on the host or the clock.
 * After an adding call that fails with CSN_E_MEMORY, the builder can only be destroyed; any other failure leaves it
 * unchanged. */
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
    uint64_t base_address;                 /* image base; used if has_base_address. No function may start below it */
    const uint8_t *uuid;                   /* build id, copied; at most 20 bytes in GSYM version 1 */
    size_t uuid_size;
    uint8_t has_base_address;              /* 0: the image base is the lowest function's start */
    uint8_t big_endian;                    /* byte order of the output */
    uint8_t reserved[2];
    uint32_t format;                       /* enum csn_format of the output; 0: GSYM version 1 */
};
#define CSN_BUILDER_OPTIONS_INIT CSN_SIZED_INIT(csn_builder_options)
CSN_API void csn_builder_options_init(struct csn_builder_options *options);

/* Creates an empty builder. `options` may be NULL. The caller releases *out with csn_builder_destroy().
 * The index of GSYM versions 1 and 2 has options.base_address as its base, and Breakpad counts addresses from there. A
 * GSYM section has it if it is 64 KiB or more, otherwise the lowest start. BSYM has none: addresses count from there
 * only where they do not fit 32 bits.
 * CSN_OK; CSN_E_UNSUPPORTED: unknown fields or format; CSN_E_LIMIT: the build id is too long; CSN_E_ARGUMENT: uuid is
 * NULL and uuid_size is not 0; CSN_E_MEMORY. */
CSN_API csn_status csn_builder_create(const struct csn_builder_options *options, struct csn_builder **out,
                                      struct csn_error *err);
/* Releases the builder and what was added. `builder` may be NULL. */
CSN_API void csn_builder_destroy(struct csn_builder *builder);

/* Adds a source file for rows and inlined calls. *out_file is never 0, which means "no file". */
CSN_API csn_status csn_builder_add_file(struct csn_builder *builder, struct csn_str directory, struct csn_str base,
                                        uint32_t *out_file, struct csn_error *err);

/* Begins the function [start, start + size), size < 4 GiB. Everything added until the next function begins belongs to
 * it.
 * CSN_E_ARGUMENT: `start` is below options.base_address, the name is empty, or an inlined call is open; CSN_E_LIMIT:
 * `size` is too large, or the function would end after the last address. */
CSN_API csn_status csn_builder_begin_function(struct csn_builder *builder, uint64_t start, uint64_t size,
                                              struct csn_str name, struct csn_error *err);
/* Adds a line row. Rows are in ascending address order and lie within the function; otherwise CSN_E_ARGUMENT. */
CSN_API csn_status csn_builder_add_row(struct csn_builder *builder, uint64_t addr, uint32_t file, uint32_t line,
                                       struct csn_error *err);
/* Begins an inlined call in the current inlined call or, if none is open, in the function. There is at least one
 * range, and all ranges lie within those of the parent. */
CSN_API csn_status csn_builder_begin_inline(struct csn_builder *builder, const struct csn_range *ranges,
                                            size_t range_count, struct csn_str name, uint32_t call_file,
                                            uint32_t call_line, struct csn_error *err);
CSN_API csn_status csn_builder_end_inline(struct csn_builder *builder, struct csn_error *err);
/* Adds a call whose return address is start + return_offset. `patterns` are regular expressions for the callee's
 * name. `flags`: CSN_CALL_SITE_INTERNAL, CSN_CALL_SITE_EXTERNAL; others are CSN_E_ARGUMENT. */
CSN_API csn_status csn_builder_add_call_site(struct csn_builder *builder, uint64_t return_offset, uint32_t flags,
                                             const struct csn_str *patterns, size_t pattern_count,
                                             struct csn_error *err);

/* Removes the functions that begin at `start`, with all their contents, for example when a JIT frees or recompiles
 * code. Another function may begin at `start` later.
 * CSN_OK; CSN_NONE: no function begins there; CSN_E_ARGUMENT: an inlined call is open, or the index has been saved.
 * Cost: constant. When more functions are removed than present, beginning the next function copies those present and
 * frees the rest. The amortised cost per function stays constant, and memory stays within about twice what is needed.
 * Files are never removed. */
CSN_API csn_status csn_builder_remove_function(struct csn_builder *builder, uint64_t start, struct csn_error *err);

/* Builds the index of the functions now present, as csn_builder_save_memory() does, without closing the builder; the
 * current function may receive more rows. Open *out with csn_index_open_memory() and release it with
 * csn_bytes_free(). Any thread may look up addresses in a snapshot while the builder changes. A failure leaves the
 * builder unchanged.
 * Cost: sorts and encodes everything again: linear time, and memory of the same order until it returns. Do not take a
 * snapshot after each function. */
CSN_API csn_status csn_builder_snapshot(struct csn_builder *builder, struct csn_bytes *out, struct csn_error *err);

/* Sorts the functions, removes duplicates and writes the index to `path`. It writes, syncs and renames a temporary
 * file in the same folder, so `path` is always either the old file or the complete new one. Afterwards the builder
 * only accepts csn_builder_save_memory() and csn_builder_destroy().
 * CSN_E_LIMIT: the format cannot hold the input. */
CSN_API csn_status csn_builder_save_file(struct csn_builder *builder, const char *path, struct csn_error *err);

/* Does the same in memory. The caller releases *out with csn_bytes_free(). Afterwards the builder only accepts
 * csn_builder_save_file() and csn_builder_destroy(). */
CSN_API csn_status csn_builder_save_memory(struct csn_builder *builder, struct csn_bytes *out, struct csn_error *err);

#ifdef __cplusplus
}
#endif
#endif
