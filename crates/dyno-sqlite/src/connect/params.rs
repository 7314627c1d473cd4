//! Reads and checks the parameters of a `sqlite:` URL, including every default.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use dyno_plan::{Bytes, TargetUrl, TimeSpan};

use crate::spec::{JOURNALS, LOCKINGS, SWITCH, SYNCS};
use dyno_engine::net::parameters::{ConnectionSetting, UrlParameter, read_url};
use dyno_engine::{TargetError, parameters};

const MEMORY_JOURNALS: [&str; 2] = ["memory", "off"];

const SIZE: &str = "a size from 64K to 1T (`16M`)";
const TIME: &str = "a duration (`500ms`, `10s`)";
const PAGES: &str = "a number of WAL pages, 0 for never (`1000`)";

/// The parameters of a database in memory.
const MEMORY_PARAMETERS: &[UrlParameter<Params>] = parameters! { params: Params, setting;
    "journal", "memory or off", journal = setting.choice(&MEMORY_JOURNALS);
    "cache", SIZE, cache = bytes(setting, 64 * 1024);
    "busy", TIME, busy = setting.value.parse().ok().map(|TimeSpan(time)| time);
};

/// The parameters of a database in a file.
const FILE_PARAMETERS: &[UrlParameter<Params>] = parameters! { params: Params, setting;
    "journal", "wal, delete, truncate, persist, memory or off", journal = setting.choice(&JOURNALS);
    "sync", "off, normal, full or extra", sync = setting.choice(&SYNCS);
    "cache", SIZE, cache = bytes(setting, 64 * 1024);
    "direct", "off or on", direct = setting.choice(&SWITCH).map(|word| word == "on");
    "mmap", "a size up to 1T (`16M`)", mmap = bytes(setting, 0);
    "busy", TIME, busy = setting.value.parse().ok().map(|TimeSpan(time)| time);
    "locking", "normal or exclusive", locking = setting.choice(&LOCKINGS);
    "checkpoint", PAGES, checkpoint = setting.number(0..=i32::MAX as u32);
};

/// SQLite's own page cache size: `PRAGMA cache_size = -2000`.
pub(crate) const DEFAULT_CACHE: Bytes = Bytes(2000 * 1024);

/// SQLite's own distance between checkpoints, in pages of WAL.
pub(crate) const DEFAULT_CHECKPOINT: u32 = 1000;

/// Where the database is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Storage {
    /// In this file; the path is absolute.
    File(PathBuf),
    /// In this process's memory, under this name.
    Memory(String),
}

/// The parameters of a URL with their defaults.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Params {
    pub(crate) storage: Storage,
    /// The value of `PRAGMA journal_mode`.
    pub(crate) journal: &'static str,
    /// The value of `PRAGMA synchronous`.
    pub(crate) sync: &'static str,
    /// Page cache of each connection.
    pub(crate) cache: Bytes,
    /// Whether reads and writes of the database file bypass the operating system's page cache.
    pub(crate) direct: bool,
    /// The part of the file that is mapped into memory; 0 means none.
    pub(crate) mmap: Bytes,
    /// The longest wait for a lock.
    pub(crate) busy: Duration,
    /// The value of `PRAGMA locking_mode`.
    pub(crate) locking: &'static str,
    /// Pages of WAL after which a commit starts a checkpoint; 0 means never.
    pub(crate) checkpoint: u32,
}

fn unsupported(message: String, allowed: &str) -> TargetError {
    TargetError::unsupported(message).hint(format!("write {allowed}"))
}

/// The value as a size from `least` to 1T.
fn bytes(setting: &ConnectionSetting, least: u64) -> Option<Bytes> {
    setting.value.parse().ok().filter(|bytes: &Bytes| (least..=1 << 40).contains(&bytes.0))
}

impl Storage {
    fn read(path: &str) -> Result<Self, TargetError> {
        static MEMORIES: AtomicU64 = AtomicU64::new(0);
        if path == ":memory:" {
            let number = MEMORIES.fetch_add(1, Ordering::Relaxed);
            return Ok(Self::Memory(format!("/dyno-{number}")));
        }
        if path.is_empty() || path.contains('\0') {
            let message = format!("sqlite cannot open a file named {path:?}");
            return Err(unsupported(message, "sqlite:PATH or sqlite::memory:"));
        }
        let absolute = std::path::absolute(path)
            .map_err(|e| TargetError::unreachable(format!("sqlite file {path:?}: {e}")).cause(e))?;
        Ok(Self::File(absolute))
    }
}

impl Params {
    fn defaults(storage: Storage) -> Self {
        let memory = matches!(storage, Storage::Memory(_));
        Self {
            storage,
            journal: if memory { "memory" } else { "wal" },
            sync: "full",
            cache: DEFAULT_CACHE,
            direct: false,
            mmap: Bytes(0),
            busy: Duration::from_secs(10),
            locking: "normal",
            checkpoint: DEFAULT_CHECKPOINT,
        }
    }

    /// Parses the URL of a target.
    ///
    /// # Errors
    /// A parameter is unknown, invalid, or contradicts another one; the error states what is allowed.
    pub(crate) fn read(url: &TargetUrl) -> Result<Self, TargetError> {
        let mut params = Self::defaults(Storage::read(&url.path)?);
        read_url(url, if params.in_memory() { MEMORY_PARAMETERS } else { FILE_PARAMETERS }, &mut params)?;
        if params.direct && params.mmap.0 > 0 {
            let message =
                "sqlite parameters direct=on and mmap exclude each other: mapped memory is page cache";
            return Err(unsupported(message.to_owned(), "direct=on with mmap=0, or direct=off"));
        }
        Ok(params)
    }

    /// Whether the data is stored in this process's memory.
    pub(crate) fn in_memory(&self) -> bool {
        matches!(self.storage, Storage::Memory(_))
    }

    /// The path of the file; absent for a database in memory.
    pub(crate) fn file(&self) -> Option<&PathBuf> {
        match &self.storage {
            Storage::File(path) => Some(path),
            Storage::Memory(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_engine::TargetErrorKind;
    use proptest::prelude::*;

    fn read(url: &str) -> Result<Params, TargetError> {
        Params::read(&url.parse().unwrap())
    }

    #[test]
    fn parameters_default_to_sqlite_defaults_except_wal() {
        let params = read("sqlite:/data/dyno.db").unwrap();
        assert_eq!(params.storage, Storage::File("/data/dyno.db".into()));
        assert_eq!((params.journal, params.sync, params.cache.0), ("wal", "full", 2_048_000));
        assert!(!params.direct);
        assert!(params.mmap.0 == 0);
        assert!(params.locking == "normal");
        assert_eq!((params.busy, params.checkpoint), (Duration::from_secs(10), 1000));
    }

    #[test]
    fn every_sqlite_url_parameter_is_read() {
        let params = read(
            "sqlite:/d.db?journal=delete&sync=extra&cache=16M&direct=on&mmap=0&busy=250ms&locking=exclusive&checkpoint=0",
        )
        .unwrap();
        assert_eq!((params.journal, params.sync, params.locking), ("delete", "extra", "exclusive"));
        assert_eq!((params.cache.0, params.direct, params.mmap.0), (16 << 20, true, 0));
        assert_eq!((params.busy, params.checkpoint), (Duration::from_millis(250), 0));
    }

    #[test]
    fn invalid_sqlite_parameter_error_lists_allowed_values() {
        for (url, named, allowed) in [
            (
                "sqlite:/d.db?jornal=wal",
                "jornal",
                "did you mean journal? known parameters: journal, sync, cache",
            ),
            ("sqlite:/d.db?journal=WAL", "WAL", "wal, delete, truncate"),
            ("sqlite:/d.db?sync=2", "\"2\"", "off, normal, full or extra"),
            ("sqlite:/d.db?cache=lots", "lots", "64K to 1T"),
            ("sqlite:/d.db?cache=4K", "4K", "64K to 1T"),
            ("sqlite:/d.db?busy=10", "10", "10s"),
            ("sqlite:/d.db?checkpoint=-1", "-1", "0 for never"),
            ("sqlite:/d.db?direct=on&mmap=1G", "direct=on and mmap", "direct=off"),
            ("sqlite::memory:?journal=wal", "wal", "memory or off"),
            ("sqlite::memory:?direct=on", "direct", "known parameters: journal, cache, busy"),
        ] {
            let error = read(url).unwrap_err();
            assert_eq!(error.kind, TargetErrorKind::Unsupported, "{url}");
            assert!(error.message.contains(named), "{url}: {error} {}", error.hint);
            assert!(error.hint.contains(allowed), "{url}: {error} {}", error.hint);
        }
    }

    #[test]
    fn each_in_memory_database_is_separate() {
        let (a, b) = (read("sqlite::memory:").unwrap(), read("sqlite::memory:?cache=1G").unwrap());
        assert_ne!(a.storage, b.storage);
        assert_eq!((a.journal, b.cache.0), ("memory", 1 << 30));
    }

    proptest! {
        #[test]
        fn sqlite_params_never_panic_on_any_url(name in "[a-z]{0,10}", value in ".{0,12}", path in "[a-z/:]{0,8}") {
            let url = TargetUrl {
                scheme: "sqlite".to_owned(),
                user: None,
                host: None,
                port: None,
                is_file: true,
                path,
                params: vec![(name, value)],
            };
            let _ = Params::read(&url);
        }
    }
}
