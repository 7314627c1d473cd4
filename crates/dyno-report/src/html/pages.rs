//! A page of charts and tables that are not about runs: as self-contained and as harmless as a report.

use maud::{DOCTYPE, PreEscaped, html};

use crate::chart::Chart;
use crate::grid::Grid;
use crate::plot::Plot;
use crate::text::clean;

use super::{Frame, SCRIPT, charts, grid, policy, style};

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
    let style = style();
    let markup = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                @if frame.is_none() { meta http-equiv="Content-Security-Policy" content=(policy(&style)); }
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="generator" content="Dyno";
                title { (clean(title)) }
                @if let Some(frame) = frame { (PreEscaped(&frame.head)) } @else { style { (PreEscaped(&style)) } }
            }
            body {
                @if let Some(frame) = frame { (PreEscaped(&frame.top)) }
                header {
                    p class="brand" { "Dyno" }
                    h1 { (clean(title)) }
                    p class="dim" { (clean(about)) }
                    button id="theme" type="button" hidden { "light / dark" }
                }
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
                @if frame.is_none() { script { (PreEscaped(SCRIPT)) } }
            }
        }
    };
    markup.into_string()
}
