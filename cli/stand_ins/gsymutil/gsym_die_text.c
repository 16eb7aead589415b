/* A function's DIE as LLVM's dumper writes it. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stand_ins/base/dwarf_words.h"
#include "stand_ins/gsymutil/gsym_dwarf.h"
#include "stand_ins/gsymutil/gsym_expression.h"

enum {
    DW_FORM_data2 = 0x05, DW_FORM_data4 = 0x06, DW_FORM_data8 = 0x07, DW_FORM_data1 = 0x0b, DW_FORM_flag = 0x0c,
    DW_FORM_strp = 0x0e, DW_FORM_strx = 0x1a, DW_FORM_line_strp = 0x1f, DW_FORM_strx1 = 0x25, DW_FORM_strx4 = 0x28, DW_FORM_udata = 0x0f, DW_FORM_GNU_ref_alt = 0x1f20, DW_FORM_GNU_strp_alt = 0x1f21, DW_FORM_sec_offset = 0x17, DW_FORM_exprloc = 0x18, DW_FORM_flag_present = 0x19, DW_FORM_ref_sig8 = 0x20,
    DW_AT_decl_column = 0x39, DW_AT_containing_type = 0x1d, DW_AT_call_origin_ = 0x7f
};

static const struct { uint32_t number; const char *name; } attributes[] = {
    { 0x01, "DW_AT_sibling" }, { 0x02, "DW_AT_location" }, { 0x03, "DW_AT_name" }, { 0x0b, "DW_AT_byte_size" }, { 0x11, "DW_AT_low_pc" },
    { 0x12, "DW_AT_high_pc" }, { 0x13, "DW_AT_language" }, { 0x19, "DW_AT_import" }, { 0x1d, "DW_AT_containing_type" },
    { 0x20, "DW_AT_inline" }, { 0x27, "DW_AT_prototyped" }, { 0x2a, "DW_AT_return_addr" }, { 0x2e, "DW_AT_bit_stride" },
    { 0x31, "DW_AT_abstract_origin" }, { 0x32, "DW_AT_accessibility" }, { 0x33, "DW_AT_address_class" }, { 0x34, "DW_AT_artificial" },
    { 0x36, "DW_AT_calling_convention" }, { 0x39, "DW_AT_decl_column" }, { 0x3a, "DW_AT_decl_file" }, { 0x3b, "DW_AT_decl_line" },
    { 0x3c, "DW_AT_declaration" }, { 0x3f, "DW_AT_external" }, { 0x40, "DW_AT_frame_base" }, { 0x47, "DW_AT_specification" },
    { 0x48, "DW_AT_static_link" }, { 0x49, "DW_AT_type" }, { 0x4a, "DW_AT_use_location" }, { 0x4c, "DW_AT_virtuality" },
    { 0x4d, "DW_AT_vtable_elem_location" }, { 0x52, "DW_AT_entry_pc" }, { 0x54, "DW_AT_extension" }, { 0x55, "DW_AT_ranges" },
    { 0x56, "DW_AT_trampoline" }, { 0x57, "DW_AT_call_column" }, { 0x58, "DW_AT_call_file" }, { 0x59, "DW_AT_call_line" },
    { 0x5a, "DW_AT_description" }, { 0x63, "DW_AT_explicit" }, { 0x64, "DW_AT_object_pointer" }, { 0x66, "DW_AT_elemental" },
    { 0x67, "DW_AT_pure" }, { 0x68, "DW_AT_recursive" }, { 0x6a, "DW_AT_main_subprogram" }, { 0x6e, "DW_AT_linkage_name" },
    { 0x77, "DW_AT_reference" }, { 0x78, "DW_AT_rvalue_reference" }, { 0x7a, "DW_AT_call_all_calls" },
    { 0x7b, "DW_AT_call_all_source_calls" }, { 0x7c, "DW_AT_call_all_tail_calls" }, { 0x87, "DW_AT_noreturn" }, { 0x88, "DW_AT_alignment" },
    { 0x89, "DW_AT_export_symbols" }, { 0x8a, "DW_AT_deleted" }, { 0x8b, "DW_AT_defaulted" }, { 0x2007, "DW_AT_MIPS_linkage_name" },
    { 0x2116, "DW_AT_GNU_all_tail_call_sites" }, { 0x2117, "DW_AT_GNU_all_call_sites" }, { 0x3e0c, "DW_AT_LLVM_stmt_sequence" },
    { 0x3fe1, "DW_AT_APPLE_optimized" }, { 0x3fe2, "DW_AT_APPLE_flags" }, { 0x3fe5, "DW_AT_APPLE_major_runtime_vers" },
    { 0x3fe7, "DW_AT_APPLE_omit_frame_ptr" },
};

static void put_attribute_name(uint32_t attribute) {
    for (size_t i = 0; i < sizeof attributes / sizeof attributes[0]; i++)
        if (attributes[i].number == attribute) {
            fputs(attributes[i].name, stdout);
            return;
        }
    printf("DW_AT_unknown_%" PRIx32, attribute);
}

/* The word for a constant of some attributes; NULL: none. */
static const char *word_of(uint32_t attribute, uint64_t number) {
    static const char *const access[] = { NULL, "DW_ACCESS_public", "DW_ACCESS_protected", "DW_ACCESS_private" };
    static const char *const virtuality[] = { "DW_VIRTUALITY_none", "DW_VIRTUALITY_virtual", "DW_VIRTUALITY_pure_virtual" };
    static const char *const inlined[] = { "DW_INL_not_inlined", "DW_INL_inlined", "DW_INL_declared_not_inlined",
                                           "DW_INL_declared_inlined" };
    static const char *const defaulted[] = { "DW_DEFAULTED_no", "DW_DEFAULTED_in_class", "DW_DEFAULTED_out_of_class" };
    static const char *const convention[] = {
        NULL, "DW_CC_normal", "DW_CC_program", "DW_CC_nocall", "DW_CC_pass_by_reference", "DW_CC_pass_by_value"
    };
    switch (attribute) {
    case 0x32: return number < 4 ? access[number] : NULL;
    case 0x4c: return number < 3 ? virtuality[number] : NULL;
    case 0x20: return number < 4 ? inlined[number] : NULL;
    case 0x8b: return number < 3 ? defaulted[number] : NULL;
    case 0x36: return number < 6 ? convention[number] : NULL;
    default: return NULL;
    }
}

/* ---- types ---- */

static void put_type(const struct csn_debug_die *die, unsigned depth);

static bool follow(const struct csn_debug_die *die, uint32_t attribute, struct csn_debug_die *out) {
    struct csn_debug_value value;
    return csn_debug_die_attribute(die, attribute, &value) == CSN_OK && csn_debug_die_follow(die, &value, out, NULL) == CSN_OK;
}

static void put_target(const struct csn_debug_die *die, unsigned depth) {
    struct csn_debug_die target;
    if (follow(die, DW_AT_type, &target)) put_type(&target, depth + 1);
    else fputs("void", stdout);
}

static bool is_pointer(const struct csn_debug_die *die) { return die->tag == 0x0f || die->tag == 0x10 || die->tag == 0x42; }

static void put_pointer(const struct csn_debug_die *die, const char *sign, unsigned depth) {
    struct csn_debug_die target;
    put_target(die, depth);
    bool joins = follow(die, DW_AT_type, &target) && is_pointer(&target);
    printf("%s%s", joins ? "" : " ", sign);
}

/* "const T", or "T *const" for pointers. */
static void put_qualified(const struct csn_debug_die *die, const char *word, unsigned depth) {
    struct csn_debug_die target;
    if (follow(die, DW_AT_type, &target) && is_pointer(&target)) {
        put_target(die, depth);
        fputs(word, stdout);
        return;
    }
    printf("%s ", word);
    put_target(die, depth);
}

static void put_type(const struct csn_debug_die *die, unsigned depth) {
    struct csn_debug_value name;
    if (depth > 32) return;
    switch (die->tag) {
    case 0x0f: put_pointer(die, "*", depth); return;
    case 0x10: put_pointer(die, "&", depth); return;
    case 0x42: put_pointer(die, "&&", depth); return;
    case 0x26: put_qualified(die, "const", depth); return;
    case 0x35: put_qualified(die, "volatile", depth); return;
    default: break;
    }
    if (csn_debug_die_attribute(die, DW_AT_name, &name) == CSN_OK && name.kind == CSN_VALUE_STRING)
        fwrite(name.bytes.ptr, 1, name.bytes.len, stdout);
    else if (die->tag == 0x24)
        fputs("base ", stdout);
}

/* ---- values ---- */

static void put_string(struct csn_str s) {
    putchar('"');
    for (size_t i = 0; i < s.len; i++) {
        unsigned char c = (unsigned char)s.ptr[i];
        if (c == '"' || c == '\\') printf("\\%c", c);
        else if (c == '\n') fputs("\\n", stdout);
        else if (c == '\t') fputs("\\t", stdout);
        else if (c < 32 || c > 126) printf("\\%03o", c);
        else putchar(c);
    }
    putchar('"');
}

static void put_address(const struct gsym_unit *u, uint64_t addr) { printf("0x%0*" PRIx64, 2 * u->unit->address_size, addr); }

static bool is_constant(const struct csn_debug_value *v) {
    return (v->kind == CSN_VALUE_NUMBER || v->kind == CSN_VALUE_SIGNED) && v->form != DW_FORM_sdata && v->form != DW_FORM_flag &&
           v->form != DW_FORM_flag_present;
}

static void put_number(const struct csn_debug_value *v) {
    switch (v->form) {
    case DW_FORM_flag_present: fputs("true", stdout); return;
    case DW_FORM_flag: case DW_FORM_data1: printf("0x%02" PRIx64, v->number); return;
    case DW_FORM_data2: printf("0x%04" PRIx64, v->number); return;
    case DW_FORM_data4: printf("0x%08" PRIx64, v->number); return;
    case DW_FORM_data8: printf("0x%016" PRIx64, v->number); return;
    case DW_FORM_sdata: case DW_FORM_implicit_const: printf("%" PRId64, (int64_t)v->number); return;
    default: printf("%" PRIu64, v->number); return;
    }
}

static void put_reference(const struct csn_debug_die *die, const struct csn_debug_value *v) {
    struct csn_debug_die target;
    if (v->form == DW_FORM_ref_sup4 || v->form == DW_FORM_ref_sup8 || v->form == DW_FORM_GNU_ref_alt)
        printf("<alt 0x%" PRIx64 ">", v->number);
    else if (v->form == DW_FORM_ref_addr || v->form == DW_FORM_ref_sig8) printf("0x%016" PRIx64, v->number);
    else if (csn_debug_die_follow(die, v, &target, NULL) == CSN_OK) printf("0x%08" PRIx64, target.offset);
    else printf("0x%08" PRIx64, v->number + die->unit->offset);
}

static void put_ranges(const struct gsym_unit *u, const struct csn_debug_die *die) {
    struct csn_range *ranges;
    size_t count;
    if (!gsym_die_ranges(u, die, &ranges, &count)) return;
    for (size_t i = 0; i < count; i++) {
        printf("\n%17s[", "");
        put_address(u, ranges[i].start);
        fputs(", ", stdout);
        put_address(u, ranges[i].end);
        putchar(')');
    }
    free(ranges);
}

/* Of one that is not there LLVM writes nothing. */
static bool is_string_form(uint32_t form) {
    return form == DW_FORM_strp || form == DW_FORM_line_strp || form == DW_FORM_strx ||
           (form >= DW_FORM_strx1 && form <= DW_FORM_strx4) || form == DW_FORM_strp_sup || form == DW_FORM_GNU_strp_alt;
}

/* LLVM takes its offset as one of 32-bit DWARF. */
static void put_range_list(const struct csn_debug_unit *unit, uint64_t index) {
    uint64_t off;
    printf("indexed (0x%" PRIx64 ") rangelist = ", index);
    if (csn_debug_unit_range_list(unit, index, &off) == CSN_OK) printf("0x%08" PRIx64, off);
}

static void put_value(const struct gsym_unit *u, const struct csn_debug_die *die, uint32_t attribute,
                      const struct csn_debug_value *v) {
    struct csn_range range;
    size_t count;
    const char *word = is_constant(v) ? word_of(attribute, v->number) : NULL;
    const bool is_file = attribute == DW_AT_decl_file || attribute == DW_AT_call_file;
    const bool has_path = is_file && is_constant(v) && u->lines && !die->unit->is_split;
    char *path = has_path ? llvm_file_path(u->lines, v->number, LLVM_PATH_ABSOLUTE) : NULL;
    if (path) printf("\"%s\"", path);
    else if (word) fputs(word, stdout);
    else if (is_constant(v) && (attribute == DW_AT_decl_line || attribute == DW_AT_decl_column || attribute == DW_AT_call_line ||
                                attribute == DW_AT_call_column))
        printf("%" PRIu64, v->number);
    else if (attribute == DW_AT_high_pc && is_constant(v) && csn_debug_die_ranges(die, &range, 1, &count, NULL) == CSN_OK && count)
        put_address(u, range.end);
    else if (v->kind == CSN_VALUE_NUMBER || v->kind == CSN_VALUE_SIGNED) put_number(v);
    else if (v->kind == CSN_VALUE_ADDRESS) put_address(u, v->number);
    else if (v->kind == CSN_VALUE_STRING) put_string(v->bytes);
    else if (v->kind == CSN_VALUE_REFERENCE) put_reference(die, v);
    else if (v->kind == CSN_VALUE_BLOCK) gsym_put_expression(u, v->bytes);
    else if (is_string_form(v->form)) return;
    else if (v->form == DW_FORM_rnglistx) put_range_list(die->unit, v->number);
    else printf("0x%0*" PRIx64, die->unit->offset_size == 8 ? 16 : 8, v->number);
    free(path);
}

/* What the value means, behind it. */
static void put_meaning(const struct gsym_unit *u, const struct csn_debug_die *die, uint32_t attribute,
                        const struct csn_debug_value *v) {
    struct csn_debug_die target;
    struct csn_str name;
    if (attribute == DW_AT_ranges) {
        put_ranges(u, die);
        return;
    }
    if (attribute == DW_AT_frame_base && v->kind != CSN_VALUE_BLOCK && die->unit->version < 5) {
        gsym_put_locations(u, v->number);
        return;
    }
    if (v->kind != CSN_VALUE_REFERENCE || csn_debug_die_follow(die, v, &target, NULL) != CSN_OK) return;
    if (attribute == DW_AT_specification || attribute == DW_AT_abstract_origin || attribute == DW_AT_call_origin_) {
        if (llvm_function_name(&target, LLVM_NAME_LINKAGE, &name)) printf(" \"%.*s\"", (int)name.len, name.ptr);
    } else if (attribute == DW_AT_type || attribute == DW_AT_containing_type) {
        fputs(" \"", stdout);
        put_type(&target, 0);
        putchar('"');
    }
}

void gsym_put_die(const struct gsym_unit *u, const struct csn_debug_die *die) {
    uint64_t position = 0;
    uint32_t attribute;
    struct csn_debug_value value;
    printf("\n0x%08" PRIx64 ": DW_TAG_subprogram\n", die->offset);
    while (csn_debug_die_next_attribute(die, &position, &attribute, &value) == CSN_OK) {
        printf("%14s", "");
        put_attribute_name(attribute);
        fputs("\t(", stdout);
        put_value(u, die, attribute, &value);
        put_meaning(u, die, attribute, &value);
        fputs(")\n", stdout);
    }
}
