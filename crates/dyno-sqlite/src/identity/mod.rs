//! Describes what is under test (product, version, settings) and reports what would falsify a run.

mod counting;
mod fs;
mod preflight;

use std::collections::BTreeMap;

use dyno_plan::Bytes;
use dyno_record::{Identity, ServerProcesses};
use rusqlite::Connection;

use super::connect::no_stop_flag;
use super::connect::{DEFAULT_CACHE, DEFAULT_CHECKPOINT, Params, Purpose, pragma_number, pragma_text};
use super::fault::{SqliteError, SqliteErrorContext};
use super::vfs;
use dyno_engine::TargetError;
pub(super) use preflight::preflight;

/// The version of the linked SQLite library.
pub(super) fn version() -> &'static str {
    rusqlite::version()
}

/// The settings of each session's connection, with SQLite's own defaults.
fn session_settings(params: &Params) -> Vec<(&'static str, String, String)> {
    let on = |switch| if switch { "on" } else { "off" }.to_owned();
    let mut settings = vec![
        ("journal_mode", params.journal.to_owned(), "delete".to_owned()),
        ("synchronous", params.sync.to_owned(), "full".to_owned()),
        ("cache_size", params.cache.to_string(), DEFAULT_CACHE.to_string()),
        ("locking_mode", params.locking.to_owned(), "normal".to_owned()),
        ("mmap_size", params.mmap.to_string(), Bytes(0).to_string()),
        ("busy", format!("{} ms", params.busy.as_millis()), "0 ms".to_owned()),
        ("direct", on(params.direct), on(false)),
    ];
    if params.journal == "wal" {
        let pages = |pages: u32| format!("{pages} pages");
        settings.push(("wal_autocheckpoint", pages(params.checkpoint), pages(DEFAULT_CHECKPOINT)));
    }
    if params.in_memory() {
        settings
            .retain(|(name, ..)| !matches!(*name, "mmap_size" | "direct" | "locking_mode" | "synchronous"));
        settings.push(("vfs", "memdb".to_owned(), "unix".to_owned()));
    } else {
        settings.push(("vfs", vfs::NAME.to_string_lossy().into_owned(), "unix".to_owned()));
    }
    settings
}

/// The compile options with which SQLite was built.
fn compile_options(conn: &Connection) -> Result<String, SqliteError> {
    let mut statement = conn.prepare("PRAGMA compile_options")?;
    let options: Vec<String> = statement.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    let shaping = |option: &&String| {
        ["THREADSAFE", "ENABLE_API_ARMOR", "DEFAULT_", "ENABLE_MEMSYS", "MUTEX", "COMPILER", "DEBUG"]
            .iter()
            .any(|word| option.starts_with(word))
    };
    Ok(options.iter().filter(shaping).map(String::as_str).collect::<Vec<_>>().join(" "))
}

/// Properties of the file itself; empty if it does not exist yet.
fn file_settings(params: &Params) -> Result<(u64, BTreeMap<String, String>), TargetError> {
    let mut settings = BTreeMap::new();
    if params.file().is_some_and(|path| !path.exists()) {
        return Ok((0, settings));
    }
    let link = params.connect(Purpose::Inspect, &no_stop_flag())?;
    let doing = "read the file's settings";
    let pages = pragma_number(&link.conn, "page_count").doing(doing)?;
    if pages == 0 {
        return Ok((0, settings));
    }
    let page_bytes = pragma_number(&link.conn, "page_size").doing(doing)?.unsigned_abs();
    settings.insert("page_size".to_owned(), Bytes(page_bytes).to_string());
    settings.insert("encoding".to_owned(), pragma_text(&link.conn, "encoding").doing(doing)?);
    // The numbers of pages and of free pages depend on the contents and are not settings.
    settings
        .insert("auto_vacuum".to_owned(), pragma_number(&link.conn, "auto_vacuum").doing(doing)?.to_string());
    Ok((page_bytes, settings))
}

/// Product, version, settings and paths of the target.
pub(super) fn identify(params: &Params) -> Result<Identity, TargetError> {
    let (block_size, mut settings) = file_settings(params)?;
    let mut non_default = Vec::new();
    for (name, value, default) in session_settings(params) {
        if value != default {
            non_default.push(name.to_owned());
        }
        settings.insert(name.to_owned(), value);
    }
    let conn = Connection::open_in_memory().doing("ask SQLite how it was built")?;
    let source: String = conn
        .query_row("SELECT sqlite_source_id()", [], |row| row.get(0))
        .doing("ask SQLite how it was built")?;
    settings.insert("source_id".to_owned(), source);
    let options = compile_options(&conn).doing("ask SQLite how it was built")?;
    settings.insert("compile_options".to_owned(), options);
    Ok(Identity {
        product: "SQLite".to_owned(),
        version: version().to_owned(),
        block_size,
        cache_bytes: None,
        direct_io: Some(params.direct),
        calibrated: None,
        settings,
        non_default,
        not_durable: preflight::not_durable(params),
        data_path: params.file().map(|path| path.display().to_string()),
        // The journal and the WAL are always in the folder of the file.
        redo_path: None,
        same_host: true,
        counting: counting::counting(),
        processes: ServerProcesses::This,
    })
}
