//! What the checks need to know of a record, worked out once.

use std::sync::LazyLock;

use dyno_plan::{Drive, Holding};
use dyno_record::window::Counted;
use dyno_record::{
    COMMIT, Class, Counter, Counters, CountingRules, MarkKind, OpStats, RunRecord, SLICE, TargetFacts, Touch,
    Window, place_of_target,
};

use super::finding::Skip;

/// Time within which a session that was late at an edge shows its work, s.
const UNSEEN_S: f64 = 1.0;

/// Share of the work done while the counters were read above which comparing them with the operations says nothing.
const SHARE_UNSURE_MAX: f64 = 0.5;

/// Why counters hold other work than operations, unless the platform has a reason of its own.
const APART: &str = "because counters were read a second or more apart from what sessions did at its ends";

/// How a platform counts that says nothing of it.
static UNKNOWN: LazyLock<CountingRules> = LazyLock::new(CountingRules::default);

/// A record seen by the checks.
pub(super) struct Facts<'a> {
    pub(super) record: &'a RunRecord,
    /// How the platform counts.
    pub(super) counting: &'a CountingRules,
    /// Sessions that the plan gives this record.
    pub(super) planned: u32,
    /// Whether what other targets write arrives in this one, whose counters may hold it.
    pub(super) replicated: bool,
    /// The device that holds the data; of several targets, if it is the same for all.
    pub(super) device: Option<&'a String>,
    /// Whether the data of other targets is on that device, too.
    pub(super) device_shared: bool,
    /// Whether another target of the run is on the same server, so that the run is company to itself.
    pub(super) server_shared: bool,
}

/// What the client did in one interval, and the counters of the same interval.
pub(super) struct Interval<'a> {
    /// `window` or `whole run`.
    pub(super) name: &'static str,
    /// Reads that ended well: selects, lookups, lookups by the secondary key, scans.
    pub(super) reads: u64,
    /// Updates that ended well.
    pub(super) updates: u64,
    /// Inserts and deletes that ended well.
    pub(super) inserts: u64,
    pub(super) deletes: u64,
    /// Full scans among the reads.
    pub(super) scans: u64,
    /// Slices that ended well.
    pub(super) slices: u64,
    /// Commits acknowledged.
    pub(super) commits: u64,
    /// Transactions of a workload of the user's own that ended well, those that only read with them.
    pub(super) transactions: Option<u64>,
    /// Rows read, scans included.
    pub(super) rows_read: u64,
    /// Rows updated.
    pub(super) rows_updated: u64,
    /// Rows inserted, and rows deleted.
    pub(super) rows_inserted: u64,
    pub(super) rows_deleted: u64,
    /// Operations that failed; what the database did for them is unknown.
    pub(super) errors: u64,
    /// Share of the interval's work that may lie on the wrong side of its ends, 0..=1.
    pub(super) blur: f64,
    /// What was done while the counters were read at its begin, and at its end, where that is known to the unit.
    pub(super) unsure: Option<(Counted, Counted)>,
    /// Where that comes from.
    pub(super) blur_from: &'a str,
    /// Length in seconds, as far as it matters for what others do meanwhile.
    pub(super) seconds: f64,
    /// The database's counters.
    pub(super) counters: &'a Counters,
}

/// Operations by what they do to rows.
#[derive(Default)]
struct DoneOps {
    by_touch: [u64; Touch::KINDS],
    scans: u64,
    slices: u64,
}

impl DoneOps {
    fn of(&self, touch: Touch) -> u64 {
        self.by_touch[touch as usize]
    }

    fn total(&self) -> u64 {
        self.by_touch.iter().fold(0, |sum, ops| sum.saturating_add(*ops))
    }
}

impl<'a> Facts<'a> {
    pub(super) fn of(record: &'a RunRecord) -> Self {
        let counting = record.targets.first().map_or(&*UNKNOWN, |target| &target.identity.counting);
        // Nothing of a hand-made plan may overflow here.
        let planned = record.plan.sessions();
        let device = device(record);
        Self {
            record,
            counting,
            planned,
            replicated: false,
            device,
            device_shared: false,
            server_shared: false,
        }
    }

    /// The same of one target's part, which has `sessions`; `others_wrote` to theirs, whose data may be on the same device.
    pub(super) fn of_part(self, sessions: u32, others_wrote: bool, device_shared: bool) -> Self {
        let replicated = others_wrote && self.is_shared();
        Self { planned: sessions, replicated, device_shared, ..self }
    }

    /// Why others on the server cannot be told from the run itself, if so.
    pub(super) fn own_company(&self) -> Option<&'static str> {
        let words = "another target of this run is on the same server, which does not tell the two apart";
        self.server_shared.then_some(words)
    }

    /// Whether all targets reach the same data.
    pub(super) fn is_shared(&self) -> bool {
        self.record.plan.target.data == Holding::Shared
    }

    /// Whether the sessions worked on test data of Dyno's; on data of the user's own nobody knows which block a row is in, and
    /// which rows a statement changes besides.
    pub(super) fn on_test_data(&self) -> Result<(), Skip> {
        match &self.record.workload {
            None => Ok(()),
            Some(own) => {
                Err(Skip(format!("it is of Dyno's own test data, and the sessions ran {}", own.name)))
            }
        }
    }

    pub(super) fn target(&self) -> Option<&'a TargetFacts> {
        self.record.targets.first()
    }

    /// The window, if it has a length that rates can be divided by.
    pub(super) fn window(&self) -> Result<&'a Window, Skip> {
        let unread = || {
            let has_ops = self.record.ops.get(dyno_record::ALL).is_some_and(|all| all.count > 0);
            // Sessions that lost their leader go on by themselves for a while, and what they did is collected.
            Skip(match self.record.fleet.is_some() && has_ops {
                true => "nobody read the edges of its window: its leader was lost".into(),
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

    /// What one class did inside the window.
    pub(super) fn ops(&self, class: &str) -> Option<&'a OpStats> {
        self.record.ops.get(class)
    }

    /// Commits of one operation of a class.
    fn commits_of(&self, class: &str) -> u64 {
        self.record.classes.iter().find(|one| one.name == class).map_or(0, |class| class.commits)
    }

    /// What was done of each class, as `of` tells by name.
    fn done(&self, of: impl Fn(&str) -> u64) -> DoneOps {
        let mut done = DoneOps { slices: of(SLICE), ..DoneOps::default() };
        for class in &self.record.classes {
            let ops = of(&class.name);
            let sum = &mut done.by_touch[class.rows as usize];
            *sum = sum.saturating_add(ops);
            if class.scans {
                done.scans = done.scans.saturating_add(ops);
            }
        }
        done
    }

    /// All operations inside the window.
    pub(super) fn all(&self) -> Option<&'a OpStats> {
        self.record.ops.get("all")
    }

    /// Operations that ended well inside the window.
    pub(super) fn op_count(&self) -> u64 {
        self.all().map_or(0, |all| all.count)
    }

    /// Polls inside the window that found nothing.
    pub(super) fn empty_polls(&self) -> u64 {
        self.all().map_or(0, |all| all.empty_polls)
    }

    /// Operations that failed inside the window.
    pub(super) fn error_count(&self) -> u64 {
        let classes = self.record.ops.values().map(|ops| ops.errors).max().unwrap_or(0);
        self.all().map_or(0, |all| all.errors).max(classes)
    }

    /// Most operations that one failure may have done all the same: one, or those of a slice.
    pub(super) fn operations_per_error(&self, interval: &Interval<'_>) -> u64 {
        match (self.server_drive(), interval.slices) {
            (false, _) => 1,
            // With none that ended well its length is unknown.
            (true, 0) => u64::MAX,
            (true, slices) => interval.operations().div_ceil(slices),
        }
    }

    /// Most rows that one operation of the classes that `is_of` picks touches; no limit where nobody knows it, as of custom
    /// workloads, whose statements decide.
    pub(super) fn rows_per_operation(&self, is_of: impl Fn(&Class) -> bool) -> u64 {
        let classes = self.record.classes.iter().filter(|class| is_of(class));
        classes.map(|class| class.rows_per_op.map_or(u64::MAX, |(_, most)| most)).max().unwrap_or(u64::MAX)
    }

    pub(super) fn server_drive(&self) -> bool {
        self.record.plan.workload.drive == Drive::Server
    }

    /// Sessions that worked.
    pub(super) fn sessions(&self) -> u32 {
        self.record.gate.sessions
    }

    /// The window as an interval.
    pub(super) fn window_interval(&self) -> Result<Interval<'a>, Skip> {
        let window = self.window()?;
        if self.record.counters.portable.is_empty() {
            return Err(Skip("the run ended before the end snapshot of its window".into()));
        }
        match &window.counted {
            Some(counted) => Ok(self.counted_interval(window, counted)),
            None => self.done_in_window(),
        }
    }

    /// Fails where a driver host was lost: its sessions worked, and what they did is in the database's counters alone.
    fn all_handed_in(&self) -> Result<(), Skip> {
        match self.record.fleet.as_ref().and_then(dyno_record::Fleet::short_of) {
            None => Ok(()),
            Some(short) => Err(Skip(format!(
                "{short}: what these did is in the database's counters and in no figure of the run"
            ))),
        }
    }

    /// The window, where comparing its operations with its counters says something.
    pub(super) fn compared_window(&self) -> Result<Interval<'a>, Skip> {
        let interval = self.window_interval()?;
        self.all_handed_in()?;
        let window = self.window()?;
        if window.edge_late > (0, 0) {
            // What such a session had done beside its operations by then, such as beginning anew, is not told either.
            return Err(Skip(
                "sessions were in one operation across an edge, and nobody knows how much of their work the counters hold: the whole run \
                 is compared"
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

    /// The window, or the whole run where comparing the window says nothing.
    pub(super) fn compared(&self) -> Result<Interval<'a>, Skip> {
        self.compared_window().or_else(|skip| self.whole_interval().map_err(|_| skip))
    }

    /// What the window counts, beside counters that may hold a little more or less of it.
    pub(super) fn done_in_window(&self) -> Result<Interval<'a>, Skip> {
        let window = self.window()?;
        let count = |name: &str| self.ops(name).map_or(0, |ops| ops.count);
        let done = self.done(count);
        let rows = self.done(|name| self.ops(name).map_or(0, |ops| ops.rows));
        // Where the end of an update and its commit cannot be told apart there is no commit class, and each update is one.
        let commits = match count(COMMIT) {
            0 => self.done(|name| self.commits_of(name).saturating_mul(count(name))).total(),
            commits => commits,
        };
        Ok(Interval {
            name: "window",
            reads: done.of(Touch::Read),
            updates: done.of(Touch::Updated),
            inserts: done.of(Touch::Inserted),
            deletes: done.of(Touch::Deleted),
            scans: done.scans,
            slices: done.slices,
            commits,
            transactions: None,
            rows_read: rows.of(Touch::Read),
            rows_updated: rows.of(Touch::Updated),
            rows_inserted: rows.of(Touch::Inserted),
            rows_deleted: rows.of(Touch::Deleted),
            errors: self.error_count(),
            blur: self.window_blur(window),
            unsure: None,
            blur_from: self.blur_from(),
            seconds: window.seconds,
            counters: &self.record.counters,
        })
    }

    /// What the sessions did between the moments up to which the window's two snapshots hold their work.
    fn counted_interval(&self, window: &Window, counted: &Counted) -> Interval<'a> {
        let done = self.done(|name| counted.of(name));
        let unsure = window.unsure_share();
        let (begin, end) = window.edge_late;
        let late_share = f64::from(begin.max(end)) / f64::from(self.sessions().max(1));
        Interval {
            name: "window",
            reads: done.of(Touch::Read),
            updates: done.of(Touch::Updated),
            inserts: done.of(Touch::Inserted),
            deletes: done.of(Touch::Deleted),
            scans: done.scans,
            slices: done.slices,
            commits: counted.commits,
            transactions: counted.transactions,
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

    /// Share of the window's work that the database may have booked before its begin or after its end: none where every
    /// session could be asked to flush and reached the edge in time, and the counters were read soon after.
    fn window_blur(&self, window: &Window) -> f64 {
        let sessions = f64::from(self.sessions().max(1));
        let (begin, end) = window.edge_late;
        let late_share = f64::from(begin.max(end)) / sessions;
        // A late session shows its work at most so much later, or when the long operation it is in ends.
        let late_sessions_s = match self.counting.unseen_s {
            0.0 => late_share * UNSEEN_S,
            unseen_s => unseen_s,
        };
        ((late_sessions_s + self.late_snapshot_s(window)) / window.seconds).min(1.0)
    }

    /// Seconds of work after an edge of the window that its snapshot may hold: none where it came before the counters show
    /// more of it.
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

    /// Share of the whole run's work that may not have been booked when its counters were read.
    fn whole_blur(&self, seconds: f64) -> f64 {
        if seconds <= 0.0 { 0.0 } else { (self.counting.unseen_after_end_s / seconds).min(1.0) }
    }

    /// The sessions' whole life as an interval.
    pub(super) fn whole_interval(&self) -> Result<Interval<'a>, Skip> {
        self.all_handed_in()?;
        let whole = self
            .record
            .whole
            .as_ref()
            .ok_or_else(|| Skip("the record does not hold the sessions' whole life".into()))?;
        if let Some(change) = whole.counters.changed(MarkKind::Epoch).next() {
            let mark = &change.name;
            return Err(Skip(format!("the counters started anew ({mark}) while the sessions were there")));
        }
        let done = self.done(|name| whole.ops.get(name).copied().unwrap_or(0));
        let planned = self.record.plan.run.time.map_or(0.0, |time| time.0.as_secs_f64());
        let measured = self.record.window.as_ref().map_or(0.0, |window| window.seconds);
        let seconds = planned.max(if measured.is_finite() { measured } else { 0.0 })
            + self.record.plan.run.warmup.0.as_secs_f64()
            + self.record.plan.run.drain.0.as_secs_f64();
        Ok(Interval {
            name: "whole run",
            reads: done.of(Touch::Read),
            updates: done.of(Touch::Updated),
            scans: done.scans,
            slices: done.slices,
            commits: whole.commits,
            transactions: whole.transactions,
            rows_read: whole.rows_read,
            rows_updated: whole.rows_updated,
            inserts: done.of(Touch::Inserted),
            deletes: done.of(Touch::Deleted),
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

/// Share by which sessions may have worked longer than the window says, in records that do not hold how long they worked.
pub(super) fn unknown_share(window: &Window) -> f64 {
    if window.work_s.is_some() {
        return 0.0;
    }
    let (begin, end) = window.edge_us_max;
    let edges_s = (begin.max(0.0) + end.max(0.0)) / 1e6;
    if edges_s.is_finite() { edges_s / window.seconds } else { 0.0 }
}

/// The device that holds a record's data, if it is one.
fn device(record: &RunRecord) -> Option<&String> {
    if !record.is_total() {
        return record.database_host()?.facts.get("place.data.device");
    }
    let of = |number| {
        let host = record.host_of_target(number)?;
        Some((&host.name, host.facts.get(&format!("place.{}.device", place_of_target(number, "data")))?))
    };
    let first = of(1)?;
    (2..=record.targets.len()).all(|number| of(number) == Some(first)).then_some(first.1)
}

impl Interval<'_> {
    /// How far a portable counter moved; a counter that went backwards has its own check.
    pub(super) fn counter(&self, counter: Counter) -> Result<u64, Skip> {
        let delta = self
            .counters
            .get(counter)
            .map_err(|reason| Skip(format!("the database does not tell {}: {reason}", counter.name())))?;
        u64::try_from(delta).map_err(|_| Skip(format!("{} went backwards", counter.name())))
    }

    /// How much of a portable counter Dyno's own observer caused; `None` where the database does not tell.
    pub(super) fn of_observer(&self, counter: Counter) -> Option<u64> {
        self.counters.observer.get(&counter).map(|moved| u64::try_from(*moved).unwrap_or(0))
    }

    /// How far a portable counter moved but for that part.
    pub(super) fn without_observer(&self, counter: Counter) -> Result<u64, Skip> {
        Ok(self.counter(counter)?.saturating_sub(self.of_observer(counter).unwrap_or(0)))
    }

    /// How far a native counter moved. One that did not move is not in the record, so it is 0 if any of its kin is there.
    pub(super) fn native(&self, name: &str) -> Option<u64> {
        let family = name.rfind('.').map_or(name, |dot| &name[..=dot]);
        match self.counters.native.get(name) {
            Some(moved) => Some(moved.max(0.0).round() as u64),
            None => self.counters.native.keys().any(|key| key.starts_with(family)).then_some(0),
        }
    }

    /// Operations that ended well.
    pub(super) fn operations(&self) -> u64 {
        self.reads.saturating_add(self.writes())
    }

    /// Updates, inserts and deletes that ended well.
    pub(super) fn writes(&self) -> u64 {
        [self.inserts, self.deletes].into_iter().fold(self.updates, u64::saturating_add)
    }

    /// Rows that had to be found: read, updated, deleted. Where a new row goes needs no read.
    pub(super) fn rows(&self) -> u64 {
        [self.rows_updated, self.rows_deleted].into_iter().fold(self.rows_read, u64::saturating_add)
    }
}
