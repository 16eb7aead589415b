/* Functions from DWARF. */
#include "stand_ins/gsymutil/gsym_dwarf.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stand_ins/base/dwarf_words.h"
#include "stand_ins/base/growth.h"

enum { DW_TAG_call_site = 0x48, DW_AT_call_return_pc = 0x7d, DW_AT_call_origin = 0x7f };

/* ---- DIEs ---- */

bool gsym_die_constant(const struct csn_debug_die *die, uint32_t attribute, uint64_t *out) {
    struct csn_debug_value value;
    const bool found = llvm_find_attribute(die, &attribute, 1, &value, NULL) && value.form != DW_FORM_sdata &&
                       (value.kind == CSN_VALUE_NUMBER || value.kind == CSN_VALUE_SIGNED);
    if (found) *out = value.number;
    return found;
}

bool gsym_unit_file(struct gsym_unit *u, uint64_t file, uint32_t *out) {
    if (!u->lines || file >= u->file_count) return false;
    if (u->files[file] == UINT32_MAX) {
        char *path = llvm_file_path(u->lines, file, LLVM_PATH_ABSOLUTE);
        u->files[file] = path ? gsym_build_file(u->build, path, u->module->object.container == CSN_CONTAINER_PE) : 0;
        free(path);
    }
    *out = u->files[file];
    return true;
}

/* ---- call sites ---- */

static void read_call_sites(struct gsym_unit *u, const struct csn_debug_die *die, struct gsym_function *f) {
    struct csn_debug_die child, callee;
    struct csn_debug_value value;
    uint64_t offset = die->next;
    while (gsym_next_child(u, die, &offset, &child)) {
        if (child.tag != DW_TAG_call_site || csn_debug_die_attribute(&child, DW_AT_call_return_pc, &value) != CSN_OK) continue;
        const uint64_t addr = llvm_raw_addr(u->module, value.number - 1, NULL) + 1; /* the call itself is in the section */
        if (value.kind != CSN_VALUE_ADDRESS || addr < f->start || addr >= f->end) continue;
        struct gsym_call call = { addr - f->start, 0, (uint32_t)f->patterns.count, 0 };
        struct csn_str name;
        if (csn_debug_die_attribute(&child, DW_AT_call_origin, &value) == CSN_OK &&
            csn_debug_die_follow(&child, &value, &callee, NULL) == CSN_OK &&
            llvm_function_name(&callee, LLVM_NAME_LINKAGE, &name)) {
            GROW_PUSH(&f->patterns, gsym_build_string(u->build, name));
            call.pattern_count = 1;
        }
        GROW_PUSH(&f->calls, call);
        f->has_calls = true;
    }
}

/* ---- functions ---- */

static void report_outside(struct gsym_unit *u, const struct csn_debug_die *die) {
    u->build->report->counts[GSYM_OUTSIDE_TEXT]++;
    fputs("warning: DIE has an address range whose start address is not in any executable sections (", stdout);
    for (size_t i = 0; i < u->build->text.count; i++)
        printf("%s[0x%016" PRIx64 " - 0x%016" PRIx64 ")", i ? " " : "", u->build->text.items[i].start, u->build->text.items[i].end);
    puts(") and will not be processed:");
    gsym_put_die(u, die);
}

/* False: the linker removed it, and its other ranges are not looked at. */
static bool is_kept(struct gsym_unit *u, const struct csn_debug_die *die, const struct csn_range *range) {
    const uint64_t highest = u->unit->address_size == 4 ? UINT32_MAX : UINT64_MAX;
    if (range->start >= range->end || range->start == highest) return false;
    if (gsym_build_is_text(u->build, range->start)) return true;
    if (range->start && !u->build->is_quiet) report_outside(u, die);
    return false;
}

static void read_function(struct gsym_unit *u, const struct csn_debug_die *die) {
    struct csn_range *ranges;
    struct gsym_ranges all = { 0 };
    size_t count;
    uint32_t name;
    if (!gsym_die_ranges(u, die, &ranges, &count)) return;
    if (!gsym_die_name(u, die, &name)) {
        u->build->report->counts[GSYM_WITHOUT_NAME]++;
        printf("error: function at 0x%016" PRIx64 " has no name\n ", die->offset);
        gsym_put_die(u, die);
        free(ranges);
        return;
    }
    for (size_t i = 0; i < count; i++) gsym_ranges_insert(&all, 0, ranges[i]);
    for (size_t i = 0; i < count && is_kept(u, die, &ranges[i]); i++) {
        struct gsym_function f = { .start = ranges[i].start, .end = ranges[i].end, .name = name };
        if (u->lines) gsym_read_rows(u, die, &f);
        if (gsym_has_inlined(u, die)) gsym_read_inlined(u, die, &all, &f);
        if (u->takes_call_sites) read_call_sites(u, die, &f);
        gsym_build_add(u->build, &f);
    }
    free(all.items);
    free(ranges);
}

/* ---- units ---- */

static void read_functions(struct gsym_unit *u) {
    struct csn_debug_die die;
    size_t depth = 0;
    if (csn_debug_die_at(u->code, u->code->root, &die, NULL) != CSN_OK || !die.has_children) return;
    for (uint64_t offset = die.next; offset < u->code->end;) {
        csn_status status = csn_debug_die_at(u->code, offset, &die, NULL);
        if (status < 0) break;
        offset = die.next;
        if (status == CSN_NONE) {
            if (!depth--) break;
            continue;
        }
        if (die.tag == DW_TAG_subprogram) read_function(u, &die);
        depth += die.has_children != 0;
    }
}

static void read_unit(struct gsym_build *build, struct llvm_module *module, struct llvm_unit *unit, bool takes_call_sites,
                      struct gsym_forest *others) {
    struct gsym_unit u = {
        .build = build, .module = module, .unit = unit->unit, .code = unit->code, .takes_call_sites = takes_call_sites,
        .others = others
    };
    if (unit->unit->is_skeleton && unit->code == unit->unit) {
        build->report->counts[GSYM_MISSING_DWO]++;
        printf("warning: Unable to retrieve DWO .debug_info section for %.*s\n", (int)unit->unit->dwo_name.len,
               unit->unit->dwo_name.ptr);
    }
    u.lines = llvm_unit_lines(module, unit);
    u.language = unit->unit->language;
    if (u.lines) {
        u.file_count = (size_t)u.lines->lines->file_count + 1;
        u.files = zeroed_memory(u.file_count, sizeof *u.files);
        memset(u.files, 0xff, u.file_count * sizeof *u.files);
    }
    read_functions(&u);
    free(u.files);
    free(u.tree.nodes.items);
    if (u.lines) {
        csn_debug_lines_free(u.lines->lines);
        free(u.lines->sequences);
        free(u.lines);
        unit->lines = NULL;
        unit->has_lines = false;
    }
}

void gsym_read_dwarf(struct gsym_build *build, struct llvm_module *module, bool takes_call_sites) {
    const size_t before = build->functions.count;
    struct gsym_forest others = { 0 };
    for (uint32_t i = 0; i < module->object.info_unit_count; i++) {
        struct llvm_unit *unit = llvm_module_unit_at(module, i);
        if (unit) read_unit(build, module, unit, takes_call_sites, &others);
    }
    gsym_forest_free(&others);
    printf("Loaded %zu functions from DWARF.\n", build->functions.count - before);
}

/* ---- symbols ---- */

/* Code, by what LLVM goes by: in Mach-O the section alone, so that labels of the assembler count. LLVM 22 names no stubs. */
static bool is_function(const struct llvm_module *m, const struct csn_debug_symbol *s) {
    struct csn_debug_section section;
    if (llvm_is_stub(m, s)) return false;
    if (s->kind == CSN_SYMBOL_FUNCTION) return true;
    return m->object.container == CSN_CONTAINER_MACHO && s->kind == CSN_SYMBOL_NONE &&
           csn_debug_info_section(m->info, s->section, &section, NULL) == CSN_OK && section.flags & CSN_SECTION_EXEC;
}

/* The address as LLVM has it: in COFF from the section on. */
static uint64_t symbol_addr(const struct llvm_module *m, const struct csn_debug_symbol *s) {
    struct csn_debug_section section;
    uint64_t addr = llvm_raw_addr(m, s->addr, NULL);
    if (m->object.container == CSN_CONTAINER_PE && !llvm_is_unlinked(m) &&
        csn_debug_info_section(m->info, s->section, &section, NULL) == CSN_OK)
        addr -= section.addr;
    return addr;
}

/* LLVM takes the value of the symbol, the function's index, as its address. */
static void read_wasm_symbols(struct gsym_build *build, const struct llvm_module *m) {
    for (size_t i = 0; i < m->wasm.count; i++) {
        const struct llvm_wasm_symbol *s = &m->wasm.items[i];
        if (!s->is_function || !gsym_build_is_text(build, s->idx)) continue;
        struct gsym_function f = { .start = s->idx, .end = s->idx };
        f.name = gsym_build_string(build, (struct csn_str){ s->name, strlen(s->name) });
        gsym_build_add(build, &f);
    }
}

static void read_object_symbols(struct gsym_build *build, const struct llvm_module *module) {
    const struct csn_debug_symbol *symbols;
    const uint32_t container = module->object.container;
    size_t count = 0;
    if (csn_debug_info_symbols(module->info, CSN_SYMBOLS_STATIC, &symbols, &count, NULL) != CSN_OK) count = 0;
    for (size_t i = 0; i < count; i++) {
        const struct csn_debug_symbol *s = &symbols[i];
        if (container == CSN_CONTAINER_ELF && !s->is_defined) continue; /* it may have the address of a PLT entry */
        const uint64_t addr = symbol_addr(module, s);
        if (!is_function(module, s) || !gsym_build_is_text(build, addr)) continue;
        struct gsym_function f = { .start = addr, .end = addr + (container == CSN_CONTAINER_ELF ? s->size : 0) };
        char *name = llvm_table_name(module, s->name);
        f.name = gsym_build_string(build, (struct csn_str){ name, strlen(name) });
        free(name);
        gsym_build_add(build, &f);
    }
}

void gsym_read_symbols(struct gsym_build *build, struct llvm_module *module) {
    const size_t before = build->functions.count;
    if (module->object.container == CSN_CONTAINER_WASM) read_wasm_symbols(build, module);
    else read_object_symbols(build, module);
    printf("Loaded %zu functions from symbol table.\n", build->functions.count - before);
}
