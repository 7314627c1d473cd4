//! Collects what the checks need from a record, computed once.

use std::sync::LazyLock;

use dyno_plan::{DataSharing, DriveMode};
use dyno_record::window::WorkCounts;
use dyno_record::{
    COMMIT, Class, Counter, Counters, CountingRules, MarkKind, OpStats, RowEffect, RunRecord, SLICE,
    TargetFacts, Window, place_of_target,
};

use super::finding::Skip;

/// Time until the work of a session that was late at a window boundary becomes visible, s.
const UNSEEN_S: f64 = 1.0;

/// Share of the work done while the counters were read; above it, a comparison of counters and
/// operations says nothing.
const SHARE_UNSURE_MAX: f64 = 0.5;

/// Why counters hold other work than the operations, where the platform gives no reason of its own.
const APART: &str = "because counters were read a second or more apart from what sessions did at its ends";

/// Counting rules of a platform that does not state any.
static UNKNOWN: LazyLock<CountingRules> = LazyLock::new(CountingRules::default);

/// The facts of one record that the checks use.
pub(super) struct AuditFacts<'a> {
    pub(super) record: &'a RunRecord,
    /// The counting rules that the platform declares.
    pub(super) counting: &'a CountingRules,
    /// Sessions that the plan assigns to this record.
    pub(super) planned_sessions: u32,
    /// Whether this target also applies what sessions on other targets write; its counters may
    /// include it.
    pub(super) replicated: bool,
    /// The device that holds the data; with several targets, present if it is the same for all.
    pub(super) device: Option<&'a String>,
    /// Whether the data of other targets is on that device too.
    pub(super) device_shared: bool,
    /// Whether another target of the run is on the same server, so the run itself is background
    /// activity there.
    pub(super) server_shared: bool,
}

/// The client's work in one interval, and the database's counters of the same interval.
pub(super) struct AuditInterval<'a> {
    /// Name of the interval: `window` or `whole run`.
    pub(super) name: &'static str,
    /// Reads that succeeded: selects, lookups, lookups by the secondary key, scans.
    pub(super) reads: u64,
    /// Updates that succeeded, failed ones excluded.
    pub(super) updates: u64,
    /// Inserts and deletes that succeeded.
    pub(super) inserts: u64,
    pub(super) deletes: u64,
    /// Full scans among the reads.
    pub(super) scans: u64,
    /// Slices that succeeded, failed ones excluded.
    pub(super) slices: u64,
    /// Commits that the database acknowledged to the client.
    pub(super) commits: u64,
    /// Transactions of a custom workload that succeeded, read-only ones included.
    pub(super) transactions: Option<u64>,
    /// Commits that may have changed nothing, and commits sent without a change.
    pub(super) unproven_commits: u64,
    pub(super) empty_commits: u64,
    /// Rows read by successful operations, scans included.
    pub(super) rows_read: u64,
    /// Rows updated by successful operations.
    pub(super) rows_updated: u64,
    /// Rows inserted, and rows deleted.
    pub(super) rows_inserted: u64,
    pub(super) rows_deleted: u64,
    /// Operations that failed; what the database did for them is unknown.
    pub(super) errors: u64,
    /// Share of the interval's work that may lie on the wrong side of its ends, 0..=1.
    pub(super) blur: f64,
    /// Work done while the counters were read at the begin and at the end, where its exact amount
    /// is known.
    pub(super) unsure: Option<(WorkCounts, WorkCounts)>,
    /// Why work may lie on the wrong side of the ends.
    pub(super) blur_from: &'a str,
    /// Length in seconds, as far as background activity in that time matters.
    pub(super) seconds: f64,
    pub(super) counters: &'a Counters,
}

/// Operations by what they do to rows.
#[derive(Default)]
struct OpTotals {
    by_effect: [u64; RowEffect::KINDS],
    scans: u64,
    slices: u64,
}

impl OpTotals {
    fn with_effect(&self, touch: RowEffect) -> u64 {
        self.by_effect[touch as usize]
    }

    fn total(&self) -> u64 {
        self.by_effect.iter().fold(0, |sum, ops| sum.saturating_add(*ops))
    }
}

impl<'a> AuditFacts<'a> {
    pub(super) fn of(record: &'a RunRecord) -> Self {
        let counting = record.targets.first().map_or(&*UNKNOWN, |target| &target.identity.counting);
        // A handwritten plan must not cause an overflow here.
        let planned = record.plan.sessions();
        let device = device(record);
        Self {
            record,
            counting,
            planned_sessions: planned,
            replicated: false,
            device,
            device_shared: false,
            server_shared: false,
        }
    }

    /// The facts of one target's part, which has `sessions`. `others_wrote` says whether sessions
    /// of other targets write; their data may be on the same device.
    pub(super) fn of_part(self, sessions: u32, others_wrote: bool, device_shared: bool) -> Self {
        let replicated = others_wrote && self.is_shared();
        Self { planned_sessions: sessions, replicated, device_shared, ..self }
    }

    /// Why background activity on the server cannot be separated from the run itself, if so.
    pub(super) fn shared_server_reason(&self) -> Option<&'static str> {
        let words = "another target of this run is on the same server, which does not count the two \
            separately";
        self.server_shared.then_some(words)
    }

    /// Whether all targets reach the same data.
    pub(super) fn is_shared(&self) -> bool {
        self.record.plan.target.data == DataSharing::Shared
    }

    /// Whether the sessions worked on Dyno's test data. On other data Dyno knows neither the block
    /// of a row nor the rows that a statement changes in addition.
    pub(super) fn on_test_data(&self) -> Result<(), Skip> {
        match &self.record.workload {
            None => Ok(()),
            Some(own) => Err(Skip(format!(
                "this check applies only to Dyno's own test data, and the sessions ran {}",
                own.name
            ))),
        }
    }

    pub(super) fn target(&self) -> Option<&'a TargetFacts> {
        self.record.targets.first()
    }

    /// The window, if its length is positive and rates can be divided by it.
    pub(super) fn window(&self) -> Result<&'a Window, Skip> {
        let unread = || {
            let has_ops = self.record.ops.get(dyno_record::ALL).is_some_and(|all| all.count > 0);
            // Sessions that lost their controller continue for a while, and what they did is
            // collected.
            Skip(match self.record.fleet.is_some() && has_ops {
                true => "the counters at the window boundaries were not read: the controller was lost".into(),
                false => "the run ended before its window began".into(),
            })
        };
        let window = self.record.window.as_ref().ok_or_else(unread)?;
        if window.seconds.is_finite() && window.seconds > 0.0 {
            Ok(window)
        } else {
            Err(Skip(format!("the window is {} s long", window.seconds)))
        }
    }

    /// The window's operations of one class.
    pub(super) fn ops(&self, class: &str) -> Option<&'a OpStats> {
        self.record.ops.get(class)
    }

    /// Commits per operation of a class.
    fn commits_of(&self, class: &str) -> u64 {
        self.record.classes.iter().find(|one| one.name == class).map_or(0, |class| class.commits)
    }

    /// The operations of each class, with counts looked up by class name.
    fn tally_ops(&self, count_of: impl Fn(&str) -> u64) -> OpTotals {
        let mut totals = OpTotals { slices: count_of(SLICE), ..OpTotals::default() };
        for class in &self.record.classes {
            let ops = count_of(&class.name);
            let sum = &mut totals.by_effect[class.rows as usize];
            *sum = sum.saturating_add(ops);
            if class.scans {
                totals.scans = totals.scans.saturating_add(ops);
            }
        }
        totals
    }

    /// All operations inside the window.
    pub(super) fn all(&self) -> Option<&'a OpStats> {
        self.record.ops.get("all")
    }

    /// Operations inside the window that succeeded.
    pub(super) fn op_count(&self) -> u64 {
        self.all().map_or(0, |all| all.count)
    }

    /// Polls inside the window that found nothing.
    pub(super) fn empty_polls(&self) -> u64 {
        self.all().map_or(0, |all| all.empty_polls)
    }

    /// Operations inside the window that failed.
    pub(super) fn error_count(&self) -> u64 {
        let classes = self.record.ops.values().map(|ops| ops.errors).max().unwrap_or(0);
        self.all().map_or(0, |all| all.errors).max(classes)
    }

    /// Most operations that one failure may have executed nevertheless: one, or those of a slice.
    pub(super) fn operations_per_error(&self, interval: &AuditInterval<'_>) -> u64 {
        match (self.server_drive(), interval.slices) {
            (false, _) => 1,
            // Without a successful slice, the length of a slice is unknown.
            (true, 0) => u64::MAX,
            (true, slices) => interval.operations().div_ceil(slices),
        }
    }

    /// Most rows that one operation of the selected classes touches. Unlimited where that is
    /// unknown, as with custom workloads, whose statements decide.
    pub(super) fn rows_per_operation(&self, is_of: impl Fn(&Class) -> bool) -> u64 {
        let classes = self.record.classes.iter().filter(|class| is_of(class));
        classes.map(|class| class.rows_per_op.map_or(u64::MAX, |(_, most)| most)).max().unwrap_or(u64::MAX)
    }

    pub(super) fn server_drive(&self) -> bool {
        self.record.plan.workload.drive == DriveMode::Server
    }

    /// Number of sessions that worked in the run.
    pub(super) fn sessions(&self) -> u32 {
        self.record.gate.sessions
    }

    /// The window as an interval.
    pub(super) fn window_interval(&self) -> Result<AuditInterval<'a>, Skip> {
        let window = self.window()?;
        if self.record.counters.portable.is_empty() {
            return Err(Skip("the run ended before the end snapshot of its window".into()));
        }
        match &window.counted {
            Some(counted) => Ok(self.counted_interval(window, counted)),
            None => self.acknowledged_in_window(),
        }
    }

    /// Fails where a driver host was lost: the work of its sessions is in the database's counters
    /// only.
    fn check_all_hosts_reported(&self) -> Result<(), Skip> {
        match self.record.fleet.as_ref().and_then(dyno_record::Fleet::short_of) {
            None => Ok(()),
            Some(short) => Err(Skip(format!(
                "{short}: the database's counters include the work of these hosts, and the run's figures do \
                 not"
            ))),
        }
    }

    /// The window, where a comparison of its operations with its counters is meaningful.
    pub(super) fn compared_window(&self) -> Result<AuditInterval<'a>, Skip> {
        let interval = self.window_interval()?;
        self.check_all_hosts_reported()?;
        let window = self.window()?;
        if window.edge_late > (0, 0) {
            // What such a session did besides its operations until then, for example reconnecting, is unknown
            // too.
            return Err(Skip(
                "sessions were in one operation across a window boundary, so the share of their work in the \
                 counters is unknown: the whole run is compared"
                    .into(),
            ));
        }
        if window.unsure_share() > SHARE_UNSURE_MAX {
            return Err(Skip(
                "most of the work was done while the counters were read: the whole run is compared".into(),
            ));
        }
        Ok(interval)
    }

    /// The window, or the whole run where a comparison of the window says nothing.
    pub(super) fn compared(&self) -> Result<AuditInterval<'a>, Skip> {
        self.compared_window().or_else(|skip| self.whole_interval().map_err(|_| skip))
    }

    /// The window's operations, with counters that may hold a little more or less of them.
    pub(super) fn acknowledged_in_window(&self) -> Result<AuditInterval<'a>, Skip> {
        let window = self.window()?;
        let count = |name: &str| self.ops(name).map_or(0, |ops| ops.count);
        let totals = self.tally_ops(count);
        let rows = self.tally_ops(|name| self.ops(name).map_or(0, |ops| ops.rows));
        // Where the end of an update cannot be separated from its commit, there is no commit class:
        // each update is a commit.
        let commits = match count(COMMIT) {
            0 => self.tally_ops(|name| self.commits_of(name).saturating_mul(count(name))).total(),
            commits => commits,
        };
        Ok(AuditInterval {
            name: "window",
            reads: totals.with_effect(RowEffect::Read),
            updates: totals.with_effect(RowEffect::Updated),
            inserts: totals.with_effect(RowEffect::Inserted),
            deletes: totals.with_effect(RowEffect::Deleted),
            scans: totals.scans,
            slices: totals.slices,
            commits,
            transactions: None,
            unproven_commits: 0,
            empty_commits: 0,
            rows_read: rows.with_effect(RowEffect::Read),
            rows_updated: rows.with_effect(RowEffect::Updated),
            rows_inserted: rows.with_effect(RowEffect::Inserted),
            rows_deleted: rows.with_effect(RowEffect::Deleted),
            errors: self.error_count(),
            blur: self.window_blur(window),
            unsure: None,
            blur_from: self.blur_from(),
            seconds: window.seconds,
            counters: &self.record.counters,
        })
    }

    /// The sessions' work between the two moments up to which the window's snapshots include it.
    fn counted_interval(&self, window: &Window, counted: &WorkCounts) -> AuditInterval<'a> {
        let totals = self.tally_ops(|name| counted.of(name));
        let unsure = window.unsure_share();
        let (begin, end) = window.edge_late;
        let late_share = f64::from(begin.max(end)) / f64::from(self.sessions().max(1));
        AuditInterval {
            name: "window",
            reads: totals.with_effect(RowEffect::Read),
            updates: totals.with_effect(RowEffect::Updated),
            inserts: totals.with_effect(RowEffect::Inserted),
            deletes: totals.with_effect(RowEffect::Deleted),
            scans: totals.scans,
            slices: totals.slices,
            commits: counted.commits,
            transactions: counted.transactions,
            unproven_commits: counted.unproven_commits,
            empty_commits: counted.empty_commits,
            rows_read: counted.rows_read,
            rows_updated: counted.rows_updated,
            rows_inserted: counted.rows_inserted,
            rows_deleted: counted.rows_deleted,
            errors: counted.errors,
            unsure: window.unsure.clone(),
            blur: (unsure + late_share + self.counting.unseen_s / window.seconds).min(1.0),
            blur_from: match unsure > 0.0 {
                true => "because sessions worked on while the counters were read",
                false => self.blur_from(),
            },
            seconds: window.seconds,
            counters: &self.record.counters,
        }
    }

    /// Share of the window's work that the database may have counted before its begin or after its
    /// end. It is 0 where every session flushed its statistics, reached the boundary in time, and
    /// the counters were read soon after.
    fn window_blur(&self, window: &Window) -> f64 {
        let sessions = f64::from(self.sessions().max(1));
        let (begin, end) = window.edge_late;
        let late_share = f64::from(begin.max(end)) / sessions;
        // The work of a late session becomes visible after this delay, or when its long operation
        // ends.
        let late_sessions_s = match self.counting.unseen_s {
            0.0 => late_share * UNSEEN_S,
            unseen_s => unseen_s,
        };
        ((late_sessions_s + self.late_snapshot_s(window)) / window.seconds).min(1.0)
    }

    /// Seconds of work after a window boundary that its snapshot may include. It is 0 where the
    /// snapshot was read before the counters could show any of it.
    fn late_snapshot_s(&self, window: &Window) -> f64 {
        let Some(held_back_s) = self.counting.held_back_s else { return 0.0 };
        let latest_s = |edge_us: f64, reading_us: f64| (edge_us.max(0.0) + reading_us.max(0.0) / 2.0) / 1e6;
        let begin_s = latest_s(window.edge_us_max.0, window.snapshot_us.0);
        let end_s = latest_s(window.edge_us_max.1, window.snapshot_us.1);
        [begin_s, end_s].into_iter().filter(|&late_s| late_s.is_finite() && late_s >= held_back_s).sum()
    }

    /// Why work may lie on the wrong side of an interval's ends.
    fn blur_from(&self) -> &'a str {
        self.counting.apart_because.as_deref().unwrap_or(APART)
    }

    /// Share of the whole run's work that may not have been counted when the counters were read.
    fn whole_blur(&self, seconds: f64) -> f64 {
        if seconds <= 0.0 { 0.0 } else { (self.counting.unseen_after_end_s / seconds).min(1.0) }
    }

    /// The sessions' whole life as an interval.
    pub(super) fn whole_interval(&self) -> Result<AuditInterval<'a>, Skip> {
        self.check_all_hosts_reported()?;
        let whole = self
            .record
            .whole
            .as_ref()
            .ok_or_else(|| Skip("the record does not cover the whole life of the sessions".into()))?;
        if let Some(change) = whole.counters.changed(MarkKind::Epoch).next() {
            let mark = &change.name;
            return Err(Skip(format!(
                "the counters started from zero ({mark}) while the sessions were running"
            )));
        }
        let totals = self.tally_ops(|name| whole.ops.get(name).copied().unwrap_or(0));
        let planned = self.record.plan.run.time.map_or(0.0, |time| time.0.as_secs_f64());
        let measured = self.record.window.as_ref().map_or(0.0, |window| window.seconds);
        let seconds = planned.max(if measured.is_finite() { measured } else { 0.0 })
            + self.record.plan.run.warmup.0.as_secs_f64()
            + self.record.plan.run.drain.0.as_secs_f64();
        Ok(AuditInterval {
            name: "whole run",
            reads: totals.with_effect(RowEffect::Read),
            updates: totals.with_effect(RowEffect::Updated),
            scans: totals.scans,
            slices: totals.slices,
            commits: whole.commits,
            transactions: whole.transactions,
            unproven_commits: whole.unproven_commits,
            empty_commits: whole.empty_commits,
            rows_read: whole.rows_read,
            rows_updated: whole.rows_updated,
            inserts: totals.with_effect(RowEffect::Inserted),
            deletes: totals.with_effect(RowEffect::Deleted),
            rows_inserted: whole.rows_inserted,
            rows_deleted: whole.rows_deleted,
            errors: whole.errors,
            blur: self.whole_blur(seconds),
            unsure: None,
            blur_from: self.blur_from(),
            seconds,
            counters: &whole.counters,
        })
    }
}

/// Share by which sessions may have worked longer than the window, for records that do not hold
/// their working time.
pub(super) fn unknown_share(window: &Window) -> f64 {
    if window.work_s.is_some() {
        return 0.0;
    }
    let (begin, end) = window.edge_us_max;
    let edges_s = (begin.max(0.0) + end.max(0.0)) / 1e6;
    if edges_s.is_finite() { edges_s / window.seconds } else { 0.0 }
}

/// The device that holds a record's data, if there is exactly one.
fn device(record: &RunRecord) -> Option<&String> {
    if !record.is_total() {
        return record.database_host()?.facts.get("place.data.device");
    }
    let data_device = |number| {
        let host = record.host_of_target(number)?;
        Some((&host.name, host.facts.get(&format!("place.{}.device", place_of_target(number, "data")))?))
    };
    let first = data_device(1)?;
    (2..=record.targets.len()).all(|number| data_device(number) == Some(first)).then_some(first.1)
}

impl AuditInterval<'_> {
    /// Change of a portable counter; a decrease has its own check.
    pub(super) fn counter(&self, counter: Counter) -> Result<u64, Skip> {
        let delta = self
            .counters
            .get(counter)
            .map_err(|reason| Skip(format!("the database does not report {}: {reason}", counter.name())))?;
        u64::try_from(delta).map_err(|_| Skip(format!("{} went backwards", counter.name())))
    }

    /// The part of a portable counter that Dyno's own observer caused; `None` where the database
    /// does not report it.
    pub(super) fn of_observer(&self, counter: Counter) -> Option<u64> {
        self.counters.observer.get(&counter).map(|moved| u64::try_from(*moved).unwrap_or(0))
    }

    /// Change of a portable counter without the observer's part.
    pub(super) fn without_observer(&self, counter: Counter) -> Result<u64, Skip> {
        Ok(self.counter(counter)?.saturating_sub(self.of_observer(counter).unwrap_or(0)))
    }

    /// Change of a native counter. The record omits unchanged counters, so the value is 0 if a
    /// counter of the same group is present.
    pub(super) fn native(&self, name: &str) -> Option<u64> {
        let family = name.rfind('.').map_or(name, |dot| &name[..=dot]);
        match self.counters.native.get(name) {
            Some(moved) => Some(moved.max(0.0).round() as u64),
            None => self.counters.native.keys().any(|key| key.starts_with(family)).then_some(0),
        }
    }

    /// Operations of all kinds that succeeded.
    pub(super) fn operations(&self) -> u64 {
        self.reads.saturating_add(self.writes())
    }

    /// Updates, inserts and deletes that succeeded.
    pub(super) fn writes(&self) -> u64 {
        [self.inserts, self.deletes].into_iter().fold(self.updates, u64::saturating_add)
    }

    /// Rows that had to be found: read, updated, deleted. An insert needs no read to find its
    /// place.
    pub(super) fn rows(&self) -> u64 {
        [self.rows_updated, self.rows_deleted].into_iter().fold(self.rows_read, u64::saturating_add)
    }
}
