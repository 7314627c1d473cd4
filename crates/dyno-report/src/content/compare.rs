//! Tables of a comparison: each measure at each point, verdicts, gates, and other differences.

use dyno_analyze::compare::{
    ComparisonVerdict, GateOutcome, GateResult, MeasureComparison, OverallComparison, PointComparison,
    RunComparison,
};
use dyno_analyze::differences::ConfigDifference;
use dyno_analyze::number::{figure, fixed};
use dyno_analyze::points::Measure;
use dyno_record::Unit;

use crate::content::profile::gains_text;
use crate::content::result_table::LEGEND_LINES_MAX;
use crate::model::table::{Grid, GridCell, GridHead, unit_name};
use crate::style::{Paint, Style};
use crate::text::{clean, wrap};

/// Maximum number of other differences shown; `--json` has all.
const DIFFERENCES_MAX: usize = 40;

/// Maximum lines for the reasons of one point.
const VARIED_LINES_MAX: usize = 12;

/// A difference in percent with its sign, as documents print it: `-12.66`, `+3.09`.
pub fn signed_percent(value: f64) -> String {
    let text = fixed(value, 2);
    if value > 0.0 && text != "0.00" { format!("+{text}") } else { text }
}

pub(crate) fn percent(value: Option<f64>) -> GridCell {
    GridCell::number(value, 2, signed_percent)
}

pub(crate) fn interval(value: Option<(f64, f64)>) -> String {
    value
        .map_or_else(String::new, |(low, high)| format!("{} … {}", signed_percent(low), signed_percent(high)))
}

pub(crate) fn chance(p: Option<f64>) -> GridCell {
    let show = |p: f64| if p < 0.001 { "< 0.001".to_owned() } else { fixed(p, 3) };
    GridCell::number(p, 3, show).or_empty()
}

pub(crate) fn verdict(verdict: ComparisonVerdict) -> GridCell {
    GridCell::text(verdict.words()).toned(tone(verdict))
}

/// A difference at one point: in percent, or in the unit itself if the base value is nearly zero.
fn difference(compared: &MeasureComparison) -> GridCell {
    if compared.difference_pct.is_some() {
        return percent(compared.difference_pct);
    }
    let show = |by: f64| {
        let text = figure(by);
        let sign = if by > 0.0 && text.bytes().any(|b| matches!(b, b'1'..=b'9')) { "+" } else { "" };
        format!("{sign}{text}")
    };
    // The difference of two percentages is in percentage points.
    let unit = if compared.unit == Unit::Percent { "points" } else { compared.unit.name() };
    GridCell::shown(compared.difference, show).in_unit(unit)
}

pub fn compare_text(comparison: &RunComparison, gates: &[GateResult], style: &Style) -> String {
    let side = |name: &str, count: usize| format!("{} ({})", crate::text::clean(name), runs(count));
    let mut out = format!(
        "A: {}\nB: {}\n",
        side(&comparison.a, comparison.runs.0),
        side(&comparison.b, comparison.runs.1)
    );
    let explained = format!(
        "difference: B − A in % of A (in the unit of the measure if A is nearly zero). Differences up to \
         ±{} % count as equal",
        fixed(comparison.margin_pct, 1)
    );
    for line in wrap(&explained, style.columns(), LEGEND_LINES_MAX) {
        out.push_str(&line);
        out.push('\n');
    }
    if comparison.points.is_empty() {
        out.push_str("\nthe two sides have no common point: nothing to compare\n");
    } else {
        for (i, overall) in comparison.overall.iter().enumerate() {
            out.push('\n');
            out.push_str(&measure_grid(comparison, i, overall).render(style));
        }
    }
    out.push_str(&notes(comparison, style));
    out.push_str(&varied_lines(comparison, style));
    if let Some(gains) = &comparison.profile {
        out.push('\n');
        out.push_str(&gains_text(gains, style));
    }
    if !gates.is_empty() {
        out.push('\n');
        out.push_str(&gate_grid(gates, comparison.over_looks).render(style));
    }
    out.push('\n');
    out.push_str(&differences(&comparison.differed, style));
    out
}

/// The column of intervals of a difference: of all looks of a sequential test, or of one judgment.
pub(crate) fn interval_head(over_looks: bool) -> GridHead {
    let explained = match over_looks {
        true => "of the change; the intervals of all looks of the test together contain it in 95 % of tests",
        false => "of the change",
    };
    let label = if over_looks { "95 % over all looks" } else { "95 % interval" };
    GridHead::figures(label, "%").explained(explained)
}

/// Columns of a measure on both sides, with its difference.
fn figure_heads(unit: &str, over_looks: bool) -> [GridHead; 7] {
    [
        GridHead::figures("A", unit),
        GridHead::figures("B", unit),
        GridHead::figures("difference", "%").explained("B − A, as a share of A"),
        interval_head(over_looks).spare(1),
        GridHead::figures("runs", "").spare(1),
        GridHead::figures("p", "")
            .explained("probability of ranks at least this far apart if both sides were equal")
            .spare(1),
        GridHead::text("verdict"),
    ]
}

fn figures(compared: &MeasureComparison) -> [GridCell; 7] {
    let (in_a, in_b) = compared.marked;
    [
        GridCell::figure(compared.a).marked(in_a),
        GridCell::figure(compared.b).marked(in_b),
        difference(compared),
        interval(compared.interval_pct).into(),
        format!("{} / {}", compared.a_runs.len(), compared.b_runs.len()).into(),
        chance(compared.p_adjusted),
        verdict(compared.verdict),
    ]
}

/// Difference, interval, probability and verdict of a measure over all points.
fn overall_figures(overall: &OverallComparison) -> [GridCell; 4] {
    [
        percent(overall.difference_pct).marked(overall.marked),
        interval(overall.interval_pct).into(),
        chance(overall.p),
        verdict(overall.verdict),
    ]
}

/// A column for each setting in which points differ.
fn axis_heads(comparison: &RunComparison) -> Vec<GridHead> {
    comparison.axes.iter().map(|axis| GridHead::text(axis_name(axis))).collect()
}

fn axis_cells(point: &PointComparison) -> impl Iterator<Item = GridCell> {
    point.at.iter().map(|at| GridCell::setting(at))
}

/// Every measure at every point as one table, for a page, Markdown or CSV.
pub(crate) fn compare_grid(comparison: &RunComparison) -> Grid {
    let mut heads = axis_heads(comparison);
    heads.extend([GridHead::text("measure"), GridHead::text("unit")]);
    heads.extend(figure_heads("", comparison.over_looks));
    let mut grid = Grid::new(heads);
    for point in &comparison.points {
        for compared in &point.measures {
            let label =
                Measure::find(&compared.measure).map_or(compared.measure.as_str(), |measure| measure.label);
            let measure = [label, unit_name(compared.unit)].map(GridCell::text);
            grid.row(axis_cells(point).chain(measure).chain(figures(compared)));
        }
    }
    grid
}

/// Each measure over all points.
pub(crate) fn overall_grid(comparison: &RunComparison) -> Grid {
    let mut table = Grid::new(vec![
        GridHead::text("measure"),
        GridHead::figures("points", ""),
        GridHead::figures("deviation", "%").explained("geometric mean over the points"),
        interval_head(comparison.over_looks),
        GridHead::figures("p", ""),
        GridHead::text("verdict"),
    ]);
    for overall in &comparison.overall {
        let measure = [label(&overall.measure).into(), GridCell::count(overall.points as u64)];
        table.row(measure.into_iter().chain(overall_figures(overall)));
    }
    table
}

/// A measure's name at the start of a sentence.
pub(crate) fn label(measure: &str) -> String {
    crate::text::capital(Measure::find(measure).map_or(measure, |measure| measure.label))
}

/// CSS class of a verdict.
pub(crate) fn tone(verdict: ComparisonVerdict) -> &'static str {
    match verdict {
        ComparisonVerdict::Faster | ComparisonVerdict::Same => "good",
        ComparisonVerdict::Slower => "bad",
        ComparisonVerdict::Confounded
        | ComparisonVerdict::OthersHadPart
        | ComparisonVerdict::Unsure
        | ComparisonVerdict::OneRunEach => "warn",
        ComparisonVerdict::More | ComparisonVerdict::Less => "",
    }
}

pub(crate) fn runs(count: usize) -> String {
    if count == 1 { "1 run".into() } else { format!("{count} runs") }
}

/// One measure at every point and over all points.
fn measure_grid(comparison: &RunComparison, i: usize, overall: &OverallComparison) -> Grid {
    let at = |point: &PointComparison| point.measures[i].clone();
    let unit = comparison.points.first().map_or("", |point| unit_name(at(point).unit));
    let mut heads = axis_heads(comparison);
    for (place, head) in figure_heads(unit, comparison.over_looks).into_iter().enumerate() {
        heads.push(if place < 3 { head.grouped_under(&overall.measure) } else { head });
    }
    let mut grid = Grid::new(heads);
    for point in &comparison.points {
        grid.row(axis_cells(point).chain(figures(&at(point))));
    }
    if comparison.points.len() > 1 {
        let [difference, interval, chance, verdict] = overall_figures(overall);
        let mut cells = vec![GridCell::default(); comparison.axes.len()];
        cells[0] = GridCell::from("all points").toned("total");
        let empty = GridCell::default;
        cells.extend([empty(), empty(), difference, interval, empty(), chance, verdict]);
        grid.row(cells);
    }
    // Single runs have neither an interval nor a probability.
    let repeated = comparison.points.iter().any(|point| at(point).interval_pct.is_some());
    if repeated { grid } else { grid.columns(|head| head.spare == 0) }
}

/// The last part of an axis path: `work_unit`.
pub(crate) fn axis_name(path: &str) -> &str {
    path.rsplit_once('.').map_or(path, |(_, name)| name)
}

/// Notes that the tables do not contain.
fn notes(comparison: &RunComparison, style: &Style) -> String {
    let mut out = String::new();
    for line in
        comparison.others.iter().flat_map(|legend| wrap(&clean(legend), style.columns(), LEGEND_LINES_MAX))
    {
        out.push_str(&line);
        out.push('\n');
    }
    for note in &comparison.notes {
        out.push_str(&style.paint(Paint::Foreign, &clean(note)));
        out.push('\n');
    }
    for alone in &comparison.alone {
        let at: Vec<String> = comparison
            .axes
            .iter()
            .zip(&alone.at)
            .map(|(axis, value)| format!("{} {value}", axis_name(axis)))
            .collect();
        let text = format!("only {} has {}", alone.side, at.join(", "));
        out.push_str(&style.paint(Paint::Dim, &crate::text::clean(&text)));
        out.push('\n');
    }
    for (id, reason) in &comparison.left_out {
        let text = crate::text::clean(&format!("left out: {id}, {reason}"));
        out.push_str(&style.paint(Paint::Warn, &text));
        out.push('\n');
    }
    if out.is_empty() { out } else { format!("\n{out}") }
}

/// Known reasons why repeats differ.
fn varied_lines(comparison: &RunComparison, style: &Style) -> String {
    let mut out = String::new();
    for varied in &comparison.varied {
        out.push('\n');
        for line in wrap(&clean(&varied.words()), style.columns(), VARIED_LINES_MAX) {
            out.push_str(&line);
            out.push('\n');
        }
    }
    out
}

/// The gates with their outcomes.
pub(crate) fn gate_grid(gates: &[GateResult], over_looks: bool) -> Grid {
    let mut grid = Grid::new(vec![
        GridHead::text("gate"),
        GridHead::figures("difference", "%"),
        interval_head(over_looks).spare(1),
        GridHead::figures("p", "")
            .explained("of ranks this far apart if B lay exactly at the limit")
            .spare(1),
        GridHead::text("outcome"),
    ]);
    for result in gates {
        let words = match (result.outcome(), result.difference_pct) {
            (GateOutcome::Failed, None) => "failed: no percentage on both sides",
            (GateOutcome::NotDecided, _) if result.marked => "not decided: other load may be included",
            (GateOutcome::NotDecided, _) if result.holds => "not decided: other runs might fail it",
            (GateOutcome::NotDecided, _) => "not decided: other runs might pass it",
            (outcome, _) => outcome.words(),
        };
        let tone = match result.outcome() {
            GateOutcome::Passed => "good",
            GateOutcome::Failed => "bad",
            GateOutcome::NotDecided => "warn",
        };
        grid.row([
            GridCell::from(result.gate.to_string()),
            percent(result.difference_pct),
            interval(result.interval_pct).into(),
            chance(result.p),
            GridCell::text(words).toned(tone),
        ]);
    }
    grid
}

/// Other differences between the two sides.
pub fn differences(differed: &[ConfigDifference], style: &Style) -> String {
    if differed.is_empty() {
        return "no other differences in the records\n".into();
    }
    let mut grid = differences_grid(&differed[..differed.len().min(DIFFERENCES_MAX)]);
    if differed.len() > DIFFERENCES_MAX {
        let more = differed.len() - DIFFERENCES_MAX;
        grid.note(&format!("… and {more} more (--json shows all)"), "dim");
    }
    grid.render(style)
}

/// Other differences between the two sides as a table.
pub fn differences_grid(differed: &[ConfigDifference]) -> Grid {
    let mut grid = Grid::new(vec![
        GridHead::text("what").short("", "other differences"),
        GridHead::text("where").short("", ""),
        GridHead::text("A"),
        GridHead::text("B"),
    ]);
    for difference in differed {
        let area = GridCell::text(difference.area.words()).toned("dim");
        grid.row([
            (&difference.name).into(),
            area,
            GridCell::list(&difference.a),
            GridCell::list(&difference.b),
        ]);
    }
    grid
}
