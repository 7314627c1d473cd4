//! Present use: a running database looked at from outside, without any load of ours.
//!
//! Counters are read at the end of each interval, sessions are sampled in between, and both go into a record of its own kind. A
//! connection that is lost is opened again; what lies between the last reading before and the first behind it is a gap, as is an
//! interval in which counters started anew: of these nobody knows anything, so no figure holds a part of them.
//!
//! | file | job |
//! | --- | --- |
//! | `looker` | the thread that asks the server, which may hang |
//! | `known` | what was learned so far: rates, stretches without a gap, the series |
//! | `spread` | how a figure went, in bounded memory |
//! | `record` | the record of all of it |

mod known;
mod looker;
mod record;
mod spread;

use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use dyno_engine::patience::Asked;
use dyno_engine::{Cancel, Clock, Target, TargetError, TargetErrorKind};
use dyno_record::{Chunk, Identity, RunRecord, SeriesPoint, StartedRun};

use crate::complete::Cumulative;
use crate::far::{FarHost, FarThread};
use crate::thread::NO_THREAD;
use known::Known;
use looker::{Elsewhere, Looked, Looker};

/// How often the coordinator looks up while it waits.
const BEAT: Duration = Duration::from_millis(50);
/// The longest wait for counters that were asked for, s; and once the user has asked to stop.
const ANSWER_S_MAX: f64 = 30.0;
const ANSWER_STOPPED_S_MAX: f64 = 2.0;
/// The pause between two attempts to connect again, s.
const AGAIN_S: f64 = 1.0;
/// The longest wait for the first connection.
const OPEN_MAX: Duration = Duration::from_secs(60);

/// What is looked at, and how.
pub struct Present {
    /// What the repository noted of it.
    pub begun: StartedRun,
    /// The database.
    pub target: Arc<dyn Target>,
    /// What it is.
    pub identity: Identity,
    /// Named places on this host whose devices matter: `data`, `redo`.
    pub host_paths: Vec<(String, PathBuf)>,
    /// The database's machine, where it is looked at and is not this one.
    pub far: Option<Arc<FarHost>>,
    /// Spacing of the series, s.
    pub interval_s: f64,
    /// How long it is looked at, s.
    pub length_s: f64,
    /// Samples of sessions per second; 0 is none.
    pub samples_per_s: f64,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// The user's wish to stop.
    pub cancel: Cancel,
    /// The program's version.
    pub dyno_version: String,
    /// Points that the record's series has at most.
    pub series_points_max: usize,
}

/// What happens while a database is looked at.
#[derive(Debug, Clone, PartialEq)]
pub enum Seen {
    /// It has begun; what could not be read, each with its reason.
    Begun(Vec<String>),
    /// An interval is over.
    Interval(Box<Moment>),
    /// An interval as the series has it, which nothing changes any more.
    Final(Chunk),
    /// The connection is lost, or the server does not answer: why. It is tried again.
    Lost(String),
    /// It is there again, after so many seconds of which nothing is known.
    Back(f64),
    /// Counters started anew, for this reason; the interval has no figures.
    Anew(String),
}

/// An interval that is over.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Moment {
    /// Seconds since the beginning.
    pub elapsed_s: f64,
    /// How long it will be, s.
    pub total_s: f64,
    /// The last interval that is over, with its rates; nothing while the server is away or does not answer.
    pub point: Option<SeriesPoint>,
    /// What sessions waited for in it, class and event with the mean number of sessions, most first; at most four.
    pub waits: Vec<(String, f64)>,
    /// The same by class, all of them, most first; nothing where sessions are not sampled.
    pub classes: Option<Vec<(String, f64)>>,
    /// The server's cumulative counters as they were read last; nothing while it is away or does not answer.
    pub counters: Option<Cumulative>,
}

/// Looks on until the time is over or the user wants to stop, and returns the record. `hear` is told of what happens, on this
/// thread.
///
/// # Errors
/// It cannot be looked at from outside, it cannot be reached, or refuses. Once it has begun, every end has a record.
pub fn watch(present: &Present, hear: &mut dyn FnMut(Seen)) -> Result<RunRecord, TargetError> {
    let opening = open(present)?;
    let opened = opening.wait(OPEN_MAX, &present.cancel).unwrap_or_else(|| Err(no_answer(present)))?;
    // It outlives a connection to the database that is lost and opened again.
    let far = present.far.as_ref().map(FarThread::start).transpose().map_err(no_thread)?;
    let far = far.map(|far| Arc::new(Mutex::new(far)));
    let looker = Looker::start(opened, far.as_ref(), present).map_err(no_thread)?;
    looker.ask();
    let first = wait(present, &looker, &mut |_| ()).map_err(TargetError::database)?;
    let mut known = Known::begin(present, &looker, first);
    hear(Seen::Begun(known.unread()));
    let mut state = State::Looking(looker);
    let intervals = (present.length_s / present.interval_s).round().max(1.0) as u64;
    let mut next = 0;
    while next < intervals && !present.cancel.is_cancelled() {
        pause(present, known.tick_ns(next));
        if present.cancel.is_cancelled() {
            break;
        }
        state = match state {
            State::Looking(looker) => look(present, &mut known, looker, next, hear),
            State::Away(opening, since_ns) => {
                reopen((present, far.as_ref()), &mut known, opening, since_ns, hear)
            }
        };
        // A server that hung for a while has cost ticks: their intervals are in what was told, or in a gap.
        next = known.intervals_over(present.clock.now_ns()).max(next + 1);
        hear(Seen::Interval(Box::new(known.moment(present))));
        known.told().into_iter().for_each(|chunk| hear(Seen::Final(chunk)));
    }
    if let State::Looking(looker) = &state {
        // Whoever stops it wants to have what was seen up to that moment.
        if next < intervals {
            looker.ask();
            if let Ok(looked) = wait(present, looker, &mut |_| ()) {
                known.see(looked);
            }
        }
        known.leave(looker);
    }
    known.end(intervals.min(next)).into_iter().for_each(|chunk| hear(Seen::Final(chunk)));
    Ok(record::record(present, known, next < intervals))
}

/// The record of a watch that has begun: all that is known before anything is seen.
pub fn draft(present: &Present) -> RunRecord {
    record::draft(present)
}

enum State {
    Looking(Looker),
    /// Being opened again, since then.
    Away(Option<Asked<Result<dyno_engine::Onlooker, TargetError>>>, u64),
}

fn open(present: &Present) -> Result<Asked<Result<dyno_engine::Onlooker, TargetError>>, TargetError> {
    let target = Arc::clone(&present.target);
    Asked::start(move || target.onlooker()).map_err(no_thread)
}

/// One reading, and what it tells.
fn look(
    present: &Present,
    known: &mut Known,
    looker: Looker,
    next: u64,
    hear: &mut dyn FnMut(Seen),
) -> State {
    looker.ask();
    let answer = wait(present, &looker, &mut |waited_s| {
        let total_s = present.length_s;
        let elapsed_s = (next + 1) as f64 * present.interval_s + waited_s;
        hear(Seen::Interval(Box::new(Moment { elapsed_s, total_s, ..Moment::default() })));
    });
    match answer {
        Ok(looked) => {
            if let Some(why) = known.see(looked) {
                hear(Seen::Anew(why));
            }
            State::Looking(looker)
        }
        Err(why) => {
            known.lose(&looker, &why);
            hear(Seen::Lost(why));
            State::Away(open(present).ok(), present.clock.now_ns())
        }
    }
}

/// Whether it is there again.
fn reopen(
    (present, far): (&Present, Option<&Elsewhere>),
    known: &mut Known,
    opening: Option<Asked<Result<dyno_engine::Onlooker, TargetError>>>,
    since_ns: u64,
    hear: &mut dyn FnMut(Seen),
) -> State {
    let again = |opening: Option<_>| match opening {
        Some(opening) => State::Away(Some(opening), since_ns),
        // It has failed: tried again after a pause.
        None if (present.clock.now_ns() - since_ns) as f64 / 1e9 >= AGAIN_S => {
            State::Away(open(present).ok(), present.clock.now_ns())
        }
        None => State::Away(None, since_ns),
    };
    let Some(asked) = opening else { return again(None) };
    let Some(answer) = asked.wait(BEAT, &present.cancel) else { return again(Some(asked)) };
    let started = answer.ok().and_then(|opened| Looker::start(opened, far, present).ok());
    let Some(looker) = started else { return again(None) };
    looker.ask();
    match wait(present, &looker, &mut |_| ()) {
        Ok(looked) => {
            hear(Seen::Back(known.come_back(looked)));
            State::Looking(looker)
        }
        Err(_) => {
            known.leave(&looker);
            again(None)
        }
    }
}

/// The reading that was asked for, or why there is none; never waits without end. Tells now and then how long it has waited, s.
fn wait(present: &Present, looker: &Looker, tell: &mut dyn FnMut(f64)) -> Result<Looked, String> {
    let began_ns = present.clock.now_ns();
    let mut told_s = 0.0;
    loop {
        if let Some(answer) = looker.answer(BEAT) {
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

/// Waits until `deadline_ns`, or until the user wants to stop.
fn pause(present: &Present, deadline_ns: u64) {
    while present.clock.now_ns() < deadline_ns && !present.cancel.is_cancelled() {
        let beat_ns = present.clock.now_ns() + BEAT.as_nanos() as u64;
        present.clock.park_until(deadline_ns.min(beat_ns));
    }
}

fn no_thread(error: std::io::Error) -> TargetError {
    TargetError::new(TargetErrorKind::Database, format!("no thread could be started: {error}"))
        .hint(NO_THREAD)
        .cause(error)
}

fn no_answer(present: &Present) -> TargetError {
    match present.cancel.is_cancelled() {
        true => TargetError::new(TargetErrorKind::Cancelled, "stopped before it began"),
        false => TargetError::new(
            TargetErrorKind::Unreachable,
            format!("{} did not answer within {} s", present.target.url(), OPEN_MAX.as_secs()),
        ),
    }
}
