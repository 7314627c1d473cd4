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
    // Growing by doubling would hold the lines twice.
    let line_count = memchr::memchr_iter(b'\n', text.as_bytes()).count() + 1;
    let mut kept: Vec<Line<'_>> = Vec::with_capacity(line_count.min(LINES_MAX));
    let heading = heading_rule(text);
    let mut after_output = false;
    let mut blanks = 0;
    for (number, raw) in (first_line..).zip(text.split('\n')) {
        if kept.len() >= LINES_MAX {
            return (kept, true);
        }
        let text = trimmed(raw);
        if is_heading(text) {
            // The page break's own blank line goes with it, or it would end a table; one of the report's own stays.
            if blanks == 1 && kept.last().is_some_and(|line| line.text.is_empty()) {
                kept.pop();
            }
            after_output = true;
            continue;
        }
        let is_page_rule = std::mem::take(&mut after_output) && heading == Some(text.len()) && is_rule(text);
        if is_page_rule {
            continue;
        }
        blanks = if text.is_empty() { blanks + 1 } else { 0 };
        let repeated_blank = text.is_empty() && kept.last().is_none_or(|line| line.text.is_empty());
        if !repeated_blank {
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

fn trimmed(raw: &str) -> &str {
    raw.trim_end_matches(|c: char| c.is_whitespace()).trim_start_matches('\u{c}')
}

/// Whether a line is the heading of the column that reports are selected from.
fn is_heading(text: &str) -> bool {
    text.len() <= 80 && text.trim_start() == "OUTPUT"
}

fn is_rule(text: &str) -> bool {
    text.len() >= 20 && text.bytes().all(|b| b == b'-')
}

/// How long the dashes under the heading are, if it has any: those of the column, the same on every page. A single ruler of the
/// report's own may follow a heading too, and must not be taken for them.
fn heading_rule(text: &str) -> Option<usize> {
    // Few reports were spooled so, and looking for the word is quicker than looking at every line.
    memchr::memmem::find(text.as_bytes(), b"OUTPUT")?;
    let mut lines = text.split('\n').map(trimmed).peekable();
    let mut found = None;
    while let Some(line) = lines.next() {
        if !is_heading(line) {
            continue;
        }
        let below = lines.peek().copied().unwrap_or("");
        match found {
            _ if !is_rule(below) => return None,
            Some(length) if length != below.len() => return None,
            _ => found = Some(below.len()),
        }
    }
    found
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

    #[test]
    fn headings_without_dashes_take_no_ruler_with_them() {
        let text = "OUTPUT\na\n\nOUTPUT\n------------------------------\nb\n\n\nOUTPUT\n\nc\n";
        let (lines, _) = lines(text, 1);
        let read: Vec<_> = lines.iter().map(|line| line.text).collect();
        assert_eq!(read, ["a", "------------------------------", "b", "", "c", ""]);
    }
}
