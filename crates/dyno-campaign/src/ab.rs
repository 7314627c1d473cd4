//! Runs an A/B test: two sides, interleaved as A B B A, so that drift affects both equally.

use std::fmt;
use std::path::Path;

use dyno_analyze::compare::{SIGNIFICANCE, rank::fewest_pairs};
use dyno_analyze::conclusion::{self, AbResult as AbFigures, AbSide, Conclusion};
use dyno_engine::LockPurpose;
use dyno_plan::{Plan, PlanErrors, PlanFile, PlanSource, SweepSettings, keys, similar, sweep};
use dyno_record::{PointSetting, RunRecord, SweepKind};
use serde_json::json;

use crate::campaign::{self, CampaignOutcome, CampaignSpec, CampaignStrategy, PlannedRun};
use crate::campaign_context::CampaignContext;
use crate::compare::{ComparisonResult, ComparisonSettings};
use crate::error::Error;
use crate::event::{CampaignEvent, RunEnded, Warning};
use crate::ready::PreparedCampaign;
use crate::room::DataLoadPolicy;

/// One side of an A/B test, with its plan.
#[derive(Debug, Clone)]
pub struct AbSidePlan {
    name: &'static str,
    plan: Plan,
    settings: Vec<PointSetting>,
}

/// Runs each side `pairs` times and compares the sides as `judge` says. The comparison is absent unless both
/// sides have valid runs.
///
/// # Errors
/// The target does not fit the plan, or the repository fails.
pub fn ab(
    ctx: &CampaignContext<'_>,
    sides: [AbSidePlan; 2],
    pairs: u32,
    judge: &ComparisonSettings,
) -> Result<(CampaignOutcome, Option<ComparisonResult>), Error> {
    let side_plans = sides.each_ref().map(|side| side.plan.clone());
    if side_plans[0].data != side_plans[1].data {
        ctx.emit(CampaignEvent::Warning(Warning::SidesDiffer));
    }
    if (pairs as usize) < fewest_pairs(SIGNIFICANCE) {
        ctx.emit(CampaignEvent::Warning(Warning::TooFewPairs(pairs)));
    }
    let loading = DataLoadPolicy::AsNeeded { replaceable: &side_plans, replace: false };
    let ready = PreparedCampaign::new(ctx, side_plans[0].clone(), LockPurpose::Run, loading, |_| Ok(()))?;
    let frame = CampaignSpec {
        planned: Some(pairs * 2),
        axes: vec![("side".to_owned(), "side".len())],
        sides: sides.iter().map(|side| (side.name, side.words())).collect(),
        ..CampaignSpec::new(SweepKind::Ab, json!({ "a": side_plans[0], "b": side_plans[1], "pairs": pairs }))
    };
    let turns = turns(pairs).collect();
    let mut course = Ab { sides, turns, finished_runs: 0, judge, answer: None };
    let outcome = campaign::run_campaign(ready, frame, &mut course)?;
    Ok((outcome, course.answer))
}

impl AbSidePlan {
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Reads a side: the name of a plan file, or settings that override the plan in `file`; the settings of
    /// `source` override both.
    ///
    /// # Errors
    /// The text is neither, or the resulting plan is invalid.
    pub fn read(
        name: &'static str,
        text: &str,
        mut source: PlanSource,
        file: impl FnOnce() -> Result<Option<PlanFile>, PlanErrors>,
    ) -> Result<Self, Error> {
        let setting = |key: &str, value: &str| PointSetting { key: key.to_owned(), value: value.to_owned() };
        if Path::new(text).extension().is_some_and(|extension| extension == "toml") {
            source.file = Some(PlanFile::open(Path::new(text))?);
            return Ok(Self {
                name,
                plan: single(dyno_plan::read(&source)?),
                settings: vec![setting("plan", text)],
            });
        }
        let (mut sessions, mut settings) = (None, Vec::new());
        for pair in text.split(',').map(str::trim).filter(|pair| !pair.is_empty()) {
            let (key, value) = pair.split_once('=').ok_or_else(|| {
                Error::usage(
                    format!("--{name}: {pair:?} is not a setting"),
                    "write KEY=VALUE[,KEY=VALUE…], or the name of a plan file (.toml)",
                )
            })?;
            let (key, value) = (full_name(name, key.trim())?, value.trim());
            match key == sweep::SESSIONS {
                true => sessions = Some(value),
                false => source.sets.push(format!("{key}={value}")),
            }
            settings.push(setting(key, value));
        }
        source.file = file()?;
        let mut plan = single(dyno_plan::read(&source)?);
        if let Some(sessions) = sessions {
            sweep::set(&mut plan, sweep::SESSIONS, sessions, source.engines)
                .map_err(|error| Error::usage(format!("--{name}: {}", error.problem), error.hint))?;
        }
        Ok(Self { name, plan, settings })
    }

    fn words(&self) -> String {
        let pairs: Vec<_> = self.settings.iter().map(|s| format!("{} = {}", s.key, s.value)).collect();
        if pairs.is_empty() { "the plan unchanged".to_owned() } else { pairs.join(", ") }
    }
}

fn single(plan: Plan) -> Plan {
    Plan { sweep: SweepSettings::default(), ..plan }
}

/// Returns the full key of a short name; an error if there is no such key or several.
fn full_name(side: &str, name: &str) -> Result<&'static str, Error> {
    if name == sweep::SESSIONS {
        return Ok(sweep::SESSIONS);
    }
    let alike: Vec<&'static str> = match keys::find(name) {
        Some(key) => vec![key.path],
        None => keys::all().filter(|key| key.name() == name).map(|key| key.path).collect(),
    };
    match alike.as_slice() {
        [path] => Ok(path),
        [] => {
            let own_name = name.rsplit_once('.').map_or(name, |(_, own_name)| own_name);
            let hint = match similar::closest(own_name, keys::all().map(keys::PlanKey::name)) {
                Some(near) => format!("did you mean {near}?"),
                None => "see docs/reference/plan.md or dyno.toml".to_owned(),
            };
            Err(Error::usage(format!("--{side} {name}: unknown key"), hint))
        }
        several => {
            Err(Error::usage(format!("--{side}: several plan keys are named {name:?}"), several.join(" or ")))
        }
    }
}

impl fmt::Display for AbSidePlan {
    /// The side with its settings: `b (work_unit = 256)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.name, self.words())
    }
}

/// Side and pair of each run in the order `A B B A A B …`: each pair has both sides, and every second pair is
/// reversed.
pub fn turns(pairs: u32) -> impl Iterator<Item = (usize, u32)> {
    (1..=pairs).flat_map(|pair| if pair % 2 == 1 { [(0, pair), (1, pair)] } else { [(1, pair), (0, pair)] })
}

struct Ab<'a> {
    sides: [AbSidePlan; 2],
    /// Side and pair of each run, in order.
    turns: Vec<(usize, u32)>,
    finished_runs: usize,
    judge: &'a ComparisonSettings,
    /// The comparison; absent unless both sides have valid runs.
    answer: Option<ComparisonResult>,
}

impl Ab<'_> {
    /// Returns each side's name and its runs.
    fn split(&self, records: &[RunRecord]) -> Vec<(String, Vec<RunRecord>)> {
        let is_on_side = |record: &RunRecord, side: &AbSidePlan| {
            record.part_of.as_ref().and_then(|part| part.side.as_deref()) == Some(side.name)
        };
        let name_and_runs = |side: &AbSidePlan| {
            let side_runs = records.iter().filter(|record| is_on_side(record, side)).cloned().collect();
            (side.to_string(), side_runs)
        };
        self.sides.iter().map(name_and_runs).collect()
    }
}

impl CampaignStrategy for Ab<'_> {
    fn next(&mut self) -> Result<Option<PlannedRun>, Error> {
        let Some(&(side, pair)) = self.turns.get(self.finished_runs) else { return Ok(None) };
        let AbSidePlan { name, plan, settings } = self.sides[side].clone();
        Ok(Some(PlannedRun { plan, point: side as u32 + 1, repeat: pair, side: Some(name), settings }))
    }

    fn remaining_plans(&self) -> Option<Vec<&Plan>> {
        Some(self.turns[self.finished_runs..].iter().map(|(side, _)| &self.sides[*side].plan).collect())
    }

    fn on_run_ended(&mut self, _: &PlannedRun, _: &RunEnded) -> Result<Option<CampaignEvent>, String> {
        self.finished_runs += 1;
        Ok(None)
    }

    fn can_skip_points(&self) -> bool {
        false
    }

    fn skip_point(&mut self, _: &PlannedRun) {}

    fn conclude(&mut self, outcome: &CampaignOutcome) -> (bool, Option<Conclusion>) {
        let side_records = self.split(&outcome.records);
        let counts = side_records.iter().all(|(_, runs)| runs.iter().any(|run| run.status.counts()));
        self.answer = counts.then(|| self.judge.answers(&side_records).pop()).flatten();
        let side = |i: usize| {
            let (name, runs): &(String, Vec<RunRecord>) = &side_records[i];
            AbSide { name: name.clone(), runs: runs.iter().map(|record| record.id.clone()).collect() }
        };
        let figures = AbFigures {
            a: side(0),
            b: side(1),
            gates: self.answer.as_ref().map(|answer| answer.gates.clone()).unwrap_or_default(),
            comparison: self.answer.as_ref().map(|answer| answer.comparison.clone()),
        };
        let made = outcome.records.len();
        let stopped = outcome.stopped.as_ref().map(|_| format!("it was stopped after {made} runs"));
        (outcome.stopped.is_none(), Some(conclusion::ab::conclusion(&outcome.id, stopped, figures)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ab_sides_alternate_so_that_linear_drift_cancels() {
        let order: String = turns(4).map(|(side, _)| if side == 0 { 'A' } else { 'B' }).collect();
        assert_eq!(order, "ABBAABBA");
        // Over every even number of pairs both sides have the same sum of positions.
        let sum = |wanted| {
            turns(4).enumerate().filter(|(_, (side, _))| *side == wanted).map(|(i, _)| i).sum::<usize>()
        };
        assert_eq!(sum(0), sum(1));
    }

    #[test]
    fn short_key_names_match_one_key_or_fail() {
        assert_eq!(full_name("a", "work_unit").unwrap(), "workload.work_unit");
        assert_eq!(full_name("a", "sessions").unwrap(), "sessions");
        assert!(full_name("a", "seed").unwrap_err().to_string().contains("several"));
        assert!(full_name("a", "fly").is_err());
        let unknown = full_name("b", "updat_pct").unwrap_err().to_string();
        assert!(unknown.contains("--b updat_pct: unknown key"), "{unknown}");
    }
}
