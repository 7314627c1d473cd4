//! Measures in the database whether a table matches its spec.

use dyno_plan::DataSpec;

use super::super::wire::MySqlConnection;
use super::keys::{check_keys, check_secondary, table_error};
use super::quote::literal;
use super::spot_check;
use super::tables::{MySqlRowShape, TestTable};
use dyno_engine::layout::RowText;
use dyno_engine::row::first;
use dyno_engine::{SchemaFacts, TargetError, TargetErrorKind};

/// The share of extra pages that a load may leave: concurrent connections split a few more pages than one
/// connection.
const LEAF_PAGES_SLACK: f64 = 0.01;

/// The same if only the pages of the whole index are known: inner pages and extents of 64 reserved pages.
const ALL_PAGES_SLACK: f64 = 0.10;

/// Additional pages in either case: the last extents of a small table.
const PAGES_SLACK: u64 = 256;

/// Pages of a table's clustered index.
struct Pages {
    count: u64,
    /// Whether only leaf pages are counted, which contain the rows.
    leaves: bool,
}

/// Measures `table` and checks its rows.
///
/// # Errors
/// `Data` if rows, keys, contents or rows per page do not match `spec`.
pub(super) fn measure(
    connection: &mut MySqlConnection,
    spec: &DataSpec,
    shape: MySqlRowShape,
    table: &TestTable,
) -> Result<SchemaFacts, TargetError> {
    let name = table.name();
    check_keys(connection, table, shape)?;
    connection.simple(&format!("ANALYZE TABLE {name}"))?;
    let pages = pages(connection, table, spec.block_size)?;
    let share = if pages.leaves { LEAF_PAGES_SLACK } else { ALL_PAGES_SLACK };
    // Rows are at most 10^12, which a double holds exactly.
    let most = table.rows + (table.rows as f64 * share) as u64 + PAGES_SLACK;
    if pages.count < table.rows || pages.count > most {
        let fault = format!(
            "has {} rows in {} pages, but the method requires one row per page",
            table.rows, pages.count
        );
        return Err(table_error(&name, &fault));
    }
    let mut text = RowText::new(spec, table, shape.column_bytes);
    spot_check::check_positions(connection, table, shape, &mut text, spec.seed)?;
    if table.has_keys() {
        spot_check::check_order(connection, table, shape, spec.seed)?;
    }
    check_secondary(connection, spec, table)?;
    let rows = connection.simple(&format!(
        "SELECT DATA_LENGTH + INDEX_LENGTH FROM information_schema.TABLES
         WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = {}",
        literal(&name)
    ))?;
    Ok(table.facts(name, pages.count, first(&rows, 0).unwrap_or(0)))
}

/// Pages of the clustered index, from the first available source. The persistent statistics count leaf pages
/// exactly. InnoDB's own list counts all pages. The table size is visible to every user.
fn pages(connection: &mut MySqlConnection, table: &TestTable, page_bytes: u64) -> Result<Pages, TargetError> {
    let name = literal(&table.name());
    let list = if connection.is_mariadb() { "INNODB_SYS_TABLESTATS" } else { "INNODB_TABLESTATS" };
    let leaves = format!(
        "SELECT stat_value FROM mysql.innodb_index_stats WHERE database_name = DATABASE() AND table_name = {name}
         AND index_name = 'PRIMARY' AND stat_name = 'n_leaf_pages'"
    );
    let all = format!(
        "SELECT CLUST_INDEX_SIZE FROM information_schema.{list} WHERE NAME = CONCAT(DATABASE(), '/', {name})
         AND CLUST_INDEX_SIZE > 0"
    );
    let size = format!(
        "SELECT DATA_LENGTH DIV {page_bytes} FROM information_schema.TABLES
         WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = {name}"
    );
    for (sql, leaves) in [(leaves, true), (all, false), (size, false)] {
        let page_count = match connection.simple(&sql) {
            Ok(rows) => first(&rows, 0),
            // Without the privilege, the next source is tried.
            Err(error) if error.kind == TargetErrorKind::Privilege => None,
            Err(error) => return Err(error),
        };
        if let Some(count) = page_count {
            return Ok(Pages { count, leaves });
        }
    }
    Err(table_error(&table.name(), "could not be measured: the database does not report its size"))
}
