//! Checks the content of a repository after a kill.

use serde_json::Value;

use super::bounded::run_successfully;
use crate::common::TestEnv;

/// A run in the repository.
pub(crate) struct ListedRun {
    pub(crate) id: String,
    pub(crate) status: String,
    /// Its record, if it has one.
    pub(crate) record: Option<Value>,
}

/// Checks the repository with a separate program; returns whether it contains a sweep that did not complete.
pub(crate) fn check_repository(desk: &TestEnv) -> Result<bool, String> {
    let file = desk.file("runs.sqlite3");
    if !std::fs::metadata(&file).is_ok_and(|file| file.len() > 0) {
        return Ok(false);
    }
    let read = || -> Result<(String, i64), rusqlite::Error> {
        let repository = rusqlite::Connection::open(&file)?;
        let check_result = repository.query_row("PRAGMA integrity_check", [], |row| row.get(0))?;
        let has = "SELECT count(*) FROM sqlite_master WHERE name = 'sweep'";
        let sweeps = match repository.query_row(has, [], |row| row.get::<_, i64>(0))? {
            0 => 0,
            _ => repository.query_row(
                "SELECT count(*) FROM sweep WHERE kind = 'sweep' AND ended IS NULL",
                [],
                |row| row.get(0),
            )?,
        };
        Ok((check_result, sweeps))
    };
    match read() {
        Ok((found, sweeps)) if found == "ok" => Ok(sweeps > 0),
        Ok((found, _)) => Err(format!("the repository is damaged: {found}")),
        Err(error) => Err(format!("the repository cannot be read: {error}")),
    }
}

/// All runs, as `dyno list` and `dyno show` report them.
pub(crate) fn list_runs(desk: &TestEnv) -> Result<Vec<ListedRun>, String> {
    if !std::fs::metadata(desk.file("runs.sqlite3")).is_ok_and(|file| file.len() > 0) {
        return Ok(Vec::new());
    }
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    let (listed, _) = run_successfully(desk, &words(&["list", "--limit", "100000", "--json"]))?;
    let listed: Vec<Value> = serde_json::from_str(&listed.out).map_err(|error| format!("list: {error}"))?;
    let mut runs = Vec::new();
    for run in listed {
        let text = |name: &str| run[name].as_str().unwrap_or_default().to_owned();
        let (id, status) = (text("id"), text("status"));
        let show = || run_successfully(desk, &words(&["show", &id, "--json"]));
        let record = match status.as_str() {
            // They are many and all alike, and their figures are those of the file.
            "imported" => None,
            status => match show() {
                Ok((shown, _)) => {
                    Some(serde_json::from_str(&shown.out).map_err(|error| format!("show: {error}"))?)
                }
                // A run killed before its first measurement is listed, but has nothing to show.
                Err(_) if status == "interrupted" => None,
                Err(said) => return Err(said),
            },
        };
        runs.push(ListedRun { id, status, record });
    }
    Ok(runs)
}

/// Faults in the status of `runs`.
pub(crate) fn status_misses(runs: &[ListedRun]) -> Vec<String> {
    let mut misses = Vec::new();
    for ListedRun { id, status, record } in runs {
        let record = record.as_ref();
        let has_reasons =
            record.is_some_and(|record| record["reasons"].as_array().is_some_and(|r| !r.is_empty()));
        let has = |part: &str| record.is_some_and(|record| !record[part].is_null());
        // If the server is killed after the window, it cannot be read again, and the affected check cannot be
        // made.
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
            // It states that its process is gone.
            "interrupted" | "imported" => {}
            "invalid" | "failed" if has_reasons => {}
            other => misses.push(format!("{id} is {other} without a reason")),
        }
    }
    misses
}

/// The records of all runs with this status.
pub(crate) fn records_with_status(runs: &[ListedRun], status: &str) -> Vec<Value> {
    runs.iter().filter(|run| run.status == status).filter_map(|run| run.record.clone()).collect()
}
