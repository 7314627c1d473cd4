//! Compares the top statements and segments of two reports.
//!
//! The lists are limited: what only one report lists may be in the other one too, below the last
//! one listed.

use std::collections::{BTreeMap, BTreeSet};

use dyno_analyze::reading::ReadingChange;

use crate::number::PrintedNumber;
use crate::report::AwrReport;
use crate::timeline::{AwrObject, AwrRateKind, AwrRateSubject, Rates};

/// Most statements that are listed.
const STATEMENTS_MAX: usize = 12;

/// Most segments of one list that are shown.
const SEGMENTS_MAX: usize = 3;

/// Smallest change of a segment that is shown, %.
const SEGMENT_CHANGE_PCT: f64 = 20.0;

/// Smallest share of a segment's count in the largest one of its list: those below it are not
/// relevant.
const SEGMENT_SHARE_MIN: f64 = 0.1;

/// A statement in both reports.
#[derive(Debug, Clone, PartialEq)]
pub struct StatementChange {
    pub id: String,
    /// Seconds of elapsed time per second of the interval.
    pub elapsed: ReadingChange,
    pub executions: ReadingChange,
    /// Elapsed time of one execution, s.
    pub per_execution: ReadingChange,
}

/// A segment in both reports.
#[derive(Debug, Clone, PartialEq)]
pub struct SegmentChange {
    /// The list, which determines what is counted: `logical_reads`.
    pub list: String,
    pub object: AwrObject,
    pub count: ReadingChange,
}

/// The statements with the largest changes of time from one report to the other, the largest first.
pub(crate) fn statements(a: &AwrReport, b: &AwrReport) -> Vec<StatementChange> {
    let (rates_a, rates_b) = (Rates::of(a), Rates::of(b));
    let counts = [counts(a), counts(b)];
    let things: BTreeSet<&AwrRateSubject> = rates_a.0.keys().chain(rates_b.0.keys()).collect();
    let statements = things.into_iter().filter(|thing| thing.kind == AwrRateKind::Statement);
    let mut changes: Vec<StatementChange> = statements
        .map(|thing| {
            let elapsed = [rates_a.0.get(thing).copied(), rates_b.0.get(thing).copied()];
            let count = [0, 1].map(|side: usize| counts[side].get(thing.name.as_str()).copied());
            let mean_elapsed = [0, 1].map(|side| ratio(elapsed[side]?, count[side]?));
            let change =
                |[a, b]: [Option<PrintedNumber>; 2]| ReadingChange { name: thing.name.clone(), a, b };
            StatementChange {
                id: thing.name.clone(),
                elapsed: change(elapsed),
                executions: change(count),
                per_execution: change(mean_elapsed),
            }
        })
        .collect();
    changes.sort_by(|x, y| y.elapsed.distance().total_cmp(&x.elapsed.distance()));
    changes.truncate(STATEMENTS_MAX);
    changes
}

/// Executions per second by statement.
fn counts(report: &AwrReport) -> BTreeMap<&str, PrintedNumber> {
    let Some(seconds) = report.value("elapsed_min").map(|min| min * 60.0).filter(|s| *s > 0.0) else {
        return BTreeMap::new();
    };
    let statements = report.statements.iter().flat_map(|list| &list.statements);
    let counted = statements.filter_map(|statement| {
        let count = statement.figures.get("executions")?;
        Some((
            statement.id.as_str(),
            PrintedNumber { value: count.value / seconds, step: count.step / seconds },
        ))
    });
    counted.collect()
}

/// Both are per second, so the seconds cancel out.
fn ratio(elapsed: PrintedNumber, count: PrintedNumber) -> Option<PrintedNumber> {
    let value = elapsed.value / count.value;
    let step = (elapsed.step + value * count.step) / count.value;
    (count.value > 0.0).then_some(PrintedNumber { value, step })
}

/// The segments of each list that changed, the largest changes first.
pub(crate) fn segments(a: &AwrReport, b: &AwrReport) -> Vec<SegmentChange> {
    let (rates_a, rates_b) = (Rates::of(a), Rates::of(b));
    let things: BTreeSet<&AwrRateSubject> = rates_a.0.keys().chain(rates_b.0.keys()).collect();
    let mut by_list: BTreeMap<&str, Vec<SegmentChange>> = BTreeMap::new();
    for thing in things {
        let (AwrRateKind::Segment, Some(object)) = (thing.kind, &thing.object) else { continue };
        let count = ReadingChange {
            name: object.name.clone(),
            a: rates_a.0.get(thing).copied(),
            b: rates_b.0.get(thing).copied(),
        };
        let changed = count.a.is_none()
            || count.b.is_none()
            || count.percent().is_some_and(|percent| percent.abs() >= SEGMENT_CHANGE_PCT);
        if changed {
            let list = thing.name.clone();
            by_list.entry(&thing.name).or_default().push(SegmentChange {
                list,
                object: object.clone(),
                count,
            });
        }
    }
    if a.form != b.form {
        by_list.values_mut().for_each(drop_cut_names);
    }
    let most = |(_, mut changes): (&str, Vec<SegmentChange>)| {
        changes.sort_by(|x, y| y.count.distance().total_cmp(&x.count.distance()));
        changes.truncate(SEGMENTS_MAX);
        changes
    };
    for (list, changes) in &mut by_list {
        let least = SEGMENT_SHARE_MIN * top(list, &rates_a).max(top(list, &rates_b));
        changes.retain(|change| change.count.largest() >= least);
    }
    by_list.into_iter().flat_map(most).collect()
}

/// Drops segments that only one report lists where the other one has an unmatched segment with the
/// same count: text truncated the name.
fn drop_cut_names(changes: &mut Vec<SegmentChange>) {
    let sides = |change: &SegmentChange| (change.count.a, change.count.b);
    let is_same = |x: &SegmentChange, y: &SegmentChange| match (sides(x), sides(y)) {
        ((Some(a), None), (None, Some(b))) | ((None, Some(b)), (Some(a), None)) => {
            !ReadingChange { name: String::new(), a: Some(a), b: Some(b) }.differs()
        }
        _ => false,
    };
    let all = changes.clone();
    changes.retain(|change| !all.iter().any(|other| is_same(change, other)));
}

/// The largest count of a list.
fn top(list: &str, rates: &Rates) -> f64 {
    let of_list =
        rates.0.iter().filter(|(thing, _)| thing.kind == AwrRateKind::Segment && thing.name == list);
    of_list.map(|(_, rate)| rate.value).fold(0.0, f64::max)
}
