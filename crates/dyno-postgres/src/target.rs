//! Implements [`Target`] for PostgreSQL by calling the crate's modules.

use dyno_plan::{Bytes, Commit, DataSpec, Plan, TargetUrl};
use dyno_record::{Advice, Identity};
use std::collections::BTreeSet;
use std::sync::Arc;

use super::connect::PostgresConnectConfig;
use super::connections::{PostgresConnections, requested_settings, server_settings};
use super::identity::block::{block_size, chosen_block_size};
use super::ops::{self, InferredTypes, PostgresSession};
use super::pool::PostgresPool;
use super::pool_config::PoolConfig;
use super::setting_control::PostgresSettingControl;
use super::{
    column_statistics, compatibility, counters, executed_statements, identity, layout, lock, sampler,
};
use dyno_engine::column_statistics::{ColumnName, ColumnStatistics};
use dyno_engine::compatibility::CompatibilityProfile;
use dyno_engine::executed_statements::{ObservedStatements, ParameterTypes, StatementQuery};
use dyno_engine::pool::InterruptFn;
use dyno_engine::target::HungSessionReport;
use dyno_engine::{
    BlockData, BlockSessionConfig, BlocksSql, BulkLoad, Cancel, Capabilities, Claim, CompatibleTarget,
    ConnectionPurpose, CounterScope, DataState, Dialect, DropItem, DurabilityProof, Fill, Holder,
    LoadOptions, LoadProgressSink, LoadReport, Lock, ObjectKind, Observer, OpenOptions, PassiveObserver,
    RowCallback, RowVersion, Sampler, ServerLife, Session, SessionSetup, SettingControl, StatementLimit,
    TableWords, Target, TargetError, Value, WorkloadNeeds, retry_read,
};

/// The most connections that speed up a load: more than a server has processors.
const LOAD_PARALLEL_MAX: u32 = 64;

/// One database on a PostgreSQL server.
#[derive(Debug)]
pub(super) struct PostgresTarget {
    /// The plan's URL, completed from the service and the environment.
    url: TargetUrl,
    /// The connections to the server.
    connections: PostgresConnections,
    settings: PostgresSettingControl,
    /// The pool of the sessions; absent if they connect directly to the server.
    pool: Option<Arc<PostgresPool>>,
    /// Parameter types that the server has inferred.
    inferred: InferredTypes,
}

impl PostgresTarget {
    pub(super) fn new(url: &TargetUrl, options: &OpenOptions) -> Result<Self, TargetError> {
        let config = PostgresConnectConfig::from_url(url, options)?;
        let connections = PostgresConnections::new(config, server_settings);
        Ok(Self {
            url: connections.config.effective_url(url),
            settings: PostgresSettingControl(connections.clone()),
            connections,
            pool: None,
            inferred: InferredTypes::default(),
        })
    }

    /// The target at `url`, a pooler in front of the server at `observe`.
    pub(super) fn through(
        url: &TargetUrl,
        observe: &TargetUrl,
        options: &OpenOptions,
    ) -> Result<Self, TargetError> {
        let server = Self::new(observe, options)?;
        let sessions = Self::new(url, options)?;
        let pool = PostgresPool::new(sessions.connections, server.connections.clone());
        Ok(Self { url: sessions.url, pool: Some(Arc::new(pool)), ..server })
    }
}

impl CompatibleTarget for PostgresTarget {
    fn recognize(&self) -> Result<Option<(String, &'static CompatibilityProfile)>, TargetError> {
        compatibility::recognize(&self.connections)
    }

    fn sql_only(&self) -> Box<dyn Target> {
        let connections = PostgresConnections::new(self.connections.config.clone(), requested_settings);
        Box::new(Self {
            url: self.url.clone(),
            settings: PostgresSettingControl(connections.clone()),
            connections,
            pool: self.pool.clone(),
            inferred: InferredTypes::default(),
        })
    }
}

impl Target for PostgresTarget {
    fn engine(&self) -> &'static str {
        super::SPEC.name
    }

    fn url(&self) -> String {
        self.url.to_string()
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            server_drive: true,
            duplex: true,
            // Through a pooler, each request is preceded by its settings, so pipelining is not possible.
            pipelines: self.pool.is_none(),
            read_only_sessions: true,
            ephemeral: false,
            load_parallel_max: LOAD_PARALLEL_MAX,
        }
    }

    fn identify(&self) -> Result<Identity, TargetError> {
        let mut identity = self.connections.ask(identity::identify)?;
        if let Some(pool) = &self.pool {
            pool.describe(&mut identity)?;
        }
        Ok(identity)
    }

    fn preflight(&self, plan: &Plan, needs: &WorkloadNeeds) -> Result<Vec<Advice>, TargetError> {
        self.connections.ask(|connection| {
            identity::preflight(connection, &self.connections.config, self.pool.as_deref(), plan, needs)
        })
    }

    fn statement_limit(&self) -> Result<Option<StatementLimit>, TargetError> {
        match &self.pool {
            Some(pool) if pool.carries_statements()? => {
                Ok(PoolConfig::read(pool.sessions()).and_then(|config| config.statement_limit()))
            }
            _ => Ok(None),
        }
    }

    fn lock(&self, holder: &Holder, claim: Claim) -> Result<Lock, TargetError> {
        lock::take(&self.connections, holder, claim, &self.url())
    }

    fn reads_only(&self) -> Result<Option<String>, TargetError> {
        self.connections.ask(identity::reads_only)
    }

    fn instance(&self) -> Result<Option<CounterScope>, TargetError> {
        self.connections.ask(identity::instance).map(Some)
    }

    fn stuck(&self) -> Result<Option<HungSessionReport>, TargetError> {
        self.connections.ask(sampler::stuck)
    }

    fn observed_statements(&self, request: &StatementQuery) -> Result<ObservedStatements, TargetError> {
        self.connections.ask(|connection| executed_statements::seen(connection, request))
    }

    fn parameter_types(&self, statements: &[&str]) -> Result<Vec<ParameterTypes>, TargetError> {
        self.connections.ask_for(ConnectionPurpose::Script, |connection| {
            executed_statements::parameter_types(connection, statements)
        })
    }

    fn column_statistics(
        &self,
        schema: Option<&str>,
        columns: &[ColumnName],
    ) -> Result<Vec<Option<ColumnStatistics>>, TargetError> {
        self.connections.ask_for(ConnectionPurpose::Script, |connection| {
            column_statistics::read(connection, schema, columns)
        })
    }

    fn dialect(&self) -> Dialect {
        Dialect {
            mark: |number| format!("${number}"),
            from_nothing: "",
            bytes_length: "octet_length",
            snapshot: &["BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"],
            call: None,
            prefix: "dyno.",
        }
    }

    fn session(&self, setup: &SessionSetup) -> Result<Box<dyn Session>, TargetError> {
        Ok(Box::new(match &self.pool {
            Some(pool) => PostgresSession::open_through(pool, setup, &self.inferred)?,
            None => PostgresSession::open(&self.connections, setup, &self.inferred)?,
        }))
    }

    fn observer(&self, spec: &DataSpec) -> Result<Box<dyn Observer>, TargetError> {
        self.observer_of_names(spec, &BTreeSet::new())
    }

    fn observer_of_names(
        &self,
        spec: &DataSpec,
        names: &BTreeSet<String>,
    ) -> Result<Box<dyn Observer>, TargetError> {
        let pool = self.pool.clone();
        Ok(Box::new(counters::PostgresObserver::open(&self.connections, pool, spec, names)?))
    }

    fn sampler(&self) -> Result<Box<dyn Sampler>, TargetError> {
        Ok(Box::new(sampler::PostgresSampler::open(&self.connections)?))
    }

    fn passive_observer(&self) -> Result<PassiveObserver, TargetError> {
        let (no_data, no_names) = (DataSpec::none(Bytes(0)), BTreeSet::new());
        let observer = counters::PostgresObserver::open(&self.connections, None, &no_data, &no_names)?;
        let sampler = sampler::PostgresSampler::open_for_all(&self.connections);
        Ok(PassiveObserver {
            observer: Box::new(observer),
            sampler: sampler.map(|sampler| Box::new(sampler) as _),
        })
    }

    fn native_block_size(&self) -> Result<Bytes, TargetError> {
        self.connections.ask(block_size)
    }

    fn script(&self, statements: &[&str], on_rows: RowCallback<'_>) -> Result<(), TargetError> {
        self.connections.script(statements, on_rows)
    }

    fn literal(&self, value: Value<'_>) -> String {
        ops::literal(value)
    }

    fn table_words(&self) -> TableWords {
        layout::filler::WORDS
    }

    fn find(&self, kind: ObjectKind, names: &[&str]) -> Result<Vec<DropItem>, TargetError> {
        self.connections
            .ask_for(ConnectionPurpose::Script, |connection| layout::filler::find(connection, kind, names))
    }

    fn life(&self) -> Result<Option<ServerLife>, TargetError> {
        self.connections.ask(identity::life).map(Some)
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

    fn setting_control(&self) -> Result<&dyn SettingControl, TargetError> {
        Ok(&self.settings)
    }
}

impl BlockData for PostgresTarget {
    fn block_size(&self, wish: Option<Bytes>) -> Result<Bytes, TargetError> {
        chosen_block_size(wish, self.connections.ask(block_size)?)
    }

    fn survey(&self) -> Result<DataState, TargetError> {
        retry_read(|| self.connections.ask(layout::survey))
            .map_err(|error| layout::explain_inspection(error, &self.connections.config))
    }

    fn spot_check(&self, spec: &DataSpec, seed: u64) -> Result<Option<String>, TargetError> {
        retry_read(|| self.connections.ask(|connection| layout::spot_check(connection, spec, seed)))
    }

    fn load(
        &self,
        spec: &DataSpec,
        options: &LoadOptions,
        progress: &dyn LoadProgressSink,
        cancel: &Cancel,
    ) -> Result<LoadReport, TargetError> {
        layout::load(&self.connections, spec, options, progress, cancel)
    }

    fn inventory(&self) -> Result<Vec<DropItem>, TargetError> {
        retry_read(|| self.connections.ask(layout::inventory))
            .map_err(|error| layout::explain_inspection(error, &self.connections.config))
    }

    fn foreign(&self) -> Result<Vec<DropItem>, TargetError> {
        self.connections.ask(layout::foreign)
    }

    fn drop_all(&self) -> Result<Vec<DropItem>, TargetError> {
        layout::drop_all(&self.connections)
    }

    fn leftover_rows(&self, spec: &DataSpec) -> Result<u64, TargetError> {
        self.connections.ask(|connection| layout::leftover_rows::count(connection, spec))
    }

    fn leftover_row_blocks(&self, spec: &DataSpec) -> Result<Option<Vec<String>>, TargetError> {
        self.connections.ask(|connection| layout::leftover_rows::places(connection, spec)).map(Some)
    }

    fn delete_leftover_rows(&self, spec: &DataSpec) -> Result<u64, TargetError> {
        self.connections.ask(|connection| layout::leftover_rows::delete(connection, spec))
    }

    fn note_deletions(&self, rows: u64) -> Result<(), TargetError> {
        self.connections.ask(|connection| layout::deletions::add(connection, rows))
    }

    fn blocks(&self, blocks: &BlockSessionConfig, _: Commit) -> Result<BlocksSql, TargetError> {
        Ok(ops::blocks(blocks))
    }
}

impl BulkLoad for PostgresTarget {
    fn filler(&self) -> Result<(Box<dyn Fill + '_>, InterruptFn), TargetError> {
        layout::filler::open(&self.connections)
    }
}

impl DurabilityProof for PostgresTarget {
    fn versions(&self, spec: &DataSpec, visit: &mut dyn FnMut(&RowVersion<'_>)) -> Result<(), TargetError> {
        self.connections.ask(|connection| layout::versions(connection, spec, visit))
    }
}
