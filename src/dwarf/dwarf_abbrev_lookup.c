/* What forms, tags and attributes mean to a plan: how a form is stepped over, which attributes are taken of which DIEs. */
#include "dwarf/dwarf_private.h"

bool csni_form_step(uint64_t form, const struct csni_abbrevs *abbrevs, union csni_step *out) {
    uint8_t op = CSNI_STEP_FIXED;
    uint16_t size = 0;
    switch (form) {
    case DW_FORM_addr: size = abbrevs->address_size; break;
    case DW_FORM_ref_addr: size = abbrevs->version2 ? abbrevs->address_size : abbrevs->offset_size; break;
    case DW_FORM_strp: case DW_FORM_sec_offset: case DW_FORM_strp_sup: case DW_FORM_line_strp: case DW_FORM_GNU_ref_alt:
    case DW_FORM_GNU_strp_alt: size = abbrevs->offset_size; break;
    case DW_FORM_data1: case DW_FORM_flag: case DW_FORM_ref1: case DW_FORM_strx1: case DW_FORM_addrx1: size = 1; break;
    case DW_FORM_data2: case DW_FORM_ref2: case DW_FORM_strx2: case DW_FORM_addrx2: size = 2; break;
    case DW_FORM_strx3: case DW_FORM_addrx3: size = 3; break;
    case DW_FORM_data4: case DW_FORM_ref4: case DW_FORM_ref_sup4: case DW_FORM_strx4: case DW_FORM_addrx4: size = 4; break;
    case DW_FORM_data8: case DW_FORM_ref8: case DW_FORM_ref_sup8: case DW_FORM_ref_sig8: size = 8; break;
    case DW_FORM_data16: op = CSNI_STEP_BYTES; size = 16; break;
    case DW_FORM_flag_present: op = CSNI_STEP_FLAG; break;
    case DW_FORM_implicit_const: op = CSNI_STEP_CONST; break;
    case DW_FORM_udata: case DW_FORM_ref_udata: case DW_FORM_strx: case DW_FORM_addrx: case DW_FORM_loclistx:
    case DW_FORM_rnglistx: case DW_FORM_GNU_addr_index: case DW_FORM_GNU_str_index: op = CSNI_STEP_ULEB; break;
    case DW_FORM_sdata: op = CSNI_STEP_SLEB; break;
    case DW_FORM_LLVM_addrx_offset: op = CSNI_STEP_ULEB_FIXED; size = 4; break;
    case DW_FORM_string: op = CSNI_STEP_STRING; break;
    case DW_FORM_block: case DW_FORM_exprloc: op = CSNI_STEP_BLOCK; break;
    case DW_FORM_block1: op = CSNI_STEP_BLOCK_FIXED; size = 1; break;
    case DW_FORM_block2: op = CSNI_STEP_BLOCK_FIXED; size = 2; break;
    case DW_FORM_block4: op = CSNI_STEP_BLOCK_FIXED; size = 4; break;
    case DW_FORM_indirect: op = CSNI_STEP_INDIRECT; break;
    default: return false;
    }
    out->op = op;
    out->slot = CSNI_NO_SLOT;
    out->form = (uint16_t)form;
    out->skip = 0;
    out->size = size;
    return true;
}

uint16_t csni_tag_kind(uint64_t tag) {
    switch (tag) {
    case DW_TAG_compile_unit: case DW_TAG_partial_unit: case DW_TAG_type_unit: case DW_TAG_skeleton_unit:
        return CSNI_KIND_UNIT;
    case DW_TAG_namespace: case DW_TAG_module: return CSNI_KIND_NAMESPACE;
    case DW_TAG_class_type: case DW_TAG_structure_type: case DW_TAG_union_type: case DW_TAG_interface_type:
        return CSNI_KIND_TYPE;
    case DW_TAG_subprogram: return CSNI_KIND_SUBPROGRAM;
    case DW_TAG_inlined_subroutine: return CSNI_KIND_INLINED;
    case DW_TAG_call_site: case DW_TAG_GNU_call_site: return CSNI_KIND_CALL_SITE;
    case DW_TAG_lexical_block: return CSNI_KIND_BLOCK;
    default: return 0;
    }
}

bool csni_tag_is_leaf(uint64_t tag) {
    switch (tag) {
    case DW_TAG_enumeration_type: case DW_TAG_array_type: case DW_TAG_subroutine_type: case DW_TAG_formal_parameter:
    case DW_TAG_variable: case DW_TAG_call_site: case DW_TAG_GNU_call_site: case DW_TAG_call_site_parameter:
    case DW_TAG_GNU_call_site_parameter: return true;
    default: return false;
    }
}

/* Slots of attributes that are taken for every kind, and for units. */
static uint8_t unit_slot(uint64_t at) {
    switch (at) {
    case DW_AT_name: return CSNI_AT_NAME;
    case DW_AT_low_pc: return CSNI_AT_LOW_PC;
    case DW_AT_high_pc: return CSNI_AT_HIGH_PC;
    case DW_AT_ranges: return CSNI_AT_RANGES;
    case DW_AT_stmt_list: return CSNI_AT_STMT_LIST;
    case DW_AT_comp_dir: return CSNI_AT_COMP_DIR;
    case DW_AT_language: return CSNI_AT_LANGUAGE;
    case DW_AT_producer: return CSNI_AT_PRODUCER;
    case DW_AT_str_offsets_base: return CSNI_AT_STR_OFFSETS_BASE;
    case DW_AT_addr_base: case DW_AT_GNU_addr_base: return CSNI_AT_ADDR_BASE;
    case DW_AT_rnglists_base: return CSNI_AT_RNGLISTS_BASE;
    case DW_AT_GNU_ranges_base: return CSNI_AT_GNU_RANGES_BASE;
    case DW_AT_dwo_name: case DW_AT_GNU_dwo_name: return CSNI_AT_DWO_NAME;
    case DW_AT_GNU_dwo_id: return CSNI_AT_DWO_ID;
    default: return CSNI_NO_SLOT;
    }
}

static uint8_t function_slot(uint64_t at) {
    switch (at) {
    case DW_AT_name: return CSNI_AT_NAME;
    case DW_AT_linkage_name: case DW_AT_MIPS_linkage_name: return CSNI_AT_LINKAGE_NAME;
    case DW_AT_low_pc: return CSNI_AT_LOW_PC;
    case DW_AT_high_pc: return CSNI_AT_HIGH_PC;
    case DW_AT_ranges: return CSNI_AT_RANGES;
    case DW_AT_specification: return CSNI_AT_SPECIFICATION;
    case DW_AT_abstract_origin: return CSNI_AT_ABSTRACT_ORIGIN;
    case DW_AT_decl_file: return CSNI_AT_DECL_FILE;
    case DW_AT_decl_line: return CSNI_AT_DECL_LINE;
    case DW_AT_call_file: return CSNI_AT_CALL_FILE;
    case DW_AT_call_line: return CSNI_AT_CALL_LINE;
    case DW_AT_declaration: return CSNI_AT_DECLARATION;
    case DW_AT_inline: return CSNI_AT_INLINE;
    case DW_AT_LLVM_stmt_sequence: return CSNI_AT_STMT_SEQUENCE;
    default: return CSNI_NO_SLOT;
    }
}

static uint8_t scope_slot(uint64_t at) {
    switch (at) {
    case DW_AT_name: return CSNI_AT_NAME;
    case DW_AT_specification: return CSNI_AT_SPECIFICATION;
    case DW_AT_abstract_origin: return CSNI_AT_ABSTRACT_ORIGIN;
    case DW_AT_declaration: return CSNI_AT_DECLARATION;
    case DW_AT_signature: return CSNI_AT_SIGNATURE;
    default: return CSNI_NO_SLOT;
    }
}

static uint8_t call_site_slot(uint64_t at, bool gnu) {
    switch (at) {
    case DW_AT_call_return_pc: return CSNI_AT_RETURN_PC;
    case DW_AT_low_pc: return gnu ? CSNI_AT_RETURN_PC : CSNI_NO_SLOT;
    case DW_AT_call_origin: return CSNI_AT_CALL_ORIGIN;
    case DW_AT_abstract_origin: return gnu ? CSNI_AT_CALL_ORIGIN : CSNI_NO_SLOT;
    case DW_AT_call_tail_call: case DW_AT_GNU_tail_call: return CSNI_AT_TAIL_CALL;
    default: return CSNI_NO_SLOT;
    }
}

uint8_t csni_attribute_slot(uint16_t kind, uint64_t tag, uint64_t at) {
    if (at == DW_AT_sibling) return kind || csni_tag_is_leaf(tag) ? CSNI_AT_SIBLING : CSNI_NO_SLOT;
    switch (kind) {
    case CSNI_KIND_UNIT: return unit_slot(at);
    case CSNI_KIND_SUBPROGRAM: case CSNI_KIND_INLINED: return function_slot(at);
    case CSNI_KIND_NAMESPACE: case CSNI_KIND_TYPE: case CSNI_KIND_BLOCK: return scope_slot(at);
    case CSNI_KIND_CALL_SITE: return call_site_slot(at, tag == DW_TAG_GNU_call_site);
    default: return CSNI_NO_SLOT;
    }
}

/* The tables of slots of struct csni_abbrev_lookup. */
enum { SLOTS_NONE, SLOTS_SIBLING, SLOTS_UNIT, SLOTS_FUNCTION, SLOTS_SCOPE, SLOTS_CALL_SITE, SLOTS_GNU_CALL_SITE };

unsigned csni_slot_table(uint16_t kind, uint64_t tag) {
    switch (kind) {
    case CSNI_KIND_UNIT: return SLOTS_UNIT;
    case CSNI_KIND_SUBPROGRAM: case CSNI_KIND_INLINED: return SLOTS_FUNCTION;
    case CSNI_KIND_NAMESPACE: case CSNI_KIND_TYPE: case CSNI_KIND_BLOCK: return SLOTS_SCOPE;
    case CSNI_KIND_CALL_SITE: return tag == DW_TAG_GNU_call_site ? SLOTS_GNU_CALL_SITE : SLOTS_CALL_SITE;
    default: return csni_tag_is_leaf(tag) ? SLOTS_SIBLING : SLOTS_NONE;
    }
}

void csni_abbrev_lookup_make(struct csni_abbrev_lookup *lookup, uint8_t address_size, uint8_t offset_size, bool version2) {
    /* An abbreviation for each table of slots. */
    static const uint16_t tags[CSNI_SLOT_TABLES] = {
        [SLOTS_NONE] = 0, [SLOTS_SIBLING] = DW_TAG_variable, [SLOTS_UNIT] = DW_TAG_compile_unit,
        [SLOTS_FUNCTION] = DW_TAG_subprogram, [SLOTS_SCOPE] = DW_TAG_namespace, [SLOTS_CALL_SITE] = DW_TAG_call_site,
        [SLOTS_GNU_CALL_SITE] = DW_TAG_GNU_call_site,
    };
    const struct csni_abbrevs sizes = { .address_size = address_size, .offset_size = offset_size, .version2 = version2 };
    for (unsigned form = 0; form < CSNI_FORMS; form++)
        if (!csni_form_step(form, &sizes, &lookup->forms[form])) lookup->forms[form].op = CSNI_STEP_UNKNOWN;
    for (unsigned t = 0; t < CSNI_SLOT_TABLES; t++)
        for (unsigned at = 0; at < CSNI_ATTRIBUTES; at++)
            lookup->slots[t][at] = csni_attribute_slot(csni_tag_kind(tags[t]), tags[t], at);
    lookup->address_size = address_size;
    lookup->offset_size = offset_size;
    lookup->version2 = version2;
    lookup->made = true;
}
