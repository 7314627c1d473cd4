//! Compares what a target's sessions did with what its counters show: in the window, and in their whole life.

use dyno_observe::{TargetSnapshot, add_overhead};
use dyno_record::window::{LifetimeTotals, WorkCounts};
use dyno_record::{Counter, CounterDelta, Counters, RowEffect};
use dyno_workload::Classes;

use super::inputs::TargetInputs;
use crate::boundary_marks::SessionMark;
use crate::job::DriveJob;
use crate::lifetime_counts::LifetimeCounts;
use crate::measured::MeasuredTarget;

impl TargetInputs<'_> {
    /// The sessions' work between the two snapshots, and how much of it may lie outside, at each boundary.
    pub(super) fn counted(&self) -> (WorkCounts, Option<(WorkCounts, WorkCounts)>) {
        let [begin, end] = &self.results.sessions.marks;
        let done = |from: &Option<SessionMark>, to: &Option<SessionMark>| match (from, to) {
            (Some(from), Some(to)) => work(self.job, self.classes, &to.life.since(&from.life)),
            _ => WorkCounts::default(),
        };
        let unsure = (done(&begin.low, &begin.high), done(&end.low, &end.high));
        let is_sure = unsure.0.is_empty() && unsure.1.is_empty();
        (done(&begin.low, &end.low), (!is_sure).then_some(unsure))
    }

    /// What the target's counters did in the window.
    pub(super) fn window_counters(&self) -> Counters {
        let [begin, end] = self.results.sessions.marks.each_ref().map(|marks| marks.low.as_ref());
        let overhead = |(begin, end): (&SessionMark, &SessionMark)| {
            end.life.overhead_commits - begin.life.overhead_commits
        };
        let overhead = begin.zip(end).map_or(0, overhead);
        let MeasuredTarget { begin, end, watchdog, .. } = self.target;
        let note_findings = |counters: &mut Counters| watchdog.write_window(counters);
        self.counters((begin, end), note_findings, overhead).unwrap_or_default()
    }

    /// The whole life of the target's sessions; `None` if its counters were not read before and after it.
    pub(super) fn whole(&self) -> Option<LifetimeTotals> {
        let life = &self.results.sessions.life;
        let MeasuredTarget { whole_begin, whole_end, watchdog, .. } = self.target;
        let note_findings = |counters: &mut Counters| watchdog.write_whole(counters);
        let counters = self.counters((whole_begin, whole_end), note_findings, life.overhead_commits)?;
        let rows_left = self.target.rows_left;
        Some(LifetimeTotals { rows_left, ..lifetime(self.job, self.classes, life, counters) })
    }

    /// The counters between two snapshots, with what the watchdog found and the sessions' overhead
    /// transactions; `None` without both snapshots.
    fn counters(
        &self,
        (begin, end): (&Option<TargetSnapshot>, &Option<TargetSnapshot>),
        note_findings: impl Fn(&mut Counters),
        overhead: i64,
    ) -> Option<Counters> {
        let mut counters = Counters::between(&begin.as_ref()?.database, &end.as_ref()?.database);
        note_findings(&mut counters);
        self.withhold_restarted(&mut counters);
        add_overhead(&mut counters.native, overhead);
        if self.job.is_custom() {
            // These count rows of Dyno's test data, and sessions worked on the user's own.
            counters.own.clear();
            counters.elsewhere.remove(&Counter::RowsWritten);
        }
        Some(counters)
    }

    /// Removes all counters if the server was restarted while sessions had lost it, in a run that measures
    /// outages. The counters began again at 0, so their deltas are meaningless. Changes of settings stay.
    fn withhold_restarted(&self, counters: &mut Counters) {
        let has_outage =
            self.results.sessions.answers.as_ref().is_some_and(|answers| !answers.losses.is_empty());
        if !has_outage || counters.restart().is_none() {
            return;
        }
        let absent = "the server restarted during an outage and reset its counters".to_owned();
        for counter in Counter::ALL {
            counters.portable.insert(counter, CounterDelta::Absent { absent: absent.clone() });
        }
        counters.native.clear();
        counters.falls.clear();
        counters.own.clear();
        counters.elsewhere.clear();
    }
}

/// The work that sessions counted in `life`.
fn work(job: &DriveJob<'_>, classes: &Classes, life: &LifetimeCounts) -> WorkCounts {
    let ops = classes.all().map(|class| (classes.name(class).to_owned(), life.ops[class.index()]));
    let rows = |effect: RowEffect| life.rows[effect as usize];
    WorkCounts {
        ops: ops.filter(|(_, ops)| *ops > 0).collect(),
        rows_read: rows(RowEffect::Read),
        rows_updated: rows(RowEffect::Updated),
        rows_inserted: rows(RowEffect::Inserted),
        rows_deleted: rows(RowEffect::Deleted),
        commits: life.commits,
        transactions: job.is_custom().then_some(life.transactions),
        unproven_commits: life.unproven_commits,
        empty_commits: life.empty_commits,
        errors: life.errors,
        beside: life.overhead_commits.max(0).cast_unsigned(),
    }
}

/// The whole `life` of sessions, and what their database `counters` did in it.
pub(super) fn lifetime(
    job: &DriveJob<'_>,
    classes: &Classes,
    life: &LifetimeCounts,
    counters: Counters,
) -> LifetimeTotals {
    let work = work(job, classes, life);
    LifetimeTotals {
        ops: work.ops,
        rows_read: work.rows_read,
        rows_updated: work.rows_updated,
        rows_inserted: work.rows_inserted,
        rows_deleted: work.rows_deleted,
        rows_left: None,
        commits: work.commits,
        transactions: work.transactions,
        unproven_commits: work.unproven_commits,
        empty_commits: work.empty_commits,
        errors: work.errors,
        verified_rows: life.verified,
        counters,
    }
}
