/* Mangled names of all languages: which one it is, versions of symbols, room for the text. C++ names are read by code of this folder,
 * Rust's and D's by libiberty where it is there. */
#include <stdbool.h>
#include <string.h>

#include <callsign/names.h>

#include "base/core/alloc.h"
#include "base/core/fail.h"
#include "names/itanium/itanium.h"
#include "names/name_memory.h"
#include "names/name_text.h"

enum { BLOCK_SIZE = 1 << 14 };

#if defined(CSNI_HAVE_LIBIBERTY)

#include <setjmp.h>
#include <stdlib.h>

#include <libiberty/demangle.h>

enum { STYLE = DMGL_PARAMS | DMGL_ANSI };

struct libiberty_text {
    struct csni_name_text *text;
    jmp_buf too_long;
};

static void put(const char *bytes, size_t size, void *opaque) {
    struct libiberty_text *to = opaque;
    csni_name_put(to->text, bytes, size);
    /* The callback cannot ask libiberty to stop. Its callback variants hold everything on the stack, so that jumping out
     * of them leaks nothing. */
    if (to->text->too_long) longjmp(to->too_long, 1);
}

static bool put_rust(const char *name, struct csni_name_text *text) {
    struct libiberty_text to = { .text = text };
    if (setjmp(to.too_long)) return false;
    return rust_demangle_callback(name, STYLE, put, &to);
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

static bool put_d(const char *name, struct csni_name_text *to) {
    if (!d_is_harmless(name)) return false;
    char *text = dlang_demangle(name, STYLE);
    if (!text) return false;
    csni_name_put_text(to, text);
    free(text); /* libiberty's own malloc */
    return !to->too_long;
}

/* Rust's older scheme looks like C++ ("_ZN4core3fmt17h0123456789abcdefE"). */
static bool demangle_foreign(struct csn_str name, struct csni_name_memory *memory, struct csni_name_text *text) {
    char *copy = csni_name_alloc(memory, name.len + 1);
    if (!copy) return false;
    memcpy(copy, name.ptr, name.len);
    copy[name.len] = 0;
    return copy[1] == 'D' ? put_d(copy, text) : put_rust(copy, text);
}

#else

static bool demangle_foreign(struct csn_str name, struct csni_name_memory *memory, struct csni_name_text *text) {
    (void)name, (void)memory, (void)text;
    return false;
}

#endif

static bool demangle(struct csn_str name, struct csni_name_memory *memory, struct csni_name_text *text) {
    /* Mach-O puts an underscore before every name. */
    bool is_macho = name.len > 2 && name.ptr[0] == '_' && name.ptr[1] == '_' && name.ptr[2] == 'Z';
    struct csn_str bare = is_macho ? (struct csn_str){ name.ptr + 1, name.len - 1 } : name;
    if (bare.ptr[1] != '_' && demangle_foreign(bare, memory, text)) return true;
    *text = (struct csni_name_text){ .out = text->out, .cap = text->cap };
    return csni_itanium_demangle(name, memory, text);
}

/* A symbol version ("_Znwm@@GLIBCXX_3.4") is no part of the mangled name; it is put behind the text unchanged. */
static bool demangle_versioned(struct csn_str name, struct csni_name_memory *memory, struct csni_name_text *text) {
    const char *version = memchr(name.ptr, '@', name.len);
    size_t len = version ? (size_t)(version - name.ptr) : name.len;
    if (len < 2 || !demangle((struct csn_str){ name.ptr, len }, memory, text)) return false;
    csni_name_put(text, name.ptr + len, name.len - len);
    return !text->too_long;
}

static bool may_be_mangled(struct csn_str name) {
    return name.len > 2 && name.ptr[0] == '_' && memchr("ZRD_", name.ptr[1], 4);
}

csn_status csn_demangle(struct csn_str name, char *out, size_t cap, size_t *out_len, struct csn_error *err) {
    if (!may_be_mangled(name)) return CSN_NONE;
    if (name.len > CSNI_NAME_MAX_SIZE || memchr(name.ptr, 0, name.len)) return CSN_NONE;
    _Alignas(max_align_t) uint8_t block[BLOCK_SIZE];
    struct csni_name_memory memory;
    csni_name_memory_init(&memory, block, sizeof(block));
    struct csni_name_text text = { .out = out, .cap = cap };
    bool done = demangle_versioned(name, &memory, &text);
    size_t lacking = memory.failed;
    csni_name_memory_deinit(&memory);
    if (lacking) return csni_fail_memory(err, lacking);
    if (!done) return CSN_NONE;

    if (cap) out[text.len < cap ? text.len : cap - 1] = 0;
    *out_len = text.len;
    if (text.len < cap) return CSN_OK;
    return csni_fail(err, CSN_E_LIMIT, NULL, 0, "demangled name: %zu bytes, room for %zu", text.len, cap);
}
