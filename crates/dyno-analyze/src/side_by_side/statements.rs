//! The top statements of both sides: how often each ran, how long a call took, and what it touched.

use std::collections::BTreeMap;

use dyno_record::{CountedStatements, RunRecord, StatementCounts, StatementUse, TopStatements, Unit};

use super::counters::wide_metric;
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
    let metric = wide_metric(sides);
    let mut titles: Vec<String> = Vec::new();
    let mut rows = Vec::new();
    for (name, _) in names {
        let title = title(&name, &titles);
        rows.extend(FIGURES.map(|figure| RowSpec { metric: metric.clone(), ..row(&name, &title, figure) }));
        titles.push(title);
    }
    rows
}

fn row(
    statement: &str,
    title: &str,
    (label, unit, better, figure): (&str, Unit, Better, StatementFigure),
) -> RowSpec<'static> {
    let statement = statement.to_owned();
    RowSpec {
        title: title.to_owned(),
        better,
        ..RowSpec::new(label, unit, move |record: &RunRecord| {
            let counted = counted(record).filter(|counted| counted.seconds > 0.0)?;
            let same = counted.statements.iter().filter(|used| name(used).as_ref() == Some(&statement));
            // One statement of several users or databases is one row. A lower limit compares with nothing.
            let exact = same.map(|used| (!used.at_least).then_some(used.counts));
            let counts = exact.reduce(|sum, counts| Some(sum?.plus(counts?)))??;
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

/// The operation of the workload, or the statement's text: ids differ between servers.
fn name(used: &StatementUse) -> Option<String> {
    let text = || Some(used.text.as_ref()?.split_whitespace().collect::<Vec<_>>().join(" "));
    used.operation.clone().or_else(text)
}

/// The begin of a name, and a number if another statement begins likewise.
fn title(name: &str, titles: &[String]) -> String {
    let begin: String = name.chars().filter(|c| !c.is_control()).take(TEXT_MAX).collect();
    let begin = if name.chars().count() > TEXT_MAX { format!("{begin}…") } else { begin };
    let numbered = |number: usize| if number == 1 { begin.clone() } else { format!("{begin} ({number})") };
    (1..).map(numbered).find(|title| !titles.contains(title)).unwrap_or_else(|| begin.clone())
}
