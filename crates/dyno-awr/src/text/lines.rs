//! The lines of a text report, freed of what SQL*Plus and copying put between them.

/// Lines of one report that are kept; the longest real ones have some ten thousand.
const LINES_MAX: usize = 1_000_000;

/// A line and where it stands in the file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Line<'a> {
    pub(crate) text: &'a str,
    /// From 1.
    pub(crate) number: u32,
}

/// The lines of a report, and whether there were more than are kept.
///
/// Left out: form feeds, blank lines after blank lines, and the heading `OUTPUT` with its dashes that SQL*Plus prints on each
/// page of a report that was spooled without `set heading off`.
pub(crate) fn lines(text: &str, first_line: u32) -> (Vec<Line<'_>>, bool) {
    let mut kept: Vec<Line<'_>> = Vec::new();
    let mut after_output = false;
    let mut blanks = 0;
    for (number, raw) in (first_line..).zip(text.split('\n')) {
        if kept.len() >= LINES_MAX {
            return (kept, true);
        }
        let text = raw.trim_end_matches(|c: char| c.is_whitespace()).trim_start_matches('\u{c}');
        if text.trim() == "OUTPUT" {
            // The page break's own blank line goes with it, or it would end a table; one of the report's own stays.
            if blanks == 1 && kept.last().is_some_and(|line| line.text.is_empty()) {
                kept.pop();
            }
            after_output = true;
            continue;
        }
        blanks = if text.is_empty() { blanks + 1 } else { 0 };
        let page_rule = after_output && text.len() >= 20 && text.bytes().all(|b| b == b'-');
        after_output = after_output && text.is_empty();
        let repeated_blank = text.is_empty() && kept.last().is_none_or(|line| line.text.is_empty());
        if !page_rule && !repeated_blank && !after_output {
            kept.push(Line { text, number });
        }
    }
    // A line without an end may lack digits of its last figure.
    let complete = text.ends_with(['\n', '\u{c}'])
        || kept.last().is_none_or(|line| line.text.starts_with("End of Report"));
    if !complete {
        kept.pop();
    }
    (kept, false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn page_breaks_in_the_middle_of_a_table_are_left_out() {
        let text = "a\r\nb\r\n\r\nOUTPUT\r\n--------------------------------------------------------------------------------\r\nc\n\n\n\u{c}d\ncut";
        let (lines, cut) = lines(text, 1);
        let read: Vec<_> = lines.iter().map(|line| (line.text, line.number)).collect();
        assert_eq!(read, [("a", 1), ("b", 2), ("c", 6), ("", 7), ("d", 9)]);
        assert!(!cut);
    }
}
