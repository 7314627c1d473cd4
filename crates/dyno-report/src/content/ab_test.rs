//! The head of a report of an A/B test: both sides with their difference, and the decision.

use dyno_analyze::CurveSummaries;
use dyno_analyze::compare::{ComparisonVerdict, MeasureComparison, OverallComparison, RunComparison};
use dyno_analyze::conclusion::{AbResult, AbSide, ConclusionFigures};
use dyno_analyze::number::{fixed, time_us};
use dyno_analyze::points::{Measure, Points};

use crate::content::compare::{interval, interval_head, label, percent, runs, signed_percent, tone, verdict};
use crate::content::report::Report;
use crate::model::document::Tile;
use crate::model::table::{Grid, GridCell, GridHead};

const P99: &str = "service_p99_us";

impl Report<'_> {
    /// The A/B test to which all runs of the report belong.
    pub(crate) fn ab_test(&self) -> Option<&AbResult> {
        let part = self.seen.part_of.as_ref()?;
        let conclusion = self.conclusions.iter().find(|conclusion| conclusion.of == part.id)?;
        match &conclusion.figures {
            ConclusionFigures::Ab(test) => Some(test),
            _ => None,
        }
    }
}

/// The settings of a side: `work_unit = 64` of `a (work_unit = 64)`; a name without settings is shown as it is.
pub(crate) fn side_settings(side: &AbSide) -> &str {
    let inside = side.name.split_once(" (").and_then(|(_, rest)| rest.strip_suffix(')'));
    inside.unwrap_or(&side.name)
}

/// The summaries of each side by itself, as a terminal shows them after the test.
pub(crate) fn side_summaries(points: &Points, test: &AbResult) -> CurveSummaries {
    let side = |name, side: &AbSide| {
        let of_side = |id: &str| side.runs.iter().any(|run| run == id);
        let mut side_points = points.clone();
        side_points.points.retain(|point| point.runs.iter().any(|run| of_side(&run.id)));
        side_points.left_out.retain(|out| of_side(&out.id));
        // The name of the side stands for its settings.
        let mut summaries = CurveSummaries::of(&side_points);
        if let [only] = summaries.curves.as_mut_slice() {
            only.name.clear();
        }
        (name, summaries)
    };
    CurveSummaries::of_sides([side("A", &test.a), side("B", &test.b)])
}

/// A measure of the test at its only point; `None` if it has several points.
fn at_point<'t>(comparison: &'t RunComparison, measure: &str) -> Option<&'t MeasureComparison> {
    let [point] = comparison.points.as_slice() else { return None };
    point.measures.iter().find(|compared| compared.measure == measure)
}

/// Both sides, their difference, and the decision; empty without a comparison.
pub(crate) fn ab_tiles(test: &AbResult) -> Vec<Tile> {
    let (Some(comparison), Some(leading)) = (&test.comparison, test.leading()) else { return Vec::new() };
    let main = at_point(comparison, &leading.measure);
    let p99 = at_point(comparison, P99).filter(|_| leading.measure != P99);
    let side = |label, side: &AbSide, value: Option<f64>, marked, p99: Option<f64>, count| {
        let p99 = p99.map_or_else(String::new, |us| format!("p99 {}; ", time_us(us)));
        let value = value.map_or_else(GridCell::absent, |value| GridCell::phrase(&leading.measure, value));
        let note = format!("{p99}{}; {}", side_settings(side), runs(count));
        Tile { label, value: value.marked(marked), note }
    };
    let marked = main.map_or((false, false), |main| main.marked);
    let [a, b] = [|c: &MeasureComparison| c.a, |c: &MeasureComparison| c.b];
    let difference = leading.difference_pct.map_or_else(GridCell::absent, |pct| {
        GridCell::number(pct, 2, signed_percent).in_unit("%").marked(leading.marked)
    });
    let kind = comparison.interval_words();
    let within = leading.interval_pct.map_or_else(
        || "no interval from these runs".to_owned(),
        |(low, high)| format!("{kind}: {} to {} %", signed_percent(low), signed_percent(high)),
    );
    let (decision, tone) = decision(comparison, leading);
    vec![
        side("side A", &test.a, main.and_then(a), marked.0, p99.and_then(a), comparison.runs.0),
        side("side B", &test.b, main.and_then(b), marked.1, p99.and_then(b), comparison.runs.1),
        Tile { label: "difference of B from A", value: difference, note: within },
        Tile {
            label: "decision",
            value: GridCell::text(decision).toned(tone),
            note: how_decided(test, comparison),
        },
    ]
}

fn decision(comparison: &RunComparison, leading: &OverallComparison) -> (&'static str, &'static str) {
    if !comparison.unequal_work.is_empty() {
        return ("not the same work", "warn");
    }
    let words = match leading.verdict {
        ComparisonVerdict::Faster => "B is faster",
        ComparisonVerdict::Slower => "B is slower",
        ComparisonVerdict::More => "B has more",
        ComparisonVerdict::Less => "B has less",
        ComparisonVerdict::Same => "equal",
        ComparisonVerdict::Unsure => "inconclusive",
        ComparisonVerdict::Confounded => "confounded",
        ComparisonVerdict::OneRunEach | ComparisonVerdict::OthersHadPart => "no verdict",
    };
    (words, tone(leading.verdict))
}

fn how_decided(test: &AbResult, comparison: &RunComparison) -> String {
    let how = match &test.sequential {
        Some(sequential) => sequential.short(),
        None => format!("{} + {} runs, judged once", comparison.runs.0, comparison.runs.1),
    };
    format!("{how}; up to ±{} % counts as equal", fixed(comparison.margin_pct, 1))
}

/// The leading measure and p99 of both sides, for Markdown and a workbook; `None` without a comparison.
pub(crate) fn ab_grid(test: &AbResult) -> Option<Grid> {
    let (comparison, leading) = (test.comparison.as_ref()?, test.leading()?);
    let side = |letter, side| GridHead::figures(&format!("{letter}: {}", side_settings(side)), "");
    let mut grid = Grid::new(vec![
        GridHead::text("measure"),
        side("A", &test.a),
        side("B", &test.b),
        GridHead::figures("difference", "%").explained("B − A, as a share of A"),
        interval_head(comparison.over_looks),
        GridHead::text("verdict"),
    ]);
    let overall = comparison.overall.iter().filter(|overall| overall.points > 0);
    for overall in overall.filter(|overall| overall.measure == leading.measure || overall.measure == P99) {
        let compared = at_point(comparison, &overall.measure);
        let cell = |value: Option<f64>, marked| {
            let value =
                value.map_or_else(GridCell::absent, |value| GridCell::phrase(&overall.measure, value));
            value.marked(marked)
        };
        let (in_a, in_b) = compared.map_or((false, false), |compared| compared.marked);
        let decision_cell = match overall.measure == leading.measure {
            true => {
                let (words, tone) = decision(comparison, leading);
                GridCell::text(words).toned(tone)
            }
            false => verdict(overall.verdict),
        };
        let name = Measure::find(&overall.measure)
            .map_or_else(|| overall.measure.clone(), |_| label(&overall.measure));
        grid.row([
            name.into(),
            cell(compared.and_then(|compared| compared.a), in_a),
            cell(compared.and_then(|compared| compared.b), in_b),
            percent(overall.difference_pct),
            interval(overall.interval_pct).into(),
            decision_cell,
        ]);
    }
    Some(grid)
}
