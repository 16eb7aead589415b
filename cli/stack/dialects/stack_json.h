/* Stacks as JSON lines (docs/stacks.md has the schema), and reports that are JSON as a whole. */
#ifndef CALLSIGN_CLI_STACK_JSON_H
#define CALLSIGN_CLI_STACK_JSON_H

#include "stack/session/stack_output.h"
#include "ui/json_span.h"

/* One line. A stack is answered on `output`; what cannot be understood is answered there as an error, and false returned. */
bool stack_json_line(struct stack_session *session, struct csn_str line, struct stack_output *output);

/* The same without the answer: a stack's frames and modules become the session's. *has_frames: they did; otherwise
 * the line had modules alone. False: see `error`. */
enum { JSON_ERROR_MAX = 200 };
struct stack_json_error {
    char text[JSON_ERROR_MAX];
};
bool stack_json_read(struct stack_session *session, struct csn_str line, bool *has_frames, struct stack_json_error *error);

/* Begins the stack of a line of the usual shape. False: the line may be anything else, and nothing has been said of it. */
bool stack_json_plain_line(struct stack_session *session, struct csn_str line);

/* Whether a line is the first one of an .ips report. */
bool stack_ips_recognize(struct csn_str line);
/* Whether an object is a crash report of .NET. */
bool stack_dotnet_recognize(struct csn_str root);

/* A whole text of a report in JSON: the stack of each thread is answered, or, in place, the report is written again with
 * symbols, files and lines in its frames. Other reports may follow, and between them what is no report. `format`: "ips",
 * "minidump-json" or "dotnet-json" where it is known, NULL to tell it from the text. False: `error` says why the text is
 * no report; empty: its stacks were not all answered. */
bool stack_report(struct stack_session *session, struct csn_str text, const char *format, bool in_place,
                  struct stack_output *output, struct stack_json_error *error);

#endif
