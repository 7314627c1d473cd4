//! Reads the top SQL of an AWR or STATSPACK report.

use std::collections::BTreeMap;
use std::path::Path;

use dyno_awr::AwrReport;
use dyno_engine::executed_statements::{
    ObservedStatement, ObservedStatements, PlaceholderStyle, StatementOrder,
};

use crate::exit::usage;

/// Top statements of the report in `file`.
pub(super) fn read_statements(file: &Path, order: StatementOrder) -> anyhow::Result<ObservedStatements> {
    let shown = file.display();
    let cannot =
        |problem: String| usage(format!("{shown}: {problem}"), "name an Oracle AWR or STATSPACK report");
    let mut reports = dyno_awr::read_file(file).map_err(|error| cannot(error.to_string()))?;
    if reports.len() > 1 {
        return Err(usage(
            format!("{shown} contains {} reports", reports.len()),
            "split it, and name the report of one interval",
        ));
    }
    let report = reports.pop().ok_or_else(|| cannot("it contains no report".to_owned()))?;
    let report = report.map_err(|error| cannot(error.to_string()))?;
    Ok(of(&report, order))
}

fn of(report: &AwrReport, order: StatementOrder) -> ObservedStatements {
    let mut statements: Vec<ObservedStatement> = merge_lists(report).into_values().collect();
    let key = |one: &ObservedStatement| match order {
        StatementOrder::Time => one.time_s.unwrap_or(0.0),
        StatementOrder::Calls => one.calls.unwrap_or(0) as f64,
        StatementOrder::Reads => one.reads.unwrap_or(0) as f64,
    };
    // The ids are already in order, and the sort is stable.
    statements.sort_by(|a, b| key(b).total_cmp(&key(a)));
    let lists: Vec<&str> = report.statements.iter().map(|list| list.order.as_str()).collect();
    let mut notes = vec![match lists.is_empty() {
        true => "the report has no list of top SQL".to_owned(),
        false => format!("the report lists the top SQL by {}; others are not in it", lists.join(", ")),
    }];
    if report.statement_texts.is_empty() && !lists.is_empty() {
        notes.push(
            "the report has no list of complete texts, as HTML reports have: its texts may be truncated"
                .to_owned(),
        );
    }
    let database = report.word("db_name").unwrap_or("a database");
    ObservedStatements {
        source: format!("the top SQL of {database} in a report"),
        marks: PlaceholderStyle::Colon,
        schemas: &["sys", "system"],
        reads: "blocks read from disk",
        statements,
        notes,
    }
}

/// The statements of all lists, each once, with the data of all lists.
fn merge_lists(report: &AwrReport) -> BTreeMap<String, ObservedStatement> {
    let mut all: BTreeMap<String, ObservedStatement> = BTreeMap::new();
    for statement in report.statements.iter().flat_map(|list| &list.statements) {
        let entry = all.entry(statement.id.clone()).or_insert_with(|| ObservedStatement {
            id: statement.id.clone(),
            text: None,
            whole: None,
            calls: None,
            time_s: None,
            rows: None,
            reads: None,
        });
        let figure = |name: &str| {
            statement.figures.get(name).map(|reading| reading.value).filter(|value| *value >= 0.0)
        };
        let count = |name: &str| figure(name).map(|value| value.round() as u64);
        entry.calls = entry.calls.or_else(|| count("executions"));
        entry.time_s = entry.time_s.or_else(|| figure("elapsed_s"));
        entry.rows = entry.rows.or_else(|| count("rows"));
        entry.reads = entry.reads.or_else(|| count("reads"));
        // The longest text in the lists.
        let longer = |text: &&String| entry.text.as_ref().is_none_or(|known| known.len() < text.len());
        if let Some(text) = statement.text.as_ref().filter(longer) {
            entry.text = Some(text.clone());
            entry.whole = text.trim_end().ends_with("...").then_some(false);
        }
    }
    for (id, text) in &report.statement_texts {
        if let Some(one) = all.get_mut(id) {
            (one.text, one.whole) = (Some(text.clone()), Some(true));
        }
    }
    all
}
