//! One open file: counts and times reads, writes and syncs, and passes everything else to the inner VFS's
//! file.

// SQLite's file methods are an interface of C function pointers, which cannot be implemented in safe Rust.
#![allow(unsafe_code)]

use std::ffi::{c_int, c_void};
use std::io;
use std::sync::Arc;
use std::time::Instant;

use rusqlite::ffi;

use super::direct::DirectFile;
use super::stats::{FileKind, FileStats, HandleStats};

/// SQLite's memory for an open file. The inner VFS's file follows directly after it.
#[repr(C, align(8))]
pub(super) struct OpenFile {
    base: ffi::sqlite3_file,
    /// Our handle, from `Box::into_raw`; null for temporary files, which are not counted.
    handle: *mut SqliteFileHandle,
}

/// Our part of an open file.
#[derive(Debug)]
pub(super) struct SqliteFileHandle {
    kind: FileKind,
    file: Arc<FileStats>,
    stats: Arc<HandleStats>,
    direct: Option<DirectFile>,
}

impl SqliteFileHandle {
    pub(super) fn new(kind: FileKind, file: Arc<FileStats>, direct: Option<DirectFile>) -> Self {
        let stats = file.check_out(kind);
        Self { kind, file, stats, direct }
    }
}

impl Drop for SqliteFileHandle {
    fn drop(&mut self) {
        self.file.check_in(self.kind, Arc::clone(&self.stats));
    }
}

/// The inner VFS's part of `file`.
///
/// # Safety
/// `file` points at `szOsFile` bytes of our VFS.
pub(super) unsafe fn inner(file: *mut ffi::sqlite3_file) -> *mut ffi::sqlite3_file {
    // SAFETY: as the caller promises, the inner part follows; OpenFile's size is a multiple of its alignment.
    unsafe { file.cast::<OpenFile>().add(1).cast() }
}

/// Closes the inner file, if the inner VFS opened it.
///
/// # Safety
/// `inner_file` came from [`inner`] and its `pMethods` is null or the inner VFS's.
pub(super) unsafe fn close_inner(inner_file: *mut ffi::sqlite3_file) -> c_int {
    // SAFETY: as the caller promises; a file without methods is not open.
    unsafe {
        match (*inner_file).pMethods.as_ref().and_then(|methods| methods.xClose) {
            Some(close) => close(inner_file),
            None => ffi::SQLITE_OK,
        }
    }
}

/// Makes `file` ours, around an inner file that is open.
///
/// # Safety
/// `file` points at `szOsFile` bytes of our VFS, and its inner part is open.
pub(super) unsafe fn wrap(file: *mut ffi::sqlite3_file, handle: Option<SqliteFileHandle>) {
    // SAFETY: as the caller promises.
    unsafe {
        let ours = file.cast::<OpenFile>();
        (*ours).handle = handle.map_or(std::ptr::null_mut(), |handle| Box::into_raw(Box::new(handle)));
        // Shared memory and memory mapping exist if the inner file has them; SQLite decides by the version.
        (*ours).base.pMethods = match (*(*inner(file)).pMethods).iVersion {
            ..=1 => &METHODS[0],
            2 => &METHODS[1],
            _ => &METHODS[2],
        };
    }
}

/// The methods by version of the interface.
static METHODS: [ffi::sqlite3_io_methods; 3] = [methods(1), methods(2), methods(3)];

const fn methods(version: c_int) -> ffi::sqlite3_io_methods {
    ffi::sqlite3_io_methods {
        iVersion: version,
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
        xShmMap: Some(shm_map),
        xShmLock: Some(shm_lock),
        xShmBarrier: Some(shm_barrier),
        xShmUnmap: Some(shm_unmap),
        xFetch: Some(fetch),
        xUnfetch: Some(unfetch),
    }
}

/// Our part of `file`, if it is counted.
///
/// # Safety
/// `file` is one that [`wrap`] made, and no other reference to its handle is alive: SQLite uses a file from one thread
/// at a time.
unsafe fn handle<'a>(file: *mut ffi::sqlite3_file) -> Option<&'a mut SqliteFileHandle> {
    // SAFETY: as the caller promises; the handle lives until `close`.
    unsafe { (*file.cast::<OpenFile>()).handle.as_mut() }
}

/// Nanoseconds that have passed since `began`.
fn since(began: Instant) -> u64 {
    began.elapsed().as_nanos() as u64
}

/// # Safety
/// SQLite calls it, with a file that [`wrap`] made and with buffers as long as it says, from one thread at a time.
unsafe extern "C" fn close(file: *mut ffi::sqlite3_file) -> c_int {
    // SAFETY: SQLite closes a file once, and does not use it afterwards.
    unsafe {
        let ours = file.cast::<OpenFile>();
        if !(*ours).handle.is_null() {
            drop(Box::from_raw((*ours).handle));
            (*ours).handle = std::ptr::null_mut();
        }
        close_inner(inner(file))
    }
}

/// # Safety
/// SQLite calls it, with a file that [`wrap`] made and with buffers as long as it says, from one thread at a time.
unsafe extern "C" fn read(file: *mut ffi::sqlite3_file, out: *mut c_void, len: c_int, offset: i64) -> c_int {
    // SAFETY: SQLite gives `len` writable bytes at `out`; `file` is ours.
    unsafe {
        let Some(handle) = handle(file) else { return inner_read(file, out, len, offset) };
        let began = Instant::now();
        let (rc, bytes) = match &mut handle.direct {
            Some(direct) => {
                let bytes = std::slice::from_raw_parts_mut(out.cast::<u8>(), len as usize);
                read_direct(direct, bytes, offset as u64)
            }
            None => (inner_read(file, out, len, offset), len as u64),
        };
        if rc == ffi::SQLITE_OK || rc == ffi::SQLITE_IOERR_SHORT_READ {
            handle.stats.read.note(if rc == ffi::SQLITE_OK { bytes } else { 0 }, since(began));
        }
        rc
    }
}

/// Reads without the page cache; SQLite requires zeros for what the file does not contain.
fn read_direct(direct: &mut DirectFile, out: &mut [u8], offset: u64) -> (c_int, u64) {
    match direct.read(out, offset) {
        Ok((there, transferred)) if there == out.len() => (ffi::SQLITE_OK, transferred),
        Ok((there, transferred)) => {
            out[there..].fill(0);
            (ffi::SQLITE_IOERR_SHORT_READ, transferred)
        }
        Err(_) => (ffi::SQLITE_IOERR_READ, 0),
    }
}

/// # Safety
/// SQLite calls it, with a file that [`wrap`] made and with buffers as long as it says, from one thread at a time.
unsafe extern "C" fn write(
    file: *mut ffi::sqlite3_file,
    data: *const c_void,
    len: c_int,
    offset: i64,
) -> c_int {
    // SAFETY: SQLite gives `len` readable bytes at `data`; `file` is ours.
    unsafe {
        let Some(handle) = handle(file) else { return inner_write(file, data, len, offset) };
        let began = Instant::now();
        let (rc, bytes) = match &mut handle.direct {
            Some(direct) => {
                let bytes = std::slice::from_raw_parts(data.cast::<u8>(), len as usize);
                write_direct(direct, bytes, offset as u64)
            }
            None => (inner_write(file, data, len, offset), len as u64),
        };
        if rc == ffi::SQLITE_OK {
            handle.stats.write.note(bytes, since(began));
        }
        rc
    }
}

fn write_direct(direct: &mut DirectFile, data: &[u8], offset: u64) -> (c_int, u64) {
    match direct.write(data, offset) {
        Ok(transferred) => (ffi::SQLITE_OK, transferred),
        Err(e) if e.kind() == io::ErrorKind::StorageFull => (ffi::SQLITE_FULL, 0),
        Err(_) => (ffi::SQLITE_IOERR_WRITE, 0),
    }
}

/// # Safety
/// SQLite calls it, with a file that [`wrap`] made and with buffers as long as it says, from one thread at a time.
unsafe extern "C" fn sync(file: *mut ffi::sqlite3_file, flags: c_int) -> c_int {
    // SAFETY: `file` is ours. With direct writes the inner descriptor's fsync is correct too: it flushes the
    // inode's metadata and the device's cache, whichever descriptor wrote.
    unsafe {
        let began = Instant::now();
        let rc = inner_sync(file, flags);
        if let Some(handle) = handle(file).filter(|_| rc == ffi::SQLITE_OK) {
            handle.stats.sync.note(0, since(began));
        }
        rc
    }
}

/// # Safety
/// SQLite calls it, with a file that [`wrap`] made and with buffers as long as it says, from one thread at a time.
unsafe extern "C" fn fetch(
    file: *mut ffi::sqlite3_file,
    offset: i64,
    len: c_int,
    out: *mut *mut c_void,
) -> c_int {
    // SAFETY: `file` is ours, `out` is SQLite's. A null page makes SQLite read instead: mapped memory is page cache.
    unsafe {
        if handle(file).is_some_and(|handle| handle.direct.is_some()) {
            *out = std::ptr::null_mut();
            return ffi::SQLITE_OK;
        }
        inner_fetch(file, offset, len, out)
    }
}

/// Methods that pass their arguments to the inner file; the value is the result if it lacks the method.
macro_rules! hand_over {
    ($($name:ident => $member:ident ( $($arg:ident : $type:ty),* ) -> $result:ty, $without:expr;)*) => {$(
        /// # Safety
        /// SQLite calls it, with a file that [`wrap`] made and with buffers as long as it says, from one thread at a time.
        unsafe extern "C" fn $name(file: *mut ffi::sqlite3_file, $($arg: $type),*) -> $result {
            // SAFETY: SQLite calls this with a file that `wrap` made and arguments as documented for
            // io_methods, which are passed unchanged to the inner file.
            unsafe {
                let inner_file = inner(file);
                match (*(*inner_file).pMethods).$member {
                    Some(method) => method(inner_file, $($arg),*),
                    None => $without,
                }
            }
        }
    )*};
}

hand_over! {
    inner_read => xRead(out: *mut c_void, len: c_int, offset: i64) -> c_int, ffi::SQLITE_IOERR_READ;
    inner_write => xWrite(data: *const c_void, len: c_int, offset: i64) -> c_int, ffi::SQLITE_IOERR_WRITE;
    inner_sync => xSync(flags: c_int) -> c_int, ffi::SQLITE_IOERR_FSYNC;
    inner_fetch => xFetch(offset: i64, len: c_int, out: *mut *mut c_void) -> c_int, ffi::SQLITE_IOERR_MMAP;
    truncate => xTruncate(size: i64) -> c_int, ffi::SQLITE_IOERR_TRUNCATE;
    file_size => xFileSize(out: *mut i64) -> c_int, ffi::SQLITE_IOERR_FSTAT;
    lock => xLock(level: c_int) -> c_int, ffi::SQLITE_IOERR_LOCK;
    unlock => xUnlock(level: c_int) -> c_int, ffi::SQLITE_IOERR_UNLOCK;
    check_reserved_lock => xCheckReservedLock(out: *mut c_int) -> c_int, ffi::SQLITE_IOERR_CHECKRESERVEDLOCK;
    file_control => xFileControl(op: c_int, arg: *mut c_void) -> c_int, ffi::SQLITE_NOTFOUND;
    sector_size => xSectorSize() -> c_int, 4096;
    device_characteristics => xDeviceCharacteristics() -> c_int, 0;
    shm_map => xShmMap(page: c_int, size: c_int, extend: c_int, out: *mut *mut c_void) -> c_int, ffi::SQLITE_IOERR_SHMMAP;
    shm_lock => xShmLock(offset: c_int, count: c_int, flags: c_int) -> c_int, ffi::SQLITE_IOERR_SHMLOCK;
    shm_barrier => xShmBarrier() -> (), ();
    shm_unmap => xShmUnmap(remove: c_int) -> c_int, ffi::SQLITE_OK;
    unfetch => xUnfetch(offset: i64, page: *mut c_void) -> c_int, ffi::SQLITE_OK;
}
