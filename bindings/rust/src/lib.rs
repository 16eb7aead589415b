//! Machine addresses to function names, source lines and inline call stacks.
//!
//! Convert a program's debug information once, then look addresses up in the index:
//!
//! ```no_run
//! # fn main() -> Result<(), callsign::Error> {
//! callsign::convert("prog", "prog.gsym", &callsign::ConvertOptions::default())?;
//! let index = callsign::Index::open("prog.gsym")?;
//! for frame in &index.lookup(0x1139)?.frames {
//!     println!("{} at {}:{}", frame.function(), frame.path(), frame.line);
//! }
//! # Ok(())
//! # }
//! ```
//!
//! [`Symbolicator`] answers whole stacks over several images, and tells functions apart that the linker folded into one. An open
//! [`Index`] may be shared by any number of threads.

mod convert;
mod error;
mod frame;
mod index;
mod stack;

pub use convert::{convert, ConvertOptions, Report};
pub use error::{Error, Status};
pub use frame::{Frame, Reason};
pub use index::{Index, IndexOptions, Lookup};
pub use stack::{Choice, Confidence, Module, StackAnswer, StackFrame, Symbolicator};

use std::ffi::CStr;
use std::os::raw::c_char;

/// The version of the C library.
pub fn version() -> &'static str {
    // A static string of the library, ASCII.
    unsafe { CStr::from_ptr(callsign_sys::csn_version()) }.to_str().unwrap_or_default()
}

/// The demangled form of a name of C++, Rust, D, Swift or MSVC; the name itself if it is not mangled.
pub fn demangle(name: &str) -> String {
    let mangled = callsign_sys::csn_str { ptr: name.as_ptr().cast(), len: name.len() };
    let mut out = vec![0u8; 1024];
    loop {
        let mut size = 0;
        // SAFETY: `out` has the stated size, and `mangled` lives as long as `name`.
        let status =
            unsafe { callsign_sys::csn_demangle(mangled, out.as_mut_ptr().cast::<c_char>(), out.len(), &mut size, std::ptr::null_mut()) };
        if status == callsign_sys::CSN_OK && size < out.len() {
            out.truncate(size);
            return String::from_utf8_lossy(&out).into_owned();
        }
        if size < out.len() {
            return name.to_owned();
        }
        out.resize(size + 1, 0);
    }
}
