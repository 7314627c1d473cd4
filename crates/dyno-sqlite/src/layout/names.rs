//! The names and row shape of the tables.

use std::fmt::Write as _;

use dyno_plan::DataSpec;

use dyno_engine::TargetError;
use dyno_engine::data::{CLASSIC_COLUMN_BYTES, TEXT_COLUMNS, TableKind};

/// Page sizes in bytes that data can be loaded with.
const PAGE_BYTES: std::ops::RangeInclusive<u64> = 4096..=65_536;

/// SQLite's default page size for a new file, in bytes.
pub(crate) const DEFAULT_PAGE_BYTES: u64 = 4096;

/// One table of one schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SqliteTable {
    pub(crate) schema: u32,
    pub(crate) kind: TableKind,
    /// The number of rows that a load writes.
    pub(crate) rows: u64,
}

impl SqliteTable {
    /// The table's name, for example `dyno_rows_1`.
    pub(crate) fn name(self) -> String {
        format!("dyno_{}_{}", self.kind.name(), self.schema)
    }

    /// The name of the index on `custid`, `dyno_rows_1_custid`; `None` for a table without one.
    pub(crate) fn index(self) -> Option<String> {
        (self.kind == TableKind::Rows).then(|| format!("{}_custid", self.name()))
    }

    /// The statement that creates its index.
    pub(super) fn index_ddl(self, index: &str) -> String {
        format!("CREATE INDEX {index} ON {}(custid)", self.name())
    }

    /// The name of the index on the secondary key, `dyno_rows_1_sec`; `None` for a table without one.
    pub(crate) fn secondary_index(self, spec: &DataSpec) -> Option<String> {
        (self.kind == TableKind::Rows && spec.secondary).then(|| format!("{}_sec", self.name()))
    }

    /// The table's indexes with the statements that create them. The secondary key is computed from `custid`,
    /// so rows have the same width without it, and updates do not change it.
    pub(super) fn indexes(self, spec: &DataSpec) -> Vec<(String, String)> {
        let main = self.index().map(|index| (self.index_ddl(&index), index));
        let secondary = self.secondary_index(spec).map(|index| {
            let ddl = format!("CREATE INDEX {index} ON {}({})", self.name(), spec.secondary_sql("%"));
            (ddl, index)
        });
        main.into_iter().chain(secondary).map(|(ddl, index)| (index, ddl)).collect()
    }

    /// The statement that creates the table. `c2` is declared nullable, so that `COUNT(c2)` has to read it.
    pub(super) fn ddl(self) -> String {
        let mut ddl = format!("CREATE TABLE {}(custid INTEGER, ver INTEGER NOT NULL DEFAULT 0", self.name());
        for column in columns() {
            write!(ddl, ", {column} TEXT").expect("writing to a string cannot fail");
        }
        ddl + ")"
    }

    /// The statement that inserts a row: the texts are parameters 1–19, the key is parameter 20.
    pub(crate) fn insert(self) -> String {
        let mut sql = format!("INSERT INTO {}(custid, ver", self.name());
        for column in columns() {
            write!(sql, ", {column}").expect("writing to a string cannot fail");
        }
        write!(sql, ") VALUES(?{}, 0", TEXT_COLUMNS + 1).expect("writing to a string cannot fail");
        for parameter in 1..=TEXT_COLUMNS {
            write!(sql, ", ?{parameter}").expect("writing to a string cannot fail");
        }
        sql + ")"
    }
}

/// Names of the text columns, `c2` to `c20`.
pub(crate) fn columns() -> impl Iterator<Item = String> {
    (2..TEXT_COLUMNS + 2).map(|number| format!("c{number}"))
}

pub(crate) fn tables(spec: &DataSpec) -> Vec<SqliteTable> {
    let table = |schema, kind, rows| SqliteTable { schema, kind, rows };
    (1..=spec.schemas)
        .flat_map(|schema| {
            [table(schema, TableKind::Rows, spec.rows), table(schema, TableKind::Scan, spec.scan_rows)]
        })
        .filter(|table| table.kind == TableKind::Rows || table.rows > 0)
        .collect()
}

/// Bytes of each text column, such that a row takes more than half of a page of `page_bytes` and no two rows
/// fit into one.
///
/// The classic width is enough for pages of up to 4 KiB. For larger pages, the columns alone take more than
/// half of the page. The rest of a row (header, keys: up to 65 bytes) keeps it far below a whole page. It
/// therefore neither overflows nor moves when its version grows.
pub(crate) fn column_bytes(page_bytes: u64) -> usize {
    let half = usize::try_from(page_bytes / 2).expect("pages have at most 64 KiB");
    CLASSIC_COLUMN_BYTES.max(half / TEXT_COLUMNS + 1)
}

/// Checks that SQLite supports this page size and that Dyno can create rows for it.
pub(crate) fn check_page_bytes(page_bytes: u64) -> Result<(), TargetError> {
    if PAGE_BYTES.contains(&page_bytes) && page_bytes.is_power_of_two() {
        return Ok(());
    }
    Err(TargetError::unsupported(format!("sqlite cannot be loaded with pages of {page_bytes} bytes"))
        .hint("set data.block_size to 4K, 8K, 16K, 32K or 64K"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_engine::TargetErrorKind;

    #[test]
    fn page_holds_one_row_but_never_two() {
        for page_bytes in [4096u64, 8192, 16_384, 32_768, 65_536] {
            let text = (column_bytes(page_bytes) * TEXT_COLUMNS) as u64;
            // A b-tree leaf has a header of 8 bytes and 2 bytes per cell; the smallest row has only its text.
            assert!(2 * (text + 2) > page_bytes - 8, "{page_bytes}");
            // A table leaf stores up to usable size − 35 bytes of a row without an overflow page.
            assert!(text + 65 <= page_bytes - 35, "{page_bytes}");
        }
        assert_eq!(column_bytes(4096), CLASSIC_COLUMN_BYTES);
    }

    #[test]
    fn page_sizes_outside_4_to_64_kib_are_refused() {
        for bad in [0, 512, 2048, 5000, 131_072] {
            assert_eq!(check_page_bytes(bad).unwrap_err().kind, TargetErrorKind::Unsupported);
        }
    }

    #[test]
    fn a_spec_without_scan_rows_has_no_scan_table() {
        let spec = DataSpec {
            schemas: 2,
            rows: 5,
            scan_rows: 0,
            block_size: 4096,
            compressible: 0,
            seed: 1,
            secondary: false,
            copied: false,
        };
        let names: Vec<String> = tables(&spec).into_iter().map(SqliteTable::name).collect();
        assert_eq!(names, ["dyno_rows_1", "dyno_rows_2"]);
        let with_scan = tables(&DataSpec { scan_rows: 1, ..spec });
        assert_eq!(with_scan[1].name(), "dyno_scan_1");
        assert_eq!(
            (with_scan[0].index().as_deref(), with_scan[1].index()),
            (Some("dyno_rows_1_custid"), None)
        );
    }
}
