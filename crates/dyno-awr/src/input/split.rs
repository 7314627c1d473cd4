//! Splits files that contain several reports, one after the other.

use memchr::memmem::Finder;

use crate::lines::LineCounter;

/// The text of one report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ReportText<'a> {
    pub(crate) text: &'a str,
    /// The line of the file on which it begins, from 1.
    pub(crate) first_line: u32,
}

/// Most reports of one file that are read.
const REPORTS_MAX: usize = 10_000;

/// The reports in a text. A text without any counts as one report, so the reader can report what is
/// wrong with it.
pub(crate) fn split(text: &str) -> Vec<ReportText<'_>> {
    let starts = starts(text);
    let mut lines = LineCounter::new(text, 1);
    let mut reports = Vec::with_capacity(starts.len().max(1));
    for (i, &start) in starts.iter().enumerate() {
        let end = starts.get(i + 1).copied().unwrap_or(text.len());
        reports.push(ReportText { text: &text[start..end], first_line: lines.at(start) });
    }
    if reports.is_empty() {
        reports.push(ReportText { text, first_line: 1 });
    }
    reports
}

/// Where reports begin. The first begins with the file, whatever precedes its title.
fn starts(text: &str) -> Vec<usize> {
    let bytes = text.as_bytes();
    let mut titles: Vec<usize> = Vec::new();
    for title in ["WORKLOAD REPOSITORY ", "STATSPACK report for"] {
        let finder = Finder::new(title);
        titles.extend(finder.find_iter(bytes).filter(|&at| is_title(bytes, at)).take(REPORTS_MAX));
    }
    titles.sort_unstable();
    titles.truncate(REPORTS_MAX);
    let mut starts: Vec<usize> = Vec::with_capacity(titles.len());
    let mut last_title = 0;
    for (i, &title) in titles.iter().enumerate() {
        let start = if i == 0 { 0 } else { begin_of_page(text, last_title, title) };
        starts.push(start);
        last_title = title;
    }
    starts
}

/// A title stands alone: at the start of a line, or in a heading of its own.
fn is_title(bytes: &[u8], at: usize) -> bool {
    let before = bytes[..at].iter().rev().find(|b| !matches!(b, b' ' | b'\t' | 0x0c));
    matches!(before, None | Some(b'\n' | b'\r' | b'>' | 0xa0 | 0xbf))
}

/// The begin of the page of an HTML report whose title is at `title`: its `<html`, else the title.
fn begin_of_page(text: &str, from: usize, title: usize) -> usize {
    let between = &text.as_bytes()[from..title];
    let is_tag = |&at: &usize| between.get(at..at + 5).is_some_and(|tag| tag.eq_ignore_ascii_case(b"<html"));
    let tag = memchr::memrchr_iter(b'<', between).find(is_tag);
    match tag {
        Some(tag) => from + tag,
        // Back to the line's start, including the heading's tag.
        None => {
            let start = text[..title].rfind('\n').map_or(title, |end| (end + 1).max(from));
            // A warning above the title belongs to the report below it.
            let before = text[from..start].trim_end();
            let line = before.rfind('\n').map_or(0, |end| end + 1);
            if before[line..].trim_start().starts_with("ERROR: ") { from + line } else { start }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_is_split_at_report_starts() {
        let text = "spool\n\nSTATSPACK report for\nx\nSTATSPACK report for\ny\n";
        let reports = split(text);
        assert_eq!(reports.len(), 2);
        assert_eq!((reports[1].text, reports[1].first_line), ("STATSPACK report for\ny\n", 5));
        let text = "STATSPACK report for\nx\nERROR: invalid\nSTATSPACK report for\ny\n";
        assert_eq!(split(text)[1].text, "ERROR: invalid\nSTATSPACK report for\ny\n");
        let page = "<html><h1>WORKLOAD REPOSITORY report for</h1></html>\n";
        let two_pages = format!("{page}{page}");
        let reports = split(&two_pages);
        assert_eq!(reports.len(), 2);
        assert_eq!((reports[1].text, reports[1].first_line), (page, 2));
    }

    #[test]
    fn a_text_without_a_report_is_one_part() {
        assert_eq!(split("nothing").len(), 1);
        assert_eq!(split("see the WORKLOAD REPOSITORY report for details").len(), 1);
    }
}
