//! Bounded lists of names and values.

use crate::style::{Paint, Style};
use crate::text::{clean, pad, truncate, width, wrap};

/// Maximum lines of one value.
const LINES_MAX: usize = 4;

/// Maximum width of the name column.
const NAME_MAX: usize = 36;

/// `name  value`, aligned; at most `rows_max` lines, then the number of further ones.
pub(super) fn pairs(pairs: &[(String, String)], rows_max: usize, style: &Style) -> String {
    let shown = &pairs[..pairs.len().min(rows_max)];
    let names: Vec<String> = shown.iter().map(|(name, _)| truncate(&clean(name), NAME_MAX)).collect();
    let column = names.iter().map(|name| width(name)).max().unwrap_or(0);
    let mut out = String::new();
    for (name, (_, value)) in names.iter().zip(shown) {
        let lines = wrap(&clean(value), style.columns() - column - 2, LINES_MAX);
        out.push_str(&format!("{name}{}  {}\n", pad(column - width(name)), lines[0]));
        for line in &lines[1..] {
            out.push_str(&format!("{}{line}\n", pad(column + 2)));
        }
    }
    out.push_str(&more(pairs.len(), rows_max, style));
    out
}

/// The line that states how many of `all` were left out.
pub(super) fn more(all: usize, shown_max: usize, style: &Style) -> String {
    if all <= shown_max {
        return String::new();
    }
    let text = format!("… and {} more (--json shows all)", all - shown_max);
    format!("{}\n", style.paint(Paint::Dim, &text))
}
