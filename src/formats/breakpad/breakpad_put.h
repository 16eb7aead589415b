/* What Breakpad's records are made of. */
#ifndef CSNI_BREAKPAD_PUT_H
#define CSNI_BREAKPAD_PUT_H

#include <string.h>

#include "base/buffer.h"
#include "formats/breakpad/breakpad.h"

/* A text of the program's own. */
static inline void csni_breakpad_put_literal(struct csni_buffer *t, const char *text) { csni_buffer_put(t, text, strlen(text)); }
/* A number and the byte after it. */
void csni_breakpad_put_hex(struct csni_buffer *t, uint64_t v, char next);
void csni_breakpad_put_dec(struct csni_buffer *t, uint32_t v, char next);
/* What a line record has in common with the one before, which is most of it: all zeros at first. */
struct csni_breakpad_lines {
    uint64_t upper;    /* the address without its lowest byte */
    uint32_t hundreds; /* the line without its last two digits */
    uint32_t file;
    uint8_t upper_size, hundreds_size, file_size;
    char upper_text[16], hundreds_text[16], file_text[16];
};
void csni_breakpad_put_line(struct csni_buffer *t, struct csni_breakpad_lines *lines, uint64_t addr, uint32_t size,
                            uint32_t line, uint32_t file);
/* A name to the end of the line, and LF. Bytes that would end the line or the name sooner become '_'; nothing at all becomes
 * "<name omitted>". `demangle` may be NULL. */
void csni_breakpad_put_name(struct csni_buffer *t, struct csn_str name, csni_demangler *demangle);
/* The same for the name of an inlined function, which must not begin with a number and a blank. */
void csni_breakpad_put_origin_name(struct csni_buffer *t, struct csn_str name, csni_demangler *demangle);

#endif
