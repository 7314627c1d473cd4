//! Reads the statements that the server has recorded in `pg_stat_statements`, and the types of their
//! parameters.

use dyno_engine::executed_statements::{
    MOST, ObservedStatement, ObservedStatements, ParameterTypes, PlaceholderStyle, StatementOrder,
    StatementQuery,
};
use dyno_engine::{Refusal as _, TargetError, TextRow};

use super::layout::{ident, literal};
use super::wire::{PostgresConnection, PostgresError, PostgresFieldReader, PostgresWireError, message};

/// The schema and the version of the extension.
const EXTENSION: &str =
    "SELECT n.nspname, e.extversion FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace
                         WHERE e.extname = 'pg_stat_statements'";

/// The start of its counts, and how often it has discarded infrequent statements.
const SINCE: &str = "SELECT to_char(stats_reset, 'YYYY-MM-DD HH24:MI:SS TZH:TZM'), dealloc FROM {extension}.pg_stat_statements_info";

/// The extension version that separates statements inside functions and reports the start of its counts.
const TOP_LEVEL_FROM: (u32, u32) = (1, 9);

pub(super) const MAKE_IT: &str = "set shared_preload_libraries = 'pg_stat_statements' in postgresql.conf and restart \
    the server, then run CREATE EXTENSION pg_stat_statements in this database, and let the application \
    work for a while";

/// Reads the recorded statements that `asked` selects.
pub(super) fn seen(
    connection: &mut PostgresConnection,
    request: &StatementQuery,
) -> Result<ObservedStatements, TargetError> {
    if request.schema.is_some() {
        let message = "pg_stat_statements does not show in which schema a statement finds its tables";
        return Err(TargetError::unsupported(message)
            .hint("leave --schema out; --user NAME selects the statements of one user"));
    }
    let extension_rows = connection.simple(EXTENSION)?;
    let Some(extension_row) = extension_rows.first() else {
        return Err(not_installed());
    };
    let (extension, tells_more) =
        (ident(extension_row.text(0)), parse_version(extension_row.text(1)) >= TOP_LEVEL_FROM);
    let sql = listing_sql(request, &extension, tells_more);
    let rows = connection.simple(&sql).map_err(|error| {
        let hint = match PostgresError::of(&error).map(PostgresError::code).as_deref() {
            // The view exists, but the library that counts is not loaded.
            Some("55000") => MAKE_IT,
            Some("42703") => {
                "ALTER EXTENSION pg_stat_statements UPDATE brings it to the version of the server"
            }
            _ => "as its owner: GRANT pg_read_all_stats TO the user of --target",
        };
        error.during("pg_stat_statements").hint(hint)
    })?;
    let mut notes = Vec::new();
    if tells_more {
        let info = connection.simple(&SINCE.replace("{extension}", &extension))?;
        if let Some(row) = info.first() {
            notes.push(format!("counted since {}", row.text(0)));
            if row.parse(1).is_some_and(|dropped: u64| dropped > 0) {
                notes.push(format!(
                    "the server discarded rare statements {} times: raise pg_stat_statements.max",
                    row.text(1)
                ));
            }
        }
    }
    let database = connection.simple("SELECT current_database()")?;
    Ok(ObservedStatements {
        source: format!("pg_stat_statements of database {}", database.first().map_or("", |row| row.text(0))),
        marks: PlaceholderStyle::Dollar,
        schemas: &["pg_catalog", "information_schema"],
        reads: "blocks from outside the cache",
        statements: rows.iter().map(parse_statement).collect(),
        notes,
    })
}

/// The error of a database without the extension.
pub(super) fn not_installed() -> TargetError {
    TargetError::unsupported("the extension pg_stat_statements is not installed in this database")
        .hint(MAKE_IT)
}

/// Parses a version as major and minor: `1.10` → (1, 10).
fn parse_version(version: &str) -> (u32, u32) {
    let (major, minor) = version.split_once('.').unwrap_or((version, "0"));
    (major.parse().unwrap_or(0), minor.parse().unwrap_or(0))
}

fn listing_sql(request: &StatementQuery, extension: &str, tells_more: bool) -> String {
    let order = match request.order {
        StatementOrder::Time => "SUM(total_exec_time)",
        StatementOrder::Calls => "SUM(calls)",
        StatementOrder::Reads => "SUM(shared_blks_read)",
    };
    let user = match &request.user {
        None => "true".to_owned(),
        Some(user) => {
            format!("userid = (SELECT oid FROM pg_roles WHERE rolname = {})", literal(user))
        }
    };
    let toplevel = if tells_more { "toplevel" } else { "true" };
    let text = include_str!("sql/seen.sql");
    // Names from the database are inserted last because they may contain braces.
    let replacements = [("{toplevel}", toplevel), ("{order}", order), ("{most}", &MOST.to_string())];
    let text =
        replacements.iter().fold(without_comments(text), |text, (name, value)| text.replace(name, value));
    let (before, behind) = text.split_once("{extension}").unwrap_or((&text, ""));
    format!("{before}{extension}{}", behind.replace("{user}", &user))
}

/// Removes comments, which also contain names in braces.
fn without_comments(text: &str) -> String {
    text.lines().filter(|line| !line.starts_with("--")).collect::<Vec<_>>().join("\n")
}

/// The view's placeholder for a text that this user may not see.
pub(super) const HIDDEN: &str = "<insufficient privilege>";

fn parse_statement(row: &TextRow) -> ObservedStatement {
    let text = row.get(1).filter(|text| *text != HIDDEN).map(str::to_owned);
    ObservedStatement {
        id: row.get(0).unwrap_or("?").to_owned(),
        whole: text.is_some().then_some(true),
        text,
        calls: row.parse(2),
        time_s: row.parse::<f64>(3).map(|ms| ms / 1e3),
        rows: row.parse(4),
        reads: row.parse(5),
    }
}

/// The types of each statement's parameters; no statement is executed.
pub(super) fn parameter_types(
    connection: &mut PostgresConnection,
    statements: &[&str],
) -> Result<Vec<ParameterTypes>, TargetError> {
    statements.iter().map(|statement| types_of(connection, statement)).collect()
}

fn types_of(connection: &mut PostgresConnection, statement: &str) -> Result<ParameterTypes, TargetError> {
    message::parse(&mut connection.line.out, "", statement, &[]);
    message::describe_statement(&mut connection.line.out, "");
    message::sync(&mut connection.line.out);
    connection.line.send()?;
    let mut oids = None;
    loop {
        let (tag, body) = connection.next()?;
        match tag {
            b't' => {
                let mut fields = PostgresFieldReader::new(connection.line.body(body));
                let count = fields.u16().ok_or_else(cut_short)?;
                let all: Option<Vec<i32>> = (0..count).map(|_| fields.i32()).collect();
                oids = Some(all.ok_or_else(cut_short)?);
            }
            b'Z' => break,
            _ => {}
        }
    }
    let Some(oids) = oids else { return Ok(None) };
    if oids.is_empty() {
        return Ok(Some(Vec::new()));
    }
    let list: Vec<String> =
        oids.iter().map(|oid| format!("format_type({}::oid, NULL)", oid.cast_unsigned())).collect();
    let rows = connection.simple(&format!("SELECT {}", list.join(", ")))?;
    Ok(rows.first().map(|row| (0..row.len()).map(|at| row.text(at).to_owned()).collect()))
}

fn cut_short() -> PostgresWireError {
    PostgresWireError::protocol("a truncated parameter description")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn user_name_cannot_inject_sql() {
        let request = StatementQuery {
            order: StatementOrder::Calls,
            schema: None,
            user: Some("o'x {most}".to_owned()),
        };
        let sql = listing_sql(&request, "\"ext{user}\"", true);
        assert!(sql.contains("rolname = 'o''x {most}'"), "{sql}");
        assert!(sql.contains("FROM \"ext{user}\".pg_stat"), "{sql}");
        assert!(sql.contains("ORDER BY SUM(calls) DESC"), "{sql}");
        assert!(sql.contains("AND toplevel"), "{sql}");
        let before = listing_sql(&StatementQuery { user: None, ..request }, "public", false);
        assert!(!before.contains("toplevel"), "{before}");
        assert!(!before.contains('{'), "{before}");
        assert!(parse_version("1.10") > TOP_LEVEL_FROM);
        assert!(parse_version("1.8") < TOP_LEVEL_FROM);
    }
}
