/* Callsign: demangle names, and shorten them. */
#ifndef CALLSIGN_NAMES_H
#define CALLSIGN_NAMES_H

#include <callsign/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Demangles a C++ (Itanium or Microsoft), Rust (v0 and legacy), D, Swift, Ada, OCaml, Haskell, Nim or Free Pascal name
 * into `out`. The result is the same on every system, and NUL-terminated if cap > 0. *out_len receives the full length
 * without the NUL, even if it is larger than cap - 1. docs/demangling.md describes the result for each language.
 * CSN_OK; CSN_NONE: the name is not mangled, and `out` may contain a partial result; CSN_E_LIMIT: `cap` is too small;
 * CSN_E_MEMORY.
 * Any thread.
 * Cost: linear in the lengths of both names, and bounded for malicious names. Input and output are limited to 1 MiB
 * each, memory to 64 MiB and stack to 1 MiB.
 * Serves: Itanium C++ ABI 5.1, Rust RFC 2603, D specification "Name Mangling", Swift's
 * docs/ABI/Mangling.rst. */
CSN_API csn_status csn_demangle(struct csn_str name, char *out, size_t cap, size_t *out_len, struct csn_error *err);

enum {
    /* What llvm-cxxfilt 22 writes even where it is wrong: a repeated type with template parameters has those of the function
     * that was named first, and arguments of a conversion operator's type are the operator's. Names that it cannot read are
     * demangled as without the flag. For callers that promise LLVM's text, and for comparisons with it. */
    CSN_DEMANGLE_AS_LLVM = 1
};

/* As csn_demangle(), with flags. CSN_E_UNSUPPORTED: unknown flags. */
CSN_API csn_status csn_demangle_with(struct csn_str name, uint32_t flags, char *out, size_t cap, size_t *out_len,
                                     struct csn_error *err);

enum {
    CSN_SHORTEN_NESTED = 1 /* also shorten template arguments, and inline namespaces of more C++ libraries */
};

/* Shortens a demangled C++ name. It removes the standard library's default arguments and internal names: allocators
 * of std::vector, comparisons and allocators of std::map, the template arguments of std::string and streams, and
 * libc++'s inline namespace. Without flags it does what gsym.py of 2017 did: template arguments stay unchanged.
 * Shortening cannot be undone. `out` holds at least name.len + 1 bytes, because a name never becomes longer. It may
 * be name.ptr itself. The result is NUL-terminated.
 * CSN_OK, whether or not the name became shorter; CSN_E_LIMIT: `cap` is too small, *out_len is name.len;
 * CSN_E_UNSUPPORTED: unknown flags.
 * Any thread; no allocation.
 * Cost: linear in the length of the name; with CSN_SHORTEN_NESTED, times the logarithm of its nesting. Nesting beyond
 * 256 brackets stays unchanged.
 * Serves: gsym.py "shortening of C++ names". */
CSN_API csn_status csn_shorten_name(struct csn_str name, uint32_t flags, char *out, size_t cap, size_t *out_len,
                                    struct csn_error *err);

/* Calls csn_demangle(). A csn_name_callback for csn_index_options.demangle and csn_convert_options.rename. `context`
 * is ignored. */
CSN_API csn_status csn_rename_demangled(void *context, struct csn_str name, char *out, size_t cap, size_t *out_len);
/* Demangle the name and shorten it with csn_shorten_name(), without flags or with CSN_SHORTEN_NESTED. Otherwise as
 * csn_rename_demangled(). */
CSN_API csn_status csn_rename_short(void *context, struct csn_str name, char *out, size_t cap, size_t *out_len);
CSN_API csn_status csn_rename_short_nested(void *context, struct csn_str name, char *out, size_t cap, size_t *out_len);

#ifdef __cplusplus
}
#endif
#endif
