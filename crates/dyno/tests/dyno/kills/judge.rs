//! What a repository holds after a kill, and whether it may.

use serde_json::Value;

use super::bounded::succeeds;
use crate::common::Desk;

/// A run of the repository.
pub(crate) struct Run {
    pub(crate) id: String,
    pub(crate) status: String,
    /// Its record, where it has one.
    pub(crate) record: Option<Value>,
}

/// The repository as a program of its own reads it: whether it is sound, and whether a sweep was begun and did
/// not come to its end.
pub(crate) fn repository(desk: &Desk) -> Result<bool, String> {
    let file = desk.file("runs.sqlite3");
    if !std::fs::metadata(&file).is_ok_and(|file| file.len() > 0) {
        return Ok(false);
    }
    let read = || -> Result<(String, i64), rusqlite::Error> {
        let repository = rusqlite::Connection::open(&file)?;
        let found = repository.query_row("PRAGMA integrity_check", [], |row| row.get(0))?;
        let has = "SELECT count(*) FROM sqlite_master WHERE name = 'sweep'";
        let sweeps = match repository.query_row(has, [], |row| row.get::<_, i64>(0))? {
            0 => 0,
            _ => repository.query_row(
                "SELECT count(*) FROM sweep WHERE kind = 'sweep' AND ended IS NULL",
                [],
                |row| row.get(0),
            )?,
        };
        Ok((found, sweeps))
    };
    match read() {
        Ok((found, sweeps)) if found == "ok" => Ok(sweeps > 0),
        Ok((found, _)) => Err(format!("the repository is damaged: {found}")),
        Err(error) => Err(format!("the repository cannot be read: {error}")),
    }
}

/// All runs, as `dyno list` and `dyno show` have them.
pub(crate) fn runs(desk: &Desk) -> Result<Vec<Run>, String> {
    if !std::fs::metadata(desk.file("runs.sqlite3")).is_ok_and(|file| file.len() > 0) {
        return Ok(Vec::new());
    }
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    let (listed, _) = succeeds(desk, &words(&["list", "--limit", "100000", "--json"]))?;
    let listed: Vec<Value> = serde_json::from_str(&listed.out).map_err(|error| format!("list: {error}"))?;
    let mut runs = Vec::new();
    for run in listed {
        let text = |name: &str| run[name].as_str().unwrap_or_default().to_owned();
        let (id, status) = (text("id"), text("status"));
        let record = match (status.as_str(), succeeds(desk, &words(&["show", &id, "--json"]))) {
            // Many, all alike, and their figures are those of the file.
            ("imported", _) => None,
            (_, Ok((shown, _))) => {
                Some(serde_json::from_str(&shown.out).map_err(|error| format!("show: {error}"))?)
            }
            // A run that was killed before it had measured anything is listed, and there is nothing to show.
            ("interrupted", Err(_)) => None,
            (_, Err(said)) => return Err(said),
        };
        runs.push(Run { id, status, record });
    }
    Ok(runs)
}

/// What may not be so with `runs`.
pub(crate) fn statuses(runs: &[Run]) -> Vec<String> {
    let mut misses = Vec::new();
    for Run { id, status, record } in runs {
        let record = record.as_ref();
        let has_reasons =
            record.is_some_and(|record| record["reasons"].as_array().is_some_and(|r| !r.is_empty()));
        let has = |part: &str| record.is_some_and(|record| !record[part].is_null());
        // A server that is killed when the window is over cannot be read once more: what that would have told is not told.
        let claims_whole = |record: &Value| {
            let audit = record["audit"].as_array().into_iter().flatten();
            let whole = |check: &&Value| check["check"].as_str().is_some_and(|name| name.ends_with("_whole"));
            audit.filter(whole).any(|check| check["status"] != "skipped")
        };
        match status.as_str() {
            "valid" if !has("window") => misses.push(format!("{id} is valid and has no window")),
            "valid" if !has("whole") && record.is_some_and(claims_whole) => {
                misses.push(format!("{id} tells of its whole run, which it has not seen"));
            }
            "valid" => {}
            // What it says is that its process is gone.
            "interrupted" | "imported" => {}
            "invalid" | "failed" if has_reasons => {}
            other => misses.push(format!("{id} is {other} without a reason")),
        }
    }
    misses
}

/// The records of all runs of one status.
pub(crate) fn records(runs: &[Run], status: &str) -> Vec<Value> {
    runs.iter().filter(|run| run.status == status).filter_map(|run| run.record.clone()).collect()
}
