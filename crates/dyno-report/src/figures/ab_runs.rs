//! Chart of an A/B test: the runs of both sides in the order in which they ran.

use dyno_analyze::conclusion::{AbResult, AbSide};
use dyno_analyze::points::{Measure, Points, median, phrase};
use dyno_record::Unit;

use crate::chart::{Chart, ChartAxis, ChartPoint, ChartSeries, Quantity, SeriesKind};
use crate::model::table::unit_name;

use super::{OPS, anchor, foreign_share_legend};

/// A run of a side: when it started, its id, and its value.
type SideRun<'p> = (&'p str, &'p str, f64);

/// The runs of both sides by their leading measure, or by their throughput; `None` unless both sides have runs
/// with it. `names` are those of the sides.
pub(crate) fn ab_runs(points: &Points, test: &AbResult, names: [&str; 2]) -> Option<Chart> {
    let leading = test.leading().map(|leading| leading.measure.as_str());
    let is_known = |measure: &str| points.points.iter().all(|point| point.estimates.contains_key(measure));
    let measure = leading.into_iter().chain([OPS]).find(|measure| is_known(measure))?;
    let sides = [&test.a, &test.b].map(|side| runs(points, side, measure));
    if sides.iter().any(Vec::is_empty) {
        return None;
    }
    let mut order: Vec<(&str, &str)> = sides.iter().flatten().map(|(start, id, _)| (*start, *id)).collect();
    order.sort_unstable();
    let count = order.len();
    let mut series = Vec::new();
    for (style, (side, letter)) in sides.iter().zip(["A", "B"]).enumerate() {
        let name = format!("{letter}: {}", names[style]);
        let dot = |(start, id, value): &SideRun<'_>| {
            let number = order.iter().position(|known| known == &(*start, *id)).unwrap_or(0) + 1;
            ChartPoint {
                hover: format!("run {number}, {name}: {}", phrase(measure, *value)),
                link: anchor(id),
                ..ChartPoint::at(number as f64, *value)
            }
        };
        let dots = side.iter().map(dot).collect();
        series.push(ChartSeries { name, kind: SeriesKind::Dots, style, points: dots });
        let middle = median(&side.iter().map(|(.., value)| *value).collect::<Vec<_>>())?;
        series.push(ChartSeries {
            name: format!("median of {letter}: {}", phrase(measure, middle)),
            kind: SeriesKind::Fit,
            style,
            points: [1.0, count as f64].map(|x| ChartPoint::at(x, middle)).into(),
        });
    }
    let (label, quantity) = quantity(measure);
    let marked =
        foreign_share_legend(points, &[measure]).map_or_else(String::new, |words| format!(" {words}"));
    Some(Chart {
        id: "ab-runs".into(),
        title: "Runs of both sides".into(),
        about: format!(
            "Each dot is a run, in the order in which they ran; the dashed lines are the medians of the sides.{marked}"
        ),
        x: ChartAxis::linear("run", Quantity::Plain(""))
            .ticks_at((1..=count).map(|number| number as f64).collect()),
        y: ChartAxis::linear(label, quantity),
        series,
        marks: vec![],
    })
}

/// The runs of a side that have a result.
fn runs<'p>(points: &'p Points, side: &AbSide, measure: &str) -> Vec<SideRun<'p>> {
    let values = points.points.iter().filter_map(|point| Some((point, point.estimates.get(measure)?)));
    let runs = values.flat_map(|(point, estimate)| point.runs.iter().zip(&estimate.runs));
    let of_side = runs.filter(|(run, _)| side.runs.contains(&run.id));
    of_side.map(|(run, value)| (run.started_at.as_str(), run.id.as_str(), *value)).collect()
}

/// Label and quantity of the axis of a measure.
fn quantity(measure: &str) -> (&str, Quantity) {
    match Measure::find(measure) {
        None => (measure, Quantity::Plain("")),
        Some(Measure { label, unit, .. }) => (
            label,
            match unit {
                Unit::Microseconds => Quantity::Micros,
                Unit::Percent => Quantity::Percent,
                Unit::PerSecond | Unit::BlocksPerSecond | Unit::RowsPerSecond => Quantity::Plain("/s"),
                unit => Quantity::Plain(unit_name(*unit)),
            },
        ),
    }
}
