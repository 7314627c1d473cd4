//! What the test tables are made of, and what hangs on them: one mark for each, read with every snapshot.
//!
//! From the dictionary alone, which no run changes: no statistics, no sizes. MariaDB's time of a table's making is none: it is
//! that of the last change of its file, which moves whenever a page is written.

use std::collections::BTreeMap;

use dyno_plan::DataSpec;

use super::super::layout::{literal, tables};

/// How the names of the counters of such statements begin that change what a table is made of, or what hangs on it.
const CHANGING: [&str; 7] = ["alter_", "create_", "drop_", "rename_", "truncate", "optimize", "repair"];

/// How many statements the server has run that can change a shape; nothing where it does not count them.
pub(super) fn changing_statements(native: &BTreeMap<String, f64>) -> Option<f64> {
    let commands = native.iter().filter_map(|(name, count)| Some((name.strip_prefix("status.Com_")?, count)));
    let changing = commands.filter(|(name, _)| CHANGING.iter().any(|start| name.starts_with(start)));
    changing.map(|(_, count)| *count).reduce(|sum, count| sum + count)
}

/// The question; columns name and mark.
pub(super) fn sql(spec: &DataSpec) -> String {
    // A list is never empty in SQL; no table is called "".
    let none = literal("");
    let names: Vec<String> = tables(spec).iter().map(|table| literal(&table.name())).chain([none]).collect();
    let ours =
        |schema: &str, table: &str| format!("{schema} = DATABASE() AND {table} IN ({})", names.join(", "));
    format!(
        "SELECT CONCAT('table ', TABLE_NAME),
             CONCAT_WS(' ', IF(VERSION() LIKE '%MariaDB%', NULL, CREATE_TIME), ENGINE, ROW_FORMAT, CREATE_OPTIONS)
         FROM information_schema.TABLES WHERE {}
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
         FROM information_schema.TABLE_CONSTRAINTS WHERE {}",
        ours("TABLE_SCHEMA", "TABLE_NAME"),
        ours("TABLE_SCHEMA", "TABLE_NAME"),
        ours("EVENT_OBJECT_SCHEMA", "EVENT_OBJECT_TABLE"),
        ours("TABLE_SCHEMA", "TABLE_NAME"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_that_change_tables_are_counted_together() {
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
