//! Declarations of libcallsign, which the build script compiles. `callsign` is the safe crate; the headers in `c/include` document
//! every function.
#![allow(non_camel_case_types)]
#![no_std]

use core::ffi::{c_char, c_int, c_void};

pub type csn_status = c_int;

pub const CSN_OK: csn_status = 0;
pub const CSN_NONE: csn_status = 1;

pub const CSN_CONVERT_STRICT: u32 = 1;
pub const CSN_CONVERT_CALL_SITES: u32 = 2;
pub const CSN_MERGE_ALL: u32 = 1;

pub const CSN_FRAME_INLINED: u32 = 1;
pub const CSN_FRAME_UNCERTAIN: u32 = 2;

pub const CSN_STACK_ADDRESS: u32 = 1;
pub const CSN_STACK_EXACT: u32 = 2;
pub const CSN_STACK_RETURN: u32 = 4;

pub const CSN_NOT_CHOSEN: u32 = u32::MAX;
pub const CSN_REASON_COMPLETE: u32 = 0;
pub const CSN_REASON_NO_CALL_FILE: u32 = 7;
pub const CSN_EVENT_CAPACITY: usize = 64;

/// Opaque handles.
macro_rules! opaque {
    ($($name:ident),*) => { $(#[repr(C)] pub struct $name { _private: [u8; 0] })* };
}
opaque!(csn_index, csn_symbolicator, csn_companion_search, csn_file);

#[repr(C)]
#[derive(Clone, Copy)]
pub struct csn_str {
    pub ptr: *const c_char,
    pub len: usize,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct csn_error {
    pub code: i32,
    pub os_error: i32,
    pub offset: u64,
    pub section: [c_char; 24],
    pub text: [c_char; 232],
}

#[repr(C)]
pub struct csn_index_options {
    pub struct_size: usize,
    pub allocator: *const c_void,
    pub accelerator_bytes: u64,
    pub arch: *const c_char,
    pub demangle: Option<csn_name_callback>,
    pub demangle_context: *mut c_void,
}

pub type csn_name_callback =
    unsafe extern "C" fn(context: *mut c_void, name: csn_str, out: *mut c_char, cap: usize, out_len: *mut usize) -> csn_status;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct csn_index_info {
    pub format: u32,
    pub big_endian: u8,
    pub address_size: u8,
    pub uuid_size: u8,
    pub revision: c_char,
    pub base_address: u64,
    pub file_size: u64,
    pub function_count: u32,
    pub file_count: u32,
    pub string_bytes: u64,
    pub uuid: [u8; 32],
    pub uuid_bytes: u64,
    pub accelerator_bytes: u64,
    pub unaccelerated_functions: u32,
    pub address_sample_count: u32,
    pub format_version: u32,
    pub binary_count: u32,
    pub alias_count: u32,
    pub image_checksum: u32,
    pub member_count: u32,
    pub reserved: u32,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct csn_frame {
    pub name: csn_str,
    pub directory: csn_str,
    pub base: csn_str,
    pub offset: u64,
    pub line: u32,
    pub flags: u32,
    pub reason: u32,
    pub reserved: u32,
}

#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct csn_frame_ref {
    pub name: u64,
    pub offset: u64,
    pub file: u32,
    pub line: u32,
    pub flags: u32,
    pub reason: u32,
}

#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct csn_lookup {
    pub function_start: u64,
    pub function_size: u64,
    pub function_index: u32,
    pub reason: u32,
    pub frame_count: usize,
    pub binary: u32,
    pub reserved0: u32,
    pub reserved: u64,
}

pub type csn_progress_callback = unsafe extern "C" fn(context: *mut c_void, phase: *const c_char, done: u64, total: u64) -> bool;

#[repr(C)]
pub struct csn_convert_options {
    pub struct_size: usize,
    pub allocator: *const c_void,
    pub threads: u32,
    pub flags: u32,
    pub max_decompressed_bytes: u64,
    pub progress: Option<csn_progress_callback>,
    pub progress_context: *mut c_void,
    pub resolver: Option<csn_companion_resolver>,
    pub resolver_context: *mut c_void,
    pub arch: *const c_char,
    pub call_site_files: *const c_void,
    pub call_site_file_count: usize,
    pub merged_functions: u32,
    pub byte_order: u32,
    pub rename: Option<csn_name_callback>,
    pub rename_context: *mut c_void,
    pub format: u32,
    pub reserved: u32,
    pub gsym: *const c_void,
    pub gsection: *const c_void,
    pub bsym: *const c_void,
    pub breakpad: *const c_void,
    pub input: *const csn_file,
}

pub type csn_companion_resolver =
    unsafe extern "C" fn(context: *mut c_void, request: *const c_void, out: *mut c_void, err: *mut csn_error) -> csn_status;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct csn_event_count {
    pub count: u64,
    pub example: [c_char; 200],
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct csn_convert_report {
    pub units: u64,
    pub units_failed: u64,
    pub functions_from_dwarf: u64,
    pub functions_from_symbols: u64,
    pub functions_written: u64,
    pub functions_pruned: u64,
    pub rows_written: u64,
    pub inline_nodes_written: u64,
    pub call_sites_written: u64,
    pub files_written: u64,
    pub string_bytes: u64,
    pub line_bytes: u64,
    pub inline_bytes: u64,
    pub input_bytes: u64,
    pub inflated_bytes: u64,
    pub output_bytes: u64,
    pub functions_from_go: u64,
    pub segments_written: u64,
    pub functions_merged: u64,
    pub functions_from_index: u64,
    pub uuid: [u8; 32],
    pub uuid_size: u32,
    pub reserved0: u32,
    pub functions_from_pdb: u64,
    pub coverage_code: u64,
    pub coverage_name: u64,
    pub coverage_line: u64,
    pub coverage_inlined: u64,
    pub reserved: [u64; 6],
    pub events: [csn_event_count; CSN_EVENT_CAPACITY],
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct csn_module {
    pub name: csn_str,
    pub index: *const csn_index,
    pub start: u64,
    pub end: u64,
    pub bias: u64,
    pub reserved: [u64; 2],
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct csn_stack_frame {
    pub pc: u64,
    pub module: u32,
    pub flags: u32,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct csn_stack_answer {
    pub addr: u64,
    pub function_start: u64,
    pub module: u32,
    pub status: csn_status,
    pub reason: u32,
    pub frame_count: u32,
    pub frames: *const csn_frame,
    pub error: *const c_char,
    pub candidates: *const csn_str,
    pub remaining: *const u32,
    pub candidate_count: u32,
    pub remaining_count: u32,
    pub chosen: u32,
    pub choice: u32,
    pub confidence: u32,
    pub evidence_frame: u32,
    pub evidence_pattern: csn_str,
    pub notes: u32,
    pub evidence_tail_calls: u32,
    pub reserved: [u32; 2],
}

#[repr(C)]
pub struct csn_symbolicator_options {
    pub struct_size: usize,
    pub allocator: *const c_void,
    pub max_frames: u64,
    pub cache_bytes: u64,
}

extern "C" {
    pub fn csn_version() -> *const c_char;
    pub fn csn_build_features() -> *const c_char;
    pub fn csn_error_init(err: *mut csn_error);
    pub fn csn_error_text(err: *const csn_error) -> *const c_char;
    pub fn csn_status_name(status: csn_status) -> *const c_char;
    pub fn csn_reason_text(reason: u32) -> *const c_char;
    pub fn csn_demangle(name: csn_str, out: *mut c_char, cap: usize, out_len: *mut usize, err: *mut csn_error) -> csn_status;

    pub fn csn_index_open_file(path: *const c_char, options: *const csn_index_options, out: *mut *mut csn_index, err: *mut csn_error) -> csn_status;
    pub fn csn_index_open_any(path: *const c_char, options: *const csn_index_options, out: *mut *mut csn_index, err: *mut csn_error) -> csn_status;
    pub fn csn_index_close(index: *mut csn_index);
    pub fn csn_index_get_info(index: *const csn_index, out: *mut csn_index_info, out_size: usize);
    pub fn csn_index_lookup_refs(
        index: *const csn_index, addr: u64, mode: c_int, frames: *mut csn_frame_ref, cap: usize, out: *mut csn_lookup, err: *mut csn_error,
    ) -> csn_status;
    pub fn csn_index_resolve_into(
        index: *const csn_index, frame: *const csn_frame_ref, scratch: *mut c_void, scratch_size: usize, out: *mut csn_frame,
    ) -> usize;

    pub fn csn_companion_search_create(options: *const c_void, out: *mut *mut csn_companion_search, err: *mut csn_error) -> csn_status;
    pub fn csn_companion_search_destroy(search: *mut csn_companion_search);
    pub fn csn_companion_search_resolve(context: *mut c_void, request: *const c_void, out: *mut c_void, err: *mut csn_error) -> csn_status;
    pub fn csn_convert_format_find(name: *const c_char) -> u32;
    pub fn csn_convert_file(
        path: *const c_char, out_path: *const c_char, options: *const csn_convert_options, report: *mut csn_convert_report, err: *mut csn_error,
    ) -> csn_status;
    pub fn csn_event_name(event: u32) -> *const c_char;

    pub fn csn_symbolicator_create(options: *const csn_symbolicator_options, out: *mut *mut csn_symbolicator, err: *mut csn_error) -> csn_status;
    pub fn csn_symbolicator_destroy(symbolicator: *mut csn_symbolicator);
    pub fn csn_symbolicator_set_modules(symbolicator: *mut csn_symbolicator, modules: *const csn_module, count: usize, err: *mut csn_error) -> csn_status;
    pub fn csn_symbolicator_answer(
        symbolicator: *mut csn_symbolicator, frames: *const csn_stack_frame, frame_count: usize, out: *mut *const csn_stack_answer, err: *mut csn_error,
    ) -> csn_status;
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use core::mem::{offset_of, size_of};

    extern "C" {
        static callsign_sys_layout: [usize; 26];
        static callsign_sys_layout_count: usize;
    }

    /// The structs have the layout that the C compiler gives them.
    #[test]
    fn layout() {
        let ours = [
            size_of::<csn_str>(), size_of::<csn_error>(), offset_of!(csn_error, text), offset_of!(csn_index_options, demangle_context),
            offset_of!(csn_index_info, uuid_bytes), offset_of!(csn_index_info, member_count), size_of::<csn_frame>(), offset_of!(csn_frame, reason),
            size_of::<csn_frame_ref>(), offset_of!(csn_frame_ref, reason), size_of::<csn_lookup>(), offset_of!(csn_lookup, frame_count),
            offset_of!(csn_convert_options, input), offset_of!(csn_convert_options, resolver), offset_of!(csn_convert_options, merged_functions),
            offset_of!(csn_convert_options, format), size_of::<csn_convert_report>(), offset_of!(csn_convert_report, uuid_size),
            offset_of!(csn_convert_report, events), size_of::<csn_module>(), offset_of!(csn_module, bias), size_of::<csn_stack_frame>(),
            size_of::<csn_stack_answer>(), offset_of!(csn_stack_answer, candidate_count), offset_of!(csn_stack_answer, notes),
            offset_of!(csn_symbolicator_options, cache_bytes),
        ];
        let (theirs, count) = unsafe { (callsign_sys_layout, callsign_sys_layout_count) };
        assert_eq!(count, ours.len());
        assert_eq!(ours, theirs);
    }
}
