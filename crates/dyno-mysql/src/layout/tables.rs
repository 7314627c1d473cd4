//! The names and row shape of the test tables.

use dyno_plan::DataSpec;

use super::quote::literal;
use dyno_engine::TargetError;
use dyno_engine::data::{CLASSIC_COLUMN_BYTES, TEXT_COLUMNS};
pub(crate) use dyno_engine::layout::TestTable;
use dyno_engine::layout::columns;

/// Bytes of a page that hold no records: file and page headers, trailer, infimum and supremum records, and
/// two directory slots (MySQL manual, "Physical Structure of an InnoDB Index";
/// `page_get_free_space_of_empty`).
const PAGE_OVERHEAD_BYTES: usize = 132;

/// Bytes of a row in addition to its text columns and `pad`: header, NULL flags of 21 columns, one length
/// byte for each of 19 columns, and two length bytes for `pad`. Then `id`, transaction, roll pointer,
/// `custid` and `ver`.
const ROW_OVERHEAD_BYTES: usize = 5 + 3 + TEXT_COLUMNS + 2 + 8 + 6 + 7 + 8 + 8;

/// The smallest size of `pad`, bytes.
const PAD_BYTES_MIN: usize = 16;

/// Bytes of text in a spacer if one spacer per row is enough.
const SPACER_BYTES: usize = 64;

/// Pages of this size always hold at least four records, because no record is longer than 16 KiB.
const LARGEST_PAGE_BYTES: u64 = 65_536;

/// The longest row on such a page, with a margin for differences between versions: InnoDB splits records of
/// 16 KiB.
const LARGEST_ROW_BYTES: usize = 16_300;

/// Spacers before each row on such a page, and the bytes of text in each. Two rows and the spacers between
/// them do not fit. One row and its spacers leave free the sixteenth of the page that InnoDB reserves.
const LARGEST_SPACERS: (u64, usize) = (3, 11_200);

/// Page sizes that can be loaded.
const PAGE_BYTES: std::ops::RangeInclusive<u64> = 4096..=LARGEST_PAGE_BYTES;

/// The layout of a table's rows, which depends on the page size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct MySqlRowShape {
    /// Bytes of each text column.
    pub(crate) column_bytes: usize,
    /// Bytes of the column `pad`, which gives a row the maximum length that InnoDB stores in the page.
    pub(crate) pad_bytes: usize,
    /// Number of spacers before each row.
    pub(crate) spacers: u64,
    /// Bytes of text in each spacer; text longer than a column is stored in `pad`.
    pub(crate) spacer_bytes: usize,
}

impl MySqlRowShape {
    /// The shape for pages of `page_bytes`.
    pub(crate) fn of(page_bytes: u64) -> Result<Self, TargetError> {
        if !PAGE_BYTES.contains(&page_bytes) || !page_bytes.is_power_of_two() {
            let message = format!("one row per page is not possible with innodb_page_size = {page_bytes}");
            return Err(TargetError::unsupported(message)
                .hint("use a server that was initialized with innodb_page_size 4k, 8k, 16k, 32k or 64k"));
        }
        let row = row_bytes_max(page_bytes);
        let column_bytes =
            CLASSIC_COLUMN_BYTES.min((row - ROW_OVERHEAD_BYTES - PAD_BYTES_MIN) / TEXT_COLUMNS);
        let pad_bytes = row - ROW_OVERHEAD_BYTES - column_bytes * TEXT_COLUMNS;
        let (spacers, spacer_bytes) =
            if page_bytes == LARGEST_PAGE_BYTES { LARGEST_SPACERS } else { (1, SPACER_BYTES) };
        Ok(Self { column_bytes, pad_bytes, spacers, spacer_bytes })
    }

    /// Records per row, including its spacers.
    pub(crate) fn records(self) -> u64 {
        1 + self.spacers
    }

    /// The surrogate key of the row at insert position `position` (from 0); its spacers have the ids before
    /// it.
    ///
    /// Spacers are inserted first. Where rows of concurrent connections meet, a spacer therefore always lies
    /// between them. Two adjacent rows whose spacer followed later would take one page for the row and one
    /// for the spacer.
    pub(crate) fn id(self, position: u64) -> u64 {
        (position + 1) * self.records()
    }

    /// The surrogate keys of the spacers before the row `id`.
    pub(crate) fn spacer_ids(self, id: u64) -> std::ops::Range<u64> {
        id - self.spacers..id
    }

    /// Whether a spacer's text is stored in `pad` and not in the last column.
    pub(crate) fn pads_spacers(self) -> bool {
        self.spacer_bytes > self.column_bytes
    }
}

/// The longest row that InnoDB stores completely in its page: less than half of an empty page, and less than
/// 16 KiB (MySQL manual, "Limits on Table Column Count and Row Size"; `page_zip_rec_needs_ext`).
fn row_bytes_max(page_bytes: u64) -> usize {
    // At most 64 KiB.
    match page_bytes {
        LARGEST_PAGE_BYTES => LARGEST_ROW_BYTES,
        _ => (page_bytes as usize - PAGE_OVERHEAD_BYTES) / 2 - 1,
    }
}

/// The prefix of Dyno's names.
const PREFIX: &str = "dyno_";

/// Every table of `spec` that has rows.
pub(crate) fn tables(spec: &DataSpec) -> Vec<TestTable> {
    TestTable::all(spec, PREFIX)
}

/// The tables of `spec` that are read by key.
pub(super) fn tables_of_rows(spec: &DataSpec) -> impl Iterator<Item = TestTable> {
    TestTable::of_rows(spec, PREFIX)
}

/// The table's indexes, each with the statements that create it.
pub(super) fn indexes(table: &TestTable, spec: &DataSpec) -> Vec<(String, Vec<String>)> {
    let name = table.name();
    let create = |index: &str, column: &str| format!("ALTER TABLE {name} ADD INDEX {index} ({column})");
    let main = table.index_name().map(|index| (index.clone(), vec![create(&index, "custid")]));
    // The column is virtual and computed from `custid`, so it takes no space in the row. Creating column and
    // index in one statement would copy the table.
    let secondary = table.secondary_index_name(spec).map(|index| {
        let key = spec.secondary_sql("MOD");
        let column = format!("ALTER TABLE {name} ADD COLUMN sec BIGINT UNSIGNED AS ({key}) VIRTUAL");
        (index.clone(), vec![column, create(&index, "sec")])
    });
    main.into_iter().chain(secondary).collect()
}

/// The statement that creates the table, empty, with `mark` as its comment.
///
/// Statistics are persistent, and the server does not recompute them during a run.
pub(super) fn create_sql(table: &TestTable, shape: MySqlRowShape, mark: &str) -> String {
    let texts: String = columns().map(|name| format!("{name} VARCHAR({}), ", shape.column_bytes)).collect();
    format!(
        "CREATE TABLE {} (id BIGINT UNSIGNED NOT NULL, custid BIGINT UNSIGNED, ver BIGINT NOT NULL, {texts}\
         pad VARCHAR({}), PRIMARY KEY (id)) ENGINE=InnoDB ROW_FORMAT=DYNAMIC CHARACTER SET ascii \
         COLLATE ascii_bin STATS_PERSISTENT=1 STATS_AUTO_RECALC=0 COMMENT={}",
        table.name(),
        shape.pad_bytes,
        literal(mark)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_engine::TargetErrorKind;

    /// Bytes of a spacer in addition to its text: as in a row, without columns.
    const SPACER_OVERHEAD_BYTES: usize = 5 + 3 + 2 + 8 + 6 + 7 + 8;

    #[test]
    fn page_holds_one_row_with_spacer_but_never_two() {
        for page_bytes in [4096u64, 8192, 16_384, 32_768, 65_536] {
            let shape = MySqlRowShape::of(page_bytes).unwrap();
            let MySqlRowShape { column_bytes, pad_bytes, spacer_bytes, .. } = shape;
            assert!((64..=128).contains(&column_bytes), "{page_bytes}");
            let free = page_bytes as usize - PAGE_OVERHEAD_BYTES;
            // The length of `pad` takes one byte less if `pad` has at most 255 bytes.
            let row = ROW_OVERHEAD_BYTES + column_bytes * TEXT_COLUMNS + pad_bytes;
            assert!(row < free / 2, "{page_bytes}: a row of {row} bytes would be cut up");
            assert!(row < 16_384, "{page_bytes}: a row of {row} bytes would be cut up");
            // The length of a short text takes one byte less.
            let spacers = shape.spacers as usize * (SPACER_OVERHEAD_BYTES - 1 + spacer_bytes);
            assert!(2 * (row - 1) + spacers > free, "{page_bytes}: two rows of {row} bytes fit");
            assert!(row + spacers + shape.spacers as usize <= free * 15 / 16, "{page_bytes}");
            assert!(spacer_bytes <= pad_bytes.max(column_bytes));
        }
        let shape = MySqlRowShape { column_bytes: 128, pad_bytes: 5627, spacers: 1, spacer_bytes: 64 };
        assert_eq!(MySqlRowShape::of(16_384).unwrap(), shape);
        let ids: Vec<u64> = (0..3).map(|position| MySqlRowShape::of(65_536).unwrap().id(position)).collect();
        assert_eq!(ids, [4, 8, 12]);
        assert_eq!(MySqlRowShape::of(65_536).unwrap().spacer_ids(8), 5..8);
    }

    #[test]
    fn unsupported_mysql_page_sizes_are_refused() {
        for bad in [0, 5000, 131_072] {
            assert_eq!(MySqlRowShape::of(bad).unwrap_err().kind, TargetErrorKind::Unsupported);
        }
    }
}
