//! The operations in SQL.

use super::super::counters::FLUSH;
use super::encode::oid;
use super::template::{Ending, Template};
use crate::wire::message;
use dyno_engine::data::{CLASSIC_COLUMN_BYTES, TEXT_COLUMNS};
use dyno_engine::layout::{text_columns, updated_columns};
use dyno_plan::{Commit, DataSpec, Redo};

/// How statements come to the server.
#[derive(Debug, Clone)]
pub(super) struct Form {
    /// Whether they are prepared under their names when a session opens, or sent anew each time.
    pub(super) prepared: bool,
    /// Messages before each operation, in its own transaction.
    pub(super) before: Vec<u8>,
}

impl Form {
    /// Prepared on the session's own connection, whose settings are made.
    pub(super) const DIRECT: Self = Self { prepared: true, before: Vec::new() };

    /// On whichever of a pooler's connections is free: each operation makes its settings itself, until its transaction
    /// ends.
    pub(super) fn pooled(prepared: bool, commit: Commit) -> Self {
        let settings = settings(commit);
        let mut before = Vec::new();
        if !prepared {
            settings.parse_as("", &mut before);
        }
        message::bind_text(&mut before, if prepared { &settings.name } else { "" }, &[]);
        message::execute(&mut before);
        Self { prepared, before }
    }
}

/// Makes the settings of a session behind a pooler for one transaction.
pub(super) fn settings(commit: Commit) -> Statement {
    let chosen = super::LOCAL_SETTINGS.map(str::to_owned).into_iter().map(|name| {
        let setting = super::SESSION_SETTINGS.iter().find(|setting| setting.name == name);
        (name, setting.map_or("off", |setting| setting.value))
    });
    let commit = super::commit_setting(commit).map(|(name, value)| (name.to_owned(), value));
    let calls =
        chosen.chain(commit).map(|(name, value)| format!("pg_catalog.set_config('{name}', '{value}', true)"));
    Statement::new("settings", format!("SELECT {}", calls.collect::<Vec<_>>().join(", ")), &[])
}

/// One prepared statement: its name on the connection, its text, and its parameters.
#[derive(Debug)]
pub(super) struct Statement {
    pub(super) name: String,
    pub(super) sql: String,
    types: Vec<u32>,
}

impl Statement {
    fn new(name: &str, sql: String, types: &[u32]) -> Self {
        Self { name: name.to_owned(), sql, types: types.to_vec() }
    }

    /// The same under another name, for a session that has prepared its own already.
    pub(super) fn elsewhere(mut self) -> Self {
        self.name.push_str("_first");
        self
    }

    /// Appends the message that prepares it.
    pub(super) fn parse(&self, out: &mut Vec<u8>) {
        self.parse_as(&self.name, out);
    }

    fn parse_as(&self, name: &str, out: &mut Vec<u8>) {
        message::parse(out, name, &self.sql, &self.types);
    }

    /// Its template, as `form` brings it to the server.
    pub(super) fn template(&self, form: &Form, ending: Ending) -> Template {
        let width = |&oid: &u32| if oid == oid::INT8 { 8 } else { CLASSIC_COLUMN_BYTES };
        let widths: Vec<usize> = self.types.iter().map(width).collect();
        let mut bytes = form.before.clone();
        if !form.prepared {
            message::parse(&mut bytes, "", &self.sql, &self.types);
        }
        Template::new(bytes, if form.prepared { &self.name } else { "" }, &widths, ending)
    }
}

/// Counts the rows of a range; `c2` is in no index, so each row's block is visited.
pub(super) fn select(schema: u32) -> Statement {
    let sql = format!("SELECT COUNT(c2) FROM dyno.rows_{schema} WHERE custid BETWEEN $1 AND $2");
    Statement::new("select", sql, &[oid::INT8, oid::INT8])
}

/// Reads the row of a key.
pub(super) fn lookup(schema: u32) -> Statement {
    let sql = format!("SELECT c2 FROM dyno.rows_{schema} WHERE custid = $1");
    Statement::new("lookup", sql, &[oid::INT8])
}

/// Counts the rows of one value of the secondary key.
pub(super) fn secondary(spec: &DataSpec, schema: u32) -> Statement {
    let key = spec.secondary_sql("%");
    let sql = format!("SELECT COUNT(c2) FROM dyno.rows_{schema} WHERE ({key}) = $1");
    Statement::new("secondary", sql, &[oid::INT8])
}

/// Counts the rows of the table without an index.
pub(super) fn scan(schema: u32) -> Statement {
    Statement::new("scan", format!("SELECT COUNT(c2) FROM dyno.scan_{schema}"), &[])
}

/// Gives the rows of a range new values.
pub(super) fn update(schema: u32, redo: Redo) -> Statement {
    let columns = updated_columns(redo).enumerate();
    let set: String = columns.map(|(i, column)| format!(", c{column} = ${}", i + 3)).collect();
    let sql = format!("UPDATE dyno.rows_{schema} SET ver = ver + 1{set} WHERE custid BETWEEN $1 AND $2");
    let mut types = vec![oid::INT8; 2];
    types.extend(updated_columns(redo).map(|_| oid::TEXT));
    Statement::new("update", sql, &types)
}

/// Inserts a row with new values.
pub(super) fn insert(schema: u32) -> Statement {
    let columns = text_columns(", ");
    let values: String = (0..TEXT_COLUMNS).map(|i| format!(", ${}", i + 2)).collect();
    let mut types = vec![oid::INT8];
    types.extend([oid::TEXT; TEXT_COLUMNS]);
    let sql = format!("INSERT INTO dyno.rows_{schema} (custid, {columns}) VALUES ($1{values})");
    Statement::new("insert", sql, &types)
}

/// Deletes the row of a key.
pub(super) fn delete(schema: u32) -> Statement {
    let sql = format!("DELETE FROM dyno.rows_{schema} WHERE custid = $1");
    Statement::new("delete", sql, &[oid::INT8])
}

/// Makes all statistics of this session visible at the end of the statement; from version 15 on.
pub(super) fn edge() -> Statement {
    Statement::new("edge", FLUSH.to_owned(), &[])
}

/// Reads back a range: how many rows it has, and in how many `c2` begins with the stamp `$3`, or with one that another
/// session of this run (`$4` the run's prefix, `$5` this session's) wrote.
pub(super) fn verify(schema: u32) -> String {
    format!(
        "SELECT COUNT(*), COUNT(*) FILTER (WHERE starts_with(c2, $3) \
         OR (starts_with(c2, $4) AND NOT starts_with(c2, $5))) \
         FROM dyno.rows_{schema} WHERE custid BETWEEN $1::int8 AND $2::int8"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heavy_sets_every_column_and_lite_two() {
        assert_eq!(
            update(3, Redo::Lite).sql,
            "UPDATE dyno.rows_3 SET ver = ver + 1, c2 = $3, c20 = $4 WHERE custid BETWEEN $1 AND $2"
        );
        let heavy = update(1, Redo::Heavy);
        assert_eq!(heavy.types.len(), 21);
        assert!(heavy.sql.contains("c3 = $4") && heavy.sql.contains("c20 = $21"));
    }
}
