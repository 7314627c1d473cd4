//! Draws the series of a chart.

use std::fmt::Write as _;

use crate::chart::model::{
    Chart, ChartAxis, ChartPoint, ChartSeries, MARKERS_MAX, MarkAt, SeriesKind, Stacked,
};
use crate::chart::palette::{colour, dash, marker};
use crate::markup::escape;

use super::layout::{ChartLayout, KNEE_DASH};
use super::num;

/// Radius of the ring around a marked point, and of the one around a knee.
const POINT_RING: f64 = 9.0;
pub(super) const RING: f64 = 12.0;

/// The points that get a marker: all, or in a long series the last one and those at powers of two, if they
/// have a label.
pub(super) fn marked_points(series: &ChartSeries) -> impl Iterator<Item = &ChartPoint> {
    let len = series.points.len();
    series.points.iter().enumerate().filter_map(move |(i, point)| {
        let stands_out = !point.label.is_empty() && ((i + 1).is_power_of_two() || i + 1 == len);
        (len <= MARKERS_MAX || stands_out).then_some(point)
    })
}

pub(super) fn draw(out: &mut String, chart: &Chart, layout: &ChartLayout, links: bool) {
    for kind in [SeriesKind::Area, SeriesKind::Column] {
        for (index, parts) in chart.stacked(kind) {
            group(out, chart, index, |out, series| match kind {
                SeriesKind::Area => area(out, series, &parts, layout),
                _ => columns(out, series, &parts, layout, links),
            });
        }
    }
    for (index, series) in chart.series.iter().enumerate() {
        match series.kind {
            SeriesKind::Area | SeriesKind::Column => {}
            SeriesKind::Tile => group(out, chart, index, |out, series| tiles(out, series, layout)),
            SeriesKind::Bar => group(out, chart, index, |out, series| bars(out, series, layout)),
            SeriesKind::Fit => group(out, chart, index, |out, series| fit(out, series, layout)),
            SeriesKind::Line => {
                group(out, chart, index, |out, series| line(out, series, &chart.x, layout, links));
            }
            SeriesKind::Dots => group(out, chart, index, |out, series| dots(out, series, layout)),
        }
    }
    for mark in &chart.marks {
        match mark.at {
            MarkAt::Point(x, y) => ring(out, layout.place(x, y), POINT_RING, ""),
            MarkAt::Knee(x, y) => ring(out, layout.place(x, y), RING, KNEE_DASH),
            MarkAt::X(x) => {
                if let Some(x) = layout.px(x) {
                    let _ = write!(
                        out,
                        "<path class=\"mk\" d=\"M{} {}V{}\"/>",
                        num(x),
                        num(layout.bottom),
                        num(layout.top)
                    );
                }
            }
            MarkAt::Y(y) => {
                if let Some(y) = layout.py(y) {
                    let _ = write!(
                        out,
                        "<path class=\"mk\" d=\"M{} {}H{}\"/>",
                        num(layout.left),
                        num(y),
                        num(layout.right)
                    );
                }
            }
        }
    }
}

fn ring(out: &mut String, place: Option<(f64, f64)>, radius: f64, dash: &str) {
    if let Some((x, y)) = place {
        let (x, y) = (num(x), num(y));
        let _ = write!(out, "<circle class=\"ring\" cx=\"{x}\" cy=\"{y}\" r=\"{radius}\"{dash}/>");
    }
}

fn group(out: &mut String, chart: &Chart, index: usize, content: impl FnOnce(&mut String, &ChartSeries)) {
    let series = &chart.series[index];
    let _ = write!(out, "<g class=\"series\" data-i=\"{index}\" data-name=\"{}\">", escape(&series.name));
    content(out, series);
    out.push_str("</g>");
}

/// Positions of the drawable points, with a gap for each other point.
fn path(points: impl Iterator<Item = Option<(f64, f64)>>) -> String {
    let mut out = String::new();
    let mut joined = false;
    for place in points {
        match place {
            Some((x, y)) => {
                let _ = write!(out, "{}{} {}", if joined { 'L' } else { 'M' }, num(x), num(y));
                joined = true;
            }
            None => joined = false,
        }
    }
    out
}

fn line(out: &mut String, series: &ChartSeries, x: &ChartAxis, layout: &ChartLayout, links: bool) {
    let tint = colour(series.style);
    let place = |point: &ChartPoint| layout.place(point.x, point.y);
    let dashes = dash(series.style).map_or_else(String::new, |dash| format!(" stroke-dasharray=\"{dash}\""));
    if series.points.len() > 1 {
        let d: String = x.unbroken(&series.points).map(|part| path(part.iter().map(place))).collect();
        let width = if series.points.len() > MARKERS_MAX { " stroke-width=\"1.25\"" } else { "" };
        let class = if width.is_empty() { "ln" } else { "w" };
        let _ = write!(out, "<path class=\"{class} l{tint}\"{dashes} d=\"{d}\"/>");
    }
    whiskers(out, series, layout);
    for point in marked_points(series) {
        let Some((x, y)) = place(point) else { continue };
        linked(out, point, links, |out| {
            let _ = write!(
                out,
                "<path class=\"m f{tint}\" transform=\"translate({} {})\" d=\"{}\">{}</path>",
                num(x),
                num(y),
                marker(series.style),
                title(point)
            );
        });
    }
}

fn dots(out: &mut String, series: &ChartSeries, layout: &ChartLayout) {
    for point in &series.points {
        let Some((x, y)) = layout.place(point.x, point.y) else { continue };
        let _ = write!(
            out,
            "<path class=\"m f{}\" fill-opacity=\".75\" transform=\"translate({} {})\" d=\"{}\">{}</path>",
            colour(series.style),
            num(x),
            num(y),
            marker(series.style),
            title(point)
        );
    }
}

/// Lowest opacity at which a tile is still visible.
const TILE_OPACITY_MIN: f64 = 0.07;

fn tiles(out: &mut String, series: &ChartSeries, layout: &ChartLayout) {
    for point in &series.points {
        let (Some(from), Some(to)) = (layout.px(point.x), layout.px(point.x_end)) else { continue };
        let Some((low, high)) = point.range else { continue };
        // A tile that extends below the axis is clipped at its bottom.
        let (bottom, Some(top)) = (layout.py(low).unwrap_or(layout.bottom), layout.py(high)) else {
            continue;
        };
        let opacity = point.weight.clamp(0.0, 1.0) * (1.0 - TILE_OPACITY_MIN) + TILE_OPACITY_MIN;
        let _ = write!(
            out,
            "<rect class=\"ht f{}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill-opacity=\"{opacity:.2}\">{}</rect>",
            colour(series.style),
            num(from),
            num(top),
            // Neighboring tiles touch.
            num((to - from).max(0.5) + 0.2),
            num((bottom - top).max(0.5) + 0.2),
            title(point)
        );
    }
}

/// A line from the minimum to the maximum of repeats. Caps are drawn relative to their middle, so that a zoom
/// moves but does not distort them.
fn whiskers(out: &mut String, series: &ChartSeries, layout: &ChartLayout) {
    let mut d = String::new();
    for point in &series.points {
        let Some((low, high)) = point.range.filter(|(low, high)| low < high) else { continue };
        let (Some((x, from)), Some(to)) = (layout.place(point.x, low), layout.py(high)) else { continue };
        let _ = write!(d, "M{0} {1}V{2}M{0} {1}m-3 0h6M{0} {2}m-3 0h6", num(x), num(from), num(to));
    }
    if !d.is_empty() {
        let _ = write!(out, "<path class=\"w l{}\" d=\"{d}\"/>", colour(series.style));
    }
}

fn fit(out: &mut String, series: &ChartSeries, layout: &ChartLayout) {
    let tint = colour(series.style);
    let edge = |point: &ChartPoint, upper: bool| {
        let (low, high) = point.range?;
        layout.place(point.x, if upper { high } else { low })
    };
    let upper: Vec<_> = series.points.iter().filter_map(|p| edge(p, true)).collect();
    let lower: Vec<_> = series.points.iter().rev().filter_map(|p| edge(p, false)).collect();
    if upper.len() > 1 && upper.len() == lower.len() {
        let d = path(upper.into_iter().chain(lower).map(Some));
        let _ = write!(out, "<path class=\"rb f{tint}\" d=\"{d}z\"/>");
    }
    let d = path(series.points.iter().map(|p| layout.place(p.x, p.y)));
    let _ = write!(out, "<path class=\"fit l{tint}\" d=\"{d}\"/>");
}

fn area(out: &mut String, series: &ChartSeries, parts: &[Stacked], layout: &ChartLayout) {
    let upper = parts.iter().filter_map(|part| layout.place(part.x, part.to));
    let lower = parts.iter().rev().filter_map(|part| layout.place(part.x, part.from));
    let d = path(upper.chain(lower).map(Some));
    let _ = write!(out, "<path class=\"ar f{}\" d=\"{d}z\"/>", colour(series.style));
}

fn columns(out: &mut String, series: &ChartSeries, parts: &[Stacked], layout: &ChartLayout, links: bool) {
    let step = (layout.right - layout.left) / (layout.x.high - layout.x.low);
    let width = (step * 0.76).clamp(1.0, 64.0);
    for part in parts.iter().filter(|part| part.to > part.from) {
        let (Some((x, top)), Some(bottom)) = (layout.place(part.x, part.to), layout.py(part.from)) else {
            continue;
        };
        let point = &series.points[part.place];
        linked(out, point, links, |out| {
            rect(out, series, (x - width / 2.0, x + width / 2.0), (top, bottom), point);
        });
    }
}

fn bars(out: &mut String, series: &ChartSeries, layout: &ChartLayout) {
    for point in &series.points {
        let (Some(from), Some(to)) = (layout.px(point.x), layout.px(point.x_end)) else { continue };
        let Some(top) = layout.py(point.y) else { continue };
        rect(out, series, (from + 0.5, (to - 0.5).max(from + 1.0)), (top, layout.bottom), point);
    }
}

fn rect(out: &mut String, series: &ChartSeries, x: (f64, f64), y: (f64, f64), point: &ChartPoint) {
    let _ = write!(
        out,
        "<rect class=\"ar f{}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\">{}</rect>",
        colour(series.style),
        num(x.0),
        num(y.0),
        num(x.1 - x.0),
        num((y.1 - y.0).max(0.3)),
        title(point)
    );
}

fn title(point: &ChartPoint) -> String {
    if point.hover.is_empty() { String::new() } else { format!("<title>{}</title>", escape(&point.hover)) }
}

fn linked(out: &mut String, point: &ChartPoint, links: bool, content: impl FnOnce(&mut String)) {
    if links && !point.link.is_empty() {
        let _ = write!(out, "<a href=\"#{}\">", escape(&point.link));
        content(out);
        out.push_str("</a>");
    } else {
        content(out);
    }
}
