//! The row shape of the test tables.

use dyno_plan::DataSpec;

use dyno_engine::data::CLASSIC_COLUMN_BYTES;
pub(crate) use dyno_engine::layout::TestTable;
use dyno_engine::layout::columns;

pub(crate) use crate::schema::SCHEMA;

const PREFIX: &str = "dyno.";

/// Bytes of each text column. More than 126, so each has a four-byte length word and a row is a little over
/// 2.5 KiB.
pub(crate) const COLUMN_BYTES: usize = CLASSIC_COLUMN_BYTES;

/// Percentage of a block that inserts may fill. In blocks of up to 16 KiB a row takes more than this, and at
/// 32 KiB the remaining share is less than a row. A second row therefore never fits, and the rest is space
/// for HOT updates.
const FILLFACTOR: u32 = 10;

/// Every table of `spec` that has rows.
pub(crate) fn tables(spec: &DataSpec) -> Vec<TestTable> {
    TestTable::all(spec, PREFIX)
}

/// The tables of `spec` that are read by key.
pub(super) fn tables_of_rows(spec: &DataSpec) -> impl Iterator<Item = TestTable> {
    TestTable::of_rows(spec, PREFIX)
}

/// The statements that create the table, empty.
///
/// `STORAGE PLAIN` keeps every column in the row and uncompressed. It is set afterwards because `CREATE
/// TABLE` supports it only from version 16 on. No statement filters by a text column. The text columns have
/// no statistics, so that ANALYZE, manual or by autovacuum during a run, does not sort their filler.
pub(super) fn create_sql(table: &TestTable) -> String {
    let name = table.name();
    let join_columns = |f: &dyn Fn(String) -> String| columns().map(f).collect::<Vec<_>>().join(", ");
    let definitions = join_columns(&|column| format!("{column} text NOT NULL"));
    let plain =
        join_columns(&|c| format!("ALTER COLUMN {c} SET STORAGE PLAIN, ALTER COLUMN {c} SET STATISTICS 0"));
    format!(
        "CREATE TABLE {name} (custid int8 NOT NULL, ver int8 NOT NULL DEFAULT 0, {definitions}) \
         WITH (fillfactor = {FILLFACTOR}); ALTER TABLE {name} {plain}"
    )
}

/// The table's indexes with the statements that create them. The secondary key is computed from `custid`, so
/// rows have the same width without it, and updates do not change it.
pub(super) fn indexes(table: &TestTable, spec: &DataSpec) -> Vec<(String, String)> {
    let secondary = format!("({})", spec.secondary_sql("%"));
    let all = [(table.index_name(), "custid"), (table.secondary_index_name(spec), &secondary)];
    let create = |name: &str, key: &str| format!("CREATE INDEX {name} ON {} ({key})", table.name());
    all.into_iter().filter_map(|(name, key)| name.map(|name| (name.clone(), create(&name, key)))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn index_ddl_matches_the_data_spec() {
        let spec = DataSpec {
            schemas: 1,
            rows: 5,
            scan_rows: 1,
            block_size: 8192,
            compressible: 0,
            seed: 1,
            secondary: true,
            copied: false,
        };
        let [rows, scan] = tables(&spec)[..] else { panic!("two tables") };
        let all = indexes(&rows, &spec);
        let main =
            ("rows_1_custid".to_owned(), "CREATE INDEX rows_1_custid ON dyno.rows_1 (custid)".to_owned());
        assert_eq!(all[0], main);
        assert!(all[1].1.starts_with("CREATE INDEX rows_1_sec ON dyno.rows_1 ((CASE WHEN custid"), "{all:?}");
        assert_eq!(indexes(&scan, &spec), []);
        assert_eq!(indexes(&rows, &DataSpec { secondary: false, ..spec }), [main], "older versions");
    }
}
