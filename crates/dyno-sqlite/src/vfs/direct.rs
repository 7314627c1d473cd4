//! Reads and writes the database file without the operating system's page cache.
//!
//! SQLite's own VFS opens the file in the ordinary way and does all locking on that descriptor. Reads and
//! writes use a second descriptor opened with `O_DIRECT`. There is one such descriptor per file and process,
//! and it stays open as long as the file has a name. The reason is that POSIX drops *all* locks of a process
//! on a file when it closes *any* descriptor of it. Closing ours while a connection works would silently drop
//! SQLite's locks. The descriptor is closed only after the file has been removed and no handle uses it, so
//! that its space is freed.
//!
//! `O_DIRECT` requires memory, offset and length to be aligned to the device's blocks. Each handle has an
//! aligned buffer. Unaligned requests (the 100 bytes of the file's header) are served from, or merged into,
//! the aligned blocks around them.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::sync::{Arc, LazyLock};

use parking_lot::Mutex;

/// Alignment in bytes that is sufficient for every device: logical blocks are 512 or 4,096 bytes, and
/// SQLite's pages of 4–64 KiB are multiples of it.
const ALIGN: usize = 4096;

/// Bytes of a handle's buffer: SQLite's largest page.
const BUFFER: usize = 64 * 1024;

/// Device and inode, which identify a file independent of its names.
type FileId = (u64, u64);

/// Descriptors by file and by whether they are writable.
type Descriptors = HashMap<(FileId, bool), Arc<File>>;

/// Every file that this process has open with `O_DIRECT`.
static OPEN: LazyLock<Mutex<Descriptors>> = LazyLock::new(Mutex::default);

/// Closes descriptors of files that have been removed and that no handle uses.
pub(crate) fn release_removed() {
    OPEN.lock().retain(|_, file| {
        Arc::strong_count(file) > 1 || file.metadata().map_or(true, |facts| facts.nlink() > 0)
    });
}

/// The process's `O_DIRECT` descriptor of the file at `path`.
fn descriptor(path: &Path, writable: bool) -> io::Result<Arc<File>> {
    release_removed();
    let mut open = OPEN.lock();
    let facts = std::fs::metadata(path)?;
    let id = ((facts.dev(), facts.ino()), writable);
    if let Some(file) = open.get(&id) {
        return Ok(Arc::clone(file));
    }
    // A file that cannot be opened has no descriptor, so nothing is closed on failure.
    let file = OpenOptions::new().read(true).write(writable).custom_flags(libc::O_DIRECT).open(path)?;
    let file = Arc::new(file);
    open.insert(id, Arc::clone(&file));
    Ok(file)
}

/// Memory that starts at a multiple of [`ALIGN`].
#[derive(Debug)]
struct AlignedBuffer {
    memory: Vec<u8>,
    start: usize,
}

impl AlignedBuffer {
    fn new() -> Self {
        let memory = vec![0; BUFFER + ALIGN];
        let start = memory.as_ptr().align_offset(ALIGN);
        Self { memory, start }
    }

    fn bytes(&mut self, len: usize) -> &mut [u8] {
        &mut self.memory[self.start..][..len]
    }
}

/// One handle's access to the file.
#[derive(Debug)]
pub(super) struct DirectFile {
    file: Arc<File>,
    buffer: AlignedBuffer,
}

/// The aligned block range around `len` bytes at `offset`, at most one buffer long: its start, its length,
/// and the offset of the bytes in it.
fn blocks_around(offset: u64, len: usize) -> (u64, usize, usize) {
    let lead = (offset % ALIGN as u64) as usize;
    (offset - lead as u64, (lead + len).next_multiple_of(ALIGN).min(BUFFER), lead)
}

/// Reads until `out` is full or the file ends; returns the number of bytes read.
fn read_full(file: &File, out: &mut [u8], offset: u64) -> io::Result<usize> {
    let mut bytes_read = 0;
    while bytes_read < out.len() {
        match file.read_at(&mut out[bytes_read..], offset + bytes_read as u64) {
            Ok(0) => break,
            Ok(count) => bytes_read += count,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
        // The end of a file with an unaligned length: the rest cannot be read from an unaligned offset.
        if bytes_read % ALIGN != 0 {
            break;
        }
    }
    Ok(bytes_read)
}

impl DirectFile {
    /// Opens the file at `path`, which must exist.
    ///
    /// # Errors
    /// The file system does not support `O_DIRECT`, or the file cannot be opened.
    pub(super) fn open(path: &[u8], writable: bool) -> io::Result<Self> {
        let file = descriptor(Path::new(OsStr::from_bytes(path)), writable)?;
        Ok(Self { file, buffer: AlignedBuffer::new() })
    }

    /// Fills `out` from `offset` on; returns the number of bytes that the file had, and the number of bytes
    /// read from the device.
    pub(super) fn read(&mut self, out: &mut [u8], offset: u64) -> io::Result<(usize, u64)> {
        let (mut copied, mut transferred) = (0, 0);
        while copied < out.len() {
            let (start, len, lead) = blocks_around(offset + copied as u64, out.len() - copied);
            let block = self.buffer.bytes(len);
            let got = read_full(&self.file, block, start)?;
            transferred += got as u64;
            let available = got.saturating_sub(lead).min(out.len() - copied);
            out[copied..copied + available].copy_from_slice(&block[lead..lead + available]);
            copied += available;
            if got < len {
                break;
            }
        }
        Ok((copied, transferred))
    }

    /// Writes `data` at `offset`; returns the number of bytes written to the device.
    pub(super) fn write(&mut self, data: &[u8], offset: u64) -> io::Result<u64> {
        let (mut written, mut transferred) = (0, 0);
        while written < data.len() {
            let at = offset + written as u64;
            let (start, len, lead) = blocks_around(at, data.len() - written);
            let count = (len - lead).min(data.len() - written);
            let block = self.buffer.bytes(len);
            // SQLite holds its lock on the file, so no other process writes the neighboring bytes meanwhile.
            let merged = lead > 0 || count < len;
            let existing_bytes = if merged { read_full(&self.file, block, start)? } else { 0 };
            if merged {
                block[existing_bytes..].fill(0);
            }
            block[lead..lead + count].copy_from_slice(&data[written..written + count]);
            self.file.write_all_at(block, start)?;
            if merged && existing_bytes < len {
                // The file ended inside this range: it must end where the data ends, not where the block
                // does.
                self.file.set_len(start + existing_bytes.max(lead + count) as u64)?;
            }
            written += count;
            transferred += len as u64;
        }
        Ok(transferred)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[derive(Debug, Clone)]
    enum Step {
        Write { offset: u64, len: usize, byte: u8 },
        Read { offset: u64, len: usize },
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let aligned = (0u64..40).prop_map(|block| block * 4096);
        let offset = prop_oneof![aligned, 0u64..160_000];
        let len = prop_oneof![Just(4096usize), Just(65_536), 1usize..10_000, 60_000usize..150_000];
        let step = (offset, len, any::<u8>(), any::<bool>()).prop_map(|(offset, len, byte, write)| {
            if write { Step::Write { offset, len, byte } } else { Step::Read { offset, len } }
        });
        prop::collection::vec(step, 1..25)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn direct_io_file_behaves_like_an_ordinary_one(steps in steps()) {
            let folder = tempfile::tempdir().unwrap();
            let (direct_path, plain_path) = (folder.path().join("direct"), folder.path().join("plain"));
            File::create(&direct_path).unwrap();
            let plain =
                OpenOptions::new().read(true).write(true).create_new(true).open(&plain_path).unwrap();
            let mut direct = DirectFile::open(direct_path.as_os_str().as_bytes(), true).unwrap();
            for step in steps {
                match step {
                    Step::Write { offset, len, byte } => {
                        let data: Vec<u8> = (0..len).map(|i| byte.wrapping_add(i as u8)).collect();
                        let transferred = direct.write(&data, offset).unwrap();
                        prop_assert!(transferred >= len as u64);
                        plain.write_all_at(&data, offset).unwrap();
                    }
                    Step::Read { offset, len } => {
                        let (mut a, mut b) = (vec![0; len], vec![0; len]);
                        let (there, _) = direct.read(&mut a, offset).unwrap();
                        let mut expected = 0;
                        while expected < len {
                            match plain.read_at(&mut b[expected..], offset + expected as u64).unwrap() {
                                0 => break,
                                count => expected += count,
                            }
                        }
                        prop_assert_eq!(there, expected);
                        prop_assert!(a[..there] == b[..there], "contents differ at {}", offset);
                    }
                }
            }
            prop_assert!(std::fs::read(&direct_path).unwrap() == std::fs::read(&plain_path).unwrap());
        }
    }

    #[test]
    fn removed_file_is_released_only_after_last_handle_closes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        File::create(&path).unwrap();
        let facts = std::fs::metadata(&path).unwrap();
        let id = ((facts.dev(), facts.ino()), true);
        let handle = DirectFile::open(path.as_os_str().as_bytes(), true).unwrap();
        drop(handle);
        release_removed();
        assert!(OPEN.lock().contains_key(&id), "closing it would drop SQLite's locks on the file");
        let handle = DirectFile::open(path.as_os_str().as_bytes(), true).unwrap();
        std::fs::remove_file(&path).unwrap();
        release_removed();
        assert!(OPEN.lock().contains_key(&id), "a handle still uses it");
        drop(handle);
        release_removed();
        assert!(!OPEN.lock().contains_key(&id));
    }
}
