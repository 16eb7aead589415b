/* Callsign: the small types that every other header shares: strings, bytes, ranges, line rows, formats, the allocator, and
 * the library's version. Part of the lookup-only library. */
#ifndef CALLSIGN_BASE_H
#define CALLSIGN_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <callsign/error.h>

/* ---- Structs that grow ----
 *
 * Options begin with struct_size, their size as the program was compiled. Each has an initialiser, `struct csn_x x = CSN_X_INIT;`,
 * and a function of the same effect, `csn_x_init(&x)`, for languages without the macro: all other fields are 0, which always
 * means the default. An option that this version of the library does not know must be 0, otherwise the call fails with
 * CSN_E_UNSUPPORTED. csn_x_init() sets the fields that the struct had when the library's soname was new.
 * A result that may grow, as csn_index_info, is passed with its size: fields that the library does not know become 0.
 * Every other struct has its size for good; its `reserved` words are 0. */
#ifdef __cplusplus
extern "C++" {
template <typename Sized> inline Sized csn_sized() {
    Sized sized = Sized();
    sized.struct_size = sizeof sized;
    return sized;
}
}
#define CSN_SIZED_INIT(type) csn_sized<type>()
#else
#define CSN_SIZED_INIT(type) { .struct_size = sizeof(struct type) }
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* A view of bytes that somebody else owns: not NUL-terminated, not promised to be UTF-8. */
struct csn_str {
    const char *ptr;
    size_t len;
};
/* The csn_str of a string literal, as an expression: csn_index_find_binary(index, CSN_STR("euser.dll"), ...). */
#ifdef __cplusplus
#define CSN_STR(literal) (csn_str{ literal, sizeof(literal) - 1 })
#else
#define CSN_STR(literal) ((struct csn_str){ literal, sizeof(literal) - 1 })
#endif

/* Where memory comes from. The callbacks may be called from several threads at once.
 * realloc is called with the old size, free with the size, so that an allocator needs no headers of its own.
 * Returning NULL makes the call that needed memory fail with CSN_E_MEMORY. */
struct csn_allocator {
    void *(*alloc)(void *context, size_t size);
    void *(*realloc)(void *context, void *ptr, size_t old_size, size_t new_size);
    void (*free)(void *context, void *ptr, size_t size);
    void *context;
};

/* Bytes that the library allocated for the caller, who releases them with csn_bytes_free(). */
struct csn_bytes {
    uint8_t *ptr;
    size_t size;
    const struct csn_allocator *allocator; /* private */
};
/* Releases the bytes and makes *bytes empty. NULL and empty bytes are accepted. */
CSN_API void csn_bytes_free(struct csn_bytes *bytes);

/* A file in memory, for callers that use one file in several calls: it is opened once, and all of them see the same bytes. Any
 * thread may read it. Mapped, so that it must not shrink while it is open; files of /proc and the like are copied. */
struct csn_file;
/* CSN_E_IO, CSN_E_UNSUPPORTED: no regular file, CSN_E_MEMORY. The text does not name the file. */
CSN_API csn_status csn_file_open(const char *path, struct csn_file **out, struct csn_error *err);
CSN_API void csn_file_close(struct csn_file *file); /* NULL is fine */
/* Live until csn_file_close(). NULL and 0: the file is empty. */
CSN_API const void *csn_file_bytes(const struct csn_file *file);
CSN_API size_t csn_file_size(const struct csn_file *file);

/* Makes another name of `name`: demangles it, shortens it. CSN_OK: *out_len bytes stand in `out`, without a NUL that may follow.
 * CSN_E_LIMIT: cap is too small, *out_len + 1 bytes would do. Anything else: the name stays as it is. `context` is the
 * caller's. May be called from several threads at once where the user of the callback does not say otherwise. */
typedef csn_status csn_name_callback(void *context, struct csn_str name, char *out, size_t cap, size_t *out_len);

/* Addresses [start, end): half-open. */
struct csn_range {
    uint64_t start, end;
};

/* The code from `addr` up to the next row's address belongs to this line. */
struct csn_row {
    uint64_t addr;
    uint32_t file;           /* index in the file table */
    uint32_t line;
};

/* Deepest nesting of inlined calls that is read and written: no address has more than one frame beyond that. */
enum { CSN_INLINE_DEPTH_MAX = 512 };

/* Flags of a call site. */
enum {
    CSN_CALL_SITE_INTERNAL = 1,  /* the callee is defined in the image */
    CSN_CALL_SITE_EXTERNAL = 2,  /* it is defined in another one */
    CSN_CALL_SITE_TAIL = 64,     /* a tail call: it returns to nowhere in this function, and return_offset means nothing */
    CSN_CALL_SITE_RECOVERED = 128 /* of a folded function: its place is that of the same call of the code that was kept */
};

enum csn_format {
    CSN_FORMAT_GSYM_V1 = 1,
    CSN_FORMAT_GSYM_V2 = 2,
    CSN_FORMAT_GSYM_SECTION = 3, /* the section-embedded GSYM of 2017 */
    CSN_FORMAT_BSYM = 4,
    CSN_FORMAT_BREAKPAD = 5,     /* to be written only */
    CSN_FORMAT_GSYM_AUTO = 256   /* to be written only: version 1 where that can hold the input, else version 2 */
};

#define CSN_VERSION_MAJOR 0
#define CSN_VERSION_MINOR 2
#define CSN_VERSION_PATCH 0

/* The version of the library that is running, as "0.2.0". */
CSN_API const char *csn_version(void);

#ifdef __cplusplus
}
#endif
#endif
