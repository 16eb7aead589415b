/* Fields of lines, without a copy, and what to make of lines. */
#ifndef CSNI_TEXT_LINES_H
#define CSNI_TEXT_LINES_H

#include "base/lines.h"
#include "model/model.h"

/* The next field up to a space or tab, which is passed over with those after it; empty at the end of the line. */
struct csn_str csni_line_field(struct csn_str *line);

/* A name up to a NUL: readers of an index will have it so. */
struct csn_str csni_text_name(struct csn_str text);

/* A number of hexadecimal digits, with or without 0x in front. False: it is none, or does not fit 64 bits. */
bool csni_text_hex(struct csn_str text, uint64_t *out);

/* Counts a line that is none. */
void csni_note_line(struct csni_batch_writer *w, uint64_t number, struct csn_str line, const char *what);

/* Whether most of the whole lines in the first 4 KiB are of a kind, and the first that is not empty is. */
bool csni_lines_look_like(struct csni_span file, bool (*is_kind)(struct csn_str line));

#endif
