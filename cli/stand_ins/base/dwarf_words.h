/* Numbers of DWARF that the stand-ins use, by their official names. */
#ifndef CALLSIGN_CLI_DWARF_WORDS_H
#define CALLSIGN_CLI_DWARF_WORDS_H

enum {
    DW_TAG_array_type = 0x01,
    DW_TAG_entry_point = 0x03,
    DW_TAG_enumeration_type = 0x04,
    DW_TAG_formal_parameter = 0x05,
    DW_TAG_lexical_block = 0x0b,
    DW_TAG_member = 0x0d,
    DW_TAG_compile_unit = 0x11,
    DW_TAG_subroutine_type = 0x15,
    DW_TAG_inlined_subroutine = 0x1d,
    DW_TAG_subprogram = 0x2e,
    DW_TAG_variable = 0x34,
    DW_TAG_partial_unit = 0x3c
};

enum {
    DW_AT_location = 0x02,
    DW_AT_sibling = 0x01,
    DW_AT_name = 0x03,
    DW_AT_byte_size = 0x0b,
    DW_AT_low_pc = 0x11,
    DW_AT_high_pc = 0x12,
    DW_AT_upper_bound = 0x2f,
    DW_AT_abstract_origin = 0x31,
    DW_AT_count = 0x37,
    DW_AT_decl_file = 0x3a,
    DW_AT_decl_line = 0x3b,
    DW_AT_declaration = 0x3c,
    DW_AT_external = 0x3f,
    DW_AT_frame_base = 0x40,
    DW_AT_specification = 0x47,
    DW_AT_type = 0x49,
    DW_AT_ranges = 0x55,
    DW_AT_call_column = 0x57,
    DW_AT_call_file = 0x58,
    DW_AT_call_line = 0x59,
    DW_AT_linkage_name = 0x6e,
    DW_AT_addr_base = 0x73,
    DW_AT_MIPS_linkage_name = 0x2007,
    DW_AT_GNU_discriminator = 0x2136,
    DW_AT_LLVM_tag_offset = 0x3e03
};

enum {
    DW_FORM_addr = 0x01,
    DW_FORM_sdata = 0x0d,
    DW_FORM_ref_addr = 0x10,
    DW_FORM_ref4 = 0x13,
    DW_FORM_addrx = 0x1b,
    DW_FORM_ref_sup4 = 0x1c,
    DW_FORM_strp_sup = 0x1d,
    DW_FORM_implicit_const = 0x21,
    DW_FORM_loclistx = 0x22,
    DW_FORM_rnglistx = 0x23,
    DW_FORM_ref_sup8 = 0x24,
    DW_FORM_addrx1 = 0x29,
    DW_FORM_addrx4 = 0x2c,
    DW_FORM_GNU_addr_index = 0x1f01,
    DW_FORM_GNU_str_index = 0x1f02,
    DW_FORM_LLVM_addrx_offset = 0x2001
};

#endif
