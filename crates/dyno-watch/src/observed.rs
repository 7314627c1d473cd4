//! Stores what an observation has learned so far: rates of intervals, stretches without a gap, the series.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use dyno_observe::machine::far_delta;
use dyno_observe::metrics::{self, MetricMap, between};
use dyno_observe::{
    CounterWatchdog, CoveredSeconds, CumulativeCounters, RemoteHost, SessionSamples, TargetSnapshot,
};
use dyno_record::{
    CounterDelta, CounterReading, Counters, Gap, MarkKind, Metric, Series, SeriesChunk, SeriesOverview,
    SeriesPoint, Spread, TableActivity, TopStatements,
};

use crate::distribution::Gauge;
use crate::event::ObservedInterval;
use crate::job::ObservationJob;
use crate::lock_log::LockLog;
use crate::query_thread::{ObservationReading, ObservationThread};

/// The most gaps that are listed individually.
const GAPS_MAX: usize = 200;
/// The most waits of an interval that are listed.
const WAITS_MAX: usize = 4;

pub(crate) struct ObservationState {
    same_host: bool,
    far: Option<Arc<RemoteHost>>,
    interval_ns: u64,
    pub(crate) first: TargetSnapshot,
    /// The begin of the current stretch without a gap, and the last reading; `None` while the server is away.
    stretch: Option<(TargetSnapshot, TargetSnapshot)>,
    /// The last reading, in any stretch.
    pub(crate) last: TargetSnapshot,
    /// Sums of the finished stretches, and their seconds.
    closed_stretches: (Vec<Counters>, f64),
    pub(crate) watchdog: CounterWatchdog,
    pub(crate) gaps: Vec<Gap>,
    pub(crate) gap_count: u64,
    why_away: String,
    gauges: BTreeMap<String, Gauge>,
    /// Samples of the last interval, and of all.
    latest: SessionSamples,
    pub(crate) samples: SessionSamples,
    pub(crate) no_samples: Option<String>,
    /// Sessions that blocked others, and long transactions.
    pub(crate) locks: LockLog,
    series: SeriesOverview<SeriesPoint>,
    unreported: Vec<SeriesPoint>,
    reported_count: u64,
    /// The cost of earlier connections: overhead transactions, and number of readings.
    pub(crate) cost: (u64, u64),
    /// The statements of the whole observation; absent if they could not be read at its end.
    pub(crate) statements: Option<TopStatements>,
    /// The tables and indexes of the whole observation; also absent if the database counts none.
    pub(crate) tables: Option<TableActivity>,
}

impl ObservationState {
    pub(crate) fn begin(
        present: &ObservationJob,
        observation_thread: &ObservationThread,
        first: ObservationReading,
    ) -> Self {
        let snapshot = first.taken;
        let mut locks = LockLog::default();
        locks.add(0.0, first.lock_waits);
        let mut watchdog = CounterWatchdog::default();
        watchdog.begin(&snapshot);
        Self {
            same_host: present.identity.same_host,
            far: present.remote_host.clone(),
            interval_ns: (present.interval_s * 1e9) as u64,
            stretch: Some((snapshot.clone(), snapshot.clone())),
            last: snapshot.clone(),
            first: snapshot,
            closed_stretches: (Vec::new(), 0.0),
            watchdog,
            gaps: Vec::new(),
            gap_count: 0,
            why_away: String::new(),
            gauges: BTreeMap::new(),
            latest: SessionSamples::default(),
            samples: SessionSamples::default(),
            no_samples: observation_thread.no_samples.clone(),
            locks,
            series: SeriesOverview::new(present.series_points_max),
            unreported: Vec::new(),
            reported_count: 0,
            cost: (0, 0),
            statements: None,
            tables: None,
        }
    }

    /// What could not be read, each with its reason.
    pub(crate) fn unread(&self) -> Vec<String> {
        let mut all: BTreeSet<String> = self.first.database.unread.values().cloned().collect();
        let lacks = |reading: &CounterReading| match reading {
            CounterReading::Absent(why) if why.contains("GRANT") => Some(why.clone()),
            _ => None,
        };
        all.extend(self.first.database.portable.values().filter_map(lacks));
        all.extend(
            self.no_samples.iter().map(|why| format!("sessions and their waits are not observed: {why}")),
        );
        all.extend(self.locks.unread.iter().map(|why| format!("lock waits are not observed: {why}")));
        all.into_iter().collect()
    }

    /// When the interval with this number ends.
    pub(crate) fn tick_ns(&self, index: u64) -> u64 {
        self.first.at_ns() + (index + 1) * self.interval_ns
    }

    /// Number of intervals that have ended at `now_ns`.
    pub(crate) fn intervals_over(&self, now_ns: u64) -> u64 {
        now_ns.saturating_sub(self.first.at_ns()) / self.interval_ns
    }

    fn since_s(&self, at_ns: u64) -> f64 {
        at_ns.saturating_sub(self.first.at_ns()) as f64 / 1e9
    }

    /// Adds the next reading. Returns the reason if its interval has no figures.
    pub(crate) fn add_reading(&mut self, reading: ObservationReading) -> Option<String> {
        let ObservationReading { taken, samples, lock_waits } = reading;
        self.locks.add(self.since_s(taken.at_ns()), lock_waits);
        self.latest = samples.clone();
        self.samples.add(samples);
        let Some((_, last)) = &self.stretch else {
            self.resume(taken);
            return None;
        };
        let counters = between(last, &taken);
        let anew = restart_reason(&counters);
        let index = self.intervals_over(taken.at_ns() + self.interval_ns / 4).max(1);
        self.watchdog.check(&taken);
        match &anew {
            Some(why) => {
                let (from_ns, until_ns) = (last.at_ns(), taken.at_ns());
                self.note_gap(from_ns, until_ns, why);
                self.end_stretch();
                self.stretch = Some((taken.clone(), taken.clone()));
                self.fill(index, &BTreeMap::new());
            }
            None => {
                let figures = self.figures(&counters, last, &taken);
                if let Some((_, last)) = &mut self.stretch {
                    *last = taken.clone();
                }
                self.fill(index, &known_values(figures));
            }
        }
        self.last = taken;
        anew
    }

    /// The rates between two readings.
    fn figures(&self, counters: &Counters, begin: &TargetSnapshot, end: &TargetSnapshot) -> MetricMap {
        let seconds = end.at_ns().saturating_sub(begin.at_ns()) as f64 / 1e9;
        let mut figures = metrics::of_database(counters, &CoveredSeconds::all(seconds));
        let delta = match &self.far {
            Some(remote) => far_delta(remote, begin, end).ok(),
            None => self.same_host.then(|| begin.host_delta_to(end)),
        };
        if let Some(delta) = &delta {
            metrics::of_processors(&mut figures, Ok(delta));
            metrics::of_device(&mut figures, Ok(delta));
        }
        if self.latest.count > 0 {
            let value = self.latest.active as f64 / self.latest.count as f64;
            figures.insert(ACTIVE.to_owned(), Metric::Value { value, unit: dyno_record::Unit::Sessions });
        }
        figures
    }

    /// Adds points up to the one before `until`, with these figures: after a hang, one reading covers several
    /// intervals.
    fn fill(&mut self, until: u64, figures: &BTreeMap<String, f64>) {
        let seconds = self.interval_ns as f64 / 1e9;
        for index in self.series.intervals()..until {
            let at_s = index as f64 * seconds;
            for (name, value) in figures {
                self.gauges.entry(name.clone()).or_default().note(at_s, seconds, *value);
            }
            let point = SeriesPoint { at_s, seconds, metrics: figures.clone(), ..SeriesPoint::default() };
            self.series.push(point.clone());
            self.unreported.push(point);
        }
    }

    /// Notes that the connection is lost, and why.
    pub(crate) fn note_lost(&mut self, observation_thread: &ObservationThread, why: &str) {
        self.add_cost(observation_thread);
        self.end_stretch();
        self.why_away = why.to_owned();
        self.latest = SessionSamples::default();
    }

    /// Adds the cost of a connection that is no longer used.
    pub(crate) fn add_cost(&mut self, observation_thread: &ObservationThread) {
        let (commits, looks) = observation_thread.cost();
        self.cost.0 += commits;
        self.cost.1 += looks;
    }

    /// Adds the first reading of a new connection; returns the length of the gap in seconds.
    pub(crate) fn resume(&mut self, snapshot: TargetSnapshot) -> f64 {
        let gap_s = snapshot.at_ns().saturating_sub(self.last.at_ns()) as f64 / 1e9;
        let why = std::mem::take(&mut self.why_away);
        self.note_gap(self.last.at_ns(), snapshot.at_ns(), &why);
        let index = self.intervals_over(snapshot.at_ns() + self.interval_ns / 4);
        self.fill(index, &BTreeMap::new());
        self.watchdog.check(&snapshot);
        self.stretch = Some((snapshot.clone(), snapshot.clone()));
        self.last = snapshot;
        gap_s
    }

    fn note_gap(&mut self, from_ns: u64, until_ns: u64, why: &str) {
        self.gap_count += 1;
        if self.gaps.len() < GAPS_MAX {
            let seconds = until_ns.saturating_sub(from_ns) as f64 / 1e9;
            self.gaps.push(Gap { at_s: self.since_s(from_ns), seconds, why: why.to_owned() });
        }
    }

    fn end_stretch(&mut self) {
        let Some((first, last)) = self.stretch.take() else { return };
        let seconds = last.at_ns().saturating_sub(first.at_ns()) as f64 / 1e9;
        if seconds > 0.0 {
            self.closed_stretches.0.push(between(&first, &last));
            self.closed_stretches.1 += seconds;
            if self.closed_stretches.0.len() > 1 {
                self.closed_stretches.0 = vec![sum_stretches(std::mem::take(&mut self.closed_stretches.0))];
            }
        }
    }

    /// The progress report of the last interval.
    pub(crate) fn latest_interval(&self, present: &ObservationJob) -> ObservedInterval {
        let point = self.series_last();
        let mut waits: Vec<(String, f64)> = match self.latest.count {
            0 => Vec::new(),
            count => {
                let mean_wait = |(wait, seen): (&dyno_engine::WaitSample, &u64)| {
                    let name = match wait.class == wait.event {
                        true => wait.event.clone(),
                        false => format!("{}:{}", wait.class, wait.event),
                    };
                    (name, *seen as f64 / count as f64)
                };
                self.latest.events.iter().map(mean_wait).collect()
            }
        };
        waits.sort_by(|a, b| b.1.total_cmp(&a.1));
        waits.truncate(WAITS_MAX);
        let elapsed_s = self.since_s(present.clock.now_ns());
        let counters = self
            .stretch
            .as_ref()
            .map(|(_, last)| CumulativeCounters::of(present.target.url(), &last.database));
        ObservedInterval {
            elapsed_s,
            total_s: present.length_s,
            point,
            waits,
            events: self.events(),
            counters,
        }
    }

    /// What sessions of the last interval waited for.
    fn events(&self) -> Option<Vec<(String, String, f64)>> {
        let count = self.latest.count;
        let events = self.latest.events.iter();
        let means =
            events.map(|(wait, seen)| (wait.class.clone(), wait.event.clone(), *seen as f64 / count as f64));
        (count > 0).then(|| means.collect())
    }

    /// The point of the last interval; `None` while the server is away.
    fn series_last(&self) -> Option<SeriesPoint> {
        self.stretch.as_ref().and_then(|_| self.unreported.last().cloned())
    }

    /// The points that were added to the series since the last call.
    pub(crate) fn take_chunk(&mut self) -> Option<SeriesChunk> {
        let points = std::mem::take(&mut self.unreported);
        let first = self.reported_count;
        self.reported_count += points.len() as u64;
        (!points.is_empty()).then_some(SeriesChunk { part: 0, first, points })
    }

    /// Ends the observation after this many intervals.
    pub(crate) fn end(&mut self, intervals: u64) -> Option<SeriesChunk> {
        if self.stretch.is_none() && !self.why_away.is_empty() {
            let (why, until_ns) = (std::mem::take(&mut self.why_away), self.tick_ns(intervals.max(1) - 1));
            self.note_gap(self.last.at_ns(), until_ns, &why);
        }
        self.fill(intervals, &BTreeMap::new());
        self.end_stretch();
        self.watchdog.end(&self.last);
        self.take_chunk()
    }

    /// Counters over all stretches, and their total seconds.
    pub(crate) fn counters(&mut self) -> (Counters, f64) {
        let mut counters = self.closed_stretches.0.pop().unwrap_or_default();
        self.watchdog.write_window(&mut counters);
        (counters, self.closed_stretches.1)
    }

    /// The series and the spreads of its figures.
    pub(crate) fn series(&mut self, interval_s: f64) -> (Series, BTreeMap<String, Spread>) {
        let spreads = std::mem::take(&mut self.gauges).into_iter();
        let spreads = spreads.filter_map(|(name, gauge)| Some((name, gauge.spread()?))).collect();
        let series = std::mem::replace(&mut self.series, SeriesOverview::new(0));
        (series.into_series(interval_s), spreads)
    }
}

/// The name of the figure of active sessions, from samples.
pub(crate) const ACTIVE: &str = "average_active_sessions";

fn known_values(figures: MetricMap) -> BTreeMap<String, f64> {
    figures.into_iter().filter_map(|(name, metric)| Some((name, metric.value()?))).collect()
}

/// The reason why a difference of two readings is meaningless: counters were reset.
fn restart_reason(counters: &Counters) -> Option<String> {
    let change = counters.changed(MarkKind::Epoch).next().map(|change| change.name.clone());
    let name = change.or_else(|| counters.falls.first().map(|fall| fall.name.clone()))?;
    Some(format!("counters were reset: {name}"))
}

/// The sum of the counters' deltas over several stretches. Their begin and end values have no meaning any
/// more.
fn sum_stretches(stretches: Vec<Counters>) -> Counters {
    let mut stretches = stretches.into_iter();
    let mut all = stretches.next().unwrap_or_default();
    for one in stretches {
        for (counter, moved) in one.portable {
            let sum = match (all.portable.get(&counter), &moved) {
                (Some(CounterDelta::Moved { delta, unit, .. }), CounterDelta::Moved { delta: more, .. }) => {
                    let delta = delta.saturating_add(*more);
                    CounterDelta::Moved { begin: 0, end: delta.max(0) as u64, delta, unit: *unit }
                }
                (Some(absent @ CounterDelta::Absent { .. }), _) => absent.clone(),
                _ => moved,
            };
            all.portable.insert(counter, sum);
        }
        for (name, moved) in one.native {
            *all.native.entry(name).or_default() += moved;
        }
        // Percentiles of several stretches cannot be computed from theirs.
        all.latencies.clear();
        all.own.clear();
        all.elsewhere.clear();
        all.unread.extend(one.unread);
    }
    all
}
