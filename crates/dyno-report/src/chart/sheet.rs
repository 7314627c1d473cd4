//! Several charts in one picture, two per row.

use super::model::Chart;
use super::svg::{SvgPlacement, WIDTH, draw, num, style_of};

const GAP: f64 = 16.0;

/// The charts as one standalone SVG in rows of two; a single chart fills its row.
pub fn sheet(charts: &[Chart], look: SvgPlacement) -> String {
    let across = if charts.len() > 1 { 2.0 } else { 1.0 };
    let mut body = String::new();
    let mut top = GAP;
    for row in charts.chunks(across as usize) {
        let drawn: Vec<_> = row.iter().map(|chart| draw(chart, false).with_sentence(chart)).collect();
        for (column, drawn) in drawn.iter().enumerate() {
            let left = GAP + column as f64 * (WIDTH + GAP);
            body.push_str(&format!(
                "<g transform=\"translate({} {})\">{}</g>",
                num(left),
                num(top),
                drawn.body
            ));
        }
        top += drawn.iter().map(|drawn| drawn.height).fold(0.0, f64::max) + GAP;
    }
    let width = GAP + across * (WIDTH + GAP);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\">{2}\
         <rect class=\"bg\" width=\"100%\" height=\"100%\"/>{body}</svg>",
        num(width),
        num(top),
        style_of(look)
    )
}
