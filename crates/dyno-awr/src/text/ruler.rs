//! Parses rulers: the lines of dashes under the captions, which define the begin and end of each
//! column.
//!
//! Cells can be blank (cores and sockets on AIX), so words between blanks do not show the columns;
//! the ruler does.

/// Position of a column: characters from the line's start, the end excluded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct AwrColumnSpan {
    pub(crate) start: usize,
    pub(crate) end: usize,
}

impl AwrColumnSpan {
    fn width(self) -> usize {
        self.end - self.start
    }

    /// The column one character further left.
    pub(crate) fn moved_left(self) -> Self {
        Self { start: self.start.saturating_sub(1), end: self.end.saturating_sub(1) }
    }
}

/// Most columns in a table's rulers.
const SPANS_MAX: usize = 64;

/// Fewest dashes that alone form a ruler or an end of table.
const LONE_MIN: usize = 20;

/// The columns that a line of dashes (and tildes) defines, or `None` for any other line.
pub(crate) fn ruler(line: &str) -> Option<Vec<AwrColumnSpan>> {
    if !is_rule_line(line) {
        return None;
    }
    let spans = dashes(line);
    let enough = spans.len() > 1 || spans.first().is_some_and(|span| span.width() >= LONE_MIN);
    (line.contains('-') && enough && spans.len() <= SPANS_MAX).then_some(spans)
}

/// Whether a line consists only of dashes, tildes and blanks.
pub(crate) fn is_rule_line(line: &str) -> bool {
    let first = line.trim_start().as_bytes().first();
    matches!(first, Some(b'-' | b'~')) && line.bytes().all(|b| matches!(b, b'-' | b'~' | b' '))
}

/// The runs of dashes or tildes in a line.
pub(crate) fn dashes(line: &str) -> Vec<AwrColumnSpan> {
    let mut spans: Vec<AwrColumnSpan> = Vec::new();
    let mut start = None;
    for (at, byte) in line.bytes().chain([b' ']).enumerate() {
        match (byte, start) {
            (b' ', Some(from)) => {
                spans.push(AwrColumnSpan { start: from, end: at });
                start = None;
            }
            (b' ', None) => {}
            (_, None) => start = Some(at),
            _ => {}
        }
    }
    spans
}

/// Whether a line ends a table: one long, indented run of dashes.
pub(crate) fn is_end(line: &str) -> bool {
    let dashes = line.trim_start();
    let indent = line.len() - dashes.len();
    indent >= 5 && dashes.len() >= 50 && dashes.bytes().all(|b| b == b'-')
}

/// Whether a line underlines a title with tildes, even if other captions stand beside it. Tildes
/// further to the right, and under each column, separate sums.
pub(crate) fn is_underline(line: &str) -> bool {
    let rest = line.trim_start_matches('~');
    line.starts_with("~~~") && !rest.contains('~')
}

/// The text of a line between two character positions.
pub(crate) fn slice(line: &str, span: AwrColumnSpan) -> &str {
    if line.is_ascii() {
        return line.get(span.start.min(line.len())..span.end.min(line.len())).unwrap_or("");
    }
    let byte = |position| line.char_indices().nth(position).map_or(line.len(), |(at, _)| at);
    &line[byte(span.start)..byte(span.end)]
}

/// The cells of a line; `None` where its words do not match the ruler.
///
/// Some releases printed a column without a value with no width, so everything after it is shifted
/// left. Therefore a line that does not match is tried with each column at width zero. It counts
/// only if exactly one of them makes every word end where its column ends, as figures do.
pub(crate) fn cells<'a>(line: &'a str, spans: &[AwrColumnSpan]) -> Option<Vec<&'a str>> {
    if fits(line, spans) {
        return Some(cut(line, spans));
    }
    let moved = (1..spans.len()).map(|gone| (gone, collapse(spans, gone)));
    let mut fitting = moved.filter(|(gone, spans)| fits(line, spans) && is_flush(line, &spans[gone + 1..]));
    let (_, only) = fitting.next()?;
    fitting.next().is_none().then(|| cut(line, &only))
}

/// Whether every word ends where its column ends, with one word in each, and nothing follows the
/// last.
fn is_flush(line: &str, spans: &[AwrColumnSpan]) -> bool {
    let ends_at_edge = |span: &AwrColumnSpan| {
        let cell = slice(line, *span);
        let is_one = !cell.trim().contains("  ");
        cell.trim().is_empty() || (is_one && cell.trim_end().chars().count() == span.width())
    };
    let Some(last) = spans.last() else { return false };
    let behind = AwrColumnSpan { start: last.end, end: usize::MAX };
    spans.iter().all(ends_at_edge) && slice(line, behind).trim().is_empty()
}

/// The spans with one column of no width.
fn collapse(spans: &[AwrColumnSpan], removed_index: usize) -> Vec<AwrColumnSpan> {
    let mut shift = 0;
    let mut moved = Vec::with_capacity(spans.len());
    for (index, span) in spans.iter().enumerate() {
        let width = if removed_index == index { 0 } else { span.width() };
        let start = span.start - shift;
        moved.push(AwrColumnSpan { start, end: start + width });
        shift += span.width() - width;
    }
    moved
}

/// Whether every word of the line is under one column. The last column may be exceeded, and so may
/// the first by what stands left of it.
fn fits(line: &str, spans: &[AwrColumnSpan]) -> bool {
    let gap_is_blank = |pair: &[AwrColumnSpan]| {
        let gap = AwrColumnSpan { start: pair[0].end, end: pair[1].start };
        slice(line, gap).trim().is_empty()
    };
    spans.windows(2).all(gap_is_blank)
}

fn cut<'a>(line: &'a str, spans: &[AwrColumnSpan]) -> Vec<&'a str> {
    let last = spans.len().saturating_sub(1);
    let cell = |(index, span): (usize, &AwrColumnSpan)| {
        let end = if index == last { usize::MAX } else { span.end };
        slice(line, AwrColumnSpan { start: span.start, end }).trim()
    };
    spans.iter().enumerate().map(cell).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn dashed_ruler_defines_columns() {
        let spans = ruler("------ ---  ~~~~ ---------------").unwrap();
        assert_eq!(spans[1], AwrColumnSpan { start: 7, end: 10 });
        assert_eq!(spans.len(), 4);
        assert!(ruler("~~~~~~~~~~~~~~~~~~~~").is_none());
        assert!(ruler("-- a comment ------ ----").is_none());
        assert!(ruler("------").is_none());
        assert!(is_end(&format!("{}{}", " ".repeat(26), "-".repeat(54))));
        assert!(!is_end(&"-".repeat(64)));
    }

    #[test]
    fn blank_table_cells_stay_blank() {
        let spans = ruler("---- ----- ------- -----").unwrap();
        assert_eq!(cells("  40     5           502", &spans).unwrap(), ["40", "5", "", "502"]);
        assert_eq!(cells("  40", &spans).unwrap(), ["40", "", "", ""]);
    }

    #[test]
    fn a_column_printed_without_width_is_found() {
        let spans = ruler("----- ----- ------- --------- ---------").unwrap();
        let line = "   40     5       2.56      2.04";
        assert_eq!(cells(line, &spans).unwrap(), ["40", "5", "", "2.56", "2.04"]);
        assert!(cells("xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", &spans).is_none());
        let moved = "   40 12345678  2.56      2.04      7.00";
        assert!(
            cells(moved, &spans).is_none(),
            "a wide figure that moves the others is no column without width"
        );
    }

    #[test]
    fn column_positions_count_characters_not_bytes() {
        let spans = ruler("-------- ---").unwrap();
        assert_eq!(cells("größer    12", &spans).unwrap(), ["größer", "12"]);
    }

    proptest! {
        #[test]
        fn ruler_cells_never_panic_on_any_line(line in "[ a-zé0-9-~]{0,60}", rule in "[-~ ]{0,60}") {
            if let Some(spans) = ruler(&rule) {
                let _ = cells(&line, &spans);
            }
        }
    }
}
