//! Detects other Dyno processes that use files on the same device.
//!
//! Two such processes measure each other's disk load, and the locks of their files do not show it. Each
//! therefore creates a file in the user's runtime folder, or in the one for temporary files, named by the
//! device. It keeps the file locked while it works, and looks for files of others after it has created its
//! own. If two start at the same moment, at least one sees the other. The kernel releases the lock with the
//! process; a process that finds an unlocked file removes it. Files of other users cannot be read and are
//! ignored.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use dyno_engine::Holder;

/// The most bytes of a holder's description that are read.
const WORDS_MAX: u64 = 400;

/// This process's file for a device; dropping this removes the file.
pub(super) struct SqliteDeviceLockFile {
    path: PathBuf,
    _file: File,
}

impl Drop for SqliteDeviceLockFile {
    fn drop(&mut self) {
        // If that fails, an unlocked file remains, which the next process removes.
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Records that `holder` uses the device of `database`, if the file can be created; returns the other
/// holders.
pub(super) fn announce(database: &Path, holder: &Holder) -> (Option<SqliteDeviceLockFile>, Vec<Holder>) {
    let Some(device) = device(database) else { return (None, Vec::new()) };
    let folder = folder();
    (create_lock_file(&folder, device, holder), others_in(&folder, device, holder))
}

/// The number of the device of a database, whose file may not exist yet.
fn device(database: &Path) -> Option<u64> {
    let real = database.canonicalize().unwrap_or_else(|_| database.to_path_buf());
    let parent = real.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    real.metadata().or_else(|_| parent.metadata()).ok().map(|facts| facts.dev())
}

/// The folder of the device files: the user's runtime folder, otherwise the one for temporary files.
fn folder() -> PathBuf {
    let runtime = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    runtime.filter(|path| path.is_absolute() && path.is_dir()).unwrap_or_else(std::env::temp_dir)
}

/// The prefix of the names of a device's files.
fn prefix(device: u64) -> String {
    format!("dyno-device-{}-{}-", libc::major(device), libc::minor(device))
}

fn create_lock_file(folder: &Path, device: u64, holder: &Holder) -> Option<SqliteDeviceLockFile> {
    let moment = holder.since.replace(':', "");
    // Processes in two containers may have the same id, so each takes the first free name.
    for number in 0..16 {
        let path =
            folder.join(format!("{}{}-{}-{moment}-{number}", prefix(device), holder.pid, holder.command));
        // An existing name, even if it is a link, is never followed.
        let made = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .custom_flags(libc::O_NOFOLLOW)
            .open(&path);
        let Ok(mut file) = made else { continue };
        let mark = match file.try_lock().ok().and_then(|()| writeln!(file, "{}", holder.encode()).ok()) {
            Some(()) => SqliteDeviceLockFile { path, _file: file },
            None => continue,
        };
        return Some(mark);
    }
    None
}

/// The other holders whose files in `folder` are locked; removes files of processes that have ended.
fn others_in(folder: &Path, device: u64, holder: &Holder) -> Vec<Holder> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let prefix = prefix(device);
    let named = entries.flatten().filter(|entry| entry.file_name().to_string_lossy().starts_with(&prefix));
    let mut holders: Vec<Holder> = named.filter_map(|entry| read_holder(&entry.path())).collect();
    holders.retain(|other| other != holder);
    holders
}

/// The holder of the file at `path`; `None` if nobody holds it.
fn read_holder(path: &Path) -> Option<Holder> {
    let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK;
    let mut file = OpenOptions::new().read(true).custom_flags(flags).open(path).ok()?;
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    let mut text = String::new();
    let _ = (&mut file).take(WORDS_MAX).read_to_string(&mut text);
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => Holder::decode(&text),
        // An empty file has just been created and is about to be locked.
        Ok(()) if !text.is_empty() => {
            let _ = std::fs::remove_file(path);
            None
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_engine::LockPurpose;

    fn holder(pid: u32) -> Holder {
        Holder { pid, ..Holder::this_process(LockPurpose::Run) }
    }

    fn names(folder: &Path) -> usize {
        std::fs::read_dir(folder).unwrap().count()
    }

    #[test]
    fn device_lock_holders_see_each_other_and_leave_no_files() {
        let folder = tempfile::tempdir().unwrap();
        // Two commands in one process count as two, like those of two processes.
        let (one, two) = (holder(1), holder(1));
        let first = create_lock_file(folder.path(), 7, &one).unwrap();
        assert_eq!(others_in(folder.path(), 7, &one), []);
        let second_file = create_lock_file(folder.path(), 7, &two).unwrap();
        assert_eq!(others_in(folder.path(), 7, &two), std::slice::from_ref(&one));
        assert_eq!(others_in(folder.path(), 7, &one), [two]);
        assert_eq!(others_in(folder.path(), 8, &one), [], "another device");
        drop((first, second_file));
        assert_eq!(names(folder.path()), 0);
    }

    #[test]
    fn files_of_killed_process_are_removed_and_others_kept() {
        let folder = tempfile::tempdir().unwrap();
        let left = folder.path().join(format!("{}9-x-0", prefix(7)));
        std::fs::write(&left, format!("{}\n", holder(9).encode())).unwrap();
        let foreign_file = folder.path().join("kept");
        std::fs::write(&foreign_file, "mine").unwrap();
        std::os::unix::fs::symlink(&foreign_file, folder.path().join(format!("{}8-x-0", prefix(7)))).unwrap();
        assert_eq!(others_in(folder.path(), 7, &holder(1)), []);
        assert!(!left.exists());
        assert!(std::fs::read(&foreign_file).unwrap() == b"mine");
    }

    #[test]
    fn symlink_in_place_of_device_lock_file_is_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let this_holder = Holder::this_process(LockPurpose::Run);
        let since = this_holder.since.replace(':', "");
        let name =
            |number| format!("{}{}-{}-{since}-{number}", prefix(7), this_holder.pid, this_holder.command);
        let aim = folder.path().join("aim");
        std::os::unix::fs::symlink(&aim, folder.path().join(name(0))).unwrap();
        let mark = create_lock_file(folder.path(), 7, &this_holder).unwrap();
        assert!(mark.path.ends_with(name(1)));
        assert!(!aim.exists());
        assert_eq!(mark._file.metadata().unwrap().mode() & 0o777, 0o600);
    }
}
