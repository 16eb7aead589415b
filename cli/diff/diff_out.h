/* What `callsign diff` prints, as text or as JSON. */
#ifndef CALLSIGN_CLI_DIFF_OUT_H
#define CALLSIGN_CLI_DIFF_OUT_H

#include "diff/diff_walk.h"
#include "ui/json_out.h"
#include "ui/name_text.h"

struct diff_input {
    const char *path;
    const struct csn_index *index;
    struct csn_index_info info;
};

/* A value that stands before all functions. */
struct diff_header {
    const char *what;
    char values[2][2 * sizeof(((struct csn_index_info *)0)->uuid) + 1]; /* empty: the index has none */
};
enum { DIFF_HEADERS_MAX = 2 };

struct diff_result {
    struct diff_header headers[DIFF_HEADERS_MAX];
    size_t header_count;
    struct diff_counts counts;
    bool differ; /* neither this nor `same`: the rest is the same, but parts are damaged */
    bool same;
};

struct diff_out {
    struct diff_input inputs[2];
    struct out_buffer *out;
    struct json_out json;
    struct name_text names;
    uint64_t shown_max; /* text: differences shown of each kind */
    uint64_t shown;     /* of this kind, and those left out */
    struct {
        bool present;
        uint64_t start;
        struct csn_error err;
    } first_damaged[2]; /* of each input */
};

/* In the order of calling: begin, diff_walk() with the listener (its context is the diff_out), damaged_begin, damaged for each
 * that cannot be read, files_begin, files, end. */
extern const struct diff_listener diff_text_calls, diff_json_calls;
void diff_keep_damaged(void *context, const struct diff_damaged *function); /* the listeners': keeps the first of each input */
void diff_text_damaged_begin(struct diff_out *diff);
void diff_text_damaged(void *context, const struct diff_damaged *function);
void diff_json_damaged_begin(struct diff_out *diff);
void diff_json_damaged(void *context, const struct diff_damaged *function);
void diff_text_begin(struct diff_out *diff, const struct diff_result *result);
void diff_text_files_begin(struct diff_out *diff);
void diff_text_end(struct diff_out *diff, const struct diff_result *result);
void diff_json_begin(struct diff_out *diff, const struct diff_result *result);
void diff_json_files_begin(struct diff_out *diff);
void diff_json_end(struct diff_out *diff, const struct diff_result *result);

/* The paths that only one of the two file tables has, those of side 0 first: told one by one. False: out of memory, or an
 * input's paths are too long together, which sets its `shares_too_much`. */
typedef void diff_file_callback(struct diff_out *diff, int side, struct diff_path path);
bool diff_files(struct diff_out *diff, diff_file_callback *callback, bool shares_too_much[2]);
diff_file_callback diff_text_file, diff_json_file;

#endif
