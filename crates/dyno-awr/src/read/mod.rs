//! Section readers: extract figures and lists from tables.

mod activity;
mod context;
mod cpu;
mod details;
mod distributions;
mod events;
mod global;
mod histogram;
mod identity;
mod io;
mod key;
mod known_sections;
mod load;
mod parameters;
mod sections;
mod segments;
mod statements;

use std::collections::BTreeSet;

use context::Context;
pub(crate) use details::{AwrComparisonKind, compared, detail_lists};
use distributions::Histograms;

use crate::issue::AwrIssueSeverity;
use crate::number::{Decimal, DecimalEvidence};
use crate::report::{AwrReport, AwrReportKind};
use crate::table::{AwrTable, Document, squash};

/// Most rows of one table that are examined for the decimal mark.
const EVIDENCE_ROWS_MAX: usize = 40;

/// The kind of report; `None` for an unknown one.
pub(crate) fn kind_of(document: &Document<'_>) -> Option<AwrReportKind> {
    identity::kind(&document.title)
}

/// Reads every section of a document.
pub(crate) fn read(document: &Document<'_>, file: &str, kind: AwrReportKind) -> AwrReport {
    let report = AwrReport::new(file, document.form, kind);
    let mut context = Context {
        report,
        decimal: decimal_of(document),
        histograms: Histograms::default(),
        listed_parameters: BTreeSet::new(),
    };
    for table in &document.tables {
        sections::read(&mut context, table);
    }
    identity::owner(&mut context, document);
    context.report.histograms = std::mem::take(&mut context.histograms).finish();
    whole(&mut context, document);
    context.report
}

/// Checks whether the document is complete.
fn whole(context: &mut Context, document: &Document<'_>) {
    let last = document.tables.last().map_or(1, |table| table.rows.last().map_or(table.line, |row| row.line));
    if document.cut {
        let message =
            "the report has more tables, rows or cells than Dyno reads; the excess was skipped".to_owned();
        context.issue(AwrIssueSeverity::Warning, "", last, message);
    }
    if !document.ended {
        let message =
            "the report ends without its last line (End of Report); what comes after this line is missing";
        context.issue(AwrIssueSeverity::Warning, "", last, message.to_owned());
    }
    for (name, what) in [("begin_snap", "snapshots"), ("elapsed_min", "elapsed time")] {
        if context.report.value(name).is_none() {
            context.issue(AwrIssueSeverity::Warning, "", 1, format!("it does not state its {what}"));
        }
    }
}

/// Whether any kind of report has a reader for the table.
pub(crate) fn is_read(table: &AwrTable<'_>) -> bool {
    is_summary(table) || sections::is_read(table)
}

/// Whether the table is one that shows the decimal mark.
fn is_summary(table: &AwrTable<'_>) -> bool {
    let title = squash(&table.title);
    ["loadprofile", "instanceefficiency", "wait", "timemodel", "instanceactivity", "systemstatistics"]
        .iter()
        .any(|start| title.starts_with(start))
}

/// The decimal mark of the report, from the tables of the summary, which are short and contain only
/// numbers.
fn decimal_of(document: &Document<'_>) -> Decimal {
    let mut evidence = DecimalEvidence::default();
    for table in document.tables.iter().filter(|table| is_summary(table)) {
        for row in table.rows.iter().take(EVIDENCE_ROWS_MAX) {
            row.cells.iter().skip(1).for_each(|cell| evidence.observe(cell));
        }
    }
    evidence.decide()
}
