//! Implements [`Target`] for Oracle by calling the crate's modules.

use dyno_plan::{Bytes, Commit, DataSpec, Plan, TargetUrl};
use dyno_record::{Advice, Identity};

use super::connect::OracleConnectConfig;
use super::connection::OracleConnection;
use super::ops::{self, OracleSession};
use super::{awr, counters, driver_panics, executed_statements, identity, layout, lock, sampler, sql};
use dyno_engine::executed_statements::{ObservedStatements, StatementQuery};
use dyno_engine::net::CONNECTED_TO;
use dyno_engine::pool::InterruptFn;
use dyno_engine::target::HungSessionReport;
use dyno_engine::{
    BlockData, BlockSessionConfig, BlocksSql, BulkLoad, Cancel, Capabilities, Claim, CounterScope, DataState,
    Dialect, DropItem, DurabilityProof, Fill, Holder, LoadOptions, LoadProgressSink, LoadReport, Lock,
    ObjectKind, Observer, OpenOptions, PassiveObserver, Reporter, RowCallback, RowVersion, Sampler,
    ServerLife, Session, SessionSetup, StatementLimit, TableWords, Target, TargetError, Value, WorkloadNeeds,
    explain, retry_read,
};

/// The most connections that speed up a load: more than a server has processors.
const LOAD_PARALLEL_MAX: u32 = 64;

/// One user's schema in an Oracle database.
#[derive(Debug)]
pub(super) struct OracleTarget {
    /// The plan's URL, completed with the database from the environment.
    url: TargetUrl,
    /// Whether the environment named the database.
    is_filled_in: bool,
    config: OracleConnectConfig,
}

impl OracleTarget {
    pub(super) fn new(url: &TargetUrl, options: &OpenOptions) -> Result<Self, TargetError> {
        let config = OracleConnectConfig::from_url(url, options)?;
        let effective = OracleConnectConfig::effective_url(url)?;
        Ok(Self { is_filled_in: effective != *url, url: effective, config })
    }

    /// Opens a connection for one question and returns the answer.
    fn ask<T>(
        &self,
        question: impl FnOnce(&OracleConnection) -> Result<T, TargetError>,
    ) -> Result<T, TargetError> {
        let connection = OracleConnection::open(&self.config, "check")?;
        let answer = question(&connection)?;
        connection.close();
        Ok(answer)
    }
}

impl Target for OracleTarget {
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

    fn reporter(&self, awr: dyno_plan::AwrObserveMode) -> Result<Option<Box<dyn Reporter>>, TargetError> {
        awr::open(&self.config, awr)
    }

    fn reads_only(&self) -> Result<Option<String>, TargetError> {
        self.ask(identity::reads_only)
    }

    fn instance(&self) -> Result<Option<CounterScope>, TargetError> {
        self.ask(|connection| identity::instance(connection, &self.config)).map(Some)
    }

    fn stuck(&self) -> Result<Option<HungSessionReport>, TargetError> {
        sampler::stuck(&self.config)
    }

    fn dialect(&self) -> Dialect {
        Dialect {
            mark: |number| format!(":{number}"),
            from_nothing: " FROM dual",
            bytes_length: "UTL_RAW.LENGTH",
            snapshot: &["SET TRANSACTION READ ONLY"],
            call: Some(ops::call_block),
            prefix: "dyno_",
        }
    }

    fn session(&self, setup: &SessionSetup) -> Result<Box<dyn Session>, TargetError> {
        Ok(Box::new(OracleSession::open(&self.config, setup)?))
    }

    fn observed_statements(&self, request: &StatementQuery) -> Result<ObservedStatements, TargetError> {
        self.ask(|connection| executed_statements::seen(connection, request))
    }

    fn within(&self, body: &mut dyn FnMut()) {
        driver_panics::run_while_unwinding(body);
    }

    fn observer(&self, _spec: &DataSpec) -> Result<Box<dyn Observer>, TargetError> {
        Ok(Box::new(counters::OracleObserver::open(&self.config)?))
    }

    fn sampler(&self) -> Result<Box<dyn Sampler>, TargetError> {
        Ok(Box::new(sampler::OracleSampler::open(&self.config)?))
    }

    fn passive_observer(&self) -> Result<PassiveObserver, TargetError> {
        let observer = counters::OracleObserver::open(&self.config)?;
        let sampler = sampler::OracleServerSampler::open(&self.config);
        Ok(PassiveObserver {
            observer: Box::new(observer),
            sampler: sampler.map(|sampler| Box::new(sampler) as _),
        })
    }

    fn native_block_size(&self) -> Result<Bytes, TargetError> {
        let tablespace = self.ask(|connection| layout::tablespace(connection, &self.config))?;
        Ok(Bytes(tablespace.block_size))
    }

    fn table_words(&self) -> TableWords {
        layout::filler::WORDS
    }

    fn find(&self, kind: ObjectKind, names: &[&str]) -> Result<Vec<DropItem>, TargetError> {
        self.ask(|connection| layout::filler::find(connection, kind, names))
    }

    fn script(&self, statements: &[&str], on_rows: RowCallback<'_>) -> Result<(), TargetError> {
        self.ask(|connection| {
            for sql in statements {
                // The driver must know the kind of statement.
                let word = sql.split_whitespace().next().unwrap_or_default().to_ascii_uppercase();
                match word.as_str() {
                    "SELECT" | "WITH" => on_rows(connection.rows(sql, &[])?)?,
                    _ => {
                        connection.run(sql, &[])?;
                        connection.commit()?;
                        on_rows(Vec::new())?;
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

    fn life(&self) -> Result<Option<ServerLife>, TargetError> {
        self.ask(identity::life)
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

impl BlockData for OracleTarget {
    fn block_size(&self, wish: Option<Bytes>) -> Result<Bytes, TargetError> {
        let tablespace = self.ask(|connection| layout::tablespace(connection, &self.config))?;
        layout::chosen_block_size(wish, &tablespace)
    }

    fn survey(&self) -> Result<DataState, TargetError> {
        retry_read(|| self.ask(layout::survey))
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

    fn blocks(&self, blocks: &BlockSessionConfig, commit: Commit) -> Result<BlocksSql, TargetError> {
        Ok(ops::blocks(blocks, commit))
    }
}

impl BulkLoad for OracleTarget {
    fn filler(&self) -> Result<(Box<dyn Fill + '_>, InterruptFn), TargetError> {
        layout::filler::open(&self.config)
    }
}

impl DurabilityProof for OracleTarget {
    fn versions(&self, spec: &DataSpec, visit: &mut dyn FnMut(&RowVersion<'_>)) -> Result<(), TargetError> {
        self.ask(|connection| layout::versions(connection, spec, visit))
    }
}
