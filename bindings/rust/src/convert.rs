use std::collections::BTreeMap;
use std::ffi::{CStr, CString};
use std::mem::MaybeUninit;
use std::path::Path;

use callsign_sys as sys;

use crate::error::{c_path, check, Error};

/// How to convert. The default writes GSYM version 1 on all cores and finds debug files where debuggers do.
#[derive(Clone, Debug)]
pub struct ConvertOptions {
    /// "gsym", "gsym-v2", "gsym-section", "bsym" or "breakpad".
    pub format: String,
    /// 0: one for each core. The output does not depend on it.
    pub threads: u32,
    /// Anything dropped or damaged is an error.
    pub strict: bool,
    /// Keep call sites, which tell merged functions apart over a stack.
    pub call_sites: bool,
    /// Keep all functions that share code.
    pub merged_functions: bool,
    /// Search for debug files (never over the network).
    pub companions: bool,
}

impl Default for ConvertOptions {
    fn default() -> Self {
        Self { format: "gsym".to_owned(), threads: 0, strict: false, call_sites: false, merged_functions: false, companions: true }
    }
}

/// What a conversion read and wrote.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Report {
    pub functions: u64,
    pub rows: u64,
    pub inlined_calls: u64,
    pub call_sites: u64,
    pub merged_functions: u64,
    pub files: u64,
    pub input_bytes: u64,
    pub output_bytes: u64,
    /// Empty if the input has none.
    pub build_id: Vec<u8>,
    /// What was merged, clipped or dropped: name of the event, its count and a first example.
    pub events: BTreeMap<String, (u64, String)>,
}

/// Ends the search when the conversion is over, however it ends.
struct Search(*mut sys::csn_companion_search);

impl Drop for Search {
    fn drop(&mut self) {
        // SAFETY: made by csn_companion_search_create(), or NULL.
        unsafe { sys::csn_companion_search_destroy(self.0) }
    }
}

/// Converts a program, library, debug file, dSYM bundle, Breakpad file or index into an index at `output`, which is written under
/// another name and renamed: on a failure the old file stays.
pub fn convert(input: impl AsRef<Path>, output: impl AsRef<Path>, options: &ConvertOptions) -> Result<Report, Error> {
    let (input, output) = (input.as_ref(), output.as_ref());
    let (input_text, output_text) = (c_path(input)?, c_path(output)?);
    let format = CString::new(options.format.as_str())?;
    let mut search = Search(std::ptr::null_mut());
    let mut report = MaybeUninit::zeroed();
    // SAFETY: the pointers live during the call; all zeros are the default options.
    unsafe {
        let mut raw: sys::csn_convert_options = std::mem::zeroed();
        raw.struct_size = std::mem::size_of_val(&raw);
        raw.format = sys::csn_convert_format_find(format.as_ptr());
        if raw.format == 0 {
            return Err(Error::argument(format!("'{}' is not an output format", options.format)));
        }
        raw.threads = options.threads;
        raw.flags = if options.strict { sys::CSN_CONVERT_STRICT } else { 0 } | if options.call_sites { sys::CSN_CONVERT_CALL_SITES } else { 0 };
        raw.merged_functions = if options.merged_functions { sys::CSN_MERGE_ALL } else { 0 };
        if options.companions {
            check(input, |err| sys::csn_companion_search_create(std::ptr::null(), &mut search.0, err))?;
            raw.resolver = Some(sys::csn_companion_search_resolve);
            raw.resolver_context = search.0.cast();
        }
        check(input, |err| sys::csn_convert_file(input_text.as_ptr(), output_text.as_ptr(), &raw, report.as_mut_ptr(), err))?;
        Ok(Report::new(&report.assume_init()))
    }
}

impl Report {
    fn new(raw: &sys::csn_convert_report) -> Self {
        let events = raw.events.iter().enumerate().filter(|(_, event)| event.count > 0).map(|(number, event)| {
            // SAFETY: both texts end with a NUL.
            let (name, example) = unsafe { (CStr::from_ptr(sys::csn_event_name(number as u32)), CStr::from_ptr(event.example.as_ptr())) };
            (name.to_string_lossy().into_owned(), (event.count, example.to_string_lossy().into_owned()))
        });
        Self {
            functions: raw.functions_written,
            rows: raw.rows_written,
            inlined_calls: raw.inline_nodes_written,
            call_sites: raw.call_sites_written,
            merged_functions: raw.functions_merged,
            files: raw.files_written,
            input_bytes: raw.input_bytes,
            output_bytes: raw.output_bytes,
            build_id: raw.uuid[..(raw.uuid_size as usize).min(raw.uuid.len())].to_vec(),
            events: events.collect(),
        }
    }
}
