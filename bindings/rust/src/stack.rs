use std::borrow::Cow;
use std::ffi::CStr;
use std::marker::PhantomData;
use std::path::Path;
use std::ptr::NonNull;

use callsign_sys as sys;

use crate::error::{check, Error};
use crate::frame::{bytes_of, Frame, Reason};
use crate::index::Index;

/// A loaded image: its index, where it lies in the process, and its load bias (address = pc - bias).
#[derive(Clone, Copy, Debug, Default)]
pub struct Module<'i> {
    pub index: Option<&'i Index>,
    /// The pcs that it covers, half-open. Empty if frames name the module by its number.
    pub start: u64,
    pub end: u64,
    pub bias: u64,
}

/// One frame of a stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StackFrame {
    /// A pc of the process.
    Pc(u64),
    /// An address of the image of a module.
    Address { module: u32, address: u64 },
    /// The same, of the interrupted instruction and not a return address. Frame 0 is taken as one anyway.
    ExactAddress { module: u32, address: u64 },
}

impl From<StackFrame> for sys::csn_stack_frame {
    fn from(frame: StackFrame) -> Self {
        match frame {
            StackFrame::Pc(pc) => Self { pc, module: 0, flags: 0 },
            StackFrame::Address { module, address } => Self { pc: address, module, flags: sys::CSN_STACK_ADDRESS },
            StackFrame::ExactAddress { module, address } => {
                Self { pc: address, module, flags: sys::CSN_STACK_ADDRESS | sys::CSN_STACK_EXACT }
            }
        }
    }
}

/// How the name of a frame was chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Choice {
    /// No name is known for the address.
    None,
    /// There is only one name.
    Only,
    /// The caller's call site names this function.
    Caller,
    /// An external call site of an outer frame names it.
    Outer,
    /// The caller's call site allows several names, of which one is a candidate.
    Pattern,
    /// Several candidates remain.
    Ambiguous,
}

/// How reliable a choice is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Confidence {
    None,
    Low,
    Medium,
    High,
    Certain,
}

/// The answer for one frame of a stack.
#[derive(Clone, Debug)]
pub struct StackAnswer<'a> {
    /// Address of the image; the pc if no module covers it.
    pub address: u64,
    /// Number of the module, if one covers the frame.
    pub module: Option<u32>,
    /// Innermost first; of the chosen function, or of the first one that is left.
    pub frames: Vec<Frame<'a>>,
    pub reason: Reason,
    /// Why the record of the function cannot be read.
    pub error: Option<Cow<'a, str>>,
    /// The distinct names at the address.
    pub candidates: Vec<Cow<'a, str>>,
    /// The one of them that the callers decide for.
    pub chosen: Option<usize>,
    pub choice: Choice,
    pub confidence: Confidence,
}

/// Symbolicates whole stacks and tells merged functions apart by the callers. Holds the working memory, so one thread uses it at a
/// time; several symbolicators may share indexes.
#[derive(Debug)]
pub struct Symbolicator<'i> {
    raw: NonNull<sys::csn_symbolicator>,
    indexes: PhantomData<&'i Index>,
}

// SAFETY: it has no ties to the thread that made it.
unsafe impl Send for Symbolicator<'_> {}

impl<'i> Symbolicator<'i> {
    /// Makes one for these modules.
    pub fn new(modules: &[Module<'i>]) -> Result<Self, Error> {
        let mut raw = std::ptr::null_mut();
        // SAFETY: NULL means default options.
        check(Path::new(""), |err| unsafe { sys::csn_symbolicator_create(std::ptr::null(), &mut raw, err) })?;
        let raw = NonNull::new(raw).ok_or_else(|| Error::argument("no symbolicator"))?;
        let mut made = Self { raw, indexes: PhantomData };
        made.set_modules(modules)?;
        Ok(made)
    }

    /// Replaces the modules for the stacks that follow.
    pub fn set_modules(&mut self, modules: &[Module<'i>]) -> Result<(), Error> {
        let none = sys::csn_str { ptr: std::ptr::null(), len: 0 };
        let raw: Vec<_> = modules
            .iter()
            .map(|module| sys::csn_module {
                name: none,
                index: module.index.map_or(std::ptr::null(), |index| index.raw.as_ptr().cast_const()),
                start: module.start,
                end: module.end,
                bias: module.bias,
                reserved: [0; 2],
            })
            .collect();
        // SAFETY: the array is copied; the indexes live as long as 'i.
        check(Path::new(""), |err| unsafe { sys::csn_symbolicator_set_modules(self.raw.as_ptr(), raw.as_ptr(), raw.len(), err) })?;
        Ok(())
    }

    /// Symbolicates a stack, innermost frame first. All frames but the first are return addresses: the byte before is looked up.
    /// Unknown frames are no error.
    pub fn answer(&mut self, frames: &[StackFrame]) -> Result<Vec<StackAnswer<'_>>, Error> {
        let raw: Vec<sys::csn_stack_frame> = frames.iter().map(|&frame| frame.into()).collect();
        let mut out = std::ptr::null();
        check(Path::new(""), |err| unsafe { sys::csn_symbolicator_answer(self.raw.as_ptr(), raw.as_ptr(), raw.len(), &mut out, err) })?;
        if raw.is_empty() {
            return Ok(Vec::new());
        }
        // SAFETY: as many answers as frames, valid until the symbolicator is used again, which needs it mutably.
        let answers = unsafe { std::slice::from_raw_parts(out, raw.len()) };
        Ok(answers.iter().map(|answer| unsafe { StackAnswer::new(answer) }).collect())
    }
}

impl Drop for Symbolicator<'_> {
    fn drop(&mut self) {
        // SAFETY: no answer lives any more.
        unsafe { sys::csn_symbolicator_destroy(self.raw.as_ptr()) }
    }
}

unsafe fn items<'a, T>(ptr: *const T, count: u32) -> &'a [T] {
    if count == 0 || ptr.is_null() {
        return &[];
    }
    std::slice::from_raw_parts(ptr, count as usize)
}

impl StackAnswer<'_> {
    /// SAFETY: what the answer points to must live as long as the result.
    unsafe fn new(raw: &sys::csn_stack_answer) -> Self {
        let text = |text: &sys::csn_str| String::from_utf8_lossy(bytes_of(*text));
        Self {
            address: raw.addr,
            module: (raw.module != u32::MAX).then_some(raw.module),
            frames: items(raw.frames, raw.frame_count).iter().map(|frame| Frame::new(frame, None)).collect(),
            reason: Reason(raw.reason),
            error: (!raw.error.is_null()).then(|| CStr::from_ptr(raw.error).to_string_lossy()),
            candidates: items(raw.candidates, raw.candidate_count).iter().map(text).collect(),
            chosen: (raw.chosen != sys::CSN_NOT_CHOSEN).then_some(raw.chosen as usize),
            choice: match raw.choice {
                1 => Choice::Only,
                2 => Choice::Caller,
                3 => Choice::Outer,
                4 => Choice::Pattern,
                5 => Choice::Ambiguous,
                _ => Choice::None,
            },
            confidence: match raw.confidence {
                1 => Confidence::Low,
                2 => Confidence::Medium,
                3 => Confidence::High,
                4 => Confidence::Certain,
                _ => Confidence::None,
            },
        }
    }
}
