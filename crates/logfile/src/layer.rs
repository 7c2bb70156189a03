//! The layer itself: SQLite's own, with other functions for the log.
//!
//! Whoever opens a database through it flushes the log at each commit (`synchronous = FULL`): others find
//! the pages of a commit in the file from then on, and until then they are not told of them.

#![expect(unsafe_code, reason = "SQLite asks for files through tables of C functions")]

use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr;
use std::slice;
use std::sync::OnceLock;

use rusqlite::ffi;

use crate::pieces::Pieces;

/// The layer's name, by which a connection is opened.
const NAME: &CStr = c"logfile";

/// SQLite would not have the layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("SQLite has no files, or no memory: code {0}")]
pub struct Unavailable(c_int);

/// Makes the layer known to SQLite; the name by which a connection is opened through it.
pub fn layer() -> Result<&'static CStr, Unavailable> {
    static KNOWN: OnceLock<Result<(), Unavailable>> = OnceLock::new();
    KNOWN.get_or_init(register).map(|()| NAME)
}

/// Our layer, and the one that it stands before.
#[repr(C)]
struct Layer {
    /// First, so that SQLite's pointer to it points to all of this.
    ours: ffi::sqlite3_vfs,
    theirs: *mut ffi::sqlite3_vfs,
}

/// A log that is open. What SQLite's own layer keeps of it stands behind this in memory.
#[repr(C)]
struct Log {
    /// First, so that SQLite's pointer to it points to all of this.
    head: ffi::sqlite3_file,
    pieces: Pieces,
}

/// SQLite gives memory that is aligned for this, and so must be what stands behind a [`Log`].
const ALIGNMENT: usize = 8;
const _: () = assert!(align_of::<Log>() <= ALIGNMENT && size_of::<Log>().is_multiple_of(ALIGNMENT));

fn register() -> Result<(), Unavailable> {
    // SAFETY: no name asks for the default; SQLite keeps what it answers for as long as it runs.
    let theirs = unsafe { ffi::sqlite3_vfs_find(ptr::null()) };
    if theirs.is_null() {
        return Err(Unavailable(ffi::SQLITE_ERROR));
    }
    // SAFETY: it is SQLite's own, just found, and nobody changes it.
    let mut ours = unsafe { *theirs };
    let behind = c_int::try_from(size_of::<Log>()).map_err(|_| Unavailable(ffi::SQLITE_ERROR))?;
    // All else stays as it is: their functions find in ours what they look for in their own.
    ours.szOsFile = ours.szOsFile.saturating_add(behind);
    ours.pNext = ptr::null_mut();
    ours.zName = NAME.as_ptr();
    ours.xOpen = Some(open);
    let layer = Box::leak(Box::new(Layer { ours, theirs }));
    // SAFETY: the layer is complete, and it is never freed.
    let code = unsafe { ffi::sqlite3_vfs_register(&raw mut layer.ours, 0) };
    if code == ffi::SQLITE_OK { Ok(()) } else { Err(Unavailable(code)) }
}

/// What SQLite calls for a log that was opened here.
static FUNCTIONS: ffi::sqlite3_io_methods = ffi::sqlite3_io_methods {
    // A log is neither shared memory nor mapped; these come with later versions.
    iVersion: 1,
    xClose: Some(close),
    xRead: Some(read),
    xWrite: Some(write),
    xTruncate: Some(truncate),
    xSync: Some(sync),
    xFileSize: Some(file_size),
    xLock: Some(lock),
    xUnlock: Some(unlock),
    xCheckReservedLock: Some(check_reserved_lock),
    xFileControl: Some(file_control),
    xSectorSize: Some(sector_size),
    xDeviceCharacteristics: Some(device_characteristics),
    xShmMap: None,
    xShmLock: None,
    xShmBarrier: None,
    xShmUnmap: None,
    xFetch: None,
    xUnfetch: None,
};

/// Opens a file; only a log is ours.
unsafe extern "C" fn open(
    layer: *mut ffi::sqlite3_vfs,
    name: *const c_char,
    file: *mut ffi::sqlite3_file,
    flags: c_int,
    flags_out: *mut c_int,
) -> c_int {
    // SAFETY: SQLite calls this with the layer that was registered, which is the head of a `Layer`.
    let theirs = unsafe { (*layer.cast::<Layer>()).theirs };
    // SAFETY: `theirs` is SQLite's own layer, which is never freed.
    let Some(open) = (unsafe { (*theirs).xOpen }) else { return ffi::SQLITE_CANTOPEN };
    if flags & ffi::SQLITE_OPEN_WAL == 0 {
        // SAFETY: the call is passed on as it came; there is more memory at `file` than they need.
        return unsafe { open(theirs, name, file, flags, flags_out) };
    }
    // SAFETY: there are `szOsFile` bytes at `file`: ours first, theirs behind.
    let code = unsafe { open(theirs, name, behind(file), flags, flags_out) };
    // SAFETY: the memory is ours and large enough. A file without functions is not open, and SQLite
    // does not close it; its pieces have no memory of their own yet.
    unsafe {
        file.cast::<Log>().write(Log {
            head: ffi::sqlite3_file {
                pMethods: if code == ffi::SQLITE_OK { &raw const FUNCTIONS } else { ptr::null() },
            },
            pieces: Pieces::default(),
        });
    }
    code
}

/// Their part of a log.
unsafe fn behind(file: *mut ffi::sqlite3_file) -> *mut ffi::sqlite3_file {
    // SAFETY: the caller's `file` is the head of a `Log`, and theirs stands behind it.
    unsafe { file.cast::<Log>().add(1).cast() }
}

/// Calls their function of this name, after everything was written that waits here.
macro_rules! pass_on {
    ($file:expr, $name:ident $(, $argument:expr)*) => {{
        let file: *mut ffi::sqlite3_file = $file;
        // SAFETY: SQLite calls the functions of a log with a log that was opened here.
        let code = unsafe { write_out(file) };
        if code == ffi::SQLITE_OK {
            // SAFETY: as above; their part is open, and the arguments are passed on as they came.
            unsafe { theirs!(file, $name $(, $argument)*) }
        } else {
            code
        }
    }};
}

/// Calls their function of this name. Only for a log that was opened here.
macro_rules! theirs {
    ($file:expr, $name:ident $(, $argument:expr)*) => {{
        let file = behind($file);
        match (*(*file).pMethods).$name {
            Some(function) => function(file $(, $argument)*),
            None => ffi::SQLITE_NOTFOUND,
        }
    }};
}

/// Writes what waits. It is gone from here also when that fails: SQLite is told, and nothing is written
/// behind it before it has come again.
unsafe fn write_out(file: *mut ffi::sqlite3_file) -> c_int {
    // SAFETY: the caller's `file` is the head of a `Log`, which one thread uses at a time.
    let pieces = unsafe { &mut (*file.cast::<Log>()).pieces };
    let Some((at, bytes)) = pieces.all() else { return ffi::SQLITE_OK };
    let Ok(length) = c_int::try_from(bytes.len()) else { return ffi::SQLITE_IOERR_WRITE };
    // SAFETY: the caller's log is open, and `bytes` has as many bytes as are written.
    let code = unsafe { theirs!(file, xWrite, bytes.as_ptr().cast(), length, at) };
    if code == ffi::SQLITE_OK {
        pieces.clear();
    } else {
        pieces.lose(code);
    }
    code
}

unsafe extern "C" fn write(
    file: *mut ffi::sqlite3_file,
    data: *const c_void,
    length: c_int,
    at: i64,
) -> c_int {
    let Ok(bytes) = usize::try_from(length) else { return ffi::SQLITE_IOERR_WRITE };
    // SAFETY: SQLite calls this with a log that was opened here, one thread at a time.
    if !unsafe { &(*file.cast::<Log>()).pieces }.fits(at, bytes) {
        // SAFETY: as above.
        let code = unsafe { write_out(file) };
        if code != ffi::SQLITE_OK {
            return code;
        }
    }
    // SAFETY: as above; what was lent before is given back.
    let pieces = unsafe { &mut (*file.cast::<Log>()).pieces };
    if let Some(why) = pieces.forbids_write(at) {
        return why;
    }
    if !pieces.fits(at, bytes) {
        // SAFETY: as above; nothing waits here, and the call is passed on as it came.
        let code = unsafe { theirs!(file, xWrite, data, length, at) };
        if code == ffi::SQLITE_OK {
            pieces.wrote(at, bytes);
        }
        return code;
    }
    // SAFETY: SQLite gives so many bytes to write.
    pieces.add(at, unsafe { slice::from_raw_parts(data.cast::<u8>(), bytes) });
    ffi::SQLITE_OK
}

unsafe extern "C" fn close(file: *mut ffi::sqlite3_file) -> c_int {
    // SAFETY: SQLite calls this with a log that was opened here, and never uses it again. Its own layer
    // closes a file also when it says that something went wrong.
    unsafe {
        let written = write_out(file);
        let closed = theirs!(file, xClose);
        ptr::drop_in_place(&raw mut (*file.cast::<Log>()).pieces);
        if written == ffi::SQLITE_OK { closed } else { written }
    }
}

/// What waits is read from here: a read that had to write first could fail as a write does, and SQLite
/// does not expect that of a read.
unsafe extern "C" fn read(
    file: *mut ffi::sqlite3_file,
    into: *mut c_void,
    length: c_int,
    at: i64,
) -> c_int {
    let Ok(bytes) = usize::try_from(length) else { return ffi::SQLITE_IOERR_READ };
    // SAFETY: SQLite calls this with a log that was opened here, one thread at a time.
    let pieces = unsafe { &(*file.cast::<Log>()).pieces };
    if let Some(why) = pieces.forbids_read(at, bytes) {
        return why;
    }
    if let Some(waiting) = pieces.waiting(at, bytes) {
        // SAFETY: SQLite gives room for so many bytes, and it is none of ours.
        unsafe { ptr::copy_nonoverlapping(waiting.as_ptr(), into.cast::<u8>(), bytes) };
        return ffi::SQLITE_OK;
    }
    if pieces.holds_some(at, bytes) {
        return pass_on!(file, xRead, into, length, at);
    }
    // SAFETY: as above; nothing of it waits here, and the call is passed on as it came.
    unsafe { theirs!(file, xRead, into, length, at) }
}

unsafe extern "C" fn truncate(file: *mut ffi::sqlite3_file, size: i64) -> c_int {
    pass_on!(file, xTruncate, size)
}

unsafe extern "C" fn sync(file: *mut ffi::sqlite3_file, flags: c_int) -> c_int {
    pass_on!(file, xSync, flags)
}

unsafe extern "C" fn file_size(file: *mut ffi::sqlite3_file, size: *mut i64) -> c_int {
    pass_on!(file, xFileSize, size)
}

unsafe extern "C" fn lock(file: *mut ffi::sqlite3_file, level: c_int) -> c_int {
    pass_on!(file, xLock, level)
}

unsafe extern "C" fn unlock(file: *mut ffi::sqlite3_file, level: c_int) -> c_int {
    pass_on!(file, xUnlock, level)
}

unsafe extern "C" fn check_reserved_lock(file: *mut ffi::sqlite3_file, is: *mut c_int) -> c_int {
    pass_on!(file, xCheckReservedLock, is)
}

unsafe extern "C" fn file_control(
    file: *mut ffi::sqlite3_file,
    what: c_int,
    argument: *mut c_void,
) -> c_int {
    pass_on!(file, xFileControl, what, argument)
}

unsafe extern "C" fn sector_size(file: *mut ffi::sqlite3_file) -> c_int {
    // SAFETY: SQLite calls this with a log that was opened here.
    unsafe { theirs!(file, xSectorSize) }
}

unsafe extern "C" fn device_characteristics(file: *mut ffi::sqlite3_file) -> c_int {
    // SAFETY: SQLite calls this with a log that was opened here.
    unsafe { theirs!(file, xDeviceCharacteristics) }
}
