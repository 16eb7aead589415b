/* An explanation for people and for programs. */
#ifndef CALLSIGN_CLI_EXPLAIN_SHOW_H
#define CALLSIGN_CLI_EXPLAIN_SHOW_H

#include "explain/explain_find.h"
#include "ui/json_out.h"
#include "ui/name_text.h"

void explain_show_text(const struct explanation *found, const char *path, struct name_text *names, struct out_buffer *out);
void explain_show_json(const struct explanation *found, const char *path, struct name_text *names,
                       struct out_buffer *out);

#endif
