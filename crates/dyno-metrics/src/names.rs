//! Maps engine counters to the metric names of existing exporters, so that dashboards built for those
//! exporters also work with Dyno.
//!
//! postgres_exporter reads `pg_stat_database`; mysqld_exporter reads `SHOW GLOBAL STATUS`. Both use plain
//! names without `_total`. Exception: mysqld_exporter combines some groups of variables into one name with a
//! label.

/// Columns of `pg_stat_database` that are cumulative plain counts.
const PG_STAT_DATABASE: [&str; 13] = [
    "xact_commit",
    "xact_rollback",
    "blks_read",
    "blks_hit",
    "tup_returned",
    "tup_fetched",
    "tup_inserted",
    "tup_updated",
    "tup_deleted",
    "conflicts",
    "temp_files",
    "temp_bytes",
    "deadlocks",
];

/// Groups of status variables: the prefix of the variable's name, the metric family, and the label that holds
/// the rest.
const MYSQL_GROUPS: [(&str, &str, &str); 3] = [
    ("com_", "mysql_global_status_commands", "command"),
    ("handler_", "mysql_global_status_handlers", "handler"),
    ("innodb_rows_", "mysql_global_status_innodb_row_ops", "operation"),
];

/// The metric name that an exporter uses for a counter.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Exported {
    /// The name of the metric family, without the suffix `_total`.
    pub(crate) family: String,
    /// Whether the exporter declares a counter, whose name then ends in `_total`.
    pub(crate) is_counter: bool,
    /// The label that the exporter adds, and its value.
    pub(crate) label: Option<(&'static str, String)>,
}

/// Returns the exporter's name of a native counter; absent if no exporter has that counter.
pub(crate) fn exported(native: &str) -> Option<Exported> {
    let (source, name) = native.split_once('.')?;
    match source {
        "pg_stat_database" => PG_STAT_DATABASE.contains(&name).then(|| Exported {
            family: format!("pg_stat_database_{name}"),
            is_counter: false,
            label: None,
        }),
        "status" => Some(of_mysql(&name.to_ascii_lowercase())),
        _ => None,
    }
}

fn of_mysql(name: &str) -> Exported {
    for (begins, family, label) in MYSQL_GROUPS {
        if let Some(rest) = name.strip_prefix(begins).filter(|rest| !rest.is_empty()) {
            let label = Some((label, rest.to_owned()));
            return Exported { family: family.to_owned(), is_counter: true, label };
        }
    }
    let spelled = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c } else { '_' };
    let name: String = name.chars().map(spelled).collect();
    Exported { family: format!("mysql_global_status_{name}"), is_counter: false, label: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counter_names_map_to_exporter_metric_names() {
        let plain =
            |family: &str| Some(Exported { family: family.to_owned(), is_counter: false, label: None });
        assert_eq!(exported("pg_stat_database.blks_hit"), plain("pg_stat_database_blks_hit"));
        assert_eq!(exported("pg_stat_database.active_time"), None);
        assert_eq!(exported("server.wal_bytes"), None);
        assert_eq!(
            exported("status.Innodb_buffer_pool_reads"),
            plain("mysql_global_status_innodb_buffer_pool_reads")
        );
        let group = exported("status.Handler_read_key").unwrap();
        assert_eq!((group.family.as_str(), group.is_counter), ("mysql_global_status_handlers", true));
        assert_eq!(group.label, Some(("handler", "read_key".to_owned())));
        assert_eq!(
            exported("status.Innodb_rows_read").unwrap().label,
            Some(("operation", "read".to_owned()))
        );
    }
}
