//! What ran, in the words of a card: the workload, the number of sessions, and the settings that a campaign varied.

use dyno_analyze::number::sessions;
use dyno_record::{RunSummary, SweepKind};

/// The keys of settings that have words of their own.
const SESSIONS: &str = "sessions";
const UPDATES: &str = "workload.update_pct";

/// Maximum number of values of a setting that are listed.
const VALUES_MAX: usize = 3;

/// What the runs of one card executed. `workload` is the name of a custom workload, or empty.
pub(crate) fn what_ran(workload: &str, runs: &[&RunSummary]) -> String {
    let is_suite =
        runs.iter().filter_map(|run| run.part_of.as_ref()).any(|part| part.kind == SweepKind::Suite);
    let workload = match workload {
        // Each test has its own.
        _ if is_suite => String::new(),
        "" => updates(runs),
        // The name is that of one run.
        _ if values(runs, "workload.folder").len() > 1 => String::new(),
        name => name.to_owned(),
    };
    let least = runs.iter().map(|run| run.sessions).min().unwrap_or_default();
    let greatest = runs.iter().map(|run| run.sessions).max().unwrap_or_default();
    let parts = std::iter::once(workload).chain(varied(runs)).chain([session_words(least, greatest)]);
    parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
}

/// `block reads`, `20 % updates` or `0 or 20 % updates`; empty without the block workload.
fn updates(runs: &[&RunSummary]) -> String {
    let shares: std::collections::BTreeSet<u32> = runs.iter().filter_map(|run| run.update_pct).collect();
    let (Some(least), Some(greatest)) = (shares.first(), shares.last()) else { return String::new() };
    match shares.len() {
        1 if *least == 0 => "block reads".to_owned(),
        1 => format!("{least} % updates"),
        2 => format!("{least} or {greatest} % updates"),
        _ => format!("{least} to {greatest} % updates"),
    }
}

/// `8 sessions`, or `1 to 32 sessions` where runs differ; empty if unknown.
fn session_words(least: u32, greatest: u32) -> String {
    match (least, greatest) {
        (_, 0) => String::new(),
        (least, greatest) if least == greatest => sessions(f64::from(greatest)),
        (least, greatest) => format!("{least} to {}", sessions(f64::from(greatest))),
    }
}

/// Each setting that distinguishes the runs, with its values: `commit wait or nowait`, `scan_pct 0 to 100`.
fn varied(runs: &[&RunSummary]) -> Vec<String> {
    let settings = runs.iter().filter_map(|run| run.part_of.as_ref()).flat_map(|part| &part.settings);
    let keys: std::collections::BTreeSet<&str> = settings.map(|setting| setting.key.as_str()).collect();
    let other_keys = keys.into_iter().filter(|key| ![SESSIONS, UPDATES].contains(key));
    let words = |key: &str| match (key, values(runs, key).len()) {
        ("test", count) if count > VALUES_MAX => format!("{count} tests"),
        _ => format!("{} {}", short(key), value_words(runs, key)),
    };
    other_keys.map(words).collect()
}

fn value_words(runs: &[&RunSummary], key: &str) -> String {
    let mut values = values(runs, key);
    let number = |value: &String| value.parse::<f64>().ok();
    if values.iter().all(|value| number(value).is_some()) {
        values.sort_by(|a, b| number(a).unwrap_or_default().total_cmp(&number(b).unwrap_or_default()));
        if values.len() > 2 {
            return format!("{} to {}", values[0], values[values.len() - 1]);
        }
    }
    // A side of an A/B test may leave the plan unchanged.
    if runs.iter().any(|run| value_of(run, key).is_none()) {
        values.push("unchanged".to_owned());
    }
    let rest = values.len().saturating_sub(VALUES_MAX);
    values.truncate(VALUES_MAX);
    match (rest, values.split_last()) {
        (0, Some((last, [_, ..]))) => format!("{} or {last}", values[..values.len() - 1].join(", ")),
        (0, _) => values.join(""),
        (rest, _) => format!("{} and {rest} more", values.join(", ")),
    }
}

/// The distinct values of a setting in the order of the points.
fn values(runs: &[&RunSummary], key: &str) -> Vec<String> {
    let parts = runs.iter().filter_map(|run| Some((run.part_of.as_ref()?.point, value_of(run, key)?)));
    let mut values: Vec<(u32, &str)> = parts.collect();
    values.sort_unstable();
    let mut distinct: Vec<String> = Vec::new();
    for (_, value) in values {
        if !distinct.iter().any(|known| known == value) {
            distinct.push(value.to_owned());
        }
    }
    distinct
}

/// The value of the setting `key` in a run of a campaign; absent if the run has the plan's.
pub(crate) fn value_of<'r>(run: &'r RunSummary, key: &str) -> Option<&'r str> {
    let settings = &run.part_of.as_ref()?.settings;
    settings.iter().find(|setting| setting.key == key).map(|setting| setting.value.as_str())
}

/// A key without its section: `update_pct`.
pub(crate) fn short(key: &str) -> &str {
    key.rsplit('.').next().unwrap_or(key)
}
