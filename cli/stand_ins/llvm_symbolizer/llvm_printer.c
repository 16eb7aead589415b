/* The styles LLVM and GNU. */
#include "stand_ins/llvm_symbolizer/llvm_printer.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stand_ins/base/answer_output.h"
#include "stand_ins/base/growth.h"

static const char *or_unknown(const char *text) { return text ? text : "??"; }

/* ---- frames ---- */

static void put_header(const struct llvm_printer *p, const struct llvm_asked *asked) {
    if (p->print_address && (asked->has_addr || asked->has_stale_addr))
        printf("0x%" PRIx64 "%s", asked->addr, p->pretty ? ": " : "\n");
}

static void put_footer(const struct llvm_printer *p) {
    if (p->style == LLVM_STYLE_LLVM) fputc('\n', stdout);
}

static void put_verbose(const struct llvm_printer *p, const struct llvm_frame *f) {
    printf("  Filename: %s\n", or_unknown(f->file));
    if (f->start_line)
        printf("  Function start filename: %s\n  Function start line: %u\n", f->start_file ? f->start_file : "",
               f->start_line);
    if (f->has_start_address && p->style == LLVM_STYLE_LLVM) printf("  Function start address: 0x%" PRIx64 "\n", f->start_address);
    printf("  Line: %u\n  Column: %u\n", f->line, f->column);
    if (f->discriminator) printf("  Discriminator: %u\n", f->discriminator);
    if (f->is_approximate) fputs("  Approximate: true\n", stdout);
}

/* As printf() of ":%u", which takes longer: most of what is printed are these. */
static void put_number(uint32_t number) {
    char text[12], *p = text + sizeof text;
    do *--p = (char)('0' + number % 10);
    while (number /= 10);
    *--p = ':';
    fwrite(p, 1, (size_t)(text + sizeof text - p), stdout);
}

static void put_place(const struct llvm_printer *p, const struct llvm_frame *f) {
    fputs(or_unknown(f->file), stdout);
    put_number(f->line);
    if (p->style == LLVM_STYLE_LLVM) put_number(f->column);
    if (f->is_approximate) fputs(" (approximate)", stdout);
    if (p->style == LLVM_STYLE_GNU && f->discriminator) printf(" (discriminator %u)", f->discriminator);
    fputc('\n', stdout);
    char *context = p->context_lines ? llvm_source_context(or_unknown(f->file), f->line, p->context_lines) : NULL;
    if (context) fputs(context, stdout);
    free(context);
}

static void put_frame(const struct llvm_printer *p, const struct llvm_frame *f, bool is_inlined) {
    if (p->print_functions) {
        if (p->pretty && is_inlined) fputs(" (inlined by) ", stdout);
        fputs(or_unknown(f->function), stdout);
        fputs(p->pretty ? " at " : "\n", stdout);
    }
    if (p->verbose) put_verbose(p, f);
    else put_place(p, f);
}

void llvm_print_frames(struct llvm_printer *p, const struct llvm_asked *asked, const struct llvm_frames *frames) {
    static const struct llvm_frame none = { 0 };
    if (p->style == LLVM_STYLE_JSON) {
        llvm_json_frames(p, asked, frames, "Symbol");
        return;
    }
    put_header(p, asked);
    if (!frames->count) put_frame(p, &none, false);
    for (size_t i = 0; i < frames->count; i++) put_frame(p, &frames->items[i], i > 0);
    put_footer(p);
}

void llvm_print_places(struct llvm_printer *p, const struct llvm_asked *asked, const struct llvm_frames *frames) {
    static const struct llvm_frame none = { 0 };
    if (p->style == LLVM_STYLE_JSON) {
        llvm_json_frames(p, asked, frames, "Loc");
        return;
    }
    put_header(p, asked);
    if (!frames->count) put_frame(p, &none, false);
    for (size_t i = 0; i < frames->count; i++) put_frame(p, &frames->items[i], false);
    put_footer(p);
}

void llvm_print_frame(struct llvm_printer *p, const struct llvm_asked *asked, const struct llvm_frame *f) {
    struct llvm_frame one = *f;
    const struct llvm_frames frames = { &one, 1, 1 };
    llvm_print_frames(p, asked, &frames);
}

void llvm_print_global(struct llvm_printer *p, const struct llvm_asked *asked, const struct llvm_global *g) {
    if (p->style == LLVM_STYLE_JSON) {
        llvm_json_global(p, asked, g);
        return;
    }
    put_header(p, asked);
    printf("%s\n%" PRIu64 " %" PRIu64 "\n", or_unknown(g->name), g->start, g->size);
    if (g->file && *g->file) printf("%s:%" PRIu64 "\n", g->file, g->line);
    else fputs("??:?\n", stdout);
    put_footer(p);
}

static void put_local(const struct llvm_local *l) {
    printf("%s\n%s\n%s:%" PRIu64 "\n", or_unknown(l->function && *l->function ? l->function : NULL),
           or_unknown(l->name && *l->name ? l->name : NULL), or_unknown(l->file && *l->file ? l->file : NULL), l->line);
    if (l->has_frame_offset) printf("%" PRId64 " ", l->frame_offset);
    else fputs("?? ", stdout);
    if (l->has_size) printf("%" PRIu64 " ", l->size);
    else fputs("?? ", stdout);
    if (l->has_tag_offset) printf("%" PRIu64 "\n", l->tag_offset);
    else fputs("??\n", stdout);
}

void llvm_print_locals(struct llvm_printer *p, const struct llvm_asked *asked, const struct llvm_locals *locals) {
    if (p->style == LLVM_STYLE_JSON) {
        llvm_json_locals(p, asked, locals);
        return;
    }
    put_header(p, asked);
    if (!locals->count) fputs("??\n", stdout);
    for (size_t i = 0; i < locals->count; i++) put_local(&locals->items[i]);
    put_footer(p);
}

void llvm_print_message(const struct llvm_printer *p, const char *about, const char *message) {
    flush_answers();
    if (about && *about) fprintf(stderr, "%s: error: '%s': %s\n", p->program, about, message);
    else fprintf(stderr, "%s: error: %s\n", p->program, message);
}

bool llvm_print_error(struct llvm_printer *p, const struct llvm_asked *asked, const char *message) {
    if (p->style == LLVM_STYLE_JSON) {
        llvm_json_error(p, asked, message);
        return false;
    }
    llvm_print_message(p, asked->module, message);
    return true;
}
