//! A flame graph: stacked boxes of calls, each as wide as the time in it and its callees.
//!
//! Static SVG like every chart: it is complete without scripts, and a tooltip shows the full name of a
//! truncated box.

use std::fmt::Write as _;

use dyno_analyze::number::{count, percent};
use dyno_record::{CpuKind, CpuProfile, StackNode};
use maud::{Markup, PreEscaped, html};

use crate::chart::measure::{text_width, truncate_to_width};
use crate::chart::svg::num;
use crate::content::profile::{file, kind_words};
use crate::markup::escape;

/// Width of the picture, height of a box, text sizes; in units of about one pixel.
const WIDTH: f64 = 1150.0;
const ROW: f64 = 17.0;
const TEXT: f64 = 11.0;
const LEGEND: f64 = 24.0;
/// A narrower box is not drawn; a box with less room has no name.
const NARROW: f64 = 0.6;
const NAME_MIN: f64 = 22.0;
/// Maximum depth of drawn boxes.
const ROWS_MAX: u32 = 90;

/// Color index of a kind.
fn colour(kind: CpuKind) -> usize {
    match kind {
        CpuKind::Database => 0,
        CpuKind::Kernel => 1,
        CpuKind::Dyno => 2,
        CpuKind::Perf => 3,
        CpuKind::Other => 7,
    }
}

struct Drawn<'a> {
    node: &'a StackNode,
    left: f64,
    width: f64,
}

/// The drawn boxes and their positions: each begins at its caller's left edge, the largest first.
fn boxes(profile: &CpuProfile) -> Vec<Drawn<'_>> {
    let whole = profile.weight.max(1) as f64;
    // Left edge of the next box on each level.
    let mut next = vec![0.0f64];
    let mut drawn = Vec::new();
    for node in &profile.stacks {
        let depth = node.depth as usize;
        if depth >= next.len() {
            // A stack without its caller is not drawn.
            continue;
        }
        next.truncate(depth + 1);
        let (left, width) = (next[depth], WIDTH * (node.weight as f64 / whole).min(1.0));
        next[depth] = left + width;
        next.push(left);
        if width >= NARROW && left + width <= WIDTH + 1.0 && node.depth < ROWS_MAX {
            drawn.push(Drawn { node, left, width });
        }
    }
    drawn
}

/// The graph with its legend and what it leaves out.
pub(super) fn flame(profile: &CpuProfile) -> Markup {
    let drawn = boxes(profile);
    let rows = drawn.iter().map(|one| one.node.depth + 1).max().unwrap_or(0);
    let height = LEGEND + f64::from(rows) * ROW + 2.0;
    let mut body = legend(profile);
    for Drawn { node, left, width } in &drawn {
        let Some(frame) = profile.frames.get(node.frame as usize) else { continue };
        let top = height - f64::from(node.depth + 1) * ROW - 1.0;
        let share = 100.0 * node.weight as f64 / profile.weight.max(1) as f64;
        let module =
            if frame.module.is_empty() { String::new() } else { format!(" ({})", file(&frame.module)) };
        let _ = write!(
            body,
            "<g><title>{}{}: {} %</title><rect class=\"p f{}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>",
            escape(&frame.name),
            escape(&module),
            percent(share),
            colour(frame.kind),
            place(*left),
            num(top),
            place(*width),
            num(ROW - 1.0)
        );
        if *width >= NAME_MIN {
            let name = truncate_to_width(&crate::text::clean(&frame.name), TEXT, width - 6.0);
            let _ = write!(
                body,
                "<text class=\"t\" x=\"{}\" y=\"{}\" font-size=\"{}\">{}</text>",
                num(left + 3.0),
                num(top + 12.0),
                num(TEXT),
                escape(&name)
            );
        }
        body.push_str("</g>");
    }
    let name = "flame graph of processor time";
    let svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"chart\" role=\"img\" aria-label=\"{name}\" viewBox=\"0 0 {} {}\">{body}</svg>",
        num(WIDTH),
        num(height)
    );
    let left_out = profile.stacks.len() - drawn.len();
    html! {
        figure class="flame" {
            (PreEscaped(svg))
            figcaption {
                "Each box is a function; its width is the time in it and in the functions it called, which are above it. The bottom row shows processes, and threads with their own names. "
                "The order from left to right has no meaning."
                @if left_out > 0 { " " (count(left_out as u64)) " calls are too narrow or too deep to be drawn." }
                @if profile.merged_pct > 0.05 { " " (percent(profile.merged_pct)) " % of the time is in calls that were too small to store, and is counted with their callers." }
            }
        }
    }
}

/// Each kind that occurs, with its color.
fn legend(profile: &CpuProfile) -> String {
    let mut out = String::new();
    let mut left = 2.0;
    for kind in CpuKind::ALL {
        if !profile.frames.iter().any(|frame| frame.kind == kind) {
            continue;
        }
        let words = kind_words(profile, kind);
        let _ = write!(
            out,
            "<rect class=\"p f{}\" x=\"{}\" y=\"3\" width=\"13\" height=\"13\"/><text class=\"t\" x=\"{}\" y=\"14\" font-size=\"12\">{words}</text>",
            colour(kind),
            num(left),
            num(left + 18.0)
        );
        left += 18.0 + text_width(words, 12.0) + 18.0;
    }
    out
}

/// A coordinate of a box, which may be narrower than a tenth of a unit.
fn place(value: f64) -> String {
    format!("{value:.2}")
}

#[cfg(test)]
mod tests {
    use dyno_record::StackFrame;

    use super::*;

    #[test]
    fn flame_graph_boxes_fit_within_their_callers() {
        let node = |depth, frame, weight| StackNode { depth, frame, weight };
        let profile = CpuProfile {
            weight: 100,
            frames: vec![StackFrame::default(); 3],
            stacks: vec![
                node(0, 0, 60),
                node(1, 1, 40),
                node(2, 2, 10),
                node(1, 2, 20),
                node(0, 1, 40),
                node(1, 0, 40),
            ],
            ..CpuProfile::default()
        };
        let drawn: Vec<(u32, f64, f64)> =
            boxes(&profile).iter().map(|one| (one.node.depth, one.left / WIDTH, one.width / WIDTH)).collect();
        let want = [(0, 0.0, 0.6), (1, 0.0, 0.4), (2, 0.0, 0.1), (1, 0.4, 0.2), (0, 0.6, 0.4), (1, 0.6, 0.4)];
        for (found, want) in drawn.iter().zip(want) {
            assert_eq!(found.0, want.0);
            assert!((found.1 - want.1).abs() < 1e-9, "{drawn:?}");
            assert!((found.2 - want.2).abs() < 1e-9, "{drawn:?}");
        }
        assert_eq!(drawn.len(), want.len());
    }

    #[test]
    fn invalid_profile_stacks_are_left_out() {
        let node = |depth, frame, weight| StackNode { depth, frame, weight };
        let profile = CpuProfile {
            stacks: vec![node(3, 0, 5), node(0, 9, u64::MAX), node(1, 0, u64::MAX), node(0, 0, 7)],
            ..CpuProfile::default()
        };
        assert!(boxes(&profile).len() <= 2);
        let page = flame(&profile).into_string();
        assert!(page.contains("flame graph"));
    }
}
