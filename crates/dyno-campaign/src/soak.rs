//! One setting for hours, and whether it lasts.

use dyno_analyze::conclusion::{self, Conclusion};
use dyno_engine::Work;
use dyno_plan::{Plan, Sweep};
use dyno_record::SweepKind;
use serde_json::json;

use crate::campaign::{self, Concluded, Course, Frame, Turn};
use crate::error::Error;
use crate::event::{Ended, Event};
use crate::lead::Lead;
use crate::ready::Ready;
use crate::room::Loading;

/// Does one long run of `plan`, and says whether throughput lasted.
///
/// # Errors
/// The plan or the target is not fit for a run, or the repository fails.
pub fn soak(lead: &Lead<'_>, plan: Plan) -> Result<Concluded, Error> {
    let plan = Plan { sweep: Sweep::default(), ..plan };
    let ready = Ready::new(lead, plan.clone(), Work::Run, Loading::Never, |_| Ok(()))?;
    let frame = Frame { planned: Some(1), ..Frame::new(SweepKind::Soak, json!({ "plan": plan })) };
    campaign::follow(ready, frame, &mut Soak { plan, begun: false })
}

struct Soak {
    plan: Plan,
    begun: bool,
}

impl Course for Soak {
    fn next(&mut self) -> Result<Option<Turn>, Error> {
        let turn = Turn { plan: self.plan.clone(), point: 1, repeat: 1, side: None, settings: Vec::new() };
        Ok((!std::mem::replace(&mut self.begun, true)).then_some(turn))
    }

    fn left(&self) -> Option<Vec<&Plan>> {
        None
    }

    fn learn(&mut self, _: &Turn, ended: &Ended) -> Result<Option<Event>, String> {
        ended.record.as_ref().map(|_| None).ok_or_else(|| "its run failed".to_owned())
    }

    fn skips(&self) -> bool {
        false
    }

    fn skip(&mut self, _: &Turn) {}

    fn conclude(&mut self, ended: &Concluded) -> (bool, Option<Conclusion>) {
        let stopped = ended.stopped.is_some().then(|| "it was stopped".to_owned());
        let conclude = |record| conclusion::soak::conclusion(&ended.id, stopped, record);
        (ended.stopped.is_none(), ended.records.last().map(conclude))
    }
}
