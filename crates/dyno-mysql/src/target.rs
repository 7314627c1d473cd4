//! Implements [`Target`] for MySQL and MariaDB by calling the crate's modules.

use std::collections::BTreeSet;

use dyno_plan::{Bytes, Commit, DataSpec, Plan, TargetUrl};
use dyno_record::{Advice, Identity};

use super::connect::MySqlConnectConfig;
use super::ops::{self, MySqlSession};
use super::own_connections::SharedSessionRegistry;
use super::wire::MySqlConnection;
use super::{
    compatibility, counters, executed_statements, explain, hang_reasons, identity, layout, lock, sampler,
};
use dyno_engine::compatibility::{CompatibilityProfile, RecognizedProduct};
use dyno_engine::executed_statements::{ObservedStatements, StatementQuery};
use dyno_engine::net::CONNECTED_TO;
use dyno_engine::pool::InterruptFn;
use dyno_engine::target::HungSessionReport;
use dyno_engine::{
    BlockData, BlockSessionConfig, BlocksSql, BulkLoad, Cancel, Capabilities, Claim, CounterScope, DataState,
    Dialect, DropItem, DurabilityProof, Fill, Holder, LoadOptions, LoadProgressSink, LoadReport, Lock,
    ObjectKind, Observer, OpenOptions, PassiveObserver, RequiredKey, RowCallback, RowVersion, Sampler,
    ServerLife, Session, SessionSetup, StatementLimit, TableWords, Target, TargetError, Value, WorkloadNeeds,
    retry_read,
};

/// The most connections that speed up a load: more than a server has processors.
const LOAD_PARALLEL_MAX: u32 = 64;

/// One database on a MySQL or MariaDB server.
#[derive(Debug)]
pub(super) struct MySqlTarget {
    /// The plan's URL, completed from option files and the environment.
    url: TargetUrl,
    /// Whether option files or the environment added anything.
    is_filled_in: bool,
    config: MySqlConnectConfig,
    /// The connections of the sessions and what they have done. Observer and sampler use it to recognize
    /// their own sessions.
    sessions: SharedSessionRegistry,
    /// Which product the server is.
    product: RecognizedProduct,
}

impl MySqlTarget {
    pub(super) fn new(url: &TargetUrl, options: &OpenOptions) -> Result<Self, TargetError> {
        let config = MySqlConnectConfig::from_url(url, options)?;
        let effective = config.effective_url(url);
        let is_filled_in = effective != *url;
        Ok(Self {
            url: effective,
            is_filled_in,
            config,
            sessions: SharedSessionRegistry::default(),
            product: RecognizedProduct::default(),
        })
    }

    /// The server's version and profile; absent for MySQL and MariaDB.
    fn profile(&self) -> Result<Option<(&str, &'static CompatibilityProfile)>, TargetError> {
        self.product.profile(|| {
            let mut connection = MySqlConnection::open(&self.config, "dyno check")?;
            let known = compatibility::recognize(&mut connection)?;
            connection.close();
            Ok(known)
        })
    }

    /// The server's version and profile if it has only MySQL's protocol and SQL.
    fn only_sql(&self) -> Result<Option<(&str, &'static CompatibilityProfile)>, TargetError> {
        Ok(self.profile()?.filter(|(_, profile)| profile.only_sql_because().is_some()))
    }

    /// How to connect, now that the product is known.
    fn server_config(&self) -> Result<MySqlConnectConfig, TargetError> {
        let mut config = self.config.clone();
        config.only_sql = self.only_sql()?.is_some();
        Ok(config)
    }

    /// Opens a connection for one question and returns the answer.
    fn ask<T>(
        &self,
        question: impl FnOnce(&mut MySqlConnection) -> Result<T, TargetError>,
    ) -> Result<T, TargetError> {
        let mut connection = MySqlConnection::open(&self.server_config()?, "dyno check")?;
        layout::settle(&mut connection)?;
        let answer = question(&mut connection)?;
        connection.close();
        Ok(answer)
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
        let mut identity = match self.only_sql()? {
            Some((version, profile)) => profile.identity(version),
            None => self.ask(identity::identify)?,
        };
        if let Some((_, profile)) = self.profile()? {
            profile.product.clone_into(&mut identity.product);
        }
        if self.is_filled_in {
            identity.settings.insert(CONNECTED_TO.to_owned(), self.url());
        }
        Ok(identity)
    }

    fn preflight(&self, plan: &Plan, needs: &WorkloadNeeds) -> Result<Vec<Advice>, TargetError> {
        if let Some((version, profile)) = self.only_sql()? {
            return Ok(profile.advice(version));
        }
        let mut advice = self.ask(|connection| identity::preflight(connection, &self.config, plan, needs))?;
        advice.extend(self.profile()?.map(|(_, profile)| profile.note()));
        Ok(advice)
    }

    fn lock(&self, holder: &Holder, claim: Claim) -> Result<Lock, TargetError> {
        match self.only_sql()? {
            Some((_, profile)) => Ok(profile.no_lock(&self.url())),
            None => lock::take(&self.config, holder, claim, &self.url()),
        }
    }

    fn reads_only(&self) -> Result<Option<String>, TargetError> {
        self.only_sql()?.map_or_else(|| self.ask(identity::reads_only), |_| Ok(None))
    }

    fn instance(&self) -> Result<Option<CounterScope>, TargetError> {
        self.only_sql()?.map_or_else(|| self.ask(identity::instance).map(Some), |_| Ok(None))
    }

    fn statement_limit(&self) -> Result<Option<StatementLimit>, TargetError> {
        self.only_sql()?.map_or_else(|| self.ask(identity::statement_limit), |_| Ok(None))
    }

    fn stuck(&self) -> Result<Option<HungSessionReport>, TargetError> {
        if self.only_sql()?.is_some() {
            return Ok(None);
        }
        self.ask(|connection| hang_reasons::ask(connection, &self.sessions))
    }

    fn observed_statements(&self, request: &StatementQuery) -> Result<ObservedStatements, TargetError> {
        self.product.require_server("reading its statements")?;
        self.ask(|connection| executed_statements::seen(connection, request))
    }

    fn set_sessions_elsewhere(&self, elsewhere: bool) {
        self.sessions.lock().set_remote_sessions(elsewhere);
    }

    fn dialect(&self) -> Dialect {
        Dialect {
            mark: |_| "?".to_owned(),
            from_nothing: "",
            bytes_length: "octet_length",
            snapshot: match self.product.is_only_sql() {
                true => &["START TRANSACTION"],
                false => &[
                    "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ",
                    "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY",
                ],
            },
            call: None,
            prefix: "dyno_",
        }
    }

    fn session(&self, setup: &SessionSetup) -> Result<Box<dyn Session>, TargetError> {
        // The server is identified before sessions open. Asking now would add transactions.
        let mut config = self.config.clone();
        config.only_sql = self.product.is_only_sql();
        Ok(Box::new(MySqlSession::open(&config, setup, self.sessions.clone())?))
    }

    fn observer(&self, spec: &DataSpec) -> Result<Box<dyn Observer>, TargetError> {
        self.observer_of_names(spec, &BTreeSet::new())
    }

    fn observer_of_names(
        &self,
        spec: &DataSpec,
        names: &BTreeSet<String>,
    ) -> Result<Box<dyn Observer>, TargetError> {
        if let Some((_, profile)) = self.only_sql()? {
            return Ok(profile.observer());
        }
        let (profile, sessions) = (self.profile()?.map(|(_, profile)| profile), self.sessions.clone());
        Ok(Box::new(counters::MySqlObserver::open(&self.config, spec, names, sessions, profile)?))
    }

    fn sampler(&self) -> Result<Box<dyn Sampler>, TargetError> {
        self.product.require_server("sampling waits")?;
        Ok(Box::new(sampler::MySqlSampler::open(&self.config, self.sessions.clone())?))
    }

    fn passive_observer(&self) -> Result<PassiveObserver, TargetError> {
        self.product.require_server("watching it")?;
        let no_data = DataSpec::none(Bytes(0));
        let observer = self.observer(&no_data)?;
        let sampler = sampler::MySqlSampler::open_for_all(&self.config, self.sessions.clone());
        Ok(PassiveObserver { observer, sampler: sampler.map(|sampler| Box::new(sampler) as _) })
    }

    fn native_block_size(&self) -> Result<Bytes, TargetError> {
        match self.only_sql()? {
            Some(_) => Ok(Bytes(0)),
            None => self.ask(layout::page_size).map(Bytes),
        }
    }

    fn table_words(&self) -> TableWords {
        layout::filler::WORDS
    }

    fn required_key(&self) -> Result<Option<RequiredKey>, TargetError> {
        self.only_sql()?.map_or_else(|| self.ask(layout::required_key), |_| Ok(None))
    }

    fn find(&self, kind: ObjectKind, names: &[&str]) -> Result<Vec<DropItem>, TargetError> {
        self.ask(|connection| layout::filler::find(connection, kind, names))
    }

    fn script(&self, statements: &[&str], on_rows: RowCallback<'_>) -> Result<(), TargetError> {
        let mut connection = MySqlConnection::open(&self.server_config()?, "dyno script")?;
        layout::settle_script(&mut connection)?;
        for sql in statements {
            on_rows(connection.simple(sql)?)?;
        }
        connection.close();
        Ok(())
    }

    fn explain(&self, sql: &str) -> Result<Vec<String>, TargetError> {
        explain::explain(self, sql)
    }

    fn literal(&self, value: Value<'_>) -> String {
        explain::literal(value)
    }

    fn life(&self) -> Result<Option<ServerLife>, TargetError> {
        self.only_sql()?.map_or_else(|| self.ask(identity::life).map(Some), |_| Ok(None))
    }

    fn block_data(&self) -> Result<&dyn BlockData, TargetError> {
        self.product.require_server("test data of one row per block")?;
        Ok(self)
    }

    fn bulk_load(&self) -> Result<&dyn BulkLoad, TargetError> {
        Ok(self)
    }

    fn durability_proof(&self) -> Result<&dyn DurabilityProof, TargetError> {
        self.product.require_server("a proof of durability")?;
        Ok(self)
    }
}

impl BlockData for MySqlTarget {
    fn block_size(&self, wish: Option<Bytes>) -> Result<Bytes, TargetError> {
        self.ask(|connection| layout::chosen_block_size(wish, connection))
    }

    fn survey(&self) -> Result<DataState, TargetError> {
        retry_read(|| self.ask(layout::survey))
            .map_err(|error| layout::explain_inspection(error, &self.config))
    }

    fn spot_check(&self, spec: &DataSpec, seed: u64) -> Result<Option<String>, TargetError> {
        retry_read(|| self.ask(|connection| layout::spot_check(connection, spec, seed))).map(|()| None)
    }

    fn load(
        &self,
        spec: &DataSpec,
        options: &LoadOptions,
        progress: &dyn LoadProgressSink,
        cancel: &Cancel,
    ) -> Result<LoadReport, TargetError> {
        layout::load(&self.config, spec, options, progress, cancel)
    }

    fn inventory(&self) -> Result<Vec<DropItem>, TargetError> {
        retry_read(|| self.ask(layout::inventory))
            .map_err(|error| layout::explain_inspection(error, &self.config))
    }

    fn foreign(&self) -> Result<Vec<DropItem>, TargetError> {
        self.ask(layout::foreign)
    }

    fn drop_all(&self) -> Result<Vec<DropItem>, TargetError> {
        layout::drop_all(&self.config)
    }

    fn leftover_rows(&self, spec: &DataSpec) -> Result<u64, TargetError> {
        self.ask(|connection| layout::leftover_rows::count(connection, spec))
    }

    fn delete_leftover_rows(&self, spec: &DataSpec) -> Result<u64, TargetError> {
        self.ask(|connection| layout::leftover_rows::delete(connection, spec))
    }

    fn blocks(&self, blocks: &BlockSessionConfig, _: Commit) -> Result<BlocksSql, TargetError> {
        ops::blocks(blocks)
    }
}

impl BulkLoad for MySqlTarget {
    fn filler(&self) -> Result<(Box<dyn Fill + '_>, InterruptFn), TargetError> {
        layout::filler::open(&self.server_config()?)
    }
}

impl DurabilityProof for MySqlTarget {
    fn versions(&self, spec: &DataSpec, visit: &mut dyn FnMut(&RowVersion<'_>)) -> Result<(), TargetError> {
        self.ask(|connection| layout::versions(connection, spec, visit))
    }
}
