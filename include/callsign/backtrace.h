/* Callsign: the call stack of the running program, from its own indexes: capture it, look it up, print it, also within a
 * signal handler. Library libcallsign-backtrace, on systems with ELF.
 *
 * Two kinds of functions. Those that capture, look up and print are async-signal-safe: they allocate nothing, take no
 * lock, use no stdio and open no file. They know what was opened before: csn_backtrace_create() opens the indexes that
 * stand beside the modules or within them, and csn_backtrace_load() also converts modules that have none. These two, and
 * csn_backtrace_destroy(), are not async-signal-safe. After dlopen(), call csn_backtrace_load() again; until then a pc in the
 * new library has no module, and is printed as a number.
 *
 * A program that never names csn_backtrace_convert() and links the static library contains the index reader alone. */
#ifndef CALLSIGN_BACKTRACE_H
#define CALLSIGN_BACKTRACE_H

#include <callsign/index.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- the stack ---- */

/* Captures the stack of the calling thread, innermost call first, with the unwind tables of the program
 * (_Unwind_Backtrace). skip: how many calls to leave out; 0 begins with the function that calls this one. pcs: an array of
 * `cap` pcs. Each lies within the call that it stands for, not after it, so that it is looked up as it is. Returns how many
 * were stored.
 * Any thread; no allocation. Async-signal-safe where the C library finds unwind tables without a lock (glibc 2.35 and later with
 * GCC 12 and later); elsewhere a signal within dlopen() may deadlock: use csn_backtrace_capture_frame_pointers(). */
CSN_API size_t csn_backtrace_capture(size_t skip, uint64_t *pcs, size_t cap);

/* The same along the chain of frame pointers, for programs built with -fno-omit-frame-pointer: many times faster. The
 * walk ends at the first frame whose pointer is not above the one before or cannot be read. x86, x86-64 and AArch64;
 * elsewhere it returns 0.
 * Any thread; async-signal-safe. Cost: two loads for each frame, and a system call for each page of the stack. */
CSN_API size_t csn_backtrace_capture_frame_pointers(size_t skip, uint64_t *pcs, size_t cap);

/* Captures the stack that a signal interrupted: pcs[0] is the interrupted instruction. context: the third argument of a
 * handler installed with SA_SIGINFO, also one that runs on an alternate stack. Unwind tables are used, or frame pointers where they
 * lead nowhere. After a call through a bad pointer pcs[1] is the call; on x86-64 the tables lead on from there: for
 * that time the registers of the caller stand in the context. Otherwise as csn_backtrace_capture(). */
CSN_API size_t csn_backtrace_capture_context(const void *context, uint64_t *pcs, size_t cap);

/* ---- the modules and their indexes ---- */

/* A loaded module. Strings and ids stay valid until csn_backtrace_destroy(). */
struct csn_backtrace_module {
    const char *path;        /* of the file; that of the program itself from /proc/self/exe */
    const uint8_t *build_id; /* as it is in memory; NULL: none */
    size_t build_id_size;
    uint64_t bias;           /* address in the image = pc - bias */
    uint64_t start, end;     /* pcs, from its first segment to its last */
    const struct csn_index *index; /* NULL: none */
    uint64_t reserved[2];
};

/* Makes the index of a module that has none beside it or within it. csn_backtrace_convert() is the stock function.
 * CSN_OK: *out is the index, which csn_index_close() will close; CSN_NONE and failures: there is none. Each module is asked for
 * once. */
typedef csn_status csn_backtrace_converter(void *context, const struct csn_backtrace_module *module, struct csn_index **out,
                                           struct csn_error *err);

/* The stock csn_backtrace_converter: converts the module's file, or the debug file that belongs to it, in memory. Its
 * context is a struct csn_opener of callsign/open.h, which may have a cache and other places to search, or NULL: no cache,
 * the usual places for debug files, no network, one thread per core. */
CSN_API csn_status csn_backtrace_convert(void *opener, const struct csn_backtrace_module *module, struct csn_index **out,
                                         struct csn_error *err);

struct csn_backtrace_options {
    size_t struct_size;                    /* set by CSN_BACKTRACE_OPTIONS_INIT */
    const struct csn_allocator *allocator; /* NULL: malloc; must outlive the result */
    csn_backtrace_converter *convert;      /* for modules without an index; NULL: they stay without */
    void *convert_context;
    const char *program_path;              /* the program's file; NULL: /proc/self/exe */
    csn_name_callback *demangle;           /* names for csn_backtrace_print(), such as csn_rename_demangled(); it must be
                                            * async-signal-safe if printing is to be (csn_rename_demangled() is not).
                                            * NULL: as stored */
    void *demangle_context;
};
#define CSN_BACKTRACE_OPTIONS_INIT CSN_SIZED_INIT(csn_backtrace_options)
CSN_API void csn_backtrace_options_init(struct csn_backtrace_options *options);

/* What a process knows of its modules. Any number of threads may look up and print, without locks, while another one
 * loads. */
struct csn_backtrace;

/* Lists the loaded modules and opens the indexes that are there: PATH.gsym, or the index within the module's file. An
 * index with another build id than the module in memory is not used. `options` may be NULL. The caller releases *out with
 * csn_backtrace_destroy().
 * CSN_OK; CSN_E_UNSUPPORTED: unknown fields; CSN_E_MEMORY. A module without an index is no failure.
 * Cost: two attempts to open a file for each module. */
CSN_API csn_status csn_backtrace_create(const struct csn_backtrace_options *options, struct csn_backtrace **out,
                                        struct csn_error *err);
CSN_API void csn_backtrace_destroy(struct csn_backtrace *backtrace); /* `backtrace` may be NULL */

/* Lists modules loaded since, opens their indexes, and calls options.convert for each module of the `count` pcs that has none.
 * pcs NULL: for all modules, as a program does that wants names of any later crash; not NULL with count 0: for none.
 * Modules that were unloaded are no longer found.
 * CSN_OK; CSN_E_MEMORY. Any thread; one at a time, others wait. Cost: that of conversions, seconds for a large program. */
CSN_API csn_status csn_backtrace_load(struct csn_backtrace *backtrace, const uint64_t *pcs, size_t count, struct csn_error *err);

/* ---- lookups ---- */

/* Returns the module of a pc, or NULL. Any thread; async-signal-safe. */
CSN_API const struct csn_backtrace_module *csn_backtrace_find_module(const struct csn_backtrace *backtrace, uint64_t pc);

/* Looks up one pc, as csn_index_lookup() does with an address.
 * CSN_OK; CSN_NONE: no module, no index, or no function covers the pc; CSN_E_FORMAT, CSN_E_TRUNCATED: the function's
 * record is damaged. Any thread; async-signal-safe. */
CSN_API csn_status csn_backtrace_lookup(const struct csn_backtrace *backtrace, uint64_t pc, struct csn_frame *frames, size_t cap,
                                        size_t *out_count, struct csn_error *err);

/* Writes a stack to the file descriptor `fd`, one line a frame, inlined calls as frames of their own, in the form that
 * sanitizers print:
 *     #0 0x55d0c1a7f1b9 in inner /src/app.c:12
 *     #1 0x7f10a2b3c4d5  (/usr/lib/libdemo.so+0x34d5) (BuildId: 1a2b3c4d)
 * `callsign stack` reads it, and names later what has no index here. `backtrace` may be NULL: modules are then unknown.
 * Any thread; async-signal-safe (see options.demangle). An alternate stack of 8 KB, beside what the kernel stores there
 * (sysconf(_SC_MINSIGSTKSZ)), is enough for capturing and printing. Incomplete writes are ignored. */
CSN_API void csn_backtrace_print(const struct csn_backtrace *backtrace, const uint64_t *pcs, size_t count, int fd);

#ifdef __cplusplus
}
#endif
#endif
