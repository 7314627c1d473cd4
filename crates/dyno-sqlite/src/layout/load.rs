//! Loads data with one writer in large transactions; after each of them the metadata states how far the load
//! is.
//!
//! Whatever the URL's journal and sync settings are, a load uses a rollback journal that is truncated at each
//! commit, and full syncs. That is safe and also SQLite's fastest method. New pages need no copy in the
//! journal, so data is written once (twice with WAL), and a few syncs per 64 MiB cost little. Only a file
//! that others have open in WAL mode is loaded in WAL mode. Even with `direct=on` the load uses the page
//! cache.

use std::time::Instant;

use dyno_plan::{DataSpec, keys::thousands};

use super::names::{SqliteTable, check_page_bytes, column_bytes, tables};
use super::{guard, meta, ownership, remove, verify};
use crate::connect::{Params, Purpose, SqliteConnection, pragma, pragma_number, pragma_text};
use crate::fault::{SqliteError, SqliteErrorContext};
use crate::raw::SqlitePreparedStatement;
use dyno_engine::data::{Filler, Permutation, table_seed};
use dyno_engine::{
    Cancel, DataState, LoadOptions, LoadProgressSink, LoadReport, TargetError, TargetErrorKind,
};

/// Bytes of row content that one transaction writes.
const TRANSACTION_BYTES: u64 = 64 << 20;

/// Page cache of the loading connection in KiB: it holds a transaction's dirty pages, so none is written
/// before the commit.
const CACHE_KIB: u64 = 160 << 10;

/// Rows between two checks for cancellation.
const ROWS_PER_LOOK: u64 = 256;

/// Largest database in memory, in bytes: SQLite's allocator provides no block of 2 GiB or more.
const MEMORY_BYTES_MAX: u64 = 2_147_418_112;

/// The context that all steps of a load share.
struct Loader<'a> {
    link: &'a SqliteConnection,
    spec: &'a DataSpec,
    progress: &'a dyn LoadProgressSink,
    cancel: &'a Cancel,
    rows_written: u64,
    bytes_written: u64,
}

fn cancelled() -> TargetError {
    TargetError::new(TargetErrorKind::Cancelled, "the load was stopped before it finished")
        .hint("load again to resume it, or drop the loaded data")
}

/// Creates, fills and verifies the data; see [`dyno_engine::Target::load`].
pub(crate) fn load(
    params: &Params,
    spec: &DataSpec,
    options: &LoadOptions,
    progress: &dyn LoadProgressSink,
    cancel: &Cancel,
) -> Result<LoadReport, TargetError> {
    let began = Instant::now();
    check_spec(params, spec)?;
    let created = params.file().is_some_and(|path| !path.exists());
    let mut link = params.connect(Purpose::Load, &cancel.flag())?;
    if params.direct {
        // Sessions will need these settings, so errors are reported before the load.
        drop(params.connect(Purpose::Inspect, &cancel.flag())?);
    }
    match meta::state(&link.conn)? {
        DataState::Loaded { spec: there, tables, .. } if there == *spec => {
            return Ok(report(spec, true, began, tables, (0, 0)));
        }
        DataState::Loaded { spec: there, .. } | DataState::Partial { spec: there, .. } if there != *spec => {
            if !options.replace {
                return Err(spec_mismatch(params, &there, spec));
            }
            let page_bytes = pragma_number(&link.conn, "page_size").doing("look at the file")?.unsigned_abs();
            drop(link);
            // Reported before anything is dropped: a file that is kept also keeps its page size.
            if page_bytes != spec.block_size && !remove::removes_file(params)? {
                return Err(page_size_differs(page_bytes, spec.block_size));
            }
            remove::drop_all(params)?;
            let created = params.file().is_some_and(|path| !path.exists());
            link = params.connect(Purpose::Load, &cancel.flag())?;
            start(params, &link, spec, options, created)?;
        }
        DataState::Empty => start(params, &link, spec, options, created)?,
        // A load of this spec was begun before: it is resumed.
        DataState::Partial { .. } | DataState::Loaded { .. } => {
            prepare(&link, spec)?;
        }
    }
    let mut loader = Loader { link: &link, spec, progress, cancel, rows_written: 0, bytes_written: 0 };
    let tables = loader.run()?;
    let written = (loader.rows_written, loader.bytes_written);
    // WAL is a property of the file: it is set now, before many sessions request it at once.
    if !params.in_memory() {
        params.set_journal(&link.conn)?;
    }
    Ok(report(spec, false, began, tables, written))
}

fn report(
    spec: &DataSpec,
    already: bool,
    began: Instant,
    tables: Vec<dyno_engine::load::SchemaFacts>,
    (rows_written, bytes_written): (u64, u64),
) -> LoadReport {
    let seconds = began.elapsed().as_secs_f64();
    LoadReport { spec: spec.clone(), already, rows_written, bytes_written, seconds, tables }
}

fn check_spec(params: &Params, spec: &DataSpec) -> Result<(), TargetError> {
    check_page_bytes(spec.block_size)?;
    let refuse = |message: &str, hint: &str| Err(TargetError::unsupported(message).hint(hint));
    if spec.schemas == 0 || spec.rows == 0 {
        return refuse(
            "there is nothing to load: no schema, or no rows",
            "raise data.schemas and data.scale",
        );
    }
    if spec.copied {
        let message = "sqlite cannot copy schemas inside the database";
        return refuse(message, "write data.copy_schemas = false, or omit it");
    }
    let bytes = u128::from(spec.total_rows()) * u128::from(spec.block_size) * 102 / 100;
    if params.in_memory() && bytes > u128::from(MEMORY_BYTES_MAX) {
        return Err(TargetError::new(
            TargetErrorKind::Full,
            format!(
                "a sqlite database in memory holds at most 2 GiB, but the data would take {} MiB",
                bytes >> 20
            ),
        )
        .hint("lower data.scale, or load into a file on /dev/shm"));
    }
    Ok(())
}

fn spec_mismatch(params: &Params, existing_spec: &DataSpec, wanted: &DataSpec) -> TargetError {
    let message = format!(
        "{} contains other data: {}; the plan asks for {}",
        params.name(),
        describe_spec(existing_spec),
        describe_spec(wanted)
    );
    TargetError::data(message).hint("load with --replace to drop it first, or change the plan")
}

fn describe_spec(spec: &DataSpec) -> String {
    let DataSpec { schemas, rows, scan_rows, block_size, compressible, seed, secondary, copied: _ } = spec;
    let plural = if *schemas == 1 { "" } else { "s" };
    let scan_table = match scan_rows {
        0 => "no scan table".to_owned(),
        _ => format!("{} scan rows", thousands(*scan_rows)),
    };
    let secondary = if *secondary { "" } else { ", no secondary key" };
    format!(
        "{schemas} schema{plural}, {} rows, {scan_table}, {} byte blocks, {compressible} % compressible, \
         seed {seed}{secondary}",
        thousands(*rows),
        thousands(*block_size)
    )
}

/// Prepares a file without data of Dyno, and creates metadata and empty tables in it.
fn start(
    params: &Params,
    link: &SqliteConnection,
    spec: &DataSpec,
    options: &LoadOptions,
    created: bool,
) -> Result<(), TargetError> {
    let conn = &link.conn;
    let pages = pragma_number(conn, "page_count").doing("look at the file")?;
    if pages == 0 {
        pragma(conn, "page_size", &spec.block_size.to_string()).doing("set the page size")?;
    }
    let settings = prepare(link, spec)?;
    if created {
        ownership::mark(conn).doing("create the file")?;
    }
    let encoding = pragma_text(conn, "encoding").doing("look at the file")?;
    if encoding != "UTF-8" {
        let message =
            format!("{} stores text as {encoding}, which doubles the size of every row", params.name());
        return Err(TargetError::unsupported(message).hint("load into another file"));
    }
    meta::begin(conn, spec, column_bytes(spec.block_size), created, &settings, &options.dyno_version)
}

/// Applies the settings of a load to the connection and returns a description of them.
fn prepare(link: &SqliteConnection, spec: &DataSpec) -> Result<String, TargetError> {
    let conn = &link.conn;
    let doing = "prepare the connection";
    pragma(conn, "cache_size", &format!("-{CACHE_KIB}")).doing(doing)?;
    pragma(conn, "synchronous", "full").doing(doing)?;
    let journal = pragma(conn, "journal_mode", "truncate").doing(doing)?.unwrap_or_default();
    let page_bytes = pragma_number(conn, "page_size").doing(doing)?.unsigned_abs();
    if page_bytes != spec.block_size {
        return Err(page_size_differs(page_bytes, spec.block_size));
    }
    Ok(format!("journal={journal} sync=full cache={CACHE_KIB}K transaction={TRANSACTION_BYTES}"))
}

/// The error for an existing file, which keeps its page size.
pub(crate) fn page_size_differs(is: u64, wanted: u64) -> TargetError {
    TargetError::data(format!("the file has pages of {is} bytes, but data.block_size is {wanted}"))
        .hint(format!("set data.block_size to {is}, or load into another file"))
}

impl Loader<'_> {
    /// Loads the missing rows, builds the indexes, and measures the tables.
    fn run(&mut self) -> Result<Vec<dyno_engine::load::SchemaFacts>, TargetError> {
        let conn = &self.link.conn;
        let mut missing = Vec::new();
        for table in tables(self.spec) {
            missing.push((table, meta::rows_loaded(conn, table).doing("read the metadata")?));
        }
        self.progress.phase("rows", missing.iter().map(|(table, loaded)| table.rows - loaded).sum());
        for &(table, loaded) in &missing {
            self.fill(table, loaded)?;
        }
        let indexes_of =
            |table: SqliteTable| table.indexes(self.spec).into_iter().map(move |index| (table.rows, index));
        let indexes: Vec<_> = tables(self.spec).into_iter().flat_map(indexes_of).collect();
        self.progress.phase("index", indexes.iter().map(|(rows, _)| rows).sum());
        for (rows, (index, ddl)) in &indexes {
            self.index(index, ddl)?;
            self.progress.advance(*rows, 0);
        }
        self.progress.phase("verify", self.spec.total_rows());
        let mut measured = Vec::new();
        for table in tables(self.spec) {
            let facts = guard::cancellable(conn, self.cancel, || verify::measure(conn, self.spec, table));
            measured.push(facts.map_err(|error| self.as_cancelled(error))?);
            self.progress.advance(table.rows, 0);
        }
        meta::finish(conn, &measured).doing("record the end of the load")?;
        Ok(measured)
    }

    /// Converts an error that was caused by a cancellation.
    fn as_cancelled(&self, error: TargetError) -> TargetError {
        if error.kind == TargetErrorKind::Cancelled && self.cancel.is_cancelled() {
            cancelled()
        } else {
            error
        }
    }

    /// Loads the rows of `table` from insert position `position` on.
    fn fill(&mut self, table: SqliteTable, mut position: u64) -> Result<(), TargetError> {
        let doing = format!("load rows into {}", table.name());
        let filler = Filler::new(self.spec, table.schema, table.kind, column_bytes(self.spec.block_size));
        let seed = table_seed(self.spec.seed, table.schema, table.kind);
        let keys = Permutation::new(table.rows, seed);
        let texts = filler.row_bytes() / filler.column_bytes();
        let insert = SqlitePreparedStatement::with_texts(
            &self.link.conn,
            &table.insert(),
            texts,
            filler.column_bytes(),
        );
        let mut insert = insert.map_err(|fault| fault.into_target(&doing))?;
        let rows_per_transaction = (TRANSACTION_BYTES / filler.row_bytes() as u64).max(1);
        while position < table.rows {
            if self.cancel.is_cancelled() {
                return Err(cancelled());
            }
            let end = table.rows.min(position + rows_per_transaction);
            let began = position;
            position = self
                .transaction(table, &mut insert, &filler, &keys, position..end)
                .map_err(|fault| self.as_cancelled(fault.into_target(&doing)))?;
            self.rows_written += position - began;
            self.bytes_written += (position - began) * filler.row_bytes() as u64;
        }
        Ok(())
    }

    /// Loads rows in one transaction, or fewer if it is canceled; returns the next position.
    fn transaction(
        &self,
        table: SqliteTable,
        insert: &mut SqlitePreparedStatement,
        filler: &Filler,
        keys: &Permutation,
        positions: std::ops::Range<u64>,
    ) -> Result<u64, SqliteError> {
        let conn = &self.link.conn;
        let transaction = conn.unchecked_transaction()?;
        let (mut reached, mut told) = (positions.start, positions.start);
        let tell = |rows: u64| self.progress.advance(rows, rows * filler.row_bytes() as u64);
        for position in positions {
            let key = keys.key(position);
            filler.fill(key, insert.texts());
            let number = dyno_engine::data::TEXT_COLUMNS + 1;
            insert.bind_integer(number, key as i64).and_then(|()| insert.step()).map_err(|fault| *fault)?;
            reached = position + 1;
            if reached.is_multiple_of(ROWS_PER_LOOK) {
                tell(reached - told);
                told = reached;
                if self.cancel.is_cancelled() {
                    break;
                }
            }
        }
        tell(reached - told);
        meta::set_rows_loaded(conn, table, reached)?;
        transaction.commit()?;
        Ok(reached)
    }

    /// Builds an index unless it already exists.
    fn index(&self, index: &str, ddl: &str) -> Result<(), TargetError> {
        let conn = &self.link.conn;
        let build = || -> Result<(), SqliteError> {
            if meta::recorded(conn, index)? {
                return Ok(());
            }
            let transaction = conn.unchecked_transaction()?;
            conn.execute(ddl, [])?;
            meta::record(conn, index, "index")?;
            Ok(transaction.commit()?)
        };
        guard::cancellable(conn, self.cancel, || build().doing(&format!("build the index {index}")))
            .map_err(|error| self.as_cancelled(error))
    }
}
