/* A file written to a temporary name in the target's folder, synced and renamed: the target is the old file or the whole
 * new one, whatever happens in between. */
#ifndef CSNI_FILE_OUTPUT_H
#define CSNI_FILE_OUTPUT_H

#include "base/core/alloc.h"
#include "base/core/span.h"

struct csni_file_output {
    int fd;
    char *temporary, *target;
    const struct csn_allocator *alloc;
    uint64_t size; /* bytes written so far, to the highest offset */
};

/* A symbolic link stays, and what it leads to is replaced. Refuses directories, devices, pipes and write-protected files.
 * `out` needs no initialisation; after a failure it is as empty as after abort. Errors name the file or folder. */
csn_status csni_file_output_open(struct csni_file_output *out, const char *target, const struct csn_allocator *alloc,
                                 struct csn_error *err);
/* Gives it the mode of the file at `path`, instead of that of a new file or of the one it replaces. */
csn_status csni_file_output_take_mode(struct csni_file_output *out, const char *path, struct csn_error *err);
/* Writes all of `size` bytes at `offset`; retries short writes. Different threads may write different parts at once. */
csn_status csni_file_output_write(struct csni_file_output *out, uint64_t offset, const void *bytes, size_t size,
                                  struct csn_error *err);
/* Syncs and closes: for files that get their names together, of which there may be more than a process may have open. After
 * a failure the temporary file is gone. */
csn_status csni_file_output_finish(struct csni_file_output *out, struct csn_error *err);
/* Syncs, renames, syncs the folder. The file has the mode of a new file, or of the one it replaces. Closes in any case:
 * after a failure the temporary file is gone and the target as it was. */
csn_status csni_file_output_commit(struct csni_file_output *out, struct csn_error *err);
/* Removes the temporary file. Fine after commit and on a zeroed struct. */
void csni_file_output_abort(struct csni_file_output *out);

#endif
