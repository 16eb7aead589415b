/* Sizes and offsets of the structs that src/lib.rs declares again, for its test. Those that may grow are passed with
 * their size: of them, offsets alone. */
#include <stddef.h>

#include <callsign/callsign.h>

#define SIZE(type) sizeof(struct type)
#define AT(type, member) offsetof(struct type, member)

const size_t callsign_sys_layout[] = {
    SIZE(csn_str), SIZE(csn_error), AT(csn_error, text), AT(csn_index_options, demangle_context), AT(csn_index_info, uuid_bytes),
    AT(csn_index_info, member_count), SIZE(csn_frame), AT(csn_frame, reason), SIZE(csn_frame_ref), AT(csn_frame_ref, reason),
    SIZE(csn_lookup), AT(csn_lookup, frame_count), AT(csn_convert_options, input), AT(csn_convert_options, resolver),
    AT(csn_convert_options, merged_functions), AT(csn_convert_options, format), SIZE(csn_convert_report), AT(csn_convert_report, uuid_size),
    AT(csn_convert_report, events), SIZE(csn_module), AT(csn_module, bias), SIZE(csn_stack_frame), SIZE(csn_stack_answer),
    AT(csn_stack_answer, candidate_count), AT(csn_stack_answer, notes), AT(csn_symbolicator_options, cache_bytes),
};
const size_t callsign_sys_layout_count = sizeof callsign_sys_layout / sizeof *callsign_sys_layout;
