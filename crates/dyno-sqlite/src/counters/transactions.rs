//! Transactions that changed a database file, whoever made them.
//!
//! SQLite counts nothing for everyone, but every process that writes leaves a trace that all others must see to know that
//! their caches are old: the file's change counter ("File change counter" in the file format's header, one more for
//! each transaction), and in WAL mode the number of changes in the index that all processes share (`iChange` in "The
//! WAL-Index Format"), which is there while somebody has the database open. What they moved beyond this process's own
//! commits is another's work.

use std::collections::HashMap;
use std::fs::File;
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex, PoisonError};

/// Where the change counter lies in the database file: four bytes, the highest first.
const CHANGE_COUNTER: u64 = 24;

/// Where the number of changes lies in the index of the WAL: four bytes in the machine's own order.
const INDEX_CHANGES: u64 = 8;

/// Files by device and inode, open for as long as this process lives: when a process closes any descriptor of a file, it
/// loses all its POSIX locks on it, those of SQLite's own connections, too.
static OPEN: LazyLock<Mutex<HashMap<(u64, u64), File>>> = LazyLock::new(Mutex::default);

/// Transactions in the database at `path` so far; nothing where nobody counts them now.
pub(super) fn count(path: &Path, journal: &str) -> Option<u64> {
    match journal {
        "wal" => four_bytes(&index_of(path), INDEX_CHANGES).map(u32::from_ne_bytes),
        _ => four_bytes(path, CHANGE_COUNTER).map(u32::from_be_bytes),
    }
    .map(u64::from)
}

/// The index that connections in WAL mode share.
fn index_of(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push("-shm");
    name.into()
}

/// Closes files that were removed since: nobody has locks on them any more, and an open one would keep its file system from being
/// unmounted.
pub(crate) fn forget_removed() {
    let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
    open.retain(|_, file| file.metadata().is_ok_and(|facts| facts.nlink() > 0));
}

fn four_bytes(path: &Path, offset: u64) -> Option<[u8; 4]> {
    let facts = path.metadata().ok()?;
    let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
    let file = match open.entry((facts.dev(), facts.ino())) {
        std::collections::hash_map::Entry::Occupied(there) => there.into_mut(),
        std::collections::hash_map::Entry::Vacant(place) => place.insert(File::open(path).ok()?),
    };
    let mut bytes = [0; 4];
    file.read_exact_at(&mut bytes, offset).ok()?;
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;

    use super::*;

    fn moved(journal: &str, first: &Connection, second: &Connection, path: &Path) -> u64 {
        let begin = count(path, journal).unwrap();
        for (connection, times) in [(first, 3), (second, 2)] {
            for _ in 0..times {
                connection.execute_batch("INSERT INTO t VALUES (1); SELECT * FROM t").unwrap();
            }
        }
        count(path, journal).unwrap() - begin
    }

    #[test]
    fn each_transaction_of_every_connection_counts_once() {
        for journal in ["delete", "truncate", "persist", "wal"] {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("a.db");
            let [first, second] = [(); 2].map(|()| Connection::open(&path).unwrap());
            first.execute_batch(&format!("PRAGMA journal_mode = {journal}; CREATE TABLE t (a)")).unwrap();
            second.execute_batch("SELECT * FROM t").unwrap();
            assert_eq!(moved(journal, &first, &second, &path), 5, "{journal}");
        }
    }

    #[test]
    fn a_file_that_was_removed_is_not_held_open() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.db");
        let connection = Connection::open(&path).unwrap();
        connection.execute_batch("PRAGMA journal_mode = wal; CREATE TABLE t (a)").unwrap();
        count(&path, "wal").unwrap();
        let is_held = || {
            let index = index_of(&path);
            let held = std::fs::read_dir("/proc/self/fd")
                .unwrap()
                .filter_map(|fd| std::fs::read_link(fd.ok()?.path()).ok());
            held.filter(|file| file.to_string_lossy().starts_with(&*index.to_string_lossy())).count()
        };
        forget_removed();
        assert!(is_held() >= 1, "it is there, and its locks with it");
        drop(connection);
        forget_removed();
        assert_eq!(is_held(), 0);
    }

    #[test]
    fn an_index_that_is_not_there_counts_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.db");
        Connection::open(&path)
            .unwrap()
            .execute_batch("PRAGMA journal_mode = wal; CREATE TABLE t (a)")
            .unwrap();
        assert_eq!(count(&path, "wal"), None, "the last connection has removed it");
    }
}
