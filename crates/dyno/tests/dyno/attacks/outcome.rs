//! Compares the result of an attack with the expected one.

use serde_json::Value;

use super::file::{Attack, Due, Figure};
use crate::common::CommandOutput;

/// Maximum characters of a message in the table.
const WORDS_MAX: usize = 220;

/// The check that attributes processor time.
const PROCESSOR: &str = "processor";

/// Result of one attack on one server.
pub(crate) struct AttackOutcome {
    pub(crate) attack: String,
    pub(crate) does: String,
    pub(crate) server: String,
    pub(crate) due: String,
    pub(crate) status_text: String,
    /// The run's own messages about it.
    pub(crate) words: String,
    /// Why the result is not as expected; empty if it is.
    pub(crate) misses: Vec<String>,
}

impl AttackOutcome {
    /// An attack that could not be run, or whose effect could not be undone.
    pub(crate) fn not_run(attack: &Attack, server: &str, why: String) -> Self {
        Self {
            attack: attack.name.clone(),
            does: attack.does.clone(),
            server: server.to_owned(),
            due: attack.due.verdict.join(" or "),
            status_text: "could not be made".to_owned(),
            words: String::new(),
            misses: vec![why],
        }
    }

    /// Judges a run's messages and record, if there is one; `wall_s` is its window by the test's clock.
    pub(crate) fn judge(
        attack: &Attack,
        server: &str,
        output: &CommandOutput,
        record: Option<&Value>,
        wall_s: Option<f64>,
    ) -> Self {
        let status = record.and_then(|record| record["status"].as_str()).unwrap_or("refused");
        let due = &attack.due;
        let mut misses = Vec::new();
        if !due.verdict.iter().any(|verdict| verdict == status) {
            misses.push(format!("it is {status}"));
        }
        let wanted = if status == "valid" { "warn" } else { "fail" };
        let spoke = checks(record, wanted);
        if !due.by.is_empty() && !spoke.iter().any(|(name, _)| due.by.contains(name)) {
            misses.push(format!("none of {} says so", due.by.join(", ")));
        }
        let text = problem_text(due, output, record);
        if !due.says.is_empty() && !due.says.iter().any(|words| text.contains(words)) {
            misses.push(format!("it does not say {:?}", due.says.join("\" or \"")));
        }
        if let (Some(record), "valid") = (record, status) {
            let marked = |name: &&String| record["whose"][name.as_str()]["marked"].as_bool() != Some(true);
            let unmarked: Vec<_> = due.marks.iter().filter(marked).map(String::as_str).collect();
            if !unmarked.is_empty() {
                misses.push(format!("not marked: {}", unmarked.join(", ")));
            }
            let loud: Vec<_> = spoke.iter().filter(|(name, _)| due.quiet.contains(name)).collect();
            misses.extend(loud.iter().map(|(name, words)| format!("{name} warns: {words}")));
            misses.extend(attack.figures.iter().filter_map(|figure| out_of_bounds(figure, record, wall_s)));
        }
        let words = summary(attack, &spoke, output, record);
        let marks = if due.marks.is_empty() { "" } else { ", marked" };
        let warned = if status == "valid" && !due.by.is_empty() { ", warned" } else { "" };
        Self {
            attack: attack.name.clone(),
            does: attack.does.clone(),
            server: server.to_owned(),
            due: format!("{}{marks}", due.verdict.join(" or ")),
            status_text: format!("{status}{warned}"),
            words,
            misses,
        }
    }
}

/// Checks with this status, with their details.
fn checks(record: Option<&Value>, status: &str) -> Vec<(String, String)> {
    let audit = record.and_then(|record| record["audit"].as_array()).cloned().unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let spoke = audit.iter().filter(|check| check["status"] == status);
    spoke.map(|check| (text(&check["check"]), text(&check["detail"]))).collect()
}

/// The run's messages about faults: reasons, reservations, errors. Attribution of processor time appears for
/// any run on a busy machine, and proves nothing about other background activity.
fn problem_text(due: &Due, output: &CommandOutput, record: Option<&Value>) -> String {
    let spoke = ["fail", "warn"].iter().flat_map(|status| checks(record, status));
    let spoke = spoke.filter(|(name, _)| name != PROCESSOR || due.by.iter().any(|by| by == PROCESSOR));
    let spoke: Vec<String> = spoke.map(|(name, words)| format!("{name}: {words}")).collect();
    let reasons = record.map(|record| record["reasons"].to_string()).unwrap_or_default();
    let errors = output.err.lines().filter(|line| line.starts_with("error") || line.starts_with("hint"));
    format!("{} {reasons} {}", spoke.join(" "), errors.collect::<Vec<_>>().join(" "))
}

/// The relevant message: of the expected checks, or the first reason, or the error.
fn summary(
    attack: &Attack,
    spoke: &[(String, String)],
    output: &CommandOutput,
    record: Option<&Value>,
) -> String {
    let due = |(name, words): &(String, String)| {
        let is_of_load = name == PROCESSOR && !attack.due.by.contains(name);
        attack.due.by.contains(name) || !is_of_load && attack.due.says.iter().any(|due| words.contains(due))
    };
    let check = spoke.iter().find(|check| due(check)).map(|(name, words)| format!("{name}: {words}"));
    let reason = || {
        let reasons = record?["reasons"].as_array()?;
        reasons.first()?.as_str().map(str::to_owned)
    };
    let error = || output.err.lines().find(|line| line.starts_with("error: ")).map(str::to_owned);
    let words = check.or_else(reason).or_else(error).unwrap_or_default();
    match words.char_indices().nth(WORDS_MAX) {
        Some((at, _)) => format!("{} …", words[..at].trim_end()),
        None => words,
    }
}

/// Planned length of the window, s.
fn planned_s(record: &Value) -> f64 {
    let planned = record["plan"]["run"]["time"].as_str().unwrap_or_default();
    planned.strip_suffix('s').and_then(|seconds| seconds.parse().ok()).unwrap_or(0.0)
}

/// Why a figure is out of bounds; `None` if it is not.
fn out_of_bounds(figure: &Figure, record: &Value, wall_s: Option<f64>) -> Option<String> {
    let seconds = record["window"]["seconds"].as_f64()?;
    let value = match figure.name.as_str() {
        "rate" => {
            // A suspended session is timed as well, and no session stops before the planned end.
            let worked = record["window"]["work_s"].as_f64()?;
            let counted = record["ops"]["all"]["count"].as_f64()? / worked.max(planned_s(record));
            Some(counted / record["metrics"]["ops_per_s"]["value"].as_f64()?)
        }
        "wall" => wall_s.map(|wall_s| wall_s / seconds),
        path => {
            let field = path.split('.').fold(record, |value, key| &value[key]);
            field.as_f64().or_else(|| field["value"].as_f64())
        }
    };
    let Some(value) = value else { return Some(format!("there is no {}", figure.name)) };
    let low = figure.min.is_some_and(|min| value < min);
    let high = figure.max.is_some_and(|max| value > max);
    (low || high)
        .then(|| format!("{} is {value}, not within {:?} to {:?}", figure.name, figure.min, figure.max))
}
