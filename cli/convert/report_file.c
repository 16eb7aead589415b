/* Writing the report of a conversion. */
#define _GNU_SOURCE
#include "convert/report_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ui/cli_message.h"
#include "ui/output_path.h"
#include "convert/conversion_text.h"

static int open_temporary(struct report_file *file) {
    const int refusal = output_mode(file->target, &file->mode);
    if (refusal) {
        errno = refusal;
        return -1;
    }
    if (asprintf(&file->temporary, "%s.XXXXXX", file->target) < 0) {
        file->temporary = NULL;
        errno = ENOMEM;
        return -1;
    }
    int fd = mkostemp(file->temporary, O_CLOEXEC);
    if (fd < 0) {
        free(file->temporary);
        file->temporary = NULL;
    }
    return fd;
}

bool report_file_open(struct report_file *file, const char *path) {
    *file = (struct report_file){ .path = path, .fd = STDOUT_FILENO };
    if (strcmp(path, "-") == 0) return true;
    struct stat old;
    if (!*path) {
        cli_error(path, "the name of the output file is empty");
        return false;
    }
    file->target = output_target(path);
    if (!file->target)
        file->fd = -1;
    else if (stat(file->target, &old) == 0 && !S_ISREG(old.st_mode))
        file->fd = open(file->target, O_WRONLY | O_CLOEXEC);
    else
        file->fd = open_temporary(file);
    if (file->fd < 0) cli_error(path, "%s", strerror(errno));
    if (file->fd < 0) free(file->target);
    return file->fd >= 0;
}

int report_file_finish(struct report_file *file, int os_error) {
    if (!os_error && file->temporary && fchmod(file->fd, file->mode) < 0) os_error = errno;
    if (close(file->fd) < 0 && !os_error) os_error = errno;
    if (file->temporary && !os_error && rename(file->temporary, file->target) < 0) os_error = errno;
    if (file->temporary && os_error) unlink(file->temporary);
    free(file->temporary);
    free(file->target);
    file->temporary = file->target = NULL;
    return os_error;
}

bool report_file_write(struct report_file *file, const char *input, const char *output, const char *error,
                       const struct csn_convert_report *report, const struct coverage *index) {
    struct out_buffer out;
    out_init(&out, file->fd);
    struct json_out json = json_on(&out);
    conversion_put_json(input, output, error, report, index, &json);
    out_flush(&out);
    int os_error = report_file_finish(file, out.os_error);
    if (os_error) cli_error(strcmp(file->path, "-") == 0 ? "standard output" : file->path, "%s", strerror(os_error));
    return !os_error;
}
