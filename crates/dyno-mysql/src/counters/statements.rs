//! Counts of all statements of the server, from the digests of `performance_schema`.
//!
//! The server keeps no digests of statements inside stored programs: the statement that calls one includes them.
//! A digest never leaves the table, except with all others at a TRUNCATE.

use std::collections::HashMap;

use dyno_engine::statement_counts::{STATEMENTS_MAX, StatementOverflow};
use dyno_engine::{CumulativeStatement, StatementDescription, StatementSnapshot, TargetError, TextRow};
use dyno_record::CountedStatements;

use super::super::executed_statements::{self, is_cut, may_not_read};
use super::super::layout::literal;
use super::super::own_connections::SharedSessionRegistry;
use super::super::wire::MySqlConnection;
use super::prepared_statements::{self, MySqlPreparedReader};
use super::statement_columns::{MySqlStatementColumns, counts};

/// What texts of Dyno's observing statements contain. Digests keep names, but no comments and no values.
const MONITORING: [&str; 2] = ["dyno_monitoring", "dyno_lock"];

const DIGESTS: &str = "performance_schema.events_statements_summary_by_digest";

/// The key of the row for all statements without a digest of their own.
const OVERFLOW: &str = "";

/// What the sampler executes, which cannot be marked; its executions are counted instead.
const PROCESS_LIST: &str = "SHOW PROCESSLIST";

/// Reads the counts on the observer's connection.
pub(super) struct MySqlStatementReader {
    counts: String,
    length_max: usize,
    marks_cut_texts: bool,
    notes: Vec<String>,
    resets: MySqlDigestResets,
    /// Reads executions of prepared statements, where digests do not include them.
    prepared: Option<MySqlPreparedReader>,
    sessions: SharedSessionRegistry,
    /// The calls of each statement and of the sampler, at the first and at the last reading.
    calls: Option<[(HashMap<String, u64>, u64); 2]>,
}

impl MySqlStatementReader {
    /// Determines what the server counts.
    ///
    /// # Errors
    /// The server keeps no digests, or this user may not read them, with a hint; else the connection is lost.
    pub(super) fn open(
        connection: &mut MySqlConnection,
        sessions: SharedSessionRegistry,
    ) -> Result<Self, TargetError> {
        let length_max = executed_statements::digest_settings(connection)?.length_max;
        let notes = limits(connection).map_err(may_not_read)?;
        let columns = MySqlStatementColumns::find(connection)?;
        let prepared = match prepared_statements::have_digests(connection)? {
            true => None,
            false => Some(MySqlPreparedReader::open(connection, &columns)?),
        };
        let counts = format!(
            "SELECT DIGEST AS dyno_monitoring, SCHEMA_NAME, FIRST_SEEN, {} FROM {DIGESTS}
             WHERE COUNT_STAR > 0 LIMIT {}",
            columns.sql("COUNT_STAR", "SUM_TIMER_WAIT"),
            STATEMENTS_MAX + 1
        );
        Ok(Self {
            counts,
            length_max,
            marks_cut_texts: !connection.is_mariadb(),
            notes,
            resets: MySqlDigestResets::default(),
            prepared,
            sessions,
            calls: None,
        })
    }

    /// The counts of all statements.
    pub(super) fn read(
        &mut self,
        connection: &mut MySqlConnection,
    ) -> Result<StatementSnapshot, TargetError> {
        let sampled_before = self.sessions.lock().process_lists();
        let rows = connection.simple(&self.counts).map_err(may_not_read)?;
        if rows.len() > STATEMENTS_MAX {
            return Err(TargetError::unsupported(format!(
                "the server keeps more than {STATEMENTS_MAX} digests, and reading them would disturb the measurement"
            ))
            .hint("lower performance_schema_digests_size in the server's option file"));
        }
        let first_seen = rows.iter().filter_map(|row| row.get(2)).min().unwrap_or_default();
        let statements: HashMap<String, CumulativeStatement> = rows.iter().map(statement).collect();
        let calls = statements.values().map(|statement| statement.counts.calls).sum();
        let mut snapshot = StatementSnapshot {
            source: "the digests of performance_schema".to_owned(),
            epoch: self.resets.epoch(first_seen, statements.len(), calls),
            evictions: None,
            overflow: Some(StatementOverflow {
                key: OVERFLOW.to_owned(),
                hint: "the table of digests was full; raise performance_schema_digests_size".to_owned(),
            }),
            statements,
            notes: self.notes.clone(),
        };
        self.record_calls(&snapshot, sampled_before);
        if let Some(prepared) = &mut self.prepared {
            prepared.read(connection, &mut snapshot)?;
        }
        Ok(snapshot)
    }

    /// Records the calls, with those of the sampler before the first reading and after this one.
    fn record_calls(&mut self, snapshot: &StatementSnapshot, sampled_before: u64) {
        let calls = |(key, one): (&String, &CumulativeStatement)| (key.clone(), one.counts.calls);
        let calls: HashMap<String, u64> = snapshot.statements.iter().map(calls).collect();
        let first = self.calls.take().map_or_else(|| (calls.clone(), sampled_before), |[first, _]| first);
        self.calls = Some([first, (calls, self.sessions.lock().process_lists())]);
    }

    /// Whether all calls of a statement since the first reading can be the sampler's.
    fn is_sampler_only(&self, key: &str) -> bool {
        let Some([(first, sampled_then), (last, sampled_now)]) = &self.calls else { return false };
        let calls = |calls: &HashMap<String, u64>| calls.get(key).copied().unwrap_or(0);
        // One may have been counted as begun at the first reading and have ended after it.
        calls(last).saturating_sub(calls(first)) <= sampled_now - sampled_then + 1
    }

    /// Texts and databases of the statements `keys`, and Dyno's observing statements.
    pub(super) fn describe(
        &self,
        connection: &mut MySqlConnection,
        keys: &[&str],
    ) -> Result<Vec<StatementDescription>, TargetError> {
        let digests = keys.iter().filter_map(|key| key.split(' ').next()).filter(|digest| is_digest(digest));
        let digests: Vec<String> = digests.chain(["none"]).map(literal).collect();
        let marked: Vec<String> =
            MONITORING.iter().map(|mark| format!("LOCATE({}, DIGEST_TEXT) > 0", literal(mark))).collect();
        let marked = marked.join(" OR ");
        let rows = connection
            .simple(&format!(
                "SELECT DIGEST AS dyno_monitoring, SCHEMA_NAME, LEFT(DIGEST_TEXT, {}), {marked} FROM {DIGESTS}
                 WHERE DIGEST IN ({}) OR {marked}",
                CountedStatements::TEXT_MAX,
                digests.join(", ")
            ))
            .map_err(may_not_read)?;
        let prepared = self.prepared.iter().flat_map(|prepared| prepared.describe(keys));
        Ok(rows.iter().map(|row| self.description(row)).chain(prepared).collect())
    }

    fn description(&self, row: &TextRow) -> StatementDescription {
        let text = row.get(2).map(|text| match !self.marks_cut_texts && is_cut(text, self.length_max) {
            true => format!("{} ...", text.trim_end()),
            false => text.trim_end().to_owned(),
        });
        let key = key(row.get(0), row.get(1));
        let is_sampler = text.as_deref() == Some(PROCESS_LIST) && self.is_sampler_only(&key);
        StatementDescription {
            key,
            id: row.text(0).to_owned(),
            text,
            database: row.get(1).map(str::to_owned),
            user: None,
            is_monitoring: is_sampler || row.get(3) == Some("1"),
        }
    }
}

/// Recognizes that the digests were truncated.
#[derive(Debug, Default)]
struct MySqlDigestResets {
    statements: usize,
    calls: u64,
    resets: u64,
}

impl MySqlDigestResets {
    /// A mark that changes when the digests are truncated. The oldest of their times is that of the truncation, but
    /// servers may keep whole seconds only. In a table that was not truncated, neither number ever falls.
    fn epoch(&mut self, first_seen: &str, statements: usize, calls: u64) -> String {
        self.resets += u64::from(statements < self.statements || calls < self.calls);
        (self.statements, self.calls) = (statements, calls);
        format!("{first_seen} {}", self.resets)
    }
}

/// What the server is set not to count.
fn limits(connection: &mut MySqlConnection) -> Result<Vec<String>, TargetError> {
    let rows = connection.simple(
        "SELECT COUNT(*) AS dyno_monitoring, COALESCE(SUM(ENABLED = 'YES'), 0), COALESCE(SUM(ENABLED = 'YES' AND TIMED <> 'YES'), 0),
             (SELECT COUNT(*) FROM performance_schema.setup_actors WHERE HOST = '%' AND USER = '%' AND ENABLED = 'YES'),
             (SELECT COUNT(*) FROM performance_schema.setup_actors WHERE ENABLED <> 'YES')
         FROM performance_schema.setup_instruments
         WHERE NAME LIKE 'statement/sql/%' OR NAME IN ('statement/abstract/Query', 'statement/com/Execute')",
    )?;
    let number = |column: usize| rows.first().and_then(|row| row.parse::<u64>(column)).unwrap_or(0);
    let [all, enabled, untimed, everybody, nobody] = [0, 1, 2, 3, 4].map(number);
    if enabled == 0 {
        return Err(TargetError::unsupported("all statement instruments of performance_schema are off").hint(
            "UPDATE performance_schema.setup_instruments SET ENABLED = 'YES', TIMED = 'YES' WHERE NAME LIKE 'statement/%'",
        ));
    }
    let mut notes = Vec::new();
    if enabled < all {
        notes.push(format!(
            "{} of {all} kinds of statements are not counted, because setup_instruments of performance_schema turns them off",
            all - enabled
        ));
    }
    if untimed > 0 {
        notes.push(format!(
            "{untimed} of {all} kinds of statements are not timed, because setup_instruments of performance_schema says so: their \
             time counts as 0"
        ));
    }
    if everybody == 0 || nobody > 0 {
        notes.push("sessions of some users are not counted, because setup_actors of performance_schema leaves them out".to_owned());
    }
    Ok(notes)
}

fn statement(row: &TextRow) -> (String, CumulativeStatement) {
    let since = row.get(2).unwrap_or_default().to_owned();
    (key(row.get(0), row.get(1)), CumulativeStatement { since, counts: counts(row) })
}

/// The key of a statement. A digest has a row for each database in which it ran.
fn key(digest: Option<&str>, schema: Option<&str>) -> String {
    match (digest, schema) {
        (None, _) => OVERFLOW.to_owned(),
        (Some(digest), None) => digest.to_owned(),
        (Some(digest), Some(schema)) => format!("{digest} {schema}"),
    }
}

fn is_digest(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn truncated_digests_change_the_epoch() {
        let mut resets = MySqlDigestResets::default();
        let first = resets.epoch("2026-01-01 10:00:00", 5, 100);
        assert_eq!(resets.epoch("2026-01-01 10:00:00", 6, 140), first);
        assert_ne!(resets.epoch("2026-01-01 10:00:00", 2, 150), first, "statements left");
        let after_fall = resets.epoch("2026-01-01 10:00:00", 2, 150);
        assert_ne!(resets.epoch("2026-01-01 10:00:00", 2, 149), after_fall, "calls fell");
        assert_ne!(resets.epoch("2026-01-01 10:00:01", 9, 900), resets.epoch("2026-01-01 10:00:02", 9, 900));
    }

    #[test]
    fn digest_of_each_database_has_its_own_key() {
        assert_eq!(key(Some("ab12"), Some("a b")), "ab12 a b");
        assert_eq!(key(Some("ab12"), None), "ab12");
        assert_eq!(key(None, None), OVERFLOW);
        assert!(is_digest("0af"));
        assert!(!is_digest("0' OR 1"));
        assert!(!is_digest(OVERFLOW));
    }
}
