/* Which format is written, and into what. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/core/sized.h"
#include "base/descriptor_path.h"
#include "base/file_output.h"
#include "profile/profile_out.h"
#include "profile/profile_stream.h"

static csn_status write_format(struct csn_profile *p, uint32_t format, const struct csn_profile_write_options *options,
                               struct profile_out *out, struct csn_error *err) {
    switch (format) {
    case CSN_PROFILE_PPROF: return csni_pprof_write(p, out, err);
    case CSN_PROFILE_OTLP: return csni_otlp_write(p, false, out, err);
    case CSN_PROFILE_OTLP_JSON: return csni_otlp_write(p, true, out, err);
    case CSN_PROFILE_FIREFOX: return csni_firefox_write(p, out, err);
    case CSN_PROFILE_HTML: return csni_html_write(p, out, options->title, err);
    case CSN_PROFILE_PERF_SCRIPT: return csni_perf_script_write(p, out, err);
    case CSN_PROFILE_FOLDED: return csni_folded_write(p, out, err);
    default: return csni_fail(err, CSN_E_ARGUMENT, NULL, 0, "no output format %u", format);
    }
}

static csn_status write_to(struct csn_profile *p, uint32_t format, const struct csn_profile_write_options *options,
                           struct csni_sink sink, struct csn_error *err) {
    struct profile_out out;
    const bool gzip = format == CSN_PROFILE_PPROF && !(options->flags & CSN_PROFILE_PLAIN) && csni_profile_has_gzip();
    CSNI_TRY(csni_profile_out_open(&out, p->alloc, sink, gzip, err));
    out.progress = options->progress;
    out.progress_context = options->progress_context;
    csn_status status = write_format(p, format, options, &out, err);
    if (status < 0) out.status = status;
    return csni_profile_out_close(&out);
}

/* ---- pipes, devices, and what is open already ---- */

struct stream_output {
    int fd;
    const char *path;
};

static bool is_stream(const char *path) {
    struct stat st;
    if (csni_descriptor_of_path(path) >= 0) return true;
    return stat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode);
}

static csn_status write_stream(void *context, uint64_t off, const void *bytes, size_t size, struct csn_error *err) {
    const struct stream_output *stream = context;
    const char *from = bytes;
    (void)off; /* they ascend without gaps */
    while (size) {
        const ssize_t done = write(stream->fd, from, size);
        if (done < 0 && errno == EINTR) continue;
        if (done < 0) return csni_fail_os(err, errno, stream->path);
        from += done;
        size -= (size_t)done;
    }
    return CSN_OK;
}

static csn_status write_to_stream(struct csn_profile *p, uint32_t format, const char *path,
                                  const struct csn_profile_write_options *options, struct csn_error *err) {
    struct stream_output stream = { .path = path };
    const struct csni_sink sink = { .write = write_stream, .context = &stream };
    const int descriptor = csni_descriptor_of_path(path);
    do stream.fd = descriptor >= 0 ? csni_descriptor_copy(descriptor) : open(path, O_WRONLY | O_CLOEXEC);
    while (stream.fd < 0 && errno == EINTR);
    if (stream.fd < 0) return csni_fail_os(err, errno, path);
    const csn_status status = write_to(p, format, options, sink, err);
    const bool is_closed = close(stream.fd) == 0 || errno == EINTR;
    return status == CSN_OK && !is_closed ? csni_fail_os(err, errno, path) : status;
}

/* ---- files and memory ---- */

/* Into memory that grows. */
static csn_status write_buffer(void *context, uint64_t off, const void *bytes, size_t size, struct csn_error *err) {
    struct csni_buffer *buffer = context;
    (void)off;
    csni_buffer_put(buffer, bytes, size);
    return buffer->failed ? csni_fail_memory(err, size) : CSN_OK;
}

static csn_status copy_write_options(struct csn_profile_write_options *options, const struct csn_profile_write_options *given,
                                     struct csn_error *err) {
    *options = (struct csn_profile_write_options)CSN_PROFILE_WRITE_OPTIONS_INIT;
    if (given) CSNI_TRY(csni_options_copy(options, sizeof *options, given, given->struct_size, err));
    CSNI_TRY(csni_check_reserved("csn_profile_write_options.reserved", options->reserved, err));
    const uint32_t unknown = options->flags & ~(uint32_t)CSN_PROFILE_PLAIN;
    return unknown ? csni_fail(err, CSN_E_UNSUPPORTED, NULL, 0, "unknown flags 0x%x for writing a profile", unknown) : CSN_OK;
}

csn_status csn_profile_write_file(struct csn_profile *p, uint32_t format, const char *path,
                                  const struct csn_profile_write_options *given, struct csn_error *err) {
    struct csn_profile_write_options options;
    struct csni_file_output file;
    CSNI_TRY(copy_write_options(&options, given, err));
    if (is_stream(path)) return write_to_stream(p, format, path, &options, err);
    CSNI_TRY(csni_file_output_open(&file, path, p->alloc, err));
    csn_status status = write_to(p, format, &options, csni_file_sink(&file), err);
    if (status == CSN_OK) return csni_file_output_commit(&file, err);
    csni_file_output_abort(&file);
    return status;
}

csn_status csn_profile_write(struct csn_profile *p, uint32_t format, const struct csn_profile_write_options *given,
                             struct csn_bytes *out, struct csn_error *err) {
    struct csn_profile_write_options options;
    struct csni_buffer buffer = { .alloc = p->alloc };
    const struct csni_sink sink = { .write = write_buffer, .context = &buffer };
    CSNI_TRY(copy_write_options(&options, given, err));
    csn_status status = write_to(p, format, &options, sink, err);
    uint8_t *bytes = status == CSN_OK ? csni_realloc(p->alloc, buffer.bytes, buffer.capacity, buffer.size) : NULL;
    if (status == CSN_OK && !buffer.size) buffer = (struct csni_buffer){ .alloc = p->alloc }; /* freed by then */
    if (!bytes && (status < 0 || buffer.size)) {
        csni_buffer_deinit(&buffer);
        return status < 0 ? status : csni_fail_memory(err, buffer.size);
    }
    *out = (struct csn_bytes){ bytes, buffer.size, p->alloc };
    return CSN_OK;
}
