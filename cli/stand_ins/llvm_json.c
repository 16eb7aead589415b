/* The style JSON: keys in alphabetical order, no blanks. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stand_ins/llvm_printer.h"

/* What is being written: one object, or the list of all. */
static FILE *text_out;
static char *text;
static size_t text_size;

/* How many bytes the character at `p` has; 0: it is not valid UTF-8. */
static size_t utf8_size(const unsigned char *p) {
    size_t size = p[0] < 0x80 ? 1 : p[0] >= 0xc2 && p[0] < 0xe0 ? 2 : p[0] >= 0xe0 && p[0] < 0xf0 ? 3 : p[0] >= 0xf0 && p[0] < 0xf5 ? 4 : 0;
    for (size_t i = 1; i < size; i++)
        if ((p[i] & 0xc0) != 0x80) return 0;
    if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] >= 0xa0) || (p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] >= 0x90)) return 0;
    return size;
}

static void put_text(const char *given) {
    const unsigned char *p = (const unsigned char *)(given ? given : "");
    fputc('"', text_out);
    while (*p) {
        size_t size = utf8_size(p);
        if (!size) {
            fputs("\xef\xbf\xbd", text_out);
            p++;
            continue;
        }
        if (*p == '"' || *p == '\\') fprintf(text_out, "\\%c", *p);
        else if (*p == '\t') fputs("\\t", text_out);
        else if (*p == '\n') fputs("\\n", text_out);
        else if (*p == '\r') fputs("\\r", text_out);
        else if (*p < 0x20) fprintf(text_out, "\\u%04x", *p);
        else fwrite(p, 1, size, text_out);
        p += size;
    }
    fputc('"', text_out);
}

static void put_key(const char *key) { fprintf(text_out, "\"%s\":", key); }
static void put_hex(uint64_t value) { fprintf(text_out, "\"0x%" PRIx64 "\"", value); }

static void put_hex_or_empty(bool known, uint64_t value) {
    if (known) put_hex(value);
    else fputs("\"\"", text_out);
}

/* ---- from text to output ---- */

static void begin_text(void) {
    text_out = open_memstream(&text, &text_size);
    if (text_out) return;
    fputs("callsign: out of memory\n", stderr);
    exit(1);
}

/* JSON without blanks, written with a line for each member and element. */
static void put_indented(const char *p) {
    int depth = 0;
    bool in_text = false;
    for (; *p; p++) {
        char c = *p;
        bool opens = !in_text && (c == '{' || c == '['), closes = !in_text && (c == '}' || c == ']');
        bool is_empty = (opens && (p[1] == '}' || p[1] == ']')) || (closes && (p[-1] == '{' || p[-1] == '['));
        if (closes && !is_empty) printf("\n%*s", 2 * (depth - 1), "");
        fputc(c, stdout);
        depth += opens - closes;
        if (opens && !is_empty) printf("\n%*s", 2 * depth, "");
        else if (!in_text && c == ',') printf("\n%*s", 2 * depth, "");
        else if (!in_text && c == ':') fputc(' ', stdout);
        if (c == '"') in_text = !in_text;
        else if (in_text && c == '\\') fputc(*++p, stdout);
    }
}

static void end_text(const struct llvm_printer *p) {
    fclose(text_out);
    if (p->pretty) put_indented(text);
    else fputs(text, stdout);
    fputc('\n', stdout);
    free(text);
}

static void begin_item(struct llvm_printer *p) {
    if (!p->in_list) begin_text();
    if (p->in_list && p->list_has_item) fputc(',', text_out);
    p->list_has_item = true;
    fputc('{', text_out);
}

static void end_item(const struct llvm_printer *p) {
    fputc('}', text_out);
    if (!p->in_list) end_text(p);
}

void llvm_list_begin(struct llvm_printer *p) {
    if (p->style != LLVM_STYLE_JSON) return;
    begin_text();
    p->in_list = true;
    fputc('[', text_out);
}

void llvm_list_end(struct llvm_printer *p) {
    if (p->style != LLVM_STYLE_JSON) return;
    fputc(']', text_out);
    end_text(p);
    p->in_list = false;
}

static void put_address(const struct llvm_asked *asked) {
    if (!asked->has_addr) return;
    put_key("Address");
    put_hex(asked->addr);
    fputc(',', text_out);
}

static void put_module(const struct llvm_asked *asked) {
    put_key("ModuleName");
    put_text(asked->module);
}

static void put_symbol(const struct llvm_asked *asked) {
    if (!asked->symbol) return;
    fputs(",\"SymName\":", text_out);
    put_text(asked->symbol);
}

/* context_lines: of source; 0: none. */
static void put_frame(const struct llvm_frame *f, int64_t context_lines) {
    fputc('{', text_out);
    if (f->is_approximate) fputs("\"Approximate\":true,", text_out);
    fprintf(text_out, "\"Column\":%u,\"Discriminator\":%u,", f->column, f->discriminator);
    put_key("FileName");
    put_text(f->file);
    fputc(',', text_out);
    put_key("FunctionName");
    put_text(f->function);
    fprintf(text_out, ",\"Line\":%u,", f->line);
    char *context = llvm_source_context(f->file ? f->file : LLVM_INVALID, f->line, context_lines);
    if (context && *context) {
        put_key("Source");
        put_text(context);
        fputc(',', text_out);
    }
    free(context);
    put_key("StartAddress");
    put_hex_or_empty(f->has_start_address, f->start_address);
    fputc(',', text_out);
    put_key("StartFileName");
    put_text(f->start_file && strcmp(f->start_file, LLVM_INVALID) != 0 ? f->start_file : NULL);
    fprintf(text_out, ",\"StartLine\":%u}", f->start_line);
}

void llvm_json_frames(struct llvm_printer *p, const struct llvm_asked *asked, const struct llvm_frames *frames, const char *key) {
    bool is_symbol = strcmp(key, "Symbol") == 0;
    begin_item(p);
    put_address(asked);
    if (!is_symbol) {
        put_key(key);
        fputc('[', text_out);
        for (size_t i = 0; i < frames->count; i++) {
            if (i) fputc(',', text_out);
            put_frame(&frames->items[i], 0); /* LLVM shows no source of places of symbols */
        }
        fputs("],", text_out);
    }
    put_module(asked);
    if (is_symbol) {
        fputs(",\"Symbol\":[", text_out);
        for (size_t i = 0; i < frames->count; i++) {
            if (i) fputc(',', text_out);
            put_frame(&frames->items[i], p->context_lines);
        }
        fputc(']', text_out);
    } else {
        put_symbol(asked);
    }
    end_item(p);
}

void llvm_json_global(struct llvm_printer *p, const struct llvm_asked *asked, const struct llvm_global *g) {
    begin_item(p);
    put_address(asked);
    fputs("\"Data\":{\"Name\":", text_out);
    put_text(g->name);
    fputs(",\"Size\":", text_out);
    put_hex(g->size);
    fputs(",\"Start\":", text_out);
    put_hex(g->start);
    fputs("},", text_out);
    put_module(asked);
    put_symbol(asked);
    end_item(p);
}

static void put_local(const struct llvm_local *l) {
    fputs("{\"DeclFile\":", text_out);
    put_text(l->file);
    fprintf(text_out, ",\"DeclLine\":%" PRIu64 ",", l->line);
    if (l->has_frame_offset) fprintf(text_out, "\"FrameOffset\":%" PRId64 ",", l->frame_offset);
    put_key("FunctionName");
    put_text(l->function);
    fputs(",\"Name\":", text_out);
    put_text(l->name);
    fputs(",\"Size\":", text_out);
    put_hex_or_empty(l->has_size, l->size);
    fputs(",\"TagOffset\":", text_out);
    put_hex_or_empty(l->has_tag_offset, l->tag_offset);
    fputc('}', text_out);
}

void llvm_json_locals(struct llvm_printer *p, const struct llvm_asked *asked, const struct llvm_locals *locals) {
    begin_item(p);
    put_address(asked);
    fputs("\"Frame\":[", text_out);
    for (size_t i = 0; i < locals->count; i++) {
        if (i) fputc(',', text_out);
        put_local(&locals->items[i]);
    }
    fputs("],", text_out);
    put_module(asked);
    put_symbol(asked);
    end_item(p);
}

void llvm_json_error(struct llvm_printer *p, const struct llvm_asked *asked, const char *message) {
    begin_item(p);
    put_address(asked);
    fputs("\"Error\":{\"Message\":", text_out);
    put_text(message);
    fputs("},", text_out);
    put_module(asked);
    put_symbol(asked);
    end_item(p);
}
