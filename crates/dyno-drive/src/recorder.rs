//! Records what one session does: its whole life, its marks at the window boundaries, and its failures. What
//! the sessions of a thread do in the window is added up in their [`ThreadCounts`].
//!
//! All memory is allocated before the start.

mod last_work;

use std::sync::Arc;

use dyno_engine::OpError;
use dyno_workload::pace::ArrivalSchedule;
use dyno_workload::{ClassId, Classes, DrawnOperation, Effect};

use crate::boundary_marks::{SessionMark, SessionMarkBounds};
use crate::connection_losses::AnswerLog;
use crate::counts::{CountPosition, ThreadCounts, Timing};
use crate::failures::Failures;
use crate::lifetime_counts::LifetimeCounts;
use crate::phased::PhaseCursor;
use crate::served_by::ServedBy;
use crate::session::{Moments, SessionResult};
use last_work::LastOperation;
pub(crate) use last_work::PartOfSlice;

/// What one session measures. The order of fields keeps the data of an operation in few lines of the
/// processor's cache.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Recorder {
    open_loop: bool,
    /// Whether the schedule of phases applies to this session; it does not for sessions of background
    /// workloads.
    is_leading: bool,
    counting: bool,
    /// Whether an interval of the series has ended since the last check.
    ticked: bool,
    interval_end_ns: u64,
    origin_ns: u64,
    /// The counters that its work belongs to.
    place: CountPosition,
    pub(crate) window_ops: u64,
    pub(crate) life: LifetimeCounts,
    pub(crate) moments: Moments,
    /// The sleep in progress: since when it counts, and when it ends.
    thinking: Option<(u64, u64)>,
    /// The last work while nothing counted, and the counts before it.
    last: Option<LastOperation>,
    /// The last connection opened while nothing counted: when it was open, and how long that took.
    last_connection: Option<(u64, u64)>,
    passed: PhaseCursor,
    classes: Arc<Classes>,
    failures: Failures,
    /// When it had answers; only if outages are measured.
    answers: Option<Box<AnswerLog>>,
    /// What the two boundary snapshots include of this session.
    pub(crate) marks: [SessionMarkBounds; 2],
    /// Which instance of the database served it.
    pub(crate) served_by: ServedBy,
}

impl Recorder {
    /// For a session on the target at `target`; the schedule of phases applies to it if it `leads`.
    pub(crate) fn new(target: usize, classes: Arc<Classes>, open_loop: bool, leads: bool) -> Self {
        Self {
            place: CountPosition { target, part: 0 },
            passed: PhaseCursor::default(),
            life: LifetimeCounts::new(classes.count()),
            window_ops: 0,
            moments: Moments::default(),
            open_loop,
            is_leading: leads,
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
            served_by: ServedBy::default(),
        }
    }

    /// Records from now on when the session with this number has answers.
    pub(crate) fn log_answers(&mut self, number: u32) {
        self.answers = Some(Box::new(AnswerLog::new(number)));
    }

    /// Notes that an operation or a slice ended without an error.
    #[inline]
    fn answered(&mut self, ended_ns: u64) {
        if let Some(answers) = &mut self.answers {
            answers.answered(ended_ns, self.moments.start_ns);
        }
    }

    /// Whether the session lost its connection and has had no answer since; only if outages are measured.
    pub(crate) fn is_disconnected(&self) -> bool {
        self.answers.as_ref().is_some_and(|answers| answers.is_out())
    }

    /// Notes that an attempt to reconnect was refused.
    pub(crate) fn refused(&mut self, why: &dyn std::fmt::Display) {
        if let Some(answers) = &mut self.answers {
            answers.refused(why);
        }
    }

    /// Notes that the session stops at `now_ns`.
    pub(crate) fn stop_answers(&mut self, now_ns: u64) {
        if let Some(answers) = &mut self.answers {
            answers.stop(now_ns);
        }
    }

    /// Prefetches the counters of an operation.
    #[inline]
    pub(crate) fn prefetch(&self) -> u64 {
        self.origin_ns ^ self.moments.last_ns ^ self.life.ops[0] ^ self.life.transactions
    }

    /// The index of the session's target.
    pub(crate) fn target(&self) -> usize {
        self.place.target
    }

    /// Notes that an operation of a closed loop begins at `now_ns`; the gate opened at `opens_ns`.
    #[inline]
    pub(crate) fn begins_at_once(
        &mut self,
        counts: &mut ThreadCounts,
        opens_ns: u64,
        now_ns: impl FnOnce() -> u64,
    ) {
        if counts.is_phased() {
            let now_ns = now_ns();
            self.begins_in_phase(counts, opens_ns, now_ns.saturating_sub(opens_ns), now_ns);
        }
    }

    /// Notes that an operation of an open loop begins at `now_ns`, which was due `due_ns` after the gate
    /// opened at `opens_ns`.
    #[inline]
    pub(crate) fn begins(&mut self, counts: &mut ThreadCounts, opens_ns: u64, due_ns: u64, now_ns: u64) {
        if counts.is_phased() {
            self.begins_in_phase(counts, opens_ns, due_ns, now_ns);
        }
    }

    #[inline(never)]
    fn begins_in_phase(&mut self, counts: &mut ThreadCounts, opens_ns: u64, due_ns: u64, now_ns: u64) {
        let target = self.place.target;
        match self.moments.edge_ns[1] {
            // The window is over.
            Some(end_ns) if self.is_leading && opens_ns + due_ns < end_ns => {
                counts.count_never_started(target, due_ns);
            }
            Some(_) => {}
            None => {
                let now_ns = now_ns.saturating_sub(opens_ns);
                self.place.part = counts.begins(target, &mut self.passed, self.is_leading, (due_ns, now_ns));
            }
        }
    }

    /// Counts the operations that were due until the window's end and never began; `schedule` is the
    /// session's position at its end.
    pub(crate) fn count_overdue_arrivals(
        &self,
        counts: &mut ThreadCounts,
        opens_ns: u64,
        schedule: &mut ArrivalSchedule,
    ) {
        if let Some(end_ns) = self.moments.edge_ns[1].filter(|_| self.is_leading) {
            counts.count_overdue_arrivals(self.place.target, end_ns.saturating_sub(opens_ns), schedule);
        }
    }

    /// Begins to count at `origin_ns`, which is the same for all sessions. Work that has ended since counts,
    /// and the operation in progress at that time counts with all of its time.
    pub(crate) fn begin(&mut self, counts: &mut ThreadCounts, origin_ns: u64) {
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

    /// Counts operations that were due at a window boundary (0 or 1) and had not begun then.
    pub(crate) fn overdue(&mut self, counts: &mut ThreadCounts, edge: usize, operations: u64) {
        let overdue = &mut counts.times(self.place).overdue;
        match edge {
            0 => overdue.0 += operations,
            _ => overdue.1 += operations,
        }
    }

    /// The classes of operations, including commits and slices.
    pub(crate) fn classes(&self) -> &Arc<Classes> {
        &self.classes
    }

    /// Whether operations count at this moment.
    pub(crate) fn is_counting(&self) -> bool {
        self.counting
    }

    /// Whether an interval of the series has ended since the last check.
    #[inline]
    pub(crate) fn has_ticked(&self) -> bool {
        self.ticked
    }

    /// Notes that the interval's end was handled.
    pub(crate) fn clear_tick(&mut self) {
        self.ticked = false;
    }

    /// The mark of this session at `now_ns`, with its `overhead_commits` so far.
    pub(crate) fn mark(&self, now_ns: u64, overhead_commits: i64) -> SessionMark {
        SessionMark { at_ns: now_ns, life: LifetimeCounts { overhead_commits, ..self.life.clone() } }
    }

    /// Ends counting: later operations do not count.
    pub(crate) fn end(&mut self, counts: &mut ThreadCounts, now_ns: u64) {
        if let (true, Some((since_ns, _))) = (self.counting, self.thinking) {
            counts.times(self.place).thought_ns += now_ns.saturating_sub(since_ns);
        }
        self.counting = false;
    }

    /// Notes that a sleep begins after an operation that ended at `now_ns`.
    pub(crate) fn think(&mut self, counts: &mut ThreadCounts, now_ns: u64, until_ns: u64) {
        self.thinking = Some((now_ns, until_ns));
        counts.times(self.place).thoughts += u64::from(self.counting);
    }

    /// Notes that work begins at `now_ns`, slightly after the window: there was nothing to do before.
    pub(crate) fn begin_late(&mut self, now_ns: u64) {
        self.thinking = None;
        self.moments.start_ns = Some(now_ns);
        self.moments.edge_ns[0] = Some(now_ns);
    }

    /// When the sleep in progress ends.
    #[inline]
    pub(crate) fn thinks_until(&self) -> Option<u64> {
        self.thinking.map(|(_, until_ns)| until_ns)
    }

    /// Whether the sleep continues at `now_ns`; a finished sleep is counted.
    pub(crate) fn continue_thinking(&mut self, counts: &mut ThreadCounts, now_ns: u64) -> bool {
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

    /// Counts the hot-spot and schema choices of an operation that ended without an error.
    #[inline]
    pub(crate) fn drawn(&mut self, counts: &mut ThreadCounts, task: DrawnOperation) {
        if self.counting {
            counts.drawn(self.place, task);
        } else if let Some(LastOperation::Op { task: last, .. }) = &mut self.last {
            *last = Some(task);
        }
    }

    /// Ends counting at the last operation, for a session that never reached the window's end.
    pub(crate) fn break_off(&mut self, counts: &mut ThreadCounts) {
        if self.counting {
            self.thinking = None;
            self.end(counts, self.moments.last_ns);
            self.moments.edge_ns[1] =
                Some(self.moments.last_ns).filter(|&ns| ns > 0).or(self.moments.edge_ns[0]);
        }
    }

    /// Counts an operation that ended without an error.
    #[inline]
    pub(crate) fn done(&mut self, counts: &mut ThreadCounts, class: ClassId, timing: Timing, effect: Effect) {
        self.life.count_op(class, &effect);
        self.answered(timing.ended_ns);
        if self.counting {
            self.count(counts, class, timing, &effect);
        } else {
            self.last = Some(LastOperation::Op { class, timing, effect, commit: None, task: None });
        }
    }

    /// Counts a poll that ended without an error and found nothing; it is not an operation.
    #[cold]
    pub(crate) fn empty_poll(&mut self, counts: &mut ThreadCounts, class: ClassId, timing: Timing) {
        self.answered(timing.ended_ns);
        if self.counting {
            let busy_ns = timing.ended_ns.saturating_sub(timing.began_ns.max(self.origin_ns));
            counts.empty_poll(self.place, class, busy_ns);
            self.note_end(counts, timing.ended_ns);
        }
    }

    #[inline]
    fn count(&mut self, counts: &mut ThreadCounts, class: ClassId, timing: Timing, effect: &Effect) {
        let busy_ns = timing.ended_ns - timing.began_ns.max(self.origin_ns);
        self.window_ops += 1;
        counts.op(self.place, class, timing, (effect, busy_ns), self.open_loop);
        self.note_end(counts, timing.ended_ns);
    }

    /// Notes that counted work ended at `ended_ns`.
    #[inline]
    fn note_end(&mut self, counts: &ThreadCounts, ended_ns: u64) {
        self.moments.last_ns = ended_ns;
        self.check_interval_end(counts, ended_ns);
    }

    #[inline]
    fn check_interval_end(&mut self, counts: &ThreadCounts, now_ns: u64) {
        if now_ns >= self.interval_end_ns {
            self.ticked = true;
            self.interval_end_ns = counts.interval_end_ns(now_ns);
        }
    }

    /// Counts the commits inside an operation that ended without an error; the time of the last is known if
    /// its boundary was seen.
    #[inline]
    pub(crate) fn commit(&mut self, counts: &mut ThreadCounts, commits: u64, latency_ns: Option<u64>) {
        self.life.commits += commits;
        if self.counting {
            counts.add_step(self.place, ClassId::COMMIT, commits, latency_ns);
        } else if let Some(LastOperation::Op { commit, .. }) = &mut self.last {
            *commit = Some((commits, latency_ns));
        }
    }

    /// Counts a connection that was opened for an operation, with its time; it was open at `ended_ns`.
    pub(crate) fn connected(&mut self, counts: &mut ThreadCounts, ended_ns: u64, latency_ns: u64) {
        match self.counting {
            true => counts.add_step(self.place, ClassId::CONNECT, 1, Some(latency_ns)),
            false => self.last_connection = Some((ended_ns, latency_ns)),
        }
    }

    /// Counts the time of closing a connection after an operation.
    pub(crate) fn closed(&mut self, counts: &mut ThreadCounts, began_ns: u64, ended_ns: u64) {
        if self.counting {
            counts.times(self.place).closing_ns += ended_ns.saturating_sub(began_ns.max(self.origin_ns));
        }
    }

    /// Notes a failure that counts in no window.
    pub(crate) fn note_failure(&mut self, error: &OpError) {
        self.life.errors += 1;
        self.failures.of(error).count += 1;
    }

    /// Counts an operation of `class` that the database rolled back and that is retried.
    pub(crate) fn retried(&mut self, counts: &mut ThreadCounts, class: ClassId, error: &OpError) {
        self.failures.of(error).retried += 1;
        if self.counting {
            counts.retried(self.place, class);
        }
    }

    /// Counts an operation of `class` that lost its connection with `error` while a commit was in progress.
    pub(crate) fn in_doubt(&mut self, counts: &mut ThreadCounts, class: ClassId, error: &OpError) {
        self.failures.of(error).in_doubt += 1;
        if let Some(answers) = &mut self.answers {
            answers.in_doubt();
        }
        if self.counting {
            counts.in_doubt(self.place, class);
        }
    }

    /// Counts a connection that was opened again.
    pub(crate) fn reconnected(&mut self) {
        self.failures.reconnected();
    }

    /// The results, when nothing more is measured.
    pub(crate) fn into_result(self) -> SessionResult {
        SessionResult {
            many: None,
            target: self.place.target,
            life: self.life,
            errors: self.failures.into_tallies(),
            answers: self.answers.map(|answers| Box::new(answers.into_answers())),
            moments: self.moments,
            marks: self.marks,
            served_by: self.served_by,
            window_ops: self.window_ops,
        }
    }
}
