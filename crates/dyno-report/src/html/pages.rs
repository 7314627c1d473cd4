//! A page of charts and tables that are not about runs: as self-contained and as harmless as a report.

use maud::{PreEscaped, html};

use crate::chart::Chart;
use crate::grid::Grid;
use crate::plot::Plot;
use crate::text::clean;

use super::sheets::{self, Sheets};
use super::{Frame, around, charts, grid};

/// One part of a page.
#[derive(Debug, Clone, Default)]
pub struct Section {
    /// Its title.
    pub title: String,
    /// What is said before the charts.
    pub lines: Vec<String>,
    /// Its charts.
    pub charts: Vec<Chart>,
    /// Its plots of ratios.
    pub plots: Vec<Plot>,
    /// Its tables, each with a title, which may be empty.
    pub grids: Vec<(String, Grid)>,
}

/// The page.
pub fn pages(title: &str, about: &str, sections: &[Section]) -> String {
    pages_in(None, title, about, sections)
}

/// The same for a server, whose `frame` is around it.
pub fn pages_in(frame: Option<&Frame>, title: &str, about: &str, sections: &[Section]) -> String {
    made(frame, title, about, None, sections)
}

/// The same as [`pages`], with two sheets before it on paper.
pub fn pages_with_sheets(title: &str, about: &str, first: &Sheets, sections: &[Section]) -> String {
    made(None, title, about, Some(first), sections)
}

fn made(
    frame: Option<&Frame>,
    title: &str,
    about: &str,
    first: Option<&Sheets>,
    sections: &[Section],
) -> String {
    let body = html! {
        @if let Some(first) = first { (sheets::sheets(first)) }
        (around::header("Dyno", title, &html! { (clean(about)) }))
        main {
            @for section in sections {
                section {
                    h2 { (clean(&section.title)) }
                    @for line in &section.lines { p { (clean(line)) } }
                    (charts::charts(&section.charts))
                    @for plot in &section.plots {
                        figure class="wide" {
                            (PreEscaped(plot.svg()))
                            figcaption { (clean(&plot.about)) }
                        }
                    }
                    @for (title, grid) in &section.grids {
                        @if !title.is_empty() { h3 { (clean(title)) } }
                        (grid::table(grid, &clean(if title.is_empty() { &section.title } else { title })))
                    }
                }
            }
        }
        div id="tip" role="status" hidden {}
    };
    around::page(frame, title, &body).into_string()
}
