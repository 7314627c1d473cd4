//! Searches the highest load that keeps latency limits.

use dyno_analyze::Limit;
use dyno_analyze::bracket::{self, Bracket, SearchRange, SearchStep, SearchTally};
use dyno_analyze::conclusion::{self, Conclusion};
use dyno_analyze::number;
use dyno_engine::LockPurpose;
use dyno_plan::{Engines, Plan, SweepSettings, sweep};
use dyno_record::{PointSetting, Status, SweepKind};
use serde_json::json;

use crate::campaign::{self, CampaignOutcome, CampaignSpec, CampaignStrategy, PlannedRun};
use crate::campaign_context::CampaignContext;
use crate::error::Error;
use crate::event::{CampaignEvent, RunEnded};
use crate::ready::PreparedCampaign;
use crate::room::DataLoadPolicy;

/// Number of inconclusive runs at one load after which the search gives up.
const INCONCLUSIVE_MAX: u32 = 2;

/// Length of the longest load in characters: `1000000/s`.
const VALUE_WIDTH: usize = 9;

/// The load setting that the search varies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SearchDimension {
    /// Number of sessions per schema.
    Sessions,
    /// Operations per second of an open loop.
    Rate,
}

impl SearchDimension {
    /// The name in results: `sessions` or `rate`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sessions => "sessions",
            Self::Rate => "rate",
        }
    }

    /// Default range of the search: lower end, upper end, and the accepted distance between the final bounds,
    /// %.
    pub fn range(self) -> (u64, u64, u32) {
        match self {
            Self::Sessions => (1, 1_024, 0),
            Self::Rate => (100, 1_000_000, 5),
        }
    }
}

/// Searches `range` for the highest load of `plan` that keeps `limits`.
///
/// # Errors
/// An end of the range gives an invalid plan, the target is unsuitable for a run, or the repository fails.
pub fn search(
    ctx: &CampaignContext<'_>,
    plan: Plan,
    limits: &[Limit],
    over: SearchDimension,
    range: SearchRange,
) -> Result<CampaignOutcome, Error> {
    let engines = ctx.engines.specs;
    let mut search =
        Search { engines, plan, limits, over, range, tally: SearchTally::new(), load: 0, inconclusive: 0 };
    let start_plans = [search.plan_at_load(range.from)?.0];
    // Checks the upper end, too, so that no plan is refused in the middle of the search.
    search.plan_at_load(range.max)?;
    let loading = DataLoadPolicy::AsNeeded { replaceable: &start_plans, replace: false };
    let ready = PreparedCampaign::new(ctx, start_plans[0].clone(), LockPurpose::Run, loading, |_| Ok(()))?;
    let SearchRange { from, max, .. } = range;
    let definition = json!({
        "plan": search.plan, "limits": search.limits(), "over": over.name(), "from": from, "max": max,
    });
    let axes = vec![(over.name().to_owned(), VALUE_WIDTH)];
    campaign::run_campaign(
        ready,
        CampaignSpec { axes, ..CampaignSpec::new(SweepKind::Search, definition) },
        &mut search,
    )
}

struct Search<'a> {
    engines: Engines,
    plan: Plan,
    limits: &'a [Limit],
    over: SearchDimension,
    range: SearchRange,
    tally: SearchTally,
    /// The current load, and the number of its inconclusive runs.
    load: u64,
    inconclusive: u32,
}

impl Search<'_> {
    /// Returns the plan for a load, and the setting that changes.
    fn plan_at_load(&self, load: u64) -> Result<(Plan, PointSetting), Error> {
        let (key, value) = match self.over {
            SearchDimension::Sessions => (sweep::SESSIONS, self.sessions(load).to_string()),
            SearchDimension::Rate => ("workload.rate", format!("{load}/s")),
        };
        let mut at = Plan { sweep: SweepSettings::default(), ..self.plan.clone() };
        sweep::set(&mut at, key, &value, self.engines)?;
        Ok((at, PointSetting { key: key.to_owned(), value }))
    }

    fn sessions(&self, load: u64) -> u64 {
        load * u64::from(self.plan.data.schemas)
    }

    fn limits(&self) -> Vec<String> {
        self.limits.iter().map(Limit::to_string).collect()
    }

    fn bracket(&self) -> Option<Bracket> {
        match bracket::next(self.range, &self.tally) {
            SearchStep::Found(bracket) => Some(bracket),
            SearchStep::Run(_) => None,
        }
    }
}

impl CampaignStrategy for Search<'_> {
    fn next(&mut self) -> Result<Option<PlannedRun>, Error> {
        let SearchStep::Run(load) = bracket::next(self.range, &self.tally) else { return Ok(None) };
        self.load = load;
        let (plan, setting) = self.plan_at_load(load)?;
        let repeat = self.tally.get(&load).map_or(0, |(_, runs)| *runs) + self.inconclusive + 1;
        let point = u32::try_from(load).unwrap_or(u32::MAX);
        Ok(Some(PlannedRun { plan, point, repeat, side: None, settings: vec![setting] }))
    }

    fn remaining_plans(&self) -> Option<Vec<&Plan>> {
        None
    }

    /// Counts a run for or against its load, if it is conclusive.
    fn on_run_ended(
        &mut self,
        _: &PlannedRun,
        finished_run: &RunEnded,
    ) -> Result<Option<CampaignEvent>, String> {
        let valid = finished_run.record.as_deref().filter(|record| record.status == Status::Valid);
        let judged = valid.and_then(|record| Some((record, dyno_analyze::keeps(self.limits, record)?)));
        let Some((record, kept)) = judged else {
            self.inconclusive += 1;
            if self.inconclusive < INCONCLUSIVE_MAX {
                return Ok(None);
            }
            let load = match self.over {
                SearchDimension::Sessions => number::sessions(self.sessions(self.load) as f64),
                SearchDimension::Rate => format!("{} ops/s", number::count(self.load)),
            };
            return Err(format!("{load} gave no result twice, so it cannot be judged"));
        };
        self.inconclusive = 0;
        let (held, runs) = self.tally.entry(self.load).or_insert((0, 0));
        *held += u32::from(kept);
        *runs += 1;
        let measured = self.limits.iter().map(|limit| limit.words(record)).collect();
        Ok(Some(CampaignEvent::Judged(kept, measured)))
    }

    fn can_skip_points(&self) -> bool {
        false
    }

    fn skip_point(&mut self, _: &PlannedRun) {}

    fn conclude(&mut self, outcome: &CampaignOutcome) -> (bool, Option<Conclusion>) {
        let (schemas, bracket) = (self.plan.data.schemas, self.bracket());
        let figures =
            conclusion::SearchResult::of(self.limits(), self.over.name(), schemas, &self.tally, bracket);
        let conclusion = conclusion::search::conclusion(&outcome.id, outcome.stopped.clone(), figures);
        (outcome.stopped.is_none(), Some(conclusion))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use dyno_analyze::fixture;
    use dyno_record::{PartOf, RunRecord};

    use super::*;

    fn search(limits: &[Limit], over: SearchDimension, max: u64) -> Search<'_> {
        let mut plan = fixture::plan("sqlite:/data/dyno.db");
        plan.data.schemas = 2;
        let range = SearchRange { from: 1, max, resolution_pct: 0, confirm: 1 };
        let tally = SearchTally::new();
        let engines = Engines(&[dyno_sqlite::ENGINE.spec]);
        Search { engines, plan, limits, over, range, tally, load: 0, inconclusive: 0 }
    }

    fn ended(record: Option<RunRecord>) -> RunEnded {
        let part = PartOf {
            id: "search-1".to_owned(),
            kind: SweepKind::Search,
            point: 1,
            repeat: 1,
            side: None,
            settings: Vec::new(),
        };
        RunEnded { number: 1, part, record: record.map(Arc::new), failed: None, skipped: false }
    }

    /// A valid run with this mean response time.
    fn record(mean_us: f64) -> RunRecord {
        let mut record = fixture::sqlite();
        record.ops.get_mut("all").unwrap().response_us.mean = Some(mean_us);
        record
    }

    #[test]
    fn search_ends_between_kept_and_exceeded_load() {
        let limits = ["mean <= 1ms".parse().unwrap()];
        let mut search = search(&limits, SearchDimension::Sessions, 64);
        let mut runs = Vec::new();
        while let Some(run) = search.next().unwrap() {
            let sessions = run.plan.sessions();
            assert_eq!(
                run.settings[0],
                PointSetting { key: "sessions".to_owned(), value: sessions.to_string() }
            );
            // Up to ten sessions keep the limit: five on each of the two schemas.
            let mean_us = if sessions <= 10 { 500.0 } else { 2_000.0 };
            let judged = search.on_run_ended(&run, &ended(Some(record(mean_us)))).unwrap();
            assert!(matches!(judged, Some(CampaignEvent::Judged(kept, _)) if kept == (sessions <= 10)));
            runs.push(search.load);
        }
        assert!(runs.len() < 12, "{runs:?}");
        let bracket = search.bracket().unwrap();
        assert_eq!((bracket.holds, bracket.breaks), (Some(5), Some(6)), "{runs:?}");
    }

    #[test]
    fn load_without_result_is_tried_twice_and_named() {
        let limits = ["mean <= 1ms".parse().unwrap()];
        let mut search = search(&limits, SearchDimension::Sessions, 64);
        let first = search.next().unwrap().unwrap();
        assert!(search.on_run_ended(&first, &ended(None)).unwrap().is_none());
        let second = search.next().unwrap().unwrap();
        assert_eq!((first.point, first.repeat, second.point, second.repeat), (1, 1, 1, 2));
        let invalid = RunRecord { status: Status::Invalid, ..record(500.0) };
        let problem = search.on_run_ended(&second, &ended(Some(invalid))).err().unwrap();
        assert_eq!(problem, "2 sessions gave no result twice, so it cannot be judged");
    }

    #[test]
    fn search_over_rate_sets_the_rate() {
        let limits = ["mean <= 1ms".parse().unwrap()];
        let search = search(&limits, SearchDimension::Rate, 1_000);
        let (plan, setting) = search.plan_at_load(250).unwrap();
        assert!(plan.has_rate());
        assert_eq!(setting, PointSetting { key: "workload.rate".to_owned(), value: "250/s".to_owned() });
        assert!(search.plan_at_load(0).is_err(), "no rate at all");
    }
}
