//! A chart as static SVG without scripts and external resources, and with real text.
//!
//! The picture is 480 units wide, so that its text stays readable on a phone at 366 pixels and is not
//! oversized on a page at 540. All names are outside the plot, in the legend below it.

mod axes;
mod labels;
mod layout;
mod legend;
mod series;

use std::fmt::Write as _;

use super::model::Chart;
use super::palette::{self, Theme};
use crate::markup::escape;
use layout::ChartLayout;

/// Width of every chart, in its own units.
pub const WIDTH: f64 = 480.0;

const TITLE_SIZE: f64 = 15.0;
const LABEL_SIZE: f64 = 12.5;

/// Where the picture is shown.
#[derive(Debug, Clone, Copy)]
pub enum SvgPlacement {
    /// On a page that has the rules and variables of [`palette`].
    Page,
    /// A separate file that follows the reader's light or dark preference.
    Alone,
    /// A separate file in these colors.
    Fixed(&'static Theme),
}

/// The chart as one `<svg>` element.
pub fn svg(chart: &Chart, look: SvgPlacement) -> String {
    let drawn = draw(chart, matches!(look, SvgPlacement::Page));
    match look {
        SvgPlacement::Page => drawn.element(chart, "", true),
        SvgPlacement::Alone | SvgPlacement::Fixed(_) => {
            let style = style_of(look);
            drawn.with_sentence(chart).element(
                chart,
                &format!("{style}<rect class=\"bg\" width=\"100%\" height=\"100%\"/>"),
                false,
            )
        }
    }
}

/// CSS rules of a standalone picture.
pub(super) fn style_of(look: SvgPlacement) -> String {
    const FONT: &str = "text{font-family:system-ui,'DejaVu Sans','Liberation Sans',Arial,sans-serif}";
    match look {
        SvgPlacement::Page => String::new(),
        SvgPlacement::Fixed(theme) => format!("<style>{FONT}{}</style>", palette::fixed_rules(theme)),
        SvgPlacement::Alone => format!(
            "<style>{FONT}{}@media (prefers-color-scheme:dark){{{}}}</style>",
            palette::fixed_rules(&palette::LIGHT),
            palette::fixed_rules(&palette::DARK)
        ),
    }
}

/// Content of the element, and its height.
pub(super) struct SvgDrawing {
    pub(super) body: String,
    pub(super) height: f64,
    axes_data: String,
}

/// Line height of the sentence below a standalone chart.
const SENTENCE_ROW: f64 = 15.0;
/// Text size of that sentence, and characters per line.
const SENTENCE_SIZE: f64 = 11.5;
const SENTENCE_COLUMNS: usize = 78;
const SENTENCE_ROWS_MAX: usize = 8;

impl SvgDrawing {
    /// Adds the sentence that says how to read the chart: a slide has no page around it.
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
            escape(&if interactive { chart.caption() } else { chart.about.clone() }),
            self.body
        )
    }
}

/// Draws the chart; only a page has anchors that points can link to.
pub(super) fn draw(chart: &Chart, links: bool) -> SvgDrawing {
    let layout = ChartLayout::of(chart);
    let mut body = String::new();
    let title = super::measure::truncate_to_width(&chart.title, TITLE_SIZE, WIDTH - 8.0);
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
    let edge = series::RING + 2.0;
    let _ = write!(
        body,
        "<clipPath id=\"{clip}\"><rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/></clipPath>",
        num(layout.left - edge),
        num(layout.top - edge),
        num(layout.right - layout.left + 2.0 * edge),
        num(layout.bottom - layout.top + 2.0 * edge)
    );
    let _ = write!(body, "<g class=\"plot\" clip-path=\"url(#{clip})\">");
    series::draw(&mut body, chart, &layout, links);
    body.push_str("</g>");
    labels::draw(&mut body, chart, &layout);
    legend::draw(&mut body, &layout);
    SvgDrawing { body, height: layout.height, axes_data: layout.data_attributes() }
}

/// A coordinate with one decimal, or none if it is whole.
pub(crate) fn num(value: f64) -> String {
    let text = format!("{value:.1}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

/// A line of text; `content` must already be markup.
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
