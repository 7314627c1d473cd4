//! Implements [`Target`] for MySQL and MariaDB by calling the crate's modules.

use std::collections::BTreeSet;

use dyno_plan::{Bytes, Commit, DataSpec, Plan, TargetUrl};
use dyno_record::{Advice, Identity};

use super::connect::{MySqlConnectConfig, ResultMetadata};
use super::connections::{MySqlConnections, requested_settings, server_settings};
use super::ops::{self, MySqlSession};
use super::own_connections::SharedSessionRegistry;
use super::setting_control::MySqlSettingControl;
use super::{
    column_statistics, compatibility, counters, executed_statements, explain, hang_reasons, identity, layout,
    lock, sampler,
};
use dyno_engine::column_statistics::{ColumnName, ColumnStatistics};
use dyno_engine::compatibility::CompatibilityProfile;
use dyno_engine::executed_statements::{ObservedStatements, StatementQuery};
use dyno_engine::pool::InterruptFn;
use dyno_engine::target::HungSessionReport;
use dyno_engine::{
    BlockData, BlockSessionConfig, BlocksSql, BulkLoad, Cancel, Capabilities, Claim, CompatibleTarget,
    CounterScope, DataState, Dialect, DropItem, DurabilityProof, Fill, Holder, LoadOptions, LoadProgressSink,
    LoadReport, Lock, ObjectKind, Observer, OpenOptions, PassiveObserver, RequiredKey, RowCallback,
    RowVersion, Sampler, ServerLife, Session, SessionSetup, SettingControl, StatementLimit, TableWords,
    Target, TargetError, Value, WorkloadNeeds, retry_read,
};

/// The most connections that speed up a load: more than a server has processors.
const LOAD_PARALLEL_MAX: u32 = 64;

/// One database on a MySQL or MariaDB server.
#[derive(Debug)]
pub(super) struct MySqlTarget {
    /// The plan's URL, completed from option files and the environment.
    url: TargetUrl,
    connections: MySqlConnections,
    settings: MySqlSettingControl,
    /// The connections of the sessions and what they have done. Observer and sampler use it to recognize
    /// their own sessions.
    sessions: SharedSessionRegistry,
}

impl MySqlTarget {
    pub(super) fn new(url: &TargetUrl, options: &OpenOptions) -> Result<Self, TargetError> {
        let config = MySqlConnectConfig::from_url(url, options)?;
        let connections = MySqlConnections::new(config, server_settings);
        Ok(Self {
            url: connections.config.effective_url(url),
            settings: MySqlSettingControl(connections.clone()),
            connections,
            sessions: SharedSessionRegistry::default(),
        })
    }
}

impl CompatibleTarget for MySqlTarget {
    fn recognize(&self) -> Result<Option<(String, &'static CompatibilityProfile)>, TargetError> {
        compatibility::recognize(&self.connections)
    }

    fn sql_only(&self) -> Box<dyn Target> {
        let mut config = self.connections.config.clone();
        // As most drivers request results.
        config.result_metadata = ResultMetadata::Each;
        let connections = MySqlConnections::new(config, requested_settings);
        Box::new(Self {
            url: self.url.clone(),
            settings: MySqlSettingControl(connections.clone()),
            connections,
            sessions: self.sessions.clone(),
        })
    }
}

impl Target for MySqlTarget {
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
            pipelines: false,
            read_only_sessions: true,
            ephemeral: false,
            load_parallel_max: LOAD_PARALLEL_MAX,
        }
    }

    fn identify(&self) -> Result<Identity, TargetError> {
        self.connections.ask(identity::identify)
    }

    fn preflight(&self, plan: &Plan, needs: &WorkloadNeeds) -> Result<Vec<Advice>, TargetError> {
        self.connections
            .ask(|connection| identity::preflight(connection, &self.connections.config, plan, needs))
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

    fn statement_limit(&self) -> Result<Option<StatementLimit>, TargetError> {
        self.connections.ask(identity::statement_limit)
    }

    fn stuck(&self) -> Result<Option<HungSessionReport>, TargetError> {
        self.connections.ask(|connection| hang_reasons::ask(connection, &self.sessions))
    }

    fn observed_statements(&self, request: &StatementQuery) -> Result<ObservedStatements, TargetError> {
        self.connections.ask(|connection| executed_statements::seen(connection, request))
    }

    fn column_statistics(
        &self,
        schema: Option<&str>,
        columns: &[ColumnName],
    ) -> Result<Vec<Option<ColumnStatistics>>, TargetError> {
        self.connections.ask(|connection| column_statistics::read(connection, schema, columns))
    }

    fn set_sessions_elsewhere(&self, elsewhere: bool) {
        self.sessions.lock().set_remote_sessions(elsewhere);
    }

    fn dialect(&self) -> Dialect {
        Dialect {
            mark: |_| "?".to_owned(),
            from_nothing: "",
            bytes_length: "octet_length",
            snapshot: &[
                "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ",
                "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY",
            ],
            call: None,
            prefix: "dyno_",
        }
    }

    fn session(&self, setup: &SessionSetup) -> Result<Box<dyn Session>, TargetError> {
        Ok(Box::new(MySqlSession::open(&self.connections, setup, self.sessions.clone())?))
    }

    fn observer(&self, spec: &DataSpec) -> Result<Box<dyn Observer>, TargetError> {
        self.observer_of_names(spec, &BTreeSet::new())
    }

    fn observer_of_names(
        &self,
        spec: &DataSpec,
        names: &BTreeSet<String>,
    ) -> Result<Box<dyn Observer>, TargetError> {
        let sessions = self.sessions.clone();
        Ok(Box::new(counters::MySqlObserver::open(&self.connections, spec, names, sessions)?))
    }

    fn sampler(&self) -> Result<Box<dyn Sampler>, TargetError> {
        Ok(Box::new(sampler::MySqlSampler::open(&self.connections, self.sessions.clone())?))
    }

    fn passive_observer(&self) -> Result<PassiveObserver, TargetError> {
        let no_data = DataSpec::none(Bytes(0));
        let observer = self.observer(&no_data)?;
        let sampler = sampler::MySqlSampler::open_for_all(&self.connections, self.sessions.clone());
        Ok(PassiveObserver { observer, sampler: sampler.map(|sampler| Box::new(sampler) as _) })
    }

    fn native_block_size(&self) -> Result<Bytes, TargetError> {
        self.connections.ask(layout::page_size).map(Bytes)
    }

    fn table_words(&self) -> TableWords {
        layout::filler::WORDS
    }

    fn required_key(&self) -> Result<Option<RequiredKey>, TargetError> {
        self.connections.ask(layout::required_key)
    }

    fn find(&self, kind: ObjectKind, names: &[&str]) -> Result<Vec<DropItem>, TargetError> {
        self.connections.ask(|connection| layout::filler::find(connection, kind, names))
    }

    fn script(&self, statements: &[&str], on_rows: RowCallback<'_>) -> Result<(), TargetError> {
        self.connections.script(statements, on_rows)
    }

    fn explain(&self, sql: &str) -> Result<Vec<String>, TargetError> {
        explain::explain(self, sql)
    }

    fn literal(&self, value: Value<'_>) -> String {
        explain::literal(value)
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

impl BlockData for MySqlTarget {
    fn block_size(&self, wish: Option<Bytes>) -> Result<Bytes, TargetError> {
        self.connections.ask(|connection| layout::chosen_block_size(wish, connection))
    }

    fn survey(&self) -> Result<DataState, TargetError> {
        retry_read(|| self.connections.ask(layout::survey))
            .map_err(|error| layout::explain_inspection(error, &self.connections.config))
    }

    fn spot_check(&self, spec: &DataSpec, seed: u64) -> Result<Option<String>, TargetError> {
        retry_read(|| self.connections.ask(|connection| layout::spot_check(connection, spec, seed)))
            .map(|()| None)
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

    fn delete_leftover_rows(&self, spec: &DataSpec) -> Result<u64, TargetError> {
        self.connections.ask(|connection| layout::leftover_rows::delete(connection, spec))
    }

    fn blocks(&self, blocks: &BlockSessionConfig, _: Commit) -> Result<BlocksSql, TargetError> {
        ops::blocks(blocks)
    }
}

impl BulkLoad for MySqlTarget {
    fn filler(&self) -> Result<(Box<dyn Fill + '_>, InterruptFn), TargetError> {
        layout::filler::open(&self.connections)
    }
}

impl DurabilityProof for MySqlTarget {
    fn versions(&self, spec: &DataSpec, visit: &mut dyn FnMut(&RowVersion<'_>)) -> Result<(), TargetError> {
        self.connections.ask(|connection| layout::versions(connection, spec, visit))
    }
}
