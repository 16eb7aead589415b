/* The files of `convert --report` and `stats --html`: written under a temporary name and renamed. */
#ifndef CALLSIGN_CLI_REPORT_FILE_H
#define CALLSIGN_CLI_REPORT_FILE_H

#include "convert/coverage.h"

struct report_file {
    const char *path; /* "-": standard output */
    char *target;     /* the path behind symbolic links */
    char *temporary;  /* NULL: written directly, because the target is no regular file */
    unsigned mode;    /* of the file in the end */
    int fd;
};

/* Both complain and return false on failure. Writing closes and leaves nothing after, whether it works or not. */
bool report_file_open(struct report_file *file, const char *path);
bool report_file_write(struct report_file *file, const char *input, const char *output, const char *error,
                       const struct csn_convert_report *report, const struct coverage *index);
/* For other contents, written to `fd` by the caller; os_error: what failed until now, 0: nothing. 0, or the errno of what
 * failed; nothing is left after then, and nothing has been said. */
int report_file_finish(struct report_file *file, int os_error);

#endif
