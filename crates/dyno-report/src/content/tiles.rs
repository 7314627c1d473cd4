//! The four figures at the head of a page: throughput, p99, limit and confidence where the capacity is highest; for
//! an A/B test both sides, their difference and the decision; for a suite what its tests found.

use dyno_analyze::answer::CurveSummary;
use dyno_analyze::number::{percent, sessions, time_us};
use dyno_analyze::points::{MeasuredPoint, Points};

use crate::content::ab_test::ab_tiles;
use crate::content::answer::{capacity_cell, tone_class};
use crate::content::report::Report;
use crate::content::suite::suite_tiles;
use crate::model::document::Tile;
use crate::model::table::GridCell;

/// The tiles: of an A/B test, a suite or the best curve; empty if none of them applies.
pub(crate) fn tiles(report: &Report<'_>) -> Vec<Tile> {
    if let Some(test) = report.ab_test() {
        return ab_tiles(test);
    }
    if let Some(suite) = report.suite() {
        return suite_tiles(suite);
    }
    let answers = &report.answers.curves;
    let best = answers.iter().filter(|_| report.has_answers());
    let best = best.max_by(|a, b| a.capacity.value.total_cmp(&b.capacity.value));
    best.map(|best| of_curve(best, &report.points)).unwrap_or_default()
}

fn of_curve(best: &CurveSummary, points: &Points) -> Vec<Tile> {
    let point = capacity_point(best, points);
    let get = |measure: &str| point.and_then(|point| point.get(measure));
    let name = if best.name.is_empty() { String::new() } else { format!(", {}", best.name) };
    let with = match best.capacity.sessions {
        0 => "number of sessions unknown".to_owned(),
        known => format!("with {}", sessions(f64::from(known))),
    };
    let median = get("service_p50_us").map_or_else(String::new, |us| format!(", p50 {}", time_us(us)));
    let headroom = match best.headroom_pct {
        Some(pct) => format!("headroom {} %", percent(pct)),
        None => "headroom unknown".to_owned(),
    };
    let spread = best.spread_pct.map_or_else(String::new, |pct| format!(", spread {} %", percent(pct)));
    let repeats = match point.map_or(0, |point| point.runs.len()) {
        0 | 1 => "measured once".to_owned(),
        runs => format!("{runs} repeats{spread}"),
    };
    let warnings = match (best.doubts.len(), best.runs) {
        (0, _) => String::new(),
        (1, 0 | 1) => "; 1 audit warning".to_owned(),
        (more, 0 | 1) => format!("; {more} audit warnings"),
        (checks, runs) => {
            let warn = if checks == 1 { "check warns" } else { "checks warn" };
            format!("; {checks} {warn} in the {runs} runs of the curve")
        }
    };
    let tone = tone_class(best.tone);
    vec![
        Tile {
            label: "throughput",
            value: capacity_cell(best),
            note: format!("{with}{name}{}", best.within_words()),
        },
        Tile {
            label: "p99",
            value: GridCell::time_us(get("service_p99_us")),
            note: format!("service time at that load{median}"),
        },
        Tile { label: "limit", value: GridCell::text(&best.limit.short()), note: headroom },
        Tile {
            label: "confidence in the limit",
            value: GridCell::from(best.confidence.word()).toned(tone),
            note: format!("{repeats}{warnings}"),
        },
    ]
}

/// The point at which the curve reaches its capacity.
fn capacity_point<'p>(best: &CurveSummary, points: &'p Points) -> Option<&'p MeasuredPoint> {
    let curves = points.curves(points.load_axis());
    let curve = curves.iter().find(|curve| curve.name() == best.name)?;
    let is_there = |point: &&&MeasuredPoint| {
        point.sessions == best.capacity.sessions && point.capacity(&best.measure) == Some(best.capacity.value)
    };
    curve.points.iter().find(is_there).copied()
}

#[cfg(test)]
mod tests {
    use dyno_analyze::fixture;
    use dyno_record::{Metric, RunRecord, Unit};

    use super::*;

    #[test]
    fn tiles_describe_the_point_of_the_highest_capacity() {
        let run = |(at, ops, us): ((u32, u32), f64, f64)| -> RunRecord {
            let mut record = fixture::at_point(at);
            record.metrics.insert("ops_per_s".into(), Metric::Value { value: ops, unit: Unit::PerSecond });
            record
                .metrics
                .insert("service_p99_us".into(), Metric::Value { value: us, unit: Unit::Microseconds });
            record
        };
        let runs = [((0, 1), 10.0, 1.0), ((0, 4), 30.0, 2.0), ((20, 1), 9.0, 3.0), ((20, 4), 25.0, 4.0)];
        let records: Vec<RunRecord> = runs.map(run).into();
        let report = Report::of(&records);
        let tiles = tiles(&report);
        let labels: Vec<&str> = tiles.iter().map(|tile| tile.label).collect();
        assert_eq!(labels, ["throughput", "p99", "limit", "confidence in the limit"]);
        assert!(tiles[0].value.text.starts_with("30.0 "), "{:?}", tiles[0]);
        assert!(tiles[0].note.contains("with 4 sessions"));
        assert!(tiles[0].note.contains("update_pct 0"));
        let best = report.points.points.iter().find(|point| point.get("ops_per_s") == Some(30.0)).unwrap();
        assert_eq!(tiles[1].value, GridCell::time_us(best.get("service_p99_us")));
        assert!(tiles.iter().all(|tile| !tile.value.text.is_empty() && !tile.note.is_empty()), "{tiles:?}");
    }
}
