//! Builds tables from tokens: the content of each cell, and the title above each table.
//!
//! Titles are headings in some releases and bare text in others, so both are followed. Text between
//! tables that is no list item and no link is the title of what follows.

use std::borrow::Cow;

use super::cell::CellText;
use super::tag::Tag;
use super::token::{AwrHtmlToken, Tokens, attribute};
use crate::lines::LineCounter;
use crate::table::{
    AwrFormat, AwrTable, AwrTableRow, CELLS_MAX, COLUMNS_MAX, Document, TABLES_MAX, names_report,
};

/// Depth up to which nested tables are separate; deeper ones are part of the table around them.
const DEPTH_MAX: usize = 16;
/// Longest text that can be a title.
const TITLE_MAX: usize = 200;
/// Columns that one cell may span.
const SPAN_MAX: usize = 64;

/// Reads the tables of one report. `is_read` decides by the captions and the first row whether a
/// table is needed; of other tables only that row is kept.
pub(crate) fn read(text: &str, first_line: u32, is_read: fn(&AwrTable<'_>) -> bool) -> Document<'_> {
    let mut builder = Builder::new(text, first_line, is_read);
    let mut tokens = Tokens::new(text);
    while let Some((at, token)) = tokens.next() {
        match token {
            AwrHtmlToken::Open { name, attributes } => builder.open(at, name, attributes),
            AwrHtmlToken::Close { name } => builder.close(name),
            AwrHtmlToken::Text(piece) => builder.text(piece),
        }
        if builder.is_in_unread() {
            tokens.skip_cells();
        }
    }
    builder.finish()
}

#[derive(Default)]
struct OpenRow<'a> {
    row: AwrTableRow<'a>,
    /// Number of columns that each cell spans; empty where all span one.
    spans: Vec<usize>,
    /// Number of head cells; the next field counts other cells with content.
    heads: usize,
    data: usize,
}

/// A table whose end was not reached yet.
#[derive(Default)]
struct OpenTable<'a> {
    table: AwrTable<'a>,
    heads: Vec<(AwrTableRow<'a>, Vec<usize>)>,
    row: Option<OpenRow<'a>>,
    cell: Option<Cell<'a>>,
    /// Whether no reader needs the table.
    unread: bool,
}

#[derive(Default)]
struct Cell<'a> {
    text: CellText<'a>,
    head: bool,
    span: usize,
}

struct Builder<'a> {
    document: Document<'a>,
    is_read: fn(&AwrTable<'_>) -> bool,
    lines: LineCounter<'a>,
    open: Vec<OpenTable<'a>>,
    title: Cow<'a, str>,
    heading: Cow<'a, str>,
    loose: CellText<'a>,
    /// Inside a list item or a link, whose text is no title.
    in_item: bool,
    in_link: bool,
    in_heading: bool,
    in_preformatted: bool,
    /// Whether the last heading belongs to the part about Exadata's storage servers.
    exadata: bool,
    cells: usize,
    /// The attributes of the last cell, and the number of columns that it spans by them.
    span_of: (&'a str, usize),
}

impl<'a> Builder<'a> {
    fn new(text: &'a str, first_line: u32, is_read: fn(&AwrTable<'_>) -> bool) -> Self {
        Self {
            document: Document::new(AwrFormat::Html),
            is_read,
            lines: LineCounter::new(text, first_line),
            open: Vec::new(),
            title: Cow::Borrowed(""),
            heading: Cow::Borrowed(""),
            loose: CellText::default(),
            in_item: false,
            in_link: false,
            in_heading: false,
            in_preformatted: false,
            exadata: false,
            cells: 0,
            span_of: ("", 1),
        }
    }

    fn open(&mut self, at: usize, name: &'a str, attributes: &'a str) {
        match Tag::of(name) {
            Tag::Table if self.open.len() < DEPTH_MAX => self.open_table(at, attributes),
            Tag::Row => self.open_row(at),
            Tag::Cell => self.open_cell(attributes, false),
            Tag::Head => self.open_cell(attributes, true),
            Tag::Heading => {
                self.end_loose();
                self.leave_aside();
                self.in_heading = self.open.is_empty();
                self.exadata = is_exadata(attributes);
            }
            Tag::Break => match self.open.last_mut().and_then(|table| table.cell.as_mut()) {
                Some(cell) => cell.text.blank(),
                None => self.end_loose(),
            },
            Tag::Item if self.open.is_empty() => {
                self.end_loose();
                self.in_item = true;
            }
            Tag::Link
                if self.open.is_empty() && !self.in_heading && attribute(attributes, "href").is_some() =>
            {
                self.end_loose();
                self.in_link = true;
            }
            Tag::Preformatted => self.in_preformatted = true,
            _ => {}
        }
    }

    fn close(&mut self, name: &str) {
        match Tag::of(name) {
            Tag::Table => self.close_table(),
            Tag::Row => self.close_row(),
            Tag::Cell | Tag::Head => self.close_cell(),
            Tag::Heading => {
                let text = self.loose.take();
                if self.in_heading && !text.is_empty() {
                    self.document.observe_title(&text);
                    self.heading = text;
                    self.title = Cow::Borrowed("");
                }
                self.in_heading = false;
            }
            Tag::Break if self.open.is_empty() => self.end_loose(),
            Tag::Item | Tag::List if self.open.is_empty() => {
                self.end_loose();
                self.leave_aside();
            }
            Tag::Link if self.in_link => {
                self.end_loose();
                self.in_link = false;
            }
            Tag::Preformatted => self.in_preformatted = false,
            _ => {}
        }
    }

    /// Whether what follows is in a table that no reader needs.
    fn is_in_unread(&self) -> bool {
        !self.in_preformatted && self.open.last().is_some_and(|table| table.unread)
    }

    fn text(&mut self, piece: &'a str) {
        self.document.names_report |= self.in_preformatted && names_report(piece);
        match self.open.last_mut() {
            Some(table) => {
                if let Some(cell) = &mut table.cell {
                    cell.text.push(piece);
                }
            }
            None => self.loose.push(piece),
        }
    }

    /// Items and links are often not closed; the next element ends them.
    fn leave_aside(&mut self) {
        self.in_item = false;
        self.in_link = false;
    }

    /// The end of a text outside of tables: the title of what follows, unless it is a note or a
    /// link.
    fn end_loose(&mut self) {
        let text = self.loose.take();
        if text.is_empty() || self.in_item || self.in_link || text.len() > TITLE_MAX {
            return;
        }
        if text.starts_with("End of Report") {
            self.document.ended = true;
            return;
        }
        self.document.observe_title(&text);
        self.title = text;
    }

    fn open_table(&mut self, at: usize, attributes: &'a str) {
        self.end_loose();
        self.leave_aside();
        let mut summary = CellText::default();
        summary.push(attribute(attributes, "summary").unwrap_or_default());
        let title = if self.title.is_empty() { self.heading.clone() } else { self.title.clone() };
        let line = self.lines.at(at);
        let exadata = self.exadata || is_exadata(attributes);
        let table = AwrTable { title, summary: summary.take(), exadata, line, ..AwrTable::default() };
        self.open.push(OpenTable { table, ..OpenTable::default() });
    }

    fn open_row(&mut self, at: usize) {
        self.close_row();
        let line = self.lines.at(at);
        if let Some(table) = self.open.last_mut() {
            // Rows are alike, so their cells are allocated in one piece from the start.
            let width = table.table.rows.last().map_or(0, |row| row.cells.len());
            let row = AwrTableRow { cells: Vec::with_capacity(width), line, ..AwrTableRow::default() };
            table.row = Some(OpenRow { row, ..OpenRow::default() });
        }
    }

    fn open_cell(&mut self, attributes: &'a str, head: bool) {
        self.close_cell();
        // The cells of a row have the same attributes, and parsing these costs more than all else
        // about a cell.
        if attributes != self.span_of.0 {
            let span = attribute(attributes, "colspan").and_then(|span| span.trim().parse().ok());
            self.span_of = (attributes, span.unwrap_or(1).clamp(1, SPAN_MAX));
        }
        let span = self.span_of.1;
        if let Some(table) = self.open.last_mut() {
            table.cell = Some(Cell { text: CellText::default(), head, span });
        }
    }

    fn close_cell(&mut self) {
        let Some(table) = self.open.last_mut() else { return };
        let Some(mut cell) = table.cell.take() else { return };
        if self.cells >= CELLS_MAX {
            self.document.cut = true;
            return;
        }
        let row = table.row.get_or_insert_with(|| OpenRow {
            row: AwrTableRow { line: table.table.line, ..AwrTableRow::default() },
            ..OpenRow::default()
        });
        if row.row.cells.len() >= COLUMNS_MAX {
            self.document.cut = true;
            return;
        }
        self.cells += 1;
        let text = cell.text.take();
        row.heads += usize::from(cell.head);
        row.data += usize::from(!cell.head && !text.is_empty());
        if cell.span > 1 || !row.spans.is_empty() {
            row.spans.resize(row.row.cells.len(), 1);
            row.spans.push(cell.span);
        }
        row.row.cells.push(text);
    }

    fn close_row(&mut self) {
        self.close_cell();
        let Some(table) = self.open.last_mut() else { return };
        let Some(row) = table.row.take() else { return };
        if let (true, Some(last)) = (table.unread, table.table.rows.last_mut()) {
            last.line = row.row.line;
            return;
        }
        if row.row.cells.is_empty() {
            return;
        }
        // Rows of captions have head cells; the corner above the names is an empty cell of the
        // other kind.
        if row.heads == 0 || row.data > 0 {
            if table.table.rows.is_empty() {
                table.table.columns = captions(&table.heads);
                table.unread = !(self.is_read)(&table.table);
            }
            table.table.rows.push(spread(row));
        } else if table.table.rows.is_empty() {
            table.heads.push((row.row, row.spans));
        }
    }

    fn close_table(&mut self) {
        self.close_row();
        let Some(mut open) = self.open.pop() else { return };
        if open.table.rows.is_empty() {
            open.table.columns = captions(&open.heads);
        }
        if self.document.tables.len() >= TABLES_MAX {
            self.document.cut = true;
        } else {
            self.document.tables.push(open.table);
        }
    }

    fn finish(mut self) -> Document<'a> {
        // A row without an end may lack digits of its last figure.
        for table in &mut self.open {
            table.row = None;
            table.cell = None;
        }
        while !self.open.is_empty() {
            self.close_table();
        }
        self.leave_aside();
        self.end_loose();
        self.document
    }
}

/// Whether a heading or a table has the class of the part about Exadata's storage servers. Sites
/// with many cells have sections there that are named after the finding.
fn is_exadata(attributes: &str) -> bool {
    attribute(attributes, "class").is_some_and(|class| class.starts_with("exa"))
}

/// A data row with a cell for each column that its cells span.
fn spread(row: OpenRow<'_>) -> AwrTableRow<'_> {
    if row.spans.is_empty() {
        return row.row;
    }
    let mut cells = Vec::new();
    for (cell, span) in row.row.cells.into_iter().zip(row.spans) {
        cells.push(cell);
        cells.extend(std::iter::repeat_n(Cow::Borrowed(""), span - 1));
    }
    cells.truncate(COLUMNS_MAX);
    AwrTableRow { cells, ..row.row }
}

/// One caption for each column, from the rows of captions with their spans.
fn captions(heads: &[(AwrTableRow<'_>, Vec<usize>)]) -> Vec<String> {
    let mut captions: Vec<String> = Vec::new();
    for (row, spans) in heads {
        let mut column = 0;
        for (cell, span) in row.cells.iter().zip(spans.iter().copied().chain(std::iter::repeat(1))) {
            let end = (column + span).min(COLUMNS_MAX);
            captions.resize(captions.len().max(end), String::new());
            for caption in &mut captions[column..end] {
                if !caption.is_empty() && !cell.is_empty() {
                    caption.push(' ');
                }
                caption.push_str(cell);
            }
            column = end;
        }
    }
    captions
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "<h3>Latches</h3>\n<table><tr><th>Name</th></tr>\n<tr><td>a</td></tr>\n<TR><TD>b</TD></TR>\n\
        <tr><td>c<table><tr><td>inner</td></tr></table></td></tr>\n</table><h3>Load</h3>\n\
        <table><tr><td>d</td><td colspan=2>e</td><td>f</td></tr><tr><td>g</td></tr></table>End of Report";

    #[test]
    fn skipped_html_table_keeps_only_first_row() {
        let whole = read(PAGE, 1, |_| true);
        let read = read(PAGE, 1, |table| table.title != "Latches");
        let cells = |document: &Document<'_>| -> Vec<String> {
            document
                .tables
                .iter()
                .map(|table| table.rows.iter().map(|row| row.cells.join("|")).collect())
                .collect()
        };
        assert_eq!(cells(&whole), ["inner", "abc", "d|e||fg"]);
        assert_eq!(cells(&read), ["inner", "a", "d|e||fg"]);
        assert_eq!(read.tables[1].columns, ["Name"]);
        assert!(read.ended);
        // What a truncated report states about its end.
        let last = |document: &Document<'_>| -> Vec<u32> {
            document.tables.iter().map(|table| table.rows.last().unwrap().line).collect()
        };
        assert_eq!(last(&read), last(&whole));
    }

    #[test]
    fn text_report_is_detected_in_pre_inside_skipped_table() {
        let page = |tag| {
            format!("<table><tr><td>a</td></tr><tr><td><{tag}>STATSPACK</b> report for</{tag}></td></tr>")
        };
        assert!(read(&page("pre"), 1, |_| false).names_report);
        assert!(!read(&page("pre_sqltext"), 1, |_| false).names_report);
    }
}
