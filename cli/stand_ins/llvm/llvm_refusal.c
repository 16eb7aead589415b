/* Messages about files that are no objects: what is checked here are headers of ELF and of universal files, as far as a file
 * that is cut off, or is something else, is told by them. */
#define _GNU_SOURCE
#include "stand_ins/llvm/llvm_refusal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "stand_ins/base/growth.h"

static const char not_recognized[] = "The file was not recognized as a valid object file";
static const char invalid_data[] = "Invalid data was encountered while parsing the file";

/* The text that was made last. */
static const char *say(const char *format, ...) CLI_PRINTF(1, 2);
static const char *say(const char *format, ...) {
    static char *text;
    va_list args;
    free(text);
    va_start(args, format);
    if (vasprintf(&text, format, args) < 0) text = NULL;
    va_end(args);
    return text ? text : invalid_data;
}

/* The begin of a file, and how large it is. */
struct head {
    unsigned char bytes[4096];
    size_t count;
    uint64_t size;
};

static void read_head(const char *path, struct head *out) {
    struct stat st;
    FILE *file = fopen(path, "rb");
    *out = (struct head){ .size = stat(path, &st) == 0 ? (uint64_t)st.st_size : 0 };
    if (file) out->count = fread(out->bytes, 1, sizeof out->bytes, file);
    if (file) fclose(file);
}

static bool begins_with(const struct head *h, const char *magic, size_t size) {
    return h->count >= size && memcmp(h->bytes, magic, size) == 0;
}

static uint64_t number_at(const struct head *h, size_t at, unsigned size, bool big) {
    uint64_t value = 0;
    for (unsigned i = 0; i < size; i++) value |= (uint64_t)h->bytes[at + i] << 8 * (big ? size - 1 - i : i);
    return value;
}

static const char *file_problem(const char *path) {
    struct stat st;
    if (stat(path, &st) != 0 || access(path, R_OK) != 0) return strerror(errno);
    return S_ISDIR(st.st_mode) ? strerror(EISDIR) : NULL;
}

/* Java's class files begin with the same four bytes; their version stands where the count of images would. */
static bool is_universal(const struct head *h) {
    enum { FIRST_JAVA = 43 };
    return (begins_with(h, "\xca\xfe\xba\xbe", 4) || begins_with(h, "\xca\xfe\xba\xbf", 4)) && h->count >= 8 &&
           h->bytes[7] < FIRST_JAVA;
}

/* ---- archives ---- */

static bool is_archive(const struct head *h) { return begins_with(h, "!<arch>\n", 8) || begins_with(h, "!<thin>\n", 8); }

/* "ARCHIVE(MEMBER)": LLVM 22 finds no member that is ELF. NULL: the name is none of that kind, or is that of a file. */
static const char *member_problem(const char *path, const char *arch) {
    struct head h;
    const char *open = strrchr(path, '(');
    const size_t size = strlen(path);
    if (!open || path[size - 1] != ')' || access(path, F_OK) == 0) return NULL;
    char *archive = copy_text(path, (size_t)(open - path));
    const char *why = file_problem(archive);
    if (!why) {
        read_head(archive, &h);
        why = is_archive(&h) ? say("no matching member '%.*s' with arch '%s' in '%s'", (int)(path + size - 1 - (open + 1)),
                                   open + 1, arch ? arch : "", archive)
              : begins_with(&h, "\177ELF", 4) || is_universal(&h) ? say("'%s' is not a valid archive", archive)
                                                                  : not_recognized;
    }
    free(archive);
    return why;
}

/* ---- universal files ---- */

static bool is_known_arch(const char *arch) {
    static const char *const known[] = { "i386",   "x86_64",   "x86_64h", "armv4t", "arm",    "armv5e", "armv6",
                                         "armv6m", "armv7",    "armv7em", "armv7k", "armv7m", "armv7s", "arm64",
                                         "arm64e", "arm64_32", "ppc",     "ppc64",  "aarch64" };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strcmp(arch, known[i]) == 0) return true;
    return false;
}

/* NULL: all images are in the file. */
static const char *image_problem(const struct head *h) {
    const bool is_64 = h->bytes[3] == 0xbf;
    const uint64_t entry = is_64 ? 32 : 20, count = number_at(h, 4, 4, true);
    const unsigned word = is_64 ? 8 : 4;
    if (!count) return "truncated or malformed fat file (contains zero architecture types)";
    if (h->size < 8 + count * entry)
        return say("truncated or malformed fat file (fat_arch%s structs would extend past the end of the file)",
                   is_64 ? "_64" : "");
    for (size_t at = 8; count && at < 8 + count * entry && at + entry <= h->count; at += (size_t)entry) {
        const uint64_t type = number_at(h, at, 4, true), subtype = number_at(h, at + 4, 4, true) & 0xffffff,
                       off = number_at(h, at + 8, word, true), size = number_at(h, at + 8 + word, word, true);
        if (off > h->size || size > h->size - off)
            return say("truncated or malformed fat file (offset plus size of cputype (%" PRIu64 ") cpusubtype (%" PRIu64
                       ") extends past the end of the file)", type, subtype);
    }
    return NULL;
}

static const char *universal_problem(const struct head *h, const char *arch, bool by_code) {
    const char *damage = image_problem(h);
    if (damage) return by_code ? invalid_data : damage;
    if (!arch || !arch[0]) return "Unknown architecture named: ";
    return is_known_arch(arch) ? NULL : say("Unknown architecture named: %s", arch);
}

/* ---- ELF ---- */

/* NULL: the headers of sections are there. */
static const char *sections_problem(const struct head *h) {
    const bool is_64 = h->bytes[4] == 2, big = h->bytes[5] == 2;
    const unsigned word = is_64 ? 8 : 4;
    const size_t header = is_64 ? 64 : 52, entry = is_64 ? 64 : 40, sizes = 24 + 3 * word + 10; /* after flags, and sizes of program headers */
    if (h->size < header) return say("invalid buffer: the size (%" PRIu64 ") is smaller than an ELF header (%zu)", h->size, header);
    const uint64_t off = number_at(h, 24 + 2 * word, word, big);
    const uint64_t entry_size = number_at(h, sizes, 2, big), count = number_at(h, sizes + 2, 2, big);
    if (!off) return NULL;
    if (entry_size != entry) return say("invalid e_shentsize in ELF header: %" PRIu64, entry_size);
    if (off > h->size || h->size - off < entry)
        return say("section header table goes past the end of the file: e_shoff = 0x%" PRIx64, off);
    return count > (h->size - off) / entry ? "section table goes past the end of file" : NULL;
}

static const char *elf_problem(const struct head *h) {
    if (h->bytes[4] != 1 && h->bytes[4] != 2) return "Invalid ELF class";
    if (h->bytes[5] != 1 && h->bytes[5] != 2) return "Invalid ELF data";
    return sections_problem(h);
}

/* ---- any file ---- */

bool llvm_is_universal(const char *path) {
    struct head h;
    read_head(path, &h);
    return is_universal(&h);
}

const char *llvm_refusal_before(const char *path, const char *arch, bool by_code) {
    struct head h;
    const char *why = by_code ? NULL : member_problem(path, arch);
    if (why || (why = file_problem(path))) return why;
    read_head(path, &h);
    if (is_archive(&h)) return "No object file for requested architecture";
    return is_universal(&h) ? universal_problem(&h, arch, by_code) : NULL;
}

const char *llvm_refusal_after(const char *path, const char *arch, bool by_code) {
    enum { LEAST_ELF = 18 };
    struct head h;
    read_head(path, &h);
    if (is_universal(&h)) return by_code ? not_recognized : say("fat file does not contain %s", arch ? arch : "");
    const char *why = begins_with(&h, "\177ELF", 4) && h.count >= LEAST_ELF ? elf_problem(&h) : NULL;
    return !why ? not_recognized : by_code ? invalid_data : why;
}
