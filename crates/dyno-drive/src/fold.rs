//! Results of many sessions added up to one of each target: what a host hands in does not grow with its sessions, and a record says the
//! same.
//!
//! Everything that a record says of sessions is a sum, a first or a last moment. Of the marks only sessions count that have one at
//! each edge; so the sum of these marks, and what may lie beyond them, stand for all of them.

use std::collections::BTreeMap;

use dyno_record::ErrorTally;

use crate::life::Life;
use crate::marks::{Mark, Marks};
use crate::results::Results;
use crate::session::{Many, Moments, SessionResult};
use crate::thread_result::{HotCounts, PhaseResult, ThreadResult, Times};

impl Results {
    /// Adds the sessions of each target up to one, and what threads have counted.
    pub fn fold(&mut self) {
        let mut sessions: BTreeMap<usize, SessionResult> = BTreeMap::new();
        for session in std::mem::take(&mut self.sessions) {
            let sum = sessions.entry(session.target).or_insert_with(|| none(&session));
            add_session(sum, &session);
        }
        self.sessions = sessions.into_values().collect();
        let mut threads: BTreeMap<usize, ThreadResult> = BTreeMap::new();
        for thread in std::mem::take(&mut self.threads) {
            let empty = || ThreadResult { target: thread.target, ..ThreadResult::default() };
            add_thread(threads.entry(thread.target).or_insert_with(empty), &thread);
        }
        self.threads = threads.into_values().collect();
    }
}

/// No session, of the target and the classes of `like`.
fn none(like: &SessionResult) -> SessionResult {
    none_of(like.target, like.life.ops.len())
}

/// No session of this target, in a run with so many classes.
pub(crate) fn none_of(target: usize, classes: usize) -> SessionResult {
    SessionResult {
        target,
        life: Life::new(classes),
        errors: Vec::new(),
        answers: None,
        moments: Moments::default(),
        marks: Default::default(),
        many: Some(Box::default()),
    }
}

fn add_session(sum: &mut SessionResult, one: &SessionResult) {
    sum.many.get_or_insert_with(|| Box::new(Many::default())).add(&one.many());
    sum.life.add(&one.life);
    add_errors(&mut sum.errors, &one.errors);
    match (&mut sum.answers, &one.answers) {
        (Some(sum), Some(one)) => sum.add(one),
        (sum @ None, one) => sum.clone_from(one),
        (Some(_), None) => {}
    }
    sum.moments.last_ns = sum.moments.last_ns.max(one.moments.last_ns);
    sum.moments.start_ns = [sum.moments.start_ns, one.moments.start_ns].into_iter().flatten().min();
    for edge in [0, 1] {
        sum.moments.edge_ns[edge] = sum.moments.edge_ns[edge].max(one.moments.edge_ns[edge]);
    }
    let [begin, end] = &one.marks;
    if let (Some(_), Some(_)) = (&begin.low, &end.low) {
        add_marks(&mut sum.marks[0], begin);
        add_marks(&mut sum.marks[1], end);
    }
}

/// Adds marks, of which the lower one is there.
fn add_marks(sum: &mut Marks, one: &Marks) {
    let Some(low) = &one.low else { return };
    let zero = || Mark { at_ns: 0, life: Life::new(low.life.ops.len()) };
    // Where it may be more, it is that much more than the lower sum.
    let high = one.high.as_ref().unwrap_or(low);
    if one.high.is_some() && sum.high.is_none() {
        sum.high = Some(sum.low.clone().unwrap_or_else(zero));
    }
    if let Some(sum) = &mut sum.high {
        sum.at_ns = sum.at_ns.max(high.at_ns);
        sum.life.add(&high.life);
    }
    let sum = sum.low.get_or_insert_with(zero);
    sum.at_ns = sum.at_ns.max(low.at_ns);
    sum.life.add(&low.life);
}

fn add_errors(sum: &mut Vec<ErrorTally>, more: &[ErrorTally]) {
    for one in more {
        match sum.iter_mut().find(|tally| (&tally.class, &tally.code) == (&one.class, &one.code)) {
            Some(tally) => {
                tally.count += one.count;
                tally.reconnects += one.reconnects;
                tally.retried += one.retried;
                tally.in_doubt += one.in_doubt;
            }
            None => sum.push(one.clone()),
        }
    }
}

fn add_thread(sum: &mut ThreadResult, one: &ThreadResult) {
    add_each(&mut sum.classes, &one.classes, crate::thread_result::ClassResult::add);
    add_each(&mut sum.phases, &one.phases, |sum: &mut PhaseResult, one: &PhaseResult| {
        sum.due += one.due;
        sum.behind += one.behind;
        add_each(&mut sum.classes, &one.classes, crate::thread_result::ClassResult::add);
    });
    let Times { late_ns_max, overdue, busy_ns, before_ns, closing_ns, polling_ns, thought_ns, thoughts } =
        one.times;
    sum.times = Times {
        late_ns_max: sum.times.late_ns_max.max(late_ns_max),
        overdue: (sum.times.overdue.0 + overdue.0, sum.times.overdue.1 + overdue.1),
        busy_ns: sum.times.busy_ns + busy_ns,
        before_ns: sum.times.before_ns + before_ns,
        closing_ns: sum.times.closing_ns + closing_ns,
        polling_ns: sum.times.polling_ns + polling_ns,
        thought_ns: sum.times.thought_ns + thought_ns,
        thoughts: sum.times.thoughts + thoughts,
    };
    let HotCounts { spot, keyed, schema, movable } = one.hot;
    sum.hot = HotCounts {
        spot: sum.hot.spot + spot,
        keyed: sum.hot.keyed + keyed,
        schema: sum.hot.schema + schema,
        movable: sum.hot.movable + movable,
    };
}

/// Adds each to the one at its place.
fn add_each<T: Default + Clone>(sum: &mut Vec<T>, more: &[T], add: impl Fn(&mut T, &T)) {
    if sum.len() < more.len() {
        sum.resize(more.len(), T::default());
    }
    sum.iter_mut().zip(more).for_each(|(sum, one)| add(sum, one));
}
