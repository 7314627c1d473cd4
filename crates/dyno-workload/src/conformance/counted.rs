//! What the counters, the rows and the waits say of what was done.

use dyno_engine::advice::advice;
use dyno_engine::{Target, TargetError, TargetErrorKind};
use dyno_plan::DataSpec;
use dyno_record::{Advice, Counter, Counters, MarkKind, Reading, Severity, Snapshot};

use super::{Work, bad, good};

/// Looks at the counters until they hold what was done, and the pause between two: servers book it a moment later.
const LOOKS: u32 = 30;
const PAUSE: std::time::Duration = std::time::Duration::from_millis(100);

/// What the counters say of it, and which of them are missing.
pub(super) fn counted(
    target: &dyn Target,
    spec: &DataSpec,
    before: &Snapshot,
    work: Work,
) -> Result<Vec<Advice>, TargetError> {
    let mut observer = target.observer(spec)?;
    let wanted = [
        (Counter::Commits, work.commits),
        (Counter::LogicalReads, work.rows_read + work.rows_updated),
        (Counter::RedoBytes, work.rows_updated),
    ];
    let moved = |after: &Snapshot, counter: Counter| -> Option<u64> {
        match (before.portable.get(&counter), after.portable.get(&counter)) {
            (Some(Reading::Value(from)), Some(Reading::Value(to))) => Some(to.saturating_sub(*from)),
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
            let words = format!("{by} counted, and at least {least} must be");
            Some(if by >= *least { good(name, words) } else { bad(name, words) })
        })
        .collect();
    let absent: Vec<String> = Counter::ALL
        .into_iter()
        .filter_map(|counter| match after.portable.get(&counter) {
            Some(Reading::Absent(why)) => Some(format!("{}: {why}", counter.name())),
            Some(Reading::Value(_)) => None,
            None => Some(format!("{}: without a reason", counter.name())),
        })
        .collect();
    let changes = Counters::between(before, &after).changes;
    if let Some(change) = changes.first() {
        let mark = &change.name;
        let why = match change.kind {
            MarkKind::Epoch => "the server was restarted, or its statistics reset",
            MarkKind::Setting => "somebody changed a setting of the database",
            MarkKind::Shape => "somebody altered the tables",
        };
        findings.push(bad("changes", format!("{mark} changed meanwhile: {why}")));
    }
    findings.push(if absent.is_empty() {
        good("counters", format!("all {} portable counters have a value", Counter::ALL.len()))
    } else {
        let words = format!("{} of {} are absent: {}", absent.len(), Counter::ALL.len(), absent.join("; "));
        advice("counters", Severity::Note, words, "docs/reference/engines says which are, and why")
    });
    Ok(findings)
}

/// Whether the rows' own versions agree with what was updated; nothing where an engine tells none.
pub(super) fn versions(target: &dyn Target, spec: &DataSpec, work: Work) -> Option<Advice> {
    let mut sum = 0u64;
    match target.versions(spec, &mut |row| sum += u64::try_from(row.version).unwrap_or(0)) {
        Ok(()) if sum == work.rows_updated => Some(good(
            "versions",
            format!("the tables hold {sum} updates of rows, and as many were acknowledged"),
        )),
        Ok(()) => Some(bad(
            "versions",
            format!("the tables hold {sum} updates of rows, and {} were acknowledged", work.rows_updated),
        )),
        Err(error) if error.kind == TargetErrorKind::Unsupported => None,
        Err(error) => Some(bad("versions", error.message)),
    }
}

/// Whether waits can be sampled.
pub(super) fn waits(target: &dyn Target) -> Advice {
    match target.sampler().and_then(|mut sampler| sampler.sample(&mut Vec::new(), &mut Vec::new())) {
        Ok(()) => good("waits", "waits can be sampled".to_owned()),
        Err(error) => {
            advice("waits", Severity::Note, format!("waits cannot be sampled: {}", error.message), error.hint)
        }
    }
}
