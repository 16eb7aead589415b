/* Which kind an input is. */
#define _GNU_SOURCE
#include "profile/profile_input.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "stack/dialects/dialects.h"
#include "ui/cli_message.h"
#include "ui/text_bytes.h"

enum { HEAD_SIZE = 1 << 14, LINE_MAX_BYTES = 1 << 20 };

struct file_bytes {
    int fd;
    int os_error;                /* of reading it */
};

/* The first bytes of a source. */
struct profile_head {
    const struct file_bytes *file;
    csn_profile_source *source;
    void *context;
    csn_status status;           /* of the source, with what it says */
    struct csn_error err;
    char bytes[HEAD_SIZE];
    size_t start, end;
};

static csn_status read_file(void *context, void *bytes, size_t capacity, size_t *out_size, struct csn_error *err) {
    struct file_bytes *file = context;
    ssize_t got;
    (void)err;
    do got = read(file->fd, bytes, capacity);
    while (got < 0 && errno == EINTR);
    if (got < 0) file->os_error = errno;
    *out_size = got > 0 ? (size_t)got : 0;
    return got < 0 ? CSN_E_IO : CSN_OK;
}

static bool fill_head(struct profile_head *head) {
    size_t got = 1;
    while (got && head->end < HEAD_SIZE) {
        head->status = head->source(head->context, head->bytes + head->end, HEAD_SIZE - head->end, &got, &head->err);
        if (head->status < 0) return false;
        head->end += got;
    }
    return true;
}

/* A source of all that the head's has. */
static csn_status read_input(void *context, void *bytes, size_t capacity, size_t *out_size, struct csn_error *err) {
    struct profile_head *head = context;
    size_t left = head->end - head->start;
    if (!left) {
        head->status = head->source(head->context, bytes, capacity, out_size, err);
        if (head->status < 0 && err) head->err = *err;
        return head->status;
    }
    *out_size = left < capacity ? left : capacity;
    memcpy(bytes, head->bytes + head->start, *out_size);
    head->start += *out_size;
    return CSN_OK;
}

/* The same for lines. What a source says of its failure is told at their end. */
static ssize_t read_for_lines(void *context, void *bytes, size_t size) {
    struct profile_head *head = context;
    size_t got = 0;
    return read_input(head, bytes, size, &got, &head->err) < 0 ? 0 : (ssize_t)got;
}

/* ---- detection ---- */

/* "main;area 1e3": with a semicolon, and a last word that begins as a number does. No line of perf script ends so. */
static bool has_wrong_count(struct csn_str line) {
    const char *semicolon = memchr(line.ptr, ';', line.len), *blank = memrchr(line.ptr, ' ', line.len);
    if (!semicolon || !blank || blank < semicolon || blank + 1 == line.ptr + line.len) return false;
    return is_digit(blank[1]) || strchr("+-.", blank[1]);
}

/* "main;area 12": what ends in a blank and a number, and does not begin with a blank. */
static bool is_folded_line(struct csn_str line) {
    return (folded_count_at(line) > 1 || has_wrong_count(line)) && line.ptr[0] != ' ' && line.ptr[0] != '\t';
}

/* Of perf without doubt, and perhaps with a number at its end. */
static bool is_line_of_perf(struct csn_str line) { return perf_may_head_chain(line) || perf_has_record(line); }

/* Protobuf begins with a line feed, and may have no NUL for long; but it has other control characters. */
static bool is_text(const struct profile_head *head) {
    for (size_t i = 0; i < head->end; i++)
        if ((unsigned char)head->bytes[i] < ' ' && !(head->bytes[i] && strchr("\t\n\v\f\r\033", head->bytes[i]))) return false;
    return head->end && head->bytes[0] != '{';
}

/* As headers of perf script, which may end in a number. "#main;area 12" is a stack. */
static bool is_comment(struct csn_str line, bool is_cut) {
    return line.len && line.ptr[0] == '#' && (line.len == 1 || line.ptr[1] == ' ' || !(is_cut || is_folded_line(line)));
}

static enum profile_kind detect_text(const struct profile_head *head) {
    struct csn_str rest = { head->bytes, head->end };
    while (rest.len) {
        const char *end = memchr(rest.ptr, '\n', rest.len);
        size_t size = end ? (size_t)(end - rest.ptr) : rest.len;
        struct csn_str line = line_text((struct csn_str){ rest.ptr, size });
        const bool is_cut = !end && head->end == HEAD_SIZE; /* a deep stack: lines of perf script are short */
        if (is_cut && !is_comment(line, true) && line.ptr[0] != ' ' && line.ptr[0] != '\t') return PROFILE_KIND_FOLDED;
        if (is_line_of_perf(line)) return PROFILE_KIND_PERF;
        if (line.len && !is_comment(line, is_cut)) return is_folded_line(line) ? PROFILE_KIND_FOLDED : PROFILE_KIND_PERF;
        rest = (struct csn_str){ rest.ptr + size + (end != NULL), rest.len - size - (end != NULL) };
    }
    return PROFILE_KIND_PERF;
}

static enum profile_kind detect_kind(const struct profile_head *head) {
    switch (csn_profile_detect(head->bytes, head->end)) {
    case CSN_PROFILE_FIREFOX: return PROFILE_KIND_FIREFOX;
    case CSN_PROFILE_OTLP: return PROFILE_KIND_OTLP;
    case CSN_PROFILE_OTLP_JSON: return PROFILE_KIND_OTLP_JSON;
    case CSN_PROFILE_LEGACY: return PROFILE_KIND_LEGACY;
    case CSN_PROFILE_PPROF: return is_text(head) ? detect_text(head) : PROFILE_KIND_PPROF;
    default: return is_text(head) ? detect_text(head) : PROFILE_KIND_DETECT;
    }
}

/* ---- reading ---- */

/* Whether the source failed: then that is told. */
static bool report_source(const struct profile_head *head, const char *path) {
    if (head->file->os_error) cli_error(path, "%s", strerror(head->file->os_error));
    else if (head->status < 0) cli_error_status(path, head->status, &head->err);
    return head->status < 0;
}

static bool read_binary(struct csn_profile *profile, struct profile_head *head, enum profile_kind kind, const char *path) {
    static const uint32_t formats[] = { [PROFILE_KIND_DETECT] = CSN_PROFILE_DETECT, [PROFILE_KIND_PPROF] = CSN_PROFILE_PPROF,
                                        [PROFILE_KIND_OTLP] = CSN_PROFILE_OTLP, [PROFILE_KIND_OTLP_JSON] = CSN_PROFILE_OTLP_JSON,
                                        [PROFILE_KIND_FIREFOX] = CSN_PROFILE_FIREFOX, [PROFILE_KIND_LEGACY] = CSN_PROFILE_LEGACY };
    struct csn_error err = CSN_ERROR_INIT;
    struct csn_profile_sizes sizes;
    csn_status status = csn_profile_read(profile, formats[kind], (struct csn_str){ path, strlen(path) }, read_input, head, &err);
    if (status < 0 && !report_source(head, path)) cli_error_status(path, status, &err);
    csn_profile_get_sizes(profile, &sizes);
    if (status >= 0 && sizes.weight_scale > 1)
        cli_error(path, "weights have fractions: they are taken times %llu", (unsigned long long)sizes.weight_scale);
    return status >= 0;
}

static bool read_lines(struct csn_profile *profile, struct stack_session *session, struct profile_head *head,
                       enum profile_kind kind, const char *path) {
    struct line_input input;
    if (!line_input_init(&input, -1, LINE_MAX_BYTES)
        || csn_profile_begin_input(profile, (struct csn_str){ path, strlen(path) }, NULL) < 0) {
        cli_error_memory("lines");
        return false;
    }
    input.read = read_for_lines;
    input.context = head;
    bool good = kind == PROFILE_KIND_PERF ? profile_read_perf(profile, session, &input, path)
                                          : profile_read_folded(profile, session, &input, path);
    line_input_deinit(&input);
    return !report_source(head, path) && good;
}

/* It tells of the encoding, and is no part of the first name. No binary format begins with its bytes. */
static void drop_byte_order_mark(struct profile_head *head) {
    const struct csn_str text = without_byte_order_mark((struct csn_str){ head->bytes, head->end });
    memmove(head->bytes, text.ptr, text.len);
    head->end = text.len;
}

/* What is no profile, but easily taken for one: NULL, or what to do with it. */
static const char *advice_for(const struct profile_head *head) {
    static const char recording[] = "PERFILE2"; /* 2ELIFREP by a machine of the other byte order */
    if (head->end >= 8 && (memcmp(head->bytes, recording, 8) == 0 || memcmp(head->bytes, "2ELIFREP", 8) == 0))
        return "a recording of perf, not a profile: give the output of perf script, as by 'perf script -i FILE | callsign profile - -o OUT'";
    if (is_utf16((struct csn_str){ head->bytes, head->end })) return utf16_advice;
    return NULL;
}

static bool read_kind(struct csn_profile *profile, struct stack_session *session, enum profile_kind kind, struct profile_head *head,
                      const char *path) {
    if (kind == PROFILE_KIND_DETECT) kind = detect_kind(head);
    const char *advice = kind == PROFILE_KIND_DETECT ? advice_for(head) : NULL;
    if (advice) {
        cli_error(path, "%s", advice);
        return false;
    }
    if (kind == PROFILE_KIND_PERF || kind == PROFILE_KIND_FOLDED) return read_lines(profile, session, head, kind, path);
    return read_binary(profile, head, kind, path);
}

static bool read_file_input(struct csn_profile *profile, struct stack_session *session, enum profile_kind kind,
                            struct file_bytes *file, const char *path) {
    static struct profile_head head;
    struct csn_profile_inflater *inflater = NULL;
    struct csn_error err = CSN_ERROR_INIT;
    const csn_status status = csn_profile_inflater_create(NULL, read_file, file, &inflater, &err);
    head = (struct profile_head){ .file = file, .source = csn_profile_inflater_read, .context = inflater, .status = status,
                                  .err = err };
    bool good = status >= 0 && fill_head(&head);
    drop_byte_order_mark(&head);
    if (!good) {
        report_source(&head, path);
    } else if (!head.end) {
        cli_error(path, "the input is empty");
        good = false;
    }
    good = good && read_kind(profile, session, kind, &head, path);
    csn_profile_inflater_destroy(inflater);
    return good;
}

bool profile_input_read(struct csn_profile *profile, struct stack_session *session, enum profile_kind kind, const char *path) {
    bool is_stdin = strcmp(path, "-") == 0;
    struct file_bytes file = { .fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC) };
    if (file.fd < 0) {
        cli_error(path, "%s", strerror(errno));
        return false;
    }
    bool good = read_file_input(profile, session, kind, &file, is_stdin ? "standard input" : path);
    if (!is_stdin) close(file.fd);
    return good;
}
