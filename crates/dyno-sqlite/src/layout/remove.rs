//! Drops exactly the objects that Dyno created.
//!
//! If Dyno created the file and nothing else is in it, the whole file is removed, because dropping tables
//! would first read all of their pages. Otherwise the recorded objects are dropped, and everything else
//! remains.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::meta::{self, SqliteDatabaseObject};
use super::ownership;
use crate::connect::no_stop_flag;
use crate::connect::{Params, Purpose, SqliteConnection, pragma};
use crate::fault::{SqliteError, SqliteErrorContext};
use crate::vfs;
use dyno_engine::{DropItem, TargetError};

/// The objects and files that a drop would remove.
struct SqliteDropPlan {
    objects: Vec<SqliteDatabaseObject>,
    /// Files that are removed with the objects.
    files: Vec<PathBuf>,
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(suffix);
    name.into()
}

/// Opens the file; `None` if it does not exist.
fn open(params: &Params) -> Result<Option<SqliteConnection>, TargetError> {
    if params.file().is_some_and(|path| !path.exists()) {
        return Ok(None);
    }
    params.connect(Purpose::Inspect, &no_stop_flag()).map(Some)
}

fn plan(params: &Params, link: &SqliteConnection) -> Result<SqliteDropPlan, TargetError> {
    let doing = "list the objects that Dyno created";
    let facts = meta::read(&link.conn)?;
    let objects = match &facts {
        Some(_) => meta::objects(&link.conn).doing(doing)?,
        None => Vec::new(),
    };
    // Files of earlier versions have no mark.
    let is_dynos =
        facts.is_some_and(|facts| facts.file_created) || ownership::is_marked(&link.conn).doing(doing)?;
    let alone = meta::names_in_file(&link.conn)
        .doing(doing)?
        .iter()
        .all(|name| objects.iter().any(|object| object.name == *name));
    let files = match params.file() {
        Some(path) if is_dynos && alone => ["", "-wal", "-shm", "-journal"]
            .into_iter()
            .map(|suffix| with_suffix(path, suffix))
            .filter(|file| file.exists())
            .collect(),
        _ => Vec::new(),
    };
    Ok(SqliteDropPlan { objects, files })
}

fn items(plan: &SqliteDropPlan) -> Vec<DropItem> {
    let objects = plan.objects.iter().map(|object| DropItem {
        kind: object.kind.clone(),
        name: object.name.clone(),
        bytes: object.bytes,
    });
    let files = plan.files.iter().map(|file| DropItem {
        kind: "file".to_owned(),
        name: file.display().to_string(),
        bytes: std::fs::metadata(file).ok().map(|facts| facts.len()),
    });
    objects.chain(files).collect()
}

/// Lists what [`drop_all`] would remove.
pub(crate) fn inventory(params: &Params) -> Result<Vec<DropItem>, TargetError> {
    match open(params)? {
        Some(link) => Ok(items(&plan(params, &link)?)),
        None => Ok(Vec::new()),
    }
}

/// Objects in the file that are not recorded as Dyno's, and the file itself if it remains.
pub(crate) fn foreign(params: &Params) -> Result<Vec<DropItem>, TargetError> {
    let Some(link) = open(params)? else { return Ok(Vec::new()) };
    let plan = plan(params, &link)?;
    let names = meta::names_in_file(&link.conn).doing("list the objects in the file")?;
    let foreign_names =
        names.into_iter().filter(|name| !plan.objects.iter().any(|object| object.name == *name));
    let item = |kind: &str, name: String| DropItem { kind: kind.to_owned(), name, bytes: None };
    let mut left: Vec<DropItem> = foreign_names.map(|name| item("object", name)).collect();
    if let Some(path) = params.file().filter(|_| plan.files.is_empty()) {
        left.push(item("file", path.display().to_string()));
    }
    Ok(left)
}

/// Whether [`drop_all`] would remove the file itself, so that the next load creates a new one.
pub(super) fn removes_file(params: &Params) -> Result<bool, TargetError> {
    Ok(inventory(params)?.iter().any(|item| item.kind == "file"))
}

/// Removes what Dyno created; returns the removed objects.
pub(crate) fn drop_all(params: &Params) -> Result<Vec<DropItem>, TargetError> {
    let Some(link) = open(params)? else { return Ok(Vec::new()) };
    let plan = plan(params, &link)?;
    let removed = items(&plan);
    match params.file() {
        Some(path) if !plan.files.is_empty() => remove_file(params, path, link)?,
        _ => drop_objects(&link, &plan.objects).doing("drop tables")?,
    }
    Ok(removed)
}

fn drop_objects(link: &SqliteConnection, objects: &[SqliteDatabaseObject]) -> Result<(), SqliteError> {
    let transaction = link.conn.unchecked_transaction()?;
    for object in objects {
        // The names were recorded by Dyno and contain only letters, digits and underscores.
        link.conn.execute(&format!("DROP {} IF EXISTS {}", object.kind, object.name), [])?;
    }
    Ok(transaction.commit()?)
}

/// Removes the file after ensuring that no other connection has it open.
fn remove_file(params: &Params, path: &Path, link: SqliteConnection) -> Result<(), TargetError> {
    // Leaving WAL mode needs exclusive access, writes the log into the file, and removes log and index. The
    // exclusive lock then blocks new connections until the file's name is removed.
    let alone = || -> Result<bool, SqliteError> {
        let mode = pragma(&link.conn, "journal_mode", "delete")?;
        link.conn.execute_batch("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE")?;
        Ok(mode.as_deref() == Some("delete"))
    };
    let in_use = |error: Option<SqliteError>| {
        let message = format!("{} is in use by another connection and cannot be deleted", params.name());
        let refused = TargetError::database(message).hint("end the processes that use it, then drop again");
        match error {
            Some(fault) => refused.cause(fault),
            None => refused,
        }
    };
    match alone() {
        Ok(true) => {}
        Ok(false) => return Err(in_use(None)),
        Err(fault) => return Err(in_use(Some(fault))),
    }
    let cannot = |e: std::io::Error| {
        let message = format!("{} cannot be deleted: {e}", params.name());
        TargetError::privilege(message).hint("allow writing to its directory").cause(e)
    };
    std::fs::remove_file(path).map_err(cannot)?;
    drop(link);
    for suffix in ["-wal", "-shm", "-journal"] {
        match std::fs::remove_file(with_suffix(path, suffix)) {
            Err(e) if e.kind() != std::io::ErrorKind::NotFound => return Err(cannot(e)),
            _ => {}
        }
    }
    vfs::release_removed();
    Ok(())
}
