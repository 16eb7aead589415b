/* Writing files so that they survive a crash. */
#ifndef CALLSIGN_SERVER_FILE_SYNC_H
#define CALLSIGN_SERVER_FILE_SYNC_H

#include <stdbool.h>
#include <stddef.h>

/* Whether errno means that no space is left: on the disk, in a quota, below a limit of the size of files. */
bool is_full(int error);

/* All of these return 0, or -1 with errno. */
int make_folders(const char *path);            /* `path` and the folders above it */
int make_parents(const char *path);            /* the folders that `path` is in, synced where they are new */
int sync_folder_of(const char *path);
int write_all(int fd, const void *bytes, size_t size);
int write_whole_file(const char *path, const void *bytes, size_t size); /* by a temporary name, synced, renamed */

#endif
