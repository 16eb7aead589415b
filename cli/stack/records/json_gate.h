/* A first look at JSON, in one pass over its bytes: most lines of a log have nothing that a frame may be recognized
 * by, and are neither taken apart nor read by any dialect. It does for JSON what line_marks() does for lines,
 * without knowing where strings begin and end. */
#ifndef CALLSIGN_CLI_JSON_GATE_H
#define CALLSIGN_CLI_JSON_GATE_H

#include <stdbool.h>

#include <callsign/base.h>

/* Of a line, or of a string or array within one. False: no text in it has a frame, nor what a frame needs. An address without "0x"
 * that is all of a string is not looked for: identifiers look like that. */
bool json_may_have_frames(struct csn_str json);

#endif
