//! The statistics views of each version, each as a query of (source, column, value).

use dyno_plan::DataSpec;

use super::super::layout::{SCHEMA, TestTable, literal, tables};
use super::observer_reads;
use super::shape::{self, PostgresWatchedObjects};
use super::source::PostgresCounterSource;
use dyno_engine::data::TableKind;

/// Every setting of the server.
const SETTINGS: &str = include_str!("../sql/counters_settings.sql");

/// Settings that new sessions get from their database or role; read with every snapshot because sessions may
/// be new.
pub(super) const ROLE_SETTINGS: &str = "setting of new sessions";

/// Server start, timeline and position in the WAL.
const SERVER: &str = include_str!("../sql/counters_server.sql");

/// The WAL that each server process of Dyno has written; a process keeps its id while it runs.
const BACKENDS: &str = "SELECT 'dyno.backends', concat_ws('.', e.key, a.pid, extract(epoch FROM a.backend_start)), e.value
     FROM pg_stat_activity a, pg_stat_get_backend_wal(a.pid) w, jsonb_each_text(to_jsonb(w)) e
     WHERE a.application_name ~ '^dyno( |$)' AND a.datname = current_database() AND e.key IN ('wal_bytes', 'wal_records')";

/// Columns that are not counters: names, gauges and constants.
const NO_COUNTERS: &str =
    "ARRAY['datid', 'datname', 'numbackends', 'op_bytes', 'backend_type', 'object', 'context']";

/// The sources of a server with version number `version_num`; the last two only if the tables of `spec`
/// exist.
pub(super) fn sources(
    version_num: u32,
    spec: &DataSpec,
    watched: &PostgresWatchedObjects,
) -> Vec<PostgresCounterSource> {
    let mut sources = vec![
        PostgresCounterSource { name: "server", sql: SERVER.to_owned() },
        PostgresCounterSource { name: "settings", sql: SETTINGS.to_owned() },
    ];
    sources.extend(shape::source(version_num, spec, watched));
    sources.push(PostgresCounterSource {
        name: ROLE_SETTINGS,
        sql: include_str!("../sql/counters_role_settings.sql").to_owned(),
    });
    sources.push(view("pg_stat_database", "WHERE v.datname = current_database()"));
    sources.push(view("pg_stat_bgwriter", ""));
    if version_num >= 140_000 {
        sources.push(view("pg_stat_wal", ""));
    }
    if version_num >= 160_000 {
        sources.push(io());
    }
    if version_num >= 170_000 {
        sources.push(view("pg_stat_checkpointer", ""));
    }
    if version_num >= 180_000 {
        sources.push(PostgresCounterSource { name: "dyno.backends", sql: BACKENDS.to_owned() });
    }
    sources.push(company(spec));
    sources
        .extend([of_kind(spec, TableKind::Rows, "dyno.rows"), of_kind(spec, TableKind::Scan, "dyno.scan")]);
    // This must be the last source, because it reports what all of them have read.
    sources.extend(observer_reads::source(version_num));
    sources
}

/// All sources as one statement.
pub(super) fn statement<'a>(sources: impl Iterator<Item = &'a PostgresCounterSource>) -> String {
    sources.map(|source| format!("({})", source.sql)).collect::<Vec<_>>().join("\nUNION ALL\n")
}

fn view(name: &'static str, filter: &str) -> PostgresCounterSource {
    let sql = format!(
        "SELECT '{name}', e.key, e.value FROM {name} v, jsonb_each_text(to_jsonb(v) - {NO_COUNTERS}) e {filter}"
    );
    PostgresCounterSource { name, sql }
}

/// One source per kind of backend, object and context. Impossible cells are NULL and omitted; a NULL reset
/// time is kept.
fn io() -> PostgresCounterSource {
    let sql = format!(
        "SELECT 'pg_stat_io.' || replace(concat_ws('.', v.backend_type, v.object, v.context), ' ', '_'), e.key, e.value
         FROM pg_stat_io v, jsonb_each_text(to_jsonb(v) - {NO_COUNTERS}) e
         WHERE e.value IS NOT NULL OR e.key = 'stats_reset'"
    );
    PostgresCounterSource { name: "pg_stat_io", sql }
}

/// The source of the run's own work and of background activity.
fn company(spec: &DataSpec) -> PostgresCounterSource {
    let names: Vec<String> = tables(spec).iter().map(|table| literal(&table.plain_name())).collect();
    let template = include_str!("../sql/counters_company.sql");
    let sql = template.replace("{schema}", &literal(SCHEMA)).replace("{tables}", &names.join(", "));
    PostgresCounterSource { name: "dyno.company", sql }
}

/// Object ids of Dyno's relations called `names`. They are looked up in the catalog, because resolving a name
/// needs a privilege on the schema and statistics do not.
fn oids(names: impl Iterator<Item = String>) -> String {
    let names: Vec<String> = names.map(|name| literal(&name)).collect();
    format!(
        "(SELECT c.oid FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
          WHERE n.nspname = {} AND c.relname = ANY (ARRAY[{}]::name[]))",
        literal(SCHEMA),
        names.join(", ")
    )
}

/// The sum over Dyno's own tables of one kind, with the column names of `pg_stat_user_tables` and
/// `pg_statio_user_tables`.
fn of_kind(spec: &DataSpec, kind: TableKind, name: &'static str) -> PostgresCounterSource {
    let of_kind: Vec<TestTable> = tables(spec).into_iter().filter(|table| table.kind == kind).collect();
    let tables = oids(of_kind.iter().map(TestTable::plain_name));
    let indexes = oids(of_kind.iter().filter_map(TestTable::index_name));
    let template = include_str!("../sql/counters_tables.sql");
    let sql = template
        .replace("{source}", &literal(name))
        .replace("{tables}", &tables)
        .replace("{indexes}", &indexes);
    PostgresCounterSource { name, sql }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(version_num: u32) -> Vec<&'static str> {
        names_for(version_num, 1)
    }

    fn names_for(version_num: u32, schemas: u32) -> Vec<&'static str> {
        let spec = DataSpec {
            schemas,
            rows: 1,
            scan_rows: 1,
            block_size: 8192,
            compressible: 0,
            seed: 1,
            secondary: false,
            copied: false,
        };
        sources(version_num, &spec, &PostgresWatchedObjects::default())
            .iter()
            .map(|source| source.name)
            .collect()
    }

    #[test]
    fn postgres_sources_match_server_version() {
        let old = [
            "server",
            "settings",
            "shape",
            "setting of new sessions",
            "pg_stat_database",
            "pg_stat_bgwriter",
            "dyno.company",
            "dyno.rows",
            "dyno.scan",
        ];
        assert_eq!(names(130_000), old);
        assert!(names(140_002).contains(&"pg_stat_wal"));
        assert!(!names(140_002).contains(&"pg_stat_io"));
        assert!(names(160_000).contains(&"pg_stat_io"));
        assert!(!names(160_000).contains(&"pg_stat_checkpointer"));
        assert_eq!(names(170_000).len(), 13);
        assert_eq!(names(170_000).last(), Some(&"dyno.observer"), "it tells of all before it");
    }
}
