/* Opening what a command is given. */
#define _GNU_SOURCE
#include "ui/open_index.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ui/cli_message.h"
#include "convert/conversion_text.h"
#include "ui/progress_bar.h"

enum { HEAD_SIZE = 4096 }; /* what csn_is_input() and csn_is_index() look at */

/* Whether it has to be converted: an object file, a list of symbols, a dSYM bundle. An index is opened as it is, and so is
 * what cannot be read here: opening it then says what is wrong. */
static bool is_object_file(const char *path) {
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return false;
    struct stat st;
    char head[HEAD_SIZE];
    bool is_folder = fstat(fd, &st) == 0 && S_ISDIR(st.st_mode);
    ssize_t got = is_folder ? 0 : read(fd, head, sizeof(head));
    close(fd);
    return is_folder || (got > 0 && !csn_is_index(head, (size_t)got) && csn_is_input(head, (size_t)got));
}

static csn_status convert_in_memory(const char *path, const struct companion_values *companions, struct opened_index *out,
                                    struct csn_error *err) {
    struct csn_convert_report *report = calloc(1, sizeof(*report));
    if (!report) return CSN_E_MEMORY;
    struct progress_bar bar;
    struct companion_search search;
    progress_begin(&bar, false);
    struct csn_convert_options options = CSN_CONVERT_OPTIONS_INIT;
    options.progress = progress_step;
    options.progress_context = &bar;
    csn_status status = companion_search_begin(&search, companions, &bar, &options, err);
    if (status >= 0) status = csn_convert_file_to_memory(path, &options, &out->bytes, report, err);
    progress_end(&bar);
    companion_search_end(&search);
    progress_pass_on_signal();
    if (status >= 0) {
        conversion_report_damage(path, report);
        out->partial = conversion_is_partial(report);
        status = csn_index_open_memory(out->bytes.ptr, out->bytes.size, NULL, &out->index, err);
    }
    free(report);
    return status;
}

static bool opened(const char *path, csn_status status, const struct csn_error *err, struct opened_index *out) {
    if (status == CSN_OK) return true;
    cli_error(path, "%s", err->text[0] ? csn_error_text(err) : csn_status_name(status));
    close_index(out);
    return false;
}

bool open_index(const char *path, const struct companion_values *companions, struct opened_index *out) {
    *out = (struct opened_index){ 0 };
    struct csn_error err = CSN_ERROR_INIT;
    if (is_object_file(path)) {
        struct csn_index_options options = CSN_INDEX_OPTIONS_INIT;
        options.arch = companions->arch;
        csn_status embedded = csn_index_open_embedded(path, &options, &out->index, &err);
        /* What cannot be read here says what is wrong when it is converted. */
        if (embedded == CSN_NONE || embedded == CSN_E_IO) return open_object(path, companions, out);
        return opened(path, embedded, &err, out);
    }
    csn_status status = csn_index_open_file(path, NULL, &out->index, &err);
    return opened(path, status, &err, out);
}

bool open_object(const char *path, const struct companion_values *companions, struct opened_index *out) {
    *out = (struct opened_index){ 0 };
    struct csn_error err = CSN_ERROR_INIT;
    csn_status status = convert_in_memory(path, companions, out, &err);
    return opened(path, status, &err, out);
}

void close_index(struct opened_index *opened) {
    csn_index_close(opened->index);
    csn_bytes_free(&opened->bytes);
    *opened = (struct opened_index){ 0 };
}
