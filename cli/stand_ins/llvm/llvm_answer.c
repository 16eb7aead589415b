/* Frames and globals. */
#define _GNU_SOURCE
#include "stand_ins/llvm/llvm_answer.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <callsign/names.h>

#include "stand_ins/base/dwarf_words.h"
#include "stand_ins/base/growth.h"
#include "stand_ins/base/legacy_rust.h"
#include "stand_ins/llvm/llvm_damage.h"

/* ---- names ---- */

/* NULL: not mangled. Only C++, Rust and D, which LLVM knows. */
static char *demangle(const char *name) {
    const char *core = name[0] == '.' ? name + 1 : name;
    bool itanium = strncmp(core, "_Z", 2) == 0 || strncmp(core, "___Z", 4) == 0 || strncmp(core, "__Z", 3) == 0 ||
                   strncmp(core, "____Z", 5) == 0;
    bool known = itanium || strncmp(core, "_R", 2) == 0 || strncmp(core, "_D", 2) == 0 || name[0] == '?';
    const struct csn_str given = { core, strlen(core) };
    size_t length = 0, capacity = 4 * given.len + 256, dot = (size_t)(core - name);
    char *out = NULL;
    for (int i = 0; known && i < 2; i++) {
        out = grow_items(out, capacity + dot, &(size_t){ 0 }, 1);
        out[0] = '.';
        csn_status status = csn_demangle_with(given, CSN_DEMANGLE_AS_LLVM, out + dot, capacity, &length, NULL);
        if (status == CSN_OK) return out;
        if (status != CSN_E_LIMIT) break;
        capacity = length + 1;
    }
    free(out);
    return NULL;
}

/* C names of 32-bit Windows: _foo, _foo@12, @foo@12, foo@@12. */
static char *plain_win32_name(const char *name) {
    size_t begin = 0, size = strlen(name), at = size;
    bool has_number = false, is_vector = false;
    while (at && isdigit((unsigned char)name[at - 1])) at--;
    if (name[0] != '?' && at && name[at - 1] == '@') {
        size = at - 1;
        has_number = true;
    }
    if (has_number && size && name[size - 1] == '@') {
        size--;
        is_vector = true;
    }
    if (!is_vector && (name[0] == '_' || name[0] == '@') && size) begin = 1;
    return copy_text(name + begin, size - begin);
}

/* LLVM reads names of Rust's older scheme as C++: "a::b::h0123456789abcdef (.llvm.123)". NULL: it is none. */
static char *demangle_legacy_rust(const char *name) {
    const char *suffix;
    if (!is_legacy_rust(name, strlen(name))) return NULL;
    char *plain = legacy_rust_as_cxx(name, strlen(name), &suffix), *out = plain;
    if (!plain || (*suffix && *suffix != '.')) {
        free(plain);
        return NULL;
    }
    if (*suffix) out = formatted_text("%s (%s)", plain, suffix);
    if (out != plain) free(plain);
    return out;
}

char *llvm_demangle_name(const char *name, bool is_win32) {
    char *rust = demangle_legacy_rust(name);
    if (rust) return rust;
    char *found = is_win32 && strchr(name, '@') && name[0] != '?' ? NULL : demangle(name); /* "@8" ends no name of C++ */
    if (found) return found;
    if (!is_win32 || name[0] == '?') return copy_text(name, strlen(name));
    char *plain = plain_win32_name(name);
    found = demangle(plain);
    if (!found) return plain;
    free(plain);
    return found;
}

static void replace(char **to, char *with) {
    free(*to);
    *to = with;
}

static void demangle_in(char **name, const struct llvm_request *request, const struct llvm_module *m) {
    if (request->demangle && *name)
        replace(name, llvm_demangle_name(*name, m->object.container == CSN_CONTAINER_PE && m->object.machine == 0x14c));
}

/* ---- frames ---- */

void llvm_frame_free(struct llvm_frame *f) {
    free(f->function);
    free(f->file);
    free(f->start_file);
}

void llvm_frames_free(struct llvm_frames *frames) {
    for (size_t i = 0; i < frames->count; i++) llvm_frame_free(&frames->items[i]);
    free(frames->items);
}

/* What the DIE of a function or call tells. */
static void take_function(struct llvm_module *m, const struct llvm_request *request, const struct csn_debug_die *die,
                          struct llvm_frame *f) {
    struct csn_str name;
    struct csn_debug_value low;
    if (llvm_function_name(die, request->names, &name)) f->function = copy_text(name.ptr, name.len);
    f->start_line = (uint32_t)llvm_decl_line(die);
    f->start_file = llvm_decl_file(m, die, request->paths);
    if (csn_debug_die_attribute(die, DW_AT_low_pc, &low) != CSN_OK) return;
    f->start_address = llvm_raw_addr(m, low.number, NULL);
    f->has_start_address = true;
}

/* What the line table tells. False: nothing. */
static bool take_row(struct llvm_module *m, const struct llvm_request *request, struct llvm_unit *unit, struct llvm_place place,
                     struct llvm_frame *f) {
    const struct llvm_lines *lines = llvm_unit_lines(m, unit);
    bool approximate;
    const struct csn_debug_row *row = lines ? llvm_lines_find(lines, place, request->skip_line_zero, &approximate) : NULL;
    if (lines && !row && place.section) {
        const struct llvm_place anywhere = { place.addr, 0 };
        row = llvm_lines_find(lines, anywhere, request->skip_line_zero, &approximate);
    }
    char *file = row ? llvm_file_path(lines, row->file, request->paths) : NULL;
    if (!file) return false;
    replace(&f->file, file);
    f->line = row->line;
    f->column = row->column;
    f->discriminator = row->discriminator;
    f->is_approximate = approximate;
    return true;
}

/* The symbol's name is better than that of DWARF, which -gmlt leaves out. Its file may count where DWARF has nothing. */
static void override_by_symbol(const struct llvm_module *m, const struct llvm_request *request, uint64_t addr,
                               bool may_have_file, struct llvm_frame *f) {
    const struct llvm_symbol *symbol = request->names == LLVM_NAME_LINKAGE ? llvm_module_symbol(m, addr) : NULL;
    if (!symbol) return;
    replace(&f->function, copy_text(symbol->name, strlen(symbol->name)));
    f->start_address = symbol->addr;
    f->has_start_address = true;
    if (may_have_file && !f->file && symbol->file && *symbol->file) f->file = copy_text(symbol->file, strlen(symbol->file));
}

struct llvm_frame llvm_find_code(struct llvm_module *m, const struct llvm_request *request, uint64_t addr) {
    struct llvm_frame f = { 0 };
    struct llvm_unit *unit = llvm_module_unit(m, addr);
    if (unit) {
        struct csn_debug_die die;
        uint32_t idx = llvm_unit_function(m, unit, addr);
        if (idx != LLVM_NO_PARENT && csn_debug_die_at(unit->code, unit->dies.items[idx].offset, &die, NULL) == CSN_OK)
            take_function(m, request, &die, &f);
        (void)take_row(m, request, unit, llvm_module_place(m, addr), &f);
    }
    if (!f.start_file) f.start_file = copy_text(LLVM_INVALID, strlen(LLVM_INVALID));
    override_by_symbol(m, request, addr, !unit, &f);
    demangle_in(&f.function, request, m);
    return f;
}

static uint64_t number_or_zero(const struct csn_debug_die *die, uint32_t name) {
    struct csn_debug_value value;
    return csn_debug_die_attribute(die, name, &value) == CSN_OK ? value.number : 0;
}

static void add_chain(struct llvm_module *m, const struct llvm_request *request, struct llvm_unit *unit, uint32_t idx,
                      struct llvm_place place, struct llvm_frames *frames) {
    const struct llvm_lines *lines = llvm_unit_lines(m, unit);
    uint64_t call_file = 0, call_line = 0, call_column = 0, call_discriminator = 0;
    for (uint32_t next; idx != LLVM_NO_PARENT; idx = next) {
        struct csn_debug_die die;
        struct llvm_frame f = { 0 };
        const struct llvm_die *at = &unit->dies.items[idx];
        if (csn_debug_die_at(unit->code, at->offset, &die, NULL) != CSN_OK) return;
        next = at->tag == DW_TAG_subprogram ? LLVM_NO_PARENT : at->parent;
        take_function(m, request, &die, &f);
        if (!frames->count) {
            (void)take_row(m, request, unit, place, &f);
        } else {
            if (lines) f.file = llvm_file_path(lines, call_file, request->paths);
            f.line = (uint32_t)call_line;
            f.column = (uint32_t)call_column;
            f.discriminator = (uint32_t)call_discriminator;
        }
        call_file = number_or_zero(&die, DW_AT_call_file);
        call_line = number_or_zero(&die, DW_AT_call_line);
        call_column = number_or_zero(&die, DW_AT_call_column);
        call_discriminator = number_or_zero(&die, DW_AT_GNU_discriminator);
        GROW_PUSH(frames, f);
    }
}

struct llvm_frames llvm_find_dwarf_frames(struct llvm_module *m, const struct llvm_request *request, struct llvm_place place) {
    struct llvm_frames frames = { 0 };
    struct llvm_unit *unit = llvm_module_unit(m, place.addr);
    uint32_t idx = unit ? llvm_unit_function(m, unit, place.addr) : LLVM_NO_PARENT;
    if (idx != LLVM_NO_PARENT) {
        add_chain(m, request, unit, idx, place, &frames);
    } else if (unit) {
        struct llvm_frame f = { 0 };
        if (take_row(m, request, unit, place, &f)) GROW_PUSH(&frames, f);
        else llvm_frame_free(&f);
    }
    return frames;
}

struct llvm_frames llvm_find_inlined(struct llvm_module *m, const struct llvm_request *request, uint64_t addr) {
    struct llvm_frames frames = llvm_find_dwarf_frames(m, request, llvm_module_place(m, addr));
    const bool has_frames = frames.count;
    if (!has_frames) {
        const struct llvm_frame none = { 0 };
        GROW_PUSH(&frames, none);
    }
    override_by_symbol(m, request, addr, !has_frames, &frames.items[frames.count - 1]);
    for (size_t i = 0; i < frames.count; i++) demangle_in(&frames.items[i].function, request, m);
    return frames;
}

/* ---- data ---- */

void llvm_global_free(struct llvm_global *global) {
    free(global->name);
    free(global->file);
}

static const struct llvm_variable *find_variable(struct llvm_module *m, uint64_t addr) {
    struct llvm_unit *unit = llvm_module_unit(m, addr);
    if (unit) return llvm_unit_variable(m, unit, addr);
    if (m->has_no_units) (void)llvm_report_units(m);
    for (uint32_t i = 0; (unit = llvm_module_unit_at(m, i)); i++) {
        const struct llvm_variable *found = llvm_unit_variable(m, unit, addr);
        if (found) return found;
    }
    return NULL;
}

struct llvm_global llvm_find_data(struct llvm_module *m, const struct llvm_request *request, uint64_t addr) {
    struct llvm_global g = { 0 };
    const struct llvm_symbol *symbol = llvm_module_symbol(m, addr);
    if (symbol) {
        g.name = copy_text(symbol->name, strlen(symbol->name));
        g.start = symbol->addr;
        g.size = symbol->size;
        if (symbol->file && *symbol->file) g.file = copy_text(symbol->file, strlen(symbol->file));
    }
    const struct llvm_variable *variable = request->no_variables ? NULL : find_variable(m, addr);
    uint64_t line = variable ? llvm_decl_line(&variable->die) : 0;
    if (line) {
        replace(&g.file, llvm_decl_file(m, &variable->die, LLVM_PATH_ABSOLUTE));
        g.line = line;
    }
    demangle_in(&g.name, request, m);
    return g;
}
