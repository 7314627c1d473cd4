//! Checks what counters, row versions and wait events report about the executed work.

use dyno_engine::advice::advice;
use dyno_engine::{RowVersion, Target, TargetError, TargetErrorKind};
use dyno_plan::DataSpec;
use dyno_record::{Advice, Counter, CounterReading, Counters, MarkKind, Severity, Snapshot};

use super::{AcknowledgedWork, failed_check, passed};

/// The number of attempts until counters contain the work, and the pause between them: servers count with a delay.
const LOOKS: u32 = 30;
const PAUSE: std::time::Duration = std::time::Duration::from_millis(100);

/// Checks the counters against the work, and lists missing counters.
pub(super) fn counted(
    target: &dyn Target,
    spec: &DataSpec,
    before: &Snapshot,
    work: AcknowledgedWork,
) -> Result<Vec<Advice>, TargetError> {
    let mut observer = target.observer(spec)?;
    let wanted = [
        (Counter::Commits, work.commits),
        (Counter::LogicalReads, work.rows_read + work.rows_updated),
        (Counter::RedoBytes, work.rows_updated),
    ];
    let moved = |after: &Snapshot, counter: Counter| -> Option<u64> {
        match (before.portable.get(&counter), after.portable.get(&counter)) {
            (Some(CounterReading::Value(from)), Some(CounterReading::Value(to))) => {
                Some(to.saturating_sub(*from))
            }
            _ => None,
        }
    };
    let mut after = observer.snapshot()?;
    for _ in 0..LOOKS {
        if wanted.iter().all(|(counter, least)| moved(&after, *counter).is_none_or(|by| by >= *least)) {
            break;
        }
        std::thread::park_timeout(PAUSE);
        after = observer.snapshot()?;
    }
    let mut findings: Vec<Advice> = wanted
        .iter()
        .filter_map(|(counter, least)| {
            let (by, name) = (moved(&after, *counter)?, counter.name());
            Some(if by >= *least {
                passed(name, format!("{by} counted, at least {least} expected"))
            } else {
                failed_check(name, format!("{by} counted, but at least {least} expected"))
            })
        })
        .collect();
    let absent: Vec<String> = Counter::ALL
        .into_iter()
        .filter_map(|counter| match after.portable.get(&counter) {
            Some(CounterReading::Absent(why)) => Some(format!("{}: {why}", counter.name())),
            Some(CounterReading::Value(_)) => None,
            None => Some(format!("{}: without a reason", counter.name())),
        })
        .collect();
    let changes = Counters::between(before, &after).changes;
    if let Some(change) = changes.first() {
        let mark = &change.name;
        let why = match change.kind {
            MarkKind::Epoch => "the server was restarted, or its statistics reset",
            MarkKind::Setting => "a setting of the database was changed",
            MarkKind::Shape => "the tables were altered",
        };
        findings.push(failed_check("changes", format!("{mark} changed meanwhile: {why}")));
    }
    findings.push(if absent.is_empty() {
        passed("counters", format!("all {} portable counters have a value", Counter::ALL.len()))
    } else {
        let words = format!("{} of {} are absent: {}", absent.len(), Counter::ALL.len(), absent.join("; "));
        advice("counters", Severity::Note, words, "docs/reference/engines lists them with the reasons")
    });
    Ok(findings)
}

/// Checks that the version numbers in rows agree with the updates; `None` if the engine reports none.
pub(super) fn versions(target: &dyn Target, spec: &DataSpec, work: AcknowledgedWork) -> Option<Advice> {
    let mut sum = 0u64;
    let mut add = |row: &RowVersion<'_>| sum += u64::try_from(row.version).unwrap_or(0);
    match target.durability_proof().and_then(|proof| proof.versions(spec, &mut add)) {
        Ok(()) if sum == work.rows_updated => Some(passed(
            "versions",
            format!("the tables contain {sum} row updates, equal to the acknowledged ones"),
        )),
        Ok(()) => Some(failed_check(
            "versions",
            format!("the tables contain {sum} row updates, but {} were acknowledged", work.rows_updated),
        )),
        Err(error) if error.kind == TargetErrorKind::Unsupported => None,
        Err(error) => Some(failed_check("versions", error.message)),
    }
}

/// Checks whether wait events can be sampled.
pub(super) fn waits(target: &dyn Target) -> Advice {
    match target.sampler().and_then(|mut sampler| sampler.sample(&mut Vec::new(), &mut Vec::new())) {
        Ok(()) => passed("waits", "waits can be sampled".to_owned()),
        Err(error) => {
            advice("waits", Severity::Note, format!("waits cannot be sampled: {}", error.message), error.hint)
        }
    }
}
