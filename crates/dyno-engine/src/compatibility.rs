//! Products that speak the protocol of another one: how they are recognized, and what they lack.
//!
//! A server that announces itself as PostgreSQL or MySQL may keep its rows elsewhere and count other things, or
//! nothing. A profile says so before a run: figures that the product lacks are absent with the reason, and roles
//! that it cannot fill are refused. Profiles follow the products' documentation; none of the products named in
//! [`CompatibilityExtent::Sql`] reports counters that Dyno could compare with its own.

use dyno_record::{Advice, Counter, Snapshot};

use crate::advice::note;

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

    /// Removes the counters that do not say what the original's say.
    pub(crate) fn withhold(&self, snapshot: &mut Snapshot) {
        let CompatibilityExtent::Server(groups) = self.extent else { return };
        for (counters, reason) in groups {
            for &counter in *counters {
                snapshot.set_absent(counter, format!("{}: {reason}", self.product));
            }
        }
    }

    /// The finding that the profile applies.
    pub(crate) fn note(&self) -> Advice {
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
}
