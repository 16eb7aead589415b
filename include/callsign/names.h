/* Callsign: names for people: demangling and shortening. */
#ifndef CALLSIGN_NAMES_H
#define CALLSIGN_NAMES_H

#include <callsign/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Demangles a C++ (Itanium or Microsoft), Rust (v0 and legacy), D, Ada, OCaml, Haskell, Nim or Free Pascal name into `out`
 * (NUL-terminated when cap > 0), the same on every system.
 * *out_len gets the full length without the NUL, even if larger than cap - 1.
 * CSN_OK, CSN_NONE (not a mangled name: `out` may hold parts of an attempt), CSN_E_LIMIT (cap is too small), CSN_E_MEMORY. Any
 * thread. Input and output are limited to 1 MiB each, memory to 64 MiB, stack to 1 MiB; time is linear in both texts, and bounded where
 * a name is made to hurt. What is written in each language: docs/demangling.md.
 * Serves: Itanium C++ ABI 5.1, Rust RFC 2603, D specification "Name Mangling". */
CSN_API csn_status csn_demangle(struct csn_str name, char *out, size_t cap, size_t *out_len, struct csn_error *err);

enum {
    CSN_SHORTEN_NESTED = 1 /* template arguments too, from the inside out; inline namespaces of more C++ libraries */
};

/* Takes out of a demangled C++ name what the standard library's defaults add to it: allocators of std::vector,
 * comparisons and allocators of std::map, the templates after std::string and streams, libc++'s inline namespace.
 * Without flags, as the original gsym.py of 2017: arguments of templates stay as they are. What is shortened cannot be
 * made whole again.
 * `out` needs room for name.len + 1 bytes, as no name gets longer, and may be name.ptr itself; it is NUL-terminated.
 * CSN_OK, shorter or not; CSN_E_LIMIT (cap is too small; *out_len is name.len), CSN_E_UNSUPPORTED (unknown flags). Any thread;
 * no allocation; time is linear in the name (times the logarithm of its nesting with CSN_SHORTEN_NESTED). Nesting beyond 256
 * brackets is left alone.
 * Serves: gsym.py "shortening of C++ names". */
CSN_API csn_status csn_shorten_name(struct csn_str name, uint32_t flags, char *out, size_t cap, size_t *out_len,
                                    struct csn_error *err);

/* A csn_name_callback for csn_index_options.demangle and csn_convert_options.rename: csn_demangle(). `context` is not used. */
CSN_API csn_status csn_rename_demangled(void *context, struct csn_str name, char *out, size_t cap, size_t *out_len);
/* The same, and names are shortened as by csn_shorten_name(), without or with CSN_SHORTEN_NESTED. */
CSN_API csn_status csn_rename_short(void *context, struct csn_str name, char *out, size_t cap, size_t *out_len);
CSN_API csn_status csn_rename_short_nested(void *context, struct csn_str name, char *out, size_t cap, size_t *out_len);

#ifdef __cplusplus
}
#endif
#endif
