//! A study of variants: the figures of each task by variant, a plot with error bars, the differences, and the
//! order of measurements.

use dyno_analyze::attribution::mark;
use dyno_analyze::compare::{ComparisonVerdict, MeasureComparison};
use dyno_analyze::conclusion::study::{StudyResult, StudyRow, Worth};
use dyno_analyze::number::{ABSENT, figure, fixed, span_s};
use dyno_analyze::points::median;

use crate::chart::plot::{Plot, PlotLine as PlotRow, PlotRatio};
use crate::content::compare::{interval, percent, signed_percent, tone};
use crate::model::table::{Grid, GridCell, GridHead, unit_name};

/// Maximum differences shown for each variant on a page.
const DIFFERENCES_MAX: usize = 20;

/// For each figure of each task, a line for the base and one for each variant: the median of its repeats, the
/// difference to the base with its interval, and the verdict.
pub fn study_grid(study: &StudyResult) -> Grid {
    let mut grid = Grid::new(vec![
        GridHead::tight("variant"),
        GridHead::figures("median", "").explained("of its repeats"),
        GridHead::figures("least", "").only_on_pages(),
        GridHead::figures("largest", "").only_on_pages(),
        GridHead::figures("to base", "%"),
        GridHead::figures("95 % interval", "%"),
        GridHead::figures("runs", "").spare(1),
        GridHead::text("verdict")
            .explained("whether it differs from the base by more than chance and margin"),
    ]);
    for row in &study.rows {
        grid.row([GridCell::from(format!("{}: {}", row.task, label(row)))]);
        let marked = row.cells.iter().flatten().any(|cell| cell.marked.0);
        let base = [GridCell::default(), GridCell::default(), count(&row.base), "base".into()];
        let name = &study.variants[study.base].name;
        grid.row(figures(name, median(&row.base), &row.base, marked).into_iter().chain(base));
        for (at, variant) in other_variants(study) {
            let Some(cell) = &row.cells[at] else { continue };
            let compared = [
                percent(cell.difference_pct),
                interval(cell.interval_pct).into(),
                count(&cell.b_runs),
                verdict(cell),
            ];
            let figures = figures(&variant.name, cell.b, &cell.b_runs, cell.marked.1);
            grid.row(figures.into_iter().chain(compared));
        }
    }
    grid
}

/// Name, median, and both ends of the repeats of a variant.
fn figures(name: &str, median: Option<f64>, runs: &[f64], marked: bool) -> [GridCell; 4] {
    let (low, high) = extent(runs);
    let [median, low, high] = [median, Some(low), Some(high)]
        .map(|value| GridCell::figure(value.filter(|value| value.is_finite())));
    [name.into(), median.marked(marked), low, high]
}

fn count(runs: &[f64]) -> GridCell {
    GridCell::count(runs.len() as u64)
}

fn other_variants(
    study: &StudyResult,
) -> impl Iterator<Item = (usize, &dyno_analyze::conclusion::study::StudyVariant)> {
    study.variants.iter().enumerate().filter(move |(at, _)| *at != study.base)
}

/// `operations, 1/s`: figures of one line share a unit.
fn label(row: &StudyRow) -> String {
    format!("{}, {}", row.label(), unit_name(row.unit))
}

pub(crate) fn extent(values: &[f64]) -> (f64, f64) {
    values
        .iter()
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(*value), high.max(*value)))
}

fn variant_value(cell: &MeasureComparison) -> String {
    let Some(value) = cell.b else { return ABSENT.to_owned() };
    let difference =
        cell.difference_pct.map_or_else(String::new, |pct| format!(" {} %", signed_percent(pct)));
    let interval = cell.interval_pct.map_or_else(String::new, |(low, high)| {
        format!(" ({} … {})", signed_percent(low), signed_percent(high))
    });
    format!("{}{difference}{interval}", mark(figure(value), cell.marked.1))
}

pub(crate) fn verdict(cell: &MeasureComparison) -> GridCell {
    if cell.a.is_none() || cell.b.is_none() {
        return GridCell::text("not measured");
    }
    GridCell::text(words(cell.verdict)).toned(tone(cell.verdict))
}

/// The word for a verdict, whether high or low is better.
fn words(verdict: ComparisonVerdict) -> &'static str {
    match verdict {
        ComparisonVerdict::Faster => "better",
        ComparisonVerdict::Slower => "worse",
        other => other.words(),
    }
}

/// The effect of each variant, best first.
pub fn ranking_grid(study: &StudyResult) -> Grid {
    let mut grid =
        Grid::new(vec![GridHead::text("variant"), GridHead::tight("worth"), GridHead::text("what it is")]);
    for at in study.ranking() {
        let variant = &study.variants[at];
        let worth = variant.worth.unwrap_or(Worth::NoFigures);
        let tone = match worth {
            Worth::WorthDoing => "good",
            Worth::Harmful => "bad",
            Worth::Trade | Worth::Confounded => "warn",
            Worth::NotMeasurable | Worth::NoFigures => "",
        };
        let word = GridCell::text(worth.words()).toned(tone);
        grid.row(vec![GridCell::text(&variant.name), word, GridCell::text(&variant.what)]);
    }
    grid
}

/// The order in which the variants were measured.
pub fn order_grid(study: &StudyResult) -> Grid {
    let mut grid = Grid::new(vec![
        GridHead::figures("", ""),
        GridHead::tight("began"),
        GridHead::text("variant"),
        GridHead::figures("repeat", ""),
        GridHead::text("ended"),
    ]);
    for (number, turn) in (1..).zip(&study.order) {
        grid.row(vec![
            GridCell::count(number),
            (&turn.at).into(),
            (&turn.variant).into(),
            GridCell::count(u64::from(turn.repeat)),
            (&turn.ended).into(),
        ]);
    }
    grid
}

/// Other differences of a variant's runs from those of the base, and the proof that the variant was in force.
pub fn differed_grid(study: &StudyResult) -> Grid {
    let mut grid = Grid::new(vec![
        GridHead::text("variant"),
        GridHead::tight("where"),
        GridHead::text("what"),
        GridHead::text("base"),
        GridHead::text("variant"),
    ]);
    for (_, variant) in other_variants(study) {
        for difference in variant.differed.iter().take(DIFFERENCES_MAX) {
            let texts = [variant.name.as_str(), difference.area.words(), &difference.name];
            let sides = [GridCell::list(&difference.a), GridCell::list(&difference.b)];
            grid.row(texts.map(GridCell::text).into_iter().chain(sides));
        }
    }
    grid
}

pub(crate) fn verified_grid(study: &StudyResult) -> Grid {
    let mut grid = Grid::new(vec![
        GridHead::text("variant"),
        GridHead::text("what it sets and does"),
        GridHead::text("evidence that it was in force"),
    ]);
    for variant in &study.variants {
        let evidence = variant.verified.join("; ");
        grid.row([variant.name.as_str(), &variant.what, &evidence].map(GridCell::text).to_vec());
    }
    grid
}

/// Each variant compared with the base in each figure, with error bars.
pub fn study_plot(study: &StudyResult) -> Plot {
    let mut series: Vec<(usize, &str)> =
        other_variants(study).map(|(at, variant)| (at, variant.name.as_str())).collect();
    series.sort_by_key(|(at, _)| study.ranking().iter().position(|ranked| ranked == at));
    let mark = |row: &StudyRow, at: usize, name: &str| {
        let (times, range) = row.times(at)?;
        let cell = row.cells[at].as_ref()?;
        let hover = format!(
            "{}, {}, {name}: {}, {}",
            row.task,
            row.label(),
            variant_value(cell),
            words(cell.verdict)
        );
        Some(PlotRatio { times, range, hover })
    };
    let rows = study.rows.iter().map(|row| PlotRow {
        label: row.label(),
        group: row.task.clone(),
        marks: series.iter().map(|(at, name)| mark(row, *at, name)).collect(),
    });
    let base = &study.variants[study.base].name;
    Plot {
        title: format!("Times better than {base}"),
        about: "medians of all repeats; bars are 95 % intervals; right of 1 is better for every figure"
            .to_owned(),
        axis: format!("times better than {base}"),
        rows: rows.filter(|row| row.marks.iter().any(Option::is_some)).collect(),
        series: series.into_iter().map(|(_, name)| name.to_owned()).collect(),
    }
}

/// Remaining time, for a progress line.
pub fn left_words(seconds: f64) -> String {
    format!("ETA {}", span_s(seconds.round()))
}

/// A task's figures, for a progress line.
pub fn measured_words(load_s: Option<f64>, run: Option<&dyno_record::RunRecord>) -> String {
    let load = load_s.map(|seconds| format!("loaded in {} s", fixed(seconds, 2)));
    let run = run.map(|record| {
        let ops = record.leading_ops().map_or_else(|| ABSENT.to_owned(), |all| figure(all.rate_per_s));
        format!("{ops} ops/s, {} ({})", record.status.words(), record.id)
    });
    load.into_iter().chain(run).collect::<Vec<_>>().join("; ")
}
