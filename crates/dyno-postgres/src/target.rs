//! Implements [`Target`] for PostgreSQL by calling the crate's modules.

use dyno_plan::{Bytes, Commit, DataSpec, Plan, TargetUrl};
use dyno_record::{Advice, Identity};
use std::collections::BTreeSet;
use std::sync::Arc;

use super::connect::PostgresConnectConfig;
use super::identity::block::{block_size, chosen_block_size};
use super::limits::open_unlimited;
use super::ops::{self, InferredTypes, PostgresSession};
use super::pool::PostgresPool;
use super::pool_config::PoolConfig;
use super::wire::PostgresConnection;
use super::{compatibility, counters, executed_statements, identity, layout, lock, sampler};
use dyno_engine::compatibility::{CompatibilityProfile, RecognizedProduct};
use dyno_engine::executed_statements::{ObservedStatements, ParameterTypes, StatementQuery};
use dyno_engine::net::CONNECTED_TO;
use dyno_engine::pool::InterruptFn;
use dyno_engine::target::HungSessionReport;
use dyno_engine::{
    BlockData, BlockSessionConfig, BlocksSql, BulkLoad, Cancel, Capabilities, Claim, CounterScope, DataState,
    Dialect, DropItem, DurabilityProof, Fill, Holder, LoadOptions, LoadProgressSink, LoadReport, Lock,
    ObjectKind, Observer, OpenOptions, PassiveObserver, RowCallback, RowVersion, Sampler, ServerLife,
    Session, SessionSetup, StatementLimit, TableWords, Target, TargetError, Value, WorkloadNeeds, retry_read,
};

/// The most connections that speed up a load: more than a server has processors.
const LOAD_PARALLEL_MAX: u32 = 64;

#[derive(Debug)]
pub(super) struct PostgresTarget {
    /// The plan's URL, completed from the service and the environment.
    url: TargetUrl,
    /// Whether the service or the environment added anything.
    is_filled_in: bool,
    /// The connection settings of the server.
    config: PostgresConnectConfig,
    /// The pool of the sessions; absent if they connect directly to the server.
    pool: Option<Arc<PostgresPool>>,
    /// Parameter types that the server has inferred.
    inferred: InferredTypes,
    /// Which product the server is.
    product: RecognizedProduct,
}

impl PostgresTarget {
    pub(super) fn new(url: &TargetUrl, options: &OpenOptions) -> Result<Self, TargetError> {
        let config = PostgresConnectConfig::from_url(url, options)?;
        let effective = config.effective_url(url);
        Ok(Self {
            is_filled_in: effective != *url,
            url: effective,
            config,
            pool: None,
            inferred: InferredTypes::default(),
            product: RecognizedProduct::default(),
        })
    }

    /// The target at `url`, a pooler in front of the server at `observe`.
    pub(super) fn through(
        url: &TargetUrl,
        observe: &TargetUrl,
        options: &OpenOptions,
    ) -> Result<Self, TargetError> {
        let config = PostgresConnectConfig::from_url(observe, options)?;
        let sessions = PostgresConnectConfig::from_url(url, options)?;
        let effective = sessions.effective_url(url);
        let pool = PostgresPool::new(sessions, config.clone());
        Ok(Self {
            is_filled_in: effective != *url,
            url: effective,
            config,
            pool: Some(Arc::new(pool)),
            inferred: InferredTypes::default(),
            product: RecognizedProduct::default(),
        })
    }

    /// The server's version and profile; absent for PostgreSQL.
    fn profile(&self) -> Result<Option<(&str, &'static CompatibilityProfile)>, TargetError> {
        self.product.profile(|| {
            let mut connection = PostgresConnection::open(&self.config, "dyno check")?;
            let known = compatibility::recognize(&mut connection)?;
            connection.close();
            Ok(known)
        })
    }

    /// The server's version and profile if it has only PostgreSQL's protocol and SQL.
    fn only_sql(&self) -> Result<Option<(&str, &'static CompatibilityProfile)>, TargetError> {
        Ok(self.profile()?.filter(|(_, profile)| profile.only_sql_because().is_some()))
    }

    /// A connection for a script, without time limits where the server has PostgreSQL's.
    fn script_connection(&self) -> Result<PostgresConnection, TargetError> {
        match self.only_sql()? {
            Some(_) => PostgresConnection::open(&self.config, "dyno script"),
            None => open_unlimited(&self.config, "dyno script", ""),
        }
    }

    /// Opens a connection for one question and returns the answer.
    fn ask<T>(
        &self,
        question: impl FnOnce(&mut PostgresConnection) -> Result<T, TargetError>,
    ) -> Result<T, TargetError> {
        let mut connection = open_unlimited(&self.config, "dyno check", "SET search_path = pg_catalog")?;
        let answer = question(&mut connection)?;
        connection.close();
        Ok(answer)
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
        if let Some(pool) = &self.pool {
            pool.describe(&mut identity)?;
        }
        Ok(identity)
    }

    fn preflight(&self, plan: &Plan, needs: &WorkloadNeeds) -> Result<Vec<Advice>, TargetError> {
        if let Some((version, profile)) = self.only_sql()? {
            return Ok(profile.advice(version));
        }
        let mut advice = self.ask(|connection| {
            identity::preflight(connection, &self.config, self.pool.as_deref(), plan, needs)
        })?;
        advice.extend(self.profile()?.map(|(_, profile)| profile.note()));
        Ok(advice)
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

    fn stuck(&self) -> Result<Option<HungSessionReport>, TargetError> {
        self.only_sql()?.map_or_else(|| self.ask(sampler::stuck), |_| Ok(None))
    }

    fn observed_statements(&self, request: &StatementQuery) -> Result<ObservedStatements, TargetError> {
        self.product.require_server("reading its statements")?;
        self.ask(|connection| executed_statements::seen(connection, request))
    }

    fn parameter_types(&self, statements: &[&str]) -> Result<Vec<ParameterTypes>, TargetError> {
        // Names resolve as they do in sessions.
        let mut connection = open_unlimited(&self.config, "dyno check", "")?;
        let types = executed_statements::parameter_types(&mut connection, statements)?;
        connection.close();
        Ok(types)
    }

    fn dialect(&self) -> Dialect {
        Dialect {
            mark: |number| format!("${number}"),
            from_nothing: "",
            bytes_length: "octet_length",
            snapshot: match self.product.is_only_sql() {
                true => &["BEGIN"],
                false => &["BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"],
            },
            call: None,
            prefix: "dyno.",
        }
    }

    fn session(&self, setup: &SessionSetup) -> Result<Box<dyn Session>, TargetError> {
        Ok(Box::new(match &self.pool {
            Some(pool) => PostgresSession::open_through(pool, setup, &self.inferred)?,
            None => {
                let mut config = self.config.clone();
                // The server is identified before sessions open. Asking now would add transactions.
                config.only_sql = self.product.is_only_sql();
                PostgresSession::open(&config, setup, &self.inferred)?
            }
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
        if let Some((_, profile)) = self.only_sql()? {
            return Ok(profile.observer());
        }
        let profile = self.profile()?.map(|(_, profile)| profile);
        let pool = self.pool.clone();
        Ok(Box::new(counters::PostgresObserver::open(&self.config, pool, spec, names, profile)?))
    }

    fn sampler(&self) -> Result<Box<dyn Sampler>, TargetError> {
        self.product.require_server("sampling waits")?;
        Ok(Box::new(sampler::PostgresSampler::open(&self.config)?))
    }

    fn passive_observer(&self) -> Result<PassiveObserver, TargetError> {
        self.product.require_server("watching it")?;
        let profile = self.profile()?.map(|(_, profile)| profile);
        let observer = counters::PostgresObserver::open(
            &self.config,
            None,
            &DataSpec::none(Bytes(0)),
            &BTreeSet::new(),
            profile,
        )?;
        let sampler = sampler::PostgresSampler::open_for_all(&self.config);
        Ok(PassiveObserver {
            observer: Box::new(observer),
            sampler: sampler.map(|sampler| Box::new(sampler) as _),
        })
    }

    fn native_block_size(&self) -> Result<Bytes, TargetError> {
        self.only_sql()?.map_or_else(|| self.ask(block_size), |_| Ok(Bytes(0)))
    }

    fn script(&self, statements: &[&str], on_rows: RowCallback<'_>) -> Result<(), TargetError> {
        let mut connection = self.script_connection()?;
        for sql in statements {
            on_rows(connection.simple(sql)?)?;
        }
        connection.close();
        Ok(())
    }

    fn literal(&self, value: Value<'_>) -> String {
        ops::literal(value)
    }

    fn table_words(&self) -> TableWords {
        layout::filler::WORDS
    }

    fn find(&self, kind: ObjectKind, names: &[&str]) -> Result<Vec<DropItem>, TargetError> {
        let mut connection = self.script_connection()?;
        let items = layout::filler::find(&mut connection, kind, names)?;
        connection.close();
        Ok(items)
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

impl BlockData for PostgresTarget {
    fn block_size(&self, wish: Option<Bytes>) -> Result<Bytes, TargetError> {
        chosen_block_size(wish, self.ask(block_size)?)
    }

    fn survey(&self) -> Result<DataState, TargetError> {
        retry_read(|| self.ask(layout::survey))
            .map_err(|error| layout::explain_inspection(error, &self.config))
    }

    fn spot_check(&self, spec: &DataSpec, seed: u64) -> Result<Option<String>, TargetError> {
        retry_read(|| self.ask(|connection| layout::spot_check(connection, spec, seed)))
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

    fn leftover_row_blocks(&self, spec: &DataSpec) -> Result<Option<Vec<String>>, TargetError> {
        self.ask(|connection| layout::leftover_rows::places(connection, spec)).map(Some)
    }

    fn delete_leftover_rows(&self, spec: &DataSpec) -> Result<u64, TargetError> {
        self.ask(|connection| layout::leftover_rows::delete(connection, spec))
    }

    fn note_deletions(&self, rows: u64) -> Result<(), TargetError> {
        self.ask(|connection| layout::deletions::add(connection, rows))
    }

    fn blocks(&self, blocks: &BlockSessionConfig, _: Commit) -> Result<BlocksSql, TargetError> {
        Ok(ops::blocks(blocks))
    }
}

impl BulkLoad for PostgresTarget {
    fn filler(&self) -> Result<(Box<dyn Fill + '_>, InterruptFn), TargetError> {
        layout::filler::open(&self.config)
    }
}

impl DurabilityProof for PostgresTarget {
    fn versions(&self, spec: &DataSpec, visit: &mut dyn FnMut(&RowVersion<'_>)) -> Result<(), TargetError> {
        self.ask(|connection| layout::versions(connection, spec, visit))
    }
}
