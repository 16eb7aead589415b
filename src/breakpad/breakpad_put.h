/* A growing text, and what Breakpad's records are made of. */
#ifndef CSNI_BREAKPAD_PUT_H
#define CSNI_BREAKPAD_PUT_H

#include "base/alloc.h"
#include "breakpad/breakpad.h"

/* `failed` stays set once memory ran out. All zeros but for `alloc` at first. */
struct csni_breakpad_text {
    char *bytes;
    size_t size, room;
    const struct csn_allocator *alloc;
    bool failed;
};

/* Room for `size` more bytes, or NULL. */
char *csni_breakpad_room(struct csni_breakpad_text *t, size_t size);
void csni_breakpad_text_deinit(struct csni_breakpad_text *t);

void csni_breakpad_put(struct csni_breakpad_text *t, const char *text, size_t size);
/* A number and the byte behind it. */
void csni_breakpad_put_hex(struct csni_breakpad_text *t, uint64_t v, char behind);
void csni_breakpad_put_dec(struct csni_breakpad_text *t, uint32_t v, char behind);
/* A name to the end of the line, and LF. Bytes that would end the line or the name sooner become '_'; nothing at all becomes
 * "<name omitted>". `demangle` may be NULL. */
void csni_breakpad_put_name(struct csni_breakpad_text *t, struct csn_str name, csni_demangler *demangle);
/* The same for the name of an inlined function, which must not begin with a number and a blank. */
void csni_breakpad_put_origin_name(struct csni_breakpad_text *t, struct csn_str name, csni_demangler *demangle);

#endif
