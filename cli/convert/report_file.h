/* The files of `convert --report` and `stats --html`: written under a temporary name and renamed. */
#ifndef CALLSIGN_CLI_REPORT_FILE_H
#define CALLSIGN_CLI_REPORT_FILE_H

#include "convert/coverage.h"
#include "ui/output_file.h"

struct report_file {
    const char *path;          /* "-": standard output */
    struct output_file output; /* for other contents: the caller writes to its `fd`, and calls output_file_finish() */
};

/* Both complain and return false on failure. Writing closes and leaves nothing after, whether it works or not. */
bool report_file_open(struct report_file *file, const char *path);
bool report_file_write(struct report_file *file, const char *input, const char *output, const char *error,
                       const struct csn_convert_report *report, const struct coverage *index);
/* Instead of writing: the file stays as it was. */
void report_file_drop(struct report_file *file);

#endif
