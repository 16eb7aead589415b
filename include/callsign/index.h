/* Callsign: open an index and look up addresses.
 *
 * The lookup-only library (libcallsign-lookup), which needs nothing but libc, consists of this header, inspect.h, binaries.h
 * and the decoding half of line_table.h.
 * An open index is immutable: any number of threads may use it at once without locks, until csn_index_close().
 *
 * In a signal handler: csn_index_lookup(), csn_index_lookup_refs(), csn_index_lookup_batch(), csn_index_resolve(),
 * csn_index_resolve_into(), csn_frame_path(), csn_reason_text(), the functions of binaries.h, csn_error_text() and
 * csn_status_name() are async-signal-safe: they allocate nothing, take no lock and use no stdio, errors included. They take less than
 * 4 KB of stack, so that an alternate stack of 8 KB is enough. The index must be open beforehand; the shared library is bound
 * when it is loaded (a program that links the static one does well to link with -Wl,-z,now). csn_index_frame_name() is safe as far as
 * its callback is; opening and closing are not.
 *
 * It reads its bytes in place. A mapped file must not shrink while it is open (replace files by rename, as
 * `callsign convert` does, never by writing over them). */
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
    /* Most memory to spend on an accelerator: the index decoded once, while it is opened, into a form that answers most
     * addresses from two places in memory. For programs that look up many addresses over a long time. 0: none, and
     * opening costs next to nothing; UINT64_MAX: what it takes, 1.3 to 8 times the file's size (and as much again while it
     * is built, at about 100 MB of index a second). What does not fit, and what is damaged, is answered from the index
     * itself: answers never differ. */
    uint64_t accelerator_bytes;
    const char *arch;                      /* of a universal file with several indexes: which image; NULL: the only one */
    csn_name_callback *demangle;           /* for csn_index_frame_name(); NULL: names are given as stored. csn_rename_demangled() of
                                            * names.h is one. Called by the threads that ask for names, several at once */
    void *demangle_context;
};
#define CSN_INDEX_OPTIONS_INIT CSN_SIZED_INIT(csn_index_options)
CSN_API void csn_index_options_init(struct csn_index_options *options);

/* Maps `path` and checks its header and the bounds of its tables, nothing else.
 * *out is owned by the caller and released by csn_index_close(). Cost: a few system calls, whatever the file's size. */
CSN_API csn_status csn_index_open_file(const char *path, const struct csn_index_options *options, struct csn_index **out,
                                       struct csn_error *err);

/* The same over bytes that the caller keeps alive and unchanged until csn_index_close(). Any alignment. */
CSN_API csn_status csn_index_open_memory(const void *bytes, size_t size, const struct csn_index_options *options,
                                         struct csn_index **out, struct csn_error *err);

/* As csn_index_open_file(), which opens the index in an object file's section .gsym, too (__gsym in Mach-O); but CSN_NONE where
 * `path` is no ELF, Mach-O, PE or COFF file, nor a GSYM file of 2017, or has no such section. */
CSN_API csn_status csn_index_open_embedded(const char *path, const struct csn_index_options *options,
                                           struct csn_index **out, struct csn_error *err);

/* The same over bytes that the caller keeps alive and unchanged until csn_index_close(). */
CSN_API csn_status csn_index_open_embedded_memory(const void *bytes, size_t size, const struct csn_index_options *options,
                                                  struct csn_index **out, struct csn_error *err);

CSN_API void csn_index_close(struct csn_index *index); /* NULL is fine */

/* Whether the bytes begin like an index that csn_index_open_memory() reads; the first 4 KiB are enough. */
CSN_API bool csn_is_index(const void *bytes, size_t size);

/* ---- what it is ---- */

/* What an index is. Later versions may add fields at the end: see "Structs that grow" in base.h. */
struct csn_index_info {
    uint32_t format;             /* enum csn_format */
    uint8_t big_endian;          /* byte order of the file */
    uint8_t address_size;        /* bytes per entry of the address table: 1, 2, 4 or 8 */
    uint8_t uuid_size;           /* bytes used in uuid */
    char revision;               /* of CSN_FORMAT_GSYM_SECTION: 'A' to 'G', as far as its bytes tell; else 0 */
    uint64_t base_address;
    uint64_t file_size;          /* bytes */
    uint32_t function_count;     /* entries of the address table */
    uint32_t file_count;         /* entries of the file table, the reserved entry 0 included */
    uint64_t string_bytes;       /* size of the string table */
    uint8_t uuid[32];            /* build id or UUID */
    uint64_t uuid_bytes;         /* size of the file's UUID, of which uuid has the first 32 */
    uint64_t accelerator_bytes;  /* memory that the accelerator takes; 0: there is none */
    uint32_t unaccelerated_functions; /* functions that are answered from the index itself although there is an accelerator */
    uint32_t address_sample_count; /* entries of the sample of the address table at the end of a GSYM file, which is searched
                                  * first (docs/formats/gsym.md); 0: it has none */
    uint32_t format_version;     /* major << 16 | minor, as stored; of BSYM */
    uint32_t binary_count;       /* binaries of the image, for csn_index_binary(); 0: it is one itself */
    uint32_t alias_count;        /* names on the device, for csn_index_alias() */
    uint32_t image_checksum;     /* of a ROM; 0: none */
};
/* Fills *out; out_size is sizeof *out. Any thread. Cost: a copy of that size; no allocation. */
CSN_API void csn_index_get_info(const struct csn_index *index, struct csn_index_info *out, size_t out_size);

/* ---- looking up ---- */

/* Why an answer lacks something. */
enum csn_reason {
    CSN_REASON_COMPLETE = 0,      /* nothing is missing */
    CSN_REASON_BEFORE_FIRST = 1,  /* the address is below the first function */
    CSN_REASON_GAP = 2,           /* the address is after the end of the function that starts before it */
    CSN_REASON_NO_LINE_TABLE = 3, /* the function has no line table: a symbol, or built without line information */
    CSN_REASON_NO_ROW = 4,        /* the function's first line row starts after the address, or names no file */
    CSN_REASON_BAD_FILE = 5,      /* the row names a file that the index does not have */
    CSN_REASON_NO_BINARY = 6,     /* the index has no binary of that name */
    CSN_REASON_NO_CALL_FILE = 7,  /* of a frame around an inlined call: the call names no file */
    CSN_REASON_NO_MODULE = 16,    /* of a stack's frame: no module covers it */
    CSN_REASON_NO_INDEX = 17      /* of a stack's frame: its module has no index */
};
/* A reason in English, to stand within a line: "the function has no line table". Never NULL. */
CSN_API const char *csn_reason_text(uint32_t reason);

enum {
    CSN_FRAME_INLINED = 1,
    CSN_FRAME_UNCERTAIN = 2,      /* the address is after the function, before the next one: maybe it is not this one */
    CSN_FRAME_NAME_IN_PIECES = 4  /* the name is empty because it must be put together: csn_index_resolve_into() */
};

/* One line of an answer. Strings point into the index and live until csn_index_close(). */
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

/* Finds the frames for one image address, innermost first.
 * addr: image virtual address, load bias already removed.
 * frames: room for `cap`; *out_count gets the number needed, even if larger than cap (the innermost `cap` are stored).
 * CSN_OK, CSN_NONE (no function covers addr), CSN_E_FORMAT or CSN_E_TRUNCATED (that record is damaged).
 * A function without usable line rows still answers with its name; `reason` of the frame says what is missing.
 * Any thread. One search of the address table plus one record decode; no allocation.
 * Serves: GSYM "address table" and "FunctionInfo". */
CSN_API csn_status csn_index_lookup(const struct csn_index *index, uint64_t addr, struct csn_frame *frames, size_t cap,
                                    size_t *out_count, struct csn_error *err);

/* The name of a frame for people: demangled by csn_index_options.demangle if that is set and knows the name, otherwise as stored.
 * `out` gets up to cap - 1 bytes and a NUL; with cap 0 it may be NULL. Returns the bytes needed without the NUL: where that is
 * not less than cap, call again with more (what stands in `out` then is cut, or empty). `frame` is one of this index.
 * Any thread that the callback allows. Cost and signal-safety: those of the callback; without it a copy of the name. */
CSN_API size_t csn_index_frame_name(const struct csn_index *index, const struct csn_frame *frame, char *out, size_t cap);

/* The path of a frame's file: directory and base name, with a '/' between them where one is missing ('\\' in a directory that has
 * backslashes only). Empty when the file is unknown. `out`, `cap` and the result are as in csn_index_frame_name().
 * Any thread; no allocation; async-signal-safe. */
CSN_API size_t csn_frame_path(const struct csn_frame *frame, char *out, size_t cap);

/* A frame whose strings have not been looked at: what csn_index_lookup_refs() finds without touching the string and
 * file tables. Turn it into a csn_frame with csn_index_resolve(). */
struct csn_frame_ref {
    uint64_t name;           /* offset in the string table; BSYM: number of the function */
    uint64_t offset;         /* as in csn_frame */
    uint32_t file;           /* index in the file table; 0: none */
    uint32_t line;
    uint32_t flags;
    uint32_t reason;
};

enum csn_lookup_mode {
    CSN_LOOKUP_DEFAULT = 0, /* the most useful answer */
    CSN_LOOKUP_LLVM = 1     /* the reference reader's answer: an address before the first row is not found at all */
};

struct csn_lookup {
    uint64_t function_start; /* image address of the record that answered */
    uint64_t function_size;  /* bytes; 0: up to the next function */
    uint32_t function_index; /* for csn_index_function() */
    uint32_t reason;         /* enum csn_reason, for CSN_NONE as well */
    size_t frame_count;      /* frames needed, even if larger than cap */
    uint32_t binary;         /* 1 + the index of the binary for csn_index_binary(); 0: none */
    uint32_t reserved0;
    uint64_t reserved;
};

/* As csn_index_lookup(), without touching any string; `out` may be NULL. */
CSN_API csn_status csn_index_lookup_refs(const struct csn_index *index, uint64_t addr, enum csn_lookup_mode mode,
                                         struct csn_frame_ref *frames, size_t cap, struct csn_lookup *out,
                                         struct csn_error *err);

/* One answer of a batch. */
struct csn_batch_answer {
    struct csn_lookup found;
    uint64_t first_frame;    /* its place in the array of frames; found.frame_count of them stand there */
    csn_status status;       /* as csn_index_lookup_refs() returns */
    uint32_t reserved;
};

struct csn_lookup_batch {
    size_t struct_size;               /* set by CSN_LOOKUP_BATCH_INIT */
    const uint64_t *addrs;            /* image addresses in any order */
    size_t count;
    struct csn_batch_answer *answers; /* filled; `count` of them */
    struct csn_frame_ref *frames;     /* filled; shared by all answers */
    size_t frame_capacity;            /* at least CSN_INLINE_DEPTH_MAX + 1 */
    uint32_t mode;                    /* enum csn_lookup_mode */
    uint32_t reserved;
};
#define CSN_LOOKUP_BATCH_INIT CSN_SIZED_INIT(csn_lookup_batch)
CSN_API void csn_lookup_batch_init(struct csn_lookup_batch *batch);

/* As csn_index_lookup_refs() for each address: the waits for memory of neighbouring addresses overlap, which makes it the fastest
 * way to look up many. Ascending addresses are faster still.
 * *out_done gets the number of addresses answered: less than `count`, but never 0, where the frames are not enough; call again with
 * the rest. A damaged record fails its own addresses, not the batch: look them up one by one for the error text.
 * CSN_OK; CSN_E_ARGUMENT where frame_capacity is too small; CSN_E_UNSUPPORTED: the batch has fields that this version does not
 * know. Any thread; no allocation. */
CSN_API csn_status csn_index_lookup_batch(const struct csn_index *index, const struct csn_lookup_batch *batch, size_t *out_done,
                                          struct csn_error *err);

/* Reads the strings of a frame. Cost: the length of the name and of the two parts of the path. Cannot fail: what is out
 * of range reads as empty. */
CSN_API void csn_index_resolve(const struct csn_index *index, const struct csn_frame_ref *ref, struct csn_frame *out);

/* The same, with memory for a name that the index keeps in pieces (BSYM: prefixes and tokens). Such a name is put together in
 * `scratch`, where it lives until the caller uses that again; other names are views, as ever. Returns the bytes needed there: 0
 * for a view; more than scratch_size: the name does not fit, reads as empty and has CSN_FRAME_NAME_IN_PIECES. So a call
 * with NULL and 0 tells the size first; 64 KiB are enough for every real name. Any thread; no allocation.
 * Serves: BSYM "prefix tables", "strings and tokens". */
CSN_API size_t csn_index_resolve_into(const struct csn_index *index, const struct csn_frame_ref *ref, void *scratch,
                                      size_t scratch_size, struct csn_frame *out);

#ifdef __cplusplus
}
#endif
#endif
