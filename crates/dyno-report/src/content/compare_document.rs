//! A comparison as a page and in other formats: the answers of both sides, points × variants with their
//! differences, the verdicts.

use dyno_analyze::answer::CurveSummaries;
use dyno_analyze::compare::{MeasureComparison, RunComparison};
use dyno_analyze::points::{Measure, phrase};
use dyno_record::Unit;

use crate::chart::{Category, Chart, ChartAxis, ChartPoint, ChartSeries, Quantity, SeriesKind};
use crate::content::answer::{self, answer_short};
use crate::content::compare::{axis_name, interval, label, percent, verdict};
use crate::content::difference_report::{DifferenceReport, difference_sections};
use crate::content::difference_rows::RowFilter;
use crate::model::document::PageSection;
use crate::model::table::{Grid, GridCell, GridHead};

/// Measures shown side by side for all variants.
const BESIDE: [&str; 2] = ["ops_per_s", "service_p99_us"];

/// Sections of a page that compares each side with the first: the answers of the sides, their points, and
/// the report of each comparison.
pub fn compare_sections(
    answers: &CurveSummaries,
    reports: &[DifferenceReport<'_>],
    filter: RowFilter,
) -> Vec<PageSection> {
    let comparisons: Vec<&RunComparison> = reports.iter().map(|report| report.comparison).collect();
    let mut sections: Vec<PageSection> = Vec::new();
    for report in reports {
        let mut own = difference_sections(report, filter);
        if reports.len() > 1 {
            let sides = format!("{} against {}", report.comparison.b, report.comparison.a);
            own.iter_mut().for_each(|section| section.title = format!("{}: {sides}", section.title));
        }
        sections.extend(own);
    }
    let mut answered = vec![PageSection {
        title: "Answers of the sides".into(),
        lines: answer::remaining_lines(answers, false),
        grids: vec![(String::new(), answer_short(answers))],
        ..PageSection::default()
    }];
    answered.extend(points_section(&comparisons));
    // The headline comes first; without a result there is none.
    let first = sections.len().min(1);
    sections.splice(first..first, answered);
    sections
}

/// All variants side by side at each point; `None` with one point of two sides, whose report has it.
fn points_section(comparisons: &[&RunComparison]) -> Option<PageSection> {
    let points = comparisons.first()?.points.len();
    let beside =
        BESIDE.iter().filter_map(|measure| Some((label(measure), measure_grid(measure, comparisons)?)));
    let beside: Vec<(String, Grid)> = beside.collect();
    (!beside.is_empty() && (points > 1 || comparisons.len() > 1)).then(|| PageSection {
        title: "Points and variants".into(),
        lines: vec!["Each variant at each point, with its deviation from the first.".into()],
        charts: BESIDE.iter().filter_map(|measure| chart(measure, comparisons)).collect(),
        grids: beside,
        ..PageSection::default()
    })
}

/// One measure of all variants side by side.
fn measure_grid(measure: &str, comparisons: &[&RunComparison]) -> Option<Grid> {
    let first = comparisons.first()?;
    let unit = first.points.first()?.measures.iter().find(|compared| compared.measure == measure)?.unit;
    let unit = if unit == Unit::Microseconds { "" } else { unit.name() };
    let mut heads: Vec<GridHead> =
        first.axes.iter().map(|axis| GridHead::figures(axis_name(axis), "")).collect();
    heads.push(GridHead::figures(&first.a, unit));
    for comparison in comparisons {
        heads.extend([
            GridHead::figures(&comparison.b, unit),
            GridHead::figures("deviation", "%").explained("of the first"),
            GridHead::figures("95 % interval", "%"),
            GridHead::text("verdict"),
        ]);
    }
    let mut grid = Grid::new(heads);
    for point in &first.points {
        let find_measure = |comparison: &RunComparison| -> Option<MeasureComparison> {
            let same = comparison.points.iter().find(|known| known.at == point.at)?;
            same.measures.iter().find(|compared| compared.measure == measure).cloned()
        };
        let mut cells: Vec<GridCell> = point.at.iter().map(|at| GridCell::setting(at)).collect();
        let a = find_measure(first);
        cells.push(a.map_or_else(GridCell::absent, |own| shown(own.a, own.unit, own.marked.0)));
        for comparison in comparisons {
            let Some(own) = find_measure(comparison) else {
                cells.extend((0..4).map(|_| GridCell::absent()));
                continue;
            };
            cells.extend([
                shown(own.b, own.unit, own.marked.1),
                percent(own.difference_pct),
                interval(own.interval_pct).into(),
                verdict(own.verdict),
            ]);
        }
        grid.row(cells);
    }
    Some(grid)
}

fn shown(value: Option<f64>, unit: Unit, marked: bool) -> GridCell {
    let cell = if unit == Unit::Microseconds { GridCell::time_us(value) } else { GridCell::figure(value) };
    cell.marked(marked)
}

/// One measure of all variants over their points; whiskers are the minimum and maximum of repeats.
fn chart(measure: &str, comparisons: &[&RunComparison]) -> Option<Chart> {
    let first = comparisons.first().filter(|first| first.points.len() > 1)?;
    // The last axis varies within a group, so a line does not join points of different outer settings.
    let category = |point: &dyno_analyze::compare::PointComparison| {
        let settings = first.axes.iter().zip(&point.at).take(point.at.len().saturating_sub(1));
        let group: Vec<String> = settings.map(|(axis, at)| format!("{} {at}", axis_name(axis))).collect();
        Category { label: point.at.last().cloned().unwrap_or_default(), group: group.join(", ") }
    };
    let place = |at: &[String]| first.points.iter().position(|point| point.at == at);
    let variant_series = |comparison: &RunComparison, is_a: bool, name: &str, style: usize| {
        let point = |point: &dyno_analyze::compare::PointComparison| {
            let measure_entry = point.measures.iter().find(|compared| compared.measure == measure)?;
            let (value, runs) = if is_a {
                (measure_entry.a?, &measure_entry.a_runs)
            } else {
                (measure_entry.b?, &measure_entry.b_runs)
            };
            let ends =
                runs.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(*v), h.max(*v)));
            Some(ChartPoint {
                range: (runs.len() > 1).then_some(ends),
                hover: format!("{name}, {}: {}", point.at.join(", "), phrase(measure, value)),
                ..ChartPoint::at(place(&point.at)? as f64, value)
            })
        };
        let points = comparison.points.iter().filter_map(point).collect();
        ChartSeries { name: name.to_owned(), kind: SeriesKind::Line, style, points }
    };
    let mut series = vec![variant_series(first, true, &first.a, 0)];
    series.extend(comparisons.iter().enumerate().map(|(at, own)| variant_series(own, false, &own.b, at + 1)));
    let axes: Vec<&str> = first.axes.iter().map(|axis| axis_name(axis)).collect();
    let quantity = match Measure::find(measure).map(|measure| measure.unit) {
        Some(Unit::Microseconds) => Quantity::Micros,
        _ => Quantity::Plain("/s"),
    };
    Some(Chart {
        id: format!("compared-{measure}"),
        title: format!("{} of each variant", label(measure)),
        about: "Medians of each variant at each point; whiskers are the least and the largest of repeats."
            .into(),
        x: ChartAxis::ordinal(&axes.join(", "), first.points.iter().map(category).collect()),
        y: ChartAxis::linear(Measure::find(measure).map_or(measure, |measure| measure.label), quantity),
        series: series.into_iter().filter(|series| !series.points.is_empty()).collect(),
        marks: vec![],
    })
}

#[cfg(test)]
mod tests {
    use dyno_analyze::compare::{ComparisonRules, ComparisonSide, compare};
    use dyno_analyze::side_by_side::side_by_side;
    use dyno_analyze::{fixture, points};
    use dyno_record::{Metric, RunRecord};

    use super::*;
    use crate::render::{sections_csv, sections_markdown, workbook};

    fn runs(side: &str, factor: f64) -> Vec<RunRecord> {
        let run = |(sessions, repeat): (u32, u32)| {
            let mut record = fixture::postgres();
            record.id = format!("{side}-{sessions}-{repeat}");
            record.variant = Some(side.to_owned());
            record.plan.run.sessions_per_schema = sessions;
            let ops = 1_000.0 * f64::from(sessions) * factor + f64::from(repeat);
            record.metrics.insert("ops_per_s".into(), Metric::Value { value: ops, unit: Unit::PerSecond });
            record
        };
        [(1, 0), (1, 1), (2, 0), (2, 1)].map(run).into()
    }

    fn sections() -> Vec<PageSection> {
        // Names that a spreadsheet would execute or a page would interpret.
        let (a, b, c) = (runs("=old", 1.0), runs("<b>new", 1.5), runs("third", 0.5));
        let side = |name: &str, records: &[RunRecord]| {
            CurveSummaries::of_sides([(name, CurveSummaries::of(&points(records)))])
        };
        let make_side = |name: &str, records: &'static [RunRecord]| ComparisonSide {
            name: name.into(),
            records: records.iter().collect(),
        };
        let leak =
            |records: Vec<RunRecord>| -> &'static [RunRecord] { Box::leak(records.into_boxed_slice()) };
        let answers = side("=old", &a);
        let (a, b, c) = (leak(a), leak(b), leak(c));
        let rules = ComparisonRules::default();
        let of = |name: &str, records| {
            let (base, other) = (make_side("=old", a), make_side(name, records));
            let comparison = compare(&base, &other, &rules);
            let beside = side_by_side(&base, &other, &comparison);
            (comparison, beside)
        };
        let compared = [of("<b>new", b), of("third", c)];
        let reports: Vec<DifferenceReport<'_>> = compared
            .iter()
            .map(|(comparison, beside)| DifferenceReport { comparison, beside, gates: &[], next: &[] })
            .collect();
        compare_sections(&answers, &reports, RowFilter::All)
    }

    #[test]
    fn every_variant_is_compared_with_first_at_every_point() {
        let sections = sections();
        let section = sections.iter().find(|section| section.title == "Points and variants").unwrap();
        let (_, grid) = &section.grids[0];
        assert_eq!((grid.rows.len(), grid.heads.len()), (2, 1 + 1 + 2 * 4));
        let first: Vec<&str> = grid.rows[0].1.iter().map(|cell| cell.text.as_str()).collect();
        assert!(first[3].starts_with("+49.9"), "{first:?}");
        assert!(first[7].starts_with("-49.9"), "{first:?}");
        assert_eq!(section.charts[0].series.len(), 3);
    }

    #[test]
    fn compare_page_escapes_names_in_every_format() {
        let sections = sections();
        let page = crate::render::html::pages("compare", "", &sections);
        assert!(page.contains("&lt;b&gt;new"));
        assert!(!page.contains("<b>new"));
        let md = sections_markdown("compare", &sections);
        assert!(md.contains("&lt;b\\>new"), "{md}");
        assert!(md.contains("## Points and variants"), "{md}");
        let csv = sections_csv(&sections);
        assert!(csv.lines().count() > 2, "{csv}");
        assert!(!csv.lines().any(|line| line.starts_with('=')), "{csv}");
        let sheets: Vec<_> = sections.iter().flat_map(|section| section.grids.clone()).collect();
        let bytes = workbook(&sheets).unwrap();
        assert!(bytes.starts_with(b"PK"));
    }
}
