/* The file of `convert --report`: written under a temporary name and renamed. */
#ifndef CALLSIGN_CLI_REPORT_FILE_H
#define CALLSIGN_CLI_REPORT_FILE_H

#include <callsign/convert.h>

struct report_file {
    const char *path; /* "-": standard output */
    char *temporary;  /* NULL: written directly, because the target is no regular file */
    int fd;
};

/* Both complain and return false on failure. Writing closes and leaves nothing behind, whether it works or not. */
bool report_file_open(struct report_file *file, const char *path);
bool report_file_write(struct report_file *file, const char *input, const char *output, const char *error,
                       const struct csn_convert_report *report);

#endif
