"""Tests that take long. Measured in `make check` on two processors."""

# Files of which each takes a worker a minute or more.
LONG_FILES = ["test_stand_ins.py", "test_go.py", "test_serve_faults.py"]

# Tests whose cases together take a worker five seconds or more, and go much the same way: with --short one case in so many runs; 0: none.
ONE_IN = {
    "test_archives::test_many_functions": 2,
    "test_backtrace::test_answers_of_libbacktrace": 3,
    "test_backtrace::test_boost_stacktrace": 2,
    "test_backtrace::test_stack_in_a_signal_handler": 3,
    "test_code_at_zero::test_removed_functions_are_not_the_code_at_0": 4,
    "test_code_names::test_static_programs_of_mingw_lose_no_named_code": 2,
    "test_compilers::test_matrix": 3,
    "test_diff::test_functions_that_share_one_record": 0,
    "test_embed::test_macho": 3,
    "test_embed::test_macho_chained_fixups": 2,
    "test_embed::test_sections_of_an_index_for_any_container": 5,
    "test_folded_stacks::test_what_is_chosen_was_called": 0,
    "test_go::test_targets": 2,
    "test_lone_lines::test_compressed_sections_give_the_same": 0,
    "test_merged::test_every_name_of_a_group_is_kept": 3,
    "test_merged_reference::test_filters_agree": 4,
    "test_real_callbacks::test_callbacks": 5,
    "test_split::test_answers_are_those_of_plain_dwarf": 5,
    "test_split::test_packages": 5,
    "test_stack_json_logs::test_each_sample": 4,
    "test_stack_twice::test_every_frame_after_every_other": 0,
    "test_stack_twice::test_every_sample_after_every_other": 24,
    "test_stand_in_clients::test_sanitizers": 3,
    "test_stand_in_cores::test_addresses_of_a_core": 5,
    "test_stand_in_cores::test_damaged_cores": 3,
    "test_stand_in_cores::test_hostile_cores_end": 3,
    "test_stand_in_damage::test_atos_answers_of_damaged_files": 3,
    "test_stand_in_damage::test_llvm_symbolizer_reports_damage": 5,
    "test_stand_in_memory::test_no_answer_is_lost_without_memory": 4,
    "test_stand_in_machines::test_other_machines": 3,
    "test_stand_ins::test_bad_requests_are_answered_like_the_tool": 3,
    "test_stand_ins::test_gsym_files_stand_for_dwarf": 5,
    "test_stand_ins::test_gsymutil_converts_like_the_tool": 3,
    "test_stand_ins::test_kept_addresses_change_no_answer": 4,
    "test_stand_ins::test_markup_of_any_kind": 2,
    "test_stand_ins::test_webassembly": 2,
    "test_unlinked_machines::test_frames_are_those_of_the_symbolizer": 3,
}

# Those that a sanitizer's build would take an hour or more for, with --sanitized: one case in so many runs; 0: none. The release build runs all.
SANITIZED_ONE_IN = {
    "test_stack_twice::test_every_frame_after_every_other": 0,
    "test_stack_twice::test_every_sample_after_every_other": 24,
}
