/* Mangled names of all languages: which one it is, versions of symbols, room for the text. */
#include <stdbool.h>
#include <string.h>

#include <callsign/names.h>

#include "base/core/alloc.h"
#include "base/core/fail.h"
#include "names/d/dlang.h"
#include "names/itanium/itanium.h"
#include "names/msvc/msvc.h"
#include "names/name_memory.h"
#include "names/name_text.h"
#include "names/plain/plain.h"
#include "names/rust/rust.h"
#include "names/swift/swift.h"

enum { BLOCK_SIZE = 1 << 14 };

static struct csn_str without(struct csn_str name, size_t count) { return (struct csn_str){ name.ptr + count, name.len - count }; }

/* Rust's older scheme looks like C++ ("_ZN4core3fmt17h0123456789abcdefE"). */
static bool demangle_itanium(struct csn_str name, uint32_t flags, struct csni_name_memory *memory, struct csni_name_text *text) {
    bool extra = name.ptr[1] == '_'; /* Mach-O puts an underscore before every name */
    struct csni_name_mark start = csni_name_get_mark(text);
    if (csni_rust_demangle_legacy(without(name, extra), text)) return true;
    csni_name_back_to(text, start);
    return csni_itanium_demangle(name, flags, memory, text);
}

static bool demangle_bare(struct csn_str name, uint32_t flags, struct csni_name_memory *memory, struct csni_name_text *text) {
    if (csni_swift_is_mangled(name)) return csni_swift_demangle(name, memory, text);
    switch (name.ptr[1]) {
    case 'Z': return demangle_itanium(name, flags, memory, text);
    case 'R': return csni_rust_demangle(name, text);
    case 'D': return csni_dlang_demangle(name, memory, text);
    default: break;
    }
    if (name.len > 2 && name.ptr[2] == 'R') return csni_rust_demangle(without(name, 1), text);
    if (name.len > 2 && name.ptr[2] == 'D') return csni_dlang_demangle(without(name, 1), memory, text);
    return demangle_itanium(name, flags, memory, text);
}

/* A dot before the name is the code of a function of 64-bit PowerPC; "__imp_" is a pointer to a function of another DLL. */
static bool demangle(struct csn_str name, uint32_t flags, struct csni_name_memory *memory, struct csni_name_text *text) {
    static const char import[] = "__imp_";
    size_t len = sizeof(import) - 1;
    if (name.len > 2 && name.ptr[0] == '.') {
        csni_name_put_char(text, '.');
        return demangle_bare(without(name, 1), flags, memory, text);
    }
    if (name.len < len + 3 || memcmp(name.ptr, import, len) != 0 || name.ptr[len] != '_')
        return demangle_bare(name, flags, memory, text);
    csni_name_put_text(text, "import thunk for ");
    return demangle_bare(without(name, len), flags, memory, text);
}

/* A symbol version ("_Znwm@@GLIBCXX_3.4") is no part of the mangled name; it is put after the text unchanged. */
static bool demangle_versioned(struct csn_str name, uint32_t flags, struct csni_name_memory *memory, struct csni_name_text *text) {
    const char *version = memchr(name.ptr + 1, '@', name.len - 1);
    size_t len = version ? (size_t)(version - name.ptr) : name.len;
    if (len < 2 || !demangle((struct csn_str){ name.ptr, len }, flags, memory, text)) return false;
    csni_name_put(text, name.ptr + len, name.len - len);
    return !text->too_long;
}

/* Types in run-time type information begin with '.'. */
static bool may_be_msvc(struct csn_str name) {
    return name.ptr[0] == '?' || (name.ptr[0] == '.' && name.ptr[1] == '?' && name.ptr[2] == 'A');
}

static bool may_be_mangled(struct csn_str name) {
    size_t dot = name.ptr[0] == '.';
    if (csni_swift_is_mangled(without(name, dot))) return true;
    return name.ptr[dot] == '_' && memchr("ZRD_", name.ptr[dot + 1], 4);
}

/* The first language whose marks the name bears. */
static bool demangle_plain(struct csn_str name, struct csni_name_text *text) {
    static bool (*const languages[])(struct csn_str, struct csni_name_text *) = {
        csni_ocaml_demangle, csni_pascal_demangle, csni_haskell_demangle, csni_nim_demangle, csni_ada_demangle,
    };
    for (size_t i = 0; i < sizeof(languages) / sizeof(languages[0]); i++) {
        *text = (struct csni_name_text){ .out = text->out, .cap = text->cap };
        if (languages[i](name, text) && !text->too_long) return true;
    }
    return false;
}

csn_status csn_demangle(struct csn_str name, char *out, size_t cap, size_t *out_len, struct csn_error *err) {
    return csn_demangle_with(name, 0, out, cap, out_len, err);
}

csn_status csn_demangle_with(struct csn_str name, uint32_t flags, char *out, size_t cap, size_t *out_len, struct csn_error *err) {
    if (flags & ~(uint32_t)CSN_DEMANGLE_AS_LLVM)
        return csni_fail(err, CSN_E_UNSUPPORTED, NULL, 0, "csn_demangle_with: unknown flags 0x%x", flags);
    if (name.len < 3 || name.len > CSNI_NAME_MAX_SIZE || memchr(name.ptr, 0, name.len)) return CSN_NONE;
    _Alignas(max_align_t) uint8_t block[BLOCK_SIZE];
    struct csni_name_memory memory;
    csni_name_memory_init(&memory, block, sizeof(block));
    struct csni_name_text text = { .out = out, .cap = cap };
    bool done = may_be_msvc(name)      ? csni_msvc_demangle(name, &memory, &text)
                : may_be_mangled(name) ? demangle_versioned(name, flags, &memory, &text)
                                       : demangle_plain(name, &text);
    size_t lacking = memory.failed;
    csni_name_memory_deinit(&memory);
    if (lacking) return csni_fail_memory(err, lacking);
    if (!done) return CSN_NONE;

    if (cap) out[text.len < cap ? text.len : cap - 1] = 0;
    *out_len = text.len;
    if (text.len < cap) return CSN_OK;
    return csni_fail(err, CSN_E_LIMIT, NULL, 0, "demangled name: %zu bytes, room for %zu", text.len, cap);
}
