//! Adds up the results of many sessions: of a target, of each instance of it, or of all targets.
//!
//! A record is built from these sums. A host hands over one for each instance of each target, so the size of its
//! results does not grow with its sessions, and the record stays the same. A record
//! only uses sums and first or last times of sessions. Only sessions with a mark at each boundary count for
//! marks, so the sum of these marks and of their uncertainty represents them all.

use std::collections::BTreeMap;

use crate::boundary_marks::{SessionMark, SessionMarkBounds};
use crate::failures;
use crate::lifetime_counts::LifetimeCounts;
use crate::results::Results;
use crate::served_by::ServedBy;
use crate::session::{FoldedSessions, Moments, SessionResult};
use crate::thread_result::{ClassResult, PhaseResult, ThreadResult};

impl Results {
    /// Adds up the sessions of each instance of each target, and the threads' counts.
    pub fn fold(&mut self) {
        let mut sessions: BTreeMap<(usize, ServedBy), SessionResult> = BTreeMap::new();
        for session in std::mem::take(&mut self.sessions) {
            let (target, served_by) = (session.target, session.served_by.clone());
            let empty = || SessionResult { served_by, ..none_of(target, session.life.ops.len()) };
            let part = (target, session.served_by.clone());
            add_session(sessions.entry(part).or_insert_with(empty), &session);
        }
        self.sessions = sessions.into_values().collect();
        let mut threads: BTreeMap<(usize, ServedBy), ThreadResult> = BTreeMap::new();
        for thread in std::mem::take(&mut self.threads) {
            let (target, served_by) = (thread.target, thread.served_by.clone());
            let empty = || ThreadResult { target, served_by, ..ThreadResult::default() };
            let part = (target, thread.served_by.clone());
            add_thread(threads.entry(part).or_insert_with(empty), &thread);
        }
        self.threads = threads.into_values().collect();
    }

    /// The sum of all results, in a run with this many classes.
    pub(crate) fn all(&self, classes: usize) -> ResultSum {
        self.sum(classes, |_| true)
    }

    /// The sum of the results of the target at `at`.
    pub(crate) fn of_target(&self, at: usize, classes: usize) -> ResultSum {
        self.sum(classes, |target| target == at)
    }

    fn sum(&self, classes: usize, is_part: impl Fn(usize) -> bool) -> ResultSum {
        let mut sum = ResultSum { sessions: none_of(0, classes), threads: ThreadResult::default() };
        let sessions = self.sessions.iter().filter(|session| is_part(session.target));
        sessions.for_each(|session| add_session(&mut sum.sessions, session));
        let threads = self.threads.iter().filter(|thread| is_part(thread.target));
        threads.for_each(|thread| add_thread(&mut sum.threads, thread));
        sum
    }
}

/// The results of several sessions and of their threads, added up.
pub(crate) struct ResultSum {
    pub(crate) sessions: SessionResult,
    pub(crate) threads: ThreadResult,
}

/// An empty result for this target, in a run with this many classes.
pub(crate) fn none_of(target: usize, classes: usize) -> SessionResult {
    SessionResult {
        target,
        life: LifetimeCounts::new(classes),
        errors: Vec::new(),
        answers: None,
        moments: Moments::default(),
        marks: Default::default(),
        served_by: ServedBy::default(),
        window_ops: 0,
        many: Some(Box::default()),
    }
}

fn add_session(sum: &mut SessionResult, other: &SessionResult) {
    sum.many.get_or_insert_with(|| Box::new(FoldedSessions::default())).add(&other.many());
    sum.life.add(&other.life);
    sum.window_ops += other.window_ops;
    sum.errors = failures::sum(sum.errors.iter().chain(&other.errors));
    match (&mut sum.answers, &other.answers) {
        (Some(sum), Some(other_answers)) => sum.add(other_answers),
        (sum @ None, answer_times) => sum.clone_from(answer_times),
        (Some(_), None) => {}
    }
    sum.moments.last_ns = sum.moments.last_ns.max(other.moments.last_ns);
    sum.moments.start_ns = [sum.moments.start_ns, other.moments.start_ns].into_iter().flatten().min();
    for edge in [0, 1] {
        sum.moments.edge_ns[edge] = sum.moments.edge_ns[edge].max(other.moments.edge_ns[edge]);
    }
    let [begin, end] = &other.marks;
    if let (Some(_), Some(_)) = (&begin.low, &end.low) {
        add_marks(&mut sum.marks[0], begin);
        add_marks(&mut sum.marks[1], end);
    }
}

/// Adds marks, if `other` has a lower bound.
fn add_marks(sum: &mut SessionMarkBounds, other: &SessionMarkBounds) {
    let Some(low) = &other.low else { return };
    let zero = || SessionMark { at_ns: 0, life: LifetimeCounts::new(low.life.ops.len()) };
    // The upper bound exceeds the lower sum by each session's uncertainty.
    let high = other.high.as_ref().unwrap_or(low);
    if other.high.is_some() && sum.high.is_none() {
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

fn add_thread(sum: &mut ThreadResult, other: &ThreadResult) {
    add_each(&mut sum.classes, &other.classes, ClassResult::add);
    add_each(&mut sum.phases, &other.phases, |sum: &mut PhaseResult, phase: &PhaseResult| {
        sum.due += phase.due;
        sum.behind += phase.behind;
        add_each(&mut sum.classes, &phase.classes, ClassResult::add);
    });
    sum.times.add(&other.times);
    sum.hot.add(&other.hot);
}

/// Adds each element to the one at its index.
fn add_each<T: Default + Clone>(sum: &mut Vec<T>, more: &[T], add: impl Fn(&mut T, &T)) {
    if sum.len() < more.len() {
        sum.resize(more.len(), T::default());
    }
    sum.iter_mut().zip(more).for_each(|(sum, one)| add(sum, one));
}
