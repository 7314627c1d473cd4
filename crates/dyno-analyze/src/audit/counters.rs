//! Whether the database's counters can be trusted at all: none went backwards, none started anew, none is just missing.

use dyno_record::{CheckStatus, Counter, CounterDelta, Counters};

use super::facts::Facts;
use super::finding::{Verdict, found, skip};
use crate::number::{count, signed};

/// Counters named in one sentence; the record holds the others.
const NAMED_MAX: usize = 4;

/// The first names, and how many more there are.
fn some_of(names: &[String]) -> String {
    let shown = names[..names.len().min(NAMED_MAX)].join(", ");
    match names.len().saturating_sub(NAMED_MAX) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// Both intervals that have counters, by name.
fn intervals<'a>(facts: &Facts<'a>) -> Vec<(&'static str, &'a Counters)> {
    let window = facts.record.window.as_ref().map(|_| ("window", &facts.record.counters));
    let whole = facts.record.whole.as_ref().map(|whole| ("whole run", &whole.counters));
    window.into_iter().chain(whole).collect()
}

/// A server that was restarted, or statistics that were reset.
pub(super) fn epoch(facts: &Facts<'_>) -> Verdict {
    let intervals = intervals(facts);
    if intervals.is_empty() {
        return skip("there are no counters");
    }
    for (name, counters) in intervals {
        let changes: Vec<String> = counters
            .changes
            .iter()
            .map(|change| {
                let word = |mark: &Option<String>| mark.clone().unwrap_or_else(|| "absent".to_owned());
                format!("{} was {} and became {}", change.name, word(&change.from), word(&change.to))
            })
            .collect();
        if changes.is_empty() {
            continue;
        }
        // Before or after the window it spoils the comparison of the whole run only.
        let (status, when) = match name {
            "window" => (CheckStatus::Fail, "in the window"),
            _ => (CheckStatus::Warn, "before or after the window"),
        };
        let detail = format!(
            "the server was restarted or its statistics were reset {when}: {}; counters started anew",
            some_of(&changes)
        );
        return found(status, "no change", some_of(&changes), detail);
    }
    found(CheckStatus::Pass, "no change", "no change", "no restart and no reset of statistics")
}

/// Counters that went backwards.
pub(super) fn monotone(facts: &Facts<'_>) -> Verdict {
    let intervals = intervals(facts);
    if intervals.is_empty() {
        return skip("there are no counters");
    }
    let mut compared = 0u64;
    let mut fallen = Vec::new();
    for (name, counters) in intervals {
        // A restart outside the window is told by its own check and spoils only the whole run's comparison.
        if name != "window" && !counters.changes.is_empty() {
            continue;
        }
        for (counter, delta) in &counters.portable {
            let CounterDelta::Moved { begin, end, delta, .. } = delta else { continue };
            compared += 1;
            if *delta < 0 || end < begin {
                fallen.push(format!("{} by {} in the {name}", counter.name(), signed(i128::from(*delta))));
            }
        }
    }
    if !fallen.is_empty() {
        let detail = format!("went backwards: {}", some_of(&fallen));
        return found(CheckStatus::Fail, "0", count(fallen.len() as u64), detail);
    }
    if compared == 0 {
        return skip("the database tells no portable counter");
    }
    found(CheckStatus::Pass, "0", "0", format!("none of {} went backwards", count(compared)))
}

/// Counters that are absent without a reason: a fault of the engine's observer.
pub(super) fn known(facts: &Facts<'_>) -> Verdict {
    let portable = &facts.window_interval()?.counters.portable;
    let missing: Vec<String> =
        Counter::ALL.iter().filter(|c| !portable.contains_key(c)).map(|c| c.name().to_owned()).collect();
    let told = portable.values().filter(|delta| delta.delta().is_some()).count();
    let words = format!("{told} of {} portable counters told", Counter::ALL.len());
    let (expected, observed) = (Counter::ALL.len().to_string(), portable.len().to_string());
    if missing.is_empty() {
        return found(
            CheckStatus::Pass,
            expected,
            observed,
            format!("{words}, the others with their reason"),
        );
    }
    let detail = format!("{words}; absent without a reason: {}", some_of(&missing));
    found(CheckStatus::Warn, expected, observed, detail)
}
