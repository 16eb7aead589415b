/* Messages on stderr. Each line leaves in one write, so that lines of several processes do not mix. */
#define _GNU_SOURCE
#include "ui/cli_message.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "ui/url_text.h"
#include "ui/utf8.h"

enum { LINE_ROOM = 8192, NAME_ROOM = 5000 }; /* no path is longer than 4096 */

static void put_line(const char *text) {
    char line[4 * LINE_ROOM + 1];
    size_t used = safe_text(line, (struct csn_str){ text, strlen(text) });
    line[used++] = '\n';
    /* There is nowhere to report a failure of stderr to. */
    ssize_t ignored = write(STDERR_FILENO, line, used);
    (void)ignored;
}

void cli_error(const char *file, const char *format, ...) {
    char text[LINE_ROOM], url[NAME_ROOM];
    int used = snprintf(text, sizeof(text), "callsign: ");
    if (file && !*file) file = "''";
    if (file && (strncasecmp(file, "http://", 7) == 0 || strncasecmp(file, "https://", 8) == 0)) {
        urls_show(file, url, sizeof(url));
        file = url;
    }
    if (file) used += snprintf(text + used, NAME_ROOM, "%.*s%s: ", NAME_ROOM - 8, file, strlen(file) > NAME_ROOM - 8 ? "..." : "");
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + used, sizeof(text) - (size_t)used, format, arguments);
    va_end(arguments);
    put_line(text);
}

void cli_report(const char *format, ...) {
    char text[LINE_ROOM];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    put_line(text);
}

void cli_error_status(const char *file, csn_status status, const struct csn_error *err) {
    cli_error(file, "%s", err->text[0] ? csn_error_text(err) : csn_status_name(status));
}

void cli_error_memory(const char *what) { cli_error(NULL, "out of memory for %s", what); }
