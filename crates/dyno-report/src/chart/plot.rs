//! A plot of ratios: a line for each subject, a mark for each platform, and the range of repeats.
//!
//! Its axis is logarithmic, so that twice and half are equally far from one.

use std::fmt::Write as _;

use crate::chart::measure::truncate_to_width;
use crate::chart::palette::{COLOURS, marker};
use crate::markup::escape;
use crate::text::clean;

#[derive(Debug, Clone, PartialEq)]
pub struct PlotRatio {
    /// Ratio to the first platform.
    pub times: f64,
    /// The minimum and maximum that repeats allow.
    pub range: Option<(f64, f64)>,
    pub hover: String,
}

/// One line of a plot.
#[derive(Debug, Clone, PartialEq)]
pub struct PlotLine {
    pub label: String,
    /// Its group; a change of group shows a title.
    pub group: String,
    /// A mark for each series, absent if unknown.
    pub marks: Vec<Option<PlotRatio>>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Plot {
    pub title: String,
    /// What the plot shows, in a sentence.
    pub about: String,
    /// Label of its axis: `times as good as old`.
    pub axis: String,
    pub series: Vec<String>,
    pub rows: Vec<PlotLine>,
}

const WIDTH: f64 = 640.0;
const LEFT: f64 = 190.0;
const RIGHT: f64 = 620.0;
const TOP: f64 = 52.0;
const ROW: f64 = 19.0;
/// The axis extends at least to this ratio on both sides of one.
const LEAST_SPAN: f64 = 1.25;
/// Maximum ratio of the axis: a mark beyond it is drawn at the edge with its value.
const MOST_SPAN: f64 = 100.0;

/// Ratios at which the axis may have a tick.
const TICKS: [f64; 13] = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0];
/// Additional ticks if the ends of the axis are less than [`NEAR`] times apart.
const NEAR_TICKS: [f64; 6] = [0.67, 0.8, 0.9, 1.1, 1.25, 1.5];
const NEAR: f64 = 8.0;

impl Plot {
    /// Whether there is nothing to show.
    pub fn is_empty(&self) -> bool {
        self.rows.iter().all(|row| row.marks.iter().all(Option::is_none))
    }

    /// The plot as one `<svg>` element of a page.
    pub fn svg(&self) -> String {
        let (low, high) = self.extent();
        let x = |times: f64| {
            let share = (times.clamp(low, high) / low).ln() / (high / low).ln();
            LEFT + share * (RIGHT - LEFT)
        };
        let mut body = String::new();
        let (height, bottom) = self.rows(&mut body, &x);
        let mut axis = String::new();
        let mut last = f64::NEG_INFINITY;
        let mut ticks: Vec<f64> = TICKS.to_vec();
        ticks.extend(NEAR_TICKS.into_iter().filter(|_| high / low < NEAR));
        ticks.retain(|tick| (low..=high).contains(tick));
        ticks.sort_by(f64::total_cmp);
        for tick in ticks {
            let at = x(tick);
            let class = if tick == 1.0 { "ax" } else { "g" };
            let _ = write!(axis, "<path class=\"{class}\" d=\"M{at:.1} {TOP}V{bottom:.1}\"/>");
            if at - last >= 34.0 {
                text(&mut axis, at, TOP - 5.0, 11.0, "middle", "d", &format!("{tick} ×"));
                last = at;
            }
        }
        let title = truncate_to_width(&clean(&self.title), 15.0, WIDTH - 8.0);
        let title = format!("<tspan font-weight=\"600\">{}</tspan>", escape(&title));
        let mut head = String::new();
        text(&mut head, 4.0, 18.0, 15.0, "start", "t", &title);
        text(&mut head, RIGHT, 33.0, 11.0, "end", "d", &escape(&clean(&self.axis)));
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" aria-label=\"{}\" viewBox=\"0 0 {WIDTH} {height:.0}\">\
             <desc>{}</desc>{head}{axis}{body}</svg>",
            escape(&clean(&self.title)),
            escape(&clean(&self.about))
        )
    }

    /// The minimum and maximum ratio of the axis, which includes one.
    fn extent(&self) -> (f64, f64) {
        let marks = self.rows.iter().flat_map(|row| row.marks.iter().flatten());
        let ends =
            marks.flat_map(|mark| [Some(mark.times), mark.range.map(|r| r.0), mark.range.map(|r| r.1)]);
        let ends = ends.flatten().filter(|times| times.is_finite() && *times > 0.0);
        let (low, high) =
            ends.fold((1.0 / LEAST_SPAN, LEAST_SPAN), |(low, high), t| (t.min(low), t.max(high)));
        ((low * 0.95).max(1.0 / MOST_SPAN), (high * 1.05).min(MOST_SPAN))
    }

    /// The lines with their marks, and the names of the series; returns the height and the end of the axis.
    fn rows(&self, out: &mut String, x: &impl Fn(f64) -> f64) -> (f64, f64) {
        let mut y = TOP + 4.0;
        let mut group = "";
        for row in &self.rows {
            if row.group != group {
                group = &row.group;
                y += ROW;
                let name = format!("<tspan font-weight=\"600\">{}</tspan>", escape(&clean(group)));
                text(out, 4.0, y - 3.0, 12.0, "start", "t", &name);
            }
            y += ROW;
            let label = truncate_to_width(&clean(&row.label), 12.0, LEFT - 16.0);
            text(out, 12.0, y - 3.0, 12.0, "start", "t", &escape(&label));
            for (style, mark) in row.marks.iter().enumerate() {
                let drawn = mark.as_ref().filter(|mark| mark.times.is_finite() && mark.times > 0.0);
                if let Some(mark) = drawn {
                    draw(out, mark, style, x, y - 7.0);
                }
            }
        }
        let bottom = y + 4.0;
        y += 10.0;
        let mut at = 4.0;
        for (style, name) in self.series.iter().enumerate() {
            let name = truncate_to_width(&clean(name), 12.0, 260.0);
            let wide = 30.0 + crate::chart::measure::text_width(&name, 12.0);
            if at == 4.0 || at + wide > WIDTH {
                (at, y) = (4.0, y + 18.0);
            }
            let colour = style % COLOURS;
            let _ = write!(
                out,
                "<path class=\"m f{colour}\" transform=\"translate({:.1} {:.1})\" d=\"{}\"/>",
                at + 6.0,
                y - 4.0,
                marker(style)
            );
            text(out, at + 16.0, y, 12.0, "start", "t", &escape(&name));
            at += wide;
        }
        (y + 10.0, bottom)
    }
}

fn draw(out: &mut String, mark: &PlotRatio, style: usize, x: &impl Fn(f64) -> f64, y: f64) {
    let colour = style % COLOURS;
    if let Some((low, high)) = mark.range {
        let (from, to) = (x(low), x(high));
        let _ = write!(
            out,
            "<path class=\"w l{colour}\" d=\"M{from:.1} {y:.1}H{to:.1}M{from:.1} {:.1}v6M{to:.1} {:.1}v6\"/>",
            y - 3.0,
            y - 3.0
        );
    }
    let _ = write!(
        out,
        "<path class=\"m f{colour}\" transform=\"translate({:.1} {y:.1})\" d=\"{}\"><title>{}</title></path>",
        x(mark.times),
        marker(style),
        escape(&clean(&mark.hover))
    );
}

fn text(out: &mut String, x: f64, y: f64, size: f64, anchor: &str, class: &str, content: &str) {
    let _ = write!(
        out,
        "<text x=\"{x:.1}\" y=\"{y:.1}\" font-size=\"{size}\" text-anchor=\"{anchor}\" class=\"{class}\">{content}</text>"
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plot(times: f64) -> Plot {
        let mark = PlotRatio { times, range: Some((times * 0.9, times * 1.1)), hover: "<b>".to_owned() };
        let row = PlotLine { label: "<i>".to_owned(), group: "g".to_owned(), marks: vec![Some(mark), None] };
        let series = vec!["a & b".to_owned(), "c".to_owned()];
        Plot { title: "t".into(), about: "a".into(), axis: "times".into(), series, rows: vec![row] }
    }

    #[test]
    fn plot_text_is_escaped() {
        let svg = plot(2.0).svg();
        assert!(svg.contains("&lt;b&gt;"), "{svg}");
        assert!(svg.contains("&lt;i&gt;"), "{svg}");
        assert!(svg.contains("a &amp; b"), "{svg}");
        assert!(!svg.contains("<b>"));
        assert!(!svg.contains("<i>"));
    }

    #[test]
    fn ratio_plot_extent_covers_range_and_has_no_nan() {
        let plot = plot(2.0);
        let (low, high) = plot.extent();
        assert!(low < 1.0);
        assert!(high > 2.2);
        for times in [0.0001, 0.5, 1.0, 1e9, f64::NAN, f64::INFINITY] {
            assert!(!self::plot(times).svg().contains("NaN"), "{times}");
        }
    }
}
