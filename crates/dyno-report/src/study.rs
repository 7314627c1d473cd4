//! A study of variants: the table as documents draw it (figures down, variants across), a plot with error bars, what differed, and the
//! order in which things were run.

use dyno_analyze::compare::{Compared, Verdict};
use dyno_analyze::conclusion::study::{Row, Study, Worth};
use dyno_analyze::number::{ABSENT, figure, fixed, span_s};
use dyno_analyze::points::median;
use dyno_analyze::whose::mark;
use dyno_record::Unit;

use crate::compare_table::{signed_percent, tone};
use crate::grid::{Cell, Grid, Head};
use crate::plot::{Plot, Row as PlotRow, Times};
use crate::style::{Paint, Style};
use crate::table::{self, Column, Table};

/// Differences shown of each variant on a page.
const DIFFERENCES_MAX: usize = 20;

/// A line for each figure of each task; for each variant its value, the difference to the base in percent with its interval, and the
/// verdict.
pub fn study_grid(study: &Study) -> Grid {
    let mut heads = vec![
        Head::text("task"),
        Head::text("figure"),
        Head::figures(&study.variants[study.base].name, "base")
            .explained("the median of its repeats, and the least and the most of them"),
    ];
    for (_, variant) in others(study) {
        heads.push(Head::figures(&variant.name, "").explained(&variant.what));
        heads.push(
            Head::tight("")
                .explained("the verdict: whether it differs from the base by more than chance and margin"),
        );
    }
    let mut grid = Grid::new(heads);
    for row in &study.rows {
        let mut cells = vec![Cell::text(&row.task), Cell::text(&label(row)), Cell::text(&base_value(row))];
        for (at, _) in others(study) {
            let cell = row.cells[at].as_ref();
            cells.push(Cell::text(&cell.map_or_else(|| ABSENT.to_owned(), variant_value)));
            cells.push(cell.map_or_else(Cell::default, verdict));
        }
        grid.row(cells);
    }
    grid
}

fn others(study: &Study) -> impl Iterator<Item = (usize, &dyno_analyze::conclusion::study::StudyVariant)> {
    study.variants.iter().enumerate().filter(move |(at, _)| *at != study.base)
}

/// `operations, 1/s`: figures of one line have one unit.
fn label(row: &Row) -> String {
    let unit = match row.unit {
        Unit::Microseconds => "µs",
        unit => unit.name(),
    };
    format!("{}, {unit}", row.label())
}

fn base_value(row: &Row) -> String {
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

fn variant_value(cell: &Compared) -> String {
    let Some(value) = cell.b else { return ABSENT.to_owned() };
    let difference =
        cell.difference_pct.map_or_else(String::new, |pct| format!(" {} %", signed_percent(pct)));
    let interval = cell.interval_pct.map_or_else(String::new, |(low, high)| {
        format!(" ({} … {})", signed_percent(low), signed_percent(high))
    });
    format!("{}{difference}{interval}", mark(figure(value), cell.marked.1))
}

pub(crate) fn verdict(cell: &Compared) -> Cell {
    if cell.a.is_none() || cell.b.is_none() {
        return Cell::text("not measured");
    }
    Cell { tone: tone(cell.verdict), ..Cell::text(words(cell.verdict)) }
}

/// A verdict, of whatever is better high or low.
fn words(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Faster => "better",
        Verdict::Slower => "worse",
        other => other.words(),
    }
}

/// The tables for a terminal: one line for each variant in each figure, and what each is worth.
pub(crate) fn study_text(study: &Study, style: &Style) -> String {
    let mut table = Table::new(vec![
        Column::name("variant"),
        Column::figures("median", ""),
        Column::figures("to base", "%"),
        Column::figures("95 % interval", "%"),
        Column::figures("runs", "").droppable(),
        Column::text("verdict"),
    ]);
    for row in &study.rows {
        table.note(&format!("{}: {}", row.task, label(row)), Paint::Head);
        let base = &study.variants[study.base].name;
        let value = median(&row.base).map_or_else(|| ABSENT.to_owned(), figure);
        table
            .row([base.as_str(), &value, "", "", &row.base.len().to_string(), "base"].map(table::Cell::from));
        for (at, variant) in others(study) {
            let Some(cell) = &row.cells[at] else { continue };
            let pct = |value: Option<f64>| value.map_or_else(|| ABSENT.to_owned(), signed_percent);
            let interval = cell.interval_pct.map_or_else(String::new, |(low, high)| {
                format!("{} … {}", signed_percent(low), signed_percent(high))
            });
            let paint = match cell.verdict {
                Verdict::Faster | Verdict::Same => Paint::Good,
                Verdict::Slower => Paint::Bad,
                _ => Paint::Warn,
            };
            table.row([
                table::Cell::from(variant.name.as_str()),
                table::Cell::from(
                    mark(cell.b.map_or_else(|| ABSENT.to_owned(), figure), cell.marked.1).as_str(),
                ),
                table::Cell::from(pct(cell.difference_pct).as_str()),
                table::Cell::from(interval.as_str()),
                table::Cell::from(cell.b_runs.len().to_string().as_str()),
                table::Cell::painted(&verdict(cell).text, paint),
            ]);
        }
    }
    table.render(style)
}

/// What each variant is worth, the best first.
pub fn ranking_grid(study: &Study) -> Grid {
    let mut grid = Grid::new(vec![Head::text("variant"), Head::tight("worth"), Head::text("what it is")]);
    for at in study.ranking() {
        let variant = &study.variants[at];
        let worth = variant.worth.unwrap_or(Worth::NoFigures);
        let tone = match worth {
            Worth::WorthDoing => "good",
            Worth::Harmful => "bad",
            Worth::Trade | Worth::Confounded => "warn",
            Worth::NotMeasurable | Worth::NoFigures => "",
        };
        let word = Cell { tone, ..Cell::text(worth.words()) };
        grid.row(vec![Cell::text(&variant.name), word, Cell::text(&variant.what)]);
    }
    grid
}

/// In which order the variants were measured.
pub fn order_grid(study: &Study) -> Grid {
    let mut grid = Grid::new(vec![
        Head::figures("", ""),
        Head::tight("began"),
        Head::text("variant"),
        Head::figures("repeat", ""),
        Head::text("ended"),
    ]);
    for (number, turn) in (1..).zip(&study.order) {
        let texts = [
            number.to_string(),
            turn.at.clone(),
            turn.variant.clone(),
            turn.repeat.to_string(),
            turn.ended.clone(),
        ];
        grid.row(texts.iter().map(|text| Cell::text(text)).collect());
    }
    grid
}

/// In what else the runs of a variant differ from those of the base, and what showed that it was in force.
pub fn differed_grid(study: &Study) -> Grid {
    let mut grid = Grid::new(vec![
        Head::text("variant"),
        Head::tight("where"),
        Head::text("what"),
        Head::text("base"),
        Head::text("variant"),
    ]);
    for (_, variant) in others(study) {
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
            grid.row(texts.iter().map(|text| Cell::text(text)).collect());
        }
    }
    grid
}

pub(crate) fn verified_grid(study: &Study) -> Grid {
    let mut grid = Grid::new(vec![
        Head::text("variant"),
        Head::text("what it sets and does"),
        Head::text("what showed that it was in force"),
    ]);
    for variant in &study.variants {
        let said = variant.verified.join("; ");
        grid.row([variant.name.as_str(), &variant.what, &said].map(Cell::text).to_vec());
    }
    grid
}

/// Each variant against the base in each figure, with error bars.
pub fn study_plot(study: &Study) -> Plot {
    let mut series: Vec<(usize, &str)> =
        others(study).map(|(at, variant)| (at, variant.name.as_str())).collect();
    series.sort_by_key(|(at, _)| study.ranking().iter().position(|ranked| ranked == at));
    let mark = |row: &Row, at: usize, name: &str| {
        let (times, range) = row.times(at)?;
        let cell = row.cells[at].as_ref()?;
        let hover = format!(
            "{}, {}, {name}: {}, {}",
            row.task,
            row.label(),
            variant_value(cell),
            words(cell.verdict)
        );
        Some(Times { times, range, hover })
    };
    let rows = study.rows.iter().map(|row| PlotRow {
        label: row.label(),
        group: row.task.clone(),
        marks: series.iter().map(|(at, name)| mark(row, *at, name)).collect(),
    });
    let base = &study.variants[study.base].name;
    Plot {
        title: format!("Times better than {base}"),
        about: "medians of all repeats; bars are 95 % intervals; right of 1 is better, whichever way the figure goes".to_owned(),
        axis: format!("times better than {base}"),
        rows: rows.filter(|row| row.marks.iter().any(Option::is_some)).collect(),
        series: series.into_iter().map(|(_, name)| name.to_owned()).collect(),
    }
}

/// How long what is left takes, for a line of talk.
pub fn left_words(seconds: f64) -> String {
    format!("ETA {}", span_s(seconds.round()))
}

/// A task's figures in a line of talk.
pub fn measured_words(load_s: Option<f64>, run: Option<&dyno_record::RunRecord>) -> String {
    let load = load_s.map(|seconds| format!("loaded in {} s", fixed(seconds, 2)));
    let run = run.map(|record| {
        let ops = record.leading_ops().map_or_else(|| ABSENT.to_owned(), |all| figure(all.rate_per_s));
        format!("{ops} ops/s, {} ({})", record.status.words(), record.id)
    });
    load.into_iter().chain(run).collect::<Vec<_>>().join("; ")
}
