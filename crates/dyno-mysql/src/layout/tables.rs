//! The test tables: their names and shape.

use dyno_plan::DataSpec;

use super::quote::literal;
use dyno_engine::TargetError;
use dyno_engine::data::{CLASSIC_COLUMN_BYTES, TEXT_COLUMNS};
pub(crate) use dyno_engine::layout::Table;
use dyno_engine::layout::columns;

/// Bytes of a page that hold no records: headers of file and page, trailer, the two records that bound all others, and two
/// slots of the directory (MySQL manual, "Physical Structure of an InnoDB Index"; `page_get_free_space_of_empty`).
const PAGE_OVERHEAD_BYTES: usize = 132;

/// Bytes of a row beside its columns and `pad`: header, NULL flags of 21 columns, a length for each of 19 columns and two
/// bytes of length for `pad`; then `id`, transaction, roll pointer, `custid` and `ver`.
const ROW_OVERHEAD_BYTES: usize = 5 + 3 + TEXT_COLUMNS + 2 + 8 + 6 + 7 + 8 + 8;

/// The least room that `pad` has.
const PAD_BYTES_MIN: usize = 16;

/// Text of a spacer's only column, where one spacer is enough.
const SPACER_BYTES: usize = 64;

/// Pages of this size hold at least four records by design, for no record is longer than 16 KiB.
const LARGEST_PAGE_BYTES: u64 = 65_536;

/// The longest row on such a page, with room for what versions differ in: InnoDB cuts up records of 16 KiB.
const LARGEST_ROW_BYTES: usize = 16_300;

/// Spacers before each row on such a page, and the text of each: so long that two rows and the spacers between them do not
/// fit, and so short that a row and its spacers leave the sixteenth of the page free that InnoDB keeps for later.
const LARGEST_SPACERS: (u64, usize) = (3, 11_200);

/// Page sizes that can be loaded.
const PAGE_BYTES: std::ops::RangeInclusive<u64> = 4096..=LARGEST_PAGE_BYTES;

/// What a table's rows look like, which follows from the page size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shape {
    /// Bytes of each text column.
    pub(crate) column_bytes: usize,
    /// Bytes of the column that makes a row as long as InnoDB keeps whole.
    pub(crate) pad_bytes: usize,
    /// Spacers before each row.
    pub(crate) spacers: u64,
    /// Bytes of the text of each; longer than a column, it stands in `pad`.
    pub(crate) spacer_bytes: usize,
}

impl Shape {
    /// The shape for pages of `page_bytes`.
    pub(crate) fn of(page_bytes: u64) -> Result<Self, TargetError> {
        if !PAGE_BYTES.contains(&page_bytes) || !page_bytes.is_power_of_two() {
            let message = format!("rows cannot be kept one to a page with innodb_page_size = {page_bytes}");
            return Err(TargetError::unsupported(message)
                .hint("use a server that was initialised with innodb_page_size 4k, 8k, 16k, 32k or 64k"));
        }
        let row = row_bytes_max(page_bytes);
        let column_bytes =
            CLASSIC_COLUMN_BYTES.min((row - ROW_OVERHEAD_BYTES - PAD_BYTES_MIN) / TEXT_COLUMNS);
        let pad_bytes = row - ROW_OVERHEAD_BYTES - column_bytes * TEXT_COLUMNS;
        let (spacers, spacer_bytes) =
            if page_bytes == LARGEST_PAGE_BYTES { LARGEST_SPACERS } else { (1, SPACER_BYTES) };
        Ok(Self { column_bytes, pad_bytes, spacers, spacer_bytes })
    }

    /// Records that a row is with its spacers.
    pub(crate) fn records(self) -> u64 {
        1 + self.spacers
    }

    /// The surrogate key of the row at insert position `position` (from 0); its spacers have those before it.
    ///
    /// Spacers go in first: so wherever rows meet that connections load at the same time, a spacer lies between them at every
    /// moment. A row beside a row, whose spacer came later, would take a page for itself and one for the spacer.
    pub(crate) fn id(self, position: u64) -> u64 {
        (position + 1) * self.records()
    }

    /// The surrogate keys of the spacers before the row `id`.
    pub(crate) fn spacer_ids(self, id: u64) -> std::ops::Range<u64> {
        id - self.spacers..id
    }

    /// Whether a spacer's text stands in `pad`, and not in the last column.
    pub(crate) fn pads_spacers(self) -> bool {
        self.spacer_bytes > self.column_bytes
    }
}

/// The longest row that InnoDB keeps whole in its page: less than half of an empty page, and less than 16 KiB (MySQL
/// manual, "Limits on Table Column Count and Row Size"; `page_zip_rec_needs_ext`).
fn row_bytes_max(page_bytes: u64) -> usize {
    // At most 64 KiB.
    match page_bytes {
        LARGEST_PAGE_BYTES => LARGEST_ROW_BYTES,
        _ => (page_bytes as usize - PAGE_OVERHEAD_BYTES) / 2 - 1,
    }
}

/// What names of Dyno's begin with.
const PREFIX: &str = "dyno_";

/// Every table of `spec` that has rows.
pub(crate) fn tables(spec: &DataSpec) -> Vec<Table> {
    Table::all(spec, PREFIX)
}

/// Those of them that are read by key.
pub(super) fn tables_of_rows(spec: &DataSpec) -> impl Iterator<Item = Table> {
    Table::of_rows(spec, PREFIX)
}

/// Names of all its indexes, and for each the statements that create it.
pub(super) fn indexes(table: &Table, spec: &DataSpec) -> Vec<(String, Vec<String>)> {
    let name = table.name();
    let create = |index: &str, column: &str| format!("ALTER TABLE {name} ADD INDEX {index} ({column})");
    let main = table.index_name().map(|index| (index.clone(), vec![create(&index, "custid")]));
    // The key follows from `custid`, so it takes no room in the row. Column and index are made one after the other:
    // together they would copy the table.
    let secondary = table.secondary_index_name(spec).map(|index| {
        let key = spec.secondary_sql("MOD");
        let column = format!("ALTER TABLE {name} ADD COLUMN sec BIGINT UNSIGNED AS ({key}) VIRTUAL");
        (index.clone(), vec![column, create(&index, "sec")])
    });
    main.into_iter().chain(secondary).collect()
}

/// The statement that creates the table, empty, with `mark` as its comment.
///
/// Statistics are kept and are not computed anew by the server in the middle of a run.
pub(super) fn create_sql(table: &Table, shape: Shape, mark: &str) -> String {
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

    /// Bytes of a spacer beside its text: as of a row, without columns.
    const SPACER_OVERHEAD_BYTES: usize = 5 + 3 + 2 + 8 + 6 + 7 + 8;

    #[test]
    fn two_rows_and_their_spacers_never_fit_into_a_page_and_one_row_is_kept_whole() {
        for page_bytes in [4096u64, 8192, 16_384, 32_768, 65_536] {
            let shape = Shape::of(page_bytes).unwrap();
            let Shape { column_bytes, pad_bytes, spacer_bytes, .. } = shape;
            assert!((64..=128).contains(&column_bytes), "{page_bytes}");
            let free = page_bytes as usize - PAGE_OVERHEAD_BYTES;
            // The length of `pad` takes one byte less where it is at most 255 bytes long.
            let row = ROW_OVERHEAD_BYTES + column_bytes * TEXT_COLUMNS + pad_bytes;
            assert!(row < free / 2 && row < 16_384, "{page_bytes}: a row of {row} bytes would be cut up");
            // The length of a short text takes one byte less.
            let spacers = shape.spacers as usize * (SPACER_OVERHEAD_BYTES - 1 + spacer_bytes);
            assert!(2 * (row - 1) + spacers > free, "{page_bytes}: two rows of {row} bytes fit");
            assert!(row + spacers + shape.spacers as usize <= free * 15 / 16, "{page_bytes}");
            assert!(spacer_bytes <= pad_bytes.max(column_bytes));
        }
        let shape = Shape { column_bytes: 128, pad_bytes: 5627, spacers: 1, spacer_bytes: 64 };
        assert_eq!(Shape::of(16_384).unwrap(), shape);
        let ids: Vec<u64> = (0..3).map(|position| Shape::of(65_536).unwrap().id(position)).collect();
        assert_eq!(ids, [4, 8, 12]);
        assert_eq!(Shape::of(65_536).unwrap().spacer_ids(8), 5..8);
    }

    #[test]
    fn page_sizes_without_one_row_each_are_refused() {
        for bad in [0, 5000, 131_072] {
            assert_eq!(Shape::of(bad).unwrap_err().kind, TargetErrorKind::Unsupported);
        }
    }
}
