//! SQLite: the embedded default.
//!
//! The database runs inside the driving process, in files or in memory. What a server would count, this engine gathers
//! itself, from SQLite's own counters (`counters`) and from an instrumented file layer (`vfs`). The rooms are those
//! of every engine: `connect`, `layout`, `ops`, `counters`, `identity`.

mod connect;
mod counters;
mod device;
mod fault;
mod identity;
mod layout;
mod lock;
mod ops;
mod raw;
mod vfs;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use dyno_engine::Engine;
use dyno_engine::grants::one_line;
use dyno_plan::{Bytes, DataSpec, Plan, TargetUrl};
use dyno_record::{Advice, Identity};

use connect::{Link, Params, Purpose, number};
use counters::{Onlooker, Registry, SqliteObserver, View};
use dyno_engine::error::{TargetError, TargetErrorKind};
use dyno_engine::load::{Cancel, DataState, DropItem, LoadOptions, LoadReport, Progress};
use dyno_engine::lock::{Claim, Holder, Lock};
use dyno_engine::session::{Extra, Session, SessionSetup};
use dyno_engine::target::{Capabilities, Observer, Sampler, Stuck, Target};
use dyno_engine::witness::RowVersion;
use fault::Doing;
use layout::never;

/// Largest database in memory, in bytes: one piece of SQLite's allocator, which ends short of 2 GiB.
const MEMORY_LIMIT_BYTES: i64 = 2_147_418_112;

/// SQLite, as programs register it.
pub const ENGINE: Engine = Engine {
    schemes: &["sqlite"],
    example: "sqlite:PATH or sqlite::memory:",
    open: |url, _| open(url),
    open_through: None,
    grants: |url| include_str!("grants.sql").replace("{file}", &one_line(&url.path)),
};

/// What a target and its sessions share.
pub(crate) struct Shared {
    params: Params,
    registry: Registry,
    /// Keeps a database in memory alive between connections.
    keeper: Mutex<Option<Link>>,
    /// Lets one connection at a time be opened: the first may have to change the file's journal mode alone.
    opening: Mutex<()>,
}

/// One SQLite database.
struct SqliteTarget {
    url: String,
    shared: Arc<Shared>,
}

/// The target that a `sqlite:` URL names.
///
/// # Errors
/// A parameter is unknown or has an impossible value.
pub fn open(url: &TargetUrl) -> Result<Box<dyn Target>, TargetError> {
    let shared = Shared {
        params: Params::read(url)?,
        registry: Registry::default(),
        keeper: Mutex::default(),
        opening: Mutex::default(),
    };
    Ok(Box::new(SqliteTarget { url: url.to_string(), shared: Arc::new(shared) }))
}

fn no_data(params: &Params, why: &str) -> TargetError {
    TargetError::new(TargetErrorKind::Data, format!("{} {why}", params.name()))
        .hint("load the data first: dyno load")
}

impl Shared {
    /// Makes sure that a database in memory is there and stays.
    fn keep(&self) -> Result<(), TargetError> {
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
    fn open_one<T>(&self, open: impl FnOnce() -> T) -> T {
        let _alone = self.opening.lock().unwrap_or_else(PoisonError::into_inner);
        open()
    }

    /// A connection to look with; `None` if the file is not there.
    fn inspect(&self) -> Result<Option<Link>, TargetError> {
        self.keep()?;
        if self.params.file().is_some_and(|path| !path.exists()) {
            return Ok(None);
        }
        self.params.connect(Purpose::Inspect, &never()).map(Some)
    }

    /// The page size that data would be loaded with.
    fn block_size_of(&self, wish: Option<Bytes>) -> Result<Bytes, TargetError> {
        let existing = match self.inspect()? {
            Some(link) if number(&link.conn, "page_count").doing("look at the file")? > 0 => {
                Some(number(&link.conn, "page_size").doing("look at the file")?.unsigned_abs())
            }
            _ => None,
        };
        match (existing, wish) {
            (Some(is), Some(Bytes(wanted))) if is != wanted => Err(layout::page_size_differs(is, wanted)),
            (is, wish) => {
                let bytes = is.or(wish.map(|Bytes(wish)| wish)).unwrap_or(layout::DEFAULT_PAGE_BYTES);
                layout::check_page_bytes(bytes)?;
                Ok(Bytes(bytes))
            }
        }
    }

    /// Checks that what `link` is connected to holds the data of `spec`.
    fn check_data(&self, link: &Link, spec: &DataSpec) -> Result<(), TargetError> {
        match layout::read_meta(&link.conn)? {
            Some(meta) if meta.finished_at.is_none() => {
                Err(no_data(&self.params, "holds a load that did not end"))
            }
            Some(meta) if meta.spec == *spec => Ok(()),
            Some(_) => Err(no_data(&self.params, "holds other data than the plan asks for")),
            None => Err(no_data(&self.params, "holds no data of dyno's")),
        }
    }

    /// A connection that does operations on the data of `spec`.
    fn work(&self, spec: &DataSpec, stop: &Arc<std::sync::atomic::AtomicBool>) -> Result<Link, TargetError> {
        self.keep()?;
        if self.params.file().is_some_and(|path| !path.exists()) {
            return Err(no_data(&self.params, "does not exist"));
        }
        let link = self.open_one(|| self.params.connect(Purpose::Work, stop))?;
        self.check_data(&link, spec)?;
        Ok(link)
    }
}

impl Target for SqliteTarget {
    fn engine(&self) -> &'static str {
        "sqlite"
    }

    fn url(&self) -> String {
        self.url.clone()
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            server_drive: false,
            duplex: false,
            ephemeral: self.shared.params.in_memory(),
            load_parallel_max: 1,
            held_back: Duration::from_nanos(ops::QUIET_NS),
        }
    }

    fn identify(&self) -> Result<Identity, TargetError> {
        self.shared.keep()?;
        identity::identify(&self.shared.params)
    }

    fn block_size(&self, wish: Option<Bytes>) -> Result<Bytes, TargetError> {
        self.shared.block_size_of(wish)
    }

    fn preflight(&self, plan: &Plan) -> Result<Vec<Advice>, TargetError> {
        identity::preflight(&self.shared, plan)
    }

    fn lock(&self, holder: &Holder, claim: Claim) -> Result<Lock, TargetError> {
        match self.shared.params.file() {
            Some(file) => lock::take(file, holder, claim),
            None => Ok(Lock::needless()),
        }
    }

    fn survey(&self) -> Result<DataState, TargetError> {
        match self.shared.inspect()? {
            Some(link) => layout::state(&link.conn),
            None => Ok(DataState::Empty),
        }
    }

    fn spot_check(&self, spec: &DataSpec, seed: u64) -> Result<Option<String>, TargetError> {
        match self.shared.inspect()? {
            Some(link) => layout::spot_check(&link.conn, spec, seed).map(|()| None),
            None => Err(no_data(&self.shared.params, "does not exist")),
        }
    }

    fn load(
        &self,
        spec: &DataSpec,
        options: &LoadOptions,
        progress: &dyn Progress,
        cancel: &Cancel,
    ) -> Result<LoadReport, TargetError> {
        self.shared.keep()?;
        layout::load(&self.shared.params, spec, options, progress, cancel)
    }

    fn inventory(&self) -> Result<Vec<DropItem>, TargetError> {
        self.shared.keep()?;
        layout::inventory(&self.shared.params)
    }

    fn foreign(&self) -> Result<Vec<DropItem>, TargetError> {
        self.shared.keep()?;
        layout::foreign(&self.shared.params)
    }

    fn drop_all(&self) -> Result<Vec<DropItem>, TargetError> {
        self.shared.keep()?;
        layout::drop_all(&self.shared.params)
    }

    fn versions(&self, spec: &DataSpec, visit: &mut dyn FnMut(&RowVersion<'_>)) -> Result<(), TargetError> {
        match self.shared.inspect()? {
            Some(link) => layout::versions(&link.conn, spec, visit),
            None => Err(no_data(&self.shared.params, "does not exist")),
        }
    }

    /// It runs inside this process.
    fn stuck(&self) -> Result<Option<Stuck>, TargetError> {
        Ok(None)
    }

    fn extras(&self) -> Extra {
        Extra { hot_schema: true, churn: true, secondary: true }
    }

    fn own_rows(&self, spec: &DataSpec) -> Result<u64, TargetError> {
        match self.shared.inspect()? {
            Some(link) => layout::own_rows::count(&link.conn, spec),
            None => Ok(0),
        }
    }

    fn own_places(&self, _: &DataSpec) -> Result<Option<Vec<String>>, TargetError> {
        Ok(None)
    }

    fn sweep_up(&self, spec: &DataSpec) -> Result<u64, TargetError> {
        let link = self.shared.work(spec, &Arc::default())?;
        layout::own_rows::delete(&link.conn, spec)
    }

    fn session(&self, setup: &SessionSetup) -> Result<Box<dyn Session>, TargetError> {
        Ok(Box::new(ops::SqliteSession::open(Arc::clone(&self.shared), setup)?))
    }

    fn observer(&self, spec: &DataSpec) -> Result<Box<dyn Observer>, TargetError> {
        let params = &self.shared.params;
        let link = self.shared.inspect()?.ok_or_else(|| no_data(params, "does not exist"))?;
        self.shared.check_data(&link, spec)?;
        let view = View {
            file: params.file().cloned(),
            vfs_name: raw::file_name(&link.conn),
            page_bytes: spec.block_size,
            journal: params.journal,
            mapped: params.mmap.0 > 0,
        };
        let onlooker = Onlooker::new(params.clone());
        Ok(Box::new(SqliteObserver::new(self.shared.registry.clone(), view, onlooker)))
    }

    fn sampler(&self) -> Result<Box<dyn Sampler>, TargetError> {
        Err(TargetError::new(
            TargetErrorKind::Unsupported,
            "SQLite has no wait events: it runs inside the driving process, where sessions are timed",
        ))
    }
}
