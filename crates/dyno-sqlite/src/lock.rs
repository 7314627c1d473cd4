//! The lock that prevents two Dyno processes from using one file: `flock` on a file next to it, `NAME-dyno`,
//! which describes the holder.
//!
//! The kernel releases the lock when the process ends, in any case. The database file itself cannot carry the
//! lock: SQLite has POSIX locks on it, and closing any descriptor of a file drops all POSIX locks of the
//! process on it. A killed process leaves an unlocked file, which the next one reuses and removes at its end.

use std::ffi::OsString;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::device;
use dyno_engine::lock::busy;
use dyno_engine::{Claim, Holder, Lock, TargetError, TargetErrorKind};

/// The suffix of the lock file, after the database's own name.
const SUFFIX: &str = "-dyno";

/// Number of attempts, and the pause between them. Within that time a process that has just taken the lock
/// writes its description.
const TRIES: u32 = 20;
const PAUSE: Duration = Duration::from_millis(10);

/// Acquires the lock of the database in `database` and records the use of its device. Devices are shared, so
/// other Dyno processes there cause a warning and not an error, unless `claim` expects them.
pub(super) fn take(database: &Path, holder: &Holder, claim: Claim) -> Result<Lock, TargetError> {
    let file = take_file(database, holder)?;
    let (mark, others) = device::announce(database, holder);
    let lock = Lock::held((file, mark));
    Ok(match others.first() {
        Some(other) if claim == Claim::Alone => lock.but(format!(
            "another dyno is using a database on the same device ({other}): the device's activity includes \
            both"
        )),
        _ => lock,
    })
}

/// Acquires the lock of the database in `database`.
fn take_file(database: &Path, holder: &Holder) -> Result<SqliteLockFile, TargetError> {
    let path = lock_path(database);
    let cannot = |error: io::Error| lock_error(&path, error);
    let mut current_holder = None;
    for _ in 0..TRIES {
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            // Any user may have put a link into the folder, and its target is a file that Dyno must not
            // write.
            .custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK)
            .open(&path)
            .map_err(cannot)?;
        let facts = file.metadata().map_err(cannot)?;
        // A file with a second name may have contents that Dyno must not overwrite. With no name left, the
        // previous holder has removed it.
        if !facts.is_file() || facts.nlink() > 1 {
            return Err(cannot(io::Error::other("it is not a regular file with a single link")));
        }
        match file.try_lock() {
            Ok(()) if is_at(&file, &path) => {
                file.set_len(0).and_then(|()| writeln!(file, "{}", holder.encode())).map_err(cannot)?;
                return Ok(SqliteLockFile { path, _file: file });
            }
            // The previous holder has just removed the file, so the locked file is no longer the lock.
            Ok(()) => continue,
            Err(TryLockError::WouldBlock) => {}
            Err(TryLockError::Error(error)) => return Err(cannot(error)),
        }
        let mut text = String::new();
        // An unreadable file is treated like one that is not written yet.
        let _ = file.rewind().and_then(|()| file.read_to_string(&mut text));
        current_holder = Holder::decode(&text);
        if current_holder.is_some() {
            break;
        }
        std::thread::sleep(PAUSE);
    }
    let hint = match &current_holder {
        Some(holder) => format!("wait until it ends, or end it: kill {} on {}", holder.pid, holder.host),
        None => "wait until it ends".to_owned(),
    };
    Err(busy(&database.display().to_string(), current_holder.as_ref(), hint))
}

/// The path of the lock file, identical for every path to the database.
fn lock_path(database: &Path) -> PathBuf {
    let named =
        |folder: PathBuf| database.file_name().map_or_else(|| folder.clone(), |name| folder.join(name));
    let real = database.canonicalize().unwrap_or_else(|_| {
        let folder = database.parent().map(Path::to_path_buf).unwrap_or_default();
        named(folder.canonicalize().unwrap_or(folder))
    });
    let mut name = OsString::from(real);
    name.push(SUFFIX);
    name.into()
}

/// Whether `file` is the file that the path leads to.
fn is_at(file: &File, path: &Path) -> bool {
    let (Ok(held), Ok(there)) = (file.metadata(), path.symlink_metadata()) else { return false };
    (held.dev(), held.ino()) == (there.dev(), there.ino())
}

fn lock_error(path: &Path, error: io::Error) -> TargetError {
    let message = format!("the lock file {} cannot be used: {error}", path.display());
    let (kind, hint) = match error.kind() {
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            (TargetErrorKind::Privilege, "allow writing to the database's directory, or use another one")
        }
        _ if error.raw_os_error() == Some(libc::ELOOP) => {
            (TargetErrorKind::Database, "it is a link to another file: remove it, or use another directory")
        }
        io::ErrorKind::NotFound => (TargetErrorKind::Unreachable, "create the directory, or use another one"),
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            (TargetErrorKind::Full, "free space on the file system, or use another one")
        }
        _ => (TargetErrorKind::Database, "use another directory for the database"),
    };
    TargetError::new(kind, message).hint(hint).cause(error)
}

/// A held lock. Dropping it removes the file while it is still locked, so no other process can lock it in
/// between.
struct SqliteLockFile {
    path: PathBuf,
    _file: File,
}

impl Drop for SqliteLockFile {
    fn drop(&mut self) {
        // If that fails, an unlocked file remains, which the next holder reuses.
        let _ = std::fs::remove_file(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_engine::LockPurpose;

    #[test]
    fn symlink_in_place_of_database_lock_is_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let (database, victim) = (folder.path().join("a.db"), folder.path().join("victim"));
        std::fs::write(&victim, "mine").unwrap();
        std::os::unix::fs::symlink(&victim, folder.path().join("a.db-dyno")).unwrap();
        let refused = take_file(&database, &Holder::this_process(LockPurpose::Load)).err().unwrap();
        assert!(refused.hint.contains("a link"), "{refused:?}");
        assert_eq!(std::fs::read_to_string(&victim).unwrap(), "mine");
    }

    #[test]
    fn hard_link_as_lock_file_is_refused_and_kept() {
        let folder = tempfile::tempdir().unwrap();
        let (database, victim) = (folder.path().join("a.db"), folder.path().join("victim"));
        std::fs::write(&victim, "mine").unwrap();
        std::fs::hard_link(&victim, folder.path().join("a.db-dyno")).unwrap();
        let refused = take_file(&database, &Holder::this_process(LockPurpose::Load)).err().unwrap();
        assert!(refused.message.contains("not a regular file with a single link"), "{refused:?}");
        assert!(!refused.hint.is_empty(), "{refused:?}");
        assert_eq!(std::fs::read_to_string(&victim).unwrap(), "mine");
        assert!(folder.path().join("a.db-dyno").exists(), "it is not ours to remove");
    }

    #[test]
    fn database_lock_is_exclusive_and_names_its_holder() {
        let folder = tempfile::tempdir().unwrap();
        let database = folder.path().join("a.db");
        let first = take(&database, &Holder::this_process(LockPurpose::Load), Claim::Alone).unwrap();
        let refused = take(&database, &Holder::this_process(LockPurpose::Run), Claim::Alone).unwrap_err();
        assert_eq!(refused.kind, TargetErrorKind::Busy);
        let pid = std::process::id().to_string();
        assert!(refused.message.contains("dyno load"), "{refused}");
        assert!(refused.message.contains(&pid), "{refused}");
        drop(first);
        assert!(!folder.path().join("a.db-dyno").exists());
        drop(take(&database, &Holder::this_process(LockPurpose::Run), Claim::Alone).unwrap());
    }

    #[test]
    fn symlink_to_database_file_takes_the_same_lock() {
        let folder = tempfile::tempdir().unwrap();
        let database = folder.path().join("a.db");
        std::fs::write(&database, "").unwrap();
        let alias = folder.path().join("b.db");
        std::os::unix::fs::symlink(&database, &alias).unwrap();
        let _first = take(&database, &Holder::this_process(LockPurpose::Run), Claim::Alone).unwrap();
        assert_eq!(
            take(&alias, &Holder::this_process(LockPurpose::Run), Claim::Alone).unwrap_err().kind,
            TargetErrorKind::Busy
        );
    }

    #[test]
    fn lock_of_killed_process_is_taken_over() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a.db-dyno"), "run 2026-01-01T00:00:00Z 1.1@h\n").unwrap();
        let lock =
            take(&folder.path().join("a.db"), &Holder::this_process(LockPurpose::Run), Claim::Alone).unwrap();
        let text = std::fs::read_to_string(folder.path().join("a.db-dyno")).unwrap();
        assert_eq!(Holder::decode(&text).unwrap().pid, std::process::id());
        drop(lock);
    }

    #[test]
    fn concurrent_claims_never_hold_lock_together() {
        let folder = tempfile::tempdir().unwrap();
        let database = folder.path().join("a.db");
        let (inside, taken) = (std::sync::atomic::AtomicU32::new(0), std::sync::atomic::AtomicU32::new(0));
        let order = std::sync::atomic::Ordering::SeqCst;
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..50 {
                        if let Ok(lock) =
                            take(&database, &Holder::this_process(LockPurpose::Run), Claim::Alone)
                        {
                            assert_eq!(inside.fetch_add(1, order), 0, "two hold it");
                            taken.fetch_add(1, order);
                            inside.fetch_sub(1, order);
                            drop(lock);
                        }
                    }
                });
            }
        });
        assert!(taken.load(order) > 0);
    }
}
