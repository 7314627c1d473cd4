//! Two printed pages for decision makers: the answer, one chart, the comparison, its price, and what was not
//! measured. The rest follows as an appendix. On a screen the page itself begins with the answer, so the
//! sheets appear only in print.

use maud::{Markup, PreEscaped, html};

use crate::chart::Chart;
use crate::chart::svg::{SvgPlacement, svg};
use crate::content::answer::tone_class;
use crate::model::document::{Picture, Sheets};
use crate::model::table::{Grid, GridCell};
use crate::text::clean;

use super::grid::table;
use super::prose::prose;

/// Maximum rows of a table, and reasons, that fit on two pages.
pub(crate) const ROWS_MAX: usize = 12;

pub(super) fn sheets(sheets: &Sheets) -> Markup {
    html! {
        section id="summary" {
            @if !sheets.title.is_empty() { h1 { (clean(&sheets.title)) } }
            dl { @for (name, value) in &sheets.facts { div { dt { (name) } dd { (clean(value)) } } } }
            @if !sheets.line.is_empty() { h2 { "Summary" } p class="line" { (clean(&sheets.line)) } }
            @if let Some(tone) = sheets.tone { p class={"state " (tone_class(tone))} { (tone.word()) } }
            @if let Some(answer) = &sheets.answer { (table(&first_rows(answer), "answer summary")) }
            @for line in &sheets.lines { p { (prose(line)) } }
            @if let Some(picture) = &sheets.picture { (picture_figure(picture)) }
            @for part in &sheets.parts {
                h2 { (part.title) }
                @for line in &part.lines { p { (prose(line)) } }
                @for grid in &part.grids { (table(&first_rows(grid), &part.title.to_lowercase())) }
            }
            h2 { "Not measured" }
            ul { @for line in first_lines(&sheets.missing) { li { (clean(&line)) } } }
            p { "The appendix has every figure." }
        }
    }
}

/// A chart with a different name: its other copy in the page has the original one.
fn picture_figure(picture: &Picture) -> Markup {
    let (drawn, about) = match picture {
        Picture::Chart(chart) => {
            let summary_chart = Chart { id: format!("summary-{}", chart.id), ..Chart::clone(chart) };
            (svg(&summary_chart, SvgPlacement::Page), &chart.about)
        }
        Picture::Plot(plot) => (plot.svg(), &plot.about),
    };
    html! { figure { (PreEscaped(drawn)) figcaption { (clean(about)) } } }
}

fn first_rows(grid: &Grid) -> Grid {
    let mut grid = grid.clone();
    let left = grid.rows.len().saturating_sub(ROWS_MAX);
    grid.rows.truncate(ROWS_MAX);
    // A title is removed if all its rows are in the appendix.
    while left > 0 && grid.heads.len() > 1 && grid.rows.last().is_some_and(|(_, cells)| cells.len() == 1) {
        grid.rows.pop();
    }
    if left > 0 {
        grid.row(vec![GridCell::text(&format!("and {left} more rows in the appendix"))]);
    }
    grid
}

fn first_lines(lines: &[String]) -> Vec<String> {
    let mut first: Vec<String> = lines.iter().take(ROWS_MAX).cloned().collect();
    match lines.len() {
        0 => first.push("nothing: every expected figure was measured".to_owned()),
        all if all > ROWS_MAX => first.push(format!("and {} more in the appendix", all - ROWS_MAX)),
        _ => {}
    }
    first
}
