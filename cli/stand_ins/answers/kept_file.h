/* Files that the stand-ins keep in the cache folder, each about one object: their names, reading and writing.
 *
 * A file counts for the very object (device, inode, size, times) and this build of callsign alone. Integers in it have
 * the machine's byte
 * order: it stays on this machine. */
#ifndef CALLSIGN_CLI_KEPT_FILE_H
#define CALLSIGN_CLI_KEPT_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <callsign/debug_info.h>

struct file_identity { uint64_t device, inode, size, modified_s, modified_ns, changed_s, changed_ns; };

/* False: it is no regular file. */
bool file_identify(const char *path, struct file_identity *out);
bool file_identity_equal(const struct file_identity *a, const struct file_identity *b);

/* What a kept file is about: the object, and the debug file that it had. */
struct kept_subject {
    struct file_identity object, debug_file;
    char debug_path[512];    /* empty: the object has its own */
};
/* Whether both files are still the same. */
bool kept_subject_is_current(const struct kept_subject *subject, const struct file_identity *object);
/* Whether nothing else than the object and its debug file decides about answers, and reading them takes its time.
 * Fills all of *out but `object`, which the caller has set. */
bool kept_subject_describe(struct csn_debug_info *info, struct kept_subject *out);

/* The path of the file in a folder of the cache for an object and a list of words on which its content depends.
 * NULL: there is no cache folder. */
char *kept_file_path(const char *folder, const struct file_identity *object, const char *const *words, size_t count);

struct kept_bytes {
    const char *ptr;         /* NULL: there is no such file */
    size_t size;
};
struct kept_bytes kept_file_map(const char *path);
void kept_file_unmap(struct kept_bytes bytes);

/* Only one process at a time has the lock of the folder that a file is in. KEPT_LOCK_BUSY: another has it; else for
 * kept_file_unlock(),
 * -1 where there are no locks. */
enum { KEPT_LOCK_BUSY = -2 };
int kept_file_lock(const char *path);
void kept_file_unlock(int lock);

/* A new file, which takes its place when it is complete. */
struct kept_output {
    char *path, *temporary;
    int fd;                  /* -1: it cannot be written */
};
void kept_output_open(struct kept_output *out, const char *path);
/* keeps: it is complete. False: there is no new file. Then removes the oldest files, where all are too many. */
bool kept_output_close(struct kept_output *out, bool keeps);

#endif
