//! Reads STATSPACK's table of the host where lines are too short for it. Captions, rulers and
//! values of the last columns are then on separate lines, in the order in which SQL*Plus or a copy
//! of the report broke them.

use std::borrow::Cow;

use super::head::{CaptionLine, captions, with_labels};
use super::lines::AwrTextLine;
use super::ruler::{cells, dashes, is_rule_line};
use crate::table::{AwrTable, AwrTableRow};

/// Most lines of one table of the host.
const LINES_MAX: usize = 12;

/// A table read from a block of lines, and the number of lines it took.
pub(super) struct Wrapped<'a> {
    pub(super) table: AwrTable<'a>,
    pub(super) lines: usize,
}

/// The table at the begin of the lines, if it is the host's and its captions take more than one
/// line.
pub(super) fn host<'a>(lines: &[AwrTextLine<'a>]) -> Option<Wrapped<'a>> {
    let first = lines.first().filter(|line| line.text.trim_start().starts_with("Host Name"))?;
    let end = lines.iter().take(LINES_MAX).position(|line| line.text.is_empty());
    let block = &lines[..end.unwrap_or(lines.len().min(LINES_MAX))];
    let rules: Vec<usize> = (0..block.len()).filter(|&at| is_rule_line(block[at].text)).collect();
    let (first_rule, last_rule) = (*rules.first()?, *rules.last()?);
    if first_rule < 2 && rules.len() < 2 {
        return None;
    }
    let heads: Vec<usize> = (0..last_rule).filter(|at| !rules.contains(at)).collect();
    let values = &block[last_rule + 1..];
    let value_line = values.first()?;
    let mut columns = Vec::new();
    let mut row = AwrTableRow { cells: Vec::new(), raw: None, line: value_line.number };
    for (level, &rule_at) in rules.iter().enumerate() {
        let rule = block[rule_at].text;
        let spans = if level == 0 { with_labels(dashes(rule), rule) } else { dashes(rule) };
        let head = heads.get(level).map_or("", |&at| block[at].text);
        columns.extend(captions(&[CaptionLine { text: head, from: 0 }], &spans));
        let value = values.get(level).map_or("", |line| line.text);
        let row_cells = cells(value, &spans).unwrap_or_else(|| vec![""; spans.len()]);
        row.cells.extend(row_cells.into_iter().map(Cow::Borrowed));
    }
    let title = Cow::Borrowed("Host Name");
    let table = AwrTable { title, columns, rows: vec![row], line: first.number, ..AwrTable::default() };
    Some(Wrapped { table, lines: block.len() })
}
