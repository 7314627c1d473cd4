//! The target of a product of which only protocol and SQL are compatible.

use dyno_plan::{Bytes, DataSpec, Plan};
use dyno_record::{Advice, Counter, CountingRules, Identity, ServerProcesses, Snapshot};

use crate::advice::ok;
use crate::compatibility::CompatibilityProfile;
use crate::executed_statements::{ObservedStatements, StatementQuery};
use crate::target::pass_on;
use crate::{
    BlockData, BulkLoad, Capabilities, Claim, Counting, Dialect, DropItem, DurabilityProof, Holder, Lock,
    ObjectKind, Observer, PassiveObserver, RowCallback, Sampler, Session, SessionSetup, StatementDescription,
    StatementSnapshot, TableWords, Target, TargetError, Value, WorkloadNeeds,
};

/// One endpoint of such a product. The engine's target executes SQL there. Everything else is absent or refused,
/// with the reason.
pub(crate) struct SqlOnlyTarget {
    /// The engine's target, whose connections make no settings of the original.
    pub(crate) sql: Box<dyn Target>,
    /// What the server says about its version.
    pub(crate) version: String,
    pub(crate) profile: &'static CompatibilityProfile,
    /// The product, and why only protocol and SQL are compatible.
    pub(crate) reason: String,
}

impl SqlOnlyTarget {
    /// The error of a `request`, which needs more than protocol and SQL.
    fn refuse<R>(&self, request: &str) -> Result<R, TargetError> {
        Err(TargetError::unsupported(format!("{request} is not possible: {}", self.reason))
            .hint("run a workload of SQL statements; `dyno init --workload shop` creates an example"))
    }
}

impl Target for SqlOnlyTarget {
    pass_on! { self to self.sql;
        fn engine() -> &'static str;
        fn url() -> String;
        fn capabilities() -> Capabilities;
        fn within(body: &mut dyn FnMut());
        fn set_sessions_elsewhere(elsewhere: bool);
        fn session(setup: &SessionSetup) -> Result<Box<dyn Session>, TargetError>;
        fn script(statements: &[&str], on_rows: RowCallback<'_>) -> Result<(), TargetError>;
        fn explain(sql: &str) -> Result<Vec<String>, TargetError>;
        fn literal(value: Value<'_>) -> String;
        fn table_words() -> TableWords;
        fn find(kind: ObjectKind, names: &[&str]) -> Result<Vec<DropItem>, TargetError>;
        fn bulk_load() -> Result<&dyn BulkLoad, TargetError>;
    }

    fn identify(&self) -> Result<Identity, TargetError> {
        Ok(Identity {
            product: self.profile.product.to_owned(),
            version: self.version.clone(),
            block_size: 0,
            cache_bytes: None,
            direct_io: None,
            calibrated: None,
            settings: Default::default(),
            non_default: Vec::new(),
            not_durable: Vec::new(),
            data_path: None,
            redo_path: None,
            same_host: false,
            counting: CountingRules::default(),
            processes: ServerProcesses::Elsewhere(self.profile.processes),
        })
    }

    fn preflight(&self, _: &Plan, _: &WorkloadNeeds) -> Result<Vec<Advice>, TargetError> {
        let product = self.profile.product;
        Ok(vec![ok("connect", format!("{product} {}", self.version)), self.profile.note()])
    }

    fn lock(&self, _: &Holder, _: Claim) -> Result<Lock, TargetError> {
        let (product, url) = (self.profile.product, self.url());
        Ok(Lock::impossible(format!(
            "{product} has no locks that Dyno could use: it cannot lock other dynos out of {url}"
        )))
    }

    fn dialect(&self) -> Dialect {
        Dialect { snapshot: &["BEGIN"], ..self.sql.dialect() }
    }

    fn observer(&self, _: &DataSpec) -> Result<Box<dyn Observer>, TargetError> {
        Ok(Box::new(AbsentCounters(self.reason.clone())))
    }

    fn native_block_size(&self) -> Result<Bytes, TargetError> {
        Ok(Bytes(0))
    }

    fn observed_statements(&self, _: &StatementQuery) -> Result<ObservedStatements, TargetError> {
        self.refuse("reading its statements")
    }

    fn sampler(&self) -> Result<Box<dyn Sampler>, TargetError> {
        self.refuse("sampling waits")
    }

    fn passive_observer(&self) -> Result<PassiveObserver, TargetError> {
        self.refuse("watching it")
    }

    fn block_data(&self) -> Result<&dyn BlockData, TargetError> {
        self.refuse("test data of one row per block")
    }

    fn durability_proof(&self) -> Result<&dyn DurabilityProof, TargetError> {
        self.refuse("a proof of durability")
    }
}

/// Reports every counter as absent, with this reason.
struct AbsentCounters(String);

impl Observer for AbsentCounters {
    fn read(&mut self, tell: &mut dyn FnMut(Counting)) -> Result<Snapshot, TargetError> {
        tell(Counting::Asked);
        let mut snapshot = Snapshot::default();
        Counter::ALL.iter().for_each(|&counter| snapshot.set_absent(counter, self.0.as_str()));
        tell(Counting::Answered);
        Ok(snapshot)
    }

    fn own_commits(&self) -> u64 {
        0
    }

    fn statements(&mut self) -> Result<StatementSnapshot, TargetError> {
        Err(TargetError::unsupported(self.0.as_str()))
    }

    fn describe_statements(&mut self, _: &[&str]) -> Result<Vec<StatementDescription>, TargetError> {
        self.statements().map(|_| Vec::new())
    }
}
