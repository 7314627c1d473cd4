//! Observes a running database from outside, without any load of Dyno.
//!
//! Counters are read at the end of each interval, sessions are sampled in between, and both go into a record
//! of its own kind. A lost connection is opened again. The time between the last reading before and the first
//! after a loss is a gap; so is an interval in which counters were reset. Gaps have no figures, and no other
//! figure includes them.
//!
//! | file | job |
//! | --- | --- |
//! | `query_thread` | the thread that queries the server, which may hang |
//! | `observed` | what was learned so far: rates, stretches without a gap, the series |
//! | `lock_log` | sessions that blocked others, and long transactions |
//! | `distribution` | the distribution of a figure over time, in bounded memory |
//! | `record` | the record of an observation |
//! | `job`, `event` | what is observed, and what happens meanwhile |

mod distribution;
mod event;
mod job;
mod lock_log;
mod observed;
mod query_thread;
mod record;

use std::sync::Arc;
use std::time::Duration;

use dyno_engine::bounded_query::PendingAnswer;
use dyno_engine::{TargetError, TargetErrorKind};
use dyno_observe::RemoteHostThread;
use dyno_record::RunRecord;
use parking_lot::Mutex;

pub use event::{ObservationEvent, ObservedInterval};
pub use job::ObservationJob;

use observed::ObservationState;
use query_thread::{ObservationReading, ObservationThread, SharedActivity, SharedRemoteHost};

/// The hint for a machine that cannot start another thread.
const NO_THREAD: &str = "raise the limit of processes (`ulimit -u`)";
/// How often the coordinator checks for events while it waits.
const BEAT: Duration = Duration::from_millis(50);
/// The longest wait for requested counters, s; and the same after the user asked to stop.
const ANSWER_S_MAX: f64 = 30.0;
const ANSWER_STOPPED_S_MAX: f64 = 2.0;
/// The pause between two attempts to reconnect, s.
const AGAIN_S: f64 = 1.0;
/// The longest wait for the statements and tables at the end.
const ACTIVITY_MAX: Duration = Duration::from_secs(5);
/// The longest wait for the first connection.
const OPEN_MAX: Duration = Duration::from_secs(60);

/// Observes until the time is over or the user asks to stop, and returns the record. `hear` receives the
/// events, on this thread.
///
/// # Errors
/// The target cannot be observed from outside, cannot be reached, or refuses. After the start, every end has
/// a record.
pub fn watch(
    present: &ObservationJob,
    hear: &mut dyn FnMut(ObservationEvent),
) -> Result<RunRecord, TargetError> {
    let opening = open(present)?;
    let opened = opening.wait(OPEN_MAX, &present.cancel).unwrap_or_else(|| Err(timeout_error(present)))?;
    // It survives a lost connection to the database.
    let remote =
        present.remote_host.as_ref().map(RemoteHostThread::start).transpose().map_err(thread_error)?;
    let remote_host = remote.map(|far| Arc::new(Mutex::new(far)));
    let activity = SharedActivity::default();
    let shared = (remote_host.as_ref(), &activity);
    let observation_thread = ObservationThread::start(opened, shared, present).map_err(thread_error)?;
    observation_thread.ask();
    let first = wait(present, &observation_thread, &mut |_| ()).map_err(TargetError::database)?;
    let mut observation = ObservationState::begin(present, &observation_thread, first);
    hear(ObservationEvent::Begun(observation.unread()));
    let mut state = State::Looking(observation_thread);
    let intervals = (present.length_s / present.interval_s).round().max(1.0) as u64;
    let mut next = 0;
    while next < intervals && !present.cancel.is_cancelled() {
        pause(present, observation.tick_ns(next));
        if present.cancel.is_cancelled() {
            break;
        }
        state = match state {
            State::Looking(observation_thread) => {
                take_reading(present, &mut observation, observation_thread, next, hear)
            }
            State::Away(opening, since_ns) => {
                reopen((present, shared), &mut observation, opening, since_ns, hear)
            }
        };
        // A server that hung has cost ticks: their intervals are in earlier reports, or in a gap.
        next = observation.intervals_over(present.clock.now_ns()).max(next + 1);
        hear(ObservationEvent::Interval(Box::new(observation.latest_interval(present))));
        observation.take_chunk().into_iter().for_each(|chunk| hear(ObservationEvent::Final(chunk)));
    }
    if let State::Looking(observation_thread) = &state {
        // On a stop, the user wants everything that was observed up to that moment.
        if next < intervals {
            observation_thread.ask();
            if let Ok(looked) = wait(present, observation_thread, &mut |_| ()) {
                observation.add_reading(looked);
            }
        }
        if let Some((statements, tables)) = observation_thread.activity(ACTIVITY_MAX) {
            (observation.statements, observation.tables) = (Some(statements), tables);
        }
        observation.add_cost(observation_thread);
    }
    observation.end(intervals.min(next)).into_iter().for_each(|chunk| hear(ObservationEvent::Final(chunk)));
    Ok(record::record(present, observation, next < intervals))
}

/// The record of an observation that has begun: all that is known before the first reading.
pub fn draft(present: &ObservationJob) -> RunRecord {
    record::draft(present)
}

enum State {
    Looking(ObservationThread),
    /// Trying to reconnect, since then.
    Away(Option<PendingAnswer<Result<dyno_engine::PassiveObserver, TargetError>>>, u64),
}

fn open(
    present: &ObservationJob,
) -> Result<PendingAnswer<Result<dyno_engine::PassiveObserver, TargetError>>, TargetError> {
    let target = Arc::clone(&present.target);
    PendingAnswer::start(move || target.passive_observer()).map_err(thread_error)
}

/// Takes one reading, and reports the result.
fn take_reading(
    present: &ObservationJob,
    known: &mut ObservationState,
    observation_thread: ObservationThread,
    next: u64,
    hear: &mut dyn FnMut(ObservationEvent),
) -> State {
    observation_thread.ask();
    let answer = wait(present, &observation_thread, &mut |waited_s| {
        let total_s = present.length_s;
        let elapsed_s = (next + 1) as f64 * present.interval_s + waited_s;
        hear(ObservationEvent::Interval(Box::new(ObservedInterval {
            elapsed_s,
            total_s,
            ..ObservedInterval::default()
        })));
    });
    match answer {
        Ok(looked) => {
            if let Some(why) = known.add_reading(looked) {
                hear(ObservationEvent::Anew(why));
            }
            State::Looking(observation_thread)
        }
        Err(why) => {
            known.note_lost(&observation_thread, &why);
            hear(ObservationEvent::Lost(why));
            State::Away(open(present).ok(), present.clock.now_ns())
        }
    }
}

/// Whether the connection is open again.
fn reopen(
    (present, shared): (&ObservationJob, (Option<&SharedRemoteHost>, &SharedActivity)),
    known: &mut ObservationState,
    opening: Option<PendingAnswer<Result<dyno_engine::PassiveObserver, TargetError>>>,
    since_ns: u64,
    hear: &mut dyn FnMut(ObservationEvent),
) -> State {
    let again = |opening: Option<_>| match opening {
        Some(opening) => State::Away(Some(opening), since_ns),
        // The attempt has failed: retry after a pause.
        None if (present.clock.now_ns() - since_ns) as f64 / 1e9 >= AGAIN_S => {
            State::Away(open(present).ok(), present.clock.now_ns())
        }
        None => State::Away(None, since_ns),
    };
    let Some(asked) = opening else { return again(None) };
    let Some(answer) = asked.wait(BEAT, &present.cancel) else { return again(Some(asked)) };
    let started = answer.ok().and_then(|opened| ObservationThread::start(opened, shared, present).ok());
    let Some(observation_thread) = started else { return again(None) };
    observation_thread.ask();
    match wait(present, &observation_thread, &mut |_| ()) {
        Ok(looked) => {
            hear(ObservationEvent::Back(known.resume(looked.taken)));
            State::Looking(observation_thread)
        }
        Err(_) => {
            known.add_cost(&observation_thread);
            again(None)
        }
    }
}

/// The requested reading, or why there is none; the wait is limited. Reports now and then how long it has
/// waited, s.
fn wait(
    present: &ObservationJob,
    observation_thread: &ObservationThread,
    tell: &mut dyn FnMut(f64),
) -> Result<ObservationReading, String> {
    let began_ns = present.clock.now_ns();
    let mut told_s = 0.0;
    loop {
        if let Some(answer) = observation_thread.answer(BEAT) {
            return answer;
        }
        let waited_s = (present.clock.now_ns() - began_ns) as f64 / 1e9;
        let most_s = if present.cancel.is_cancelled() { ANSWER_STOPPED_S_MAX } else { ANSWER_S_MAX };
        if waited_s >= most_s {
            return Err(format!("the database did not answer within {most_s} s"));
        }
        if waited_s - told_s >= present.interval_s.max(1.0) {
            told_s = waited_s;
            tell(waited_s);
        }
    }
}

/// Waits until `deadline_ns`, or until the user asks to stop.
fn pause(present: &ObservationJob, deadline_ns: u64) {
    while present.clock.now_ns() < deadline_ns && !present.cancel.is_cancelled() {
        let beat_ns = present.clock.now_ns() + BEAT.as_nanos() as u64;
        present.clock.park_until(deadline_ns.min(beat_ns));
    }
}

fn thread_error(error: std::io::Error) -> TargetError {
    TargetError::new(TargetErrorKind::Database, format!("no thread could be started: {error}"))
        .hint(NO_THREAD)
        .cause(error)
}

fn timeout_error(present: &ObservationJob) -> TargetError {
    match present.cancel.is_cancelled() {
        true => TargetError::new(TargetErrorKind::Cancelled, "stopped before it began"),
        false => TargetError::new(
            TargetErrorKind::Unreachable,
            format!("{} did not answer within {} s", present.target.url(), OPEN_MAX.as_secs()),
        ),
    }
}
