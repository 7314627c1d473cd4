//! Draws the legend below the plot.

use std::fmt::Write as _;

use crate::chart::model::SeriesKind;
use crate::chart::palette::{colour, dash, marker};
use crate::markup::escape;

use super::layout::{ChartLayout, LegendEntry, LegendSymbol, SAMPLE};
use super::{LABEL_SIZE, num, text};

pub(super) fn draw(out: &mut String, layout: &ChartLayout) {
    out.push_str("<g class=\"legend\">");
    for entry in &layout.legend {
        let series = entry.series.map_or_else(String::new, |i| format!(" data-i=\"{i}\""));
        let _ = write!(out, "<g class=\"key\"{series}>");
        // The whole entry is the click target, not only its thin line.
        let _ = write!(
            out,
            "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"17\" fill-opacity=\"0\"/>",
            num(entry.x - 2.0),
            num(entry.y - 13.0),
            num(entry.width)
        );
        sample(out, entry);
        let x = if entry.sample == LegendSymbol::None { entry.x } else { entry.x + SAMPLE };
        text(out, x, entry.y, LABEL_SIZE, "start", "t", &escape(&entry.name));
        out.push_str("</g>");
    }
    out.push_str("</g>");
}

fn sample(out: &mut String, entry: &LegendEntry) {
    let (x, y) = (entry.x, entry.y - 4.0);
    let across = format!("M{} {}h22", num(x), num(y));
    match entry.sample {
        LegendSymbol::None => {}
        LegendSymbol::Ring(dash) => {
            let (x, y) = (num(x + 11.0), num(y));
            let _ = write!(out, "<circle class=\"ring\" cx=\"{x}\" cy=\"{y}\" r=\"6\"{dash}/>");
        }
        LegendSymbol::Across => {
            let _ = write!(out, "<path class=\"mk\" d=\"{across}\"/>");
        }
        LegendSymbol::Series(style, kind) => {
            let tint = colour(style);
            match kind {
                SeriesKind::Fit => {
                    let _ = write!(out, "<path class=\"fit l{tint}\" d=\"{across}\"/>");
                }
                SeriesKind::Area | SeriesKind::Column | SeriesKind::Bar | SeriesKind::Tile => {
                    let _ = write!(
                        out,
                        "<rect class=\"ar f{tint}\" x=\"{}\" y=\"{}\" width=\"14\" height=\"11\"/>",
                        num(x + 4.0),
                        num(y - 6.0)
                    );
                }
                SeriesKind::Dots => {
                    let _ = write!(
                        out,
                        "<path class=\"m f{tint}\" transform=\"translate({} {})\" d=\"{}\"/>",
                        num(x + 11.0),
                        num(y),
                        marker(style)
                    );
                }
                SeriesKind::Line => {
                    let dashes =
                        dash(style).map_or_else(String::new, |d| format!(" stroke-dasharray=\"{d}\""));
                    let _ = write!(
                        out,
                        "<path class=\"ln l{tint}\"{dashes} d=\"{across}\"/>\
                         <path class=\"m f{tint}\" transform=\"translate({} {})\" d=\"{}\"/>",
                        num(x + 11.0),
                        num(y),
                        marker(style)
                    );
                }
            }
        }
    }
}
