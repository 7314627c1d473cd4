//! Extracts tables from lines: titles, captions and rulers are distinguished from data by what
//! follows them.
//!
//! A table's captions come before its ruler, so a block of lines is captions if a ruler follows in
//! it. Several rulers with only captions between them mean that one record takes as many lines.

use std::borrow::Cow;

use super::head::{
    CaptionLine, captions, section_owner, section_title, under, underlined_title, with_labels,
};
use super::lines::{AwrTextLine, lines};
use super::open::OpenTable;
use super::ruler::{AwrColumnSpan, is_end, is_underline, ruler};
use super::wrapped;
use crate::table::{AwrFormat, AwrTable, CELLS_MAX, Document, TABLES_MAX, is_report_title, other_report};

/// Most lines of captions above a ruler; more are data.
const CAPTION_LINES_MAX: usize = 8;

/// Largest indent of the lines that continue a note.
const NOTE_INDENT_MAX: usize = 6;

/// Most lines of one wrapped note.
const NOTE_LINES_MAX: usize = 4;

/// Reads the tables of one report.
pub(crate) fn read(text: &str, first_line: u32) -> Document<'_> {
    let (lines, cut) = lines(text, first_line);
    let mut reader = Reader::new(&lines);
    reader.document.cut = cut;
    // After the report's last line comes what the session printed next.
    while reader.at < lines.len() && !reader.document.ended {
        reader.step();
    }
    reader.end_table();
    reader.document
}

struct Reader<'a, 'l> {
    lines: &'l [AwrTextLine<'a>],
    at: usize,
    document: Document<'a>,
    title: &'a str,
    /// Bytes of the title's own line that belong to the title.
    title_end: usize,
    title_line: u32,
    open: Option<OpenTable<'a>>,
    /// Whether the line before was blank or began something: only there can a block of captions
    /// begin.
    fresh: bool,
    cells: usize,
}

impl<'a, 'l> Reader<'a, 'l> {
    fn new(lines: &'l [AwrTextLine<'a>]) -> Self {
        Self {
            lines,
            at: 0,
            document: Document::new(AwrFormat::Text),
            title: "",
            title_end: 0,
            title_line: 0,
            open: None,
            fresh: true,
            cells: 0,
        }
    }

    fn line(&self, at: usize) -> &'a str {
        self.lines.get(at).map_or("", |line| line.text)
    }

    fn step(&mut self) {
        let line = self.lines[self.at];
        if line.text.is_empty() {
            self.fresh = true;
            self.at += 1;
            return;
        }
        if is_end(line.text) && !self.is_wide_group_rule(self.at) {
            self.end_table();
            self.fresh = true;
            self.at += 1;
            return;
        }
        if is_report_title(line.text) {
            if self.document.observe_title(line.text.trim()) {
                self.open = None;
                self.begin_section("", line, 0);
            } else if other_report(line.text).is_some() {
                // The report of ADDM, within that of the interval.
                self.begin_section("ADDM Reports", line, line.text.len());
                self.at += 1;
                return;
            }
        }
        if line.text.starts_with("End of Report") {
            self.document.ended = true;
            self.end_table();
            self.at += 1;
            return;
        }
        if let Some(title) = section_title(line.text) {
            if self.document.owner.is_none() {
                self.document.owner = section_owner(line.text);
            }
            self.begin_section(title, line, line.text.len());
            self.at += 1;
            return;
        }
        if let Some(host) = wrapped::host(&self.lines[self.at..]) {
            self.end_table();
            self.document.tables.push(host.table);
            self.at += host.lines;
            return;
        }
        let is_note = line.text.starts_with("->");
        let underlined = self.is_title(self.at);
        // A title above notes needs no underline; statements may be followed by anything.
        let bare_title = self.fresh
            && !is_note
            && self.line(self.at + 1).starts_with("->")
            && line.text.starts_with(|c: char| c.is_ascii_alphabetic())
            && !self.title.starts_with("SQL ordered by");
        if bare_title && !underlined {
            self.begin_section(line.text.trim_end(), line, line.text.len());
            self.at += 1;
            return;
        }
        if underlined {
            let (title, end) = underlined_title(line.text);
            self.begin_section(title, line, end);
        }
        if is_note {
            self.skip_note();
            return;
        }
        if self.fresh && self.head() {
            return;
        }
        // STATSPACK 10g underlines the first word of a line of labels and values.
        if underlined && line.text.contains("CPUs:") {
            self.data(line);
        }
        if is_underline(line.text) || underlined {
            self.at += 1;
            self.fresh = true;
            return;
        }
        self.data(line);
        self.fresh = false;
        self.at += 1;
    }

    /// Whether a line is underlined; notes may stand in between.
    fn is_title(&self, at: usize) -> bool {
        let text = self.line(at);
        let mut below = (at + 1..=at + 1 + NOTE_LINES_MAX).map(|below| self.line(below));
        let below = below.find(|below| !below.starts_with("->")).unwrap_or("");
        !text.is_empty() && !text.starts_with("->") && !is_underline(text) && is_underline(below)
    }

    /// Skips a note: it begins with an arrow and continues over indented lines.
    fn skip_note(&mut self) {
        self.at += 1;
        // Captions may follow at once; they are indented further or stand directly above a ruler.
        let goes_on = |line: &str, next: &str| {
            let indent = line.len() - line.trim_start().len();
            (1..=NOTE_INDENT_MAX).contains(&indent) && ruler(next).is_none()
        };
        while goes_on(self.line(self.at), self.line(self.at + 1)) || self.is_wrapped_note() {
            self.at += 1;
        }
        self.fresh = true;
    }

    /// Whether the line after a note continues it without an indent: prose up to the next note or a
    /// blank line. Otherwise it would count as a title, and all rows below as those of an unknown
    /// section.
    fn is_wrapped_note(&self) -> bool {
        let is_prose = |text: &str| {
            !text.starts_with(' ')
                && !text.contains("  ")
                && !text.contains(':')
                && ruler(text).is_none()
                && !is_underline(text)
        };
        let note = (self.at..).take(NOTE_LINES_MAX).find(|&at| {
            let text = self.line(at);
            text.is_empty() || text.starts_with("->")
        });
        note.is_some_and(|note| note > self.at && (self.at..note).all(|at| is_prose(self.line(at))))
    }

    fn begin_section(&mut self, title: &'a str, line: AwrTextLine<'a>, end: usize) {
        self.end_table();
        self.title = title;
        self.title_end = end;
        self.title_line = line.number;
        self.fresh = true;
    }

    /// Captions and ruler from this line on, if the block of lines is a table head.
    fn head(&mut self) -> bool {
        let block = (self.at..self.at + CAPTION_LINES_MAX).take_while(|&at| {
            let text = self.line(at);
            let begins_other = at > self.at
                && (section_title(text).is_some()
                    || (is_end(text) && !self.is_wide_group_rule(at))
                    || text.starts_with("->")
                    || self.is_title(at));
            !text.is_empty() && !begins_other
        });
        let Some(rule_at) = block.clone().find(|&at| self.is_rule(at)) else { return false };
        let stacked =
            self.open.as_ref().is_some_and(|open| open.table.rows.is_empty() && !open.levels.is_empty());
        // A rule above a sum has figures above it.
        if stacked && (self.at..rule_at).any(|at| has_grouped_figure(self.line(at))) {
            return false;
        }
        let rule = self.line(rule_at);
        let spans = with_labels(ruler(rule).unwrap_or_default(), rule);
        let lines = |range: std::ops::Range<usize>| {
            range.map(|at| self.caption_line(at, rule)).collect::<Vec<CaptionLine<'a>>>()
        };
        // Columns under a ruler of groups are named after the group and themselves.
        let group_at = (self.at..rule_at).rev().find(|&at| self.is_group_rule(at));
        let mut columns = match group_at {
            Some(at) => {
                let groups = ruler(self.line(at)).unwrap_or_default();
                let names = captions(&lines(self.at..at), &groups);
                under(&groups, &names, captions(&lines(at + 1..rule_at), &spans), &spans)
            }
            None => captions(&lines(self.at..rule_at), &spans),
        };
        if !stacked {
            self.end_table();
        }
        // The processes' memory is printed one column left of its ruler.
        let next = self.line(rule_at + 1).as_bytes();
        let is_left = rule.starts_with(" - -") && matches!(next, [b'A'..=b'Z', b' ', b'A'..=b'Z', ..]);
        let spans = if is_left { spans.into_iter().map(AwrColumnSpan::moved_left).collect() } else { spans };
        let line = self.lines[self.at].number;
        let open = self.open.get_or_insert_with(|| OpenTable {
            table: AwrTable { title: Cow::Borrowed(self.title), line, ..AwrTable::default() },
            levels: Vec::new(),
            next: 0,
        });
        open.table.columns.append(&mut columns);
        open.levels.push(spans);
        self.at = rule_at + 1;
        // A further ruler may follow at once.
        self.fresh = true;
        true
    }

    /// The words of the title are no caption, unless the ruler has a column of its own for them.
    fn caption_line(&self, at: usize, rule: &str) -> CaptionLine<'a> {
        let line = self.lines[at];
        let is_title = line.number == self.title_line && self.title_line > 0;
        let own_column = rule.starts_with('~') && rule.find("~ -").is_some();
        CaptionLine { text: line.text, from: if is_title && !own_column { self.title_end } else { 0 } }
    }

    /// Whether a line of dashes that could end a table separates a group of columns. Then captions
    /// and the table's own ruler follow at once; after the end of a table there is a blank line or
    /// a title.
    fn is_wide_group_rule(&self, at: usize) -> bool {
        self.is_cluster()
            && ruler(self.line(at + 2)).is_some_and(|spans| spans.len() > 1)
            && !self.line(at + 1).is_empty()
            && section_title(self.line(at + 1)).is_none()
    }

    /// Whether a line is a ruler above groups of columns: captions follow, and the table's own
    /// ruler. It is indented, while the first of several rulers of one record begins with the line.
    /// In cluster reports only the sections about sampled sessions have such records.
    fn is_group_rule(&self, at: usize) -> bool {
        let text = self.line(at);
        let ends = is_end(text) && !self.is_wide_group_rule(at);
        let may_begin_line = self.is_cluster() && !SAMPLED.iter().any(|title| self.title.starts_with(title));
        if ruler(text).is_none() || ends || !(text.starts_with(' ') || may_begin_line) {
            return false;
        }
        (at + 1..at + 6).take_while(|&next| !self.line(next).is_empty()).any(|next| {
            let text = self.line(next);
            ruler(text).is_some() && !is_end(text)
        })
    }

    fn is_cluster(&self) -> bool {
        self.document.title.ends_with("(RAC)")
    }

    /// Whether a line is the ruler of a table. Statements can contain anything, dashes too; there
    /// it must have captions.
    fn is_rule(&self, at: usize) -> bool {
        let text = self.line(at);
        if ruler(text).is_none() || is_end(text) || self.is_group_rule(at) {
            return false;
        }
        if !self.title.starts_with("SQL ordered by") {
            return true;
        }
        let above = at.saturating_sub(CAPTION_LINES_MAX)..at;
        let is_head = |up: &usize| !self.line(*up).is_empty() && ruler(self.line(*up)).is_none();
        above.rev().take_while(is_head).any(|up| {
            let text = self.line(up);
            text.contains("SQL Id") || text.contains("Hash Value") || text.contains("Executions")
        })
    }

    /// A line that is neither title nor captions.
    fn data(&mut self, line: AwrTextLine<'a>) {
        if line.text.trim() == "No data exists for this section of the report." {
            return;
        }
        if self.cells >= CELLS_MAX {
            self.document.cut = true;
            return;
        }
        let fresh = self.fresh;
        let title = self.title;
        // A section without a ruler has labels and values.
        let open = match &mut self.open {
            Some(open) => open,
            None if !title.is_empty() && (line.text.contains(':') || line.text.contains("  ")) => {
                self.open.insert(OpenTable {
                    table: AwrTable { title: Cow::Borrowed(title), line: line.number, ..AwrTable::default() },
                    levels: Vec::new(),
                    next: 0,
                })
            }
            None => return,
        };
        self.cells += 1 + open.levels.first().map_or(2, Vec::len);
        open.push(line, fresh);
    }

    fn end_table(&mut self) {
        let Some(mut open) = self.open.take() else { return };
        open.finish();
        let table = open.table;
        if let Some(page) = self.document.tables.last_mut().filter(|last| is_next_page(last, &table)) {
            page.rows.extend(table.rows);
        } else if self.document.tables.len() >= TABLES_MAX {
            self.document.cut = true;
        } else if !table.rows.is_empty() || !open.levels.is_empty() {
            self.document.tables.push(table);
        }
    }
}

/// First words of the titles of sections about sampled sessions.
const SAMPLED: [&str; 5] = ["Top SQL ", "Top Event", "Top Sessions", "Top Blocking", "Top PL/SQL"];

/// Whether a line has a number with separated thousands, which no caption has.
fn has_grouped_figure(line: &str) -> bool {
    let is_figure = |word: &str| {
        word.contains(',') && word.bytes().all(|b| b.is_ascii_digit() || matches!(b, b',' | b'.'))
    };
    line.split_whitespace().any(is_figure)
}

/// Whether a table is the next page of the one before it: long tables repeat title and captions on every page.
fn is_next_page(before: &AwrTable<'_>, table: &AwrTable<'_>) -> bool {
    !table.title.is_empty()
        && !table.columns.is_empty()
        && before.title == table.title
        && before.columns == table.columns
}

#[cfg(test)]
mod tests {
    use super::*;

    const REPORT: &str = "\
WORKLOAD REPOSITORY report for

Host Name        Platform                         CPUs Cores Sockets Memory(GB)
---------------- -------------------------------- ---- ----- ------- ----------
db1              Linux                              40     5             502.00

              Snap Id      Snap Time      Sessions Curs/Sess
            --------- ------------------- -------- ---------
Begin Snap:         1 04-Feb-23 19:00:39       104       3.7
   Elapsed:               60.25 (mins)

Load Profile                    Per Second   Per Transaction
~~~~~~~~~~~~~~~            ---------------   ---------------
             DB Time(s):               1.1               0.1
Top 5 Timed Events                                                    Avg %Total
~~~~~~~~~~~~~~~~~~                                                   wait   Call
Event                                            Waits    Time (s)   (ms)   Time
----------------------------------------- ------------ ----------- ------ ------
log file sync                                  182,275          94      1    1.5
          -------------------------------------------------------------
Host CPU  (CPUs: 8  Cores: 8  Sockets: 2)
~~~~~~~~              Load Average
                      Begin     End      User  System    Idle     WIO     WCPU
                    ------- -------   ------- ------- ------- ------- --------
                       5.98    7.09     23.83    0.89   74.75   21.86

Instance CPU
~~~~~~~~~~~~
              % of total CPU for Instance:       0.9

Tablespace IO Stats                   DB/Inst: A/a  Snaps: 1-2
-> ordered by IOs

Tablespace
------------------------------
                 Av      Av
         Reads Reads/s Rd(ms)
-------------- ------- ------
USERS
       183,162       2    0.0
SYSTEM
        55,301       1    0.0
          -------------------------------------------------------------
End of Report
";

    #[test]
    fn awr_text_sections_captions_and_cells_are_read() {
        let document = read(REPORT, 1);
        assert!(document.ended);
        assert!(!document.cut);
        assert_eq!(document.title, "WORKLOAD REPOSITORY report for");
        let titles: Vec<_> = document.tables.iter().map(|table| table.title.as_ref()).collect();
        assert_eq!(
            titles,
            [
                "",
                "",
                "Load Profile",
                "Top 5 Timed Events",
                "Host CPU  (CPUs: 8  Cores: 8  Sockets: 2)",
                "Instance CPU",
                "Tablespace IO Stats"
            ]
        );
        let [host, snaps, load, events, cpu, instance, tablespaces] = &document.tables[..] else { panic!() };
        assert_eq!(host.rows[0].cells[2..], ["40", "5", "", "502.00"]);
        assert_eq!(snaps.columns, ["", "Snap Id", "Snap Time", "Sessions", "Curs/Sess"]);
        assert_eq!(snaps.rows[0].cells, ["Begin Snap:", "1", "04-Feb-23 19:00:39", "104", "3.7"]);
        assert_eq!(load.columns, ["", "Per Second", "Per Transaction"]);
        assert_eq!(load.rows[0].cells, ["DB Time(s):", "1.1", "0.1"]);
        assert_eq!(events.columns, ["Event", "Waits", "Time (s)", "Avg wait (ms)", "%Total Call Time"]);
        assert_eq!(events.rows.len(), 1);
        assert_eq!(cpu.columns[1..4], ["Load Begin", "Average End", "User"]);
        assert_eq!(instance.rows[0].pairs()[0].1, ["0.9"]);
        assert_eq!(tablespaces.columns.len(), 4);
        assert_eq!(tablespaces.rows[1].cells, ["SYSTEM", "55,301", "1", "0.0"]);
        assert_eq!(tablespaces.rows[1].line, 41);
    }
}
