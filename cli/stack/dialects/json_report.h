/* What reports of crashes in JSON share. */
#ifndef CALLSIGN_CLI_JSON_REPORT_H
#define CALLSIGN_CLI_JSON_REPORT_H

#include "stack/dialects/json_members.h"
#include "stack/dialects/stack_json.h"

enum { REPORT_TEXT_MAX = 4096 };

/* A text of the object, without a NUL; `scratch` has REPORT_TEXT_MAX + 1 bytes. Empty: it has none, or a long one. */
struct csn_str report_text_member(struct csn_str object, const char *key, char *scratch);
/* A text with a hexadecimal number. */
bool report_hex_member(struct csn_str object, const char *key, uint64_t *out);

/* What of the text is left from `at` on. */
static inline struct csn_str report_rest(struct csn_str text, const char *at) {
    return (struct csn_str){ at, (size_t)(text.ptr + text.len - at) };
}

/* How a report's threads look. */
struct report_shape {
    const char *frames;                      /* the member of a thread that has its frames */
    bool (*add)(struct stack_session *session, struct csn_str frame); /* false: no memory */
    bool (*is_named)(struct csn_str frame);  /* such frames stay as they are; NULL: none does */
};

/* Of an object, or of an array of them. `w`: NULL where stacks are written on their own. */
bool report_answer_thread(struct stack_session *session, const struct report_shape *shape, struct csn_str thread,
                          struct json_writer *w, struct stack_output *output);
bool report_answer_threads(struct stack_session *session, const struct report_shape *shape, struct csn_str threads,
                           struct json_writer *w, struct stack_output *output);

/* What is told of one kind of report. */
struct report_kind {
    const char *format, *what;
    /* Whether the first value of a text is such a report, or begins one. */
    bool (*recognize)(struct csn_str root);
    /* The report that a text begins with. False: it is none; `fault` says why and where. */
    bool (*find)(struct csn_str text, struct csn_str *out, struct json_fault *fault);
    /* False: its stacks were not all answered. */
    bool (*answer)(struct stack_session *session, struct csn_str report, struct json_writer *w, struct stack_output *output);
};
extern const struct report_kind ips_report, minidump_report, dotnet_report;

#endif
