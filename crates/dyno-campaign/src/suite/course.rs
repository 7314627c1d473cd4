//! From one run of a suite to the next.

use dyno_analyze::conclusion::suite::TEST;
use dyno_analyze::conclusion::{self, Conclusion};
use dyno_plan::{Plan, sweep};
use dyno_record::{Setting, Status};
use dyno_workload::own::suite::Load;

use super::choice::Depth;
use super::order::{Order, Planned, throughput};
use crate::campaign::{Concluded, Course, Turn};
use crate::error::Error;
use crate::event::{Ended, Event};

/// Points of one test, so that each has a number of its own.
const POINTS: u32 = 1_000_000;

/// Steps of a ramp, before any was seen.
const STEPS: usize = 6;

impl Course for Order {
    fn next(&mut self) -> Result<Option<Turn>, Error> {
        let Some((at, sessions, repeat)) = self.next_step().filter(|_| self.runs_left != Some(0)) else {
            return Ok(None);
        };
        let setting = |key: &str, value: String| Setting { key: key.to_owned(), value };
        let test = self.tests[at].test.id.clone();
        Ok(Some(Turn {
            plan: self.plan(at, sessions)?,
            point: at as u32 * POINTS + sessions,
            repeat,
            side: None,
            settings: vec![
                setting(TEST, test),
                setting(sweep::SESSIONS, self.on_all(at, sessions).to_string()),
            ],
        }))
    }

    /// Of a test under rising load nobody knows how many steps it will have: as many as those before it.
    fn left(&self) -> Option<Vec<&Plan>> {
        let steps = |test: &Planned| test.done.values().map(Vec::len).sum::<usize>();
        let ended: Vec<usize> = self.tests.iter().map(steps).filter(|steps| *steps > 0).collect();
        let usual = match (self.choice.depth, ended.len()) {
            (Depth::Quick, _) => 2,
            (_, 0 | 1) => STEPS,
            // The last one may be under way.
            (_, ends) => ended[..ends - 1].iter().sum::<usize>().div_ceil(ends - 1),
        };
        let of = |test: &Planned| match &test.test.load {
            Load::Fixed(sessions) => sessions.len(),
            Load::Ramp(1) => 1,
            Load::Ramp(_) => usual,
        };
        let (next, _, _) = self.next_step()?;
        let left = self.tests.iter().enumerate().skip(next).filter_map(|(at, test)| {
            let done = if at == next { steps(test) } else { 0 };
            let plan = test.plan.as_ref()?;
            // The time in the plan of a load is the longest that it may take, and none takes that.
            let nominal = if test.is_load() { &self.base } else { plan };
            Some(std::iter::repeat_n(nominal, of(test).saturating_sub(done).max(1)))
        });
        Some(left.flatten().collect())
    }

    /// A test that fails is not run with more sessions, and ends no other.
    fn learn(&mut self, turn: &Turn, ended: &Ended) -> Result<Option<Event>, String> {
        let (at, sessions) = ((turn.point / POINTS) as usize, turn.point % POINTS);
        let measured = ended.record.as_deref().and_then(throughput);
        // What failed is not noted as done, so that it would be all that is ever done.
        if measured.is_some() || ended.record.as_ref().is_some_and(|record| record.status == Status::Invalid)
        {
            self.runs_left = self.runs_left.map(|left| left - 1);
        }
        let test = &mut self.tests[at];
        test.done.entry(sessions).or_default().push(measured);
        let failed = ended.record.as_ref().filter(|record| record.status == Status::Failed);
        let why = failed.map(|record| record.reasons.first().cloned().unwrap_or_default());
        if let Some(why) = ended.failed.clone().or(why) {
            test.failed.get_or_insert(why);
        }
        Ok(None)
    }

    fn skips(&self) -> bool {
        true
    }

    /// What gave no result ends the rise of its test.
    fn skip(&mut self, _: &Turn) {}

    fn conclude(&mut self, ended: &Concluded) -> (bool, Option<Conclusion>) {
        let page = |test: &Planned| {
            let mut page = test.page.clone();
            page.failed.clone_from(&test.failed);
            page
        };
        let pages = self.tests.iter().map(page).collect();
        let (depth, looks) = (self.choice.depth.name(), self.looks_for_end());
        let left = self.next_step().is_some();
        let stopped = ended.stopped.clone().or_else(|| left.then(|| "runs of it are left".to_owned()));
        let is_done = stopped.is_none();
        let conclusion = conclusion::suite::conclusion(
            &ended.id,
            stopped,
            depth,
            pages,
            &ended.records,
            &self.calibrations,
            looks,
        );
        (is_done, Some(conclusion))
    }
}
