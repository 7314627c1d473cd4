//! Draws the grid, ticks and labels of both axes.

use std::fmt::Write as _;

use crate::chart::measure::truncate_to_width;
use crate::chart::model::{Category, Chart, ScaleKind};
use crate::markup::escape;

use super::layout::ChartLayout;
use super::{LABEL_SIZE, WIDTH, num, text};

pub(super) fn draw(out: &mut String, chart: &Chart, layout: &ChartLayout) {
    let (left, right, top, bottom) = (layout.left, layout.right, layout.top, layout.bottom);
    let mut grid = String::new();
    out.push_str("<g class=\"axis-y\">");
    for tick in &layout.y_labels {
        let Some(y) = layout.py(tick.value) else { continue };
        let _ = write!(grid, "M{} {}H{}", num(left), num(y), num(right));
        text(
            out,
            left - 6.0,
            y + 4.0,
            LABEL_SIZE,
            "end",
            "d",
            &escape(&truncate_to_width(&tick.text, LABEL_SIZE, left)),
        );
    }
    out.push_str("</g><g class=\"axis-x\">");
    let ordinal = matches!(chart.x.scale, ScaleKind::Ordinal(_));
    for tick in &layout.x_labels {
        let Some(x) = layout.px(tick.value) else { continue };
        if !ordinal {
            let _ = write!(grid, "M{} {}V{}", num(x), num(top), num(bottom));
        }
        text(
            out,
            x,
            bottom + 17.0,
            LABEL_SIZE,
            "middle",
            "d",
            &escape(&truncate_to_width(&tick.text, LABEL_SIZE, 120.0)),
        );
    }
    out.push_str("</g>");
    // The grid is behind the data, so it is written first.
    let _ = write!(out, "<path class=\"g\" d=\"{grid}\"/>");
    let _ =
        write!(out, "<path class=\"ax\" d=\"M{} {}V{}H{}\"/>", num(left), num(top), num(bottom), num(right));
    if let ScaleKind::Ordinal(categories) = &chart.x.scale {
        groups(out, categories, layout);
    }
    let y_label = axis_title(&chart.y.label, layout.y.unit.name, layout.y.log);
    text(
        out,
        4.0,
        40.0,
        LABEL_SIZE,
        "start",
        "d",
        &escape(&truncate_to_width(&y_label, LABEL_SIZE, WIDTH - 8.0)),
    );
    let x_label = axis_title(&chart.x.label, layout.x.unit.name, false);
    let middle = f64::midpoint(left, right);
    text(
        out,
        middle,
        layout.x_label_y,
        LABEL_SIZE,
        "middle",
        "d",
        &escape(&truncate_to_width(&x_label, LABEL_SIZE, right - left)),
    );
}

/// Axis label with its unit.
fn axis_title(label: &str, unit: &str, log: bool) -> String {
    let unit = if unit.is_empty() || unit == label { String::new() } else { format!(", {unit}") };
    let log = if log { " (logarithmic)" } else { "" };
    format!("{label}{unit}{log}")
}

/// Group names below the labels of neighboring categories, with a line between two groups.
fn groups(out: &mut String, categories: &[Category], layout: &ChartLayout) {
    let step = (layout.right - layout.left) / categories.len().max(1) as f64;
    let mut begin = 0;
    while begin < categories.len() {
        let group = &categories[begin].group;
        let count = categories[begin..].iter().take_while(|c| c.group == *group).count();
        let (from, to) = (layout.left + begin as f64 * step, layout.left + (begin + count) as f64 * step);
        if begin > 0 {
            let _ = write!(
                out,
                "<path class=\"ax\" d=\"M{} {}V{}\"/>",
                num(from),
                num(layout.bottom),
                num(layout.bottom + 34.0)
            );
        }
        if !group.is_empty() && to - from > 20.0 {
            let name = truncate_to_width(group, LABEL_SIZE, to - from - 4.0);
            text(
                out,
                f64::midpoint(from, to),
                layout.bottom + 33.0,
                LABEL_SIZE,
                "middle",
                "d",
                &escape(&name),
            );
        }
        begin += count;
    }
}
