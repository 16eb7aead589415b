/* Files that come into the store. */
#define _GNU_SOURCE
#include "store/archive_intake.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/file_sync.h"

enum { PORTION = 64 * 1024, MOST_ENTRIES = 1000000, DEEPEST = 3 };
static const uint64_t MOST_BYTES = (uint64_t)256 << 30; /* of one archive, unpacked */
/* Debug information is packed to a tenth, or a hundredth where it repeats; what unpacks to more than this is made to
 * fill a disk. */
static const uint64_t MOST_RATIO = 200, ALWAYS_BYTES = (uint64_t)64 << 20;

struct intake {
    struct symbol_store *store;
    const char *source;
    intake_note *note;
    void *context;
    uint64_t bytes, most_bytes, entries, stored;
    bool is_over; /* more than most_bytes */
    char damage[128]; /* the first of the archive itself; that of an archive within it may be what it is there for */
    char *why;
    size_t why_size;
};

static enum store_status take(struct intake *intake, struct incoming *incoming, const char *name, int depth);

static const char *last_part(const char *path) {
    const char *last = strrchr(path, '/');
    return last && last[1] ? last + 1 : path;
}

/* Archives by their first bytes; a file that is none of these is not given to libarchive, which guesses. */
static bool looks_like_archive(int fd) {
    unsigned char head[264] = { 0 };
    static const struct { const char *bytes; size_t size, at; } signs[] = {
        { "PK\3\4", 4, 0 }, { "!<arch>\ndebian", 14, 0 }, { "\xed\xab\xee\xdb", 4, 0 }, { "ustar", 5, 257 }, { "\x1f\x8b", 2, 0 },
        { "\xfd" "7zXZ", 5, 0 }, { "\x28\xb5\x2f\xfd", 4, 0 }, { "BZh", 3, 0 }, { "070701", 6, 0 }, { "MSCF", 4, 0 }, { "7z\xbc\xaf", 4, 0 },
    };
    if (pread(fd, head, sizeof(head), 0) < 4) return false;
    for (size_t i = 0; i < sizeof(signs) / sizeof(signs[0]); i++)
        if (memcmp(head + signs[i].at, signs[i].bytes, signs[i].size) == 0) return true;
    return false;
}

static void note_damage(struct intake *intake, struct archive *reader, const char *name, int depth) {
    const char *text = archive_error_string(reader);
    bool is_package = depth == 1 && strncmp(name, "data.tar", 8) == 0; /* what a .deb is there for */
    snprintf(intake->why, intake->why_size, "%s", text ? text : "too many entries");
    if (!*intake->damage && (depth == 0 || is_package)) snprintf(intake->damage, sizeof(intake->damage), "%.100s", intake->why);
}

static enum store_status copy_entry(struct intake *intake, struct archive *reader, const char *name, int depth,
                                    struct incoming *out) {
    char portion[PORTION];
    for (;;) {
        la_ssize_t got = archive_read_data(reader, portion, sizeof(portion));
        if (got == 0) return STORE_OK;
        if (got < 0) {
            note_damage(intake, reader, name, depth);
            return STORE_REJECTED;
        }
        intake->bytes += (uint64_t)got;
        if ((intake->is_over = intake->bytes > intake->most_bytes)) {
            snprintf(intake->why, intake->why_size, "the archive has more than %llu bytes", (unsigned long long)intake->most_bytes);
            return STORE_REJECTED;
        }
        if (write_all(out->fd, portion, (size_t)got) < 0) {
            snprintf(intake->why, intake->why_size, "%s", strerror(errno));
            return is_full(errno) ? STORE_FULL : STORE_FAILED;
        }
    }
}

static enum store_status take_entry(struct intake *intake, struct archive *reader, const char *name, const char *path, int depth) {
    struct incoming part;
    if (incoming_create(intake->store, &part, intake->why, intake->why_size) < 0) return STORE_FAILED;
    enum store_status status = copy_entry(intake, reader, name, depth, &part);
    if (status == STORE_OK) return take(intake, &part, last_part(path), depth + 1);
    incoming_discard(&part);
    return status;
}

static enum store_status take_entries(struct intake *intake, struct archive *reader, const char *name, int depth) {
    struct archive_entry *entry;
    int code;
    while ((code = archive_read_next_header(reader, &entry)) == ARCHIVE_OK || code == ARCHIVE_WARN) {
        const char *path = archive_entry_pathname(entry);
        if (++intake->entries > MOST_ENTRIES) break;
        if (archive_entry_filetype(entry) != AE_IFREG && archive_entry_filetype(entry) != 0) continue;
        /* A compressed file that is no archive is one entry called "data". */
        bool is_raw = !path || strcmp(path, "data") == 0;
        enum store_status status = take_entry(intake, reader, name, is_raw ? name : path, depth);
        if (status < 0 || intake->is_over) return status < 0 ? status : STORE_REJECTED;
    }
    if (code != ARCHIVE_EOF) {
        note_damage(intake, reader, name, depth);
        return intake->stored ? STORE_OK : STORE_REJECTED;
    }
    if (!intake->stored && !*intake->why) snprintf(intake->why, intake->why_size, "there are no files in it");
    return intake->stored ? STORE_OK : STORE_REJECTED;
}

static enum store_status take_archive(struct intake *intake, struct incoming *incoming, const char *name, int depth) {
    struct archive *reader = archive_read_new();
    enum store_status status = STORE_FAILED;
    if (!reader) return status;
    archive_read_support_filter_all(reader);
    archive_read_support_format_all(reader);
    archive_read_support_format_raw(reader);
    lseek(incoming->fd, 0, SEEK_SET);
    if (archive_read_open_fd(reader, incoming->fd, PORTION) == ARCHIVE_OK) {
        status = take_entries(intake, reader, name, depth);
    } else {
        snprintf(intake->why, intake->why_size, "%s", archive_error_string(reader));
        status = STORE_REJECTED;
    }
    archive_read_free(reader);
    incoming_discard(incoming);
    return status;
}

static enum store_status take(struct intake *intake, struct incoming *incoming, const char *name, int depth) {
    struct artifact artifact;
    if (depth < DEEPEST && looks_like_archive(incoming->fd)) return take_archive(intake, incoming, name, depth);
    enum store_status status =
        symbol_store_put(intake->store, incoming, name, intake->source, &artifact, intake->why, intake->why_size);
    intake->stored += status == STORE_OK;
    intake->note(intake->context, name, status, &artifact, intake->why);
    return status;
}

static uint64_t most_bytes_of(int fd) {
    struct stat st;
    uint64_t size = fstat(fd, &st) == 0 ? (uint64_t)st.st_size : 0;
    uint64_t most = size < MOST_BYTES / MOST_RATIO ? size * MOST_RATIO : MOST_BYTES;
    return most > ALWAYS_BYTES ? most : ALWAYS_BYTES;
}

enum store_status store_take_file(struct symbol_store *store, struct incoming *incoming, const char *name, const char *source,
                                  intake_note *note, void *context, char *why, size_t why_size) {
    struct intake intake = { .store = store, .source = source, .note = note, .context = context, .why = why, .why_size = why_size,
                             .most_bytes = most_bytes_of(incoming->fd) };
    enum store_status status = take(&intake, incoming, name, 0);
    if (status < 0 || !*intake.damage || !intake.stored) return status;
    snprintf(why, why_size, "the archive is damaged: %s; what could be read of it, %llu files, is stored", intake.damage,
             (unsigned long long)intake.stored);
    return STORE_REJECTED;
}
