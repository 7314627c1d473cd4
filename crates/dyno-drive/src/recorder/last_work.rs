//! Keeps a session's last work before it notices the window's begin: work that ended by then, or was in
//! progress.

use dyno_engine::OpError;
use dyno_workload::{ClassId, DrawnOperation, Effect};

use super::Recorder;
use crate::counts::{ThreadCounts, Timing};
use crate::lifetime_counts::LifetimeCounts;

/// What a slice did of one class: operations and rows.
pub(crate) type PartOfSlice = (ClassId, u64, u64);

/// A session's last work before it notices the window's begin.
#[derive(Debug)]
pub(super) enum LastOperation {
    Op {
        class: ClassId,
        timing: Timing,
        effect: Effect,
        commit: Option<(u64, Option<u64>)>,
        task: Option<DrawnOperation>,
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

impl LastOperation {
    fn ended_ns(&self) -> u64 {
        match self {
            Self::Op { timing, .. } | Self::Slice { timing, .. } => timing.ended_ns,
            Self::Failed { ended_ns, .. } => *ended_ns,
        }
    }
}

impl Recorder {
    /// The session's counts before the operation that was in progress when the window began, if there was
    /// one.
    pub(crate) fn life_before(&self, origin_ns: u64) -> LifetimeCounts {
        let mut life = self.life.clone();
        match self.last.as_ref().filter(|last| last.ended_ns() > origin_ns) {
            Some(LastOperation::Op { class, effect, commit, .. }) => {
                life.subtract_op(*class, effect);
                life.commits -= commit.map_or(0, |(commits, _)| commits);
            }
            Some(LastOperation::Slice { parts, commits, .. }) => {
                life.ops[ClassId::SLICE.index()] -= 1;
                life.commits -= commits;
                for &(class, ops, rows) in parts {
                    life.subtract_ops(class, self.classes.touch(class), ops, rows);
                }
            }
            Some(LastOperation::Failed { .. }) => life.errors -= 1,
            None => {}
        }
        life
    }

    /// Whether an operation was in progress at `origin_ns` and has ended since.
    pub(crate) fn was_under_way(&self, origin_ns: u64) -> bool {
        self.last.as_ref().is_some_and(|last| last.ended_ns() > origin_ns)
    }

    /// Counts work that ended after the window's begin and before the session noticed it.
    pub(super) fn count_last(&mut self, counts: &mut ThreadCounts) {
        match self.last.take().filter(|last| last.ended_ns() > self.origin_ns) {
            Some(LastOperation::Op { class, timing, effect, commit, task }) => {
                let (share, rows) = (self.share_before(counts, timing), effect.all_rows());
                self.count(counts, class, timing, &effect);
                counts.before(self.place, class, (share, share * rows as f64));
                if let Some((commits, latency_ns)) = commit {
                    counts.add_step(self.place, ClassId::COMMIT, commits, latency_ns);
                    counts.before(self.place, ClassId::COMMIT, (share * commits as f64, 0.0));
                }
                if let Some(task) = task {
                    counts.drawn(self.place, task);
                }
            }
            Some(LastOperation::Slice { timing, parts, commits }) => {
                let share = self.share_before(counts, timing);
                self.count_slice(counts, timing, &parts, commits);
                for (class, ops, rows) in parts {
                    counts.before(self.place, class, (share * ops as f64, share * rows as f64));
                }
                counts.before(self.place, ClassId::SLICE, (share, 0.0));
                counts.before(self.place, ClassId::COMMIT, (share * commits as f64, 0.0));
            }
            Some(LastOperation::Failed { class, ended_ns }) => self.count_failed(counts, class, ended_ns),
            None => {}
        }
    }

    /// The share of an operation's time before the window; also counts that time.
    fn share_before(&self, counts: &mut ThreadCounts, timing: Timing) -> f64 {
        let before_ns = self.origin_ns.saturating_sub(timing.began_ns);
        counts.times(self.place).before_ns += before_ns;
        before_ns as f64 / (timing.ended_ns - timing.began_ns).max(1) as f64
    }

    /// Counts a slice and the operations in it: `(class, operations, rows)`.
    pub(crate) fn slice(
        &mut self,
        counts: &mut ThreadCounts,
        timing: Timing,
        parts: &[PartOfSlice],
        commits: u64,
    ) {
        self.answered(timing.ended_ns);
        self.life.commits += commits;
        self.life.ops[ClassId::SLICE.index()] += 1;
        for &(class, ops, rows) in parts {
            self.life.count(class, self.classes.touch(class), ops, rows);
        }
        if self.counting {
            self.count_slice(counts, timing, parts, commits);
        } else {
            self.last = Some(LastOperation::Slice { timing, parts: parts.to_vec(), commits });
        }
    }

    fn count_slice(
        &mut self,
        counts: &mut ThreadCounts,
        timing: Timing,
        parts: &[PartOfSlice],
        commits: u64,
    ) {
        counts.times(self.place).busy_ns += timing.ended_ns - timing.began_ns.max(self.origin_ns);
        counts.add_step(self.place, ClassId::SLICE, 1, Some(timing.ended_ns - timing.began_ns));
        counts.add_step(self.place, ClassId::COMMIT, commits, None);
        for &(class, ops, rows) in parts {
            self.window_ops += ops;
            counts.of_slice(self.place, class, timing.ended_ns, (ops, rows));
        }
        self.note_end(counts, timing.ended_ns);
    }

    /// Counts an operation that failed.
    pub(crate) fn failed(&mut self, counts: &mut ThreadCounts, class: ClassId, error: &OpError, now_ns: u64) {
        self.note_failure(error);
        if let Some(answers) = &mut self.answers {
            answers.failed(class, error, now_ns, self.moments.start_ns);
        }
        if self.counting {
            self.count_failed(counts, class, now_ns);
        } else {
            self.last = Some(LastOperation::Failed { class, ended_ns: now_ns });
        }
    }

    fn count_failed(&mut self, counts: &mut ThreadCounts, class: ClassId, now_ns: u64) {
        counts.failed(self.place, class, now_ns);
        self.check_interval_end(counts, now_ns);
    }
}
