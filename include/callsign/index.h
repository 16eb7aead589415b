/* Callsign: open an index and look up addresses.
 *
 * This header, inspect.h, binaries.h and the decoding half of line_table.h form the lookup-only library
 * (libcallsign-lookup), which depends only on libc.
 *
 * An open index is immutable. Any number of threads may use it at the same time without locks, until
 * csn_index_close().
 *
 * These functions are async-signal-safe: csn_index_lookup(), csn_index_lookup_refs(), csn_index_lookup_batch(),
 * csn_index_resolve(), csn_index_resolve_into(), csn_frame_path(), csn_reason_text(), the functions of binaries.h,
 * csn_error_text() and csn_status_name(). They allocate nothing, take no lock and use no stdio, also when they fail.
 * They need less than 4 KB of stack, so an alternate signal stack of 8 KB is enough. csn_index_frame_name() is as
 * safe as its callback. Opening and closing an index is not async-signal-safe: open it before the signal can arrive.
 * The shared library binds its symbols when it is loaded; link a program that uses the static library with
 * -Wl,-z,now.
 *
 * An index is read in place. A mapped file must not shrink while it is open. To replace the file, rename a new one
 * over it, as `callsign convert` does; never overwrite it. */
#ifndef CALLSIGN_INDEX_H
#define CALLSIGN_INDEX_H

#include <stdbool.h>

#include <callsign/base.h>

#ifdef __cplusplus
extern "C" {
#endif

struct csn_index;

struct csn_index_options {
    size_t struct_size;                    /* set by CSN_INDEX_OPTIONS_INIT */
    const struct csn_allocator *allocator; /* NULL: malloc; must outlive the index */
    /* The memory limit, in bytes, of the accelerator: a copy of the index that is decoded when it is opened and answers most
     * lookups with two memory accesses. It suits programs that look up many addresses over a long time.
     * 0: no accelerator; opening is then almost free. UINT64_MAX: no limit. The accelerator takes 0.5 to 2 times the file's
     * size, and as much again while it is built, at about 100 MB of index per second. Functions that do not fit or are
     * damaged are looked up in the index itself: the answers are always the same.
     * An index that has an accelerator in its file (CSN_CONVERT_ACCELERATE) uses that one: nothing is decoded, and processes share
     * it. */
    uint64_t accelerator_bytes;
    const char *arch;                      /* the image of a universal file with several indexes; NULL: the only one */
    csn_name_callback *demangle;           /* for csn_index_frame_name(), such as csn_rename_demangled() of names.h. NULL: names stay as
                                            * stored. Several threads may call it at the same time */
    void *demangle_context;
};
#define CSN_INDEX_OPTIONS_INIT CSN_SIZED_INIT(csn_index_options)
CSN_API void csn_index_options_init(struct csn_index_options *options);

/* Opens the index file at `path`, or the index in the section .gsym (Mach-O: __gsym) of an object file. It maps the
 * file and checks the header and the bounds of the tables; csn_index_verify() checks the records. `options` may be
 * NULL. The caller releases *out with csn_index_close(). `path` and `options` are needed during the call only.
 * CSN_OK, CSN_E_IO, CSN_E_FORMAT, CSN_E_TRUNCATED, CSN_E_UNSUPPORTED, CSN_E_LIMIT, CSN_E_MEMORY, CSN_E_NOT_FOUND,
 * CSN_E_ARGUMENT.
 * Any thread.
 * Cost: a few system calls, whatever the size of the file; an accelerator decodes the whole index. */
CSN_API csn_status csn_index_open_file(const char *path, const struct csn_index_options *options, struct csn_index **out,
                                       struct csn_error *err);

/* Opens an index in memory, as csn_index_open_file() does with a file. The bytes may have any alignment. The caller
 * keeps them valid and unchanged until csn_index_close(). */
CSN_API csn_status csn_index_open_memory(const void *bytes, size_t size, const struct csn_index_options *options,
                                         struct csn_index **out, struct csn_error *err);

/* Opens the index in the section .gsym (Mach-O: __gsym) of an object file, or a GSYM file of 2017, as
 * csn_index_open_file() does.
 * CSN_NONE: the file is neither an ELF, Mach-O, PE or COFF file nor a GSYM file of 2017, it has no such section, or
 * the headers of the object file are damaged. */
CSN_API csn_status csn_index_open_embedded(const char *path, const struct csn_index_options *options,
                                           struct csn_index **out, struct csn_error *err);

/* Does the same with bytes in memory. The caller keeps them valid and unchanged until csn_index_close(). */
CSN_API csn_status csn_index_open_embedded_memory(const void *bytes, size_t size, const struct csn_index_options *options,
                                                  struct csn_index **out, struct csn_error *err);

/* Closes the index and releases its memory. Nothing may use the index, or strings that point into it, afterwards.
 * `index` may be NULL. */
CSN_API void csn_index_close(struct csn_index *index);

/* Returns whether the bytes begin like an index file. The first 4 KiB of the file are enough. Returns false for an
 * object file that contains an index in a section.
 * Any thread; no allocation. */
CSN_API bool csn_is_index(const void *bytes, size_t size);

/* ---- properties of an index ---- */

/* The properties of an index. Later versions may add fields at the end; see "Structs that grow" in base.h. */
struct csn_index_info {
    uint32_t format;             /* enum csn_format */
    uint8_t big_endian;          /* byte order of the file */
    uint8_t address_size;        /* bytes per entry of the address table: 1, 2, 4 or 8 */
    uint8_t uuid_size;           /* bytes used in uuid */
    char revision;               /* CSN_FORMAT_GSYM_SECTION: 'A' to 'G', inferred from the bytes; otherwise 0 */
    uint64_t base_address;
    uint64_t file_size;          /* bytes */
    uint32_t function_count;     /* entries of the address table */
    uint32_t file_count;         /* entries of the file table, the reserved entry 0 included */
    uint64_t string_bytes;       /* size of the string table */
    uint8_t uuid[32];            /* build id or UUID */
    uint64_t uuid_bytes;         /* size of the UUID in the file; uuid holds its first 32 bytes */
    uint64_t accelerator_bytes;  /* memory used by the accelerator; 0: there is none */
    uint32_t unaccelerated_functions; /* functions that the accelerator does not contain */
    uint32_t address_sample_count; /* entries of the address sample at the end of a GSYM file, which a lookup searches first
                                  * (docs/formats/gsym.md); 0: it has none */
    uint32_t format_version;     /* BSYM: major << 16 | minor, as stored */
    uint32_t binary_count;       /* binaries of the image, for csn_index_binary(); 0: the image is a single binary */
    uint32_t alias_count;        /* names of binaries on the device, for csn_index_alias() */
    uint32_t image_checksum;     /* checksum of a ROM; 0: none */
    uint32_t member_count;       /* object files of an archive, for csn_index_binary(); 0: the index is of no archive */
    uint32_t reserved;
    uint64_t stored_accelerator_bytes; /* of the file: an accelerator that is stored in it (CSN_CONVERT_ACCELERATE) and used; 0: none */
};
/* Fills *out with the properties of the index. out_size is sizeof *out; fields that the library does not know become
 * 0.
 * Any thread; no allocation. Cost: copies the struct. */
CSN_API void csn_index_get_info(const struct csn_index *index, struct csn_index_info *out, size_t out_size);

/* ---- lookups ---- */

/* Why an answer is incomplete. */
enum csn_reason {
    CSN_REASON_COMPLETE = 0,      /* nothing is missing */
    CSN_REASON_BEFORE_FIRST = 1,  /* the address is below the first function */
    CSN_REASON_GAP = 2,           /* the address is after the end of the function that starts before it */
    CSN_REASON_NO_LINE_TABLE = 3, /* the function has no line table: a symbol, or built without line information */
    CSN_REASON_NO_ROW = 4,        /* the function's first line row starts after the address, or names no file */
    CSN_REASON_BAD_FILE = 5,      /* the row names a file that the index does not have */
    CSN_REASON_NO_BINARY = 6,     /* the index has no binary of that name */
    CSN_REASON_NO_CALL_FILE = 7,  /* of a frame around an inlined call: the call has no file */
    CSN_REASON_NO_MODULE = 16,    /* stack frames only: no module covers the address */
    CSN_REASON_NO_INDEX = 17      /* stack frames only: the module has no index */
};
/* Returns a reason as an English clause, such as "the function has no line table": a static string, never NULL.
 * Any thread; async-signal-safe. */
CSN_API const char *csn_reason_text(uint32_t reason);

enum {
    CSN_FRAME_INLINED = 1,
    CSN_FRAME_UNCERTAIN = 2,      /* the address lies between the end of this function and the next one */
    CSN_FRAME_NAME_IN_PIECES = 4  /* the name is empty; csn_index_resolve_into() assembles it */
};

/* One frame of an answer. The strings point into the index and stay valid until csn_index_close(). */
struct csn_frame {
    struct csn_str name;     /* as stored: mangled where the producer gave a mangled name */
    struct csn_str directory;
    struct csn_str base;     /* file name without directory; empty when unknown */
    uint64_t offset;         /* bytes from the start of the function, or of the inlined block */
    uint32_t line;           /* 0 when unknown */
    uint32_t flags;          /* CSN_FRAME_ */
    uint32_t reason;         /* enum csn_reason: why file and line are missing */
    uint32_t reserved;
};

/* Returns the frames for one address: the innermost inlined call first, the function itself last.
 * addr: an address of the image, with the load bias subtracted.
 * frames: an array of `cap` frames. *out_count receives the number of frames of the answer. If it is larger than
 * `cap`, only the innermost `cap` frames are stored.
 * CSN_OK; CSN_NONE: no function covers the address; CSN_E_FORMAT, CSN_E_TRUNCATED: the function's record is damaged.
 * If the function has no usable line row, the answer still contains its name, and `reason` of the frame explains what
 * is missing.
 * Any thread; no allocation; async-signal-safe.
 * Cost: one search of the address table, and decoding one record.
 * Serves: GSYM "address table" and "FunctionInfo". */
CSN_API csn_status csn_index_lookup(const struct csn_index *index, uint64_t addr, struct csn_frame *frames, size_t cap,
                                    size_t *out_count, struct csn_error *err);

/* Writes the display name of a frame to `out`: the name that csn_index_options.demangle returns, or the stored name
 * if there is no callback or it does not change the name. `frame` comes from this index. Writes at most cap - 1 bytes
 * and a NUL. `out` may be NULL if `cap` is 0. Returns the length of the name without the NUL. If that is not less
 * than `cap`, `out` holds a truncated name or an empty string: call again with a larger buffer.
 * Any thread, if the callback allows it. Cost and async-signal-safety are those of the callback; without one, the
 * name is copied. */
CSN_API size_t csn_index_frame_name(const struct csn_index *index, const struct csn_frame *frame, char *out, size_t cap);

/* Writes the path of a frame's source file to `out`: the directory and the file name, with a '/' between them if
 * needed. The separator is '\\' if the directory contains only backslashes. The path is empty if the file is unknown.
 * `out`, `cap` and the result are as in csn_index_frame_name().
 * Any thread; no allocation; async-signal-safe. */
CSN_API size_t csn_frame_path(const struct csn_frame *frame, char *out, size_t cap);

/* A frame without its strings. csn_index_lookup_refs() fills it without reading the string and file tables;
 * csn_index_resolve() turns it into a csn_frame. */
struct csn_frame_ref {
    uint64_t name;           /* offset in the string table; BSYM: index of the function */
    uint64_t offset;         /* as in csn_frame */
    uint32_t file;           /* index in the file table; 0: none */
    uint32_t line;
    uint32_t flags;
    uint32_t reason;
};

enum csn_lookup_mode {
    CSN_LOOKUP_DEFAULT = 0, /* the most complete answer */
    CSN_LOOKUP_LLVM = 1     /* as the reference reader: an address before the function's first row is not found */
};

struct csn_lookup {
    uint64_t function_start; /* image address of the function */
    uint64_t function_size;  /* bytes; 0: the function extends to the next one */
    uint32_t function_index; /* for csn_index_function() */
    uint32_t reason;         /* enum csn_reason; also set with CSN_NONE */
    size_t frame_count;      /* frames of the answer, even if larger than cap */
    uint32_t binary;         /* 1 + the index of the binary, or of the archive's member, for csn_index_binary(); 0: none */
    uint32_t reserved0;
    uint64_t reserved;
};

/* Looks up one address as csn_index_lookup() does, but does not read any string. `out` may be NULL.
 * CSN_E_UNSUPPORTED: unknown mode.
 * Any thread; no allocation; async-signal-safe. */
CSN_API csn_status csn_index_lookup_refs(const struct csn_index *index, uint64_t addr, enum csn_lookup_mode mode,
                                         struct csn_frame_ref *frames, size_t cap, struct csn_lookup *out,
                                         struct csn_error *err);

/* The answer to one address of a batch. */
struct csn_batch_answer {
    struct csn_lookup found;
    uint64_t first_frame;    /* index of its first frame in the array of frames; it has found.frame_count frames */
    csn_status status;       /* the result of csn_index_lookup_refs() */
    uint32_t reserved;
};

struct csn_lookup_batch {
    size_t struct_size;               /* set by CSN_LOOKUP_BATCH_INIT */
    const uint64_t *addrs;            /* image addresses in any order */
    size_t count;
    struct csn_batch_answer *answers; /* output: `count` answers */
    struct csn_frame_ref *frames;     /* output: the frames of all answers */
    size_t frame_capacity;            /* at least CSN_INLINE_DEPTH_MAX + 1 */
    uint32_t mode;                    /* enum csn_lookup_mode */
    uint32_t reserved;
};
#define CSN_LOOKUP_BATCH_INIT CSN_SIZED_INIT(csn_lookup_batch)
CSN_API void csn_lookup_batch_init(struct csn_lookup_batch *batch);

/* Looks up many addresses. This is faster than single calls of csn_index_lookup_refs(), because the memory accesses
 * of neighbouring addresses overlap. Ascending addresses are fastest. *out_done receives the number of answered
 * addresses. It is less than `count` when the array of frames is full, but at least 1 unless `count` is 0: call again
 * with the remaining addresses. A damaged record affects only its own addresses; look them up individually to get the
 * error text.
 * CSN_OK; CSN_E_ARGUMENT: frame_capacity is too small; CSN_E_UNSUPPORTED: the batch has a mode or fields that this
 * version does not know.
 * Any thread; no allocation; async-signal-safe. */
CSN_API csn_status csn_index_lookup_batch(const struct csn_index *index, const struct csn_lookup_batch *batch, size_t *out_done,
                                          struct csn_error *err);

/* Reads the strings of a frame. It cannot fail: a string outside its table reads as empty. The strings of *out point
 * into the index.
 * Any thread; no allocation; async-signal-safe. Cost: linear in the lengths of the name, the directory and the file
 * name. */
CSN_API void csn_index_resolve(const struct csn_index *index, const struct csn_frame_ref *ref, struct csn_frame *out);

/* Reads the strings of a frame as csn_index_resolve() does, and assembles a name that the index stores in pieces
 * (BSYM: prefixes and tokens) in `scratch`. Such a name stays valid until the caller reuses `scratch`; other names
 * point into the index. Returns the number of bytes needed in `scratch`, or 0 for a name that points into the index.
 * If the result is larger than scratch_size, the name is empty and the frame has CSN_FRAME_NAME_IN_PIECES. Pass NULL
 * and 0 to get the size; 64 KiB are enough for every name in practice, and a name that would have more than 1 MiB reads as empty.
 * Any thread; no allocation; async-signal-safe.
 * Serves: BSYM "prefix tables", "strings and tokens". */
CSN_API size_t csn_index_resolve_into(const struct csn_index *index, const struct csn_frame_ref *ref, void *scratch,
                                      size_t scratch_size, struct csn_frame *out);

#ifdef __cplusplus
}
#endif
#endif
