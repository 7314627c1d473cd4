//! Counts of all statements in the cursor cache, from `V$SQLSTATS`, which needs no management pack.
//!
//! A statement that leaves the cache takes its counts with it. The figures of a PL/SQL block include those of the
//! statements that it executes, which have rows of their own.

use dyno_engine::statement_counts::STATEMENTS_MAX;
use dyno_engine::{CumulativeStatement, StatementDescription, StatementSnapshot, TargetError};
use dyno_record::StatementCounts;

use super::super::connection::{OracleConnection, TextRow};
use super::super::executed_statements::unreadable_cursors;
use super::super::sql::{self, OracleSqlFile};
use super::sources::OracleInstanceContext;

/// What readers of the list must know.
const NESTED: &str = "the figures of a PL/SQL block include those of the statements that it executes, which are also listed on their own";

/// The prefix of the views: of one instance, or of all.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OracleStatementReader {
    prefix: &'static str,
}

impl OracleStatementReader {
    /// Reads the statements of all instances that may work for the target.
    pub(crate) fn new(surroundings: OracleInstanceContext) -> Self {
        Self { prefix: if surroundings.rac { "g" } else { "" } }
    }

    /// The text of a statement with its views.
    pub(crate) fn sql(self, statement: OracleSqlFile) -> String {
        let [view, cursors] = ["v$sqlstats", "v$sql"].map(|view| format!("{}{view}", self.prefix));
        statement.with(&[("view", &view), ("cursors", &cursors)])
    }

    /// The counts of all statements.
    ///
    /// # Errors
    /// This user may not read them, with a hint; there are too many; or the connection is lost.
    pub(super) fn read(self, connection: &OracleConnection) -> Result<StatementSnapshot, TargetError> {
        let most = i64::try_from(STATEMENTS_MAX + 1).unwrap_or(i64::MAX);
        let rows = connection.rows_if_allowed(&self.sql(sql::CURSOR_COUNTS), &[("most", &most)])?;
        let rows = rows.ok_or_else(|| unreadable_cursors(self.prefix))?;
        if rows.len() > STATEMENTS_MAX {
            return Err(TargetError::unsupported(format!(
                "the cursor cache has more than {STATEMENTS_MAX} statements, and reading them would disturb the measurement"
            ))
            .hint("`dyno import statements` lists those with the most time"));
        }
        Ok(StatementSnapshot {
            source: format!("{}V$SQLSTATS", self.prefix.to_uppercase()),
            statements: rows.iter().map(statement).collect(),
            notes: vec![NESTED.to_owned()],
            ..StatementSnapshot::default()
        })
    }

    /// Texts and schemas of the statements `keys`, and Dyno's observing statements.
    pub(super) fn describe(
        self,
        connection: &OracleConnection,
        keys: &[&str],
    ) -> Result<Vec<StatementDescription>, TargetError> {
        let ids = keys.join(" ");
        // An empty text is NULL, which holds nothing.
        let ids = if ids.is_empty() { "-" } else { &ids };
        let rows = connection.rows_if_allowed(&self.sql(sql::CURSOR_TEXTS), &[("ids", &ids)])?;
        let rows = rows.ok_or_else(|| unreadable_cursors(self.prefix))?;
        Ok(rows.iter().map(description).collect())
    }
}

fn statement(row: &TextRow) -> (String, CumulativeStatement) {
    let seconds = |column| row.parse::<f64>(column).map(|us| us / 1e6);
    let counts = StatementCounts {
        calls: row.parse(1).unwrap_or(0),
        time_s: seconds(2).unwrap_or(0.0),
        cpu_s: seconds(3),
        lock_s: seconds(4),
        read_s: seconds(5),
        rows: row.parse(6),
        logical_reads: row.parse(7),
        physical_reads: row.parse(8),
        ..StatementCounts::default()
    };
    (row.text(0).to_owned(), CumulativeStatement { since: String::new(), counts })
}

fn description(row: &TextRow) -> StatementDescription {
    let text = format!("{}{}", row.text(1), row.text(2));
    StatementDescription {
        key: row.text(0).to_owned(),
        id: row.text(0).to_owned(),
        text: (!text.is_empty()).then_some(text),
        database: row.get(3).map(str::to_owned),
        user: None,
        is_monitoring: row.parse(4).is_some_and(|observing: u64| observing > 0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(cells: &[Option<&str>]) -> TextRow {
        TextRow(cells.iter().map(|cell| cell.map(str::to_owned)).collect())
    }

    #[test]
    fn cursor_row_becomes_counts_in_seconds() {
        let cells = ["81qbw", "40", "2500000", "1500000", "250000", "500000", "80", "4000", "7"];
        let (id, statement) = statement(&row(&cells.map(Some)));
        let counts = statement.counts;
        assert_eq!((id.as_str(), counts.calls, counts.time_s), ("81qbw", 40, 2.5));
        assert_eq!((counts.cpu_s, counts.lock_s, counts.read_s), (Some(1.5), Some(0.25), Some(0.5)));
        assert_eq!(
            (counts.rows, counts.logical_reads, counts.physical_reads),
            (Some(80), Some(4_000), Some(7))
        );
    }

    #[test]
    fn cursor_text_is_joined_and_observer_is_marked() {
        let read = |observing| {
            description(&row(&[
                Some("81qbw"),
                Some("SELECT a"),
                Some(" FROM t"),
                Some("APP"),
                Some(observing),
            ]))
        };
        assert_eq!(read("0").text.as_deref(), Some("SELECT a FROM t"));
        assert_eq!(read("0").database.as_deref(), Some("APP"));
        assert_eq!([read("0").is_monitoring, read("1").is_monitoring], [false, true]);
        assert_eq!(description(&row(&[Some("81qbw"), None, None, None, Some("0")])).text, None);
    }
}
