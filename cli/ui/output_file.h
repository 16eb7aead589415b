/* Files that are whole or not there: written under a temporary name and renamed. */
#ifndef CALLSIGN_CLI_OUTPUT_FILE_H
#define CALLSIGN_CLI_OUTPUT_FILE_H

struct output_file {
    int fd;
    char *target;    /* the path behind symbolic links */
    char *temporary; /* NULL: written directly, because the target is no regular file */
    unsigned mode;   /* of the file in the end: of the one it replaces, or of a new one */
};

/* 0, or an errno; nothing is to be closed then. A write-protected file is refused. */
int output_file_open(struct output_file *file, const char *path);
/* After the caller has written to `fd`; os_error: what failed until now, 0: nothing. 0, or the errno of what failed; nothing is left
 * after then. */
int output_file_finish(struct output_file *file, int os_error);

#endif
