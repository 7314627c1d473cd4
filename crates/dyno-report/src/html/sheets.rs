//! Two pages of paper for who has to decide: the answer, one chart, the comparison, its price, and what was not measured. All else
//! is the appendix behind them. On a screen the page itself begins with the answer, so these are for paper alone.

use maud::{Markup, PreEscaped, html};

use crate::answer::tone_class;
use crate::chart::Chart;
use crate::chart::svg::{Look, svg};
use crate::grid::{Cell, Grid};
use crate::plot::Plot;
use crate::text::clean;

use super::grid::table;

/// Rows of a table, and reasons, that two pages have room for.
pub(crate) const ROWS_MAX: usize = 12;

/// What stands on them, whatever it is about.
#[derive(Debug, Clone, Default)]
pub struct Sheets {
    /// The title.
    pub title: String,
    /// Author, dates, platforms: name and value.
    pub facts: Vec<(&'static str, String)>,
    /// The answer in a sentence.
    pub line: String,
    /// What may be thought of it at a glance, where that is known.
    pub tone: Option<dyno_analyze::Tone>,
    /// The answer as a table.
    pub answer: Option<Grid>,
    /// What has to be known with it.
    pub lines: Vec<String>,
    /// The one picture.
    pub picture: Option<Picture>,
    /// What is held against each other, and what it costs: a title, sentences, tables.
    pub parts: Vec<Part>,
    /// What was not measured, with the reasons.
    pub missing: Vec<String>,
}

/// A picture with its sentence.
#[derive(Debug, Clone)]
pub enum Picture {
    /// A chart.
    Chart(Box<Chart>),
    /// A plot of ratios.
    Plot(Plot),
}

/// A part of the sheets.
#[derive(Debug, Clone, Default)]
pub struct Part {
    /// Its title.
    pub title: &'static str,
    /// What is said before its tables.
    pub lines: Vec<String>,
    /// Its tables.
    pub grids: Vec<Grid>,
}

pub(super) fn sheets(sheets: &Sheets) -> Markup {
    html! {
        section id="summary" {
            h1 { (clean(&sheets.title)) }
            dl { @for (name, value) in &sheets.facts { div { dt { (name) } dd { (clean(value)) } } } }
            h2 { "Answer" }
            p class="line" { (clean(&sheets.line)) }
            @if let Some(tone) = sheets.tone { p class={"state " (tone_class(tone))} { (tone.word()) } }
            @if let Some(answer) = &sheets.answer { (table(&first_rows(answer), "answers in short")) }
            @for line in &sheets.lines { p { (clean(line)) } }
            @if let Some(picture) = &sheets.picture { (pictured(picture)) }
            @for part in &sheets.parts {
                h2 { (part.title) }
                @for line in &part.lines { p { (clean(line)) } }
                @for grid in &part.grids { (table(&first_rows(grid), &part.title.to_lowercase())) }
            }
            h2 { "Not measured" }
            ul { @for line in first_lines(&sheets.missing) { li { (clean(&line)) } } }
            p { "The appendix has every figure." }
        }
    }
}

/// A chart under a name of its own: its other place in the page has the first one.
fn pictured(picture: &Picture) -> Markup {
    let (drawn, about) = match picture {
        Picture::Chart(chart) => {
            let own = Chart { id: format!("summary-{}", chart.id), ..Chart::clone(chart) };
            (svg(&own, Look::Page), &chart.about)
        }
        Picture::Plot(plot) => (plot.svg(), &plot.about),
    };
    html! { figure { (PreEscaped(drawn)) figcaption { (clean(about)) } } }
}

fn first_rows(grid: &Grid) -> Grid {
    let mut grid = grid.clone();
    let left = grid.rows.len().saturating_sub(ROWS_MAX);
    grid.rows.truncate(ROWS_MAX);
    // A title whose rows are all in the appendix says nothing here.
    while left > 0 && grid.heads.len() > 1 && grid.rows.last().is_some_and(|(_, cells)| cells.len() == 1) {
        grid.rows.pop();
    }
    if left > 0 {
        grid.row(vec![Cell::text(&format!("and {left} more rows in the appendix"))]);
    }
    grid
}

fn first_lines(lines: &[String]) -> Vec<String> {
    let mut first: Vec<String> = lines.iter().take(ROWS_MAX).cloned().collect();
    match lines.len() {
        0 => first.push("nothing that was looked for is missing".to_owned()),
        all if all > ROWS_MAX => first.push(format!("and {} more: the appendix has them", all - ROWS_MAX)),
        _ => {}
    }
    first
}
