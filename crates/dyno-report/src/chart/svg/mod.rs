//! A chart as static SVG: nothing runs, nothing is fetched, and the text in it is real text.
//!
//! The picture is 480 units wide, so that its text stays readable when a telephone shows it at 366 pixels and is not
//! oversized when a page shows it at 540. Everything named is named outside the plot, in the legend beneath it.

mod axes;
mod labels;
mod layout;
mod legend;
mod series;

use std::fmt::Write as _;

use super::model::Chart;
use super::palette::{self, Theme};
use crate::markup::escape;
use layout::Layout;

/// Width of every chart, in its own units.
pub const WIDTH: f64 = 480.0;

/// Sizes of text.
const TITLE_SIZE: f64 = 15.0;
const LABEL_SIZE: f64 = 12.5;

/// Where a picture is seen.
#[derive(Debug, Clone, Copy)]
pub enum Look {
    /// Within a page that has the rules and variables of [`palette`].
    Page,
    /// As a file of its own, in the reader's preferred light or dark.
    Alone,
    /// As a file of its own, in these colours.
    Fixed(&'static Theme),
}

/// The chart as one `<svg>` element.
pub fn svg(chart: &Chart, look: Look) -> String {
    let drawn = draw(chart, matches!(look, Look::Page));
    match look {
        Look::Page => drawn.element(chart, "", true),
        Look::Alone | Look::Fixed(_) => {
            let style = style_of(look);
            drawn.with_sentence(chart).element(
                chart,
                &format!("{style}<rect class=\"bg\" width=\"100%\" height=\"100%\"/>"),
                false,
            )
        }
    }
}

/// The rules for a picture that stands alone.
pub(super) fn style_of(look: Look) -> String {
    const FONT: &str = "text{font-family:system-ui,'DejaVu Sans','Liberation Sans',Arial,sans-serif}";
    match look {
        Look::Page => String::new(),
        Look::Fixed(theme) => format!("<style>{FONT}{}</style>", palette::fixed_rules(theme)),
        Look::Alone => format!(
            "<style>{FONT}{}@media (prefers-color-scheme:dark){{{}}}</style>",
            palette::fixed_rules(&palette::LIGHT),
            palette::fixed_rules(&palette::DARK)
        ),
    }
}

/// What is inside the element, and how high it is.
pub(super) struct Drawn {
    pub(super) body: String,
    pub(super) height: f64,
    axes_data: String,
}

/// Height of a line of the sentence beneath a chart that stands alone.
const SENTENCE_ROW: f64 = 15.0;
/// Size of its text, and characters that a line of it holds.
const SENTENCE_SIZE: f64 = 11.5;
const SENTENCE_COLUMNS: usize = 78;
const SENTENCE_ROWS_MAX: usize = 8;

impl Drawn {
    /// The same with the sentence that says how it is to be read: on a slide there is no page around it.
    pub(super) fn with_sentence(mut self, chart: &Chart) -> Self {
        let about = crate::text::clean(&chart.about);
        let lines = crate::text::wrap(&about, SENTENCE_COLUMNS, SENTENCE_ROWS_MAX);
        for line in lines.iter().filter(|line| !line.is_empty()) {
            self.height += SENTENCE_ROW;
            text(&mut self.body, 4.0, self.height - 4.0, SENTENCE_SIZE, "start", "d", &escape(line));
        }
        self.height += 2.0;
        self
    }

    fn element(&self, chart: &Chart, before: &str, interactive: bool) -> String {
        let data = if interactive { self.axes_data.as_str() } else { "" };
        let name = if chart.title.is_empty() { &chart.id } else { &chart.title };
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"chart\" role=\"img\" aria-label=\"{}\" \
             viewBox=\"0 0 {} {}\"{data}>{before}<desc>{}</desc>{}</svg>",
            escape(name),
            num(WIDTH),
            num(self.height),
            escape(&chart.about),
            self.body
        )
    }
}

/// Draws the chart; only a page has places that points can link to.
pub(super) fn draw(chart: &Chart, links: bool) -> Drawn {
    let layout = Layout::of(chart);
    let mut body = String::new();
    let title = super::measure::fitted(&chart.title, TITLE_SIZE, WIDTH - 8.0);
    text(
        &mut body,
        4.0,
        18.0,
        TITLE_SIZE,
        "start",
        "t",
        &format!("<tspan font-weight=\"600\">{}</tspan>", escape(&title)),
    );
    axes::draw(&mut body, chart, &layout);
    let clip = format!("clip-{}", crate::markup::slug(&chart.id));
    let _ = write!(
        body,
        "<clipPath id=\"{clip}\"><rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/></clipPath>",
        num(layout.left - 6.0),
        num(layout.top - 6.0),
        num(layout.right - layout.left + 12.0),
        num(layout.bottom - layout.top + 12.0)
    );
    let _ = write!(body, "<g class=\"plot\" clip-path=\"url(#{clip})\">");
    series::draw(&mut body, chart, &layout, links);
    body.push_str("</g>");
    labels::draw(&mut body, chart, &layout);
    legend::draw(&mut body, &layout);
    Drawn { body, height: layout.height, axes_data: layout.data_attributes() }
}

/// A coordinate: one decimal, and none where it is none.
pub(crate) fn num(value: f64) -> String {
    let text = format!("{value:.1}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

/// A line of text; `content` is markup already.
fn text(out: &mut String, x: f64, y: f64, size: f64, anchor: &str, class: &str, content: &str) {
    let _ = write!(
        out,
        "<text x=\"{}\" y=\"{}\" font-size=\"{}\" text-anchor=\"{anchor}\" class=\"{class}\">{content}</text>",
        num(x),
        num(y),
        num(size)
    );
}

#[cfg(test)]
mod tests;
