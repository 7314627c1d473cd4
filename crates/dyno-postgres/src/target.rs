//! PostgreSQL as a [`Target`]: each method is handed to its room.

use dyno_plan::{Bytes, Commit, DataSpec, Plan, TargetUrl};
use dyno_record::{Advice, Identity};
use std::collections::BTreeSet;
use std::sync::Arc;

use super::connect::ConnectConfig;
use super::identity::block::{block_size, chosen_block_size};
use super::limits::open_unlimited;
use super::ops::{self, InferredTypes, PgSession};
use super::pool::Pool;
use super::pool_config::PoolConfig;
use super::wire::Connection;
use super::{counters, identity, layout, lock, sampler, seen};
use dyno_engine::net::CONNECTED_TO;
use dyno_engine::pool::BreakOff;
use dyno_engine::seen::{Asked, ParameterTypes, Seen};
use dyno_engine::target::Stuck;
use dyno_engine::{
    Blocks, BlocksSql, Cancel, Capabilities, Claim, DataState, Dataset, Dialect, DropItem, Fill, Holder,
    Instance, LoadOptions, LoadReport, Lock, ObjectKind, Observer, Onlooker, OpenOptions, Progress, Proof,
    RowVersion, Sampler, ServerLife, Session, SessionSetup, StatementLimit, TableWords, Target, TargetError,
    Told, Value, WorkloadNeeds,
};

/// Loading connections of use at most: more than a server has processors for.
const LOAD_PARALLEL_MAX: u32 = 64;

/// One PostgreSQL database.
#[derive(Debug)]
pub(super) struct PgTarget {
    /// The plan's URL, with what the service and the environment have added.
    url: TargetUrl,
    /// Whether they have added anything.
    is_filled_in: bool,
    /// The way to the server.
    config: ConnectConfig,
    /// What sessions go through, if not straight to the server.
    pool: Option<Arc<Pool>>,
    /// Types of parameters that the server infers.
    inferred: InferredTypes,
}

impl PgTarget {
    /// The target at `url`.
    pub(super) fn new(url: &TargetUrl, options: &OpenOptions) -> Result<Self, TargetError> {
        let config = ConnectConfig::from_url(url, options)?;
        let effective = config.effective_url(url);
        Ok(Self {
            is_filled_in: effective != *url,
            url: effective,
            config,
            pool: None,
            inferred: InferredTypes::default(),
        })
    }

    /// The target at `url`, which is a pooler's in front of the server at `observe`.
    pub(super) fn through(
        url: &TargetUrl,
        observe: &TargetUrl,
        options: &OpenOptions,
    ) -> Result<Self, TargetError> {
        let config = ConnectConfig::from_url(observe, options)?;
        let sessions = ConnectConfig::from_url(url, options)?;
        let effective = sessions.effective_url(url);
        let pool = Pool::new(sessions, config.clone());
        Ok(Self {
            is_filled_in: effective != *url,
            url: effective,
            config,
            pool: Some(Arc::new(pool)),
            inferred: InferredTypes::default(),
        })
    }

    /// A connection for one question and its answer.
    fn ask<T>(
        &self,
        question: impl FnOnce(&mut Connection) -> Result<T, TargetError>,
    ) -> Result<T, TargetError> {
        let mut connection = open_unlimited(&self.config, "dyno check", "SET search_path = pg_catalog")?;
        let answer = question(&mut connection)?;
        connection.close();
        Ok(answer)
    }
}

impl Target for PgTarget {
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
            // What comes through a pooler makes its settings in front of each request.
            pipelines: self.pool.is_none(),
            read_only_sessions: true,
            ephemeral: false,
            load_parallel_max: LOAD_PARALLEL_MAX,
        }
    }

    fn identify(&self) -> Result<Identity, TargetError> {
        let mut identity = self.ask(identity::identify)?;
        if self.is_filled_in {
            identity.settings.insert(CONNECTED_TO.to_owned(), self.url());
        }
        if let Some(pool) = &self.pool {
            pool.describe(&mut identity)?;
        }
        Ok(identity)
    }

    fn preflight(&self, plan: &Plan, needs: &WorkloadNeeds) -> Result<Vec<Advice>, TargetError> {
        self.ask(|connection| {
            identity::preflight(connection, &self.config, self.pool.as_deref(), plan, needs)
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
        lock::take(&self.config, holder, claim, &self.url())
    }

    fn reads_only(&self) -> Result<Option<String>, TargetError> {
        self.ask(identity::reads_only)
    }

    fn instance(&self) -> Result<Option<Instance>, TargetError> {
        self.ask(identity::instance).map(Some)
    }

    fn stuck(&self) -> Result<Option<Stuck>, TargetError> {
        self.ask(sampler::stuck)
    }

    fn seen(&self, asked: &Asked) -> Result<Seen, TargetError> {
        self.ask(|connection| seen::seen(connection, asked))
    }

    fn parameter_types(&self, statements: &[&str]) -> Result<Vec<ParameterTypes>, TargetError> {
        // Names mean what they mean to sessions.
        let mut connection = open_unlimited(&self.config, "dyno check", "")?;
        let types = seen::parameter_types(&mut connection, statements)?;
        connection.close();
        Ok(types)
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
            Some(pool) => PgSession::open_through(pool, setup, &self.inferred)?,
            None => PgSession::open(&self.config, setup, &self.inferred)?,
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
        Ok(Box::new(counters::PgObserver::open(&self.config, self.pool.clone(), spec, names)?))
    }

    fn sampler(&self) -> Result<Box<dyn Sampler>, TargetError> {
        Ok(Box::new(sampler::PgSampler::open(&self.config)?))
    }

    fn onlooker(&self) -> Result<Onlooker, TargetError> {
        let observer =
            counters::PgObserver::open(&self.config, None, &DataSpec::none(Bytes(0)), &BTreeSet::new())?;
        let sampler = sampler::PgSampler::of_all(&self.config);
        Ok(Onlooker { observer: Box::new(observer), sampler: sampler.map(|sampler| Box::new(sampler) as _) })
    }
}

impl Dataset for PgTarget {
    fn block_size(&self, wish: Option<Bytes>) -> Result<Bytes, TargetError> {
        chosen_block_size(wish, self.ask(block_size)?)
    }

    fn native_block_size(&self) -> Result<Bytes, TargetError> {
        self.ask(block_size)
    }

    fn survey(&self) -> Result<DataState, TargetError> {
        self.ask(layout::survey).map_err(|error| layout::explain_look(error, &self.config))
    }

    fn spot_check(&self, spec: &DataSpec, seed: u64) -> Result<Option<String>, TargetError> {
        self.ask(|connection| layout::spot_check(connection, spec, seed))
    }

    fn load(
        &self,
        spec: &DataSpec,
        options: &LoadOptions,
        progress: &dyn Progress,
        cancel: &Cancel,
    ) -> Result<LoadReport, TargetError> {
        layout::load(&self.config, spec, options, progress, cancel)
    }

    fn inventory(&self) -> Result<Vec<DropItem>, TargetError> {
        self.ask(layout::inventory).map_err(|error| layout::explain_look(error, &self.config))
    }

    fn foreign(&self) -> Result<Vec<DropItem>, TargetError> {
        self.ask(layout::foreign)
    }

    fn drop_all(&self) -> Result<Vec<DropItem>, TargetError> {
        layout::drop_all(&self.config)
    }

    fn own_rows(&self, spec: &DataSpec) -> Result<u64, TargetError> {
        self.ask(|connection| layout::own_rows::count(connection, spec))
    }

    fn own_places(&self, spec: &DataSpec) -> Result<Option<Vec<String>>, TargetError> {
        self.ask(|connection| layout::own_rows::places(connection, spec)).map(Some)
    }

    fn sweep_up(&self, spec: &DataSpec) -> Result<u64, TargetError> {
        self.ask(|connection| layout::own_rows::delete(connection, spec))
    }

    fn script(&self, statements: &[&str], told: Told<'_>) -> Result<(), TargetError> {
        let mut connection = open_unlimited(&self.config, "dyno script", "")?;
        for sql in statements {
            told(connection.simple(sql)?)?;
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

    fn filler(&self) -> Result<(Box<dyn Fill + '_>, BreakOff), TargetError> {
        layout::filler::open(&self.config)
    }

    fn find(&self, kind: ObjectKind, names: &[&str]) -> Result<Vec<DropItem>, TargetError> {
        let mut connection = open_unlimited(&self.config, "dyno script", "")?;
        let found = layout::filler::find(&mut connection, kind, names)?;
        connection.close();
        Ok(found)
    }

    fn note_deletions(&self, rows: u64) -> Result<(), TargetError> {
        self.ask(|connection| layout::deletions::add(connection, rows))
    }

    fn blocks(&self, blocks: &Blocks, _: Commit) -> Result<BlocksSql, TargetError> {
        Ok(ops::blocks(blocks))
    }
}

impl Proof for PgTarget {
    fn versions(&self, spec: &DataSpec, visit: &mut dyn FnMut(&RowVersion<'_>)) -> Result<(), TargetError> {
        self.ask(|connection| layout::versions(connection, spec, visit))
    }

    fn life(&self) -> Result<Option<ServerLife>, TargetError> {
        self.ask(identity::life).map(Some)
    }
}
