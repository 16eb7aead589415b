/* Callsign: the small types that all other headers share: strings, bytes, ranges, line rows, formats, the allocator
 * and the library's version. Part of the lookup-only library. */
#ifndef CALLSIGN_BASE_H
#define CALLSIGN_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <callsign/error.h>

/* ---- Structs that grow ----
 *
 * Later versions may add fields at the end of an options struct. Such a struct begins with struct_size, the size that
 * it had when the program was compiled. Initialise it with `struct csn_x x = CSN_X_INIT;`, or with csn_x_init(&x) in
 * languages without the macro. Both set all other fields to 0, which always selects the default. A field that the
 * running library does not know must be 0, and so must `reserved` fields and bits of `flags` without a name; otherwise
 * the call fails with CSN_E_UNSUPPORTED. csn_x_init() sets only the fields that existed in the first release with the
 * library's soname. A result struct that may grow, such as csn_index_info, is passed together with its size. The
 * library sets the fields that it does not know to 0. The size of every other struct is fixed; its `reserved` fields
 * are 0, and where the caller fills the struct, another value is CSN_E_UNSUPPORTED, too. */
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

/* A view of bytes that another object owns. It is not NUL-terminated and need not be valid UTF-8. */
struct csn_str {
    const char *ptr;
    size_t len;
};
/* Makes a csn_str expression from a string literal: csn_index_find_binary(index, CSN_STR("euser.dll"), ...). */
#ifdef __cplusplus
#define CSN_STR(literal) (csn_str{ literal, sizeof(literal) - 1 })
#else
#define CSN_STR(literal) ((struct csn_str){ literal, sizeof(literal) - 1 })
#endif

/* An allocator supplied by the caller. Several threads may call its functions at the same time. `realloc` receives
 * the old size and `free` the size of the block, so an allocator needs no block headers. If `alloc` or `realloc`
 * returns NULL, the call that needed the memory fails with CSN_E_MEMORY. */
struct csn_allocator {
    void *(*alloc)(void *context, size_t size);
    void *(*realloc)(void *context, void *ptr, size_t old_size, size_t new_size);
    void (*free)(void *context, void *ptr, size_t size);
    void *context;
};

/* Bytes that the library allocated for the caller. Release them with csn_bytes_free(). */
struct csn_bytes {
    uint8_t *ptr;
    size_t size;
    const struct csn_allocator *allocator; /* private */
};
/* Releases the bytes and sets *bytes to empty. `bytes` may be NULL or already empty. */
CSN_API void csn_bytes_free(struct csn_bytes *bytes);

/* A file in memory. Use it to pass the same file to several calls: it is opened once, and all calls see the same
 * bytes. Any number of threads may read it. The file is mapped and must not shrink while it is open; files of /proc
 * and similar file systems are copied instead. */
struct csn_file;
/* Opens the file at `path`. The caller releases *out with csn_file_close().
 * CSN_OK, CSN_E_IO, CSN_E_UNSUPPORTED (not a regular file; os_error is EISDIR if it is a folder, 0 on Windows),
 * CSN_E_LIMIT (does not fit into the address space), CSN_E_MEMORY. The error text does not contain the path. */
CSN_API csn_status csn_file_open(const char *path, struct csn_file **out, struct csn_error *err);
/* Closes the file. `file` may be NULL. */
CSN_API void csn_file_close(struct csn_file *file);
/* Returns the contents of the file, which stay valid until csn_file_close(). An empty file has NULL and size 0. */
CSN_API const void *csn_file_bytes(const struct csn_file *file);
CSN_API size_t csn_file_size(const struct csn_file *file);

/* A callback that transforms a name, for example demangles or shortens it. It writes the new name to `out`, which
 * holds `cap` bytes, and its length without a terminating NUL to *out_len. `context` is the pointer that the caller
 * registered. Return CSN_OK if the name was transformed; CSN_E_LIMIT if `cap` is too small: *out_len + 1 bytes are
 * then enough. Any other status keeps the original name. Several threads may call it at the same time, unless the
 * function that uses it documents otherwise. */
typedef csn_status csn_name_callback(void *context, struct csn_str name, char *out, size_t cap, size_t *out_len);

/* A half-open range of addresses, [start, end). */
struct csn_range {
    uint64_t start, end;
};

/* A row of a line table. It applies from `addr` up to the address of the next row. */
struct csn_row {
    uint64_t addr;
    uint32_t file;           /* index in the file table */
    uint32_t line;
};

/* The maximum nesting of inlined calls that the library reads or writes. A lookup returns at most one frame more than
 * this. */
enum { CSN_INLINE_DEPTH_MAX = 512 };

/* Flags of a call site. */
enum {
    CSN_CALL_SITE_INTERNAL = 1,  /* the callee is defined in the image */
    CSN_CALL_SITE_EXTERNAL = 2,  /* the callee is defined in another image */
    CSN_CALL_SITE_TAIL = 64,     /* a tail call: it does not return to this function, and return_offset has no meaning */
    CSN_CALL_SITE_RECOVERED = 128 /* of a folded function: has the offset of the same call in the code that was kept */
};

enum csn_format {
    CSN_FORMAT_GSYM_V1 = 1,
    CSN_FORMAT_GSYM_V2 = 2,
    CSN_FORMAT_GSYM_SECTION = 3, /* the section-embedded GSYM of 2017 */
    CSN_FORMAT_BSYM = 4,
    CSN_FORMAT_BREAKPAD = 5,     /* output only */
    CSN_FORMAT_GSYM_AUTO = 256   /* output only: version 1 if it can hold the input, otherwise version 2 */
};

#define CSN_VERSION_MAJOR 0
#define CSN_VERSION_MINOR 2
#define CSN_VERSION_PATCH 0

/* Returns the version of the running library, such as "0.2.0": a static string. */
CSN_API const char *csn_version(void);

#ifdef __cplusplus
}
#endif
#endif
