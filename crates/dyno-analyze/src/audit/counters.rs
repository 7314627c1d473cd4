//! Checks that the database's counters can be trusted: none decreased, none was reset, none is
//! missing without a reason.

use dyno_plan::OnLost;
use dyno_record::{CheckStatus, Counter, CounterDelta, CounterReset, MarkKind};

use super::changes::{change_words, intervals, list_some, span};
use super::facts::AuditFacts;
use super::finding::{AuditCheckResult, Skip, conclude, skip};
use crate::number::{count, fixed, signed};

/// Whether the server was restarted or its statistics were reset.
pub(super) fn epoch(facts: &AuditFacts<'_>) -> AuditCheckResult {
    let intervals = intervals(facts);
    if intervals.is_empty() {
        return skip("no counters were read");
    }
    if let Some(skipped) = restarted(facts) {
        return Err(skipped);
    }
    for (name, counters) in intervals {
        let changes: Vec<String> = counters.changed(MarkKind::Epoch).map(change_words).collect();
        if changes.is_empty() {
            continue;
        }
        // Before or after the window, it only prevents the comparison of the whole run.
        let (status, when) = match name {
            "window" => (CheckStatus::Fail, "in the window"),
            _ => (CheckStatus::Warn, "before or after the window"),
        };
        let detail = format!(
            "the server was restarted or its statistics were reset {when}: {}; counters started from zero",
            list_some(&changes)
        );
        return conclude(status, "no change", list_some(&changes), detail);
    }
    conclude(CheckStatus::Pass, "no change", "no change", "no restart and no reset of statistics")
}

/// Why counters cannot be compared, where the server restarted in an outage that the run measures.
fn restarted(facts: &AuditFacts<'_>) -> Option<Skip> {
    let record = facts.record;
    if record.outages.is_empty() || record.plan.run.on_lost != OnLost::Reconnect {
        return None;
    }
    let change = record.counters.restart()?;
    Some(Skip(format!(
        "the server restarted during an outage, and its counters started from zero: {}",
        change_words(change)
    )))
}

/// Whether a counter decreased during the run.
pub(super) fn monotone(facts: &AuditFacts<'_>) -> AuditCheckResult {
    let intervals = intervals(facts);
    if intervals.is_empty() {
        return skip("no counters were read");
    }
    if let Some(skipped) = restarted(facts) {
        return Err(skipped);
    }
    let mut compared = 0u64;
    // Decreases that invalidate the run, and decreases that only prevent the comparison of the
    // whole run.
    let (mut fallen, mut outside) = (Vec::new(), Vec::new());
    for (name, counters) in intervals {
        // A restart outside the window has a check of its own, and only prevents the comparison of
        // the whole run.
        if name != "window" && counters.changed(MarkKind::Epoch).next().is_some() {
            continue;
        }
        let falls = counters.falls.iter().map(|fall| fall_words(fall, name));
        if name == "window" {
            fallen.extend(falls);
        } else {
            outside.extend(falls);
        }
        for (counter, delta) in &counters.portable {
            let CounterDelta::Moved { begin, end, delta, .. } = delta else { continue };
            compared += 1;
            let is_reported =
                name == "window" && counters.falls.iter().any(|fall| fall.name == counter.name());
            if (*delta < 0 || end < begin) && !is_reported {
                fallen.push(format!("{} by {} in the {name}", counter.name(), signed(i128::from(*delta))));
            }
        }
    }
    if !fallen.is_empty() {
        let detail = format!("went backwards, or was reset and grew again: {}", list_some(&fallen));
        return conclude(CheckStatus::Fail, "0", count(fallen.len() as u64), detail);
    }
    if !outside.is_empty() {
        let detail = format!("went backwards before or after the window: {}", list_some(&outside));
        return conclude(CheckStatus::Warn, "0", count(outside.len() as u64), detail);
    }
    if compared == 0 {
        return skip("the database reports no portable counter");
    }
    conclude(CheckStatus::Pass, "0", "0", format!("none of {} went backwards", count(compared)))
}

/// The counter that decreased, its values, and when.
fn fall_words(fall: &CounterReset, interval: &str) -> String {
    let at = fall.seen_s.map(|seen_s| format!(", seen {} into the {interval}", span(seen_s)));
    format!("{} from {} to {}{}", fall.name, plain(fall.from), plain(fall.to), at.unwrap_or_default())
}

/// A counter's value: a whole number, or one with a few decimals.
fn plain(value: f64) -> String {
    if value >= 0.0 && value.fract() == 0.0 && value < 2f64.powi(53) {
        count(value as u64)
    } else {
        format!("{value:.3}")
    }
}

/// Whether a counter is absent without a reason, which is a fault of the engine's observer.
pub(super) fn check_reported(facts: &AuditFacts<'_>) -> AuditCheckResult {
    let portable = &facts.window_interval()?.counters.portable;
    let missing: Vec<String> =
        Counter::ALL.iter().filter(|c| !portable.contains_key(c)).map(|c| c.name().to_owned()).collect();
    let reported_count = portable.values().filter(|delta| delta.delta().is_some()).count();
    let mut words = format!("{reported_count} of {} portable counters reported", Counter::ALL.len());
    let unread = facts.window()?.unread.as_ref();
    if let Some(unread) = unread {
        words.push_str(&format!(
            "; at the end of {} of the window's intervals they could not be read, first {} s into it: {}",
            count(unread.count),
            fixed(unread.first_s, 1),
            unread.reason
        ));
    }
    let (expected, observed) = (Counter::ALL.len().to_string(), portable.len().to_string());
    if missing.is_empty() {
        // During an outage of the database the counters cannot be read.
        let is_explained = unread.is_none() || !facts.record.outages.is_empty();
        let status = if is_explained { CheckStatus::Pass } else { CheckStatus::Warn };
        let words = match unread {
            None => format!("{words}, the others absent with a reason"),
            Some(_) => words,
        };
        return conclude(status, expected, observed, words);
    }
    let detail = format!("{words}; absent without a reason: {}", list_some(&missing));
    conclude(CheckStatus::Warn, expected, observed, detail)
}
