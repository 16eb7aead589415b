use std::ffi::CString;
use std::mem::MaybeUninit;
use std::path::Path;
use std::ptr::NonNull;

use callsign_sys as sys;

use crate::error::{c_path, check, Error};
use crate::frame::{Frame, Reason};

/// How to open an index.
#[derive(Clone, Debug, Default)]
pub struct IndexOptions {
    /// Memory limit, in bytes, of a decoded copy that makes lookups several times faster; 0: none.
    pub accelerator_bytes: u64,
    /// The image of a universal Mach-O file, such as "arm64".
    pub arch: Option<String>,
}

/// The symbols of one image. Any number of threads may look addresses up at the same time.
#[derive(Debug)]
pub struct Index {
    pub(crate) raw: NonNull<sys::csn_index>,
}

// SAFETY: an open index never changes; the header promises lookups from any thread.
unsafe impl Send for Index {}
unsafe impl Sync for Index {}

/// The answer to one address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lookup<'a> {
    /// The innermost inlined call first, the function itself last; empty if no function covers the address.
    pub frames: Vec<Frame<'a>>,
    /// Why there are no frames, or what the answer lacks.
    pub reason: Reason,
}

const FIRST_FRAMES: usize = 16;

impl Index {
    /// Opens an index (GSYM, BSYM), a program that contains one, or any program or debug file, which is then converted in memory.
    /// Opening an index maps it and builds nothing, whatever its size. The file must not shrink while it is open: replace it by renaming.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, Error> {
        Self::open_with(path, &IndexOptions::default())
    }

    /// The same with options.
    pub fn open_with(path: impl AsRef<Path>, options: &IndexOptions) -> Result<Self, Error> {
        let path = path.as_ref();
        let text = c_path(path)?;
        let arch = options.arch.as_deref().map(CString::new).transpose()?;
        let mut raw = std::ptr::null_mut();
        // SAFETY: the pointers live during the call; all zeros are the default options.
        unsafe {
            let mut raw_options: sys::csn_index_options = std::mem::zeroed();
            raw_options.struct_size = std::mem::size_of_val(&raw_options);
            raw_options.accelerator_bytes = options.accelerator_bytes;
            raw_options.arch = arch.as_ref().map_or(std::ptr::null(), |arch| arch.as_ptr());
            check(path, |err| sys::csn_index_open_any(text.as_ptr(), &raw_options, &mut raw, err))?;
        }
        NonNull::new(raw).map(|raw| Self { raw }).ok_or_else(|| Error::argument("no index"))
    }

    /// Looks one address of the image up; the load bias is subtracted. An address that no function covers is no error: the answer
    /// has no frames and a reason.
    pub fn lookup(&self, address: u64) -> Result<Lookup<'_>, Error> {
        let mut refs = [sys::csn_frame_ref::default(); FIRST_FRAMES];
        let found = self.lookup_refs(address, &mut refs)?;
        if found.frame_count <= FIRST_FRAMES {
            return Ok(self.resolve(&refs[..found.frame_count], found.reason));
        }
        let mut refs = vec![sys::csn_frame_ref::default(); found.frame_count];
        let found = self.lookup_refs(address, &mut refs)?;
        Ok(self.resolve(&refs, found.reason))
    }

    fn lookup_refs(&self, address: u64, refs: &mut [sys::csn_frame_ref]) -> Result<sys::csn_lookup, Error> {
        let mut found = sys::csn_lookup::default();
        // SAFETY: `refs` has the stated capacity.
        let status = check(Path::new(""), |err| unsafe {
            sys::csn_index_lookup_refs(self.raw.as_ptr(), address, 0, refs.as_mut_ptr(), refs.len(), &mut found, err)
        })?;
        if status != sys::CSN_OK {
            found.frame_count = 0;
        }
        Ok(found)
    }

    fn resolve(&self, refs: &[sys::csn_frame_ref], reason: u32) -> Lookup<'_> {
        Lookup { frames: refs.iter().map(|frame| self.resolve_frame(frame)).collect(), reason: Reason(reason) }
    }

    fn resolve_frame(&self, frame: &sys::csn_frame_ref) -> Frame<'_> {
        let mut out = MaybeUninit::uninit();
        // SAFETY: the call fills `out`; its strings point into the index, but for a name that is put together in `scratch`.
        unsafe {
            let need = sys::csn_index_resolve_into(self.raw.as_ptr(), frame, std::ptr::null_mut(), 0, out.as_mut_ptr());
            if need == 0 {
                return Frame::new(&out.assume_init(), None);
            }
            let mut scratch = vec![0u8; need];
            sys::csn_index_resolve_into(self.raw.as_ptr(), frame, scratch.as_mut_ptr().cast(), need, out.as_mut_ptr());
            let out = out.assume_init();
            Frame::new(&out, Some(crate::frame::bytes_of(out.name).to_vec()))
        }
    }

    fn info(&self) -> sys::csn_index_info {
        let mut info = MaybeUninit::uninit();
        // SAFETY: the call fills as many bytes as it is given.
        unsafe {
            sys::csn_index_get_info(self.raw.as_ptr(), info.as_mut_ptr(), std::mem::size_of::<sys::csn_index_info>());
            info.assume_init()
        }
    }

    /// The build id or UUID of the image; empty if the index has none.
    pub fn build_id(&self) -> Vec<u8> {
        let info = self.info();
        info.uuid[..usize::from(info.uuid_size).min(info.uuid.len())].to_vec()
    }

    /// The number of functions.
    pub fn function_count(&self) -> usize {
        self.info().function_count as usize
    }
}

impl Drop for Index {
    fn drop(&mut self) {
        // SAFETY: nothing that borrows from the index lives any more.
        unsafe { sys::csn_index_close(self.raw.as_ptr()) }
    }
}
