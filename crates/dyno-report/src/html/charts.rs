//! Charts on a page.

use maud::{Markup, PreEscaped, html};

use crate::chart::Chart;
use crate::chart::svg::{Look, svg};
use crate::text::clean;

/// Each chart with its sentence.
pub(super) fn charts(charts: &[Chart]) -> Markup {
    html! {
        div class="charts" {
            @for chart in charts {
                figure id={"chart-" (crate::markup::slug(&chart.id))} {
                    (PreEscaped(svg(chart, Look::Page)))
                    figcaption { (clean(&chart.about)) }
                }
            }
        }
    }
}
