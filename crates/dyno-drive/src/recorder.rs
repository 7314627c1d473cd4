//! What counts while a session works: totals of the window, and intervals on their way to the series.
//!
//! Everything is made before the start; recording allocates nothing but a class's tally at its first operation.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender};

use dyno_engine::{Op, OpError, Place};
use dyno_workload::pace::Schedule;
use dyno_workload::{ClassId, Classes, Effect, Task};

use crate::failures::Failures;
use crate::life::Life;
use crate::marks::{Mark, Marks};
use crate::packed::Packed;
use crate::phased::Phased;
use crate::session::{ClassResult, HotCounts, Moments, SessionResult};
use crate::tally::Tally;

/// One class's figures of one session, on their way to a [`ClassResult`].
#[derive(Debug, Default)]
struct ClassTotals {
    count: u64,
    errors: u64,
    rows: u64,
    service: Option<Tally>,
    response: Option<Tally>,
    before: (f64, f64),
}

impl ClassTotals {
    fn result(&self) -> ClassResult {
        let packed = |tally: &Option<Tally>| tally.as_ref().map(Packed::of).unwrap_or_default();
        ClassResult {
            count: self.count,
            errors: self.errors,
            rows: self.rows,
            service: packed(&self.service),
            response: packed(&self.response),
            before: self.before,
        }
    }

    /// Forgets everything, and keeps the tallies' memory.
    fn clear(&mut self) {
        [&mut self.service, &mut self.response].into_iter().flatten().for_each(Tally::clear);
        (self.count, self.errors, self.rows, self.before) = (0, 0, 0, (0.0, 0.0));
    }
}

/// What a slice did of one class: operations, and rows that they touched.
pub(crate) type PartOfSlice = (ClassId, u64, u64);

/// What a session did last before it noticed that the window has begun.
#[derive(Debug)]
enum Last {
    Op {
        class: ClassId,
        timing: Timing,
        effect: Effect,
        commit: Option<(u64, Option<u64>)>,
        task: Option<Task>,
    },
    Slice {
        timing: Timing,
        parts: Vec<PartOfSlice>,
        commits: u64,
    },
    Failed {
        class: ClassId,
        ended_ns: u64,
    },
}

/// One session's part of one interval of the series.
#[derive(Debug)]
pub(crate) struct Interval {
    /// The place of the session's target.
    pub(crate) target: usize,
    pub(crate) index: u64,
    pub(crate) ops: u64,
    pub(crate) errors: u64,
    pub(crate) latency: Tally,
}

impl Interval {
    pub(crate) fn new(target: usize) -> Self {
        Self { target, index: 0, ops: 0, errors: 0, latency: Tally::coarse() }
    }

    fn is_empty(&self) -> bool {
        self.ops == 0 && self.errors == 0
    }

    pub(crate) fn clear(&mut self) {
        self.ops = 0;
        self.errors = 0;
        self.latency.clear();
    }
}

/// Everything one session measures.
#[derive(Debug)]
pub(crate) struct Recorder {
    /// The place of the session's target.
    pub(crate) target: usize,
    classes: Arc<Classes>,
    /// By number of the class; with a schedule of phases, of the one in which the last operation was due.
    totals: Vec<ClassTotals>,
    phased: Option<Box<Phased>>,
    pub(crate) life: Life,
    failures: Failures,
    pub(crate) moments: Moments,
    /// What the snapshots at the window's two ends hold of this session.
    pub(crate) marks: [Marks; 2],
    pub(crate) window_ops: u64,
    hot: HotCounts,
    /// The sleep under way: since when it counts, and when it ends.
    thinking: Option<(u64, u64)>,
    open_loop: bool,
    counting: bool,
    /// The last that was done while nothing counted, and what had been done before it.
    last: Option<Last>,
    /// The last connection that was opened while nothing counted: when it was there, and how long that took.
    last_connection: Option<(u64, u64)>,
    /// An interval of the series has ended since this was last asked.
    ticked: bool,
    interval: Box<Interval>,
    interval_ns: u64,
    interval_end_ns: u64,
    origin_ns: u64,
    full: Sender<Box<Interval>>,
    empty: Receiver<Box<Interval>>,
}

/// The clock's readings around one operation.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Timing {
    pub(crate) due_ns: u64,
    pub(crate) began_ns: u64,
    pub(crate) ended_ns: u64,
}

impl Recorder {
    pub(crate) fn new(
        target: usize,
        classes: Arc<Classes>,
        open_loop: bool,
        interval_ns: u64,
        full: Sender<Box<Interval>>,
        empty: Receiver<Box<Interval>>,
    ) -> Self {
        Self {
            target,
            totals: (0..classes.count()).map(|_| ClassTotals::default()).collect(),
            phased: None,
            life: Life::new(classes.count()),
            classes,
            failures: Failures::default(),
            moments: Moments::default(),
            marks: Default::default(),
            window_ops: 0,
            hot: HotCounts::default(),
            thinking: None,
            open_loop,
            counting: false,
            last: None,
            last_connection: None,
            ticked: false,
            interval: Box::new(Interval::new(target)),
            interval_ns,
            interval_end_ns: u64::MAX,
            origin_ns: 0,
            full,
            empty,
        }
    }

    /// The same, with figures for each phase of a schedule that ends at these moments.
    pub(crate) fn in_phases(self, ends_ns: Option<Arc<[u64]>>) -> Self {
        Self { phased: ends_ns.map(|ends_ns| Box::new(Phased::new(ends_ns))), ..self }
    }

    /// An operation of an open loop begins at `now_ns`, which was due so long after the gate opened at `opens_ns`.
    #[inline]
    pub(crate) fn begins(&mut self, opens_ns: u64, due_ns: u64, now_ns: u64) {
        if self.phased.is_some() {
            self.begins_in_phase(opens_ns, due_ns, now_ns);
        }
    }

    #[inline(never)]
    fn begins_in_phase(&mut self, opens_ns: u64, due_ns: u64, now_ns: u64) {
        let Some(phased) = &mut self.phased else { return };
        match self.moments.edge_ns[1] {
            // The window is over.
            Some(end_ns) => {
                if opens_ns + due_ns < end_ns {
                    phased.never_begun(due_ns);
                }
            }
            None => {
                if let Some(part) = phased.begin(due_ns, now_ns.saturating_sub(opens_ns)) {
                    phased.put_away(part, self.totals.iter().map(ClassTotals::result).collect());
                    self.totals.iter_mut().for_each(ClassTotals::clear);
                }
            }
        }
    }

    /// The session has ended, and `schedule` is where it was left: what was due until the window's end was never begun.
    pub(crate) fn leave_undone(&mut self, opens_ns: u64, schedule: &mut Schedule) {
        let Some(phased) = &mut self.phased else { return };
        let end_ns = self.moments.edge_ns[1].map_or(0, |end_ns| end_ns.saturating_sub(opens_ns));
        let until_ns = end_ns.min(phased.end_ns());
        while schedule.due_ns() < until_ns {
            phased.never_begun(schedule.due_ns());
            schedule.advance();
        }
    }

    /// The window has begun at `origin_ns`, the same for all sessions: what has ended since counts, the operation that was
    /// under way then with all of its time.
    pub(crate) fn begin(&mut self, origin_ns: u64) {
        self.counting = true;
        self.origin_ns = origin_ns;
        self.moments.edge_ns[0] = Some(origin_ns);
        if let Some((since_ns, _)) = &mut self.thinking {
            *since_ns = origin_ns.max(*since_ns);
        }
        self.aim_interval(origin_ns);
        self.count_last();
        if let Some((ended_ns, latency_ns)) =
            self.last_connection.take().filter(|(at_ns, _)| *at_ns > origin_ns)
        {
            self.connected(ended_ns, latency_ns);
        }
        self.ticked = false;
    }

    /// What this session had done before the operation that was under way when the window began, if one was.
    pub(crate) fn life_before(&self, origin_ns: u64) -> Life {
        let mut life = self.life.clone();
        match &self.last {
            Some(Last::Op { class, timing, effect, commit, .. }) if timing.ended_ns > origin_ns => {
                life.take_off_op(*class, effect);
                life.commits -= commit.map_or(0, |(commits, _)| commits);
            }
            Some(Last::Slice { timing, parts, commits }) if timing.ended_ns > origin_ns => {
                life.ops[ClassId::SLICE.index()] -= 1;
                life.commits -= commits;
                for &(class, ops, rows) in parts {
                    life.take_off(class, self.classes.touch(class), ops, rows);
                }
            }
            Some(Last::Failed { ended_ns, .. }) if *ended_ns > origin_ns => life.errors -= 1,
            _ => {}
        }
        life
    }

    /// Whether an operation was under way at `origin_ns` that has ended since.
    pub(crate) fn was_under_way(&self, origin_ns: u64) -> bool {
        self.last.as_ref().is_some_and(|last| match last {
            Last::Op { timing, .. } | Last::Slice { timing, .. } => timing.ended_ns > origin_ns,
            Last::Failed { ended_ns, .. } => *ended_ns > origin_ns,
        })
    }

    /// Counts what ended after the window's begin and before the session noticed that.
    fn count_last(&mut self) {
        match self.last.take() {
            Some(Last::Op { class, timing, effect, commit, task }) if timing.ended_ns > self.origin_ns => {
                let (share, rows) = (self.share_before(timing), effect.all_rows());
                self.count(class, timing, rows);
                self.totals[class.index()].before = (share, share * rows as f64);
                if let Some((commits, latency_ns)) = commit {
                    self.count_commit(commits, latency_ns);
                    self.totals[ClassId::COMMIT.index()].before.0 = share * commits as f64;
                }
                if let Some(task) = task {
                    self.count_drawn(task);
                }
            }
            Some(Last::Slice { timing, parts, commits }) if timing.ended_ns > self.origin_ns => {
                let share = self.share_before(timing);
                self.count_slice(timing, &parts, commits);
                for (class, ops, rows) in parts {
                    self.totals[class.index()].before = (share * ops as f64, share * rows as f64);
                }
                self.totals[ClassId::SLICE.index()].before.0 = share;
                self.totals[ClassId::COMMIT.index()].before.0 = share * commits as f64;
            }
            Some(Last::Failed { class, ended_ns }) if ended_ns > self.origin_ns => {
                self.count_failed(class, ended_ns);
            }
            _ => {}
        }
    }

    /// The share of an operation's time that lies before the window, which is noted as such.
    fn share_before(&mut self, timing: Timing) -> f64 {
        let before_ns = self.origin_ns.saturating_sub(timing.began_ns);
        self.moments.before_ns += before_ns;
        before_ns as f64 / (timing.ended_ns - timing.began_ns).max(1) as f64
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
    pub(crate) fn end(&mut self, now_ns: u64) {
        if let (true, Some((since_ns, _))) = (self.counting, self.thinking) {
            self.moments.thought_ns += now_ns.saturating_sub(since_ns);
        }
        self.counting = false;
        self.flush();
    }

    /// A sleep begins after an operation that ended at `now_ns`.
    pub(crate) fn think(&mut self, now_ns: u64, until_ns: u64) {
        self.thinking = Some((now_ns, until_ns));
        self.moments.thoughts += u64::from(self.counting);
    }

    /// When the sleep under way ends.
    #[inline]
    pub(crate) fn thinks_until(&self) -> Option<u64> {
        self.thinking.map(|(_, until_ns)| until_ns)
    }

    /// Whether the sleep goes on at `now_ns`; one that is over is counted.
    pub(crate) fn think_on(&mut self, now_ns: u64) -> bool {
        match self.thinking {
            Some((_, until_ns)) if now_ns < until_ns => true,
            Some((since_ns, _)) => {
                if self.counting {
                    self.moments.thought_ns += now_ns.saturating_sub(since_ns);
                }
                self.thinking = None;
                false
            }
            None => false,
        }
    }

    /// Counts where an operation went that has ended well.
    #[inline]
    pub(crate) fn drawn(&mut self, task: Task) {
        if self.counting {
            self.count_drawn(task);
        } else if let Some(Last::Op { task: last, .. }) = &mut self.last {
            *last = Some(task);
        }
    }

    #[inline]
    fn count_drawn(&mut self, task: Task) {
        let keyed = matches!(task.op, Op::Select { .. } | Op::Lookup { .. } | Op::Update { .. });
        self.hot.spot += u64::from(task.hot);
        self.hot.keyed += u64::from(keyed);
        self.hot.schema += u64::from(task.place == Place::First);
        self.hot.movable += u64::from(!matches!(task.op, Op::Insert { .. } | Op::Delete { .. }));
    }

    /// Ends the count of a session that never reached the window's end, at its last operation.
    pub(crate) fn break_off(&mut self) {
        if self.counting {
            self.thinking = None;
            self.end(self.moments.last_ns);
            self.moments.edge_ns[1] =
                Some(self.moments.last_ns).filter(|&ns| ns > 0).or(self.moments.edge_ns[0]);
        }
    }

    fn aim_interval(&mut self, now_ns: u64) {
        self.ticked = true;
        self.interval.index = now_ns.saturating_sub(self.origin_ns) / self.interval_ns;
        self.interval_end_ns = self.origin_ns + (self.interval.index + 1) * self.interval_ns;
    }

    /// Sends the current interval on its way and takes an empty one, a used one if there is.
    fn flush(&mut self) {
        if self.interval.is_empty() {
            return;
        }
        let mut next = self.empty.try_recv().unwrap_or_else(|_| Box::new(Interval::new(self.target)));
        // A used one may have been another session's.
        next.target = self.target;
        let full = std::mem::replace(&mut self.interval, next);
        // The collector is gone only when the run is over; nobody reads the series then.
        let _ = self.full.send(full);
    }

    /// Counts an operation that ended well.
    #[inline]
    pub(crate) fn done(&mut self, class: ClassId, timing: Timing, effect: Effect) {
        self.life.count_op(class, &effect);
        if self.counting {
            self.count(class, timing, effect.all_rows());
        } else {
            self.last = Some(Last::Op { class, timing, effect, commit: None, task: None });
        }
    }

    #[inline]
    fn count(&mut self, class: ClassId, timing: Timing, rows: u64) {
        let service_ns = timing.ended_ns - timing.began_ns;
        let response_ns = timing.ended_ns - timing.due_ns;
        self.moments.busy_ns += timing.ended_ns - timing.began_ns.max(self.origin_ns);
        self.moments.last_ns = timing.ended_ns;
        self.window_ops += 1;
        let totals = &mut self.totals[class.index()];
        totals.count += 1;
        totals.rows += rows;
        totals.service.get_or_insert_with(Tally::precise).record(service_ns);
        if self.open_loop {
            totals.response.get_or_insert_with(Tally::precise).record(response_ns);
            self.moments.late_ns_max = self.moments.late_ns_max.max(timing.began_ns - timing.due_ns);
        }
        if timing.ended_ns >= self.interval_end_ns {
            self.flush();
            self.aim_interval(timing.ended_ns);
        }
        self.interval.ops += 1;
        self.interval.latency.record(response_ns);
    }

    /// Counts the commits inside an operation that ended well; the time of the last is known if the boundary was seen.
    #[inline]
    pub(crate) fn commit(&mut self, commits: u64, latency_ns: Option<u64>) {
        self.life.commits += commits;
        if self.counting {
            self.count_commit(commits, latency_ns);
        } else if let Some(Last::Op { commit, .. }) = &mut self.last {
            *commit = Some((commits, latency_ns));
        }
    }

    #[inline]
    fn count_commit(&mut self, commits: u64, latency_ns: Option<u64>) {
        let totals = &mut self.totals[ClassId::COMMIT.index()];
        totals.count += commits;
        if let Some(latency_ns) = latency_ns {
            totals.service.get_or_insert_with(Tally::precise).record(latency_ns);
        }
    }

    /// Counts a connection that was opened for an operation, was there at `ended_ns`, and took so long.
    pub(crate) fn connected(&mut self, ended_ns: u64, latency_ns: u64) {
        if !self.counting {
            self.last_connection = Some((ended_ns, latency_ns));
            return;
        }
        let totals = &mut self.totals[ClassId::CONNECT.index()];
        totals.count += 1;
        totals.service.get_or_insert_with(Tally::precise).record(latency_ns);
    }

    /// Counts the time in which a connection was closed behind an operation.
    pub(crate) fn closed(&mut self, began_ns: u64, ended_ns: u64) {
        if self.counting {
            self.moments.closing_ns += ended_ns.saturating_sub(began_ns.max(self.origin_ns));
        }
    }

    /// Counts a slice and the operations in it: `(class, operations, rows)`.
    pub(crate) fn slice(&mut self, timing: Timing, parts: &[PartOfSlice], commits: u64) {
        self.life.commits += commits;
        self.life.ops[ClassId::SLICE.index()] += 1;
        for &(class, ops, rows) in parts {
            self.life.count(class, self.classes.touch(class), ops, rows);
        }
        if self.counting {
            self.count_slice(timing, parts, commits);
        } else {
            self.last = Some(Last::Slice { timing, parts: parts.to_vec(), commits });
        }
    }

    fn count_slice(&mut self, timing: Timing, parts: &[PartOfSlice], commits: u64) {
        let service_ns = timing.ended_ns - timing.began_ns;
        self.moments.busy_ns += timing.ended_ns - timing.began_ns.max(self.origin_ns);
        self.moments.last_ns = timing.ended_ns;
        let slice = &mut self.totals[ClassId::SLICE.index()];
        slice.count += 1;
        slice.service.get_or_insert_with(Tally::precise).record(service_ns);
        self.totals[ClassId::COMMIT.index()].count += commits;
        if timing.ended_ns >= self.interval_end_ns {
            self.flush();
            self.aim_interval(timing.ended_ns);
        }
        for &(class, ops, rows) in parts {
            self.window_ops += ops;
            self.interval.ops += ops;
            self.totals[class.index()].count += ops;
            self.totals[class.index()].rows += rows;
        }
    }

    /// Counts an operation that failed.
    pub(crate) fn failed(&mut self, class: ClassId, error: &OpError, now_ns: u64) {
        self.life.errors += 1;
        self.failures.of(error).count += 1;
        if self.counting {
            self.count_failed(class, now_ns);
        } else {
            self.last = Some(Last::Failed { class, ended_ns: now_ns });
        }
    }

    /// Counts a transaction that was taken back and is begun anew.
    pub(crate) fn retried(&mut self, error: &OpError) {
        self.failures.of(error).retried += 1;
    }

    fn count_failed(&mut self, class: ClassId, now_ns: u64) {
        self.totals[class.index()].errors += 1;
        if now_ns >= self.interval_end_ns {
            self.flush();
            self.aim_interval(now_ns);
        }
        self.interval.errors += 1;
    }

    /// Counts a connection that was opened anew.
    pub(crate) fn reconnected(&mut self) {
        self.failures.reconnected();
    }

    /// What was measured, when nothing more is.
    pub(crate) fn into_result(self) -> SessionResult {
        let mut classes: Vec<ClassResult> = self.totals.iter().map(ClassTotals::result).collect();
        let phases = self.phased.map(|phased| phased.into_parts(std::mem::take(&mut classes)));
        let phases = phases.unwrap_or_default();
        for part in &phases {
            classes.resize_with(self.totals.len(), ClassResult::default);
            classes.iter_mut().zip(&part.classes).for_each(|(all, one)| all.add(one));
        }
        SessionResult {
            target: self.target,
            classes,
            phases,
            life: self.life,
            errors: self.failures.into_tallies(),
            moments: self.moments,
            marks: self.marks,
            hot: self.hot,
        }
    }
}
