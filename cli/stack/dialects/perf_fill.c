/* Lines of `perf script` with what is known of them. */
#include "stack/dialects/perf_fill.h"

#include <string.h>

/* "area+0x19", as -F brstacksym has it. */
static void fill_branch(struct line_filler *f) {
    uint32_t own = f->answer->frame_count - 1;
    fill_part(f, 0, f->at->fill_at);
    fill_name(f, own);
    out_text(f->out, "+");
    out_hex(f->out, f->answer->frames[own].offset);
    fill_part(f, f->at->fill_end, f->text.len);
    fill_ending(f);
}

void perf_fill(struct line_filler *f) {
    if (f->text.len - f->at->fill_at > 2 && memcmp(f->text.ptr + f->at->fill_at, "0x", 2) == 0) {
        fill_branch(f);
        return;
    }
    if (f->at->site == SITE_SYMBOL && f->at->end) { /* of -F brstacksym, which has the name */
        fill_part(f, 0, f->text.len);
        fill_ending(f);
        return;
    }
    if (f->at->fill_at == f->text.len && f->text.ptr[0] == '\t' && memchr(f->text.ptr + 1, '\t', f->text.len - 1)) {
        fill_line_in_brackets(f); /* an instruction */
        return;
    }
    for (uint32_t k = 0; k + 1 < f->answer->frame_count && !f->at->own_only; k++) {
        fill_part(f, 0, f->at->fill_at);
        if (f->at->fill_at == f->text.len) out_char(f->out, ' ');
        fill_name(f, k);
        out_text(f->out, " (inlined)");
        fill_ending(f);
    }
    uint32_t own = f->answer->frame_count - 1;
    fill_part(f, 0, f->at->fill_at);
    if (f->at->fill_at == f->text.len) out_char(f->out, ' '); /* of -F ip */
    fill_name(f, own);
    out_text(f->out, "+");
    out_hex(f->out, f->answer->frames[own].offset);
    fill_part(f, f->at->fill_end, f->text.len);
    fill_ending(f);
}
