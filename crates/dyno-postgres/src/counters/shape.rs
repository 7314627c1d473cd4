//! What tables are made of, and what hangs on them: one mark for each, read with every snapshot.

use std::collections::BTreeSet;

use dyno_engine::TargetError;
use dyno_plan::DataSpec;

use super::super::layout::named_objects::{self, OF_USERS, list};
use super::super::layout::{SCHEMA, Table, literal, tables};
use super::super::wire::Connection;
use super::source::Source;

/// The relations and routines that are watched.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct PgWatchedObjects {
    /// Names of relations and of routines as the catalog has them; empty for the test tables.
    names: BTreeSet<String>,
}

impl PgWatchedObjects {
    /// Those that statements with the identifiers `names` use. `commits` counts the transactions of asking.
    pub(super) fn find(
        connection: &mut Connection,
        names: &BTreeSet<String>,
        commits: &mut u64,
    ) -> Result<Self, TargetError> {
        Ok(Self { names: named_objects::find(connection, names, commits)? })
    }
}

/// The source of the marks; none where nothing is watched.
pub(super) fn source(version_num: u32, spec: &DataSpec, watched: &PgWatchedObjects) -> Option<Source> {
    let test_tables: Vec<String> = tables(spec).iter().map(Table::plain_name).collect();
    let (relations, routines) = match test_tables.is_empty() {
        false => {
            let is_ours = format!("n.nspname = {}", literal(SCHEMA));
            let names = list(test_tables.iter());
            // By what depends on the schema: a scan of all routines would read a hundred blocks with each snapshot.
            let routines = format!(
                "p.oid IN (SELECT d.objid FROM pg_depend d JOIN pg_namespace s ON s.oid = d.refobjid
                     WHERE s.nspname = {} AND d.refclassid = 'pg_namespace'::regclass AND d.classid = 'pg_proc'::regclass)",
                literal(SCHEMA)
            );
            (format!("{is_ours} AND c.relname = ANY ({names}::name[])"), routines)
        }
        // Without tables only publications would be watched, and the audit would say that tables did not change.
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
    Some(Source { name: "shape", sql })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shape_is_read_only_where_tables_are_watched() {
        let spec = |schemas| DataSpec {
            schemas,
            rows: 1,
            scan_rows: 1,
            block_size: 8192,
            compressible: 0,
            seed: 1,
            secondary: false,
        };
        let sql = |schemas, names: &[&str]| {
            let names = names.iter().map(|&name| name.to_owned()).collect();
            source(160_000, &spec(schemas), &PgWatchedObjects { names }).map(|source| source.sql)
        };
        assert!(sql(1, &[]).unwrap().contains("'rows_1'"));
        assert!(sql(0, &["it's"]).unwrap().contains("'it''s'"));
        assert_eq!(sql(0, &[]), None);
    }
}
