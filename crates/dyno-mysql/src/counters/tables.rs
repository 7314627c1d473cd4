//! Counts of the tables and indexes of all user databases, from `performance_schema`, with the sizes of InnoDB's files.

use std::collections::HashMap;

use dyno_engine::table_counts::{CumulativeRelation, RELATIONS_MAX, TableSnapshot};
use dyno_engine::{Refusal as _, TargetError, TextRow};

use super::super::identity::started;
use super::super::wire::{MySqlConnection, MySqlError};

/// The names of the counts, in the order of the columns.
const COUNTS: [&str; 4] = ["rows_read", "rows_inserted", "rows_updated", "rows_deleted"];

/// The columns before the counts: database, table, index.
const BEFORE: usize = 3;

/// The most files of InnoDB whose sizes are read.
const FILES_MAX: usize = 4_000;

const OF_USERS: &str = "OBJECT_SCHEMA NOT IN ('mysql', 'performance_schema', 'information_schema', 'sys')";

/// Reads the counts on the observer's connection.
pub(super) struct MySqlTableReader {
    counts: String,
    /// Reads the sizes; `None` if this user may not see InnoDB's files.
    sizes: Option<String>,
}

impl MySqlTableReader {
    /// Determines what can be read, and reads it once.
    ///
    /// # Errors
    /// The server does not count, or this user may not read the counts; or the connection is lost.
    pub(super) fn open(connection: &mut MySqlConnection) -> Result<Self, TargetError> {
        let enabled = connection
            .simple(
                "SELECT ENABLED AS dyno_monitoring FROM performance_schema.setup_instruments
                 WHERE NAME = 'wait/io/table/sql/handler'",
            )
            .map_err(may_not_read)?;
        match enabled.first().map(|row| row.text(0)) {
            Some("YES") => {}
            Some(_) => {
                return Err(TargetError::unsupported("the server does not count the work on tables").hint(
                    "UPDATE performance_schema.setup_instruments SET ENABLED = 'YES' WHERE NAME = 'wait/io/table/sql/handler'",
                ));
            }
            None => {
                return Err(TargetError::unsupported("performance_schema is off on the server")
                    .hint("set performance_schema = ON in its option file and restart it"));
            }
        }
        let list = "COUNT_FETCH, COUNT_INSERT, COUNT_UPDATE, COUNT_DELETE";
        // Rows that were found without an index have an index of `NULL`; those of the table contain them.
        let counts = format!(
            "SELECT OBJECT_SCHEMA AS dyno_monitoring, OBJECT_NAME, NULL, {list}
             FROM performance_schema.table_io_waits_summary_by_table WHERE COUNT_STAR > 0 AND {OF_USERS}
             UNION ALL
             SELECT OBJECT_SCHEMA, OBJECT_NAME, INDEX_NAME, {list}
             FROM performance_schema.table_io_waits_summary_by_index_usage
             WHERE COUNT_STAR > 0 AND INDEX_NAME IS NOT NULL AND {OF_USERS} LIMIT {}",
            RELATIONS_MAX + 1
        );
        let mut reader = Self { counts, sizes: Some(sizes_sql(connection)) };
        reader.read(connection)?;
        Ok(reader)
    }

    /// The counts of all tables and indexes that were used.
    pub(super) fn read(&mut self, connection: &mut MySqlConnection) -> Result<TableSnapshot, TargetError> {
        let rows = connection.simple(&self.counts).map_err(may_not_read)?;
        if rows.len() > RELATIONS_MAX {
            return Err(TargetError::unsupported(format!(
                "the server counts more than {RELATIONS_MAX} tables and indexes, and reading them would disturb the measurement"
            )));
        }
        let sizes = match self.sizes.as_ref().map(|sql| connection.simple(sql)) {
            Some(Ok(rows)) if rows.len() <= FILES_MAX => file_sizes(&rows),
            Some(Ok(_)) => HashMap::new(),
            Some(Err(error)) if MySqlError::of(&error).is_none() => return Err(error),
            Some(Err(_)) => {
                self.sizes = None;
                HashMap::new()
            }
            None => HashMap::new(),
        };
        Ok(TableSnapshot {
            source: "performance_schema.table_io_waits_summary_by_table and by_index_usage".to_owned(),
            size_note: "a size is that of InnoDB's file, with its indexes".to_owned(),
            epoch: started(connection)?,
            relations: relations(&rows, sizes),
        })
    }
}

/// The query for the size of each file of InnoDB: `database/table` and bytes.
fn sizes_sql(connection: &MySqlConnection) -> String {
    let files = if connection.is_mariadb() { "INNODB_SYS_TABLESPACES" } else { "INNODB_TABLESPACES" };
    format!(
        "SELECT NAME AS dyno_monitoring, FILE_SIZE FROM information_schema.{files}
         WHERE NAME LIKE '%/%' AND NAME NOT LIKE 'mysql/%' AND NAME NOT LIKE 'sys/%' LIMIT {}",
        FILES_MAX + 1
    )
}

/// The size of each table by `database.table`; the files of its partitions together. Names of files have all characters
/// but letters, digits and `_` encoded; such tables are left out.
fn file_sizes(rows: &[TextRow]) -> HashMap<String, u64> {
    let mut sizes = HashMap::new();
    for (name, bytes) in rows.iter().filter_map(|row| Some((row.text(0), row.parse::<u64>(1)?))) {
        let table = name.split('#').next().unwrap_or_default().replacen('/', ".", 1);
        if !table.contains('@') {
            *sizes.entry(table).or_insert(0) += bytes;
        }
    }
    sizes
}

/// The tables and indexes with their counts, and the tables without counts that have a size: the server begins to count
/// when a table is first used.
fn relations(rows: &[TextRow], mut sizes: HashMap<String, u64>) -> HashMap<String, CumulativeRelation> {
    let mut relations = HashMap::new();
    for row in rows {
        let of_table = format!("{}.{}", row.text(0), row.text(1));
        let counts =
            COUNTS.iter().enumerate().filter_map(|(at, name)| Some((*name, row.parse(BEFORE + at)?)));
        let mut relation = CumulativeRelation { counts: counts.collect(), ..CumulativeRelation::default() };
        let key = match row.get(2) {
            Some(index) => {
                relation.name = format!("{of_table}.{index}");
                relation.table = Some(of_table);
                format!("index {}", relation.name)
            }
            None => {
                relation.bytes = sizes.remove(&of_table);
                relation.name = of_table;
                format!("table {}", relation.name)
            }
        };
        relations.insert(key, relation);
    }
    for (name, bytes) in sizes {
        let relation = CumulativeRelation { name, bytes: Some(bytes), ..CumulativeRelation::default() };
        relations.insert(format!("table {}", relation.name), relation);
    }
    relations
}

/// Adds to an error of the server how to make the counts readable.
fn may_not_read(error: TargetError) -> TargetError {
    match MySqlError::of(&error).map(MySqlError::code).as_deref() {
        Some("1142" | "1044" | "1227") => error
            .during("performance_schema.table_io_waits_summary_by_table")
            .hint("GRANT SELECT ON performance_schema.* TO the user of --target"),
        _ => error,
    }
}
