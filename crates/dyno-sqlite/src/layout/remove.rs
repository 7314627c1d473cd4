//! Dropping exactly what Dyno made.
//!
//! Where Dyno made the file itself and nothing else has moved in, the file is removed as a whole: dropping tables would
//! read every page of them first. Otherwise the recorded objects are dropped, and whatever else is there stays.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::meta::{self, Object};
use super::ownership;
use crate::connect::never;
use crate::connect::{Link, Params, Purpose, pragma};
use crate::fault::{Doing, Fault};
use crate::vfs;
use dyno_engine::{DropItem, TargetError};

/// What a drop would do.
struct Plan {
    objects: Vec<Object>,
    /// Files that go with them.
    files: Vec<PathBuf>,
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(suffix);
    name.into()
}

/// Opens the file, if it is there.
fn open(params: &Params) -> Result<Option<Link>, TargetError> {
    if params.file().is_some_and(|path| !path.exists()) {
        return Ok(None);
    }
    params.connect(Purpose::Inspect, &never()).map(Some)
}

fn plan(params: &Params, link: &Link) -> Result<Plan, TargetError> {
    let doing = "list what dyno made";
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
    Ok(Plan { objects, files })
}

fn items(plan: &Plan) -> Vec<DropItem> {
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

/// What [`drop_all`] would remove.
pub(crate) fn inventory(params: &Params) -> Result<Vec<DropItem>, TargetError> {
    match open(params)? {
        Some(link) => Ok(items(&plan(params, &link)?)),
        None => Ok(Vec::new()),
    }
}

/// What is in the file and not recorded as Dyno's, and the file itself where it stays.
pub(crate) fn foreign(params: &Params) -> Result<Vec<DropItem>, TargetError> {
    let Some(link) = open(params)? else { return Ok(Vec::new()) };
    let plan = plan(params, &link)?;
    let names = meta::names_in_file(&link.conn).doing("list what the file holds")?;
    let others = names.into_iter().filter(|name| !plan.objects.iter().any(|object| object.name == *name));
    let item = |kind: &str, name: String| DropItem { kind: kind.to_owned(), name, bytes: None };
    let mut left: Vec<DropItem> = others.map(|name| item("object", name)).collect();
    if let Some(path) = params.file().filter(|_| plan.files.is_empty()) {
        left.push(item("file", path.display().to_string()));
    }
    Ok(left)
}

/// Whether [`drop_all`] would remove the file itself, so that the next load makes a new one.
pub(super) fn removes_file(params: &Params) -> Result<bool, TargetError> {
    Ok(inventory(params)?.iter().any(|item| item.kind == "file"))
}

/// Removes what Dyno made; returns what that was.
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

fn drop_objects(link: &Link, objects: &[Object]) -> Result<(), Fault> {
    let transaction = link.conn.unchecked_transaction()?;
    for object in objects {
        // Names are those this program recorded, of letters, digits and underscores.
        link.conn.execute(&format!("DROP {} IF EXISTS {}", object.kind, object.name), [])?;
    }
    Ok(transaction.commit()?)
}

/// Removes the file, once it is certain that no other connection has it open.
fn remove_file(params: &Params, path: &Path, link: Link) -> Result<(), TargetError> {
    // Leaving WAL needs the file for oneself, folds the log into it and removes log and index; the exclusive lock then
    // keeps newcomers out until the name is gone.
    let alone = || -> Result<bool, Fault> {
        let mode = pragma(&link.conn, "journal_mode", "delete")?;
        link.conn.execute_batch("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE")?;
        Ok(mode.as_deref() == Some("delete"))
    };
    let in_use = |error: Option<Fault>| {
        let message = format!("{} is in use by another connection and cannot be removed", params.name());
        let refused = TargetError::database(message).hint("end what uses it, then drop again");
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
        let message = format!("{} cannot be removed: {e}", params.name());
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
