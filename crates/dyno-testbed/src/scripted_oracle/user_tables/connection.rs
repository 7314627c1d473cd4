//! The MariaDB connection of one session.

use std::collections::HashMap;
use std::path::Path;

use mysql::prelude::Queryable as _;
use mysql::{Conn, OptsBuilder};

use super::Executed;
use super::answers::{RefusedStatement, columns, row};
use super::literals::{bound, literal};
use super::translation::{Verb, called_procedure, created_procedure, translated};
use crate::scripted_oracle::{ScriptedAnswer, ScriptedValue};

/// Settings of each connection: Oracle's words and texts, one transaction per statement unless one is begun,
/// and waits for locks that are as long as Oracle's.
const SETTINGS: [&str; 4] = [
    "SET sql_mode = 'ORACLE,NO_BACKSLASH_ESCAPES,EMPTY_STRING_IS_NULL,STRICT_ALL_TABLES'",
    "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED",
    "SET innodb_lock_wait_timeout = 600",
    "SET NAMES utf8mb4",
];

/// Counts the rows that this connection has written in all its statements.
const ROWS_WRITTEN: &str = "SELECT CAST(SUM(variable_value) AS UNSIGNED) FROM information_schema.session_status \
                            WHERE variable_name IN ('HANDLER_WRITE', 'HANDLER_UPDATE', 'HANDLER_DELETE')";

/// The most rows that one statement inserts; longer arrays are divided.
const ARRAY_ROWS: usize = 500;

pub(super) struct Connection {
    server: Conn,
    in_transaction: bool,
}

impl Connection {
    /// # Panics
    /// The server does not accept the connection.
    pub(super) fn open(socket: &Path) -> Self {
        let options = OptsBuilder::new()
            .socket(Some(socket.to_string_lossy()))
            .user(Some("dyno"))
            .db_name(Some("bench"))
            .prefer_socket(true);
        let mut server = Conn::new(options).expect("the server of the tests accepts connections");
        for setting in SETTINGS {
            server.query_drop(setting).expect("the server of the tests knows the setting");
        }
        Self { server, in_transaction: false }
    }

    pub(super) fn execute(
        &mut self,
        procedures: &HashMap<String, String>,
        sql: &str,
        executions: &[Vec<ScriptedValue>],
    ) -> Result<Executed, RefusedStatement> {
        let sql = translated(sql);
        let first = executions.first().map_or(&[][..], Vec::as_slice);
        match Verb::of(&sql) {
            Verb::Select { locks } => {
                if locks {
                    self.begin("START TRANSACTION")?;
                }
                self.query(&bound(&sql, first)?).map(Executed::read)
            }
            Verb::Change => {
                self.begin("START TRANSACTION")?;
                let changed = self.change(&sql, executions)?;
                Ok(Executed { answer: ScriptedAnswer::Changed(changed), has_changes: changed > 0 })
            }
            Verb::Transaction => {
                self.begin(if sql.ends_with("READ ONLY") {
                    "START TRANSACTION READ ONLY"
                } else {
                    "START TRANSACTION WITH CONSISTENT SNAPSHOT"
                })?;
                Ok(Executed::read(ScriptedAnswer::Done))
            }
            Verb::Define => {
                let body = created_procedure(&sql).and_then(|name| procedures.get(&name));
                self.server.query_drop(body.unwrap_or(&sql))?;
                self.in_transaction = false;
                Ok(Executed::read(ScriptedAnswer::Done))
            }
            Verb::Block => match called_procedure(&sql) {
                Some(name) => self.call(name, &sql, first),
                None => Err(RefusedStatement::unknown(&sql)),
            },
            Verb::Nothing => Ok(Executed::read(ScriptedAnswer::Done)),
            Verb::DropProcedures => {
                for name in procedures.keys() {
                    self.server.query_drop(format!("DROP PROCEDURE IF EXISTS {name}"))?;
                }
                Ok(Executed::read(ScriptedAnswer::Done))
            }
            Verb::Unknown => Err(RefusedStatement::unknown(&sql)),
        }
    }

    /// The columns of a query that is not executed.
    pub(super) fn describe(&mut self, sql: &str) -> Result<ScriptedAnswer, RefusedStatement> {
        let sql = translated(sql);
        // Without rows, so that nothing is locked and read.
        let nulls = vec![ScriptedValue::Null; 64];
        let statement = self.server.prep(bound(&sql, &nulls)?)?;
        let columns = columns(&statement.columns());
        self.server.close(statement)?;
        Ok(ScriptedAnswer::Rows { columns, rows: Vec::new() })
    }

    pub(super) fn end_transaction(&mut self, commits: bool) {
        if std::mem::take(&mut self.in_transaction) {
            // After a lost connection the server has rolled back.
            let _ = self.server.query_drop(if commits { "COMMIT" } else { "ROLLBACK" });
        }
    }

    fn begin(&mut self, words: &str) -> Result<(), RefusedStatement> {
        if !self.in_transaction {
            self.server.query_drop(words)?;
            self.in_transaction = true;
        }
        Ok(())
    }

    fn query(&mut self, sql: &str) -> Result<ScriptedAnswer, RefusedStatement> {
        let mut result = self.server.query_iter(sql)?;
        let columns = columns(result.columns().as_ref());
        let rows = result
            .by_ref()
            .map(|values| Ok(row(values?, &columns)))
            .collect::<Result<_, RefusedStatement>>()?;
        Ok(ScriptedAnswer::Rows { columns, rows })
    }

    /// Executes a change for each list of values. After an error the transaction stays open, and the client ends
    /// it.
    fn change(&mut self, sql: &str, executions: &[Vec<ScriptedValue>]) -> Result<u64, RefusedStatement> {
        let Some((head, list)) = sql.split_once(" VALUES ").filter(|_| executions.len() > 1) else {
            let mut changed = 0;
            for values in executions {
                self.server.query_drop(bound(sql, values)?)?;
                changed += self.server.affected_rows();
            }
            return Ok(changed);
        };
        let mut changed = 0;
        for array in executions.chunks(ARRAY_ROWS) {
            let lists: Vec<String> =
                array.iter().map(|values| bound(list, values)).collect::<Result<_, _>>()?;
            self.server.query_drop(format!("{head} VALUES {}", lists.join(", ")))?;
            changed += self.server.affected_rows();
        }
        Ok(changed)
    }

    /// Calls a procedure. Its OUT parameters become values of the client's binds.
    fn call(
        &mut self,
        name: &str,
        block: &str,
        values: &[ScriptedValue],
    ) -> Result<Executed, RefusedStatement> {
        let modes: Vec<String> = self.server.exec(
            "SELECT parameter_mode FROM information_schema.parameters \
             WHERE specific_schema = 'bench' AND specific_name = ? ORDER BY ordinal_position",
            (name,),
        )?;
        let arguments: Vec<String> = (0..values.len())
            .map(|place| match modes.get(place).map(String::as_str) {
                Some("OUT" | "INOUT") => format!("@out_{place}"),
                _ => literal(&values[place]),
            })
            .collect();
        if arguments.len() != modes.len() {
            return Err(RefusedStatement::wrong_arguments(name, block));
        }
        let written_before = self.written()?;
        self.begin("START TRANSACTION")?;
        self.server.query_drop(format!("CALL {name}({})", arguments.join(", ")))?;
        let has_changes = self.written()? > written_before;
        let mut returned = Vec::new();
        for (place, mode) in modes.iter().enumerate().filter(|(_, mode)| *mode != "IN") {
            debug_assert!(mode == "OUT" || mode == "INOUT");
            let value: Option<i64> =
                self.server.query_first(format!("SELECT CAST(@out_{place} AS SIGNED)"))?.flatten();
            returned.push((place, value.map_or(ScriptedValue::Null, ScriptedValue::Int)));
        }
        let answer =
            if returned.is_empty() { ScriptedAnswer::Done } else { ScriptedAnswer::ReturnedAt(returned) };
        Ok(Executed { answer, has_changes })
    }

    fn written(&mut self) -> Result<u64, RefusedStatement> {
        Ok(self.server.query_first(ROWS_WRITTEN)?.unwrap_or(0))
    }
}
