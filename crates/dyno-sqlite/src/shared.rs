//! What a target and its sessions share.

use std::sync::{Arc, Mutex, PoisonError};

use dyno_engine::TargetError;
use dyno_plan::{Bytes, DataSpec};

use crate::connect::{Link, Params, Purpose, never, number};
use crate::counters::Registry;
use crate::fault::Doing;
use crate::{layout, raw};

/// Largest database in memory, in bytes: one piece of SQLite's allocator, which ends short of 2 GiB.
const MEMORY_LIMIT_BYTES: i64 = 2_147_418_112;

/// What a target and its sessions share.
pub(crate) struct Shared {
    pub(crate) params: Params,
    pub(crate) registry: Registry,
    /// Keeps a database in memory alive between connections.
    pub(crate) keeper: Mutex<Option<Link>>,
    /// Lets one connection at a time be opened: the first may have to change the file's journal mode alone.
    pub(crate) opening: Mutex<()>,
}

impl Shared {
    /// Makes sure that a database in memory is there and stays.
    pub(crate) fn keep(&self) -> Result<(), TargetError> {
        if !self.params.in_memory() {
            return Ok(());
        }
        let mut keeper = self.keeper.lock().unwrap_or_else(PoisonError::into_inner);
        if keeper.is_none() {
            let link = self.params.connect(Purpose::Inspect, &never())?;
            raw::set_size_limit(&link.conn, MEMORY_LIMIT_BYTES);
            *keeper = Some(link);
        }
        Ok(())
    }

    /// Opens one connection while nobody else opens another.
    pub(crate) fn open_one<T>(&self, open: impl FnOnce() -> T) -> T {
        let _alone = self.opening.lock().unwrap_or_else(PoisonError::into_inner);
        open()
    }

    /// A connection to look with; `None` if the file is not there.
    pub(crate) fn inspect(&self) -> Result<Option<Link>, TargetError> {
        self.keep()?;
        if self.params.file().is_some_and(|path| !path.exists()) {
            return Ok(None);
        }
        self.params.connect(Purpose::Inspect, &never()).map(Some)
    }

    /// The page size of the file; absent where it is empty or not there.
    pub(crate) fn page_size(&self) -> Result<Option<Bytes>, TargetError> {
        Ok(match self.inspect()? {
            Some(link) if number(&link.conn, "page_count").doing("look at the file")? > 0 => {
                let bytes = number(&link.conn, "page_size").doing("look at the file")?.unsigned_abs();
                Some(Bytes(bytes))
            }
            _ => None,
        })
    }

    /// The page size that data would be loaded with.
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

    /// Checks that what `link` is connected to holds the data of `spec`, if that is any.
    pub(crate) fn check_data(&self, link: &Link, spec: &DataSpec) -> Result<(), TargetError> {
        if spec.is_none() {
            return Ok(());
        }
        match layout::read_meta(&link.conn)? {
            Some(meta) if meta.finished_at.is_none() => {
                Err(no_data(&self.params, "holds a load that did not end"))
            }
            Some(meta) if meta.spec == *spec => Ok(()),
            Some(_) => Err(no_data(&self.params, "holds other data than the plan asks for")),
            None => Err(no_data(&self.params, "holds no data of dyno's")),
        }
    }

    /// A connection that does operations; on the data of `spec`, if that is given.
    pub(crate) fn work(
        &self,
        spec: Option<&DataSpec>,
        stop: &Arc<std::sync::atomic::AtomicBool>,
    ) -> Result<Link, TargetError> {
        self.keep()?;
        if self.params.file().is_some_and(|path| !path.exists()) {
            return Err(no_data(&self.params, "does not exist"));
        }
        let link = self.open_one(|| self.params.connect(Purpose::Work, stop))?;
        spec.map_or(Ok(()), |spec| self.check_data(&link, spec))?;
        Ok(link)
    }
}

pub(crate) fn no_data(params: &Params, why: &str) -> TargetError {
    TargetError::data(format!("{} {why}", params.name())).hint("load the data first: dyno load")
}
