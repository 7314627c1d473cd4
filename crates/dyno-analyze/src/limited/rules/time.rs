//! The limit is what the sessions spend their time in.

use super::super::Component;
use super::super::evidence::BottleneckInputs;
use super::super::finding::BottleneckFinding;
use super::super::parts::{
    CLEARLY_PCT, LOCKS_PCT, LOG_FULL_PCT, MOSTLY_PCT, PART_PCT, SessionTimePart, time_parts, waiting_pct,
};
use super::super::words;

/// Locks take the largest part of the time inside the database, work included.
pub(super) fn locks_inside(inputs: &BottleneckInputs<'_>) -> Option<BottleneckFinding> {
    let parts = time_parts(inputs);
    let part = parts.iter().find(|part| part.component != Component::Connections)?;
    let is_largest = part.component == Component::Locks && part.pct >= inputs.shares.work?;
    (is_largest && part.pct >= LOCKS_PCT).then(|| words::locks_inside(inputs, part))
}

/// One activity takes most of the time.
pub(super) fn mostly_one(inputs: &BottleneckInputs<'_>) -> Option<BottleneckFinding> {
    let parts = time_parts(inputs);
    let part = parts.first().filter(|part| part.pct >= MOSTLY_PCT)?;
    Some(describe(inputs, part))
}

/// Several kinds of waits take most of the time together: the largest is named, and the second
/// largest is in its sentence.
pub(super) fn several(inputs: &BottleneckInputs<'_>) -> Option<BottleneckFinding> {
    let parts = time_parts(inputs);
    let part = parts.iter().find(|part| part.component != Component::Connections)?;
    let together = waiting_pct(inputs) >= MOSTLY_PCT && part.pct >= PART_PCT;
    together.then(|| describe(inputs, part))
}

fn describe(inputs: &BottleneckInputs<'_>, part: &SessionTimePart) -> BottleneckFinding {
    let clear = part.pct >= CLEARLY_PCT;
    match part.component {
        Component::Commits => words::commits(inputs, part, clear),
        Component::Device => words::device(inputs, part, clear),
        Component::Connections => words::connections(inputs, part, clear),
        Component::Waits => words::waits(inputs, part),
        _ => words::locks(inputs, part, clear),
    }
}

/// The limit is a log that is synced continuously, while most sessions wait for their turn.
pub(super) fn log(inputs: &BottleneckInputs<'_>) -> Option<BottleneckFinding> {
    let pct = inputs.shares.syncing.filter(|pct| *pct >= LOG_FULL_PCT)?;
    Some(words::log(inputs, pct))
}
