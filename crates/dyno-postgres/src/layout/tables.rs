//! The test tables: their names and shape.

use dyno_plan::DataSpec;

use dyno_engine::data::{CLASSIC_COLUMN_BYTES, TEXT_COLUMNS, TableKind};

/// The schema of everything Dyno makes.
pub(crate) const SCHEMA: &str = "dyno";

/// Bytes of each text column; longer than 126, so each has a four-byte length word and a row is a little over 2.5 KiB.
pub(crate) const COLUMN_BYTES: usize = CLASSIC_COLUMN_BYTES;

/// Percent of a block that inserts may fill. A row takes more than this of a block of up to 16 KiB, and at 32 KiB what
/// is left is less than a row, so a second row never fits; the rest is room for HOT updates.
const FILLFACTOR: u32 = 10;

/// One test table of a spec.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Table {
    /// What it is for.
    pub(crate) kind: TableKind,
    /// The schema's number, from 1.
    pub(crate) schema: u32,
    /// Rows it shall hold.
    pub(crate) rows: u64,
}

impl Table {
    /// Every table of `spec` that has rows.
    pub(crate) fn all(spec: &DataSpec) -> Vec<Self> {
        let of = |kind, rows| (1..=spec.schemas).map(move |schema| Self { kind, schema, rows });
        of(TableKind::Rows, spec.rows)
            .chain(of(TableKind::Scan, spec.scan_rows))
            .filter(|table| table.rows > 0)
            .collect()
    }

    /// The name without its schema: `rows_1`.
    pub(crate) fn name(&self) -> String {
        format!("{}_{}", self.kind.name(), self.schema)
    }

    /// The full name; digits and lower-case letters only, so it needs no quotes: `dyno.rows_1`.
    pub(crate) fn full_name(&self) -> String {
        format!("{SCHEMA}.{}", self.name())
    }

    /// The index's name without its schema, if the table has one.
    pub(crate) fn index_name(&self) -> Option<String> {
        (self.kind == TableKind::Rows).then(|| format!("{}_custid", self.name()))
    }

    /// Statements that create the table, empty.
    ///
    /// `STORAGE PLAIN` keeps every column in the row and uncompressed; it is set afterwards, because `CREATE TABLE` takes
    /// it only from version 16 on. No statement filters by a text column, so ANALYZE, by hand or by autovacuum in the
    /// middle of a run, need not sort their filler.
    pub(crate) fn create_sql(&self) -> String {
        let name = self.full_name();
        let each = |f: &dyn Fn(usize) -> String| (2..2 + TEXT_COLUMNS).map(f).collect::<Vec<_>>().join(", ");
        let columns = each(&|i| format!("c{i} text NOT NULL"));
        let plain =
            each(&|i| format!("ALTER COLUMN c{i} SET STORAGE PLAIN, ALTER COLUMN c{i} SET STATISTICS 0"));
        format!(
            "CREATE TABLE {name} (custid int8 NOT NULL, ver int8 NOT NULL DEFAULT 0, {columns}) \
             WITH (fillfactor = {FILLFACTOR}); ALTER TABLE {name} {plain}"
        )
    }

    /// The name of the index on the secondary key, if the table has one.
    pub(crate) fn secondary_index_name(&self, spec: &DataSpec) -> Option<String> {
        (self.kind == TableKind::Rows && spec.secondary).then(|| format!("{}_sec", self.name()))
    }

    /// Names of all its indexes and the statements that create them.
    pub(crate) fn indexes(&self, spec: &DataSpec) -> Vec<(String, String)> {
        let main = self.index_name().zip(self.create_index_sql());
        // The key follows from `custid`, so rows are as wide without it, and an update changes nothing of it.
        let secondary = self.secondary_index_name(spec).map(|index| {
            let sql = format!("CREATE INDEX {index} ON {} (({}))", self.full_name(), spec.secondary_sql("%"));
            (index, sql)
        });
        main.into_iter().chain(secondary).collect()
    }

    /// The statement that creates the index.
    pub(crate) fn create_index_sql(&self) -> Option<String> {
        self.index_name().map(|index| format!("CREATE INDEX {index} ON {} (custid)", self.full_name()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spec_without_scan_rows_has_no_scan_tables() {
        let mut spec = DataSpec {
            schemas: 2,
            rows: 5,
            scan_rows: 0,
            block_size: 8192,
            compressible: 0,
            seed: 1,
            secondary: false,
        };
        let names = |spec: &DataSpec| Table::all(spec).iter().map(Table::full_name).collect::<Vec<_>>();
        assert_eq!(names(&spec), ["dyno.rows_1", "dyno.rows_2"]);
        spec.scan_rows = 1;
        assert_eq!(names(&spec), ["dyno.rows_1", "dyno.rows_2", "dyno.scan_1", "dyno.scan_2"]);
    }

    #[test]
    fn only_the_rows_tables_have_an_index() {
        let table = Table { kind: TableKind::Scan, schema: 1, rows: 1 };
        assert_eq!(table.create_index_sql(), None);
        let table = Table { kind: TableKind::Rows, schema: 3, rows: 1 };
        assert_eq!(
            table.create_index_sql().as_deref(),
            Some("CREATE INDEX rows_3_custid ON dyno.rows_3 (custid)")
        );
    }
}
