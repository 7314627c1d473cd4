//! The state that a target and its sessions share.

use std::sync::Arc;

use dyno_engine::TargetError;
use dyno_plan::{Bytes, DataSpec};
use parking_lot::Mutex;

use crate::connect::{Params, Purpose, SqliteConnection, no_stop_flag, pragma_number};
use crate::counters::SqliteSessionRegistry;
use crate::fault::SqliteErrorContext;
use crate::{layout, raw};

/// Largest database in memory, in bytes: one allocation of SQLite, which must be below 2 GiB.
const MEMORY_LIMIT_BYTES: i64 = 2_147_418_112;

/// The state that a target and its sessions share.
pub(crate) struct SqliteSharedState {
    pub(crate) params: Params,
    pub(crate) registry: SqliteSessionRegistry,
    /// A connection that keeps a database in memory alive between other connections.
    pub(crate) keeper: Mutex<Option<SqliteConnection>>,
    /// Serializes the opening of connections: the first may have to change the file's journal mode, which
    /// requires that no other is open.
    pub(crate) opening: Mutex<()>,
}

impl SqliteSharedState {
    /// Ensures that a database in memory exists and remains.
    pub(crate) fn keep_alive(&self) -> Result<(), TargetError> {
        if !self.params.in_memory() {
            return Ok(());
        }
        let mut keeper = self.keeper.lock();
        if keeper.is_none() {
            let link = self.params.connect(Purpose::Inspect, &no_stop_flag())?;
            raw::set_size_limit(&link.conn, MEMORY_LIMIT_BYTES);
            *keeper = Some(link);
        }
        Ok(())
    }

    /// Opens one connection while no other is being opened.
    pub(crate) fn open_exclusively<T>(&self, open: impl FnOnce() -> T) -> T {
        let _alone = self.opening.lock();
        open()
    }

    /// A connection for reading metadata; `None` if the file does not exist.
    pub(crate) fn open_for_inspection(&self) -> Result<Option<SqliteConnection>, TargetError> {
        self.keep_alive()?;
        if self.params.file().is_some_and(|path| !path.exists()) {
            return Ok(None);
        }
        self.params.connect(Purpose::Inspect, &no_stop_flag()).map(Some)
    }

    /// The page size of the file; absent if the file is empty or does not exist.
    pub(crate) fn page_size(&self) -> Result<Option<Bytes>, TargetError> {
        Ok(match self.open_for_inspection()? {
            Some(link) if pragma_number(&link.conn, "page_count").doing("look at the file")? > 0 => {
                let bytes = pragma_number(&link.conn, "page_size").doing("look at the file")?.unsigned_abs();
                Some(Bytes(bytes))
            }
            _ => None,
        })
    }

    /// The page size that a load would use.
    pub(crate) fn block_size_of(&self, wish: Option<Bytes>) -> Result<Bytes, TargetError> {
        match (self.page_size()?.map(|Bytes(is)| is), wish) {
            (Some(is), Some(Bytes(wanted))) if is != wanted => Err(layout::page_size_differs(is, wanted)),
            (is, wish) => {
                let bytes = is.or(wish.map(|Bytes(wish)| wish)).unwrap_or(layout::DEFAULT_PAGE_BYTES);
                layout::check_page_bytes(bytes)?;
                Ok(Bytes(bytes))
            }
        }
    }

    /// Checks that the database of `link` holds the data of `spec`, unless the spec is empty.
    pub(crate) fn check_data(&self, link: &SqliteConnection, spec: &DataSpec) -> Result<(), TargetError> {
        if spec.is_none() {
            return Ok(());
        }
        match layout::read_meta(&link.conn)? {
            Some(meta) if meta.finished_at.is_none() => {
                Err(no_data(&self.params, "contains an unfinished load"))
            }
            Some(meta) if meta.spec == *spec => Ok(()),
            Some(_) => Err(no_data(&self.params, "contains other data than the plan asks for")),
            None => Err(no_data(&self.params, "contains no data loaded by Dyno")),
        }
    }

    /// Opens a connection for operations; checks the data of `spec` if it is given.
    pub(crate) fn open_for_work(
        &self,
        spec: Option<&DataSpec>,
        stop: &Arc<std::sync::atomic::AtomicBool>,
    ) -> Result<SqliteConnection, TargetError> {
        self.keep_alive()?;
        if self.params.file().is_some_and(|path| !path.exists()) {
            return Err(no_data(&self.params, "does not exist"));
        }
        let link = self.open_exclusively(|| self.params.connect(Purpose::Work, stop))?;
        spec.map_or(Ok(()), |spec| self.check_data(&link, spec))?;
        Ok(link)
    }
}

pub(crate) fn no_data(params: &Params, why: &str) -> TargetError {
    TargetError::data(format!("{} {why}", params.name())).hint("load the data first: dyno load")
}
