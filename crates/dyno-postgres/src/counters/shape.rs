//! Records the definition of each watched table and of its dependent objects with every snapshot.

use std::collections::BTreeSet;

use dyno_engine::TargetError;
use dyno_plan::DataSpec;

use super::super::layout::named_objects::{self, OF_USERS, list};
use super::super::layout::{SCHEMA, TestTable, literal, tables};
use super::super::wire::PostgresConnection;
use super::source::PostgresCounterSource;

/// The relations and routines that are watched.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct PostgresWatchedObjects {
    /// Names of relations and routines as in the catalog; empty for the test tables.
    names: BTreeSet<String>,
}

impl PostgresWatchedObjects {
    /// The objects that statements with the identifiers `names` use. `commits` counts the transactions of the
    /// lookup.
    pub(super) fn find(
        connection: &mut PostgresConnection,
        names: &BTreeSet<String>,
        commits: &mut u64,
    ) -> Result<Self, TargetError> {
        Ok(Self { names: named_objects::find(connection, names, commits)? })
    }
}

/// The source of the definitions; `None` if nothing is watched.
pub(super) fn source(
    version_num: u32,
    spec: &DataSpec,
    watched: &PostgresWatchedObjects,
) -> Option<PostgresCounterSource> {
    let test_tables: Vec<String> = tables(spec).iter().map(TestTable::plain_name).collect();
    let (relations, routines) = match test_tables.is_empty() {
        false => {
            let is_ours = format!("n.nspname = {}", literal(SCHEMA));
            let names = list(test_tables.iter());
            // Routines are found through their dependency on the schema: a scan of all routines would read a
            // hundred blocks per snapshot.
            let routines = format!(
                "p.oid IN (SELECT d.objid FROM pg_depend d JOIN pg_namespace s ON s.oid = d.refobjid
                     WHERE s.nspname = {} AND d.refclassid = 'pg_namespace'::regclass AND d.classid = 'pg_proc'::regclass)",
                literal(SCHEMA)
            );
            (format!("{is_ours} AND c.relname = ANY ({names}::name[])"), routines)
        }
        // Without tables only publications would be watched, and the audit would report that tables did not
        // change.
        true if watched.names.is_empty() => return None,
        true => {
            let names = list(watched.names.iter());
            let relations = format!("{OF_USERS} AND c.relname = ANY ({names}::name[])");
            (relations, format!("{OF_USERS} AND p.proname = ANY ({names}::name[])"))
        }
    };
    let template = include_str!("../sql/counters_shape.sql");
    let mut sql = template.replace("{relations}", &relations).replace("{routines}", &routines);
    if version_num >= 150_000 {
        let schemas = include_str!("../sql/counters_shape_schemas.sql");
        sql = format!("{sql}UNION ALL\n{}", schemas.replace("{schema}", &literal(SCHEMA)));
    }
    Some(PostgresCounterSource { name: "shape", sql })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shape_query_exists_only_for_watched_tables() {
        let spec = |schemas| DataSpec {
            schemas,
            rows: 1,
            scan_rows: 1,
            block_size: 8192,
            compressible: 0,
            seed: 1,
            secondary: false,
            copied: false,
        };
        let sql = |schemas, names: &[&str]| {
            let names = names.iter().map(|&name| name.to_owned()).collect();
            source(160_000, &spec(schemas), &PostgresWatchedObjects { names }).map(|source| source.sql)
        };
        assert!(sql(1, &[]).unwrap().contains("'rows_1'"));
        assert!(sql(0, &["it's"]).unwrap().contains("'it''s'"));
        assert_eq!(sql(0, &[]), None);
    }
}
