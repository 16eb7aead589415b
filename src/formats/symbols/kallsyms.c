/* The kernel's list of symbols: /proc/kallsyms, and System.map, which is the same without modules. nm (binutils, LLVM) prints
 * any program's symbols so; its lists may have sizes (-S), symbols that the program only uses, and names with spaces (-C). */
#include <stdlib.h>

#include "base/core/fail.h"
#include "formats/symbols/symbols_text.h"
#include "formats/symbols/text_lines.h"

enum { KERNEL = 0, PAGE = 4096 };

struct symbol {
    uint64_t addr, size;   /* size 0: not told */
    struct csn_str name, module;
    char type;
};

/* A symbol of any type: it ends the one before. */
struct place {
    uint64_t addr, size;
    const char *name;
    uint32_t name_len;
    uint32_t module;   /* KERNEL; others count up whenever the name changes */
    uint64_t line;
    char type;
};

struct kallsyms {
    struct csni_batch_writer *writer;
    CSNI_VEC(struct place) places;
    struct csn_str module_name;
    uint32_t module, modules;
    uint64_t symbols, at_zero;
};

static bool is_type(struct csn_str field) {
    char letter = field.len == 1 ? (char)(field.ptr[0] | 0x20) : 0;
    return letter >= 'a' && letter <= 'z';
}

/* The kernel and nm write numbers in full width, which tells their lists from a map with sizes of one digit. */
static bool is_full_width(struct csn_str number) { return number.len == 8 || number.len == 16; }

/* [MODULE], whether a tab or a space is before it. */
static bool is_module(struct csn_str text) { return text.len > 2 && text.ptr[0] == '[' && text.ptr[text.len - 1] == ']'; }

static struct csn_str trim_end(struct csn_str text) {
    while (text.len && csni_is_blank(text.ptr[text.len - 1])) text.len--;
    return text;
}

/* NAME, and after a tab or a space [MODULE]. A place of the source may follow the tab instead (nm -l). */
static void read_name(struct csn_str text, struct symbol *out) {
    const char *tab = memchr(text.ptr, '\t', text.len);
    struct csn_str name = trim_end((struct csn_str){ text.ptr, tab ? (size_t)(tab - text.ptr) : text.len }), last;
    size_t word = name.len;
    while (word && !csni_is_blank(name.ptr[word - 1])) word--;
    last = (struct csn_str){ name.ptr + word, name.len - word };
    if (tab) {
        last = (struct csn_str){ tab, text.len - (size_t)(tab - text.ptr) };
        csni_skip_blanks(&last);
        last = csni_line_field(&last);
    }
    const bool has_module = is_module(last) && last.ptr != name.ptr;
    if (has_module && !tab) name = trim_end((struct csn_str){ name.ptr, word });
    out->name = csni_text_name(name);
    out->module = has_module ? last : (struct csn_str){ NULL, 0 };
}

/* ADDRESS [SIZE] TYPE NAME. */
static bool read_kallsyms_line(struct csn_str line, struct symbol *out) {
    struct csn_str addr = csni_line_field(&line), type = csni_line_field(&line);
    out->size = 0;
    if (is_full_width(type) && csni_text_hex(type, &out->size)) type = csni_line_field(&line);
    if (!is_type(type) || !line.len || !csni_text_hex(addr, &out->addr)) return false;
    out->type = type.ptr[0];
    read_name(line, out);
    return out->name.len && out->name.len <= UINT32_MAX;
}

/* A symbol that nm's program uses and another has: TYPE NAME, indented. */
static bool is_undefined(struct csn_str line) {
    struct csn_str rest = line;
    csni_skip_blanks(&rest);
    return rest.len < line.len && is_type(csni_line_field(&rest)) && rest.len;
}

static bool is_line(struct csn_str line) {
    struct symbol symbol;
    struct csn_str rest = line, addr = csni_line_field(&rest);
    return is_undefined(line) || (is_full_width(addr) && read_kallsyms_line(line, &symbol));
}

/* What a program uses comes first where its symbols are in order of their addresses (nm -n). */
bool csni_kallsyms_recognize(struct csni_span file) {
    struct csni_lines lines = { file, 0 };
    struct csni_span rest = file;
    struct csn_str line;
    while (csni_lines_next(&lines, &line) && is_undefined(line)) rest = lines.rest;
    return csni_lines_look_like(rest, is_line);
}

static bool is_function(char type) { return type == 't' || type == 'T' || type == 'w' || type == 'W'; }

static uint32_t module_of(struct kallsyms *k, struct csn_str name) {
    if (!name.len) return KERNEL;
    if (!k->module || !csni_str_equal(name, k->module_name)) {
        k->module_name = name;
        k->module = ++k->modules;
    }
    return k->module;
}

static csn_status add_kallsyms_symbol(struct kallsyms *k, const struct symbol *s, uint64_t line,
                                      struct csn_error *err) {
    k->symbols++;
    if (!s->addr) k->at_zero++;
    if (s->name.ptr[0] == '$') return CSN_OK; /* Arm marks code and data within functions so */
    struct place place = { s->addr, s->size, s->name.ptr, (uint32_t)s->name.len, module_of(k, s->module), line, s->type };
    return csni_vec_push(&k->places, place) ? CSN_OK : csni_fail_memory(err, sizeof place);
}

static uint32_t underscores(const struct place *p) {
    uint32_t n = 0;
    while (n < p->name_len && p->name[n] == '_') n++;
    return n;
}

/* By address; of several names for one function the one that people know comes last, as it is the one that is kept: strong
 * before weak, global before local, few underscores in front. */
static int place_by_addr(const void *pa, const void *pb) {
    const struct place *a = pa, *b = pb;
    if (a->addr != b->addr) return a->addr < b->addr ? -1 : 1;
    bool weak_a = (a->type | 0x20) == 'w', weak_b = (b->type | 0x20) == 'w';
    if (weak_a != weak_b) return weak_a ? -1 : 1;
    bool global_a = a->type < 'a', global_b = b->type < 'a';
    if (global_a != global_b) return global_b ? -1 : 1;
    uint32_t under_a = underscores(a), under_b = underscores(b);
    if (under_a != under_b) return under_a > under_b ? -1 : 1;
    return a->line < b->line ? -1 : a->line > b->line;
}

/* The size of `place`, which the symbol at `next` follows: up to there, unless that belongs to another module; then up to the
 * end of the page, as far as the other leaves room. */
static uint64_t size_of(const struct place *place, const struct place *next) {
    if (place->size) return place->size;
    uint64_t page_end = (place->addr | (PAGE - 1)) == UINT64_MAX ? UINT64_MAX : (place->addr | (PAGE - 1)) + 1;
    bool is_up_to_next = next && (next->module == place->module || next->addr < page_end);
    return (is_up_to_next ? next->addr : page_end) - place->addr;
}

static void add_kallsyms_functions(struct kallsyms *k) {
    struct place *places = k->places.items;
    size_t count = k->places.count, next = 0;
    if (count) qsort(places, count, sizeof *places, place_by_addr);
    for (size_t i = 0; i < count; i++) {
        if (next <= i) next = i + 1;
        while (next < count && places[next].addr == places[i].addr) next++;
        if (!is_function(places[i].type)) continue;
        uint64_t size = size_of(&places[i], next < count ? &places[next] : NULL);
        uint32_t name = csni_batch_add_string(k->writer, (struct csn_str){ places[i].name, places[i].name_len });
        csni_batch_begin_function(k->writer, places[i].addr, size < UINT32_MAX ? (uint32_t)size : UINT32_MAX, name,
                                  CSNI_SOURCE_SYMBOL);
    }
}

static csn_status read_kallsyms_symbols(struct kallsyms *k, struct csni_span file, struct csn_error *err) {
    struct csni_lines lines = { file, 0 };
    struct csn_str line;
    while (csni_lines_next(&lines, &line)) {
        struct symbol symbol;
        if (!line.len || is_undefined(line)) continue;
        if (read_kallsyms_line(line, &symbol)) CSNI_TRY(add_kallsyms_symbol(k, &symbol, lines.number, err));
        else csni_note_line(k->writer, lines.number, line, "no address, type and name");
    }
    if (k->at_zero && k->at_zero == k->symbols)
        return csni_fail(err, CSN_E_UNSUPPORTED, NULL, 0,
                         "all %llu addresses are 0: the kernel hides them (kernel.kptr_restrict); read the list as root",
                         (unsigned long long)k->at_zero);
    add_kallsyms_functions(k);
    return CSN_OK;
}

csn_status csni_kallsyms_read(struct csni_span file, const struct csn_allocator *alloc, struct csni_batch_writer *w,
                              struct csn_error *err) {
    struct kallsyms k = { .writer = w };
    k.places.alloc = alloc;
    csn_status status = read_kallsyms_symbols(&k, file, err);
    csni_vec_deinit(&k.places);
    return status;
}
