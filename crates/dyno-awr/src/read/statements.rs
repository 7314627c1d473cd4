//! Reads top statements: ids and figures of every list, and the statement texts.

use std::collections::BTreeMap;

use super::context::{Context, Sources};
use super::load::name_of;
use crate::number::Suffix;
use crate::report::{AwrStatement, StatementList};
use crate::table::{AwrTable, AwrTableRow, squash};

/// The sort order of a list, from its title.
fn order(title: &str) -> Option<String> {
    let rest = squash(title).strip_prefix("sqlorderedby")?.to_owned();
    // STATSPACK names the database after one of its lists: `SQL ordered by Elapsed time for DB: …`.
    let rest = rest.trim_end_matches("global").trim_end_matches("for");
    let order = match rest {
        "elapsedtime" | "elapsed" => "elapsed",
        "cputime" | "cpu" => "cpu",
        "gets" => "gets",
        "reads" => "reads",
        "executions" => "executions",
        "useri/owaittime" | "useri/otime" => "user_io",
        "physicalreadsunoptimized" | "unoptimizedreadrequests" => "unoptimized_reads",
        "parsecalls" => "parse_calls",
        "sharablememory" => "sharable_memory",
        "versioncount" => "versions",
        "clusterwaittime" => "cluster",
        _ => return Some(name_of(title.get("SQL ordered by ".len()..).unwrap_or(title))),
    };
    Some(order.to_owned())
}

/// The name of a column of figures.
fn figure(caption: &str) -> Option<&'static str> {
    // Text has no room for the last letter of `Reqs per Exec`.
    if caption.contains("perexe") {
        return Some("per_execution").filter(|_| !caption.starts_with("perexecution"));
    }
    Some(match caption.strip_prefix("total").unwrap_or(caption) {
        "elapsedtimes" | "elapsdtimes" | "elapseds" => "elapsed_s",
        "cputimes" | "cpus" => "cpu_s",
        "buffergets" | "gets" => "gets",
        "physicalreads" | "physicalrds" | "reads" => "reads",
        "executions" | "execs" => "executions",
        "rowsprocessed" | "rows" => "rows",
        "parsecalls" => "parse_calls",
        "useri/otimes" | "iowaits" => "user_io_s",
        "clusterwaittimes" | "clusters" => "cluster_s",
        "sharablememb" => "sharable_memory_bytes",
        "versioncount" => "versions",
        "unoptimizedreadreqs" | "unoptimized" => "unoptimized_reads",
        "physicalreadreqs" | "requests" => "read_requests",
        // The longer captions lost `total` above.
        "%total" | "%totalparses" | "%totaldbtime" | "%" => "total_pct",
        "cwt%ofelapsdtim" => "cluster_pct",
        "%cpu" => "cpu_pct",
        "%io" => "io_pct",
        "%clu" => "cluster_pct",
        "%opt" => "optimized_pct",
        _ => return None,
    })
}

/// Characters of a statement's id.
const SQL_ID_LENGTH: usize = 13;

/// Whether a text is a SQL id, or a hash value of STATSPACK.
fn is_id(text: &str) -> bool {
    let sql_id =
        text.len() == SQL_ID_LENGTH && text.bytes().all(|b| b.is_ascii_digit() || b.is_ascii_lowercase());
    let hash = (5..=10).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit());
    sql_id || hash
}

/// Reads one list of statements.
pub(crate) fn read(context: &mut Context, table: &AwrTable<'_>) {
    let Some(order) = order(&table.title) else { return };
    let Some(id) = table.find(|caption| caption == "sqlid" || caption.ends_with("hashvalue")) else { return };
    let sources = Sources::new(table);
    let names: Vec<Option<&'static str>> =
        table.columns.iter().map(|caption| figure(&squash(caption))).collect();
    let text = |row: &AwrTableRow<'_>, caption: &str| {
        let text = row.cell(table.column(caption)?).trim();
        (!text.is_empty()).then(|| text.to_owned())
    };
    let mut statements: Vec<AwrStatement> = Vec::new();
    for row in &table.rows {
        if !is_id(row.cell(id)) {
            if let (Some(raw), Some(last)) = (row.raw, statements.last_mut()) {
                text_line(last, raw);
            }
            continue;
        }
        let mut figures = BTreeMap::new();
        for (column, name) in names.iter().enumerate() {
            let Some(name) = name.filter(|name| !figures.contains_key(name)) else { continue };
            figures.extend(
                context.number(&sources, row, Some(column), Suffix::Decimal).map(|reading| (name, reading)),
            );
        }
        statements.push(AwrStatement {
            id: row.cell(id).to_owned(),
            figures,
            module: text(row, "sqlmodule"),
            pdb: text(row, "pdbname"),
            text: text(row, "sqltext"),
            line: row.line,
        });
    }
    let first = table.rows.first().cloned().unwrap_or_default();
    let source = sources.source(&first, id);
    match context.report.statements.iter_mut().find(|list| list.order == order) {
        // Text reports begin a list again on each page.
        Some(list) => list.statements.extend(statements),
        None => context.report.statements.push(StatementList { order, statements, source }),
    }
}

/// Most characters of a statement's text that are kept.
const TEXT_MAX: usize = 8_192;

/// A line below a statement's figures: its module, its container, or a part of its text, which may
/// break within words.
fn text_line(statement: &mut AwrStatement, raw: &str) {
    if let Some(module) = raw.strip_prefix("Module: ") {
        statement.module = Some(module.trim().to_owned());
    } else if let Some(pdb) = raw.strip_prefix("PDB: ") {
        statement.pdb = Some(pdb.trim().to_owned());
    } else {
        let text = statement.text.get_or_insert_default();
        if text.len() < TEXT_MAX {
            text.push_str(raw);
        }
    }
}

/// The list of complete texts.
pub(crate) fn texts(context: &mut Context, table: &AwrTable<'_>) {
    let (Some(id), Some(text)) = (table.column("sqlid"), table.column("sqltext")) else { return };
    for row in &table.rows {
        if is_id(row.cell(id)) && !row.cell(text).is_empty() {
            let texts = &mut context.report.statement_texts;
            texts.entry(row.cell(id).to_owned()).or_insert_with(|| row.cell(text).to_owned());
        }
    }
}

/// Plans of statements, from the part about sampled sessions.
pub(crate) fn plans(context: &mut Context, table: &AwrTable<'_>) {
    let (Some(id), Some(plan)) =
        (table.column("sqlid"), table.find(|caption| caption.starts_with("planhash")))
    else {
        return;
    };
    for row in &table.rows {
        let (id, plan) = (row.cell(id), row.cell(plan));
        let is_plan = !plan.is_empty() && plan.bytes().all(|b| b.is_ascii_digit());
        if is_id(id) && is_plan {
            context.report.plans.entry(id.to_owned()).or_default().insert(plan.to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sql_section_order_and_statement_id_are_recognized() {
        assert_eq!(order("SQL ordered by Elapsed Time").as_deref(), Some("elapsed"));
        assert_eq!(order("SQL ordered by CPU").as_deref(), Some("cpu"));
        assert_eq!(order("SQL ordered by Elapsed time for").as_deref(), Some("elapsed"));
        assert_eq!(order("SQL ordered by User I/O Time (Global)").as_deref(), Some("user_io"));
        assert_eq!(order("SQL ordered by Something New").as_deref(), Some("something_new"));
        assert!(is_id("82ud5h0qcg0bf"));
        assert!(is_id("3851979199"));
        assert!(!is_id("select"));
        assert!(!is_id(""));
        assert!(!is_id("12"));
    }
}
