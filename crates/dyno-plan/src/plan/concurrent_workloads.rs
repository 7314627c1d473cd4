//! Workloads that run at the same time, each in its own sessions.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Plan, WorkloadSettings};
use crate::units::Rate;

/// The word in plans for the mix that the workload's own file names.
pub const OWN_MIX: &str = "own";

/// A transaction with its own rate: it runs in its own sessions, beside the other transactions of its workload.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OwnRate {
    /// Index of its workload: 0 for the first, then the background workloads.
    pub workload: usize,
    /// Its name in the workload's folder.
    pub transaction: String,
    /// Number of its own sessions.
    pub sessions: u32,
    /// Transactions per second over these sessions.
    pub rate: Rate,
}

/// One of the workloads of a run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WorkloadShare<'a> {
    /// The folder; absent for the block workload.
    pub folder: Option<&'a str>,
    /// The mix to run; absent for the workload's own mix.
    pub mix: Option<&'a str>,
    /// The only transaction to run, one with its own rate; absent for all transactions without a rate.
    pub only: Option<&'a str>,
    /// Number of its own sessions.
    pub sessions: u32,
    /// Operations per second over its sessions; absent for a closed loop or a schedule of phases.
    pub rate: Option<Rate>,
    /// Whether the plan's phases set its rate, which is true for the first workload only.
    pub phased: bool,
}

impl WorkloadShare<'_> {
    /// Whether its operations are due on a schedule.
    pub fn is_open(&self) -> bool {
        self.rate.is_some() || self.phased
    }
}

impl Plan {
    /// The workloads of a run: `workload.folder` or the block workload, the background workloads in the plan's order, then
    /// transactions with their own rates. Sessions are numbered in this order.
    pub fn workload_shares(&self) -> impl Iterator<Item = WorkloadShare<'_>> {
        self.named_shares().chain(self.workload.own_rates.iter().filter_map(|own| self.own_rate_share(own)))
    }

    fn own_rate_share<'a>(&'a self, own_rate: &'a OwnRate) -> Option<WorkloadShare<'a>> {
        let whole = self.named_shares().nth(own_rate.workload)?;
        let OwnRate { ref transaction, sessions, rate, .. } = *own_rate;
        Some(WorkloadShare { only: Some(transaction), sessions, rate: Some(rate), phased: false, ..whole })
    }

    /// The workloads that the plan names, without transactions whose rates are set in the folders.
    pub fn named_shares(&self) -> impl Iterator<Item = WorkloadShare<'_>> {
        let WorkloadSettings { folder, mix, rate, beside, .. } = &self.workload;
        let first = WorkloadShare {
            folder: folder.as_deref(),
            mix: mix.as_deref(),
            only: None,
            // A plan built by hand must not cause an overflow.
            sessions: self.data.schemas.saturating_mul(self.run.sessions_per_schema),
            rate: *rate,
            phased: !self.workload.phases.is_empty(),
        };
        std::iter::once(first).chain((0..beside.len()).map(|at| self.workload.additional_share(at)))
    }

    /// Sessions of the first workload, which `run.sessions_per_schema` and the sweep axis `sessions` set.
    pub fn leading_sessions(&self) -> u32 {
        self.workload_shares().next().map_or(0, |first| first.sessions)
    }

    /// The workload of session `number`, as an index in [`Plan::workload_shares`], and the session's index within it.
    pub fn share_of(&self, number: u32) -> (usize, u32) {
        let mut within = number;
        for (place, side) in self.workload_shares().enumerate() {
            match within.checked_sub(side.sessions) {
                None => return (place, within),
                Some(rest) => within = rest,
            }
        }
        (0, number)
    }

    /// Whether any session has a rate or a schedule of phases.
    pub fn has_rate(&self) -> bool {
        self.workload_shares().any(|side| side.is_open())
    }
}

impl WorkloadSettings {
    fn additional_share(&self, at: usize) -> WorkloadShare<'_> {
        let mix = self.beside_mix.get(at).map(String::as_str);
        WorkloadShare {
            folder: Some(&self.beside[at]),
            mix: mix.filter(|mix| *mix != OWN_MIX),
            only: None,
            sessions: self.beside_sessions.get(at).copied().unwrap_or(1),
            rate: self.beside_rate.get(at).copied().flatten(),
            phased: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{OwnRate, Rate};
    use crate::engine::fixture::nothing;
    use crate::read::{PlanSource, read};

    fn plan(sets: &[&str]) -> Result<crate::Plan, String> {
        let sets = sets.iter().map(ToString::to_string).collect();
        read(&PlanSource { sets, ..nothing() }).map_err(|error| error.to_string())
    }

    #[test]
    fn concurrent_workloads_have_separate_sessions() {
        let plan = plan(&[
            "target.url=sqlite:a.db",
            "workload.folder=shop",
            "run.sessions_per_schema=4",
            "workload.beside=shop,reports",
            "workload.beside_mix=writers,own",
            "workload.beside_sessions=2,1",
            "workload.beside_rate=200/s,off",
        ])
        .unwrap();
        let sides: Vec<_> = plan.workload_shares().map(|one| (one.folder, one.mix, one.sessions)).collect();
        assert_eq!(
            sides,
            [(Some("shop"), None, 4), (Some("shop"), Some("writers"), 2), (Some("reports"), None, 1)]
        );
        let rates: Vec<_> = plan.workload_shares().map(|one| one.rate.map(|rate| rate.0)).collect();
        assert_eq!(rates, [None, Some(200.0), None]);
        assert_eq!((plan.sessions(), plan.leading_sessions(), plan.has_rate()), (7, 4, true));
        let places: Vec<_> = (0..7).map(|number| plan.share_of(number)).collect();
        assert_eq!(places, [(0, 0), (0, 1), (0, 2), (0, 3), (1, 0), (1, 1), (2, 0)]);
    }

    #[test]
    fn transaction_with_a_rate_has_sessions_after_all_others() {
        let mut plan = plan(&[
            "target.url=sqlite:a.db",
            "workload.folder=shop",
            "run.sessions_per_schema=4",
            "workload.beside=bank",
            "workload.beside_mix=writers",
        ])
        .unwrap();
        let own_rate = |workload, transaction: &str, sessions| OwnRate {
            workload,
            transaction: transaction.into(),
            sessions,
            rate: Rate(9.0),
        };
        plan.workload.own_rates = vec![own_rate(0, "purge", 1), own_rate(1, "audit", 2)];
        let sides: Vec<_> =
            plan.workload_shares().map(|one| (one.folder, one.mix, one.only, one.sessions)).collect();
        assert_eq!(
            sides[2..],
            [(Some("shop"), None, Some("purge"), 1), (Some("bank"), Some("writers"), Some("audit"), 2)]
        );
        assert_eq!((plan.sessions(), plan.leading_sessions(), plan.share_of(7)), (8, 4, (3, 1)));
        assert_eq!(plan.named_shares().count(), 2);
    }

    #[test]
    fn phase_schedule_applies_only_to_first_workload() {
        let plan = plan(&[
            "target.url=sqlite:a.db",
            "workload.folder=shop",
            "workload.phases=hold 5/s 10s",
            "workload.beside=shop,shop",
            "workload.beside_rate=off,9/s",
        ]);
        let plan = plan.unwrap();
        let sides: Vec<_> = plan.workload_shares().map(|side| (side.phased, side.is_open())).collect();
        assert_eq!(sides, [(true, true), (false, false), (false, true)]);
    }

    #[test]
    fn concurrent_workload_lists_of_unequal_length_are_refused() {
        let base = ["target.url=sqlite:a.db", "workload.folder=shop"];
        let with = |more: &[&'static str]| plan(&[&base[..], more].concat());
        assert_eq!(with(&["workload.beside=shop", "workload.beside_rate=5/s"]).unwrap().sessions(), 2);
        for more in [
            &["workload.beside=shop", "workload.beside_sessions=2,3"][..],
            &["workload.beside=a,b", "workload.beside_mix=x"],
        ] {
            let words = with(more).unwrap_err();
            assert!(words.contains("workload.beside"), "{words}");
        }
    }
}
