/* Lines that are no function: damaged ones, and records that are kept as they stand. */
#include "formats/breakpad/breakpad.h"

void csni_breakpad_damage(struct csni_breakpad_chunk *chunk, const char *line, const char *what) {
    chunk->damaged++;
    if (chunk->first_damaged && chunk->first_damaged <= line) return;
    chunk->first_damaged = line;
    chunk->damage = what;
}

bool csni_breakpad_keep(struct csni_breakpad_chunk *chunk, struct csni_breakpad_line whole, uint32_t records) {
    struct csni_extra *last = chunk->extras.count ? &chunk->extras.items[chunk->extras.count - 1] : NULL;
    /* A run of lines with nothing but LF between them is one text. */
    if (last && !records == !last->records && last->text.ptr + last->text.len + 1 == whole.p) {
        last->text.len = (size_t)(whole.end - last->text.ptr);
        last->records += records;
        return true;
    }
    struct csni_extra extra = { CSN_FORMAT_BREAKPAD, records, { whole.p, (size_t)(whole.end - whole.p) } };
    return csni_vec_push(&chunk->extras, extra);
}
