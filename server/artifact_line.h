/* One line about a file of a store. */
#ifndef CALLSIGN_SERVER_ARTIFACT_LINE_H
#define CALLSIGN_SERVER_ARTIFACT_LINE_H

#include "base/text.h"
#include "store/artifact.h"

void artifact_line(struct text *out, const struct artifact *artifact, bool is_json);

#endif
