//! Other Dynos at work on files of the same device.
//!
//! Two of them measure each other's disk, and neither file's lock tells. So each leaves a file in the user's runtime folder
//! (else the one for temporary files), named by the device and locked while it works, and looks for those of others after
//! it has left its own: of two that come at one moment at least one sees the other. The kernel releases a file with its
//! process; whoever finds one that nobody holds removes it. Other users' files cannot be read, and are left alone.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use dyno_engine::Holder;

/// The longest word of a holder that is read.
const WORDS_MAX: u64 = 400;

/// This process's file at a device; removed when this is dropped.
pub(super) struct Mark {
    path: PathBuf,
    _file: File,
}

impl Drop for Mark {
    fn drop(&mut self) {
        // What stays is an unlocked file that the next one removes.
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Leaves word that `holder` is at work on the device of `database`, as far as a file can be left, and tells who else is.
pub(super) fn enter(database: &Path, holder: &Holder) -> (Option<Mark>, Vec<Holder>) {
    let Some(device) = device(database) else { return (None, Vec::new()) };
    let folder = folder();
    (leave(&folder, device, holder), others_in(&folder, device, holder))
}

/// The number of the device under a database, whose file may not be there yet.
fn device(database: &Path) -> Option<u64> {
    let real = database.canonicalize().unwrap_or_else(|_| database.to_path_buf());
    let parent = real.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    real.metadata().or_else(|_| parent.metadata()).ok().map(|facts| facts.dev())
}

/// Where the files lie.
fn folder() -> PathBuf {
    let runtime = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    runtime.filter(|path| path.is_absolute() && path.is_dir()).unwrap_or_else(std::env::temp_dir)
}

/// What the names of a device's files begin with.
fn prefix(device: u64) -> String {
    format!("dyno-device-{}-{}-", libc::major(device), libc::minor(device))
}

fn leave(folder: &Path, device: u64, holder: &Holder) -> Option<Mark> {
    let moment = holder.since.replace(':', "");
    // Processes of two containers may have one number: each takes the first name that nobody has.
    for number in 0..16 {
        let path =
            folder.join(format!("{}{}-{}-{moment}-{number}", prefix(device), holder.pid, holder.command));
        // A name that is there already, be it a link, is never followed.
        let made = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .custom_flags(libc::O_NOFOLLOW)
            .open(&path);
        let Ok(mut file) = made else { continue };
        let mark = match file.try_lock().ok().and_then(|()| writeln!(file, "{}", holder.encode()).ok()) {
            Some(()) => Mark { path, _file: file },
            None => continue,
        };
        return Some(mark);
    }
    None
}

/// Who else has left word of itself in `folder` and is still there; files of processes that have gone are removed.
fn others_in(folder: &Path, device: u64, holder: &Holder) -> Vec<Holder> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let prefix = prefix(device);
    let named = entries.flatten().filter(|entry| entry.file_name().to_string_lossy().starts_with(&prefix));
    let mut found: Vec<Holder> = named.filter_map(|entry| who(&entry.path())).collect();
    found.retain(|other| other != holder);
    found
}

/// The holder of the file at `path`, if somebody holds it.
fn who(path: &Path) -> Option<Holder> {
    let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK;
    let mut file = OpenOptions::new().read(true).custom_flags(flags).open(path).ok()?;
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    let mut text = String::new();
    let _ = (&mut file).take(WORDS_MAX).read_to_string(&mut text);
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => Holder::decode(&text),
        // One that is empty has just been made, and is about to be locked.
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
    use dyno_engine::Work;

    fn holder(pid: u32) -> Holder {
        Holder { pid, ..Holder::this_process(Work::Run) }
    }

    fn names(folder: &Path) -> usize {
        std::fs::read_dir(folder).unwrap().count()
    }

    #[test]
    fn two_on_one_device_see_each_other_and_leave_nothing() {
        let folder = tempfile::tempdir().unwrap();
        // Two commands of one process are two, as those of two processes are.
        let (one, two) = (holder(1), holder(1));
        let first = leave(folder.path(), 7, &one).unwrap();
        assert_eq!(others_in(folder.path(), 7, &one), []);
        let second = leave(folder.path(), 7, &two).unwrap();
        assert_eq!(others_in(folder.path(), 7, &two), std::slice::from_ref(&one));
        assert_eq!(others_in(folder.path(), 7, &one), [two]);
        assert_eq!(others_in(folder.path(), 8, &one), [], "another device");
        drop((first, second));
        assert_eq!(names(folder.path()), 0);
    }

    #[test]
    fn what_a_killed_process_left_is_removed_and_others_files_are_not() {
        let folder = tempfile::tempdir().unwrap();
        let left = folder.path().join(format!("{}9-x-0", prefix(7)));
        std::fs::write(&left, format!("{}\n", holder(9).encode())).unwrap();
        let kept = folder.path().join("kept");
        std::fs::write(&kept, "mine").unwrap();
        std::os::unix::fs::symlink(&kept, folder.path().join(format!("{}8-x-0", prefix(7)))).unwrap();
        assert_eq!(others_in(folder.path(), 7, &holder(1)), []);
        assert!(!left.exists() && std::fs::read(&kept).unwrap() == b"mine");
    }

    #[test]
    fn a_link_in_the_place_of_a_file_is_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let own = Holder::this_process(Work::Run);
        let since = own.since.replace(':', "");
        let name = |number| format!("{}{}-{}-{since}-{number}", prefix(7), own.pid, own.command);
        let aim = folder.path().join("aim");
        std::os::unix::fs::symlink(&aim, folder.path().join(name(0))).unwrap();
        let mark = leave(folder.path(), 7, &own).unwrap();
        assert!(mark.path.ends_with(name(1)) && !aim.exists());
        assert_eq!(mark._file.metadata().unwrap().mode() & 0o777, 0o600);
    }
}
