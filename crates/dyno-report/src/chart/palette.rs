//! Colors, markers and dashes of series.
//!
//! The hues are those of Okabe and Ito for all common kinds of color blindness ("Color Universal Design",
//! 2008). They are lightened for dark pages and darkened for white ones until the contrast suffices. Yellow
//! is used on dark pages only, as it is hardly visible on white.
//! Series also differ in marker and dash, so that a print without color remains readable.

use std::fmt::Write as _;

/// Number of colors; further series repeat them with another dash.
pub const COLOURS: usize = 8;

/// Number of colors for wait classes, as in Oracle's charts: processor green, I/O blue, commits orange.
pub const WAIT_COLOURS: usize = 8;

/// The first style of a wait class, after all styles of series.
pub const WAIT: usize = 1 << 10;

/// Color index of series number `style`.
pub(crate) fn colour(style: usize) -> usize {
    if style >= WAIT { COLOURS + (style - WAIT) % WAIT_COLOURS } else { style % COLOURS }
}

/// Colors of one appearance, light or dark.
#[derive(Debug, Clone, Copy)]
pub struct Theme {
    /// One color for each series.
    pub series: [&'static str; COLOURS],
    /// One color for each wait class: processor, user reads, commits, user locks, latches, network, all
    /// others, system I/O.
    pub waits: [&'static str; WAIT_COLOURS],
    /// Background of the page or picture.
    pub background: &'static str,
    pub text: &'static str,
    /// Secondary text, such as ticks.
    pub dim: &'static str,
    pub grid: &'static str,
    /// Good: audited, quiet, or without doubt.
    pub good: &'static str,
    /// A result or state that needs attention.
    pub warn: &'static str,
    /// A failed or invalid result or state.
    pub bad: &'static str,
    /// Imported figures, which were not audited.
    pub foreign: &'static str,
}

/// Colors on a white background.
pub const LIGHT: Theme = Theme {
    series: ["#0072b2", "#d55e00", "#009e73", "#c8719f", "#3d97cf", "#bd8600", "#5b4a9c", "#6b6b6b"],
    waits: ["#3c9d3c", "#2f6fc4", "#d97706", "#c0272d", "#8c2d04", "#8d826d", "#d863b1", "#4492cd"],
    background: "#ffffff",
    text: "#1c2024",
    dim: "#565d66",
    grid: "#dfe3e8",
    good: "#1a7f37",
    warn: "#8a5a00",
    bad: "#b42318",
    foreign: "#5f6368",
};

/// Colors on a nearly black background.
pub const DARK: Theme = Theme {
    series: ["#56b4e9", "#ff8a3d", "#2fc797", "#e59cc5", "#a9d8f5", "#f0e442", "#b3a2f2", "#b5bac0"],
    waits: ["#5fc45f", "#6aa0ea", "#f5a04a", "#f06a6a", "#c9734a", "#b8ad97", "#f0a0d8", "#9ccdf2"],
    background: "#14171a",
    text: "#eceff2",
    dim: "#a9b1ba",
    grid: "#343a41",
    good: "#4ecb71",
    warn: "#f0b429",
    bad: "#ff8a7a",
    foreign: "#a9b1ba",
};

/// CSS rules of charts on a page that defines the colors as variables.
pub fn page_rules() -> String {
    rules(&|name| format!("var(--{name})"))
}

/// CSS variables of `theme`, to be inserted into a rule of a page.
pub fn variables(theme: &Theme) -> String {
    let mut out = String::new();
    for (name, value) in named(theme) {
        let _ = write!(out, "--{name}:{value};");
    }
    out
}

/// CSS rules of a standalone chart in the colors of `theme`.
pub(crate) fn fixed_rules(theme: &Theme) -> String {
    let names = named(theme);
    rules(&|name| names.iter().find(|(n, _)| n == name).map_or_else(String::new, |(_, v)| (*v).to_owned()))
}

fn named(theme: &Theme) -> Vec<(String, &'static str)> {
    let mut names: Vec<(String, &'static str)> = theme
        .series
        .iter()
        .chain(&theme.waits)
        .enumerate()
        .map(|(i, colour)| (format!("s{i}"), *colour))
        .collect();
    names.extend([
        ("bg".to_owned(), theme.background),
        ("fg".to_owned(), theme.text),
        ("dim".to_owned(), theme.dim),
        ("grid".to_owned(), theme.grid),
        ("good".to_owned(), theme.good),
        ("warn".to_owned(), theme.warn),
        ("bad".to_owned(), theme.bad),
        ("foreign".to_owned(), theme.foreign),
    ]);
    names
}

/// The rules, with each color written by `colour`. They use only simple class selectors, which every SVG
/// renderer supports.
fn rules(colour: &dyn Fn(&str) -> String) -> String {
    let mut out = String::new();
    for i in 0..COLOURS + WAIT_COLOURS {
        let value = colour(&format!("s{i}"));
        let _ = write!(out, ".l{i}{{stroke:{value}}}.f{i}{{fill:{value}}}");
    }
    let (bg, fg, dim, grid) = (colour("bg"), colour("fg"), colour("dim"), colour("grid"));
    let _ = write!(
        out,
        ".bg{{fill:{bg}}}.t{{fill:{fg}}}.d{{fill:{dim}}}.g{{stroke:{grid};fill:none}}.ax{{stroke:{dim};fill:none}}\
         .ln{{fill:none;stroke-width:2;stroke-linejoin:round;stroke-linecap:round}}\
         .fit{{fill:none;stroke-width:1.75;stroke-dasharray:6 4}}.w{{fill:none;stroke-width:1.25}}\
         .m{{stroke:{bg};stroke-width:1}}.ring{{fill:none;stroke:{fg};stroke-width:1.75}}\
         .mk{{fill:none;stroke:{fg};stroke-width:1.25;stroke-dasharray:2 3}}.rb{{fill-opacity:.16}}\
         .ar{{fill-opacity:.85;stroke:{bg};stroke-width:.5}}"
    );
    out
}

/// Dash pattern of series number `style` in SVG; `None` for the first round of colors.
pub(crate) fn dash(style: usize) -> Option<&'static str> {
    match (style / COLOURS) % 4 {
        0 => None,
        1 => Some("8 3"),
        2 => Some("3 3"),
        _ => Some("10 3 2 3"),
    }
}

/// Marker of series number `style` around (0, 0), about nine pixels wide.
pub(crate) fn marker(style: usize) -> &'static str {
    match (style + style / COLOURS) % COLOURS {
        0 => "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0z",
        1 => "M-3.6-3.6h7.2v7.2h-7.2z",
        2 => "M0-4.8L4.4 3.4H-4.4z",
        3 => "M0-5L4.6 0L0 5L-4.6 0z",
        4 => "M0 4.8L4.4-3.4H-4.4z",
        5 => "M-1.5-4.5h3v3h3v3h-3v3h-3v-3h-3v-3h3z",
        6 => "M-4.6 0L-2.3-4H2.3L4.6 0L2.3 4H-2.3z",
        _ => "M0-5L1.5-1.5L5-1.5L2.2 .9L3.2 4.4L0 2.3L-3.2 4.4L-2.2 .9L-5-1.5L-1.5-1.5z",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Relative luminance of `#rrggbb` as WCAG 2.2 defines it.
    fn luminance(colour: &str) -> f64 {
        let part = |from: usize| {
            let value = f64::from(u8::from_str_radix(&colour[from..from + 2], 16).unwrap()) / 255.0;
            if value <= 0.040_45 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * part(1) + 0.7152 * part(3) + 0.0722 * part(5)
    }

    fn contrast(a: &str, b: &str) -> f64 {
        let (a, b) = (luminance(a), luminance(b));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    #[test]
    fn text_and_series_colors_meet_contrast_minimums() {
        for theme in [LIGHT, DARK] {
            assert!(contrast(theme.text, theme.background) >= 7.0);
            // WCAG 2.2, AA: contrast 4.5 for text including links, and 3 for graphics.
            for words in [theme.dim, theme.good, theme.warn, theme.bad, theme.foreign, theme.series[0]] {
                assert!(contrast(words, theme.background) >= 4.5, "{words} on {}", theme.background);
            }
            for colour in theme.series.into_iter().chain(theme.waits) {
                assert!(contrast(colour, theme.background) >= 3.0, "{colour} on {}", theme.background);
            }
        }
    }

    #[test]
    fn styles_of_thirty_series_are_distinct() {
        let style = |i: usize| (i % COLOURS, dash(i), marker(i));
        for a in 0..30 {
            assert!((0..a).all(|b| style(a) != style(b)), "{a}");
        }
    }
}
