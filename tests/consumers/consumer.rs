// A Rust program against the lookup-only library, with plain extern "C": opens an index, prints the frames of addresses.
use std::ffi::{CStr, CString};
use std::os::raw::{c_char, c_int, c_void}; // in std::ffi since Rust 1.64; Debian 12 has 1.63

#[repr(C)]
struct Str {
    ptr: *const c_char,
    len: usize,
}

#[repr(C)]
struct Frame {
    name: Str,
    directory: Str,
    base: Str,
    offset: u64,
    line: u32,
    flags: u32,
    reason: u32,
    reserved: u32,
}

#[repr(C)]
struct Error {
    code: i32,
    os_error: i32,
    offset: u64,
    section: [c_char; 24],
    text: [c_char; 232],
}

#[repr(C)]
struct IndexOptions {
    struct_size: usize,
    allocator: *const c_void,
    accelerator_bytes: u64,
    arch: *const c_char,
    demangle: *const c_void,
    demangle_context: *mut c_void,
}

enum Index {}

extern "C" {
    fn csn_version() -> *const c_char;
    fn csn_error_init(err: *mut Error);
    fn csn_error_text(err: *const Error) -> *const c_char;
    fn csn_index_options_init(options: *mut IndexOptions);
    fn csn_index_open_file(path: *const c_char, options: *const IndexOptions, out: *mut *mut Index, err: *mut Error) -> c_int;
    fn csn_index_lookup(index: *const Index, addr: u64, frames: *mut Frame, cap: usize, count: *mut usize, err: *mut Error) -> c_int;
    fn csn_frame_path(frame: *const Frame, out: *mut c_char, cap: usize) -> usize;
    fn csn_index_close(index: *mut Index);
}

fn text(s: &Str) -> String {
    let bytes = unsafe { std::slice::from_raw_parts(s.ptr as *const u8, s.len) };
    String::from_utf8_lossy(bytes).into_owned()
}

fn path(frame: &Frame) -> String {
    let need = unsafe { csn_frame_path(frame, std::ptr::null_mut(), 0) };
    let mut bytes = vec![0u8; need + 1];
    unsafe { csn_frame_path(frame, bytes.as_mut_ptr() as *mut c_char, bytes.len()) };
    bytes.truncate(need);
    String::from_utf8_lossy(&bytes).into_owned()
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let file = CString::new(args[1].as_str()).unwrap();
    unsafe {
        let mut err: Error = std::mem::zeroed();
        csn_error_init(&mut err);
        let mut options: IndexOptions = std::mem::zeroed();
        csn_index_options_init(&mut options);
        assert_eq!(options.struct_size, std::mem::size_of::<IndexOptions>());
        let mut index = std::ptr::null_mut();
        if csn_index_open_file(file.as_ptr(), &options, &mut index, &mut err) < 0 {
            eprintln!("{}", CStr::from_ptr(csn_error_text(&err)).to_string_lossy());
            std::process::exit(2);
        }
        println!("callsign {}", CStr::from_ptr(csn_version()).to_string_lossy());
        for arg in &args[2..] {
            let addr = u64::from_str_radix(arg.trim_start_matches("0x"), 16).unwrap();
            let mut frames: [Frame; 16] = std::mem::zeroed();
            let mut count = 0;
            if csn_index_lookup(index, addr, frames.as_mut_ptr(), frames.len(), &mut count, &mut err) != 0 {
                println!("{arg}: nothing");
                continue;
            }
            for frame in &frames[..count.min(frames.len())] {
                println!("{}+{} {}:{}", text(&frame.name), frame.offset, path(frame), frame.line);
            }
        }
        csn_index_close(index);
    }
}
