//! Oracle as a [`Target`]: each method is handed to its room.

use dyno_plan::{Bytes, Commit, DataSpec, Plan, TargetUrl};
use dyno_record::{Advice, Identity};

use super::connect::ConnectConfig;
use super::connection::Connection;
use super::ops::{self, OraSession};
use super::{awr, counters, identity, layout, lock, sampler, seen, shelter, sql};
use dyno_engine::net::CONNECTED_TO;
use dyno_engine::pool::BreakOff;
use dyno_engine::seen::{Asked, Seen};
use dyno_engine::target::Stuck;
use dyno_engine::{
    Blocks, BlocksSql, Cancel, Capabilities, Claim, DataState, Dataset, Dialect, DropItem, Fill, Holder,
    Instance, LoadOptions, LoadReport, Lock, ObjectKind, Observer, Onlooker, OpenOptions, Progress, Proof,
    Reporter, RowVersion, Sampler, ServerLife, Session, SessionSetup, StatementLimit, TableWords, Target,
    TargetError, Told, Value, WorkloadNeeds, explain,
};

/// Loading connections of use at most: more than a server has processors for.
const LOAD_PARALLEL_MAX: u32 = 64;

/// One user's schema in an Oracle database.
#[derive(Debug)]
pub(super) struct OraTarget {
    /// The plan's URL, with the database that the environment names.
    url: TargetUrl,
    /// Whether the environment names it.
    is_filled_in: bool,
    config: ConnectConfig,
}

impl OraTarget {
    /// The target at `url`.
    pub(super) fn new(url: &TargetUrl, options: &OpenOptions) -> Result<Self, TargetError> {
        let config = ConnectConfig::from_url(url, options)?;
        let effective = ConnectConfig::effective_url(url)?;
        Ok(Self { is_filled_in: effective != *url, url: effective, config })
    }

    /// A connection for one question and its answer.
    fn ask<T>(&self, question: impl FnOnce(&Connection) -> Result<T, TargetError>) -> Result<T, TargetError> {
        let connection = Connection::open(&self.config, "check")?;
        let answer = question(&connection)?;
        connection.close();
        Ok(answer)
    }
}

impl Target for OraTarget {
    fn engine(&self) -> &'static str {
        super::SPEC.name
    }

    fn url(&self) -> String {
        self.url.to_string()
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            server_drive: true,
            duplex: false,
            pipelines: false,
            read_only_sessions: false,
            ephemeral: false,
            load_parallel_max: LOAD_PARALLEL_MAX,
        }
    }

    fn identify(&self) -> Result<Identity, TargetError> {
        let mut identity = self.ask(|connection| identity::identify(connection, &self.config))?;
        if self.is_filled_in {
            identity.settings.insert(CONNECTED_TO.to_owned(), self.url());
        }
        Ok(identity)
    }

    fn preflight(&self, plan: &Plan, needs: &WorkloadNeeds) -> Result<Vec<Advice>, TargetError> {
        self.ask(|connection| identity::preflight(connection, &self.config, plan, needs))
    }

    fn statement_limit(&self) -> Result<Option<StatementLimit>, TargetError> {
        self.ask(identity::statement_limit)
    }

    fn lock(&self, holder: &Holder, claim: Claim) -> Result<Lock, TargetError> {
        lock::take(&self.config, holder, claim, &self.url())
    }

    fn reporter(&self, awr: dyno_plan::Awr) -> Result<Option<Box<dyn Reporter>>, TargetError> {
        awr::open(&self.config, awr)
    }

    fn reads_only(&self) -> Result<Option<String>, TargetError> {
        self.ask(identity::reads_only)
    }

    fn instance(&self) -> Result<Option<Instance>, TargetError> {
        self.ask(|connection| identity::instance(connection, &self.config)).map(Some)
    }

    fn stuck(&self) -> Result<Option<Stuck>, TargetError> {
        sampler::stuck(&self.config)
    }

    fn dialect(&self) -> Dialect {
        Dialect {
            mark: |number| format!(":{number}"),
            from_nothing: " FROM dual",
            bytes_length: "UTL_RAW.LENGTH",
            snapshot: &["SET TRANSACTION READ ONLY"],
            call: Some(ops::called),
            prefix: "dyno_",
        }
    }

    fn session(&self, setup: &SessionSetup) -> Result<Box<dyn Session>, TargetError> {
        Ok(Box::new(OraSession::open(&self.config, setup)?))
    }

    fn seen(&self, asked: &Asked) -> Result<Seen, TargetError> {
        self.ask(|connection| seen::seen(connection, asked))
    }

    fn within(&self, body: &mut dyn FnMut()) {
        shelter::shelter(body);
    }

    fn observer(&self, _spec: &DataSpec) -> Result<Box<dyn Observer>, TargetError> {
        Ok(Box::new(counters::OraObserver::open(&self.config)?))
    }

    fn sampler(&self) -> Result<Box<dyn Sampler>, TargetError> {
        Ok(Box::new(sampler::OraSampler::open(&self.config)?))
    }

    fn onlooker(&self) -> Result<Onlooker, TargetError> {
        let observer = counters::OraObserver::open(&self.config)?;
        let sampler = sampler::OraSamplerOfAll::open(&self.config);
        Ok(Onlooker { observer: Box::new(observer), sampler: sampler.map(|sampler| Box::new(sampler) as _) })
    }
}

impl Dataset for OraTarget {
    fn block_size(&self, wish: Option<Bytes>) -> Result<Bytes, TargetError> {
        let tablespace = self.ask(|connection| layout::tablespace(connection, &self.config))?;
        layout::chosen_block_size(wish, &tablespace)
    }

    fn native_block_size(&self) -> Result<Bytes, TargetError> {
        let tablespace = self.ask(|connection| layout::tablespace(connection, &self.config))?;
        Ok(Bytes(tablespace.block_size))
    }

    fn survey(&self) -> Result<DataState, TargetError> {
        self.ask(layout::survey)
    }

    fn spot_check(&self, spec: &DataSpec, seed: u64) -> Result<Option<String>, TargetError> {
        self.ask(|connection| layout::spot_check(connection, spec, seed)).map(|()| None)
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
        self.ask(layout::inventory)
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

    fn blocks(&self, blocks: &Blocks, commit: Commit) -> Result<BlocksSql, TargetError> {
        Ok(ops::blocks(blocks, commit))
    }

    fn table_words(&self) -> TableWords {
        layout::filler::WORDS
    }

    fn filler(&self) -> Result<(Box<dyn Fill + '_>, BreakOff), TargetError> {
        layout::filler::open(&self.config)
    }

    fn find(&self, kind: ObjectKind, names: &[&str]) -> Result<Vec<DropItem>, TargetError> {
        self.ask(|connection| layout::filler::find(connection, kind, names))
    }

    fn script(&self, statements: &[&str], told: Told<'_>) -> Result<(), TargetError> {
        self.ask(|connection| {
            for sql in statements {
                // The driver wants to know which it is.
                let word = sql.split_whitespace().next().unwrap_or_default().to_ascii_uppercase();
                match word.as_str() {
                    "SELECT" | "WITH" => told(connection.rows(sql, &[])?)?,
                    _ => {
                        connection.run(sql, &[])?;
                        connection.commit()?;
                        told(Vec::new())?;
                    }
                }
            }
            Ok(())
        })
    }

    fn explain(&self, statement: &str) -> Result<Vec<String>, TargetError> {
        let chosen = format!("EXPLAIN PLAN FOR {statement}");
        explain::lines(self, &[&chosen, &sql::SHOW_PLAN.text()], |row| row.text(0).to_owned())
    }

    fn literal(&self, value: Value<'_>) -> String {
        match value {
            Value::Bytes(bytes) => format!("HEXTORAW('{}')", explain::hex(bytes)),
            _ => explain::literal(value),
        }
    }
}

impl Proof for OraTarget {
    fn versions(&self, spec: &DataSpec, visit: &mut dyn FnMut(&RowVersion<'_>)) -> Result<(), TargetError> {
        self.ask(|connection| layout::versions(connection, spec, visit))
    }

    fn life(&self) -> Result<Option<ServerLife>, TargetError> {
        self.ask(identity::life)
    }
}
