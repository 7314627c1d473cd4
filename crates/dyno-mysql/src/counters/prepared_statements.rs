//! Executions of prepared statements, on servers that have no digests of them.
//!
//! Such a server (MariaDB) counts all executions together. With the consumer `events_statements_current` it also
//! counts those of each statement that is prepared at the moment.

use std::collections::HashMap;

use dyno_engine::{CumulativeStatement, StatementDescription, StatementSnapshot, TargetError, TextRow};
use dyno_record::{CountedStatements, StatementCounts};

use super::super::executed_statements::may_not_read;
use super::super::layout::literal;
use super::super::wire::message::{self, command};
use super::super::wire::{MySqlConnection, MySqlError};
use super::statement_columns::{MySqlStatementColumns, counts};
use dyno_engine::Refusal as _;

/// The event of an execution, and the keys of the statements here.
const EVENT: &str = "statement/com/Execute";
const KEY: &str = "prepared ";

/// The share of all executions that may be missing without a word, in percent: both counts are read one after the other.
const LAG_PCT: u64 = 1;

/// A statement without effect and rows, which both products can prepare.
const PROBE: &str = "DO (SELECT 1 AS dyno_monitoring)";

/// Whether the server has digests of executions of prepared statements. This differs between versions, so it executes
/// one and looks for its digest, among the few of another database than the user's.
pub(super) fn have_digests(connection: &mut MySqlConnection) -> Result<bool, TargetError> {
    let fallback = !connection.is_mariadb();
    let database = connection.simple("SELECT DATABASE() AS dyno_monitoring")?;
    let Some(database) = database.first().and_then(|row| row.get(0)) else { return Ok(fallback) };
    let back = format!("USE `{}`", database.replace('`', "``"));
    connection.simple("USE performance_schema").map_err(may_not_read)?;
    let tried = probe(connection);
    connection.simple(&back)?;
    Ok(tried?.unwrap_or(fallback))
}

/// Whether the count of executions rises with an execution; `None` if the server adds no digest at all.
fn probe(connection: &mut MySqlConnection) -> Result<Option<bool>, TargetError> {
    let look = "SELECT DIGEST_TEXT AS dyno_monitoring, COUNT_STAR FROM performance_schema.events_statements_summary_by_digest
         WHERE SCHEMA_NAME = 'performance_schema' AND LOCATE('dyno_monitoring', DIGEST_TEXT) > 0";
    let executions = |rows: &[TextRow]| {
        let is_execution = |text: &str| text.starts_with("DO ") || text.starts_with("EXECUTE DO ");
        let executed = rows.iter().filter(|row| is_execution(row.text(0)));
        executed.filter_map(|row| row.parse::<u64>(1)).sum::<u64>()
    };
    let before = executions(&connection.simple(look)?);
    let prepared = connection.prepare(PROBE)?;
    message::packet(&mut connection.line.out, 0, |out| {
        out.push(command::STMT_EXECUTE);
        out.extend_from_slice(&prepared.id.to_le_bytes());
        // No cursor, and one iteration.
        out.extend_from_slice(&[0, 1, 0, 0, 0]);
    });
    connection.line.send()?;
    connection.read_answer()?;
    connection.forget(prepared)?;
    let after = connection.simple(look)?;
    let sees_digests = after.iter().any(|row| row.text(0).starts_with("SELECT "));
    Ok(sees_digests.then(|| executions(&after) > before))
}

/// Reads the counts of executions, and adds up what they rise by since the first reading.
pub(super) struct MySqlPreparedReader {
    all_sql: String,
    /// The statements that are prepared; absent if the server does not count their executions.
    each_sql: Option<String>,
    text_bytes_max: usize,
    product: &'static str,
    /// All executions at the first reading.
    first: Option<StatementCounts>,
    /// Each prepared statement at the last reading, by thread and number.
    last: HashMap<String, StatementCounts>,
    /// The executions of each text, by its hash.
    by_text: HashMap<String, StatementCounts>,
    texts: HashMap<String, String>,
    /// Executions whose statements are unknown.
    rest: StatementCounts,
}

impl MySqlPreparedReader {
    /// Determines what the server counts.
    pub(super) fn open(
        connection: &mut MySqlConnection,
        columns: &MySqlStatementColumns,
    ) -> Result<Self, TargetError> {
        let (all, each) =
            (columns.sql("COUNT_STAR", "SUM_TIMER_WAIT"), columns.sql("COUNT_EXECUTE", "SUM_TIMER_EXECUTE"));
        let all_sql = format!(
            "SELECT EVENT_NAME AS dyno_monitoring, NULL, NULL, {all}
             FROM performance_schema.events_statements_summary_global_by_event_name WHERE EVENT_NAME = '{EVENT}'"
        );
        let each_sql = format!(
            "SELECT CONCAT(OWNER_THREAD_ID, ' ', STATEMENT_ID) AS dyno_monitoring, MD5(SQL_TEXT), NULL, {each}
             FROM performance_schema.prepared_statements_instances WHERE STATEMENT_NAME IS NULL"
        );
        let current = "SELECT ENABLED AS dyno_monitoring, @@performance_schema_max_sql_text_length
             FROM performance_schema.setup_consumers WHERE NAME = 'events_statements_current'";
        let current = connection.simple(current).map_err(may_not_read)?;
        let current = current.first();
        let counts_each = current.and_then(|row| row.get(0)) == Some("YES");
        let is_readable = counts_each
            && match connection.simple(&each_sql) {
                Ok(_) => true,
                // Older servers do not have the table.
                Err(error) if MySqlError::of(&error).is_some() => false,
                Err(error) => return Err(error),
            };
        Ok(Self {
            all_sql,
            each_sql: is_readable.then_some(each_sql),
            text_bytes_max: current.and_then(|row| row.parse(1)).unwrap_or(0),
            product: if connection.is_mariadb() { "MariaDB" } else { "this server" },
            first: None,
            last: HashMap::new(),
            by_text: HashMap::new(),
            texts: HashMap::new(),
            rest: StatementCounts::default(),
        })
    }

    /// Adds the executions since the first reading to `snapshot`.
    pub(super) fn read(
        &mut self,
        connection: &mut MySqlConnection,
        snapshot: &mut StatementSnapshot,
    ) -> Result<(), TargetError> {
        if let Some(each_sql) = &self.each_sql {
            let rows = connection.simple(each_sql).map_err(may_not_read)?;
            snapshot.source = "the digests and prepared statements of performance_schema".to_owned();
            self.add_each(&rows);
            self.read_texts(connection, &rows)?;
        }
        let rows = connection.simple(&self.all_sql).map_err(may_not_read)?;
        self.add_all(rows.first().map(counts).unwrap_or_default());
        let rest = [(KEY.to_owned(), self.rest)];
        let by_text = self.by_text.iter().map(|(hash, counts)| (format!("{KEY}{hash}"), *counts));
        for (key, counts) in by_text.chain(rest).filter(|(_, counts)| counts.calls > 0) {
            snapshot.statements.insert(key, CumulativeStatement { since: String::new(), counts });
        }
        snapshot.notes.extend(self.note());
        Ok(())
    }

    /// Adds what each prepared statement was executed since the last reading.
    fn add_each(&mut self, rows: &[TextRow]) {
        let mut now = HashMap::with_capacity(rows.len());
        for row in rows {
            let (key, counts) = (row.text(0).to_owned(), counts(row));
            if self.first.is_some() {
                let earlier = self.last.get(&key).copied().unwrap_or_default();
                let by_text = self.by_text.entry(row.text(1).to_owned()).or_default();
                *by_text = by_text.plus(counts.since(earlier).unwrap_or(counts));
            }
            now.insert(key, counts);
        }
        self.last = now;
    }

    /// Adds what is missing of all executions.
    fn add_all(&mut self, all: StatementCounts) {
        let first = *self.first.get_or_insert(all);
        let Some(all) = all.since(first) else { return };
        let rest = match self.by_text.values().copied().reduce(StatementCounts::plus) {
            // Where one figure of the parts exceeds that of the whole, only these two remain.
            Some(known) => all.since(known).unwrap_or_else(|| StatementCounts {
                calls: all.calls.saturating_sub(known.calls),
                time_s: (all.time_s - known.time_s).max(0.0),
                ..StatementCounts::default()
            }),
            None => all,
        };
        if rest.calls > self.rest.calls && rest.calls > all.calls * LAG_PCT / 100 {
            self.rest = rest;
        }
    }

    /// Reads the texts that are not known yet: a statement may be gone when its text is needed.
    fn read_texts(&mut self, connection: &mut MySqlConnection, rows: &[TextRow]) -> Result<(), TargetError> {
        let is_unknown = |row: &&TextRow| !self.texts.contains_key(row.text(1));
        let mut hashes: Vec<&str> = rows.iter().filter(is_unknown).map(|row| row.text(1)).collect();
        hashes.sort_unstable();
        hashes.dedup();
        if hashes.is_empty() {
            return Ok(());
        }
        let sql = format!(
            "SELECT MD5(SQL_TEXT) AS dyno_monitoring, SQL_TEXT FROM performance_schema.prepared_statements_instances
             WHERE MD5(SQL_TEXT) IN ({})",
            hashes.into_iter().map(literal).collect::<Vec<_>>().join(", ")
        );
        for row in connection.simple(&sql).map_err(may_not_read)? {
            let (hash, text) = (row.text(0), row.text(1));
            let is_cut = text.len() >= self.text_bytes_max;
            let text: String = without_values(text).chars().take(CountedStatements::TEXT_MAX - 4).collect();
            self.texts.insert(hash.to_owned(), if is_cut { format!("{text} ...") } else { text });
        }
        Ok(())
    }

    fn note(&self) -> Option<String> {
        let why = match self.each_sql {
            Some(_) => "their statements were closed before their counts were read",
            None => {
                "UPDATE performance_schema.setup_consumers SET ENABLED = 'YES' WHERE NAME = 'events_statements_current' \
                 makes it count each"
            }
        };
        (self.rest.calls > 0).then(|| {
            format!(
                "{} executions of prepared statements are one line, {EVENT}: {} has no digests of them; {why}",
                self.rest.calls, self.product
            )
        })
    }

    /// Describes those of the statements `keys` that are prepared ones.
    pub(super) fn describe(&self, keys: &[&str]) -> Vec<StatementDescription> {
        let hashes = keys.iter().filter_map(|key| key.strip_prefix(KEY));
        let described = hashes.map(|hash| StatementDescription {
            key: format!("{KEY}{hash}"),
            id: if hash.is_empty() { EVENT.to_owned() } else { hash.to_owned() },
            text: self.texts.get(hash).cloned(),
            ..StatementDescription::default()
        });
        described.collect()
    }
}

/// The text without values and comments. It ends where a backslash before a quote makes the end of a string unclear.
fn without_values(text: &str) -> String {
    let (mut kept, mut rest) = (String::new(), text);
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$');
    let end_of =
        |rest: &str, is_part: &dyn Fn(char) -> bool| rest.find(|c| !is_part(c)).unwrap_or(rest.len());
    while let Some(first) = rest.chars().next() {
        let dashes =
            rest.strip_prefix("--").is_some_and(|after| after.chars().next().is_none_or(char::is_whitespace));
        let end = match first {
            '#' => rest.find('\n').unwrap_or(rest.len()),
            '-' if dashes => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => {
                kept.push(' ');
                rest[2..].find("*/").map_or(rest.len(), |end| end + 4)
            }
            '\'' | '"' => {
                let end = rest[1..].find(first).map_or(rest.len(), |end| end + 2);
                kept.push('?');
                if rest[..end].contains('\\') {
                    kept.push_str(" ...");
                    return kept;
                }
                // A doubled quote is part of the string, which then continues as another one.
                if kept.ends_with("??") {
                    kept.pop();
                }
                end
            }
            '`' => {
                let end = rest[1..].find('`').map_or(rest.len(), |end| end + 2);
                kept.push_str(&rest[..end]);
                end
            }
            _ if first.is_ascii_digit() => {
                kept.push('?');
                end_of(rest, &|c| is_word(c) || c == '.')
            }
            _ if is_word(first) => {
                let end = end_of(rest, &is_word);
                kept.push_str(&rest[..end]);
                end
            }
            _ => {
                kept.push(first);
                first.len_utf8()
            }
        };
        rest = &rest[end..];
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reader(each_sql: Option<&str>) -> MySqlPreparedReader {
        MySqlPreparedReader {
            all_sql: String::new(),
            each_sql: each_sql.map(str::to_owned),
            text_bytes_max: 1_024,
            product: "MariaDB",
            first: None,
            last: HashMap::new(),
            by_text: HashMap::new(),
            texts: HashMap::new(),
            rest: StatementCounts::default(),
        }
    }

    fn row(key: &str, hash: &str, calls: u64) -> TextRow {
        TextRow(
            [key, hash, "", &calls.to_string(), "1000"].iter().map(|cell| Some((*cell).to_owned())).collect(),
        )
    }

    fn all(calls: u64) -> StatementCounts {
        StatementCounts { calls, ..StatementCounts::default() }
    }

    #[test]
    fn executions_of_one_text_are_added_up_over_connections() {
        let mut reader = reader(Some(""));
        reader.add_each(&[row("7 1", "a", 100), row("8 1", "a", 50)]);
        reader.add_all(all(1_000));
        reader.add_each(&[row("7 1", "a", 160), row("9 1", "a", 5), row("9 2", "b", 3)]);
        reader.add_all(all(1_068));
        assert_eq!((reader.by_text["a"].calls, reader.by_text["b"].calls), (65, 3));
        assert_eq!((reader.rest.calls, reader.note()), (0, None));
        // A connection that closed before the reading leaves its executions without a text.
        reader.add_each(&[row("7 1", "a", 160)]);
        reader.add_all(all(1_100));
        assert_eq!(reader.rest.calls, 32);
        assert!(reader.note().unwrap().contains("32 executions of prepared statements"));
    }

    #[test]
    fn executions_without_their_statements_are_one_line() {
        let mut reader = reader(None);
        reader.add_all(all(10));
        reader.add_all(all(25));
        assert_eq!(reader.rest.calls, 15);
        assert!(reader.note().unwrap().contains("events_statements_current"));
        assert_eq!(reader.describe(&["prepared ", "abc bench"])[0].id, EVENT);
    }

    #[test]
    fn values_and_comments_of_prepared_texts_are_removed() {
        for (text, kept) in [
            (
                "SELECT a1 FROM `t 1` WHERE b = ? AND c IN (1, 0x1F, -2.5e3)",
                "SELECT a1 FROM `t 1` WHERE b = ? AND c IN (?, ?, -?)",
            ),
            ("SET PASSWORD = 'it''s' -- secret\n, x = \"y\"", "SET PASSWORD = ? \n, x = ?"),
            ("SELECT /* secret */ 5--1 # secret", "SELECT   ?--? "),
            ("SET a = 'x\\', b = 'secret'", "SET a = ? ..."),
            ("SELECT 'secret", "SELECT ?"),
        ] {
            assert_eq!(without_values(text), kept);
        }
    }
}
