//! What counts of one session while it works: its whole life, where it stands at the window's edges, and what went wrong. What
//! the sessions of a thread do in the window is added up in their [`Counts`].
//!
//! Everything is made before the start.

mod last;

use std::sync::Arc;

use dyno_engine::OpError;
use dyno_workload::pace::Schedule;
use dyno_workload::{ClassId, Classes, Effect, Task};

use crate::counts::{Counts, Place, Timing};
use crate::failures::Failures;
use crate::life::Life;
use crate::losses::AnswerLog;
use crate::marks::{Mark, Marks};
use crate::phased::Passed;
use crate::session::{Moments, SessionResult};
use last::Last;
pub(crate) use last::PartOfSlice;

/// What one session measures by itself; in this order, so that what an operation touches is in few lines of the processor's cache.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Recorder {
    open_loop: bool,
    /// Whether a schedule of phases is its own; it is not that of sessions of another workload, which work meanwhile.
    leads: bool,
    counting: bool,
    /// An interval of the series has ended since this was last asked.
    ticked: bool,
    interval_end_ns: u64,
    origin_ns: u64,
    /// Where what it does counts.
    place: Place,
    pub(crate) window_ops: u64,
    pub(crate) life: Life,
    pub(crate) moments: Moments,
    /// The sleep under way: since when it counts, and when it ends.
    thinking: Option<(u64, u64)>,
    /// The last that was done while nothing counted, and what had been done before it.
    last: Option<Last>,
    /// The last connection that was opened while nothing counted: when it was there, and how long that took.
    last_connection: Option<(u64, u64)>,
    passed: Passed,
    classes: Arc<Classes>,
    failures: Failures,
    /// When it had answers, where outages are measured.
    answers: Option<Box<AnswerLog>>,
    /// What the snapshots at the window's two ends hold of this session.
    pub(crate) marks: [Marks; 2],
}

impl Recorder {
    /// Of a session on the target at `target`; a schedule of phases is its own if it `leads`.
    pub(crate) fn new(target: usize, classes: Arc<Classes>, open_loop: bool, leads: bool) -> Self {
        Self {
            place: Place { target, part: 0 },
            passed: Passed::default(),
            life: Life::new(classes.count()),
            window_ops: 0,
            moments: Moments::default(),
            open_loop,
            leads,
            counting: false,
            ticked: false,
            interval_end_ns: u64::MAX,
            origin_ns: 0,
            thinking: None,
            last: None,
            last_connection: None,
            classes,
            failures: Failures::default(),
            answers: None,
            marks: Default::default(),
        }
    }

    /// Notes from now on when the session with this number has answers.
    pub(crate) fn log_answers(&mut self, number: u32) {
        self.answers = Some(Box::new(AnswerLog::new(number)));
    }

    /// An operation has ended well, or a slice of them.
    #[inline]
    fn answered(&mut self, ended_ns: u64) {
        if let Some(answers) = &mut self.answers {
            answers.answered(ended_ns, self.moments.start_ns);
        }
    }

    /// Whether the session has lost its connection and had no answer since, where outages are measured.
    pub(crate) fn is_out(&self) -> bool {
        self.answers.as_ref().is_some_and(|answers| answers.is_out())
    }

    /// An attempt to connect again was refused.
    pub(crate) fn refused(&mut self, why: &dyn std::fmt::Display) {
        if let Some(answers) = &mut self.answers {
            answers.refused(why);
        }
    }

    /// The session stops at `now_ns`.
    pub(crate) fn stop_answers(&mut self, now_ns: u64) {
        if let Some(answers) = &mut self.answers {
            answers.stop(now_ns);
        }
    }

    /// Looks at what an operation counts in.
    #[inline]
    pub(crate) fn glance(&self) -> u64 {
        self.origin_ns ^ self.moments.last_ns ^ self.life.ops[0] ^ self.life.transactions
    }

    /// The place of the session's target.
    pub(crate) fn target(&self) -> usize {
        self.place.target
    }

    /// An operation of a closed loop begins at the moment that `now_ns` tells, where the gate opened at `opens_ns`.
    #[inline]
    pub(crate) fn begins_at_once(
        &mut self,
        counts: &mut Counts,
        opens_ns: u64,
        now_ns: impl FnOnce() -> u64,
    ) {
        if counts.is_phased() {
            let now_ns = now_ns();
            self.begins_in_phase(counts, opens_ns, now_ns.saturating_sub(opens_ns), now_ns);
        }
    }

    /// An operation of an open loop begins at `now_ns`, which was due so long after the gate opened at `opens_ns`.
    #[inline]
    pub(crate) fn begins(&mut self, counts: &mut Counts, opens_ns: u64, due_ns: u64, now_ns: u64) {
        if counts.is_phased() {
            self.begins_in_phase(counts, opens_ns, due_ns, now_ns);
        }
    }

    #[inline(never)]
    fn begins_in_phase(&mut self, counts: &mut Counts, opens_ns: u64, due_ns: u64, now_ns: u64) {
        let target = self.place.target;
        match self.moments.edge_ns[1] {
            // The window is over.
            Some(end_ns) if self.leads && opens_ns + due_ns < end_ns => counts.never_begun(target, due_ns),
            Some(_) => {}
            None => {
                let now_ns = now_ns.saturating_sub(opens_ns);
                self.place.part = counts.begins(target, &mut self.passed, self.leads, (due_ns, now_ns));
            }
        }
    }

    /// The session has ended, and `schedule` is where it was left: what was due until the window's end was never begun.
    pub(crate) fn leave_undone(&self, counts: &mut Counts, opens_ns: u64, schedule: &mut Schedule) {
        if let Some(end_ns) = self.moments.edge_ns[1].filter(|_| self.leads) {
            counts.leave_undone(self.place.target, end_ns.saturating_sub(opens_ns), schedule);
        }
    }

    /// The window has begun at `origin_ns`, the same for all sessions: what has ended since counts, the operation that was
    /// under way then with all of its time.
    pub(crate) fn begin(&mut self, counts: &mut Counts, origin_ns: u64) {
        self.counting = true;
        self.origin_ns = origin_ns;
        self.moments.edge_ns[0] = Some(origin_ns);
        if let Some((since_ns, _)) = &mut self.thinking {
            *since_ns = origin_ns.max(*since_ns);
        }
        counts.open(origin_ns);
        self.interval_end_ns = counts.interval_end_ns(origin_ns);
        self.count_last(counts);
        let opened = self.last_connection.take().filter(|(at_ns, _)| *at_ns > origin_ns);
        if let Some((ended_ns, latency_ns)) = opened {
            self.connected(counts, ended_ns, latency_ns);
        }
        self.ticked = false;
    }

    /// Counts operations that were due at an edge of the window (0 or 1) and had not begun then.
    pub(crate) fn overdue(&mut self, counts: &mut Counts, edge: usize, operations: u64) {
        let overdue = &mut counts.times(self.place).overdue;
        match edge {
            0 => overdue.0 += operations,
            _ => overdue.1 += operations,
        }
    }

    /// The classes of operations, and with them commits and slices.
    pub(crate) fn classes(&self) -> &Arc<Classes> {
        &self.classes
    }

    /// Whether operations count.
    pub(crate) fn is_counting(&self) -> bool {
        self.counting
    }

    /// Whether an interval of the series has ended since this was last asked.
    #[inline]
    pub(crate) fn has_ticked(&self) -> bool {
        self.ticked
    }

    /// The interval's end has been seen to.
    pub(crate) fn tick_seen(&mut self) {
        self.ticked = false;
    }

    /// Where this session stands at `now_ns`, when it has run `overhead_commits` transactions that were no operations.
    pub(crate) fn mark(&self, now_ns: u64, overhead_commits: i64) -> Mark {
        Mark { at_ns: now_ns, life: Life { overhead_commits, ..self.life.clone() } }
    }

    /// From now on operations do not count.
    pub(crate) fn end(&mut self, counts: &mut Counts, now_ns: u64) {
        if let (true, Some((since_ns, _))) = (self.counting, self.thinking) {
            counts.times(self.place).thought_ns += now_ns.saturating_sub(since_ns);
        }
        self.counting = false;
    }

    /// A sleep begins after an operation that ended at `now_ns`.
    pub(crate) fn think(&mut self, counts: &mut Counts, now_ns: u64, until_ns: u64) {
        self.thinking = Some((now_ns, until_ns));
        counts.times(self.place).thoughts += u64::from(self.counting);
    }

    /// Work begins at `now_ns` only, a moment after the window: until then there was nothing to do.
    pub(crate) fn begin_late(&mut self, now_ns: u64) {
        self.thinking = None;
        self.moments.start_ns = Some(now_ns);
        self.moments.edge_ns[0] = Some(now_ns);
    }

    /// When the sleep under way ends.
    #[inline]
    pub(crate) fn thinks_until(&self) -> Option<u64> {
        self.thinking.map(|(_, until_ns)| until_ns)
    }

    /// Whether the sleep goes on at `now_ns`; one that is over is counted.
    pub(crate) fn think_on(&mut self, counts: &mut Counts, now_ns: u64) -> bool {
        match self.thinking {
            Some((_, until_ns)) if now_ns < until_ns => true,
            Some((since_ns, _)) => {
                if self.counting {
                    counts.times(self.place).thought_ns += now_ns.saturating_sub(since_ns);
                }
                self.thinking = None;
                false
            }
            None => false,
        }
    }

    /// Counts where an operation went that has ended well.
    #[inline]
    pub(crate) fn drawn(&mut self, counts: &mut Counts, task: Task) {
        if self.counting {
            counts.drawn(self.place, task);
        } else if let Some(Last::Op { task: last, .. }) = &mut self.last {
            *last = Some(task);
        }
    }

    /// Ends the count of a session that never reached the window's end, at its last operation.
    pub(crate) fn break_off(&mut self, counts: &mut Counts) {
        if self.counting {
            self.thinking = None;
            self.end(counts, self.moments.last_ns);
            self.moments.edge_ns[1] =
                Some(self.moments.last_ns).filter(|&ns| ns > 0).or(self.moments.edge_ns[0]);
        }
    }

    /// Counts an operation that ended well.
    #[inline]
    pub(crate) fn done(&mut self, counts: &mut Counts, class: ClassId, timing: Timing, effect: Effect) {
        self.life.count_op(class, &effect);
        self.answered(timing.ended_ns);
        if self.counting {
            self.count(counts, class, timing, &effect);
        } else {
            self.last = Some(Last::Op { class, timing, effect, commit: None, task: None });
        }
    }

    /// Counts a poll that ended well and found nothing: it is no operation.
    #[cold]
    pub(crate) fn empty_poll(&mut self, counts: &mut Counts, class: ClassId, timing: Timing) {
        self.answered(timing.ended_ns);
        if self.counting {
            let busy_ns = timing.ended_ns.saturating_sub(timing.began_ns.max(self.origin_ns));
            counts.empty_poll(self.place, class, busy_ns);
            self.note_end(counts, timing.ended_ns);
        }
    }

    #[inline]
    fn count(&mut self, counts: &mut Counts, class: ClassId, timing: Timing, effect: &Effect) {
        let busy_ns = timing.ended_ns - timing.began_ns.max(self.origin_ns);
        self.window_ops += 1;
        counts.op(self.place, class, timing, (effect, busy_ns), self.open_loop);
        self.note_end(counts, timing.ended_ns);
    }

    /// What counts has ended at `ended_ns`.
    #[inline]
    fn note_end(&mut self, counts: &Counts, ended_ns: u64) {
        self.moments.last_ns = ended_ns;
        self.look_at_tick(counts, ended_ns);
    }

    #[inline]
    fn look_at_tick(&mut self, counts: &Counts, now_ns: u64) {
        if now_ns >= self.interval_end_ns {
            self.ticked = true;
            self.interval_end_ns = counts.interval_end_ns(now_ns);
        }
    }

    /// Counts the commits inside an operation that ended well; the time of the last is known if the boundary was seen.
    #[inline]
    pub(crate) fn commit(&mut self, counts: &mut Counts, commits: u64, latency_ns: Option<u64>) {
        self.life.commits += commits;
        if self.counting {
            counts.beside(self.place, ClassId::COMMIT, commits, latency_ns);
        } else if let Some(Last::Op { commit, .. }) = &mut self.last {
            *commit = Some((commits, latency_ns));
        }
    }

    /// Counts a connection that was opened for an operation, was there at `ended_ns`, and took so long.
    pub(crate) fn connected(&mut self, counts: &mut Counts, ended_ns: u64, latency_ns: u64) {
        match self.counting {
            true => counts.beside(self.place, ClassId::CONNECT, 1, Some(latency_ns)),
            false => self.last_connection = Some((ended_ns, latency_ns)),
        }
    }

    /// Counts the time in which a connection was closed behind an operation.
    pub(crate) fn closed(&mut self, counts: &mut Counts, began_ns: u64, ended_ns: u64) {
        if self.counting {
            counts.times(self.place).closing_ns += ended_ns.saturating_sub(began_ns.max(self.origin_ns));
        }
    }

    /// Notes that something has failed which counts in no window.
    pub(crate) fn note_failure(&mut self, error: &OpError) {
        self.life.errors += 1;
        self.failures.of(error).count += 1;
    }

    /// Counts an operation of `class` that the database took back and that begins again.
    pub(crate) fn retried(&mut self, counts: &mut Counts, class: ClassId, error: &OpError) {
        self.failures.of(error).retried += 1;
        if self.counting {
            counts.retried(self.place, class);
        }
    }

    /// Counts an operation of `class` that lost its connection with `error` while a commit was under way.
    pub(crate) fn in_doubt(&mut self, counts: &mut Counts, class: ClassId, error: &OpError) {
        self.failures.of(error).in_doubt += 1;
        if let Some(answers) = &mut self.answers {
            answers.in_doubt();
        }
        if self.counting {
            counts.in_doubt(self.place, class);
        }
    }

    /// Counts a connection that was opened anew.
    pub(crate) fn reconnected(&mut self) {
        self.failures.reconnected();
    }

    /// What was measured, when nothing more is.
    pub(crate) fn into_result(self) -> SessionResult {
        SessionResult {
            many: None,
            target: self.place.target,
            life: self.life,
            errors: self.failures.into_tallies(),
            answers: self.answers.map(|answers| Box::new(answers.into_answers())),
            moments: self.moments,
            marks: self.marks,
        }
    }
}
