/* What the converter needs of libc, without libc: a sanitizer intercepts malloc, memcpy, read, mmap, pthread_mutex_lock and many
 * more, and its own report must not run into its checks. Each function csni_sanitizer_NAME takes the place of NAME in the object
 * file that cmake/sanitizer.cmake makes. One thread at a time, on Linux with 64 bits, where NAME and NAME64 are one:
 * glibc's headers say open64, musl's open.
 *
 * Compiled without built-in functions: a loop that copies must not become a call of memcpy. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/core/format.h"

#define CSNI_LIBC(type, name) type csni_sanitizer_##name

/* ---- bytes ---- */

CSNI_LIBC(void *, memcpy)(void *to, const void *from, size_t size);
CSNI_LIBC(void *, memcpy)(void *to, const void *from, size_t size) {
#if defined(__x86_64__)
    void *d = to;
    __asm__ volatile("rep movsb" : "+D"(d), "+S"(from), "+c"(size) : : "memory");
#else
    for (size_t i = 0; i < size; i++) ((volatile char *)to)[i] = ((const char *)from)[i];
#endif
    return to;
}

CSNI_LIBC(void *, memmove)(void *to, const void *from, size_t size);
CSNI_LIBC(void *, memmove)(void *to, const void *from, size_t size) {
    char *d = to;
    const char *s = from;
    if ((uintptr_t)d - (uintptr_t)s >= size) return csni_sanitizer_memcpy(to, from, size);
    for (; size >= 8; size -= 8) {
        uint64_t word;
        __builtin_memcpy(&word, s + size - 8, 8);
        __builtin_memcpy(d + size - 8, &word, 8);
    }
    while (size--) d[size] = s[size];
    return to;
}

CSNI_LIBC(void *, memset)(void *to, int value, size_t size);
CSNI_LIBC(void *, memset)(void *to, int value, size_t size) {
#if defined(__x86_64__)
    void *d = to;
    __asm__ volatile("rep stosb" : "+D"(d), "+c"(size) : "a"(value) : "memory");
#else
    for (size_t i = 0; i < size; i++) ((volatile char *)to)[i] = (char)value;
#endif
    return to;
}

CSNI_LIBC(int, memcmp)(const void *a, const void *b, size_t size);
CSNI_LIBC(int, memcmp)(const void *a, const void *b, size_t size) {
    const unsigned char *x = a, *y = b;
    for (size_t i = 0; i < size; i++)
        if (x[i] != y[i]) return x[i] < y[i] ? -1 : 1;
    return 0;
}

CSNI_LIBC(void *, memchr)(const void *from, int value, size_t size);
CSNI_LIBC(void *, memchr)(const void *from, int value, size_t size) {
    const unsigned char *p = from;
    for (size_t i = 0; i < size; i++)
        if (p[i] == (unsigned char)value) return (void *)(uintptr_t)(p + i);
    return NULL;
}

/* ---- strings ---- */

CSNI_LIBC(size_t, strlen)(const char *text);
CSNI_LIBC(size_t, strlen)(const char *text) {
    size_t len = 0;
    while (text[len]) len++;
    return len;
}

CSNI_LIBC(size_t, strnlen)(const char *text, size_t max);
CSNI_LIBC(size_t, strnlen)(const char *text, size_t max) {
    size_t len = 0;
    while (len < max && text[len]) len++;
    return len;
}

CSNI_LIBC(int, strncmp)(const char *a, const char *b, size_t max);
CSNI_LIBC(int, strncmp)(const char *a, const char *b, size_t max) {
    for (size_t i = 0; i < max; i++) {
        if (a[i] != b[i]) return (unsigned char)a[i] < (unsigned char)b[i] ? -1 : 1;
        if (!a[i]) break;
    }
    return 0;
}

CSNI_LIBC(int, strcmp)(const char *a, const char *b);
CSNI_LIBC(int, strcmp)(const char *a, const char *b) { return csni_sanitizer_strncmp(a, b, SIZE_MAX); }

CSNI_LIBC(char *, strchr)(const char *text, int value);
CSNI_LIBC(char *, strchr)(const char *text, int value) {
    for (;; text++) {
        if (*text == (char)value) return (char *)(uintptr_t)text;
        if (!*text) return NULL;
    }
}

CSNI_LIBC(char *, strrchr)(const char *text, int value);
CSNI_LIBC(char *, strrchr)(const char *text, int value) {
    const char *last = NULL;
    for (;; text++) {
        if (*text == (char)value) last = text;
        if (!*text) return (char *)(uintptr_t)last;
    }
}

CSNI_LIBC(char *, strstr)(const char *text, const char *part);
CSNI_LIBC(char *, strstr)(const char *text, const char *part) {
    size_t len = csni_sanitizer_strlen(part);
    for (;; text++) {
        if (csni_sanitizer_strncmp(text, part, len) == 0) return (char *)(uintptr_t)text;
        if (!*text) return NULL;
    }
}

CSNI_LIBC(size_t, strcspn)(const char *text, const char *reject);
CSNI_LIBC(size_t, strcspn)(const char *text, const char *reject) {
    size_t len = 0;
    while (text[len] && !csni_sanitizer_strchr(reject, text[len])) len++;
    return len;
}

CSNI_LIBC(int, vsnprintf)(char *out, size_t cap, const char *format, va_list args);
CSNI_LIBC(int, vsnprintf)(char *out, size_t cap, const char *format, va_list args) {
    return (int)csni_format_list(out, cap, format, args);
}

CSNI_LIBC(int, snprintf)(char *out, size_t cap, const char *format, ...);
CSNI_LIBC(int, snprintf)(char *out, size_t cap, const char *format, ...) {
    va_list args;
    va_start(args, format);
    size_t len = csni_format_list(out, cap, format, args);
    va_end(args);
    return (int)len;
}

CSNI_LIBC(int, __xpg_strerror_r)(int number, char *out, size_t cap);
CSNI_LIBC(int, __xpg_strerror_r)(int number, char *out, size_t cap) {
    csni_format(out, cap, "error %d", number);
    return 0;
}

/* ---- memory ---- */

enum { HEADER = 16, CLASS_MIN_BITS = 5, CLASS_MAX_BITS = 16, CHUNK = 1 << 20 };

struct free_block {
    struct free_block *next;
};
static struct free_block *free_blocks[CLASS_MAX_BITS + 1];
static char *chunk, *chunk_end;

static void *map_pages(size_t size) {
    long got = syscall(SYS_mmap, NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0L);
    return got == -1 ? NULL : (void *)got;
}

/* The power of two that holds size bytes and the header; 0: it gets pages of its own. */
static unsigned class_of(size_t size) {
    if (size > ((size_t)1 << CLASS_MAX_BITS) - HEADER) return 0;
    unsigned bits = CLASS_MIN_BITS;
    while (((size_t)1 << bits) < size + HEADER) bits++;
    return bits;
}

static char *take_block(unsigned bits) {
    size_t size = (size_t)1 << bits;
    struct free_block *block = free_blocks[bits];
    if (block) {
        free_blocks[bits] = block->next;
        return (char *)block;
    }
    if ((size_t)(chunk_end - chunk) < size) {
        chunk = map_pages(CHUNK);
        chunk_end = chunk ? chunk + CHUNK : NULL;
        if (!chunk) return NULL;
    }
    chunk += size;
    return chunk - size;
}

/* The header has the size that was asked for; of pages, the length of the mapping follows from it. */
CSNI_LIBC(void *, malloc)(size_t size);
CSNI_LIBC(void *, malloc)(size_t size) {
    if (size > PTRDIFF_MAX - HEADER) return NULL;
    unsigned bits = class_of(size);
    char *block = bits ? take_block(bits) : map_pages(size + HEADER);
    if (!block) return NULL;
    *(size_t *)(void *)block = size;
    return block + HEADER;
}

CSNI_LIBC(void, free)(void *ptr);
CSNI_LIBC(void, free)(void *ptr) {
    if (!ptr) return;
    char *block = (char *)ptr - HEADER;
    size_t size = *(size_t *)(void *)block;
    unsigned bits = class_of(size);
    if (!bits) {
        syscall(SYS_munmap, block, size + HEADER);
        return;
    }
    struct free_block *made = (void *)block;
    made->next = free_blocks[bits];
    free_blocks[bits] = made;
}

CSNI_LIBC(void *, calloc)(size_t count, size_t size);
CSNI_LIBC(void *, calloc)(size_t count, size_t size) {
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes)) return NULL;
    void *ptr = csni_sanitizer_malloc(bytes);
    if (ptr && class_of(bytes)) csni_sanitizer_memset(ptr, 0, bytes);
    return ptr;
}

static void *remap_pages(char *block, size_t old_size, size_t size) {
    long got = syscall(SYS_mremap, block, old_size + HEADER, size + HEADER, MREMAP_MAYMOVE);
    if (got == -1) return NULL;
    *(size_t *)got = size;
    return (char *)got + HEADER;
}

CSNI_LIBC(void *, realloc)(void *ptr, size_t size);
CSNI_LIBC(void *, realloc)(void *ptr, size_t size) {
    if (!ptr) return csni_sanitizer_malloc(size);
    if (size > PTRDIFF_MAX - HEADER) return NULL;
    char *block = (char *)ptr - HEADER;
    size_t old_size = *(size_t *)(void *)block;
    unsigned old_bits = class_of(old_size), bits = class_of(size);
    if (!old_bits && !bits) return remap_pages(block, old_size, size);
    if (old_bits == bits) {
        *(size_t *)(void *)block = size;
        return ptr;
    }
    void *made = csni_sanitizer_malloc(size);
    if (!made) return NULL;
    csni_sanitizer_memcpy(made, ptr, old_size < size ? old_size : size);
    csni_sanitizer_free(ptr);
    return made;
}

CSNI_LIBC(void *, mmap64)(void *at, size_t size, int protection, int flags, int fd, off_t off);
CSNI_LIBC(void *, mmap64)(void *at, size_t size, int protection, int flags, int fd, off_t off) {
    return (void *)syscall(SYS_mmap, at, size, protection, flags, fd, off);
}

CSNI_LIBC(void *, mmap)(void *at, size_t size, int protection, int flags, int fd, off_t off);
CSNI_LIBC(void *, mmap)(void *at, size_t size, int protection, int flags, int fd, off_t off) {
    return csni_sanitizer_mmap64(at, size, protection, flags, fd, off);
}

CSNI_LIBC(int, munmap)(void *ptr, size_t size);
CSNI_LIBC(int, munmap)(void *ptr, size_t size) { return (int)syscall(SYS_munmap, ptr, size); }

CSNI_LIBC(int, madvise)(void *ptr, size_t size, int advice);
CSNI_LIBC(int, madvise)(void *ptr, size_t size, int advice) { return (int)syscall(SYS_madvise, ptr, size, advice); }

/* ---- files ---- */

CSNI_LIBC(int, open64)(const char *path, int flags, ...);
CSNI_LIBC(int, open64)(const char *path, int flags, ...) { return (int)syscall(SYS_openat, AT_FDCWD, path, flags, 0); }

CSNI_LIBC(int, open)(const char *path, int flags, ...);
CSNI_LIBC(int, open)(const char *path, int flags, ...) { return (int)syscall(SYS_openat, AT_FDCWD, path, flags, 0); }

CSNI_LIBC(int, close)(int fd);
CSNI_LIBC(int, close)(int fd) { return (int)syscall(SYS_close, fd); }

CSNI_LIBC(ssize_t, read)(int fd, void *out, size_t size);
CSNI_LIBC(ssize_t, read)(int fd, void *out, size_t size) { return syscall(SYS_read, fd, out, size); }

CSNI_LIBC(ssize_t, write)(int fd, const void *bytes, size_t size);
CSNI_LIBC(ssize_t, write)(int fd, const void *bytes, size_t size) { return syscall(SYS_write, fd, bytes, size); }

CSNI_LIBC(int, fstat64)(int fd, struct stat *out);
CSNI_LIBC(int, fstat64)(int fd, struct stat *out) { return (int)syscall(SYS_fstat, fd, out); }

CSNI_LIBC(int, fstat)(int fd, struct stat *out);
CSNI_LIBC(int, fstat)(int fd, struct stat *out) { return csni_sanitizer_fstat64(fd, out); }

CSNI_LIBC(int, stat64)(const char *path, struct stat *out);
CSNI_LIBC(int, stat64)(const char *path, struct stat *out) { return (int)syscall(SYS_newfstatat, AT_FDCWD, path, out, 0); }

CSNI_LIBC(int, stat)(const char *path, struct stat *out);
CSNI_LIBC(int, stat)(const char *path, struct stat *out) { return csni_sanitizer_stat64(path, out); }

CSNI_LIBC(int, lstat64)(const char *path, struct stat *out);
CSNI_LIBC(int, lstat64)(const char *path, struct stat *out) {
    return (int)syscall(SYS_newfstatat, AT_FDCWD, path, out, AT_SYMLINK_NOFOLLOW);
}

CSNI_LIBC(int, lstat)(const char *path, struct stat *out);
CSNI_LIBC(int, lstat)(const char *path, struct stat *out) { return csni_sanitizer_lstat64(path, out); }

CSNI_LIBC(int, faccessat)(int folder, const char *path, int mode, int flags);
CSNI_LIBC(int, faccessat)(int folder, const char *path, int mode, int flags) {
    (void)flags;
    return (int)syscall(SYS_faccessat, folder, path, mode);
}

CSNI_LIBC(int, access)(const char *path, int mode);
CSNI_LIBC(int, access)(const char *path, int mode) { return (int)syscall(SYS_faccessat, AT_FDCWD, path, mode); }

CSNI_LIBC(ssize_t, readlink)(const char *path, char *out, size_t cap);
CSNI_LIBC(ssize_t, readlink)(const char *path, char *out, size_t cap) { return syscall(SYS_readlinkat, AT_FDCWD, path, out, cap); }

CSNI_LIBC(int, memfd_create)(const char *name, unsigned flags);
CSNI_LIBC(int, memfd_create)(const char *name, unsigned flags) { return (int)syscall(SYS_memfd_create, name, flags); }

enum { PATH_BYTES = 4096 };

/* The kernel knows the path of an open file. */
CSNI_LIBC(char *, realpath)(const char *path, char *out);
CSNI_LIBC(char *, realpath)(const char *path, char *out) {
    char link[32];
    int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_PATH | O_CLOEXEC, 0);
    if (fd < 0) return NULL;
    csni_format(link, sizeof link, "/proc/self/fd/%d", fd);
    char *result = out ? out : csni_sanitizer_malloc(PATH_BYTES);
    ssize_t len = result ? csni_sanitizer_readlink(link, result, PATH_BYTES - 1) : -1;
    csni_sanitizer_close(fd);
    if (len >= 0) {
        result[len] = 0;
        return result;
    }
    if (!out) csni_sanitizer_free(result);
    return NULL;
}

/* ---- the rest ---- */

CSNI_LIBC(int, clock_gettime)(clockid_t clock, struct timespec *out);
CSNI_LIBC(int, clock_gettime)(clockid_t clock, struct timespec *out) { return (int)syscall(SYS_clock_gettime, clock, out); }

CSNI_LIBC(pid_t, getpid)(void);
CSNI_LIBC(pid_t, getpid)(void) { return (pid_t)syscall(SYS_getpid); }

CSNI_LIBC(long, sysconf)(int name);
CSNI_LIBC(long, sysconf)(int name) {
    unsigned long page = getauxval(AT_PAGESZ);
    if (name == _SC_PAGESIZE) return page ? (long)page : 4096;
    return name == _SC_NPROCESSORS_ONLN ? 1 : -1;
}

static void swap_bytes(char *a, char *b, size_t size) {
    for (size_t i = 0; i < size; i++) {
        char byte = a[i];
        a[i] = b[i];
        b[i] = byte;
    }
}

typedef int compare_items(const void *, const void *);

static void sift_down(char *items, size_t root, size_t count, size_t size, compare_items *compare) {
    for (size_t child; (child = root * 2 + 1) < count; root = child) {
        if (child + 1 < count && compare(items + child * size, items + (child + 1) * size) < 0) child++;
        if (compare(items + root * size, items + child * size) >= 0) return;
        swap_bytes(items + root * size, items + child * size, size);
    }
}

CSNI_LIBC(void, qsort)(void *items, size_t count, size_t size, compare_items *compare);
CSNI_LIBC(void, qsort)(void *items, size_t count, size_t size, compare_items *compare) {
    char *p = items;
    for (size_t root = count / 2; root-- > 0;) sift_down(p, root, count, size, compare);
    for (size_t left = count; left > 1;) {
        left--;
        swap_bytes(p, p + left * size, size);
        sift_down(p, 0, left, size, compare);
    }
}

/* ---- what a report goes without: threads, folders, other libraries, files that are written ---- */

/* Pasted at once: musl defines names like pwrite64 as macros. */
#define CSNI_ABSENT(type, name, result)         \
    type csni_sanitizer_##name(void);           \
    type csni_sanitizer_##name(void) { return result; }

CSNI_ABSENT(int, pthread_attr_destroy, 0)
CSNI_ABSENT(int, pthread_attr_init, 0)
CSNI_ABSENT(int, pthread_attr_setstacksize, 0)
CSNI_ABSENT(int, pthread_cond_broadcast, 0)
CSNI_ABSENT(int, pthread_cond_destroy, 0)
CSNI_ABSENT(int, pthread_cond_init, 0)
CSNI_ABSENT(int, pthread_cond_signal, 0)
CSNI_ABSENT(int, pthread_cond_wait, 0)
CSNI_ABSENT(int, pthread_create, EAGAIN)
CSNI_ABSENT(int, pthread_join, 0)
CSNI_ABSENT(int, pthread_mutex_destroy, 0)
CSNI_ABSENT(int, pthread_mutex_init, 0)
CSNI_ABSENT(int, pthread_mutex_lock, 0)
CSNI_ABSENT(int, pthread_mutex_unlock, 0)
CSNI_ABSENT(int, pthread_sigmask, 0)
CSNI_ABSENT(int, sigdelset, 0)
CSNI_ABSENT(int, sigfillset, 0)
CSNI_ABSENT(int, sched_getaffinity, -1)
CSNI_ABSENT(int, __sched_cpucount, 1)
CSNI_ABSENT(void *, opendir, NULL)
CSNI_ABSENT(void *, readdir64, NULL)
CSNI_ABSENT(void *, readdir, NULL)
CSNI_ABSENT(int, closedir, 0)
CSNI_ABSENT(void *, dlopen, NULL)
CSNI_ABSENT(void *, dlsym, NULL)
CSNI_ABSENT(int, dlclose, 0)
CSNI_ABSENT(void *, fdopen, NULL)
CSNI_ABSENT(size_t, fwrite, 0)
CSNI_ABSENT(int, fclose, -1)
CSNI_ABSENT(int, fchmod, -1)
CSNI_ABSENT(int, fsync, -1)
CSNI_ABSENT(int, sync_file_range, -1)
CSNI_ABSENT(ssize_t, pwrite64, -1)
CSNI_ABSENT(ssize_t, pwrite, -1)
CSNI_ABSENT(int, mkdir, -1)
CSNI_ABSENT(int, mkstemp64, -1)
CSNI_ABSENT(int, mkstemp, -1)
CSNI_ABSENT(int, rename, -1)
CSNI_ABSENT(int, unlink, -1)
