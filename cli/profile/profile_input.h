/* An input of `callsign profile`: a file or standard input, of which the first bytes have been looked at. */
#ifndef CALLSIGN_CLI_PROFILE_INPUT_H
#define CALLSIGN_CLI_PROFILE_INPUT_H

#include <callsign/profile.h>

#include "stack/session/stack_session.h"
#include "ui/line_input.h"

enum profile_kind { PROFILE_KIND_DETECT, PROFILE_KIND_PPROF, PROFILE_KIND_OTLP, PROFILE_KIND_OTLP_JSON, PROFILE_KIND_FIREFOX,
                    PROFILE_KIND_LEGACY, PROFILE_KIND_PERF, PROFILE_KIND_FOLDED };

/* Adds the input at `path` ("-": standard input) to the profile. `session` finds modules of texts. False, with a message. */
bool profile_input_read(struct csn_profile *profile, struct stack_session *session, enum profile_kind kind, const char *path);

/* The readers of texts, to the end of the input. */
bool profile_read_perf(struct csn_profile *profile, struct stack_session *session, struct line_input *input, const char *path);
bool profile_read_folded(struct csn_profile *profile, struct stack_session *session, struct line_input *input, const char *path);

#endif
