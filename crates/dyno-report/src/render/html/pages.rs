//! Pages of charts and tables that are not about runs, as self-contained and safe as a report.

use maud::{PreEscaped, html};

use crate::model::document::{PageSection, ReportDocument, Sheets};
use crate::text::clean;

use super::prose::prose;
use super::sheets;
use super::{PageFrame, charts, grid, page_frame};

/// The document as one page, inside the `frame` of a server if it has one.
pub fn document_page(frame: Option<&PageFrame>, document: &ReportDocument) -> String {
    pages_in(frame, &document.title, &document.about, &document.sections)
}

pub fn pages(title: &str, about: &str, sections: &[PageSection]) -> String {
    pages_in(None, title, about, sections)
}

/// The page for a server, inside its `frame`.
pub fn pages_in(frame: Option<&PageFrame>, title: &str, about: &str, sections: &[PageSection]) -> String {
    render_page(frame, title, about, None, sections)
}

/// Like [`pages`], preceded by two printed sheets.
pub fn pages_with_sheets(title: &str, about: &str, first: &Sheets, sections: &[PageSection]) -> String {
    render_page(None, title, about, Some(first), sections)
}

fn render_page(
    frame: Option<&PageFrame>,
    title: &str,
    about: &str,
    first: Option<&Sheets>,
    sections: &[PageSection],
) -> String {
    let body = html! {
        @if let Some(first) = first { (sheets::sheets(first)) }
        (page_frame::header("Dyno", title, &html! { (clean(about)) }))
        main {
            @for section in sections {
                section {
                    h2 { (clean(&section.title)) }
                    @for line in &section.lines { p { (prose(line)) } }
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
    page_frame::page(frame, title, &body).into_string()
}
