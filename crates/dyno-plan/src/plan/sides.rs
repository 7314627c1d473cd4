//! Workloads that run at the same time, each in sessions of its own.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Plan, Workload};
use crate::units::Rate;

/// The word for the mix that a workload names itself.
pub const OWN_MIX: &str = "own";

/// A transaction with a rate of its own: in sessions of its own, beside the others of its workload.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OwnRate {
    /// The place of its workload: 0 for the first, then those beside it.
    pub workload: usize,
    /// Its name in the folder.
    pub transaction: String,
    /// Its sessions.
    pub sessions: u32,
    /// Transactions per second over them.
    pub rate: Rate,
}

/// One of the workloads of a run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Side<'a> {
    /// The folder; none for the classic method.
    pub folder: Option<&'a str>,
    /// Which of its mixes is run; none for the one that it names itself.
    pub mix: Option<&'a str>,
    /// The one of its transactions that is run, at a rate of its own; none for all that have none.
    pub only: Option<&'a str>,
    /// Its sessions.
    pub sessions: u32,
    /// Operations per second over its sessions; none for a closed loop, or a schedule of phases.
    pub rate: Option<Rate>,
    /// Whether its rate goes by the phases of the plan: that of the first workload does.
    pub phased: bool,
}

impl Side<'_> {
    /// Whether its operations are due by a schedule.
    pub fn is_open(&self) -> bool {
        self.rate.is_some() || self.phased
    }
}

impl Plan {
    /// The workloads of a run: that of `workload.folder`, or the classic method, those beside it in the order of the plan, and
    /// transactions with rates of their own. Sessions go by number: those of the first workload first.
    pub fn sides(&self) -> impl Iterator<Item = Side<'_>> {
        self.named_sides().chain(self.workload.own_rates.iter().filter_map(|own| self.alone(own)))
    }

    fn alone<'a>(&'a self, own: &'a OwnRate) -> Option<Side<'a>> {
        let whole = self.named_sides().nth(own.workload)?;
        let OwnRate { ref transaction, sessions, rate, .. } = *own;
        Some(Side { only: Some(transaction), sessions, rate: Some(rate), phased: false, ..whole })
    }

    /// The workloads that the plan itself names, without what their folders say of rates.
    pub fn named_sides(&self) -> impl Iterator<Item = Side<'_>> {
        let Workload { folder, mix, rate, beside, .. } = &self.workload;
        let first = Side {
            folder: folder.as_deref(),
            mix: mix.as_deref(),
            only: None,
            // Nothing of a plan that was made by hand may overflow.
            sessions: self.data.schemas.saturating_mul(self.run.sessions_per_schema),
            rate: *rate,
            phased: !self.workload.phases.is_empty(),
        };
        std::iter::once(first).chain((0..beside.len()).map(|at| self.workload.beside(at)))
    }

    /// Sessions of the first workload, which `run.sessions_per_schema` and the axis `sessions` of a sweep are about.
    pub fn leading_sessions(&self) -> u32 {
        self.sides().next().map_or(0, |first| first.sessions)
    }

    /// The workload of session `number`, its place in [`Plan::sides`], and its place among the sessions of that.
    pub fn side_of(&self, number: u32) -> (usize, u32) {
        let mut within = number;
        for (place, side) in self.sides().enumerate() {
            match within.checked_sub(side.sessions) {
                None => return (place, within),
                Some(rest) => within = rest,
            }
        }
        (0, number)
    }

    /// Whether any session works at a rate, or by a schedule of phases.
    pub fn has_rate(&self) -> bool {
        self.sides().any(|side| side.is_open())
    }
}

impl Workload {
    fn beside(&self, at: usize) -> Side<'_> {
        let mix = self.beside_mix.get(at).map(String::as_str);
        Side {
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
    fn each_workload_has_sessions_of_its_own() {
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
        let sides: Vec<_> = plan.sides().map(|one| (one.folder, one.mix, one.sessions)).collect();
        assert_eq!(
            sides,
            [(Some("shop"), None, 4), (Some("shop"), Some("writers"), 2), (Some("reports"), None, 1)]
        );
        let rates: Vec<_> = plan.sides().map(|one| one.rate.map(|rate| rate.0)).collect();
        assert_eq!(rates, [None, Some(200.0), None]);
        assert_eq!((plan.sessions(), plan.leading_sessions(), plan.has_rate()), (7, 4, true));
        let places: Vec<_> = (0..7).map(|number| plan.side_of(number)).collect();
        assert_eq!(places, [(0, 0), (0, 1), (0, 2), (0, 3), (1, 0), (1, 1), (2, 0)]);
    }

    #[test]
    fn a_transaction_with_a_rate_has_sessions_behind_all_others() {
        let mut plan = plan(&[
            "target.url=sqlite:a.db",
            "workload.folder=shop",
            "run.sessions_per_schema=4",
            "workload.beside=bank",
            "workload.beside_mix=writers",
        ])
        .unwrap();
        let own = |workload, transaction: &str, sessions| OwnRate {
            workload,
            transaction: transaction.into(),
            sessions,
            rate: Rate(9.0),
        };
        plan.workload.own_rates = vec![own(0, "purge", 1), own(1, "audit", 2)];
        let sides: Vec<_> = plan.sides().map(|one| (one.folder, one.mix, one.only, one.sessions)).collect();
        assert_eq!(
            sides[2..],
            [(Some("shop"), None, Some("purge"), 1), (Some("bank"), Some("writers"), Some("audit"), 2)]
        );
        assert_eq!((plan.sessions(), plan.leading_sessions(), plan.side_of(7)), (8, 4, (3, 1)));
        assert_eq!(plan.named_sides().count(), 2);
    }

    #[test]
    fn a_schedule_of_phases_is_the_first_ones() {
        let plan = plan(&[
            "target.url=sqlite:a.db",
            "workload.folder=shop",
            "workload.phases=hold 5/s 10s",
            "workload.beside=shop,shop",
            "workload.beside_rate=off,9/s",
        ]);
        let plan = plan.unwrap();
        let sides: Vec<_> = plan.sides().map(|side| (side.phased, side.is_open())).collect();
        assert_eq!(sides, [(true, true), (false, false), (false, true)]);
    }

    #[test]
    fn lists_of_other_lengths_are_refused() {
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
