//! Runs an A/B test: two sides, interleaved as A B B A, so that drift affects both equally.

mod looks;
mod server_setting;
mod setting_changer;
mod setting_journal;
mod side;

use dyno_analyze::compare::{SIGNIFICANCE, rank::fewest_pairs};
use dyno_analyze::conclusion::{self, AbResult as AbFigures, AbSide, Conclusion};
use dyno_engine::LockPurpose;
use dyno_plan::Plan;
use dyno_record::{RunRecord, SweepKind};
use serde_json::json;

use crate::campaign::{self, CampaignOutcome, CampaignSpec, CampaignStrategy, PlannedRun};
use crate::campaign_context::CampaignContext;
use crate::compare::{ComparisonResult, ComparisonSettings};
use crate::error::Error;
use crate::event::{CampaignEvent, RunEnded, Warning};
use crate::ready::PreparedCampaign;
use crate::room::DataLoadPolicy;
use crate::targets::{self, ReachedTargets};
use looks::SequentialLooks;
pub use server_setting::ServerSettingSides;
use setting_changer::{SettingChanger, restore_left};
use setting_journal::SettingJournal;
pub use side::AbSidePlan;

/// How many pairs an A/B test makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AbPairs {
    /// At most so many: the test stops by itself once it is decided, or cannot be decided.
    AtMost(u32),
    /// Exactly so many: the sides are judged once, at the end.
    Fixed(u32),
}

impl AbPairs {
    /// The most pairs of the test.
    pub fn max(self) -> u32 {
        match self {
            Self::AtMost(pairs) | Self::Fixed(pairs) => pairs,
        }
    }

    /// The fewest pairs of the test, if no run fails.
    pub fn min(self) -> u32 {
        match self {
            Self::AtMost(pairs) => SequentialLooks::new(pairs).first(),
            Self::Fixed(pairs) => pairs,
        }
    }
}

/// What an A/B test runs.
#[derive(Debug, Clone)]
pub struct AbTest {
    pub sides: [AbSidePlan; 2],
    pub pairs: AbPairs,
    /// Settings of the server that differ between the sides.
    pub settings: Vec<ServerSettingSides>,
    /// The command that restarts the server, for settings that need it.
    pub restart_command: Option<String>,
}

/// Restores the settings that an interrupted A/B test changed on the target of `plan`; returns whether there
/// were any. `restart_command` replaces that of the test.
///
/// # Errors
/// The target cannot be reached, another process works on its settings, or a setting cannot be restored.
pub fn restore_settings(
    ctx: &CampaignContext<'_>,
    plan: &Plan,
    restart_command: Option<&str>,
) -> Result<bool, Error> {
    // Without a connection: most often there is nothing to restore.
    let password = targets::given_password(plan)?;
    let url = targets::open(ctx.engines, plan, &plan.target.url, password)?.url();
    if SettingJournal::open(&url)?.open.is_none() {
        return Ok(false);
    }
    let targets = ReachedTargets::reach(ctx, plan)?;
    restore_left(ctx, &targets.first().target, plan, restart_command)
}

/// Runs both sides in turn and compares them as `judge` says. The comparison is absent unless both sides have
/// valid runs.
///
/// # Errors
/// The target does not fit the plan, or the repository fails.
pub fn ab(
    ctx: &CampaignContext<'_>,
    test: AbTest,
    judge: &ComparisonSettings,
) -> Result<(CampaignOutcome, Option<ComparisonResult>), Error> {
    let AbTest { mut sides, pairs, settings, restart_command } = test;
    if settings.is_empty() {
        AbSidePlan::refuse_without_effect(&sides)?;
    }
    let side_plans = sides.each_ref().map(|side| side.plan.clone());
    if side_plans[0].data != side_plans[1].data {
        ctx.emit(CampaignEvent::Warning(Warning::SidesDiffer));
    }
    if (pairs.max() as usize) < fewest_pairs(SIGNIFICANCE) {
        ctx.emit(CampaignEvent::Warning(Warning::TooFewPairs(pairs.max())));
    }
    if !settings.is_empty() {
        restore_settings(ctx, &side_plans[0], restart_command.as_deref())?;
    }
    let loading = DataLoadPolicy::AsNeeded { replaceable: &side_plans, replace: false };
    let ready = PreparedCampaign::new(ctx, side_plans[0].clone(), LockPurpose::Run, loading, |_| Ok(()))?;
    let changer = match settings.is_empty() {
        true => None,
        false if side_plans[0].target != side_plans[1].target => {
            return Err(Error::usage(
                "the sides of a test with --setting have different targets",
                "name one",
            ));
        }
        false => Some(SettingChanger::open(&ready, settings, restart_command)?),
    };
    let mut options = Vec::new();
    for setting in changer.iter().flat_map(SettingChanger::settings) {
        sides.iter_mut().zip(0..).for_each(|(plan, side)| plan.add_setting(setting, side));
        options.push(setting.option());
    }
    let is_fixed = matches!(pairs, AbPairs::Fixed(_));
    let definition = json!({ "a": side_plans[0], "b": side_plans[1], "pairs": pairs.max(), "fixed": is_fixed, "settings": options });
    let frame = CampaignSpec {
        planned: Some(pairs.max() * 2),
        axes: vec![("side".to_owned(), "side".len())],
        sides: sides.iter().map(|side| (side.name, side.words())).collect(),
        ..CampaignSpec::new(SweepKind::Ab, definition)
    };
    let mut course = Ab {
        sides,
        turns: turns(pairs.max()).collect(),
        finished_runs: 0,
        records: Vec::new(),
        looks: (!is_fixed).then(|| SequentialLooks::new(pairs.max())),
        judge,
        answer: None,
        changer,
        options,
    };
    let outcome = campaign::run_campaign(ready, frame, &mut course);
    let restored = course.changer.as_mut().map_or(Ok(()), SettingChanger::restore);
    let outcome = outcome?;
    restored?;
    Ok((outcome, course.answer))
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
    /// The records of finished runs.
    records: Vec<RunRecord>,
    /// The looks after which the test may stop; absent where the number of pairs is fixed.
    looks: Option<SequentialLooks>,
    judge: &'a ComparisonSettings,
    /// The comparison; absent unless both sides have valid runs.
    answer: Option<ComparisonResult>,
    /// Changes the settings of the server; absent where the sides have none.
    changer: Option<SettingChanger<'a>>,
    /// The server settings, as the option takes them.
    options: Vec<String>,
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
        if self.looks.as_ref().is_some_and(SequentialLooks::has_stopped) {
            return Ok(None);
        }
        let Some(&(side, pair)) = self.turns.get(self.finished_runs) else { return Ok(None) };
        let AbSidePlan { name, plan, settings } = self.sides[side].clone();
        Ok(Some(PlannedRun { plan, point: side as u32 + 1, repeat: pair, side: Some(name), settings }))
    }

    fn prepare(&mut self, ready: &mut PreparedCampaign<'_>, turn: &PlannedRun) -> Result<(), Error> {
        match &mut self.changer {
            Some(changer) => changer.apply(ready, turn.point as usize - 1),
            None => Ok(()),
        }
    }

    fn remaining_plans(&self) -> Option<Vec<&Plan>> {
        Some(self.turns[self.finished_runs..].iter().map(|(side, _)| &self.sides[*side].plan).collect())
    }

    fn on_run_ended(
        &mut self,
        _: &PlannedRun,
        finished_run: &RunEnded,
    ) -> Result<Option<CampaignEvent>, String> {
        self.finished_runs += 1;
        self.records.extend(finished_run.record.iter().map(|record| record.as_ref().clone()));
        if self.finished_runs.is_multiple_of(2) {
            let sides = self.split(&self.records);
            if let Some(looks) = &mut self.looks {
                looks.look(self.finished_runs as u32 / 2, &sides, self.judge);
            }
        }
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
        let sequential = self.looks.as_ref().map(|looks| match &mut self.answer {
            Some(answer) => looks.conclude(answer, &side_records, self.judge),
            None => looks.result(),
        });
        // The conclusion names the steps after a test; those after a comparison of stored runs begin with a test.
        self.answer.iter_mut().for_each(|answer| answer.next.clear());
        let side = |i: usize| {
            let (name, runs): &(String, Vec<RunRecord>) = &side_records[i];
            AbSide { name: name.clone(), runs: runs.iter().map(|record| record.id.clone()).collect() }
        };
        let figures = AbFigures {
            a: side(0),
            b: side(1),
            gates: self.answer.as_ref().map(|answer| answer.gates.clone()).unwrap_or_default(),
            comparison: self.answer.as_ref().map(|answer| answer.comparison.clone()),
            sequential,
            server_settings: self.options.clone(),
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
}
