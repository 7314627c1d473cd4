//! The top statements of both sides: how often each ran, how long a call took, and what it touched.

use std::collections::BTreeMap;

use dyno_record::{CountedStatements, RunRecord, StatementCounts, StatementUse, TopStatements, Unit};

use super::spec::{ComparedSides, RowSpec};
use crate::points::Better;

/// Most statements that are compared: those with the most time over both sides.
const STATEMENTS_MAX: usize = 10;
/// Longest text of a statement, in characters.
const TEXT_MAX: usize = 80;

/// Reads a figure of a statement, given the seconds over which it was counted.
type StatementFigure = fn(&StatementCounts, f64) -> Option<f64>;

const FIGURES: [(&str, Unit, Better, StatementFigure); 6] = [
    ("calls/s", Unit::PerSecond, Better::Neither, |counts, seconds| Some(counts.calls as f64 / seconds)),
    ("mean time of a call", Unit::Microseconds, Better::Lower, |counts, _| {
        per_call(counts, counts.time_s * 1e6)
    }),
    ("rows of a call", Unit::Count, Better::Neither, |counts, _| per_call(counts, counts.rows? as f64)),
    ("blocks of a call", Unit::Count, Better::Lower, |counts, _| {
        per_call(counts, counts.logical_reads? as f64)
    }),
    ("block reads of a call", Unit::Count, Better::Lower, |counts, _| {
        per_call(counts, counts.physical_reads? as f64)
    }),
    ("redo of a call", Unit::Bytes, Better::Lower, |counts, _| per_call(counts, counts.redo_bytes? as f64)),
];

fn per_call(counts: &StatementCounts, sum: f64) -> Option<f64> {
    (counts.calls > 0).then(|| sum / counts.calls as f64)
}

pub(super) fn specs(sides: &ComparedSides<'_>) -> Vec<RowSpec<'static>> {
    let mut times: BTreeMap<String, f64> = BTreeMap::new();
    for used in sides.records().filter_map(counted).flat_map(|counted| &counted.statements) {
        if let Some(name) = name(used) {
            *times.entry(name).or_default() += used.counts.time_s;
        }
    }
    let mut names: Vec<(String, f64)> = times.into_iter().collect();
    names.sort_by(|a, b| b.1.total_cmp(&a.1));
    names.truncate(STATEMENTS_MAX);
    names.into_iter().flat_map(|(name, _)| FIGURES.map(|figure| row(&name, figure))).collect()
}

fn row(
    statement: &str,
    (label, unit, better, figure): (&str, Unit, Better, StatementFigure),
) -> RowSpec<'static> {
    let title = statement.to_owned();
    RowSpec {
        title: title.clone(),
        better,
        ..RowSpec::new(label, unit, move |record: &RunRecord| {
            let counted = counted(record).filter(|counted| counted.seconds > 0.0)?;
            let same = counted.statements.iter().filter(|used| name(used).as_ref() == Some(&title));
            // One statement of several users or databases is one row.
            let counts = same.map(|used| used.counts).reduce(StatementCounts::plus)?;
            figure(&counts, counted.seconds)
        })
    }
}

fn counted(record: &RunRecord) -> Option<&CountedStatements> {
    match record.statements.as_ref()? {
        TopStatements::Counted(counted) => Some(counted),
        TopStatements::Absent { .. } => None,
    }
}

/// The operation of the workload, or the begin of the statement's text: ids differ between servers.
fn name(used: &StatementUse) -> Option<String> {
    if let Some(operation) = &used.operation {
        return Some(operation.clone());
    }
    let words = used.text.as_ref()?.split_whitespace().collect::<Vec<_>>().join(" ");
    let is_long = words.chars().count() > TEXT_MAX;
    let begin: String = words.chars().filter(|c| !c.is_control()).take(TEXT_MAX).collect();
    Some(if is_long { format!("{begin}…") } else { begin })
}
