use std::ffi::{CStr, CString, NulError};
use std::fmt;
use std::path::Path;

use callsign_sys as sys;

/// The kind of a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Status {
    /// The data ends in the middle of a required value.
    Truncated,
    /// The data violates its format.
    Format,
    /// A limit of the options or of the output format is exceeded.
    Limit,
    /// Valid, but this build or version does not support it.
    Unsupported,
    Memory,
    /// A system call failed; see [`Error::os_error`].
    Io,
    Argument,
    /// A named thing (section, function, file) does not exist.
    NotFound,
    /// A progress callback asked to stop.
    Cancelled,
    /// A status of a later version of the library.
    Other(i32),
}

impl From<i32> for Status {
    fn from(code: i32) -> Self {
        match code {
            -1 => Self::Truncated,
            -2 => Self::Format,
            -3 => Self::Limit,
            -4 => Self::Unsupported,
            -5 => Self::Memory,
            -6 => Self::Io,
            -7 => Self::Argument,
            -8 => Self::NotFound,
            -9 => Self::Cancelled,
            other => Self::Other(other),
        }
    }
}

/// A failure of the library: what is wrong, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    pub status: Status,
    /// One line with the affected item, its position and the values involved.
    pub message: String,
    /// The file, if the call was about one; otherwise empty.
    pub path: String,
    /// The part of the file, such as ".debug_line"; empty if there is none.
    pub section: String,
    /// Byte offset within the section, or within the file.
    pub offset: u64,
    /// The system's error number, or 0.
    pub os_error: i32,
}

impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.path.is_empty() {
            write!(out, "{}: ", self.path)?;
        }
        out.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

impl Error {
    pub(crate) fn argument(message: impl Into<String>) -> Self {
        Self { status: Status::Argument, message: message.into(), path: String::new(), section: String::new(), offset: 0, os_error: 0 }
    }

    fn new(status: i32, err: &sys::csn_error, path: &Path) -> Self {
        // SAFETY: both texts end with a NUL.
        let (text, section) = unsafe { (CStr::from_ptr(sys::csn_error_text(err)), CStr::from_ptr(err.section.as_ptr())) };
        let mut message = text.to_string_lossy().into_owned();
        if message.is_empty() {
            message = unsafe { CStr::from_ptr(sys::csn_status_name(status)) }.to_string_lossy().into_owned();
        }
        Self {
            status: status.into(),
            message,
            path: path.display().to_string(),
            section: section.to_string_lossy().into_owned(),
            offset: err.offset,
            os_error: err.os_error,
        }
    }
}

impl From<NulError> for Error {
    fn from(_: NulError) -> Self {
        Self::argument("a string has a NUL byte")
    }
}

/// Calls the library with a csn_error, and makes a result of its status.
pub(crate) fn check(path: &Path, call: impl FnOnce(*mut sys::csn_error) -> i32) -> Result<i32, Error> {
    let mut err = std::mem::MaybeUninit::<sys::csn_error>::uninit();
    // SAFETY: csn_error_init() fills all of it.
    let mut err = unsafe {
        sys::csn_error_init(err.as_mut_ptr());
        err.assume_init()
    };
    match call(&mut err) {
        status if status < 0 => Err(Error::new(status, &err, path)),
        status => Ok(status),
    }
}

#[cfg(unix)]
pub(crate) fn c_path(path: &Path) -> Result<CString, Error> {
    use std::os::unix::ffi::OsStrExt;
    Ok(CString::new(path.as_os_str().as_bytes())?)
}

#[cfg(not(unix))]
pub(crate) fn c_path(path: &Path) -> Result<CString, Error> {
    Ok(CString::new(path.to_str().ok_or_else(|| Error::argument("a path is not Unicode"))?)?)
}
