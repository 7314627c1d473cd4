//! Products that speak the protocol of another one: how they are recognized, and what they lack.
//!
//! A server that announces itself as PostgreSQL or MySQL may keep its rows elsewhere and count other things, or
//! nothing. A profile says so before a run: figures that the product lacks are absent with the reason, and roles
//! that it cannot fill are refused. Profiles follow the products' documentation; none of the products named in
//! [`CompatibilityExtent::Sql`] reports counters that Dyno could compare with its own.

use std::sync::OnceLock;

use dyno_record::{Advice, Counter, CountingRules, Identity, ServerProcesses, Snapshot};

use crate::advice::{note, ok};
use crate::error::TargetError;
use crate::lock::Lock;
use crate::observer::{Counting, Observer};

/// A product that speaks the protocol of another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CompatibilityProfile {
    /// Name of the product: `CockroachDB`.
    pub product: &'static str,
    /// A part of what the server says about itself, in lower case.
    pub recognized_by: &'static str,
    /// The names of its processes.
    pub processes: &'static [&'static str],
    /// How far it is compatible.
    pub extent: CompatibilityExtent,
}

/// How far a product is compatible with the one whose protocol it speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CompatibilityExtent {
    /// The original with changes. Everything works, except that these counters do not say what the original's say;
    /// each group has the reason.
    Server(&'static [(&'static [Counter], &'static str)]),
    /// Only protocol and SQL are compatible, for this reason. The product cannot hold test data of one row per
    /// block, and nothing but the sessions' own figures is measured.
    Sql(&'static str),
}

impl CompatibilityProfile {
    /// The profile, among `profiles`, of the server that says `text` about itself.
    pub fn recognize(profiles: &'static [Self], text: &str) -> Option<&'static Self> {
        let text = text.to_lowercase();
        profiles.iter().find(|profile| text.contains(profile.recognized_by))
    }

    /// Why only protocol and SQL are compatible; absent for a product that is the original with changes.
    pub fn only_sql_because(&self) -> Option<String> {
        match self.extent {
            CompatibilityExtent::Sql(reason) => Some(format!("{}: {reason}", self.product)),
            CompatibilityExtent::Server(_) => None,
        }
    }

    /// Removes the counters that do not say what the original's say.
    pub fn withhold(&self, snapshot: &mut Snapshot) {
        let CompatibilityExtent::Server(groups) = self.extent else { return };
        for (counters, reason) in groups {
            for &counter in *counters {
                snapshot.set_absent(counter, format!("{}: {reason}", self.product));
            }
        }
    }

    /// Describes a server of which only the version is known.
    pub fn identity(&self, version: &str) -> Identity {
        Identity {
            product: self.product.to_owned(),
            version: version.to_owned(),
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
            processes: ServerProcesses::Elsewhere(self.processes),
        }
    }

    /// The findings before a run on a server of which only the version is known.
    pub fn advice(&self, version: &str) -> Vec<Advice> {
        vec![ok("connect", format!("{} {version}", self.product)), self.note()]
    }

    /// The finding that the profile applies.
    pub fn note(&self) -> Advice {
        let found = match self.extent {
            CompatibilityExtent::Sql(reason) => format!(
                "{reason}; only the sessions' own figures are measured: no counters, no waits, no lock against other dynos"
            ),
            CompatibilityExtent::Server([]) => "all counters are those of the original".to_owned(),
            CompatibilityExtent::Server(groups) => {
                groups.iter().map(|(_, reason)| *reason).collect::<Vec<_>>().join("; ")
            }
        };
        let way_out = "read the product's own monitoring beside the run: dyno import metrics";
        note("compatibility", format!("{}: {found}", self.product), way_out)
    }

    /// The lock of a server without locks that Dyno could use; `url` names it in the caveat.
    pub fn no_lock(&self, url: &str) -> Lock {
        let product = self.product;
        Lock::impossible(format!(
            "{product} has no locks that Dyno could use: it cannot lock other dynos out of {url}"
        ))
    }

    /// An observer of a server whose counters cannot be compared with anything: all are absent.
    pub fn observer(&self) -> Box<dyn Observer> {
        Box::new(AbsentCounters(self.only_sql_because().unwrap_or_default()))
    }

    /// The error of a request for `what`, which needs more than protocol and SQL.
    pub fn refuse(&self, what: &str) -> TargetError {
        let reason = self.only_sql_because().unwrap_or_else(|| self.product.to_owned());
        TargetError::unsupported(format!("{what} is not possible: {reason}"))
            .hint("run a workload of SQL statements; `dyno init --workload shop` creates an example")
    }
}

/// Which product a target is, asked once.
#[derive(Debug, Default)]
pub struct RecognizedProduct(OnceLock<Option<(String, &'static CompatibilityProfile)>>);

impl RecognizedProduct {
    /// The server's version and profile, from `ask` the first time; absent for the original.
    ///
    /// # Errors
    /// The errors of `ask`.
    pub fn profile(
        &self,
        ask: impl FnOnce() -> Result<Option<(String, &'static CompatibilityProfile)>, TargetError>,
    ) -> Result<Option<(&str, &'static CompatibilityProfile)>, TargetError> {
        let known = match self.0.get() {
            Some(known) => known,
            None => {
                let answer = ask()?;
                self.0.get_or_init(|| answer)
            }
        };
        Ok(known.as_ref().map(|(version, profile)| (version.as_str(), *profile)))
    }

    /// Whether the product is known by now, and only protocol and SQL are compatible.
    pub fn is_only_sql(&self) -> bool {
        self.require_server("").is_err()
    }

    /// Refuses `what` if the product is known by now, and only protocol and SQL are compatible. It asks nothing:
    /// sessions open while counters are compared, and their target was identified before.
    ///
    /// # Errors
    /// [`crate::TargetErrorKind::Unsupported`] with the product and the reason.
    pub fn require_server(&self, what: &str) -> Result<(), TargetError> {
        match self.0.get() {
            Some(Some((_, profile))) if profile.only_sql_because().is_some() => Err(profile.refuse(what)),
            _ => Ok(()),
        }
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
}

#[cfg(test)]
mod tests {
    use dyno_record::CounterReading;

    use super::*;

    const PROFILES: [CompatibilityProfile; 2] = [
        CompatibilityProfile {
            product: "Else",
            recognized_by: "-else-",
            processes: &["elsed"],
            extent: CompatibilityExtent::Sql("rows are elsewhere"),
        },
        CompatibilityProfile {
            product: "Changed",
            recognized_by: "changed",
            processes: &["mysqld"],
            extent: CompatibilityExtent::Server(&[(&[Counter::RedoBytes], "the log is elsewhere")]),
        },
    ];

    #[test]
    fn profile_is_recognized_in_any_case_and_only_by_its_words() {
        let product =
            |text: &str| CompatibilityProfile::recognize(&PROFILES, text).map(|known| known.product);
        assert_eq!(product("8.0.11-ELSE-v7"), Some("Else"));
        assert_eq!(product("8.0 (Changed Server)"), Some("Changed"));
        assert_eq!(product("8.0.36"), None);
    }

    #[test]
    fn withheld_counter_is_absent_with_product_and_reason() {
        let mut snapshot = Snapshot::default();
        snapshot.set(Counter::RedoBytes, 4096);
        snapshot.set(Counter::Commits, 7);
        PROFILES[1].withhold(&mut snapshot);
        let absent = CounterReading::Absent("Changed: the log is elsewhere".to_owned());
        assert_eq!(snapshot.portable[&Counter::RedoBytes], absent);
        assert_eq!(snapshot.portable[&Counter::Commits], CounterReading::Value(7));
    }

    #[test]
    fn sql_only_product_has_no_counter_at_all() {
        let snapshot = PROFILES[0].observer().snapshot().unwrap();
        assert_eq!(snapshot.portable.len(), Counter::ALL.len());
        let absent = CounterReading::Absent("Else: rows are elsewhere".to_owned());
        assert!(snapshot.portable.values().all(|reading| *reading == absent));
    }
}
