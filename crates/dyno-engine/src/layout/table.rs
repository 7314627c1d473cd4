//! Names the test tables and their indexes, and generates their rows.

use dyno_plan::{DataSpec, Redo};

use crate::data::{Filler, Permutation, TEXT_COLUMNS, TableKind, mix, table_seed};
use crate::load::SchemaFacts;

/// One test table of a spec.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TestTable {
    /// The prefix of every name: `dyno_`, or a schema as in `dyno.`.
    pub prefix: &'static str,
    /// Whether sessions read it by key or by full scans.
    pub kind: TableKind,
    /// The schema's number, from 1.
    pub schema: u32,
    /// Rows in the finished table.
    pub rows: u64,
}

impl TestTable {
    /// Every table of `spec` that has rows.
    pub fn all(spec: &DataSpec, prefix: &'static str) -> Vec<Self> {
        let tables_of =
            |kind, rows| (1..=spec.schemas).map(move |schema| Self { prefix, kind, schema, rows });
        let all = tables_of(TableKind::Rows, spec.rows).chain(tables_of(TableKind::Scan, spec.scan_rows));
        all.filter(|table| table.rows > 0).collect()
    }

    /// Those of them that sessions read by key.
    pub fn of_rows(spec: &DataSpec, prefix: &'static str) -> impl Iterator<Item = Self> {
        Self::all(spec, prefix).into_iter().filter(Self::has_keys)
    }

    /// The name, such as `dyno_rows_1` or `dyno.rows_1`. Digits, lower-case letters and underscores need no
    /// quotes.
    pub fn name(&self) -> String {
        format!("{}{}_{}", self.prefix, self.kind.name(), self.schema)
    }

    /// The name without its schema.
    pub fn plain_name(&self) -> String {
        self.name().split_off(self.prefix.find('.').map_or(0, |dot| dot + 1))
    }

    /// Whether sessions read it by key.
    pub fn has_keys(&self) -> bool {
        self.kind == TableKind::Rows
    }

    /// The index's name without a schema, if the table has one.
    pub fn index_name(&self) -> Option<String> {
        self.has_keys().then(|| format!("{}_custid", self.plain_name()))
    }

    /// The name of the index on the secondary key, if the table has one.
    pub fn secondary_index_name(&self, spec: &DataSpec) -> Option<String> {
        (self.has_keys() && spec.secondary).then(|| format!("{}_sec", self.plain_name()))
    }

    /// Mixes `seed` with the table's number, so that checks read different places in each schema.
    pub fn look(&self, seed: u64) -> u64 {
        mix(seed ^ mix(u64::from(self.schema)))
    }

    /// The measured figures of the table, under its full name.
    pub fn facts(&self, table: String, blocks: u64, bytes: u64) -> SchemaFacts {
        SchemaFacts { schema: self.schema, kind: self.kind.name(), table, rows: self.rows, blocks, bytes }
    }
}

/// Names of the text columns: `c2` to `c20`.
pub fn columns() -> impl Iterator<Item = String> {
    (2..2 + TEXT_COLUMNS).map(|number| format!("c{number}"))
}

/// The names of all text columns, with `separator` between them.
pub fn text_columns(separator: &str) -> String {
    columns().collect::<Vec<_>>().join(separator)
}

/// The text columns that an update sets, by number: `c2` is 2.
pub fn updated_columns(redo: Redo) -> impl Iterator<Item = usize> + Clone {
    let last = TEXT_COLUMNS + 1;
    (2..=last).filter(move |&column| redo == Redo::Heavy || column == 2 || column == last)
}

/// Makes the text of one table's rows.
#[derive(Debug)]
pub struct RowText {
    /// The generator of the text.
    pub filler: Filler,
    order: Permutation,
    text: Vec<u8>,
}

impl RowText {
    /// Rows of `table` in columns of `column_bytes`.
    pub fn new(spec: &DataSpec, table: &TestTable, column_bytes: usize) -> Self {
        let filler = Filler::new(spec, table.schema, table.kind, column_bytes);
        let order = Permutation::new(table.rows, table_seed(spec.seed, table.schema, table.kind));
        Self { text: vec![0; filler.row_bytes()], filler, order }
    }

    /// The key of the row at insert position `position`, from 0.
    pub fn key(&self, position: u64) -> u64 {
        self.order.key(position)
    }

    /// The text of the row with `key`: all columns, one after the other.
    pub fn of(&mut self, key: u64) -> &[u8] {
        self.filler.fill(key, &mut self.text);
        &self.text
    }

    /// The columns of the row whose text was generated last.
    pub fn columns(&self) -> std::slice::ChunksExact<'_, u8> {
        self.text.chunks_exact(self.filler.column_bytes())
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in super::super) fn spec(scan_rows: u64, secondary: bool) -> DataSpec {
        DataSpec {
            schemas: 2,
            rows: 5,
            scan_rows,
            block_size: 8192,
            compressible: 0,
            seed: 1,
            secondary,
            copied: false,
        }
    }

    #[test]
    fn a_spec_without_scan_rows_has_no_scan_tables() {
        let names = |scan_rows, prefix| -> Vec<String> {
            TestTable::all(&spec(scan_rows, false), prefix).iter().map(TestTable::name).collect()
        };
        assert_eq!(names(0, "dyno."), ["dyno.rows_1", "dyno.rows_2"]);
        assert_eq!(names(1, "dyno_"), ["dyno_rows_1", "dyno_rows_2", "dyno_scan_1", "dyno_scan_2"]);
    }

    #[test]
    fn only_tables_read_by_key_have_indexes() {
        let all = TestTable::all(&spec(1, true), "dyno_");
        let (rows, scan) = (all[0], all[2]);
        assert_eq!(rows.index_name().as_deref(), Some("dyno_rows_1_custid"));
        let in_schema = TestTable { prefix: "dyno.", ..rows };
        assert_eq!(in_schema.index_name().as_deref(), Some("rows_1_custid"));
        assert_eq!(rows.secondary_index_name(&spec(1, true)).as_deref(), Some("dyno_rows_1_sec"));
        assert_eq!(rows.secondary_index_name(&spec(1, false)), None, "data of older versions");
        assert_eq!((scan.index_name(), scan.secondary_index_name(&spec(1, true))), (None, None));
    }

    #[test]
    fn text_columns_are_listed_once() {
        assert_eq!(columns().count(), TEXT_COLUMNS);
        assert!(text_columns(", ").starts_with("c2, c3"));
        assert!(text_columns(" || ").ends_with("c19 || c20"));
        assert_eq!(updated_columns(Redo::Lite).collect::<Vec<_>>(), [2, 20]);
        assert_eq!(updated_columns(Redo::Heavy).count(), TEXT_COLUMNS);
    }

    #[test]
    fn row_keys_are_unique_and_row_text_is_reproducible() {
        let table = TestTable { rows: 9, ..TestTable::all(&spec(0, false), "")[0] };
        let mut rows = RowText::new(&spec(0, false), &table, 128);
        let mut keys: Vec<u64> = (0..9).map(|position| rows.key(position)).collect();
        keys.sort_unstable();
        assert_eq!(keys, (1..=9).collect::<Vec<_>>());
        let first = rows.of(4).to_vec();
        assert_ne!(rows.of(5), first);
        assert_eq!(rows.of(4), first);
        assert_eq!(rows.columns().next(), first.get(..128));
    }
}
