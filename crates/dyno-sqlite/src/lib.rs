//! The engine for SQLite, the embedded default.
//!
//! The database runs inside Dyno's process, in files or in memory. The engine itself collects what a server
//! would count, from SQLite's own counters (`counters`) and from an instrumented file layer (`vfs`). The
//! other modules are those of every engine: `connect`, `layout`, `ops`, `counters`, `identity`.

mod connect;
mod counters;
mod device;
mod fault;
mod filler;
mod identity;
mod layout;
mod lock;
mod ops;
mod raw;
mod script;
mod shared;
mod spec;
mod vfs;

use std::sync::Arc;

use dyno_engine::grants::one_line;
use dyno_engine::pool::InterruptFn;
use dyno_engine::{
    BlockData, BlockSessionConfig, BlocksSql, BulkLoad, Cancel, Capabilities, Claim, DataState, Dialect,
    DropItem, DurabilityProof, Engine, Fill, Holder, LoadOptions, LoadProgressSink, LoadReport, Lock,
    ObjectKind, Observer, RowCallback, RowVersion, Sampler, Session, SessionSetup, TableWords, Target,
    TargetError, WorkloadNeeds,
};
use dyno_plan::{Bytes, Commit, DataSpec, Plan, TargetUrl};
use dyno_record::{Advice, Identity};
use parking_lot::Mutex;

use connect::Params;
use counters::{SqliteObserver, SqliteObserverContext, SqliteSchemaReader, SqliteSessionRegistry};
use shared::{SqliteSharedState, no_data};
pub use spec::SPEC;

/// The engine for SQLite, for a program to register.
pub const ENGINE: Engine = Engine {
    spec: SPEC,
    open: |url, _| open(url),
    open_through: None,
    grants: |url| include_str!("grants.sql").replace("{file}", &one_line(&url.path)),
};

struct SqliteTarget {
    url: String,
    shared: Arc<SqliteSharedState>,
}

/// Returns the target that a `sqlite:` URL names.
///
/// # Errors
/// A parameter is unknown or has an invalid value.
pub fn open(url: &TargetUrl) -> Result<Box<dyn Target>, TargetError> {
    let shared = SqliteSharedState {
        params: Params::read(url)?,
        registry: SqliteSessionRegistry::default(),
        keeper: Mutex::default(),
        opening: Mutex::default(),
    };
    Ok(Box::new(SqliteTarget { url: url.to_string(), shared: Arc::new(shared) }))
}

impl Drop for SqliteTarget {
    fn drop(&mut self) {
        counters::forget_removed();
    }
}

impl Target for SqliteTarget {
    fn engine(&self) -> &'static str {
        SPEC.name
    }

    fn url(&self) -> String {
        self.url.clone()
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            server_drive: false,
            duplex: false,
            pipelines: false,
            read_only_sessions: true,
            ephemeral: self.shared.params.in_memory(),
            load_parallel_max: 1,
        }
    }

    fn identify(&self) -> Result<Identity, TargetError> {
        self.shared.keep_alive()?;
        identity::identify(&self.shared.params)
    }

    fn preflight(&self, plan: &Plan, needs: &WorkloadNeeds) -> Result<Vec<Advice>, TargetError> {
        identity::preflight(&self.shared, plan, needs)
    }

    fn lock(&self, holder: &Holder, claim: Claim) -> Result<Lock, TargetError> {
        match self.shared.params.file() {
            Some(file) => lock::take(file, holder, claim),
            None => Ok(Lock::needless()),
        }
    }

    fn dialect(&self) -> Dialect {
        Dialect {
            mark: |number| format!("?{number}"),
            from_nothing: "",
            bytes_length: "length",
            snapshot: &["BEGIN"],
            call: None,
            prefix: "dyno_",
        }
    }

    fn session(&self, setup: &SessionSetup) -> Result<Box<dyn Session>, TargetError> {
        Ok(Box::new(ops::SqliteSession::open(Arc::clone(&self.shared), setup)?))
    }

    fn observer(&self, spec: &DataSpec) -> Result<Box<dyn Observer>, TargetError> {
        let params = &self.shared.params;
        let link = self.shared.open_for_inspection()?.ok_or_else(|| no_data(params, "does not exist"))?;
        self.shared.check_data(&link, spec)?;
        let view = SqliteObserverContext {
            file: params.file().cloned(),
            vfs_name: raw::file_name(&link.conn),
            page_bytes: spec.block_size,
            journal: params.journal,
            mapped: params.mmap.0 > 0,
        };
        let onlooker = SqliteSchemaReader::new(params.clone());
        Ok(Box::new(SqliteObserver::new(self.shared.registry.clone(), view, onlooker)))
    }

    fn sampler(&self) -> Result<Box<dyn Sampler>, TargetError> {
        Err(TargetError::unsupported(
            "SQLite has no wait events: it runs inside Dyno's process, which times the sessions",
        ))
    }

    fn native_block_size(&self) -> Result<Bytes, TargetError> {
        self.shared.page_size().map(|size| size.unwrap_or(Bytes(layout::DEFAULT_PAGE_BYTES)))
    }

    fn script(&self, statements: &[&str], on_rows: RowCallback<'_>) -> Result<(), TargetError> {
        self.shared.keep_alive()?;
        script::run(&self.shared.params, statements, on_rows)
    }

    fn explain(&self, sql: &str) -> Result<Vec<String>, TargetError> {
        script::explain(&self.shared.params, sql)
    }

    fn table_words(&self) -> TableWords {
        filler::WORDS
    }

    fn find(&self, kind: ObjectKind, names: &[&str]) -> Result<Vec<DropItem>, TargetError> {
        match self.shared.open_for_inspection()? {
            Some(link) => filler::find(&link, kind, names),
            None => Ok(Vec::new()),
        }
    }

    fn block_data(&self) -> Result<&dyn BlockData, TargetError> {
        Ok(self)
    }

    fn bulk_load(&self) -> Result<&dyn BulkLoad, TargetError> {
        Ok(self)
    }

    fn durability_proof(&self) -> Result<&dyn DurabilityProof, TargetError> {
        Ok(self)
    }
}

impl BlockData for SqliteTarget {
    fn block_size(&self, wish: Option<Bytes>) -> Result<Bytes, TargetError> {
        self.shared.block_size_of(wish)
    }

    fn survey(&self) -> Result<DataState, TargetError> {
        match self.shared.open_for_inspection()? {
            Some(link) => layout::state(&link.conn),
            None => Ok(DataState::Empty),
        }
    }

    fn spot_check(&self, spec: &DataSpec, seed: u64) -> Result<Option<String>, TargetError> {
        match self.shared.open_for_inspection()? {
            Some(link) => layout::spot_check(&link.conn, spec, seed).map(|()| None),
            None => Err(no_data(&self.shared.params, "does not exist")),
        }
    }

    fn load(
        &self,
        spec: &DataSpec,
        options: &LoadOptions,
        progress: &dyn LoadProgressSink,
        cancel: &Cancel,
    ) -> Result<LoadReport, TargetError> {
        self.shared.keep_alive()?;
        layout::load(&self.shared.params, spec, options, progress, cancel)
    }

    fn inventory(&self) -> Result<Vec<DropItem>, TargetError> {
        self.shared.keep_alive()?;
        layout::inventory(&self.shared.params)
    }

    fn foreign(&self) -> Result<Vec<DropItem>, TargetError> {
        self.shared.keep_alive()?;
        layout::foreign(&self.shared.params)
    }

    fn drop_all(&self) -> Result<Vec<DropItem>, TargetError> {
        self.shared.keep_alive()?;
        layout::drop_all(&self.shared.params)
    }

    fn leftover_rows(&self, spec: &DataSpec) -> Result<u64, TargetError> {
        match self.shared.open_for_inspection()? {
            Some(link) => layout::leftover_rows::count(&link.conn, spec),
            None => Ok(0),
        }
    }

    fn delete_leftover_rows(&self, spec: &DataSpec) -> Result<u64, TargetError> {
        let link = self.shared.open_for_work(Some(spec), &Arc::default())?;
        layout::leftover_rows::delete(&link.conn, spec)
    }

    fn blocks(&self, blocks: &BlockSessionConfig, _: Commit) -> Result<BlocksSql, TargetError> {
        Ok(ops::blocks(blocks))
    }
}

impl BulkLoad for SqliteTarget {
    fn filler(&self) -> Result<(Box<dyn Fill + '_>, InterruptFn), TargetError> {
        self.shared.keep_alive()?;
        filler::open(&self.shared.params)
    }
}

impl DurabilityProof for SqliteTarget {
    fn versions(&self, spec: &DataSpec, visit: &mut dyn FnMut(&RowVersion<'_>)) -> Result<(), TargetError> {
        match self.shared.open_for_inspection()? {
            Some(link) => layout::versions(&link.conn, spec, visit),
            None => Err(no_data(&self.shared.params, "does not exist")),
        }
    }
}
