//! Two sides next to each other, as a report on the differences of two periods shows them: load
//! profile, time by event, classes of operations, top statements, tables, counters, and what is equal.
//!
//! Every figure is compared as the measures of [`compare()`](crate::compare()): point by point, with
//! the rank test and the interval of the ratio, where there are repeats. With one run each, the
//! intervals inside the runs show only whether the two windows differ.

mod batches;
mod classes;
mod counters;
mod load;
mod next;
mod relations;
mod row;
mod spec;
mod statements;
mod time;

use std::collections::BTreeSet;

use dyno_record::{RunRecord, Unit};

use crate::attribution::{MetricAttributions, legend, marked_metrics};
use crate::compare::look::LookJudge;
use crate::compare::{ComparisonSide, RunComparison, common_points};
use crate::differences::equal;
use crate::points::{Better, Measure, figure};
use crate::sequential::Boundary;
pub use next::next_steps;
pub use row::{ComparedRow, ComparedTable, RowUnit, SideBySide, TableGroup, WINDOWS_SIGNIFICANCE, WorkUnit};
use spec::{ComparedSides, RowSpec};
use time::TimeSource;

/// Puts the sides of `comparison` next to each other; `a` and `b` are the sides that it compares.
pub fn side_by_side(
    a: &ComparisonSide<'_>,
    b: &ComparisonSide<'_>,
    comparison: &RunComparison,
) -> SideBySide {
    beside(a, b, comparison, None)
}

/// The same after a sequential test, whose `comparison` was judged at the look with this boundary: every row with
/// its interval and verdict of that look, so that one figure has one interval.
pub fn side_by_side_at_look(
    a: &ComparisonSide<'_>,
    b: &ComparisonSide<'_>,
    comparison: &RunComparison,
    boundary: Option<&Boundary>,
) -> SideBySide {
    let look = LookJudge {
        boundary: boundary.copied(),
        margin_pct: comparison.margin_pct,
        is_confounded: !comparison.background.is_empty(),
    };
    beside(a, b, comparison, Some(look).filter(|_| comparison.over_looks))
}

fn beside(
    a: &ComparisonSide<'_>,
    b: &ComparisonSide<'_>,
    comparison: &RunComparison,
    look: Option<LookJudge>,
) -> SideBySide {
    let points = common_points(a, b);
    let records: Vec<&RunRecord> = points.iter().flat_map(|(a, b)| a.iter().chain(b)).copied().collect();
    let units = [WorkUnit::Operation, WorkUnit::Transaction];
    let is_counted = |unit: &WorkUnit| records.iter().all(|record| unit.rate(record).is_some());
    let sides = ComparedSides {
        points,
        margin_pct: comparison.margin_pct,
        is_confounded: !comparison.background.is_empty(),
        look,
        per: units.into_iter().find(is_counted).filter(|_| !records.is_empty()),
    };
    let time = TimeSource::of(&sides);
    let by_class = time.map(|time| time.by_class(&sides)).unwrap_or_default();
    let by_event = time.map(|time| time.by_event(&sides)).unwrap_or_default();
    let measures: Vec<RowSpec<'_>> =
        comparison.overall.iter().map(|o| measure(&o.measure, &records)).collect();
    let tables = [
        (TableGroup::Measures, measures),
        (TableGroup::LoadPerSecond, load::specs(false)),
        (TableGroup::LoadPerWork, load::specs(true)),
        (TableGroup::TimeByClass, by_class),
        (TableGroup::TimeByEvent, by_event),
        (TableGroup::Classes, classes::specs(&sides)),
        (TableGroup::Statements, statements::specs(&sides)),
        (TableGroup::Relations, relations::specs(&sides)),
        (TableGroup::Counters, counters::specs(&sides)),
    ];
    let metrics: BTreeSet<&str> =
        tables.iter().flat_map(|(_, rows)| rows.iter().map(|row| row.metric.as_str())).collect();
    let marked: Vec<MetricAttributions> = records.iter().map(|record| marked_metrics(record)).collect();
    let others = legend(&marked, |name| metrics.contains(name));
    let tables = tables.into_iter().map(|(group, rows)| ComparedTable { group, rows: sides.rows(&rows) });
    let tables: Vec<ComparedTable> = tables.filter(|table| !table.rows.is_empty()).collect();
    let (of_a, of_b): (Vec<_>, Vec<_>) = sides.points.iter().cloned().unzip();
    SideBySide {
        points: sides.points.len(),
        over_looks: look.is_some(),
        per: sides.per,
        tables,
        others,
        equal: equal(&of_a.concat(), &of_b.concat()),
    }
}

/// A measure that is compared.
fn measure<'s>(name: &'s str, records: &[&RunRecord]) -> RowSpec<'s> {
    let unit = records.iter().find_map(|record| figure(record, name)).map_or(Unit::Count, |(_, unit)| unit);
    let known = Measure::find(name);
    let label = known.map_or(name, |measure| measure.label);
    let label = match unit {
        Unit::Microseconds | Unit::Percent | Unit::Count => label.to_owned(),
        Unit::PerSecond => format!("{label}/s"),
        unit => format!("{label} ({})", unit.name()),
    };
    let interval: Option<fn(&dyno_record::SeriesPoint) -> Option<f64>> = match name {
        "service_p99_us" => Some(|point| point.p99_us),
        "service_p50_us" => Some(|point| point.p50_us),
        _ => None,
    };
    let row = RowSpec {
        better: known.map_or(Better::Neither, |measure| measure.better),
        ..RowSpec::of_metric(&label, name, unit)
    };
    match interval {
        Some(interval) => RowSpec { interval: Some(Box::new(interval)), ..row },
        None => row,
    }
}
