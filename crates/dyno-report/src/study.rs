//! A study of variants: the table for documents (figures down, variants across), a plot with error bars, the
//! differences, and the order of measurements.

use dyno_analyze::attribution::mark;
use dyno_analyze::compare::{ComparisonVerdict, MeasureComparison};
use dyno_analyze::conclusion::study::{StudyResult, StudyRow, Worth};
use dyno_analyze::number::{ABSENT, figure, fixed, span_s};
use dyno_analyze::points::median;
use dyno_record::Unit;

use crate::compare_table::{signed_percent, tone};
use crate::grid::{Grid, GridCell, GridHead};
use crate::plot::{Plot, PlotLine as PlotRow, PlotRatio};
use crate::style::{Paint, Style};
use crate::table::{self, TextColumn, TextTable};

/// Maximum differences shown for each variant on a page.
const DIFFERENCES_MAX: usize = 20;

/// A line for each figure of each task. For each variant it shows the value, the difference to the base in
/// percent with its interval, and the verdict.
pub fn study_grid(study: &StudyResult) -> Grid {
    let mut heads = vec![
        GridHead::text("task"),
        GridHead::text("figure"),
        GridHead::figures(&study.variants[study.base].name, "base")
            .explained("the median of its repeats, with the smallest and the largest"),
    ];
    for (_, variant) in other_variants(study) {
        heads.push(GridHead::figures(&variant.name, "").explained(&variant.what));
        heads.push(
            GridHead::tight("")
                .explained("the verdict: whether it differs from the base by more than chance and margin"),
        );
    }
    let mut grid = Grid::new(heads);
    for row in &study.rows {
        let mut cells =
            vec![GridCell::text(&row.task), GridCell::text(&label(row)), GridCell::text(&base_value(row))];
        for (at, _) in other_variants(study) {
            let cell = row.cells[at].as_ref();
            cells.push(GridCell::text(&cell.map_or_else(|| ABSENT.to_owned(), variant_value)));
            cells.push(cell.map_or_else(GridCell::default, verdict));
        }
        grid.row(cells);
    }
    grid
}

fn other_variants(
    study: &StudyResult,
) -> impl Iterator<Item = (usize, &dyno_analyze::conclusion::study::StudyVariant)> {
    study.variants.iter().enumerate().filter(move |(at, _)| *at != study.base)
}

/// `operations, 1/s`: figures of one line share a unit.
fn label(row: &StudyRow) -> String {
    let unit = match row.unit {
        Unit::Microseconds => "µs",
        unit => unit.name(),
    };
    format!("{}, {unit}", row.label())
}

fn base_value(row: &StudyRow) -> String {
    let Some(middle) = median(&row.base) else { return ABSENT.to_owned() };
    let marked = row.cells.iter().flatten().any(|cell| cell.marked.0);
    let (low, high) = extent(&row.base);
    let range =
        if row.base.len() > 1 { format!(" ({} … {})", figure(low), figure(high)) } else { String::new() };
    format!("{}{range}", mark(figure(middle), marked))
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

/// The tables for a terminal: one line for each variant in each figure, and the effect of each variant.
pub(crate) fn study_text(study: &StudyResult, style: &Style) -> String {
    let mut table = TextTable::new(vec![
        TextColumn::name("variant"),
        TextColumn::figures("median", ""),
        TextColumn::figures("to base", "%"),
        TextColumn::figures("95 % interval", "%"),
        TextColumn::figures("runs", "").droppable(),
        TextColumn::text("verdict"),
    ]);
    for row in &study.rows {
        table.note(&format!("{}: {}", row.task, label(row)), Paint::Head);
        let base = &study.variants[study.base].name;
        let value = median(&row.base).map_or_else(|| ABSENT.to_owned(), figure);
        table.row(
            [base.as_str(), &value, "", "", &row.base.len().to_string(), "base"].map(table::TextCell::from),
        );
        for (at, variant) in other_variants(study) {
            let Some(cell) = &row.cells[at] else { continue };
            let pct = |value: Option<f64>| value.map_or_else(|| ABSENT.to_owned(), signed_percent);
            let interval = cell.interval_pct.map_or_else(String::new, |(low, high)| {
                format!("{} … {}", signed_percent(low), signed_percent(high))
            });
            let paint = match cell.verdict {
                ComparisonVerdict::Faster | ComparisonVerdict::Same => Paint::Good,
                ComparisonVerdict::Slower => Paint::Bad,
                _ => Paint::Warn,
            };
            table.row([
                table::TextCell::from(variant.name.as_str()),
                table::TextCell::from(
                    mark(cell.b.map_or_else(|| ABSENT.to_owned(), figure), cell.marked.1).as_str(),
                ),
                table::TextCell::from(pct(cell.difference_pct).as_str()),
                table::TextCell::from(interval.as_str()),
                table::TextCell::from(cell.b_runs.len().to_string().as_str()),
                table::TextCell::painted(&verdict(cell).text, paint),
            ]);
        }
    }
    table.render(style)
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
            let list =
                |values: &[String]| if values.is_empty() { ABSENT.to_owned() } else { values.join(", ") };
            let texts = [
                variant.name.clone(),
                difference.area.words().to_owned(),
                difference.name.clone(),
                list(&difference.a),
                list(&difference.b),
            ];
            grid.row(texts.map(GridCell::from).into());
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
