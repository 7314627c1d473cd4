//! Counts the transactions of all processes that changed a database file.
//!
//! SQLite keeps no common counters. But every process that writes leaves a mark from which others learn that
//! their caches are outdated. One is the file's change counter ("File change counter" in the file format's
//! header), which grows by one per transaction. The other is used in WAL mode: the number of changes in the
//! index that all processes share (`iChange` in "The WAL-Index Format"). The index exists while a process has
//! the database open. An increase beyond this process's own commits is background activity.

use std::collections::HashMap;
use std::fs::File;
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use parking_lot::Mutex;

/// Offset of the change counter in the database file: four bytes, big-endian.
const CHANGE_COUNTER: u64 = 24;

/// Offset of the number of changes in the WAL index: four bytes in the machine's byte order.
const INDEX_CHANGES: u64 = 8;

/// Files by device and inode, which stay open as long as this process lives. If a process closes any
/// descriptor of a file, it loses all its POSIX locks on it, including those of SQLite's connections.
static OPEN: LazyLock<Mutex<HashMap<(u64, u64), File>>> = LazyLock::new(Mutex::default);

/// Transactions in the database at `path` so far; `None` if they are not counted now.
pub(super) fn count(path: &Path, journal: &str) -> Option<u64> {
    match journal {
        "wal" => four_bytes(&index_of(path), INDEX_CHANGES).map(u32::from_ne_bytes),
        _ => four_bytes(path, CHANGE_COUNTER).map(u32::from_be_bytes),
    }
    .map(u64::from)
}

/// The path of the index that connections in WAL mode share.
fn index_of(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push("-shm");
    name.into()
}

/// Closes files that have been removed. No process has locks on them any more, and an open descriptor would
/// prevent the file system from being unmounted.
pub(crate) fn forget_removed() {
    let mut open = OPEN.lock();
    open.retain(|_, file| file.metadata().is_ok_and(|facts| facts.nlink() > 0));
}

fn four_bytes(path: &Path, offset: u64) -> Option<[u8; 4]> {
    let facts = path.metadata().ok()?;
    let mut open = OPEN.lock();
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

    fn moved(journal: &str, first: &Connection, second_connection: &Connection, path: &Path) -> u64 {
        let begin = count(path, journal).unwrap();
        for (connection, times) in [(first, 3), (second_connection, 2)] {
            for _ in 0..times {
                connection.execute_batch("INSERT INTO t VALUES (1); SELECT * FROM t").unwrap();
            }
        }
        count(path, journal).unwrap() - begin
    }

    #[test]
    fn sqlite_transactions_of_all_connections_count_once() {
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
    fn removed_database_file_is_not_held_open() {
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
    fn missing_wal_index_gives_no_count() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.db");
        Connection::open(&path)
            .unwrap()
            .execute_batch("PRAGMA journal_mode = wal; CREATE TABLE t (a)")
            .unwrap();
        assert_eq!(count(&path, "wal"), None, "the last connection has removed it");
    }
}
