//! The target of an engine whose protocol other products speak, too.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use dyno_plan::{AwrObserveMode, Bytes, DataSpec, Plan, TargetUrl};
use dyno_record::{Advice, Identity, Snapshot};

use crate::column_statistics::{ColumnName, ColumnStatistics};
use crate::compatibility::{CompatibilityExtent, CompatibilityProfile};
use crate::executed_statements::{ObservedStatements, ParameterTypes, StatementQuery};
use crate::net::CONNECTED_TO;
use crate::sql_only::SqlOnlyTarget;
use crate::target::{HungSessionReport, pass_on};
use crate::{
    BlockData, BulkLoad, Capabilities, Claim, CounterScope, Counting, Dialect, DropItem, DurabilityProof,
    Holder, Lock, ObjectKind, Observer, PassiveObserver, Reporter, RequiredKey, RowCallback, Sampler,
    ServerLife, Session, SessionSetup, SettingControl, StatementDescription, StatementLimit,
    StatementSnapshot, TableWords, Target, TargetError, Value, WorkloadNeeds,
};

/// An engine's own target, which is used through [`ServerTarget`].
pub trait CompatibleTarget: Target {
    /// The version and the profile of the product behind the URL; absent for the engine's own product.
    ///
    /// # Errors
    /// The server cannot be reached, or refuses.
    fn recognize(&self) -> Result<Option<(String, &'static CompatibilityProfile)>, TargetError>;

    /// The same endpoint for a product that knows only protocol and SQL: its connections make no settings of
    /// the engine's own product.
    fn sql_only(&self) -> Box<dyn Target>;
}

/// A database server, of the engine's own product or of a compatible one.
///
/// It recognizes the product when it first opens a connection of its own, and only then. Sessions, samplers and
/// roles use what is known by then, because another connection would add transactions to the counters that are
/// compared with the sessions. Every process that opens a target recognizes the product for itself.
pub struct ServerTarget<T> {
    original: T,
    /// Whether service files, option files or the environment completed the plan's URL.
    is_filled_in: bool,
    product: OnceLock<RecognizedProduct>,
}

/// Which product a server is.
enum RecognizedProduct {
    Original,
    Changed(&'static CompatibilityProfile),
    SqlOnly(SqlOnlyTarget),
}

impl<T: CompatibleTarget> ServerTarget<T> {
    /// The target of the plan's `url`, without connecting.
    pub fn new(original: T, url: &TargetUrl) -> Self {
        Self { is_filled_in: original.url() != url.to_string(), original, product: OnceLock::new() }
    }

    /// The target for calls that connect.
    fn recognized(&self) -> Result<&dyn Target, TargetError> {
        if self.product.get().is_none() {
            let product = match self.original.recognize()? {
                None => RecognizedProduct::Original,
                Some((version, profile)) => match profile.extent {
                    CompatibilityExtent::Server(_) => RecognizedProduct::Changed(profile),
                    CompatibilityExtent::Sql(reason) => RecognizedProduct::SqlOnly(SqlOnlyTarget {
                        sql: self.original.sql_only(),
                        reason: format!("{}: {reason}", profile.product),
                        version,
                        profile,
                    }),
                },
            };
            // Another thread has recognized the same product if it was faster.
            let _ = self.product.set(product);
        }
        Ok(self.known())
    }

    /// The target for calls that must not connect on their own.
    fn known(&self) -> &dyn Target {
        match self.product.get() {
            Some(RecognizedProduct::SqlOnly(target)) => target,
            _ => &self.original,
        }
    }

    /// The profile of the original with changes.
    fn changed(&self) -> Option<&'static CompatibilityProfile> {
        match self.product.get() {
            Some(RecognizedProduct::Changed(profile)) => Some(profile),
            _ => None,
        }
    }

    /// Removes from what `observer` reads the counters that do not say what the original's say.
    fn withhold(&self, observer: Box<dyn Observer>) -> Box<dyn Observer> {
        match self.changed() {
            Some(profile) => Box::new(WithholdingObserver { observer, profile }),
            None => observer,
        }
    }
}

impl<T: CompatibleTarget> Target for ServerTarget<T> {
    pass_on! { self to self.known();
        fn engine() -> &'static str;
        fn url() -> String;
        fn capabilities() -> Capabilities;
        fn reporter(awr: AwrObserveMode) -> Result<Option<Box<dyn Reporter>>, TargetError>;
        fn observed_statements(query: &StatementQuery) -> Result<ObservedStatements, TargetError>;
        fn parameter_types(statements: &[&str]) -> Result<Vec<ParameterTypes>, TargetError>;
        fn column_statistics(schema: Option<&str>, columns: &[ColumnName]) -> Result<Vec<Option<ColumnStatistics>>, TargetError>;
        fn within(body: &mut dyn FnMut());
        fn set_sessions_elsewhere(elsewhere: bool);
        fn dialect() -> Dialect;
        fn session(setup: &SessionSetup) -> Result<Box<dyn Session>, TargetError>;
        fn sampler() -> Result<Box<dyn Sampler>, TargetError>;
        fn literal(value: Value<'_>) -> String;
        fn table_words() -> TableWords;
        fn block_data() -> Result<&dyn BlockData, TargetError>;
        fn bulk_load() -> Result<&dyn BulkLoad, TargetError>;
        fn durability_proof() -> Result<&dyn DurabilityProof, TargetError>;
        fn setting_control() -> Result<&dyn SettingControl, TargetError>;
    }

    pass_on! { self to self.recognized()?;
        fn lock(holder: &Holder, claim: Claim) -> Result<Lock, TargetError>;
        fn reads_only() -> Result<Option<String>, TargetError>;
        fn instance() -> Result<Option<CounterScope>, TargetError>;
        fn statement_limit() -> Result<Option<StatementLimit>, TargetError>;
        fn stuck() -> Result<Option<HungSessionReport>, TargetError>;
        fn native_block_size() -> Result<Bytes, TargetError>;
        fn script(statements: &[&str], on_rows: RowCallback<'_>) -> Result<(), TargetError>;
        fn explain(sql: &str) -> Result<Vec<String>, TargetError>;
        fn required_key() -> Result<Option<RequiredKey>, TargetError>;
        fn find(kind: ObjectKind, names: &[&str]) -> Result<Vec<DropItem>, TargetError>;
        fn life() -> Result<Option<ServerLife>, TargetError>;
    }

    fn identify(&self) -> Result<Identity, TargetError> {
        let mut identity = self.recognized()?.identify()?;
        if let Some(profile) = self.changed() {
            profile.product.clone_into(&mut identity.product);
        }
        if self.is_filled_in {
            identity.settings.insert(CONNECTED_TO.to_owned(), self.url());
        }
        Ok(identity)
    }

    fn preflight(&self, plan: &Plan, needs: &WorkloadNeeds) -> Result<Vec<Advice>, TargetError> {
        let mut advice = self.recognized()?.preflight(plan, needs)?;
        advice.extend(self.changed().map(CompatibilityProfile::note));
        Ok(advice)
    }

    fn observer(&self, spec: &DataSpec) -> Result<Box<dyn Observer>, TargetError> {
        Ok(self.withhold(self.recognized()?.observer(spec)?))
    }

    fn observer_of_names(
        &self,
        spec: &DataSpec,
        names: &BTreeSet<String>,
    ) -> Result<Box<dyn Observer>, TargetError> {
        Ok(self.withhold(self.recognized()?.observer_of_names(spec, names)?))
    }

    fn passive_observer(&self) -> Result<PassiveObserver, TargetError> {
        let PassiveObserver { observer, sampler } = self.recognized()?.passive_observer()?;
        Ok(PassiveObserver { observer: self.withhold(observer), sampler })
    }
}

/// An observer whose snapshots lack the counters that a product withholds.
struct WithholdingObserver {
    observer: Box<dyn Observer>,
    profile: &'static CompatibilityProfile,
}

impl Observer for WithholdingObserver {
    fn read(&mut self, tell: &mut dyn FnMut(Counting)) -> Result<Snapshot, TargetError> {
        let mut snapshot = self.observer.read(tell)?;
        self.profile.withhold(&mut snapshot);
        Ok(snapshot)
    }

    fn own_commits(&self) -> u64 {
        self.observer.own_commits()
    }

    fn statements(&mut self) -> Result<StatementSnapshot, TargetError> {
        self.observer.statements()
    }

    fn describe_statements(&mut self, keys: &[&str]) -> Result<Vec<StatementDescription>, TargetError> {
        self.observer.describe_statements(keys)
    }

    fn tables(&mut self) -> Result<Option<crate::table_counts::TableSnapshot>, TargetError> {
        self.observer.tables()
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn server_target_passes_on_every_method_of_target() {
        let methods = |text: &'static str| {
            let lines = text.lines().map(str::trim_start).filter_map(|line| line.strip_prefix("fn "));
            lines.filter_map(|line| line.split('(').next())
        };
        let (_, target) = include_str!("target.rs").split_once("pub trait Target").unwrap();
        let (_, passed_on) = include_str!("server_target.rs").split_once("Target for ServerTarget").unwrap();
        for method in methods(target) {
            assert!(methods(passed_on).any(|name| name == method), "a default of Target hides {method}");
        }
    }
}
