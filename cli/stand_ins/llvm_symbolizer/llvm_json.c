/* The style JSON: keys in alphabetical order, no blanks. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stand_ins/base/growth.h"
#include "stand_ins/llvm_symbolizer/llvm_printer.h"
#include "ui/cli_message.h"

/* What is being written: one object, or the list of all. */
static struct grown_text text;

static void add_bytes(const void *bytes, size_t size) { grow_text(&text, bytes, size); }
static void add(const char *given) { add_bytes(given, strlen(given)); }
static void add_char(char c) { add_bytes(&c, 1); }

/* Numbers, with what is around them. */
CLI_PRINTF(1, 2) static void add_number(const char *format, ...) {
    char made[64];
    va_list args;
    va_start(args, format);
    vsnprintf(made, sizeof made, format, args);
    va_end(args);
    add(made);
}

/* How many bytes the character at `p` has; 0: it is not valid UTF-8. */
static size_t utf8_size(const unsigned char *p) {
    size_t size = p[0] < 0x80 ? 1 : p[0] >= 0xc2 && p[0] < 0xe0 ? 2 : p[0] >= 0xe0 && p[0] < 0xf0 ? 3 :
                  p[0] >= 0xf0 && p[0] < 0xf5 ? 4 : 0;
    for (size_t i = 1; i < size; i++)
        if ((p[i] & 0xc0) != 0x80) return 0;
    if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] >= 0xa0) || (p[0] == 0xf0 && p[1] < 0x90) ||
        (p[0] == 0xf4 && p[1] >= 0x90))
        return 0;
    return size;
}

static void put_text(const char *given) {
    const unsigned char *p = (const unsigned char *)(given ? given : "");
    add_char('"');
    while (*p) {
        size_t size = utf8_size(p);
        if (!size) {
            add("\xef\xbf\xbd");
            p++;
            continue;
        }
        if (*p == '"' || *p == '\\') add_number("\\%c", *p);
        else if (*p == '\t') add("\\t");
        else if (*p == '\n') add("\\n");
        else if (*p == '\r') add("\\r");
        else if (*p < 0x20) add_number("\\u%04x", *p);
        else add_bytes(p, size);
        p += size;
    }
    add_char('"');
}

static void put_key(const char *key) {
    add_char('"');
    add(key);
    add("\":");
}

static void put_hex(uint64_t value) { add_number("\"0x%" PRIx64 "\"", value); }

static void put_hex_or_empty(bool known, uint64_t value) {
    if (known) put_hex(value);
    else add("\"\"");
}

/* ---- from text to output ---- */

static void begin_text(void) { text.count = 0; }

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
    add_char(0);
    if (p->pretty) put_indented(text.items);
    else fputs(text.items, stdout);
    fputc('\n', stdout);
}

static void begin_item(struct llvm_printer *p) {
    if (!p->in_list) begin_text();
    if (p->in_list && p->list_has_item) add_char(',');
    p->list_has_item = true;
    add_char('{');
}

static void end_item(const struct llvm_printer *p) {
    add_char('}');
    if (!p->in_list) end_text(p);
}

void llvm_list_begin(struct llvm_printer *p) {
    if (p->style != LLVM_STYLE_JSON) return;
    begin_text();
    p->in_list = true;
    add_char('[');
}

void llvm_list_end(struct llvm_printer *p) {
    if (p->style != LLVM_STYLE_JSON) return;
    add_char(']');
    end_text(p);
    p->in_list = false;
}

static void put_address(const struct llvm_asked *asked) {
    if (!asked->has_addr) return;
    put_key("Address");
    put_hex(asked->addr);
    add_char(',');
}

static void put_module(const struct llvm_asked *asked) {
    put_key("ModuleName");
    put_text(asked->module);
}

static void put_symbol(const struct llvm_asked *asked) {
    if (!asked->symbol) return;
    add(",\"SymName\":");
    put_text(asked->symbol);
}

/* context_lines: of source; 0: none. */
static void put_frame(const struct llvm_frame *f, int64_t context_lines) {
    add_char('{');
    if (f->is_approximate) add("\"Approximate\":true,");
    add_number("\"Column\":%u,\"Discriminator\":%u,", f->column, f->discriminator);
    put_key("FileName");
    put_text(f->file);
    add_char(',');
    put_key("FunctionName");
    put_text(f->function);
    add_number(",\"Line\":%u,", f->line);
    char *context = llvm_source_context(f->file ? f->file : LLVM_INVALID, f->line, context_lines);
    if (context && *context) {
        put_key("Source");
        put_text(context);
        add_char(',');
    }
    free(context);
    put_key("StartAddress");
    put_hex_or_empty(f->has_start_address, f->start_address);
    add_char(',');
    put_key("StartFileName");
    put_text(f->start_file && strcmp(f->start_file, LLVM_INVALID) != 0 ? f->start_file : NULL);
    add_number(",\"StartLine\":%u}", f->start_line);
}

void llvm_json_frames(struct llvm_printer *p, const struct llvm_asked *asked, const struct llvm_frames *frames, const char *key) {
    bool is_symbol = strcmp(key, "Symbol") == 0;
    begin_item(p);
    put_address(asked);
    if (!is_symbol) {
        put_key(key);
        add_char('[');
        for (size_t i = 0; i < frames->count; i++) {
            if (i) add_char(',');
            put_frame(&frames->items[i], 0); /* LLVM shows no source of places of symbols */
        }
        add("],");
    }
    put_module(asked);
    if (is_symbol) {
        add(",\"Symbol\":[");
        for (size_t i = 0; i < frames->count; i++) {
            if (i) add_char(',');
            put_frame(&frames->items[i], p->context_lines);
        }
        add_char(']');
    } else {
        put_symbol(asked);
    }
    end_item(p);
}

void llvm_json_global(struct llvm_printer *p, const struct llvm_asked *asked, const struct llvm_global *g) {
    begin_item(p);
    put_address(asked);
    add("\"Data\":{\"Name\":");
    put_text(g->name);
    add(",\"Size\":");
    put_hex(g->size);
    add(",\"Start\":");
    put_hex(g->start);
    add("},");
    put_module(asked);
    put_symbol(asked);
    end_item(p);
}

static void put_local(const struct llvm_local *l) {
    add("{\"DeclFile\":");
    put_text(l->file);
    add_number(",\"DeclLine\":%" PRIu64 ",", l->line);
    if (l->has_frame_offset) add_number("\"FrameOffset\":%" PRId64 ",", l->frame_offset);
    put_key("FunctionName");
    put_text(l->function);
    add(",\"Name\":");
    put_text(l->name);
    add(",\"Size\":");
    put_hex_or_empty(l->has_size, l->size);
    add(",\"TagOffset\":");
    put_hex_or_empty(l->has_tag_offset, l->tag_offset);
    add_char('}');
}

void llvm_json_locals(struct llvm_printer *p, const struct llvm_asked *asked, const struct llvm_locals *locals) {
    begin_item(p);
    put_address(asked);
    add("\"Frame\":[");
    for (size_t i = 0; i < locals->count; i++) {
        if (i) add_char(',');
        put_local(&locals->items[i]);
    }
    add("],");
    put_module(asked);
    put_symbol(asked);
    end_item(p);
}

void llvm_json_error(struct llvm_printer *p, const struct llvm_asked *asked, const char *message) {
    begin_item(p);
    put_address(asked);
    add("\"Error\":{\"Message\":");
    put_text(message);
    add("},");
    put_module(asked);
    put_symbol(asked);
    end_item(p);
}
