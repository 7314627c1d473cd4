//! Section readers: from tables to figures and lists.

mod activity;
mod context;
mod cpu;
mod events;
mod global;
mod identity;
mod load;
mod sections;

use context::Context;

use crate::number::{Decimal, DecimalEvidence};
use crate::report::{Kind, Report};
use crate::table::{Document, Table, squash};

/// Rows of one table that are looked at for how the report writes decimals.
const EVIDENCE_ROWS_MAX: usize = 40;

/// What kind of report a document is; `None` where it is none that is known.
pub(crate) fn kind_of(document: &Document<'_>) -> Option<Kind> {
    identity::kind(&document.title)
}

/// Reads every section of a document.
pub(crate) fn read(document: &Document<'_>, file: &str, kind: Kind) -> Report {
    let report = Report::new(file, document.form, kind);
    let mut context = Context { report, decimal: decimal_of(document) };
    for table in &document.tables {
        sections::read(&mut context, table);
    }
    context.report
}

/// How the report writes decimals, from the tables of the summary, which are short and all numbers.
fn decimal_of(document: &Document<'_>) -> Decimal {
    let mut evidence = DecimalEvidence::default();
    let is_summary = |table: &&Table<'_>| {
        let title = squash(&table.title);
        ["loadprofile", "instanceefficiency", "wait", "timemodel", "instanceactivity", "systemstatistics"]
            .iter()
            .any(|start| title.starts_with(start))
    };
    for table in document.tables.iter().filter(is_summary) {
        for row in table.rows.iter().take(EVIDENCE_ROWS_MAX) {
            row.cells.iter().skip(1).for_each(|cell| evidence.see(cell));
        }
    }
    evidence.decide()
}
