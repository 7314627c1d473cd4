//! What one transaction of a user's own workload does to the database: as the workload says, and learned before the run.

use std::sync::Arc;
use std::time::Duration;

use dyno_drive::{Lesson, Stop};
use dyno_engine::patience::Asked;
use dyno_engine::{Cancel, MonotonicClock, TargetError, TargetErrorKind};
use dyno_plan::{DataSpec, Plan};
use dyno_record::{Expected, Learned, Transactions};
use dyno_workload::own::Own;

use crate::event::{Event, Warning};
use crate::lead::Lead;
use crate::targets::{Reached, Targets};

/// How long learning may take, about; and as much of the warm-up at most.
const TIME_MAX: Duration = Duration::from_secs(2);
const SHARE_OF_WARMUP: u32 = 2;
/// How much longer it is waited for: somebody may hold a lock.
const PATIENCE: Duration = Duration::from_secs(8);
/// A transaction that takes longer is not learned: what is repeated of it would take longer than is waited for.
const LONGEST: Duration = Duration::from_secs(3);
/// The same where the server is asked after each of its requests, for which it is repeated more often.
const LONGEST_SINGLY: Duration = Duration::from_secs(1);
/// The same of a workload with definitions, whose commits by parallel workers nothing but learning tells.
const LONGEST_DEFINITION: Duration = Duration::from_secs(30);
/// How long definitions are waited for.
const DEFINITION_PATIENCE: Duration = Duration::from_secs(300);
/// How long it may take to end when it is stopped.
const END_MAX: Duration = Duration::from_secs(5);

/// What each class of each workload does: what the workload says, and what can be learned of it now, on one session alone. Nothing is learned where there
/// is no warm-up, which is the time for it, nor where nobody could tell the transactions' counters from others at once. Of several targets of one product and version
/// the first one teaches what is held against each.
pub(crate) fn of(
    lead: &Lead<'_>,
    targets: &Targets,
    specs: &[DataSpec],
    owns: &[Arc<Own>],
    plan: &Plan,
) -> Vec<Vec<Expected>> {
    (0..owns.len()).map(|place| of_one(lead, targets, specs, (owns, place), plan)).collect()
}

fn of_one(
    lead: &Lead<'_>,
    targets: &Targets,
    specs: &[DataSpec],
    (owns, place): (&[Arc<Own>], usize),
    plan: &Plan,
) -> Vec<Expected> {
    let mut all: Vec<Expected> = owns[place].expectations().collect();
    for (expected, learned) in all.iter_mut().zip(learn(lead, targets, specs, (owns, place), plan)) {
        expected.learned = learned;
    }
    all.retain(|expected| expected.learned.is_some() || !expected.said.is_empty());
    all
}

fn learn(
    lead: &Lead<'_>,
    targets: &Targets,
    specs: &[DataSpec],
    (owns, place): (&[Arc<Own>], usize),
    plan: &Plan,
) -> Vec<Option<Learned>> {
    let own = &owns[place];
    let ([reached, others @ ..], [spec, ..], false) = (&targets.all[..], specs, plan.run.warmup.0.is_zero())
    else {
        return Vec::new();
    };
    let not = |what: &str, why: String| lead.tell(Event::Warning(Warning::NotLearned(what.to_owned(), why)));
    let product = |one: &Reached| format!("{} {}", one.identity.product, one.identity.version);
    if let Some(other) = others.iter().find(|other| product(other) != product(reached)) {
        let (one, other) = (product(reached), product(other));
        not(
            own.name(),
            format!("what one does on {one} need not be what it does on {other}, and both are targets"),
        );
        return Vec::new();
    }
    let counting = &reached.identity.counting;
    if counting.unseen_s > 0.0 && !counting.at_edges {
        return Vec::new();
    }
    let defines = own.facts().defines;
    lead.tell(Event::Learning);
    let stop = Stop::default();
    let lesson = Lesson {
        target: Arc::clone(&reached.target),
        own: Arc::clone(own),
        seed: plan.workload.seed(),
        session: plan.sessions() + place as u32,
        commit: plan.workload.commit,
        protocol: plan.workload.protocol,
        connect: plan.workload.connect,
        clock: Arc::new(MonotonicClock::default()),
        time: TIME_MAX.min(plan.run.warmup.0 / SHARE_OF_WARMUP) / owns.len() as u32,
        singly: counting.transactions == Transactions::Statements,
        longest: match (defines, counting.transactions == Transactions::Statements) {
            (true, _) => LONGEST_DEFINITION,
            (false, true) => LONGEST_SINGLY,
            (false, false) => LONGEST,
        },
        stop: stop.clone(),
        spec: spec.clone(),
    };
    // An interrupted definition stays half done, such as an index that is made and not dropped again: the run would fail on it.
    let patience = if defines { DEFINITION_PATIENCE } else { TIME_MAX + PATIENCE };
    match asked(lead, lesson, &stop, patience) {
        Ok(learned) => {
            // What never comes is not missed.
            let one = |((expected, weight), one): ((Expected, u64), Result<Learned, String>)| match one {
                Err(_) if weight == 0 => None,
                one => one.map_err(|why| not(&expected.class, why)).ok(),
            };
            own.expectations().zip(own.weights()).zip(learned).map(one).collect()
        }
        Err(error) => {
            not(own.name(), error.to_string());
            Vec::new()
        }
    }
}

/// What each class was seen to do, or why it was not.
type Lessons = Vec<Result<Learned, String>>;

/// Learns, for as long as that is worth it. Nothing of it goes on afterwards: the run is not to count it.
fn asked(lead: &Lead<'_>, lesson: Lesson, stop: &Stop, patience: Duration) -> Result<Lessons, TargetError> {
    let asked = Asked::start(move || lesson.learn())
        .map_err(|error| TargetError::database(format!("no thread could be started: {error}")))?;
    asked.wait(patience, &lead.cancel).unwrap_or_else(|| {
        stop.now();
        asked.wait(END_MAX, &Cancel::default());
        Err(match lead.cancel.is_cancelled() {
            true => TargetError::new(TargetErrorKind::Cancelled, "stopped"),
            false => {
                let seconds = patience.as_secs();
                TargetError::new(
                    TargetErrorKind::Unreachable,
                    format!("it did not end within {seconds} s: somebody may hold a lock"),
                )
            }
        })
    })
}
