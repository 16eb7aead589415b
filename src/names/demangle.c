/* Demangling with libiberty. Names come from untrusted files: a few hundred bytes with back references can stand for
 * gigabytes of text, so output is taken piece by piece through the library's callbacks and stopped at a limit. */
#include <setjmp.h>
#include <stdbool.h>
#include <string.h>

#include <callsign/names.h>

#include "base/core/alloc.h"
#include "base/core/fail.h"

enum { NAME_MAX_SIZE = 1 << 20 };

#if defined(CSNI_HAVE_LIBIBERTY)

#include <stdlib.h>

#include <libiberty/demangle.h>

enum { ON_STACK = 1024 };

/* Where the text goes: what fits is kept, all of it is counted. */
struct text_sink {
    char *out;
    size_t cap;
    size_t len;
    jmp_buf too_long;
};

static void put(const char *text, size_t size, void *opaque) {
    struct text_sink *sink = opaque;
    /* The callback cannot ask libiberty to stop. Its callback variants hold everything on the stack, so that jumping out
     * of them leaks nothing. */
    if (size > NAME_MAX_SIZE - sink->len) longjmp(sink->too_long, 1);
    if (sink->len < sink->cap) {
        size_t room = sink->cap - sink->len;
        memcpy(sink->out + sink->len, text, size < room ? size : room);
    }
    sink->len += size;
}

enum language { NOT_MANGLED, ITANIUM, RUST, DLANG };

static enum language language_of(const char *name) {
    if (name[0] != '_') return NOT_MANGLED;
    switch (name[1]) {
    case 'Z': return ITANIUM;
    case 'R': return RUST;
    case 'D': return DLANG;
    default: return NOT_MANGLED;
    }
}

/* libiberty's own limit refuses C++ names of more than 1024 bytes, because it keeps its parts on the stack; Boost makes
 * longer ones. Up to this size, the worst names that we found take 0.55 MB of stack. */
enum { UNLIMITED_NAME_MAX = 2048 };

static bool put_itanium_or_rust(const char *name, enum language language, struct text_sink *sink) {
    enum { STYLE = DMGL_PARAMS | DMGL_ANSI };
    if (setjmp(sink->too_long)) return false;
    /* Rust's older scheme looks like C++ ("_ZN4core3fmt17h0123456789abcdefE"): its demangler is asked first. */
    if (rust_demangle_callback(name, STYLE, put, sink)) return true;
    if (language != ITANIUM) return false;
    sink->len = 0;
    int options = strlen(name) <= UNLIMITED_NAME_MAX ? STYLE | DMGL_NO_RECURSE_LIMIT : STYLE;
    return cplus_demangle_v3_callback(name, options, put, sink) != 0;
}

/* libiberty's D demangler has no callback, recurses without a limit and ends the process when memory runs out. So only
 * short names are given to it, and with only so many back references ("Q") that the text stays small: q of them
 * can multiply its length by 3 ^ (q / 3) at most. */
static bool d_is_harmless(const char *name) {
    enum { D_NAME_MAX = 4096, D_GROWTH_MAX = 1 << 24 };
    size_t growth = strlen(name), references = 0;
    if (growth > D_NAME_MAX) return false;
    for (const char *at = name; *at; at++) {
        if (*at != 'Q') continue;
        if (++references % 3 == 0) growth *= 3;
        if (growth > D_GROWTH_MAX) return false;
    }
    return true;
}

static bool put_d(const char *name, struct text_sink *sink) {
    if (!d_is_harmless(name)) return false;
    char *text = dlang_demangle(name, DMGL_PARAMS | DMGL_ANSI);
    if (!text) return false;
    size_t len = strlen(text);
    bool fits = len <= NAME_MAX_SIZE;
    if (fits) put(text, len, sink);
    free(text); /* libiberty's own malloc */
    return fits;
}

static bool demangle(const char *name, struct text_sink *sink) {
    if (name[0] == '_' && name[1] == '_' && name[2] == 'Z') name++; /* Mach-O puts an underscore before every name */
    enum language language = language_of(name);
    if (language == NOT_MANGLED) return false;
    return language == DLANG ? put_d(name, sink) : put_itanium_or_rust(name, language, sink);
}

/* A symbol version ("_Znwm@@GLIBCXX_3.4") is no part of the mangled name; it is put behind the text unchanged. */
static bool demangle_versioned(char *name, size_t size, struct text_sink *sink) {
    char *version = memchr(name, '@', size);
    if (!version) return demangle(name, sink);
    *version = 0;
    if (!demangle(name, sink)) return false;
    *version = '@';
    size_t version_size = size - (size_t)(version - name);
    if (version_size > NAME_MAX_SIZE - sink->len) return false;
    put(version, version_size, sink);
    return true;
}

static bool may_be_mangled(struct csn_str name) {
    return name.len > 2 && name.ptr[0] == '_' && memchr("ZRD_", name.ptr[1], 4);
}

csn_status csn_demangle(struct csn_str name, char *out, size_t cap, size_t *out_len, struct csn_error *err) {
    if (!may_be_mangled(name)) return CSN_NONE;
    if (name.len > NAME_MAX_SIZE || memchr(name.ptr, 0, name.len)) return CSN_NONE;
    char on_stack[ON_STACK];
    char *copy = on_stack;
    if (name.len >= sizeof(on_stack)) {
        copy = csni_alloc(&csni_libc_allocator, name.len + 1);
        if (!copy) return csni_fail_memory(err, name.len + 1);
    }
    memcpy(copy, name.ptr, name.len);
    copy[name.len] = 0;
    struct text_sink sink = { .out = out, .cap = cap };
    bool done = demangle_versioned(copy, name.len, &sink);
    if (copy != on_stack) csni_free(&csni_libc_allocator, copy, name.len + 1);
    if (!done) return CSN_NONE;

    if (cap) out[sink.len < cap ? sink.len : cap - 1] = 0;
    *out_len = sink.len;
    if (sink.len < cap) return CSN_OK;
    return csni_fail(err, CSN_E_LIMIT, NULL, 0, "demangled name: %zu bytes, room for %zu", sink.len, cap);
}

#else

csn_status csn_demangle(struct csn_str name, char *out, size_t cap, size_t *out_len, struct csn_error *err) {
    (void)name, (void)out, (void)cap, (void)out_len;
    return csni_fail(err, CSN_E_UNSUPPORTED, NULL, 0, "built without libiberty, which demangles names");
}

#endif
