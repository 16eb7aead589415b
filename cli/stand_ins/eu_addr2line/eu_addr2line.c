/* eu-addr2line of elfutils 0.188: requests and answers. */
#define _GNU_SOURCE
#include "stand_ins/eu_addr2line/eu_addr2line.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "stand_ins/answers/early_answers.h"
#include "stand_ins/answers/kept_answers.h"
#include "stand_ins/answers/recent_answers.h"
#include "stand_ins/base/ahead_input.h"
#include "stand_ins/base/captured_output.h"
#include "stand_ins/base/dwarf_words.h"
#include "stand_ins/base/growth.h"
#include "stand_ins/eu_addr2line/eu_images.h"
#include "stand_ins/eu_addr2line/eu_indexed.h"
#include "stand_ins/eu_addr2line/eu_options.h"
#include "stand_ins/gnu_names/gnu_demangle.h"
#include "stand_ins/libdw/libdw_index.h"
#include "stand_ins/libdw/libdw_names.h"

/* ---- names ---- */

static void put_die_name(const struct eu *e, const struct csn_debug_die *die) {
    const struct csn_str name = libdw_die_name(die);
    eu_put_name(e, name.ptr, name.len);
}

/* ---- functions ---- */

/* Where a call was inlined: " at FILE:LINE:COLUMN". */
static void put_call(const struct eu *e, struct libdw_unit *unit, const struct csn_debug_die *die) {
    bool has_file, has_line, has_column;
    uint64_t file = libdw_die_number(die, DW_AT_call_file, &has_file), line = libdw_die_number(die, DW_AT_call_line, &has_line);
    uint64_t column = libdw_die_number(die, DW_AT_call_column, &has_column);
    if (!has_file) return;
    char *path = libdw_unit_file(unit, file);
    fputs(line ? " at " : " from ", stdout);
    if (path) eu_put_path(e, path, libdw_call_directory(unit));
    else fputs("???", stdout);
    if (line) eu_put_position(line, column);
    free(path);
}

/* False: DWARF has no function there, or only ones that were inlined. */
static bool put_function(const struct eu *e, struct libdw_unit *unit, uint64_t addr) {
    struct libdw_scopes scopes;
    if (!unit || !libdw_find_scopes(unit, addr, &scopes)) return false;
    for (size_t i = 0; i < scopes.count; i++) {
        const struct csn_debug_die *die = &unit->dies.items[scopes.items[i]].die;
        if (die->tag != DW_TAG_subprogram && die->tag != DW_TAG_inlined_subroutine) continue;
        put_die_name(e, die);
        if (die->tag == DW_TAG_subprogram || e->pretty) {
            fputc(eu_separator(e), stdout);
            return true;
        }
        fputs(" inlined", stdout);
        put_call(e, unit, die);
        fputs(" in ", stdout);
    }
    return false;
}

static void put_symbol_name(const struct eu *e, struct libdw_module *m, uint64_t addr) {
    uint64_t offset;
    const struct csn_debug_symbol *symbol = m ? libdw_module_symbol(m, addr, &offset) : NULL;
    if (symbol) eu_put_name(e, symbol->name.ptr, symbol->name.len);
    else fputs("??", stdout);
    fputc(eu_separator(e), stdout);
}

static void put_symbol(const struct eu *e, struct libdw_module *m, uint64_t addr) {
    uint64_t offset;
    struct csn_debug_section section;
    const struct csn_debug_symbol *symbol = m ? libdw_module_symbol(m, addr, &offset) : NULL;
    if (symbol) {
        eu_put_name(e, symbol->name.ptr, symbol->name.len);
        if (offset) printf("+%#" PRIx64, offset);
        if (e->symbol_sections && libdw_module_section(m, addr, &section))
            printf(" (%.*s)", (int)section.name.len, section.name.ptr);
    } else if (m && m->object.kind == CSN_OBJECT_SHARED && !m->is_of_no_kind) {
        printf("()+%#" PRIx64, addr - m->low);
    } else if (m && m->object.kind == CSN_OBJECT_RELOCATABLE && libdw_module_section(m, addr, &section)) {
        printf("(%.*s)+%#" PRIx64, (int)section.name.len, section.name.ptr, addr - section.addr);
    } else {
        fputs("??", stdout);
    }
    fputc(eu_separator(e), stdout);
}

/* ---- lines ---- */

static void put_flags(const struct csn_debug_row *row) {
    if (row->flags & CSN_LINE_STATEMENT) fputs(" (is_stmt)", stdout);
    if (row->flags & CSN_LINE_BASIC_BLOCK) fputs(" (basic_block)", stdout);
    if (row->flags & CSN_LINE_PROLOGUE_END) fputs(" (prologue_end)", stdout);
    if (row->flags & CSN_LINE_EPILOGUE_BEGIN) fputs(" (epilogue_begin)", stdout);
    if (row->discriminator) printf(" (discriminator %u)", row->discriminator);
}

/* *addr becomes that of the row: what follows asks for that. */
static void put_line(const struct eu *e, struct libdw_unit *unit, uint64_t *addr) {
    const struct csn_debug_row *row = unit ? libdw_unit_row(unit, *addr) : NULL;
    char *path = row ? libdw_unit_file(unit, row->file) : NULL;
    if (path) {
        *addr = row->addr;
        eu_put_path(e, path, unit->unit->comp_dir);
        eu_put_position(row->line, row->column);
        if (e->flags) put_flags(row);
        fputc('\n', stdout);
    } else {
        fputs("??:0\n", stdout);
    }
    free(path);
}

static void put_caller(const struct eu *e, struct libdw_unit *unit, uint32_t idx) {
    const struct libdw_die *inlined = &unit->dies.items[idx];
    bool has_file, found;
    if (e->pretty) fputs(" (inlined by) ", stdout);
    if (e->functions) {
        uint32_t at = inlined->parent;
        while (at != LIBDW_NO_PARENT && !libdw_is_function(unit->dies.items[at].die.tag)) at = unit->dies.items[at].parent;
        if (at != LIBDW_NO_PARENT) {
            put_die_name(e, &unit->dies.items[at].die);
            fputs(e->pretty ? " at " : "\n", stdout);
        }
    }
    uint64_t file = libdw_die_number(&inlined->die, DW_AT_call_file, &has_file);
    char *path = has_file ? libdw_unit_file(unit, file) : NULL;
    if (path) {
        eu_put_path(e, path, unit->unit->comp_dir);
        eu_put_position(libdw_die_number(&inlined->die, DW_AT_call_line, &found),
                        libdw_die_number(&inlined->die, DW_AT_call_column, &found));
        fputc('\n', stdout);
    } else {
        fputs("??:0\n", stdout);
    }
    free(path);
}

static int put_callers(const struct eu *e, struct libdw_unit *unit, uint64_t addr) {
    struct libdw_scopes scopes;
    if (!unit) return 1;
    if (!libdw_find_scopes(unit, addr, &scopes)) return 0;
    for (uint32_t at = scopes.items[0]; at != LIBDW_NO_PARENT; at = unit->dies.items[at].parent)
        if (unit->dies.items[at].die.tag == DW_TAG_inlined_subroutine) put_caller(e, unit, at);
    return 0;
}

/* ---- requests ---- */

static void report(const struct eu *e, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void report(const struct eu *e, const char *format, ...) {
    va_list args;
    fflush(stdout);
    fprintf(stderr, "%s: ", e->program);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
}

/* Offsets in a section: only where it can move, so of objects that are not linked. */
static bool adjust_to_section(const struct eu *e, const char *name, uintmax_t *addr) {
    const struct libdw_module *m = e->module;
    if (e->images && e->images->count != 1) {
        report(e, "Section syntax requires exactly one module");
        exit(1);
    }
    for (uint32_t i = 1; m && m->object.kind == CSN_OBJECT_RELOCATABLE && i < m->object.section_count; i++) {
        struct csn_debug_section s;
        if (csn_debug_info_section(m->info, i, &s, NULL) != CSN_OK || !(s.flags & CSN_SECTION_ALLOC)) continue;
        if (s.name.len != strlen(name) || memcmp(s.name.ptr, name, s.name.len) != 0) continue;
        if (*addr >= s.size) report(e, "offset %#" PRIxMAX " lies outside section '%s'", *addr, name);
        *addr += s.addr + e->bias;
        return true;
    }
    return false;
}

static const struct csn_debug_symbol *find_symbol(const struct libdw_module *m, const char *name) {
    size_t size = strlen(name);
    for (size_t i = 0; i < m->symbol_count; i++) {
        const struct csn_debug_symbol *s = &m->symbols[i];
        if (s->kind == CSN_SYMBOL_SECTION || s->kind == CSN_SYMBOL_FILE || s->kind == CSN_SYMBOL_TLS) continue;
        if (s->name.len == size && size && memcmp(s->name.ptr, name, size) == 0) return s;
    }
    return NULL;
}

/* The first one of all files; *bias: what its value is less than the address in the process. NULL: none. */
static const struct csn_debug_symbol *symbol_of_name(const struct eu *e, const char *name, uint64_t *bias) {
    const struct csn_debug_symbol *found = NULL;
    *bias = 0;
    if (!e->images) {
        found = find_symbol(e->module, name);
        if (found && found->is_defined && libdw_symbol_moves(e->module, found)) *bias = e->bias;
        return found;
    }
    for (size_t i = 0; i < e->images->count && !found; i++) {
        struct eu_image *image = &e->images->items[i];
        if (eu_image_open(e->images, image)) found = find_symbol(image->module, name);
        if (found && found->is_defined && libdw_symbol_moves(image->module, found)) *bias = image->bias;
    }
    return found;
}

/* "(SECTION)+OFFSET" or "SYMBOL+OFFSET", with numbers as in C. False: neither. */
static bool read_expression(const struct eu *e, const char *text, uintmax_t *addr) {
    bool parsed = false;
    const char *close = text[0] == '(' ? strchr(text, ')') : NULL;
    char *end, *name;
    if (close && close > text + 1) {
        uintmax_t offset = (uintmax_t)strtoimax(close + 1, &end, 0);
        name = copy_text(text + 1, (size_t)(close - text - 1));
        if (end > close + 1) {
            *addr = offset;
            if (!*end) parsed = adjust_to_section(e, name, addr);
        }
        free(name);
    }
    size_t size = strcspn(text, "-+");
    if (!size) return parsed;
    intmax_t offset = strtoimax(text + size, &end, 0);
    if (end == text + size + 2 && end[-1] == '0' && (*end == 'x' || *end == 'X')) end++; /* "+0x" is 0 for scanf() */
    if (*end) return parsed;
    if (end == text + size && text[size]) return parsed;
    name = copy_text(text, size);
    uint64_t bias;
    const struct csn_debug_symbol *symbol = symbol_of_name(e, name, &bias);
    if (symbol) {
        if (symbol->size && (uintmax_t)offset >= symbol->size)
            report(e, "offset %#" PRIxMAX " lies outside contents of '%s'", (uintmax_t)offset, name);
        *addr = (uintmax_t)offset + libdw_symbol_value(symbol) + bias;
        parsed = true;
    } else {
        report(e, "cannot find symbol '%s'", name);
        if (parsed) *addr = (uintmax_t)offset;
    }
    free(name);
    return parsed;
}

static int answer(struct eu *e, const char *text) {
    char *end;
    uintmax_t addr = strtoumax(text, &end, 16);
    if (end == text || *end) {
        if (!read_expression(e, text, &addr)) return 1;
    } else if (e->section && !adjust_to_section(e, e->section, &addr)) {
        return 1;
    }
    uint64_t place = addr - e->bias;
    struct libdw_module *m = !e->images && libdw_module_contains(e->module, place) ? e->module : NULL;
    const struct eu_image *image = e->images ? eu_images_find(e->images, addr) : NULL;
    if (image) {
        m = image->module;
        place -= image->bias;
    }
    if (m) libdw_module_trim(m);
    if (e->addresses && !e->width) e->width = m && m->object.address_size == 4 ? 8 : 16;
    if (e->addresses) printf("0x%.*" PRIx64 "%s", e->width, (uint64_t)addr, e->pretty ? ": " : "\n");
    struct libdw_unit *unit = m ? libdw_module_unit(m, place) : NULL;
    if (e->functions && !put_function(e, unit, place) && !e->symbols) put_symbol_name(e, m, place);
    if (e->symbols) put_symbol(e, m, place);
    if ((e->functions || e->symbols) && e->pretty) fputs("at ", stdout);
    put_line(e, unit, &place);
    if (!e->inlines) return 0;
    return put_callers(e, m ? libdw_module_unit(m, place) : NULL, place); /* the row may begin in another unit, or in none */
}

/* ---- sessions ---- */

/* False: the file cannot be opened, which is printed. libdwfl puts a file that -e names where its addresses say, and one that
 * nobody named where it puts the first of several: what has no place of its own begins at 64 KiB. */
static bool open_module(struct eu *e) {
    enum { FIRST_PLACE = 0x10000 };
    const char *message;
    if (e->images) return true;
    e->module = libdw_module_open(e->path, e->debuginfo_path, &message);
    if (!e->module) {
        fprintf(stderr, "%s: %s: %s\n", e->short_name, e->path, message);
        return false;
    }
    if (e->is_default && e->module->object.kind != CSN_OBJECT_EXECUTABLE) e->bias = FIRST_PLACE;
    e->module->has_moved = e->bias;
    return true;
}

/* Requests on standard input, and answers to those that have arrived, made unit by unit. */
struct session {
    struct eu *e;
    struct kept_answers *kept;
    struct captured_output captured;
    struct recent_answers recent; /* of the index */
    struct kept_index index;
    bool may_index;
    uint32_t asked;          /* addresses that the object was asked for */
    uint32_t asked_alone;    /* those that had not arrived together with others */
    struct ahead_input input;
    struct { char *items; size_t count, capacity; } line; /* as it was read, then without its end, with a NUL */
    struct early_answers *early;
    int result;              /* of the last request */
};

static bool read_line(struct session *s) {
    char part[4096];
    s->line.count = 0;
    while (!s->line.count || s->line.items[s->line.count - 1] != '\n') {
        const size_t size = ahead_input_line(&s->input, part, sizeof part);
        if (!size) break;
        s->line.items = grow_items(s->line.items, s->line.count + size + 1, &s->line.capacity, 1);
        memcpy(s->line.items + s->line.count, part, size);
        s->line.count += size;
    }
    if (!s->line.count) return false;
    s->line.items[s->line.count] = 0;
    if (s->line.items[s->line.count - 1] == '\n') s->line.items[s->line.count - 1] = 0;
    return true;
}

/* Whether a request is an address and no more. */
static bool is_address(const struct eu *e, const char *line, uint64_t *addr) {
    char *end;
    *addr = strtoumax(line, &end, 16);
    return end != line && !*end && !e->section;
}

static uint64_t unit_of(void *context, uint64_t addr) {
    const struct eu *e = context;
    const uint64_t place = addr - e->bias;
    return libdw_module_contains(e->module, place) ? libdw_module_unit_index(e->module, place) : UINT64_MAX;
}

static int answer_address(void *context, uint64_t addr) {
    char text[24];
    snprintf(text, sizeof text, "%" PRIx64, addr);
    return answer(context, text);
}

/* The addresses that have arrived are answered unit by unit, once the first one has decided how wide they are written. */
static void answer_early(struct session *s) {
    char line[64];
    uint64_t addr;
    if (s->e->addresses && !s->e->width) return;
    struct ahead_lines lines = ahead_input_lines(&s->input);
    if (!lines.next) return;
    early_answers_clear(s->early);
    while (ahead_lines_next(&lines, line, sizeof line))
        if (is_address(s->e, line, &addr) && !kept_answers_has(s->kept, addr))
            early_answers_add(s->early, addr, unit_of(s->e, addr));
    early_answers_make(s->early, answer_address, s->e);
}

/* Sessions of so many requests, each after the answer to the one before, make the index, as few units are held;
 * others leave it to a process of its own. */
enum { INDEX_REQUESTS = 64, SESSION_REQUESTS = 1024, MIN_PART = 32 };

static bool is_worth_it(const struct session *s) {
    const struct libdw_module *m = s->e->module;
    const struct csn_debug_unit *last;
    if (!s->may_index || !m || s->index.index || s->index.is_given_up || s->asked < INDEX_REQUESTS) return false;
    return csn_debug_info_unit(m->info, m->object.info_unit_count - 1, &last, NULL) == CSN_OK &&
           m->bytes_read >= last->end / MIN_PART;
}

static struct address_index *make_index(void *context, const char *path) {
    struct session *s = context;
    return libdw_index_make(s->e->module, &s->index.object, path);
}

/* False, and nothing is printed: the index does not have it. */
static bool answer_indexed(struct session *s, uint64_t addr) {
    if (!s->index.index) return false;
    if (recent_answers_put(&s->recent, addr)) return true;
    captured_output_begin(&s->captured);
    const bool is_found = eu_index_put(&s->index, s->e, addr);
    const size_t size = captured_output_end(&s->captured);
    if (is_found) recent_answers_add(&s->recent, addr, s->captured.text.bytes, size);
    return is_found;
}

/* False: the object cannot be opened. */
static bool answer_line(struct session *s) {
    struct eu *e = s->e;
    uint64_t addr;
    const bool may_keep = is_address(e, s->line.items, &addr);
    if (may_keep && (answer_indexed(s, addr) || kept_answers_put(s->kept, addr))) {
        s->result = 0;
        return true;
    }
    if (!e->module && !open_module(e)) return false;
    const bool is_object = !e->images;
    const bool keeps = s->kept && may_keep && !s->index.index;
    if (keeps) captured_output_begin(&s->captured);
    const bool is_early = may_keep && early_answers_put(s->early, addr, &s->result);
    if (!is_early) s->result = answer(e, s->line.items);
    const size_t size = keeps ? captured_output_end(&s->captured) : 0;
    if (s->result == 0) kept_answers_add(s->kept, addr, s->captured.text.bytes, size); /* the last answer gives the exit code */
    s->asked += may_keep;
    if (!is_early && is_object) libdw_module_grow_budget(e->module);
    if (may_keep && !is_early && ++s->asked_alone % SESSION_REQUESTS == 0 && is_worth_it(s))
        kept_index_make(&s->index, make_index, s);
    if (!s->index.index && is_object) answer_early(s);
    return true;
}

/* Answers of earlier runs are given before the object is opened. Returns the exit code. */
static int answer_lines(struct eu *e, struct kept_answers *kept) {
    static struct session s;
    s.e = e;
    s.kept = kept;
    s.may_index = !e->images && !e->is_default && eu_index_open(&s.index, e);
    if (!s.index.index && !kept_answers_exist(kept) && !open_module(e)) return 1;
    s.early = early_answers_create();
    while (read_line(&s)) {
        if (!answer_line(&s)) {
            s.result = 1;
            break;
        }
        fflush(stdout);
    }
    free(s.line.items);
    captured_output_free(&s.captured);
    recent_answers_free(&s.recent);
    early_answers_free(s.early);
    kept_answers_close(kept, e->module ? e->module->info : NULL);
    if (s.index.path && is_worth_it(&s)) kept_index_make_later(&s.index, make_index, &s);
    if (s.may_index) kept_index_close(&s.index);
    return s.result;
}

int eu_addr2line_main(int argc, char **argv) {
    static struct eu e;
    const char *slash = strrchr(argv[0], '/');
    e = (struct eu){ .program = argv[0], .short_name = slash ? slash + 1 : argv[0] };
    gnu_demangle_choose_style("gnu-v3"); /* names are demangled by libstdc++, which has no Rust */
    const int code = eu_options_read(&e, argc, argv);
    if (code >= 0) return code;
    if (e.images) e.images->debuginfo_path = e.debuginfo_path;
    e.is_default = !e.images && !e.path;
    if (e.is_default) e.path = "a.out";
    int result = 0;
    if (optind == argc) result = answer_lines(&e, e.images || e.is_default ? NULL : kept_answers_open(e.path, argc, argv));
    else if (!open_module(&e)) return 1;
    for (int i = optind; i < argc; i++) result = answer(&e, argv[i]);
    if (e.module) libdw_module_close(e.module);
    if (e.images) eu_images_free(e.images);
    return result;
}
