//! Finds the relations and routines that statements name, and the size of the tables.

use std::collections::BTreeSet;

use dyno_engine::watched_names::with_definitions;
use dyno_engine::{Refusal as _, TargetError};

use super::super::wire::{PostgresConnection, PostgresError};
use super::quote::literal;

/// A condition that excludes the server's own and temporary schemas.
pub(in super::super) const OF_USERS: &str =
    "n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname !~ '^pg_(toast|temp)'";

/// The users' relations and routines that statements with the identifiers `names` use, under their names in
/// the catalog. `commits` counts the transactions of the lookup.
pub(in super::super) fn find(
    connection: &mut PostgresConnection,
    names: &BTreeSet<String>,
    commits: &mut u64,
) -> Result<BTreeSet<String>, TargetError> {
    let definitions = |names: &BTreeSet<String>| column(connection, &definitions_sql(names), commits);
    let names = with_definitions(names.clone(), definitions)?;
    let existing =
        if names.is_empty() { Vec::new() } else { column(connection, &existing_sql(&names), commits)? };
    Ok(existing.into_iter().collect())
}

/// Bytes of the tables that statements with the identifiers `names` use, including indexes; absent if none
/// exists.
pub(in super::super) fn named_bytes(
    connection: &mut PostgresConnection,
    names: &BTreeSet<String>,
) -> Result<Option<u64>, TargetError> {
    let tables = find(connection, names, &mut 0)?;
    let sql = format!(
        "SELECT sum(pg_total_relation_size(c.oid)) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
         WHERE c.relkind IN ('r', 'm') AND {OF_USERS} AND c.relname = ANY ({}::name[])",
        list(tables.iter())
    );
    Ok(column(connection, &sql, &mut 0)?.first().and_then(|bytes| bytes.parse().ok()))
}

/// The first column of the rows of `sql`; empty if this user may not read them.
fn column(
    connection: &mut PostgresConnection,
    sql: &str,
    commits: &mut u64,
) -> Result<Vec<String>, TargetError> {
    match connection.simple(sql) {
        Ok(rows) => {
            *commits += 1;
            Ok(rows.iter().filter_map(|row| row.get(0).map(str::to_owned)).collect())
        }
        Err(error) if PostgresError::of(&error).is_some_and(|server| !server.is_fatal()) => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

/// The names as an SQL array.
pub(in super::super) fn list<'a>(names: impl Iterator<Item = &'a String>) -> String {
    format!("ARRAY[{}]::text[]", names.map(|name| literal(name)).collect::<Vec<_>>().join(", "))
}

/// The query for definitions of views and routines, trigger functions, and partitions that belong to `names`.
fn definitions_sql(names: &BTreeSet<String>) -> String {
    let is_named = |column: &str| format!("lower({column}::text) = ANY ({})", list(names.iter()));
    format!(
        "SELECT pg_get_viewdef(c.oid) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
         WHERE c.relkind IN ('v', 'm') AND {OF_USERS} AND {relation}
         UNION ALL
         SELECT pg_get_functiondef(p.oid) FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
         WHERE p.prokind IN ('f', 'p') AND {OF_USERS} AND {routine}
         UNION ALL
         SELECT quote_ident(p.proname) FROM pg_trigger g JOIN pg_class c ON c.oid = g.tgrelid
             JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_proc p ON p.oid = g.tgfoid
         WHERE NOT g.tgisinternal AND {OF_USERS} AND {relation}
         UNION ALL
         SELECT quote_ident(h.inhrelid::regclass::name) FROM pg_inherits h JOIN pg_class c ON c.oid = h.inhparent
             JOIN pg_namespace n ON n.oid = c.relnamespace
         WHERE {OF_USERS} AND {relation}",
        relation = is_named("c.relname"),
        routine = is_named("p.proname"),
    )
}

/// The query for those of `names` that are users' relations or routines.
fn existing_sql(names: &BTreeSet<String>) -> String {
    let names = list(names.iter());
    format!(
        "SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
         WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND {OF_USERS} AND lower(c.relname::text) = ANY ({names})
         UNION
         SELECT p.proname FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
         WHERE {OF_USERS} AND lower(p.proname::text) = ANY ({names})"
    )
}
