//! The VFS object: opens files through SQLite's default VFS and wraps them with [`super::file`].
//!
//! Everything except opening a file is passed to the default VFS unchanged.

// SQLite's VFS is an interface of C function pointers, which cannot be implemented in safe Rust.
#![allow(unsafe_code)]

use std::cell::RefCell;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::mem::size_of;
use std::sync::OnceLock;

use rusqlite::ffi;

use super::direct::DirectFile;
use super::file::{self, OpenFile, SqliteFileHandle};
use super::stats::{self, FileKind};
use super::{DIRECT_PARAMETER, NAME};

thread_local! {
    /// Why the last open on this thread failed, if SQLite's own code does not say it.
    static REASON: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Takes the reason why the last open on this thread failed inside this VFS.
pub(crate) fn take_reason() -> Option<String> {
    REASON.with_borrow_mut(Option::take)
}

/// Registers the VFS with SQLite; later calls return the first call's result code.
pub(crate) fn register() -> c_int {
    static REGISTERED: OnceLock<c_int> = OnceLock::new();
    *REGISTERED.get_or_init(|| {
        // SAFETY: sqlite3_initialize may be called from any thread at any time; a null name requests the
        // default VFS, which lives as long as the process.
        let inner = unsafe {
            let rc = ffi::sqlite3_initialize();
            if rc != ffi::SQLITE_OK {
                return rc;
            }
            ffi::sqlite3_vfs_find(std::ptr::null())
        };
        if inner.is_null() {
            return ffi::SQLITE_ERROR;
        }
        let vfs = Box::leak(Box::new(wrap(inner)));
        // SAFETY: the object is leaked, so it lives as long as SQLite may use it; 0 keeps the default VFS.
        unsafe { ffi::sqlite3_vfs_register(vfs, 0) }
    })
}

/// Builds the VFS object around `inner`.
fn wrap(inner: *mut ffi::sqlite3_vfs) -> ffi::sqlite3_vfs {
    // SAFETY: `inner` is SQLite's registered default VFS.
    let facts = unsafe { &*inner };
    ffi::sqlite3_vfs {
        iVersion: facts.iVersion.min(2),
        szOsFile: size_of::<OpenFile>() as c_int + facts.szOsFile,
        mxPathname: facts.mxPathname,
        pNext: std::ptr::null_mut(),
        zName: NAME.as_ptr(),
        pAppData: inner.cast(),
        xOpen: Some(open),
        xDelete: Some(delete),
        xAccess: Some(access),
        xFullPathname: Some(full_pathname),
        xDlOpen: Some(dl_open),
        xDlError: Some(dl_error),
        xDlSym: Some(dl_sym),
        xDlClose: Some(dl_close),
        xRandomness: Some(randomness),
        xSleep: Some(sleep),
        xCurrentTime: Some(current_time),
        xGetLastError: Some(get_last_error),
        xCurrentTimeInt64: Some(current_time_int64),
        // Version 3 of the interface: replacing system calls is only for SQLite's own tests.
        xSetSystemCall: None,
        xGetSystemCall: None,
        xNextSystemCall: None,
    }
}

/// The VFS to which ours passes calls.
///
/// # Safety
/// `vfs` is the object made by [`wrap`].
unsafe fn inner(vfs: *mut ffi::sqlite3_vfs) -> *mut ffi::sqlite3_vfs {
    // SAFETY: as the caller promises; `wrap` put the inner VFS there.
    unsafe { (*vfs).pAppData.cast() }
}

/// The type of file that SQLite opens; `None` for a temporary file, which is not counted.
fn kind_of(flags: c_int) -> Option<FileKind> {
    match flags {
        f if f & ffi::SQLITE_OPEN_MAIN_DB != 0 => Some(FileKind::Main),
        f if f & ffi::SQLITE_OPEN_WAL != 0 => Some(FileKind::Wal),
        f if f & ffi::SQLITE_OPEN_MAIN_JOURNAL != 0 => Some(FileKind::Journal),
        _ => None,
    }
}

/// Our part of a file that the inner VFS has opened.
///
/// # Safety
/// `name` is a file name that SQLite gave to xOpen with `flags`.
unsafe fn handle(
    name: *const c_char,
    flags: c_int,
    writable: bool,
) -> Result<Option<SqliteFileHandle>, String> {
    let Some(kind) = kind_of(flags).filter(|_| !name.is_null()) else { return Ok(None) };
    // SAFETY: names of main databases, journals and WALs come from SQLite's pager, so the database's own name and its
    // URI parameters can be asked for.
    let (database, direct) = unsafe {
        let database = CStr::from_ptr(ffi::sqlite3_filename_database(name)).to_bytes();
        let direct = ffi::sqlite3_uri_boolean(name, DIRECT_PARAMETER.as_ptr(), 0) != 0;
        (database, kind == FileKind::Main && direct)
    };
    let direct = direct
        .then(|| DirectFile::open(database, writable))
        .transpose()
        .map_err(|e| format!("{} cannot be opened with O_DIRECT: {e}", String::from_utf8_lossy(database)))?;
    Ok(Some(SqliteFileHandle::new(kind, stats::of(database), direct)))
}

/// # Safety
/// SQLite calls it, with the VFS that was registered here and with pointers that are valid for the call.
unsafe extern "C" fn open(
    vfs: *mut ffi::sqlite3_vfs,
    name: *const c_char,
    file: *mut ffi::sqlite3_file,
    flags: c_int,
    out_flags: *mut c_int,
) -> c_int {
    // SAFETY: SQLite provides `szOsFile` bytes at `file`: space for our part and, after it, for the inner
    // VFS's file. It calls xClose only if pMethods is set, which happens last.
    unsafe {
        (*file).pMethods = std::ptr::null();
        let inner_vfs = inner(vfs);
        let inner_file = file::inner(file);
        (*inner_file).pMethods = std::ptr::null();
        let Some(inner_open) = (*inner_vfs).xOpen else { return ffi::SQLITE_CANTOPEN };
        let rc = inner_open(inner_vfs, name, inner_file, flags, out_flags);
        if rc != ffi::SQLITE_OK {
            file::close_inner(inner_file);
            return rc;
        }
        // A file without write permission is opened for reading, and only the inner VFS knows that.
        let granted = if out_flags.is_null() { flags } else { *out_flags };
        let writable = flags & granted & ffi::SQLITE_OPEN_READWRITE != 0;
        match handle(name, flags, writable) {
            Ok(handle) => {
                file::wrap(file, handle);
                ffi::SQLITE_OK
            }
            Err(reason) => {
                REASON.set(Some(reason));
                file::close_inner(inner_file);
                ffi::SQLITE_CANTOPEN
            }
        }
    }
}

/// Functions that pass their arguments to the inner VFS; the value is the result if it lacks the function.
macro_rules! hand_over {
    ($($name:ident => $member:ident ( $($arg:ident : $type:ty),* ) -> $result:ty, $without:expr;)*) => {$(
        /// # Safety
        /// SQLite calls it, with the VFS that was registered here and with pointers that are valid for the call.
        unsafe extern "C" fn $name(vfs: *mut ffi::sqlite3_vfs, $($arg: $type),*) -> $result {
            // SAFETY: SQLite calls this with the object made by `wrap` and arguments as documented for xVfs,
            // which are passed unchanged to the inner VFS.
            unsafe {
                let inner_vfs = inner(vfs);
                match (*inner_vfs).$member {
                    Some(function) => function(inner_vfs, $($arg),*),
                    None => $without,
                }
            }
        }
    )*};
}

type Symbol = unsafe extern "C" fn(*mut ffi::sqlite3_vfs, *mut c_void, *const c_char);

hand_over! {
    delete => xDelete(name: *const c_char, sync_dir: c_int) -> c_int, ffi::SQLITE_IOERR_DELETE;
    access => xAccess(name: *const c_char, flags: c_int, out: *mut c_int) -> c_int, ffi::SQLITE_IOERR_ACCESS;
    full_pathname => xFullPathname(name: *const c_char, len: c_int, out: *mut c_char) -> c_int, ffi::SQLITE_CANTOPEN;
    dl_open => xDlOpen(name: *const c_char) -> *mut c_void, std::ptr::null_mut();
    dl_error => xDlError(len: c_int, message: *mut c_char) -> (), ();
    dl_sym => xDlSym(library: *mut c_void, symbol: *const c_char) -> Option<Symbol>, None;
    dl_close => xDlClose(library: *mut c_void) -> (), ();
    randomness => xRandomness(len: c_int, out: *mut c_char) -> c_int, 0;
    sleep => xSleep(us: c_int) -> c_int, 0;
    current_time => xCurrentTime(out: *mut f64) -> c_int, ffi::SQLITE_ERROR;
    get_last_error => xGetLastError(len: c_int, out: *mut c_char) -> c_int, 0;
    current_time_int64 => xCurrentTimeInt64(out: *mut ffi::sqlite3_int64) -> c_int, ffi::SQLITE_ERROR;
}
