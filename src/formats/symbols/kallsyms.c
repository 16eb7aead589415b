/* The kernel's list of symbols: /proc/kallsyms, and System.map, which is the same without modules. nm (binutils, LLVM) prints
 * any program's symbols so; its lists may have sizes (-S), symbols that the program only uses, and names with spaces (-C). */
#include <stdlib.h>

#include "base/core/fail.h"
#include "base/core/image_base.h"
#include "base/hex.h"
#include "formats/symbols/symbols_text.h"
#include "formats/symbols/text_lines.h"

enum { KERNEL = 0, PAGE = 4096 };

struct symbol {
    uint64_t addr, size;
    struct csn_str name, module;
    char type;
    bool has_size;
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
    uint64_t symbols, at_zero, functions;
    bool is_of_program;   /* it has what the kernel's list has not: sizes, or symbols that are only used */
    bool is_of_windows;   /* sections and import tables have symbols, too */
    bool has_thumb;       /* functions of Thumb code, whose symbols may have bit 0 set */
    uint64_t first_byte;  /* of the image, as a linker's symbol tells; UINT64_MAX: none does */
    uint64_t lowest_data; /* the first symbol of data that is only read; UINT64_MAX: there is none */
};

/* nm has '-' for debug symbols, and '?' for what it does not know. */
static bool is_type(struct csn_str field) {
    char letter = field.len == 1 ? (char)(field.ptr[0] | 0x20) : 0;
    return (letter >= 'a' && letter <= 'z') || csni_str_is(field, "?") || csni_str_is(field, "-");
}

/* The kernel and nm write numbers in full width, which tells their lists from a map with sizes of one digit. */
static bool is_full_width(struct csn_str number) { return number.len == 8 || number.len == 16; }

/* llvm-nm's 8 digits are more where an address needs them: then a size tells the line, or a type that is no digit. */
static bool is_address(struct csn_str number, const struct symbol *symbol) {
    const bool is_wider = number.len > 8 && number.len < 16;
    return is_full_width(number) || (is_wider && (symbol->has_size || csni_hex_digit(symbol->type) > 15));
}

/* [MODULE], whether a tab or a space is before it. */
static bool is_module(struct csn_str text) { return text.len > 2 && text.ptr[0] == '[' && text.ptr[text.len - 1] == ']'; }

static struct csn_str trim_end(struct csn_str text) {
    while (text.len && csni_is_blank(text.ptr[text.len - 1])) text.len--;
    return text;
}

static bool is_name_char(char c) {
    const char letter = (char)(c | 0x20);
    return (letter >= 'a' && letter <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
}

/* nm -D shows versions, "qsort@@GLIBC_2.2.5", as no symbol is called. "@f@8" and "_f@8" are names of Windows, as is "?f@@YAXXZ". */
static struct csn_str without_version(struct csn_str name) {
    size_t at = name.len;
    while (at && is_name_char(name.ptr[at - 1])) at--;
    const bool has_version = at > 1 && at < name.len && name.ptr[at - 1] == '@' && !strchr("?@", name.ptr[0]) &&
                             !(name.ptr[at] >= '0' && name.ptr[at] <= '9');
    if (!has_version) return name;
    at -= name.ptr[at - 2] == '@' ? 2 : 1;
    return at ? (struct csn_str){ name.ptr, at } : name;
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
    const struct csn_str rest = trim_end((struct csn_str){ name.ptr, word });
    /* nm -C has names such as "int (&f(int)) [3]". */
    const bool is_one_word = rest.len && !memchr(rest.ptr, ' ', rest.len) && !memchr(rest.ptr, '(', rest.len);
    const bool has_module = is_module(last) && (tab || is_one_word);
    if (has_module && !tab) name = rest;
    out->name = csni_text_name(name);
    out->module = has_module ? last : (struct csn_str){ NULL, 0 };
}

/* nm has 'i' for functions that others are chosen by (STT_GNU_IFUNC), and in programs of Windows for their imports. */
enum { CHOOSER = 'i' };

static bool is_function(char type) { return type == 't' || type == 'T' || type == 'w' || type == 'W' || type == CHOOSER; }

/* ADDRESS [SIZE] TYPE NAME; names of files may be empty. */
static bool read_kallsyms_line(struct csn_str line, struct symbol *out) {
    struct csn_str addr = csni_line_field(&line), type = csni_line_field(&line);
    out->size = 0;
    out->has_size = is_full_width(type) && csni_text_hex(type, &out->size);
    if (out->has_size) type = csni_line_field(&line);
    if (!is_type(type) || !csni_text_hex(addr, &out->addr)) return false;
    out->type = type.ptr[0];
    out->name = out->module = (struct csn_str){ NULL, 0 };
    if (line.len) read_name(line, out);
    if (is_function(out->type)) out->name = without_version(out->name);
    return (out->name.len || !is_function(out->type)) && out->name.len <= UINT32_MAX;
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
    return is_undefined(line) || (read_kallsyms_line(line, &symbol) && is_address(addr, &symbol));
}

/* Of llvm-nm, or of a perf map, where "b" is a size. */
static bool is_of_either(struct csn_str line) {
    struct symbol symbol;
    struct csn_str rest = line, addr = csni_line_field(&rest);
    return !is_line(line) && read_kallsyms_line(line, &symbol) && addr.len > 8 && addr.len < 16;
}

static bool may_be_line(struct csn_str line) { return is_line(line) || is_of_either(line); }

/* What a program uses comes first where its symbols are in order of their addresses (nm -n). The first line that tells decides. */
bool csni_kallsyms_recognize(struct csni_span file) {
    struct csni_lines lines = { file, 0 };
    struct csni_span rest = file;
    struct csn_str line;
    while (csni_lines_next(&lines, &line) && (is_undefined(line) || is_of_either(line))) rest = lines.rest;
    return csni_lines_look_like(rest, may_be_line);
}

static uint32_t module_of(struct kallsyms *k, struct csn_str name) {
    if (!name.len) return KERNEL;
    if (!k->module || !csni_str_equal(name, k->module_name)) {
        k->module_name = name;
        k->module = ++k->modules;
    }
    return k->module;
}

/* Symbols that linkers put at the image's first byte: for PE, ELF and Mach-O. */
static bool is_first_byte(struct csn_str name) {
    static const char *const names[] = { "__ImageBase", "___ImageBase", "__image_base__", "___image_base__", "__executable_start",
                                         "__ehdr_start", "__mh_execute_header", "__mh_dylib_header", "__mh_bundle_header" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (csni_str_is(name, names[i])) return true;
    return false;
}

static csn_status add_kallsyms_symbol(struct kallsyms *k, const struct symbol *s, uint64_t line,
                                      struct csn_error *err) {
    k->symbols++;
    k->functions += is_function(s->type) && !csni_str_starts(s->name, "."); /* which nm -a has for sections */
    if (!s->addr) k->at_zero++;
    k->is_of_program |= s->size > 0;
    k->has_thumb |= csni_str_starts(s->name, "$t");
    if (!s->name.len || s->name.ptr[0] == '$') return CSN_OK; /* Arm marks code and data within functions so */
    k->is_of_windows |= s->type == 'I' || csni_str_starts(s->name, ".idata$");
    const bool is_header = is_first_byte(s->name);
    if (is_header) k->first_byte = s->addr;
    if ((s->type | 0x20) == 'r' && s->addr < k->lowest_data) k->lowest_data = s->addr;
    struct place place = { s->addr, s->size, s->name.ptr, (uint32_t)s->name.len, module_of(k, s->module), line,
                           is_header ? 'r' : s->type };
    return csni_vec_push(&k->places, place) ? CSN_OK : csni_fail_memory(err, sizeof place);
}

/* Of a section, ".text", or of a linker, ".l_startw": in programs of Windows. */
static bool is_no_name(const struct place *p) { return p->name[0] == '.'; }

static uint32_t underscores(const struct place *p) {
    uint32_t n = 0;
    while (n < p->name_len && p->name[n] == '_') n++;
    return n;
}

/* By address; of several names for one function the one that people know comes last, as it is the one that is kept: with a size
 * before without, names before those of sections, strong before weak, global before local, few underscores in front. */
static int place_by_addr(const void *pa, const void *pb) {
    const struct place *a = pa, *b = pb;
    if (a->addr != b->addr) return a->addr < b->addr ? -1 : 1;
    if (!a->size != !b->size) return a->size ? 1 : -1;
    if (is_no_name(a) != is_no_name(b)) return is_no_name(a) ? -1 : 1;
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

/* The symbol with the size comes last; the others are names of the same. */
static void add_kallsyms_functions(struct kallsyms *k) {
    struct place *places = k->places.items;
    size_t count = k->places.count, next = 0;
    for (size_t i = 0; i < count && k->has_thumb; i++)
        if (is_function(places[i].type)) places[i].addr &= ~(uint64_t)1;
    if (count) qsort(places, count, sizeof *places, place_by_addr);
    for (size_t i = 0; i < count; i++) {
        if (next <= i) next = i + 1;
        while (next < count && places[next].addr == places[i].addr) next++;
        if (!is_function(places[i].type)) continue;
        const struct place *last = &places[next - 1];
        const struct place *sized = !places[i].size && is_function(last->type) ? last : &places[i];
        uint64_t size = size_of(sized, next < count ? &places[next] : NULL);
        if (sized->size) size = csni_batch_clip_size(k->writer, sized->line, sized->addr, size);
        uint32_t name = csni_batch_add_string(k->writer, (struct csn_str){ places[i].name, places[i].name_len });
        csni_batch_begin_function(k->writer, places[i].addr, size < UINT32_MAX ? (uint32_t)size : UINT32_MAX, name,
                                  CSNI_SOURCE_SYMBOL);
    }
}

/* Neither imports nor sections of Windows are functions; nor do local labels in one end it. */
static void drop_windows_symbols(struct kallsyms *k) {
    size_t kept = 0;
    for (size_t i = 0; i < k->places.count; i++) {
        struct place place = k->places.items[i];
        if (is_no_name(&place) && is_function(place.type)) continue;
        if (place.type == CHOOSER) place.type = 'r';
        k->places.items[kept++] = place;
    }
    k->places.count = kept;
}

static csn_status read_kallsyms_symbols(struct kallsyms *k, struct csni_span file, struct csn_error *err) {
    struct csni_lines lines = { file, 0 };
    struct csn_str line;
    while (csni_lines_next(&lines, &line)) {
        struct symbol symbol;
        const bool is_used_only = is_undefined(line);
        k->is_of_program |= is_used_only;
        if (!line.len || is_used_only) continue;
        if (read_kallsyms_line(line, &symbol)) CSNI_TRY(add_kallsyms_symbol(k, &symbol, lines.number, err));
        else csni_note_line(k->writer, lines.number, line, "no address, type and name");
    }
    if (k->functions > 1 && k->at_zero == k->symbols && !k->is_of_program)
        return csni_fail(err, CSN_E_UNSUPPORTED, NULL, 0,
                         "all %llu addresses are 0: the kernel hides them (kernel.kptr_restrict); read the list as root "
                         "(an object file's functions may all be at 0: give the file itself)",
                         (unsigned long long)k->at_zero);
    if (k->is_of_windows) drop_windows_symbols(k);
    add_kallsyms_functions(k);
    return CSN_OK;
}

/* Where the image begins. Data that is only read, before the first function, is close behind its headers. */
static bool find_image_base(const struct kallsyms *k, uint64_t *out) {
    uint64_t first_function = UINT64_MAX;
    for (size_t i = 0; i < k->places.count && first_function == UINT64_MAX; i++)
        if (is_function(k->places.items[i].type)) first_function = k->places.items[i].addr;
    if (first_function == UINT64_MAX || first_function >> 63) return false; /* a kernel begins with a function */
    if (k->first_byte <= first_function) *out = k->first_byte;
    else if (k->lowest_data < first_function) *out = csni_guess_image_base(k->lowest_data);
    else return false;
    return true;
}

csn_status csni_kallsyms_read(struct csni_span file, const struct csn_allocator *alloc, struct csni_batch_writer *w,
                              struct csni_list_base *base, struct csn_error *err) {
    struct kallsyms k = { .writer = w, .first_byte = UINT64_MAX, .lowest_data = UINT64_MAX };
    k.places.alloc = alloc;
    csn_status status = read_kallsyms_symbols(&k, file, err);
    base->is_known = status == CSN_OK && find_image_base(&k, &base->address);
    csni_vec_deinit(&k.places);
    return status;
}
