/* Writing the report of a conversion. */
#define _GNU_SOURCE
#include "convert/report_file.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "convert/conversion_text.h"
#include "ui/cli_message.h"

bool report_file_open(struct report_file *file, const char *path) {
    *file = (struct report_file){ .path = path, .output.fd = STDOUT_FILENO };
    if (strcmp(path, "-") == 0) return true;
    if (!*path) {
        cli_error(path, "the name of the output file is empty");
        return false;
    }
    const int fault = output_file_open(&file->output, path);
    if (fault) cli_error(path, "%s", strerror(fault));
    return !fault;
}

bool report_file_write(struct report_file *file, const char *input, const char *output, const char *error,
                       const struct csn_convert_report *report, const struct coverage *index) {
    struct out_buffer out;
    out_init(&out, file->output.fd);
    struct json_out json = json_on(&out);
    conversion_put_json(input, output, error, report, index, &json);
    out_flush(&out);
    int os_error = output_file_finish(&file->output, out.os_error);
    if (os_error) cli_error(strcmp(file->path, "-") == 0 ? "standard output" : file->path, "%s", strerror(os_error));
    return !os_error;
}

void report_file_drop(struct report_file *file) { output_file_finish(&file->output, ECANCELED); }
