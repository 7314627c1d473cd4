//! What lowers the confidence of a limit.

use dyno_record::{CheckStatus, RunRecord};

use super::super::Component;
use super::super::evidence::BottleneckInputs;
use super::super::parts::CPU_FULL_PCT;
use super::super::words;
use crate::number::fixed;
use crate::overdue::Overdue;

/// Share of the processors, %, that others may use before the result mentions it.
pub(super) const OTHERS_PCT: f64 = 10.0;
/// Share of the processors, %, above which others may be why they are full.
pub(super) const OTHERS_MUCH_PCT: f64 = 25.0;

/// Audit checks of figures from which a limit is derived.
const CHECKS: [&str; 4] = ["littles_law", "active_sessions", "server_restarted", "sessions"];

/// Operations overdue at the window's begin, where they matter; `None` without a rate.
pub(super) fn overdue(record: &RunRecord) -> Option<Overdue> {
    let due = record.asked_per_s()? * record.window.as_ref()?.work_seconds();
    Overdue::of(record, due)
}

/// How long no session got an answer; `None` for a run without outages.
pub(super) fn outage_words(record: &RunRecord) -> Option<String> {
    let silences = record.outages.iter().flat_map(|outage| &outage.silences);
    let silent_s: f64 = silences.map(|silence| silence.length_s).sum();
    let outages = match record.outages.len() {
        0 => return None,
        1 => "an outage".to_owned(),
        count => format!("{count} outages"),
    };
    Some(format!("the run has {outages}: no session had an answer for {} s", fixed(silent_s, 1)))
}

/// What lowers the confidence of any result.
pub(super) fn collect(
    inputs: &BottleneckInputs<'_>,
    component: Component,
    is_exclusive: bool,
) -> Vec<String> {
    let others_pct = inputs.others_pct().filter(|_| !is_exclusive);
    let is_full = inputs.full_pct().is_some_and(|pct| pct >= CPU_FULL_PCT);
    let about_others = match component {
        Component::Cpu
        | Component::Client
        | Component::Sessions
        | Component::RoundTrips
        | Component::Connections
        | Component::Latches => others_pct.filter(|pct| *pct > OTHERS_PCT).map(words::others),
        // Who holds the log or a lock may wait for a processor. A device needs none.
        Component::Commits | Component::Locks | Component::Waits => {
            others_pct.filter(|pct| *pct >= OTHERS_MUCH_PCT && is_full).map(words::others_delay_waits)
        }
        _ => None,
    };
    let mut all: Vec<String> = about_others.into_iter().collect();
    if inputs.record.targets.len() > 1 {
        all.push("several databases are reported together".to_owned());
    }
    let failed = |check: &&dyno_record::AuditCheck| {
        check.status == CheckStatus::Fail && CHECKS.contains(&check.check.as_str())
    };
    all.extend(
        inputs
            .record
            .audit
            .iter()
            .find(failed)
            .map(|check| format!("audit warning: {}", crate::check_label(&check.check))),
    );
    all
}
