/* Callsign: the interface of libbacktrace (github.com/ianlancetaylor/libbacktrace), served by libcallsign-backtrace.
 *
 * Programs written for libbacktrace compile against this header and link libcallsign-backtrace in its place, or run with
 * the shared library preloaded. docs/backtrace.md lists the differences. callsign/backtrace.h is Callsign's own interface.
 *
 * A pc of this interface lies within a call: backtrace_full() and backtrace_simple() subtract 1 from return addresses. */
#ifndef BACKTRACE_H
#define BACKTRACE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define CSN_LIBBACKTRACE_API __attribute__((visibility("default")))
#else
#define CSN_LIBBACKTRACE_API
#endif

/* What is known of the program. All states of a process share the modules and their indexes. */
struct backtrace_state;

/* Reports a failure. errnum: an errno; 0: none; -1: the program has no debug information or symbols that the call needs.
 * `msg` is valid during the call. */
typedef void (*backtrace_error_callback)(void *data, const char *msg, int errnum);

/* One frame. filename and function may be NULL, lineno 0; they are valid during the call. Return 0 to go on. */
typedef int (*backtrace_full_callback)(void *data, uintptr_t pc, const char *filename, int lineno, const char *function);
typedef int (*backtrace_simple_callback)(void *data, uintptr_t pc);

/* One symbol, with its address and size; symname is NULL if none covers the address. */
typedef void (*backtrace_syminfo_callback)(void *data, uintptr_t pc, const char *symname, uintptr_t symval, uintptr_t symsize);

/* Creates a state; there is no function that frees it. filename: the program's file, kept by the caller; NULL: it is found.
 * threaded: 1 if several threads use the state; it is allowed either way. NULL: no memory; error_callback was called. */
CSN_LIBBACKTRACE_API struct backtrace_state *backtrace_create_state(const char *filename, int threaded,
                                                                    backtrace_error_callback error_callback, void *data);

/* Calls `callback` for each frame of the own stack, inlined calls first, or error_callback. skip: calls to leave out; 0 begins
 * with the caller. Ends with the first result of `callback` that is not 0, and returns it. */
CSN_LIBBACKTRACE_API int backtrace_full(struct backtrace_state *state, int skip, backtrace_full_callback callback,
                                        backtrace_error_callback error_callback, void *data);

/* The same with pcs alone: async-signal-safe. */
CSN_LIBBACKTRACE_API int backtrace_simple(struct backtrace_state *state, int skip, backtrace_simple_callback callback,
                                          backtrace_error_callback error_callback, void *data);

/* Prints the own stack to `file`; failures to stderr. */
CSN_LIBBACKTRACE_API void backtrace_print(struct backtrace_state *state, int skip, FILE *file);

/* Calls `callback` for a pc: once for each inlined call, then for the function. Returns as backtrace_full(). */
CSN_LIBBACKTRACE_API int backtrace_pcinfo(struct backtrace_state *state, uintptr_t pc, backtrace_full_callback callback,
                                          backtrace_error_callback error_callback, void *data);

/* Calls `callback` once with the symbol of a function or variable that covers `addr`. Returns 1, or 0 after
 * error_callback. */
CSN_LIBBACKTRACE_API int backtrace_syminfo(struct backtrace_state *state, uintptr_t addr, backtrace_syminfo_callback callback,
                                           backtrace_error_callback error_callback, void *data);

#ifdef __cplusplus
}
#endif
#endif
