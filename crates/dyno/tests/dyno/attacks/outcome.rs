//! What came of an attack, against what was due.

use serde_json::Value;

use super::file::{Attack, Due, Figure};
use crate::common::Said;

/// Characters of what the line says that go into the table.
const WORDS_MAX: usize = 220;

/// The check of whose the processors were.
const PROCESSOR: &str = "processor";

/// What came of one attack on one server.
pub(crate) struct Outcome {
    pub(crate) attack: String,
    pub(crate) does: String,
    pub(crate) server: String,
    pub(crate) due: String,
    pub(crate) got: String,
    /// What the run's own lines say of it.
    pub(crate) words: String,
    /// Why it does not hold; empty where it does.
    pub(crate) misses: Vec<String>,
}

impl Outcome {
    /// An attack that could not be made, or that could not be undone.
    pub(crate) fn unmade(attack: &Attack, server: &str, why: String) -> Self {
        Self {
            attack: attack.name.clone(),
            does: attack.does.clone(),
            server: server.to_owned(),
            due: attack.due.verdict.join(" or "),
            got: "could not be made".to_owned(),
            words: String::new(),
            misses: vec![why],
        }
    }

    /// Judges what a run said and left. `record` is its record, if it left one; `wall_s` its window by our own clock.
    pub(crate) fn of(
        attack: &Attack,
        server: &str,
        said: &Said,
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
        let text = text(due, said, record);
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
        let words = words(attack, &spoke, said, record);
        let marks = if due.marks.is_empty() { "" } else { ", marked" };
        let warned = if status == "valid" && !due.by.is_empty() { ", warned" } else { "" };
        Self {
            attack: attack.name.clone(),
            does: attack.does.clone(),
            server: server.to_owned(),
            due: format!("{}{marks}", due.verdict.join(" or ")),
            got: format!("{status}{warned}"),
            words,
            misses,
        }
    }
}

/// Checks of one status, with what they say.
fn checks(record: Option<&Value>, status: &str) -> Vec<(String, String)> {
    let audit = record.and_then(|record| record["audit"].as_array()).cloned().unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let spoke = audit.iter().filter(|check| check["status"] == status);
    spoke.map(|check| (text(&check["check"]), text(&check["detail"]))).collect()
}

/// What the run told of what is wrong with it: reasons, reservations, errors. Whose the processors were is said of any run on
/// a busy machine, and proves nothing about other company.
fn text(due: &Due, said: &Said, record: Option<&Value>) -> String {
    let spoke = ["fail", "warn"].iter().flat_map(|status| checks(record, status));
    let spoke = spoke.filter(|(name, _)| name != PROCESSOR || due.by.iter().any(|by| by == PROCESSOR));
    let spoke: Vec<String> = spoke.map(|(name, words)| format!("{name}: {words}")).collect();
    let reasons = record.map(|record| record["reasons"].to_string()).unwrap_or_default();
    let errors = said.err.lines().filter(|line| line.starts_with("error") || line.starts_with("hint"));
    format!("{} {reasons} {}", spoke.join(" "), errors.collect::<Vec<_>>().join(" "))
}

/// The words that matter: of the checks that were due, or the first reason, or the error.
fn words(attack: &Attack, spoke: &[(String, String)], said: &Said, record: Option<&Value>) -> String {
    let due = |(name, words): &(String, String)| {
        let is_of_load = name == PROCESSOR && !attack.due.by.contains(name);
        attack.due.by.contains(name) || !is_of_load && attack.due.says.iter().any(|due| words.contains(due))
    };
    let check = spoke.iter().find(|check| due(check)).map(|(name, words)| format!("{name}: {words}"));
    let reason = || {
        let reasons = record?["reasons"].as_array()?;
        reasons.first()?.as_str().map(str::to_owned)
    };
    let error = || said.err.lines().find(|line| line.starts_with("error: ")).map(str::to_owned);
    let words = check.or_else(reason).or_else(error).unwrap_or_default();
    match words.char_indices().nth(WORDS_MAX) {
        Some((at, _)) => format!("{} …", words[..at].trim_end()),
        None => words,
    }
}

/// How long the window was to be, s.
fn planned_s(record: &Value) -> f64 {
    let planned = record["plan"]["run"]["time"].as_str().unwrap_or_default();
    planned.strip_suffix('s').and_then(|seconds| seconds.parse().ok()).unwrap_or(0.0)
}

/// What is wrong with a figure.
fn out_of_bounds(figure: &Figure, record: &Value, wall_s: Option<f64>) -> Option<String> {
    let seconds = record["window"]["seconds"].as_f64()?;
    let value = match figure.name.as_str() {
        "rate" => {
            // A session that stands still is timed too, and none stops before the end that was planned.
            let worked = record["window"]["work_s"].as_f64()?;
            let counted = record["ops"]["all"]["count"].as_f64()? / worked.max(planned_s(record));
            Some(counted / record["metrics"]["ops_per_s"]["value"].as_f64()?)
        }
        "wall" => wall_s.map(|wall_s| wall_s / seconds),
        path => {
            let found = path.split('.').fold(record, |value, key| &value[key]);
            found.as_f64().or_else(|| found["value"].as_f64())
        }
    };
    let Some(value) = value else { return Some(format!("there is no {}", figure.name)) };
    let low = figure.min.is_some_and(|min| value < min);
    let high = figure.max.is_some_and(|max| value > max);
    (low || high)
        .then(|| format!("{} is {value}, not within {:?} to {:?}", figure.name, figure.min, figure.max))
}
