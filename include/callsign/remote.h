/* Callsign: look addresses up in an index on a server or in a bucket, of which only the needed ranges are read. Not part of the
 * lookup-only library. */
#ifndef CALLSIGN_REMOTE_H
#define CALLSIGN_REMOTE_H

#include <callsign/index.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One range of the file, read into memory of the library. */
struct csn_remote_range {
    uint64_t offset;
    uint64_t size;           /* bytes wanted; input */
    uint64_t received;       /* bytes stored; output. Less than `size` only at the end of the file */
    void *bytes;             /* `size` bytes */
};

/* What a read learns of the file. */
struct csn_remote_file {
    uint64_t size;           /* of the whole file, bytes */
    uint64_t requests;       /* that this read made */
    uint64_t received;       /* bytes of their bodies */
    char version[128];       /* changes with the file, such as an HTTP ETag; NUL-terminated, empty: unknown */
};

/* A callback that reads ranges of the file, which ascend and do not overlap. *file is zeroed before. Return CSN_OK, or a
 * failure with its text in *err, without the URL. One call at a time for an index. */
typedef csn_status csn_remote_callback(void *context, struct csn_remote_range *ranges, size_t count, struct csn_remote_file *file,
                                       struct csn_error *err);

struct csn_remote_options {
    size_t struct_size;                    /* set by CSN_REMOTE_OPTIONS_INIT */
    const struct csn_index_options *index; /* NULL: the default. Its accelerator_bytes must be 0: that one reads the whole file */
    csn_remote_callback *read;             /* NULL: HTTP and S3 through libcurl, which is loaded at the first use */
    void *context;                         /* of `read`; must outlive the index */
    uint64_t timeout_ms;                   /* of each request of libcurl; 0: 60 seconds */
    uint64_t whole_bytes;                  /* the largest file that is accepted from a server without ranges, which sends all of it;
                                            * 0: 256 MiB */
};
#define CSN_REMOTE_OPTIONS_INIT CSN_SIZED_INIT(csn_remote_options)
CSN_API void csn_remote_options_init(struct csn_remote_options *options);

/* Opens the index at `url`: http://, https:// or s3://BUCKET/KEY; with a callback, any text, which is only for messages. All
 * functions of the index work; each reads what it needs, in blocks that are kept until csn_index_close(). Lookups, whose
 * strings are read with them, need few requests; csn_index_verify() and csn_index_stats() read the whole file. `options` may
 * be NULL. The caller releases *out with csn_index_close().
 *
 * S3 requests are signed with AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, and AWS_SESSION_TOKEN, if these environment variables
 * are set. AWS_REGION (or AWS_DEFAULT_REGION) and AWS_ENDPOINT_URL_S3 (or AWS_ENDPOINT_URL) are used, too.
 *
 * A failed read is final: later calls that need missing bytes return the same failure and ask nobody. So does a file that
 * changes while it is open. Functions without a status give empty strings then; see csn_index_remote_state().
 * CSN_OK; the errors of csn_index_open_memory(); CSN_E_IO: the file cannot be read; CSN_E_NOT_FOUND: there is no such file;
 * CSN_E_LIMIT: it is too large; CSN_E_UNSUPPORTED: libcurl cannot be loaded, or knows no signatures of S3.
 * Any thread. An index may be used by several threads; they take turns. No function of it is async-signal-safe.
 * Cost: one or two requests. */
CSN_API csn_status csn_index_open_remote(const char *url, const struct csn_remote_options *options, struct csn_index **out,
                                         struct csn_error *err);

/* What an index has read from afar. Later versions may add fields at the end. */
struct csn_remote_state {
    uint64_t requests;
    uint64_t received_bytes; /* of their bodies */
    uint64_t file_bytes;     /* size of the file */
    uint64_t kept_bytes;     /* of it, in memory */
};
/* Fills *out, whose size is out_size; it may be NULL. CSN_OK; CSN_NONE: the index is not remote; otherwise the failure that ended
 * reading, with its text in *err. Any thread. */
CSN_API csn_status csn_index_remote_state(const struct csn_index *index, struct csn_remote_state *out, size_t out_size,
                                          struct csn_error *err);

#ifdef __cplusplus
}
#endif
#endif
