//! The lines of a text report, without what SQL*Plus and copying inserted between them.

/// Most lines of one report that are kept; the longest real ones have some ten thousand.
const LINES_MAX: usize = 1_000_000;

/// A line and its number in the file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AwrTextLine<'a> {
    pub(crate) text: &'a str,
    /// Line number in the file, from 1.
    pub(crate) number: u32,
}

/// The lines of a report, and whether there were more than are kept.
///
/// Left out: form feeds, repeated blank lines, and the heading `OUTPUT` with its dashes. SQL*Plus
/// prints that heading on each page of a report that was spooled without `set heading off`.
pub(crate) fn lines(text: &str, first_line: u32) -> (Vec<AwrTextLine<'_>>, bool) {
    // Growth by doubling would hold the lines twice.
    let line_count = memchr::memchr_iter(b'\n', text.as_bytes()).count() + 1;
    let mut retained: Vec<AwrTextLine<'_>> = Vec::with_capacity(line_count.min(LINES_MAX));
    let heading = heading_rule(text);
    let mut after_output = false;
    let mut blanks = 0;
    for (number, raw) in (first_line..).zip(text.split('\n')) {
        if retained.len() >= LINES_MAX {
            return (retained, true);
        }
        let text = trimmed(raw);
        if is_heading(text) {
            // The page break's own blank line is removed too, because it would end a table; one of
            // the report's own stays.
            if blanks == 1 && retained.last().is_some_and(|line| line.text.is_empty()) {
                retained.pop();
            }
            after_output = true;
            continue;
        }
        let is_page_rule = std::mem::take(&mut after_output) && heading == Some(text.len()) && is_rule(text);
        if is_page_rule {
            continue;
        }
        blanks = if text.is_empty() { blanks + 1 } else { 0 };
        let repeated_blank = text.is_empty() && retained.last().is_none_or(|line| line.text.is_empty());
        if !repeated_blank {
            retained.push(AwrTextLine { text, number });
        }
    }
    // A line without an end may lack digits of its last figure.
    let complete = text.ends_with(['\n', '\u{c}'])
        || retained.last().is_none_or(|line| line.text.starts_with("End of Report"));
    if !complete {
        retained.pop();
    }
    (retained, false)
}

fn trimmed(raw: &str) -> &str {
    raw.trim_end_matches(|c: char| c.is_whitespace()).trim_start_matches('\u{c}')
}

/// Whether a line is the heading of the column from which reports are selected.
fn is_heading(text: &str) -> bool {
    text.len() <= 80 && text.trim_start() == "OUTPUT"
}

fn is_rule(text: &str) -> bool {
    text.len() >= 20 && text.bytes().all(|b| b == b'-')
}

/// Length of the dashes under the heading, if there are any: those of the column, the same on every
/// page. A single ruler of the report itself may follow a heading too, and must not count.
fn heading_rule(text: &str) -> Option<usize> {
    // Few reports were spooled like that, and a search for the word is faster than checking every
    // line.
    memchr::memmem::find(text.as_bytes(), b"OUTPUT")?;
    let mut lines = text.split('\n').map(trimmed).peekable();
    let mut rule_length = None;
    while let Some(line) = lines.next() {
        if !is_heading(line) {
            continue;
        }
        let below = lines.peek().copied().unwrap_or("");
        match rule_length {
            _ if !is_rule(below) => return None,
            Some(length) if length != below.len() => return None,
            _ => rule_length = Some(below.len()),
        }
    }
    rule_length
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn page_breaks_inside_table_are_removed() {
        let text = "a\r\nb\r\n\r\nOUTPUT\r\n--------------------------------------------------------------------------------\r\nc\n\n\n\u{c}d\ncut";
        let (lines, cut) = lines(text, 1);
        let read: Vec<_> = lines.iter().map(|line| (line.text, line.number)).collect();
        assert_eq!(read, [("a", 1), ("b", 2), ("c", 6), ("", 7), ("d", 9)]);
        assert!(!cut);
    }

    #[test]
    fn heading_without_dashes_keeps_following_ruler() {
        let text = "OUTPUT\na\n\nOUTPUT\n------------------------------\nb\n\n\nOUTPUT\n\nc\n";
        let (lines, _) = lines(text, 1);
        let read: Vec<_> = lines.iter().map(|line| line.text).collect();
        assert_eq!(read, ["a", "------------------------------", "b", "", "c", ""]);
    }
}
