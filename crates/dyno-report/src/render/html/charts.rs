//! Charts on a page, each with its sentence.

use maud::{Markup, PreEscaped, html};

use crate::chart::svg::{SvgPlacement, svg};
use crate::chart::{Chart, table};
use crate::text::clean;

use super::grid;

/// Renders each chart with its sentence.
pub(super) fn charts<'c>(charts: impl IntoIterator<Item = &'c Chart>) -> Markup {
    html! {
        div class="charts" {
            @for chart in charts {
                figure id={"chart-" (crate::markup::slug(&chart.id))} {
                    (PreEscaped(svg(chart, SvgPlacement::Page)))
                    figcaption { (clean(&chart.caption())) }
                    @let (figures, is_cut) = table::grid(chart);
                    details class="figures" {
                        summary { "as a table" }
                        @if is_cut { p class="dim" { "Some of the rows; " code { "dyno export" } " has every interval." } }
                        (grid::table(&figures, &clean(&chart.title)))
                    }
                }
            }
        }
    }
}
