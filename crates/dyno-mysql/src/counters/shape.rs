//! Records the definition of each watched table and of its dependent objects with every snapshot.
//!
//! Only parts of the dictionary that a run does not change are used, so no statistics and no sizes. MariaDB's
//! creation time of a table is not usable: it is the time of the last change of its file, which changes
//! whenever a page is written.

use std::collections::{BTreeMap, BTreeSet};

use dyno_engine::{Refusal as _, TargetError};
use dyno_plan::DataSpec;

use super::super::layout::named_objects::{self, list};
use super::super::layout::tables;
use super::super::wire::{MySqlConnection, MySqlError};

/// Prefixes of the counters of statements that can change a table's definition or its dependent objects.
const CHANGING: [&str; 7] = ["alter_", "create_", "drop_", "rename_", "truncate", "optimize", "repair"];

/// The number of statements run so far that can change a definition; `None` if the server does not count
/// them.
pub(super) fn changing_statements(native: &BTreeMap<String, f64>) -> Option<f64> {
    let commands = native.iter().filter_map(|(name, count)| Some((name.strip_prefix("status.Com_")?, count)));
    let changing = commands.filter(|(name, _)| CHANGING.iter().any(|start| name.starts_with(start)));
    changing.map(|(_, count)| *count).reduce(|sum, count| sum + count)
}

/// The tables and routines that are watched.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct MySqlWatchedObjects {
    /// Names as in the dictionary: the test tables, or the objects that a custom workload uses.
    names: BTreeSet<String>,
    /// Whether Dyno's slice procedures are watched too.
    slices: bool,
    /// The view that shows the file of each table; `None` without the privilege PROCESS.
    files: Option<&'static str>,
}

impl MySqlWatchedObjects {
    /// The test tables of `spec`; without any, the objects that statements with the identifiers `names` use.
    pub(super) fn find(
        connection: &mut MySqlConnection,
        spec: &DataSpec,
        names: &BTreeSet<String>,
    ) -> Result<Self, TargetError> {
        let test_tables: BTreeSet<String> = tables(spec).iter().map(|table| table.name()).collect();
        let slices = !test_tables.is_empty();
        let names = match slices {
            true => test_tables,
            false => named_objects::find(connection, names)?,
        };
        let view = if connection.is_mariadb() { "INNODB_SYS_TABLES" } else { "INNODB_TABLES" };
        let readable = connection.simple(&format!("SELECT NAME FROM information_schema.{view} LIMIT 1"));
        let files = match readable {
            Ok(_) => Some(view),
            Err(error) if MySqlError::of(&error).is_some() => None,
            Err(error) => return Err(error),
        };
        Ok(Self { names, slices, files })
    }

    /// The query, with the columns name and mark; `None` if nothing is watched.
    pub(super) fn sql(&self) -> Option<String> {
        if self.names.is_empty() {
            return None;
        }
        let list = list(self.names.iter());
        let ours = |schema: &str, table: &str| format!("{schema} = DATABASE() AND {table} IN ({list})");
        let slices = if self.slices { r" OR ROUTINE_NAME LIKE 'dyno\_slice\_%'" } else { "" };
        let files = self.files.map(|view| {
            format!(
                " UNION ALL
         SELECT CONCAT('file of ', SUBSTRING_INDEX(NAME, '/', -1)), CONCAT_WS(' ', TABLE_ID, SPACE)
         FROM information_schema.{view} f JOIN information_schema.TABLES t
             ON t.TABLE_SCHEMA = DATABASE() AND t.TABLE_NAME IN ({list})
             AND (f.NAME = CONCAT(t.TABLE_SCHEMA, '/', t.TABLE_NAME)
                 OR f.NAME LIKE CONCAT(t.TABLE_SCHEMA, '/', t.TABLE_NAME, '#p#%'))"
            )
        });
        Some(format!(
            "SELECT CONCAT('table ', TABLE_NAME) AS dyno_monitoring,
             CONCAT_WS(' ', IF(VERSION() LIKE '%MariaDB%', NULL, CREATE_TIME), ENGINE, ROW_FORMAT, CREATE_OPTIONS)
         FROM information_schema.TABLES WHERE {}
         UNION ALL
         SELECT CONCAT('column ', COLUMN_NAME, ' of ', TABLE_NAME),
             CONCAT_WS(' ', ORDINAL_POSITION, COLUMN_TYPE, IS_NULLABLE, COLUMN_DEFAULT, COLLATION_NAME, EXTRA)
         FROM information_schema.COLUMNS WHERE {}
         UNION ALL
         SELECT CONCAT('index ', INDEX_NAME, ' on ', TABLE_NAME),
             CONCAT_WS(' ', NON_UNIQUE, GROUP_CONCAT(COLUMN_NAME ORDER BY SEQ_IN_INDEX))
         FROM information_schema.STATISTICS WHERE {} GROUP BY TABLE_NAME, INDEX_NAME, NON_UNIQUE
         UNION ALL
         SELECT CONCAT('trigger ', TRIGGER_NAME, ' on ', EVENT_OBJECT_TABLE),
             CONCAT_WS(' ', ACTION_TIMING, EVENT_MANIPULATION, CREATED)
         FROM information_schema.TRIGGERS WHERE {}
         UNION ALL
         SELECT CONCAT('constraint ', CONSTRAINT_NAME, ' on ', TABLE_NAME), CONSTRAINT_TYPE
         FROM information_schema.TABLE_CONSTRAINTS WHERE {}
         UNION ALL
         SELECT CONCAT('routine ', ROUTINE_NAME), CONCAT_WS(' ', CREATED, LAST_ALTERED, SHA2(ROUTINE_DEFINITION, 256))
         FROM information_schema.ROUTINES WHERE ROUTINE_SCHEMA = DATABASE() AND (ROUTINE_NAME IN ({list}){slices}){}",
            ours("TABLE_SCHEMA", "TABLE_NAME"),
            ours("TABLE_SCHEMA", "TABLE_NAME"),
            ours("TABLE_SCHEMA", "TABLE_NAME"),
            ours("EVENT_OBJECT_SCHEMA", "EVENT_OBJECT_TABLE"),
            ours("TABLE_SCHEMA", "TABLE_NAME"),
            files.unwrap_or_default(),
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ddl_statement_counts_are_summed() {
        let counts = |counts: &[(&str, f64)]| {
            let native = counts.iter().map(|&(name, count)| (format!("status.{name}"), count)).collect();
            changing_statements(&native)
        };
        let all = [
            ("Com_create_index", 2.0),
            ("Com_drop_trigger", 1.0),
            ("Com_select", 9.0),
            ("Created_tmp_tables", 5.0),
        ];
        assert_eq!(counts(&all), Some(3.0));
        assert_eq!(counts(&all[2..]), None);
    }
}
