use std::borrow::Cow;
use std::ffi::CStr;
use std::fmt;

use callsign_sys as sys;

/// Why an answer is incomplete.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Reason(pub(crate) u32);

impl Reason {
    /// Nothing is missing.
    pub const COMPLETE: Reason = Reason(sys::CSN_REASON_COMPLETE);

    pub fn is_complete(self) -> bool {
        self == Self::COMPLETE
    }

    /// An English clause, such as "the function has no line table".
    pub fn text(self) -> &'static str {
        // SAFETY: a static string of the library, ASCII.
        unsafe { CStr::from_ptr(sys::csn_reason_text(self.0)) }.to_str().unwrap_or_default()
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.text())
    }
}

/// One frame of an answer. Its strings are bytes of the index, which need not be UTF-8.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame<'a> {
    /// The name as it is stored: mangled if the compiler mangles names; empty if unknown.
    pub name: Cow<'a, [u8]>,
    pub directory: &'a [u8],
    /// File name without directory; empty if unknown.
    pub base: &'a [u8],
    /// Bytes from the start of the function, or of the inlined call.
    pub offset: u64,
    /// 0 if unknown.
    pub line: u32,
    pub inlined: bool,
    /// The address lies between the end of this function and the next one.
    pub uncertain: bool,
    /// Why file and line are missing.
    pub reason: Reason,
}

/// SAFETY: the string must live as long as 'a.
pub(crate) unsafe fn bytes_of<'a>(text: sys::csn_str) -> &'a [u8] {
    if text.len == 0 {
        return &[];
    }
    std::slice::from_raw_parts(text.ptr.cast(), text.len)
}

impl<'a> Frame<'a> {
    /// SAFETY: the strings of `frame` must live as long as 'a, but for a name that is given here.
    pub(crate) unsafe fn new(frame: &sys::csn_frame, name: Option<Vec<u8>>) -> Self {
        Self {
            name: name.map_or_else(|| Cow::Borrowed(bytes_of(frame.name)), Cow::Owned),
            directory: bytes_of(frame.directory),
            base: bytes_of(frame.base),
            offset: frame.offset,
            line: frame.line,
            inlined: frame.flags & sys::CSN_FRAME_INLINED != 0,
            uncertain: frame.flags & sys::CSN_FRAME_UNCERTAIN != 0,
            reason: Reason(frame.reason),
        }
    }

    /// The name as text; bytes that are not UTF-8 become U+FFFD.
    pub fn function(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.name)
    }

    /// The path of the source file; empty if it is unknown.
    pub fn path(&self) -> String {
        let mut path = String::from_utf8_lossy(self.directory).into_owned();
        if !self.directory.is_empty() && !self.base.is_empty() {
            let windows = !self.directory.contains(&b'/') && self.directory.contains(&b'\\');
            match self.directory.last() {
                Some(b'/') => {}
                Some(b'\\') if windows => {}
                _ => path.push(if windows { '\\' } else { '/' }),
            }
        }
        path.push_str(&String::from_utf8_lossy(self.base));
        path
    }
}

/// One line, as `callsign lookup` prints it.
impl fmt::Display for Frame<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.uncertain {
            out.write_str("possibly ")?;
        }
        let name = self.function();
        write!(out, "{} + {}", Plain(if name.is_empty() { "(no name)" } else { &name }), self.offset)?;
        let path = self.path();
        if !path.is_empty() {
            write!(out, " at {}:", Plain(&path))?;
            if self.line != 0 {
                write!(out, "{}", self.line)?;
            } else {
                out.write_str("?")?;
            }
        } else if self.reason.0 == sys::CSN_REASON_NO_CALL_FILE && self.line != 0 {
            write!(out, " at ?:{}", self.line)?;
        } else if !self.reason.is_complete() {
            write!(out, " ({})", self.reason)?;
        }
        if self.inlined {
            out.write_str(" [inlined]")?;
        }
        Ok(())
    }
}

/// Control characters as \xNN, so that a name cannot steer a terminal.
struct Plain<'a>(&'a str);

impl fmt::Display for Plain<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for c in self.0.chars() {
            if (c as u32) < 0x20 || c as u32 == 0x7f {
                write!(out, "\\x{:02x}", c as u32)?;
            } else {
                write!(out, "{c}")?;
            }
        }
        Ok(())
    }
}
