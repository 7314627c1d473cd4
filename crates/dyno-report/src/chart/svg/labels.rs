//! Draws short labels next to points where there is free room.

use std::fmt::Write as _;

use crate::chart::measure::text_width;
use crate::chart::model::{Chart, SeriesKind};
use crate::markup::escape;

use super::layout::ChartLayout;
use super::series::marked_points;
use super::text;

const SIZE: f64 = 11.5;

/// Half the width of a marker.
const MARKER: f64 = 5.5;

type LabelBox = [f64; 4];

fn are_disjoint(a: &LabelBox, b: &LabelBox) -> bool {
    a[2] <= b[0] || b[2] <= a[0] || a[3] <= b[1] || b[3] <= a[1]
}

/// The segment from `a` to `b` as small boxes, so that labels avoid lines.
fn segment_boxes(a: (f64, f64), b: (f64, f64)) -> impl Iterator<Item = LabelBox> {
    let steps = ((b.0 - a.0).hypot(b.1 - a.1) / 5.0).ceil().max(1.0) as usize;
    (0..=steps).map(move |i| {
        let share = i as f64 / steps as f64;
        let (x, y) = (a.0 + (b.0 - a.0) * share, a.1 + (b.1 - a.1) * share);
        [x - 1.0, y - 1.0, x + 1.0, y + 1.0]
    })
}

pub(super) fn draw(out: &mut String, chart: &Chart, layout: &ChartLayout) {
    let shown = || chart.series.iter().filter(|series| series.kind == SeriesKind::Line);
    if shown().all(|series| series.points.iter().all(|point| point.label.is_empty())) {
        return;
    }
    let mut occupied: Vec<LabelBox> = Vec::new();
    for series in shown() {
        let places: Vec<(f64, f64)> = series.points.iter().filter_map(|p| layout.place(p.x, p.y)).collect();
        let markers = marked_points(series).filter_map(|p| layout.place(p.x, p.y));
        occupied.extend(markers.map(|(x, y)| [x - MARKER, y - MARKER, x + MARKER, y + MARKER]));
        occupied.extend(places.windows(2).flat_map(|pair| segment_boxes(pair[0], pair[1])));
    }
    out.push_str("<g class=\"labels\">");
    for (index, series) in
        chart.series.iter().enumerate().filter(|(_, series)| series.kind == SeriesKind::Line)
    {
        let _ = write!(out, "<g data-i=\"{index}\">");
        for point in marked_points(series).filter(|point| !point.label.is_empty()) {
            let Some((x, y)) = layout.place(point.x, point.y) else { continue };
            let width = text_width(&point.label, SIZE);
            let corners = [
                (x - width / 2.0, y - 7.0),
                (x + 7.0, y - 4.0),
                (x - 7.0 - width, y - 4.0),
                (x + 7.0, y + 13.0),
                (x - 7.0 - width, y + 13.0),
                (x - width / 2.0, y + 17.0),
            ];
            let free = corners.into_iter().find_map(|(left, base)| {
                let room = [left, base - SIZE + 2.0, left + width, base + 2.0];
                let inside = room[0] >= layout.left
                    && room[2] <= layout.right + 14.0
                    && room[1] >= layout.top - 8.0
                    && room[3] <= layout.bottom;
                (inside && occupied.iter().all(|other| are_disjoint(&room, other)))
                    .then_some((left, base, room))
            });
            if let Some((left, base, room)) = free {
                occupied.push(room);
                text(out, left, base, SIZE, "start", "d", &escape(&point.label));
            }
        }
        out.push_str("</g>");
    }
    out.push_str("</g>");
}
