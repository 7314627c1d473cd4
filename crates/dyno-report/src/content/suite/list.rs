//! The catalog of tests for a terminal.

use dyno_analyze::conclusion::suite::SuiteTestInfo;

use crate::style::{Paint, Style};
use crate::text::{clean, wrap};

use super::overview::title;

/// Indent of a test's second line.
const INDENT: &str = "    ";
/// Maximum lines for what a test stresses.
const LINES_MAX: usize = 4;

/// The tests of a catalog: two lines each, because what they stress is too long for a column.
pub fn suite_list(pages: &[&SuiteTestInfo], style: &Style) -> String {
    let mut out = String::new();
    let mut group = "";
    for page in pages {
        if page.group != group {
            group = &page.group;
            let gap = if out.is_empty() { "" } else { "\n" };
            let head = format!("{} (--group {group})", title(group));
            out.push_str(&format!("{gap}{}\n", style.paint(Paint::Head, &clean(&head))));
        }
        let unit = page.words(0.0).1;
        let head = format!("{}: {} ({unit}, {})", page.id, page.title, page.limit);
        let about = match &page.why_not {
            Some(why) => format!("not applicable: {why}"),
            None => page.stresses.clone(),
        };
        for line in wrap(&clean(&head), style.columns(), LINES_MAX) {
            out.push_str(&format!("{line}\n"));
        }
        for line in wrap(&clean(&about), style.columns() - INDENT.len(), LINES_MAX) {
            out.push_str(&format!("{INDENT}{line}\n"));
        }
    }
    out
}
