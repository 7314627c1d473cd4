//! Decides which run of a suite comes next, and concludes.

use dyno_analyze::conclusion::suite::TEST;
use dyno_analyze::conclusion::{self, Conclusion};
use dyno_plan::{Plan, sweep};
use dyno_record::{PointSetting, Status};
use dyno_workload::custom::suite::SuiteTestSessions;

use super::choice::Depth;
use super::order::{PlannedSuiteTest, SuiteCampaign, throughput};
use crate::campaign::{CampaignOutcome, CampaignStrategy, PlannedRun};
use crate::error::Error;
use crate::event::{CampaignEvent, RunEnded};

/// Distance between the point numbers of two tests, so that each point has a unique number.
const POINTS: u32 = 1_000_000;

/// Assumed number of steps of a ramp before one was completed.
const STEPS: usize = 6;

impl CampaignStrategy for SuiteCampaign {
    fn next(&mut self) -> Result<Option<PlannedRun>, Error> {
        let Some((at, sessions, repeat)) = self.next_step().filter(|_| self.runs_left != Some(0)) else {
            return Ok(None);
        };
        let setting = |key: &str, value: String| PointSetting { key: key.to_owned(), value };
        let test = self.tests[at].test.id.clone();
        Ok(Some(PlannedRun {
            plan: self.plan(at, sessions)?,
            point: at as u32 * POINTS + sessions,
            repeat,
            side: None,
            settings: vec![
                setting(TEST, test),
                setting(sweep::SESSIONS, self.total_sessions(at, sessions).to_string()),
            ],
        }))
    }

    /// The number of steps under rising load is unknown in advance. It is estimated from the tests that have
    /// ended.
    fn remaining_plans(&self) -> Option<Vec<&Plan>> {
        let steps = |test: &PlannedSuiteTest| test.done.values().map(Vec::len).sum::<usize>();
        let step_counts: Vec<usize> = self.tests.iter().map(steps).filter(|steps| *steps > 0).collect();
        let usual = match (self.choice.depth, step_counts.len()) {
            (Depth::Quick, _) => 2,
            (_, 0 | 1) => STEPS,
            // The last test may still be in progress.
            (_, ends) => step_counts[..ends - 1].iter().sum::<usize>().div_ceil(ends - 1),
        };
        let expected_steps = |test: &PlannedSuiteTest| match &test.test.load {
            SuiteTestSessions::Fixed(sessions) => sessions.len(),
            SuiteTestSessions::Ramp(1) => 1,
            SuiteTestSessions::Ramp(_) => usual,
        };
        let (next, _, _) = self.next_step()?;
        let left = self.tests.iter().enumerate().skip(next).filter_map(|(at, test)| {
            let finished = if at == next { steps(test) } else { 0 };
            let plan = test.plan.as_ref()?;
            // The plan of a load contains its maximum duration, which no load needs.
            let nominal = if test.is_load() { &self.base } else { plan };
            Some(std::iter::repeat_n(nominal, expected_steps(test).saturating_sub(finished).max(1)))
        });
        Some(left.flatten().collect())
    }

    /// A test that fails is not run with more sessions, and does not end the others.
    fn on_run_ended(
        &mut self,
        turn: &PlannedRun,
        finished_run: &RunEnded,
    ) -> Result<Option<CampaignEvent>, String> {
        let (at, sessions) = ((turn.point / POINTS) as usize, turn.point % POINTS);
        let measured = finished_run.record.as_deref().and_then(throughput);
        // A failed run does not count towards the limit of runs. Otherwise a part of a suite could consist
        // only of failures.
        if measured.is_some()
            || finished_run.record.as_ref().is_some_and(|record| record.status == Status::Invalid)
        {
            self.runs_left = self.runs_left.map(|left| left - 1);
        }
        let test = &mut self.tests[at];
        test.done.entry(sessions).or_default().push(measured);
        let failed = finished_run.record.as_ref().filter(|record| record.status == Status::Failed);
        let why = failed.map(|record| record.reasons.first().cloned().unwrap_or_default());
        if let Some(why) = finished_run.failed.clone().or(why) {
            test.failed.get_or_insert(why);
        }
        Ok(None)
    }

    fn can_skip_points(&self) -> bool {
        true
    }

    /// A run without a result ends the ramp of its test, so nothing needs to be done here.
    fn skip_point(&mut self, _: &PlannedRun) {}

    fn conclude(&mut self, outcome: &CampaignOutcome) -> (bool, Option<Conclusion>) {
        let page = |test: &PlannedSuiteTest| {
            let mut page = test.page.clone();
            page.failed.clone_from(&test.failed);
            page
        };
        let pages = self.tests.iter().map(page).collect();
        let (depth, looks) = (self.choice.depth.name(), self.looks_for_end());
        let left = self.next_step().is_some();
        let stopped = outcome.stopped.clone().or_else(|| left.then(|| "some of its runs remain".to_owned()));
        let is_done = stopped.is_none();
        let conclusion = conclusion::suite::conclusion(
            &outcome.id,
            stopped,
            depth,
            pages,
            &outcome.records,
            &self.calibrations,
            looks,
        );
        (is_done, Some(conclusion))
    }
}
